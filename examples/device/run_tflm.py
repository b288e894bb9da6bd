#!/usr/bin/env python3
"""Run .tflite models in TensorFlow Lite Micro, and print the arena that each needs.

    run_tflm.py MODEL...

The runtime is the one that firmware links, built for this machine (the package
tflite-micro).  It places the tensors itself, by its own rule or by the plan inside the
file, and reports what it took: the head, which is for activations, and the tail, which
is for its own records.  Every model gets the same inputs; that the outputs are the same
as those of the first one is checked byte by byte.
"""
import contextlib
import hashlib
import os
import re
import sys
import tempfile

import numpy
from tflite_micro.python.tflite_micro import runtime

MORE_THAN_ENOUGH = 64 << 20  # bytes; what it takes of these is what counts


@contextlib.contextmanager
def stderr_of_cpp(lines):
    """The runtime reports to the standard error of the process."""
    saved = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            lines.append(file.read().decode(errors="replace"))


def inputs_of(interpreter):
    """Repeatable numbers for each input, whatever its type."""
    for index in range(1000):
        try:
            details = interpreter.get_input_details(index)
        except IndexError:
            return
        source = numpy.random.default_rng(index)
        whole = numpy.issubdtype(details["dtype"], numpy.integer)
        values = (source.integers(0, 100, details["shape"]) if whole
                  else source.random(details["shape"]))
        yield index, values.astype(details["dtype"])


def outputs_of(interpreter):
    for index in range(1000):
        try:
            yield interpreter.get_output(index)
        except IndexError:
            return


def run(path):
    """Head and tail in bytes, and a digest of the outputs."""
    lines, digest = [], hashlib.sha256()
    with stderr_of_cpp(lines):
        interpreter = runtime.Interpreter.from_file(path, arena_size=MORE_THAN_ENOUGH)
        interpreter.print_allocations()
        for index, values in inputs_of(interpreter):
            interpreter.set_input(values, index)
        interpreter.invoke()
        for values in outputs_of(interpreter):
            digest.update(values.tobytes())
    taken = dict(re.findall(r"Arena allocation (\w+) (\d+) bytes", lines[0]))
    return int(taken["head"]), int(taken["tail"]), digest.hexdigest()


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    first = None
    print(f"{'head':>12} {'tail':>10} {'arena':>12}  {'outputs':9} model")
    for path in sys.argv[1:]:
        head, tail, digest = run(path)
        first = first or digest
        same = "the same" if digest == first else "DIFFER"
        print(f"{head:12,} {tail:10,} {head + tail:12,}  {same:9} {os.path.basename(path)}")
        if digest != first:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
