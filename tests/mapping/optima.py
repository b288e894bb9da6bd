"""Loop nests that others have found, beside the exact mapper's optimum.

A rival is a nest for a layer on a machine: a golden record, what Timeloop's
mapper found, what a tutorial publishes.  The optimum is that of all nests which
keep the same tensors at the same levels, and both are costed by `--cost exact`
with each level's fan-out.
"""
import dataclasses
import functools
import hashlib
import pathlib
import tempfile

import goldens
import published
import tool

OBJECTIVES = {"energy": "energy_pj", "delay": "cycles", "edp": "edp"}
TOLERANCE = 1e-9
TICKS = 20_000_000      # for a search; the clock is no judge


@dataclasses.dataclass(frozen=True)
class Rival:
    """Files are paths; the nest is the text of a mapping."""
    name: str
    files: tuple        # options of the tool: machine, layer, energies
    nest: str


# ---- Who they are ------------------------------------------------------------

def of_record(name, record):
    return Rival(name, (
        "--arch", goldens.FOLDER / f"arch/{record['arch']}.yaml", "--problem",
        goldens.FOLDER / f"problems/{record['problem_name']}.yaml"),
        record["mapping_yaml"])


def of_goldens():
    """Records with perfect factors, on meshes that hold level by level."""
    return [of_record(record["id"], record) for path in goldens.files()
            for record in goldens.records(path)
            if record["subset"] == "valid" and not goldens.too_wide(record)]


def of_timeloop():
    return [of_record(name, result)
            for name, result in goldens.mapper_results()]


def of_tutorial(run, folder):
    """Its machine may have to be filled in first, in this folder."""
    return Rival(run.name, (
        "--arch", published.edited(run.arch, run.edits, folder), "--problem",
        tool.CASES / run.problem, "--ert", tool.CASES / run.ert),
        (tool.CASES / run.mapping).read_text())


def is_drawn(rival, one_in):
    """A sample that is always the same, whatever else there is."""
    digest = hashlib.sha256(rival.name.encode()).digest()
    return int.from_bytes(digest[:4], "big") % one_in == 0


# ---- What the tool says ------------------------------------------------------

def cost_of(rival):
    with tempfile.TemporaryDirectory() as folder:
        nest = pathlib.Path(folder, "nest.yaml")
        nest.write_text(rival.nest)
        return tool.evaluate(*rival.files, "--mapping", nest, "--cost",
                             "exact", "--fanout", "level")


def keeping(report):
    """Constraints that keep the tensors which a costed nest keeps."""
    lines = ["constraints:"]
    names = [tensor["name"] for tensor in report["networks"][0]["tensors"]]
    for level in report["levels"]:
        kept = [tensor["name"] for tensor in level["tensors"]]
        rest = [name for name in names if name not in kept]
        lines.append(f"- {{target: {level['name']}, type: bypass, "
                     f"keep: [{', '.join(kept)}], "
                     f"bypass: [{', '.join(rest)}]}}")
    return "\n".join(lines) + "\n"


@functools.cache
def optimum(files, rules, objective):
    """The answer of `calm map` for one layer."""
    with tempfile.TemporaryDirectory() as folder:
        constraints = pathlib.Path(folder, "keep.yaml")
        constraints.write_text(rules)
        return tool.run("map", *files, "--constraints", constraints,
                        "--objective", objective, "--tick-limit", TICKS,
                        "--time-limit", 0, "--jobs", 1)


@dataclasses.dataclass(frozen=True)
class Duel:
    """One objective: the rival's value, and what the mapper came to."""
    name: str
    objective: str
    rival: float
    status: str
    value: float        # None: none was found
    bound: float
    told: str           # why there is no proof

    def lost(self):
        """Is the mapper's nest dearer, or missing, or its bound wrong?"""
        most = self.rival * (1 + TOLERANCE)
        return self.value is None or self.value > most or self.bound > most

    def __str__(self):
        return (f"{self.name}, {self.objective}: {self.value} ({self.status}, "
                f"bound {self.bound}), rival {self.rival} {self.told}")


def duels(rival):
    """A duel for each objective; the rival's nest has to be valid."""
    cost = cost_of(rival)
    if cost.code:
        return [Duel(rival.name, "any", 0, "rival is not valid", None, 0,
                     cost.told())]
    return [duel(rival, cost.report, objective) for objective in OBJECTIVES]


def duel(rival, report, objective):
    said = optimum(rival.files, keeping(report), objective)
    layer = (said.report.get("layers") or [{}])[0]
    return Duel(rival.name, objective, report[OBJECTIVES[objective]],
                layer.get("status") or f"exit {said.code}",
                layer.get("value"), layer.get("bound") or 0,
                layer.get("reason") or said.message)
