#!/bin/sh
# Help, version and manual page come from the tables and exit with 0.
. tests/cli/lib

checking "the version"
run --version; code_is 0; out_has '^calm [0-9]*\.[0-9]*\.[0-9]*$'; err_is_empty

checking "the help of the tool names every command and exit code"
run --help; code_is 0; err_is_empty
for word in inspect plan check pack eval map bench; do out_has "calm $word "; done
for number in 0 1 2 3 4 5 130; do out_has "^ *$number  "; done
cp "$work/out" "$work/help"
run help; cmp -s "$work/out" "$work/help" || fault "calm help differs"
run -h; cmp -s "$work/out" "$work/help" || fault "calm -h differs"

checking "the help of each command, three ways"
for command in inspect plan check pack eval map bench; do
  run help $command; code_is 0; err_is_empty
  out_has "^calm $command "; out_has "Examples:"; out_has "  --json "
  cp "$work/out" "$work/help"
  run $command --help; cmp -s "$work/out" "$work/help" || fault "--help differs"
  run $command -h; cmp -s "$work/out" "$work/help" || fault "-h differs"
  [ "$(awk 'length > 80' "$work/help" | wc -l)" = 0 ] || fault "a line is long"
done

checking "help shows the options of its command only"
run help pack; out_has "  --layout "; out_lacks "  --order "; out_has "  -o, --output FILE"
run help inspect; out_has "  --dump "; out_lacks "  --budget "
run help plan; out_has "  --\[no-\]dp-cuts "; out_has "  --time-limit SECONDS .*\[60\]"

checking "the manual page"
run --man; code_is 0; err_is_empty; out_has '^\.TH CALM 1'
for section in NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS "EXIT STATUS" \
  ENVIRONMENT SIGNALS; do
  out_has "^\.SH $section"
done
cp "$work/out" "$work/calm.1"
for option in order budget inplace emit dump no-color; do
  name=$(echo "$option" | sed 's/^no-//;s/-/\\\\-/g')
  out_has "$name"
done
if command -v groff >/dev/null; then
  groff -man -Tascii -ww -z "$work/calm.1" 2>"$work/err" || fault "groff fails"
  err_is_empty
fi

checking "every option has its place in docs/command-line.md"
for command in inspect plan check pack eval map bench; do
  run help $command
  for option in $(sed -n \
    's/^ *\(-[a-z], \)\{0,1\}--\(\[no-\]\)\{0,1\}\([a-z0-9-]*\).*/\3/p' \
    "$work/out" | sort -u); do
    grep -q -e "\`--$option\`" docs/command-line.md ||
      fault "docs/command-line.md lacks --$option"
  done
done

checking "the rules of --rewrite: in help, manual page and docs/rewriting.md"
run help rules; code_is 0; err_is_empty
[ "$(awk 'length > 80' "$work/out" | wc -l)" = 0 ] || fault "a line is long"
run_docs='import re, sys
rules = re.sub(r"\n {12}", " ", open(sys.argv[1]).read())
told = [tuple(x) for x in re.findall(
    r"(\w+), off with.*\n +from +(.*)\n +identity +(.*)\n +cost +(.*)", rules)]
rows = [tuple(line.strip("| \n").replace("`", "").split(" | "))
        for line in open("docs/rewriting.md") if line.startswith("| `")]
page = open(sys.argv[2]).read().replace("\\-", "-")
sys.exit(not told or any(rule not in rows or not all(w in page for w in rule)
                         for rule in told))'
python3 -c "$run_docs" "$work/out" "$work/calm.1" || fault "they differ"

checking "help of what does not exist, and nothing at all"
run help nothing; one_line_error 2 "unknown command 'nothing'"
run; one_line_error 2 "a command is missing"
finish
