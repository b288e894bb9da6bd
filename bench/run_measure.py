"""One case through the tool: rows of the record, and what the tables show.

Searches are limited by ticks, not by the clock, so that figures repeat on any
machine.
"""
import dataclasses
import json
import pathlib
import subprocess
import tempfile

import run_cases
from run_record import REFUSED, Row

TICKS = "100000000"
LIMITS = ("--tick-limit", TICKS, "--time-limit", "0")


@dataclasses.dataclass
class Line:
    """What is shown of a case, or of one layer of it."""
    name: str
    rows: list
    seconds: float = 0.0
    message: str = ""       # why the tool refused

    def row(self, figure, method):
        return next((row for row in self.rows
                     if (row.figure, row.method) == (figure, method)), None)


def run_tool(tool, *arguments):
    """(the JSON object or None, the message)."""
    done = subprocess.run([tool, *map(str, arguments), "--json", "--timing",
                           "--quiet"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout), ""
    except json.JSONDecodeError:
        return None, done.stderr.strip()


def refused(case, figure, message, model=None):
    name = model or case.model
    return Line(name, [Row(name, case.options, figure, "exact",
                           status=REFUSED)], message=message)


def measure_plan(tool, case):
    found, message = run_tool(tool, "plan", case.path, *LIMITS, *case.arguments)
    if not found:
        return [refused(case, "peak_bytes", message)]
    order, layout, base = found["order"], found["layout"], found["baseline"]
    name = (case.model, case.options)
    return [Line(case.model, [
        Row(*name, "operators", "file", found["graph"]["ops"]),
        Row(*name, "peak_bytes", "file", base["peak_bytes"]),
        Row(*name, "peak_bytes", "exact", order["peak_bytes"],
            order["bound_bytes"], order["status"], order["states"],
            order["ticks"]),
        Row(*name, "arena_bytes", "runtime", base["arena_bytes"]),
        Row(*name, "arena_bytes", "exact", layout["arena_bytes"],
            layout["bound_bytes"], layout["status"], layout["nodes"],
            layout["ticks"])], order["seconds"] + layout["seconds"])]


def measure_traffic(tool, case):
    """Spills in the file's order, in that of least peak, and the fewest."""
    found, message = run_tool(tool, "plan", case.path, *LIMITS,
                              *case.arguments)
    if not found:
        return [refused(case, "spill_bytes", message)]
    name = (case.model, case.options, "spill_bytes")
    spills = {row["order"]: row["spill_read_bytes"] + row["spill_write_bytes"]
              for row in found["traffic"]}
    order = found["order"]
    return [Line(case.model, [
        Row(*name, "file", spills["file"]),
        Row(*name, "peak", spills["peak"]),
        Row(*name, "exact", order["spill_bytes"], order["spill_bound_bytes"],
            order["status"], order["states"], order["ticks"])],
        order["seconds"])]


def measure_pack(tool, case):
    found, message = run_tool(tool, "pack", case.path, *LIMITS, *case.arguments)
    if not found:
        return [refused(case, "arena_bytes", message)]
    return [Line(case.model, [
        Row(case.model, case.options, "arena_bytes", "exact",
            found["arena_bytes"], found["bound_bytes"], found["status"],
            found["nodes"], found["ticks"])], found["seconds"])]


def whole(x):
    """Cycles are whole numbers; energies stay what they are."""
    return int(x) if x is not None and x == int(x) else x


def map_row(case, model, figure, layer):
    proof = layer["certificate"] or {}
    return Row(model, case.options, figure, "exact", whole(layer["value"]),
               whole(layer["bound"]), layer["status"], proof.get("states"))


def map_lines(case, figure, names, found):
    for name, layer in zip(names, found["layers"]):
        model = f"{case.model}/{name}"
        yield Line(model, [map_row(case, model, figure, layer)],
                   layer["seconds"], layer["reason"] or "")


def measure_map(tool, case):
    layers = run_cases.layers()
    figure = run_cases.OBJECTIVES[case.options.removeprefix("objective=")]
    with tempfile.TemporaryDirectory() as folder:
        problems = []
        for name, text in layers.items():
            path = pathlib.Path(folder, f"{name}.yaml")
            path.write_text(text)
            problems += ["--problem", path]
        found, message = run_tool(tool, "map", *problems, *LIMITS,
                                  *case.arguments)
    if not found:
        return [refused(case, figure, message, f"{case.model}/{name}")
                for name in layers]
    return list(map_lines(case, figure, layers, found))


MEASURES = {"plan": measure_plan, "traffic": measure_traffic,
            "pack": measure_pack, "map": measure_map}


def measure(tool, case):
    """The lines of a case."""
    return MEASURES[case.verb](tool, case)
