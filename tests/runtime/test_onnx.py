"""ONNX Runtime: the peak that calm predicts is the peak it notes, and the files
that calm writes compute the same."""
import onnx
import pytest
from onnx import numpy_helper

import models
import runtimes
import tool

LIGHT = models.light_models()
PACKAGES = models.onnx_packages()
# Hundreds of megabytes each; `make bench-runtimes` writes these, too.
HEAVY = {"light_bvlc_alexnet", "light_vgg19", "light_zfnet512"}
WRITTEN = [pytest.param(path, marks=pytest.mark.slow) if path.stem in HEAVY
           else path for path in LIGHT]
ORDERS = ["priority", "default"]
# Sizes for what the files of packages leave open, and values of scalars.
DIMS = {
    "ch_PP-OCRv4_det_infer": [f"p2o.DynamicDimension.{axis}={size}"
                              for axis, size in enumerate((1, 320, 320))],
    "ch_PP-OCRv4_rec_infer": ["p2o.DynamicDimension.0=1",
                              "p2o.DynamicDimension.1=320"],
    "ch_ppocr_mobile_v2.0_cls_infer": [f"p2o.DynamicDimension.{axis}={size}"
                                       for axis, size in
                                       enumerate((1, 48, 192))],
    "silero_vad": ["input:0=1", "input:1=256", "state:1=1"],
    "silero_vad_16k_op15": ["batch=1", "sequence=576"],
    "silero_vad_16k_sequence": ["sequence_length=4"],
    "silero_vad_half": ["batch=1", "sequence=576"],
    "silero_vad_op18_ifless": ["batch=1", "sequence=576"],
}
VALUES = {
    "silero_vad": ["sr=8000"],
    "silero_vad_16k_op15": ["sr=16000"],
    "silero_vad_op18_ifless": ["sr=16000"],
}


def small_weight_bytes(path):
    """Bytes of the initializers that the meter counts: those below 128 bytes.
    Larger ones stay outside the arena that it watches."""
    sizes = [numpy_helper.to_array(tensor).nbytes
             for tensor in onnx.load(path).graph.initializer]
    return sum(size for size in sizes if size < 128)


def nodes_of(path):
    """The serialised nodes of the main graph, in file order."""
    return [node.SerializeToString() for node in onnx.load(path).graph.node]


def without_nodes(path):
    """Everything else in the file, serialised."""
    model = onnx.load(path)
    del model.graph.node[:]
    return model.SerializeToString()


def assert_permuted(path, out):
    """The written file is the original with its nodes in another order."""
    assert out.stat().st_size == path.stat().st_size
    assert sorted(nodes_of(out)) == sorted(nodes_of(path))
    assert without_nodes(out) == without_nodes(path)
    onnx.checker.check_model(onnx.load(out))


@pytest.mark.parametrize("light", LIGHT, ids=lambda path: path.stem)
def test_peak_of_file_order(light):
    """The prediction for the file as it is; only small weights come on top."""
    tool.need_onnx()
    tool.need("plan", "ort")
    path = models.folded_light(light)
    facts, = runtimes.ort(path)
    planned = tool.plan(path, "--memory", "ort", "--order", "file")
    assert facts["sequence"] == sorted(facts["sequence"])
    assert (facts["peak"] ==
            planned["order"]["peak_bytes"] + small_weight_bytes(path))


@pytest.mark.parametrize("light", WRITTEN, ids=lambda path: path.stem)
def test_written_light_model(light, tmp_path):
    """The written file has the predicted peak and gives the same outputs."""
    tool.need_onnx()
    path, out = models.folded_light(light), tmp_path / light.name
    planned = tool.write(path, out)
    assert_permuted(path, out)
    before, after = runtimes.ort(path, out)
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]
    assert after["peak"] <= before["peak"]
    tool.need("plan", "ort")
    assert (after["peak"] ==
            planned["order"]["peak_bytes"] + small_weight_bytes(path))


@pytest.mark.parametrize("light", LIGHT, ids=lambda path: path.stem)
def test_weights_from_nodes(light):
    """A ConstantOfShape of a constant is a weight, like an initializer."""
    tool.need_onnx()
    tool.need("plan", "ort")
    options = ("--memory", "ort", "--order", "file")
    raw, plain = tool.plan(light, *options), tool.plan(models.folded_light(light), *options)
    assert raw["order"]["peak_bytes"] == plain["order"]["peak_bytes"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.stem)
def test_package(package, tmp_path):
    """Read, planned, written, and run in both of the runtime's orders."""
    tool.need_onnx()
    out = tmp_path / package.name
    dims = DIMS.get(package.stem, [])
    options = [word for dim in dims for word in ("--dim", dim)]
    tool.write(package, out, *options)
    assert_permuted(package, out)
    for order in ORDERS:
        before, after = runtimes.ort(package, out, order=order, dims=dims,
                                      values=VALUES.get(package.stem, []))
        assert "error" not in before, before["error"]
        assert "error" not in after, after["error"]
        assert after["outputs"] == before["outputs"]
