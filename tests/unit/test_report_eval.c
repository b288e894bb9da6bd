/* Evaluations filled by hand. */
#include "eval_fixture.h"
#include "report/report_eval.h"

static int open_eval(void **state) {
  static eval_fixture f;
  eval_fixture_open(&f);
  *state = &f;
  return 0;
}

static int close_eval(void **state) {
  eval_fixture_close(*state);
  return 0;
}

#define EVAL_TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_eval, close_eval)

static void assert_has(const char *out, const char *line) {
  if (!strstr(out, line)) fail_msg("no '%s' in\n%s", line, out);
}

static void assert_lacks(const char *out, const char *line) {
  if (strstr(out, line)) fail_msg("'%s' in\n%s", line, out);
}

static char *render(eval_fixture *f, const calm_evaluation *e,
                    calm_format format) {
  char *out;
  const calm_status status = calm_evaluation_render(&out, e, format, false);
  if (status != CALM_OK) fail_msg("%s", calm_context_message(f->context));
  return out;
}

static json_t *render_json(eval_fixture *f, const calm_evaluation *e) {
  char *out = render(f, e, CALM_FORMAT_JSON);
  json_t *root = parse_json(out);
  calm_text_free(f->context, out);
  return root;
}

static double real_at(json_t *root, const char *path) {
  json_t *value = json_at(root, path);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static void assert_null_at(json_t *root, const char *path) {
  assert_true(json_is_null(json_at(root, path)));
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_begins_with_what_was_evaluated(void **state) {
  eval_fixture *f = *state;
  json_t *root = render_json(f, fixture_evaluation(f, 1));
  assert_string_equal(string_at(root, "schema"), "calm/eval/1");
  assert_string_equal(string_at(root, "arch"), "small");
  assert_string_equal(string_at(root, "layer"), "layer");
  assert_string_equal(string_at(root, "mapping"), "some/first.yaml");
  assert_string_equal(string_at(root, "cost"), "exact");
  assert_string_equal(string_at(root, "fanout"), "level");
  assert_true(json_is_true(json_at(root, "valid")));
  assert_null_at(root, "reason");
  assert_null_at(root, "fault");
  assert_int_equal(integer_at(root, "macs"), 12);
  assert_int_equal(integer_at(root, "computes"), 12);
  assert_int_equal(integer_at(root, "multipliers"), 2);
  assert_int_equal(integer_at(root, "cycles"), 40);
  assert_true(real_at(root, "energy_pj") == 6015);
  assert_true(real_at(root, "edp") == 240600);
  assert_true(real_at(root, "utilization") == 0.15);
  assert_string_equal(string_at(root, "limiting_level"), "odd\\xff memory");
  json_decref(root);
}

/* Outermost first; an unused mesh is not shown. */
static void json_lists_levels_and_their_tensors(void **state) {
  eval_fixture *f = *state;
  json_t *root = render_json(f, fixture_evaluation(f, 1));
  assert_int_equal(json_array_size(json_at(root, "levels")), 2);
  assert_string_equal(string_at(root, "levels.1.name"), "Buffer");
  assert_int_equal(integer_at(root, "levels.1.instances"), 2);
  assert_int_equal(integer_at(root, "levels.1.capacity_words"), 100);
  assert_int_equal(integer_at(root, "levels.1.used_words"), 9);
  assert_null_at(root, "levels.0.capacity_words");
  assert_true(real_at(root, "levels.0.slowdown") == 0.3);
  assert_true(real_at(root, "levels.1.vector_energy.update_pj") == 3);
  json_t *tensor = json_at(root, "levels.1.tensors.2");
  assert_string_equal(string_at(tensor, "name"), "Outputs");
  assert_int_equal(integer_at(tensor, "tile_words"), 3);
  assert_int_equal(integer_at(tensor, "partition_words"), 4);
  assert_int_equal(integer_at(tensor, "reads"), 10);
  assert_int_equal(integer_at(tensor, "fills"), 5);
  assert_int_equal(integer_at(tensor, "updates"), 6);
  assert_int_equal(integer_at(tensor, "temporal_reductions"), 7);
  assert_int_equal(integer_at(tensor, "address_generations"), 8);
  assert_int_equal(integer_at(tensor, "clusters"), 2);
  assert_true(real_at(tensor, "energy_pj") == 1000.5);
  json_decref(root);
}

static void json_lists_networks(void **state) {
  eval_fixture *f = *state;
  json_t *root = render_json(f, fixture_evaluation(f, 1));
  assert_int_equal(json_array_size(json_at(root, "networks")), 2);
  assert_string_equal(string_at(root, "networks.0.from"), "odd\\xff memory");
  assert_string_equal(string_at(root, "networks.0.to"), "Buffer");
  assert_string_equal(string_at(root, "networks.1.to"), "MAC");
  json_t *flow = json_at(root, "networks.0.tensors.0");
  assert_string_equal(string_at(flow, "name"), "Weights");
  assert_int_equal(integer_at(flow, "fanout"), 6);
  assert_true(real_at(flow, "ingresses") == 4.5);
  assert_true(real_at(flow, "multicast") == 2);
  assert_true(real_at(flow, "hops") == 1.5);
  assert_int_equal(integer_at(flow, "spatial_reductions"), 3);
  assert_int_equal(integer_at(flow, "link_transfers"), 1);
  assert_int_equal(integer_at(flow, "groups.0.0"), 2);
  assert_int_equal(integer_at(flow, "groups.0.1"), 3);
  assert_true(real_at(flow, "groups.0.2") == 4.5);
  json_decref(root);
}

static void a_mesh_that_is_used_is_shown(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->loops[1].level = MESH;
  json_t *root = render_json(f, e);
  assert_int_equal(json_array_size(json_at(root, "levels")), 3);
  assert_string_equal(string_at(root, "levels.1.name"), "inter_PE_spatial");
  assert_int_equal(json_array_size(json_at(root, "levels.1.tensors")), 0);
  assert_string_equal(string_at(root, "networks.0.to"), "inter_PE_spatial");
  json_decref(root);
}

static void without_energy_there_are_nulls(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->evaluation.energy = false;
  json_t *root = render_json(f, e);
  assert_null_at(root, "energy_pj");
  assert_null_at(root, "edp");
  assert_null_at(root, "levels.0.energy_pj");
  assert_null_at(root, "levels.0.vector_energy");
  assert_null_at(root, "levels.0.tensors.0.energy_pj");
  assert_null_at(root, "networks.0.tensors.0.energy_pj");
  assert_int_equal(integer_at(root, "cycles"), 40);
  json_decref(root);
}

static void an_invalid_nest_has_a_reason_and_no_figures(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->evaluation.nests[0].reason = "Buffer: too small";
  f->evaluation.nests[0].result.verdict.fault = COST_CAPACITY;
  json_t *root = render_json(f, e);
  assert_true(json_is_false(json_at(root, "valid")));
  assert_string_equal(string_at(root, "reason"), "Buffer: too small");
  assert_string_equal(string_at(root, "fault"), "capacity");
  assert_null_at(root, "cycles");
  assert_null_at(root, "energy_pj");
  assert_null_at(root, "limiting_level");
  assert_int_equal(json_array_size(json_at(root, "levels")), 0);
  json_decref(root);
  f->evaluation.nests[0].result.verdict.fault = COST_VALID;
  f->evaluation.nests[0].breaks_rule = true;
  root = render_json(f, e);
  assert_string_equal(string_at(root, "fault"), "constraint");
  json_decref(root);
}

/* What is too much for calm is told as that, and not as a fault of the nest. */
static void a_limit_is_no_fault_of_the_nest(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->evaluation.nests[0].reason = "Buffer: too small";
  f->evaluation.nests[0].result.verdict.fault = COST_CAPACITY;
  assert_false(calm_evaluation_limited(e, 0));
  f->evaluation.nests[0].result.verdict.fault = COST_LIMIT_ELEMENTS;
  assert_true(calm_evaluation_limited(e, 0));
  assert_false(calm_evaluation_limited(e, 1));
  json_t *root = render_json(f, e);
  assert_string_equal(string_at(root, "fault"), "limit");
  json_decref(root);
  char *out = render(f, e, CALM_FORMAT_TABLE);
  assert_has(out, "not counted: Buffer: too small");
  calm_text_free(f->context, out);
}

/* The second reads 5 words more per instance, of each tensor at each level, and
   lacks what flows in the first. */
static void json_of_two_has_their_difference(void **state) {
  eval_fixture *f = *state;
  json_t *root = render_json(f, fixture_evaluation(f, 2));
  assert_string_equal(string_at(root, "schema"), "calm/eval-difference/1");
  assert_string_equal(string_at(root, "evaluations.1.mapping"), "second.yaml");
  assert_string_equal(string_at(root, "evaluations.1.schema"), "calm/eval/1");
  assert_int_equal(integer_at(root, "difference.cycles"), 0);
  json_t *changes = json_at(root, "difference.changes");
  assert_int_equal(json_array_size(changes), 7);
  assert_string_equal(string_at(changes, "0.below"), "Buffer");
  assert_true(real_at(changes, "0.reads") == -4.5);
  assert_true(real_at(changes, "0.energy_pj") == -2);
  assert_string_equal(string_at(changes, "1.level"), "Buffer");
  assert_null_at(changes, "1.below");
  assert_int_equal(integer_at(changes, "1.reads"), 10);
  assert_string_equal(string_at(changes, "6.level"), "odd\\xff memory");
  assert_int_equal(integer_at(changes, "6.reads"), 5);
  json_decref(root);
}

static void two_of_which_one_is_invalid_have_no_difference(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 2);
  f->evaluation.nests[1].reason = "K: 2 of 4";
  json_t *root = render_json(f, e);
  assert_null_at(root, "difference");
  assert_true(json_is_true(json_at(root, "evaluations.0.valid")));
  assert_true(json_is_false(json_at(root, "evaluations.1.valid")));
  json_decref(root);
  assert_false(calm_evaluation_valid(e));
  assert_string_equal(calm_evaluation_reason(e, 1), "K: 2 of 4");
  assert_null(calm_evaluation_reason(e, 0));
  char *out = render(f, e, CALM_FORMAT_TABLE);
  assert_has(out, "  second:\n  not valid: K: 2 of 4\n");
  calm_text_free(f->context, out);
}

/* ---- Tables -------------------------------------------------------------- */

static void a_table_tells_what_costs(void **state) {
  eval_fixture *f = *state;
  char *out = render(f, fixture_evaluation(f, 1), CALM_FORMAT_TABLE);
  assert_has(out,
             "some/first.yaml\n"
             "  layer: R3 K4, 12 multiply-accumulates\n"
             "  on small: 4 multipliers; cost model exact\n");
  assert_has(out,
             "  cycles       40; odd\\xff memory limits, the multipliers alone "
             "need 12\n"
             "  energy       6.015 nJ; 501.2 pJ per multiply-accumulate\n"
             "  EDP          2.406e-07 J x cycles\n"
             "  utilization  15.0 %; 2 of 4 multipliers are in use\n");
  assert_has(out,
             "  Buffer x 2      Weights     3     10      5        0      "
             "1.001  16.6 %\n"
             "                  Inputs ");
  assert_has(out, "  MAC x 2    ");
  assert_has(out, "energy: W Weights, I Inputs, O Outputs, # the multipliers");
  assert_has(out, "  odd\\xff memory  49.9 %  WWWWWWWWWWWWWWWWWWWIIIIII");
  assert_has(out,
             "  Buffer           -\n  MAC             12  #################\n");
  assert_has(out, "########################  <- limits\n");
  assert_has(out, "  odd\\xff memory  Weights        6  4.500");
  assert_lacks(out, "inter_PE");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->context, out);
}

