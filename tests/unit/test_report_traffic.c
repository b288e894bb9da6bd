/* Off-chip traffic filled by hand, as table, lists, JSON and CSV. */
#include "report/report_traffic.h"

#include "report_fixture.h"

/* Of the fixture's graph: x, a, b, odd, y in buffers 0 to 4. */
typedef struct traffic_fixture {
  fixture base;
  op_id op_of[3];
  tensor_id tensor_of[5];
  uint32_t sequence[3], steps[3];
  order_problem order;
  order_buffer buffers[5];
  plan_traffic_problem problem;
  traffic_amount file_steps[3], file_buffers[5], none_steps[3], none_buffers[5];
  bool streams[3], none[3];
  plan_traffic rows[2];
} traffic_fixture;

static void fill_problem(traffic_fixture *f) {
  for (uint32_t i = 0; i < 3; i++) f->op_of[i] = f->sequence[i] = i;
  for (uint32_t i = 0; i < 3; i++) f->steps[i] = i;
  for (uint32_t i = 0; i < 5; i++) f->tensor_of[i] = i;
  for (uint32_t i = 0; i < 5; i++) f->buffers[i].bytes = i ? 16 : 32;
  f->order =
      (order_problem){.op_count = 3, .buffer_count = 5, .buffers = f->buffers};
  f->problem.graph = &f->base.model.graphs.data[0];
  f->problem.memory.op_of = f->op_of;
  f->problem.memory.tensor_of = f->tensor_of;
  f->problem.problem.order = &f->order;
}

static plan_traffic row(traffic_fixture *f, const char *order,
                        const traffic_result *result) {
  return (plan_traffic){.order = order,
                        .of = &f->problem,
                        .memory = {1234567, 0},
                        .sequence = f->sequence,
                        .steps = f->steps,
                        .result = *result};
}

/* In the order of the file `split` streams, and a comes back for `add`. */
static void fill_rows(traffic_fixture *f) {
  const traffic_amount x = {.input_bytes = 32, .weight_bytes = 7};
  const traffic_amount split = {
      .input_bytes = 32, .weight_bytes = 7, .spill_write_bytes = 16};
  f->file_steps[0] = split;
  f->file_steps[2] =
      (traffic_amount){.output_bytes = 16, .spill_read_bytes = 16};
  f->file_buffers[0].input_bytes = 32;
  f->file_buffers[1] =
      (traffic_amount){.spill_read_bytes = 16, .spill_write_bytes = 16};
  f->file_buffers[4].output_bytes = 16;
  f->streams[0] = true;
  f->none_steps[0] = x;
  const traffic_result file = {.total = {32, 7, 16, 16, 16},
                               .steps = f->file_steps,
                               .buffers = f->file_buffers,
                               .streams = f->streams,
                               .used_bytes = 48};
  const traffic_result none = {.total = {32, 7, 16, 0, 0},
                               .steps = f->none_steps,
                               .buffers = f->none_buffers,
                               .streams = f->none,
                               .used_bytes = 64};
  f->rows[0] = row(f, "file", &file);
  f->rows[1] = row(f, "plan", &none);
}

static int open_traffic(void **state) {
  static traffic_fixture f;
  memset(&f, 0, sizeof f);
  fixture_open(&f.base);
  fixture_plan(&f.base);
  fill_problem(&f);
  fill_rows(&f);
  f.base.plan.traffic =
      (plan_traffics){.rows = f.rows, .count = 2, .orders = 2};
  *state = &f;
  return 0;
}

static int close_traffic(void **state) {
  traffic_fixture *f = *state;
  fixture_close(&f->base);
  return 0;
}

static char *render(const traffic_fixture *f, calm_format format) {
  char *out;
  assert_int_equal(calm_plan_render(&out, &f->base.plan, format, false),
                   CALM_OK);
  return out;
}

static void assert_says(const traffic_fixture *f, calm_format format,
                        const char *words) {
  char *out = render(f, format);
  if (!strstr(out, words)) fail_msg("no '%s' in\n%s", words, out);
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->base.context, out);
}

static void the_table_sets_orders_side_by_side(void **state) {
  assert_says(
      *state, CALM_FORMAT_TABLE,
      "  off-chip traffic in bytes, of whole tensors; what is compulsory is "
      "not in the total\n"
      "    on chip  order  total  spills read  spills written\n"
      "  1,234,567  file      32           16              16\n"
      "             plan    none         none            none  100.0 % less\n"
      "  compulsory: 32 bytes of inputs read, 7 of weights read, 16 of outputs "
      "written\n");
}

