/* Operators that hand on their input. */
#include "unit/rewrite_peaks.h"

static const char *refusal_of(rewrite_fixture *x, const char *lines) {
  rewrite_open_lines(x, lines);
  rewrite_find(x);
  for (uint32_t i = 0; i < x->sites.count; i++)
    if (x->sites.sites[i].rule == REWRITE_noops) {
      assert_int_equal(x->sites.sites[i].group, CALM_NONE);
      assert_int_equal(x->sites.sites[i].concat, CALM_NONE);
      assert_true(x->sites.sites[i].harmless);
      return x->sites.sites[i].refusal;
    }
  return "none";
}

static void is_noop(const char *lines) {
  rewrite_fixture x;
  assert_null(refusal_of(&x, lines));
  x.taken[0] = true;
  rewrite_do(&x);
  assert_int_equal(x.edit.after.ops.count, x.g->ops.count - 1);
  rewrite_close(&x);
}

static void is_refused(const char *lines, const char *why) {
  rewrite_fixture x;
  assert_string_equal(refusal_of(&x, lines), why);
  rewrite_close(&x);
}

#define AFTER "tensor z f32[2,3] output\nop last relu ( y ) -> ( z )\n"
#define SAME "tensor x f32[2,3] input\ntensor y f32[2,3]\n"

static void test_kinds(void **state) {
  (void)state;
  is_noop(SAME AFTER "op u identity ( x ) -> ( y )\n");
  is_noop(SAME AFTER "op u dropout ( x ) -> ( y )\n");
  is_noop(SAME AFTER "op u reshape ( x ) -> ( y )\n");
  is_noop(SAME AFTER "op u squeeze ( x ) -> ( y )\n");
  is_noop(SAME AFTER "op u expand_dims ( x ) -> ( y )\n");
  is_noop(SAME AFTER "op u bitcast ( x ) -> ( y )\n");
  is_noop(SAME AFTER "op u cast ( x ) -> ( y ) to=f32\n");
  is_noop(SAME AFTER "op u concat ( x ) -> ( y )\n");
  is_noop(SAME AFTER "tensor k i32[1] const\nop u split ( k x ) -> ( y )\n");
  is_noop(
      "tensor x 6 input\ntensor y 6\ntensor z 6 output\n"
      "op u reshape ( x ) -> ( y )\nop last relu ( y ) -> ( z )\n");
}

static void test_what_is_none(void **state) {
  (void)state;
  is_refused("tensor x f32[3,2] input\ntensor y f32[2,3]\n" AFTER
             "op u reshape ( x ) -> ( y )\n",
             "none");
  is_refused("tensor x i32[2,3] input\ntensor y f32[2,3]\n" AFTER
             "op u cast ( x ) -> ( y )\n",
             "none");
  is_refused(
      "tensor x 6 input\ntensor y 6\ntensor z 6 output\n"
      "op u bitcast ( x ) -> ( y )\nop last relu ( y ) -> ( z )\n",
      "none");
  is_refused(
      "tensor x 6 input\ntensor y 6\ntensor z 6 output\n"
      "op u cast ( x ) -> ( y )\nop last relu ( y ) -> ( z )\n",
      "none");
  is_refused(SAME AFTER "op u concat ( x ) -> ( y ) activation=relu\n", "none");
  is_refused("tensor x f32[1,3] input\ntensor y f32[2,3]\n" AFTER
             "op u concat ( x x ) -> ( y ) axis=0\n",
             "none");
  is_refused(SAME AFTER "op u relu ( x ) -> ( y )\n", "none");
}

static void test_refusals(void **state) {
  (void)state;
  is_refused(
      "tensor x f32[2,3] input\ntensor y f32[2,3] output\n"
      "op u identity ( x ) -> ( y )\n",
      "its output is one of the graph");
  is_refused("tensor x f32[2,3] const\ntensor y f32[2,3]\n" AFTER
             "op u identity ( x ) -> ( y )\n",
             "it copies a constant");
  is_refused("tensor x f32[2,3] variable\ntensor y f32[2,3]\n" AFTER
             "op u identity ( x ) -> ( y )\n",
             "it copies a variable");
  is_refused(SAME
             "op u identity ( x ) -> ( y )\n"
             "tensor z f32[2,3] output\n"
             "op last relu ( y ) -> ( z ) after ( u )\n",
             "other operators wait for it, or it for them");
}

static void test_other_quantization(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, SAME AFTER "op u reshape ( x ) -> ( y )\n");
  x.g->tensors.data[1].quantization = 3;
  rewrite_find(&x);
  assert_int_equal(x.sites.count, 0);
  rewrite_close(&x);
}

/* Concats are seen through them, and chains of them go at once. */
static void test_in_front_of_sites(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x,
                     "tensor x 2 input\ntensor a 2\ntensor b 2\ntensor c 4\n"
                     "tensor d 4\ntensor y 1 output\n"
                     "op one identity ( x ) -> ( a )\n"
                     "op two dropout ( a ) -> ( b )\n"
                     "op cat concat ( b b ) -> ( c )\n"
                     "op three identity ( c ) -> ( d )\n"
                     "op conv conv2d ( d ) -> ( y )\n");
  rewrite_do_all(&x);
  assert_int_equal(rewrite_site_named(&x, "cat>conv")->group, 0);
  assert_true(x.sites.closed[0]);
  rewrite_gives(&x,
                "tensor x 2 input\n"
                "tensor y 1 output\n"
                "tensor y/p1 1\n"
                "tensor y/p2 1\n"
                "op conv/p1 conv2d ( x ) -> ( y/p1 )\n"
                "op conv/p2 conv2d ( x ) -> ( y/p2 )\n"
                "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n");
  for (uint32_t i = 0; i < x.sites.count; i++)
    x.taken[i] = strcmp(x.sites.sites[i].name, "three") != 0;
  rewrite_do(&x);
  rewrite_gives(&x,
                "tensor x 2 input\n"
                "tensor c 4\n"
                "tensor d 4\n"
                "tensor y 1 output\n"
                "op cat concat ( x x ) -> ( c )\n"
                "op three identity ( c ) -> ( d )\n"
                "op conv conv2d ( d ) -> ( y )\n");
  rewrite_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),
                                     cmocka_unit_test(test_what_is_none),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_other_quantization),
                                     cmocka_unit_test(test_in_front_of_sites)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
