#!/bin/sh
# Files appear whole or not at all, inputs are never overwritten, and a stdout
# that takes nothing is an error.
. tests/cli/lib

# cannot ARGUMENTS...: exit code 3 with a line, whatever is on stdout
cannot() {
  pattern=$1
  shift
  run "$@"
  code_is 3
  err_has "$pattern"
}

# The directory $work/out.d holds exactly these names.
directory_holds() {
  found=$(ls -A "$work/out.d" | tr '\n' ' ')
  [ "$found" = "$1" ] || fault "the directory holds '$found', not '$1'"
}

mkdir "$work/out.d"

checking "what --emit and -o write"
run plan $graph --emit "plan=$work/out.d/p.json" --emit "csv=$work/out.d/p.csv"
code_is 0; out_has "holes"; directory_holds "p.csv p.json "
python3 -m json.tool "$work/out.d/p.json" >/dev/null || fault "no JSON"
run plan $graph --json
cmp -s "$work/out" "$work/out.d/p.json" || fault "--json and --emit plan differ"
head -1 "$work/out.d/p.csv" | grep -q '^id,lower,upper,size,offset$' ||
  fault "no CSV header"
run pack "$work/out.d/p.csv" -o "$work/out.d/packed.csv"
code_is 0; directory_holds "p.csv p.json packed.csv "
cmp -s "$work/out.d/p.csv" "$work/out.d/packed.csv" ||
  fault "fixed offsets moved"
"$CALM" plan $graph --emit csv=/dev/stdout | cat >"$work/out"
out_has '^id,lower'; out_has "holes"

checking "an existing file is replaced and keeps its mode"
echo old >"$work/out.d/p.json"
chmod 640 "$work/out.d/p.json"
run plan $graph --emit "plan=$work/out.d/p.json"; code_is 0
grep -q schema "$work/out.d/p.json" || fault "not replaced"
[ "$(stat -c %a "$work/out.d/p.json")" = 640 ] || fault "the mode changed"
rm "$work/out.d/"*

checking "outputs that cannot be written leave nothing behind"
cannot "^calm: $work/none/p.json: cannot write: No such" \
  plan $graph --emit "plan=$work/none/p.json"
out_is_empty
cannot "^calm: $work/out.d: cannot write: Is a directory" \
  plan $graph --emit "plan=$work/out.d"
cannot "^calm: /dev/full: cannot write: No space" plan $graph --emit csv=/dev/full
cannot "$graph/x: cannot write: Not a directory" plan $graph --emit "csv=$graph/x"
run plan "$work/missing" --emit "plan=$work/out.d/p.json"; code_is 3
directory_holds ""
if [ "$(id -u)" = 0 ]; then
  echo "  skipped: root can write into every directory"
else
  chmod 500 "$work/out.d"
  cannot "cannot write: Permission denied" plan $graph --emit "csv=$work/out.d/x"
  chmod 700 "$work/out.d"
fi

checking "an input is never overwritten, by whatever name"
cp $graph "$work/in.cg"
run plan "$work/in.cg" --emit csv="$work/other.csv"; code_is 0
ln -s in.cg "$work/soft"
ln "$work/in.cg" "$work/hard"
cp "$work/other.csv" "$work/in.csv"
for name in in.cg soft hard ../$(basename "$work")/in.cg; do
  run plan "$work/in.cg" --emit "csv=$work/$name"
  one_line_error 2 "is an input, and is not overwritten"
  cmp -s $graph "$work/in.cg" || fault "$name was overwritten"
done
run pack "$work/in.csv" -o "$work/in.csv"
one_line_error 2 "is an input, and is not overwritten"
for name in /dev/stdout /dev/stderr "$work/out" "$work/err"; do
  run plan $graph --emit "csv=$name"
  one_line_error 2 "is where standard output or error goes already"
done
[ -L /dev/stdout ] || fault "/dev/stdout was replaced"
run plan $graph --emit "csv=$work/twice" --emit "plan=$work/twice"
one_line_error 2 "is named for two outputs"

checking "stdout that takes nothing"
for arguments in "plan $graph" "inspect $graph --json" "inspect $graph --dump" \
  "pack $work/other.csv" --help "help plan" --man --version; do
  "$CALM" $arguments >/dev/full 2>"$work/err" && code=0 || code=$?
  code_is 3; err_has "cannot write to standard output: No space left"
  "$CALM" $arguments >&- 2>"$work/err" && code=0 || code=$?
  code_is 3; err_has "cannot write to standard output: Bad file"
  { "$CALM" $arguments 2>"$work/err"; echo $? >"$work/code"; } |
    (exec <&-; sleep 0.3) || true
  code=$(cat "$work/code")
  [ "$code" = 0 ] || { code_is 3; err_has "standard output: Broken pipe"; }
done

checking "with stdout and stderr closed, no file is hit in their place"
"$CALM" plan "$work/in.cg" --emit "plan=$work/out.d/p.json" >&- 2>&- && code=0 ||
  code=$?
code_is 3
python3 -m json.tool "$work/out.d/p.json" >/dev/null || fault "no JSON"
cmp -s $graph "$work/in.cg" || fault "the input changed"
checking "an output that is a link stays one, and what it leads to is written"
: >"$work/real.json"
ln -s real.json "$work/link.json"
run plan "$graph" --emit "plan=$work/link.json"
code_is 0
[ -L "$work/link.json" ] || fault "the link is gone"
python3 -m json.tool "$work/real.json" >/dev/null || fault "nothing was written"

checking "a link that leads nowhere is not replaced"
ln -s none/x "$work/nowhere"
cannot "nowhere: cannot write: No such file" plan $graph --emit "plan=$work/nowhere"
[ -L "$work/nowhere" ] || fault "the link is gone"

checking "two outputs to one file by different names"
ln -s out.d "$work/same.d"
rm -f "$work/out.d/"*
for names in "out.d/p ./out.d/p" "out.d/p same.d/p" "real.json link.json"; do
  run plan $graph --emit "plan=$work/${names% *}" --emit "csv=$work/${names#* }"
  one_line_error 2 "is named for two outputs"
done
directory_holds ""
run plan $graph --emit plan=/dev/null --emit csv=/dev/null
code_is 0

checking "a limit on the size of files leaves no half of one"
(ulimit -f 0; "$CALM" plan $graph --emit "plan=$work/out.d/p" \
  2>&1 >/dev/null | cat >&3) 3>&1 | cat >"$work/err"
err_has "cannot write: File too large"
directory_holds ""
finish
