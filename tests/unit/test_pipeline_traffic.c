/* Off-chip traffic through the public interface: the worked example of
   docs/traffic.md, the rules of memory models, options, and want of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "calm/calm.h"
#include "scarce.h"

/* Two branches; see docs/traffic.md. */
static const char fork_text[] =
    "calm-graph 1\ngraph fork\n"
    "tensor x 4 input\ntensor a 4\ntensor b 4\ntensor c 2\ntensor d 2\n"
    "tensor y 4 output\n"
    "op A opaque ( x ) -> ( a )\nop B opaque ( x ) -> ( b )\n"
    "op C opaque ( a ) -> ( c )\nop D opaque ( b ) -> ( d )\n"
    "op Y opaque ( c d ) -> ( y )\n";

typedef struct setup {
  uint64_t allocations_left;
  calm_context *context;
  calm_options *options;
  calm_model *model;
} setup;

static int open_setup(void **state) {
  static setup s;
  const calm_allocator scarce = {scarce_reallocate, &s.allocations_left};
  s.allocations_left = SCARCE_NEVER;
  s.context = calm_context_new(&scarce);
  s.model = NULL;
  *state = &s;
  return calm_options_new(&s.options, s.context) != CALM_OK;
}

static int close_setup(void **state) {
  setup *s = *state;
  calm_model_free(s->model);
  calm_options_free(s->options);
  const size_t left = calm_context_bytes(s->context);
  calm_context_free(s->context);
  return left != 0;
}

static void read_graph(setup *s, const char *text) {
  assert_int_equal(calm_model_parse(&s->model, s->context, text, strlen(text),
                                    "net.cg", s->options),
                   CALM_OK);
}

static void set(setup *s, const char *name, const char *value) {
  assert_int_equal(calm_options_set(s->options, name, value), CALM_OK);
}

static calm_plan *plan_graph(setup *s) {
  calm_plan *plan = NULL;
  if (calm_plan_make(&plan, s->model, s->options))
    fail_msg("%s", calm_context_message(s->context));
  return plan;
}

static void refuses(setup *s, const char *words) {
  calm_plan *plan;
  assert_int_equal(calm_plan_make(&plan, s->model, s->options), CALM_MISUSE);
  if (!strstr(calm_context_message(s->context), words))
    fail_msg("no '%s' in: %s", words, calm_context_message(s->context));
}

static calm_traffic row_of(const calm_plan *plan, uint32_t row) {
  calm_traffic t;
  assert_true(calm_plan_traffic(&t, plan, row));
  return t;
}

static void assert_spills(const calm_plan *plan, uint32_t row,
                          const char *order, uint64_t read, uint64_t written) {
  const calm_traffic t = row_of(plan, row);
  assert_string_equal(t.order, order);
  assert_int_equal(t.spill_read_bytes, read);
  assert_int_equal(t.spill_write_bytes, written);
}

/* ---- What moves ---------------------------------------------------------- */

static void rows_stand_by_size_and_order(void **state) {
  setup *s = *state;
  calm_traffic t;
  read_graph(s, fork_text);
  set(s, "onchip", "8,10");
  calm_plan *plan = plan_graph(s);
  assert_spills(plan, 0, "file", 8, 8);
  assert_spills(plan, 1, "plan", 6, 2);
  assert_spills(plan, 2, "file", 4, 4);
  assert_spills(plan, 3, "plan", 0, 0);
  assert_false(calm_plan_traffic(&t, plan, 4));
  t = row_of(plan, 3);
  assert_int_equal(t.onchip_bytes, 10);
  assert_int_equal(t.page_bytes, 0);
  assert_int_equal(t.used_bytes, 10);
  assert_int_equal(t.streaming_ops, 0);
  calm_plan_free(plan);
}

static void without_a_size_there_is_none(void **state) {
  setup *s = *state;
  calm_traffic t;
  read_graph(s, fork_text);
  calm_plan *plan = plan_graph(s);
  assert_false(calm_plan_traffic(&t, plan, 0));
  calm_plan_free(plan);
}

static void totals_include_what_is_asked_for(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "onchip", "8");
  set(s, "offchip", "outputs,inputs");
  calm_plan *plan = plan_graph(s);
  const calm_traffic t = row_of(plan, 0);
  assert_int_equal(t.read_bytes, 8 + 4);
  assert_int_equal(t.write_bytes, 8 + 4);
  assert_int_equal(t.input_bytes, 4);
  assert_int_equal(t.output_bytes, 4);
  calm_plan_free(plan);
}

