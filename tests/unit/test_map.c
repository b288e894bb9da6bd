/* Mappings through the public interface. */
#include "map_fixture.h"

/* ---- Layers -------------------------------------------------------------- */

static void one_layer_is_mapped_and_proved(void **state) {
  calm_mapping *m;
  calm_layer_summary s;
  map_fixture *f = *state;
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  assert_int_equal(calm_mapping_layer_count(m), 1);
  s = map_layer_at(m, 0);
  assert_string_equal(s.name, "first");
  assert_int_equal(s.count, 1);
  assert_int_equal(s.error, CALM_OK);
  assert_int_equal(s.outcome, CALM_OPTIMAL);
  assert_null(s.reason);
  assert_int_equal(s.cycles, 8); /* 32 products, 4 at a time */
  assert_true(s.value == s.edp && s.bound == s.value);
  assert_true(s.edp == s.energy_pj * 8);
  assert_false(calm_mapping_layer(&s, m, 1));
  calm_mapping_free(m);
}

static void equal_layers_are_mapped_once(void **state) {
  calm_mapping *m;
  assert_int_equal(map_three(&m, *state, NULL), CALM_OK);
  assert_int_equal(calm_mapping_layer_count(m), 2);
  assert_string_equal(map_layer_at(m, 0).name, "first");
  assert_int_equal(map_layer_at(m, 0).count, 2);
  assert_string_equal(map_layer_at(m, 1).name, "second");
  assert_int_equal(map_layer_at(m, 1).count, 1);
  calm_mapping_free(m);
}

static const char network[] =
    "calm-graph 1\n"
    "graph net\n"
    "tensor x f32[1,8,8,2] input\n"
    "tensor w f32[4,3,3,2] const\n"
    "tensor v f32[4,1,1,4] const\n"
    "tensor y f32[1,8,8,4]\n"
    "tensor z f32[1,8,8,4]\n"
    "tensor u f32[1,8,8,4]\n"
    "tensor o f32[1,8,8,4] output\n"
    "op a conv2d ( x w - ) -> ( y ) stride=1,1 pad=same\n"
    "op b conv2d ( y v - ) -> ( z ) stride=1,1 pad=same\n"
    "op c conv2d ( z v - ) -> ( u ) stride=1,1 pad=same\n"
    "op d lstm ( u ) -> ( o )\n";

static void a_network_has_layers(void **state) {
  calm_mapping *m;
  map_fixture *f = *state;
  map_write_file(f->other, f, "net.cg", network);
  assert_int_equal(map_model(&m, f, f->other), CALM_OK);
  assert_int_equal(calm_mapping_layer_count(m), 2);
  assert_string_equal(map_layer_at(m, 0).name, "a");
  assert_string_equal(map_layer_at(m, 1).name, "b");
  assert_int_equal(map_layer_at(m, 1).count, 2);
  calm_mapping_free(m);
}

static void a_network_without_layers_is_told(void **state) {
  calm_mapping *m = NULL;
  map_fixture *f = *state;
  map_write_file(f->other, f, "net.cg",
                 "calm-graph 1\ngraph g\ntensor x 8 input\ntensor y 8 output\n"
                 "op a relu ( x ) -> ( y )\n");
  assert_int_equal(map_model(&m, f, f->other), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f->context), "no operator"));
  assert_null(m);
}

/* ---- Many at once -------------------------------------------------------- */

/* Everything that a run says of its layers, and their nests. */
static void describe(char *out, size_t size, map_fixture *f,
                     const calm_mapping *m) {
  calm_layer_summary s;
  out[0] = '\0';
  for (uint32_t i = 0; calm_mapping_layer(&s, m, i); i++) {
    char *nest;
    const size_t length = strlen(out);
    assert_int_equal(calm_mapping_nest(&nest, m, i), CALM_OK);
    snprintf(out + length, size - length, "%s %d %.17g %.17g %.17g\n%s", s.name,
             (int)s.outcome, s.value, s.bound, s.energy_pj, nest);
    calm_text_free(f->context, nest);
  }
}

