/*
 * CoSA's paper made anew: our descriptions of its machines cost nests as the
 * authors' files do, figures are those of the verb `map`, and they repeat.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_cosa.h"
#include "bench/bench_cosa_compare.h"
#include "bench/bench_cosa_paper.h"
#include "bench_scarce.h"
#include "cases.h"
#include "highs.h"

typedef struct desk {
  calm_context *context;
  calm_options *options;
  bench run;
} desk;

static void desk_open(desk *d) {
  d->context = calm_context_new(NULL);
  assert_int_equal(calm_options_new(&d->options, d->context), CALM_OK);
  bench_init(&d->run, d->context, d->options);
  d->run.timing = false;
}

static void desk_close(desk *d) {
  bench_free(&d->run);
  calm_options_free(d->options);
  assert_int_equal(calm_context_bytes(d->context), 0);
  calm_context_free(d->context);
}

static void desk_run(desk *d, const char *sections) {
  const bench_paper *cosa = &bench_papers[1];
  assert_string_equal(cosa->name, "cosa");
  assert_int_equal(bench_run(&d->run, cosa, sections), CALM_OK);
}

static const bench_table *table_named(const desk *d, const char *name) {
  for (uint32_t i = 0; i < d->run.tables.count; i++)
    if (!strcmp(d->run.tables.data[i]->name, name))
      return d->run.tables.data[i];
  fail_msg("there is no table %s", name);
  return NULL;
}

static bench_cell cell_at(const bench_table *t, uint32_t row, uint32_t column) {
  return t->cells.data[row * t->column_count + column];
}

/* ---- Machines ------------------------------------------------------------ */

static void read_arch(accel_arch *out, const char *path, arena *a) {
  char full[1024];
  accel_yaml *root;
  assert_non_null(cases_path(full, sizeof full, path));
  assert_int_equal(accel_yaml_open(&root, full, a), CALM_OK);
  assert_int_equal(accel_arch_read(out, root, NULL, true, a), CALM_OK);
}

static void read_layer(accel_layer *out, const json_t *record, arena *a) {
  char text[2048];
  accel_yaml *root;
  char *problem = json_dumps(json_object_get(record, "problem"), 0);
  snprintf(text, sizeof text, "problem: %s\n", problem);
  free(problem);
  if (!strstr(text, "shape")) {
    snprintf(text + strlen(text) - 2, 64, ", shape: cnn-layer}\n");
  }
  assert_int_equal(accel_yaml_parse(&root, "problem", text, strlen(text), a),
                   CALM_OK);
  assert_int_equal(accel_layer_read(out, root, ACCEL_DILATION_LITERAL, a),
                   CALM_OK);
}

static void cost_record(cost_result *out, const accel_arch *arch,
                        const json_t *record, arena *a) {
  const cost_options options = {.model = COST_EXACT};
  const char *text = json_string_value(json_object_get(record, "mapping_yaml"));
  const accel_source source = {"mapping", text, strlen(text)};
  accel_layer *layer = arena_calloc(a, 1, sizeof *layer);
  accel_nest nest;
  cost_problem p;
  read_layer(layer, record, a);
  assert_int_equal(accel_nest_parse(&nest, &source, arch, layer, a), CALM_OK);
  assert_int_equal(cost_problem_init(&p, arch, layer, &options, a), CALM_OK);
  assert_int_equal(cost_result_init(out, &p, a), CALM_OK);
  assert_int_equal(cost_evaluate(out, &p, &nest), CALM_OK);
}

/* 1 if the nest is valid: then both say the same of it. */
static uint32_t compare_record(const accel_arch *ours, const accel_arch *theirs,
                               const json_t *record, calm_context *context) {
  cost_result a, b;
  arena scratch;
  arena_init(&scratch, context);
  cost_record(&a, ours, record, &scratch);
  cost_record(&b, theirs, record, &scratch);
  assert_int_equal(a.verdict.fault, b.verdict.fault);
  const bool valid = a.verdict.fault == COST_VALID;
  if (valid) {
    assert_int_equal(a.cycles, b.cycles);
    assert_true(a.energy_pj == b.energy_pj);
    assert_true(a.edp == b.edp);
  }
  arena_free(&scratch);
  return valid;
}

