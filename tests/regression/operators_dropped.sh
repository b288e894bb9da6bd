#!/bin/sh
# Operators that are cheap, or have nothing to do with memory, were missing from
# the order: microsoft/onnxruntime PR 18705 (a Shape before a Size).
. tests/cli/lib

cat >"$work/net.cg" <<'TEXT'
calm-graph 1
graph cheap
tensor x 64 input
tensor w 8 const
tensor wv 8
tensor shape 0
tensor size 0
tensor a 16
tensor b 16
tensor ab 32
tensor v 32
tensor u 32
tensor unread 5
tensor y 32 output
op nothing opaque ( ) -> ( )
op shape shape ( x ) -> ( shape )
op size opaque ( shape ) -> ( size )
op hang opaque ( size ) -> ( )
op absent identity ( - ) -> ( - )
op weight reshape ( w ) -> ( wv )
op left opaque ( x wv ) -> ( a )
op right opaque ( x ) -> ( b )
op join concat ( a b ) -> ( ab )
op flat reshape ( ab ) -> ( v ) after ( hang )
op thin squeeze ( v size ) -> ( u )
op aside opaque ( x ) -> ( unread ) after ( thin )
op end relu ( u ) -> ( y )
op last reshape ( y ) -> ( - ) after ( end nothing )
TEXT
names="nothing shape size hang absent weight left right join flat thin aside \
  end last"
edges="shape,size size,hang hang,flat weight,left left,join right,join \
  join,flat flat,thin size,thin thin,aside thin,end end,last nothing,last"

for model in "--memory plain" "--memory serenity" "--memory tflm-default" \
  "--memory serenity --inplace elementwise --inputs external" \
  "--views identity --outputs external"; do
  checking "every operator runs once, after what it needs: $model"
  for order in file level dfs greedy dp exact "exact --tick-limit 1"; do
    run_json plan "$work/net.cg" $model --order $order
  done
  all_say "sorted(o['order']['sequence']) == sorted('$names'.split())" \
    "all(o['order']['sequence'].index(e.split(',')[0]) < \
         o['order']['sequence'].index(e.split(',')[1]) \
         for e in '$edges'.split())"
done
finish
