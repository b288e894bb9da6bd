#!/bin/sh
# Totals beyond 32 bits wrapped around: allocators on the 5.5e9 bytes of SOMAS
# pangu_2.6B and the 4.97e11 bytes of IOPDDL Y_1.
. tests/cli/lib

big=4294967296 # 2^32

checking "calm pack"
printf 'id,lower,upper,size\na,0,2,%d\nb,1,3,%d\nc,2,4,1\nd,0,4,4294967295\n' \
  $big $big >"$work/b.csv"
for layout in size greedy exact; do
  run_json pack "$work/b.csv" --layout $layout
done
all_say "o['arena_bytes'] == 3 * $big - 1" \
  "max(b['offset'] for b in o['buffers']) >= $big - 1"
run pack "$work/b.csv" --budget 12884901887; code_is 0
run pack "$work/b.csv" --budget 12884901886; code_is 1

checking "calm plan"
cat >"$work/net.cg" <<TEXT
calm-graph 1
graph large
tensor x f32[1073741824] input
tensor w f32[4611686018,8] const
tensor a $big
tensor b $((3 * big))
tensor y 1 output
op one opaque ( x w ) -> ( a ) workspace=$big
op two opaque ( x ) -> ( b )
op three opaque ( a b ) -> ( y )
TEXT
for order in file level dfs greedy dp exact; do
  run_json plan "$work/net.cg" --order $order
done
all_say "o['order']['peak_bytes'] == o['layout']['arena_bytes'] == \
         5 * $big or o['order']['sequence'][0] == 'two'" \
  "o['order']['bound_bytes'] >= 4 * $big" \
  "o['graph']['weight_bytes'] == 4 * 8 * 4611686018"

checking "beyond 2^62 there is a message"
printf 'id,lower,upper,size\na,0,2,%d\nb,1,3,%d\nc,1,2,%d\n' \
  $((1 << 61)) $((1 << 61)) $((1 << 61)) >"$work/b.csv"
run pack "$work/b.csv"; one_line_error 3 "2^62"
cat >"$work/net.cg" <<TEXT
calm-graph 1
graph beyond
tensor a f64[2147483648,2147483648] output
op one opaque ( ) -> ( a )
TEXT
run plan "$work/net.cg"; one_line_error 3 "2^62"
finish
