"""Layers and machines: those that bench/mappers measures.

With the public cases: the unique layers of the four networks in CoSA's
repository, on its Simba and two larger ones.  Without them: ResNet-50, whose
shapes are written here, on examples/simba-like.yaml.
"""
import dataclasses
import json
import pathlib

import tool

EXAMPLE = tool.ROOT / "examples/simba-like.yaml"
SIMBA = tool.CASES / "cosa/arch/simba.yaml"
KEEPS = tool.CASES / "cosa/mapspace/mapspace.yaml"

NETWORKS = {"AlexNet": "alexnet_graph", "ResNet-50": "resnet50_graph",
            "ResNeXt-50": "resnext50_32x4d_graph",
            "DeepBench": "deepbench_graph"}

# filter, width of the output, channels in, channels out, stride
RESNET50 = (
    (7, 112, 3, 64, 2), (1, 56, 64, 64, 1), (3, 56, 64, 64, 1),
    (1, 56, 64, 256, 1), (1, 56, 256, 64, 1), (1, 56, 256, 128, 1),
    (3, 28, 128, 128, 2), (1, 28, 128, 512, 1), (1, 28, 256, 512, 2),
    (1, 28, 512, 128, 1), (3, 28, 128, 128, 1), (1, 28, 512, 256, 1),
    (3, 14, 256, 256, 2), (1, 14, 256, 1024, 1), (1, 14, 512, 1024, 2),
    (1, 14, 1024, 256, 1), (3, 14, 256, 256, 1), (1, 14, 1024, 512, 1),
    (3, 7, 512, 512, 2), (1, 7, 512, 2048, 1), (1, 7, 1024, 2048, 2),
    (1, 7, 2048, 512, 1), (3, 7, 512, 512, 1), (1, 1, 2048, 1000, 1))

# What the levels of examples/simba-like.yaml are for.
EXAMPLE_KEEPS = {"WeightRegister": "Weights", "AccumulationBuffer": "Outputs",
                 "WeightBuffer": "Weights", "InputBuffer": "Inputs",
                 "GlobalBuffer": "Inputs, Outputs"}


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    arch: pathlib.Path
    keeps: str          # a file of constraints


def machines():
    if not SIMBA.exists():
        return [Machine("simba-like", EXAMPLE, constraints(EXAMPLE_KEEPS))]
    folder = tool.CASES / "goldens/arch"
    return [Machine(name, path, KEEPS.read_text()) for name, path in (
        ("Simba", SIMBA), ("4x PEs", folder / "cosa_simba_large.yaml"),
        ("larger SRAMs", folder / "cosa_simba_bigsram.yaml"))]


def constraints(keeps):
    tensors = {"Weights", "Inputs", "Outputs"}
    lines = ["constraints:"]
    for level, kept in keeps.items():
        rest = ", ".join(sorted(tensors - set(kept.split(", "))))
        lines.append(f"- {{target: {level}, type: bypass, keep: [{kept}], "
                     f"bypass: [{rest}]}}")
    return "\n".join(lines) + "\n"


def networks():
    """{network: {layer: dimensions and strides}}"""
    path = tool.CASES / "layers_cosa.json"
    if not path.exists():
        return {"ResNet-50": {
            f"{r}x{r}-{p}-{c}-{k}-s{stride}": dict(
                R=r, S=r, P=p, Q=p, C=c, K=k, N=1, Wstride=stride,
                Hstride=stride)
            for r, p, c, k, stride in RESNET50}}
    tables = json.loads(path.read_text())["networks"]
    return {name: unique(tables[key]) for name, key in NETWORKS.items()}


def unique(rows):
    """Those that the list of unique layers names; a dilation of 0 is one."""
    by_file = {row["file"].removesuffix(".yaml"): row for row in rows}
    return {name: {key: max(value, 1) if key.endswith("dilation") else value
                   for key, value in by_file[name].items()
                   if key not in ("file", "shape")}
            for name in by_file["unique_layers"]["value"]}


def problem(layer):
    rows = "".join(f"  {key}: {value}\n" for key, value in layer.items())
    return "problem:\n  shape: cnn-layer\n" + rows
