#!/bin/sh
# calm check: plans of calm hold under every memory model; damaged ones do not.
. tests/cli/lib

checking "a plan written by calm plan holds"
for options in "--memory plain" "--memory serenity" \
  "--memory tflm-default --inplace elementwise" \
  "--memory plain --views identity --align 64 --round 4 --inputs whole-run" \
  "--memory plain --inplace add --outputs external --order file"; do
  run plan $graph $options --emit "plan=$work/p.json" \
    --emit "csv=$work/p.csv" --json
  code_is 0
  arena=$(python3 -c 'import json, sys
print(json.load(sys.stdin)["layout"]["arena_bytes"])' <"$work/out")
  run pack "$work/p.csv" --json; code_is 0
  json_says "o['arena_bytes'] <= $arena"
  run check $graph "$work/p.json"
  code_is 0; out_has "the plan holds: 0 faults, 0 warnings"; err_is_empty
  run check $graph "$work/p.json" --json
  code_is 0; out_is_json
  json_says 'o["schema"] == "calm/check/1" and o["valid"] is True'
  json_says 'o["faults"] == [] and o["arena_bytes"] > 0'
done

# damage "STATEMENT": change the plan object `o`, in Python
damage() {
  "$CALM" plan $graph --emit "plan=$work/p.json" >/dev/null 2>&1
  python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(o, open(sys.argv[1], "w"))' "$work/p.json" "$1"
  run check $graph "$work/p.json" --json
}

checking "what a plan says of lives and peak is compared with its order"
damage 'o["layout"]["buffers"][0]["first"] += 1
o["layout"]["buffers"][1]["last"] += 2
o["order"]["peak_bytes"] -= 3'
code_is 0
json_says 'o["valid"] and [w["kind"] for w in o["warnings"]] == ["claim"] * 3'
json_says '"peak" in o["warnings"][2]["text"]'

checking "an unnamed tensor has a row that pack accepts"
printf 'calm-graph 1\ngraph g\ntensor "" 5 input\nop u opaque ( "" ) -> ( )\n' \
  >"$work/unnamed.cg"
run plan "$work/unnamed.cg" --emit "csv=$work/unnamed.csv"; code_is 0
run pack "$work/unnamed.csv" --json
code_is 0; json_says 'o["arena_bytes"] == 5'

checking "damaged plans are found out"
damage 'b = o["layout"]["buffers"]
[x.update(offset=0) for x in b]'
code_is 1; out_is_json
json_says 'o["valid"] is False'
json_says 'any(f["kind"] == "overlap" and len(f["tensors"]) == 2 for f in o["faults"])'
damage 'o["layout"]["arena_bytes"] -= 1'
code_is 1; json_says 'any(f["kind"] == "outside" for f in o["faults"])'
damage 'del o["layout"]["buffers"][0]'
code_is 1; json_says 'any(f["kind"] == "unplaced" for f in o["faults"])'
damage 'o["order"]["sequence"].reverse()'
code_is 1; json_says 'any(f["kind"] == "order" for f in o["faults"])'
run check $graph "$work/p.json"
code_is 1; out_has "the plan does not hold"; out_has "^  fault"
damage 'o["layout"]["buffers"][0]["name"] = "nobody"'
code_is 3; err_has "p.json: layout.buffers\[0\].name: no tensor 'nobody'"
damage 'o["order"]["sequence"].pop()'
code_is 3; err_has "p.json: order.sequence: names .* operators, but"
damage 'o["layout"]["buffers"][0]["bytes"] += 1'
code_is 3; err_has "is the plan of another model?"

checking "a model without a plan says so"
run check $graph
code_is 0; out_has "carries no plan"
run check $graph --json
code_is 0; out_is_json; json_says 'o["valid"] is True and o["source"] is None'

checking "plans that models carry"
cases=${CALM_CASES:-../shared/cases}
if [ -d "$cases/models" ]; then
  run check "$cases/models/cfu_hps_74ops.tflite" -q
  code_is 0; out_has "237,552 bytes"; out_has "the plan holds"
  run check "$cases/models/cfu_hps_shared_tiled.tflite" -q
  code_is 0; out_has "231,760 bytes"
  finish
fi
echo "  skipped: no cases at $cases"
[ "$failures" = 0 ] && exit 77
finish