static void totals_say_what_they_include(void **state) {
  traffic_fixture *f = *state;
  f->base.plan.traffic.counted = OFFCHIP_INPUTS | OFFCHIP_WEIGHTS;
  f->rows[0].memory.page_bytes = f->rows[1].memory.page_bytes = 4096;
  assert_says(f, CALM_FORMAT_TABLE,
              "in pages of 4,096; the total includes inputs, weights\n");
  assert_says(f, CALM_FORMAT_TABLE, "file      71           16");
  assert_says(f, CALM_FORMAT_TABLE, "plan      39         none");
  f->base.plan.traffic.counted = OFFCHIP_OUTPUTS;
  assert_says(f, CALM_FORMAT_TABLE, "the total includes outputs\n");
  assert_says(f, CALM_FORMAT_TABLE, "plan      16         none");
}

static void an_order_may_move_more_or_the_same(void **state) {
  traffic_fixture *f = *state;
  f->rows[1].result.total = f->rows[0].result.total;
  assert_says(f, CALM_FORMAT_TABLE, "             16  the same\n");
  f->rows[1].result.total.spill_read_bytes = 32;
  assert_says(f, CALM_FORMAT_TABLE,
              "32              16  50.0 % more\n"
              "  --minimize traffic finds an order for one of these\n");
  memset(&f->rows[0].result.total, 0, sizeof f->rows[0].result.total);
  assert_says(f, CALM_FORMAT_TABLE, "32              16  more\n");
}

static void streaming_operators_of_the_plan_are_named(void **state) {
  traffic_fixture *f = *state;
  f->none[1] = true;
  assert_says(f, CALM_FORMAT_TABLE,
              "  1 operator needs more than 1,234,567 by itself, so its "
              "tensors stream: copy\n");
  f->none[2] = true;
  assert_says(f, CALM_FORMAT_TABLE,
              "  2 operators need more than 1,234,567 by themselves, so their "
              "tensors stream: copy, add\n");
}

static void lists_have_what_moves(void **state) {
  assert_says(*state, CALM_FORMAT_LONG,
              "  what moves with 1,234,567 bytes on chip, order file\n"
              "  step  operator  read back  spilled  inputs  outputs  weights\n"
              "     0  split             -       16      32        -        7  "
              "streams\n"
              "     2  add              16        -       -       16        -\n"
              "\n"
              "  tensor  bytes  read back  spilled  inputs  outputs\n"
              "  x          32          -        -      32        -\n"
              "  a          16         16       16       -        -\n"
              "  y          16          -        -       -       16\n");
}

static void json_has_totals_steps_and_tensors(void **state) {
  traffic_fixture *f = *state;
  f->base.plan.traffic.counted = OFFCHIP_OUTPUTS;
  char *out = render(f, CALM_FORMAT_JSON);
  json_t *root = parse_json(out);
  calm_text_free(f->base.context, out);
  assert_int_equal(json_array_size(json_at(root, "traffic")), 2);
  assert_int_equal(integer_at(root, "traffic.0.onchip_bytes"), 1234567);
  assert_string_equal(string_at(root, "traffic.0.model"), "tensors");
  assert_true(json_is_null(json_at(root, "traffic.0.page_bytes")));
  assert_string_equal(string_at(root, "traffic.1.order"), "plan");
  assert_int_equal(integer_at(root, "traffic.0.read_bytes"), 16);
  assert_int_equal(integer_at(root, "traffic.0.write_bytes"), 32);
  assert_int_equal(integer_at(root, "traffic.0.spill_write_bytes"), 16);
  assert_int_equal(integer_at(root, "traffic.0.weight_bytes"), 7);
  assert_int_equal(integer_at(root, "traffic.0.used_bytes"), 48);
  assert_string_equal(string_at(root, "traffic.0.streams.0"), "split");
  assert_int_equal(json_array_size(json_at(root, "traffic.0.steps")), 2);
  assert_int_equal(integer_at(root, "traffic.0.steps.1.step"), 2);
  assert_int_equal(integer_at(root, "traffic.0.steps.1.output_bytes"), 16);
  assert_int_equal(json_array_size(json_at(root, "traffic.0.tensors")), 3);
  assert_string_equal(string_at(root, "traffic.0.tensors.1.name"), "a");
  assert_int_equal(integer_at(root, "traffic.0.tensors.1.bytes"), 16);
  json_decref(root);
}

