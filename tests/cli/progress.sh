#!/bin/sh
# The bar on stderr: on terminals only, and gone before anything else is told.
. tests/cli/lib

command -v script >/dev/null || { echo "there is no script(1)"; exit 77; }
write_hard_graph "$work/hard.cg"
write_small_machine "$work/arch.yaml"
cat >"$work/layer.yaml" <<'END'
problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 60, N: 48, K: 100}}
END
cat >"$work/sweep.yaml" <<'END'
problems: [layer.yaml]
architectures:
- file: arch.yaml
  parameters: {Buffer.entries: {from: 4, to: 200, plus: 1}}
END
escape=$(printf '\033')

# On a terminal: stdout and stderr in $work/out, as they were drawn.
on_terminal() {
  TERM=xterm script -qec "$CALM $*" /dev/null >"$work/out" 2>/dev/null
}

checking "nothing where stderr is no terminal"
run plan "$work/hard.cg" --time-limit 1; err_lacks "searching"
run sweep "$work/sweep.yaml"; code_is 0; err_is_empty

checking "a search shows what time is left at most"
on_terminal plan "$work/hard.cg" --time-limit 1
out_has "searching \[#*-*\] at most 0:0[01] left"

checking "parts are counted"
run sweep "$work/sweep.yaml" --database "$work/other.db" --progress always
code_is 0; err_has "points \[#*-*\] [0-9]*/197  [0-9]* %  0:[0-9]* left"

checking "it is erased before the end"
for file in out err; do
  last=$(tr '\r' '\n' <"$work/$file" | grep -v "^calm: [a-z]* \[" | tail -1)
  case $last in *"["*"#"*) fault "a bar is left: $last" ;; esac
done
tr '\r' '\n' <"$work/err" | tail -1 | grep -q "^$escape\[K" ||
  fault "the bar is not erased"

checking "not with --quiet, never, or a dumb terminal"
on_terminal plan "$work/hard.cg" --time-limit 1 -q; out_lacks "searching \["
on_terminal plan "$work/hard.cg" --time-limit 1 --progress never
out_lacks "searching \["
TERM=dumb script -qec "$CALM plan $work/hard.cg --time-limit 1" /dev/null \
  >"$work/out" 2>/dev/null
out_lacks "searching \["

checking "without colours where they are refused"
NO_COLOR=1 on_terminal plan "$work/hard.cg" --time-limit 1
out_has "searching \["; out_lacks "$escape\[36m"

checking "the same answer with and without"
run plan "$work/hard.cg" --time-limit 0 --tick-limit 100000 --json
cp "$work/out" "$work/without"
run plan "$work/hard.cg" --time-limit 0 --tick-limit 100000 --json \
  --progress always
cmp -s "$work/out" "$work/without" || fault "it differs"
run plan "$work/hard.cg" --progress sometimes
one_line_error 2 "auto|always|never"

finish
