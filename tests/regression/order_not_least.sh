#!/bin/sh
# An order that is not the least was taken for it: Samsung/ONE #8089 (the seven
# operators of Liberis and Lane, 5,216 bytes in the order of the file, 4,960 at
# best) and nntrainer/nntrainer #1126 (a residual block: 300 or 225 units, as
# the branches happen to come).
. tests/cli/lib

# least BYTES OPTIONS...: both proving methods end there
least() {
  bytes=$1
  shift
  for order in dp exact; do
    run_json plan "$work/net.cg" --order $order "$@"
  done
  all_say "o['order']['status'] == 'optimal'" \
    "o['order']['peak_bytes'] == o['order']['bound_bytes'] == $bytes" \
    "o['layout']['arena_bytes'] == $bytes"
}

checking "seven operators"
{
  printf 'calm-graph 1\ngraph seven\ntensor t0 1568 input\n'
  printf 'tensor t%s\n' "1 3136" "2 1568" "3 512" "4 512" "5 256" "6 256" \
    "7 512 output"
  printf 'op %s )\n' "1 conv2d ( t0 ) -> ( t1" "2 conv2d ( t1 ) -> ( t2" \
    "3 conv2d ( t2 ) -> ( t3" "4 conv2d ( t1 ) -> ( t4" \
    "5 conv2d ( t3 ) -> ( t5" "6 conv2d ( t4 ) -> ( t6" \
    "7 concat ( t5 t6 ) -> ( t7"
} >"$work/net.cg"
least 4960
run_json plan "$work/net.cg" --order file
all_say "o['order']['peak_bytes'] == 5216"

# The operators of a residual block, listed in each order that is one.
block() {
  printf 'calm-graph 1\ngraph block\ntensor in 100 input\n'
  printf 'tensor %s\n' "t2 100" "t3 25" "t4 100" "t5 100" "out 100 output"
  for name; do
    case $name in
      L) echo "op L conv2d ( in ) -> ( t2 )" ;;
      M) echo "op M conv2d ( t2 ) -> ( t3 )" ;;
      N) echo "op N conv2d ( t3 ) -> ( t4 )" ;;
      P) echo "op P conv2d ( in ) -> ( t5 )" ;;
    esac
  done
  echo "op S add ( t4 t5 ) -> ( out )"
}
for listing in "L M N P" "L M P N" "L P M N" "P L M N"; do
  checking "a residual block, listed as $listing"
  block $listing >"$work/net.cg"
  least 225 --inplace add
  run_json plan "$work/net.cg" --inplace add --order greedy
  all_say "o['order']['peak_bytes'] == 225"
done
finish
