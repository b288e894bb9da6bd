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
with --problem "$work/long.yaml"; one_line_error 3 "has the sections x\{40\}, mapping$"

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

checking "a machine that costs nothing, and one that costs more than numbers hold"
sed 's/word-bits: 8}/word-bits: 8, vector-access-energy: 0}/; 2s/vector-access-energy/energy/' "$work/arch.yaml" >"$work/free.yaml"
sed 's/{target: DRAM, type: temporal, factors: M=4 N=4 K=1}/{target: DRAM, type: temporal, factors: M=4 N=4 K=4}/; s/factors: K=4}/factors: K=1}/' "$work/mapping.yaml" >"$work/other.yaml"
free() {
  run eval --arch "$work/free.yaml" --problem "$work/problem.yaml" \
    --mapping "$work/mapping.yaml" "$@"
  code_is 0
}
free -v; out_lacks '[0-9 -]\(nan\|inf\)'
free --mapping "$work/other.yaml"; out_lacks '[0-9 -]\(nan\|inf\)'
free --json; json_says 'o["energy_pj"] == 0 and o["edp"] == 0'
sed '5s/energy: 0/energy: 1e308/' "$work/free.yaml" >"$work/dear.yaml"
run eval --arch "$work/dear.yaml" --problem "$work/problem.yaml" \
  --mapping "$work/mapping.yaml"
one_line_error 3 "dear.yaml:5:[0-9]*: vector-access-energy of DRAM is 1e308"

checking "more than calm counts, which is no fault of the nest"
sed 's/instances: 1,/instances: 8388608,/; 4s/8388608/1/; 5s/8388608/1/' "$work/arch.yaml" >"$work/wide.yaml"
echo 'problem: {shape: gemm_ABZ, M: 8388608, N: 4, K: 4}' >"$work/tall.yaml"
cat >"$work/spread.yaml" <<'TEXT'
mapping:
  - {target: DRAM, type: temporal, factors: N=4}
  - {target: Buffer, type: spatial, factors: M=8388608}
  - {target: Buffer, type: temporal, factors: K=4}
  - {target: Buffer, type: datatype, keep: [B], bypass: [A, Z]}
TEXT
run eval --arch "$work/wide.yaml" --problem "$work/tall.yaml" \
  --mapping "$work/spread.yaml" --json
code_is 4; out_is_json; json_says 'o["fault"] == "limit" and not o["valid"]'
err_has "spread.yaml: not counted: Buffer: .* 8,388,608 places .* limit is 1,048,576"

checking "a nest that takes too many steps is given up where that shows first"
python3 - "$work/deep" <<'END'
import sys
names = ["D%02d" % i for i in range(20)]
def file(name, text):
    open(sys.argv[1] + name, "w").write(text)
file("-arch.yaml", """arch:
  arithmetic: {instances: 1, word-bits: 8}
  storage:
""" + "".join("    - {name: L%d, technology: DRAM, instances: 1, word-bits: 8}\n" % i
              for i in range(30)))
file("-problem.yaml", """problem:
  instance: {%s}
  shape:
    name: cube
    dimensions: [%s]
    data_spaces:
      - {name: A, projection: [%s]}
      - {name: Z, projection: [[[D00]]], read_write: True}
""" % (", ".join(n + ": 3" for n in names), ", ".join(names),
       ", ".join("[[%s]]" % n for n in names)))
file("-mapping.yaml", """mapping:
  - {target: L29, type: temporal, factors: %s}
  - {target: L28, type: temporal, factors: "%s"}
""" % (" ".join(n + "=2" for n in names), " ".join(n + "=2,1" for n in names)))
END
run eval --arch "$work/deep-arch.yaml" --problem "$work/deep-problem.yaml" \
  --mapping "$work/deep-mapping.yaml"
code_is 4; out_has "not counted: L0: A cannot be followed within"
err_has "not counted: L0: A cannot be followed within"

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
