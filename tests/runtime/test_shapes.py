"""Shapes of .onnx tensors: what calm infers is what the operators compute.

The models are the ONNX package's own tests of its operators, without what they
say about shapes (node_models.py), and whole networks.  A shape that calm knows
must be the real one; and calm must know what ONNX's own inference knows.
"""
import json

import onnx
import pytest

import models
import node_models
import test_onnx
import tool

FOLDER = models.WORK / "node"
INDEX = FOLDER / "index.json"
CASES = json.loads(INDEX.read_text()) if INDEX.exists() else {}

# Operators that calm leaves alone: no tensors, or no fixed schema.
NO_RULE = {"ArrayFeatureExtractor", "Binarizer", "ImageDecoder",
           "LabelEncoder", "Momentum", "Adam", "Adagrad", "Gradient",
           "Optional", "OptionalGetElement", "OptionalHasElement",
           "SequenceAt", "SequenceConstruct", "SequenceEmpty",
           "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap",
           "SplitToSequence", "ConcatFromSequence", "StringConcat",
           "StringNormalizer", "StringSplit", "TfIdfVectorizer",
           "TreeEnsemble",
           # Newer than what calm knows (opset 26), or a preview.
           "CausalConvWithState", "FlexAttention", "LinearAttention", "SwiGLU"}


def family(ops):
    """The operator of a model with one kind of operator; else the number."""
    return ops[0] if len(ops) == 1 else f"{min(len(ops), 9)}-kinds"


def families():
    names = {}
    for name, case in CASES.items():
        names.setdefault(family(case["ops"]), []).append(name)
    return sorted(names.items())


def wrong_shapes(name, case):
    """One line per shape that is wrong, or that should have been known."""
    done = tool.call("inspect", FOLDER / f"{name}.onnx", "--json")
    if done.returncode == 3:
        known = case["inferable"] and not NO_RULE & set(case["ops"])
        return [f"{name}: {done.stderr.strip()}"] if known else []
    if done.returncode:
        return [f"{name}: exit {done.returncode}: {done.stderr.strip()}"]
    found = {t["name"]: t["shape"] for t in json.loads(done.stdout)["tensors"]}
    return [f"{name}: '{tensor}' is {shape}, not {found[tensor]}"
            for tensor, shape in case["shapes"].items()
            if found.get(tensor) is not None and found[tensor] != shape]


@pytest.mark.parametrize("names", [names for _, names in families()],
                         ids=[family for family, _ in families()])
def test_operator(names):
    tool.need_onnx()
    wrong = [line for name in names
             for line in wrong_shapes(name, CASES[name])]
    assert not wrong, "\n".join(wrong)


def fix_dims(graph, dims):
    """Put numbers in the place of names (or of nothing) in input shapes."""
    sizes = dict(word.rsplit("=", 1) for word in dims)
    for entry in graph.input:
        for axis, dim in enumerate(entry.type.tensor_type.shape.dim):
            size = sizes.get(dim.dim_param or f"{entry.name}:{axis}")
            if size:
                dim.dim_value = int(size)


@pytest.mark.parametrize("path", test_onnx.LIGHT + test_onnx.PACKAGES,
                         ids=lambda path: path.stem)
def test_network(path):
    """Each shape that ONNX infers, in a whole network."""
    tool.need_onnx()
    dims = test_onnx.DIMS.get(path.stem, [])
    model = onnx.load(path)
    fix_dims(model.graph, dims)
    node_models.forget_shapes(model.graph)
    expected = node_models.infer(model)
    options = [word for dim in dims for word in ("--dim", dim)]
    found = {t["name"]: t["shape"]
             for t in tool.facts("inspect", path, *options)["tensors"]}
    wrong = [f"'{name}' is {shape}, not {found[name]}"
             for name, shape in expected.items()
             if name in found and found[name] != shape]
    assert expected and not wrong, "\n".join(wrong)
