"""Random machines, layers and loop nests as files that Timeloop reads.

Everything follows from the seed.  Machines are written in the three forms that
Timeloop itself reads (0.1, 0.2, 0.3), layers as convolutions, matrix products
and shapes of one's own, nests with loops anywhere, factors that do not divide,
and tensors that pass levels by.  Most are valid; some are not, on purpose.
"""
import dataclasses
import math
import random

BOUNDS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 16)
LARGE = BOUNDS + (27, 30, 56, 64, 97, 113, 128, 1000)
MOST_MACS = 6000
MOST_LARGE = 20 * 1000 * 1000
CNN = {
    "Weights": [[("C", 1)], [("K", 1)], [("R", 1)], [("S", 1)]],
    "Inputs": [[("N", 1)], [("C", 1)],
               [("R", "Wdilation"), ("P", "Wstride")],
               [("S", "Hdilation"), ("Q", "Hstride")]],
    "Outputs": [[("N", 1)], [("K", 1)], [("Q", 1)], [("P", 1)]],
}
GEMM = {"A": [[("M", 1)], [("K", 1)]], "B": [[("N", 1)], [("K", 1)]],
        "Z": [[("M", 1)], [("N", 1)]]}


@dataclasses.dataclass
class Case:
    seed: int
    arch: str = ""
    problem: str = ""
    mapping: str = ""
    ert: str = ""
    steps: int = 0          # temporal iterations
    imperfect: bool = False
    kinds: tuple = ()       # what is special about it


@dataclasses.dataclass
class Layer:
    bounds: dict            # {dimension: bound}, in the order of the shape
    tensors: dict           # {tensor: ranks of (dimension, coefficient)}
    coefficients: dict      # {name: value}
    text: str = ""
    kind: str = ""

    def words(self, tensor, extents):
        """The box that a tensor spans over so many steps of each dimension."""
        size = 1
        for rank in self.tensors[tensor]:
            size *= 1 + sum(self.coefficients.get(name, name) *
                            (extents[d] - 1) for d, name in rank)
        return size


@dataclasses.dataclass
class Level:
    name: str
    x: int = 1              # fan-out below it
    y: int = 1
    columns: int = 1        # its own instances
    rows: int = 1
    keys: dict = dataclasses.field(default_factory=dict)
    dram: bool = False
    temporal: dict = dataclasses.field(default_factory=dict)
    spatial: dict = dataclasses.field(default_factory=dict)
    order: list = None      # temporal, innermost first
    spread: list = None     # spatial, innermost first
    split: int = 0
    bypass: tuple = ()
    unlinked: tuple = ()


def make(seed):
    """The case of a seed."""
    rng = random.Random(seed)
    layer = draw_layer(rng)
    levels = draw_levels(rng)
    imperfect = draw_nest(rng, layer, levels)
    draw_bypass(rng, layer, levels)
    draw_attributes(rng, layer, levels)
    draw_capacities(rng, layer, levels)
    case = Case(seed, imperfect=imperfect, problem=layer.text)
    case.steps = math.prod(f[0] for level in levels
                           for f in level.temporal.values())
    case.arch, form = write_arch(rng, levels)
    case.ert = write_ert(rng, levels) if rng.random() < 0.25 else ""
    case.mapping = write_mapping(rng, layer, levels)
    case.kinds = tuple(sorted(kinds(case, layer, levels, form)))
    return case


def kinds(case, layer, levels, form):
    yield f"machine {form}"
    yield f"layer {layer.kind}"
    yield "energies " + ("ERT" if case.ert else "built in")
    if case.imperfect:
        yield "imperfect factors"
    if any(level.bypass for level in levels[:-1]):
        yield "bypass"
    if levels[-1].bypass:
        yield "bypass at the top"
    if any(level.spatial for level in levels):
        yield "spatial loops"
    if any(level.unlinked for level in levels):
        yield "no_link_transfer"


# ---- Layers ------------------------------------------------------------------

def draw_bounds(rng, names):
    some, most = ((LARGE, MOST_LARGE) if rng.random() < 0.1 else
                  (BOUNDS, MOST_MACS))
    while True:
        bounds = {name: rng.choice(some) for name in names}
        if math.prod(bounds.values()) <= most:
            return bounds


