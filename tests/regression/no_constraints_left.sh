#!/bin/sh
# A file whose constraints were all taken out ended in an assertion:
# NVlabs/timeloop #19.  It constrains nothing.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: Buffer, class: SRAM, attributes: {depth: 64, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: gemm_ABZ, M: 4, N: 6, K: 8}" >"$work/gemm.yaml"
map() {
  run map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" "$@" --json
}
# All but the options that were given.
answer() { sed '/"provenance"/,$d' "$work/out"; }

checking "lists of constraints with nothing in them"
map; code_is 0; answer >"$work/free"
for text in "mapspace_constraints:" "mapspace_constraints: []" \
  "mapspace_constraints: {targets: []}" "mapspace_constraints: {targets: }" \
  "architecture_constraints: {targets: []}" \
  "mapspace_constraints: [{target: DRAM, type: temporal}]"; do
  echo "$text" >"$work/rules.yaml"
  map --constraints "$work/rules.yaml"; code_is 0; err_is_empty
  answer | cmp -s - "$work/free" || fault "'$text' constrains something"
done

checking "a file of something else is not taken for constraints"
for text in "" "{}" "problem: {}"; do
  echo "$text" >"$work/rules.yaml"
  map --constraints "$work/rules.yaml"
  one_line_error 3 "rules.yaml:1:1: no section of constraints"
done
finish
