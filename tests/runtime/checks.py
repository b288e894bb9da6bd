"""What the tests assert of TensorFlow Lite Micro in more than one place."""
import known
import runtimes
import tool


def assert_runs(facts, model):
    """The runtime ran the model, as far as it can run this one at all."""
    expected = known.TFLM_ALLOCATES_ONLY.get(model.stem)
    if expected:
        assert expected in facts["error"] and "head" in facts
    else:
        assert "error" not in facts, facts["error"]


def assert_default_head(model):
    """The head that calm predicts for a file is the head it takes."""
    facts = runtimes.tflm(model)
    assert_runs(facts, model)
    assert facts["head"] == tool.plan(model)["baseline"]["arena_bytes"]


def assert_same(model, out, planned):
    """The written file takes the predicted head, which is no larger than the
    original's, and computes the same."""
    default, facts = runtimes.tflm(model), runtimes.tflm(out)
    assert_runs(facts, model)
    assert facts["head"] == planned["layout"]["arena_bytes"]
    assert facts["head"] <= default["head"]
    assert facts.get("outputs") == default.get("outputs")
