"""1x1 convolutions with a dilation written into them compute what they did, in
TensorFlow Lite Micro and in LiteRT."""
import pytest

import checks
import known
import models
import runtimes
import tool

NAMES = ["mlperf_kws_ref_int8", "tflm_person_detect", "mlperf_vww_96_int8"]
MODELS = [path for path in models.tflite_cases() if path.stem in NAMES]


def dilated(path):
    dump = tool.call("inspect", path, "--dump").stdout
    return dump.count("dilation=2,2")


def write(model, folder):
    tool.need("plan", "--rewrite-1x1")
    out = folder / model.name
    planned = tool.write(model, out, "--rewrite-1x1")
    assert dilated(model) == 0 and dilated(out) > 0
    return out, planned


def test_tflm(model, tmp_path):
    checks.assert_same(model, *write(model, tmp_path))


@pytest.mark.parametrize("mode", ["plain", "reference", "xnnpack"])
def test_litert(model, mode, tmp_path):
    if model.stem in known.LITERT_REFUSES:
        pytest.skip("LiteRT does not load the original either")
    out, _ = write(model, tmp_path)
    before, after = runtimes.litert(mode, model, out,
                                    all_tensors=mode == "reference")
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]
    assert after.get("tensors") == before.get("tensors")
