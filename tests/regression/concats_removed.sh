#!/bin/sh
# Rewriting took a concat away that others need, or one over another axis, or
# put a kernel apart that is one in groups: microsoft/onnxruntime #20606, #4110,
# #12498 and PR 2216, ROCm/AMDMIGraphX #2859, Tencent/ncnn #3194.
. tests/cli/lib

# net LAYOUT: cat of a (4 channels) and b (4), then the lines on stdin
net() {
  shape() { [ "$layout" = nchw ] && echo "f32[1,$1,8,8]" || echo "f32[1,8,8,$1]"; }
  layout=$1
  cat >"$work/net.cg" <<TEXT
calm-graph 1
graph g layout=$layout
tensor x $(shape 4) input
tensor a $(shape 4)
tensor b $(shape 4)
tensor c $(shape 8)$2
tensor y $(shape 8) output
tensor w f32[8,8,1,1] const
tensor v f32[8,1,1,8] const
tensor g f32[8,2,1,1] const
tensor s f32[8] const
op a relu ( x ) -> ( a )
op b tanh ( x ) -> ( b )
TEXT
  cat >>"$work/net.cg"
}

# reason SITE REASON: it is left alone for that
left() {
  run_json plan "$work/net.cg" --rewrite all
  all_say "{s['name']: s['reason'] for s in o['rewrite']['sites'] \
if not s['applied']} == {'$1': '$2'}" "o['rewrite']['applied'] == 0"
}
applied() {
  run_json plan "$work/net.cg" --rewrite all -o "$work/out.cg"
  all_say "[s['name'] for s in o['rewrite']['sites'] if s['applied']] == $1"
}

checking "groups (onnxruntime #12498, AMDMIGraphX #2859)"
net nchw "" <<TEXT
op cat concat ( a b ) -> ( c ) axis=1
op f conv2d ( c g ) -> ( y ) group=4
TEXT
left "cat>f" "grouped convolution"

checking "the axis counted from the back, and another (ncnn #3194)"
for axis in 1 -3; do
  net nchw "" <<TEXT
op cat concat ( a b ) -> ( c ) axis=$axis
op f conv2d ( c w ) -> ( y )
TEXT
  applied "['cat>f']"
done
for axis in 3 -1; do
  net nhwc "" <<TEXT
op cat concat ( a b ) -> ( c ) axis=$axis
op f conv2d ( c v ) -> ( y )
TEXT
  applied "['cat>f']"
done
net nchw "" <<TEXT
tensor z f32[1,4,16,8]
tensor u f32[8,4,1,1] const
tensor t f32[1,8,16,8] output
op rows concat ( a b ) -> ( z ) axis=-2
op f conv2d ( z u ) -> ( t )
op h opaque ( a ) -> ( y )
TEXT
left "rows>f" "the concat is not over channels"

checking "a concat that is an output stays one (onnxruntime #4110)"
net nchw " output" <<TEXT
op cat concat ( a b ) -> ( c ) axis=1
op f conv2d ( c w ) -> ( y )
TEXT
left "cat>f" "the concat is an output of the graph"

checking "readers of other kinds keep the concat (onnxruntime #20606)"
net nchw "" <<TEXT
tensor z f32[1,8,8,8] output
op cat concat ( a b ) -> ( c ) axis=1
op f conv2d ( c w ) -> ( y )
op h opaque ( c ) -> ( z )
TEXT
applied "['cat>f']"
grep -q '^op h opaque ( c )' "$work/out.cg" || fault "h reads something else"
grep -q '^op cat concat ( a b )' "$work/out.cg" || fault "the concat is gone"

checking "further outputs of a normalization are looked at (PR 2216)"
net nchw "" <<TEXT
tensor m f32[8] output
op cat concat ( a b ) -> ( c ) axis=1
op n batch_normalization ( c s s s s ) -> ( y m )
TEXT
left "cat>n" "it has several outputs, or none"
finish
