"""Graphs that are hard to order, as .cg files: families with fixed seeds.

A graph is a list of predecessor lists, one per operator, in an order that runs;
each operator writes one buffer.  Sizes are 1 (`unit`) or drawn from 1 to `most`.
An operator may get a kind that writes over a dying input (`add`, with --inplace
elementwise) and workspace.  The same arguments give the same bytes on any machine:
random.Random is specified, and networkx draws its graphs from it.
"""
import random


# ---- Families ----------------------------------------------------------------

def watts_strogatz(nodes, seed):
    """A RandWire cell: degree 4, rewired with 0.75, edges from low to high; one
    source before it, one mean sink behind it."""
    import networkx

    graph = networkx.watts_strogatz_graph(nodes, 4, 0.75, seed)
    return cell([sorted(u for u in graph[v] if u < v) for v in range(nodes)])


def erdos_renyi(nodes, chance, seed):
    draw = random.Random(seed)
    return cell([[u for u in range(v) if draw.random() < chance]
                 for v in range(nodes)])


def blocks(nodes, count, inside, outside, seed):
    """A block model: operators of one block are joined more often."""
    draw = random.Random(seed)
    block = [draw.randrange(count) for _ in range(nodes)]
    return cell([[u for u in range(v) if draw.random() < (
        inside if block[u] == block[v] else outside)] for v in range(nodes)])


def layered(operators, width, seed):
    """Layers of `width`; each operator reads 1 to 3 of the two layers before.
    What nobody reads dies at once, but for the last layer."""
    draw = random.Random(f"{operators} {width} {seed}")
    preds = []
    for v in range(operators):
        layer = v // width
        near = range(max(0, layer - 2) * width, layer * width)
        preds.append(sorted(draw.sample(near, min(draw.randint(1, 3), len(near)))))
    return preds


def series_parallel(operators, seed):
    """One source, one sink; parts are put behind or beside each other."""
    draw = random.Random(seed)
    preds = []

    def part(count, entry):
        """Operators after those of `entry`; those it ends with."""
        if count == 1:
            preds.append(sorted(entry))
            return [len(preds) - 1]
        left = draw.randint(1, count - 1)
        if draw.random() < 0.5 and count > 2:
            return part(left, entry) + part(count - left, entry)
        return part(count - left, part(left, entry))

    preds.append([])
    last = part(operators - 2, [0])
    preds.append(sorted(last))
    return preds


def nas_stack(cells, nodes, seed):
    """Cells of one drawn genotype: each node adds what two operators make of
    earlier values or of the two cells before; a cell ends in a concat."""
    draw = random.Random(seed)
    picks = [[(draw.randrange(2 + v), draw.randint(1, 3)) for _ in range(2)]
             for v in range(nodes)]
    preds = [[]]

    def chain(value, length):
        for _ in range(length):
            preds.append([value])
            value = len(preds) - 1
        return value

    before = [0, 0]
    for _ in range(cells):
        values = [chain(before[0], 1), chain(before[1], 1)]
        for pair in picks:
            preds.append(sorted({chain(values[k], length)
                                 for k, length in pair}))
            values.append(len(preds) - 1)
        preds.append(sorted(values[2:]))
        before = [before[1], len(preds) - 1]
    return preds


def unet_chain(nets, depth, convolutions=2):
    """U-Nets behind each other: (predecessors, sizes); pictures halve on the way
    down, and what is skipped waits until the way up."""
    preds, sizes = [[]], [4 ** depth]

    def add(inputs, size):
        preds.append(sorted(inputs))
        sizes.append(size)
        return len(preds) - 1

    value = 0
    for _ in range(nets):
        skips = []
        for level in range(depth):
            for _ in range(convolutions):
                value = add([value], 2 ** level * 4 ** (depth - level))
            skips.append(value)
            value = add([value], 2 ** level * 4 ** (depth - level - 1))
        for level in reversed(range(depth)):
            value = add([value], 2 ** level * 4 ** (depth - level))
            value = add([value, skips.pop()], 2 ** (level + 1) * 4 ** (depth - level))
            for _ in range(convolutions):
                value = add([value], 2 ** level * 4 ** (depth - level))
    return preds, sizes


def cell(inner):
    """One source for those without inputs, one sink for those nobody reads."""
    read = {u for inputs in inner for u in inputs}
    shifted = [[u + 1 for u in inputs] or [0] for inputs in inner]
    return [[], *shifted, [v + 1 for v in range(len(inner)) if v not in read]]


# ---- Files -------------------------------------------------------------------

def random_sizes(operators, most, seed):
    draw = random.Random(f"sizes {seed}")
    return [draw.randint(1, most) for _ in range(operators)]


def graph_text(name, preds, sizes, outputs=1, inplace=0.0, workspace=0.0,
               seed=0):
    """The .cg file.  The last `outputs` operators write the graph's outputs.  That
    part of the operators may write over an input, that part needs workspace of up
    to twice its output."""
    draw = random.Random(f"kinds {seed}")
    kept = range(len(preds) - outputs, len(preds))
    lines = ["calm-graph 1", f"graph {name}"]
    for v, size in enumerate(sizes):
        lines.append(f"tensor t{v} {size}" + (" output" if v in kept else ""))
    for v, inputs in enumerate(preds):
        kind = "add" if draw.random() < inplace else "op"
        need = draw.randint(1, 2 * sizes[v]) if draw.random() < workspace else 0
        operands = " ".join(f"t{u}" for u in inputs)
        lines.append(f"op o{v} {kind} ( {operands} ) -> ( t{v} )"
                     + (f" workspace={need}" if need else ""))
    return "\n".join(lines) + "\n"


def adamem_text(text):
    """A public task graph: a line `nodes edges`, then `u v weight`.  A node's
    buffer is the sum of what leaves it, and dies when all successors have run.
    Raises ValueError if that is not what the text says; there may be fewer edges
    than it promises."""
    rows = [list(map(int, line.split())) for line in text.splitlines()
            if line.split()]
    if not rows or len(rows[0]) != 2 or any(len(row) != 3 for row in rows[1:]):
        raise ValueError("not a line of two numbers and then lines of three")
    count = rows[0][0]
    preds, sizes = [set() for _ in range(count)], [0] * count
    for u, v, weight in rows[1:]:
        if not (0 <= u < count and 0 <= v < count):
            raise ValueError(f"an edge from {u} to {v}, of {count} nodes")
        preds[v].add(u)
        sizes[u] += weight
    order = breadth_first(preds)
    place = {v: i for i, v in enumerate(order)}
    return graph_text("g", [sorted(place[u] for u in preds[v]) for v in order],
                      [sizes[v] for v in order], outputs=0)


def breadth_first(preds):
    """An order that runs: who waits for nobody any more goes to the end."""
    readers = [[] for _ in preds]
    for v, inputs in enumerate(preds):
        for u in inputs:
            readers[u].append(v)
    left = [len(inputs) for inputs in preds]
    order = [v for v, inputs in enumerate(preds) if not inputs]
    for v in order:         # which grows
        for w in readers[v]:
            left[w] -= 1
            if not left[w]:
                order.append(w)
    if len(order) < len(preds):
        raise ValueError("a cycle")
    return order
