#!/bin/sh
# calm map: do the README and docs/mapping.md show what it prints?
. tests/cli/lib

# shown FILE FROM TO: the lines of the last output from the first that has FROM to
# the next that has TO, are they in the page, indented?
shown() {
  python3 - "$work/out" "$@" <<'END' || fault "$1 shows another: $2"
import pathlib, sys
out, page, begin, end = sys.argv[1:]
def plain(text): return [line.rstrip() for line in text.splitlines()]
lines = plain(pathlib.Path(out).read_text())
first = next(i for i, line in enumerate(lines) if begin in line)
last = next(i for i, line in enumerate(lines) if end in line and i >= first)
wanted = "\n".join(("    " + line).rstrip() for line in lines[first:last + 1])
sys.exit(wanted not in "\n".join(plain(pathlib.Path(page).read_text())))
END
}

mapped() {
  cd examples
  run map --arch simba-like.yaml --problem resnet50-3x3-56.yaml \
    --constraints simba-like-keep.yaml "$@"
  cd ..
  code_is 0; err_is_empty
}

checking "the best nest of the README, and why it is no better"
mapped --explain
shown README.md "resnet50-3x3-56.yaml" "MAC: 256 of 256"
shown README.md "words over all instances" "every fan-out"
checking "the explanation of docs/mapping.md"
shown docs/mapping.md "words over all instances" "WeightRegister "
shown docs/mapping.md "capacity, of each" "WeightBuffer:"
shown docs/mapping.md "time: " "every fan-out"
checking "that of least energy, and the front"
mapped --objective energy --explain
shown docs/mapping.md "time: " "below AccumulationBuffer"
mapped --objective pareto
shown docs/mapping.md "cycles  energy uJ" "1,204,224"

checking "what docs/accelerators.md says of its two machines"
python3 - "$work" <<'END'
import pathlib, re, sys, textwrap
page = pathlib.Path("docs/accelerators.md").read_text()
blocks = [textwrap.dedent(block).strip() + "\n"
          for block in re.findall(r"(?:^    .*\n|^\n)+", page, re.M)]
def first(word, more=""):
    return next(b for b in blocks if b.startswith(word) and more in b)
files = {"old": first("architecture:", "version: 0.3"),
         "new": first("architecture:", "version: 0.4"),
         "layer": first("problem:"), "nest": first("mapping:"),
         "rules": first("mapspace_constraints:")}
files["moved"] = re.sub(r"- .target: Buffer, type: spatial.*",
                        first("- {target: PE").strip(), files["nest"])
files["ruled"] = files["rules"].replace("target: Buffer, type: spatial",
                                        "target: PE, type: spatial")
for name, text in files.items():
    pathlib.Path(sys.argv[1], name + ".yaml").write_text(text)
END
costs() {
  run eval --arch "$work/$1.yaml" --problem "$work/layer.yaml" \
    --mapping "$work/$2.yaml"
  code_is 0; out_has "^  cycles       7,225,344;"
}
costs old nest; costs new moved
run eval --arch "$work/new.yaml" --problem "$work/layer.yaml" \
  --mapping "$work/nest.yaml"
one_line_error 3 "inter_PE_spatial below it: .*; give that mesh as the target"
for pair in "old rules" "new ruled"; do
  run map --arch "$work/${pair% *}.yaml" --problem "$work/layer.yaml" \
    --constraints "$work/${pair#* }.yaml" --mapper random
  code_is 0
done

checking "what docs/mapping.md tells to type"
mapped -o "$work/best.yaml"
cd examples
run eval --arch simba-like.yaml --problem resnet50-3x3-56.yaml \
  --mapping "$work/best.yaml"
cd ..
code_is 0; out_has "^  energy       243.811 uJ"

checking "other machines of the README"
energy_with() {
  sed "s/entries: 512/entries: $1/" examples/simba-like.yaml >"$work/arch.yaml"
  run map --arch "$work/arch.yaml" --problem examples/resnet50-3x3-56.yaml \
    --constraints examples/simba-like-keep.yaml
  code_is 0; out_has "^  energy       $2"
}
energy_with 256 242.4; energy_with 512 243.8; energy_with 1024 249.[45]

checking "without constraints there is no nest"
cd examples
run map --arch simba-like.yaml --problem resnet50-3x3-56.yaml
cd ..
code_is 1
shown docs/mapping.md "  infeasible: proved" "say what bypasses it"
finish
