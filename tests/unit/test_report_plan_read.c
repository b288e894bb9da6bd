/* Plans read back: what they say survives, what is wrong is told. */
#include "report/report_plan_read.h"
#include "report/report_json.h"
#include "report_fixture.h"

static const graph *graph_of(const fixture *f) {
  return &f->model.graphs.data[0];
}

static void a_plan_survives(void **state) {
  fixture *f = *state;
  memcpy(f->plan.memory.views, memory_model_find("serenity")->views,
         sizeof f->plan.memory.views);
  f->plan.memory.inputs = INPUTS_WHOLE_RUN;
  f->plan.memory.round = 4;
  bits_add(f->plan.memory.inplace, OP_add);
  char *out;
  arena a;
  memory_plan plan;
  memory_model memory;
  arena_init(&a, f->context);
  assert_int_equal(calm_plan_render(&out, &f->plan, CALM_FORMAT_JSON, false),
                   CALM_OK);
  assert_int_equal(report_plan_read(&plan, &memory, &a, "p.json", out,
                                    strlen(out), graph_of(f)),
                   CALM_OK);
  assert_memory_equal(plan.sequence, f->sequence, sizeof f->sequence);
  assert_memory_equal(plan.offsets, f->offsets, sizeof f->offsets);
  assert_memory_equal(plan.workspace_offsets, f->workspace_offsets,
                      sizeof f->workspace_offsets);
  assert_int_equal(plan.arena_bytes, 64);
  assert_string_equal(memory.name, "plain");
  assert_memory_equal(memory.views, memory_model_find("serenity")->views,
                      sizeof memory.views);
  assert_int_equal(memory.inputs, INPUTS_WHOLE_RUN);
  assert_int_equal(memory.outputs, OUTPUTS_TO_END);
  assert_int_equal(memory.round, 4);
  assert_memory_equal(memory.inplace, f->plan.memory.inplace,
                      sizeof memory.inplace);
  calm_text_free(f->context, out);
  arena_free(&a);
}

/* The least that a plan by hand has to say. */
static const char least[] =
    "{\"schema\": \"calm/plan/1\", \"memory\": \"plain\", \"align\": 8,"
    "\"order\": {\"sequence\": [\"split\", \"copy\", \"add\"]},"
    "\"layout\": {\"arena_bytes\": 64, \"buffers\": ["
    "{\"name\": \"odd\\\\xff\", \"offset\": 16}]}}";

static void a_plan_by_hand_is_enough(void **state) {
  const fixture *f = *state;
  arena a;
  memory_plan plan;
  memory_model memory;
  arena_init(&a, f->context);
  assert_int_equal(report_plan_read(&plan, &memory, &a, "p.json", least,
                                    strlen(least), graph_of(f)),
                   CALM_OK);
  assert_int_equal(plan.offsets[3], 16);
  assert_true(plan.offsets[0] == UINT64_MAX);
  assert_null(plan.workspace_offsets);
  assert_int_equal(memory.align, 8);
  arena_free(&a);
}

/* Replace the first `from` in the plan by `to` and see what is said. */
static void assert_refused(const fixture *f, const char *from, const char *to,
                           const char *message) {
  char changed[1024];
  const char *at = strstr(least, from);
  arena a;
  memory_plan plan = {0};
  memory_model memory;
  assert_non_null(at);
  const int length = snprintf(changed, sizeof changed, "%.*s%s%s",
                              (int)(at - least), least, to, at + strlen(from));
  arena_init(&a, f->context);
  assert_int_equal(report_plan_read(&plan, &memory, &a, "p.json", changed,
                                    (size_t)length, graph_of(f)),
                   CALM_BAD_INPUT);
  assert_null(plan.offsets);
  arena_free(&a);
  if (!strstr(calm_context_message(f->context), message))
    fail_msg("'%s' does not say '%s'", calm_context_message(f->context),
             message);
}

