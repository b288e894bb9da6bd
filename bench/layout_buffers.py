"""Buffers that are hard to place, as lists of (lower, upper, bytes) with fixed seeds.

Those of `mixed` also have an alignment, a group ("": none) and a fixed offset
(None: free).  The same arguments give the same buffers on any machine.
"""
import random

KIB = 1024
BAND = 4096     # the largest of `mixed`, and how far its fixed ones are apart


def cuts(count, steps, seed, height=1024, left_out=0.0):
    """A rectangle of `steps` by `height` KiB, cut into buffers: they fit into
    the bytes in use without a gap.  Coarse steps make many begin and end
    together, which is harder than when all steps differ.  What is left out is
    slack."""
    draw = random.Random(seed)
    pieces = [(0, steps, 0, height)]
    while len(pieces) < count:
        at = max(range(len(pieces)), key=lambda i: (
            area(pieces[i]) * draw.random() ** 2))
        begin, end, low, high = pieces[at]
        if draw.random() < 0.5:
            if end - begin > 1:
                middle = draw.randint(begin + 1, end - 1)
                pieces[at] = (begin, middle, low, high)
                pieces.append((middle, end, low, high))
        elif high - low > 1:
            middle = draw.randint(low + 1, high - 1)
            pieces[at] = (begin, end, low, middle)
            pieces.append((begin, end, middle, high))
    return [(begin, end, (high - low) * KIB)
            for begin, end, low, high in pieces if draw.random() >= left_out]


def area(piece):
    begin, end, low, high = piece
    return (end - begin) * (high - low)


def full(count, steps, largest, seed):
    """Random buffers, and fillers so that each step is as full as the fullest:
    often they do not fit into the bytes in use."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        lower = draw.randrange(steps)
        found.append((lower, min(steps, lower + draw.randint(1, steps // 3)),
                      draw.randint(1, largest)))
    load = [sum(size for lower, upper, size in found if lower <= t < upper)
            for t in range(steps)]
    most, begin = max(load), 0
    for t in range(1, steps + 1):
        if t == steps or load[t] != load[begin]:
            if load[begin] < most:
                found.append((begin, t, most - load[begin]))
            begin = t
    return found


def training(layers, seed, sizes=24):
    """A training step: what a layer keeps from the way forth lives until it is
    used on the way back; scratch on both ways; few different sizes."""
    draw = random.Random(seed)
    kinds = [draw.randint(1, 2000) * 4096 for _ in range(sizes)]
    found = [(0, 4 * layers, draw.choice(kinds) * 8) for _ in range(layers // 20)]
    for i in range(layers):
        forth, back = 2 * i, 4 * layers - 2 * i - 2
        size = kinds[i * sizes // layers]
        found.append((forth, back + 1, size))
        for step in (forth, back):
            for _ in range(draw.randint(0, 3)):
                begin = max(0, step - draw.randint(0, 6))
                found.append((begin, min(4 * layers, step + draw.randint(1, 6)),
                              draw.choice(kinds)))
    return found


def inference(count, seed, spread=40):
    """Many short lives of all sizes, some long ones."""
    draw = random.Random(seed)
    found = []
    for i in range(count):
        length = draw.randint(1, spread)
        if draw.random() < 0.02:
            length = draw.randint(spread, count // 2)
        found.append((i, i + length, 64 * int(2 ** draw.uniform(0, 16))))
    return found


TRICKY = ((0, 1, 3), (0, 3, 1), (4, 5, 3), (2, 5, 1), (1, 2, 2), (3, 4, 2),
          (1, 4, 1))    # 4 bytes in use, 5 are needed: MiniMalloc's tests


def tricky(copies, largest, seed):
    """Copies of TRICKY one after the other, stretched in time, half of them
    turned round, up to `largest` times its size; buffers that live throughout
    lie beside them.  Returns (buffers, the least arena)."""
    draw = random.Random(seed)
    found, begin, scales = [], 0, []
    for _ in range(copies):
        cuts_at = sorted(draw.sample(range(1, 40), 4))
        times = [begin + t for t in (0, *cuts_at, 40)]
        scales.append(draw.randint(1, largest))
        turned = draw.random() < 0.5
        for lower, upper, size in TRICKY:
            if turned:
                lower, upper = 5 - upper, 5 - lower
            found.append((times[lower], times[upper], size * scales[-1]))
        begin += 40
    throughout = [draw.randint(1, largest) for _ in range(draw.randint(1, 3))]
    found += [(0, begin, size) for size in throughout]
    draw.shuffle(found)
    return found, 5 * max(scales) + sum(throughout)


def mixed(count, steps, seed):
    """All that a row can ask for: odd sizes under several alignments, a fifth of
    the buffers in groups with gaps in time, and each twentieth at a fixed offset,
    in a band of its own."""
    draw = random.Random(seed)
    found = []
    for i in range(count):
        align = draw.choice((1, 1, 4, 16, 64, 256))
        fixed = i // 20 * BAND if i % 20 == 0 else None
        begin = draw.randrange(steps)
        parts = draw.randint(2, 3) if draw.random() < 0.2 else 1
        for _ in range(parts):
            end = begin + draw.randint(1, max(1, steps // 8))
            found.append((begin, end, draw.randint(1, BAND), align,
                          f"g{i}" if parts > 1 else "", fixed))
            begin = end + draw.randint(0, steps // 8)
    return found


def text(found):
    """As a CSV file for `calm pack`."""
    more = ",alignment,group,offset" if found and len(found[0]) > 3 else ""
    return f"id,lower,upper,size{more}\n" + "".join(
        f"{i}," + ",".join("" if x is None else str(x) for x in row) + "\n"
        for i, row in enumerate(found))
