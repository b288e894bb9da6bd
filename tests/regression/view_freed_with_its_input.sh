#!/bin/sh
# The bytes of a reshaped tensor were given away while the tensor that was
# reshaped, or what it became, was still read: google-ai-edge/LiteRT #8889
# (RESHAPE before an RMS norm).
. tests/cli/lib

# network FIRST LAST: `over` could write over what it reads, `late` reads
# another name of the same bytes afterwards
network() {
  cat <<TEXT
calm-graph 1
graph aliases
tensor x 10 input
tensor axis 4 const
tensor a 100
tensor v1 100
tensor v2 100
tensor v3 100
tensor big 50
tensor r 100
tensor z 1 output
tensor y 1 output
op make opaque ( x ) -> ( a )
op flat reshape ( a ) -> ( v1 )
op thin squeeze ( v1 ) -> ( v2 )
op whole split ( axis v2 ) -> ( v3 )
op mid opaque ( x ) -> ( big )
op over relu ( $1 ) -> ( r ) $3
op join opaque ( r big ) -> ( z )
op late opaque ( $2 ) -> ( y ) $4
TEXT
}
at="{b['name']: (b['offset'], b['first'], b['last']) \
     for b in o['layout']['buffers']}"
step="{n: i for i, n in enumerate(o['order']['sequence'])}"

checking "the bytes stay until the last reader of any of their names"
for first in a v1 v3; do
  for last in a v2 v3; do
    network $first $last "" "after ( join )" >"$work/net.cg"
    for order in file dfs exact; do
      run_json plan "$work/net.cg" --views identity --inplace elementwise \
        --order $order
    done
  done
done
all_say "$at['a'][2] == $step['late']" "$at['r'][1] == $step['over']" \
  "abs($at['a'][0] - $at['r'][0]) >= 100" \
  "o['order']['peak_bytes'] >= 100 + 100"

checking "after the last reader they may be used again"
for first in a v2 v3; do
  network $first v1 "after ( late )" "" >"$work/net.cg"
  run_json plan "$work/net.cg" --views identity --inplace elementwise
done
all_say "$at['a'][0] == $at['r'][0]" "o['order']['peak_bytes'] < 200"

checking "without views each name has bytes of its own"
network v3 a "" "" >"$work/net.cg"
run_json plan "$work/net.cg" --order file
all_say "all(n in $at for n in ('a', 'v1', 'v2', 'v3', 'r'))" \
  "$at['a'][2] == $step['late']"

checking "a plan that gives the bytes away earlier does not hold"
network v1 v3 "" "after ( join )" >"$work/net.cg"
run plan "$work/net.cg" --views identity --emit "plan=$work/p.json"; code_is 0
python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
at = {b["name"]: b for b in o["layout"]["buffers"]}
at["z"]["offset"] = at["a"]["offset"]
json.dump(o, open(sys.argv[1], "w"))' "$work/p.json"
run check "$work/net.cg" "$work/p.json"; code_is 1; out_has "fault .*'a'"
finish
