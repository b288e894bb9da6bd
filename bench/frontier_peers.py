#!/usr/bin/env python3
"""Other solvers of both problems, from packages, each in a process of its own.

    frontier_peers.py PEER FILE SECONDS

Reads a graph (.cg of order_graphs.py, without writing in place) or buffers
(.csv) and prints one JSON object: value, and bound and status where the peer
says something about them, and seconds without the start of Python, the loading
of packages and the check of a placement.  Solvers get one thread.  Their packages are those of
scripts/python-bench.txt.
"""
import csv
import importlib
import json
import math
import re
import sys
import time

sys.dont_write_bytecode = True

import layout_check     # noqa: E402


# ---- Orders ------------------------------------------------------------------

class Graph:
    """Operators with predecessors, the bytes that each writes, and workspace."""

    def __init__(self, path):
        tensors, self.preds, self.outputs, self.workspace = {}, [], set(), []
        sizes, producer = {}, {}
        for line in open(path):
            words = line.split()
            if words[:1] == ["tensor"]:
                sizes[words[1]] = int(words[2])
                if "output" in words:
                    self.outputs.add(words[1])
            elif words[:1] == ["op"]:
                inputs, outputs = re.findall(r"\(([^)]*)\)", line)[:2]
                self.preds.append(sorted(producer[t] for t in inputs.split()))
                producer[outputs.split()[0]] = len(self.preds) - 1
                tensors[len(self.preds) - 1] = outputs.split()[0]
                need = re.search(r"workspace=(\d+)", line)
                self.workspace.append(int(need[1]) if need else 0)
        self.count = len(self.preds)
        self.bytes = [sizes[tensors[v]] for v in range(self.count)]
        self.kept = [tensors[v] in self.outputs for v in range(self.count)]
        self.readers = [[] for _ in self.preds]
        for v, inputs in enumerate(self.preds):
            for u in inputs:
                self.readers[u].append(v)

    def reach(self):
        """How many must run before and after each operator."""
        before, after = [set() for _ in self.preds], [set() for _ in self.preds]
        for v, inputs in enumerate(self.preds):
            for u in inputs:
                before[v] |= before[u] | {u}
        for v in reversed(range(self.count)):
            for w in self.readers[v]:
                after[v] |= after[w] | {w}
        return [len(x) for x in before], [len(x) for x in after]


def order_cp_sat(path, seconds):
    """Starts are all different; each buffer is an interval of a cumulative."""
    from ortools.sat.python import cp_model

    g, model = Graph(path), cp_model.CpModel()
    before, after = g.reach()
    start = [model.new_int_var(before[v], g.count - 1 - after[v], "")
             for v in range(g.count)]
    model.add_all_different(start)
    intervals, demands = [], []
    for v in range(g.count):
        end = g.count if g.kept[v] else model.new_int_var(1, g.count, "")
        for w in [v] + g.readers[v]:
            if w != v:
                model.add(start[v] < start[w])
            model.add(end >= start[w] + 1)
        length = model.new_int_var(1, g.count, "")
        intervals.append(model.new_interval_var(start[v], length, end, ""))
        demands.append(g.bytes[v])
        if g.workspace[v]:
            intervals.append(model.new_fixed_size_interval_var(start[v], 1, ""))
            demands.append(g.workspace[v])
    peak = model.new_int_var(0, sum(demands), "")
    model.add_cumulative(intervals, demands, peak)
    model.minimize(peak)
    return run_cp_sat(model, seconds)


def run_cp_sat(model, seconds, offsets=()):
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    bound = int(solver.best_objective_bound)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return {"value": None, "bound": bound}
    return {"value": int(solver.objective_value), "bound": bound,
            "offsets": [solver.value(at) for at in offsets],
            "status": "optimal" if status == cp_model.OPTIMAL else "feasible"}


