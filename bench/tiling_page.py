"""The page of figures: docs/tiling-measured.md."""

HEAD = """# What overlap and tiling gain, measured

`make bench-tiling` writes this page and the pictures. Heads, tails and sums are
reports of TensorFlow Lite Micro itself, on x86-64 with its reference kernels;
bytes. *Same*: all outputs are bit-identical to the untouched file's, on {inputs}
inputs (a constant, two ramps, a checkerboard, a sine, a blob, noise, a random
walk, and random numbers), each invoked twice. *Probe*: likewise with an inner
picture, the last that a convolution or an addition makes, as one more output of
both files. *Arena*: head and tail are the predicted ones. *Bar* is what a
prototype reached: `=` at it, `<` below it, **missed** above it.

The whole table: `calm plan MODEL` with the options in its last column.
"""

COLUMNS = ["model", "goal", "head", "tail", "sum", "bar", "extra MACs",
           "operators", "same", "probe", "arena", "regions", "options"]

LIBRARY_COLUMNS = ["model", "library", "plan", "overlap", "both", "regions"]
LITERT_COLUMNS = ["model", "regions", "reference", "optimised", "default"]
ORT_COLUMNS = ["tiles", "peak before", "after", "predicted", "same"]

LIBRARIES = """
## By kernel library

By the planner alone, not run: the head with scratch buffers, in bytes, of the
best order (*plan*), with overlap, and with overlap and the regions that were
found for the reference kernels. `portable` promises only what is safe with every library. The tail is not
known for libraries other than the reference kernels.
"""

LITERT = """
## LiteRT

It ignores the plan, so that only the tiles change something. All outputs against
the untouched file's, with the reference kernels, the optimised ones, and by default
(XNNPACK); `tests/runtime/test_tiling.py` compares an inner picture, too. person_detect and HPS are left out: the runtime
refuses the one, and the other comes tiled.
"""

ORT = """
## ONNX Runtime

A network in floats, 96x96x3, of six convolutions. The peak is the largest
`mem_bytes_requested_in_use` of the profiler.
"""

VELA = """
For reading only: Vela's `--optimise Size`, for another machine, an NPU with its
own kernels, takes {figures}.
"""

PARETO = """
## Arena against extra work

Each picture: the least arena that was found for at most so many extra
multiply-accumulates.
"""


def number(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(header, rows):
    """A Markdown table; what is a number stands to the right."""
    lines = ["| " + " | ".join(header) + " |"]
    kinds = zip(*rows) if rows else [()] * len(header)
    right = [any(isinstance(cell, int) for cell in column) for column in kinds]
    lines.append("|" + "|".join("---:" if r else "---" for r in right) + "|")
    lines += ["| " + " | ".join(map(number, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def versus(value, bar):
    """How a figure stands to its bar."""
    if not bar:
        return "-"
    if value > bar:
        return f"**missed** {bar:,}"
    return f"{'=' if value == bar else '<'} {bar:,}"


def goal_row(model, goal, row):
    """A row of the large table; `row` is what tiling_run.measure found."""
    if "error" in row:
        return [model, goal.name, *["-"] * 6, row["error"], "-", "-", "-",
                f"`{' '.join(goal.options)}`"]
    facts, tiling = row["facts"], row["planned"].get("tiling") or {}
    total = facts.get("total", 0)
    value = total if goal.total else facts.get("head", 0)
    return [model, goal.name, facts.get("head", "-"), facts.get("tail", "-"),
            total, versus(value, goal.bar), extra(tiling),
            operators(row["planned"]), row["same"], row["probe"], row["arena"],
            row["regions"] or "-", f"`{' '.join(goal.options)}`"]


def extra(tiling):
    """Extra multiply-accumulates in per cent of the model's own."""
    if not tiling.get("regions"):
        return "-"
    return f"{100 * tiling['extra_macs'] / tiling['macs']:.1f} %"


def operators(planned):
    return len(planned["order"]["sequence"]) if "order" in planned else "-"


def faults(rows):
    """Words on rows that are wrong: that differ, or do not run."""
    return [f"{row[0]}, {row[1]}: {column} {cell}" for row in rows
            for column, cell in zip(("same", "probe", "arena"), row[8:11])
            if cell != "yes"]


def misses(rows):
    """Words on rows that are not as they should be."""
    over = [f"{row[0]}, {row[1]}: {row[5].replace('*', '')} by "
            f"{number(row[4 if 'tail' in row[1] else 2])}"
            for row in rows if str(row[5]).startswith("**missed**")]
    return over + faults(rows)
