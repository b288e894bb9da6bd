"""The hard cases: which graphs and which buffers, how long, and beside whom.

Seeds 0 to 2, and all large layouts, were at hand while the searches were built;
later seeds are only run.
"""
import dataclasses
import json
import pathlib

import layout_buffers as buffers
import order_graphs as graphs
import run_cases

CASES = run_cases.CASES
USUAL, LONG = 400_000_000, 1_200_000_000    # ticks
ALL_ORDERS = 20_000_000_000     # of first fit, with 60,000 buffers
LISTS = ("file", "level", "dfs", "greedy")
ALLOCATORS = ("greedy-by-size", "greedy-by-all", "best-fit", "telamalloc",
              "hill-climb", "annealing", "tabu", "supermalloc")


@dataclasses.dataclass(frozen=True)
class Case:
    family: str
    name: str
    suffix: str
    make: object            # () -> text of the file
    ticks: int = USUAL
    peers: tuple = ()
    arguments: tuple = ()
    known: int | None = None    # the least value, from elsewhere
    quick: bool = False


# ---- Orders ------------------------------------------------------------------

KINDS = {"": {}, "i": {"inplace": 0.5, "workspace": 0.3}}


def order_case(family, name, preds, most=1, sizes=None, outputs=1, kind="",
               seed=0, **more):
    """Half of the operators write in place and a third have workspace, if kind
    is "i"; peers do not know that."""
    sizes = sizes or graphs.random_sizes(len(preds), most, seed)
    peers = LISTS + ((more.pop("peers", ()) if not kind else ()))
    more.pop("peers", None)

    def make():
        return graphs.graph_text("g", preds, sizes, outputs, seed=seed,
                                 **KINDS[kind])

    return Case(family, name, ".cg", make, peers=peers, arguments=(
        "--memory", "plain", "--inplace", "elementwise"), **more)


def cells():
    for nodes in (32, 40, 48, 56, 62, 70, 80, 100, 120, 150):
        for seed in range(5):
            preds = graphs.watts_strogatz(nodes, seed)
            for letter, most, kind in (("s", 1, ""), ("r", 8, ""), ("i", 8, "i")):
                if nodes == 150 and letter != "s" and seed not in (0, 3):
                    continue
                peers = ("cp-sat",) if seed == 0 and nodes <= 100 else ()
                if seed == 0 and nodes <= 48:
                    peers += ("highs", "dp")
                yield order_case(
                    "cells", f"w{letter}{nodes}_{seed}", preds, most, kind=kind,
                    seed=seed, peers=peers, quick=seed == 0 and nodes <= 62,
                    ticks=LONG if nodes == 150 else USUAL)


def layers():
    for operators, width in ((200, 16), (500, 16), (1000, 16), (5000, 4),
                             (5000, 8), (5000, 16)):
        for seed in range(2):
            preds = graphs.layered(operators, width, seed)
            for letter, most, kind in (("", 1, ""), ("r", 64, ""), ("i", 64, "i")):
                peers = ("cp-sat",) if seed == 0 and operators <= 500 else ()
                yield order_case(
                    "layers", f"lay{operators}w{width}{letter}_{seed}", preds,
                    most, outputs=width, kind=kind, seed=seed, peers=peers,
                    quick=width < 16 and not letter)


def series_parallel():
    for operators in (50, 200, 1000, 5000, 100_000):
        for seed in range(2):
            preds = graphs.series_parallel(operators, seed)
            for letter, kind in (("", ""), ("i", "i")):
                if operators > 5000 and kind:
                    continue
                yield order_case(
                    "series-parallel", f"sp{letter}{operators}_{seed}", preds, 64,
                    kind=kind, seed=seed, quick=operators <= 1000,
                    peers=("cp-sat",) if operators <= 200 else ())


def networks():
    for count in (3, 5, 10, 20):
        preds = graphs.nas_stack(count, 5, count)
        for letter, kind in (("", ""), ("i", "i")):
            yield order_case("networks", f"nas{letter}{count}", preds, 8,
                             kind=kind, seed=count, quick=True,
                             peers=("cp-sat",) if count <= 5 else ())
    for nets, depth in ((1, 4), (5, 5), (20, 4)):
        preds, sizes = graphs.unet_chain(nets, depth)
        for letter, kind in (("", ""), ("i", "i")):
            yield order_case("networks", f"unet{letter}{nets}x{depth}", preds,
                             sizes=sizes, kind=kind, quick=True,
                             peers=("cp-sat",) if nets == 1 else ())


