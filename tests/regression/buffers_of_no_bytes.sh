#!/bin/sh
# A buffer of zero bytes was refused, or took part in conflicts:
# google/minimalloc, on the case InterleavedZeroAlloc of TensorFlow Lite.
. tests/cli/lib

checking "calm pack"
cat >"$work/b.csv" <<'TEXT'
id,lower,upper,size
a,0,2,7
z,0,9,0
b,1,3,5
zz,1,2,0
c,2,4,7
TEXT
for layout in size greedy exact; do
  run_json pack "$work/b.csv" --layout $layout
done
all_say "o['arena_bytes'] == 12" "len(o['buffers']) == 5"
printf 'id,lower,upper,size\nz,0,1,0\n' >"$work/b.csv"
run_json pack "$work/b.csv"
printf 'id,lower,upper,size\n' >"$work/b.csv"
run_json pack "$work/b.csv"
all_say "o['arena_bytes'] == 0" "o['status'] == 'optimal'"

checking "calm plan"
cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph zeros
tensor x 0 input
tensor e u8[0,28,28] input
tensor a 7
tensor b 0
tensor c 0 variable
tensor y 0 output
tensor z 5 output
op one opaque ( x e c ) -> ( a b )
op two relu ( b ) -> ( y )
op three reshape ( e ) -> ( - )
op four opaque ( a y ) -> ( z )
TEXT
for model in plain serenity tflm-default; do
  for order in file dfs dp exact; do
    run_json plan "$work/net.cg" --memory $model --inplace elementwise \
      --variables whole-run --order $order
  done
done
all_say "o['layout']['arena_bytes'] == o['order']['peak_bytes']" \
  "o['order']['peak_bytes'] in (12, 32)" \
  "{b['name'] for b in o['layout']['buffers']} == {'a', 'z'}"
run plan "$work/net.cg" --emit "plan=$work/p.json"; code_is 0
run check "$work/net.cg" "$work/p.json"; code_is 0
finish
