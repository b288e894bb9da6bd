"""The golden records: what Timeloop printed for loop nests.

Each record is turned into files for the tool and into the figures that it is
to print.  Where Timeloop's own run of every iteration is not among them, the
reference model that comes with the records says what it would have printed.
"""
import functools
import importlib
import json
import math
import re
import sys
import tempfile

import figures
import tool

FOLDER = tool.CASES / "goldens"

# A nest with imperfect factors that has more is not predicted: it takes long.
MOST_ITERATIONS = 2000000

# Timeloop's sentence, and what calm calls it.  (A tensor that is kept nowhere
# is reported before anything is known of the multipliers.)
FAULTS = (
    (r"product of all factors of dimension (?P<place>\w+)", "factors"),
    (r"tensors is bypassed in all storage levels", "kept-nowhere"),
    (r"level (?P<place>\w+): .*Arithmetic instances", "compute-count"),
    (r"level (?P<place>\w+): .*Arithmetic X expansion", "compute-x"),
    (r"level (?P<place>\w+): .*Arithmetic Y expansion", "compute-y"),
    (r"level (?P<place>\w+): .*exceeds buffer capacity", "capacity"),
    (r"level (?P<place>\w+): .*minimum utilization", "min-utilization"),
    (r"level (?P<place>\w+): mapped instances", "instances"),
    (r"level (?P<place>\w+): mapped X expansion", "mesh-x"),
    (r"level (?P<place>\w+): mapped Y expansion", "mesh-y"),
)


def files():
    """The record files; none without the cases."""
    return sorted(FOLDER.glob("*.jsonl"))


@functools.cache
def reference():
    sys.path.insert(0, str(FOLDER))
    sys.dont_write_bytecode = True
    return importlib.import_module("ref_model")


@functools.cache
def machine(name):
    """A machine as the reference model reads it."""
    return reference().load_arch(str(FOLDER / f"arch/{name}.yaml"))


