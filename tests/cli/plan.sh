#!/bin/sh
# calm plan: the known optimum, budgets, and the same bytes each time.
. tests/cli/lib

checking "the optimum of SwiftNet's cell A, elided and copied"
run plan $graph --memory serenity --json
code_is 0; out_is_json
json_says 'o["schema"] == "calm/plan/1"'
json_says 'o["order"]["peak_bytes"] == o["layout"]["arena_bytes"] == 200704'
json_says 'o["order"]["status"] == o["layout"]["status"] == "optimal"'
json_says 'len(o["order"]["sequence"]) == o["graph"]["ops"]'
run plan $graph --json
json_says 'o["order"]["peak_bytes"] == o["order"]["bound_bytes"] == 275968'
json_says 'o["baseline"]["peak_bytes"] >= o["order"]["peak_bytes"]'
json_says 'max(o["order"]["step_bytes"]) == o["order"]["peak_bytes"]'

checking "buffers that live at one step do not overlap"
json_says 'not [1 for a in o["layout"]["buffers"] for b in o["layout"]["buffers"]
  if a["name"] < b["name"] and a["first"] <= b["last"] and b["first"] <= a["last"]
  and a["offset"] < b["offset"] + b["bytes"]
  and b["offset"] < a["offset"] + a["bytes"]]'

checking "the table: figures, picture, at most 100 columns"
run plan $graph
code_is 0; out_has "275,968"; out_has "optimal"; out_has "^ *0 +---"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
run plan $graph -v
out_has "live bytes"; out_has "^  tensor"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"

checking "a budget that is met, and one that cannot be"
run plan $graph --budget 275968 --json
code_is 0; err_is_empty; json_says 'o["within_budget"] is True'
run plan $graph --budget 269K
code_is 1; out_has "missed by 512; proved"; err_has "does not fit into the budget"
run plan $graph --budget 1 --json
code_is 1; out_is_json; json_says 'o["within_budget"] is False'

checking "the same bytes each time, and seconds only when asked for"
for options in "" "--json" "-v" "--order dp --json" "--order greedy --layout greedy"; do
  run plan $graph $options; cp "$work/out" "$work/first"
  run plan $graph $options
  cmp -s "$work/out" "$work/first" || fault "two runs differ: $options"
done
run plan $graph --json; out_lacks seconds
run plan $graph --json --timing; out_has '"seconds"'
mkdir "$work/elsewhere"
cp $graph "$work/elsewhere"
run plan $graph --json; cp "$work/out" "$work/first"
run plan "$work/elsewhere/$(basename $graph)" --json
cmp -s "$work/out" "$work/first" || fault "the directory shows in the JSON"

checking "a placement is by the method that was asked for"
for method in size greedy; do
  run plan tests/graph/swiftnet_cell_b.cg --memory serenity --layout $method \
    --emit csv="$work/placed.csv" --json
  bytes=$(sed -n 's/.*"arena_bytes": \([0-9]*\)[^0-9]*/\1/p' "$work/out" | tail -1)
  sed 's/,[^,]*$//' "$work/placed.csv" >"$work/bare.csv"
  run pack "$work/bare.csv" --layout $method --json
  json_says 'o["arena_bytes"] == '"$bytes"
done

checking "counts on request"
run plan $graph --memory serenity --order dp --count --no-dp-budget --json
code_is 0
json_says 'o["order"]["downsets"] == 1345 and o["order"]["orders"] == 2522126120'
finish
