#!/bin/sh
# Files for other programs: headers compile without a warning as C and C++ and
# hold the plan that --json states; traces and node data are JSON of that plan.
. tests/cli/lib

cc=${CC:-cc}
cxx=${CXX:-c++}
strict="-Wall -Wextra -Wpedantic -Werror"
cases=${CALM_CASES:-../shared/cases}

# emit MODEL OPTIONS...: every kind, as $work/e.*, and the JSON as $work/plan
emit() {
  run "$@" --quiet --emit "plan=$work/plan" --emit "c-header=$work/e.h" \
    --emit "trace=$work/e.trace" --emit "model-explorer=$work/e.nodes"
  code_is 0; err_is_empty
}

# A header alone, twice in one unit, in C and in C++.
header_compiles() {
  printf '#include "e.h"\n#include "e.h"\nint main(void) { return 0; }\n' \
    >"$work/use.c"
  cp "$work/use.c" "$work/use.cpp"
  # shellcheck disable=SC2086
  $cc -std=c99 $strict -c "$work/use.c" -o "$work/use.o" ||
    fault "the header is no C"
  # shellcheck disable=SC2086
  $cxx -std=c++11 $strict -c "$work/use.cpp" -o "$work/use.o" ||
    fault "the header is no C++"
}

# What the runtime's own header declares, written down anew.
mkdir -p "$work/tensorflow/lite/micro/memory_planner"
cat >"$work/tensorflow/lite/micro/memory_planner/memory_plan_struct.h" <<'END'
#ifndef MEMORY_PLAN_STRUCT_H
#define MEMORY_PLAN_STRUCT_H
#include <stddef.h>
#include <stdint.h>
namespace tflite {
struct BufferDescriptor {
  int32_t offset;
};
struct BufferPlan {
  int32_t buffer_count;
  BufferDescriptor buffer_plan_entries[1];
};
constexpr size_t SizeOfBufferPlan(int32_t count) {
  return sizeof(BufferPlan) +
         sizeof(BufferDescriptor) * static_cast<size_t>(count > 1 ? count - 1 : 0);
}
}  // namespace tflite
#endif
END

# bufferplan_says NAMESPACE FILE: compile it, run it, and compare what it holds
# with the runtime's part of the JSON.
bufferplan_says() {
  cat >"$work/plan.cpp" <<END
#include "$2"
#include "$2"
#include <cstdio>
int main() {
  const tflite::BufferPlan *plan = $1::Plan();
  const int32_t *word = reinterpret_cast<const int32_t *>(plan);
  std::printf("%d", static_cast<int>($1::kHeadBytes));
  for (int32_t i = 0; i <= plan->buffer_count; i++)
    std::printf(" %d", static_cast<int>(word[i]));
  return 0;
}
END
  # shellcheck disable=SC2086
  $cxx -std=c++17 $strict -I"$work" "$work/plan.cpp" -o "$work/plan.exe" ||
    fault "the buffer plan is no C++"
  "$work/plan.exe" >"$work/words" || fault "the buffer plan cannot be read"
  python3 - "$work/plan" "$work/words" <<'END' || fault "another buffer plan"
import json, sys
plan = json.load(open(sys.argv[1]))
words = [int(word) for word in open(sys.argv[2]).read().split()]
runtime = plan["runtime"]
tensors = [o for g in runtime["graphs"] for o in g["offsets"] if o >= 0]
rank = {(g["name"], op): (i, step)
        for i, g in enumerate(runtime["graphs"])
        for step, op in enumerate(g["sequence"])}
scratch = sorted(runtime["scratch"], key=lambda s: rank[s["graph"], s["op"]])
expected = tensors + [s["offset"] for s in scratch]
assert words[0] == runtime["head_bytes"] == plan["layout"]["arena_bytes"], words
assert words[1] == len(expected), (words[1], len(expected))
assert words[2:] == expected, (words[2:], expected)
END
}

# Header, trace and node data against the JSON.
cat >"$work/agree.py" <<'END'
import json, re, sys
work = sys.argv[1]
plan = json.load(open(f"{work}/plan"))
trace = json.load(open(f"{work}/e.trace"))
nodes = json.load(open(f"{work}/e.nodes"))
header = open(f"{work}/e.h").read()
steps = plan["order"]["step_bytes"]
buffers = [b for b in plan["layout"]["buffers"] if b["bytes"]]

# Macros are told once, and each buffer's offset and bytes stand under its name.
macros = dict(re.findall(r"^#define (\w+) (\d+)u$", header, re.M))
told = re.findall(r"^#define (\w+)", header, re.M)
assert len(told) == len(set(told))
prefix = re.search(r"#ifndef (\w+)_PLAN_H", header)[1]
assert int(macros[prefix + "_ARENA_BYTES"]) == plan["layout"]["arena_bytes"]
assert int(macros[prefix + "_PEAK_BYTES"]) == plan["order"]["peak_bytes"]
placed = re.findall(r'^/\* "([^\n]*)": steps (\d+) to (\d+) \*/\n'
                    r"#define \w+_OFFSET_(\w+) (\d+)u\n"
                    r"#define \w+_BYTES_(\w+) (\d+)u$", header, re.M)
assert all(p[3] == p[5] for p in placed)
assert [tuple(map(int, (p[4], p[6], p[1], p[2]))) for p in placed] == [
    (b["offset"], b["bytes"], b["first"], b["last"]) for b in buffers]
