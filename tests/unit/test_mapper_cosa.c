/*
 * CoSA's program on small machines: against all of its points, in both forms,
 * as both models, for all objectives; against sampled nests; and what is said
 * of what cannot be solved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "cost_fixture.h"
#include "highs.h"
#include "mapper/mapper_sample_draw.h"
#include "mapper_cosa_brute.h"
#include "scarce.h"

enum { LEVELS = 4 };

typedef struct machine {
  accel_level levels[LEVELS];
  accel_arch arch;
  uint32_t keeps[LEVELS];
} machine;

static accel_level make_level(const char *name, uint64_t x, uint64_t y,
                              uint64_t entries) {
  return (accel_level){
      .name = name,
      .class_name = "",
      .entries = entries,
      .capacity_words = entries,
      .multiple_buffering = 1,
      .word_bits = 16,
      .block_words = 1,
      .cluster = 1,
      .instances = x * y,
      .mesh_x = x,
      .mesh_y = y,
      .energy = {.known = true, .read_pj = 1, .write_pj = 1, .update_pj = 1},
      .reduction_supported = true};
}

/* Two levels in each element of a mesh, a buffer, and DRAM. */
static void make_machine(machine *m, uint64_t x, uint64_t y, uint64_t spad,
                         uint64_t buffer) {
  m->levels[0] = make_level("Spad", x, y, spad);
  m->levels[1] = make_level("Local", x, y, 4 * spad);
  m->levels[2] = make_level("Buffer", 1, 1, buffer);
  m->levels[3] = make_level("DRAM", 1, 1, ACCEL_UNLIMITED);
  m->arch = (accel_arch){.name = "small",
                         .compute = {.name = "MAC",
                                     .instances = 2 * x * y,
                                     .mesh_x = 2 * x,
                                     .mesh_y = y,
                                     .energy_known = true},
                         .levels = m->levels,
                         .level_count = LEVELS};
}

static mapper_problem problem_of(const machine *m, const accel_layer *layer,
                                 mapper_objective objective) {
  return (mapper_problem){.arch = &m->arch,
                          .layer = layer,
                          .must_keep = m->keeps,
                          .may_keep = m->keeps,
                          .objective = objective};
}

/* ---- All points ---------------------------------------------------------- */

static const mapper_objective objectives[] = {MAPPER_EDP, MAPPER_ENERGY,
                                              MAPPER_BALANCE};

static void check_value(const mapper_cosa_brute *b, mapper_objective o,
                        double value) {
  switch (o) {
    case MAPPER_ENERGY: assert_true(fabs(value - b->traffic) < 1e-5); break;
    case MAPPER_BALANCE:
      assert_true(value > b->balance - 1e-5);
      assert_true(value < b->best_balance + 1e-5);
      break;
    default: assert_true(fabs(value - b->weighted) < 1e-5);
  }
}

static void check_models(fixture *f, const machine *m,
                         const accel_convolution *c) {
  accel_layer layer;
  assert_int_equal(accel_layer_convolution(&layer, "small", c, &f->arena),
                   CALM_OK);
  for (uint32_t i = 0; i < 12; i++) {
    const mapper_problem p = problem_of(m, &layer, objectives[i / 4]);
    const mapper_cosa_options o = {
        .form = i % 2 ? MAPPER_COSA_PAPER : MAPPER_COSA_RELEASED,
        .literal = i / 2 % 2,
        .weights = {3, 1, 0.3}};
    mapper_cosa_brute brute;
    mapper_result r;
    mapper_cosa_terms t;
    limits l;
    if (o.literal && p.objective == MAPPER_BALANCE) continue;
    limits_init(&l, f->context);
    mapper_cosa_brute_search(&brute, &p, &o, c);
    assert_true(brute.points > 0);
    assert_int_equal(mapper_cosa(&r, &t, &p, &o, &l, &f->arena), CALM_OK);
    assert_int_equal(r.outcome, CALM_FEASIBLE);
    assert_non_null(r.reason);
    check_value(&brute, p.objective, t.bound);
    if (!strstr(r.reason, "moved")) {
      assert_true(t.allowed);
      assert_true(fabs(t.objective - t.bound) < 1e-5);
    }
  }
}