static uint32_t compare_records(const accel_arch *ours,
                                const accel_arch *theirs, const char *records,
                                calm_context *context) {
  enum { LONGEST = 1 << 18, MOST = 60 };
  static char line[LONGEST];
  char path[1024];
  uint32_t valid = 0;
  assert_non_null(cases_path(path, sizeof path, records));
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (valid < MOST && fgets(line, sizeof line, file)) {
    json_t *record = json_loads(line, 0, NULL);
    const json_t *subset = json_object_get(record, "subset");
    if (record && !strcmp(json_string_value(subset), "valid") &&
        json_object_get(json_object_get(record, "problem"), "R"))
      valid += compare_record(ours, theirs, record, context);
    json_decref(record);
  }
  fclose(file);
  return valid;
}

/* The file of the large machine has the small one's bandwidth. */
static void compare_machine(const char *name, const char *theirs,
                            double times_bandwidth) {
  char arch[128], records[128];
  bench_machine ours;
  accel_arch other;
  arena a;
  calm_context *context = calm_context_new(NULL);
  arena_init(&a, context);
  snprintf(arch, sizeof arch, "mapping/goldens/arch/%s.yaml", theirs);
  snprintf(records, sizeof records, "mapping/goldens/%s.jsonl", theirs);
  assert_int_equal(bench_machine_open(&ours, name, &a), CALM_OK);
  read_arch(&other, arch, &a);
  accel_level *dram = &other.levels[other.level_count - 1];
  dram->read_bandwidth *= times_bandwidth;
  dram->write_bandwidth *= times_bandwidth;
  assert_true(compare_records(&ours.arch, &other, records, context) >= 30);
  arena_free(&a);
  calm_context_free(context);
}

static void machines_are_the_authors(void **state) {
  (void)state;
  CASES_OR_SKIP();
  compare_machine("simba.yaml", "cosa_simba", 1);
  compare_machine("simba-4x.yaml", "cosa_simba_large", 2);
  compare_machine("simba-sram.yaml", "cosa_simba_bigsram", 1);
}

/* ---- Layers -------------------------------------------------------------- */

/* Multiplications of the whole networks, as they are known. */
static void networks_are_whole(void **state) {
  static const uint32_t counts[] = {8, 24, 25, 9};
  static const uint64_t times[] = {8, 54, 54, 9};
  static const double gigas[] = {0.714, 4.089, 4.231, 0};
  uint32_t count[4] = {0};
  uint64_t time[4] = {0};
  double macs[4] = {0};
  bench_layers layers;
  arena a;
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena_init(&a, context);
  assert_int_equal(bench_layers_make(&layers, &a), CALM_OK);
  for (uint32_t i = 0; i < layers.count; i++) {
    const bench_layer *l = &layers.data[i];
    count[l->network]++;
    time[l->network] += l->times;
    macs[l->network] += (double)l->layer.macs * l->times;
  }
  for (int n = 0; n < BENCH_COSA_NETWORKS; n++) {
    assert_int_equal(count[n], counts[n]);
    assert_int_equal(time[n], times[n]);
    if (gigas[n] > 0) assert_true(fabs(macs[n] / 1e9 / gigas[n] - 1) < 0.001);
  }
  assert_string_equal(
      layers.data[bench_layers_find(&layers, "3_7_512_512_1")].name,
      "3_7_512_512_1");
  assert_int_equal(bench_layers_find(&layers, "3_7_512"), CALM_NONE);
  arena_free(&a);
  calm_context_free(context);
}

/* ---- The verb map -------------------------------------------------------- */

typedef struct tried {
  desk d;
  bench_layers layers;
  bench_machine machine;
  bench_mapping mapping;
  const bench_layer *layer;
} tried;

static void tried_open(tried *t, const char *layer,
                       mapper_objective objective) {
  desk_open(&t->d);
  arena *a = &t->d.run.arena;
  assert_int_equal(bench_layers_make(&t->layers, a), CALM_OK);
  t->layer = &t->layers.data[bench_layers_find(&t->layers, layer)];
  assert_int_equal(bench_machine_open(&t->machine, "simba.yaml", a), CALM_OK);
  assert_int_equal(bench_mapping_open(&t->mapping, &t->machine,
                                      &t->layer->layer, objective, NULL, a),
                   CALM_OK);
}

/* Its tries from all seeds. */
static void run_tries(bench_try *out, tried *t, bench_mapper mapper) {
  bench *b = &t->d.run;
  bench_requests requests = {0};
  assert_int_equal(
      bench_requests_add(&requests, b, &t->mapping, mapper, NULL, out),
      CALM_OK);
  assert_int_equal(bench_requests_run(b, &requests), CALM_OK);
  VECTOR_FREE(b->context, &requests);
}

