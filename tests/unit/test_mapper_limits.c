/*
 * What a result of the exact mapper claims, checked without it: the value is
 * what its nest costs, and if it is the least, then a search that drops nothing
 * for the sake of another finds nothing below it.  And searches that are
 * stopped: they have a nest, and a bound that holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "cost_fixture.h"
#include "mapper/mapper_climb.h"
#include "mapper/mapper_exact.h"
#include "mapper_draw.h"

static void make_problem(mapper_problem *p, mapper_draw *d, random_state *r,
                         arena *a) {
  assert_true(mapper_draw_make(d, r, a));
  *p = (mapper_problem){.arch = &d->arch,
                        .layer = &d->layer,
                        .must_keep = d->kept,
                        .may_keep = d->kept};
}

static double value_of(mapper_objective o, const cost_result *r) {
  return o == MAPPER_DELAY ? (double)r->cycles
         : o == MAPPER_EDP ? r->edp
                           : r->energy_pj;
}

static void check_nest(const mapper_problem *p, const mapper_result *r,
                       arena *a) {
  const cost_options options = {.model = COST_EXACT};
  cost_problem cost;
  cost_result figures;
  assert_int_equal(cost_problem_init(&cost, p->arch, p->layer, &options, a),
                   CALM_OK);
  assert_int_equal(cost_result_init(&figures, &cost, a), CALM_OK);
  assert_int_equal(cost_evaluate(&figures, &cost, &r->nest), CALM_OK);
  assert_int_equal(figures.verdict.fault, COST_VALID);
  assert_true(r->value == value_of(p->objective, &figures));
  assert_true(r->bound <= r->value);
}

/* No nest costs less, says a search without dominance. */
static void check_proof(const mapper_problem *p, const mapper_result *r,
                        calm_context *context, arena *a) {
  const mapper_rules rules = {.no_dominance = true};
  const mapper_given given = {.rules = &rules,
                              .most_cycles = HUGE_VAL,
                              .most_value = r->value * (1 - 1e-9)};
  mapper_result again;
  limits l;
  limits_init(&l, context);
  assert_int_equal(mapper_exact_given(&again, p, &given, &l, a), CALM_OK);
  assert_false(mapper_exact_found(&again));
  assert_true(again.bound >= given.most_value);
}

static void test_certificates(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(21);
  uint32_t proved = 0;
  for (uint32_t i = 0; i < COST_CASES / 40; i++) {
    mapper_draw d;
    mapper_problem p;
    mapper_result best;
    limits l;
    make_problem(&p, &d, &r, &f->arena);
    p.objective = (mapper_objective)(i % 3);
    limits_init(&l, f->context);
    assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
    if (mapper_exact_found(&best)) check_nest(&p, &best, &f->arena);
    if (best.outcome == CALM_OPTIMAL) {
      check_proof(&p, &best, f->context, &f->arena);
      proved++;
    }
    arena_free(&f->arena);
  }
  print_message("%u proofs\n", proved);
  assert_true(proved > 0);
}

/* ---- Limits -------------------------------------------------------------- */

/* The same with so many ticks: if there is a nest at all, it has one. */
static void check_stopped(const mapper_problem *p, const mapper_result *best,
                          uint64_t ticks, calm_context *context, arena *a) {
  const mapper_rules rules = {0};
  mapper_result r[2];
  for (uint32_t i = 0; i < 2; i++) {
    limits l;
    limits_init(&l, context);
    l.max_ticks = ticks;
    assert_int_equal(mapper_exact(&r[i], p, &rules, &l, a), CALM_OK);
  }
  assert_int_equal(r[0].outcome, r[1].outcome);
  assert_true(r[0].bound == r[1].bound);
  if (!mapper_exact_found(best)) return;
  assert_true(r[0].bound <= best->value * (1 + 1e-9));
  if (!mapper_exact_found(&r[0])) return;
  assert_true(r[0].value == r[1].value);
  /* Otherwise it is the energy of a nest that may not be the fastest. */
  if (p->objective <= MAPPER_EDP)
    assert_true(r[0].value >= best->value * (1 - 1e-9));
  if (r[0].outcome == CALM_FEASIBLE) assert_non_null(r[0].reason);
}

static void test_ticks(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(22);
  for (uint32_t i = 0; i < COST_CASES / 100; i++) {
    mapper_draw d;
    mapper_problem p;
    mapper_result best;
    limits l;
    uint32_t must[MAPPER_DRAW_LEVELS] = {0};
    make_problem(&p, &d, &r, &f->arena);
    if (i % 3 == 0) p.must_keep = must;
    p.objective = (mapper_objective)(i % 5);
    limits_init(&l, f->context);
    assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
    for (uint64_t ticks = 1; ticks < l.ticks; ticks *= 4)
      check_stopped(&p, &best, ticks, f->context, &f->arena);
    arena_free(&f->arena);
  }
}

static void test_memory(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(23);
  for (uint32_t i = 0; i < 20; i++) {
    mapper_draw d;
    mapper_problem p;
    mapper_result best;
    limits l;
    make_problem(&p, &d, &r, &f->arena);
    limits_init(&l, f->context);
    l.max_bytes = 100;
    assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
    assert_int_not_equal(best.outcome, CALM_OPTIMAL);
    assert_string_equal(best.reason, "memory limit");
    arena_free(&f->arena);
  }
}

/* ---- Climbing ------------------------------------------------------------ */

/* Never better than the best, nor much worse; nothing where there is none. */
static void test_climb(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(24);
  uint32_t found = 0, best_found = 0;
  for (uint32_t i = 0; i < COST_CASES / 40; i++) {
    mapper_draw d;
    mapper_problem p;
    mapper_result best, quick;
    limits l;
    const mapper_climbing how = {
        .most_cycles = HUGE_VAL, .tries = 5000, .starts = 3};
    make_problem(&p, &d, &r, &f->arena);
    p.objective = (mapper_objective)(i % 3);
    limits_init(&l, f->context);
    assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
    assert_int_equal(mapper_climb(&quick, &p, &how, &l, &f->arena), CALM_OK);
    if (best.outcome == CALM_OPTIMAL && quick.outcome == CALM_FEASIBLE) {
      quick.bound = 0;
      check_nest(&p, &quick, &f->arena);
      assert_true(quick.value >= best.value * (1 - 1e-9));
      assert_true(accel_nest_is_perfect(&quick.nest));
      best_found += quick.value <= best.value * (1 + 1e-9);
      found++;
    }
    if (best.outcome == CALM_INFEASIBLE)
      assert_int_equal(quick.outcome, CALM_LIMIT);
    arena_free(&f->arena);
  }
  print_message("%u of %u are the best\n", best_found, found);
  assert_true(2 * best_found > found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_certificates), COST_TEST(test_ticks),
      COST_TEST(test_memory), COST_TEST(test_climb)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