enum { WORDS = 8192 };

static void run(char *out, map_fixture *f, const char *jobs,
                const char *journal) {
  calm_mapping *m;
  map_set(f, "jobs", jobs);
  assert_int_equal(map_three(&m, f, journal), CALM_OK);
  describe(out, WORDS, f, m);
  calm_mapping_free(m);
}

static void jobs_do_not_change_what_is_found(void **state) {
  char one[WORDS], two[WORDS], all[WORDS];
  run(one, *state, "1", NULL);
  run(two, *state, "2", NULL);
  run(all, *state, "0", NULL);
  assert_string_equal(one, two);
  assert_string_equal(one, all);
  assert_non_null(strstr(one, "mapping:"));
}

/* Both ways: an interrupt that was there before stops all. */
static void an_interrupt_leaves_layers_undone(void **state) {
  map_fixture *f = *state;
  for (int jobs = 1; jobs <= 2; jobs++) {
    calm_mapping *m;
    map_set(f, "jobs", jobs == 1 ? "1" : "2");
    calm_context_interrupt(f->context);
    assert_int_equal(map_three(&m, f, NULL), CALM_OK);
    calm_context_resume(f->context);
    const calm_layer_summary s = map_layer_at(m, 0);
    assert_int_equal(s.error, CALM_OK);
    assert_int_equal(s.outcome, CALM_LIMIT);
    assert_string_equal(s.reason, "interrupt");
    assert_true(s.value == 0 && s.cycles == 0);
    char *nest;
    assert_int_equal(calm_mapping_nest(&nest, m, 0), CALM_MISUSE);
    calm_mapping_free(m);
  }
}

/* A layer that the constraints do not know does not stop the other. */
static void a_layer_that_fails_is_a_result(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  map_write_file(f->second, f, "second.yaml",
                 "problem: {shape: cnn-layer, R: 1, S: 1, P: 2, Q: 2, C: 2, "
                 "K: 2, N: 1}\n");
  map_write_file(f->other, f, "other.yaml",
                 "mapspace_constraints:\n"
                 "- {target: Buffer, type: temporal, factors: M=2}\n");
  map_set(f, "constraints", f->other);
  assert_int_equal(map_three(&m, f, NULL), CALM_OK);
  const calm_layer_summary s = map_layer_at(m, 1);
  assert_int_equal(s.error, CALM_BAD_INPUT);
  assert_non_null(strstr(s.reason, "other.yaml:2"));
  assert_true(s.value == 0);
  assert_int_not_equal(map_layer_at(m, 0).error, CALM_BAD_INPUT);
  calm_mapping_free(m);
}

/* But what the constraints say of no layer is wrong with their file. */
static void what_fails_for_all_layers_is_told_once(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = NULL;
  map_write_file(f->other, f, "other.yaml",
                 "mapspace_constraints:\n"
                 "- {target: Bufer, type: temporal, factors: M=2}\n");
  map_set(f, "constraints", f->other);
  assert_int_equal(map_three(&m, f, NULL), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f->context), "other.yaml:2"));
  assert_null(m);
}

/* It is that of the nest, and reads back as the layer that it was. */
static void a_layer_goes_out_as_a_problem(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  char *problem;
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  assert_int_equal(calm_mapping_problem(&problem, m, 1), CALM_MISUSE);
  assert_int_equal(calm_mapping_problem(&problem, m, 0), CALM_OK);
  const double value = map_layer_at(m, 0).value;
  calm_mapping_free(m);
  map_write_file(f->other, f, "other.yaml", problem);
  calm_text_free(f->context, problem);
  assert_int_equal(map_one(&m, f, f->other), CALM_OK);
  assert_true(map_layer_at(m, 0).value == value);
  calm_mapping_free(m);
}

/* ---- What may be kept ---------------------------------------------------- */