static void a_long_table_has_groups_and_capacities(void **state) {
  eval_fixture *f = *state;
  char *out = render(f, fixture_evaluation(f, 1), CALM_FORMAT_LONG);
  assert_has(out, "  odd\\xff memory  Weights          2        3  4.500\n");
  assert_has(out,
             "  Buffer                  2   4           9        100  "
             "9.0 % ");
  assert_has(out, "partition  temporal reductions");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->context, out);
}

static void a_table_without_energy_has_no_column_of_it(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->evaluation.energy = false;
  char *out = render(f, e, CALM_FORMAT_LONG);
  assert_lacks(out, "energy");
  assert_lacks(out, "pJ");
  assert_lacks(out, "share");
  assert_has(out, "cycles that each level needs");
  calm_text_free(f->context, out);
}

static void two_tables_are_one_of_differences(void **state) {
  eval_fixture *f = *state;
  char *out = render(f, fixture_evaluation(f, 2), CALM_FORMAT_TABLE);
  assert_has(out, "some/first.yaml\nsecond.yaml\n");
  assert_has(out,
             "  cycles                   40              40\n"
             "  limited by   odd\\xff memory  odd\\xff memory\n");
  assert_has(
      out,
      "  odd\\xff memory  > Buffer  Weights  -4.500      0        0     "
      "-0.002  -100.0 %\n"
      "  Buffer                    Weights     +10      0        0         "
      " 0\n");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->context, out);
}

