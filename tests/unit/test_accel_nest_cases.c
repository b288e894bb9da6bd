/*
 * The published mappings: each loads as its description says, or is refused for
 * a stated reason, and what is written is read back.
 */
#include "published_fixture.h"

#include <glob.h>
#include <jansson.h>

static void assert_same_loop(const accel_loop *a, const accel_loop *b) {
  assert_int_equal(a->bound, b->bound);
  assert_int_equal(a->residual, b->residual);
  assert_int_equal(a->dimension, b->dimension);
  assert_int_equal(a->level, b->level);
  assert_int_equal(a->kind, b->kind);
}

static void assert_round_trip(bench *b) {
  accel_nest again;
  accel_yaml *root;
  char *out;
  assert_int_equal(
      accel_nest_write(&out, &b->nest, &b->arch, &b->layer, b->context),
      CALM_OK);
  assert_int_equal(
      accel_yaml_parse(&root, "written", out, strlen(out), &b->arena), CALM_OK);
  if (accel_nest_read(&again, root, &b->arch, &b->layer, &b->arena) != CALM_OK)
    fail_msg("%s", calm_context_message(b->context));
  assert_int_equal(again.loop_count, b->nest.loop_count);
  for (uint32_t i = 0; i < again.loop_count; i++)
    assert_same_loop(&again.loops[i], &b->nest.loops[i]);
  for (uint32_t i = 0; i < again.level_count; i++) {
    assert_int_equal(again.kept[i], b->nest.kept[i]);
    assert_int_equal(again.unlinked[i], b->nest.unlinked[i]);
  }
  calm_text_free(b->context, out);
}

/* ---- The golden records -------------------------------------------------- */

/* The loops of one block of a record, in its order; `at` goes on. */
static void compare_block(const bench *b, uint32_t *at, uint32_t level,
                          const json_t *order, const json_t *factors,
                          accel_loop_kind kind) {
  const char *letters = json_string_value(order);
  for (; letters && *letters; letters++) {
    const char name[2] = {*letters, 0};
    const json_t *factor = json_object_get(factors, name);
    if (!factor) continue;
    const bool pair = json_is_array(factor);
    const json_int_t bound =
        json_integer_value(pair ? json_array_get(factor, 0) : factor);
    const json_int_t residual =
        pair ? json_integer_value(json_array_get(factor, 1)) : bound;
    if (bound == 1) continue;
    assert_true(*at < b->nest.loop_count);
    const accel_loop *l = &b->nest.loops[(*at)++];
    assert_int_equal(l->bound, bound);
    assert_int_equal(l->residual, residual);
    assert_string_equal(b->layer.dimensions[l->dimension].name, name);
    assert_int_equal(l->level, level);
    assert_int_equal(l->kind, kind);
  }
}

static void compare_record(const bench *b, const json_t *levels) {
  uint32_t at = 0;
  assert_int_equal(json_array_size(levels), b->nest.level_count);
  for (uint32_t i = 0; i < b->nest.level_count; i++) {
    const json_t *level = json_array_get(levels, i), *name;
    const json_t *order = json_object_get(level, "sperm");
    uint32_t kept = 0;
    size_t k;
    assert_string_equal(json_string_value(json_object_get(level, "level")),
                        b->arch.levels[i].name);
    json_array_foreach(json_object_get(level, "keep"), k, name) kept |=
        UINT32_C(1) << accel_layer_tensor(&b->layer, json_string_value(name));
    assert_int_equal(b->nest.kept[i], kept);
    compare_block(b, &at, i, order, json_object_get(level, "X"),
                  ACCEL_SPATIAL_X);
    compare_block(b, &at, i, order, json_object_get(level, "Y"),
                  ACCEL_SPATIAL_Y);
    compare_block(b, &at, i, json_object_get(level, "perm"),
                  json_object_get(level, "T"), ACCEL_TEMPORAL);
  }
  assert_int_equal(at, b->nest.loop_count);
}