/* Does a level of a nest of the first layer keep just these? */
static bool keeps(map_fixture *f, const char *line) {
  calm_mapping *m;
  char *nest;
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  assert_int_equal(map_layer_at(m, 0).outcome, CALM_OPTIMAL);
  assert_int_equal(calm_mapping_nest(&nest, m, 0), CALM_OK);
  const bool found = strstr(nest, line) != NULL;
  calm_text_free(f->context, nest);
  calm_mapping_free(m);
  return found;
}

static void tensors_are_kept_where_nothing_forbids_it(void **state) {
  map_fixture *f = *state;
  assert_true(keeps(f,
                    "- target: Buffer\n  type: datatype\n"
                    "  keep: [A, B, Z]\n  bypass: []\n"));
  map_write_file(f->other, f, "other.yaml",
                 "mapspace_constraints:\n"
                 "- {target: Buffer, type: bypass, bypass: [B]}\n");
  map_set(f, "constraints", f->other);
  assert_true(keeps(f,
                    "- target: Buffer\n  type: datatype\n"
                    "  keep: [A, Z]\n  bypass: [B]\n"));
}

/* To search cannot be worse than what is given, and the outermost memory has
   everything. */
static void bypassing_can_be_searched(void **state) {
  map_fixture *f = *state;
  calm_mapping *given, *searched;
  assert_int_equal(map_one(&given, f, f->second), CALM_OK);
  map_set(f, "bypass", "search");
  assert_int_equal(map_one(&searched, f, f->second), CALM_OK);
  assert_int_equal(map_layer_at(searched, 0).outcome, CALM_OPTIMAL);
  assert_true(map_layer_at(searched, 0).value <= map_layer_at(given, 0).value);
  calm_mapping_free(given);
  calm_mapping_free(searched);
  assert_true(keeps(f,
                    "- target: Memory\n  type: datatype\n"
                    "  keep: [A, B, Z]\n"));
}

static void a_tensor_without_a_place_is_bad_input(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  map_write_file(f->other, f, "other.yaml",
                 "mapspace_constraints:\n"
                 "- {target: Buffer, type: bypass, bypass: [B]}\n"
                 "- {target: Memory, type: bypass, bypass: [B]}\n");
  map_set(f, "constraints", f->other);
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  assert_int_equal(map_layer_at(m, 0).error, CALM_BAD_INPUT);
  assert_non_null(strstr(map_layer_at(m, 0).reason, "B"));
  calm_mapping_free(m);
}

/* ---- Options ------------------------------------------------------------- */

static void refused(map_fixture *f, calm_status status, const char *word) {
  calm_mapping *m = NULL;
  assert_int_equal(map_one(&m, f, f->first), status);
  assert_non_null(strstr(calm_context_message(f->context), word));
  assert_null(m);
}

static void a_mapper_has_its_objectives(void **state) {
  map_fixture *f = *state;
  map_set(f, "objective", "balance");
  refused(f, CALM_MISUSE, "delay-energy and pareto");
  map_set(f, "mapper", "random");
  refused(f, CALM_MISUSE, "has energy, delay, edp and delay-energy");
  map_set(f, "objective", "pareto");
  map_set(f, "mapper", "cosa");
  refused(f, CALM_MISUSE, "delay-energy and balance");
}

static void objectives_need_energies(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  map_set(f, "energy", "off");
  refused(f, CALM_BAD_INPUT, "--no-energy");
  map_set(f, "objective", "delay");
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  const calm_layer_summary s = map_layer_at(m, 0);
  assert_true(s.value == 8 && s.energy_pj == 0 && s.edp == 0);
  calm_mapping_free(m);
}

