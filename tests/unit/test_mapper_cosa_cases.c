/*
 * Layers of CoSA's networks on its Simba: the literal and the aggregated model
 * have one optimum; no sampled nest has less; the terms of the paper's
 * Figure 8.  With COSA_TIMES in the environment, each layer is printed.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cases.h"
#include "cost_fixture.h"
#include "highs.h"
#include "mapper/mapper_cosa.h"
#include "mapper/mapper_sample_draw.h"

enum { W = 1, I = 2, O = 4 };

/* Of cosa/mapspace/mapspace.yaml, innermost first. */
static const uint32_t keeps[] = {W, O, W, I, I | O, W | I | O};

static json_t *cases; /* of one test; closed by it */

static void open_simba(accel_arch *arch, arena *a) {
  char path[1024];
  json_error_t error;
  accel_yaml *root;
  assert_non_null(
      cases_path(path, sizeof path, "mapping/cosa/arch/simba.yaml"));
  assert_int_equal(accel_yaml_open(&root, path, a), CALM_OK);
  assert_int_equal(accel_arch_read(arch, root, NULL, true, a), CALM_OK);
  assert_non_null(cases_path(path, sizeof path, "mapping/layers_cosa.json"));
  cases = json_load_file(path, 0, &error);
  assert_non_null(cases);
}

static uint64_t number_of(json_t *layer, const char *key) {
  json_t *value = json_object_get(layer, key);
  return value ? (uint64_t)json_integer_value(value) : 1;
}

static bool make_layer(accel_layer *out, json_t *layer, arena *a) {
  const char *name = json_string_value(json_object_get(layer, "file"));
  if (!json_object_get(layer, "R")) return false;
  const accel_convolution c = {.r = number_of(layer, "R"),
                               .s = number_of(layer, "S"),
                               .p = number_of(layer, "P"),
                               .q = number_of(layer, "Q"),
                               .c = number_of(layer, "C"),
                               .k = number_of(layer, "K"),
                               .n = number_of(layer, "N"),
                               .groups = 1,
                               .stride_w = number_of(layer, "Wstride"),
                               .stride_h = number_of(layer, "Hstride"),
                               .dilation_w = 1,
                               .dilation_h = 1};
  return accel_layer_convolution(out, name, &c, a) == CALM_OK;
}

static void find_layer(accel_layer *out, const char *network, const char *file,
                       arena *a) {
  size_t i;
  json_t *row;
  json_t *rows = json_object_get(json_object_get(cases, "networks"), network);
  json_array_foreach(
      rows, i,
      row) if (!strcmp(json_string_value(json_object_get(row, "file")), file)) {
    assert_true(make_layer(out, row, a));
    return;
  }
  fail_msg("no layer %s", file);
}

static void solve(mapper_result *r, mapper_cosa_terms *t, fixture *f,
                  const mapper_problem *p, const mapper_cosa_options *o) {
  limits l;
  limits_init(&l, f->context);
  const double start = limits_clock();
  if (mapper_cosa(r, t, p, o, &l, &f->arena))
    fail_msg("%s", calm_context_message(f->context));
  if (getenv("COSA_TIMES"))
    print_message("%-24s form %d literal %d: %.6f, bound %.6f, %.3f s\n",
                  p->layer->name, o->form, o->literal, t->objective, t->bound,
                  limits_clock() - start);
}

/* ---- Two models, one optimum --------------------------------------------- */

static const char *const pairs[][2] = {
    {"resnet50_graph", "_outputs_3356.yaml"},
    {"resnet50_graph", "_outputs_input.104.yaml"},
    {"alexnet_graph", "_outputs_223.yaml"},
    {"resnet50_graph", "_outputs_input.131.yaml"},
    {"deepbench_graph", "09_OCR.yaml"},
    {"resnet50_graph", "_outputs_input.138.yaml"},
    {"deepbench_graph", "15_Face_Recognition.yaml"},
    {"alexnet_graph", "_outputs_input.8.yaml"},
    {"resnet50_graph", "_outputs_input.5.yaml"},
    {"resnet50_graph", "_outputs_input.18.yaml"}};

static void test_models(void **state) {
  fixture *f = *state;
  accel_arch arch;
  CASES_OR_SKIP();
  HIGHS_OR_SKIP(f->context, &f->arena);
  open_simba(&arch, &f->arena);
  /* The time is the solver's, which is not instrumented. */
  const uint32_t count =
      CALM_SANITIZED ? 3 : (uint32_t)(sizeof pairs / sizeof *pairs);
  for (uint32_t i = 0; i < count; i++) {
    accel_layer layer;
    find_layer(&layer, pairs[i][0], pairs[i][1], &f->arena);
    for (uint32_t form = 0; form < 2; form++) {
      mapper_cosa_terms t[2];
      for (uint32_t literal = 0; literal < 2; literal++) {
        mapper_result r;
        const mapper_problem p = {.arch = &arch,
                                  .layer = &layer,
                                  .must_keep = keeps,
                                  .may_keep = keeps,
                                  .objective = MAPPER_EDP};
        const mapper_cosa_options o = {.form = (mapper_cosa_form)form,
                                       .literal = literal,
                                       .weights = mapper_cosa_released,
                                       .pad = 7};
        solve(&r, &t[literal], f, &p, &o);
        assert_int_equal(r.cost.verdict.fault, COST_VALID);
      }
      assert_true(fabs(t[0].bound - t[1].bound) < 1e-5);
    }
  }
  json_decref(cases);
}

