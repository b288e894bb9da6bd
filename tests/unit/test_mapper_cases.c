/*
 * The layers of ResNet-50 on CoSA's Simba, against the optima that the
 * project's prototype proved.  With MAPPER_TIMES in the environment, each
 * layer's time is printed.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cases.h"
#include "cost_fixture.h"
#include "mapper/mapper.h"

enum { W = 1, I = 2, O = 4 };

/* Of cosa/mapspace/mapspace.yaml, innermost first. */
static const uint32_t simba_keeps[] = {W, O, W, I, I | O, W | I | O};

static void open_arch(accel_arch *arch, const char *name, arena *a) {
  char path[1024];
  accel_yaml *root;
  assert_non_null(cases_path(path, sizeof path, name));
  assert_int_equal(accel_yaml_open(&root, path, a), CALM_OK);
  assert_int_equal(accel_arch_read(arch, root, NULL, true, a), CALM_OK);
}

static uint64_t size_of(json_t *layer, const char *name) {
  return (uint64_t)json_integer_value(
      json_object_get(json_object_get(layer, "dims"), name));
}

static void make_layer(accel_layer *out, json_t *layer, arena *a) {
  json_t *stride = json_object_get(layer, "stride");
  const accel_convolution c = {
      .r = size_of(layer, "R"),
      .s = size_of(layer, "S"),
      .p = size_of(layer, "P"),
      .q = size_of(layer, "Q"),
      .c = size_of(layer, "C"),
      .k = size_of(layer, "K"),
      .n = size_of(layer, "N"),
      .groups = 1,
      .stride_w = (uint64_t)json_integer_value(json_array_get(stride, 0)),
      .stride_h = (uint64_t)json_integer_value(json_array_get(stride, 1)),
      .dilation_w = 1,
      .dilation_h = 1};
  const char *name = json_string_value(json_object_get(layer, "layer"));
  assert_int_equal(accel_layer_convolution(out, name, &c, a), CALM_OK);
}

static double expected(json_t *layer, mapper_objective o) {
  static const char *const keys[][2] = {{"energy", "energy_pJ"},
                                        {"delay", "cycles"},
                                        {"edp", "edp_pJ_cycle"},
                                        {"energy_at_min_delay", "energy_pJ"}};
  return json_number_value(
      json_object_get(json_object_get(layer, keys[o][0]), keys[o][1]));
}

/*
 * Cycles are rounded in floating point, so that an EDP may be that of a cycle
 * more than the prototype's.  Where it has an energy within a delay that its
 * own nest misses by such a cycle, a nest that keeps the delay costs more.
 */
static bool agrees(const mapper_result *r, json_t *row, mapper_objective o) {
  const double best = expected(row, o);
  const double cycle = 1.5 / (double)r->cost.cycles;
  const double more = r->value / best - 1;
  if (r->outcome != CALM_OPTIMAL) return false;
  if (o == MAPPER_EDP) return fabs(more) <= cycle;
  if (o == MAPPER_DELAY_ENERGY && more > 1e-9)
    return more < 0.02 && (double)r->cost.cycles == expected(row, MAPPER_DELAY);
  return fabs(more) <= 1e-9;
}

static void check(fixture *f, json_t *row, const accel_arch *arch,
                  mapper_objective o, uint32_t *wrong) {
  accel_layer layer;
  mapper_result r;
  limits l;
  make_layer(&layer, row, &f->arena);
  const mapper_rules rules = {0};
  const mapper_problem p = {.arch = arch,
                            .layer = &layer,
                            .must_keep = simba_keeps,
                            .may_keep = simba_keeps,
                            .objective = o};
  limits_init(&l, f->context);
  const char *seconds = getenv("MAPPER_SECONDS");
  if (seconds) l.deadline = limits_clock() + atof(seconds);
  const clock_t start = clock();
  assert_int_equal(mapper_exact(&r, &p, &rules, &l, &f->arena), CALM_OK);
  const double best = expected(row, o);
  const bool right = agrees(&r, row, o);
  *wrong += !right;
  if (getenv("MAPPER_TIMES") || !right)
    print_message(
        "%d %-12s %-9s %.12g bound %.12g expected %.12g  %.1f ms "
        "states %lu rounds %lu\n",
        o, layer.name, calm_outcome_name(r.outcome), r.value, r.bound, best,
        1e3 * (double)(clock() - start) / CLOCKS_PER_SEC,
        (unsigned long)r.states, (unsigned long)r.rounds);
}