/* Tables without the buffer's energies. */
static void unknown_energies_are_one_message(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  map_write_file(f->other, f, "other.yaml",
                 "ERT:\n  version: 0.3\n  tables:\n"
                 "  - name: MAC\n    actions:\n"
                 "    - {name: compute, energy: 1}\n"
                 "  - name: Memory\n    actions:\n"
                 "    - {name: read, energy: 1}\n"
                 "    - {name: write, energy: 1}\n"
                 "    - {name: update, energy: 1}\n");
  map_set(f, "ert", f->other);
  refused(f, CALM_BAD_INPUT, "energ");
  map_set(f, "objective", "delay");
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  assert_true(map_layer_at(m, 0).value == 8);
  assert_true(map_layer_at(m, 0).energy_pj == 0);
  calm_mapping_free(m);
}

static void another_cost_model_has_no_proof(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  map_set(f, "cost", "timeloop");
  assert_int_equal(map_one(&m, f, f->first), CALM_OK);
  const calm_layer_summary s = map_layer_at(m, 0);
  assert_int_equal(s.outcome, CALM_FEASIBLE);
  assert_true(s.bound == 0 && s.value == s.edp);
  assert_non_null(strstr(s.reason, "--cost exact"));
  calm_mapping_free(m);
}

static void files_must_be_there(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = NULL;
  const char *parts[] = {f->arch};
  calm_map_files files = {.arch = parts, .arch_count = 1};
  assert_int_equal(calm_map(&m, f->context, &files, NULL), CALM_MISUSE);
  assert_non_null(strstr(calm_context_message(f->context), "no layer"));
  files.arch_count = 0;
  assert_int_equal(calm_map(&m, f->context, &files, NULL), CALM_MISUSE);
  assert_non_null(strstr(calm_context_message(f->context), "--arch"));
  const char *problems[] = {f->first};
  files = (calm_map_files){.arch = parts,
                           .arch_count = 1,
                           .problems = problems,
                           .problem_count = 1,
                           .model = f->second};
  assert_int_equal(calm_map(&m, f->context, &files, NULL), CALM_MISUSE);
  assert_null(m);
}

/* ---- Memory -------------------------------------------------------------- */

/* The n-th allocation fails, for every n.  In a process of its own, a layer
   may run out where this one does not; it then says so. */
static void no_memory_is_told(void **state) {
  map_fixture *f = *state;
  map_set(f, "jobs", "1");
  for (uint64_t grant = 0;; grant++) {
    calm_mapping *m = NULL;
    f->allocations_left = grant;
    const calm_status status = map_three(&m, f, f->journal);
    f->allocations_left = SCARCE_NEVER;
    remove(f->journal);
    if (status == CALM_OK && map_layer_at(m, 0).error == CALM_OK &&
        map_layer_at(m, 1).error == CALM_OK) {
      calm_mapping_free(m);
      break;
    }
    if (status == CALM_OK) {
      for (uint32_t i = 0; i < 2; i++)
        if (map_layer_at(m, i).error)
          assert_int_equal(map_layer_at(m, i).error, CALM_NO_MEMORY);
    } else {
      assert_int_equal(status, CALM_NO_MEMORY);
      assert_null(m);
    }
    calm_mapping_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAP_TEST(one_layer_is_mapped_and_proved),
      MAP_TEST(equal_layers_are_mapped_once),
      MAP_TEST(a_network_has_layers),
      MAP_TEST(a_network_without_layers_is_told),
      MAP_TEST(jobs_do_not_change_what_is_found),
      MAP_TEST(an_interrupt_leaves_layers_undone),
      MAP_TEST(a_layer_that_fails_is_a_result),
      MAP_TEST(what_fails_for_all_layers_is_told_once),
      MAP_TEST(a_layer_goes_out_as_a_problem),
      MAP_TEST(tensors_are_kept_where_nothing_forbids_it),
      MAP_TEST(bypassing_can_be_searched),
      MAP_TEST(a_tensor_without_a_place_is_bad_input),
      MAP_TEST(a_mapper_has_its_objectives),
      MAP_TEST(objectives_need_energies),
      MAP_TEST(unknown_energies_are_one_message),
      MAP_TEST(another_cost_model_has_no_proof),
      MAP_TEST(files_must_be_there),
      MAP_TEST(no_memory_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
