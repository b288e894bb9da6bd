#!/bin/sh
# calm plan -o and --in-place: the reordered model, in the format of the input.
. tests/cli/lib

checking "a reordered text runs in the order that was found"
cp $graph "$work/in.cg"
run plan "$work/in.cg" --json -o "$work/out.cg"
code_is 0; json_says "o['order']['peak_bytes'] == 275968"
cp "$work/out" "$work/plan.json"
run plan "$work/out.cg" --order file --json
code_is 0; json_says "o['order']['peak_bytes'] == 275968"
python3 -c 'import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
sys.exit(a["order"]["sequence"] != b["order"]["sequence"])' \
  "$work/plan.json" "$work/out" || fault "another order was written"
cmp -s $graph "$work/in.cg" || fault "the input changed"

checking "an output that is the input is refused, by whatever name"
ln -s in.cg "$work/soft.cg"
ln "$work/in.cg" "$work/hard.cg"
for name in in.cg soft.cg hard.cg "../$(basename "$work")/in.cg"; do
  run plan "$work/in.cg" -o "$work/$name"
  one_line_error 2 "is an input, and is not overwritten"
done
cmp -s $graph "$work/in.cg" || fault "the input changed"

checking "a file that an option names is an input, too"
echo "# no operators" >"$work/scratch"
ln -s scratch "$work/linked"
for name in scratch linked; do
  run plan "$work/in.cg" --scratch "$work/scratch" -o "$work/$name"
  one_line_error 2 "is an input, and is not overwritten"
  run plan "$work/in.cg" --emit "plan=$work/$name" --scratch "$work/scratch"
  one_line_error 2 "is an input, and is not overwritten"
done
[ "$(cat "$work/scratch")" = "# no operators" ] || fault "it changed"

checking "what cannot be meant"
run plan "$work/in.cg" -o "$work/out.tflite"
one_line_error 2 "out.tflite: the output has the format of the input, which is .cg"
run plan "$work/in.cg" -o "$work/out.cg" --in-place
one_line_error 2 "in-place writes over MODEL, --output elsewhere"
run plan "$work/in.cg" -o "$work/twice" --emit "plan=$work/twice"
one_line_error 2 "is named for two outputs"
run plan "$work/in.cg" -o "$work/none/out.cg"
code_is 3; err_has "cannot write: No such"
run plan "$work/in.cg" -o /dev/full
code_is 3; err_has "cannot write: No space"
run plan "$work/in.cg" -o "$work"
code_is 3; err_has "cannot write: Is a directory"

checking "other names, and none at all"
run plan "$work/in.cg" -o "$work/plain"; code_is 0
cmp -s "$work/out.cg" "$work/plain" || fault "the name makes a difference"
"$CALM" plan "$work/in.cg" -o /dev/stdout -q | cat >"$work/out"
out_has "^calm-graph 1"; out_has "holes"

checking "--in-place replaces the input, and a link stays one"
chmod 640 "$work/in.cg"
rm "$work/hard.cg"
run plan "$work/soft.cg" --in-place; code_is 0
[ -L "$work/soft.cg" ] || fault "the link is gone"
cmp -s "$work/out.cg" "$work/in.cg" || fault "not replaced"
[ "$(stat -c %a "$work/in.cg")" = 640 ] || fault "the mode changed"

models=${CALM_CASES:-../shared/cases}/models
if [ ! -d "$models" ]; then
  echo "  skipped: no cases at $models"
  finish
fi

checking "a .tflite file keeps its size, and a plan that is there is left out"
model=$models/cfu_hps_74ops.tflite
run plan "$model" --memory plain -o "$work/hps.tflite"
code_is 0; err_has "the offline plan is left out"
[ "$(wc -c <"$work/hps.tflite")" = "$(wc -c <"$model")" ] || fault "the size"
run check "$work/hps.tflite"
code_is 0; err_lacks "OfflineMemoryAllocation"
run plan "$model" --memory plain -o "$work/hps.tflite" --no-offline-plan
code_is 0; err_lacks "left out"

checking "nothing to be done: the file is the same"
run plan "$models/mlperf_vww_96_int8.tflite" --memory plain -o "$work/vww.tflite"
code_is 0
cmp -s "$models/mlperf_vww_96_int8.tflite" "$work/vww.tflite" ||
  fault "a chain was changed"

finish