static uint64_t pick(random_state *s, const uint64_t *of, uint32_t count) {
  return of[random_below(s, count)];
}

#define PICK(s, ...)                         \
  pick((s), (const uint64_t[]){__VA_ARGS__}, \
       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void make_random(machine *m, accel_convolution *c, random_state *s) {
  make_machine(m, PICK(s, 1, 2, 4), PICK(s, 1, 2, 3), PICK(s, 2, 6, 9, 20),
               PICK(s, 12, 40, 100));
  for (uint32_t l = 0; l + 1 < LEVELS; l++)
    m->keeps[l] = (uint32_t)PICK(s, 1, 2, 4, 3, 6, 7, 0);
  m->keeps[LEVELS - 1] = 7;
  *c = (accel_convolution){PICK(s, 1, 2, 3, 5, 7),
                           1,
                           PICK(s, 1, 2, 3, 4),
                           1,
                           PICK(s, 1, 2, 3),
                           PICK(s, 2, 3, 4),
                           1,
                           1,
                           PICK(s, 1, 2, 3),
                           1,
                           1,
                           1};
}

static void test_all_points(void **state) {
  fixture *f = *state;
  random_state s = random_from_seed(11);
  HIGHS_OR_SKIP(f->context, &f->arena);
  for (uint32_t i = 0; i < COST_CASES / 150; i++) {
    machine m;
    accel_convolution c;
    make_random(&m, &c, &s);
    check_models(f, &m, &c);
    arena_free(&f->arena);
  }
}

/* ---- Samples ------------------------------------------------------------- */

/* No nest that the program allows has less than its optimum; the measure of a
   nest and the model must agree for that. */
static void check_samples(fixture *f, const machine *m, uint64_t seed) {
  const accel_convolution c = {3, 3, 12, 10, 8, 24, 2, 1, 2, 1, 1, 1};
  accel_layer layer;
  uint32_t allowed = 0;
  assert_int_equal(accel_layer_convolution(&layer, "some", &c, &f->arena),
                   CALM_OK);
  for (uint32_t i = 0; i < 4; i++) {
    const mapper_problem p = problem_of(m, &layer, objectives[i / 2]);
    const mapper_cosa_options o = {
        .form = i % 2 ? MAPPER_COSA_PAPER : MAPPER_COSA_RELEASED,
        .weights = mapper_cosa_released};
    mapper_result r;
    mapper_cosa_terms best, t;
    mapper_draw draw;
    limits l;
    limits_init(&l, f->context);
    assert_int_equal(mapper_cosa(&r, &best, &p, &o, &l, &f->arena), CALM_OK);
    assert_int_equal(mapper_draw_init(&draw, &p, seed, &f->arena), CALM_OK);
    for (uint32_t n = 0; n < COST_CASES; n++) {
      if (!mapper_draw_next(&draw)) continue;
      assert_int_equal(mapper_cosa_measure(&t, &p, &o, &draw.nest, &f->arena),
                       CALM_OK);
      if (!t.allowed) continue;
      allowed++;
      assert_true(t.objective >= best.bound - 1e-6);
    }
  }
  assert_true(allowed > COST_CASES / 100);
}

static void test_samples(void **state) {
  fixture *f = *state;
  machine m;
  HIGHS_OR_SKIP(f->context, &f->arena);
  make_machine(&m, 4, 3, 512, 65536);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 6, 7}, sizeof m.keeps);
  check_samples(f, &m, 1);
  memcpy(m.keeps, (const uint32_t[]){2, 7, 3, 7}, sizeof m.keeps);
  check_samples(f, &m, 2);
}

/* ---- Layers that are no plain convolutions ------------------------------- */

