#!/usr/bin/env python3
"""Write docs/rewriting-measured.md: what rewriting gains in real runtimes.

    table_rewriting.py [FILE]

Each network runs as it is, in the best order, and rewritten.  Nothing in the
tables is calm's own word.
"""
import pathlib
import sys
import tempfile

import models
import net_files
import nets
import nets_run
import runtimes
import table
import tool

DOCUMENT = models.ROOT / "docs/rewriting-measured.md"
FLOAT = ["swiftnet", "darts_cell", *nets.STACKS]
LIGHT = ["light_densenet121", "light_inception_v1"]
REWRITE = ("--rewrite", "auto")

HEAD = """# What rewriting gains, measured

`make bench-runtimes` writes this page. Every figure is a report of the runtime
itself, on x86-64; bytes. *File* is the network as it is, *order* the file that
`calm plan MODEL -o OUT` writes, *rewritten* what `--rewrite auto` adds to that;
*saved* compares the last two. *Off* is the largest difference between the
outputs of the rewritten file and those of the original, by the largest output:
sums of floats round otherwise in another order.

The networks have the shapes and kernels of published ones, and random weights:
SwiftNet, in floats, without its last two operators; stacks of three cells that
architecture searches found, on 32x32 pictures; `darts_cell`, one cell of DARTS
V2 at 28x28x48 and the convolution behind it; and `four_branches`, an int8
network with a concat before a depthwise convolution of stride 2. Two networks
are those of the ONNX package.
"""

ORT = """
## ONNX Runtime

The peak is the largest `mem_bytes_requested_in_use` of the profiler, with graph
optimisation, prepacking, memory patterns and buffer reuse off, in the order of
the file (`ExecutionOrder.PRIORITY_BASED`). *Fused*: `--partials accumulate`,
partial sums as `com.microsoft.FusedConv`, which adds in place. *Added*:
`--partials add-copy`, Conv and Add.
"""

TFLM = """
## TensorFlow Lite Micro

An arena has to hold the sum of head (activations, scratch) and tail (tensors'
descriptions, operators' own data), which grows with the number of operators.
"""

ALONE = """
Without a plan in the file (`--no-offline-plan`) the runtime places tensors
itself. Heads:
"""

LITERT = """
## LiteRT

The bytes from the first to the last activation in the interpreter's arena, with
the reference kernels and without a delegate; planned with `--memory litert`.
"""


def run_onnx(path):
    facts, = runtimes.ort(path)
    return facts.get("peak") or facts["error"]


def run_litert(path):
    facts, = runtimes.litert("reference", path)
    return facts.get("span") or facts["error"]


def written(path, folder, *options):
    words = [word.strip("-") for word in options]
    out = pathlib.Path(folder) / "-".join([*words, path.name])
    tool.write(path, out, *options)
    return out


def off(runtime, before, after):
    """The largest difference of outputs, in words."""
    first, second = (nets_run.first_output(runtime, path)
                     for path in (before, after))
    apart = nets_run.largest(second.astype(float) - first)
    return f"{apart / nets_run.largest(first):.0e}" if apart else "0"


def ort_row(name):
    path = (models.folded_light(models.LIGHT / f"{name}.onnx")
            if name in LIGHT else net_files.path_of(name, "onnx"))
    with tempfile.TemporaryDirectory() as folder:
        best = written(path, folder)
        fused, added = (written(path, folder, *REWRITE, *options) for options in
                        (("--partials", "accumulate"),
                         ("--partials", "add-copy")))
        peaks = [run_onnx(file) for file in (path, best, fused, added)]
        return [name, *peaks[:3], table.saved(*peaks[1:3]),
                off("ort", path, fused), peaks[3],
                table.saved(peaks[1], peaks[3]), off("ort", path, added)]


def tflite_path(name):
    kind = "int8.tflite" if name == "four_branches" else "tflite"
    return net_files.path_of(name, kind)


def tflm_row(name):
    path = tflite_path(name)
    with tempfile.TemporaryDirectory() as folder:
        best, out = written(path, folder), written(path, folder, *REWRITE)
        facts = [runtimes.start("run_tflm.py", file)
                 for file in (path, best, out)]
        return [name, *sum(map(table.arena, facts), []),
                table.saved(facts[1]["total"], facts[2]["total"]),
                off("tflm", path, out)]


def alone_row(name):
    path = tflite_path(name)
    with tempfile.TemporaryDirectory() as folder:
        best = written(path, folder, "--no-offline-plan")
        out = written(path, folder, "--no-offline-plan", *REWRITE)
        heads = [runtimes.start("run_tflm.py", file)["head"]
                 for file in (path, best, out)]
        return [name, *heads, table.saved(*heads[1:])]


def litert_row(name):
    path, memory = tflite_path(name), ("--memory", "litert")
    with tempfile.TemporaryDirectory() as folder:
        best = written(path, folder, *memory)
        out = written(path, folder, *memory, *REWRITE)
        spans = [run_litert(file) for file in (path, best, out)]
        return [name, *spans, table.saved(*spans[1:]),
                off("reference", path, out)]


TABLES = [
    (ORT, ["network", "file", "order", "fused", "saved", "off", "added",
           "saved", "off"], ort_row, FLOAT + LIGHT),
    (TFLM, ["network", "file: head", "tail", "sum", "order: head", "tail",
            "sum", "rewritten: head", "tail", "sum", "saved", "off"], tflm_row,
     FLOAT + ["four_branches"]),
    (ALONE, ["network", "file", "order", "rewritten", "saved"], alone_row,
     FLOAT + ["four_branches"]),
    (LITERT, ["network", "file", "order", "rewritten", "saved", "off"],
     litert_row, FLOAT + ["four_branches"]),
]


def main():
    document = pathlib.Path(sys.argv[1]) if sys.argv[1:] else DOCUMENT
    parts = [HEAD]
    for words, header, row, names in TABLES:
        parts += [words, table.render(header, table.rows_of(row, names))]
    document.write_text("\n".join(part.strip("\n") + "\n" for part in parts))


if __name__ == "__main__":
    main()
