#!/bin/sh
# calm eval: what a loop nest costs, on a machine so small that its counts can be
# checked by hand.
. tests/cli/lib

write_small_machine "$work/arch.yaml"
# Z[M,N] += A[M,K] * B[N,K], 2 x 2 x 2.
cat >"$work/problem.yaml" <<'END'
problem:
  version: 0.3
  instance: {M: 2, N: 2, K: 2}
  shape:
    name: product
    dimensions: [M, N, K]
    data_spaces:
      - {name: A, projection: [[[M]], [[K]]]}
      - {name: B, projection: [[[N]], [[K]]]}
      - {name: Z, projection: [[[M]], [[N]]], read_write: True}
END
# The buffer holds a column of A and of B, and Z: sums stay where they are.
cat >"$work/good.yaml" <<'END'
mapping:
  - {target: Memory, type: temporal, factors: K=2, permutation: KMN}
  - {target: Buffer, type: temporal, factors: M=2 N=2, permutation: MNK}
END
# Nothing but one product at a time.
cat >"$work/poor.yaml" <<'END'
mapping:
  - {target: Memory, type: temporal, factors: M=2 N=2 K=2, permutation: MNK}
  - {target: Buffer, type: temporal, factors: M=1, permutation: MNK}
END

with() { run eval --arch "$work/arch.yaml" --problem "$work/problem.yaml" "$@"; }
good() { with --mapping "$work/good.yaml" "$@"; }

# figure LEVEL TENSOR KEY: the Python expression for it
figure() {
  echo "[t['$3'] for l in o['levels'] if l['name'] == '$1'
    for t in l['tensors'] if t['name'] == '$2'][0]"
}

checking "counts that a hand can check"
good --json; code_is 0; err_is_empty; out_is_json
json_says 'o["schema"] == "calm/eval/1" and o["valid"] and o["reason"] is None'
json_says '(o["arch"], o["cost"], o["fanout"]) == ("arch", "exact", "level")'
json_says 'o["macs"] == o["computes"] == o["compute_cycles"] == 8'
json_says '[l["name"] for l in o["levels"]] == ["Memory", "Buffer"]'
json_says "$(figure Buffer A tile_words) == 2 and $(figure Buffer Z tile_words) == 4"
json_says "$(figure Memory A reads) == 4 and $(figure Memory B reads) == 4"
json_says "$(figure Memory Z updates) == 4 and $(figure Memory Z reads) == 0"
json_says "$(figure Buffer A reads) == 8 and $(figure Buffer A fills) == 4"
json_says "$(figure Buffer Z updates) == 8 and $(figure Buffer Z reads) == 4"
json_says '(o["cycles"], o["limiting_level"]) == (12, "Memory")'
json_says 'abs(o["utilization"] - 8 / 12) < 1e-12'
json_says 'abs(o["edp"] - o["energy_pj"] * o["cycles"]) < 1e-6 * o["edp"]'
json_says 'abs(sum(l["energy_pj"] for l in o["levels"]) +
  o["compute_energy_pj"] + o["network_energy_pj"] - o["energy_pj"]) < 1e-6'

checking "the table"
good; code_is 0; err_is_empty
out_has "M2 N2 K2, 8 multiply-accumulates"; out_has "Memory limits"
out_has "^  Buffer  *A  *2  *8  *4  *0 "; out_has "<- limits"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
cp "$work/out" "$work/table"
good -v; code_is 0; out_has "words used"; out_has "partition"
good --color always; out_has "$(printf '\033\\[1m')"
good; cmp -s "$work/out" "$work/table" || fault "two runs differ"

checking "without energy"
good --no-energy; code_is 0; out_lacks "energy"; out_lacks " pJ"
good --no-energy --json; json_says 'o["energy_pj"] is None and o["cycles"] == 12'

checking "energies are needed where a tensor is kept"
cat >"$work/ert.yaml" <<'END'
ERT:
  tables:
    - {name: system.MAC, actions: [{name: compute, energy: 1}]}
    - {name: system.Memory, actions: [{name: read, energy: 9}, {name: write, energy: 9}]}
END
good --ert "$work/ert.yaml"
one_line_error 3 "arch.yaml:9:.*no table for Buffer .*ert.yaml:3, and A is kept there.*vector-access-energy.*--no-energy"
good --ert "$work/ert.yaml" --no-energy --json; code_is 0
json_says 'o["cycles"] == 12'
echo "  - {target: Buffer, type: bypass, bypass: [A, B, Z]}" |
  cat "$work/good.yaml" - >"$work/past.yaml"
