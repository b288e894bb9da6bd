#!/bin/sh
# calm pack: the columns of MiniMalloc in and out.
. tests/cli/lib

cat >"$work/b.csv" <<'END'
id,lower,upper,size
b1,0,3,4
b2,3,9,4
b3,0,9,4
b4,9,21,4
b5,0,21,4
END
sed 's/$/\r/' "$work/b.csv" >"$work/crlf.csv"

checking "the least arena, with a proof"
run pack "$work/b.csv" --json
code_is 0; out_is_json
json_says 'o["schema"] == "calm/pack/1" and o["status"] == "optimal"'
json_says 'o["arena_bytes"] == o["bound_bytes"] == 12'
json_says '[b["id"] for b in o["buffers"]] == ["b1", "b2", "b3", "b4", "b5"]'
run pack "$work/crlf.csv" --json
code_is 0; json_says 'o["arena_bytes"] == 12'

checking "the table"
run pack "$work/b.csv"
code_is 0; out_has "5 buffers; arena 12 bytes"; out_has "proved"
run pack "$work/b.csv" -v; out_has "^  id  *lower"

checking "the rows with their offsets"
run pack "$work/b.csv" -o "$work/placed.csv"; code_is 0
cut -d, -f1-4 "$work/placed.csv" | cmp -s - "$work/b.csv" ||
  fault "the rows changed"
head -1 "$work/placed.csv" | grep -q '^id,lower,upper,size,offset$' ||
  fault "no offset column"
run pack "$work/placed.csv" --json
code_is 0; json_says 'o["arena_bytes"] == 12'

checking "a budget"
run pack "$work/b.csv" --budget 12; code_is 0; out_has "budget  12 bytes: met"
run pack "$work/b.csv" --budget 11
code_is 1; out_has "missed by 1; proved"; err_has "bytes does not fit into the budget of [0-9]"

checking "fixed offsets that collide, and rows that are none"
printf 'id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n' >"$work/bad.csv"
run pack "$work/bad.csv"; one_line_error 3 "^calm: $work/bad.csv"
printf 'id,lower,upper,size\na,0,2,big\n' >"$work/bad.csv"
run pack "$work/bad.csv"; one_line_error 3 "^calm: $work/bad.csv:2:7"
printf 'id,lower,upper\na,0,2\n' >"$work/bad.csv"
run pack "$work/bad.csv"; one_line_error 3 "^calm: $work/bad.csv"
checking "buffers that collide are named"
printf 'id,lower,upper,size,offset\nfoo,0,1,5,0\nbar,0,1,5,4\n' >"$work/hit.csv"
run pack "$work/hit.csv"
one_line_error 3 "hit.csv: 'foo' and 'bar' overlap at their fixed offsets 0 and 4"
checking "what pack writes, pack reads: groups that overlap in time"
printf 'id,lower,upper,size,group\nfoo,0,2,5,g\nbar,1,3,9,g\nbaz,0,3,2,\n' \
  >"$work/group.csv"
run pack "$work/group.csv" -o "$work/placed.csv"; code_is 0
head -1 "$work/placed.csv" | grep -q '^id,lower,upper,size,offset,group$' ||
  fault "no column of groups"
run pack "$work/placed.csv"; code_is 0; out_has "arena 11 bytes"

checking "what plan writes, pack reads: a name with a line end"
printf 'calm-graph 1\ngraph g\ntensor "a\\nb" 1 input\nop o opaque ( "a\\nb" ) -> ( )\n' \
  >"$work/line.cg"
run plan "$work/line.cg" --emit "csv=$work/line.csv"; code_is 0
run pack "$work/line.csv"; code_is 0; out_has 'a.n'
finish
