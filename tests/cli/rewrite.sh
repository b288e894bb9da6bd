#!/bin/sh
# calm plan --rewrite: known least peaks, what is said of sites, and misuse.
. tests/cli/lib

cells=tests/graph/swiftnet_cell

# least_is GRAPH PARTIALS PEAK: --rewrite auto finds it, proved
least_is() {
  run plan "$1" --memory plain --rewrite auto --partials "$2" --json
  code_is 0
  json_says "o['order']['peak_bytes'] == o['layout']['arena_bytes'] == $3"
  json_says "o['order']['status'] == 'optimal' and o['rewrite']['proved']"
}

checking "the known least peaks of SwiftNet's cells, proved"
least_is ${cells}_a.cg accumulate 188160
least_is ${cells}_b.cg accumulate 53312
least_is ${cells}_c.cg accumulate 16856
least_is ${cells}_a.cg add-inplace 200704
least_is ${cells}_b.cg add-inplace 68992
least_is ${cells}_c.cg add-inplace 19404
least_is ${cells}_a.cg add-copy 213248
least_is ${cells}_b.cg add-copy 75264
least_is ${cells}_c.cg add-copy 19404
least_is tests/graph/darts_v2_normal.cg accumulate 752640

cases=${CALM_CASES:-../shared/cases}/graphs
if [ -d "$cases" ]; then
  checking "the known least peaks of stacks and of the whole network, proved"
  least_is "$cases/stack3_nasnet.cg" accumulate 131072
  least_is "$cases/stack3_darts_v1.cg" accumulate 139264
  least_is "$cases/stack3_darts_v2.cg" accumulate 122880
  least_is "$cases/swiftnet_vwwc19.cg" accumulate 200704
  least_is "$cases/stack3_nasnet.cg" add-inplace 147456
  least_is "$cases/stack3_darts_v1.cg" add-inplace 155648
  least_is "$cases/stack3_darts_v2.cg" add-inplace 139264
  least_is "$cases/swiftnet_vwwc19.cg" add-inplace 200704
  least_is "$cases/stack3_nasnet.cg" add-copy 163840
  least_is "$cases/stack3_darts_v1.cg" add-copy 163840
  least_is "$cases/stack3_darts_v2.cg" add-copy 147456
  least_is "$cases/swiftnet_vwwc19.cg" add-copy 213248
else
  echo "  skipped: no cases at $cases"
fi

checking "wide sums take more"
run plan ${cells}_c.cg --rewrite all --accumulator int32 --json
code_is 0
json_says "o['order']['peak_bytes'] == 28028"
run plan ${cells}_a.cg --rewrite auto --accumulator int32 --json
json_says "o['order']['peak_bytes'] == 275968"

# The paper counts the input as a node, and no concats; sums of parts are none.
checking "the paper's selection has the paper's number of nodes"
for expected in a:33 b:28; do
  run plan ${cells}_${expected%:*}.cg --memory serenity --rewrite paper \
    -o "$work/paper.cg" --json
  code_is 0
  json_says "o['rewrite']['mode'] == 'paper' and not o['rewrite']['proved']"
  nodes=$(grep '^op' "$work/paper.cg" | grep -vc -e ' concat ' -e ' partial_sum ')
  [ $((nodes + 1)) = "${expected#*:}" ] || fault "$((nodes + 1)) nodes in $expected"
done

checking "the baseline is that of the original"
run plan $graph --json
json_says "o['rewrite'] == {'mode': 'none', 'sites': []}"
before=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["baseline"])' "$work/out")
run plan $graph --rewrite all --json
json_says "o['baseline'] == $before"
json_says "o['rewrite']['applied'] == 10 == len(o['rewrite']['sites'])"
json_says "all(s['applied'] and s['reason'] is None for s in o['rewrite']['sites'])"

checking "what single sites are worth"
run plan $graph --rewrite auto --json
json_says "[s for s in o['rewrite']['sites'] if s['name'] == 'a_cat19>a19_conv'][0]['bytes_alone'] == 12544"
json_says "all(s['bytes_together'] > 0 for s in o['rewrite']['sites'] if s['applied'])"
json_says "all(s['reason'] for s in o['rewrite']['sites'] if not s['applied'])"

