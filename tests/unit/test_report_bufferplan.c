/* Plans as TensorFlow Lite Micro's BufferPlan; tests/cli/emit.sh compiles them.
   The order of entries was read off the runtime's own allocator. */
#include "planned.h"

/* Tensors of all graphs by number, without constants, state and what has no
   bytes, then scratch of all graphs. */
static void entries_stand_as_the_runtime_asks(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", planned_for_tflm);
  const char *const pieces[] = {
      "It fits the model as it is.",
      "kernels \"auto\".",
      "namespace calm_two {",
      "constexpr int32_t kBufferCount = 10;\n"
      "constexpr size_t kHeadBytes = 336;\n",
      "buffer_plan_entries[10];",
      "/* \"x\", 64 bytes */\n",
      "/* \"a/b\", 64 bytes */\n",
      "/* \"a.b\", 64 bytes */\n",
      "/* \"y\", 64 bytes */\n",
      "/* \"p\", 64 bytes, of \"branch\" */\n",
      "/* \"q\", 64 bytes, of \"branch\" */\n",
      "/* \"r\", 64 bytes, of \"branch\" */\n",
      "/* scratch of \"0_FC\", 48 bytes */\n",
      "/* scratch of \"2_ADD\", 20 bytes */\n",
      "/* scratch of \"1_ADD\", 16 bytes, of \"branch\" */\n    }};\n",
      NULL};
  planned_says(&p, CALM_FORMAT_BUFFERPLAN, pieces);
  planned_close(&p);
}

/* b is made before a, so its scratch is asked for first, while tensors keep
   their numbers. */
static void scratch_is_asked_for_in_running_order(void **state) {
  planned p;
  const char *const pieces[] = {
      "It fits the model in the order that calm plan -o writes.",
      "/* \"x\", 16 bytes */\n",
      "/* \"big\", 1024 bytes */\n",
      "/* \"small\", 16 bytes */\n",
      "/* \"y\", 16 bytes */\n",
      "/* \"z\", 16 bytes */\n",
      "/* scratch of \"late\", 48 bytes */\n",
      "/* scratch of \"early\", 32 bytes */\n",
      NULL};
  (void)state;
  planned_open(&p,
               "calm-graph 1\n"
               "graph g\n"
               "tensor x i8[16] input\n"
               "tensor big i8[1024]\n"
               "tensor small i8[16]\n"
               "tensor y i8[16] output\n"
               "tensor z i8[16] output\n"
               "op early conv2d ( x ) -> ( big ) workspace=32\n"
               "op late conv2d ( x ) -> ( small ) workspace=48\n"
               "op more conv2d ( small ) -> ( z )\n"
               "op last conv2d ( big ) -> ( y ) after ( more )\n",
               "net.cg", planned_for_tflm);
  planned_says(&p, CALM_FORMAT_BUFFERPLAN, pieces);
  planned_close(&p);
}

static void assert_refused(const planned *p, calm_status status,
                           const char *why) {
  char *out = NULL;
  assert_int_equal(
      calm_plan_render(&out, p->plan, CALM_FORMAT_BUFFERPLAN, false), status);
  assert_null(out);
  if (!strstr(calm_context_message(p->context), why))
    fail_msg("'%s' lacks '%s'", calm_context_message(p->context), why);
}

static void other_runtimes_have_none(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", NULL);
  assert_refused(&p, CALM_MISUSE,
                 "two.cg: a buffer plan is for TensorFlow Lite "
                 "Micro: plan with --memory tflm");
  planned_close(&p);
}

static void offsets_have_32_bits(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", planned_for_tflm);
  p.plan->offsets[0] = UINT64_C(1) << 31;
  assert_refused(&p, CALM_UNSUPPORTED, "no offsets beyond 2^31 - 1");
  planned_close(&p);
}

static void without_offsets_there_is_none(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", planned_for_tflm);
  p.plan->graphs[1].offsets[0] = UINT64_MAX;
  assert_refused(&p, CALM_UNSUPPORTED, "the runtime does best without offsets");
  planned_close(&p);
}

static void nothing_to_place_is_a_plan(void **state) {
  planned p;
  const char *const pieces[] = {"kBufferCount = 0;", "buffer_plan_entries[1];",
                                "{0} /* nothing is placed */\n", NULL};
  (void)state;
  planned_open(&p, "calm-graph 1\ngraph g\n", "none.cg", planned_for_tflm);
  planned_says(&p, CALM_FORMAT_BUFFERPLAN, pieces);
  planned_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_stand_as_the_runtime_asks),
      cmocka_unit_test(scratch_is_asked_for_in_running_order),
      cmocka_unit_test(other_runtimes_have_none),
      cmocka_unit_test(offsets_have_32_bits),
      cmocka_unit_test(without_offsets_there_is_none),
      cmocka_unit_test(nothing_to_place_is_a_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
