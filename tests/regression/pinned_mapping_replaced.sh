#!/bin/sh
# Constraints that leave a single mapping were answered by another one, whose
# loops stood in another order: NVlabs/timeloop #255.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: GLB, class: SRAM, attributes: {depth: 1024, datawidth: 8}}
  - !Container {name: PE, spatial: {meshX: 4, meshY: 2}}
  - !Component {name: Reg, class: storage, attributes: {depth: 64, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: cnn-layer, R: 3, S: 3, P: 8, Q: 8, C: 4, K: 8, N: 1}" \
  >"$work/conv.yaml"
cat >"$work/pins.yaml" <<'END'
mapspace_constraints:
  targets:
  - {target: DRAM, type: temporal, factors: R=1 S=1 P=2 Q=4 C=1 K=2 N=1, permutation: QPK}
  - {target: DRAM, type: bypass, keep: [Weights, Inputs, Outputs]}
  - {target: GLB, type: temporal, factors: R=1 S=1 P=4 Q=2 C=1 K=1 N=1, permutation: PQ}
  - {target: GLB, type: bypass, keep: [Weights, Inputs, Outputs]}
  - {target: inter_PE_spatial, type: temporal, factors: R=1 S=1 P=1 Q=1 C=1 K=1 N=1}
  - {target: inter_PE_spatial, type: spatial, factors: R=1 S=1 P=1 Q=1 C=2 K=4 N=1}
  - {target: Reg, type: temporal, factors: R=3 S=3 P=1 Q=1 C=2 K=1 N=1, permutation: CRS}
  - {target: Reg, type: bypass, keep: [Weights, Inputs, Outputs]}
END
map() {
  run map --arch "$work/arch.yaml" --problem "$work/conv.yaml" \
    --constraints "$work/pins.yaml" "$@"
}

checking "the only nest that is left is the answer"
map -o "$work/nest.yaml"; code_is 0
for line in "R1 S1 P2 Q4 C1 K2 N1" "permutation: QPK" "R1 S1 P4 Q2 C1 K1 N1" \
  "permutation: PQ" "R1 S1 P1 Q1 C2 K4 N1" "R3 S3 P1 Q1 C2 K1 N1" \
  "permutation: CRS"; do
  grep -q -e "$line" "$work/nest.yaml" || fault "the nest lacks '$line'"
done

checking "whatever is to be minimised, and whoever looks for it"
for options in "--objective delay" "--objective energy" "--mapper random" \
  "--mapper hybrid" "--mapper hybrid --seed 7"; do
  # shellcheck disable=SC2086
  map $options -o "$work/other.yaml"; code_is 0
  cmp -s "$work/nest.yaml" "$work/other.yaml" || fault "$options: another nest"
done
finish
