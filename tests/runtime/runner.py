"""What the three runners share: inputs, digests, and how they report.

A runner is a script that loads one model (or a few to be compared), runs it
and prints one JSON object.  It is started as a child process, because runtimes
abort, hang and crash on models they do not like; `run` is the parent's side.
"""
import hashlib
import json
import pathlib
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
SEED = 7
INVOCATIONS = 3
INPUT_RANGE = 4  # of 32-bit and 64-bit integers: they are indices mostly


def make_input(shape, dtype, index, invocation, seed=SEED):
    """A tensor of random numbers that depends on nothing but the arguments."""
    random = numpy.random.default_rng([seed, invocation, index])
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind == "c":
        return (random.standard_normal(shape) +
                1j * random.standard_normal(shape)).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.itemsize >= 4:
        return random.integers(0, INPUT_RANGE, shape).astype(dtype)
    limits = numpy.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def digest(array):
    """A short hash of an array's bytes; equal arrays give equal hashes."""
    array = numpy.ascontiguousarray(array)
    if array.dtype.kind == "f":
        # There are many NaNs, and which one comes out means nothing.
        array = numpy.where(numpy.isnan(array), array.dtype.type("nan"), array)
    head = f"{array.dtype}{array.shape}".encode()
    return hashlib.sha256(head + array.tobytes()).hexdigest()[:16]


def report(facts):
    """Print what a runner found and end it before destructors can crash."""
    print(json.dumps(facts), flush=True)


def run(script, *arguments, seconds=60):
    """Start a runner; its facts, or {"error": ...} if it failed or died."""
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