/* The iterations of a dimension, from its outermost loop inwards: so many full
   passes, and the last one. */
static double iterations(const bench *b, uint32_t dimension) {
  double last = 0;
  for (uint32_t i = b->nest.loop_count; i-- > 0;)
    if (b->nest.loops[i].dimension == dimension)
      last = last * (double)b->nest.loops[i].bound +
             (double)(b->nest.loops[i].residual - 1);
  return last + 1;
}

static bool has_wrong_product(const bench *b) {
  for (uint32_t d = 0; d < b->layer.dimension_count; d++)
    if (iterations(b, d) != (double)b->layer.dimensions[d].bound) return true;
  return false;
}

static void compare_line(bench *b, const char *line) {
  json_t *record = json_loads(line, 0, NULL);
  char arch[128], problem[128];
  accel_yaml *root;
  assert_non_null(record);
  const char *text = json_string_value(json_object_get(record, "mapping_yaml"));
  snprintf(arch, sizeof arch, "goldens/arch/%s.yaml",
           json_string_value(json_object_get(record, "arch")));
  snprintf(problem, sizeof problem, "goldens/problems/%s.yaml",
           json_string_value(json_object_get(record, "problem_name")));
  open_machine(b, arch, problem);
  assert_int_equal(
      accel_yaml_parse(&root, "record", text, strlen(text), &b->arena),
      CALM_OK);
  if (accel_nest_read(&b->nest, root, &b->arch, &b->layer, &b->arena))
    fail_msg("%s", calm_context_message(b->context));
  compare_record(b, json_object_get(record, "mapping"));
  const char *reason = json_string_value(json_object_get(record, "reason"));
  assert_int_equal(has_wrong_product(b),
                   reason && strstr(reason, "product of all factors") != NULL);
  assert_round_trip(b);
  json_decref(record);
}

static void goldens(void **state) {
  char pattern[1024];
  glob_t files;
  int count = 0;
  CASES_OR_SKIP();
  snprintf(pattern, sizeof pattern, "%s/mapping/goldens/*.jsonl", cases_root());
  if (glob(pattern, 0, NULL, &files)) skip();
  for (size_t i = 0; i < files.gl_pathc; i++) {
    FILE *file = fopen(files.gl_pathv[i], "r");
    char *line = NULL;
    size_t size = 0;
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
      compare_line(*state, line);
      count++;
    }
    free(line);
    fclose(file);
  }
  globfree(&files);
  print_message("%d records\n", count);
}

/* ---- Mappings in files --------------------------------------------------- */

static void mapping_files(void **state) {
  bench *b = *state;
  static const file_row rows[] = {
#define LEVEL1 ISPASS "00-model-conv1d-1level/"
#define LEVEL2 ISPASS "01-model-conv1d-2level/"
#define OC ISPASS "02-model-conv1d+oc-2level/"
#define DESIGN(name)                                        \
  {"example_designs/" name "/arch.yaml",                    \
   "example_designs/_include/default_problem.yaml",         \
   "example_designs/" name                                  \
   "/ref_outputs/default_problem/timeloop-mapper.map.yaml", \
   NULL}
      {LEVEL1 "arch/1level.arch.yaml", LEVEL1 "prob/conv1d.prob.yaml",
       LEVEL1 "map/conv1d-1level.map.yaml", NULL},
      {LEVEL2 "arch/2level.arch.yaml", LEVEL2 "prob/conv1d.prob.yaml",
       LEVEL2 "map/conv1d-2level-os.map.yaml", NULL},
      {LEVEL2 "arch/2level.arch.yaml", LEVEL2 "prob/conv1d.prob.yaml",
       LEVEL2 "map/conv1d-2level-ws.map.yaml", NULL},
      {OC "arch/2level.arch.yaml", OC "prob/conv1d+oc.prob.yaml",
       OC "map/conv1d+oc-2level-os-tiled.map.yaml", NULL},
      {OC "arch/2level.arch.yaml", OC "prob/conv1d+oc.prob.yaml",
       OC "map/conv1d+oc-2level-os.map.yaml", NULL},
      DESIGN("eyeriss_like"),
      DESIGN("simba_like"),
      DESIGN("simple_output_stationary"),
      DESIGN("simple_weight_stationary"),
  };
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    open_machine(b, rows[i].arch, rows[i].problem);
    if (accel_nest_read(&b->nest, open_case(b, rows[i].file), &b->arch,
                        &b->layer, &b->arena) != CALM_OK)
      fail_msg("%s: %s", rows[i].file, calm_context_message(b->context));
    if (has_wrong_product(b)) fail_msg("%s", rows[i].file);
    assert_round_trip(b);
  }
}

