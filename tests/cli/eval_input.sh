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

finish
