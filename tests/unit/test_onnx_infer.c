#include "onnx_rule.h"
#include "scarce.h"

/* ---- The file says otherwise --------------------------------------------- */

static void count_warnings(void *payload, calm_log_level level,
                           const char *line) {
  (void)line;
  if (level == CALM_LOG_WARNING) ++*(int *)payload;
}

/* One Relu of [n, 4] whose output the file states as `stated`. */
static void check_stated(const char *stated, const char *expected,
                         int warnings) {
  rule_bench b;
  int seen = 0;
  bench_open(&b);
  calm_context_set_log(b.context, count_warnings, &seen);
  bench_add_graph(&b, CALM_NONE);
  bench_add_value(&b, 0, "x", "f[n,4]");
  bench_add_value(&b, 0, "y", stated);
  bench_set_inputs(&b, 0, (int[]){0, -1});
  bench_add_node(&b, 0, "Relu", 13, "", (int[]){0, -1}, (int[]){1, -1});
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  compare_value(&bench_graph(&b, 0)->values.data[1], expected, stated);
  assert_int_equal(seen, warnings);
  bench_close(&b);
}

static void test_stated(void **state) {
  (void)state;
  check_stated("?*", "f[n,4]", 0);
  check_stated("f[7,4]", "f[7,4]", 0);
  check_stated("f[m,?]", "f[n,4]", 0);
  check_stated("f[-1,4]", "f[n,4]", 0);
  check_stated("f[7,5]", "f[7,4]", 1);
  check_stated("f[4]", "f[n,4]", 1);
}

/* ---- Reasons ------------------------------------------------------------- */

/* Relu of what `op` makes of `operand`. */
static void check_why(const char *op, const char *domain, const char *operand,
                      const char *second, const char *why) {
  rule_bench b;
  bench_open(&b);
  bench_add_graph(&b, CALM_NONE);
  bench_add_value(&b, 0, "x", operand);
  bench_add_value(&b, 0, "k", second);
  bench_add_value(&b, 0, "y", "?*");
  bench_add_value(&b, 0, "z", "?*");
  bench_set_inputs(&b, 0, (int[]){0, 1, -1});
  bench_add_node(&b, 0, op, 13, "", (int[]){0, 1, -1}, (int[]){2, -1})->domain =
      domain;
  bench_add_node(&b, 0, "Relu", 13, "", (int[]){2, -1}, (int[]){3, -1});
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  assert_string_equal(bench_graph(&b, 0)->values.data[3].why, why);
  bench_close(&b);
}

static void test_why(void **state) {
  (void)state;
  check_why("Foo", "", "f[2]", "f[2]", "operator 'Foo' has no rule");
  check_why("Foo", "my.own", "f[2]", "f[2]",
            "operator 'my.own::Foo' has no rule");
  check_why("Add", "", "f[batch,2]", "f[2]",
            "dimension 'batch' of 'x' is not given");
  check_why("Add", "", "f[2,?]", "f[2,1]", "dimension 1 of 'x' is not given");
  check_why("Add", "", "f*", "f[2]", "input 'x' has no shape");
  check_why("Reshape", "", "f[6]", "i[2]",
            "operator 'Reshape' (Reshape) depends on 'k', which is computed "
            "from data");
}

/* A contradiction is told with the place in the file. */
static void test_contradiction(void **state) {
  (void)state;
  rule_bench b;
  bench_open(&b);
  bench_add_graph(&b, CALM_NONE);
  bench_add_value(&b, 0, "x", "f[2,3]");
  bench_add_value(&b, 0, "k", "f[4]");
  bench_add_value(&b, 0, "y", "?*");
  bench_add_node(&b, 0, "Add", 13, "", (int[]){0, 1, -1}, (int[]){2, -1})
      ->position = 77;
  assert_int_equal(onnx_infer(&b.r), CALM_BAD_INPUT);
  assert_string_equal(
      calm_context_message(b.context),
      "test.onnx: byte 77: operator 'Add' (Add) has operands of 3 and 4 in "
      "dimension 1 of the output, which do not broadcast");
  bench_close(&b);
}

/* ---- If ------------------------------------------------------------------ */