/* Mappings with imperfect factors for Gemmini; their layers differ, so that
   only the syntax is compared. */
static void calibration_files(void **state) {
  bench *b = *state;
  int perfect = 0, imperfect = 0;
  CASES_OR_SKIP();
  for (int i = 0; i < 8; i++)
    for (int kind = 0; kind < 2; kind++) {
      char name[64];
      if (i > 3 && kind == 0) continue;
      snprintf(name, sizeof name, "dosa/calibration/mapping%d%s.yaml", i,
               kind ? "_imperfect" : "");
      open_machine(b, "dosa/arch/arch.yaml",
                   "goldens/problems/resnet50_03.yaml");
      if (accel_nest_read(&b->nest, open_case(b, name), &b->arch, &b->layer,
                          &b->arena) != CALM_OK)
        fail_msg("%s", calm_context_message(b->context));
      *(accel_nest_is_perfect(&b->nest) ? &perfect : &imperfect) += 1;
      assert_round_trip(b);
    }
  print_message("%d perfect, %d imperfect\n", perfect, imperfect);
  assert_int_equal(perfect + imperfect, 12);
}

/* What Timeloop printed for people is the mapping that it wrote, or was given,
   beside it. */
static void printed_nests(void **state) {
  bench *b = *state;
  static const struct {
    const char *arch, *problem, *mapping, *printed;
  } rows[] = {
#define REFERENCE(name)                                     \
  {"example_designs/" name "/arch.yaml",                    \
   "example_designs/_include/default_problem.yaml",         \
   "example_designs/" name                                  \
   "/ref_outputs/default_problem/timeloop-mapper.map.yaml", \
   "example_designs/" name                                  \
   "/ref_outputs/default_problem/timeloop-mapper.map.txt"}
      REFERENCE("eyeriss_like"),
      REFERENCE("simba_like"),
      REFERENCE("simple_output_stationary"),
      REFERENCE("simple_weight_stationary"),
      {LEVEL1 "arch/1level.arch.yaml", LEVEL1 "prob/conv1d.prob.yaml",
       LEVEL1 "map/conv1d-1level.map.yaml",
       LEVEL1 "ref-output/timeloop-model.map.txt"},
      {LEVEL2 "arch/2level.arch.yaml", LEVEL2 "prob/conv1d.prob.yaml",
       LEVEL2 "map/conv1d-2level-os.map.yaml",
       LEVEL2 "ref-output/os/timeloop-model.map.txt"},
      {LEVEL2 "arch/2level.arch.yaml", LEVEL2 "prob/conv1d.prob.yaml",
       LEVEL2 "map/conv1d-2level-ws.map.yaml",
       LEVEL2 "ref-output/ws/timeloop-model.map.txt"},
      {OC "arch/2level.arch.yaml", OC "prob/conv1d+oc.prob.yaml",
       OC "map/conv1d+oc-2level-os-tiled.map.yaml",
       OC "ref-output/tiling/timeloop-model.map.txt"},
      {OC "arch/2level.arch.yaml", OC "prob/conv1d+oc.prob.yaml",
       OC "map/conv1d+oc-2level-os.map.yaml",
       OC "ref-output/no-tiling/timeloop-model.map.txt"},
      {"cosa/arch/simba.yaml", "goldens/problems/resnet50_02.yaml", NULL,
       "cosa/example_run/timeloop-model.map.txt"},
  };
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char inside[256], path[1024];
    accel_nest printed;
    open_machine(b, rows[i].arch, rows[i].problem);
    snprintf(inside, sizeof inside, "mapping/%s", rows[i].printed);
    assert_non_null(cases_path(path, sizeof path, inside));
    if (accel_nest_open(&printed, path, &b->arch, &b->layer, &b->arena))
      fail_msg("%s", calm_context_message(b->context));
    b->nest = printed;
    if (rows[i].mapping &&
        accel_nest_read(&b->nest, open_case(b, rows[i].mapping), &b->arch,
                        &b->layer, &b->arena))
      fail_msg("%s", calm_context_message(b->context));
    assert_int_equal(printed.loop_count, b->nest.loop_count);
    for (uint32_t l = 0; l < printed.loop_count; l++)
      assert_same_loop(&printed.loops[l], &b->nest.loops[l]);
    for (uint32_t l = 0; l < printed.level_count; l++)
      assert_int_equal(printed.kept[l], b->nest.kept[l]);
    if (has_wrong_product(b)) fail_msg("%s", rows[i].printed);
    assert_round_trip(b);
  }
}

