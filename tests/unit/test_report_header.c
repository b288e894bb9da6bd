/* Plans as C headers; tests/cli/emit.sh compiles them. */
#include "planned.h"

static void macros_say_what_the_plan_says(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "some/where/two.cg", planned_for_tflm);
  const char *const pieces[] = {
      "The memory plan of two.cg, made by calm " CALM_VERSION ".",
      "Graph \"main *\\x2f\", memory model tflm; order optimal, layout "
      "optimal.",
      "#ifndef CALM_TWO_PLAN_H\n#define CALM_TWO_PLAN_H\n",
      "#define CALM_TWO_ARENA_BYTES 336u\n",
      "#define CALM_TWO_ARENA_ALIGN 16u\n",
      "#define CALM_TWO_OPERATORS 3u\n#define CALM_TWO_TENSORS 7u\n",
      "/* \"x\": steps 0 to 0 */\n#define CALM_TWO_OFFSET_X ",
      "\"w\": a constant, not in the arena */\n",
      "\"state\": state that the runtime keeps, not in the arena */\n",
      "/* \"a/b\": steps 0 to 1 */\n#define CALM_TWO_OFFSET_A_B ",
      "#define CALM_TWO_BYTES_A_B 64u\n",
      "/* \"a.b\": steps 1 to 2 */\n#define CALM_TWO_OFFSET_A_B_2 ",
      "\"nothing\": needs no bytes */\n",
      "/* \"0_FC\": step 0 */\n#define CALM_TWO_OFFSET_SCRATCH_0_FC ",
      "#define CALM_TWO_BYTES_SCRATCH_0_FC 48u\n",
      "/* Graph \"branch\": its tensors lie in the same arena. */\n",
      "/* \"p\" */\n#define CALM_TWO_OFFSET_G1_P ",
      "   0 \"0_FC\"\n   1 \"1_IF\"\n   2 \"2_ADD\"\n",
      "static const uint32_t calm_two_offsets[CALM_TWO_TENSORS] = {",
      "static const uint32_t calm_two_order[CALM_TWO_OPERATORS] = {\n"
      "    0u, 1u, 2u};\n",
      "#endif\n",
      NULL};
  planned_says(&p, CALM_FORMAT_C_HEADER, pieces);
  planned_close(&p);
}

static void other_graphs_are_scratch_elsewhere(void **state) {
  planned p;
  const char *const plain[] = {"memory", "plain", NULL};
  const char *const pieces[] = {
      "/* \"1_IF\": step 1 */\n#define CALM_TWO_OFFSET_SCRATCH_1_IF ",
      "/* Graph \"branch\": not planned here; what it needs is scratch of the "
      "operator\n   that runs it. */\n",
      NULL};
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", plain);
  planned_says(&p, CALM_FORMAT_C_HEADER, pieces);
  planned_close(&p);
}

/* An elided concat lies in several places, a view in those of another. */
/* Whose offsets these are depends on the runtime, and only one of them has the
   bodies in the same arena. */
static void runtimes_that_take_no_offsets_are_named(void **state) {
  const struct {
    const char *memory, *said;
  } cases[] = {
      {"litert",
       " * TensorFlow Lite takes no offsets: these are those that it "
       "is expected to choose.\n"},
      {"ort", " * ONNX Runtime takes no offsets and chooses its own.\n"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    planned p;
    const char *const options[] = {"memory", cases[i].memory, NULL};
    const char *const pieces[] = {
        cases[i].said, "/* Graph \"branch\": not planned here", NULL};
    planned_open(&p, planned_two_graphs, "two.cg", options);
    planned_says(&p, CALM_FORMAT_C_HEADER, pieces);
    planned_close(&p);
  }
}

static void what_has_no_bytes_of_its_own_is_told(void **state) {
  planned p;
  const char *const options[] = {"memory", "serenity", "inputs", "external",
                                 NULL};
  const char *const pieces[] = {
      "/* \"x\": an input that the caller owns, not in the arena */\n",
      "/* \"v\": lies in the bytes of another tensor */\n"
      "#define CALM_NET_OFFSET_V ",
      "#define CALM_NET_BYTES_V 8u\n",
      "/* \"both\": lies wherever the operands of its concatenation do */\n"
      "/* \"y\"",
      NULL};
  (void)state;
  planned_open(&p,
               "calm-graph 1\n"
               "graph g\n"
               "tensor x 8 input\n"
               "tensor a i8[1,8]\n"
               "tensor v i8[8]\n"
               "tensor b i8[8]\n"
               "tensor both i8[16]\n"
               "tensor y 4 output\n"
               "op one conv2d ( x ) -> ( a )\n"
               "op two reshape ( a ) -> ( v )\n"
               "op three conv2d ( x ) -> ( b )\n"
               "op four concat ( v b ) -> ( both )\n"
               "op five conv2d ( both ) -> ( y )\n",
               "net.cg", options);
  planned_says(&p, CALM_FORMAT_C_HEADER, pieces);
  planned_close(&p);
}

static void large_figures_take_wider_words(void **state) {
  planned p;
  const char *const pieces[] = {
      "#define CALM_BIG_ARENA_BYTES 8589934592u\n",
      "#define CALM_BIG_NOWHERE 18446744073709551615u\n",
      "static const uint64_t calm_big_offsets[",
      "static const uint32_t calm_big_order[", NULL};
  (void)state;
  planned_open(&p,
               "calm-graph 1\n"
               "graph g\n"
               "tensor x 4294967296 input\n"
               "tensor y 4294967296 output\n"
               "op f opaque ( x ) -> ( y )\n",
               "big.cg", NULL);
  planned_says(&p, CALM_FORMAT_C_HEADER, pieces);
  planned_close(&p);
}

static void a_graph_of_nothing_has_no_arrays(void **state) {
  planned p;
  (void)state;
  planned_open(&p, "calm-graph 1\ngraph g\n", "none.cg", NULL);
  char *out = planned_text(&p, CALM_FORMAT_C_HEADER);
  assert_null(strstr(out, "static const"));
  assert_non_null(strstr(out, "#define CALM_NONE_TENSORS 0u\n"));
  calm_text_free(p.context, out);
  planned_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(macros_say_what_the_plan_says),
      cmocka_unit_test(other_graphs_are_scratch_elsewhere),
      cmocka_unit_test(runtimes_that_take_no_offsets_are_named),
      cmocka_unit_test(what_has_no_bytes_of_its_own_is_told),
      cmocka_unit_test(large_figures_take_wider_words),
      cmocka_unit_test(a_graph_of_nothing_has_no_arrays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
