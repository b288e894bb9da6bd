#!/bin/sh
# A limit on memory was no more than a tie-break, and a plan far beyond it came
# out as if it fitted: openxla/xla PR 45753.
. tests/cli/lib

# The least peak and arena of this graph are 275,968 bytes.
checking "calm plan: whatever method, a missed budget is no success"
for method in "--order file" "--order level" "--order dfs" "--order greedy" \
  "--order dp" "" "--tick-limit 1" "--layout size" "--layout greedy"; do
  run plan $graph --budget 275967 $method
  code_is 1; out_has "budget .*missed"; err_has "does not fit into the budget"
  run plan $graph --budget 275967 --json $method
  code_is 1; json_says "o['within_budget'] is False and \
    o['layout']['arena_bytes'] > o['budget_bytes'] == 275967"
done

checking "a budget that can be met is met"
run plan $graph --budget 275968; code_is 0; out_has "budget .*met"
run plan $graph --budget 300000 --order file; code_is 1
run plan $graph --budget 300000; code_is 0

checking "calm pack"
printf 'id,lower,upper,size\na,0,2,10\nb,1,3,20\nc,2,4,10\n' >"$work/b.csv"
for layout in size greedy exact; do
  run pack "$work/b.csv" --layout $layout --budget 29
  code_is 1; out_has "budget .*missed"
done
run pack "$work/b.csv" --budget 30; code_is 0; out_has "budget .*met"

checking "the budget is that of the arena, not of the peak"
printf 'id,lower,upper,size,offset\na,0,1,10,100\n' >"$work/b.csv"
run pack "$work/b.csv" --budget 109; code_is 1
run pack "$work/b.csv" --budget 110; code_is 0
finish
