#!/bin/sh
# calm inspect --dump: the text of every model can be read, and is then written
# as it was.
. tests/cli/lib

# survives MODEL: dump it, and dump the dump
survives() {
  run inspect "$1" --dump
  code_is 0
  cp "$work/out" "$work/first.cg"
  run inspect "$work/first.cg" --dump
  code_is 0
  cmp -s "$work/first.cg" "$work/out" || fault "$1: the dump reads differently"
}

checking "a tensor that no operator writes, if the text says so"
cat >"$work/t.cg" <<'END'
calm-graph 1
graph g
tensor scratch 7000 unwritten
tensor lost 5 output unwritten
tensor x 10 input
tensor y 10 output
op u opaque ( x scratch ) -> ( y )
END
survives "$work/t.cg"
cmp -s "$work/t.cg" "$work/out" || fault "the dump is not canonical"
run plan "$work/t.cg" --json
code_is 0; json_says 'o["layout"]["arena_bytes"] == 20'

checking "our own graphs and the public models survive"
for model in tests/graph/*.cg; do survives "$model"; done
cases=${CALM_CASES:-../shared/cases}
models=0
for model in "$cases"/models/*.tflite "$cases"/models/*.onnx; do
  "$CALM" inspect "$model" --dump >/dev/null 2>&1 || continue
  survives "$model"
  models=$((models + 1))
done
if [ -d "$cases/models" ]; then
  echo "  $models models"
  [ $models -gt 50 ] || fault "only $models models could be dumped"
else
  echo "  skipped: no cases at $cases"
fi
finish
