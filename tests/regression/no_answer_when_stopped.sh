#!/bin/sh
# A search without constraints went on for 90 hours and had nothing to show:
# NVlabs/timeloop #204.  One that is stopped has a nest and a bound, and says
# what stopped it.
. tests/cli/lib

cat >"$work/arch.yaml" <<'END'
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: GLB, class: SRAM, attributes: {depth: 65536, datawidth: 8}}
  - !Container {name: PE, spatial: {meshX: 1024, meshY: 1024}}
  - !Component {name: Reg, class: storage, attributes: {depth: 32, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
END
echo "problem: {shape: cnn-layer, R: 3, S: 3, P: 56, Q: 56, C: 64, K: 64, N: 2}" \
  >"$work/conv.yaml"
map() {
  run map --arch "$work/arch.yaml" --problem "$work/conv.yaml" "$@" --json
}

checking "stopped by ticks, at once and later"
for ticks in 1 200000; do
  map --tick-limit $ticks; code_is 0
  json_says 'o["layers"][0]["status"] == "feasible"'
  json_says 'o["layers"][0]["reason"].startswith("tick limit")'
  json_says 'not o["layers"][0]["bound"] or o["layers"][0]["bound"] <= o["layers"][0]["value"]'
  cp "$work/out" "$work/first"
  map --tick-limit $ticks
  cmp -s "$work/out" "$work/first" || fault "another run, another answer"
done

checking "stopped by memory"
map --memory-limit 1M; code_is 0
json_says 'o["layers"][0]["status"] == "feasible"'

checking "samples without end"
for mapper in random hybrid; do
  map --mapper $mapper --valid 1000000000 --victory 1000000000 --samples 500
  code_is 0; json_says 'o["layers"][0]["status"] == "feasible"'
done
finish
