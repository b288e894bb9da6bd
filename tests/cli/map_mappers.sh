#!/bin/sh
# calm map: each mapper on the example accelerator, and what to do where it keeps
# more than it has room for.
. tests/cli/lib

arch=examples/simba-like.yaml
keep=examples/simba-like-keep.yaml
layer=examples/resnet50-3x3-56.yaml

map() { run map --arch "$arch" --problem "$layer" "$@"; }

# A figure of the layer on stdout.
figure() {
  python3 -c 'import json, sys
print(eval(sys.argv[2], {"layer": json.load(open(sys.argv[1]))["layers"][0]}))' \
    "$work/out" "$1"
}

# What stays of it says whether there is a solver.
map --constraints "$keep" --mapper cosa --json
solver=$code
grep -q "pip install highsbox" "$work/err" || [ "$solver" = 0 ] ||
  fault "cosa fails, and not for want of a solver"

checking "without constraints each mapper says what helps"
unasked="no constraint asks WeightRegister to keep Weights, Inputs and Outputs"
map; code_is 1
err_has "$unasked: say what bypasses it (--constraints), or let --bypass search"
for mapper in random hybrid; do
  map --mapper $mapper --samples 300; code_is 4
  err_has "$unasked: .*--bypass search"
done
run map --calibrate --arch "$arch"; one_line_error 3 "$unasked"
err_lacks "bypass search" # which neither calibration nor cosa does
run map --calibrate --arch "$arch" --constraints "$keep" -o "$work/weights.json"
code_is 0
if [ "$solver" = 0 ]; then
  map --mapper cosa; code_is 1
  err_has "$unasked"; err_lacks "bypass search"
fi

checking "constraints that ask for what does not fit are to blame themselves"
cat >"$work/all.yaml" <<'END'
mapspace_constraints:
  - {target: WeightRegister, type: datatype, keep: [Weights, Inputs, Outputs]}
END
map --constraints "$work/all.yaml"; code_is 1
err_has "it needs 3$"; err_lacks "no constraint asks"

checking "no mapper beats the exact one"
map --constraints "$keep" --json; code_is 0
best=$(figure 'layer["edp"]')
for mapper in random hybrid; do
  map --constraints "$keep" --mapper $mapper --json; code_is 0
  json_says "o['layers'][0]['edp'] >= $best"
done

checking "why a nest costs what it costs is shown when it is asked for"
map --constraints "$keep"; code_is 0; out_lacks "at least:"
map --constraints "$keep" --explain; code_is 0; out_has "at least:"

if [ "$solver" != 0 ]; then
  echo "no HiGHS: cosa itself is not tested"
  finish
fi

checking "the solver is found where the tool itself lies"
mkdir -p "$work/env/bin" "$work/beside/release"
cp "$CALM" "$work/env/bin/calm"
cp "$CALM" "$work/beside/release/calm"
if [ -d "${VIRTUAL_ENV:-}/lib" ]; then
  ln -s "$VIRTUAL_ENV/lib" "$work/env/lib"
  ln -s "$VIRTUAL_ENV" "$work/beside/venv"
  for own in env/bin/calm beside/release/calm; do
    env -u VIRTUAL_ENV HOME=/nonexistent "$work/$own" map --arch "$arch" \
      --constraints "$keep" --problem "$layer" --mapper cosa \
      > "$work/out" 2> "$work/err" || fault "$own finds none"
  done
fi

checking "cosa: a nest that runs, and an objective that both models reach"
map --constraints "$keep" --mapper cosa --dump-model "$work/layer.mps" --json
code_is 0; json_says "o['layers'][0]['edp'] >= $best"
grep -q "^ROWS" "$work/layer.mps" || fault "no program in the file"
for form in released paper; do
  map --constraints "$keep" --mapper cosa --cosa-form $form --json; code_is 0
  least=$(figure 'layer["cosa"]["bound"]')
  map --constraints "$keep" --mapper cosa --cosa-form $form \
    --cosa-model literal --json
  code_is 0
  json_says "abs(o['layers'][0]['cosa']['bound'] - $least) < 1e-6 * abs($least)"
done
map --constraints "$keep" --mapper cosa --cosa-weights "$work/weights.json"
code_is 0

checking "without the solver its program is written all the same"
rm "$work/layer.mps"
CALM_HIGHS=$work/nothing.so map --constraints "$keep" --mapper cosa \
  --dump-model "$work/layer.mps"
code_is 5; err_has "HiGHS"
grep -q "^ROWS" "$work/layer.mps" || fault "no program in the file"
finish
