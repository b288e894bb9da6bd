#!/bin/sh
# Limits and Ctrl-C end a search with the best so far: a valid plan, exit code 0.
. tests/cli/lib

write_hard_graph "$work/hard.cg"
hard="$work/hard.cg"

plan_is_valid() {
  code_is 0; out_is_json
  json_says 'o["order"]["bound_bytes"] <= o["order"]["peak_bytes"]'
  json_says 'o["order"]["peak_bytes"] <= o["baseline"]["peak_bytes"]'
  cp "$work/out" "$work/plan.json"
  run check "$hard" "$work/plan.json"
  code_is 0
}

checking "the graph is hard enough"
run plan "$hard" --json --time-limit 0.2
json_says 'o["order"]["status"] == "feasible"'
json_says 'o["order"]["stopped"] == "time limit"'
plan_is_valid

checking "a limit of memory, and one of ticks that repeats exactly"
run plan "$hard" --json --memory-limit 256K --time-limit 5
plan_is_valid
run plan "$hard" --json --tick-limit 20000; cp "$work/out" "$work/first"
run plan "$hard" --json --tick-limit 20000
cmp -s "$work/out" "$work/first" || fault "two runs with a tick limit differ"
json_says 'o["order"]["stopped"] == "tick limit"'
plan_is_valid

checking "the first interrupt gives the best so far"
mkdir "$work/out.d"
interrupt "0.15" "$CALM" plan "$hard" --json --time-limit 0 \
  --emit "plan=$work/out.d/p.json"
err_has "interrupted; this is the best so far"
json_says '"interrupt" in (o["order"]["stopped"], o["layout"]["stopped"])'
[ "$(ls -A "$work/out.d")" = p.json ] || fault "something else was written"
cmp -s "$work/out" "$work/out.d/p.json" || fault "the file differs"
plan_is_valid

checking "an interrupt at once is no less an answer"
interrupt "0.02" "$CALM" plan "$hard" --json --time-limit 0
[ "$code" = 130 ] || plan_is_valid

checking "a second interrupt waits for a file that is being written, a third not"
mkfifo "$work/pipe"
"$CALM" plan $graph -o "$work/whole.cg" >/dev/null
python3 -c 'import signal, subprocess, sys, time
def start(*options):
    out = subprocess.Popen([tool, "plan", graph, *options],
                           stdout=subprocess.DEVNULL)
    for _ in range(2):
        time.sleep(0.5)
        out.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert out.poll() is None, "the second one ended it"
    return out
signal.signal(signal.SIGINT, signal.SIG_DFL)
tool, graph, pipe, whole = sys.argv[1:]
held = start("-o", pipe)
assert open(pipe, "rb").read() == open(whole, "rb").read(), "not all of it"
assert held.wait(20) == -signal.SIGINT, held.returncode
ended = start("--emit", "plan=" + pipe)
ended.send_signal(signal.SIGINT)
assert ended.wait(20) == -signal.SIGINT, ended.returncode' \
  "$CALM" $graph "$work/pipe" "$work/whole.cg" 2>"$work/err" ||
  fault "it was ended too early, or not at all"

checking "no file is left half-written, whenever the interrupts come"
for pause in 0.01 0.05 0.2; do
  rm -f "$work/out.d/"*
  interrupt "$pause 0.001 0.001" "$CALM" plan "$hard" --json --time-limit 0 \
    --emit "plan=$work/out.d/p.json"
  [ "$code" = 0 ] || [ "$code" = 130 ] || fault "exit code $code"
  for file in "$work/out.d/"*; do
    [ ! -e "$file" ] || python3 -m json.tool "$file" >/dev/null ||
      fault "half a file"
  done
done
finish