def draw_layer(rng):
    return rng.choice((convolution, convolution, convolution, product,
                       contraction, contraction))(rng)


def convolution(rng):
    bounds = draw_bounds(rng, "RSPQCKN")
    values = {name: rng.choice(options) for name, options in (
        ("Wstride", (1, 1, 1, 2, 3, 4)), ("Hstride", (1, 1, 1, 2, 3)),
        ("Wdilation", (1, 1, 1, 2, 3, 0)), ("Hdilation", (1, 1, 1, 2, 0)))}
    written = {**bounds, **{name: value for name, value in values.items()
                            if value != 1 or rng.random() < 0.5}}
    return Layer(bounds, CNN, values, instance(rng, "cnn_layer", written),
                 "cnn_layer")


def product(rng):
    bounds = draw_bounds(rng, "MNK")
    return Layer(bounds, GEMM, {}, instance(rng, "gemm_ABZ", bounds),
                 "gemm_ABZ")


def contraction(rng):
    """A shape of its own: ranks of one to three terms, some with coefficients,
    dimensions that few tensors have, one tensor written, rarely two."""
    names = rng.sample("ABCDEFGHK", rng.randint(2, 5))
    bounds = draw_bounds(rng, names)
    values = {name: rng.choice((1, 2, 3)) for name in ("u", "v", "w")}
    tensors = {f"T{i}": draw_ranks(rng, names, list(values))
               for i in range(rng.randint(2, 4))}
    written = list(tensors)[-1:]
    if rng.random() < 0.8:  # Timeloop may break off at gaps in what is written
        tensors[written[0]] = [[(d, 1)] for d in rng.sample(
            names, rng.randint(1, len(names)))]
    if len(tensors) > 2 and rng.random() < 0.1:
        written = list(tensors)[-2:]
    given = {name: value for name, value in values.items()
             if rng.random() < 0.5}
    defaults = {name: values[name] if name not in given else rng.randint(1, 3)
                for name in values}
    shape = {"name": "own", "dimensions": names,
             "coefficients": [{"name": n, "default": d}
                              for n, d in defaults.items()],
             "data_spaces": [space(n, ranks, n in written)
                             for n, ranks in tensors.items()]}
    return Layer(bounds, tensors, values,
                 instance(rng, shape, {**bounds, **given}), "shape of its own")


def draw_ranks(rng, names, coefficients):
    """Each rank sums dimensions; none is in a tensor twice, mostly."""
    left = rng.sample(names, rng.randint(1, len(names)))
    ranks = []
    while left:
        count = min(len(left), rng.choice((1, 1, 1, 2, 2, 3)))
        ranks.append([(left.pop(), rng.choice((1, rng.choice(coefficients))))
                      for _ in range(count)])
    if rng.random() < 0.05:
        ranks.append([(rng.choice(names), 1)])
    return ranks


def space(name, ranks, written):
    entry = {"name": name, "projection": [
        [[d] if c == 1 else [d, c] for d, c in rank] for rank in ranks]}
    if written:
        entry["read_write"] = True
    return entry


def instance(rng, shape, values):
    if rng.random() < 0.5:
        return write({"problem": {"shape": shape, "instance": values}})
    return write({"problem": {"shape": shape, **values}})


# ---- Machines ----------------------------------------------------------------

def draw_levels(rng):
    """Levels innermost first, with fan-outs; the top one is the memory."""
    names = ["L0", "L1", "L2", "L3"][:rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))]
    levels = [Level(name) for name in names + ["DRAM"]]
    levels[-1].dram = rng.random() < 0.9
    flat = rng.random() < 0.3
    for level in levels:
        if rng.random() < 0.55:
            level.x = rng.choice((1, 2, 2, 3, 4, 4, 5, 8))
            level.y = 1 if flat else rng.choice((1, 1, 2, 2, 3, 4))
    if rng.random() < 0.05:
        levels[-1].columns = 2
    for inner, outer in zip(levels[-2::-1], levels[:0:-1]):
        inner.columns = outer.columns * outer.x
        inner.rows = outer.rows * outer.y
    return levels