static void an_inspection_counts_the_order_of_the_file(void **state) {
  setup *s = *state;
  calm_inspection *inspection;
  calm_traffic t;
  read_graph(s, fork_text);
  set(s, "onchip", "8,6");
  assert_int_equal(calm_inspect(&inspection, s->model, s->options), CALM_OK);
  assert_true(calm_inspection_traffic(&t, inspection, 0));
  assert_string_equal(t.order, "file");
  assert_int_equal(t.spill_read_bytes, 8);
  assert_true(calm_inspection_traffic(&t, inspection, 1));
  assert_int_equal(t.spill_read_bytes, 10);
  assert_int_equal(t.streaming_ops, 3);
  assert_false(calm_inspection_traffic(&t, inspection, 2));
  calm_inspection_free(inspection);
}

/* Three pages of 4 bytes: x and a take one each, as does what stays; nothing
   is different from whole tensors of 4 bytes but that c and d take a page. */
static void pages_are_moved_whole(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "onchip", "8");
  set(s, "page-size", "4");
  set(s, "order", "file");
  calm_plan *plan = plan_graph(s);
  const calm_traffic t = row_of(plan, 0);
  assert_int_equal(t.page_bytes, 4);
  assert_int_equal(t.spill_read_bytes % 4, 0);
  assert_int_equal(t.spill_write_bytes % 4, 0);
  assert_true(t.spill_read_bytes > 0);
  calm_plan_free(plan);
}

/* Inputs and outputs that the caller owns come and go all the same. */
static void whoever_owns_inputs_they_are_read(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "onchip", "8");
  set(s, "inputs", "external");
  set(s, "outputs", "external");
  calm_plan *plan = plan_graph(s);
  assert_spills(plan, 0, "file", 8, 8);
  assert_int_equal(row_of(plan, 0).input_bytes, 4);
  assert_int_equal(row_of(plan, 0).output_bytes, 4);
  calm_plan_free(plan);
}

/* In place y takes the bytes of x, of which there is a copy off chip. */
static void what_is_done_in_place_needs_less(void **state) {
  static const char text[] =
      "calm-graph 1\ngraph chain\ntensor x 4 input\ntensor y 4\n"
      "tensor z 4 output\nop f relu ( x ) -> ( y )\nop g relu ( y ) -> ( z )\n";
  setup *s = *state;
  read_graph(s, text);
  set(s, "onchip", "4");
  calm_plan *plan = plan_graph(s);
  assert_int_equal(row_of(plan, 1).streaming_ops, 2);
  assert_spills(plan, 1, "plan", 0, 0); /* y stays where both stream */
  calm_plan_free(plan);
  set(s, "inplace", "relu");
  plan = plan_graph(s);
  assert_int_equal(row_of(plan, 1).streaming_ops, 0);
  assert_int_equal(row_of(plan, 1).used_bytes, 4);
  assert_spills(plan, 1, "plan", 0, 0);
  calm_plan_free(plan);
}

/* While the operator runs, 4 + 4 bytes and the 8 of its body are in use. */
static void bodies_are_workspace(void **state) {
  static const char text[] =
      "calm-graph 1\ngraph outer\ntensor x 4 input\ntensor y 4 output\n"
      "op w while ( x ) -> ( y ) body=inner\n"
      "graph inner\ntensor a 6 input\ntensor b 2 output\n"
      "op f opaque ( a ) -> ( b )\n";
  setup *s = *state;
  read_graph(s, text);
  set(s, "onchip", "16,15");
  calm_plan *plan = plan_graph(s);
  assert_int_equal(row_of(plan, 1).streaming_ops, 0);
  assert_int_equal(row_of(plan, 1).used_bytes, 16);
  assert_int_equal(row_of(plan, 3).streaming_ops, 1);
  calm_plan_free(plan);
}

/*
 * p and q are bytes of one sum of 8.  With 14 bytes on chip it has to leave
 * while `beside` needs 10: 8 are written, and 8 read by `second`, which adds to
 * them.  Where `second` comes before `first`, x leaves instead, which costs a
 * read of 4 and no write.
 */
