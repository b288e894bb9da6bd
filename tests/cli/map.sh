#!/bin/sh
# calm map: loop nests for layers, on a machine so small that its optima can be
# seen.
. tests/cli/lib

write_small_machine "$work/arch.yaml"
cat >"$work/small.yaml" <<'END'
problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 2, N: 2, K: 2}}
END
cat >"$work/other.yaml" <<'END'
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
tensor u f32[1,8,8,4]
tensor o f32[1,8,8,4] output
op a/1 conv2d ( x w - ) -> ( y ) stride=1,1 pad=same
op a:1 conv2d ( y v - ) -> ( z ) stride=1,1 pad=same
op c conv2d ( z v - ) -> ( u ) stride=1,1 pad=same
op d lstm ( u ) -> ( o )
END

map() { run map --arch "$work/arch.yaml" "$@"; }
small() { map --problem "$work/small.yaml" "$@"; }

checking "the optimum of a layer, and the evaluation of its nest"
small -o "$work/nest.yaml" --json; code_is 0; err_is_empty; out_is_json
json_says 'o["schema"] == "calm/map/1" and len(o["layers"]) == 1'
json_says 'o["layers"][0]["status"] == "optimal"'
# Everything is read once: 12 words over a bandwidth of 1.
json_says 'o["layers"][0]["cycles"] == 12'
value=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["layers"][0]["edp"])' "$work/out")
run eval --arch "$work/arch.yaml" --problem "$work/small.yaml" \
  --mapping "$work/nest.yaml" --json
code_is 0; json_says "o['edp'] == $value and o['valid']"

checking "the table"
small; code_is 0; err_is_empty; out_has "optimal"; out_has "for "
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
small --explain; code_is 0; out_has "optimal"

checking "a network: equal layers once, the same bytes whatever the jobs"
map "$work/net.cg" --json --jobs 1; code_is 0; out_is_json
cp "$work/out" "$work/first"
json_says '[(l["name"], l["count"]) for l in o["layers"]] == [("a/1", 1), ("a:1", 2)]'
json_says 'o["total"]["cycles"] == o["layers"][0]["cycles"] + 2 * o["layers"][1]["cycles"]'
map "$work/net.cg" --json --jobs 2; code_is 0
cmp -s "$work/out" "$work/first" || fault "two processes differ from one"
map "$work/net.cg" --json; code_is 0
cmp -s "$work/out" "$work/first" || fault "all processors differ from one"

checking "a file per layer, with names that are safe and differ"
map "$work/net.cg" -o "$work/nests/"; code_is 0
[ "$(ls "$work/nests" | tr '\n' ' ')" = "a_1%0.problem.yaml a_1%0.yaml \
a_1%1.problem.yaml a_1%1.yaml " ] ||
  fault "other files: $(ls "$work/nests")"
grep -q "^mapping:" "$work/nests/a_1%1.yaml" || fault "no mapping in it"
map "$work/net.cg" --json
energy=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["layers"][1]["energy_pj"])' "$work/out")
json_says 'o["layers"][0]["coefficients"] == {"Wstride": 1, "Hstride": 1, "Wdilation": 1, "Hdilation": 1}'
run eval --arch "$work/arch.yaml" --problem "$work/nests/a_1%1.problem.yaml" \
  --mapping "$work/nests/a_1%1.yaml" --json