static void what_is_wrong_is_told_with_its_place(void **state) {
  static const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"{\"schema\"", "{\"schema\",", "p.json:1:11: is not JSON: "},
      {least, "[1]", "p.json: is not a JSON object of schema calm/plan/1"},
      {least, "", "p.json:1:1: is not JSON: "},
      {"\"schema\"", "\"scheme\"", "p.json: schema: is missing; it is a text"},
      {"plan/1", "plan/2", "p.json: schema: is not calm/plan/1"},
      {"\"plain\"", "3", "p.json: memory: is not a text"},
      {"plain", "plane",
       "p.json: memory: 'plane' is not one of plain, serenity, tflm"},
      {"\"align\": 8", "\"align\": -8", "p.json: align: is not a number of"},
      {"\"align\": 8", "\"columns\": []", "p.json: columns: is not an object"},
      {"\"align\": 8", "\"columns\": {\"views\": \"all\"}",
       "p.json: columns.views: 'all' is not none, identity, or a list"},
      {"\"align\": 8", "\"columns\": {\"align\": 0}",
       "p.json: columns.align: '0' is not a size from 1"},
      {"\"align\": 8", "\"columns\": {\"inplace\": [\"add\", \"bake\"]}",
       "p.json: columns.inplace[1]: 'bake' is not an operator kind"},
      {"\"order\"", "\"ordre\"", "p.json: order: is missing; it is an object"},
      {"\"sequence\"", "\"sequenz\"",
       "p.json: order.sequence: is missing; it is a list"},
      {"\"copy\", ", "",
       "p.json: order.sequence: names 2 operators, but the graph 'sample' has "
       "3"},
      {"\"copy\"", "\"cope\"",
       "p.json: order.sequence[1]: no operator 'cope' in the graph 'sample'; "
       "is the plan of another model?"},
      {"\"copy\"", "[]", "p.json: order.sequence[1]: is not a text"},
      {"\"arena_bytes\": 64", "\"arena_bytes\": 64.5",
       "p.json: layout.arena_bytes: is not a whole number"},
      {"\"buffers\"", "\"puffers\"", "p.json: layout.buffers: is missing"},
      {"{\"name\"", "7, {\"name\"",
       "p.json: layout.buffers[0]: is not an object"},
      {"\"name\"", "\"nome\"",
       "p.json: layout.buffers[0].name: is missing; it is a text"},
      {"odd", "even",
       "p.json: layout.buffers[0].name: no tensor 'even\\xff' in the graph"},
      {"\"offset\": 16", "\"offset\": \"16\"",
       "p.json: layout.buffers[0].offset: is not a whole number"},
      {"\"offset\": 16", "\"offset\": 16, \"bytes\": 15",
       "p.json: layout.buffers[0].bytes: is 15, but tensor"},
      {"\"offset\": 16}",
       "\"offset\": 16}, {\"name\": \"odd\\\\xff\", "
       "\"offset\": 0}",
       "p.json: layout.buffers[1].name: is listed twice"},
      {"\"offset\": 16}]",
       "\"offset\": 16}], \"workspaces\": [{\"op\": "
       "\"bake\", \"offset\": 0}]",
       "p.json: layout.workspaces[0].op: no operator 'bake'"},
      {"\"offset\": 16}]", "\"offset\": 16}], \"views\": 5",
       "p.json: layout.views: is not a list"}};
  const fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_refused(f, cases[i].from, cases[i].to, cases[i].message);
}

/* Cut off anywhere, a plan is an error and never more. */
static void a_truncated_plan_is_refused(void **state) {
  const fixture *f = *state;
  for (size_t length = 0; length + 1 < sizeof least; length++) {
    arena a;
    memory_plan plan;
    memory_model memory;
    arena_init(&a, f->context);
    assert_int_equal(report_plan_read(&plan, &memory, &a, "p.json", least,
                                      length, graph_of(f)),
                     CALM_BAD_INPUT);
    arena_free(&a);
  }
}

static void lack_of_memory_leaves_nothing(void **state) {
  fixture *f = *state;
  const size_t before = calm_context_bytes(f->context);
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    arena a;
    memory_plan plan;
    memory_model memory;
    arena_init(&a, f->context);
    f->allocations_left = granted;
    status = report_plan_read(&plan, &memory, &a, "p.json", least,
                              strlen(least), graph_of(f));
    f->allocations_left = SCARCE_NEVER;
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(f->context), before);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_plan_survives), TEST(a_plan_by_hand_is_enough),
      TEST(what_is_wrong_is_told_with_its_place),
      TEST(a_truncated_plan_is_refused), TEST(lack_of_memory_leaves_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
