/* Sums of three operands or more, added in any order. */
#include "rewrite_fixture.h"

static const char FOUR[] =
    "tensor x 8 input\ntensor a 8\ntensor b 8\ntensor c 8\ntensor d 8\n";
static void expect_checked_ops(rewriting *r, const char *ops) {
  expect_ops(r, ops);
  must(r, rewrite_check(&r->edit, r->f.context));
}

#define MADE                                               \
  "op fa relu ( x ) -> ( a )\nop fb relu ( x ) -> ( b )\n" \
  "op fc relu ( x ) -> ( c )\nop fd relu ( x ) -> ( d )\n"

static void open_sums(rewriting *r, const char *tensors, const char *ops) {
  char text[2048];
  snprintf(text, sizeof text, "%s%s%s%s", FOUR, tensors, MADE, ops);
  open_rewriting(r, REWRITE_sums, text);
}

static void test_add_n(void **state) {
  (void)state;
  rewriting r;
  open_sums(&r, "tensor y 8 output\n", "op s add_n ( a b d ) -> ( y )\n");
  expect_sites(&r, "s\n");
  assert_true(r.sites.sites[0].harmless);
  assert_int_equal(r.sites.sites[0].group, CALM_NONE);
  expect_checked_ops(&r, MADE
                     "op s/a1 add_into ( a ) -> ( y/p1 )\n"
                     "op s/a2 add_into ( b ) -> ( y/p2 )\n"
                     "op s/a3 add_into ( d ) -> ( y/p3 )\n"
                     "op s partial_sum ( y/p1 y/p2 y/p3 ) -> ( y )\n");
  assert_int_equal(r.edit.ops.data[4].role, EDIT_ADD);
  assert_int_equal(r.edit.ops.data[4].from, 4);
  assert_int_equal(r.edit.ops.data[7].role, EDIT_SUM);
  assert_int_equal(r.edit.ops.data[7].from, 4);
  const tensor_id part = made_tensor_named(&r, "y/p2");
  assert_int_equal(r.edit.tensors.data[part].contents, EDIT_MADE);
  assert_int_equal(r.edit.after.tensors.data[part].flags, 0);
  close_rewriting(&r);
}

/* A tree of additions; what is added twice is added twice; the last activation
   is that of the sum. */
static void test_trees_of_additions(void **state) {
  (void)state;
  rewriting r;
  open_sums(&r, "tensor t 8\ntensor u 8\ntensor y 8 output\n",
            "op s1 add ( a b ) -> ( t )\nop s2 add ( c a ) -> ( u )\n"
            "op s3 add ( t u ) -> ( y ) activation=relu\n");
  expect_sites(&r, "s3\n");
  expect_checked_ops(&r, MADE
                     "op s3/a1 add_into ( a ) -> ( y/p1 )\n"
                     "op s3/a2 add_into ( b ) -> ( y/p2 )\n"
                     "op s3/a3 add_into ( c ) -> ( y/p3 )\n"
                     "op s3/a4 add_into ( a ) -> ( y/p4 )\n"
                     "op s3 partial_sum ( y/p1 y/p2 y/p3 y/p4 ) -> ( y ) "
                     "activation=relu\n");
  close_rewriting(&r);
}

/* Of the sum of a, b and c. */
static void expect_copies(rewriting *r) {
  expect_sites(r, "s\n");
  assert_false(r->sites.sites[0].harmless);
  expect_checked_ops(r, MADE
                     "op s/a1 add_into ( a ) -> ( y/p1 ) workspace=8\n"
                     "op s/a2 add_into ( b ) -> ( y/p2 ) workspace=8\n"
                     "op s/a3 add_into ( c ) -> ( y/p3 ) workspace=8\n"
                     "op s partial_sum ( y/p1 y/p2 y/p3 ) -> ( y )\n");
}

static void test_additions_that_copy(void **state) {
  (void)state;
  rewriting r;
  open_sums(&r, "tensor y 8 output\n", "op s add_n ( a b c ) -> ( y )\n");
  r.options.partials = PARTIALS_ADD_COPY;
  expect_copies(&r);
  close_rewriting(&r);
}

/* Kernels that accumulate are convolutions; an addition may copy all the same.
 */
static void test_only_convolutions_accumulate(void **state) {
  (void)state;
  rewriting r;
  open_sums(&r, "tensor y 8 output\n", "op s add_n ( a b c ) -> ( y )\n");
  r.options.partials = PARTIALS_ACCUMULATE;
  r.options.additions_copy = true;
  expect_copies(&r);
  close_rewriting(&r);
}

static void test_two_operands_are_no_site(void **state) {
  (void)state;
  rewriting r;
  open_sums(&r, "tensor y 8 output\n", "op s add ( a b ) -> ( y )\n");
  expect_sites(&r, "");
  close_rewriting(&r);
}

/* A sum that others read, or that is an output, or has an activation, or that a
   control edge holds, is an operand like others. */
