#!/bin/sh
# An arena was reported without what it leaves out, taken for the whole, and
# allocation failed: tensorflow/tflite-micro #890.
. tests/cli/lib

cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph parts
tensor x 1000 input
tensor w 2000 const
tensor state 300 variable
tensor h 40
tensor y 5 output
op one opaque ( x w state ) -> ( h )
op two opaque ( h ) -> ( y )
TEXT

for verb in plan inspect; do
  checking "calm $verb says what its figures leave out"
  run $verb "$work/net.cg"; code_is 0
  out_has "not counted: 2,000 bytes of weights, 300 bytes of state, what the"
  out_has "runtime and its kernels take"
  run $verb "$work/net.cg" --inputs external --outputs external; code_is 0
  out_has "300 bytes of state, 1,000 bytes of inputs, 5 bytes"
  run $verb "$work/net.cg" --variables whole-run --inputs external; code_is 0
  out_lacks "of state"
  out_has "2,000 bytes of weights, 1,000 bytes of inputs"
  run_json $verb "$work/net.cg"
  all_say "o['excluded']['weight_bytes'] == 2000" \
    "o['excluded']['state_bytes'] == 300" \
    "o['excluded']['input_bytes'] == o['excluded']['output_bytes'] == 0" \
    "len(o['excluded']['unknown']) > 0"
  run $verb "$work/net.cg" --memory tflm; code_is 0
  out_has "runtime keeps"
  out_lacks "its kernels take"
  run_json $verb "$work/net.cg" --memory tflm
  all_say "[w.split()[-4:] for w in o['excluded']['unknown']] == \
    [['tail', 'of', 'its', 'arena']]"
done

checking "every tensor is either in the arena or named as left out"
for columns in "" "--inputs external" "--outputs external" \
  "--variables whole-run" "--inputs whole-run --round 16"; do
  run_json plan "$work/net.cg" $columns --round 1
done
all_say "sum(b['bytes'] for b in o['layout']['buffers']) + sum(v for k, v in \
  o['excluded'].items() if k != 'unknown') == 1000 + 2000 + 300 + 40 + 5"
finish
