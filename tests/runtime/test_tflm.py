"""TensorFlow Lite Micro: the arena that calm predicts is the arena it takes,
and the files that calm writes compute what the originals compute."""
import pytest

import checks
import known
import models
import runtimes
import tflite_edit
import tool

MODELS = [path for path in models.tflite_cases()
          if path.stem not in known.TFLM_REFUSES]
REFUSED = [path for path in models.tflite_cases()
           if path.stem in known.TFLM_REFUSES]
WEAK = [path for path in models.tflite_cases()
        if path.stem in known.WEAK_OUTPUTS]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda path: path.stem)
def test_refused_models_are_the_known_ones(refused):
    assert known.TFLM_REFUSES[refused.stem] in runtimes.tflm(refused)["error"]


def test_default_head_is_predicted(model, tmp_path):
    tool.need("plan", "tflm")
    checks.assert_default_head(model, tmp_path)


def test_plan(model, tmp_path):
    out = tmp_path / model.name
    checks.assert_same(model, out, tool.write(model, out))


def test_plan_in_place(model, tmp_path):
    """Element-wise operators write over an input that dies there."""
    tool.need("plan", "--kernels")
    out = tmp_path / model.name
    planned = tool.write(model, out, "--kernels", "reference")
    checks.assert_same(model, out, planned)


def test_order_alone(model, tmp_path):
    """Without a plan in the file the runtime places the new order itself."""
    tool.need("plan", "-o", "--no-offline-plan")
    out = tmp_path / model.name
    tool.write(model, out, "--no-offline-plan")
    checks.assert_default_head(out, tmp_path)
    assert (runtimes.tflm(out).get("outputs") ==
            runtimes.tflm(model).get("outputs"))


@pytest.mark.parametrize("weak", WEAK, ids=lambda path: path.stem)
def test_inner_tensor(weak, tmp_path):
    """Where outputs hardly change, a late inner tensor is made the output.  A
    plan inside the file knows nothing of that and has to go."""
    edited, out = tmp_path / weak.name, tmp_path / "out.tflite"
    edited.write_bytes(tflite_edit.disable_plan(tflite_edit.replace_output(
        weak.read_bytes(), known.WEAK_OUTPUTS[weak.stem])))
    first, second = runtimes.tflm(edited)["outputs"]
    assert first[0] != second[0]
    checks.assert_same(edited, out, tool.write(edited, out))
