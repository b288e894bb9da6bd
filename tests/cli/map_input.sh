#!/bin/sh
# calm map: what is given to it that no mapping comes of, and what happens to a
# run on its way.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: Buffer, class: SRAM, attributes: {depth: 32, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
cat >"$work/net.cg" <<'END'
calm-graph 1
graph net
tensor x f32[1,8,8,2] input
tensor w f32[4,3,3,2] const
tensor v f32[4,1,1,4] const
tensor y f32[1,8,8,4]
tensor z f32[1,8,8,4] output
op a conv2d ( x w - ) -> ( y ) stride=1,1 pad=same
op b conv2d ( y v - ) -> ( z ) stride=1,1 pad=same
END

# gemm M N K: maps such a layer; more arguments follow
gemm() {
  echo "problem: {shape: gemm_ABZ, M: $1, N: $2, K: $3}" >"$work/gemm.yaml"
  shift 3
  run map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" "$@"
}

checking "bounds that are none"
for bound in 0 -1 1.5 many 1e99 9007199254740993 99999999999999999999; do
  gemm "$bound" 1 1; one_line_error 3 "gemm.yaml:1:[0-9]*: "
done
gemm 3000000000000 3000000000000 1; one_line_error 3 "more than 2^53 iterations"
echo "problem: {shape: gemm_ABZ, M: 4, N: 4}" >"$work/short.yaml"
run map --arch "$work/arch.yaml" --problem "$work/short.yaml"
one_line_error 3 "short.yaml:1:.*no bound for dimension K"

checking "all ones, large primes, large powers"
for bounds in "1 1 1" "1000000007 1 1" "1000000000 1 1" "2 999999937 3"; do
  # shellcheck disable=SC2086
  gemm $bounds --json; code_is 0
  json_says 'o["layers"][0]["status"] == "optimal"'
done

checking "more tiles than the exact mapper does with, and a way out"
gemm 735134400 1 1; code_is 3; err_has "gemm: the exact mapper does with .*--mapper hybrid"
gemm 735134400 1 1 --mapper hybrid --samples 1000; code_is 0

checking "counts that are not exact: the one reason that there is"
gemm 9007199254740991 1 1; code_is 4
err_has "gemm: no nest was found: DRAM: A has counts beyond"

checking "machines that are none"
while read -r change; do
  sed "$change" "$work/arch.yaml" >"$work/odd.yaml"
  echo "problem: {shape: gemm_ABZ, M: 4, N: 4, K: 4}" >"$work/gemm.yaml"
  run map --arch "$work/odd.yaml" --problem "$work/gemm.yaml"
  one_line_error 3 "odd.yaml:[0-9]*:[0-9]*: "
done <<'END'
s/depth: 32/depth: -3/
s/depth: 32/depth: x/
s/class: SRAM/class: sramm/
s/class: intmac/class: intmac, spatial: {meshX: 0}/
s/class: intmac/class: intmac, spatial: {meshX: -2}/
s/class: intmac/class: intmac, spatial: {meshX: 1000000000000}/
s/version: 0.4/version: 9/
s/^  - !Component {name: mac.*//
END

checking "a fan-out of a million"
sed 's/class: intmac/class: intmac, spatial: {meshX: 1000, meshY: 1000}/' \
  "$work/arch.yaml" >"$work/wide.yaml"
run map --arch "$work/wide.yaml" --problem "$work/gemm.yaml" --json
code_is 0; json_says 'o["layers"][0]["status"] == "optimal"'

checking "no room at all"
sed 's/depth: 32/depth: 2/' "$work/arch.yaml" >"$work/tight.yaml"
run map --arch "$work/tight.yaml" --problem "$work/gemm.yaml"
code_is 1; err_has "gemm: no mapping fits: Buffer keeps .* capacity 2; it needs 3"

checking "as many processes as one likes"
run map --arch "$work/arch.yaml" "$work/net.cg" --json; cp "$work/out" "$work/first"
for jobs in 0 1 2 64 1000000; do
  run map --arch "$work/arch.yaml" "$work/net.cg" --json --jobs $jobs; code_is 0
  cmp -s "$work/out" "$work/first" || fault "--jobs $jobs: another answer"
done
for jobs in -1 x 1e9 99999999999999999999; do
  run map --arch "$work/arch.yaml" "$work/net.cg" --jobs $jobs
  one_line_error 2 "jobs: '$jobs' is not a whole number"
done

kill_a_process() {
  python3 -c 'import os, signal, subprocess, sys, time
tool = subprocess.Popen(sys.argv[3:], stdout=open(sys.argv[1], "w"),
                        stderr=open(sys.argv[2], "w"))
path = f"/proc/{tool.pid}/task/{tool.pid}/children"
for _ in range(500):
    children = open(path).read().split()
    if len(children) == 2: break
    time.sleep(0.02)
os.kill(int(children[0]), signal.SIGKILL)
time.sleep(0.3)
tool.send_signal(signal.SIGINT)
sys.exit(tool.wait(60))' "$work/out" "$work/err" "$@" && code=0 || code=$?
}

if [ -e "/proc/$$/task/$$/children" ]; then
  checking "a process that is killed is one layer that failed"
  kill_a_process "$CALM" map --arch "$work/arch.yaml" "$work/net.cg" --json \
    --jobs 2 --mapper random --valid 1000000000000 --time-limit 0
  code_is 5; err_has ": the mapper went down with signal 9"
  json_says 'sorted(l["status"] for l in o["layers"]) == ["failed", "feasible"]'
fi

checking "outputs that cannot be written leave the result, and nothing half done"
small() { gemm 4 4 4 "$@"; }
small -o "$work/missing/nest.yaml"; code_is 3; out_is_empty
err_has "missing/nest.yaml: cannot write"
small -o "$work"; code_is 2; err_has "gemm.yaml: is an input"
ln -sf arch.yaml "$work/link.yaml"
small -o "$work/link.yaml"; one_line_error 2 "link.yaml: is an input"
if [ -w /dev/full ]; then
  small -o /dev/full; code_is 3; out_has "optimal"; err_has "No space left"
  small --emit csv=/dev/full; code_is 3; err_has "No space left"
  "$CALM" map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" \
    >/dev/full 2>"$work/err" && fault "a full disk is no success"
  err_has "cannot write to standard output"
fi
"$CALM" map --arch "$work/arch.yaml" "$work/net.cg" 2>"$work/err" | head -1 \
  >"$work/out"
[ -s "$work/out" ] || fault "no first line"
err_is_empty

checking "what other mappers have is not passed over"
small --dump-model "$work/model.mps"
one_line_error 2 "dump-model is for --mapper cosa only"
[ ! -e "$work/model.mps" ] || fault "a file was written"

checking "no solver, or what is none"
for library in /nonexistent "$work/arch.yaml" "$work"; do
  CALM_HIGHS=$library small --mapper cosa; code_is 5
  err_has "gemm: the solver HiGHS, .*$library"
  [ "$(wc -l <"$work/err")" = 1 ] || fault "not one line on stderr"
done
finish