static void set(desk *d, const char *name, const char *value) {
  assert_int_equal(calm_options_set(d->options, name, value), CALM_OK);
}

/* What `calm map` says of the layer. */
static calm_layer_summary map_layer_alone(const tried *t, calm_mapping **out) {
  const char *arch = CALM_SOURCE_DIR "/bench/cases/simba.yaml";
  char path[] = "/tmp/calm-bench-XXXXXX";
  const char *problem = path;
  char *text;
  const calm_map_files files = {
      .arch = &arch, .arch_count = 1, .problems = &problem, .problem_count = 1};
  calm_layer_summary s;
  assert_int_equal(accel_layer_write(&text, &t->layer->layer, t->d.context),
                   CALM_OK);
  const int file = mkstemp(path);
  assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
  close(file);
  calm_text_free(t->d.context, text);
  assert_int_equal(calm_map(out, t->d.context, &files, t->d.options), CALM_OK);
  remove(path);
  assert_true(calm_mapping_layer(&s, *out, 0));
  return s;
}

static void compare_with_map(const char *layer, bench_mapper mapper,
                             const char *name, const char *victory,
                             bool energy) {
  tried t;
  bench_try found[BENCH_SEEDS];
  calm_mapping *m;
  tried_open(&t, layer, energy ? MAPPER_ENERGY : MAPPER_DELAY);
  set(&t.d, "mapper", name);
  set(&t.d, "objective", energy ? "energy" : "delay");
  set(&t.d, "seed", "2");
  if (victory) set(&t.d, "victory", victory);
  run_tries(found, &t, mapper);
  assert_null(t.d.run.missing);
  const calm_layer_summary s = map_layer_alone(&t, &m);
  assert_true(found->mapped);
  assert_int_equal(found->proved, s.outcome == CALM_OPTIMAL);
  assert_true(found->cost.cycles == (double)s.cycles);
  assert_true(found->cost.energy_pj == s.energy_pj);
  assert_true(found->cost.link_cycles >= found->cost.cycles);
  calm_mapping_free(m);
  desk_close(&t.d);
}

static void figures_are_those_of_map(void **state) {
  static const char *const layers[] = {"3_7_512_512_1", "1_56_64_256_1",
                                       "1_1_2048_1000_1"};
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int energy = 0; energy < 2; energy++) {
      compare_with_map(layers[i], BENCH_RANDOM, "random", NULL, energy);
      compare_with_map(layers[i], BENCH_HYBRID, "hybrid", NULL, energy);
      compare_with_map(layers[i], BENCH_EXACT, "exact", NULL, energy);
    }
  compare_with_map("1_1_2048_1000_1", BENCH_HYBRID_32, "hybrid", "16000",
                   false);
}

static void figures_of_cosa_are_those_of_map(void **state) {
  arena a;
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena_init(&a, context);
  const bool there = highs_is_there(context, &a);
  arena_free(&a);
  calm_context_free(context);
  if (!there) skip();
  compare_with_map("3_7_512_512_1", BENCH_COSA, "cosa", NULL, false);
  compare_with_map("3_7_512_512_1", BENCH_COSA, "cosa", NULL, true);
  compare_with_map("3_13_384_256_1", BENCH_COSA, "cosa", NULL, false);
}

/* ---- Without a solver ---------------------------------------------------- */

static void without_a_solver_the_rest_is_done(void **state) {
  tried t;
  bench_try found[BENCH_SEEDS];
  (void)state;
  setenv("CALM_HIGHS", "/nowhere/libhighs.so", 1);
  tried_open(&t, "3_7_512_512_1", MAPPER_DELAY);
  run_tries(found, &t, BENCH_COSA);
  assert_false(found->mapped);
  assert_non_null(strstr(t.d.run.missing, "HiGHS"));
  run_tries(found, &t, BENCH_RANDOM);
  assert_true(found->mapped);
  desk_run(&t.d, "figure8");
  const bench_table *table = table_named(&t.d, "figure8");
  assert_true(cell_at(table, 0, 5).number > 0);
  assert_string_equal(cell_at(table, 3, 0).words, "cosa");
  assert_true(isnan(cell_at(table, 3, 5).number));
  desk_close(&t.d);
  unsetenv("CALM_HIGHS");
}

/* ---- One nest, varied ---------------------------------------------------- */

