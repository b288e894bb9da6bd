#!/bin/sh
# An operator wrote over an input that others own, still read, or that has
# another size: microsoft/onnxruntime #28359 (an input of the model),
# PR 7645 (a second reader), #17061 (another size), onnxsim/onnxsim PR 1094 and
# PR 1075 (a chain of unary operators, which should be flat).
. tests/cli/lib

at="{b['name']: b['offset'] for b in o['layout']['buffers']}"

# chain LENGTH: relu after relu; FLAGS of the second tensor
chain() {
  printf 'calm-graph 1\ngraph chain\ntensor t0 100 input\n'
  for i in $(seq 1 "$1"); do
    flags=
    [ "$i" = 2 ] && flags=$2
    [ "$i" = "$1" ] && flags=output
    printf 'tensor t%d 100 %s\n' "$i" "$flags"
    printf 'op o%d relu ( t%d ) -> ( t%d )\n' "$i" $((i - 1)) "$i"
  done
}

checking "a chain is flat, however long"
for length in 1 2 12; do
  chain $length >"$work/net.cg"
  run_json plan "$work/net.cg" --inplace elementwise
done
all_say "o['order']['peak_bytes'] == o['layout']['arena_bytes'] == 100"
run_json plan "$work/net.cg"
all_say "o['order']['peak_bytes'] == 200"

checking "an input that is the caller's, or that has to stay, is not touched"
run_json plan "$work/net.cg" --inplace elementwise --inputs whole-run
all_say "o['order']['peak_bytes'] == 200" \
  "all($at[t] != $at['t0'] for t in $at if t != 't0')"
run_json plan "$work/net.cg" --inplace elementwise --inputs external
all_say "'t0' not in $at" "o['order']['peak_bytes'] == 100"

checking "nor is an output in the middle"
chain 12 output >"$work/net.cg"
run_json plan "$work/net.cg" --inplace elementwise
all_say "o['order']['peak_bytes'] == 200" \
  "all($at[t] != $at['t2'] for t in ('t3', 't4', 't12'))"

checking "nor is what a second operator reads later"
cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph two
tensor x 1 input
tensor a 100
tensor b 100
tensor y 1 output
op make opaque ( x ) -> ( a )
op over relu ( a ) -> ( b )
op late opaque ( a b ) -> ( y )
TEXT
for order in file level dfs greedy dp exact; do
  run_json plan "$work/net.cg" --inplace elementwise --order $order
done
all_say "o['order']['peak_bytes'] == 201" "abs($at['a'] - $at['b']) >= 100"

checking "nor what is state"
sed 's/tensor a 100/tensor a 100 variable/; /op make/d' "$work/net.cg" \
  >"$work/state.cg"
sed 's/op late opaque ( a b )/op late opaque ( b )/' "$work/state.cg" \
  >"$work/state1.cg"
for net in state state1; do
  run_json plan "$work/$net.cg" --inplace elementwise --variables whole-run
done
all_say "abs($at['a'] - $at['b']) >= 100"

checking "only an input of the output's size makes room for it"
cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph sizes
tensor x 1 input
tensor small 10
tensor large 40
tensor sum 40
tensor y 1 output
op s opaque ( x ) -> ( small )
op l opaque ( x ) -> ( large )
op plus add ( small large ) -> ( sum )
op end opaque ( sum ) -> ( y )
TEXT
run_json plan "$work/net.cg" --inplace elementwise
all_say "$at['sum'] == $at['large']" "o['order']['peak_bytes'] == 51"
sed 's/tensor large 40/tensor large 39/' "$work/net.cg" >"$work/odd.cg"
run_json plan "$work/odd.cg" --inplace elementwise
all_say "o['order']['peak_bytes'] == 89"
checking "nor is a chain torn whose first tensor is declared last"
cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph last
tensor x 16 input
tensor c 64
tensor d 32
tensor b 64
tensor y 16 output
op one opaque ( x ) -> ( b )
op two relu ( b ) -> ( c )
op three opaque ( c ) -> ( d )
op four opaque ( d ) -> ( y )
TEXT
run_json plan "$work/net.cg" --memory tflm --inplace elementwise
all_say "o['layout']['arena_bytes'] == 96" "$at['b'] == $at['c']"

finish
