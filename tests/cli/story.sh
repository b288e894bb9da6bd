#!/bin/sh
# stderr: nothing when all is well and piped, warnings, -v, --quiet; colours.
. tests/cli/lib

cat >"$work/unsorted.cg" <<'END'
calm-graph 1
graph g
tensor x 4 input
tensor y 4
tensor z 4 output
op second relu ( y ) -> ( z )
op first relu ( x ) -> ( y )
END

checking "no progress when stderr is no terminal, unless asked for"
run plan $graph; code_is 0; err_is_empty
run plan $graph -v; code_is 0; [ -s "$work/err" ] || fault "-v tells nothing"
[ -z "$(grep -v '^calm: ' "$work/err")" ] || fault "a line without 'calm: '"
run plan $graph -v -q; code_is 0; err_is_empty

checking "a warning, and silence about it"
run inspect "$work/unsorted.cg"
code_is 0; err_has "^calm: warning: $work/unsorted.cg"
run inspect "$work/unsorted.cg" -q; code_is 0; err_is_empty
run plan "$work/unsorted.cg" --order file; code_is 3

checking "an option that means nothing here is told, once"
echo "# no operators" >"$work/scratch"
for option in "--kernels reference" "--scratch $work/scratch" --note; do
  run plan $graph $option; code_is 0
  err_has "^calm: warning: ${option%% *} has no effect"
  [ "$(wc -l <"$work/err")" = 1 ] || fault "not one line on stderr"
  run plan $graph $option -q; err_is_empty
done
for model in $graph "$work/unsorted.cg"; do
  run plan $model --memory tflm --scratch "$work/scratch" --kernels reference
  err_lacks "has no effect"
done
run inspect $graph --scratch "$work/missing"
one_line_error 3 "^calm: $work/missing"

checking "errors are told even with --quiet"
run plan "$work/missing" -q; one_line_error 3 "^calm: $work/missing"

checking "colours only where they are wanted"
escape=$(printf '\033')
run plan $graph; out_lacks "$escape"
run plan $graph --color=always; out_has "$escape"
NO_COLOR=1 run plan $graph --color=always; out_has "$escape"
run plan $graph --color=always --json; out_lacks "$escape"
if command -v script >/dev/null; then
  TERM=xterm script -qec "$CALM plan $graph" /dev/null >"$work/out" 2>/dev/null
  out_has "$escape"
  NO_COLOR=1 TERM=xterm script -qec "$CALM plan $graph" /dev/null >"$work/out"
  out_lacks "$escape"
  TERM=dumb script -qec "$CALM plan $graph" /dev/null >"$work/out"
  out_lacks "$escape"
fi

checking "inspect: JSON, steps, and a dump that reads back"
run inspect $graph --json
code_is 0; out_is_json
json_says 'o["schema"] == "calm/inspect/1"'
json_says 'o["peak_bytes"] == max(s["bytes"] for s in o["steps"])'
json_says 'o["steps"][o["peak_step"]]["bytes"] == o["peak_bytes"]'
run inspect $graph; cp "$work/out" "$work/first"; out_has "live bytes"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
run inspect $graph --dump; code_is 0; cp "$work/out" "$work/dump.cg"
run inspect "$work/dump.cg" --dump
cmp -s "$work/out" "$work/dump.cg" || fault "the dump of the dump differs"
run inspect "$work/dump.cg"
tail -n +2 "$work/out" >"$work/second"
tail -n +2 "$work/first" | cmp -s - "$work/second" || fault "the dump differs"
finish
