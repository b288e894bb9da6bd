#!/usr/bin/env python3
"""Run a .tflite model in TensorFlow Lite Micro and print what it did.

    run_tflm.py MODEL [--keep FILE] [--invocations N] [--seed N] [--pictures]

Prints a JSON object: `head`, `tail` and `total` of the arena in bytes, as the
runtime's own allocator reports them, and `outputs`, a list of digests per
invocation.  If the model cannot be run: `error`, the runtime's message, and
the arena if it got that far.  --keep FILE writes the values of the outputs of
the last invocation, by number, as an .npz archive.  The state of a model lives
on from invocation to invocation, so that a plan that overwrites it shows.
--pictures: inputs with structure, see pictures.py.
"""
import argparse
import os
import re
import tempfile

import numpy
from tflite_micro.python.tflite_micro import runtime

import pictures
import runner

ARENA_BYTES = 64 << 20
ARENA_LINE = r"Arena allocation (\w+) (\d+) bytes"


class Stderr:
    """Catches what C++ writes to the standard error, the only report it has."""

    def __enter__(self):
        self.file = tempfile.TemporaryFile()
        self.saved = os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)

    def text(self):
        self.file.seek(0)
        return self.file.read().decode(errors="replace")


def describe(details):
    """What get_input_details says of tensor 0, 1, ... until there is none."""
    found = []
    while True:
        try:
            found.append(details(len(found)))
        except IndexError:
            return found


def read_arena(text):
    return {word: int(number) for word, number in re.findall(ARENA_LINE, text)}


def invoke(interpreter, invocation, options):
    make_input = (pictures if options.pictures else runner).make_input
    for index, entry in enumerate(describe(interpreter.get_input_details)):
        array = make_input(entry["shape"], entry["dtype"], index, invocation,
                           options.seed)
        interpreter.set_input(array, index)
    interpreter.invoke()
    arrays = {str(index): interpreter.get_output(index) for index in
              range(len(describe(interpreter.get_output_details)))}
    if options.keep and invocation == options.invocations - 1:
        numpy.savez(options.keep, **arrays)
    return [runner.digest(array) for array in arrays.values()]


def run_model(path, options):
    facts = {}
    with Stderr() as stderr:
        try:
            interpreter = runtime.Interpreter.from_file(
                path, arena_size=ARENA_BYTES)
            interpreter.print_allocations()
            facts = read_arena(stderr.text())
            facts["outputs"] = [invoke(interpreter, number, options)
                                for number in range(options.invocations)]
        except Exception as error:  # whatever it raises, its words are kept
            facts["error"] = f"{error}: {stderr.text().strip()}"
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--keep")
    parser.add_argument("--invocations", type=int, default=runner.INVOCATIONS)
    parser.add_argument("--seed", type=int, default=runner.SEED)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    runner.report(run_model(options.model, options))


if __name__ == "__main__":
    main()