static void sums_are_read_before_they_are_added_to(void **state) {
  static const char text[] =
      "calm-graph 1\ngraph sums\ntensor x 4 input\ntensor p 8\ntensor t 6\n"
      "tensor q 8\ntensor y 8\ntensor z 2 output\n"
      "op first opaque ( x ) -> ( p )\nop beside opaque ( x ) -> ( t )\n"
      "op second opaque ( t ) -> ( q )\nop sum partial_sum ( p q ) -> ( y )\n"
      "op last opaque ( y ) -> ( z )\n";
  setup *s = *state;
  read_graph(s, text);
  set(s, "onchip", "14");
  set(s, "minimize", "traffic");
  calm_plan *plan = plan_graph(s);
  assert_spills(plan, 0, "file", 8, 8);
  assert_spills(plan, 2, "plan", 4, 0);
  assert_int_equal(row_of(plan, 2).streaming_ops, 0);
  assert_int_equal(calm_plan_summary_of(plan)->order_outcome, CALM_OPTIMAL);
  calm_plan_free(plan);
}

/* ---- The order that moves least ------------------------------------------ */

static void the_order_may_be_for_traffic(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "onchip", "8");
  set(s, "minimize", "traffic");
  calm_plan *plan = plan_graph(s);
  const calm_traffic least = row_of(plan, 2);
  assert_spills(plan, 0, "file", 8, 8);
  assert_spills(plan, 1, "peak", 6, 2);
  assert_string_equal(least.order, "plan");
  assert_int_equal(least.read_bytes + least.write_bytes, 8);
  const calm_plan_summary *sum = calm_plan_summary_of(plan);
  assert_int_equal(sum->peak_bound_bytes, 10);
  assert_true(sum->peak_bytes >= 10);
  assert_true(sum->arena_bytes >= sum->peak_bytes);
  assert_int_equal(sum->order_outcome, CALM_OPTIMAL);
  calm_plan_free(plan);
}

static void where_the_peak_fits_nothing_is_left_to_prove(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "onchip", "10");
  set(s, "minimize", "traffic");
  calm_plan *plan = plan_graph(s);
  assert_spills(plan, 2, "plan", 0, 0);
  assert_int_equal(calm_plan_summary_of(plan)->order_outcome, CALM_OPTIMAL);
  calm_plan_free(plan);
}

/* ---- Options ------------------------------------------------------------- */

static void options_that_do_not_go_together_are_refused(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "minimize", "traffic");
  refuses(s, "add --onchip SIZE");
  set(s, "onchip", "8,10");
  refuses(s, "give one size only");
  set(s, "onchip", "8");
  set(s, "order", "dp");
  refuses(s, "leave out --order dp");
  set(s, "order", "exact");
  set(s, "page-size", "4");
  refuses(s, "leave out --page-size");
  set(s, "page-size", "0");
  set(s, "memory", "ort");
  set(s, "for", "ort-default");
  refuses(s, "leave out --for ort-default");
}

static void sizes_and_words_are_checked(void **state) {
  static const char *const sizes[] = {"",    "8,", ",8", "8,,9",
                                      "64Q", "-1", "8 "};
  static const char *const words[] = {"", "input", "none,inputs", "inputs,"};
  setup *s = *state;
  read_graph(s, fork_text);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    set(s, "onchip", sizes[i]);
    refuses(s, "is not a size such as 65536, 64K or 1M");
  }
  set(s, "onchip", "8K");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    set(s, "offchip", words[i]);
    refuses(s, "is not one of inputs, outputs, weights");
  }
}

/* ---- Want of memory ------------------------------------------------------ */

static void memory_may_run_out_anywhere(void **state) {
  setup *s = *state;
  read_graph(s, fork_text);
  set(s, "onchip", "8");
  set(s, "minimize", "traffic");
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    calm_plan *plan = NULL;
    char *out = NULL;
    s->allocations_left = granted;
    status = calm_plan_make(&plan, s->model, s->options);
    if (status == CALM_OK)
      status = calm_plan_render(&out, plan, CALM_FORMAT_TRAFFIC, false);
    s->allocations_left = SCARCE_NEVER;
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    calm_text_free(s->context, out);
    calm_plan_free(plan);
  }
}

#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_setup, close_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(rows_stand_by_size_and_order),
      TEST(without_a_size_there_is_none),
      TEST(totals_include_what_is_asked_for),
      TEST(an_inspection_counts_the_order_of_the_file),
      TEST(pages_are_moved_whole),
      TEST(whoever_owns_inputs_they_are_read),
      TEST(what_is_done_in_place_needs_less),
      TEST(bodies_are_workspace),
      TEST(sums_are_read_before_they_are_added_to),
      TEST(the_order_may_be_for_traffic),
      TEST(where_the_peak_fits_nothing_is_left_to_prove),
      TEST(options_that_do_not_go_together_are_refused),
      TEST(sizes_and_words_are_checked),
      TEST(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