def draw_attributes(rng, layer, levels):
    for level in levels:
        keys = level.keys
        maybe(rng, keys, 0.7, "word-bits", (8, 16, 24, 32))
        bits = keys.get("word-bits", 16)
        maybe(rng, keys, 0.4, "block-size", (1, 2, 4, 3, 8))
        count = level.columns * level.rows
        if not level.dram and rng.random() < 0.3:
            keys["cluster-size"] = rng.choice(
                [c for c in (1, 2, 3, 4, 8) if count % c == 0])
        if rng.random() < 0.15:
            draw_width(rng, keys, bits)
        draw_bandwidth(rng, layer, keys)
        draw_network(rng, keys)
        maybe(rng, keys, 0.1, "vector-access-energy", (0.5, 3.25, 7))
        maybe(rng, keys, 0.1, "addr-gen-energy", (0.125, 1))
        maybe(rng, keys, 0.15, "reduction_supported", (True, False))
        maybe(rng, keys, 0.1, "num-banks", (1, 4))


def draw_width(rng, keys, bits):
    block, cluster = keys.get("block-size", 1), keys.get("cluster-size", 1)
    keys["width"] = bits * block * cluster * (
        rng.choice((1, 2)) if "block-size" not in keys or
        "cluster-size" not in keys else 1)
    if "cluster-size" not in keys and "block-size" in keys:
        keys["width"] = bits * block


def draw_bandwidth(rng, layer, keys):
    some = (0.25, 0.5, 1, 2, 3.5, 8, 20)
    maybe(rng, keys, 0.15, "bandwidth", some)
    maybe(rng, keys, 0.2, "read_bandwidth", some)
    maybe(rng, keys, 0.2, "write_bandwidth", some)
    maybe(rng, keys, 0.15, "shared_bandwidth", some)
    if rng.random() < 0.08:
        keys["per_dataspace_bandwidth_consumption_scale"] = {
            tensor: rng.choice((0.5, 1.0, 2.0, 0.0))
            for tensor in layer.tensors if rng.random() < 0.6} or {
                list(layer.tensors)[0]: 0.5}


def draw_network(rng, keys):
    maybe(rng, keys, 0.15, "network_word_bits", (8, 16, 64))
    maybe(rng, keys, 0.2, "energy-per-hop", (0.5, 1, 2.25))
    maybe(rng, keys, 0.2, "router-energy", (0.25, 1))
    maybe(rng, keys, 0.15, "wire-energy", (0.01, 0.125))
    maybe(rng, keys, 0.15, "tile-width", (100, 250.5))
    maybe(rng, keys, 0.1, "energy-per-ingress", (0.5, 1))
    maybe(rng, keys, 0.1, "network_fill_latency", (1, 10))
    maybe(rng, keys, 0.1, "network_drain_latency", (1, 7))


def maybe(rng, keys, chance, name, options):
    if rng.random() < chance:
        keys[name] = rng.choice(options)


def draw_capacities(rng, layer, levels):
    """Entries that the nest fits into, mostly, in one of three spellings."""
    extents = dict.fromkeys(layer.bounds, 1)
    for level in levels:
        for loops in (level.spatial, level.temporal):
            for d, (bound, _) in loops.items():
                extents[d] = min(extents[d] * bound, layer.bounds[d])
        need = sum(layer.words(t, extents) for t in layer.tensors
                   if t not in level.bypass)
        maybe(rng, level.keys, 0.2, "multiple-buffering", (1, 2, 1.5))
        need = need * level.keys.get("multiple-buffering", 1)
        entries = max(1, math.ceil(need * rng.choice((1, 1, 1.1, 1.5, 2, 4))))
        if rng.random() < 0.03:
            entries = max(1, math.ceil(need * 0.9) - 1)
        if not level.dram or rng.random() < 0.3:
            spell(rng, level.keys, entries)
            maybe(rng, level.keys, 0.08, "min-utilization", (0.1, 0.5, 0.9))


def spell(rng, keys, entries):
    way = rng.random()
    block = keys.get("block-size", 1)
    if "width" in keys and "block-size" not in keys:
        block = keys["width"] // keys.get("word-bits", 16) // keys.get(
            "cluster-size", 1)
    if way < 0.2:
        keys["depth"] = max(1, math.ceil(entries / block))
    elif way < 0.25:
        keys["sizeKB"] = max(1, math.ceil(
            entries * keys.get("word-bits", 16) / 8192))
    else:
        keys["entries"] = entries


