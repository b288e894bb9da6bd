#!/bin/sh
# Constraints that leave no place for a filter's loops gave a mapping that lacks
# them: NVlabs/timeloop #187.  There is none, and that is said.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: Buffer, class: SRAM, attributes: {depth: 64, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: cnn-layer, R: 3, S: 3, P: 4, Q: 4, C: 2, K: 2, N: 1}" \
  >"$work/conv.yaml"
cat >"$work/rules.yaml" <<'END'
mapspace_constraints:
  targets:
  - {target: DRAM, type: temporal, factors: R=1 S=1}
  - {target: Buffer, type: temporal, factors: R=1 S=1}
END
map() {
  run map --arch "$work/arch.yaml" --problem "$work/conv.yaml" "$@" \
    --constraints "$work/rules.yaml" --json
}

checking "rules that leave no place exclude each other"
for mapper in exact random hybrid; do
  map --mapper $mapper; code_is 3
  err_has "rules.yaml:3:.*the factors of R make up at most 1, and its bound is 3"
  json_says 'o["layers"][0]["mapping"] is None'
done

checking "a place that is too small: no mapping, and by which rules"
sed -i 's/name: mac, class: intmac/name: mac, class: intmac, spatial: {meshX: 4}/' \
  "$work/arch.yaml"
map; code_is 1; err_has "conv: no mapping fits: .*fan-out of 4"
err_has "R=1 (temporal loops of DRAM, .*rules.yaml:3"
json_says 'o["layers"][0]["status"] == "infeasible"'
for mapper in random hybrid; do
  map --mapper $mapper --samples 2000
  [ "$code" = 1 ] || [ "$code" = 4 ] || fault "exit code $code"
  json_says 'o["layers"][0]["mapping"] is None'
done

checking "where the filter has a place, all of it is there"
sed -i 's/Buffer, type: temporal, factors: R=1 S=1/Buffer, type: temporal, factors: R=3 S=3/' \
  "$work/rules.yaml"
map -o "$work/nest.yaml"; code_is 0
grep -q "factors: R3 S3" "$work/nest.yaml" || fault "the filter is elsewhere"
finish
