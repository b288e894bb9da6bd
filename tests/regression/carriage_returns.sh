#!/bin/sh
# Files with the line ends of Windows were refused ("a required column is
# missing") or read with a carriage return in the last column: google/minimalloc
# on 29 files of Ptiefighter/MiniMalloc_Benchmarking.
. tests/cli/lib

# to_crlf FILE: its lines end in CR LF on stdout
to_crlf() { awk '{ printf "%s\r\n", $0 }' "$1"; }

checking "calm pack"
for columns in id,lower,upper,size size,id,lower,upper; do
  {
    echo "$columns"
    [ "${columns%%,*}" = id ] || printf '7,a,0,2\n5,b,1,3\n7,c,2,4\n'
    [ "${columns%%,*}" = size ] || printf 'a,0,2,7\nb,1,3,5\nc,2,4,7\n'
  } >"$work/lf.csv"
  to_crlf "$work/lf.csv" >"$work/crlf.csv"
  run pack "$work/lf.csv" -o "$work/lf.out"; code_is 0
  run pack "$work/crlf.csv" -o "$work/crlf.out"; code_is 0; err_is_empty
  cmp -s "$work/lf.out" "$work/crlf.out" || fault "not the same as with LF"
done

checking "calm plan, inspect, check"
to_crlf $graph >"$work/net.cg"
run plan $graph --emit "plan=$work/lf.json" --emit "csv=$work/lf.csv"; code_is 0
run plan "$work/net.cg" --emit "csv=$work/crlf.csv"; code_is 0; err_is_empty
cmp -s "$work/lf.csv" "$work/crlf.csv" || fault "not the same as with LF"
run inspect "$work/net.cg" --dump; code_is 0; err_is_empty
out_lacks "$(printf '\r')"
to_crlf "$work/lf.json" >"$work/crlf.json"
run check $graph "$work/crlf.json"; code_is 0
finish