# ---- Loop nests --------------------------------------------------------------

def draw_nest(rng, layer, levels):
    """Give every factor a place; is some factor imperfect?"""
    names = list(layer.bounds)
    for level in levels:
        level.order = rng.sample(names, len(names))
        level.spread = rng.sample(names, len(names))
        level.split = rng.randint(0, len(names))
    rough = set(rng.sample(names, rng.randint(1, len(names)))
                if rng.random() < 0.3 else ())
    loose = rng.random() < 0.06
    for d in rng.sample(names, len(names)):
        places = [(level, over) for level in levels for over in (False, True)]
        if d in rough:
            chain(rng, layer.bounds[d], d, places)
        else:
            scatter(rng, layer.bounds[d], d, places, loose)
    if rng.random() < 0.03:
        spoil(rng, levels, names)
    return any(bound != last for level in levels
               for loops in (level.temporal, level.spatial)
               for bound, last in loops.values())


def room(level, d):
    """How far a loop over d may still be spread below a level."""
    axis = level.spread.index(d) < level.split
    used = math.prod(bound for e, (bound, _) in level.spatial.items()
                     if e != d and (level.spread.index(e) < level.split) ==
                     axis)
    return (level.x if axis else level.y) // used


def scatter(rng, bound, d, places, loose):
    for factor in primes(bound):
        for level, over in rng.sample(places, len(places)):
            loops = level.spatial if over else level.temporal
            had = loops.get(d, (1, 1))[0]
            fits = (level.x * level.y > 1 and
                    (loose or had * factor <= room(level, d)))
            if not over or fits:
                loops[d] = had * factor, had * factor
                break


