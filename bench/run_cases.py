"""The cases of the quality record: what is asked of the tool.

The project's own first: examples, graphs of the tests, ResNet-50 on machines of
the examples and of `calm bench`.  Then the public ones, from $CALM_CASES or
../shared/cases, if they are there.
"""
import dataclasses
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = pathlib.Path(os.environ.get("CALM_CASES", ROOT / "../shared/cases"))
sys.path[:0] = [str(ROOT / "tests/mapping")]

import mapper_layers    # noqa: E402

# How the networks of SERENITY's paper are planned.
SERENITY = ("memory=plain", "memory=serenity", "memory=serenity rewrite=paper",
            "memory=serenity rewrite=auto")
TRAFFIC = tuple(f"memory=serenity minimize=traffic onchip={size}K"
                for size in (32, 64, 128, 256))
OWN = ("examples", "tests", "bench")    # homes that are always there
OBJECTIVES = {"energy": "energy_pj", "delay": "cycles", "edp": "edp"}


@dataclasses.dataclass(frozen=True)
class Case:
    verb: str           # plan, traffic, pack or map: what is measured
    model: str          # with a folder at the top
    options: str        # as the record has them
    path: pathlib.Path
    arguments: tuple = ()

    @property
    def home(self):
        return self.model.partition("/")[0]

    def matches(self, words):
        return not words or any(word in f"{self.model} {self.options}"
                                for word in words)


def files(folder, pattern):
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


def plans(home, folder, pattern, choices=("memory=plain",), verb="plan"):
    """The options of a choice are named as on the command line."""
    for choice in choices:
        arguments = [f"--{option}" for option in choice.split()]
        for path in files(folder, pattern):
            yield Case(verb, f"{home}/{path.name}", choice, path,
                       tuple(arguments))


def own_plans(choices, verb="plan"):
    """Of the project's own networks; those that are examples, too, once."""
    yield from plans("examples", ROOT / "examples", "*.cg", choices, verb)
    yield from plans("tests", ROOT / "tests/graph", "*.cg", choices, verb)
    for case in plans("bench", ROOT / "bench/cases", "*.cg", choices, verb):
        if not (ROOT / "examples" / case.path.name).exists():
            yield case


def packings():
    for path in files(CASES / "minimalloc", "*/*.csv"):
        # An instance named NAME.CAPACITY.csv or NAME.capCAPACITY.csv is solved
        # when it fits, so that is what is asked for.
        capacity = path.stem.rsplit(".", 1)[-1].removeprefix("cap")
        yield Case("pack", f"minimalloc/{path.parent.name}/{path.name}",
                   f"budget={capacity}", path, ("--budget", capacity))


def machines():
    """(name, arguments)"""
    examples = ROOT / "examples"
    yield "examples/simba-like.yaml", (
        "--arch", examples / "simba-like.yaml", "--constraints",
        examples / "simba-like-keep.yaml")
    for path in files(ROOT / "bench/cases", "simba*.yaml"):
        yield f"bench/{path.name}", ("--arch", path)


def layers():
    """{name: problem file as text} of ResNet-50, equal layers once."""
    return {f"{r}x{r}-{p}-{c}-{k}-s{stride}": mapper_layers.problem(dict(
        R=r, S=r, P=p, Q=p, C=c, K=k, N=1, Wstride=stride, Hstride=stride))
        for r, p, c, k, stride in mapper_layers.RESNET50}


def mappings():
    """A case is a machine and an objective, of all layers."""
    for name, arguments in machines():
        for objective in OBJECTIVES:
            yield Case("map", name, f"objective={objective}", None,
                       (*arguments, "--objective", objective))


def all_cases():
    yield from own_plans(SERENITY)
    yield from own_plans(TRAFFIC, "traffic")
    yield from mappings()
    for home, pattern in (("graphs", "stack3_*.cg"), ("models", "cfu_*.tflite"),
                          ("models", "swiftnet*.tflite")):
        yield from plans(home, CASES / home, pattern,
                         ("memory=plain minimize=traffic onchip=64K",),
                         "traffic")
    for home in ("graphs", "graphs-ws"):
        yield from plans(home, CASES / home, "*.cg")
    yield from plans("models", CASES / "models", "*.tflite",
                     ("memory=plain", "memory=tflm-default"))
    yield from packings()
