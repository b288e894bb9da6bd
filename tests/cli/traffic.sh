#!/bin/sh
# Off-chip traffic in plan and inspect: the worked example of docs/traffic.md, the
# networks of SERENITY, options that do not go together, and every form of output.
. tests/cli/lib

fork=$work/fork.cg
sed -n 's/^    \(calm-graph 1\|graph fork\|tensor .*\|op .* opaque .*\)$/\1/p' \
  docs/traffic.md >"$fork"

# Of each row: totals are what its steps and tensors add up to.
row_holds='all(
  r["read_bytes"] == r["spill_read_bytes"] and
  r["write_bytes"] == r["spill_write_bytes"] and
  all(sum(s[k] for s in r["steps"]) == r[k] for k in kinds) and
  all(sum(t[k] for t in r["tensors"]) == r[k] for k in kinds[:4]) and
  [s["op"] for s in r["steps"] if s["streams"]] == r["streams"]
  for kinds in [("spill_read_bytes", "spill_write_bytes", "input_bytes",
                 "output_bytes", "weight_bytes")]
  for r in o["traffic"])'

# spills_are "SIZE ORDER READ WRITTEN" ...: of the rows on stdout, in this order
spills_are() {
  for row in "$@"; do echo "$row"; done >"$work/rows"
  python3 -c 'import json, sys
found = [(str(r["onchip_bytes"]), r["order"], str(r["spill_read_bytes"]),
          str(r["spill_write_bytes"])) for r in json.load(open(sys.argv[1]))["traffic"]]
wanted = [tuple(line.split()) for line in open(sys.argv[2])]
if found != wanted:
    sys.exit(f"  found {found}")' "$work/out" "$work/rows" || fault "other spills"
}

checking "the worked example of docs/traffic.md"
run inspect "$fork" --onchip 12,10,8,6 --json
code_is 0; out_is_json; json_says "$row_holds"
spills_are "12 file 0 0" "10 file 4 4" "8 file 8 8" "6 file 10 10"
run plan "$fork" --onchip 12,10,8,6 --json
code_is 0; json_says "$row_holds"
spills_are "12 file 0 0" "12 plan 0 0" "10 file 4 4" "10 plan 0 0" \
  "8 file 8 8" "8 plan 6 2" "6 file 10 10" "6 plan 6 2"
json_says 'all(r["input_bytes"] == r["output_bytes"] == 4 for r in o["traffic"])'
json_says '[len(r["streams"]) for r in o["traffic"]] == [0] * 6 + [3, 3]'

checking "the order that moves least"
for size in 10 8 6; do
  run plan "$fork" --onchip $size --minimize traffic --json
  code_is 0; json_says "$row_holds"
  json_says 'o["order"]["method"] == "traffic" and o["order"]["status"] == "optimal"'
  json_says 'o["order"]["spill_bytes"] == o["order"]["spill_bound_bytes"] == 8 * ('$size' < 10)'
  json_says '[r["order"] for r in o["traffic"]] == ["file", "peak", "plan"]'
  json_says '10 == o["order"]["bound_bytes"] <= o["order"]["peak_bytes"]'
  json_says 'max(o["order"]["step_bytes"]) == o["order"]["peak_bytes"]'
  json_says 'o["order"]["peak_bytes"] <= o["layout"]["arena_bytes"]'
done
run plan "$fork" --onchip 8 --minimize traffic
code_is 0; out_has "no order spills less than 8 bytes (proved"
out_has "^  peak    1[02] bytes; no order needs less than 10$"

checking "SwiftNet: no spills where the peak fits, never more with the planned order"
for cell in a b c; do
  file=tests/graph/swiftnet_cell_$cell.cg
  run plan $file --memory serenity --onchip 32K,64K,128K,256K --json
  code_is 0; json_says "$row_holds"
  json_says 'all(r["spill_read_bytes"] + r["spill_write_bytes"] == 0
    for r in o["traffic"] if r["order"] == "plan"
    and o["order"]["peak_bytes"] <= r["onchip_bytes"])'
  json_says 'len({(r["input_bytes"], r["weight_bytes"], r["output_bytes"])
    for r in o["traffic"]}) == 1'
  cp "$work/out" "$work/plan"
  run inspect $file --memory serenity --onchip 32K,64K,128K,256K --json
  json_says '[r for r in json.load(open("'"$work/plan"'"))["traffic"]
    if r["order"] == "file"] == o["traffic"]'
