"""LiteRT: the files that calm writes load and compute the same as before, with
each of its three sets of kernels."""
import pytest

import known
import models
import runtimes
import tool

MODELS = [path for path in models.tflite_cases()
          if path.stem not in known.LITERT_UNSTABLE]
MODES = ["plain", "reference", "xnnpack"]


@pytest.mark.parametrize("mode", MODES)
def test_written_file(model, mode, tmp_path):
    out = tmp_path / model.name
    tool.write(model, out)
    before, after = runtimes.litert(mode, model, out)
    if model.stem in known.LITERT_REFUSES:
        assert known.LITERT_REFUSES[model.stem] in before["error"]
        pytest.skip(f"LiteRT: {before['error'].splitlines()[0]}")
    assert "error" not in before, before["error"]
    assert "error" not in after, after["error"]
    assert after["outputs"] == before["outputs"]
    assert after.get("tensors") == before.get("tensors")
