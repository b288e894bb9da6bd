"""Concats that cannot be rewritten stay, with a reason, and others are: in one
model that runs as before."""
import numpy
import onnx
import pytest
from onnx import helper, numpy_helper

import runtimes
import tool

# Node behind a concat, and whether it can be rewritten.
READERS = {
    "grouped": False,     # a convolution of two groups
    "tall": False,        # behind a concat over rows
    "counted_back": True,  # behind a concat over axis -3, which is channels
    "same_weights": True,  # of the same weights as that
    "made_weights": False,  # that an operator makes
    "transposed": False,
    "wanted": False,      # behind a concat that is an output
}


def conv(name, x, weight, kind="Conv", **attributes):
    return helper.make_node(kind, [x, weight], [name], name,
                            kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                            **attributes)


def concat(name, axis):
    return helper.make_node("Concat", ["x/a", "x/b"], [name], name, axis=axis)


def node_list():
    nodes = [helper.make_node("Relu", [x], [f"x/{x}"], f"x/{x}")
             for x in ("a", "b")]
    for name in READERS:
        if name != "same_weights":
            axis = {"tall": 2, "counted_back": -3}.get(name, 1)
            nodes.append(concat(f"{name}/cat", axis))
    nodes += [
        helper.make_node("Mul", ["half", "w"], ["made"], "made"),
        conv("grouped", "grouped/cat", "narrow", group=2),
        conv("tall", "tall/cat", "narrow"),
        conv("counted_back", "counted_back/cat", "w"),
        conv("same_weights", "counted_back/cat", "w"),
        conv("made_weights", "made_weights/cat", "made"),
        conv("transposed", "transposed/cat", "back", "ConvTranspose"),
        conv("wanted", "wanted/cat", "w")]
    return nodes


def write_model(path):
    random = numpy.random.default_rng(3)
    weights = {"w": [8, 16, 3, 3], "narrow": [8, 8, 3, 3],
               "back": [16, 8, 3, 3]}
    arrays = {name: random.standard_normal(shape, numpy.float32)
              for name, shape in weights.items()}
    kind = onnx.TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name, shape
              in (("a", [1, 8, 6, 6]), ("b", [1, 8, 6, 6]), ("half", [1]))]
    outputs = [helper.make_tensor_value_info(
        name, kind, [1, 8, 12 if name == "tall" else 6, 6]) for name in READERS]
    outputs.append(helper.make_tensor_value_info("wanted/cat", kind,
                                                 [1, 16, 6, 6]))
    graph = helper.make_graph(node_list(), "refused", inputs, outputs, [
        numpy_helper.from_array(array, name) for name, array in arrays.items()])
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("partials", ["accumulate", "add-copy"])
def test_refused(partials, tmp_path):
    tool.need("plan", "--rewrite", "--partials")
    path, out = write_model(tmp_path / "in.onnx"), tmp_path / "out.onnx"
    planned = tool.write(path, out, "--rewrite", "all", "--partials", partials)
    onnx.checker.check_model(onnx.load(out), full_check=True)
    sites = {site["name"].split(">")[-1]: site
             for site in planned["rewrite"]["sites"]}
    for name, possible in READERS.items():
        if possible:
            assert sites[name]["applied"]
        elif name in sites:
            assert not sites[name]["applied"] and sites[name]["reason"]
    before, after = (runtimes.kept("run_ort.py", file) for file in (path, out))
    assert before.keys() == after.keys()
    for name, array in before.items():
        apart = numpy.abs(after[name] - array).max()
        assert apart <= 1e-5 * numpy.abs(array).max()