with --mapping "$work/past.yaml" --ert "$work/ert.yaml" --json; code_is 0
json_says 'o["levels"][1]["tensors"] == [] and o["levels"][1]["energy_pj"] == 0'
json_says 'o["levels"][1]["vector_energy"] is None'
json_says 'o["energy_pj"] == o["compute_energy_pj"] + o["levels"][0]["energy_pj"] > 8'
echo "    - {name: system.Buffer, actions: [{name: read, energy: 1}, {name: fill, energy: 1}]}" |
  cat "$work/ert.yaml" - >"$work/part.yaml"
good --ert "$work/part.yaml"
one_line_error 3 "arch.yaml:9:.*the table of Buffer has no energy of 'update', and Z is kept there; add that in .*part.yaml:5"
sed 's/A, B, Z/Z/' "$work/past.yaml" >"$work/sums.yaml"
with --mapping "$work/sums.yaml" --ert "$work/part.yaml" --json; code_is 0
with --mapping "$work/past.yaml" --mapping "$work/good.yaml" --ert "$work/ert.yaml"
one_line_error 3 "no table for Buffer"

checking "two nests are compared"
good --mapping "$work/poor.yaml" --json; code_is 0; out_is_json
json_says 'o["schema"] == "calm/eval-difference/1"'
json_says '[e["mapping"][-9:] for e in o["evaluations"]] == ["good.yaml", "poor.yaml"]'
json_says 'o["difference"]["cycles"] == o["evaluations"][1]["cycles"] - 12 > 0'
json_says 'abs(sum(c["energy_pj"] for c in o["difference"]["changes"]) -
  o["difference"]["energy_pj"]) < 1e-6'
good --mapping "$work/poor.yaml"; code_is 0; out_has "second less first"
good --mapping "$work/good.yaml"; code_is 0; out_has "the same everywhere"

checking "links of a mesh"
links() {
  run eval --arch examples/simba-like.yaml --mapping examples/mapping.yaml \
    --problem examples/resnet50-3x3-56.yaml "$@"
}
links --json; code_is 0; out_lacks "link_words"; out_lacks '"link_cycles"'
# Four parts of C along X and four of K along Y: behind the first link are three
# fourths of Weights and Inputs, and of Outputs, which are summed over C, all.
links --links GlobalBuffer=2 --json; code_is 0; err_is_empty
json_says '[n["link_words_per_cycle"] for n in o["networks"]] == [
  None, 2, None, None, None, None]'
json_says '[n["busiest_link_words"] for n in o["networks"]][1] == (lambda w:
  max((w["Weights"] + w["Inputs"]) * 3 // 4, w["Outputs"]))(
    {t["name"]: t["ingresses"] for t in o["networks"][1]["tensors"]})'
json_says 'o["link_cycles"] == o["networks"][1]["link_cycles"] == (
  o["networks"][1]["busiest_link_words"] + 1) // 2 > o["cycles"]'
links --links 4 --links GlobalBuffer=0.5 --json; code_is 0
json_says '[n["link_words_per_cycle"] for n in o["networks"]] == [
  4, 0.5, 4, 4, 4, 4]'
links --links GlobalBuffer=2
code_is 0; out_has "at least: .* words over the busiest link below GlobalBuffer"
good --links 1; code_is 0; out_has "no link of a mesh carries anything"
links --links Cache=1; one_line_error 2 "simba-like has no level 'Cache'"
links --links 0; one_line_error 2 "'0' has no number of words above 0"
links --links Cache=; one_line_error 2 "'Cache=' has no number"

checking "a nest that does not fit is a result"
sed 's/entries: 8/entries: 7/' "$work/arch.yaml" >"$work/tight.yaml"
run eval --arch "$work/tight.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/good.yaml" --json
code_is 1; out_is_json; err_has "good.yaml: not valid: .*Buffer"
json_says 'not o["valid"] and o["fault"] == "capacity" and "Buffer" in o["reason"]'
json_says 'o["cycles"] is None and o["levels"] == []'
run eval --arch "$work/tight.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/good.yaml"
code_is 1; out_has "not valid: "; out_lacks "energy"
sed 's/M=2 N=2/M=2/' "$work/good.yaml" >"$work/short.yaml"
with --mapping "$work/short.yaml" --json; code_is 1
json_says 'o["fault"] == "factors" and "N" in o["reason"]'
good --mapping "$work/short.yaml" --json; code_is 1; out_is_json
json_says 'o["difference"] is None and o["evaluations"][0]["valid"]'
good --mapping "$work/short.yaml"; code_is 1; out_has "second:"

