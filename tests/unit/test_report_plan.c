/* Plans filled by hand, as table, JSON and CSV. */
#include "report/report_plan.h"
#include "report_fixture.h"

static char *render(const fixture *f, calm_format format) {
  char *out;
  assert_int_equal(calm_plan_render(&out, &f->plan, format, false), CALM_OK);
  return out;
}

static json_t *render_json(const fixture *f) {
  char *out = render(f, CALM_FORMAT_JSON);
  json_t *root = parse_json(out);
  calm_text_free(f->context, out);
  return root;
}

static void assert_says(const fixture *f, calm_format format,
                        const char *line) {
  char *out = render(f, format);
  if (!strstr(out, line)) fail_msg("no '%s' in\n%s", line, out);
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->context, out);
}

static void the_table_begins_with_the_gain(void **state) {
  const fixture *f = *state;
  assert_says(f, CALM_FORMAT_TABLE,
              "some/where/sample.cg\n"
              "  3 operators, 5 tensors; 96 bytes of activations, 1,234,567 of "
              "weights\n"
              "  memory model plain\n"
              "  not counted: 1,234,567 bytes of weights, what the runtime and "
              "its kernels take for themselves\n"
              "\n"
              "          order  peak bytes          arena bytes\n"
              "  before  file           80                   60\n"
              "  after   exact          64                   64\n"
              "  saved                  16  20.0 %           -4  -6.7 %\n"
              "\n"
              "  order   exact, optimal: no order needs less than 64 bytes "
              "(proved; 1 state)\n"
              "  layout  exact, optimal: no arena is smaller than 64 bytes "
              "(proved; 1,200 nodes)\n"
              "  holes   none: the arena equals the peak\n");
}

static void an_open_search_tells_value_bound_and_gap(void **state) {
  fixture *f = *state;
  f->plan.summary.order_outcome = CALM_FEASIBLE;
  f->plan.summary.peak_bound_bytes = 48;
  f->plan.order.stopped = LIMITS_TIME;
  f->plan.order.states = 123456;
  f->plan.summary.layout_outcome = CALM_FEASIBLE;
  f->plan.summary.arena_bytes = 80;
  f->plan.layout_method = "greedy";
  f->plan.timing = true;
  f->plan.layout_seconds = 0.25;
  assert_says(f, CALM_FORMAT_TABLE,
              "  order   exact, feasible: 64 bytes, at least 48 are proved, "
              "gap 25.0 %\n"
              "          stopped by the time limit (123,456 states, 0.000 s)\n"
              "  layout  greedy, feasible: 80 bytes, at least 64 are proved, "
              "gap 20.0 %\n"
              "          no proof by this method (1,200 nodes, 0.250 s)\n"
              "  holes   16 bytes beyond the peak, 20.0 % of the arena\n");
}

static void a_budget_is_met_or_missed(void **state) {
  fixture *f = *state;
  f->plan.budget_bytes = 100;
  assert_says(f, CALM_FORMAT_TABLE, "  budget  100 bytes: met, 36 to spare\n");
  f->plan.budget_bytes = 60;
  assert_says(f, CALM_FORMAT_TABLE,
              "  budget  60 bytes: missed by 4; proved that nothing fits into "
              "it\n");
  f->plan.summary.arena_bound_bytes = 60;
  assert_says(f, CALM_FORMAT_TABLE, "  budget  60 bytes: missed by 4\n");
}

/* What is proved of one order's arena says nothing about other orders. */
static void an_order_that_was_asked_for_proves_less(void **state) {
  fixture *f = *state;
  f->plan.any_order = false;
  f->plan.order_method = "file";
  f->plan.summary.peak_bound_bytes = 48;
  f->plan.summary.order_outcome = CALM_FEASIBLE;
  f->plan.budget_bytes = 60;
  assert_says(f, CALM_FORMAT_TABLE,
              "  layout  exact, optimal: this order fits no arena below 64 "
              "bytes (proved; 1,200 nodes)\n");
  assert_says(f, CALM_FORMAT_TABLE, "  budget  60 bytes: missed by 4\n");
  f->plan.budget_bytes = 47;
  assert_says(f, CALM_FORMAT_TABLE,
              "  budget  47 bytes: missed by 17; proved that nothing fits into "
              "it\n");
}

