/*
 * The exact mapper under constraints, against brute force: random rules of
 * every kind on random machines and layers.
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
#include "mapper_brute.h"
#include "mapper_random_rules.h"

enum { MOST_NESTS = 6000 };

typedef struct tally {
  uint32_t tried, refused, gaps, infeasible, proved, capacities, enough, wrong;
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
  if (!b->valid) return r->outcome == CALM_INFEASIBLE && r->reason;
  if (r->outcome == CALM_OPTIMAL) return fabs(r->value - best) <= 1e-9 * best;
  if (r->outcome != CALM_FEASIBLE) return false;
  return r->value >= best * (1 - 1e-9) && r->bound <= best * (1 + 1e-9);
}

/* Does the nest observe what it was found under? */
static bool observes(const mapper_problem *p, const mapper_result *r,
                     calm_context *context) {
  char *line;
  if (r->outcome != CALM_OPTIMAL && r->outcome != CALM_FEASIBLE) return true;
  assert_int_equal(accel_constraints_check(&line, p->constraints, &r->nest,
                                           p->arch, p->layer, context),
                   CALM_OK);
  if (line) print_message("%s\n", line);
  const bool good = line == NULL;
  calm_text_free(context, line);
  return good;
}

static void complain(const cost_random_case *c, const mapper_problem *p,
                     const mapper_result *r, const mapper_brute *b) {
  static const char *const names[] = {"energy", "delay", "edp", "delay-energy"};
  cost_random_print(c);
  mapper_print_rules(p->constraints, p->layer);
  print_message("%s: %s %.17g bound %.17g, brute force %.17g of %" PRIu64
                " nests\n",
                names[p->objective], calm_outcome_name(r->outcome), r->value,
                r->bound, best_of(b, p->objective), b->valid);
}

/* ---- Reasons ------------------------------------------------------------- */

static bool is_feasible(fixture *f, const mapper_problem *p,
                        const char **reason) {
  const mapper_rules rules = {0};
  mapper_result r;
  limits l;
  limits_init(&l, f->context);
  assert_int_equal(mapper_exact(&r, p, &rules, &l, &f->arena), CALM_OK);
  *reason = r.reason;
  return r.outcome != CALM_INFEASIBLE;
}

/* What the level of "L3 keeps ...; it needs 11 ..." needs; 0: it is not about
   that level. */
static uint64_t needed_at(const char *reason, uint32_t level) {
  const char *needs = strstr(reason, "; it needs ");
  if (!strstr(reason, " keeps ") || !needs) return 0;
  if (atoi(reason + 1) != (int)level) return 0;
  return strtoull(needs + strlen("; it needs "), NULL, 10);
}

/* With a word less than it needs there is no nest either; with so many the
   level needs no more, unless others are wrong as well or a share of it has to
   be used. */
static bool needs_so_much(fixture *f, const mapper_problem *p,
                          const char *reason, tally *t) {
  const uint32_t level = (uint32_t)atoi(reason + 1);
  if (!strstr(reason, " keeps ")) return true;
  const uint64_t words = needed_at(reason, level);
  accel_level *at = &p->arch->levels[level];
  const uint64_t before = at->capacity_words;
  const char *other = "";
  if (before >= words) return false;
  at->capacity_words = words - 1;
  bool right = !is_feasible(f, p, &other);
  at->capacity_words = words;
  if (is_feasible(f, p, &other))
    t->enough++;
  else
    right &= at->min_utilization > 0 || needed_at(other, level) == 0 ||
             needed_at(other, level) > words;
  at->capacity_words = before;
  t->capacities++;
  return right;
}

/* ---- Random rules -------------------------------------------------------- */

static bool compare_one(fixture *f, const cost_random_case *c,
                        const mapper_problem *p, const mapper_brute *b,
                        const mapper_rules *rules, tally *t) {
  mapper_result r;
  limits l;
  limits_init(&l, f->context);
  const calm_status status = mapper_exact(&r, p, rules, &l, &f->arena);
  if (status == CALM_UNSUPPORTED) return false;
  assert_int_equal(status, CALM_OK);
  t->gaps += r.outcome == CALM_FEASIBLE;
  t->infeasible += r.outcome == CALM_INFEASIBLE;
  if (r.outcome == CALM_INFEASIBLE && getenv("MAPPER_REASONS"))
    print_message("%s\n", r.reason);
  t->proved += r.outcome == CALM_OPTIMAL;
  if (agrees(&r, b, p->objective) && observes(p, &r, f->context) &&
      (r.outcome != CALM_INFEASIBLE || p->objective != MAPPER_ENERGY ||
       needs_so_much(f, p, r.reason, t)))
    return true;
  if (t->wrong++ < 3) complain(c, p, &r, b);
  return true;
}

static void compare(fixture *f, const cost_random_case *c,
                    const accel_constraints *constraints,
                    const mapper_rules *rules, tally *t) {
  mapper_problem p = {.arch = &c->arch,
                      .layer = &c->layer,
                      .constraints = constraints,
                      .must_keep = c->nest.kept,
                      .may_keep = c->nest.kept};
  mapper_brute b;
  assert_int_equal(mapper_brute_search(&b, &p, MOST_NESTS, &f->arena), CALM_OK);
  if (!b.complete) return;
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++) {
    p.objective = o;
    if (!compare_one(f, c, &p, &b, rules, t)) {
      t->refused++;
      return;
    }
  }
  t->tried++;
}

/* Some levels have room for less, or must be used more. */
static void squeeze(cost_random_case *c, uint32_t percent, random_state *r) {
  for (uint32_t l = 0; l < c->arch.level_count; l++) {
    accel_level *level = &c->arch.levels[l];
    if (random_below(r, 100) >= percent) continue;
    if (level->capacity_words == ACCEL_UNLIMITED)
      level->capacity_words = 2 + random_below(r, 30);
    level->capacity_words -= level->capacity_words / 3;
    if (random_below(r, 3) == 0) level->min_utilization = 0.5;
  }
}

static void test_random(void **state) {
  static const mapper_rule_chances chances[] = {
      {.factor = 15, .foreign = 3},
      {.order = 60, .foreign = 20},
      {.split = 60, .order = 50, .foreign = 10},
      {.parallelism = 100, .foreign = 20},
      {8, 30, 30, 30, 4},
      {.factor = 5, .foreign = 40},
      {.factor = 40, .tight = 50},
  };
  fixture *f = *state;
  const mapper_rules rules[] = {
      {0}, {.no_bound = true}, {.no_dominance = true}};
  random_state r = random_from_seed(1207);
  const char *env = getenv("MAPPER_CASES");
  const uint32_t cases = env ? (uint32_t)atoi(env) : COST_CASES / 10;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    const cost_random_options options = {.most_macs = 150, .valid = true};
    cost_random_case c;
    accel_constraints constraints;
    cost_random_make(&c, &r, &options, &f->arena);
    if (i % 5) plain_machine(&c.arch);
    squeeze(&c, chances[i % 7].tight, &r);
    mapper_random_rules(&constraints, &c, &chances[i % 7], &r, &f->arena);
    compare(f, &c, &constraints, &rules[i / 7 % 3], &t);
    arena_free(&f->arena);
  }
  print_message(
      "%u machines, %u refused; proved %u, gaps %u, infeasible %u (%u by "
      "capacities, %u of them by one), wrong %u\n",
      t.tried, t.refused, t.proved, t.gaps, t.infeasible, t.capacities,
      t.enough, t.wrong);
  assert_int_equal(t.wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
