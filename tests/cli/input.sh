#!/bin/sh
# An input that cannot be read or is not what it should be: exit code 3, and one
# line that begins with its name.
. tests/cli/lib

# bad PATTERN ARGUMENTS...: the last argument is the input
bad() {
  pattern=$1
  shift
  run "$@"
  one_line_error 3 "$pattern"
}

mkdir "$work/directory"
: >"$work/empty"
printf 'no model at all\n' >"$work/garbage"
printf '\034\000\000\000TFL3' >"$work/short.tflite"
printf 'calm-graph 1\ngraph g\nop a opaque ( x ) -> ( )\n' >"$work/undeclared.cg"
printf 'calm-graph 1\ngraph g\ntensor a 1\ntensor b 1\nop p opaque ( b ) -> ( a )\nop q opaque ( a ) -> ( b )\n' \
  >"$work/cycle.cg"

for command in inspect plan check; do
  checking "calm $command with bad input"
  bad "^calm: $work/missing: .*No such file" $command "$work/missing"
  bad "^calm: $work/directory: .*[Dd]irectory" $command "$work/directory"
  bad "^calm: /dev/null: " $command /dev/null
  for name in empty garbage short.tflite undeclared.cg cycle.cg; do
    bad "^calm: $work/$name:" $command "$work/$name"
  done
done

checking "calm pack with bad input"
bad "^calm: $work/missing: " pack "$work/missing"
bad "^calm: $work/directory: " pack "$work/directory"
run pack "$work/garbage"
code_is 3; out_is_empty; err_has "^calm: $work/garbage:1:1: column 'id'"

checking "calm check with a bad plan"
printf '{"schema": "calm/plan/1"' >"$work/cut.json"
printf '{"schema": "other/1"}' >"$work/other.json"
bad "^calm: $work/missing: " check $graph "$work/missing"
bad "^calm: $work/directory: " check $graph "$work/directory"
bad "^calm: $work/cut.json:1:2[0-9]: is not JSON" check $graph "$work/cut.json"
bad "^calm: $work/other.json: schema: is not calm/plan/1" \
  check $graph "$work/other.json"

checking "an unreadable file"
cp $graph "$work/unreadable.cg"
chmod 000 "$work/unreadable.cg"
if [ -r "$work/unreadable.cg" ]; then
  echo "  skipped: this user can read everything"
else
  bad "^calm: $work/unreadable.cg: .*Permission denied" plan "$work/unreadable.cg"
fi

checking "names from a file do not reach the terminal raw"
printf 'calm-graph 1\ngraph g\ntensor "a\\x1b[2Jb" 1 input\nop "o\\x07" opaque ( "a\\x1b[2Jb" ) -> ( )\n' \
  >"$work/odd.cg"
run inspect "$work/odd.cg" -v
code_is 0; out_has 'a\\x1b\[2Jb'; out_has 'o\\x07'
run inspect "$work/odd.cg" --json
code_is 0; out_is_json
finish
