#!/bin/sh
# Buffers were placed where the target cannot read them: tensorflow/tflite-micro
# PR 1228.  Every offset is a multiple of the alignment, and the arena that is
# reported is that of the aligned placement.
. tests/cli/lib

cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph odd
tensor x 13 input
tensor a 7
tensor va 7
tensor b 7
tensor c 29
tensor d 1
tensor y 3 output
op one opaque ( x ) -> ( a ) workspace=5
op look reshape ( a ) -> ( va )
op two relu ( va ) -> ( b )
op three opaque ( x b ) -> ( c d ) workspace=11
op four opaque ( a c d ) -> ( y )
TEXT
for layout in size greedy exact; do
  checking "calm plan --layout $layout"
  for align in 1 4 24 4096; do
    for columns in "--round 8" "--views identity --inplace elementwise"; do
      run_json plan "$work/net.cg" --layout $layout --align $align $columns
    done
  done
  all_say "all(b['offset'] % o['align'] == 0 for b in \
           o['layout']['buffers'] + o['layout']['workspaces'])" \
    "o['layout']['arena_bytes'] == max(b['offset'] + b['bytes'] \
     for b in o['layout']['buffers'] + o['layout']['workspaces'])"
  checking "calm pack --layout $layout"
  cat >"$work/b.csv" <<'TEXT'
id,lower,upper,size,alignment
4,0,4,3,4
16,1,5,7,16
1,2,3,1,1
64,0,5,9,64
24,3,6,30,24
TEXT
  run_json pack "$work/b.csv" --layout $layout
  all_say "all(b['offset'] % int(b['id']) == 0 for b in o['buffers'])" \
    "o['arena_bytes'] == max(b['offset'] + b['bytes'] for b in o['buffers'])"
done
finish
