/*
 * The two mappers that sample, against brute force and the exact mapper: what
 * they hand out is valid and costs what they say, never less than the least,
 * and the least itself if they may draw long enough; limits hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cost_fixture.h"
#include "cost_random.h"
#include "mapper/mapper_sample.h"
#include "mapper_brute.h"
#include "scarce.h"

enum { MOST_NESTS = 4000 };

typedef calm_status sampling_mapper(mapper_result *out, const mapper_problem *p,
                                    const mapper_sampling *s, limits *l,
                                    arena *a);
static sampling_mapper *const mappers[] = {mapper_random, mapper_hybrid};

static const mapper_sampling defaults = {.seed = 1,
                                         .valid = UINT64_MAX,
                                         .victory = UINT64_MAX,
                                         .samples = UINT64_MAX};

static mapper_result run(fixture *f, uint32_t which, const mapper_problem *p,
                         const mapper_sampling *s) {
  mapper_result r;
  limits l;
  limits_init(&l, f->context);
  assert_int_equal(mappers[which](&r, p, s, &l, &f->arena), CALM_OK);
  return r;
}

/* ---- Against all nests --------------------------------------------------- */

static double value_of(const cost_result *r, mapper_objective o) {
  return o == MAPPER_DELAY ? (double)r->cycles
         : o == MAPPER_EDP ? r->edp
                           : r->energy_pj;
}

/* A nest that was handed out, evaluated anew. */
static void check_result(fixture *f, const mapper_problem *p,
                         const mapper_result *r) {
  cost_problem cost;
  cost_result again;
  assert_int_equal(r->outcome, CALM_FEASIBLE);
  assert_int_equal(
      cost_problem_init(&cost, p->arch, p->layer, &p->cost, &f->arena),
      CALM_OK);
  assert_int_equal(cost_result_init(&again, &cost, &f->arena), CALM_OK);
  assert_int_equal(cost_evaluate(&again, &cost, &r->nest), CALM_OK);
  assert_int_equal(again.verdict.fault, COST_VALID);
  assert_int_equal(r->cost.cycles, again.cycles);
  assert_true(r->value == value_of(&again, p->objective));
  assert_true(r->valid > 0 && r->valid <= r->samples && r->bound == 0);
  assert_null(r->padded);
  for (uint32_t l = 0; l < p->arch->level_count; l++) {
    assert_int_equal(r->nest.kept[l] & ~p->may_keep[l], 0);
    assert_int_equal(p->must_keep[l] & ~r->nest.kept[l], 0);
  }
}

/* Does a long run find the least? */
static bool finds_least(fixture *f, uint32_t which, mapper_problem *p,
                        const mapper_brute *b) {
  mapper_sampling s = defaults;
  s.samples = 30000;
  const mapper_result r = run(f, which, p, &s);
  const double best = mapper_brute_best(b, p->objective);
  if (!r.valid) return false;
  check_result(f, p, &r);
  /* Delay comes first. */
  if (p->objective == MAPPER_DELAY_ENERGY && (double)r.cost.cycles > b->cycles)
    return false;
  assert_true(r.value >= best * (1 - 1e-9));
  return r.value <= best * (1 + 1e-9);
}

static void test_brute_force(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(2211);
  uint32_t runs = 0, least = 0;
  for (uint32_t i = 0; i < COST_CASES / 100; i++) {
    const cost_random_options options = {.most_macs = 150, .valid = true};
    cost_random_case c;
    mapper_brute b;
    cost_random_make(&c, &r, &options, &f->arena);
    mapper_problem p = {.arch = &c.arch,
                        .layer = &c.layer,
                        .must_keep = c.nest.kept,
                        .may_keep = c.nest.kept};
    assert_int_equal(mapper_brute_search(&b, &p, MOST_NESTS, &f->arena),
                     CALM_OK);
    p.objective = (mapper_objective)(i % 4);
    if (b.complete && b.valid > 1) {
      least += finds_least(f, i / 4 % 2, &p, &b);
      runs++;
    }
    arena_free(&f->arena);
  }
  print_message("%u runs, %u found the least\n", runs, least);
  assert_true(runs > 0 && least > runs * 9 / 10);
}