static double least_in(const bench_table *t, uint32_t column, double *most) {
  const uint32_t rows = t->cells.count / t->column_count;
  double least = HUGE_VAL;
  *most = 0;
  for (uint32_t i = 0; i < rows; i++) {
    least = fmin(least, cell_at(t, i, column).number);
    *most = fmax(*most, cell_at(t, i, column).number);
  }
  return least;
}

static void check_effect(const desk *d, const char *name, const char *effect) {
  const bench_table *t = table_named(d, name), *e = table_named(d, effect);
  assert_int_equal(t->cells.count, 6 * t->column_count);
  for (uint32_t c = 1; c < t->column_count; c++) {
    double most;
    const double least = least_in(t, c, &most);
    assert_true(cell_at(e, c - 1, 1).number == most / least);
  }
}

/* Without the multicast of weights no order brings fewer of them. */
static void orders_and_spaces_matter(void **state) {
  desk d;
  double most;
  (void)state;
  desk_open(&d);
  desk_run(&d, "figure3,figure4");
  check_effect(&d, "figure3", "figure3-effect");
  check_effect(&d, "figure4", "figure4-effect");
  const bench_table *orders = table_named(&d, "figure3");
  assert_string_equal(cell_at(orders, 0, 0).words, "CKP");
  assert_true(cell_at(orders, 0, 1).number == least_in(orders, 1, &most));
  assert_true(cell_at(orders, 5, 1).number > cell_at(orders, 0, 1).number);
  const bench_table *spaces = table_named(&d, "figure4");
  assert_string_equal(cell_at(spaces, 0, 0).words, "s:C4K4 t:P4");
  assert_true(cell_at(spaces, 0, 1).number == least_in(spaces, 1, &most));
  assert_true(cell_at(spaces, 0, 3).number == least_in(spaces, 3, &most));
  desk_close(&d);
}

/* ---- Repeating ----------------------------------------------------------- */

static void figures_repeat(void **state) {
  desk d[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    desk_open(&d[i]);
    desk_run(&d[i], "figure3,figure8");
  }
  const bench *a = &d[0].run, *b = &d[1].run;
  assert_int_equal(a->tables.count, b->tables.count);
  for (uint32_t i = 0; i < a->tables.count; i++) {
    const bench_table *one = a->tables.data[i], *two = b->tables.data[i];
    assert_int_equal(one->cells.count, two->cells.count);
    for (uint32_t k = 0; k < one->cells.count; k++) {
      const double x = one->cells.data[k].number, y = two->cells.data[k].number;
      assert_true(x == y || (isnan(x) && isnan(y)));
    }
  }
  for (uint32_t i = 0; i < a->figures.count; i++)
    assert_string_equal(a->figures.data[i].svg, b->figures.data[i].svg);
  desk_close(&d[0]);
  desk_close(&d[1]);
}

/* ---- Means --------------------------------------------------------------- */

static void means_are_of_what_both_have(void **state) {
  bench_layer data[] = {{.network = 0}, {.network = 0}, {.network = 1}};
  const bench_layers layers = {data, 3};
  const bench_series base = {.values = {8, 2, NAN}},
                     other = {.values = {1, 1, 3}};
  uint32_t counted;
  (void)state;
  assert_float_equal(bench_gain(&counted, &layers, &base, &other, 0), 4, 1e-12);
  assert_int_equal(counted, 2);
  assert_true(isnan(bench_gain(&counted, &layers, &base, &other, 1)));
  assert_int_equal(counted, 0);
  assert_float_equal(bench_gain(&counted, &layers, &base, &other, CALM_NONE), 4,
                     1e-12);
}

/* The sections of one layer; those of all work as figure 8 does. */
static void memory_runs_out(void **state) {
  char folder[] = "/tmp/calm-bench-XXXXXX", command[64];
  (void)state;
  assert_non_null(mkdtemp(folder));
  setenv("CALM_HIGHS", "/nowhere/libhighs.so", 1);
  bench_scarce(&bench_papers[1], "figure3", folder);
  bench_scarce(&bench_papers[1], "figure4", NULL);
  bench_scarce(&bench_papers[1], "figure8", NULL);
  unsetenv("CALM_HIGHS");
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machines_are_the_authors),
      cmocka_unit_test(networks_are_whole),
      cmocka_unit_test(figures_are_those_of_map),
      cmocka_unit_test(figures_of_cosa_are_those_of_map),
      cmocka_unit_test(without_a_solver_the_rest_is_done),
      cmocka_unit_test(orders_and_spaces_matter),
      cmocka_unit_test(figures_repeat),
      cmocka_unit_test(means_are_of_what_both_have),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