static void test_resnet50(void **state) {
  fixture *f = *state;
  char path[1024];
  json_error_t error;
  accel_arch arch;
  arena machine;
  uint32_t wrong = 0;
  CASES_OR_SKIP();
  assert_non_null(
      cases_path(path, sizeof path, "mapping/exact_optima_prototype.json"));
  json_t *file = json_load_file(path, 0, &error);
  json_t *rows = json_object_get(json_object_get(file, "networks"), "resnet50");
  arena_init(&machine, f->context);
  open_arch(&arch, "mapping/cosa/arch/simba.yaml", &machine);
  const char *only = getenv("MAPPER_OBJECTIVE");
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++)
    for (size_t i = 0; i < json_array_size(rows); i++) {
      if (only && atoi(only) != (int)o) continue;
      check(f, json_array_get(rows, i), &arch, o, &wrong);
      arena_free(&f->arena);
    }
  arena_free(&machine);
  json_decref(file);
  assert_int_equal(wrong, 0);
}

/* ---- Fronts -------------------------------------------------------------- */

/* The front begins with the least delay and ends with the least energy. */
static bool is_front(const mapper_result *r, json_t *row) {
  const double least = expected(row, MAPPER_ENERGY);
  if (r->outcome != CALM_OPTIMAL || r->front_count == 0) return false;
  const cost_result *first = &r->front[0].cost;
  const cost_result *last = &r->front[r->front_count - 1].cost;
  return fabs((double)first->cycles - expected(row, MAPPER_DELAY)) <= 1 &&
         fabs(last->energy_pj / least - 1) <= 1e-9;
}

static void check_front(fixture *f, json_t *row, const accel_arch *arch,
                        uint32_t *wrong) {
  accel_layer layer;
  mapper_result r;
  limits l;
  const mapper_rules rules = {0};
  make_layer(&layer, row, &f->arena);
  const mapper_problem p = {.arch = arch,
                            .layer = &layer,
                            .must_keep = simba_keeps,
                            .may_keep = simba_keeps,
                            .objective = MAPPER_PARETO};
  limits_init(&l, f->context);
  const clock_t start = clock();
  assert_int_equal(mapper_exact(&r, &p, &rules, &l, &f->arena), CALM_OK);
  const bool right = is_front(&r, row);
  *wrong += !right;
  if (getenv("MAPPER_TIMES") || !right)
    print_message(
        "front of %-12s %-9s %u points, gap %.2g, %.1f ms, states "
        "%lu rounds %lu\n",
        layer.name, calm_outcome_name(r.outcome), r.front_count,
        r.value / r.bound - 1, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC,
        (unsigned long)r.states, (unsigned long)r.rounds);
}

static void test_fronts(void **state) {
  fixture *f = *state;
  char path[1024];
  json_error_t error;
  accel_arch arch;
  arena machine;
  uint32_t wrong = 0;
  CASES_OR_SKIP();
  assert_non_null(
      cases_path(path, sizeof path, "mapping/exact_optima_prototype.json"));
  json_t *file = json_load_file(path, 0, &error);
  json_t *rows = json_object_get(json_object_get(file, "networks"), "resnet50");
  arena_init(&machine, f->context);
  open_arch(&arch, "mapping/cosa/arch/simba.yaml", &machine);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    check_front(f, json_array_get(rows, i), &arch, &wrong);
    arena_free(&f->arena);
  }
  arena_free(&machine);
  json_decref(file);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_resnet50),
                                     COST_TEST(test_fronts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