def order_highs(path, seconds):
    """Time-indexed: x[v, t] says that v has run by step t; a buffer is live
    from its operator to its last reader."""
    import highspy

    g, h = Graph(path), highspy.Highs()
    before, after = g.reach()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("time_limit", float(seconds))
    h.setOptionValue("threads", 1)
    first, last = before, [g.count - 1 - n for n in after]
    done = [{t: h.addBinary() for t in range(first[v], last[v])}
            for v in range(g.count)]

    def has_run(v, t):
        return 0 if t < first[v] else 1 if t >= last[v] else done[v][t]

    peak = h.addVariable(lb=0.0)
    for v in range(g.count):
        for t in range(first[v], last[v] - 1):
            h.addConstr(done[v][t] <= done[v][t + 1])
    for t in range(g.count):
        h.addConstr(sum((has_run(v, t) for v in range(g.count)), 0 * peak)
                    == t + 1)
        load = 0 * peak
        for v in range(g.count):
            load = load + live_bytes(g, h, has_run, v, t)
            if g.workspace[v]:
                load = load + g.workspace[v] * (has_run(v, t)
                                                - has_run(v, t - 1))
        h.addConstr(load <= peak)
    for v, inputs in enumerate(g.preds):
        for u in inputs:
            for t in range(g.count):
                if isinstance(has_run(v, t), int) and not has_run(v, t):
                    continue
                if not isinstance(has_run(u, t - 1), int) or not has_run(
                        u, t - 1):
                    h.addConstr(has_run(v, t) + 0 * peak <= has_run(u, t - 1))
    h.minimize(peak)
    info = h.getInfo()
    bound = info.mip_dual_bound
    if not math.isfinite(bound):      # stopped before the first relaxation
        bound = 0
    if info.primal_solution_status != 2:
        return {"value": None, "bound": max(0, round(bound - 0.499))}
    value = round(info.objective_function_value)
    optimal = h.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return {"value": value, "bound": value if optimal else max(
        0, -int(-(bound - 1e-6) // 1)), "status": "optimal" if optimal
        else "feasible"}


def live_bytes(g, h, has_run, v, t):
    """What the buffer of v costs at step t."""
    here = has_run(v, t)
    if isinstance(here, int) and not here:
        return 0
    if g.kept[v]:
        return g.bytes[v] * here
    waits = [has_run(w, t - 1) for w in g.readers[v]] or [has_run(v, t - 1)]
    if all(isinstance(x, int) and x for x in waits):
        return 0
    live = h.addVariable(lb=0.0, ub=1.0)
    for x in waits:
        h.addConstr(live >= here - x)
    return g.bytes[v] * live


# ---- Layouts -----------------------------------------------------------------

def buffers(path):
    with open(path, newline="") as file:
        return [(int(row["lower"]), int(row["upper"]), int(row["size"]))
                for row in csv.DictReader(file)]


def layout_omnimalloc(name, path, seconds):
    """One of the package's allocators."""
    import omnimalloc.allocators as allocators
    from omnimalloc import Allocation

    kind = getattr(allocators, name)
    try:
        allocator = kind(timeout=seconds)
    except TypeError:
        allocator = kind()
    wanted = buffers(path)
    found = allocator.allocate(tuple(
        Allocation(id=i, size=size, start=lower, end=upper)
        for i, (lower, upper, size) in enumerate(wanted)))
    offsets = {a.id: a.offset for a in found}
    return {"offsets": [offsets[i] for i in range(len(wanted))],
            "value": max(offsets[i] + size
                         for i, (_, _, size) in enumerate(wanted))}


def check(path, offsets):
    rows = layout_check.read(path)
    wrong = layout_check.fault(
        rows, {row.id: at for row, at in zip(rows, offsets)})
    if wrong:
        raise SystemExit(wrong)


def layout_cp_sat(path, seconds):
    """Rectangles that do not overlap, with the sums of each step besides."""
    from ortools.sat.python import cp_model

    model, wanted = cp_model.CpModel(), buffers(path)
    most = sum(size for _, _, size in wanted)
    arena = model.new_int_var(0, most, "")
    times, places, demands, offsets = [], [], [], []
    for lower, upper, size in wanted:
        offset = model.new_int_var(0, most - size, "")
        times.append(model.new_fixed_size_interval_var(lower, upper - lower,
                                                       ""))
        places.append(model.new_fixed_size_interval_var(offset, size, ""))
        demands.append(size)
        offsets.append(offset)
        model.add(offset + size <= arena)
    model.add_no_overlap_2d(times, places)
    model.add_cumulative(times, demands, arena)
    model.minimize(arena)
    return run_cp_sat(model, seconds, offsets)


ALLOCATORS = {
    "greedy-by-size": "GreedyBySizeAllocator",
    "greedy-by-all": "GreedyByAllAllocator",
    "best-fit": "BestFitAllocator",
    "telamalloc": "TelamallocAllocator",
    "hill-climb": "HillClimbAllocator",
    "annealing": "SimulatedAnnealingAllocator",
    "tabu": "TabuSearchAllocator",
    "supermalloc": "SupermallocAllocator",
}
PACKAGES = {"cp-sat": "ortools.sat.python.cp_model", "highs": "highspy"}
ORDER_PEERS = {"cp-sat": order_cp_sat, "highs": order_highs}


def main():
    peer, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    importlib.import_module(PACKAGES.get(peer, "omnimalloc.allocators"))
    begin = time.process_time()
    if path.endswith(".cg"):
        found = ORDER_PEERS[peer](path, seconds)
    elif peer == "cp-sat":
        found = layout_cp_sat(path, seconds)
    else:
        found = layout_omnimalloc(ALLOCATORS[peer], path, seconds)
    found["seconds"] = time.process_time() - begin
    offsets = found.pop("offsets", None)
    if offsets:
        check(path, offsets)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
