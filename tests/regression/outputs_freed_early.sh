#!/bin/sh
# Outputs of the network that are ready early were overwritten before its end:
# tensorflow/tflite-micro #2764; so were outputs that are read again inside, and
# in an estimate their last use replaced the end: nliaudat/esphome_ai_component
# PR 123.
. tests/cli/lib

cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph states
tensor x 8 input
tensor through 5 input output
tensor state1 16 output         # ready first, read again later
tensor state2 16 output         # ready early, read by nobody
tensor view 16 output           # another shape of h
tensor h 16
tensor a 16
tensor b 16
tensor ab 32 output             # a and b where they are, if elided
tensor big 200
tensor r 16
tensor last 4 output
op s1 opaque ( x ) -> ( state1 )
op s2 opaque ( x through ) -> ( state2 )
op make opaque ( x ) -> ( h )
op look reshape ( h ) -> ( view )
op left opaque ( x ) -> ( a )
op right opaque ( x ) -> ( b )
op join concat ( a b ) -> ( ab )
op grow opaque ( state1 h ) -> ( big )
op over relu ( state1 ) -> ( r )
op end opaque ( big r ) -> ( last )
TEXT

early="b for b in o['layout']['buffers'] if b['name'] in \
       ('through', 'state1', 'state2', 'view', 'ab', 'last')"
for model in "--memory plain" "--memory serenity" \
  "--memory tflm-default --inplace elementwise" \
  "--memory serenity --inplace elementwise --inputs whole-run"; do
  checking "outputs stay to the end: $model"
  for order in file level dfs greedy dp exact; do
    run_json plan "$work/net.cg" $model --order $order
  done
  # what is there in the last step is at least all outputs
  all_say "all(b['last'] == 9 for b in [$early])" \
    "o['order']['step_bytes'][-1] >= 5 + 16 + 16 + 16 + 32 + 4"
done

checking "what an output is made of stays as well"
run_json plan "$work/net.cg" --memory serenity
all_say "{b['name'] for b in o['layout']['buffers'] if b['last'] == 9} >= \
         {'h', 'a', 'b', 'through', 'state1', 'state2', 'last'}"

checking "a plan that frees an output early does not hold"
run plan "$work/net.cg" --order file --emit "plan=$work/p.json"; code_is 0
python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
at = {b["name"]: b["offset"] for b in o["layout"]["buffers"]}
for b in o["layout"]["buffers"]:
    if b["name"] == "last": b["offset"] = at["state2"]
json.dump(o, open(sys.argv[1], "w"))' "$work/p.json"
run check "$work/net.cg" "$work/p.json"; code_is 1; out_has "fault .*state2"
finish
