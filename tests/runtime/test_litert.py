"""LiteRT: the files that calm writes load and compute the same as before, with
each of its three sets of kernels, and the arena is the predicted one."""
import pytest

import known
import models
import runtimes
import tool

MODELS = [path for path in models.tflite_cases()
          if path.stem not in known.LITERT_UNSTABLE]
MODES = ["plain", "reference", "xnnpack"]
SOME = MODELS[::4]      # in all modes; the others slowly


def skip_if_refused(model, facts):
    """Skip a model that LiteRT is known to refuse; all others must run."""
    if model.stem in known.LITERT_REFUSES:
        assert known.LITERT_REFUSES[model.stem] in facts["error"]
        pytest.skip(f"LiteRT: {facts['error'].splitlines()[0]}")
    assert "error" not in facts, facts["error"]


@pytest.mark.parametrize("mode", [MODES[0], *(
    pytest.param(mode, marks=pytest.mark.slow) for mode in MODES[1:])])
def test_written_file(model, mode, tmp_path):
    assert_same(model, mode, tmp_path)


@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize("some", SOME, ids=lambda path: path.stem)
def test_written_file_elsewhere(some, mode, tmp_path):
    assert_same(some, mode, tmp_path)


def assert_same(model, mode, tmp_path):
    out = tmp_path / model.name
    tool.write(model, out)
    before, after = runtimes.litert(mode, model, out,
                                    all_tensors=mode == "reference")
    skip_if_refused(model, before)
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]
    assert after.get("tensors") == before.get("tensors")


def test_arena(model, tmp_path):
    """With the reference kernels, as the file is and as calm orders it."""
    tool.need("plan", "litert")
    if model.stem in known.LITERT_TEMPORARIES:
        pytest.skip("LiteRT: its kernels take memory of their own")
    out = tmp_path / model.name
    predicted = tool.write(model, out, "--memory", "litert")["runtime"]
    before, after = runtimes.litert("reference", model, out)
    skip_if_refused(model, before)
    assert before["span"] == predicted["default_head_bytes"]
    assert after["span"] == predicted["head_bytes"]
    assert after["span"] <= before["span"]
    assert after["outputs"] == before["outputs"]
