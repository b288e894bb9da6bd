#!/bin/sh
# calm plan --rewrite auto on random graphs of several parts: its peak is the
# least of all sets of sites, each forced by name, where it says so.
. tests/cli/lib

cat >"$work/sets.py" <<'PYTHON'
import json, random, subprocess, sys
tool, path = sys.argv[1:]
SEEDS, MOST_SITES = 60, 4

class Graph:
    """Parts of convolutions, activations and concats; an operator that reads
    all that is left of a part stands between it and the next."""
    def __init__(self, seed):
        self.random, self.tensors, self.ops = random.Random(seed), [], []
        x = self.tensor(self.random.randint(2, 6), " input")
        for _ in range(self.random.randint(1, 3)):
            x = self.part(x)
        self.tensors[-1] += " output"

    def tensor(self, size, flag=""):
        name = f"t{len(self.tensors)}"
        self.tensors.append(f"tensor {name} {size}{flag}")
        return name, size

    def op(self, kind, operands, size):
        out = self.tensor(size)
        words = " ".join(name for name, _ in operands)
        self.ops.append((words.split(), f"op o{len(self.ops)} {kind} "
                         f"( {words} ) -> ( {out[0]} )"))
        return out

    def part(self, x):
        pool, size = [x], lambda: self.random.randint(1, 6)
        for _ in range(self.random.randint(3, 6)):
            near = self.random.choice(pool[-3:])
            draw = self.random.random()
            if draw < 0.45:
                pool.append(self.op("conv2d", [near], size()))
            elif draw < 0.6:
                pool.append(self.op("relu", [near], near[1]))
            else:
                some = self.random.choices(pool, k=self.random.randint(2, 3))
                pool.append(self.op("concat", some, sum(s for _, s in some)))
                pool.append(self.op("conv2d", [pool[-1]], size()))
        read = {name for operands, _ in self.ops for name in operands}
        return self.op("opaque", [t for t in pool if t[0] not in read], size())

    def __str__(self):
        return "\n".join(["calm-graph 1", "graph g", *self.tensors,
                          *(line for _, line in self.ops), ""])

def plan(*options):
    run = subprocess.run([tool, "plan", path, "--json", "--quiet", *options],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)

faults = checked = 0
for seed in range(SEEDS):
    open(path, "w").write(str(Graph(seed)))
    for partials in "accumulate", "add-inplace", "add-copy":
        how = ["--partials", partials, "--rewrite"]
        names = [site["name"] for site in plan(*how, "all")["rewrite"]["sites"]
                 if site["applied"] and site["kind"] in ("channels", "kernels")]
        if not 0 < len(names) <= MOST_SITES:
            continue
        sets = [",".join(name for i, name in enumerate(names) if number >> i & 1)
                or "none" for number in range(1 << len(names))]
        least = min(plan(*how, s)["order"]["peak_bytes"] for s in sets)
        auto = plan(*how, "auto")
        checked += 1
        if auto["order"]["peak_bytes"] != least and auto["rewrite"]["proved"]:
            faults += 1
            print(f"  FAULT: seed {seed}, {partials}: "
                  f"{auto['order']['peak_bytes']}, not {least}")
print(f"  {checked} graphs")
sys.exit(faults != 0 or checked < SEEDS / 2)
PYTHON

checking "the least of all sets of sites"
python3 "$work/sets.py" "$CALM" "$work/sets.cg" || fault "not the least"
finish
