"""What the tests assert of TensorFlow Lite Micro in more than one place."""
import known
import runtimes
import tflite_edit
import tool


def assert_runs(facts, model):
    """The runtime ran the model, as far as it can run this one at all."""
    expected = known.TFLM_ALLOCATES_ONLY.get(model.stem)
    if expected:
        assert expected in facts["error"] and "head" in facts
    else:
        assert "error" not in facts, facts["error"]


def assert_default_head(model, folder):
    """The heads that calm predicts for a file are those it takes: placed by
    the runtime, and by the plan inside the file, if there is one."""
    facts = runtimes.tflm(model)
    assert_runs(facts, model)
    predicted = tool.plan(model)["runtime"]
    carried = predicted["carried_head_bytes"]
    if carried is not None:
        assert facts["head"] == carried
        plain = folder / f"unplanned_{model.name}"
        plain.write_bytes(tflite_edit.disable_plan(model.read_bytes()))
        facts = runtimes.tflm(plain)
    assert facts["head"] == predicted["default_head_bytes"]


def assert_same(model, out, planned):
    """The written file takes the predicted head, which is no larger than the
    original's, and computes the same."""
    default, facts = runtimes.tflm(model), runtimes.tflm(out)
    assert_runs(facts, model)
    assert facts["head"] == planned["runtime"]["head_bytes"]
    assert facts["head"] == planned["layout"]["arena_bytes"]
    assert facts["head"] <= default["head"]
    assert facts.get("outputs") == default.get("outputs")
