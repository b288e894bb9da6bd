#!/usr/bin/env python3
"""Write docs/runtimes-measured.md: what real runtimes take, before and after.

    table.py [FILE]

Plans each model, writes it, runs the original and the written file, and puts
down what the runtimes report.  Nothing in the tables is calm's own word but the
columns named so.
"""
import concurrent.futures
import csv
import os
import pathlib
import sys
import tempfile

import known
import models
import runtimes
import test_onnx
import tool

JOBS = int(os.environ.get("JOBS", "2"))
DOCUMENT = models.ROOT / "docs/runtimes-measured.md"

HEAD = """# What runtimes take, measured

`make bench-runtimes` writes this page. Every figure is a report of the runtime
itself, on x86-64; bytes. *Same* says that all outputs of two invocations with
random inputs are bit-identical to the original's.
"""

TFLM = """
## TensorFlow Lite Micro

The head of the arena holds activations and scratch, the tail everything else
(state, tensors' descriptions, operators' own data); an arena has to hold their
sum. calm predicts all three for this build; the tests hold it to that. The
tail of a 32-bit target is smaller (below). *Planned*: the file that
`calm plan MODEL -o OUT` writes. *In place*: with `--kernels reference`, which
lets element-wise operators write over an input that dies there, as the
reference kernels allow.

A model that TensorFlow Lite Micro cannot run is not in the table. SwiftNet,
which is one of these, is in it as `--to-int8` makes it, the second time planned
with `--remove-noops`.
"""

ARM = """
### The tail on 32-bit targets

`--target 32bit` counts the tail of an Arm microcontroller: addresses of four
bytes, enumerations of one. These figures were measured once
(`tests/tflm_tails_32bit.csv`, where 90 models of one operator are, too), and
calm's own are held to them by the tests. The runtime's source of 20 August 2026
(90b983c) ran there, compiled by GCC 12.2 for Cortex-M4 with the reference
kernels and as firmware is built: without compression, with the ordinary
allocator; the machine was an emulated Cortex-M. The tail is what
`arena_used_bytes()` said less the head that the recording allocator said. With
that allocator it is 96 or 112 bytes larger.

The same source on x86-64, with compression and the recording allocator, printed
what the package prints for each model, but for one thing: a FULLY_CONNECTED
keeps 16 bytes less there (and padding) than in the package, which is two months
newer. How much more that is on a 32-bit target was not measured.

Heads are the same on both, but for ADD_N, whose scratch holds addresses.
"""

LITERT = """
## LiteRT

The bytes from the first to the last activation in the interpreter's arena, with
the reference kernels and without a delegate; `calm plan MODEL --memory litert`
orders the file. Optimised kernels take much memory of their own, which hides
the order. *Same*: outputs with the reference kernels, the optimised ones and
XNNPACK.
"""

ORT = """
## ONNX Runtime

The peak is the largest `mem_bytes_requested_in_use` of the profiler, with graph
optimisation, prepacking, memory patterns and buffer reuse off. *Priority* is
the order of the file (`ExecutionOrder.PRIORITY_BASED`); *default* is the order
that the runtime takes by itself, which does not look at the file's; the last
peak is that of a file that `--for ort-default` has arranged for it. In Silero's
files nodes make weights in every run, which no order changes.
"""

TFLM_HEADER = ["model", "default head", "tail", "sum", "planned head",
               "tail", "sum", "saved", "same", "in place head", "tail",
               "sum", "same"]
ARM_HEADER = ["model", "x86-64", "32-bit"]
LITERT_HEADER = ["model", "default arena", "planned arena", "saved", "same"]
ORT_HEADER = ["model", "priority", "default", "planned: priority", "default",
              "saved", "arranged: default", "saved", "same"]


def number(value):
    return f"{value:,}" if isinstance(value, int) else (value or "-")


def saved(before, after):
    if not before or after is None:
        return "-"
    return f"{100 * (before - after) / before:.1f} %".replace("-0.0", "0.0")


def same(before, after):
    if "error" in after and "error" not in before:
        return "FAILS"
    if not before.get("outputs"):
        return "not run"
    return "yes" if before["outputs"] == after.get("outputs") else "NO"


