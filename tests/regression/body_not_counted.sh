#!/bin/sh
# Memory of the graphs that an operator runs was forgotten, or what the operator
# uses was given up where it starts: tensorflow/tflite-micro PR 3698
# (CALL_ONCE), onnxsim/onnxsim PR 1094 (If, Loop, Scan),
# tile-ai/tilelang-ascend #1765, tenstorrent/tt-mlir #7785.
. tests/cli/lib

# inner needs 560, and outer 8 beside it; x, held and y live through the run
for kind in while if call call_once opaque; do
  checking "the body of $kind counts beside what its caller uses"
  cat >"$work/net.cg" <<TEXT
calm-graph 1
graph main
tensor x 100 input
tensor held 30
tensor y 40
tensor z 1 output
op make opaque ( x ) -> ( held )
op run $kind ( x ) -> ( y ) body=outer
op join opaque ( held y ) -> ( z )
graph outer
tensor a 8
op first opaque ( ) -> ( a )
op second opaque ( a ) -> ( ) body=inner
graph inner
tensor b 500
tensor c 60 output
op one opaque ( ) -> ( b )
op two opaque ( b ) -> ( c )
TEXT
  run_json plan "$work/net.cg" --order file
  all_say "o['order']['peak_bytes'] == 100 + 30 + 40 + 568" \
    "{b['name']: (b['first'], b['last']) for b in o['layout']['buffers']} == \
     {'x': (0, 1), 'held': (0, 2), 'y': (1, 2), 'z': (2, 2)}"
  run_json plan "$work/net.cg" --order dp
  run_json plan "$work/net.cg" --order exact
  all_say "o['order']['peak_bytes'] == 100 + 40 + 568" \
    "o['layout']['arena_bytes'] == o['order']['peak_bytes']" \
    "[w['bytes'] for w in o['layout']['workspaces']] == [568]"
done

checking "nothing of the caller may lie in the bytes of a running body"
run plan "$work/net.cg" --emit "plan=$work/p.json"; code_is 0
run check "$work/net.cg" "$work/p.json"; code_is 0
python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
for b in o["layout"]["buffers"]:
    if b["name"] == "y": b["offset"] = o["layout"]["workspaces"][0]["offset"]
json.dump(o, open(sys.argv[1], "w"))' "$work/p.json"
run check "$work/net.cg" "$work/p.json"; code_is 1; out_has "fault .*run"
finish