static void test_sums_that_stay(void **state) {
  (void)state;
  const char *const ops[] = {
      "op s1 add ( a b ) -> ( t )\nop s2 add ( t c ) -> ( y )\n"
      "op z relu ( t ) -> ( u )\n",
      "op s1 add ( a b ) -> ( t ) activation=relu\n"
      "op s2 add ( t c ) -> ( y )\nop z relu ( a ) -> ( u )\n",
      "op s1 add ( a b ) -> ( t ) after ( fd )\n"
      "op s2 add ( t c ) -> ( y )\nop z relu ( a ) -> ( u )\n",
      "op s1 add ( a b ) -> ( t )\nop s2 add ( t c ) -> ( y )\n"
      "op z relu ( a ) -> ( u ) after ( s1 )\n",
      "op s1 add ( a b ) -> ( t )\nop s2 add ( t t ) -> ( y )\n"
      "op z relu ( a ) -> ( u )\n"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    rewriting r;
    open_sums(&r, "tensor t 8\ntensor u 8\ntensor y 8 output\n", ops[i]);
    expect_sites(&r, "");
    close_rewriting(&r);
  }
  rewriting r;
  open_sums(&r, "tensor t 8 output\ntensor y 8 output\n",
            "op s1 add ( a b ) -> ( t )\nop s2 add ( t c ) -> ( y )\n");
  expect_sites(&r, "");
  close_rewriting(&r);
}

static void test_broadcasts_are_no_sums(void **state) {
  (void)state;
  rewriting r;
  open_rewriting(&r, REWRITE_sums,
                 "tensor x f32[1,2,2,4] input\ntensor k f32[4] input\n"
                 "tensor t f32[1,2,2,4]\ntensor y f32[1,2,2,4] output\n"
                 "op s1 add ( x k ) -> ( t )\nop s2 add ( t x ) -> ( y )\n");
  expect_sites(&r, "");
  close_rewriting(&r);
}

static void test_refusals(void **state) {
  (void)state;
  rewriting r;
  open_rewriting(&r, REWRITE_sums,
                 "tensor x i8[4] input\ntensor y i8[4] output\n"
                 "op s add_n ( x x x ) -> ( y )\n");
  expect_sites(&r, "s: each addition of quantised tensors rounds\n");
  close_rewriting(&r);
  open_rewriting(&r, REWRITE_sums,
                 "tensor x f32[4] input\ntensor k f32[4] const\n"
                 "tensor y f32[4] output\nop s add_n ( x x k ) -> ( y )\n");
  expect_sites(&r, "s: one of its operands is constant\n");
  close_rewriting(&r);
  open_sums(&r, "tensor y 8 output\n", "op s add_n ( a b c ) -> ( y )\n");
  r.options.accumulator_factor = 4;
  expect_sites(&r, "s: its partial sums are wider than the tensors\n");
  close_rewriting(&r);
}

/* On paper the division costs nothing. */
static void test_means(void **state) {
  (void)state;
  rewriting r;
  open_sums(&r, "tensor y 8 output\n", "op s mean_n ( a b c ) -> ( y )\n");
  expect_sites(&r, "s\n");
  apply_all(&r);
  must(&r, rewrite_check(&r.edit, r.f.context));
  close_rewriting(&r);
  open_rewriting(&r, REWRITE_sums,
                 "tensor x f32[4] input\ntensor y f32[4] output\n"
                 "op s mean_n ( x x x ) -> ( y )\n");
  expect_sites(&r,
               "s: a mean divides what was added, which takes one more "
               "operator\n");
  close_rewriting(&r);
}

/* Long chains need no deep stack. */
static void test_a_long_chain(void **state) {
  (void)state;
  enum { LINKS = 20000 };
  text t;
  char *whole;
  rewriting r;
  memset(&r, 0, sizeof r);
  fixture_open(&r.f, NULL);
  text_init(&t, r.f.context);
  text_format(&t, "calm-graph 1\ngraph g\ntensor x 8 input\ntensor t0 8\n");
  for (int i = 1; i <= LINKS; i++)
    text_format(&t, "tensor t%d 8%s\n", i, i == LINKS ? " output" : "");
  text_format(&t, "op s0 relu ( x ) -> ( t0 )\n");
  for (int i = 1; i <= LINKS; i++)
    text_format(&t, "op s%d add ( t%d x ) -> ( t%d )\n", i, i - 1, i);
  assert_int_equal(text_finish(&t, &whole), CALM_OK);
  fixture_must_read(&r.f, whole);
  calm_text_free(r.f.context, whole);
  r.g = &r.f.graphs.data[0];
  r.options.rules[REWRITE_sums] = true;
  expect_sites(&r, "s20000\n");
  close_rewriting(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_add_n),
      cmocka_unit_test(test_trees_of_additions),
      cmocka_unit_test(test_additions_that_copy),
      cmocka_unit_test(test_only_convolutions_accumulate),
      cmocka_unit_test(test_two_operands_are_no_site),
      cmocka_unit_test(test_sums_that_stay),
      cmocka_unit_test(test_broadcasts_are_no_sums),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_means),
      cmocka_unit_test(test_a_long_chain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
