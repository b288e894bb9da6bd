#!/usr/bin/env python3
"""Run .tflite models in LiteRT and print what came out.

    run_litert.py MODE MODEL... [--all-tensors] [--keep FILE]
                  [--invocations N] [--seed N] [--pictures]

MODE: `plain`, optimised kernels without a delegate; `reference`, the reference
kernels; `xnnpack`, what the interpreter does by default.  Kernels of different
modes round differently, so outputs compare within one mode only.

Prints a JSON object: `models`, one entry per model with `outputs`, a list of
digests per invocation, and `span`, the bytes from the lowest to the highest
address of the activations in the interpreter's arena; or `error`.  With
--all-tensors each tensor is kept and `tensors` holds a digest of each after
the last invocation, by index; --keep FILE writes the values of all these, else
of the outputs (of the last model), as an .npz archive.  --pictures: inputs with
structure, see pictures.py.
"""
import argparse

import numpy
from ai_edge_litert import interpreter as litert

import pictures
import runner

RESOLVERS = {
    "plain": litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "reference": litert.OpResolverType.BUILTIN_REF,
    "xnnpack": litert.OpResolverType.AUTO,
}


def invoke(interpreter, invocation, options):
    make_input = (pictures if options.pictures else runner).make_input
    for index, entry in enumerate(interpreter.get_input_details()):
        array = make_input(entry["shape"], entry["dtype"], index, invocation,
                           options.seed)
        interpreter.set_tensor(entry["index"], array)
    interpreter.invoke()
    return [runner.digest(interpreter.get_tensor(entry["index"]))
            for entry in interpreter.get_output_details()]


def operator_tensors(interpreter):
    """Indices of all tensors that an operator reads or writes."""
    touched = set()
    for entry in interpreter._get_ops_details():
        touched.update(int(i) for i in entry["inputs"] if i >= 0)
        touched.update(int(i) for i in entry["outputs"] if i >= 0)
    return touched


def written_tensors(interpreter):
    """Indices of graph inputs and of all tensors that an operator writes."""
    written = {int(entry["index"]) for entry in interpreter.get_input_details()}
    for entry in interpreter._get_ops_details():
        written.update(int(i) for i in entry["outputs"] if i >= 0)
    return written


def measure_span(interpreter):
    """The bytes between the first and the last activation, which share one
    block of memory; None if a tensor has none before the first run."""
    lowest, highest = [], []
    for index in written_tensors(interpreter) & operator_tensors(interpreter):
        try:
            place = interpreter.tensor(index)().__array_interface__
        except ValueError:  # no data: it is made at run time, or is empty
            return None
        size = numpy.dtype(place["typestr"]).itemsize
        lowest.append(place["data"][0])
        highest.append(lowest[-1] + size * int(numpy.prod(place["shape"])))
    return max(highest) - min(lowest) if lowest else 0


def kept_tensors(interpreter, indices):
    """Values by index, of those that the interpreter still has."""
    arrays = {}
    for index in sorted(indices):
        try:
            arrays[index] = interpreter.get_tensor(index)
        except ValueError:  # its contents were not kept
            continue
    return arrays


def run_model(path, options):
    try:
        interpreter = litert.Interpreter(
            path, num_threads=1,
            experimental_op_resolver_type=RESOLVERS[options.mode],
            experimental_preserve_all_tensors=options.all_tensors)
        interpreter.allocate_tensors()
        facts = {"span": measure_span(interpreter)}
        facts["outputs"] = [invoke(interpreter, number, options)
                            for number in range(options.invocations)]
        indices = {entry["index"]
                   for entry in interpreter.get_output_details()}
        if options.all_tensors:
            indices = written_tensors(interpreter)
        tensors = kept_tensors(interpreter, indices)
        if options.all_tensors:
            facts["tensors"] = {index: runner.digest(array)
                                for index, array in tensors.items()}
        if options.keep:
            numpy.savez(options.keep, **{str(index): array for
                                         index, array in tensors.items()})
        return facts
    except Exception as error:  # whatever it raises, its words are kept
        return {"error": str(error)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mode", choices=RESOLVERS)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--all-tensors", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--invocations", type=int, default=runner.INVOCATIONS)
    parser.add_argument("--seed", type=int, default=runner.SEED)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    runner.report({"models": [run_model(path, options)
                              for path in options.models]})


if __name__ == "__main__":
    main()