def dense():
    for nodes, chance in ((60, 0.1), (100, 0.1), (100, 0.3), (150, 0.05),
                          (200, 0.03), (300, 0.02)):
        preds = graphs.erdos_renyi(nodes, chance, 0)
        for letter, most in (("", 1), ("r", 64)):
            yield order_case("dense", f"er{letter}{nodes}p{chance}", preds, most,
                             peers=("cp-sat",) if nodes <= 100 else ())
    for nodes in (110, 200):
        preds = graphs.blocks(nodes, 4, 0.2, 0.03, 0)
        yield order_case("dense", f"blocks{nodes}", preds, 64,
                         peers=("cp-sat",) if nodes <= 110 else ())


def public_graphs():
    """Files of the case collection, where it is there."""
    for home in ("graphs", "graphs-ws"):
        for path in run_cases.files(CASES / home, "*.cg"):
            yield Case(home, path.stem, ".cg", path.read_text, peers=LISTS,
                       arguments=("--memory", "plain"))
    home = CASES / "graphs/adamem"
    optima = (json.loads((home / "optimal.json").read_text())
              if home.is_dir() else {})
    for path in sorted(home.rglob("*.in")):
        name = str(path.relative_to(home).with_suffix(""))
        yield Case("adamem", name.replace("/", "-"), ".cg",
                   lambda path=path: graphs.adamem_text(path.read_text()),
                   peers=LISTS, arguments=("--memory", "plain"),
                   known=optima_of(optima, name))


def optima_of(optima, name):
    return optima.get("results", {}).get(f"{name}.in", {}).get("optimal_peak")


def order_cases():
    for family in (cells, layers, series_parallel, networks, dense,
                   public_graphs):
        yield from family()


# ---- Layouts -----------------------------------------------------------------

def layout_case(family, name, make, **more):
    return Case(family, name, ".csv", lambda: buffers.text(make()), **more)


def made_buffers():
    few = ALLOCATORS + ("cp-sat",)
    for count, steps in ((154, 1 << 20), (213, 1 << 20), (308, 1 << 20),
                         (409, 1 << 20), (154, 100), (213, 24), (409, 60)):
        for seed in range(5):
            for left_out in (0, 0.03):
                name = f"cuts{count}-{steps}-{left_out}_{seed}"
                yield layout_case(
                    "cuts", name,
                    lambda c=count, s=steps, d=seed, o=left_out:
                    buffers.cuts(c, s, d, left_out=o),
                    peers=few if seed == 0 and not left_out else (),
                    known=None if left_out else 1 << 20,
                    quick=seed == 0 and steps == 1 << 20)
    for count, steps, largest in ((24, 18, 8), (40, 30, 12), (60, 40, 30)):
        for seed in range(8):
            yield layout_case(
                "full", f"full{count}_{seed}",
                lambda c=count, s=steps, m=largest, d=seed:
                buffers.full(c, s, m, d), peers=few if seed == 0 else (),
                ticks=150_000_000, quick=seed == 0 and count < 60)
    for copies, largest in ((1, 1000), (5, 64), (40, 9)):
        for seed in range(5):
            found, least = buffers.tricky(copies, largest, seed)
            yield layout_case("tricky", f"tricky{copies}_{seed}",
                              lambda found=found: found, known=least,
                              peers=few if seed == 0 else (), quick=seed == 0)
    for count, steps in ((20, 24), (60, 40), (200, 100)):
        for seed in range(5):
            yield layout_case(
                "mixed", f"mixed{count}_{seed}",
                lambda c=count, s=steps, d=seed: buffers.mixed(c, s, d),
                ticks=150_000_000, quick=seed == 0 and count < 60)
    for name, make in (
            ("training800", lambda: buffers.training(250, 0)),
            ("inference1000", lambda: buffers.inference(1000, 0)),
            ("training18000", lambda: buffers.training(4700, 1)),
            ("inference28000", lambda: buffers.inference(28000, 1, 200)),
            ("training62000", lambda: buffers.training(15500, 2)),
            ("inference60000", lambda: buffers.inference(60000, 1, 400))):
        yield layout_case("large", name, make, peers=(
            "greedy-by-size", "greedy-by-all", "supermalloc"),
            ticks=ALL_ORDERS, quick=name in ("training800", "inference1000"))


def public_buffers():
    for path in run_cases.files(CASES / "minimalloc", "*/*.csv"):
        yield Case("minimalloc", path.stem, ".csv", path.read_text,
                   peers=ALLOCATORS if path.parent.name == "challenging" else (
                       "greedy-by-size", "supermalloc"))


def layout_cases():
    yield from made_buffers()
    yield from public_buffers()