static void csv_has_every_step(void **state) {
  traffic_fixture *f = *state;
  f->base.model.graphs.data[0].ops.data[1].name = "a,\"b\"\n";
  char *out = render(f, CALM_FORMAT_TRAFFIC);
  assert_string_equal(
      out,
      "onchip_bytes,order,step,op,spill_read_bytes,spill_write_bytes,"
      "input_bytes,output_bytes,weight_bytes,streams\n"
      "1234567,file,0,split,0,16,32,0,7,1\n"
      "1234567,file,1,\"a,\"\"b\"\"\\x0a\",0,0,0,0,0,0\n"
      "1234567,file,2,add,16,0,0,16,0,0\n"
      "1234567,plan,0,split,0,0,32,0,7,0\n"
      "1234567,plan,1,\"a,\"\"b\"\"\\x0a\",0,0,0,0,0,0\n"
      "1234567,plan,2,add,0,0,0,0,0,0\n");
  calm_text_free(f->base.context, out);
  f->base.model.graphs.data[0].ops.data[1].name = "copy";
  f->base.plan.traffic.count = 0;
  assert_int_equal(
      calm_plan_render(&out, &f->base.plan, CALM_FORMAT_TRAFFIC, false),
      CALM_MISUSE);
}

/* The order is then judged by its traffic, and peaks stay peaks. */
static void an_order_of_least_traffic_says_so(void **state) {
  traffic_fixture *f = *state;
  calm_plan *plan = &f->base.plan;
  plan->order_method = "traffic";
  plan->summary.order_outcome = CALM_FEASIBLE;
  plan->summary.peak_bytes = 70;
  plan->traffic.least = (plan_least_traffic){.wanted = true,
                                             .outcome = CALM_FEASIBLE,
                                             .spill_bytes = 32,
                                             .bound_bytes = 8,
                                             .states = 1200,
                                             .ticks = 5,
                                             .stopped = LIMITS_TICKS};
  assert_says(f, CALM_FORMAT_TABLE,
              "  order   traffic, feasible: 32 bytes, at least 8 are proved, "
              "gap 75.0 %\n"
              "          stopped by the tick limit (1,200 states)\n"
              "  peak    70 bytes; no order needs less than 64\n"
              "  layout");
  char *out = render(f, CALM_FORMAT_JSON);
  json_t *root = parse_json(out);
  calm_text_free(f->base.context, out);
  assert_string_equal(string_at(root, "order.method"), "traffic");
  assert_string_equal(string_at(root, "order.status"), "feasible");
  assert_int_equal(integer_at(root, "order.bound_bytes"), 64);
  assert_int_equal(integer_at(root, "order.peak_bytes"), 70);
  assert_int_equal(integer_at(root, "order.spill_bytes"), 32);
  assert_int_equal(integer_at(root, "order.spill_bound_bytes"), 8);
  assert_int_equal(integer_at(root, "order.states"), 1200);
  json_decref(root);
}

static void memory_may_run_out_anywhere(void **state) {
  static const calm_format formats[] = {CALM_FORMAT_LONG, CALM_FORMAT_JSON,
                                        CALM_FORMAT_TRAFFIC};
  traffic_fixture *f = *state;
  f->none[1] = true;
  for (int i = 0; i < 3; i++) {
    calm_status status = CALM_NO_MEMORY;
    for (uint64_t granted = 0; status != CALM_OK; granted++) {
      char *out = NULL;
      const size_t before = calm_context_bytes(f->base.context);
      f->base.allocations_left = granted;
      status = calm_plan_render(&out, &f->base.plan, formats[i], false);
      f->base.allocations_left = SCARCE_NEVER;
      assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
      calm_text_free(f->base.context, out);
      assert_int_equal(calm_context_bytes(f->base.context), before);
    }
  }
}

#define TRAFFIC_TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_traffic, close_traffic)

int main(void) {
  const struct CMUnitTest tests[] = {
      TRAFFIC_TEST(the_table_sets_orders_side_by_side),
      TRAFFIC_TEST(totals_say_what_they_include),
      TRAFFIC_TEST(an_order_may_move_more_or_the_same),
      TRAFFIC_TEST(streaming_operators_of_the_plan_are_named),
      TRAFFIC_TEST(lists_have_what_moves),
      TRAFFIC_TEST(json_has_totals_steps_and_tensors),
      TRAFFIC_TEST(csv_has_every_step),
      TRAFFIC_TEST(an_order_of_least_traffic_says_so),
      TRAFFIC_TEST(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
