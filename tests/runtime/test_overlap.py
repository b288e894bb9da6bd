"""Outputs over dying inputs in TensorFlow Lite Micro: the heads that they are
said to save, and outputs and inner feature maps that stay as they are."""
import pytest

import checks
import known
import models
import pictures
import runtimes
import tflite_edit
import tool

KERNELS = ("--kernels", "reference", "--overlap", "on")
# The head that overlap alone reaches, and an inner feature map near the end.
HEADS = {
    "mlperf_kws_ref_int8": 9792,
    "mlperf_ic_resnet8_int8": 33312,
    "tflm_person_detect": 36880,
    "mlperf_vww_96_int8": 36880,
    "cfu_hps_74ops": 214700,
    "cfu_mobilenetv2_160_035": 307216,
}
MODELS = [path for path in models.tflite_cases() if path.stem in HEADS]
OTHERS = [path for path in models.tflite_cases()
          if path.stem not in HEADS and path.stem not in known.TFLM_REFUSES]
SLOW = {"cfu_hps_74ops", "cfu_mobilenetv2_160_035"}
INVOCATIONS = 6


def assert_all_equal(model, out, planned):
    """More inputs than other tests need: one wrong byte often rounds away."""
    checks.assert_same(model, out, planned)
    for words in (("--pictures", "--invocations", pictures.invocations(0)),
                  ("--invocations", INVOCATIONS, "--seed", 1)):
        first, second = (runtimes.start("run_tflm.py", path, *words)
                         for path in (model, out))
        assert "error" not in first
        assert first["outputs"] == second["outputs"]


def test_head(model, tmp_path):
    tool.need("plan", "--overlap")
    out = tmp_path / model.name
    planned = tool.write(model, out, *KERNELS)
    assert planned["layout"]["arena_bytes"] <= HEADS[model.stem]
    assert_all_equal(model, out, planned)


def test_feature_map(model, tmp_path):
    """The last tensor with rows and columns is made the output, so that what a
    classifier would round away shows."""
    tool.need("plan", "--overlap")
    edited, out = tmp_path / model.name, tmp_path / "out.tflite"
    edited.write_bytes(tflite_edit.disable_plan(tflite_edit.replace_output(
        model.read_bytes(), tflite_edit.last_picture(model.read_bytes()))))
    planned = tool.write(edited, out, *KERNELS)
    assert_all_equal(edited, out, planned)


@pytest.mark.parametrize("other", OTHERS, ids=lambda path: path.stem)
def test_all_others(other, tmp_path):
    tool.need("plan", "--overlap")
    out = tmp_path / other.name
    checks.assert_same(other, out, tool.write(other, out, *KERNELS))