/* The exact mapper's optimum, or its bound. */
static void test_exact(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(99);
  uint32_t runs = 0, proved = 0;
  for (uint32_t i = 0; i < COST_CASES / 100; i++) {
    const cost_random_options options = {.most_macs = 20000, .valid = true};
    const mapper_rules rules = {0};
    cost_random_case c;
    mapper_result exact;
    limits l;
    cost_random_make(&c, &r, &options, &f->arena);
    mapper_problem p = {.arch = &c.arch,
                        .layer = &c.layer,
                        .must_keep = c.nest.kept,
                        .may_keep = c.nest.kept,
                        .objective = (mapper_objective)(i % 3)};
    limits_init(&l, f->context);
    l.max_ticks = 2000000;
    const calm_status status = mapper_exact(&exact, &p, &rules, &l, &f->arena);
    if (status == CALM_OK && exact.outcome != CALM_INFEASIBLE) {
      mapper_sampling s = defaults;
      s.samples = 2000;
      const mapper_result got = run(f, i / 3 % 2, &p, &s);
      if (got.valid) {
        check_result(f, &p, &got);
        assert_true(got.value >= exact.bound * (1 - 1e-9));
        runs++;
        proved += exact.outcome == CALM_OPTIMAL;
      }
    }
    arena_free(&f->arena);
  }
  print_message("%u runs, %u against an optimum\n", runs, proved);
  assert_true(runs > COST_CASES / 400 && proved > runs / 4);
}

/* ---- A machine of two levels --------------------------------------------- */

typedef struct bench {
  accel_arch arch;
  accel_layer layer;
  accel_level levels[2];
  mapper_problem problem;
} bench;

static const uint32_t all_kept[] = {7, 7};

static void open_bench(bench *b, arena *a) {
  const accel_convolution size = {3, 3, 8, 8, 4, 4, 1, 1, 1, 1, 1, 1};
  memset(b, 0, sizeof *b);
  assert_int_equal(accel_layer_convolution(&b->layer, "l", &size, a), CALM_OK);
  b->levels[0] = cost_plain_level("GB");
  b->levels[1] = cost_plain_level("DRAM");
  b->levels[0].entries = b->levels[0].capacity_words = 100;
  for (uint32_t i = 0; i < 2; i++)
    b->levels[i].energy = (accel_energy){
        1 + 50 * i, 1 + 50 * i, 1 + 50 * i, 0, -1, true, 0, 0, {0}};
  b->levels[1].read_bandwidth = b->levels[1].write_bandwidth = 1;
  b->arch = (accel_arch){.name = "m",
                         .levels = b->levels,
                         .level_count = 2,
                         .compute = {.name = "MAC",
                                     .instances = 4,
                                     .mesh_x = 4,
                                     .mesh_y = 1,
                                     .energy_known = true}};
  b->problem = (mapper_problem){.arch = &b->arch,
                                .layer = &b->layer,
                                .must_keep = all_kept,
                                .may_keep = all_kept};
}

static void test_stops(void **state) {
  fixture *f = *state;
  bench b;
  open_bench(&b, &f->arena);
  for (uint32_t which = 0; which < 2; which++) {
    mapper_sampling s = defaults;
    s.samples = 123;
    assert_int_equal(run(f, which, &b.problem, &s).samples, 123);
    s = defaults;
    s.valid = 7;
    const mapper_result r = run(f, which, &b.problem, &s);
    assert_int_equal(r.valid, 7);
    check_result(f, &b.problem, &r);
    assert_null(r.reason);
  }
}