checking "a constraint that is broken"
cat >"$work/rules.yaml" <<'END'
mapspace_constraints:
  targets:
    - {target: Buffer, type: temporal, factors: M=1}
END
good --constraints "$work/rules.yaml" --json; code_is 1
json_says 'not o["valid"] and o["fault"] == "constraint" and "Buffer" in o["reason"]'
with --mapping "$work/poor.yaml" --constraints "$work/rules.yaml"; code_is 0

checking "parts of an architecture, and all in one file"
cat "$work/arch.yaml" "$work/problem.yaml" "$work/good.yaml" >"$work/all.yaml"
run eval --arch "$work/all.yaml" --json; code_is 0
json_says 'o["cycles"] == 12 and o["mapping"][-8:] == "all.yaml"'
run eval --arch "$work/arch.yaml" --arch "$work/problem.yaml" \
  --arch "$work/good.yaml"
code_is 0; out_has "multiply-accumulates"
run eval --arch "$work/arch.yaml" --arch "$work/arch.yaml"
one_line_error 3 "arch.yaml:[0-9]"

checking "the nest is written, and read back"
good -o "$work/again.yaml" --emit "nest=$work/nest.txt" --json; code_is 0
cp "$work/out" "$work/first"
grep -q "for K in 2" "$work/nest.txt" || fault "no loop in the nest"
with --mapping "$work/again.yaml" --json; code_is 0
python3 - "$work/first" "$work/out" <<'END' || fault "another nest"
import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:])
a["mapping"] = b["mapping"]
assert a == b
END
with --mapping "$work/again.yaml" --emit "mapping=$work/third.yaml"; code_is 0
cmp -s "$work/again.yaml" "$work/third.yaml" || fault "not written the same"

checking "a wrong command line"
run eval; one_line_error 2 "no architecture is given (--arch FILE)"
run eval --arch "$work/arch.yaml"
one_line_error 2 "no problem is given (--problem FILE)"
run eval --arch "$work/all.yaml" extra; one_line_error 2 "one operand too many"
with; one_line_error 2 "no mapping is given (--mapping FILE)"
good --mapping a --mapping b; one_line_error 2 "mapping: no more than 2 files"
good --mapping "$work/poor.yaml" -o "$work/x.yaml"
one_line_error 2 "which of the two mappings"
good -o "$work/arch.yaml"; one_line_error 2 "is an input, and is not overwritten"
good --constraints "$work/rules.yaml" -o "$work/rules.yaml"
one_line_error 2 "is an input, and is not overwritten"
good --cost best; one_line_error 2 "cost: 'best' is not one of exact|timeloop"
good --emit csv="$work/x"; one_line_error 2 "'csv' is not a kind of output of calm eval; there is mapping, nest, html$"
good --objective edp; one_line_error 2 "objective is no option of calm eval; it belongs to map"

checking "files that are none"
run eval --arch "$work/nothing.yaml"; one_line_error 3 "nothing.yaml"
good --ert "$work/nothing.yaml"; one_line_error 3 "nothing.yaml"
good --constraints "$work/good.yaml"
one_line_error 3 "good.yaml:1:1: no section of constraints"
sed 's/datawidth/data_width/' "$work/arch.yaml" >"$work/odd.yaml"
run eval --arch "$work/odd.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/good.yaml"
one_line_error 3 "odd.yaml:14:.*data_width.*datawidth"
sed 's/K=2/L=2/' "$work/good.yaml" >"$work/odd.yaml"
with --mapping "$work/odd.yaml"; one_line_error 3 "odd.yaml:2:"

# in_readme ARGUMENTS...: does the README show what this prints?
in_readme() {
  cd examples
  run eval --arch simba-like.yaml --problem resnet50-3x3-56.yaml "$@"
  cd ..
  code_is 0; err_is_empty
  sed 's/^/    /; s/ *$//' "$work/out" >"$work/shown"
  python3 - "$work/shown" README.md <<'END' || fault "the README shows another"
import sys
shown, page = (open(path).read() for path in sys.argv[1:])
sys.exit(shown not in page)
END
}

checking "the examples of the README"
in_readme --mapping mapping.yaml
in_readme --mapping mapping.yaml --mapping mapping-weights.yaml
finish
