#!/bin/sh
# Plans whose outputs lie over dying inputs: what their files say of themselves,
# and what calm check makes of it.
. tests/cli/lib

models=${CALM_CASES:-../shared/cases}/models

checking "what goes without a model"
run plan $graph --overlap on --kernels reference
code_is 0; err_has "overlap has no effect"
run plan $graph --rewrite-1x1
one_line_error 3 "rewrite-1x1 works on .tflite files"

if [ ! -d "$models" ]; then
  echo "  skipped: no cases at $models"
  finish
fi
kws=$models/mlperf_kws_ref_int8.tflite
marked=$work/marked.tflite
overlap="--kernels reference --overlap on"

# edit FILE "STATEMENT": change its bytes `b`, a bytearray, in Python
edit() {
  python3 -c 'import sys
b = bytearray(open(sys.argv[1], "rb").read())
exec(sys.argv[2])
open(sys.argv[1], "wb").write(b)' "$1" "$2"
}

# damage "STATEMENT": check a copy of the marked file with other bytes
damage() {
  cp "$marked" "$work/damaged.tflite"
  edit "$work/damaged.tflite" "$1"
  run check "$work/damaged.tflite" --json
}

checking "a library has to be named"
run plan "$kws" --overlap on -q
one_line_error 2 "kernels reference"

checking "a plan with overlaps is marked, and its file says how"
run plan "$kws" $overlap --json -o "$marked"
code_is 0
json_says 'o["runtime"]["mark"]["kernels"] == "reference"'
json_says 'o["runtime"]["mark"]["holds"] and o["layout"]["arena_bytes"] == 9792'
grep -a -q "^kernels reference$" "$marked" || fault "it cannot be read by eye"
grep -a -q "^views identity$" "$marked" || fault "no views, or too many"

checking "calm check judges it by what it says"
run check "$marked" -q
code_is 0; out_has "relies on the kernels 'reference'"; out_has "0 faults"
run check "$marked" --json
code_is 0
json_says 'o["valid"] and o["mark"]["holds"] and o["mark"]["fault"] is None'
json_says 'o["mark"]["kernels"] == "reference" and o["mark"]["edition"] >= 1'
json_says 'o["arena_bytes"] == 9792 and o["source"] == "OfflineMemoryAllocation"'
run check "$marked" --kernels reference -q; code_is 0
run check "$marked" $overlap -q; code_is 0
run inspect "$marked" -q; code_is 0; out_has "calm.overlap: the plan relies on"
run inspect "$marked" --json
json_says 'o["mark"]["holds"] and o["runtime"]["head_bytes"] == 9792'

checking "other kernels are a fault, with the remedy"
run check "$marked" --kernels cmsis-nn-c --json
code_is 1
json_says 'o["mark"]["holds"]'
json_says '[f["kind"] for f in o["faults"]] == ["mark"]'
json_says '"\x27reference\x27, not on \x27cmsis-nn-c\x27" in o["faults"][0]["text"]'
json_says '"--kernels cmsis-nn-c --overlap on" in o["faults"][0]["text"]'

checking "a plan for all kernels holds for each"
run plan "$kws" --kernels portable --overlap on --rewrite-1x1 -q \
  -o "$work/portable.tflite"
code_is 0
for kernels in reference portable cmsis-nn-c cmsis-nn-dsp cmsis-nn-mve \
  esp-nn-ansi; do
  run check "$work/portable.tflite" --kernels $kernels -q
  code_is 0; out_has "0 faults"
done

checking "other runtimes overlap nothing"
run check "$marked" --memory plain -q; code_is 1; out_has "share bytes"
run check "$marked" --subgraphs entry -q; code_is 1; out_has "share bytes"

checking "what was changed since is found out"
damage 'i = b.index(b"OfflineMemoryAllocation\0") # the name is no plan any more
b[i] = ord("o")'
code_is 0; json_says 'o["source"] is None and not o["mark"]["holds"]'
json_says 'any(w["kind"] == "mark" for w in o["warnings"])'
damage 'i = b.index(b"graphs ") + 7
b[i] = ord("0") if b[i] != ord("0") else ord("1")'
code_is 1
json_says 'not o["mark"]["holds"] and o["faults"][0]["kind"] == "mark"'
json_says '"plan it again" in o["faults"][0]["text"]'
damage 'i = b.index(b"offsets ") + 8
b[i] = ord("0") if b[i] != ord("0") else ord("1")'
code_is 1; json_says '"the offsets are not those" in o["faults"][0]["text"]'
damage 'i = b.index(b"edition 1"); b[i + 8] = ord("9")'
code_is 0; json_says 'o["valid"] and o["mark"]["holds"] and o["mark"]["edition"] == 9'
json_says '"edition 9 of the distances" in o["warnings"][0]["text"]'
damage 'i = b.index(b"kernels reference"); b[i + 8] = ord("R")'
code_is 1; json_says 'any("does not know" in f["text"] for f in o["faults"])'
damage 'i = b.index(b"views identity"); b[i + 6] = ord("I")'
code_is 1; json_says 'any("does not know" in f["text"] for f in o["faults"])'
damage 'i = b.index(b"version 1\nkernels"); b[i + 8] = ord("2")'
code_is 1; json_says 'not o["mark"]["holds"] and o["mark"]["kernels"] is None'
json_says '"is of a version" in o["mark"]["fault"]'

checking "an overlapping plan without a mark is a fault, with a hint"
damage 'i = b.index(b"calm.overlap\0"); b[i] = ord("C")'
code_is 1; json_says 'o["mark"] is None'
json_says 'all(f["kind"] == "overlap" for f in o["faults"]) and o["faults"]'
json_says 'any("would hold with --kernels" in w["text"] for w in o["warnings"])'
run check "$work/damaged.tflite" $overlap -q; code_is 0

checking "a plan without overlaps takes the mark away"
run plan "$marked" -q -o "$work/plain.tflite"
code_is 0; out_has "which relies on kernels"
run check "$work/plain.tflite" --json; code_is 0; json_says 'o["mark"] is None'
run plan "$marked" -q --no-offline-plan -o "$work/none.tflite"; code_is 0
! grep -a -q "^kernels reference$" "$work/none.tflite" ||
  run check "$work/none.tflite" --json
json_says 'o["mark"] is None'
run plan "$marked" -q $overlap -o "$work/again.tflite"; code_is 0
run check "$work/again.tflite" --json
code_is 0; json_says 'o["mark"]["holds"] and o["arena_bytes"] <= 9792'

checking "without --overlap files are what they were"
run plan "$kws" -q --kernels reference -o "$work/a.tflite"; code_is 0
! grep -a -q "calm.overlap" "$work/a.tflite" || fault "there is a mark"

checking "1x1 convolutions get a dilation, once"
run plan "$kws" --rewrite-1x1 -q --no-offline-plan -o "$work/dilated.tflite"
code_is 0
run inspect "$work/dilated.tflite" --dump
[ "$(grep -c "dilation=2,2" "$work/out")" = 4 ] || fault "not four of them"
run plan "$work/dilated.tflite" --rewrite-1x1
code_is 0; err_has "rewrite-1x1 has no effect"
finish