checking "sites by name, alone and by their concat"
run plan $graph --rewrite 'a_cat19>a19_conv,a_cat8' --json
code_is 0
json_says "[s['name'] for s in o['rewrite']['sites'] if s['applied']] == ['a_cat8>a8_conv', 'a_cat19>a19_conv']"

checking "what another site has to open is not rewritten without it"
cat >"$work/opened.cg" <<'CG'
calm-graph 1
graph opened
tensor x f32[1,8,8,4] input
tensor a f32[1,8,8,4]
tensor b f32[1,8,8,4]
tensor c f32[1,8,8,8]
tensor r f32[1,8,8,8]
tensor w f32[2,1,1,8] const
tensor y f32[1,8,8,2] output
op fa conv2d ( x ) -> ( a )
op fb conv2d ( x ) -> ( b )
op cat concat ( a b ) -> ( c ) axis=3
op relu relu ( c ) -> ( r )
op conv conv2d ( r w ) -> ( y )
CG
run plan "$work/opened.cg" --rewrite 'relu>conv' -v
code_is 0; out_has "0 of 2 sites"; out_has "with the site that opens it"
run plan "$work/opened.cg" --rewrite 'cat>relu,relu>conv'
code_is 0; out_has "2 of 2 sites"

checking "the same bytes each time, and every rule can be off"
run plan $graph --rewrite auto --partials add-copy --json
cp "$work/out" "$work/first"
run plan $graph --rewrite auto --partials add-copy --json
cmp -s "$work/out" "$work/first" || fault "two runs differ"
run plan $graph --rewrite all --no-rewrite-channels --no-rewrite-kernels --json
json_says "o['rewrite']['applied'] == 0 and o['order']['peak_bytes'] == 275968"

checking "the table: at most 100 columns, all sites with -v"
run plan $graph --rewrite auto
code_is 0; out_has "188,160"; out_has "a_cat19>a19_conv"; out_has "proved"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
run plan $graph --rewrite auto -v
out_has "site left alone"; out_has "nothing would be gained"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"

run plan $graph --rewrite paper -v
out_has "the paper does not select it"

checking "a text is written, read back, and checked with its plan"
run plan $graph --rewrite auto -o "$work/less.cg" --emit plan="$work/plan.json"
code_is 0
run check "$work/less.cg" "$work/plan.json"
code_is 0
run plan "$work/less.cg" --json
json_says "o['order']['peak_bytes'] == 188160"
run check $graph "$work/plan.json"
one_line_error 3 "plan of a rewritten network"

checking "nothing to rewrite: the plan is the one without"
cat >"$work/chain.cg" <<'CG'
calm-graph 1
graph chain
tensor a 10 input
tensor b 20
tensor c 5 output
op f conv2d ( a ) -> ( b )
op g conv2d ( b ) -> ( c )
CG
run plan "$work/chain.cg" --rewrite auto -o "$work/same.cg"
code_is 0; out_has "nothing to rewrite"
run plan "$work/chain.cg" -o "$work/plain.cg"
cmp -s "$work/same.cg" "$work/plain.cg" || fault "the files differ"

checking "misuse"
run plan $graph --rewrite cat19
one_line_error 2 "no site; there is a_cat19>a19_conv, "
run plan $graph --rewrite ,
one_line_error 2 "list of sites is empty"
run plan $graph --partials sometimes
one_line_error 2 "auto|accumulate|add-inplace|add-copy"
run plan $graph --rewrite auto --memory tflm --scratch $graph
one_line_error 2 "scratch names operators of the file"
run plan $graph --partials add-copy
code_is 0; err_has "partials has no effect without --rewrite"
run plan $graph --no-rewrite-sums
code_is 0; err_has "no-rewrite-sums has no effect without --rewrite"
run inspect $graph --rewrite auto
one_line_error 2 "belongs to plan"
finish
