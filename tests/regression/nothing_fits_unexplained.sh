#!/bin/sh
# "No valid mappings found", and no word on why:
# Accelergy-Project/timeloop-accelergy-exercises #44.  What is too small is
# named, with the number that would do.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: Buffer, class: SRAM, attributes: {depth: 65536, datawidth: 8}}
  - !Component {name: Reg, class: storage, attributes: {depth: 40, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: gemm_ABZ, M: 512, N: 1024, K: 128}" >"$work/gemm.yaml"
cat >"$work/rules.yaml" <<'END'
mapspace_constraints:
  targets:
  - {target: Reg, type: temporal, factors: M=8 K=4}
  - {target: Reg, type: bypass, keep: [A, B, Z]}
END
map() {
  run map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" "$@" \
    --constraints "$work/rules.yaml" --json
}

checking "the level, its capacity, and what it needs: 8x4 of A, 4 of B, 8 of Z"
map; code_is 1; err_has "gemm: no mapping fits: Reg keeps"; err_has "rules.yaml"
err_has "capacity 40; it needs 44"
json_says '"it needs 44" in o["layers"][0]["reason"]'

checking "which does, and one word less does not"
sed -i 's/depth: 40/depth: 44/' "$work/arch.yaml"; map; code_is 0
sed -i 's/depth: 44/depth: 43/' "$work/arch.yaml"; map; code_is 1

checking "samples name what comes nearest"
for mapper in random hybrid; do
  map --mapper $mapper --samples 500
  [ "$code" = 1 ] || [ "$code" = 4 ] || fault "exit code $code"
  err_has "Reg"
done
finish