/* More patience, no worse nest; and it is what ends a search. */
static void test_victory(void **state) {
  fixture *f = *state;
  double before = HUGE_VAL;
  bench b;
  open_bench(&b, &f->arena);
  for (uint64_t victory = 1; victory <= 10000; victory *= 10) {
    mapper_sampling s = defaults;
    s.victory = victory;
    const mapper_result r = run(f, 1, &b.problem, &s);
    check_result(f, &b.problem, &r);
    assert_true(r.valid > victory && r.value <= before);
    before = r.value;
    s.valid = r.valid - victory;
    assert_true(run(f, 1, &b.problem, &s).value == r.value);
    s.valid--;
    if (s.valid) assert_true(run(f, 1, &b.problem, &s).value > r.value);
  }
}

/* Of each objective, the nest of the others is no better. */
static void test_objectives(void **state) {
  fixture *f = *state;
  mapper_result r[4];
  bench b;
  open_bench(&b, &f->arena);
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++) {
    mapper_sampling s = defaults;
    s.samples = 5000;
    b.problem.objective = o;
    r[o] = run(f, 0, &b.problem, &s);
    check_result(f, &b.problem, &r[o]);
    assert_int_equal(r[o].valid, r[0].valid);
  }
  for (uint32_t i = 0; i < 4; i++) {
    assert_true(r[i].cost.energy_pj >= r[MAPPER_ENERGY].value);
    assert_true((double)r[i].cost.cycles >= r[MAPPER_DELAY].value);
    assert_true(r[i].cost.edp >= r[MAPPER_EDP].value);
  }
  assert_int_equal(r[MAPPER_DELAY_ENERGY].cost.cycles,
                   r[MAPPER_DELAY].cost.cycles);
  assert_true(r[MAPPER_DELAY_ENERGY].value <= r[MAPPER_DELAY].cost.energy_pj);
}

/* Each model by itself: the best under one need not be that under the other,
   but each is judged by its own. */
static void test_models(void **state) {
  fixture *f = *state;
  bench b;
  open_bench(&b, &f->arena);
  for (cost_model m = COST_EXACT; m <= COST_TIMELOOP; m++) {
    mapper_sampling s = defaults;
    s.samples = 300;
    b.problem.cost.model = m;
    for (uint32_t which = 0; which < 2; which++) {
      const mapper_result r = run(f, which, &b.problem, &s);
      check_result(f, &b.problem, &r);
    }
  }
}

/* What is not kept takes no room, so that more nests fit. */
static void test_bypass(void **state) {
  static const uint32_t must[] = {0, 7};
  fixture *f = *state;
  bench b;
  mapper_sampling s = defaults;
  open_bench(&b, &f->arena);
  s.samples = 20000;
  const mapper_result fixed = run(f, 0, &b.problem, &s);
  b.problem.must_keep = must;
  const mapper_result searched = run(f, 0, &b.problem, &s);
  check_result(f, &b.problem, &searched);
  assert_true(searched.valid > fixed.valid);
}

/* ---- Nothing to hand out ------------------------------------------------- */

static void test_nothing_fits(void **state) {
  static const char start[] =
      "none of the 500 nests drawn is valid; the nearest: GB: tiles of ";
  fixture *f = *state;
  bench b;
  mapper_sampling s = defaults;
  open_bench(&b, &f->arena);
  b.levels[0].capacity_words = 2;
  s.samples = 500;
  for (uint32_t which = 0; which < 2; which++) {
    const mapper_result r = run(f, which, &b.problem, &s);
    assert_int_equal(r.outcome, CALM_LIMIT);
    assert_int_equal(r.samples, 500);
    assert_int_equal(r.valid, 0);
    assert_int_equal(strncmp(r.reason, start, strlen(start)), 0);
  }
}