@functools.cache
def records(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def mapper_results():
    """[(id, record)] of nests that Timeloop's mapper found, some of the largest;
    of these the whole is known only."""
    path = FOLDER / "baselines.json"
    if not path.exists():
        return []
    data = json.loads(path.read_text())
    return [(f"{layer} {search}",
             {**result, "arch": data["arch"], "problem_name": layer})
            for layer, searches in data["layers"].items()
            for search, result in searches.items()
            if isinstance(result, dict) and "mapping_yaml" in result]


def imperfect(record):
    return record["subset"].startswith("imperfect")


# ---- What is expected --------------------------------------------------------

def of_printed(printed):
    """The figures of a record's variant."""
    mac = printed["mac"]
    expected = {
        ("cycles",): printed["cycles"], ("energy_pj",): printed["energy_pJ"],
        ("utilization",): printed["util"], ("computes",): printed["computes"],
        ("multipliers",): mac["inst"], ("compute_cycles",): mac["cycles"],
        ("compute_energy_pj",): mac["E"]}
    for name, level in printed["L"].items():
        expected[name, "cycles"] = level["cycles"]
        expected[name, "slowdown"] = level["slow"]
        for tensor, row in level.items():
            if isinstance(row, list):
                expected |= place(name, tensor, figures.AT_LEVEL, row)
    for name, network in printed["N"].items():
        for tensor, row in network.items():
            row = [cell or 0 for cell in row[:-1]] + [sorted(row[-1])]
            expected |= place(name.split(">")[0] + ">", tensor,
                              figures.IN_NETWORK, row)
    return expected


def place(name, tensor, keys, row):
    return {(name, tensor, key): cell for key, cell in zip(keys, row)}


def of_predicted(predicted, record):
    """The figures of the reference model."""
    model = reference()
    expected = {
        ("cycles",): predicted["cycles"],
        ("energy_pj",): predicted["energy_pJ"],
        ("utilization",): predicted["util"],
        ("computes",): predicted["computes"],
        ("multipliers",): predicted["macs"],
        ("compute_cycles",): predicted["ccyc"]}
    for name, level in predicted["L"].items():
        expected[name, "cycles"] = level["cycles"]
        expected[name, "slowdown"] = level["slow"]
        for tensor, row in level["t"].items():
            expected |= place(name, tensor, figures.AT_LEVEL,
                              [row[key] for key in model.COLS_B])
    names = [level["name"] for level in machine(record["arch"])["levels"]]
    for number, network in predicted["N"].items():
        for tensor, row in network.items():
            expected |= place(names[number] + ">", tensor, figures.IN_NETWORK,
                              [row[key] for key in model.COLS_N] + [row["mc"]])
    return expected


def with_true_computes(expected, record, multipliers):
    """Every product counted once, which Timeloop does not where factors are
    imperfect: it multiplies an average."""
    true = 1
    for dimension in reference().shape_of(record["problem"])["dims"]:
        true *= record["problem"][dimension]
    counted = expected["computes",]
    spent = expected["compute_energy_pj",]
    expected["computes",] = true
    expected["compute_energy_pj",] = spent * true / counted
    expected["energy_pj",] += expected["compute_energy_pj",] - spent
    expected["utilization",] = true / multipliers / expected["cycles",]
    return expected


def expected_of_timeloop(record):
    return of_printed(reference().variant(record, "default"))


def printed_exactly(record):
    """Timeloop's run of every iteration, without links; or None."""
    return (reference().variant(record, "full_nolink") or
            reference().variant(record, "full"))


def iterations(record):
    """Those of the temporal loops, which the reference model walks where
    factors are imperfect."""
    return math.prod(factor[0] if isinstance(factor, list) else factor
                     for level in record["mapping"]
                     for factor in level["T"].values())


def predicted_imperfect(record, multipliers):
    """By the reference model: all but energies of the whole, which it knows
    with the computes that Timeloop counts."""
    expected = of_predicted(reference().predict_imp(
        record, machine(record["arch"]), "full", False), record)
    expected["compute_energy_pj",] = 0
    expected = with_true_computes(expected, record, multipliers)
    return {key: value for key, value in expected.items()
            if key not in (("energy_pj",), ("compute_energy_pj",))}


def expected_of_exact(record):
    """(the figures, where they are from), or None where nobody knows."""
    model, arch = reference(), machine(record["arch"])
    printed = printed_exactly(record)
    if printed and imperfect(record):
        return with_true_computes(of_printed(printed), record,
                                  arch["mac"]["instances"]), "printed"
    if printed:
        return of_printed(printed), "printed"
    if imperfect(record):
        return None if iterations(record) > MOST_ITERATIONS else (
            predicted_imperfect(record, arch["mac"]["instances"]), "reference")
    return of_predicted(model.predict(record, arch, "full", model.closed2),
                        record), "reference"


def expected_of_mapper(result):
    return {("cycles",): result["cycles"], ("energy_pj",): result["energy_pJ"],
            ("utilization",): result["util"]}


# ---- What the tool says ------------------------------------------------------

def evaluate(record, *options, fanout="cumulative"):
    """The tool's answer for a record, by default with Timeloop's rule of
    fan-out."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as mapping:
        mapping.write(record["mapping_yaml"])
        mapping.flush()
        return tool.evaluate_files(
            FOLDER / f"arch/{record['arch']}.yaml",
            FOLDER / f"problems/{record['problem_name']}.yaml", mapping.name,
            "--fanout", fanout, *options)


def misfits(record, cost, expected, compare=figures.differences):
    """What is wrong with the tool's answer, in lines."""
    answer = evaluate(record, "--cost", cost)
    if answer.code:
        return [f"exit {answer.code}: {answer.told()}"]
    return compare(figures.of_report(answer.report), expected)


def fault_of(reason):
    """(calm's word for Timeloop's reason, the numbers and names in it)."""
    for pattern, fault in FAULTS:
        match = re.search(pattern, reason)
        if match:
            words = set(re.findall(r"\d+(?:\.\d+)?", reason[match.start():]))
            return fault, words | set(match.groupdict().values())
    return None, set()


def misfits_of_rejected(record, cost):
    answer = evaluate(record, "--cost", cost)
    fault, words = fault_of(record["reason"])
    told = answer.told().replace(",", "")
    if answer.code != 1 or answer.report["valid"]:
        return [f"exit {answer.code}, not rejected: {record['reason']}"]
    if answer.report["fault"] != fault:
        return [f"rejected for '{told}', not for '{record['reason']}'"]
    return [f"'{word}' is not in '{told}'" for word in words
            if not re.search(rf"\b{re.escape(word)}\b", told)]


def too_wide(record):
    """The faults of a nest that does not fit the mesh below some level."""
    faults = set()
    for level, nest in zip(machine(record["arch"])["levels"],
                           record["mapping"]):
        for axis in "XY":
            used = math.prod(nest.get(axis, {}).values())
            if used > level["f" + axis.lower()]:
                faults.add("fanout-" + axis.lower())
    return faults


def misfits_of_levels(record):
    """The same for a rule that Timeloop has not: each level's mesh holds."""
    answer, faults = evaluate(record, fanout="level"), too_wide(record)
    if answer.report.get("fault") in (faults or {None}):
        return []
    return [f"{answer.told() or 'valid'}: not one of {sorted(faults)}"]


def misfits_of_mapper(result):
    return misfits(result, "timeloop", expected_of_mapper(result),
                   figures.wrong)


# ---- All records -------------------------------------------------------------

def judge(record):
    """[(kind of comparison, misfits)] of one record."""
    if not record["valid"]:
        return [(f"{cost}, rejected", misfits_of_rejected(record, cost))
                for cost in ("timeloop", "exact")]
    factors = "imperfect" if imperfect(record) else "perfect"
    rows = [(f"timeloop, {factors}",
             misfits(record, "timeloop", expected_of_timeloop(record)))]
    exact = expected_of_exact(record)
    if exact:
        rows.append((f"exact, {factors}, {exact[1]}",
                     misfits(record, "exact", exact[0])))
    return rows


@functools.cache
def judged(path):
    """[(record's id, kind, misfits)] of a record file."""
    return [(record["id"], kind, lines)
            for record, rows in zip(records(path), tool.side_by_side(
                judge, records(path)))
            for kind, lines in rows]