/* The branches reshape an outer [2,6] to `one` or `other`. */
static void build_if(rule_bench *b, const char *condition, const char *one,
                     const char *other) {
  bench_add_graph(b, CALM_NONE);
  bench_add_value(b, 0, "c", condition);
  bench_add_value(b, 0, "x", "f[2,6]");
  bench_add_value(b, 0, "y", "?*");
  onnx_node *node =
      bench_add_node(b, 0, "If", 13, "", (int[]){0, -1}, (int[]){2, -1});
  bench_add_body(b, node, "then_branch", 1);
  bench_add_body(b, node, "else_branch", 2);
  for (uint32_t g = 1; g < 3; g++) {
    bench_add_graph(b, 0);
    value_id x = bench_add_value(b, g, "x", "?*");
    bench_graph(b, g)->values.data[x].flags = ONNX_VALUE_OUTER;
    bench_graph(b, g)->values.data[x].outer = 1;
    bench_add_value(b, g, "shape", g == 1 ? one : other);
    bench_add_value(b, g, "y", "?*");
    bench_add_node(b, g, "Reshape", 13, "", (int[]){0, 1, -1}, (int[]){2, -1});
    bench_set_outputs(b, g, (int[]){2, -1});
  }
}

static void check_if(const char *condition, const char *one, const char *other,
                     const char *expected) {
  rule_bench b;
  bench_open(&b);
  build_if(&b, condition, one, other);
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  compare_value(&bench_graph(&b, 0)->values.data[2], expected, "If");
  bench_close(&b);
}

static void test_if(void **state) {
  (void)state;
  check_if("b[]", "i{3,4}", "i{3,4}", "f[3,4]");
  check_if("b[]", "i{3,4}", "i{3,2,2}", "f*");
  check_if("b[]", "i{3,4}", "i{4,3}", "f[?,?]");
  check_if("b(1)", "i{3,4}", "i{4,3}", "f[3,4]");
  check_if("b(0)", "i{3,4}", "i{4,3}", "f[4,3]");
  /* a branch that cannot run is not taken */
  check_if("b[]", "i{3,4}", "i{5,5}", "f[3,4]");
  check_if("b[]", "i{5,5}", "i{3,4}", "f[3,4]");
}

static void test_no_branch(void **state) {
  (void)state;
  rule_bench b;
  bench_open(&b);
  build_if(&b, "b(1)", "i{5,5}", "i{3,4}");
  assert_int_equal(onnx_infer(&b.r), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(b.context), "no branch"));
  bench_close(&b);
}

/* ---- Loop ---------------------------------------------------------------- */

/* A loop that carries `carried`, joins it with `more` along axis 0, and gives
   out `more` of every round. */
static void build_loop(rule_bench *b, const char *rounds, const char *carried,
                       const char *op, const char *more) {
  bench_add_graph(b, CALM_NONE);
  bench_add_value(b, 0, "m", rounds);
  bench_add_value(b, 0, "v", carried);
  bench_add_value(b, 0, "last", "?*");
  bench_add_value(b, 0, "all", "?*");
  onnx_node *node = bench_add_node(b, 0, "Loop", 13, "", (int[]){0, -2, 1, -1},
                                   (int[]){2, 3, -1});
  bench_add_body(b, node, "body", 1);
  bench_add_graph(b, 0);
  bench_add_value(b, 1, "i", "?*");
  bench_add_value(b, 1, "c", "?*");
  bench_add_value(b, 1, "v", "?*");
  bench_add_value(b, 1, "more", more);
  bench_add_value(b, 1, "c'", "?*");
  bench_add_value(b, 1, "v'", "?*");
  bench_add_node(b, 1, "Identity", 13, "", (int[]){1, -1}, (int[]){4, -1});
  bench_add_node(b, 1, op, 13, "axis=0", (int[]){2, 3, -1}, (int[]){5, -1});
  bench_set_inputs(b, 1, (int[]){0, 1, 2, -1});
  bench_set_outputs(b, 1, (int[]){4, 5, 3, -1});
}