static void solve(mapper_result *r, mapper_cosa_terms *t, fixture *f,
                  const mapper_problem *p, const mapper_cosa_options *o) {
  limits l;
  limits_init(&l, f->context);
  if (mapper_cosa(r, t, p, o, &l, &f->arena))
    fail_msg("%s", calm_context_message(f->context));
}

/* A window of 3 over 11 steps and a bound of 79: rows of another machine. */
static void test_padding(void **state) {
  fixture *f = *state;
  const accel_convolution c = {3, 1, 341, 79, 2, 4, 1, 1, 1, 1, 1, 1};
  machine m;
  accel_layer layer;
  mapper_result r;
  mapper_cosa_terms t;
  HIGHS_OR_SKIP(f->context, &f->arena);
  make_machine(&m, 4, 1, 64, 4096);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 6, 7}, sizeof m.keeps);
  assert_int_equal(accel_layer_convolution(&layer, "large", &c, &f->arena),
                   CALM_OK);
  const mapper_problem p = problem_of(&m, &layer, MAPPER_DELAY);
  mapper_cosa_options o = {.weights = mapper_cosa_released, .pad = 7};
  solve(&r, &t, f, &p, &o);
  assert_non_null(r.padded);
  assert_int_equal(r.padded->dimensions[2].bound, 343);
  assert_int_equal(r.padded->dimensions[3].bound, 80);
  assert_int_equal(r.cost.computes, UINT64_C(3) * 343 * 80 * 2 * 4);
  o.pad = 0;
  solve(&r, &t, f, &p, &o);
  assert_null(r.padded);
  assert_int_equal(r.cost.computes, UINT64_C(3) * 341 * 79 * 2 * 4);
  o.pad = 1;
  limits l;
  limits_init(&l, f->context);
  assert_int_equal(mapper_cosa(&r, &t, &p, &o, &l, &f->arena), CALM_MISUSE);
}

static void test_shapes(void **state) {
  fixture *f = *state;
  const accel_convolution depthwise = {3, 3, 14, 14, 1, 1, 1, 32, 2, 2, 1, 1};
  const accel_convolution ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  accel_layer layers[3];
  machine m;
  HIGHS_OR_SKIP(f->context, &f->arena);
  make_machine(&m, 4, 2, 64, 4096);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 7, 7}, sizeof m.keeps);
  accel_layer_convolution(&layers[0], "depthwise", &depthwise, &f->arena);
  accel_layer_gemm(&layers[1], "gemm", 1, 1000, 2048, &f->arena);
  accel_layer_convolution(&layers[2], "ones", &ones, &f->arena);
  for (uint32_t i = 0; i < 12; i++) {
    const mapper_problem p = problem_of(&m, &layers[i / 4], MAPPER_EDP);
    const mapper_cosa_options o = {.form = (mapper_cosa_form)(i % 2),
                                   .literal = i / 2 % 2,
                                   .weights = mapper_cosa_released,
                                   .pad = 7};
    mapper_result r;
    mapper_cosa_terms t;
    solve(&r, &t, f, &p, &o);
    assert_int_equal(r.outcome, CALM_FEASIBLE);
    assert_int_equal(r.cost.verdict.fault, COST_VALID);
  }
}

/* ---- Constraints --------------------------------------------------------- */

static accel_yaml *yaml(fixture *f, const char *text) {
  accel_yaml *root;
  if (accel_yaml_parse(&root, "rules.yaml", text, strlen(text), &f->arena))
    fail_msg("%s", calm_context_message(f->context));
  return root;
}

