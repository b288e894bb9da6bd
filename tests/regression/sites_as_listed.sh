#!/bin/sh
# The names in the table of sites are those that --rewrite takes, also of sites
# that are there only once folding has made one operator of two; a mode among
# names is told apart from a name that does not exist.
. tests/cli/lib

cat >"$work/net.cg" <<TEXT
calm-graph 1
graph g
tensor x f32[1,8,8,4] input
tensor a f32[1,8,8,4]
tensor b f32[1,8,8,4]
tensor c f32[1,8,8,8]
tensor d f32[1,8,8,8]
tensor e f32[1,8,8,8]
tensor y f32[1,8,8,2] output
tensor k f32[8] const
tensor w f32[2,3,3,8] const
op a relu ( x ) -> ( a )
op b tanh ( x ) -> ( b )
op cat concat ( a b ) -> ( c ) axis=3
op m mul ( c k ) -> ( d )
op n mul ( d k ) -> ( e )
op f conv2d ( e w ) -> ( y )
TEXT

checking "what 'all' applies can be asked for by name"
run plan "$work/net.cg" --rewrite all --json; code_is 0
names=$(python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
print(",".join(s["name"] for s in o["rewrite"]["sites"] if s["applied"]))' \
  "$work/out")
[ "$names" = "n,cat>n,n>f" ] || fault "other sites: $names"
cp "$work/out" "$work/kept"
run_json plan "$work/net.cg" --rewrite "$names"
all_say "o['rewrite']['applied'] == 3" "o['order']['peak_bytes'] == 3072"

checking "a mode among names"
for list in all,cat cat,auto none,cat 'paper,'; do
  run plan "$work/net.cg" --rewrite "$list"
  one_line_error 2 "stands alone"
done
run plan "$work/net.cg" --rewrite cat,nonesuch
one_line_error 2 "'nonesuch' is none of none, auto, all, paper and no site"
finish