/* The first letter of a name that is left; one that is a letter is its own. */
static void tensors_have_letters_of_their_names(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->tensors[0].name = "In";
  f->tensors[1].name = "Inputs";
  f->tensors[2].name = "I";
  char *out = render(f, e, CALM_FORMAT_TABLE);
  assert_has(out, "energy: I In, n Inputs, A I, # the multipliers");
  calm_text_free(f->context, out);
  f->tensors[0].name = "A";
  f->tensors[2].name = "1";
  out = render(f, e, CALM_FORMAT_TABLE);
  assert_has(out, "energy: A, I Inputs, B 1, # the multipliers");
  calm_text_free(f->context, out);
}

/* Wherever a line ends, it is behind a name. */
static void letters_stand_next_to_their_names(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  char name[96], wanted[128];
  for (int length = 60; length < 90; length++) {
    snprintf(name, sizeof name, "%0*d", length, 0);
    snprintf(wanted, sizeof wanted, "A %s,", name);
    f->tensors[0].name = name;
    char *out = render(f, e, CALM_FORMAT_TABLE);
    assert_has(out, wanted);
    assert_has(out, "I Inputs,");
    assert_has(out, "O Outputs,");
    assert_has(out, "# the multipliers\n");
    calm_text_free(f->context, out);
  }
}

