#!/bin/sh
# A greedy placement stood as if nothing better existed, without a bound beside
# it: tensorflow/tflite-micro greedy_memory_planner_test.cc, TestGreedyMedium
# (90 bytes where 80 do), and pytorch/executorch PR 22508.
. tests/cli/lib

cat >"$work/medium.csv" <<'TEXT'
id,lower,upper,size
a,0,2,10
b,1,3,20
c,2,4,30
d,3,5,40
e,0,2,50
TEXT

checking "five buffers"
run_json pack "$work/medium.csv" --layout size
all_say "o['arena_bytes'] == 90" "o['status'] == 'feasible'" \
  "o['bound_bytes'] == 80"
run_json pack "$work/medium.csv" --layout exact
all_say "o['arena_bytes'] == o['bound_bytes'] == 80" "o['status'] == 'optimal'"

checking "optimal means that the bound is met, under every method"
awk -v dir="$work" 'BEGIN {
  srand(3)
  for (i = 1; i <= 12; i++) {
    file = dir "/random" i ".csv"
    print "id,lower,upper,size" >file
    for (k = 0; k < 9; k++) {
      low = int(rand() * 8)
      print k "," low "," low + 1 + int(rand() * 5) "," 1 + int(rand() * 20) \
        >file
    }
    close(file)
  }
}'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  for method in size greedy exact "exact --tick-limit 1"; do
    run_json pack "$work/random$i.csv" --layout $method
  done
done
cp "$work/kept" "$work/all"
all_say "o['bound_bytes'] <= o['arena_bytes']" \
  "(o['status'] == 'optimal') == (o['bound_bytes'] == o['arena_bytes'])"
python3 - "$work/all" <<'PYTHON' || fault "a method is above another one"
import json, sys
text, found = open(sys.argv[1]).read().strip(), {}
while text:
    o, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    found.setdefault(o["file"], []).append((o["arena_bytes"], o["bound_bytes"]))
for file, ((size, _), (greedy, _), (exact, best), (cut, bound)) in \
        found.items():
    if not bound <= best == exact <= greedy <= size or not exact <= cut:
        sys.exit(f"  {file}: {found[file]}")
PYTHON

checking "the table says so as well"
run pack "$work/medium.csv" --layout size; code_is 0
out_has "feasible: 90 bytes, at least 80 are proved"
finish
