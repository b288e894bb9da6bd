#!/bin/sh
# calm report: pages of what other commands said; tests/page looks at them in a
# browser.
. tests/cli/lib

# The data of a page, read as the browser reads it.
page_says() {
  python3 -c 'import json, sys
from html.parser import HTMLParser
class Page(HTMLParser):
    here, data, ends = False, "", 0
    def handle_starttag(self, tag, attributes):
        self.here = dict(attributes).get("id") == "calm-data"
        if tag in ("link", "img", "iframe") or "src" in dict(attributes):
            sys.exit("the page asks for " + tag)
    def handle_endtag(self, tag):
        self.here, self.ends = False, self.ends + (tag == "script")
    def handle_data(self, data):
        self.data += data if self.here else ""
page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
o = json.loads(page.data)
sys.exit(page.ends != 2 or not eval(f"({sys.argv[2]})"))' "$1" "$2" ||
    fault "not so: $2"
}

run plan $graph --rewrite auto --json; code_is 0
cp "$work/out" "$work/plan.json"
run inspect $graph --json; code_is 0
cp "$work/out" "$work/inspect.json"

checking "a page holds its documents"
run report "$work/plan.json" "$work/inspect.json" -o "$work/page.html"
code_is 0; out_is_empty; err_is_empty
page_says "$work/page.html" 'len(o["documents"]) == 2'
page_says "$work/page.html" 'o["documents"][0]["data"] == json.load(open(
  sys.argv[1].replace("page.html", "plan.json")))'
page_says "$work/page.html" 'o["title"].endswith("plan.json")'
run report "$work/plan.json" --title "A <title> & more"; code_is 0
page_says "$work/out" 'o["title"] == "A <title> & more"'
out_has "<title>A &lt;title> &amp; more</title>"
run report "$work/plan.json" "$work/inspect.json"; cp "$work/out" "$work/one"
run report "$work/plan.json" "$work/inspect.json"
cmp -s "$work/out" "$work/one" || fault "two runs differ"

checking "--emit html is the page of what --json says"
run plan $graph --rewrite auto --emit html="$work/emitted.html"; code_is 0
page_says "$work/emitted.html" 'o["documents"][0]["data"] == json.load(open(
  sys.argv[1].replace("emitted.html", "plan.json")))'
run inspect $graph --emit html="$work/inspect.html"; code_is 0
page_says "$work/inspect.html" 'o["documents"][0]["name"].endswith(".cg")'
write_small_machine "$work/arch.yaml"
cat >"$work/layer.yaml" <<'END'
problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 6, N: 4, K: 10}}
END
run map --arch "$work/arch.yaml" --problem "$work/layer.yaml" \
  -o "$work/nest.yaml" --emit html="$work/map.html"; code_is 0
page_says "$work/map.html" 'o["documents"][0]["data"]["schema"] == "calm/map/1"'
run eval --arch "$work/arch.yaml" --problem "$work/layer.yaml" --mapping \
  "$work/nest.yaml" --mapping "$work/nest.yaml" --emit html="$work/eval.html"
code_is 0; [ -s "$work/eval.html" ] || fault "no page of two nests"

checking "names that try to leave the data stay in it"
cat >"$work/hostile.cg" <<'END'
calm-graph 1
graph "</script><script>alert(1)</script>"
tensor "<!--<script>" 8 input
tensor "\xff\xfe]]>" 8 output
op "</SCRIPT >" relu ( "<!--<script>" ) -> ( "\xff\xfe]]>" )
END
run plan "$work/hostile.cg" --emit html="$work/hostile.html"; code_is 0
page_says "$work/hostile.html" \
  'o["documents"][0]["data"]["order"]["sequence"] == ["</SCRIPT >"]'

checking "what is no document"
report() { run report "$@" -o "$work/no.html"; }
report "$work/nothing.json"; one_line_error 3 "nothing.json: cannot read"
report "$work"; one_line_error 3 "Is a directory"
printf '{"schema": "calm/plan/1",\n "x": }' >"$work/bad.json"
report "$work/bad.json"; one_line_error 3 "bad.json:2:[0-9]*: is not JSON"
report "$work/plan.json" "$work/bad.json"; one_line_error 3 "bad.json:2"
: >"$work/bad.json"; report "$work/bad.json"; one_line_error 3 "bad.json:1"
echo '[1, 2]' >"$work/bad.json"
report "$work/bad.json"; one_line_error 3 "no document of calm"
echo '{"schema": "other/1"}' >"$work/bad.json"
report "$work/bad.json"; one_line_error 3 "document of 'other/1'"
printf '{"schema": "calm/plan/1", "x": "\377"}' >"$work/bad.json"
report "$work/bad.json"; one_line_error 3 "is not JSON"
python3 -c 'print("{\"schema\": \"calm/plan/1\", \"x\": " + "[" * 100000)' \
  >"$work/bad.json"
report "$work/bad.json"; one_line_error 3 "is not JSON"
report; one_line_error 2 "FILE.json"
[ ! -e "$work/no.html" ] || fault "a page was written all the same"
run report "$work/plan.json" -o "$work/plan.json"
one_line_error 2 "is an input"

finish