def render(header, rows):
    """A Markdown table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(header) + " |",
             "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(map(number, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def arena(facts):
    return [facts.get("head"), facts.get("tail"), facts.get("total")]


def run_written(model, folder, *options):
    """Plan and write a model; what TensorFlow Lite Micro says of the file."""
    out = folder / model.name
    done = tool.call("plan", model, *tool.LIMITS, "-o", out, *options)
    if done.returncode:
        return {"error": done.stderr.strip()}
    return runtimes.start("run_tflm.py", out)


def tflm_row(model, *options):
    before = runtimes.tflm(model)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        after = run_written(model, folder, *options)
        over = run_written(model, folder, "--kernels", "reference", *options)
    return [" ".join([model.stem, *options]), *arena(before), *arena(after),
            saved(before["head"], after.get("head")), same(before, after),
            *arena(over), same(before, over)]


def litert_row(model):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / model.name
        tool.write(model, out, "--memory", "litert")
        pairs = [runtimes.litert(mode, model, out)
                 for mode in ("reference", "plain", "xnnpack")]
    spans = [facts.get("span") for facts in pairs[0]]
    verdicts = {same(*pair) for pair in pairs}
    return [model.stem, *spans, saved(*spans),
            "yes" if verdicts == {"yes"} else "NO"]


def ort_row(name, model, dims=(), values=()):
    words = [word for dim in dims for word in ("--dim", dim)]
    with tempfile.TemporaryDirectory() as folder:
        out, arranged = (pathlib.Path(folder) / n for n in ("out", "arranged"))
        tool.write(model, out, *words)
        tool.write(model, arranged, "--for", "ort-default", *words)
        runs = {order: runtimes.ort(model, out, arranged, order=order,
                                    dims=dims, values=values)
                for order in test_onnx.ORDERS}
    peaks = {order: [facts.get("peak") for facts in found]
             for order, found in runs.items()}
    verdicts = {same(found[0], facts) for found in runs.values()
                for facts in found[1:]}
    return [name, peaks["priority"][0], peaks["default"][0],
            peaks["priority"][1], peaks["default"][1],
            saved(*peaks["priority"][:2]), peaks["default"][2],
            saved(peaks["default"][0], peaks["default"][2]),
            "yes" if verdicts == {"yes"} else "NO"]


def ort_rows():
    for path in models.light_models():
        yield ort_row(path.stem, models.folded_light(path))
    for path in models.onnx_packages():
        yield ort_row(path.stem, path, test_onnx.DIMS.get(path.stem, []),
                      test_onnx.VALUES.get(path.stem, []))


def read_csv(name):
    with (models.ROOT / "tests" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def arm_rows():
    """Both columns are measured ones."""
    here = {row["model"]: row["as_it_is"] for row in
            read_csv("tflm_tails.csv")}
    return [[row["name"], int(here[row["name"]]), int(row["bytes"])]
            for row in read_csv("tflm_tails_32bit.csv")
            if row["name"] in here]


def rows_of(row, paths):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(row, paths))


def swiftnet_rows():
    """SwiftNet in the element type that the runtime can run."""
    swiftnet = models.CASES / "models/swiftnet_vwwc19_uint8.tflite"
    with tempfile.TemporaryDirectory() as folder:
        twin = pathlib.Path(folder) / "swiftnet_vwwc19_int8.tflite"
        tool.write(swiftnet, twin, "--to-int8", "--order", "file",
                   "--no-offline-plan")
        return [tflm_row(twin), tflm_row(twin, "--remove-noops")]


def tflm_rows():
    return swiftnet_rows() + rows_of(
        tflm_row, [path for path in models.tflite_cases()
                   if path.stem not in known.TFLM_REFUSES])


def litert_rows():
    return rows_of(litert_row, [
        path for path in models.tflite_cases()
        if path.stem not in known.LITERT_REFUSES and
        path.stem not in known.LITERT_UNSTABLE])


def main():
    document = pathlib.Path(sys.argv[1]) if sys.argv[1:] else DOCUMENT
    parts = [HEAD, TFLM, render(TFLM_HEADER, tflm_rows()),
             ARM, render(ARM_HEADER, arm_rows()),
             LITERT, render(LITERT_HEADER, litert_rows()),
             ORT, render(ORT_HEADER, ort_rows())]
    document.write_text("\n".join(part.strip("\n") + "\n" for part in parts))


if __name__ == "__main__":
    main()
