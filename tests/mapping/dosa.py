"""The rows of DOSA's data set: a layer, a machine like Gemmini, a loop nest in
one line, and the cycles and the energy that a Timeloop before May 2023 found.

A line as `L3[WIO] K8 Q28 - L2[WI] K4X - L1[O] S7 C3X - L0[W] P16` has the
levels and their loops outermost first; X and Y are spatial.  Memories have the
energies that Timeloop gives them by itself, with a multiplier of 0.5608 pJ: the
one constant that the data set does not tell, and that all its rows agree on.
"""
import csv
import functools
import math
import re
import tempfile

import older
import stats
import tool

SAMPLE = tool.CASES / "dosa/timeloop_dataset_sample.csv"

MULTIPLIER_PJ = 0.5608

LEVELS = {"L3": "DRAM", "L2": "Scratchpad", "L1": "Accumulator",
          "L0": "Registers"}
DIMENSIONS = "RSPQCKN"
TENSORS = {"W": "Weights", "I": "Inputs", "O": "Outputs"}

ARCH = """\
architecture:
  version: 0.3
  subtree:
  - name: System
    local:
    - name: DRAM
      class: DRAM
      attributes: {{instances: 1, word-bits: 8, block_size: 64,
                   shared_bandwidth: 8}}
    subtree:
    - name: Chip
      local:
      - name: Scratchpad
        class: SRAM
        attributes: {{entries: {mem2_entries}, depth: {mem2_depth},
                     width: {mem2_width}, instances: 1, meshX: 1, word-bits: 8,
                     shared_bandwidth: {mem2_shared_bandwidth}}}
      subtree:
      - name: PECols[0..{last_column}]
        local:
        - name: Accumulator
          class: SRAM
          attributes: {{entries: {mem1_entries}, depth: {mem1_depth},
                       width: 32, instances: {mem1_instances},
                       meshX: {meshX}, word-bits: 32,
                       shared_bandwidth: {mem1_shared_bandwidth}}}
        subtree:
        - name: PERows[0..{last_row}]
          local:
          - name: Registers
            class: SRAM
            attributes: {{entries: 1, instances: {pe}, meshX: {pe},
                         word-bits: 8}}
          - name: MACC
            class: intmac
            attributes: {{instances: {pe}, meshX: {pe}, word-bits: 8}}
"""


@functools.cache
def rows():
    """None without the cases."""
    if not SAMPLE.exists():
        return []
    with open(SAMPLE, newline="") as file:
        return list(csv.DictReader(file))


def some(row, prefix):
    return {key.removeprefix(prefix): value for key, value in row.items()
            if key.startswith(prefix)}


def arch_of(row):
    values = some(row, "arch.")
    columns = int(values["meshX"])
    return ARCH.format(**values, last_column=columns - 1,
                       last_row=int(values["pe"]) // columns - 1)


def problem_of(row):
    lines = [f"  {key}: {value}" for key, value in some(row, "prob.").items()]
    return "\n".join(["problem:"] + lines) + "\n"


def entry(level, kind, loops, split=""):
    """loops: (dimension, factor), outermost first."""
    order = "".join(dimension for dimension, _ in reversed(loops))
    factors = " ".join(f"{dimension}={factor}" for dimension, factor in loops)
    rest = "".join(d for d in DIMENSIONS if d not in order)
    unit = " ".join(f"{d}=1" for d in rest)
    return (f"  - {{target: {level}, type: {kind}, factors: {factors} {unit}, "
            f"permutation: {order + rest}{split}}}")


def mapping_of(row):
    lines = ["mapping:"]
    for part in row["mapping.mapping"].split(" - "):
        head, *loops = part.split()
        level, kept = re.fullmatch(r"(L\d)\[(\w+)\]", head).groups()
        loops = [re.fullmatch(r"([A-Z])(\d+)([XY]?)", loop).groups()
                 for loop in loops]
        name = LEVELS[level]
        lines.append(entry(name, "temporal", [
            (d, f) for d, f, axis in loops if not axis and f != "1"]))
        spread = [(d, f) for d, f, axis in loops if axis]
        if spread:
            columns = sum(axis == "X" for _, _, axis in loops)
            lines.append(entry(name, "spatial", spread, f", split: {columns}"))
        bypassed = [t for key, t in TENSORS.items() if key not in kept]
        lines.append(f"  - {{target: {name}, type: bypass, keep: "
                     f"[{', '.join(TENSORS[key] for key in kept)}], bypass: "
                     f"[{', '.join(bypassed)}]}}")
    return "\n".join(lines) + "\n"


def loops_of(row):
    """[(dimension, factor), innermost first] of each level, outermost first."""
    return [[(loop[0], int(loop[1:].rstrip("XY")))
             for loop in reversed(part.split()[1:])]
            for part in row["mapping.mapping"].split(" - ")]


def evaluate(row):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(arch_of(row) + problem_of(row) + mapping_of(row))
        file.flush()
        return tool.evaluate("--arch", file.name, "--cost", "timeloop")


# ---- By the rules of then ----------------------------------------------------

def put_back(row, report):
    """Make the counts of a report those of then, in place."""
    *inner, outer = reversed(loops_of(row))
    words = older.input_words(some(row, "prob."), sum(inner, []), outer)
    for level in report["levels"]:
        for tensor in level["tensors"]:
            place = level["name"], tensor["name"]
            if place == ("DRAM", "Inputs"):
                tensor["reads"] = words
            if place == ("Scratchpad", "Inputs"):
                tensor["fills"] = words
            if place[1] == "Outputs" and place[0] != "DRAM":
                tensor["fills"] += tensor["partition_words"]


def cycles_of(row, report):
    """Those of the slowest level, in doubles and in Timeloop's order."""
    compute, slowdown = report["compute_cycles"], 1.0
    bandwidth = {"DRAM": 8.0,
                 "Scratchpad": float(row["arch.mem2_shared_bandwidth"]),
                 "Accumulator": float(row["arch.mem1_shared_bandwidth"])}
    for level in report["levels"]:
        read = written = 0.0
        for tensor in level["tensors"]:
            read += tensor["reads"] / compute
            written += (tensor["fills"] + tensor["updates"]) / compute
        limit = bandwidth.get(level["name"], math.inf)
        if limit < read + written:
            slowdown = min(slowdown, limit / (read + written))
    return math.ceil(compute / slowdown)


def energy_of(report):
    """In pJ: of the multipliers, and of each access to a block of words."""
    energy = report["computes"] * MULTIPLIER_PJ
    for level in report["levels"]:
        for tensor in level["tensors"]:
            for count, action in (("reads", "read_pj"), ("fills", "write_pj"),
                                  ("updates", "update_pj")):
                energy += level["instances"] * level["vector_energy"][
                    action] * math.ceil(tensor[count] / level["block_words"])
    return energy


def judge(row):
    """(cycles as today, cycles by the older rules, energy likewise, words)."""
    answer, printed = evaluate(row), int(row["target.cycle"])
    if answer.code:
        return False, False, False, answer.told()
    report, now = answer.report, answer.report["cycles"]
    put_back(row, report)
    then, energy = cycles_of(row, report), energy_of(report)
    # Six digits, if there are more before the point.
    spent = row["target.energy"].removesuffix(".0")
    return (now == printed, then == printed, stats.shows(spent, energy / 1e6),
            f"{row['mapping.mapping']}: {now} cycles, {then} and {energy} pJ "
            f"by the older rules, {printed} and {spent} uJ published")


@functools.cache
def judged():
    return tool.side_by_side(judge, rows())