static void check_loop(const char *rounds, const char *op, const char *last,
                       const char *all) {
  rule_bench b;
  bench_open(&b);
  build_loop(&b, rounds, "f[2,3]", op, "f[1,3]");
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  compare_value(&bench_graph(&b, 0)->values.data[2], last, "Loop");
  compare_value(&bench_graph(&b, 0)->values.data[3], all, "Loop");
  bench_close(&b);
}

static void test_loop(void **state) {
  (void)state;
  check_loop("i(5)", "Add", "f[2,3]", "f[5,1,3]");
  check_loop("i[]", "Add", "f[2,3]", "f[?,1,3]");
  check_loop("i(5)", "Concat", "f[?,3]", "f[5,1,3]");
  check_loop("i(-1)", "Add", "f[2,3]", "f[0,1,3]");
}

/* Scan over axis 1 of [4,5,6]: elements [4,6], their sum as state. */
static void test_scan(void **state) {
  (void)state;
  rule_bench b;
  bench_open(&b);
  bench_add_graph(&b, CALM_NONE);
  bench_add_value(&b, 0, "s", "f[4,6]");
  bench_add_value(&b, 0, "x", "f[4,n,6]");
  bench_add_value(&b, 0, "last", "?*");
  bench_add_value(&b, 0, "all", "?*");
  onnx_node *node = bench_add_node(
      &b, 0, "Scan", 11,
      "num_scan_inputs=1 scan_input_axes=[1] scan_output_axes=[-1]",
      (int[]){0, 1, -1}, (int[]){2, 3, -1});
  bench_add_body(&b, node, "body", 1);
  bench_add_graph(&b, 0);
  for (int i = 0; i < 3; i++) bench_add_value(&b, 1, "v", "?*");
  bench_add_node(&b, 1, "Add", 13, "", (int[]){0, 1, -1}, (int[]){2, -1});
  bench_set_inputs(&b, 1, (int[]){0, 1, -1});
  bench_set_outputs(&b, 1, (int[]){2, 2, -1});
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  compare_value(&bench_graph(&b, 0)->values.data[2], "f[4,6]", "Scan");
  compare_value(&bench_graph(&b, 0)->values.data[3], "f[4,6,n]", "Scan");
  bench_close(&b);
}

/* ---- Limits -------------------------------------------------------------- */

/* Loops in loops: the effort must not multiply with every level. */
static void test_nesting(void **state) {
  (void)state;
  enum { DEPTH = 24 };
  rule_bench b;
  bench_open(&b);
  bench_add_graph(&b, CALM_NONE);
  for (uint32_t g = 0; g < DEPTH; g++) {
    for (int i = 0; i < 5; i++)
      bench_add_value(&b, g, "v", i == 2 ? "f[2,3]" : "?*");
    if (g + 1 < DEPTH) {
      onnx_node *node = bench_add_node(&b, g, "Loop", 13, "",
                                       (int[]){-2, -2, 2, -1}, (int[]){3, -1});
      bench_add_body(&b, node, "body", g + 1);
      bench_add_graph(&b, g);
    }
    bench_add_node(&b, g, "Concat", 13, "axis=0", (int[]){2, 2, -1},
                   (int[]){4, -1});
    bench_set_inputs(&b, g, (int[]){0, 1, 2, -1});
    bench_set_outputs(&b, g, (int[]){1, 4, -1});
  }
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  assert_in_range(arena_bytes(&b.r.scratch), 0, 64 << 20);
  bench_close(&b);
}

/* Each request for memory that fails is told, and nothing is lost. */
static void test_scarce(void **state) {
  (void)state;
  uint64_t enough = 0;
  for (bool done = false; !done; enough++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator scarce = {scarce_reallocate, &left};
    rule_bench b;
    bench_open_with(&b, &scarce);
    build_loop(&b, "i(5)", "f[2,3]", "Concat", "f[1,3]");
    left = enough;
    calm_status status = onnx_infer(&b.r);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    done = status == CALM_OK;
    left = SCARCE_NEVER;
    bench_close(&b);
  }
  assert_in_range(enough, 2, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stated),        cmocka_unit_test(test_why),
      cmocka_unit_test(test_contradiction), cmocka_unit_test(test_if),
      cmocka_unit_test(test_no_branch),     cmocka_unit_test(test_loop),
      cmocka_unit_test(test_scan),          cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_scarce)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
