#!/bin/sh
# The input of a body that no operator of the body reads got no memory, although
# its caller writes it: tensorflow/tflite-micro PR 1194 (a while loop over two
# values whose condition looks at one).
. tests/cli/lib

# workspace_is BYTES OPTIONS...: what the operator needs for its bodies
workspace_is() {
  bytes=$1
  shift
  run_json plan "$work/net.cg" "$@"
  all_say "[w['bytes'] for w in o['layout']['workspaces']] == [$bytes]"
}

# bodies KIND: one operator that runs graph `first` and graph `second`, on stdin
bodies() {
  {
    printf 'calm-graph 1\ngraph main\ntensor x 4 input\ntensor y 4 output\n'
    printf 'op call %s ( x ) -> ( y ) body=first body=second\n' "$1"
    cat
  } >"$work/net.cg"
}

for kind in while if opaque; do
  checking "an input that nothing reads, in a body of $kind"
  bodies $kind <<'TEXT'
graph first
tensor counter 4 input
tensor data 1000 input
tensor more 1 output
op compare opaque ( counter ) -> ( more )
graph second
tensor counter 4 input
tensor next 4 output
op add opaque ( counter ) -> ( next )
TEXT
  workspace_is 1005
  workspace_is 1040 --memory tflm-default --subgraphs entry
  workspace_is 1005 --inputs whole-run
  workspace_is 4 --inputs external
done

checking "an input that is handed back as it is"
bodies if <<'TEXT'
graph first
tensor data 100 input output
graph second
tensor data 100 input
tensor fixed 7 input output
tensor result 50 output
op work opaque ( data ) -> ( result )
TEXT
workspace_is 157

checking "a body without operators"
bodies if <<'TEXT'
graph first
tensor data 100 input output
graph second
tensor data 100 input output
tensor unread 20 input
TEXT
workspace_is 120

checking "an input that only a view reads"
bodies if <<'TEXT'
graph first
tensor data 100 input
tensor view 100
tensor k 3 input
tensor result 50 output
op look reshape ( data ) -> ( view )
op work opaque ( k ) -> ( result )
graph second
TEXT
workspace_is 153 --views identity

checking "a body in a body"
bodies while <<'TEXT'
graph first
tensor a 10 input
tensor b 20 output
op inner if ( a ) -> ( b ) body=third
graph second
graph third
tensor unread 500 input
tensor c 20 output
op make opaque ( ) -> ( c )
TEXT
workspace_is 550
finish
