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


def assert_arena(facts, runtime):
    """Head, tail and their sum are those that the runtime prints; a tail that
    calm knows in part only is not above it."""
    assert facts["head"] == runtime["head_bytes"]
    assert facts["total"] == facts["head"] + facts["tail"]
    if runtime["tail_exact"]:
        assert facts["tail"] == runtime["tail_bytes"]
        assert facts["total"] == runtime["arena_bytes"]
    else:
        assert facts["tail"] >= runtime["tail_bytes"]


def assert_default_head(model, folder):
    """The arenas that calm predicts for a file are those it takes: placed by
    the runtime, and by the plan inside the file, if there is one."""
    today = facts = runtimes.tflm(model)
    assert_runs(facts, model)
    inspected = tool.facts("inspect", model)
    assert_arena(facts, inspected["runtime"])
    if inspected["offline_plan"]:
        checked = tool.facts("check", model)
        assert facts["head"] == checked["arena_bytes"]
        assert_arena(facts, checked["runtime"])
        plain = folder / f"unplanned_{model.name}"
        plain.write_bytes(tflite_edit.disable_plan(model.read_bytes()))
        facts = runtimes.tflm(plain)
    planned = tool.plan(model)
    assert facts["head"] == planned["runtime"]["default_head_bytes"]
    carried = planned["runtime"]["carried_holds"]
    assert planned["baseline"]["arena_bytes"] == (today if carried
                                                  else facts)["head"]
    if planned["runtime"]["tail_exact"]:
        assert facts["tail"] == planned["runtime"]["default_tail_bytes"]


def assert_same(model, out, planned):
    """The written file takes the predicted arena, with a head that is no larger
    than the original's, and computes the same."""
    default, facts = runtimes.tflm(model), runtimes.tflm(out)
    assert_runs(facts, model)
    assert facts["head"] == planned["runtime"]["head_bytes"]
    assert facts["head"] == planned["layout"]["arena_bytes"]
    assert_arena(facts, planned["runtime"])
    assert facts["head"] <= default["head"]
    assert facts.get("outputs") == default.get("outputs")
