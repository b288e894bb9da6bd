"""Documents for pages: what calm prints with --json, made up, so that figures are known
and names can be as bad as they get."""

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>",
           "a\"b'c&amp;d", "name\nwith\u202eturns", "x" * 300, ""]


def tensor(name, size, role="activation", shape=None):
    return {"name": name, "index": 0, "type": "u8", "shape": shape or [1, size],
            "bytes": size, "role": role}


def chain(names, sizes):
    """Operators in a row, each reading what the one before it made."""
    tensors = [tensor(f"in of {names[0]}", sizes[0], "input")]
    operators = []
    for at, (name, size) in enumerate(zip(names, sizes)):
        tensors.append(tensor(f"out of {name}", size))
        operators.append({"name": name, "kind": "conv2d", "index": at,
                          "inputs": [at], "outputs": [at + 1]})
    tensors[-1]["role"] = "output"
    return operators, tensors


def plan(names=("first", "second", "third"), sizes=(4096, 2048, 1024), model="small.cg"):
    """A plan of a chain: tensors take turns at both ends of the arena."""
    operators, tensors = chain(list(names), list(sizes))
    alive = [one["bytes"] + two["bytes"] for one, two in zip(tensors, tensors[1:])]
    arena = max(alive)
    buffers = [{"name": one["name"], "index": at, "bytes": one["bytes"],
                "offset": 0 if at % 2 == 0 else arena - one["bytes"],
                "first": max(0, at - 1), "last": min(at, len(names) - 1)}
               for at, one in enumerate(tensors)]
    peak = alive.index(arena)
    return {
        "schema": "calm/plan/1", "model": model, "memory": "plain", "align": 1,
        "columns": {"inputs": "until-use", "inplace": []},
        "graph": {"name": "g", "ops": len(names), "tensors": len(tensors),
                  "activation_bytes": sum(t["bytes"] for t in tensors),
                  "weight_bytes": 5000},
        "baseline": {"order": "file", "peak_bytes": arena + 1000,
                     "arena_bytes": arena + 2000, "peak_step": 0,
                     "sequence": list(names), "buffers": None,
                     "step_bytes": [arena + 1000] + alive[1:]},
        "rewrite": {"mode": "auto", "proved": True, "proof": "all were tried", "sites": [
            {"name": f"site of {names[0]}", "kind": "channels", "applied": True,
             "bytes_alone": 10, "bytes_together": 20, "operators": 2, "reason": None}]},
        "budget_bytes": None, "within_budget": True, "traffic": [], "runtime": None,
        "order": {"method": "exact", "status": "optimal", "peak_bytes": arena,
                  "bound_bytes": arena, "peak_step": peak, "sequence": list(names),
                  "step_bytes": alive},
        "layout": {"method": "exact", "status": "optimal", "arena_bytes": arena,
                   "bound_bytes": arena, "buffers": buffers, "views": [],
                   "workspaces": [{"op": names[0], "offset": 0, "bytes": 16, "step": 0}]},
        "operators": operators, "tensors": tensors, "original": None,
        "provenance": {"calm": "0.1.0", "options": {"rewrite": "auto"}}}


def drawing(of_plan):
    """The first two operators of a plan, one below the other."""
    return {"kind": "peak", "title": "Peak", "site": None, "graph": "plan",
            "width": 160, "height": 140,
            "nodes": [{"op": at, "x": 10, "y": 10 + 80 * at, "width": 140, "height": 36,
                       "focus": at == 0} for at in range(2)],
            "edges": [{"tensor": 1, "from": 0, "to": 1, "points": [[80, 46], [80, 90]]}]}


def big_plan(count=10000):
    """As many tensors as one will meet."""
    return plan([f"op{at}" for at in range(count)],
                [1000 + 37 * at % 9000 for at in range(count)], "big.cg")


def damaged(value, random):
    """The same, but that one value in about twenty is another one."""
    if random.random() < 0.05:
        return random.choice([None, "x", [], {}, -1, 1e300, True, "12345678901234567890",
                              [None], {"a": None}])
    if isinstance(value, dict):
        return {key: damaged(one, random) for key, one in value.items()}
    if isinstance(value, list):
        return [damaged(one, random) for one in value]
    return value


def sweep():
    """Two machines by two sizes; one of them fails for one layer."""
    designs, points = [], []
    for at, (arch, size) in enumerate((a, s) for a in ("left", "right") for s in (16, 64)):
        cycles, energy = 1000000 // (at + 1), 2e9 * (1 + at * (at != 2))
        failed = int(at == 3)
        designs.append({"arch": arch, "parameters": {"KiB": size}, "mapper": "exact",
                        "objective": "edp", "cycles": cycles, "energy_pj": energy,
                        "edp": cycles * energy, "points": 2, "done": 2 - failed,
                        "failed": failed, "pareto": at in (0, 2)})
        for layer in ("conv1", "conv2"):
            bad = failed and layer == "conv2"
            points.append({"id": len(points), "model": None, "layer": layer, "arch": arch,
                           "parameters": {"KiB": size}, "mapper": "exact",
                           "objective": "edp", "status": "failed" if bad else "optimal",
                           "reason": "the buffer is too small" if bad else None,
                           "value": 1, "bound": 1, "cycles": None if bad else cycles // 2,
                           "energy_pj": None if bad else energy / 2,
                           "edp": None if bad else cycles * energy / 4, "area": None,
                           "pareto": False})
    return {"schema": "calm/sweep/1", "name": "sizes", "objective": "edp",
            "counts": {"points": 8, "done": 7, "failed": 1, "left": 0},
            "points": points, "designs": designs}
