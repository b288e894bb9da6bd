"""ONNX Runtime: the peak that calm predicts is the peak it notes, and the files
that calm writes compute the same."""
import onnx
import pytest

import models
import runtimes
import tool

LIGHT = models.light_models()
PACKAGES = models.onnx_packages()
# Hundreds of megabytes each; `make bench-runtimes` writes these, too.
HEAVY = {"light_bvlc_alexnet", "light_vgg19", "light_zfnet512"}
WRITTEN = [pytest.param(path, marks=pytest.mark.slow) if path.stem in HEAVY
           else path for path in LIGHT]
# Differences that are not explained stay below this, in bytes.
NEAR = 256
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


def assert_peaks(path, predicted, small):
    """The meter shows what was predicted, in both orders of the runtime; the
    weights below 128 bytes come on top, because it counts those."""
    for order in ORDERS:
        facts, = runtimes.ort(path, order=order)
        assert facts["peak"] == predicted[f"{order}_peak_bytes"] + small


def assert_order(path, sequence, predicted):
    """The nodes of a file, which all have a name, run in the predicted order;
    those that only make weights are no operators to calm."""
    nodes = onnx.load(path).graph.node
    names = [nodes[index].name for index in sequence]
    operators = set(predicted)
    assert [name for name in names if name in operators] == predicted


@pytest.mark.parametrize("light", WRITTEN, ids=lambda path: path.stem)
def test_peaks_of_file(light):
    """The predictions for the file as it is."""
    tool.need("plan", "ort")
    path = models.folded_light(light)
    predicted = tool.plan(path)["runtime"]
    assert_peaks(path, predicted["file"], predicted["small_weight_bytes"])


@pytest.mark.parametrize("light", WRITTEN, ids=lambda path: path.stem)
def test_written_light_model(light, tmp_path):
    """The written file has the predicted peaks and orders, and gives the same
    outputs; where its order is followed, it needs no more than before."""
    tool.need("plan", "ort")
    path, out = models.folded_light(light), tmp_path / light.name
    predicted = tool.write(path, out)["runtime"]
    assert_permuted(path, out)
    assert_peaks(out, predicted["plan"], predicted["small_weight_bytes"])
    before, after = runtimes.ort(path, out)
    assert after["outputs"] == before["outputs"]
    assert after["peak"] <= before["peak"]
    assert_order(out, after["sequence"], predicted["file_sequence"])
    default, = runtimes.ort(out, order="default")
    assert_order(out, default["sequence"], predicted["default_sequence"])


@pytest.mark.parametrize("light", WRITTEN, ids=lambda path: path.stem)
def test_written_for_default_order(light, tmp_path):
    """A file whose order is such that the runtime's own order is good."""
    tool.need("plan", "--for")
    path, out = models.folded_light(light), tmp_path / light.name
    predicted = tool.write(path, out, "--for", "ort-default")["runtime"]
    assert_permuted(path, out)
    before, after = runtimes.ort(path, out, order="default")
    assert after["outputs"] == before["outputs"]
    assert after["peak"] <= before["peak"]
    assert after["peak"] == (predicted["plan"]["default_peak_bytes"] +
                             predicted["small_weight_bytes"])


@pytest.mark.parametrize("light", LIGHT, ids=lambda path: path.stem)
def test_weights_from_nodes(light):
    """A ConstantOfShape of a constant is a weight, like an initializer."""
    tool.need("plan", "ort")
    raw, plain = tool.plan(light), tool.plan(models.folded_light(light))
    assert raw["runtime"]["file"] == plain["runtime"]["file"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.stem)
def test_package(package, tmp_path):
    """Read, planned, written, and run in both of the runtime's orders."""
    tool.need_onnx()
    out = tmp_path / package.name
    dims = DIMS.get(package.stem, [])
    options = [word for dim in dims for word in ("--dim", dim)]
    predicted = tool.write(package, out, *options)["runtime"]
    assert_permuted(package, out)
    for order in ORDERS:
        before, after = runtimes.ort(package, out, order=order, dims=dims,
                                     values=VALUES.get(package.stem, []))
        assert "error" not in before, before["error"]
        assert "error" not in after, after["error"]
        assert after["outputs"] == before["outputs"]
        if not package.stem.startswith("silero"):
            # Silero's nodes make weights in every run, which calm leaves out.
            peak = (predicted["plan"][f"{order}_peak_bytes"] +
                    predicted["small_weight_bytes"])
            assert abs(after["peak"] - peak) <= NEAR
