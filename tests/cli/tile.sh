#!/bin/sh
# calm plan --tile: regions given and searched for, goals, the front, misuse.
. tests/cli/lib

cat > "$work/chain.cg" <<'END'
calm-graph 1
graph chain
tensor x i8[1,32,32,3] input
tensor w1 i8[16,3,3,3] const
tensor a i8[1,32,32,16]
tensor w2 i8[1,3,3,16] const
tensor b i8[1,16,16,16]
tensor w3 i8[8,1,1,16] const
tensor y i8[1,16,16,8] output
op conv conv2d ( x w1 - ) -> ( a ) stride=1,1 pad=same
op depth depthwise_conv2d ( a w2 - ) -> ( b ) stride=2,2 pad=same
op point conv2d ( b w3 - ) -> ( y ) stride=1,1 pad=same
END
chain=$work/chain.cg
few="--tick-limit 3000000"

checking "a region that is given"
run plan "$chain" --tile 0-2:4:cache --json
code_is 0
json_says "o['tiling']['mode'] == 'given' and o['tiling']['tiles'] == '0-2:4:cache'"
json_says "o['tiling']['extra_macs'] == 0 and o['tiling']['folded'] == 0"
json_says "o['tiling']['regions'][0]['first_op'] == 'conv'"
json_says "o['tiling']['regions'][0]['last_op'] == 'point'"
json_says "o['layout']['arena_bytes'] < o['baseline']['arena_bytes'] == 20480"
json_says "[s['name'] for s in o['steps']] == ['as it is', 'order and placement', 'tiles']"
json_says "o['steps'][-1]['arena_bytes'] == o['layout']['arena_bytes']"
run plan "$chain" --tile 0-1:2x2:pad,2-2:3:pad
code_is 0
out_has "2 regions in tiles"; out_has "2 x 2"; out_has "3 strips"

checking "the tiled graph is written, and is one like any other"
run plan "$chain" --tile 0-2:4:pad -o "$work/tiled.cg" --json
code_is 0
run plan "$work/tiled.cg" --json
code_is 0
json_says "o['graph']['ops'] > 3"

checking "regions are searched for, repeatably"
run plan "$chain" --tile auto $few --json
code_is 0
json_says "o['tiling']['mode'] == 'auto' and o['tiling']['judged'] > 10"
json_says "o['layout']['arena_bytes'] < 12000 and o['tiling']['status'] == 'tick limit'"
json_says "sum(p['chosen'] for p in o['tiling']['front']) == 1"
json_says "[p for p in o['tiling']['front'] if p['tiles'] == 'none'][0]['extra_macs'] == 0"
json_says "o['tiling']['front'] == sorted(o['tiling']['front'], key=lambda p: p['arena_bytes'])"
cp "$work/out" "$work/first"
run plan "$chain" --tile auto $few --json
code_is 0
cmp -s "$work/out" "$work/first" || fault "the same options give something else"

checking "multiply-accumulates are limited"
run plan "$chain" --tile auto --max-extra-macs 0% $few --json
code_is 0
json_says "o['tiling']['extra_macs'] == 0 and o['layout']['arena_bytes'] < 20480"
run plan "$chain" --tile auto --max-extra-macs 5 $few --json
json_says "20 * o['tiling']['extra_macs'] <= o['tiling']['macs']"

checking "a budget: the fewest multiply-accumulates, none at all, or a miss"
run plan "$chain" --tile auto --budget 12K $few --json
code_is 0
json_says "o['within_budget'] and o['layout']['arena_bytes'] <= 12288"
json_says "o['tiling']['extra_macs'] == 0"
run plan "$chain" --tile auto --budget 20480 $few
code_is 0
out_has "the budget holds without tiles"
run plan "$chain" --tile auto --budget 1000 $few
code_is 1
out_has "missed by"; err_has "does not fit into the budget of 1000"

checking "what nothing is gained by stays as it is"
cat > "$work/dense.cg" <<'END'
calm-graph 1
graph dense
tensor x i8[1,64] input
tensor w i8[64,64] const
tensor y i8[1,64] output
op dense fully_connected ( x w - ) -> ( y )
END
run plan "$work/dense.cg" --tile auto
code_is 0
out_has "no tiles: dense sets the bound, and it cannot be cut"

checking "a region that cannot be cut says why"
run plan "$work/dense.cg" --tile 0-0:2:pad
code_is 3
err_has "0-0:2:pad: operator 0, 'dense' (fully_connected): "; err_has "no convolution, no pooling"

checking "everything together, and what each step bought"
run plan "$chain" --effort max $few --json
code_is 0
json_says "o['tiling']['mode'] == 'auto' and o['rewrite']['mode'] == 'auto'"
run plan "$chain" --effort max --memory tflm --kernels reference --overlap on $few --json
code_is 0
json_says "'overlap' in [s['name'] for s in o['steps']]"

checking "the front as a picture and as a table"
run plan "$chain" --tile auto $few --emit front="$work/front.svg" \
  --emit front="$work/front.csv"
code_is 0
grep -q '<svg' "$work/front.svg" || fault "no picture"
head -1 "$work/front.csv" | grep -q '^arena_bytes,head_bytes' || fault "no table"
run plan "$chain" --emit front="$work/none.svg"
code_is 2
err_has "there is a front with --tile"

checking "misuse says what would be right"
run plan "$chain" --tile auto --max-extra-macs lots
code_is 2
err_has "such as 5%"
run plan "$chain" --tile 0-2:4:pad --max-extra-macs 5%
code_is 2
err_has "is for --tile auto"
run plan "$chain" --tile 0-9:4:pad
code_is 3
run plan "$chain" --tile auto --minimize traffic --onchip 8K
code_is 2
run plan "$chain" --max-extra-macs 5%
code_is 0
err_has "has no effect without --tile"
finish
