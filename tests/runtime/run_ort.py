#!/usr/bin/env python3
"""Run .onnx models in ONNX Runtime and print peak memory, order and outputs.

    run_ort.py MODEL... [--order priority|default] [--dim NAME=N]...
               [--value INPUT=N]... [--all-tensors] [--keep FILE]
               [--invocations N] [--seed N] [--pictures]

--dim says the size of a named dimension, or of one without a name by input and
axis (x:1=64); what is not said is 1.  --value what all elements of
an input are (else they are random, or with --pictures those of pictures.py).

The meter is the runtime's own: the largest `mem_bytes_requested_in_use` that
the profiler notes after any kernel.  For it to count activations and nothing
else, graph optimisation, prepacking of weights, memory patterns and the reuse
of buffers are off, there is one thread, and no earlier output is held.

Prints a JSON object: `models`, one entry per model with `peak` in bytes (null
if the profiler noted none), `sequence` (node indices in running order, of the
main graph) and `outputs`, a list of digests per invocation; or `error`.
--keep FILE writes the values of the last invocation's outputs, by name, as an
.npz archive (of the last model); with --all-tensors each tensor is an output,
so that the peak means nothing.
"""
import argparse
import json
import pathlib
import tempfile

import numpy
import onnx
import onnxruntime

import pictures
import runner

ORDERS = {"priority": onnxruntime.ExecutionOrder.PRIORITY_BASED,
          "default": onnxruntime.ExecutionOrder.DEFAULT}
TYPES = {"float": "float32", "double": "float64", "float16": "float16",
         "int8": "int8", "uint8": "uint8", "int16": "int16",
         "uint16": "uint16", "int32": "int32", "uint32": "uint32",
         "int64": "int64", "uint64": "uint64", "bool": "bool"}


def expose_all(path):
    """The model with every tensor of its main graph as an output."""
    model = onnx.load(path)
    known = {entry.name for entry in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in known:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    return model.SerializeToString()


def make_session(model, order, profile):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    options.execution_order = ORDERS[order]
    options.enable_mem_pattern = False
    options.enable_mem_reuse = False
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.enable_profiling = True
    options.profile_file_prefix = profile
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])


def input_shape(entry, dims):
    """Numbers for the names in a shape; what --dim leaves open is 1."""
    return [size if isinstance(size, int) else
            dims.get(size or f"{entry.name}:{axis}", 1)
            for axis, size in enumerate(entry.shape)]


def make_inputs(session, options, invocation):
    make_input = (pictures if options.pictures else runner).make_input
    feeds = {}
    for index, entry in enumerate(session.get_inputs()):
        dtype = TYPES[entry.type[len("tensor("):-1]]
        shape = input_shape(entry, options.dim)
        if entry.name in options.value:
            array = numpy.full(shape, options.value[entry.name], dtype)
        else:
            array = make_input(shape, dtype, index, invocation, options.seed)
        feeds[entry.name] = array
    return feeds


def invoke(session, options, invocation):
    outputs = session.run(None, make_inputs(session, options, invocation))
    arrays = [numpy.asarray(array) for array in outputs]
    if options.keep and invocation == options.invocations - 1:
        names = [entry.name for entry in session.get_outputs()]
        numpy.savez(options.keep, **dict(zip(names, arrays)))
    return [runner.digest(array) for array in arrays]


def kernel_events(profile):
    """The profiler's notes on kernels, of the first run."""
    events = json.loads(pathlib.Path(profile).read_text())
    runs = [e for e in events if e.get("name") == "model_run"]
    end = runs[0]["ts"] + runs[0]["dur"] if runs else float("inf")
    return [e["args"] for e in events if e.get("cat") == "Node" and
            e["name"].endswith("_kernel_time") and e["ts"] <= end]


def read_profile(profile):
    events = kernel_events(profile)
    in_use = [int(args["mem_bytes_requested_in_use"]) for args in events
              if "mem_bytes_requested_in_use" in args]
    return {"peak": max(in_use, default=None),
            "sequence": [int(args["node_index"]) for args in events]}


def run_model(path, options):
    with tempfile.TemporaryDirectory() as folder:
        try:
            model = expose_all(path) if options.all_tensors else path
            session = make_session(model, options.order, folder + "/profile")
            outputs = [invoke(session, options, number)
                       for number in range(options.invocations)]
            facts = read_profile(session.end_profiling())
            return facts | {"outputs": outputs}
        except Exception as error:  # whatever it raises, its words are kept
            return {"error": str(error)}


def read_pairs(words):
    """NAME=N, NAME=N, ... as a dictionary."""
    pairs = (word.rsplit("=", 1) for word in words)
    return {name: int(number) for name, number in pairs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--order", choices=ORDERS, default="priority")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--value", action="append", default=[])
    parser.add_argument("--all-tensors", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--invocations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=runner.SEED)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    options.dim = read_pairs(options.dim)
    options.value = read_pairs(options.value)
    runner.report({"models": [run_model(path, options)
                              for path in options.models]})


if __name__ == "__main__":
    main()