done
run plan tests/graph/swiftnet_cell_a.cg --memory serenity --onchip 200704 --json
json_says 'o["traffic"][1]["read_bytes"] == o["traffic"][1]["write_bytes"] == 0'
json_says 'o["traffic"][1]["used_bytes"] == o["order"]["peak_bytes"] == 200704'
run plan tests/graph/swiftnet_cell_c.cg --memory serenity --onchip 32536
code_is 0; out_has "^ *plan  *none  *none  *none  *100.0 % less$"

checking "never more than the order of least peak, and the arena is that of the order"
for size in 32K 64K 128K; do
  run plan $graph --memory serenity --onchip $size --minimize traffic \
    --json -o "$work/least.cg"
  code_is 0; json_says "$row_holds"
  json_says 'o["order"]["spill_bytes"] <= sum(
    o["traffic"][1][k] for k in ("spill_read_bytes", "spill_write_bytes"))'
  json_says 'o["order"]["spill_bound_bytes"] <= o["order"]["spill_bytes"]'
  json_says 'o["order"]["bound_bytes"] == 200704'
  cp "$work/out" "$work/least.json"
  run plan "$work/least.cg" --memory serenity --order file --onchip $size --json
  json_says 'all(o["order"][k] == json.load(open("'"$work/least.json"'"))["order"][k]
    for k in ("sequence", "peak_bytes", "step_bytes"))'
  json_says 'o["traffic"][0]["read_bytes"] + o["traffic"][0]["write_bytes"] >=
    json.load(open("'"$work/least.json"'"))["order"]["spill_bytes"]'
  run check $graph "$work/least.json" --memory serenity
  code_is 0
done

checking "a written file moves what the plan said"
run plan $graph --onchip 64K,100K --json -o "$work/planned.cg"
cp "$work/out" "$work/plan.json"
run inspect "$work/planned.cg" --onchip 64K,100K --json
json_says '[(r["read_bytes"], r["write_bytes"]) for r in o["traffic"]] ==
  [(r["read_bytes"], r["write_bytes"])
   for r in json.load(open("'"$work/plan.json"'"))["traffic"][1::2]]'

checking "a rewritten graph beside the original in its own order"
run inspect examples/swiftnet.cg --memory serenity --onchip 192K --json
cp "$work/out" "$work/original"
run plan examples/swiftnet.cg --memory serenity --rewrite auto --onchip 192K --json
code_is 0; json_says "$row_holds"
json_says 'o["rewrite"]["applied"] > 0'
json_says 'json.load(open("'"$work/original"'"))["traffic"][0] == o["traffic"][0]'
json_says '[r["order"] for r in o["traffic"]] == ["file", "plan"]'
run plan examples/swiftnet.cg --memory serenity --rewrite auto --onchip 200704 --json
json_says 'o["traffic"][1]["read_bytes"] == o["traffic"][1]["write_bytes"] == 0'

run plan examples/swiftnet.cg --memory serenity --rewrite auto --onchip 128K \
  --minimize traffic --json
code_is 0; json_says "$row_holds"
json_says '[r["order"] for r in o["traffic"]] == ["file", "peak", "plan"]'
json_says 'o["order"]["spill_bytes"] <= o["traffic"][1]["read_bytes"] +
  o["traffic"][1]["write_bytes"] < o["traffic"][0]["read_bytes"] +
  o["traffic"][0]["write_bytes"]'

checking "views and parts of a network under the rules of a runtime"
for memory in plain serenity tflm tflm-default litert ort; do
  run plan examples/swiftnet.cg --memory $memory --onchip 100K,1M --json
  code_is 0; json_says "$row_holds"
  json_says 'o["traffic"][-1]["read_bytes"] == o["traffic"][-1]["write_bytes"] == 0'
done