static void overridden_columns_are_named(void **state) {
  fixture *f = *state;
  memcpy(f->plan.memory.views, memory_model_find("serenity")->views,
         sizeof f->plan.memory.views);
  f->plan.memory.align = 1024;
  bits_add(f->plan.memory.inplace, OP_add);
  assert_says(f, CALM_FORMAT_TABLE,
              "  memory model plain, views identity, align 1,024, in place "
              "add\n");
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++)
    bits_add(f->plan.memory.inplace, kind);
  assert_says(f, CALM_FORMAT_TABLE, " softmax");
}

static void the_long_table_lists_everything(void **state) {
  const fixture *f = *state;
  assert_says(f, CALM_FORMAT_LONG,
              "  step  operator  kind     live bytes\n"
              "     0  split     split            64  "
              "############################## peak\n"
              "     1  copy      strange          64  "
              "##############################\n"
              "     2  add       add              48  "
              "######################\n"
              "\n"
              "  tensor   shape      bytes  offset  steps  role, or same bytes "
              "as\n"
              "  x        i8[1,4,8]     32       0    0-0  input\n"
              "  a        -             16      32    0-2\n"
              "  b        -             16      48    0-1\n"
              "  odd\\xff  -             16       0    1-2\n"
              "  y        -             16      16    2-2  output\n");
}

static void json_has_what_programs_rely_on(void **state) {
  const fixture *f = *state;
  json_t *root = render_json(f);
  assert_string_equal(string_at(root, "schema"), "calm/plan/1");
  assert_string_equal(string_at(root, "model"), "sample.cg");
  assert_string_equal(string_at(root, "memory"), "plain");
  assert_int_equal(integer_at(root, "align"), 1);
  assert_int_equal(integer_at(root, "graph.ops"), 3);
  assert_int_equal(integer_at(root, "graph.tensors"), 5);
  assert_int_equal(integer_at(root, "graph.activation_bytes"), 96);
  assert_int_equal(integer_at(root, "graph.weight_bytes"), 1234567);
  assert_string_equal(string_at(root, "baseline.order"), "file");
  assert_int_equal(integer_at(root, "baseline.peak_bytes"), 80);
  assert_int_equal(integer_at(root, "baseline.arena_bytes"), 60);
  assert_string_equal(string_at(root, "rewrite.mode"), "none");
  assert_int_equal(json_array_size(json_at(root, "rewrite.sites")), 0);
  assert_string_equal(string_at(root, "order.method"), "exact");
  assert_string_equal(string_at(root, "order.status"), "optimal");
  assert_int_equal(integer_at(root, "order.peak_bytes"), 64);
  assert_int_equal(integer_at(root, "order.bound_bytes"), 64);
  assert_int_equal(integer_at(root, "order.states"), 1);
  assert_int_equal(json_array_size(json_at(root, "order.sequence")), 3);
  assert_string_equal(string_at(root, "order.sequence.1"), "copy");
  assert_string_equal(string_at(root, "layout.method"), "exact");
  assert_string_equal(string_at(root, "layout.status"), "optimal");
  assert_int_equal(integer_at(root, "layout.arena_bytes"), 64);
  assert_int_equal(integer_at(root, "layout.bound_bytes"), 64);
  assert_int_equal(json_array_size(json_at(root, "layout.buffers")), 5);
  assert_string_equal(string_at(root, "layout.buffers.3.name"), "odd\\xff");
  assert_int_equal(integer_at(root, "layout.buffers.1.offset"), 32);
  assert_int_equal(integer_at(root, "layout.buffers.1.bytes"), 16);
  assert_int_equal(integer_at(root, "layout.buffers.1.first"), 0);
  assert_int_equal(integer_at(root, "layout.buffers.1.last"), 2);
  assert_int_equal(integer_at(root, "layout.buffers.1.index"), 8);
  assert_string_equal(string_at(root, "layout.workspaces.0.op"), "copy");
  assert_int_equal(integer_at(root, "layout.workspaces.0.step"), 1);
  assert_true(json_is_array(json_at(root, "traffic")));
  assert_null(json_object_get(json_at(root, "order"), "seconds"));
  assert_null(json_object_get(json_at(root, "order"), "downsets"));
  json_decref(root);
}

