/* Inspections, verdicts and packings filled by hand. */
#include "report_fixture.h"

static void assert_text(const fixture *f, char *out, const char *line) {
  if (!strstr(out, line)) fail_msg("no '%s' in\n%s", line, out);
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->context, out);
}

/* ---- Inspections --------------------------------------------------------- */

static calm_inspection inspection_of(fixture *f, memory_remedy *remedy,
                                     tensor_id *alive) {
  alive[0] = 0;
  alive[1] = 3;
  *remedy = (memory_remedy){"--views identity: split costs nothing", 48, 56};
  return (calm_inspection){.context = f->context,
                           .model = &f->model,
                           .graph = &f->model.graphs.data[0],
                           .memory = f->plan.memory,
                           .facts = f->plan.facts,
                           .sequence = f->sequence,
                           .profile = f->plan.profile,
                           .explanation = {.op = 1,
                                           .step = 1,
                                           .peak_bytes = 64,
                                           .alive = alive,
                                           .alive_count = 2,
                                           .floor_bytes = 60,
                                           .floor_op = 0,
                                           .floor_alive = alive,
                                           .floor_alive_count = 1,
                                           .remedies = remedy,
                                           .remedy_count = 1}};
}

static void an_inspection_names_peak_floor_and_remedy(void **state) {
  fixture *f = *state;
  memory_remedy remedy;
  tensor_id alive[2];
  const calm_inspection i = inspection_of(f, &remedy, alive);
  char *out;
  assert_int_equal(calm_inspection_render(&out, &i, CALM_FORMAT_TABLE, false),
                   CALM_OK);
  assert_text(f, out,
              "  1 split, 1 strange, 1 add\n"
              "  input   x  i8[1,4,8]  32\n"
              "  output  y  -          16\n"
              "\n"
              "  peak in file order 64 bytes, at step 1: copy; alive there:\n"
              "            32  x        steps 0-0\n"
              "            16  odd\\xff  steps 1-2\n"
              "\n"
              "  no order needs less than 60 bytes: split alone works on:\n"
              "            32  x  steps 0-0\n"
              "  what would lower it, if the runtime can do it:\n"
              "    --views identity: split costs nothing\n"
              "      least for any order 48, peak in file order 56\n"
              "\n"
              "  step  operator  kind     live bytes\n");
}

static void an_inspection_has_json_and_no_csv(void **state) {
  fixture *f = *state;
  memory_remedy remedy;
  tensor_id alive[2];
  const calm_inspection i = inspection_of(f, &remedy, alive);
  char *out = NULL;
  assert_int_equal(calm_inspection_render(&out, &i, CALM_FORMAT_CSV, false),
                   CALM_MISUSE);
  assert_null(out);
  assert_int_equal(calm_inspection_render(&out, &i, CALM_FORMAT_JSON, false),
                   CALM_OK);
  json_t *root = parse_json(out);
  assert_string_equal(string_at(root, "schema"), "calm/inspect/1");
  assert_int_equal(integer_at(root, "peak_bytes"), 64);
  assert_string_equal(string_at(root, "peak.op"), "copy");
  assert_string_equal(string_at(root, "peak.alive.1.name"), "odd\\xff");
  assert_string_equal(string_at(root, "floor.op"), "split");
  assert_int_equal(integer_at(root, "floor.bytes"), 60);
  assert_int_equal(integer_at(root, "remedies.0.floor_bytes"), 48);
  assert_int_equal(integer_at(root, "steps.2.bytes"), 48);
  assert_string_equal(string_at(root, "steps.1.kind"), "strange");
  assert_string_equal(string_at(root, "tensors.0.type"), "i8");
  assert_int_equal(integer_at(root, "tensors.0.shape.2"), 8);
  assert_true(json_is_null(json_at(root, "tensors.1.shape")));
  assert_true(json_is_true(json_at(root, "tensors.4.output")));
  json_decref(root);
  calm_text_free(f->context, out);
}

/* ---- Verdicts ------------------------------------------------------------ */