array = lambda name: [int(n) for n in re.findall(
    r"(\d+)u", re.search(r"_%s\[\w+\] = \{([^}]*)" % name, header)[1])]
assert array("alive") == steps
assert len(array("order")) == len(set(array("order"))) == len(steps)

# A slice per operator and per buffer, counters per step.
events = trace["traceEvents"]
assert {e["ph"] for e in events} <= {"M", "X", "C"}
assert all(isinstance(e["ts"], int) and e["dur"] > 0
           for e in events if e["ph"] == "X")
slices = lambda kind: [e for e in events if e["ph"] == "X" and e["cat"] == kind]
assert [e["name"] for e in slices("operator")] == plan["order"]["sequence"]
key = lambda b: (b["name"], b["offset"], b["bytes"], b["first"], b["last"])
assert sorted((e["name"], e["args"]["offset"], e["args"]["bytes"], e["ts"],
               e["ts"] + e["dur"] - 1) for e in slices("tensor")) == sorted(
                   key(b) for b in buffers)
count = lambda name: [e["args"]["bytes"] for e in events
                      if e["ph"] == "C" and e["name"] == name]
assert count("bytes alive") == steps + [0]
reach = count("arena in use")
assert max(reach) <= plan["layout"]["arena_bytes"] and len(reach) == len(steps) + 1
for step, end in enumerate(reach):
    alive = [e for e in slices("tensor") + slices("scratch")
             if e["ts"] <= step < e["ts"] + e["dur"]]
    assert end == max((e["args"]["offset"] + e["args"]["bytes"] for e in alive),
                      default=0), step
free = {}
for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
    assert free.get(e["tid"], 0) <= e["ts"], e
    free[e["tid"]] = e["ts"] + e["dur"]
named = {e["tid"] for e in events if e["name"] == "thread_name"}
assert set(free) <= named

# One value per operator, in running order.
data = nodes if "results" in nodes else next(iter(nodes.values()))
if plan["model"].endswith(".onnx"):
    assert set(r["value"] for r in data["results"].values()) == set(steps)
else:
    assert sorted(r["value"] for r in data["results"].values()) == sorted(steps)
END

agree() { python3 "$work/agree.py" "$work" || fault "not the plan of the JSON"; }

checking "the example, under several memory models"
for options in "--memory plain" "--memory serenity" "--memory tflm" \
  "--memory plain --inplace relu,add --align 64" "--inputs external"; do
  # shellcheck disable=SC2086
  emit plan examples/swiftnet.cg --time-limit 2 $options
  header_compiles; agree
done

checking "two runs give the same bytes, and several files in one run as well"
for kind in c-header trace model-explorer bufferplan; do
  for i in 1 2; do
    run plan $graph --memory tflm --quiet --emit "$kind=$work/$i" \
      --emit "$kind=$work/again"
    code_is 0; err_is_empty
    cmp -s "$work/$i" "$work/again" || fault "two files of one run differ"
  done
  cmp -s "$work/1" "$work/2" || fault "$kind: two runs differ"
done

checking "names that are no names in C"
cat >"$work/3 odd-net.v1.cg" <<'END'
calm-graph 1
graph "*/ evil /*"
tensor "*/ #error \x0a#error" i8[1,64] input
tensor "int" i8[64,64] const
tensor "a/b" i8[1,64]
tensor "a.b" i8[1,64]
tensor "A_B_2" i8[1,64]
tensor "\xff\xe2\x80\xae" i8[1,64]
tensor "??/" i8[1,64] output
op "//\\" conv2d ( "*/ #error \x0a#error" "int" - ) -> ( "a/b" ) workspace=48
op "scratch */" conv2d ( "a/b" ) -> ( "a.b" "A_B_2" ) workspace=16
op "" opaque ( "a.b" "A_B_2" ) -> ( "\xff\xe2\x80\xae" )
op c opaque ( "\xff\xe2\x80\xae" ) -> ( "??/" )
END
emit plan "$work/3 odd-net.v1.cg" --memory tflm
header_compiles; agree
grep -q '^#define CALM_3_ODD_NET_V1_OFFSET_A_B_2_2 ' "$work/e.h" ||
  fault "equal names are not numbered"
run plan "$work/3 odd-net.v1.cg" --memory tflm --quiet \
  --emit "bufferplan=$work/odd.h"
code_is 0
bufferplan_says calm_3_odd_net_v1 odd.h

checking "a buffer plan is for one runtime"
for memory in plain litert ort; do
  run plan $graph --memory $memory --quiet --emit "bufferplan=$work/never"
  code_is 2; err_has "a buffer plan is for TensorFlow Lite Micro"
  [ ! -e "$work/never" ] || fault "a file was written"
done

checking "models of the collection"
for name in tflm_hello_world_int8 litert_multi_signature litert_group_norm \
  tflm_micro_speech_lstm mlperf_kws_ref_int8 coral_split_concat; do
  model="$cases/models/$name.tflite"
  [ -e "$model" ] || { echo "  skipped: no $model"; continue; }
  emit plan "$model" --time-limit 2
  header_compiles; agree
  emit plan "$model" --time-limit 2 --kernels reference --emit \
    "bufferplan=$work/model.h"
  bufferplan_says "calm_$name" model.h
done
for name in onnx_light_squeezenet onnx_operator_conv; do
  model="$cases/models/$name.onnx"
  [ -e "$model" ] || { echo "  skipped: no $model"; continue; }
  emit plan "$model" --time-limit 2
  header_compiles; agree
done

finish
