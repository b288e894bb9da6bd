#!/bin/sh
# .onnx files through the tool: open sizes, reordered files, weights elsewhere.
. tests/cli/lib

# make NAME OUT [EXTERNAL]: x and y of [N,1024] grow to 8 times their size, are
# summed up, and the sums are added; all that grows stands first
cat >"$work/make.py" <<'PYTHON'
import sys

def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])

def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value

def value(name, *dims):
    shape = b"".join(field(1, field(2 if isinstance(d, str) else 1, d))
                     for d in dims)
    return field(1, name) + field(
        2, field(1, field(1, 1) + field(2, shape)))

def node(kind, inputs, output, attribute=b""):
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output)
                 + field(3, "make_" + output) + field(4, kind) + attribute)

axis = field(5, field(1, "axis") + field(3, 1) + field(20, 2))
axes = field(5, field(1, "axes") + field(8, 1) + field(20, 7))
graph = field(2, "net")
for name in "xy":
    graph += node("Concat", [name] * 8, "long_" + name, axis)
for name in "xy":
    graph += node("ReduceMax", ["long_" + name], "sum_" + name, axes)
graph += node("Add", ["sum_x", "sum_y"], "both") + node("Add", ["both", "w"], "z")
data = field(9, b"\0\0\0\0")
if len(sys.argv) > 2:
    data = field(13, field(1, "location") + field(2, sys.argv[2])) + field(14, 1)
graph += field(5, field(1, 1) + field(2, 1) + field(8, "w") + data)
graph += field(11, value("x", "N", 1024)) + field(11, value("y", "N", 1024))
graph += field(12, value("z", "N", 1))
open(sys.argv[1], "wb").write(
    field(1, 8) + field(2, "a test") + field(8, field(2, 13)) + field(7, graph))
PYTHON
make() { python3 "$work/make.py" "$@"; }
make "$work/net.onnx"
net=$work/net.onnx

checking "sizes that the file leaves open"
run inspect "$net"
one_line_error 3 "sizes of inputs are left open; fix them with --dim N=N"
run inspect "$net" --dim M=1
one_line_error 2 "has no open size 'M'; there is N; a dimension of an input"
run inspect "$net" --dim N
one_line_error 2 "'N' is not NAME=N, such as batch=1"
run inspect "$net" --dim N=2 --json; code_is 0
json_says "o['graph']['ops'] == 6"
run inspect "$net" --dim x:0=2 --dim y:0=2 --dim N=2 --dump; code_is 0
out_has "^tensor x f32\[2,1024\] input"
out_has "^tensor w f32\[1\] const"
out_has "^op make_long_x concat ( x x x x x x x x ) -> ( long_x ) axis=1"
run inspect $graph --dim N=1
one_line_error 2 "only .onnx files do"

checking "a reordered file"
run plan "$net" --dim N=1 --memory plain --json -o "$work/out.onnx"; code_is 0
json_says "o['baseline']['peak_bytes'] == 69632"
json_says "o['order']['peak_bytes'] == 40960"
[ "$(stat -c %s "$net")" = "$(stat -c %s "$work/out.onnx")" ] ||
  fault "the size changed"
! cmp -s "$net" "$work/out.onnx" || fault "nothing moved"
run plan "$work/out.onnx" --dim N=1 --memory plain --order file --json
json_says "o['order']['peak_bytes'] == 40960"
run plan "$work/out.onnx" --dim N=1 --memory plain -o "$work/again.onnx"; code_is 0
cmp -s "$work/out.onnx" "$work/again.onnx" || fault "an order of its own moved"
run plan "$net" --dim N=1 --order file -o "$work/same.onnx"; code_is 0
cmp -s "$net" "$work/same.onnx" || fault "the file's order moved"
err_is_empty

checking "a note on request, and one only"
for round in 1 2; do
  run plan "$net" --dim N=1 --note -o "$work/note.onnx"; code_is 0; err_is_empty
  cp "$work/note.onnx" "$work/in.onnx"
  net=$work/in.onnx
done
net=$work/net.onnx
[ "$(grep -a -o "calm [0-9.]*; memory" "$work/note.onnx" | wc -l)" = 1 ] ||
  fault "there is not one note"

checking "weights in other files are found beside the model"
mkdir "$work/there"
make "$work/there/far.onnx" far.bin
run plan "$work/there/far.onnx" --dim N=1 -o "$work/there/out.onnx"; code_is 0
err_is_empty
run plan "$work/there/far.onnx" --dim N=1 -o "$work/out.onnx"; code_is 0
err_has "its weights are in other files, such as 'far.bin'"
make "$work/there/bad.onnx" ../far.bin
run inspect "$work/there/bad.onnx" --dim N=1
one_line_error 3 "must be a path inside the folder of the model"

checking "a file that is cut off"
head -c 200 "$net" >"$work/short.onnx"
run inspect "$work/short.onnx"
one_line_error 3 "byte [0-9]*: a field of"

models=${CALM_CASES:-../shared/cases}/models
if [ ! -d "$models" ]; then
  echo "  skipped: no cases at $models"
  [ "$failures" = 0 ] && exit 77
  finish
fi

checking "every public model that is sorted stays as it is in its own order"
for file in "$models"/*.onnx; do
  run plan "$file" --order file --layout size -o "$work/copy.onnx"
  case $(cat "$work/err") in
    *"left open"* | *"has a window"*) continue ;;
    *"must run first"*) continue ;;
  esac
  code_is 0
  cmp -s "$file" "$work/copy.onnx" || fault "$file moved"
done
finish