static void a_verdict_tells_its_faults(void **state) {
  fixture *f = *state;
  char *out;
  memory_fault fault = {"overlap", 1, 3, "'a' and 'odd\xff' share bytes"};
  memory_fault warning = {"misaligned", 0, CALM_NONE, "'x' is at 3"};
  calm_verdict v = {.context = f->context,
                    .model = &f->model,
                    .source = "p.json",
                    .memory = f->plan.memory,
                    .verdict = {.arena_bytes = 4096,
                                .faults = {&fault, 1, 1},
                                .warnings = {&warning, 1, 1}}};
  assert_int_equal(calm_verdict_render(&out, &v, CALM_FORMAT_TABLE, false),
                   CALM_OK);
  assert_text(f, out,
              "some/where/sample.cg\n"
              "  plan    p.json\n"
              "  memory  plain\n"
              "  arena   4,096 bytes\n"
              "  fault    'a' and 'odd\\xff' share bytes\n"
              "  warning  'x' is at 3\n"
              "  the plan does not hold: 1 fault, 1 warning\n");
  assert_int_equal(calm_verdict_render(&out, &v, CALM_FORMAT_JSON, false),
                   CALM_OK);
  json_t *root = parse_json(out);
  assert_string_equal(string_at(root, "schema"), "calm/check/1");
  assert_true(json_is_false(json_at(root, "valid")));
  assert_int_equal(integer_at(root, "arena_bytes"), 4096);
  assert_string_equal(string_at(root, "faults.0.kind"), "overlap");
  assert_string_equal(string_at(root, "faults.0.tensors.1"), "odd\\xff");
  assert_int_equal(json_array_size(json_at(root, "warnings.0.tensors")), 1);
  json_decref(root);
  calm_text_free(f->context, out);
}

static void a_model_without_a_plan_says_so(void **state) {
  fixture *f = *state;
  char *out;
  calm_verdict v = {.context = f->context, .model = &f->model};
  assert_int_equal(calm_verdict_render(&out, &v, CALM_FORMAT_TABLE, false),
                   CALM_OK);
  assert_text(f, out, "  carries no plan: nothing to check\n");
  assert_int_equal(calm_verdict_render(&out, &v, CALM_FORMAT_JSON, false),
                   CALM_OK);
  json_t *root = parse_json(out);
  assert_true(json_is_true(json_at(root, "valid")));
  assert_true(json_is_null(json_at(root, "source")));
  assert_true(json_is_null(json_at(root, "arena_bytes")));
  json_decref(root);
  calm_text_free(f->context, out);
}

/* ---- Packings ------------------------------------------------------------ */

typedef struct rows {
  const char *ids[3];
  int64_t lower[3], upper[3];
  uint64_t size[3], offsets[2];
  uint32_t body_of[3];
} rows;

/* Two buffers that share a body, and one of no size. */
static calm_packing packing_of(fixture *f, rows *r) {
  *r = (rows){.ids = {"one", "two", "nil"},
              .lower = {5, 7, 5},
              .upper = {7, 9, 6},
              .size = {8, 4, 0},
              .offsets = {16, 0},
              .body_of = {0, 0, 1}};
  return (calm_packing){.context = f->context,
                        .path = "b.csv",
                        .csv = {.row_count = 3,
                                .ids = r->ids,
                                .lower = r->lower,
                                .upper = r->upper,
                                .size = r->size,
                                .body_of = r->body_of},
                        .layout_method = "greedy",
                        .layout = {.outcome = CALM_FEASIBLE,
                                   .offsets = r->offsets,
                                   .arena_bytes = 24,
                                   .bound_bytes = 8,
                                   .stopped = LIMITS_TICKS},
                        .budget_bytes = 20};
}

static void a_packing_in_every_form(void **state) {
  fixture *f = *state;
  rows r;
  char *out;
  const calm_packing p = packing_of(f, &r);
  assert_int_equal(calm_packing_render(&out, &p, CALM_FORMAT_TABLE, false),
                   CALM_OK);
  assert_text(
      f, out,
      "b.csv\n"
      "  3 buffers; arena 24 bytes\n"
      "  layout  greedy, feasible: 24 bytes, at least 8 are proved, gap "
      "66.7 %\n"
      "          stopped by the tick limit (0 nodes)\n"
      "  budget  20 bytes: missed by 4\n");
  assert_int_equal(calm_packing_render(&out, &p, CALM_FORMAT_CSV, false),
                   CALM_OK);
  assert_text(f, out,
              "id,lower,upper,size,offset,group\n"
              "one,5,7,8,16,0\ntwo,7,9,4,16,0\nnil,5,6,0,0,1\n");
  assert_int_equal(calm_packing_render(&out, &p, CALM_FORMAT_JSON, false),
                   CALM_OK);
  json_t *root = parse_json(out);
  assert_string_equal(string_at(root, "schema"), "calm/pack/1");
  assert_string_equal(string_at(root, "status"), "feasible");
  assert_int_equal(integer_at(root, "arena_bytes"), 24);
  assert_int_equal(integer_at(root, "bound_bytes"), 8);
  assert_true(json_is_false(json_at(root, "within_budget")));
  assert_int_equal(integer_at(root, "buffers.1.offset"), 16);
  json_decref(root);
  calm_text_free(f->context, out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(an_inspection_names_peak_floor_and_remedy),
      TEST(an_inspection_has_json_and_no_csv), TEST(a_verdict_tells_its_faults),
      TEST(a_model_without_a_plan_says_so), TEST(a_packing_in_every_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