static void test_nothing_to_draw(void **state) {
  static const uint32_t none[] = {3, 3};
  fixture *f = *state;
  bench b;
  open_bench(&b, &f->arena);
  b.problem.must_keep = b.problem.may_keep = none;
  const mapper_result r = run(f, 0, &b.problem, &defaults);
  assert_int_equal(r.outcome, CALM_INFEASIBLE);
  assert_string_equal(r.reason, "Outputs is kept at no level");
  assert_int_equal(r.samples, 0);
}

static void test_limits(void **state) {
  fixture *f = *state;
  bench b;
  open_bench(&b, &f->arena);
  for (uint32_t which = 0; which < 2; which++) {
    mapper_result r;
    limits l;
    limits_init(&l, f->context);
    l.max_ticks = 20000;
    assert_int_equal(mappers[which](&r, &b.problem, &defaults, &l, &f->arena),
                     CALM_OK);
    check_result(f, &b.problem, &r);
    assert_string_equal(r.reason, "tick limit");
    assert_true(l.ticks < 30000);
    b.levels[0].capacity_words = 1;
    limits_init(&l, f->context);
    l.max_ticks = 20000;
    assert_int_equal(mappers[which](&r, &b.problem, &defaults, &l, &f->arena),
                     CALM_OK);
    assert_int_equal(r.outcome, CALM_LIMIT);
    assert_int_equal(strncmp(r.reason, "tick limit: none of the ", 24), 0);
    b.levels[0].capacity_words = 100;
  }
}

static void test_misuse(void **state) {
  fixture *f = *state;
  mapper_result r;
  limits l;
  bench b;
  open_bench(&b, &f->arena);
  limits_init(&l, f->context);
  b.problem.objective = MAPPER_PARETO;
  assert_int_equal(mapper_random(&r, &b.problem, &defaults, &l, &f->arena),
                   CALM_MISUSE);
  assert_string_equal(calm_context_message(f->context),
                      "the random mapper has no objective pareto");
  b.problem.objective = MAPPER_BALANCE;
  assert_int_equal(mapper_hybrid(&r, &b.problem, &defaults, &l, &f->arena),
                   CALM_MISUSE);
  b.problem.objective = MAPPER_EDP;
  b.problem.imperfect = true;
  assert_int_equal(mapper_hybrid(&r, &b.problem, &defaults, &l, &f->arena),
                   CALM_MISUSE);
  assert_string_equal(calm_context_message(f->context),
                      "the hybrid mapper has no imperfect factors");
}

/* ---- Without memory ------------------------------------------------------ */

/* A result, a reason why there is none, and both mappers. */
static calm_status do_all(calm_context *context, const bench *b, arena *a) {
  static const uint32_t none[] = {3, 3};
  mapper_problem p = b->problem;
  mapper_sampling s = defaults;
  mapper_result r;
  limits l;
  s.samples = 40;
  limits_init(&l, context);
  for (uint32_t which = 0; which < 2; which++)
    TRY(mappers[which](&r, &p, &s, &l, a));
  s.samples = 1;
  TRY(mapper_random(&r, &p, &s, &l, a));
  p.must_keep = p.may_keep = none;
  return mapper_random(&r, &p, &s, &l, a);
}

static void test_every_allocation_fails(void **state) {
  fixture *f = *state;
  calm_status status = CALM_NO_MEMORY;
  bench b;
  open_bench(&b, &f->arena);
  for (uint64_t granted = 1; status != CALM_OK; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    arena a;
    arena_init(&a, context);
    left = granted;
    status = do_all(context, &b, &a);
    arena_free(&a);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    assert_true(granted < 10000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_brute_force),     COST_TEST(test_exact),
      COST_TEST(test_stops),           COST_TEST(test_victory),
      COST_TEST(test_objectives),      COST_TEST(test_models),
      COST_TEST(test_bypass),          COST_TEST(test_nothing_fits),
      COST_TEST(test_nothing_to_draw), COST_TEST(test_limits),
      COST_TEST(test_misuse),          COST_TEST(test_every_allocation_fails)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