def chain(rng, bound, d, places):
    """Loops from the innermost outwards whose last passes are shorter."""
    for level, over in places:
        most = room(level, d) if over else bound
        if bound == 1 or most < 2 or rng.random() < 0.4:
            continue
        step = rng.randint(2, min(bound, most))
        outer = -(-bound // step)
        loops = level.spatial if over else level.temporal
        loops[d] = step, bound - (outer - 1) * step
        bound = outer
    if bound > 1:
        loops = places[-2][0].temporal
        if d in loops:
            step, last = loops[d]
            bound = (bound - 1) * step + last
        loops[d] = bound, bound


def primes(n):
    factors, p = [], 2
    while n > 1:
        while n % p == 0:
            factors.append(p)
            n //= p
        p += 1
    return factors


def spoil(rng, levels, names):
    """A factor too many."""
    loops, d = rng.choice(levels).temporal, rng.choice(names)
    bound = loops.get(d, (1, 1))[0]
    loops[d] = bound + 1, bound + 1


def draw_bypass(rng, layer, levels):
    tensors = list(layer.tensors)
    often = rng.choice((0, 0.15, 0.3, 0.6))
    for level in levels[:-1]:
        level.bypass = tuple(t for t in tensors if rng.random() < often)
    if rng.random() < 0.06:
        levels[-1].bypass = tuple(t for t in tensors if rng.random() < 0.5)
    for level in levels:
        if rng.random() < 0.08:
            level.unlinked = tuple(t for t in tensors if rng.random() < 0.5)


# ---- Files -------------------------------------------------------------------

def write(value):
    """YAML on few lines."""
    return "".join(f"{key}: {flow(part)}\n" for key, part in value.items())


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {flow(v)}"
                               for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    plain = str(value)
    return f'"{plain}"' if set(plain) & set("[],= ") else plain


def write_arch(rng, levels):
    form = rng.choice(("0.1", "0.2", "0.3"))
    bits = rng.choice(({}, {}, {"word-bits": 8}, {"word-bits": 24}))
    if rng.random() < 0.2:
        bits["energy"] = rng.choice((1, 3))
    if form == "0.1":
        return write_list(rng, levels, bits), form
    return write_tree(rng, levels, bits, form), form


def mesh(rng, columns, rows):
    """Instances in words; what follows is left out at times."""
    keys = {"instances": columns * rows}
    if rows > 1 or rng.random() < 0.5:
        keys["meshX"] = columns
    if rng.random() < 0.3:
        keys["meshY"] = rows
    return keys


def write_list(rng, levels, bits):
    inner = levels[0]
    storage = [{"name": level.name, **level.keys,
                **mesh(rng, level.columns, level.rows),
                **({"technology": "DRAM"} if level.dram else {})}
               for level in levels]
    return write({"arch": {
        "arithmetic": {"name": "MACs", **bits,
                       **mesh(rng, inner.columns * inner.x,
                              inner.rows * inner.y)},
        "storage": storage}})


def write_tree(rng, levels, bits, form):
    inner = levels[0]
    parts = [(level.name, "DRAM" if level.dram else
              rng.choice(("SRAM", "regfile", "smartbuffer_SRAM")),
              level.keys, level.columns, level.rows)
             for level in reversed(levels)]
    parts.append(("MACs", "intmac", bits, inner.columns * inner.x,
                  inner.rows * inner.y))
    node, before, top = None, 1, None
    for name, kind, keys, columns, rows in parts:
        mine = mesh(rng, columns, rows)
        count = mine.pop("instances")
        times, before = count // before, count
        ranges = f"[0..{times - 1}]" if times > 1 else ""
        inside = node and rng.random() < 0.5
        local = {"name": name + (ranges if inside else ""), "class": kind,
                 "attributes": {**keys, **mine}}
        if inside and not ranges:
            node["local"].append(local)
            continue
        if inside:
            before = count // times
            local["name"] = name
        fresh = {"name": f"n{name}{ranges}", "local": [local]}
        before = count
        if node:
            node["subtree"] = [fresh]
        else:
            top = fresh
        node = fresh
    return write({"architecture": {"version": float(form), "subtree": [top]}})


def write_ert(rng, levels):
    tables = []
    for name in [level.name for level in levels] + ["MACs"]:
        actions = ["compute"] if name == "MACs" else ["read", "write",
                                                      "update"]
        if name != "MACs" and rng.random() < 0.2:
            actions.remove("update")
        if rng.random() < 0.3:
            actions.append("leak")
        tables.append({"name": f"system.{name}[1..{rng.randint(1, 9)}]",
                       "actions": [{"name": action, "arguments": {},
                                    "energy": rng.choice((0.5, 1.25, 3, 40.7))}
                                   for action in actions]})
    return write({"ERT": {"version": 0.3, "tables": tables}})


def write_mapping(rng, layer, levels):
    rows = []
    for level in levels[::-1] if rng.random() < 0.7 else levels:
        loops = directive(rng, level, "temporal", level.temporal, level.order)
        if loops:
            rows.append(loops)
        if level.x * level.y > 1 or level.spatial:
            rows.append(spatial(rng, level))
        rows += kept(rng, layer, level)
    return "mapping:\n" + "".join(f"  - {flow(row)}\n" for row in rows if row)


def directive(rng, level, kind, loops, order):
    if not loops and rng.random() < 0.1:
        return None
    row = {"target": level.name, "type": kind,
           "factors": factors(rng, loops, order)}
    last = max((order.index(d) for d in loops), default=0)
    if rng.random() < 0.8 or len(loops) > 1 or kind == "spatial":
        some = order[:last + 1] if rng.random() < 0.2 else order
        row["permutation"] = "".join(some)
    return row


def factors(rng, loops, order):
    sign = rng.choice(("=", "=", ""))
    words = []
    for d in order:
        bound, last = loops.get(d, (1, 1))
        if d in loops or rng.random() < 0.5:
            words.append(f"{d}{sign}{bound}" +
                         (f",{last}" if last != bound else ""))
    return " ".join(words) or f"{order[0]}{sign}1"


def spatial(rng, level):
    row = directive(rng, level, "spatial", level.spatial, level.spread)
    if row:
        row["split"] = level.split
        if level.unlinked:
            row["no_link_transfer"] = level.unlinked
    return row


def kept(rng, layer, level):
    keeps = [t for t in layer.tensors if t not in level.bypass]
    if not level.bypass and rng.random() < 0.5:
        return []
    row = {"target": level.name, "type": rng.choice(("bypass", "datatype"))}
    if rng.random() < 0.7:
        row["keep"] = keeps
    row["bypass"] = level.bypass
    return [row]