/* ---- Syntax -------------------------------------------------------------- */

/* What calm takes differently from Timeloop, or leaves to the judge. */
static const char *const taken_here[] = {
    "spatial at level without fan-out", /* its factors are all 1 */
    "split 0 on a 1-D X array",         /* the cost room says so */
};

static bool is_taken_here(const char *name) {
  for (size_t i = 0; i < sizeof taken_here / sizeof *taken_here; i++)
    if (!strcmp(name, taken_here[i])) return true;
  return false;
}

static void syntax(void **state) {
  bench *b = *state;
  char path[1024];
  const json_t *row;
  size_t i;
  CASES_OR_SKIP();
  if (!cases_path(path, sizeof path, "mapping/goldens/mapping_syntax.json"))
    skip();
  json_t *file = json_load_file(path, 0, NULL);
  const json_t *rows = json_object_get(file, "cases");
  assert_int_equal(json_array_size(rows), 21);
  json_array_foreach(rows, i, row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    const char *mapping =
        json_string_value(json_object_get(row, "mapping_yaml"));
    const char *problem =
        json_string_value(json_object_get(row, "problem_yaml"));
    const bool ok =
        !strcmp(json_string_value(json_object_get(row, "status")), "ok");
    accel_yaml *root;
    open_machine(b, "goldens/arch/chiplet3.yaml",
                 "goldens/problems/conv1d_r3.yaml");
    assert_int_equal(
        accel_yaml_parse(&root, "p", problem, strlen(problem), &b->arena),
        CALM_OK);
    assert_int_equal(
        accel_layer_read(&b->layer, root, ACCEL_DILATION_LITERAL, &b->arena),
        CALM_OK);
    assert_int_equal(
        accel_yaml_parse(&root, "m", mapping, strlen(mapping), &b->arena),
        CALM_OK);
    const calm_status status =
        accel_nest_read(&b->nest, root, &b->arch, &b->layer, &b->arena);
    const bool good = status == CALM_OK && !has_wrong_product(b);
    if (good != (ok || is_taken_here(name)))
      fail_msg("%s: %s", name, calm_context_message(b->context));
  }
  json_decref(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(goldens, open_bench, close_bench),
      cmocka_unit_test_setup_teardown(mapping_files, open_bench, close_bench),
      cmocka_unit_test_setup_teardown(calibration_files, open_bench,
                                      close_bench),
      cmocka_unit_test_setup_teardown(printed_nests, open_bench, close_bench),
      cmocka_unit_test_setup_teardown(syntax, open_bench, close_bench),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
