#!/bin/sh
# calm eval, where its input is not what it should be: every message says where,
# and nothing is passed over.
. tests/cli/lib

cat >"$work/arch.yaml" <<'TEXT'
arch:
  arithmetic: {instances: 1, word-bits: 8}
  storage:
    - {name: Buffer, entries: 64, instances: 1, word-bits: 8}
    - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8}
TEXT
echo 'problem: {shape: gemm_ABZ, M: 4, N: 4, K: 4}' >"$work/problem.yaml"
cat >"$work/mapping.yaml" <<'TEXT'
mapping:
  - {target: DRAM, type: temporal, factors: M=4 N=4 K=1}
  - {target: Buffer, type: temporal, factors: K=4}
TEXT

# with OPTIONS...: the good files, unless an option comes later
with() {
  run eval --arch "$work/arch.yaml" --problem "$work/problem.yaml" \
    --mapping "$work/mapping.yaml" "$@"
}

checking "the good files"
with --json; code_is 0; err_is_empty; out_is_json

checking "a section that is misspelt"
cat >"$work/rules.yaml" <<'TEXT'
architecture_constrants:
  targets: [{target: Buffer, type: temporal, factors: K=1}]
TEXT
with --arch "$work/rules.yaml"
one_line_error 3 "rules.yaml:1:1: unknown section 'architecture_constrants'; did you mean 'architecture_constraints'?"
sed 's/constrants/constraints/' "$work/rules.yaml" >"$work/right.yaml"
with --arch "$work/right.yaml"; code_is 1
cat "$work/right.yaml" >>"$work/rules.yaml"
with --constraints "$work/rules.yaml"; one_line_error 3 "rules.yaml:1:1: unknown"

checking "what is found in place of a layer, however long its name"
python3 -c 'print("x" * 500 + ": 1\nmapping: 2")' >"$work/long.yaml"
with --problem "$work/long.yaml"; one_line_error 3 "has the sections x*, mapping$"

checking "sizes that no machine has"
sed 's/entries: 64/entries: 9223372036854775807/' "$work/arch.yaml" >"$work/huge.yaml"
run eval --arch "$work/huge.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/mapping.yaml"
one_line_error 3 "huge.yaml:4:31: with 9223372036854775807 here, Buffer has more than 2^62 words"

checking "a nest as Timeloop prints it"
printf '\357\273\277DRAM [ A:16 (16) B:16 (16) Z:16 (16) ] \r\n| for M in [0:4)\r\n|   for N in [0:4)\r\nBuffer [ A:4 B:4 Z:1 ]\n|     for K in [0:4)\n' >"$work/map.txt"
run eval --arch "$work/arch.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/map.txt" --json
code_is 0; json_says 'o["valid"] and o["cycles"] == 64'
sed 's/Buffer/Bufer/' "$work/map.txt" >"$work/odd.txt"
run eval --arch "$work/arch.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/odd.txt"
one_line_error 3 "odd.txt:4:1: the architecture has no level 'Bufer'; it has DRAM, Buffer; did you mean 'Buffer'?"

checking "options that say nothing"
with --no-energy=on
one_line_error 2 "^calm: --no-energy takes no value; leave '=on' out$"
for option in arch problem mapping ert constraints; do
  with --$option ''; one_line_error 2 "--$option needs a value: FILE"
  with --$option=; one_line_error 2 "--$option needs a value: FILE"
done

checking "a full disk is told once"
"$CALM" eval --arch "$work/arch.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/mapping.yaml" >/dev/full 2>"$work/err" && code=0 || code=$?
: >"$work/out"
one_line_error 3 "cannot write to standard output: No space"

finish
