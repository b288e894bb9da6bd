#!/bin/sh
# --threads changes nothing but time: same bytes, states and ticks.
. tests/cli/lib

# A training step of $1 tensors that are kept for the way back, and others.
buffers() {
  python3 -c 'import random, sys
n, r = int(sys.argv[1]), random.Random(int(sys.argv[2]))
print("id,lower,upper,size")
for i in range(n):
    low = i if r.random() < .6 else 2 * n - i
    up = 2 * n - i if low == i and r.random() < .5 else low + r.randint(1, 9)
    print(f"b{i},{low},{max(up, low + 1)},{r.randint(1, 2 ** r.randint(1, 16))}")
' "$1" "$2"
}

# same ARGUMENTS...: output and file with 1, 2, 3, 7 threads
same() {
  run "$@" --json -o "$work/one" --threads 1; code_is 0
  cp "$work/out" "$work/one.json"
  for threads in 2 3 7; do
    run "$@" --json -o "$work/many" --threads $threads; code_is 0
    sed 's/many/one/g' "$work/out" | cmp -s - "$work/one.json" ||
      fault "$* --threads $threads: another answer"
    cmp -s "$work/one" "$work/many" ||
      fault "$* --threads $threads: another file"
  done
}

for seed in 1 2; do buffers 2000 $seed >"$work/large$seed.csv"; done
buffers 60 3 >"$work/small.csv"

checking "layouts: the same with any number of threads"
for seed in 1 2; do
  same pack "$work/large$seed.csv" --layout greedy --seed $seed
  same pack "$work/large$seed.csv" --tick-limit 3000000
done
same pack "$work/small.csv" --tick-limit 2000000

checking "graphs: the same with any number of threads"
for file in tests/graph/*.cg; do
  run plan "$file" --tick-limit 2000000 --json; code_is 0
  cp "$work/out" "$work/one.json"
  for threads in 2 3 7; do
    run plan "$file" --tick-limit 2000000 --json --threads $threads
    cmp -s "$work/out" "$work/one.json" || fault "$file: another answer"
  done
done

checking "all processors"
run pack "$work/large1.csv" --layout greedy --threads 0; code_is 0
run pack "$work/large1.csv" --layout greedy --threads 18446744073709551615
code_is 0

checking "a time limit ends all threads"
run pack "$work/large1.csv" --layout greedy --threads 3 --time-limit 0.001
code_is 0
finish
