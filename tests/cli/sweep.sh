#!/bin/sh
# calm sweep: points into a database, also where runs are killed.
. tests/cli/lib

write_small_machine "$work/arch.yaml"
cat >"$work/layer.yaml" <<'END'
problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 6, N: 4, K: 10}}
END
cat >"$work/net.cg" <<'END'
calm-graph 1
graph net
tensor x f32[1,8,8,2] input
tensor w f32[4,3,3,2] const
tensor v f32[4,1,1,4] const
tensor y f32[1,8,8,4]
tensor z f32[1,8,8,4]
tensor o f32[1,8,8,4] output
op a conv2d ( x w - ) -> ( y ) stride=1,1 pad=same
op b conv2d ( y v - ) -> ( z ) stride=1,1 pad=same
op c conv2d ( z v - ) -> ( o ) stride=1,1 pad=same
END
cat >"$work/sweep.yaml" <<'END'
name: small
models: [net.cg]
problems: [layer.yaml]
architectures:
- file: arch.yaml
  parameters:
    Buffer.entries: {from: 6, to: 24, plus: 2}
    Memory.shared_bandwidth: [1, 2]
objectives: [edp]
END

sweep() { run sweep "$work/sweep.yaml" "$@"; }

# What is in a database, whoever wrote it and when.
content() {
  python3 -c 'import sqlite3, sys
print("\n".join(sqlite3.connect(sys.argv[1]).iterdump()))' "$1"
}

checking "a sweep, its database, and its exports"
sweep; code_is 0; err_is_empty
out_has "60 points: 3 layers on 20 designs"
out_has "60 done, 0 failed, 0 left"
[ -f "$work/sweep.db" ] || fault "no sweep.db beside sweep.yaml"
sweep --export json; code_is 0; out_is_json
json_says 'o["schema"] == "calm/sweep/1" and len(o["points"]) == 60'
json_says 'all(p["status"] == "optimal" for p in o["points"])'
json_says '[p["count"] for p in o["points"][:3]] == [1, 2, 1]'
json_says 'o["points"][0]["parameters"]["Buffer.entries"] == "6"'
json_says 'all(d["cycles"] == sum(p["cycles"] * p["count"] for p in o["points"]
  if p["design"] == d["id"]) for d in o["designs"])'
json_says 'any(d["pareto"] for d in o["designs"])'
cp "$work/out" "$work/first.json"
sweep --json; cmp -s "$work/out" "$work/first.json" || fault "--json differs"
sweep --export csv -o "$work/points.csv"; code_is 0; out_is_empty
[ "$(wc -l <"$work/points.csv")" = 61 ] || fault "not a line per point"

checking "what a point says is what calm map says"
run map --arch "$work/arch.yaml" --problem "$work/layer.yaml" \
  --set Buffer.entries=8 --set Memory.shared_bandwidth=2 --json
code_is 0
python3 -c 'import json, sys
of_map = json.load(open(sys.argv[1]))["layers"][0]
wanted = {"Buffer.entries": "8", "Memory.shared_bandwidth": "2"}
[of_sweep] = [p for p in json.load(open(sys.argv[2]))["points"]
  if p["parameters"] == wanted and p["layer"] == "layer"]
sys.exit(any(of_map[k] != of_sweep[k] for k in ("cycles", "energy_pj", "edp")))' \
  "$work/out" "$work/first.json" || fault "they differ"

checking "a killed run goes on where it stopped, to the same content"
content "$work/sweep.db" >"$work/whole"
python3 -c 'import os, signal, sqlite3, subprocess, sys, time
tool, sweep, database = sys.argv[1:]
command = [tool, "sweep", sweep, "--database", database, "--jobs", "1"]
kills = 0
for pause in (0.03, 0.06, 0.1):
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                           start_new_session=True)
    time.sleep(pause)
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)
        kills += 1
    run.wait()
sys.exit(kills == 0)' "$CALM" "$work/sweep.yaml" "$work/killed.db" ||
  fault "no run was killed"
sweep --database "$work/killed.db"; code_is 0
content "$work/killed.db" >"$work/again"
cmp -s "$work/whole" "$work/again" || fault "another content"

checking "nothing is run twice, and more points join"
sweep -v; code_is 0; err_lacks "layer on arch"
sed -i 's/objectives: .*/objectives: [edp, delay]/' "$work/sweep.yaml"
sweep -v; code_is 0; err_has "60/60"; out_has "120 done"

checking "a point that fails stops no other, and is tried again on request"
sed 's/Buffer.entries: .*/Buffer.entries: [8, -1]/' "$work/sweep.yaml" \
  >"$work/faulty.yaml"
run sweep "$work/faulty.yaml"; code_is 1
out_has "12 done, 12 failed"; err_has "12 of 24 points failed"
out_has "is '-1'"
run sweep "$work/faulty.yaml" -v; code_is 1; err_lacks "failed: "
run sweep "$work/faulty.yaml" -v --retry; code_is 1; err_has "12/12"

checking "databases of others are left alone"
echo "no database, but a text that somebody wrote" >"$work/notes.db"
cp "$work/notes.db" "$work/notes"
sweep --database "$work/notes.db"; one_line_error 3 "is no database"
cmp -s "$work/notes.db" "$work/notes" || fault "it was changed"
python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("CREATE TABLE t (x)")' "$work/theirs.db"
sweep --database "$work/theirs.db"; one_line_error 3 "of another program"
python3 -c 'import sqlite3, subprocess, sys
held = sqlite3.connect(sys.argv[2], isolation_level=None)
held.execute("BEGIN EXCLUSIVE")
sys.exit(subprocess.run([sys.argv[1], "sweep", sys.argv[3], "--database",
  sys.argv[2]], stderr=open(sys.argv[4], "w")).returncode != 3)' \
  "$CALM" "$work/sweep.db" "$work/sweep.yaml" "$work/err" ||
  fault "a database in use was used"
err_has "in use by another program"

checking "words that do not go together"
sweep -o "$work/x"; one_line_error 2 "export"
sweep --json --export csv; one_line_error 2 "give one of them"
sweep --export pdf; one_line_error 2 "csv|json|html"
sweep --database "$work/sweep.yaml"; one_line_error 2 "is an input"
sweep --database "$work/no/where.db"; one_line_error 3 "cannot write"
run sweep "$work/nowhere.yaml"; one_line_error 3 "nowhere.yaml"
[ ! -e "$work/nowhere.db" ] || fault "a database for nothing"
sweep --export csv -o "$work/sweep.db"; one_line_error 2 "is the database"

finish
