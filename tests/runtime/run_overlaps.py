#!/usr/bin/env python3
"""Run models of one operator in TensorFlow Lite Micro with the output over the
input, and print at which distances that changed what it computes.

    run_overlaps.py KERNEL_DISTANCES [--shapes N] [--seed N] [--dtype TYPE]

KERNEL_DISTANCES is the program that tells the distances of a model.  Prints a
JSON object: per kind how many shapes were run, at how many the distance and
larger ones were safe, at how many an element less could be tried, and was
wrong; and the shapes that do not agree, in words.
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy
from tflite_micro.python.tflite_micro import runtime

import overlap_models
import runner

LIBRARY = "reference"
ARENA_BYTES = 1 << 16
INPUTS = 40  # one wrong byte of int8 often rounds away
MORE = (0, 1, 5)  # elements above the distance


def distances(program, models):
    """The safe distance of the operand in each slot that has one, per model."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"{i}.tflite"
                 for i in range(len(models))]
        for path, model in zip(paths, models):
            path.write_bytes(model.place(0, 0))
        done = subprocess.run([program, LIBRARY, *paths], check=True,
                              capture_output=True, text=True)
    found = [{} for _ in models]
    for line in done.stdout.splitlines():
        number, _, slot, word, size = line.split()
        operand = models[int(number)].source(int(slot))
        if word == "safe" and operand in models[int(number)].main.inputs:
            found[int(number)][int(slot)] = int(size)
    return found


class Inputs:
    """The inputs of a model, and what comes out if nothing overlaps."""

    def __init__(self, model, slot):
        self.model, self.slot = model, slot
        self.arrays, self.expected = [], []
        interpreter = self.open(model.bytes_of(model.main.outputs[0]))
        count = len(model.main.inputs)
        for number in range(INPUTS):
            self.arrays.append([
                runner.make_input(details["shape"], details["dtype"], index,
                                  number)
                for index, details in enumerate(
                    interpreter.get_input_details(index)
                    for index in range(count))])
            self.expected.append(self.run(interpreter, number))

    def open(self, distance):
        return runtime.Interpreter.from_bytes(
            self.model.place(self.slot, distance), arena_size=ARENA_BYTES)

    def run(self, interpreter, number):
        for index, array in enumerate(self.arrays[number]):
            interpreter.set_input(array, index)
        interpreter.invoke()
        return interpreter.get_output(0).tobytes()

    def is_same(self, distance):
        """Does every input give what it should?  The first that does not is
        enough."""
        interpreter = self.open(distance)
        return all(self.run(interpreter, number) == self.expected[number]
                   for number in range(INPUTS))


def try_model(model, slot, distance, facts):
    """Safe at the distance and above; wrong below, unless nothing can be there:
    kinds whose distance was cut off at 0, and outputs that do not reach the
    input."""
    inputs = Inputs(model, slot)
    source, result = model.source(slot), model.main.outputs[0]
    width = 4 if model.main.tensors[source].type == \
        overlap_models.schema.TensorType.FLOAT32 else 1
    same_width = model.main.tensors[source].type == \
        model.main.tensors[result].type
    words = (f"{model.kind} {model.dtype} "
             f"{[list(entry.shape) for entry in model.main.tensors]} "
             f"slot {slot} distance {distance}")
    facts["shapes"] += 1
    if all(inputs.is_same(distance + more * width) for more in MORE):
        facts["safe"] += 1
    else:
        facts["faults"].append(f"not safe: {words}")
    cut_off = distance == 0 and model.kind in overlap_models.CUT_OFF
    elements = model.bytes_of(source) // width
    if cut_off or not same_width or elements < 2 or \
            distance >= model.bytes_of(result):
        return
    facts["below"] += 1
    if inputs.is_same(distance - width):
        facts["faults"].append(f"right below: {words}")
    else:
        facts["wrong"] += 1


def try_kind(program, kind, options):
    # The kind's number, not its name: hashes of strings differ.
    number = overlap_models.kinds("float32").index(kind)
    random = numpy.random.default_rng([options.seed, number])
    models = [overlap_models.Single(kind, options.dtype, random)
              for _ in range(options.shapes)]
    facts = {"shapes": 0, "safe": 0, "below": 0, "wrong": 0, "faults": []}
    for model, slots in zip(models, distances(program, models)):
        if not slots:
            facts["faults"].append(f"no distance: {kind}")
        for slot, distance in slots.items():
            try_model(model, slot, distance, facts)
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--shapes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=runner.SEED)
    parser.add_argument("--dtype", default="int8")
    options = parser.parse_args()
    runner.report({kind: try_kind(options.program, kind, options)
                   for kind in overlap_models.kinds(options.dtype)})


if __name__ == "__main__":
    main()
