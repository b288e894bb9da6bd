#!/bin/sh
# Results that a file brings back are not believed: an edited, cut or foreign
# journal changes no answer, writes nothing to the terminal, and stays.
# (NVlabs/timeloop #45: reporting paths that nobody had tried.)
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: Buffer, class: SRAM, attributes: {depth: 32, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: gemm_ABZ, M: 4, N: 6, K: 8}" >"$work/gemm.yaml"
map() {
  run map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" --json \
    --journal "$@"
}

map "$work/good"; code_is 0; cp "$work/out" "$work/first"

# edit NAME "PYTHON about the answer a"
edit() {
  python3 -c 'import json, sys
line = json.loads(open(sys.argv[1]).read())
a = line["answer"]
exec(sys.argv[3])
open(sys.argv[2], "w").write(json.dumps(line, separators=(",", ":")) + "\n")' \
    "$work/good" "$work/edited" "$1"
}

checking "answers that somebody edited are found out, and made anew"
while read -r change; do
  edit "$change"
  map "$work/edited"; code_is 0
  err_has "edited: what it says of gemm is not so: .*mapped again"
  [ "$(wc -l <"$work/err")" = 1 ] || fault "$change: not one line on stderr"
  cmp -s "$work/out" "$work/first" || fault "$change: another answer"
  [ "$(wc -l <"$work/edited")" = 2 ] || fault "$change: the new answer is not added"
done <<'END'
a["cycles"] = 1
a["value"] = a["bound"] = 1
a["bound"] = 1e30
a["bound"] = -5
a["nest"]["loops"] = []
a["nest"]["loops"][0][3] = 10 ** 15
a["nest"]["kept"] = [99] * 2
a["nest"] = None
a["front"] = [{}] * 3
a["bounds"] = [1, 1, 1]
a["outcome"] = 99
a["outcome"] = 2
a["states"] = -1
a["seconds"] = "long"
a["reason"] = "one\ntwo"
a["reason"] = "\x1b[31mred"
END

checking "lines of others, garbage, and a line that was cut"
{ echo '{"key":"","options":"","limits":"","answer":{}}'; printf 'no \001 line\n'
  cat "$work/good"; head -c 300 "$work/good"; } >"$work/mixed"
cp "$work/mixed" "$work/before"
map "$work/mixed"; code_is 0; err_is_empty
cmp -s "$work/out" "$work/first" || fault "another answer"
cmp -s "$work/mixed" "$work/before" || fault "the journal is not as it was"

checking "an empty one, and another machine's"
: >"$work/empty"; map "$work/empty"; code_is 0
cmp -s "$work/out" "$work/first" || fault "another answer"
sed -i 's/depth: 32/depth: 16/' "$work/arch.yaml"
map "$work/good"; code_is 0
cmp -s "$work/out" "$work/first" && fault "the answer for another machine"

checking "what is no journal, or no file"
printf 'notes\n' >"$work/notes"
map "$work/notes"; one_line_error 3 "notes: is no journal of calm map, and stays as it is"
map "$work"; one_line_error 3 "cannot write: Is a directory"
map "$work/missing/j"; one_line_error 3 "missing/j: cannot write: No such file"

checking "two runs at once"
rm -f "$work/both"
"$CALM" map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" --json \
  --journal "$work/both" >"$work/other" 2>&1 &
map "$work/both"; wait $!
cmp -s "$work/out" "$work/other" || fault "two answers"
python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$work/both" ||
  fault "a line is torn"
finish