cases=${CALM_CASES:-../shared/cases}/models
if [ -d "$cases" ]; then
  for net in swiftnet_vwwc19_uint8.tflite litert_rope.tflite \
    mlperf_ic_resnet8_int8.tflite onnx_light_shufflenet.onnx; do
    run plan "$cases/$net" --onchip 64K,16M --offchip none --json
    code_is 0; json_says "$row_holds"
    json_says 'o["traffic"][-1]["read_bytes"] == o["traffic"][-1]["write_bytes"] == 0'
  done
else
  echo "  skipped: four models of $cases"
fi

checking "a table of at most 100 columns, lists, CSV, and the same bytes each time"
run plan $graph --onchip 32K,1M --offchip inputs,outputs,weights
code_is 0; out_has "off-chip traffic in bytes, of whole tensors; the total includes inputs, outputs, weights"
out_has "operators need more than 32,768 by themselves"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
run plan $graph --onchip 32K,1M -v
out_has "^  what moves with 1,048,576 bytes on chip, order plan$"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
run inspect $graph --onchip 32K,1M -v; code_is 0
out_has "^  what moves with 32,768 bytes on chip, order file$"
run plan $graph --onchip 64K,128K --emit traffic="$work/first.csv" --json
cp "$work/out" "$work/first"
run plan $graph --onchip 64K,128K --emit traffic="$work/second.csv" --json
cmp -s "$work/out" "$work/first" || fault "two runs differ"
cmp -s "$work/first.csv" "$work/second.csv" || fault "two files differ"
python3 -c 'import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for r in json.load(open(sys.argv[2]))["traffic"]:
    steps = [s for s in rows if s["order"] == r["order"]
             and int(s["onchip_bytes"]) == r["onchip_bytes"]]
    assert len(steps) == 28, len(steps)
    for key in ("spill_read_bytes", "spill_write_bytes", "input_bytes",
                "output_bytes", "weight_bytes"):
        assert sum(int(s[key]) for s in steps) == r[key]
    assert sum(int(s["streams"]) for s in steps) == len(r["streams"])' \
  "$work/first.csv" "$work/first" || fault "CSV and JSON differ"
run inspect $graph --onchip 64K --emit traffic="$work/file.csv"
code_is 0
grep -c "^65536,file," "$work/file.csv" | grep -q "^28$" || fault "not every step"

checking "pages"
run plan $graph --onchip 64K --page-size 4K --json
code_is 0; json_says "$row_holds"
json_says 'all(r["model"] == "pages" and r["page_bytes"] == 4096
  and r["spill_read_bytes"] % 4096 == r["spill_write_bytes"] % 4096 == 0
  for r in o["traffic"])'

checking "what cannot be is said, with what would be right"
run plan $graph --minimize traffic
one_line_error 2 "minimize traffic is for one on-chip memory: add --onchip SIZE, such as --onchip 64K"
run plan $graph --minimize traffic --onchip 32K,64K
one_line_error 2 "give one size only as --onchip SIZE"
run plan $graph --minimize traffic --onchip 64K --order dp
one_line_error 2 "leave out --order dp"
run plan $graph --minimize traffic --onchip 64K --page-size 4K
one_line_error 2 "for whole tensors: leave out --page-size"
run plan $graph --minimize time
one_line_error 2 "'time' is not one of peak|traffic"
run plan $graph --onchip 64Q
one_line_error 2 "onchip: '64Q' is not a size such as 65536, 64K or 1M"
run inspect $graph --onchip 64K, 
one_line_error 2 "onchip: '' is not a size"
run plan $graph --onchip 64K --offchip input
one_line_error 2 "offchip: 'input' is not one of inputs, outputs, weights"
run inspect $graph --page-size x --onchip 64K
one_line_error 2 "page-size: 'x' is not a size"
run inspect $graph --minimize traffic --onchip 64K
one_line_error 2 "minimize is no option of calm inspect; it belongs to plan"
run plan $graph --emit traffic="$work/none.csv"
code_is 2; err_has "no traffic was counted: add --onchip SIZE"
[ ! -e "$work/none.csv" ] || fault "a file was written"
run inspect $graph --offchip inputs
code_is 0; err_has "offchip has no effect without --onchip"
finish
