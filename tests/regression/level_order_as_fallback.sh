#!/bin/sh
# The order without a proof was breadth first, with many tensors alive:
# microsoft/onnxruntime PR 18410.  Whatever a search falls back to must not be
# near the level order where depth first is far below it.
. tests/cli/lib

# Eight branches that swell to 100 and shrink to 1.
{
  printf 'calm-graph 1\ngraph branches\ntensor x 10 input\ntensor y 1 output\n'
  for i in 1 2 3 4 5 6 7 8; do
    printf 'tensor b%d 100\ntensor s%d 1\n' $i $i
    printf 'op swell%d conv2d ( x ) -> ( b%d )\n' $i $i
  done
  for i in 1 2 3 4 5 6 7 8; do
    printf 'op shrink%d conv2d ( b%d ) -> ( s%d )\n' $i $i $i
  done
  echo "op join concat ( s1 s2 s3 s4 s5 s6 s7 s8 ) -> ( y )"
} >"$work/net.cg"

checking "eight branches"
run_json plan "$work/net.cg" --order level
all_say "o['order']['peak_bytes'] > 800"
for order in dfs greedy dp exact "dp --tick-limit 1" "exact --tick-limit 1" \
  "exact --memory-limit 1" "dp --memory-limit 1"; do
  run_json plan "$work/net.cg" --order $order
done
all_say "o['order']['peak_bytes'] <= 10 + 100 + 8"

checking "a network of 74 operators"
model=${CALM_CASES:-../shared/cases}/models/cfu_hps_74ops.tflite
if [ -r "$model" ]; then
  run_json plan "$model" --memory plain --order level
  all_say "o['order']['peak_bytes'] == 458832"
  run_json plan "$model" --memory plain --order greedy
  run_json plan "$model" --memory plain --order exact --tick-limit 1
  all_say "o['order']['peak_bytes'] <= 237552"
  finish
fi
echo "  skipped: no $model"
[ "$failures" = 0 ] && exit 77
finish
