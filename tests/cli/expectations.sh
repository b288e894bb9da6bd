#!/bin/sh
# Every graph with `# expect` lines, and every public model, has the peaks
# that are known of it, proved, in an arena of that size.
. tests/cli/lib

cat >"$work/expect.py" <<'PYTHON'
import glob, json, os, re, subprocess, sys
tool, cases = sys.argv[1:]
faults = 0

def plan(path, *options):
    run = subprocess.run([tool, "plan", path, "--json", "--quiet", *options],
                         capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else None

def compare(path, what, found, wanted):
    global faults
    if found != wanted:
        faults += 1
        print(f"  FAULT: {path}: {what} is {found}, expected {wanted}")

def best(path, wanted, *options):
    found = plan(path, *options)
    order = found and found["order"]
    compare(path, "best peak and proof", order and
            (order["peak_bytes"], order["status"]), (wanted, "optimal"))
    return found

def check_graph(path):
    expected = {key: int(value) for key, value in re.findall(
        r"^# expect (\S+) (\d+)", open(path).read(), re.M)}
    found = best(path, expected["peak-best"], "--memory", "plain")
    compare(path, "arena", found["layout"]["arena_bytes"],
            expected["peak-best"])
    if "peak-file" in expected:
        compare(path, "peak of the file order",
                found["baseline"]["peak_bytes"], expected["peak-file"])
    if "peak-level" in expected:
        level = plan(path, "--memory", "plain", "--order", "level")
        compare(path, "peak of the level order",
                level["order"]["peak_bytes"], expected["peak-level"])
    if "peak-best-rewritten" in expected:
        found = best(path, expected["peak-best-rewritten"], "--memory",
                     "plain", "--rewrite", "auto", "--no-rewrite-noops")
        compare(path, "proof of the rewriting", found["rewrite"]["proved"],
                True)
    if "peak-best-elided" in expected:
        elided = ["--memory", "plain", "--concat", "elide"]
        found = best(path, expected["peak-best-elided"], *elided)
        compare(path, "elided arena", found["layout"]["arena_bytes"],
                expected["peak-best-elided"])
    if "downsets-elided" in expected:
        order = best(path, expected["peak-best-elided"], *elided, "--order",
                     "dp", "--count")["order"]
        compare(path, "down-sets and orders",
                (order["downsets"], order["orders"]),
                (expected["downsets-elided"], expected["orders-elided"]))

def check_model(entry):
    path = f"{cases}/models/{entry['file']}"
    found = best(path, entry.get("peak_optimal_exact", 0) or 0,
                 "--memory", "plain")
    compare(path, "peak of the file order", found["baseline"]["peak_bytes"],
            entry.get("peak_default_order", 0) or 0)

graphs = glob.glob("tests/graph/*.cg")
graphs += glob.glob(f"{cases}/graphs/*.cg")
graphs += [p for p in glob.glob(f"{cases}/graphs-ws/*.cg")
           if int(re.search(r"w[sr](\d+)_", p)[1]) <= 80]
models = []
if os.path.exists(f"{cases}/models/models_index.json"):
    models = [entry for entry in json.load(
        open(f"{cases}/models/models_index.json"))
        if entry["file"].endswith(".tflite")
        or entry.get("peak_default_order")]
for path in sorted(graphs):
    check_graph(path)
for entry in models:
    check_model(entry)
print(f"  {len(graphs)} graphs and {len(models)} models")
sys.exit(faults != 0)
PYTHON

checking "known peaks, down-sets and arenas"
cases=${CALM_CASES:-../shared/cases}
python3 "$work/expect.py" "$CALM" "$cases" ||
  fault "some expectation does not hold"
[ -d "$cases/models" ] && finish
echo "  skipped: no cases at $cases"
[ "$failures" = 0 ] && exit 77
finish
