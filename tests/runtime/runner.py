"""What the three runners share: inputs, digests, and how they report.

A runner is a script that loads one model (or a few to be compared), runs it
and prints one JSON object.  It is a process of its own, because runtimes abort,
hang and crash on models they do not like; runtimes.py starts it.
"""
import hashlib
import json
import os
import sys

import numpy

SEED = 7
INVOCATIONS = 2
INPUT_RANGE = 4  # of 32-bit and 64-bit integers: they are indices mostly


def make_input(shape, dtype, index, invocation, seed=SEED):
    """A tensor of random numbers that depends on nothing but the arguments;
    booleans alternate, so that two invocations see both branches."""
    random = numpy.random.default_rng([seed, invocation, index])
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind == "c":
        return (random.standard_normal(shape) +
                1j * random.standard_normal(shape)).astype(dtype)
    if dtype.kind == "b":
        return numpy.asarray(
            (numpy.indices(shape).sum(0) + index + invocation) % 2 == 0)
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
    """Print what a runner found, and end without taking the models down: some
    crash in that, which tells nothing."""
    print(json.dumps(facts), flush=True)
    sys.stdout.flush()
    os._exit(0)
