#!/bin/sh
# Rows of papers, made again with the files that calm bench writes beside them.
. tests/cli/lib

# cell FILE COLUMN ROW: the value in the first row that begins with ROW
cell() {
  python3 -c 'import csv, sys
row = next(r for r in csv.reader(open(sys.argv[1])) if r[0] == sys.argv[3])
names = next(csv.reader(open(sys.argv[1])))
print(float(row[names.index(sys.argv[2])]))' "$work/$1.csv" "$2" "$3"
}

# is_row FILE COLUMN ROW "EXPRESSION": what JSON `o` on stdout has for it
is_row() {
  json_says "abs(($4) / $(cell "$1" "$2" "$3") - 1) < 1e-12"
}

checking "arenas and traffic of SERENITY, with another seed"
run bench serenity --only figure15 --seed 7 --no-timing -o "$work"; code_is 0
[ "$(ls "$work/networks" | wc -l)" = 9 ] || fault "not nine cells"
arena='o["layout"]["arena_bytes"]'
run plan "$work/networks/swiftnet-b.cg" --memory serenity --json; code_is 0
is_row figure15 arena_bytes "SwiftNet B" "$arena"
run plan "$work/networks/swiftnet-b.cg" --memory serenity --json \
  --rewrite auto; code_is 0
is_row figure15 rewritten_arena_bytes "SwiftNet B" "$arena"
run plan "$work/networks/randwire-cifar100-a.cg" --memory serenity --json
is_row figure15 arena_bytes "RandWire CIFAR-100 A" "$arena"
run plan "$work/networks/darts-normal.cg" --memory serenity --json \
  --order file --layout size
is_row figure15-baselines file_arena_bytes "DARTS Normal" "$arena"

checking "another seed is another network"
run bench serenity --only table1 --no-timing -o "$work/one"; code_is 0
cmp -s "$work/networks/swiftnet-a.cg" "$work/one/networks/swiftnet-a.cg" ||
  fault "SwiftNet is drawn"
cmp -s "$work/networks/randwire-cifar10-a.cg" \
  "$work/one/networks/randwire-cifar10-a.cg" && fault "RandWire is not drawn"

checking "mappers of CoSA"
run bench cosa --only figure8 --seed 4 --no-timing -o "$work"
[ "$code" = 0 ] || [ "$code" = 5 ] || fault "exit code $code"
layer="--arch $work/machines/simba.yaml --objective delay --json
  --problem $work/layers/3_7_512_512_1.yaml"
run map $layer; code_is 0
is_row figure8 cycles exact 'o["layers"][0]["cycles"]'
is_row figure8 energy_pj exact 'o["layers"][0]["energy_pj"]'
for seed in 4 5 6; do
  run map $layer --mapper random --seed $seed; code_is 0
  cp "$work/out" "$work/random$seed"
done
python3 - "$work" "$(cell figure8 energy_pj random)" <<'END' || fault "random"
import json, math, sys
values = [json.load(open(f"{sys.argv[1]}/random{seed}"))["layers"][0]["energy_pj"]
          for seed in (4, 5, 6)]
mean = math.exp(sum(map(math.log, values)) / 3)
assert abs(mean / float(sys.argv[2]) - 1) < 1e-12, (values, sys.argv[2])
END
for machine in "$work"/machines/*.yaml; do
  run map --arch "$machine" --problem "$work/layers/1_1_2048_1000_1.yaml"
  code_is 0
done
finish