static void energy_of_networks_has_a_row(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->evaluation.nests[0].result.network_pj = 601.5;
  char *out = render(f, e, CALM_FORMAT_TABLE);
  assert_has(out, "      0.602  10.0 %\n  MAC x 2 ");
  calm_text_free(f->context, out);
}

static void hops_of_what_passes_by_are_told(void **state) {
  eval_fixture *f = *state;
  const calm_evaluation *e = fixture_evaluation(f, 1);
  f->levels[MEMORY].network.hop_pj = 1;
  char *out = render(f, e, CALM_FORMAT_TABLE);
  assert_null(strstr(out, "hops of"));
  calm_text_free(f->context, out);
  f->tensor_costs[0][BUFFER * TENSORS].kept = false;
  out = render(f, e, CALM_FORMAT_TABLE);
  assert_has(out, "\n  hops of Weights below odd\\xff memory: not scaled to ");
  calm_text_free(f->context, out);
  f->levels[MEMORY].network.hop_pj = 0;
  out = render(f, e, CALM_FORMAT_TABLE);
  assert_null(strstr(out, "hops of"));
  calm_text_free(f->context, out);
}

/* ---- All ----------------------------------------------------------------- */

static void other_formats_are_refused(void **state) {
  eval_fixture *f = *state;
  char *out = NULL;
  assert_int_equal(calm_evaluation_render(&out, fixture_evaluation(f, 1),
                                          CALM_FORMAT_CSV, false),
                   CALM_MISUSE);
  assert_int_equal(calm_evaluation_render(&out, fixture_evaluation(f, 2),
                                          CALM_FORMAT_MAPPING, false),
                   CALM_MISUSE);
  assert_null(out);
}

/* With every allocation in turn failing. */
static void no_memory_is_told(void **state) {
  static const calm_format formats[] = {CALM_FORMAT_TABLE, CALM_FORMAT_LONG};
  eval_fixture *f = *state;
  for (uint32_t i = 0; i < 4; i++) {
    const calm_evaluation *e = fixture_evaluation(f, 1 + i / 2);
    for (uint64_t granted = 0;; granted++) {
      char *out;
      f->allocations_left = granted;
      const calm_status status =
          calm_evaluation_render(&out, e, formats[i % 2], true);
      f->allocations_left = SCARCE_NEVER;
      if (status == CALM_OK) {
        calm_text_free(f->context, out);
        break;
      }
      assert_int_equal(status, CALM_NO_MEMORY);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EVAL_TEST(json_begins_with_what_was_evaluated),
      EVAL_TEST(json_lists_levels_and_their_tensors),
      EVAL_TEST(json_lists_networks),
      EVAL_TEST(a_mesh_that_is_used_is_shown),
      EVAL_TEST(without_energy_there_are_nulls),
      EVAL_TEST(an_invalid_nest_has_a_reason_and_no_figures),
      EVAL_TEST(a_limit_is_no_fault_of_the_nest),
      EVAL_TEST(json_of_two_has_their_difference),
      EVAL_TEST(two_of_which_one_is_invalid_have_no_difference),
      EVAL_TEST(a_table_tells_what_costs),
      EVAL_TEST(a_long_table_has_groups_and_capacities),
      EVAL_TEST(a_table_without_energy_has_no_column_of_it),
      EVAL_TEST(two_tables_are_one_of_differences),
      EVAL_TEST(tensors_have_letters_of_their_names),
      EVAL_TEST(letters_stand_next_to_their_names),
      EVAL_TEST(energy_of_networks_has_a_row),
      EVAL_TEST(hops_of_what_passes_by_are_told),
      EVAL_TEST(other_formats_are_refused),
      EVAL_TEST(no_memory_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