/* ---- Figure 8 ------------------------------------------------------------ */

/* 3_7_512_512_1.  Every multiplier is in use: 2.36e6 * 49 products less 1024 in
   space are 2^16.785 steps. */
static void test_breakdown(void **state) {
  fixture *f = *state;
  accel_arch arch;
  accel_layer layer;
  mapper_result r;
  mapper_cosa_terms t;
  CASES_OR_SKIP();
  HIGHS_OR_SKIP(f->context, &f->arena);
  open_simba(&arch, &f->arena);
  find_layer(&layer, "resnet50_graph", "_outputs_input.138.yaml", &f->arena);
  const mapper_problem p = {.arch = &arch,
                            .layer = &layer,
                            .must_keep = keeps,
                            .may_keep = keeps,
                            .objective = MAPPER_DELAY};
  const mapper_cosa_options o = {.weights = mapper_cosa_released, .pad = 7};
  solve(&r, &t, f, &p, &o);
  assert_true(t.allowed);
  assert_true(fabs(t.compute - log2(512.0 * 512 * 9 * 49 / 1024)) < 1e-9);
  assert_true(fabs(t.objective - t.bound) < 1e-6);
  assert_true(fabs(t.objective -
                   (10 * t.compute + t.traffic - 0.1 * t.utilization)) < 1e-9);
  assert_true(fabs(t.objective - 213.785054) < 1e-5);
  assert_int_equal(r.cost.multipliers, 1024);
  json_decref(cases);
}

/* ---- Samples ------------------------------------------------------------- */

/* Draws on Simba seldom fit, so what is measured has the program's room, and
   the order of its loops, but is otherwise as it was drawn. */
static void test_samples(void **state) {
  fixture *f = *state;
  accel_arch arch;
  uint64_t allowed = 0;
  CASES_OR_SKIP();
  HIGHS_OR_SKIP(f->context, &f->arena);
  open_simba(&arch, &f->arena);
  for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i += 2)
    for (uint32_t form = 0; form < 2; form++) {
      accel_layer layer;
      mapper_result r;
      mapper_cosa_terms best, t;
      mapper_draw draw;
      find_layer(&layer, pairs[i][0], pairs[i][1], &f->arena);
      const mapper_problem p = {.arch = &arch,
                                .layer = &layer,
                                .must_keep = keeps,
                                .may_keep = keeps,
                                .objective = MAPPER_EDP};
      const mapper_cosa_options o = {.form = (mapper_cosa_form)form,
                                     .weights = mapper_cosa_released};
      solve(&r, &best, f, &p, &o);
      assert_int_equal(mapper_draw_init(&draw, &p, i + 1, &f->arena), CALM_OK);
      for (uint32_t n = 0; n < 5 * COST_CASES; n++) {
        if (!mapper_draw_next(&draw)) continue;
        assert_int_equal(mapper_cosa_measure(&t, &p, &o, &draw.nest, &f->arena),
                         CALM_OK);
        if (!t.allowed) continue;
        allowed++;
        assert_true(t.objective >= best.bound - 1e-6);
      }
    }
  print_message("%llu sampled nests\n", (unsigned long long)allowed);
  assert_true(allowed > 0);
  json_decref(cases);
}

/* ---- Networks ------------------------------------------------------------ */

/* Every layer yields a nest that runs. */
static void test_networks(void **state) {
  static const char *const names[] = {"resnet50_graph", "alexnet_graph"};
  fixture *f = *state;
  accel_arch arch;
  CASES_OR_SKIP();
  HIGHS_OR_SKIP(f->context, &f->arena);
  open_simba(&arch, &f->arena);
  for (uint32_t n = 0; n < 2; n++) {
    size_t i;
    json_t *row;
    json_t *rows =
        json_object_get(json_object_get(cases, "networks"), names[n]);
    json_array_foreach(rows, i, row) {
      accel_layer layer;
      mapper_result r;
      mapper_cosa_terms t;
      if (!make_layer(&layer, row, &f->arena)) continue;
      const mapper_problem p = {.arch = &arch,
                                .layer = &layer,
                                .must_keep = keeps,
                                .may_keep = keeps,
                                .objective = MAPPER_EDP};
      const mapper_cosa_options o = {.weights = mapper_cosa_released, .pad = 7};
      solve(&r, &t, f, &p, &o);
      assert_int_equal(r.outcome, CALM_FEASIBLE);
      assert_int_equal(r.cost.verdict.fault, COST_VALID);
      assert_true(t.objective >= t.bound - 1e-6);
    }
  }
  json_decref(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_models), COST_TEST(test_breakdown),
      COST_TEST(test_samples), COST_TEST(test_networks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
