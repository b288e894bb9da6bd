#!/bin/sh
# A wrong command line is exit code 2 and one line that says what would be right.
. tests/cli/lib

# wrong PATTERN ARGUMENTS...
wrong() {
  pattern=$1
  shift
  run "$@"
  one_line_error 2 "$pattern"
}

checking "unknown commands"
wrong "unknown command 'plam'; did you mean plan?" plam $graph
wrong "unknown command 'frobnicate'; see calm --help" frobnicate
wrong "unknown command '--versoin'" --versoin

checking "unknown options get the nearest name"
wrong "unknown option '--buget'; did you mean --budget?" plan $graph --buget 5
wrong "unknown option '--no-rewrite-sum'; did you mean --no-rewrite-sums?" \
  plan $graph --no-rewrite-sum
wrong "unknown option '--ordr'; did you mean --order?" plan $graph --ordr=file
wrong "unknown option '--qqqqqqqq'; see calm plan --help" plan --qqqqqqqq
wrong "unknown option '-x'; see calm plan --help" plan -x
wrong "unknown option '-vx'" plan -vx

checking "options of other commands"
wrong "order is no option of calm pack; it belongs to plan" pack b.csv --order dp
wrong "output has the format of the input, which is .cg" plan $graph -o /tmp/calm-never.onnx
wrong "in-place writes over MODEL, --output elsewhere" \
  plan $graph -o /tmp/calm-never.cg --in-place
wrong "kernels is no option of calm pack; it belongs to inspect plan check" \
  pack $graph --kernels auto
wrong "threads is no option of calm inspect; it belongs to plan pack" \
  inspect $graph --threads 2
wrong "overlap is no option of calm pack; it belongs to inspect plan check" \
  pack b.csv --overlap on
wrong "'zip' is not a kind of output of calm plan; there is plan, csv, bufferplan, c-header, trace, model-explorer, traffic, front, html$" \
  plan $graph --emit zip=x
wrong "'plan' is not a kind of output of calm pack; there is csv, html" \
  pack b.csv --emit plan=x
wrong "'x.json' is not KIND=FILE" plan $graph --emit x.json

checking "values that make no sense"
wrong "order: 'best' is not one of file|level" plan $graph --order best
wrong "budget: '12Q' is not a size" plan $graph --budget 12Q
wrong "budget: '-1' is not a size" plan $graph --budget -1
wrong "budget: '' is not a size" plan $graph --budget=
wrong "time-limit: 'soon' is not seconds" plan $graph --time-limit soon
wrong "threads: '-1' is not a whole number" plan $graph --threads -1
wrong "seed: '1e3' is not a whole number" plan $graph --seed 1e3
wrong "dp-cuts: 'maybe' is not on or off" plan $graph --dp-cuts=maybe
wrong "json: 'yes' is not on or off" plan $graph --json=yes
wrong "color: 'blue' is not one of auto|always|never" plan $graph --color blue
wrong "memory" plan $graph --memory huge
wrong "align" plan $graph --align 0
wrong "inplace: 'bake' is not none" plan $graph --inplace add,bake
wrong "seed: '-1' is not a whole number from 0" plan $graph --seed -1
wrong "budget is no switch" plan $graph --no-budget
wrong "did you mean --budget" plan $graph --bud 5
wrong "one operand too many: 'extra'" help plan extra
wrong "needs a value: SIZE" plan $graph --budget
wrong "needs a value: FILE" pack b.csv -o
wrong "is not the name of a file" pack b.csv -o -
wrong "is not the name of a file" plan $graph --emit csv=

checking "operands"
wrong "an operand is empty" plan ""
wrong "an operand is empty" check $graph ""
wrong "an operand is missing: 'MODEL'" plan
wrong "one operand too many: 'b'" plan a b
wrong "one operand too many: 'c'" check a b c

checking "control characters in words do not reach the terminal"
run "$(printf 'pl\033[31mn')"; one_line_error 2 'pl\\x1b\[31mn'
run "$(printf 'a\302\2331m\377\303\274')"; one_line_error 2 'a\\xc2\\x9b1m\\xff'

checking "every way to write an option is understood"
run plan $graph --order=greedy; code_is 0; out_has "greedy"
run plan --order greedy -- $graph; code_is 0; out_has "greedy"
run plan $graph --no-order-blocks --order-commit=off --order-reverse on \
  2>/dev/null; one_line_error 2 "one operand too many: 'on'"
run plan $graph --no-order-blocks --order-commit=off --order-reverse=on
code_is 0
run plan $graph --json --no-json; code_is 0; out_lacks '"schema"'
run plan -- --budget; one_line_error 3 '^calm: --budget: '
finish
