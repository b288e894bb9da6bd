"""The example of README.md's section "From model to device": what it prints is what the
tool said."""
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALM = ROOT / "build/release/calm"
EXAMPLE = ROOT / "examples/device/run_tflm.py"


def rows(*models):
    done = subprocess.run([sys.executable, EXAMPLE, *models], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [line.replace(",", "").split() for line in done.stdout.splitlines()[1:]]


def test_what_the_example_prints(tmp_path):
    found = sorted((ROOT / "build/venv").rglob("iris_landmark.tflite"))
    if not found:
        pytest.skip("the package of the demo is not here")
    planned = tmp_path / "planned.tflite"
    said = json.loads(subprocess.run(
        [CALM, "plan", found[0], "--kernels", "reference", "-o", planned, "--json"],
        capture_output=True, check=True).stdout)
    before, after = rows(found[0], planned)
    assert int(after[0]) == said["layout"]["arena_bytes"] < int(before[0])
    assert int(before[0]) == said["baseline"]["arena_bytes"]
    assert after[3:5] == before[3:5] == ["the", "same"]


def test_without_a_model_it_says_how_it_is_used():
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "run_tflm.py MODEL" in done.stdout
