#!/bin/sh
# One loop along both axes of a mesh: KULeuven-MICAS/zigzag #34.  Files have no
# word for it below one level, so that no mapper hands out such a nest, however
# good it is: what is written costs what was found.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: GLB, class: SRAM, attributes: {depth: 512, datawidth: 8}}
  - !Container {name: PE, spatial: {meshX: 4, meshY: 2}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: gemm_ABZ, M: 16, N: 1, K: 1}" >"$work/gemm.yaml"

checking "a nest that is written is the one that was found"
for options in "--objective delay" "--objective delay --tick-limit 1" \
  "--objective edp --tick-limit 1" "--objective edp --imperfect" \
  "--objective delay --mapper random --valid 200" \
  "--objective delay --mapper hybrid"; do
  # shellcheck disable=SC2086
  run map --arch "$work/arch.yaml" --problem "$work/gemm.yaml" $options \
    -o "$work/nest.yaml" --json
  code_is 0
  cycles=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["layers"][0]["cycles"])' "$work/out")
  [ "$cycles" -ge 4 ] || fault "$options: M is along both axes"
  run eval --arch "$work/arch.yaml" --problem "$work/gemm.yaml" \
    --mapping "$work/nest.yaml" --json
  code_is 0; json_says "o['cycles'] == $cycles"
done
finish
