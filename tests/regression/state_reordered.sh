#!/bin/sh
# No tensor leads from the write of a state to its read, so a scheduler that
# looks at tensors alone swaps them: tensorflow/tflite-micro #2101 (VAR_HANDLE,
# ASSIGN_VARIABLE, READ_VARIABLE), iree-org/iree #14566 and #15007 (a generator
# of random numbers), model_control_dependencies of .tflite files.
. tests/cli/lib

# Three steps A, B, C, of which C would best come first: what follows it needs
# 200 bytes for itself, and A and B leave 110 behind.
network() { # KIND-OF-A KIND-OF-B KIND-OF-C
  cat <<TEXT
calm-graph 1
graph main
$declarations
tensor a 100
tensor b 10
tensor c 1
tensor e 1
tensor y 1 output
op A $1 ( $inputs ) -> ( a )
op B $2 ( $inputs ) -> ( b ) $after_a
op C $3 ( $inputs ) -> ( c ) $after_b
op d opaque ( c ) -> ( e ) workspace=200
op end opaque ( a b e ) -> ( y )
$graphs
TEXT
}

# best BYTES: what planning may reach
best() {
  if [ "$1" = 312 ]; then
    for order in file level dfs greedy; do
      run_json plan "$work/net.cg" --order $order
    done
    all_say "[x for x in o['order']['sequence'] if x in 'ABC'] == list('ABC')"
  fi
  run_json plan "$work/net.cg" --order dp
  run_json plan "$work/net.cg"
  all_say "o['order']['peak_bytes'] == $1"
}

checking "without state the order is free"
declarations="" inputs="" after_a="" after_b="" graphs=""
network opaque opaque opaque >"$work/net.cg"; best 202
network conv2d add reshape >"$work/net.cg"; best 202

checking "resources"
network read_variable read_variable read_variable >"$work/net.cg"; best 312
network var_handle assign_variable read_variable >"$work/net.cg"; best 312
network hashtable hashtable_import hashtable_find >"$work/net.cg"; best 312

checking "random numbers"
network random_uniform random_standard_normal multinomial >"$work/net.cg"
best 312

checking "variables"
declarations="tensor s 0 variable" inputs=s
network opaque unidirectional_sequence_lstm svdf >"$work/net.cg"; best 312

checking "control edges"
declarations="" inputs="" after_a="after ( A )" after_b="after ( B )"
network opaque opaque opaque >"$work/net.cg"; best 312

checking "state inside bodies"
after_a="body=touch" after_b="body=deep"
graphs="graph touch
op v read_variable ( ) -> ( )
graph deep
op w while ( ) -> ( ) body=touch"
network random_uniform if call >"$work/net.cg"; best 312
after_a="body=touch" after_b="body=deep"
graphs="graph touch
graph deep
op w while ( ) -> ( ) body=touch"
network opaque if call >"$work/net.cg"; best 202

checking "a plan that swaps them does not hold"
declarations="" inputs="" after_a="" after_b="" graphs=""
network var_handle assign_variable read_variable >"$work/net.cg"
run plan "$work/net.cg" --emit "plan=$work/p.json"; code_is 0
sed -e 's/"B"/"X"/; s/"C"/"B"/; s/"X"/"C"/' "$work/p.json" >"$work/swapped.json"
run check "$work/net.cg" "$work/swapped.json"; code_is 1; out_has "fault .*must run after"
finish
