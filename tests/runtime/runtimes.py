"""Start a runner as a child process and get what it found.

Every function returns the runner's facts, or {"error": ...} if the runtime
refused the model, crashed, or did not end in time.
"""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 60


def start(script, *arguments, seconds=SECONDS):
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {seconds} seconds"}
    lines = done.stdout.strip().splitlines()
    if lines and lines[-1].startswith("{"):
        return json.loads(lines[-1])
    if done.returncode < 0:
        return {"error": f"killed by signal {-done.returncode}"}
    return {"error": (done.stderr.strip() or "no output").splitlines()[-1]}


@functools.cache
def tflm(path):
    """TensorFlow Lite Micro: head, tail, total, outputs of two invocations."""
    return start("run_tflm.py", path)


def litert(mode, *paths, all_tensors=False):
    """LiteRT with one set of kernels; facts of each path, all in one process.

    If all tensors are kept they can be compared, so that a constant output
    hides nothing; but then none shares its memory, and the span means nothing.
    """
    options = ["--all-tensors"] if all_tensors else []
    facts = start("run_litert.py", mode, *paths, *options)
    return facts.get("models") or [facts] * len(paths)


def kept(script, *arguments):
    """The arrays that a runner keeps, by name or index."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/values.npz"
        facts = start(script, *arguments, "--keep", path)
        facts = facts.get("models", [facts])[0]
        assert "error" not in facts, facts["error"]
        with numpy.load(path) as arrays:
            return {name: arrays[name] for name in arrays}


def litert_values(path, mode="reference"):
    """The values of all activations in LiteRT, by index."""
    arrays = kept("run_litert.py", mode, path, "--all-tensors")
    return {int(index): array for index, array in arrays.items()}


def ort_values(path):
    """The values of all activations in ONNX Runtime, by name."""
    return kept("run_ort.py", path, "--all-tensors")


def ort(*paths, order="priority", dims=(), values=()):
    """ONNX Runtime: peak, sequence and outputs of each path."""
    options = [word for dim in dims for word in ("--dim", dim)]
    options += [word for value in values for word in ("--value", value)]
    facts = start("run_ort.py", *paths, "--order", order, *options)
    return facts.get("models") or [facts] * len(paths)