static void json_tells_counts_and_limits(void **state) {
  fixture *f = *state;
  f->plan.counted = true;
  f->plan.order.downsets = UINT64_MAX - 1;
  f->plan.order.orders = UINT64_MAX;
  f->plan.order.stopped = LIMITS_MEMORY;
  f->plan.timing = true;
  f->plan.budget_bytes = 50;
  f->plan.summary.within_budget = false;
  json_t *root = render_json(f);
  assert_string_equal(string_at(root, "order.downsets"),
                      "18446744073709551614");
  assert_true(json_is_null(json_at(root, "order.orders")));
  assert_string_equal(string_at(root, "order.stopped"), "memory limit");
  assert_true(json_is_real(json_at(root, "order.seconds")));
  assert_int_equal(integer_at(root, "budget_bytes"), 50);
  assert_true(json_is_false(json_at(root, "within_budget")));
  json_decref(root);
}

/* A view lies in another's bytes: it is no buffer of its own. */
static void views_are_no_buffers(void **state) {
  fixture *f = *state;
  f->lives[3].counted = false;
  f->lives[3].storage = 2;
  f->offsets[3] = f->offsets[2];
  json_t *root = render_json(f);
  assert_int_equal(json_array_size(json_at(root, "layout.buffers")), 4);
  assert_string_equal(string_at(root, "layout.views.0.of"), "b");
  assert_int_equal(integer_at(root, "layout.views.0.offset"), 48);
  json_decref(root);
  assert_says(f, CALM_FORMAT_LONG,
              "  odd\\xff  -             16      48      -  b\n");
}

static void csv_is_minimalloc(void **state) {
  const fixture *f = *state;
  char *out = render(f, CALM_FORMAT_CSV);
  assert_true(!strncmp(out, "id,lower,upper,size,offset\nx,0,1,32,0\n", 38));
  assert_non_null(strstr(out, "\nb,0,2,16,48\n"));
  assert_non_null(strstr(out, "workspace of copy"));
  calm_text_free(f->context, out);
}

static void an_empty_plan_can_be_shown(void **state) {
  fixture *f = *state;
  graph *g = &f->model.graphs.data[0];
  const uint32_t ops = g->ops.count, tensors = g->tensors.count;
  g->ops.count = g->tensors.count = 0;
  f->plan.summary = (calm_plan_summary){.within_budget = true};
  f->plan.profile.peak_bytes = 0;
  for (int format = CALM_FORMAT_TABLE; format <= CALM_FORMAT_MODEL_EXPLORER;
       format++) {
    if (format == CALM_FORMAT_BUFFERPLAN) continue; /* not of this runtime */
    char *out = render(f, (calm_format)format);
    assert_true(longest_line(out) <= 100);
    calm_text_free(f->context, out);
  }
  g->ops.count = ops;
  g->tensors.count = tensors;
}

/* However early memory runs out: an error, and nothing kept. */
static void lack_of_memory_leaves_nothing(void **state) {
  fixture *f = *state;
  const size_t before = calm_context_bytes(f->context);
  for (int format = CALM_FORMAT_TABLE; format <= CALM_FORMAT_MODEL_EXPLORER;
       format++) {
    if (format == CALM_FORMAT_BUFFERPLAN) continue; /* not of this runtime */
    calm_status status = CALM_NO_MEMORY;
    for (uint64_t granted = 0; status != CALM_OK; granted++) {
      char *out = NULL;
      f->allocations_left = granted;
      status = calm_plan_render(&out, &f->plan, (calm_format)format, true);
      f->allocations_left = SCARCE_NEVER;
      assert_true(status == CALM_OK ? out != NULL
                                    : status == CALM_NO_MEMORY && !out);
      calm_text_free(f->context, out);
      assert_int_equal(calm_context_bytes(f->context), before);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_table_begins_with_the_gain),
      TEST(an_open_search_tells_value_bound_and_gap),
      TEST(a_budget_is_met_or_missed),
      TEST(an_order_that_was_asked_for_proves_less),
      TEST(overridden_columns_are_named),
      TEST(the_long_table_lists_everything),
      TEST(json_has_what_programs_rely_on),
      TEST(json_tells_counts_and_limits),
      TEST(views_are_no_buffers),
      TEST(csv_is_minimalloc),
      TEST(an_empty_plan_can_be_shown),
      TEST(lack_of_memory_leaves_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
