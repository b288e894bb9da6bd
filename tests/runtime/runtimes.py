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


def litert_values(path):
    """The values of all activations in LiteRT, by index, as whole numbers."""
    with tempfile.TemporaryDirectory() as folder:
        kept = folder + "/values.npz"
        facts = start("run_litert.py", "reference", path, "--all-tensors",
                      "--keep", kept)
        assert "error" not in facts["models"][0], facts
        with numpy.load(kept) as arrays:
            return {index: arrays[index].astype(int) for index in arrays}


def ort(*paths, order="priority", dims=(), values=()):
    """ONNX Runtime: peak, sequence and outputs of each path."""
    options = [word for dim in dims for word in ("--dim", dim)]
    options += [word for value in values for word in ("--value", value)]
    facts = start("run_ort.py", *paths, "--order", order, *options)
    return facts.get("models") or [facts] * len(paths)