static void solve_with(mapper_result *r, fixture *f, const char *text,
                       uint64_t buffer) {
  const accel_convolution c = {3, 1, 8, 4, 6, 16, 1, 1, 1, 1, 1, 1};
  static machine m;
  static accel_layer layer;
  static accel_constraints rules;
  mapper_cosa_terms t;
  char *broken;
  make_machine(&m, 4, 2, 64, buffer);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 7, 7}, sizeof m.keeps);
  assert_int_equal(accel_layer_convolution(&layer, "some", &c, &f->arena),
                   CALM_OK);
  if (accel_constraints_read(&rules, yaml(f, text), &m.arch, &layer, &f->arena))
    fail_msg("%s", calm_context_message(f->context));
  mapper_problem p = problem_of(&m, &layer, MAPPER_EDP);
  const mapper_cosa_options o = {.weights = mapper_cosa_released, .pad = 7};
  p.constraints = &rules;
  solve(r, &t, f, &p, &o);
  if (r->outcome != CALM_FEASIBLE) return;
  assert_int_equal(accel_constraints_check(&broken, &rules, &r->nest, &m.arch,
                                           &layer, f->context),
                   CALM_OK);
  assert_null(broken);
}

static void test_constraints(void **state) {
  fixture *f = *state;
  mapper_result r;
  HIGHS_OR_SKIP(f->context, &f->arena);
  solve_with(&r, f,
             "constraints:\n"
             "- {target: Buffer, type: temporal, factors: [C=3, K=4], "
             "permutation: [P, C]}\n"
             "- {target: Buffer, type: spatial, factors: [K=1]}\n"
             "- {target: DRAM, type: temporal, factors: [R=1, P=1, Q=1]}\n",
             1024);
  assert_int_equal(r.outcome, CALM_FEASIBLE);
}

/* What cannot be is told with numbers: 8 * 4 * 16 outputs in a third of 300. */
static void test_infeasible(void **state) {
  fixture *f = *state;
  mapper_result r;
  HIGHS_OR_SKIP(f->context, &f->arena);
  solve_with(&r, f,
             "constraints:\n"
             "- {target: DRAM, type: temporal, factors: [P=1, Q=1, K=1]}\n",
             300);
  assert_int_equal(r.outcome, CALM_INFEASIBLE);
  assert_non_null(strstr(r.reason,
                         "5.12 times the 100 words that Outputs may "
                         "have of Buffer"));
}

/* ---- Requests ------------------------------------------------------------ */

static void test_misuse(void **state) {
  fixture *f = *state;
  const accel_convolution c = {3, 1, 8, 4, 6, 16, 1, 1, 1, 1, 1, 1};
  const mapper_cosa_options o = {.weights = mapper_cosa_released};
  accel_layer layer;
  machine m;
  mapper_result r;
  mapper_cosa_terms t;
  limits l;
  limits_init(&l, f->context);
  make_machine(&m, 4, 2, 64, 1024);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 7, 7}, sizeof m.keeps);
  accel_layer_convolution(&layer, "some", &c, &f->arena);
  mapper_problem p = problem_of(&m, &layer, MAPPER_PARETO);
  assert_int_equal(mapper_cosa(&r, &t, &p, &o, &l, &f->arena), CALM_MISUSE);
  p.objective = MAPPER_EDP;
  p.imperfect = true;
  assert_int_equal(mapper_cosa(&r, &t, &p, &o, &l, &f->arena), CALM_MISUSE);
}

static void test_calibration(void **state) {
  fixture *f = *state;
  const accel_convolution c = {3, 1, 8, 4, 6, 16, 1, 1, 1, 1, 1, 1};
  const mapper_cosa_options o = {.weights = mapper_cosa_released};
  mapper_cosa_weights w[2];
  accel_layer layer;
  machine m;
  make_machine(&m, 4, 2, 64, 1024);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 7, 7}, sizeof m.keeps);
  accel_layer_convolution(&layer, "some", &c, &f->arena);
  const mapper_problem p = problem_of(&m, &layer, MAPPER_EDP);
  for (uint32_t i = 0; i < 2; i++) {
    limits l;
    limits_init(&l, f->context);
    assert_int_equal(mapper_cosa_calibrate(&w[i], &p, &o, 1, &l, &f->arena),
                     CALM_OK);
  }
  assert_memory_equal(&w[0], &w[1], sizeof w[0]);
  assert_true(w[0].compute > 0.5 && w[0].compute < 1.5);
  assert_true(w[0].traffic >= 0 && w[0].utilization >= 0);
}

