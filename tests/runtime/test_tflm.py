"""TensorFlow Lite Micro: the arena that calm predicts is the arena it takes,
and the files that calm writes compute what the originals compute."""
import pytest

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


def assert_runs(facts, model):
    """The runtime ran the model, as far as it can run this one at all."""
    expected = known.TFLM_ALLOCATES_ONLY.get(model.stem)
    if expected:
        assert expected in facts["error"] and "head" in facts
    else:
        assert "error" not in facts, facts["error"]


def assert_same(model, out, planned):
    """The written file takes the predicted arena, which is no larger than the
    original's, and computes the same."""
    default, facts = runtimes.tflm(model), runtimes.tflm(out)
    assert_runs(facts, model)
    assert facts["head"] == planned["layout"]["arena_bytes"]
    assert facts["head"] <= default["head"]
    assert facts.get("outputs") == default.get("outputs")


@pytest.mark.parametrize("refused", REFUSED, ids=lambda path: path.stem)
def test_refused_models_are_the_known_ones(refused):
    assert known.TFLM_REFUSES[refused.stem] in runtimes.tflm(refused)["error"]


def test_default_head_is_predicted(model):
    tool.need("plan", "tflm")
    facts = runtimes.tflm(model)
    assert_runs(facts, model)
    predicted = tool.plan(model)["baseline"]["arena_bytes"]
    assert facts["head"] == predicted


def test_plan(model, tmp_path):
    out = tmp_path / model.name
    assert_same(model, out, tool.write(model, out))


def test_plan_in_place(model, tmp_path):
    """Element-wise operators write over an input that dies there."""
    tool.need("plan", "--kernels")
    out = tmp_path / model.name
    assert_same(model, out, tool.write(model, out, "--kernels", "reference"))


def test_order_alone(model, tmp_path):
    """Without a plan in the file the runtime places the new order itself."""
    tool.need("plan", "-o", "--no-offline-plan")
    out = tmp_path / model.name
    tool.write(model, out, "--no-offline-plan")
    default, facts = runtimes.tflm(model), runtimes.tflm(out)
    assert_runs(facts, model)
    assert facts.get("outputs") == default.get("outputs")
    predicted = tool.plan(out)["baseline"]["arena_bytes"]
    assert facts["head"] == predicted


@pytest.mark.parametrize("weak", WEAK, ids=lambda path: path.stem)
def test_inner_tensor(weak, tmp_path):
    """Where outputs hardly change, a late inner tensor is made the output."""
    edited, out = tmp_path / weak.name, tmp_path / "out.tflite"
    edited.write_bytes(tflite_edit.replace_output(
        weak.read_bytes(), known.WEAK_OUTPUTS[weak.stem]))
    first, second = runtimes.tflm(edited)["outputs"]
    assert first[0] != second[0]
    assert_same(edited, out, tool.write(edited, out))
