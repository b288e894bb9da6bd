#!/bin/sh
# calm bench: papers and sections, forms of output, and what cannot be written.
# Only sections that take no time are run.
. tests/cli/lib

quick="bench serenity --only table1,figure12"

checking "papers and sections are listed"
run bench --list; code_is 0; err_is_empty
out_has '^serenity: '; out_has '^cosa: '; out_has '^  figure10 '
run bench cosa --list; code_is 0; out_has '^  figure3 '; out_lacks '^serenity'
run bench nobody --list; one_line_error 2 "no paper 'nobody'"
run bench --list --json; one_line_error 2 "leave out --json"

checking "a paper is needed, and one that is there"
run bench; one_line_error 2 "calm bench serenity, or calm bench cosa"
run bench nobody; one_line_error 2 "there is serenity, cosa"
run bench serenity cosa; one_line_error 2 "one operand too many"
run bench serenity --budget 5; one_line_error 2 "no option of calm bench"

checking "sections that are not there"
for list in table7 "" table1, "table1 figure12" figure3; do
  run bench serenity --only "$list"; one_line_error 2 "--only: .*table1, "
done

checking "the terminal: a hundred columns, and the sections that were chosen"
run $quick; code_is 0; err_is_empty
out_has '^table1: '; out_has '^figure12: '; out_lacks '^figure10: '
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || fault "a line is long"

checking "JSON"
run $quick --json; code_is 0; out_is_json; err_is_empty
json_says 'o["schema"] == "calm/bench/1" and o["paper"] == "serenity"'
json_says '[s["name"] for s in o["sections"]] == ["table1", "figure12"]'
json_says 'all(set(c["name"] for c in t["columns"]) == set(r)
  for s in o["sections"] for t in s["tables"] for r in t["rows"])'
json_says 'o["missing"] is None'

checking "a folder: a page, a CSV per table, an SVG per figure, nothing else lost"
mkdir "$work/there"
echo mine >"$work/there/mine.csv"
run $quick -o "$work/there" --no-timing; code_is 0; err_is_empty
[ "$(cat "$work/there/mine.csv")" = mine ] || fault "another file was changed"
for file in serenity.md table1.csv figure12.csv networks/swiftnet-c.cg; do
  [ -s "$work/there/$file" ] || fault "no $file"
done
grep -q '](figure12' "$work/there/serenity.md" || fault "no figure in the page"
python3 - "$work/there" <<'END' || fault "the files are not what they should be"
import csv, pathlib, re, sys, xml.etree.ElementTree
folder = pathlib.Path(sys.argv[1])
page = (folder / "serenity.md").read_text()
for name in re.findall(r"\]\(([^)]*\.(?:svg|csv))\)", page):
    assert (folder / name).is_file(), name
for path in folder.glob("*.svg"):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg") and root.get("role") == "img", path
for path in folder.glob("[ft]*.csv"):
    rows = list(csv.reader(path.open()))
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1, path
END

checking "without timing every byte repeats, in a new folder as well"
cp "$work/out" "$work/first"
run $quick -o "$work/new/" --no-timing; code_is 0
cmp -s "$work/out" "$work/first" || fault "two runs differ"
rm "$work/there/mine.csv"
diff -r "$work/there" "$work/new" >/dev/null || fault "files of two runs differ"

checking "a folder that cannot be written is told before the work begins"
run bench serenity -o "$work/no/where"; one_line_error 3 "$work/no/where"
run bench serenity -o "$graph"; one_line_error 3 "$graph: cannot write into"
run bench serenity -o ""; one_line_error 2 "is not the name"
[ ! -d "$work/odd" ] && run bench nobody -o "$work/odd"; code_is 2
[ ! -e "$work/odd" ] || fault "a folder was made for nothing"
if [ "$(id -u)" != 0 ]; then
  mkdir -m 555 "$work/closed"
  run bench serenity -o "$work/closed"; one_line_error 3 "$work/closed"
fi

checking "a full disk"
if [ -e /dev/full ]; then
  "$CALM" $quick >/dev/full 2>"$work/err" && fault "a full disk is no success"
  err_has "cannot write to standard output"
fi
mkdir -p "$work/full/table1.csv"
run $quick -o "$work/full"; code_is 3; err_has "table1.csv: cannot write"
out_has '^table1: '

checking "a time limit: what it cut is told, and the rest is there"
run bench serenity --only figure3b,figure15 --time-limit 0.00001 --json
code_is 5; err_has "left out: figure3b: the time limit"
json_says '[s["name"] for s in o["sections"]] == ["figure15"]'
json_says 'all("not proved" in t["notes"][-1]
  for t in o["sections"][0]["tables"])'
run bench cosa --only figure3 --time-limit 0.00001; code_is 5
err_has "figure3: there is no nest to begin with"
run $quick --time-limit 0; code_is 0; out_lacks "not proved"

checking "seeds begin where they are told to"
run bench serenity --only figure15 --seed 5 --no-timing; code_is 0
out_has "drawn by seed 5"; out_has "Seeds 5 to 24"
run bench cosa --only figure6 --seed x; one_line_error 2 "seed: 'x'"

checking "jobs: the same bytes with any number, and none where none are shared"
run bench serenity --jobs 2; one_line_error 2 "serenity maps no layers"
for jobs in 1 2 5; do
  run bench cosa --only figure3,figure8 --no-timing --jobs $jobs
  [ "$code" = 0 ] || [ "$code" = 5 ] || fault "exit code $code"
  [ $jobs = 1 ] || cmp -s "$work/out" "$work/single" || fault "$jobs jobs differ"
  cp "$work/out" "$work/single"
done

checking "without the solver the rest is there; a solver that is none is told"
CALM_HIGHS=/no/where
export CALM_HIGHS
run bench cosa --only figure8 --json; code_is 5
err_has "left out: the solver HiGHS"
json_says '"HiGHS" in o["missing"] and [r["cycles"] is None
  for r in o["sections"][0]["tables"][0]["rows"]].count(True) == 1'

kill_all_processes() {
  python3 -c 'import os, signal, subprocess, sys
tool = subprocess.Popen(sys.argv[3:], stdout=open(sys.argv[1], "w"),
                        stderr=open(sys.argv[2], "w"))
while tool.poll() is None:
    try:
        for child in open(f"/proc/{tool.pid}/task/{tool.pid}/children").read().split():
            os.kill(int(child), signal.SIGKILL)
    except (FileNotFoundError, ProcessLookupError):
        pass
sys.exit(tool.wait())' "$work/out" "$work/err" "$@" && code=0 || code=$?
}

if [ -e "/proc/$$/task/$$/children" ]; then
  checking "processes that are killed are values that are missing"
  # The sanitizer looks for leaks in a process of its own, and waits for it.
  kill_all_processes env ASAN_OPTIONS=detect_leaks=0 \
    "$CALM" bench cosa --only figure8 --json --jobs 2
  code_is 5; out_is_json
  err_has "hybrid, 32 x 500 on layer 3_7_512_512_1, simba.yaml: its process went"
fi
unset CALM_HIGHS

checking "an interrupt leaves what is complete, and no page"
interrupt "0.4" "$CALM" bench cosa -o "$work/half"
[ "$code" = 130 ] || [ "$code" = 0 ] || fault "exit code $code after Ctrl-C"
[ "$code" = 0 ] || [ ! -e "$work/half" ] || fault "files of half a paper"
finish
