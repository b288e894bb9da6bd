/*
 * The exact mapper against brute force: random machines and layers of a few
 * prime factors, every objective, every rule on and off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost_fixture.h"
#include "cost_random.h"
#include "mapper_brute.h"

enum { MOST_NESTS = 6000 };

typedef struct tally {
  uint32_t tried, refused, gaps, infeasible, proved;
} tally;

/* Costs that the search only bounds from below are taken away. */
static void plain_machine(accel_arch *arch) {
  for (uint32_t l = 0; l < arch->level_count; l++) {
    accel_level *level = &arch->levels[l];
    level->energy.leak_pj = 0;
    level->network.hop_pj = level->network.router_pj = 0;
    level->network.ingress_pj = 0;
  }
}

static double best_of(const mapper_brute *b, mapper_objective o) {
  return o == MAPPER_ENERGY  ? b->energy_pj
         : o == MAPPER_DELAY ? b->cycles
         : o == MAPPER_EDP   ? b->edp
                             : b->energy_at_cycles;
}

static bool agrees(const mapper_result *r, const mapper_brute *b,
                   mapper_objective o) {
  const double best = best_of(b, o);
  if (!b->valid) return r->outcome == CALM_INFEASIBLE;
  if (r->outcome == CALM_OPTIMAL) return fabs(r->value - best) <= 1e-9 * best;
  if (r->outcome != CALM_FEASIBLE) return false;
  return r->value >= best * (1 - 1e-9) && r->bound <= best * (1 + 1e-9);
}

static const char *const names[] = {"energy", "delay", "edp", "delay-energy"};

static void complain(const cost_random_case *c, const mapper_result *r,
                     const mapper_brute *b, mapper_objective o) {
  cost_random_print(c);
  print_message("%s: %s %.17g bound %.17g, brute force %.17g of %" PRIu64
                " nests\n",
                names[o], calm_outcome_name(r->outcome), r->value, r->bound,
                best_of(b, o), b->valid);
}

static void count(tally *t, const mapper_result *r) {
  t->gaps += r->outcome == CALM_FEASIBLE;
  t->infeasible += r->outcome == CALM_INFEASIBLE;
  t->proved += r->outcome == CALM_OPTIMAL;
}

static void compare(fixture *f, const cost_random_case *c,
                    const mapper_rules *rules, uint32_t *wrong, tally *t) {
  mapper_problem p = {.arch = &c->arch,
                      .layer = &c->layer,
                      .must_keep = c->nest.kept,
                      .may_keep = c->nest.kept};
  mapper_brute b;
  assert_int_equal(mapper_brute_search(&b, &p, MOST_NESTS, &f->arena), CALM_OK);
  if (!b.complete) return;
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++) {
    mapper_result r;
    limits l;
    limits_init(&l, f->context);
    p.objective = o;
    const calm_status status = mapper_exact(&r, &p, rules, &l, &f->arena);
    if (status == CALM_UNSUPPORTED) {
      t->refused++;
      return;
    }
    assert_int_equal(status, CALM_OK);
    count(t, &r);
    if (agrees(&r, &b, o)) continue;
    if ((*wrong)++ < 3) complain(c, &r, &b, o);
  }
  t->tried++;
}

static void test_random(void **state) {
  fixture *f = *state;
  const mapper_rules rules[] = {
      {0}, {.no_bound = true}, {.no_dominance = true}};
  random_state r = random_from_seed(20261130);
  const char *env = getenv("MAPPER_CASES");
  const uint32_t cases = env ? (uint32_t)atoi(env) : COST_CASES / 10;
  uint32_t wrong = 0;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    const cost_random_options options = {.most_macs = 200, .valid = true};
    cost_random_case c;
    cost_random_make(&c, &r, &options, &f->arena);
    if (i % 4) plain_machine(&c.arch);
    compare(f, &c, &rules[i % 3], &wrong, &t);
    arena_free(&f->arena);
  }
  print_message(
      "%u machines, %u refused; proved %u, gaps %u, infeasible %u, "
      "wrong %u\n",
      t.tried, t.refused, t.proved, t.gaps, t.infeasible, wrong);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