code_is 0; json_says "o['energy_pj'] == $energy"
sed 's/^op c /op a:1.problem /; s/z v - ) -> ( u ) stride=1,1/z v - ) -> ( u ) stride=2,2/
s/u f32.1,8,8,4/u f32[1,4,4,4/' "$work/net.cg" >"$work/named.cg"
map "$work/named.cg" -o "$work/named/"; code_is 0
[ "$(ls "$work/named" | wc -l)" = 6 ] || fault "a problem is a nest's: $(ls "$work/named")"
map --problem "$work/small.yaml" --problem "$work/other.yaml" -o "$work/nests"
code_is 0; [ -s "$work/nests/other.yaml" ] || fault "a folder without a slash"
map "$work/net.cg" -o "$work/one.yaml"
one_line_error 2 "one.yaml: several layers do not go into one file"
map "$work/net.cg" --emit "nest=$work/one.txt"
one_line_error 2 "one.txt: several layers do not go into one file"
map "$work/net.cg" --emit "csv=$work/layers.csv"; code_is 0
[ "$(wc -l <"$work/layers.csv")" = 3 ] || fault "no line for each layer"
map "$work/net.cg" --emit "csv=$work/layers.csv" --objective pareto --json
code_is 0; points=$(python3 -c 'import json, sys
print(sum(len(l["front"]) for l in json.load(open(sys.argv[1]))["layers"]))' "$work/out")
[ "$(wc -l <"$work/layers.csv")" = $((points + 1)) ] || fault "no line for each nest"
map "$work/net.cg" --objective pareto; code_is 0
out_has "have the fastest nest of each layer"; out_has "utilized  front    proof"
cp "$work/small.yaml" "$work/nests/x.yaml"
map --problem "$work/nests/x.yaml" -o "$work/nests/"; code_is 2
err_has "x.yaml: is an input, and is not overwritten"
cmp -s "$work/small.yaml" "$work/nests/x.yaml" || fault "an input was overwritten"

checking "a journal goes on where it ended"
map "$work/net.cg" --json --journal "$work/journal"; code_is 0
cmp -s "$work/out" "$work/first" || fault "a journal changes the answer"
[ "$(wc -l <"$work/journal")" = 2 ] || fault "not a line per layer"
head -c 700 "$work/journal" >"$work/cut"
map "$work/net.cg" --json --journal "$work/cut" -v; code_is 0
cmp -s "$work/out" "$work/first" || fault "a journal that was cut changes the answer"
map "$work/net.cg" --json --journal "$work/cut" -v
err_has "cut: 2 of 2 layers are there already"
cmp -s "$work/out" "$work/first" || fault "what a journal has is another answer"
map "$work/net.cg" --journal "$work/small.yaml"
one_line_error 3 "small.yaml: is no journal of calm map"
small --journal "$work/small.yaml"; one_line_error 2 "is an input"
small --journal "$work/j" -o "$work/j"; one_line_error 2 "j: is the journal"
rm -f "$work/nests/other.yaml"; mkdir "$work/nests/other.yaml"
map --problem "$work/small.yaml" --problem "$work/other.yaml" -o "$work/nests"
code_is 3; err_has "other.yaml: cannot write"; out_has "small"
[ -s "$work/nests/small.yaml" ] || fault "the other nest is not written"

checking "every mapper that is there finds a nest"
for mapper in random hybrid; do
  small --mapper $mapper --json; code_is 0
  json_says "o['mapper'] == '$mapper' and o['layers'][0]['status'] == 'feasible'"
  json_says "o['layers'][0]['edp'] >= $value"
done
small --mapper random --json; cp "$work/out" "$work/first"
small --mapper random --json
cmp -s "$work/out" "$work/first" || fault "two runs of a seed differ"
CALM_HIGHS="$work/nothing.so" small --mapper cosa --journal "$work/none"
code_is 5; err_has "small: .*HiGHS"
[ ! -s "$work/none" ] || fault "a failure is kept"
CALM_HIGHS="$work/nothing.so" map "$work/net.cg" --mapper cosa --json
code_is 5; err_has "a/1 and 1 more: .*HiGHS"
[ "$(wc -l <"$work/err")" = 1 ] || fault "not one line on stderr"
json_says '[l["status"] for l in o["layers"]] == ["failed"] * 2'

checking "weights are fitted to a machine, and belong to it"
sed 's/entries: 8/entries: 4096/' "$work/arch.yaml" >"$work/roomy.yaml"
run map --calibrate --arch "$work/roomy.yaml" -o "$work/weights.json"
code_is 0; out_is_empty; err_is_empty
run map --calibrate --arch "$work/roomy.yaml"; code_is 0; out_is_json
cmp -s "$work/out" "$work/weights.json" || fault "another time, other weights"
json_says 'o["arch"] == "roomy" and o["compute"] >= 0 and o["traffic"] >= 0'
small --mapper cosa --cosa-weights "$work/weights.json"
one_line_error 3 "weights.json: these weights were fitted to another architecture"
run map --calibrate --arch "$work/roomy.yaml" -o "$work/roomy.yaml"
one_line_error 2 "is an input, and is not overwritten"

checking "progress: a line per layer with -v, none when nobody watches"
map "$work/net.cg" -v; code_is 0; err_has "1/2 "
err_has "2/2 .*value [0-9.e+]* pJ x cycles, bound "
map "$work/net.cg"; err_is_empty

checking "an interrupt gives what there is, in one process and in several"
endless="--mapper random --valid 1000000000000 --time-limit 0 --json"
for jobs in 1 2; do
  # shellcheck disable=SC2086
  interrupt 0.3 "$CALM" map --arch "$work/arch.yaml" "$work/net.cg" $endless \
    --jobs $jobs --journal "$work/cut-$jobs"
  out_is_json; [ ! -s "$work/cut-$jobs" ] || fault "half an answer is kept"
  json_says 'o["layers"][0]["status"] == "feasible"'
done
code_is 0
json_says '[l["status"] for l in o["layers"]] == ["feasible"] * 2'

checking "constraints are observed, and Timeloop's counts"
cat >"$work/rules.yaml" <<'END'
mapspace_constraints:
  targets:
    - {target: Buffer, type: bypass, bypass: [A]}
END
small --constraints "$work/rules.yaml" -o "$work/nest.yaml"; code_is 0
run eval --arch "$work/arch.yaml" --problem "$work/small.yaml" \
  --mapping "$work/nest.yaml" --constraints "$work/rules.yaml"; code_is 0
small --cost timeloop --json; code_is 0
json_says 'o["layers"][0]["status"] == "feasible" and "exact" in o["layers"][0]["reason"]'

checking "no mapping fits"
sed 's/entries: 8/entries: 2/' "$work/arch.yaml" >"$work/tight.yaml"
run map --arch "$work/tight.yaml" --problem "$work/small.yaml" --json
code_is 1; out_is_json; err_has "small: no mapping fits"
json_says 'o["layers"][0]["status"] == "infeasible" and o["layers"][0]["reason"]'

checking "what is wrong with a file for every layer is told once, before any"
sed 's/Buffer/Bufer/' "$work/rules.yaml" >"$work/typo.yaml"
map "$work/net.cg" --constraints "$work/typo.yaml"
one_line_error 3 "typo.yaml:3:.*Bufer.*did you mean 'Buffer'"

checking "options that the mapper does not read are warned of, others not"
small --pad 3 --valid 2 --samples 9 --victory 2; code_is 0
[ "$(grep -c "warning: --.*the mapper exact does not read it" "$work/err")" = 4 ] ||
  fault "not four warnings"
small --mapper random --valid 2 --samples 9; err_is_empty
small --mapper hybrid --valid 2 --samples 9 --victory 2; err_is_empty

checking "one layer that fails does not stop the others; the worst one decides"
echo "problem: {shape: cnn-layer, R: 1, S: 1, P: 2, Q: 2, C: 2, K: 2, N: 1}" \
  >"$work/conv.yaml"
map --problem "$work/small.yaml" --problem "$work/conv.yaml" \
  --constraints "$work/rules.yaml" --json
code_is 3; err_has "conv: .*rules.yaml:3"
json_says '[l["status"] for l in o["layers"]] == ["optimal", "failed"]'

checking "a wrong command line"
run map; one_line_error 2 "no architecture is given (--arch FILE)"
map; one_line_error 2 "no layer is given: there is no model, no --problem FILE"
map --problem "$work/small.yaml" "$work/net.cg"
one_line_error 2 "either a model or --problem"
map "$work/net.cg" more; one_line_error 2 "one operand too many"
small --objective balance; one_line_error 2 "exact has energy, delay, edp, delay-energy and pareto"
small --mapper random --valid 0; one_line_error 2 "valid 0"
small --objective pareto --cost timeloop; one_line_error 2 "cost exact"
small --objective pareto --imperfect; one_line_error 2 "imperfect has no --objective pareto"
small -o "$work/arch.yaml"; one_line_error 2 "is an input, and is not overwritten"

small --mapper cosa --dump-model "$work/arch.yaml"
one_line_error 2 "is an input, and is not overwritten"
small --mapper cosa --dump-model "$work/x" -o "$work/x"; one_line_error 2 "another output"
map "$work/net.cg" --mapper cosa --dump-model "$work/x"; one_line_error 2 "of one layer"

checking "remainders"
cat >"$work/odd.yaml" <<'END'
mapspace_constraints:
  - {target: Buffer, type: temporal, factors: M=4 K=3}
END
odd() { map --problem "$work/other.yaml" --constraints "$work/odd.yaml" --json "$@"; }
odd; code_is 1; json_says '[l["status"] for l in o["layers"]] == ["infeasible"]'
odd --imperfect; code_is 4
json_says '[l["status"] for l in o["layers"]] == ["limit"]'
map --problem "$work/other.yaml" --imperfect; out_has "more time finds no more"

checking "what objectives need"
small --no-energy; one_line_error 3 "objective edp needs energies"
small --no-energy --objective delay --json; code_is 0
json_says 'o["layers"][0]["cycles"] == 12 and o["layers"][0]["energy_pj"] is None'

checking "files that are none"
map "$work/small.yaml"; one_line_error 2 "small.yaml: is no model; .*--problem"
map "$work/journal"; one_line_error 3 "journal: .*neither a .tflite file"
map "$work/nothing.onnx"; one_line_error 3 "nothing.onnx"
map --problem "$work/net.cg"; one_line_error 3 "net.cg"
finish