/* ---- Limits -------------------------------------------------------------- */

/* A larger layer, as the literal model, on the small machine. */
static calm_status run_large(mapper_result *r, mapper_cosa_terms *t, fixture *f,
                             limits *l) {
  const accel_convolution c = {3, 3, 48, 40, 24, 48, 1, 1, 1, 1, 1, 1};
  const mapper_cosa_options o = {.literal = true,
                                 .weights = mapper_cosa_released};
  static machine m;
  static accel_layer layer;
  make_machine(&m, 4, 2, 64, 4096);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 7, 7}, sizeof m.keeps);
  TRY(accel_layer_convolution(&layer, "large", &c, &f->arena));
  const mapper_problem p = problem_of(&m, &layer, MAPPER_EDP);
  return mapper_cosa(r, t, &p, &o, l, &f->arena);
}

/* The same number of ticks leads to the same nest, or to none. */
static void test_ticks(void **state) {
  fixture *f = *state;
  HIGHS_OR_SKIP(f->context, &f->arena);
  for (uint64_t ticks = 1; ticks < 20000; ticks = ticks * 4 + 999) {
    mapper_result r[2];
    mapper_cosa_terms t[2];
    for (uint32_t i = 0; i < 2; i++) {
      limits l;
      limits_init(&l, f->context);
      l.max_ticks = ticks;
      assert_int_equal(run_large(&r[i], &t[i], f, &l), CALM_OK);
      if (r[i].outcome == CALM_LIMIT)
        assert_string_equal(r[i].reason, "tick limit");
    }
    assert_int_equal(r[0].outcome, r[1].outcome);
    assert_true(r[0].value == r[1].value && t[0].bound == t[1].bound);
  }
}

static void test_interrupt(void **state) {
  fixture *f = *state;
  mapper_result r;
  mapper_cosa_terms t;
  limits l;
  HIGHS_OR_SKIP(f->context, &f->arena);
  limits_init(&l, f->context);
  calm_context_interrupt(f->context);
  assert_int_equal(run_large(&r, &t, f, &l), CALM_OK);
  assert_int_equal(l.reason, LIMITS_INTERRUPT);
  assert_non_null(strstr(r.reason, "interrupt"));
}

/* Whichever request for memory fails, everything is given back. */
static void test_scarce(void **state) {
  fixture *f = *state;
  const accel_convolution c = {3, 1, 11, 1, 2, 4, 1, 1, 1, 1, 1, 1};
  const mapper_cosa_options o = {.weights = mapper_cosa_released, .pad = 7};
  calm_status status = CALM_NO_MEMORY;
  machine m;
  HIGHS_OR_SKIP(f->context, &f->arena);
  make_machine(&m, 4, 2, 64, 1024);
  memcpy(m.keeps, (const uint32_t[]){1, 4, 7, 7}, sizeof m.keeps);
  for (uint64_t n = 2; status != CALM_OK; n++) {
    uint64_t left = n;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    if (!context) continue;
    mapper_result r;
    mapper_cosa_terms t;
    accel_layer layer;
    arena a;
    limits l;
    limits_init(&l, context);
    arena_init(&a, context);
    status = accel_layer_convolution(&layer, "some", &c, &a);
    const mapper_problem p = problem_of(&m, &layer, MAPPER_EDP);
    if (status == CALM_OK) status = mapper_cosa(&r, &t, &p, &o, &l, &a);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), 0);
    left = SCARCE_NEVER;
    calm_context_free(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_all_points),  COST_TEST(test_samples),
      COST_TEST(test_padding),     COST_TEST(test_shapes),
      COST_TEST(test_constraints), COST_TEST(test_infeasible),
      COST_TEST(test_misuse),      COST_TEST(test_calibration),
      COST_TEST(test_ticks),       COST_TEST(test_interrupt),
      COST_TEST(test_scarce),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
