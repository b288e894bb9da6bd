"""Random loop nests for the machines of the golden set, as records like theirs.

Factors are drawn level by level from the inside, spatial ones no wider than the
mesh below the level; what remains of a bound goes to the outermost level.
"""
import math

import goldens

IMPERFECT_SHARE = 0.2
FITTING_SHARE = 0.9


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


def draw_factor(random, bound, most, perfect):
    """(iterations, those of the last round, rounds that are left)"""
    choices = [d for d in divisors(bound) if d <= most] if perfect else range(
        1, min(bound, most) + 1)
    factor = random.choice([1, random.choice(choices)])
    rounds = math.ceil(bound / factor)
    return factor, bound - (rounds - 1) * factor, rounds


def put(loops, dimension, factor, rest):
    if factor > 1:
        loops[dimension] = factor if factor == rest else [factor, rest]


def draw_spatial(random, level, left, perfect):
    """The loops along X and Y of a level; takes them from what is left."""
    loops = {"X": {}, "Y": {}}
    for axis in random.sample("XY", 2):
        room = level["f" + axis.lower()]
        for dimension in random.sample(sorted(left), random.randint(0, 2)):
            if any(dimension in part for part in loops.values()):
                continue
            factor, rest, left[dimension] = draw_factor(
                random, left[dimension], room, perfect)
            put(loops[axis], dimension, factor, rest)
            room //= factor
    return loops


def draw_temporal(random, left, outermost, perfect):
    loops = {}
    for dimension in random.sample(sorted(left), len(left)):
        if outermost:
            put(loops, dimension, left[dimension], left[dimension])
        elif random.random() < 0.4:
            factor, rest, left[dimension] = draw_factor(
                random, left[dimension], 16, perfect)
            put(loops, dimension, factor, rest)
    return loops


def draw_level(random, level, left, outermost, tensors, perfect):
    """One level of a record's mapping."""
    dimensions = sorted(left)
    nest = {"level": level["name"], "keep": [
        tensor for tensor in tensors if outermost or random.random() < 0.7]}
    if level["fx"] * level["fy"] > 1:
        nest |= draw_spatial(random, level, left, perfect)
        along = [sorted(nest["X"]),
                 [d for d in dimensions if d not in nest["X"]]]
        for part in along:
            random.shuffle(part)
        nest |= {"sperm": "".join(sum(along, [])), "split": len(along[0])}
    nest["T"] = draw_temporal(random, left, outermost, perfect)
    nest["perm"] = "".join(random.sample(dimensions, len(dimensions)))
    return nest


def first(factor):
    return factor[0] if isinstance(factor, list) else factor


def make_fit(mapping, levels, problem):
    """Let levels drop tensors, the largest first, until the rest fits."""
    model = goldens.reference()
    projections, sizes = model.proj(problem), dict.fromkeys(
        model.shape_of(problem)["dims"], 1)
    for nest, level in zip(mapping, levels):
        for part in ("X", "Y", "T"):
            for dimension, factor in nest.get(part, {}).items():
                sizes[dimension] *= first(factor)
        words = {tensor: model.tile_size(projections[tensor], sizes)
                 for tensor in nest["keep"]}
        while level["cap"] and sum(words.values()) > level["cap"]:
            del words[max(words, key=words.get)]
        nest["keep"] = sorted(words)


def factors_text(dimensions, loops):
    return " ".join(
        f"{d}={','.join(map(str, f)) if isinstance(f, list) else f}"
        for d, f in ((d, loops.get(d, 1)) for d in dimensions))


def entries(nest, tensors):
    """The lines of one level in a mapping file."""
    head = f"- {{target: {nest['level']}, type: "
    bypass = [tensor for tensor in tensors if tensor not in nest["keep"]]
    yield (f"{head}datatype, keep: [{', '.join(nest['keep'])}], "
           f"bypass: [{', '.join(bypass)}]}}")
    yield (f"{head}temporal, factors: "
           f"\"{factors_text(nest['perm'], nest['T'])}\", "
           f"permutation: {nest['perm']}}}")
    if "sperm" in nest:
        spread = factors_text(nest["sperm"], {**nest["X"], **nest["Y"]})
        yield (f"{head}spatial, factors: \"{spread}\", "
               f"permutation: {nest['sperm']}, split: {nest['split']}}}")


def draw(random, arch, problem_name, problem):
    """A record with a random nest; it may not fit."""
    shape = goldens.reference().shape_of(problem)
    levels = goldens.machine(arch)["levels"]
    left = {dimension: problem[dimension] for dimension in shape["dims"]}
    perfect = random.random() >= IMPERFECT_SHARE
    mapping = [draw_level(random, level, left, level is levels[-1],
                          shape["tensors"], perfect) for level in levels]
    if random.random() < FITTING_SHARE:
        make_fit(mapping, levels, problem)
    lines = ["mapping:"]
    for nest in reversed(mapping):
        lines += entries(nest, shape["tensors"])
    found = any(isinstance(factor, list) for nest in mapping
                for part in "XYT" for factor in nest.get(part, {}).values())
    return {"id": f"{arch} {problem_name}", "arch": arch,
            "problem_name": problem_name, "problem": problem,
            "subset": "imperfect" if found else "valid", "valid": True,
            "mapping": mapping, "mapping_yaml": "\n".join(lines) + "\n"}
