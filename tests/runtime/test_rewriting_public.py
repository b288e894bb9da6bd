"""Public models with all of their sites rewritten: they load, run and compute
the same; every bit, where numbers are whole."""
import numpy
import pytest

import known
import models
import partial_sums
import runtimes
import test_onnx
import tool

MODELS = [path for path in models.tflite_cases()
          if path.stem not in known.LITERT_UNSTABLE and
          path.stem not in known.LITERT_REFUSES]
SWIFTNET = models.CASES / "models/swiftnet_vwwc19_uint8.tflite"
NEAR = 1e-5  # of the largest value
# The outputs are probabilities, and far below 1 for the inputs of these tests;
# the runtime's own optimisation changes them as much.
PROBABILITIES = {"ch_PP-OCRv4_det_infer"}


def assert_near(before, after, largest=0):
    """Floats are close to each other, all else is equal."""
    assert before.dtype == after.dtype and before.shape == after.shape
    if before.dtype.kind == "f" and before.size:
        limit = NEAR * numpy.nanmax(numpy.abs(before), initial=largest)
        assert numpy.allclose(after, before, 0, limit, equal_nan=True)
    else:
        assert numpy.array_equal(before, after)


def assert_written(path, out):
    """Tensors that both files have are equal or close; their number."""
    names = [partial_sums.tflite_names(file) for file in (path, out)]
    values = [runtimes.litert_values(file) for file in (path, out)]
    before, after = ({names[i][index]: array for index, array in
                      values[i].items()} for i in range(2))
    common = [name for name in before if name in after]
    for name in common:
        assert_near(before[name], after[name])
    return len(common)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--memory", "litert")], ids=" ".join)
def test_tflite(model, options, tmp_path):
    tool.need("plan", "--rewrite")
    out = tmp_path / model.name
    planned = tool.write(model, out, "--rewrite", "all", *options)
    assert_written(model, out)
    if not options and model.stem not in known.TFLM_REFUSES:
        facts = runtimes.tflm(out)
        assert facts["head"] == planned["runtime"]["head_bytes"]
    elif options and model.stem not in known.LITERT_TEMPORARIES:
        facts, = runtimes.litert("reference", out)
        assert facts["span"] == planned["runtime"]["head_bytes"]


def test_swiftnet(tmp_path):
    """Four depthwise convolutions behind concats of the uint8 network move
    above them; its last outputs hardly change, so that all is compared."""
    if not SWIFTNET.exists():
        pytest.skip("no public cases")
    tool.need("plan", "--rewrite")
    out = tmp_path / "out.tflite"
    planned = tool.write(SWIFTNET, out, "--rewrite", "all",
                         "--memory", "litert")
    applied = [site for site in planned["rewrite"]["sites"]
               if site["applied"] and ">" in site["name"]]
    assert len(applied) == 4
    assert assert_written(SWIFTNET, out) > 60


@pytest.mark.slow
@pytest.mark.parametrize("partials", ["accumulate", "add-copy"])
@pytest.mark.parametrize("package", models.onnx_packages(),
                         ids=lambda path: path.stem)
def test_onnx_package(package, partials, tmp_path):
    tool.need("plan", "--rewrite", "--partials")
    out, dims = tmp_path / package.name, test_onnx.DIMS.get(package.stem, [])
    words = [word for dim in dims for word in ("--dim", dim)]
    tool.write(package, out, "--rewrite", "all", "--partials", partials, *words)
    options = words + [word for value in test_onnx.VALUES.get(package.stem, [])
                       for word in ("--value", value)]
    before, after = (runtimes.kept("run_ort.py", file, *options)
                     for file in (package, out))
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert_near(array, after[name], int(package.stem in PROBABILITIES))
