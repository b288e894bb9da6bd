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
#include "mapper_draw.h"
#include "mapper_random_rules.h"

enum { MOST_NESTS = 6000 };

typedef struct tally {
  uint32_t tried, refused, gaps, infeasible, proved, capacities, enough, wrong;
} tally;

/* The same points? */
static bool is_front(const mapper_result *r, const mapper_brute *b) {
  if (r->outcome != CALM_OPTIMAL || r->front_count != b->front_count)
    return false;
  for (uint32_t i = 0; i < r->front_count; i++) {
    const cost_result *c = &r->front[i].cost;
    if ((double)c->cycles != b->front[i].cycles) return false;
    if (fabs(c->energy_pj / b->front[i].energy_pj - 1) > 1e-9) return false;
  }
  return true;
}

static bool agrees(const mapper_result *r, const mapper_brute *b,
                   mapper_objective o) {
  const double best = mapper_brute_best(b, o);
  if (!b->valid) return r->outcome == CALM_INFEASIBLE && r->reason;
  if (o == MAPPER_PARETO) return is_front(r, b);
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
  static const char *const names[] = {"energy", "delay", "edp", "delay-energy",
                                      "pareto"};
  cost_random_print(c);
  mapper_print_rules(p->constraints, p->layer);
  print_message("%s: %s %.17g bound %.17g, brute force %.17g of %" PRIu64
                " nests\n",
                names[p->objective], calm_outcome_name(r->outcome), r->value,
                r->bound, mapper_brute_best(b, p->objective), b->valid);
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

/* The level of "L3 keeps ..."; CALM_NONE: the reason is another. */
static uint32_t level_of(const mapper_problem *p, const char *reason) {
  const char *keeps = strstr(reason, " keeps ");
  for (uint32_t l = 0; keeps && l < p->arch->level_count; l++) {
    const char *name = p->arch->levels[l].name;
    const size_t length = (size_t)(keeps - reason);
    if (strlen(name) == length && !strncmp(name, reason, length)) return l;
  }
  return CALM_NONE;
}

/* What the level of "L3 keeps ...; it needs 11 ..." needs; 0: it is not about
   that level. */
static uint64_t needed_at(const mapper_problem *p, const char *reason,
                          uint32_t level) {
  const char *needs = strstr(reason, "; it needs ");
  if (!needs || level_of(p, reason) != level) return 0;
  return strtoull(needs + strlen("; it needs "), NULL, 10);
}

/* With a word less than it needs there is no nest either; with so many the
   level needs no more, unless others are wrong as well or a share of it has to
   be used. */
static bool needs_so_much(fixture *f, const mapper_problem *p,
                          const char *reason, tally *t) {
  const uint32_t level = level_of(p, reason);
  if (level == CALM_NONE) return true;
  const uint64_t words = needed_at(p, reason, level);
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
    right &= at->min_utilization > 0 || needed_at(p, other, level) == 0 ||
             needed_at(p, other, level) > words;
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

/* The next set between `must` and `may`; false, `must` again, after the last.
 */
static bool next_set(uint32_t *kept, const mapper_problem *p) {
  for (uint32_t l = 0; l < p->arch->level_count; l++) {
    const uint32_t free = p->may_keep[l] & ~p->must_keep[l];
    const uint32_t next = ((kept[l] & free) - free) & free;
    kept[l] = p->must_keep[l] | next;
    if (next) return true;
  }
  return false;
}

/* Over all keep sets. */
static void search_all(mapper_brute *all, fixture *f, const mapper_problem *p) {
  const size_t levels = p->arch->level_count;
  uint32_t *kept = arena_calloc(&f->arena, levels, sizeof *kept);
  mapper_problem one = *p;
  memcpy(kept, p->must_keep, levels * sizeof *kept);
  one.must_keep = one.may_keep = kept;
  *all = (mapper_brute){.complete = true, .edp = HUGE_VAL};
  do {
    mapper_brute b;
    assert_int_equal(mapper_brute_search(&b, &one, MOST_NESTS, &f->arena),
                     CALM_OK);
    all->complete &= b.complete;
    all->valid += b.valid;
    all->edp = fmin(all->edp, b.edp);
    for (uint32_t i = 0; i < b.front_count; i++)
      mapper_brute_enter(all, b.front[i].cycles, b.front[i].energy_pj);
  } while (all->complete && next_set(kept, p));
  if (!all->front_count) return;
  all->cycles = all->front[0].cycles;
  all->energy_at_cycles = all->front[0].energy_pj;
  all->energy_pj = all->front[all->front_count - 1].energy_pj;
}

/* The case's nest says what is kept, but for what may be kept or not. */
static void compare(fixture *f, const cost_random_case *c,
                    const accel_constraints *constraints, const uint32_t *must,
                    const mapper_rules *rules, tally *t) {
  mapper_problem p = {.arch = &c->arch,
                      .layer = &c->layer,
                      .constraints = constraints,
                      .must_keep = must,
                      .may_keep = c->nest.kept};
  mapper_brute b;
  search_all(&b, f, &p);
  if (!b.complete) return;
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_PARETO; o++) {
    p.objective = o;
    if (!compare_one(f, c, &p, &b, rules, t)) {
      t->refused++;
      return;
    }
  }
  t->tried++;
}

static void report(const tally *t) {
  print_message(
      "%u machines, %u refused; proved %u, gaps %u, infeasible %u (%u by "
      "capacities, %u of them by one), wrong %u\n",
      t->tried, t->refused, t->proved, t->gaps, t->infeasible, t->capacities,
      t->enough, t->wrong);
  assert_int_equal(t->wrong, 0);
}

/* ---- Any layer ----------------------------------------------------------- */

static const mapper_rule_chances chances[] = {
    {.factor = 15, .foreign = 3},
    {.order = 60, .foreign = 20},
    {.split = 60, .order = 50, .foreign = 10},
    {.parallelism = 100, .foreign = 20},
    {8, 30, 30, 30, 4, 0},
    {.factor = 5, .foreign = 40},
    {.factor = 40, .tight = 50},
    {.split = 100},
};
enum { KINDS = sizeof chances / sizeof *chances };

static const mapper_rules pruning[] = {
    {0}, {.no_bound = true}, {.no_dominance = true}};

static uint32_t cases_of(uint32_t usual) {
  const char *env = getenv("MAPPER_CASES");
  return env ? (uint32_t)atoi(env) : usual;
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
  fixture *f = *state;
  random_state r = random_from_seed(1207);
  const uint32_t cases = cases_of(COST_CASES / 10);
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    const cost_random_options options = {.most_macs = 150, .valid = true};
    cost_random_case c;
    accel_constraints constraints;
    cost_random_make(&c, &r, &options, &f->arena);
    squeeze(&c, chances[i % KINDS].tight, &r);
    mapper_random_rules(&constraints, &c, &chances[i % KINDS], &r, &f->arena);
    compare(f, &c, &constraints, c.nest.kept, &pruning[i / KINDS % 3], &t);
    arena_free(&f->arena);
  }
  report(&t);
}

/* ---- Windows ------------------------------------------------------------- */

/* A nest for the rules to be about: each prime factor at any level, over time
   or on columns. */
static void draw_nest(cost_random_case *c, random_state *r, arena *a) {
  uint64_t factors[ACCEL_MAX_DIMENSIONS][2 * MAPPER_DRAW_LEVELS];
  accel_nest *n = &c->nest;
  const uint32_t dimensions = c->layer.dimension_count;
  n->loops =
      arena_calloc(a, sizeof factors / sizeof **factors, sizeof *n->loops);
  for (uint32_t d = 0; d < dimensions; d++) {
    uint64_t left = c->layer.dimensions[d].bound;
    for (uint32_t i = 0; i < 2 * n->level_count; i++) factors[d][i] = 1;
    for (uint64_t prime = 2; left > 1; prime++)
      for (; left % prime == 0; left /= prime)
        factors[d][random_below(r, 2 * n->level_count)] *= prime;
  }
  for (uint32_t i = 0; i < 2 * n->level_count; i++) {
    const uint32_t first = random_below(r, dimensions);
    for (uint32_t k = 0; k < dimensions; k++) {
      const uint32_t d = (first + k) % dimensions;
      if (factors[d][i] == 1) continue;
      n->loops[n->loop_count++] =
          (accel_loop){factors[d][i], factors[d][i], d, i / 2,
                       i % 2 ? ACCEL_TEMPORAL : ACCEL_SPATIAL_X};
    }
  }
}

static void draw_window(cost_random_case *c, mapper_draw *d, random_state *r,
                        arena *a) {
  static const char *const names[MAPPER_DRAW_LEVELS] = {"L0", "L1", "L2", "L3"};
  assert_true(mapper_draw_make(d, r, a));
  for (uint32_t l = 0; l < d->arch.level_count; l++)
    d->levels[l].name = names[l];
  *c = (cost_random_case){.arch = d->arch, .layer = d->layer};
  c->nest.kept = d->kept;
  c->nest.level_count = d->arch.level_count;
  draw_nest(c, r, a);
}

static void test_windows(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(1208);
  const uint32_t cases = cases_of(COST_CASES / 15);
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    mapper_draw d;
    cost_random_case c;
    accel_constraints constraints;
    draw_window(&c, &d, &r, &f->arena);
    mapper_random_rules(&constraints, &c, &chances[i % KINDS], &r, &f->arena);
    compare(f, &c, &constraints, c.nest.kept, &pruning[i / KINDS % 3], &t);
    arena_free(&f->arena);
  }
  report(&t);
}

/* ---- Bypass -------------------------------------------------------------- */

static void test_bypass(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(1209);
  const uint32_t cases = cases_of(COST_CASES / 50);
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    uint32_t must[MAPPER_DRAW_LEVELS];
    mapper_draw d;
    cost_random_case c;
    accel_constraints constraints;
    draw_window(&c, &d, &r, &f->arena);
    for (uint32_t l = 0; l < d.arch.level_count; l++) must[l] = d.kept[l];
    for (uint32_t k = 0; k < 3; k++) {
      const uint32_t level = random_below(&r, d.arch.level_count);
      const uint32_t tensor = random_below(&r, 3);
      must[level] &= ~(1u << tensor);
      d.kept[level] |= 1u << tensor;
    }
    mapper_random_rules(&constraints, &c, &chances[i % KINDS], &r, &f->arena);
    compare(f, &c, &constraints, must, &pruning[0], &t);
    arena_free(&f->arena);
  }
  report(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_random), COST_TEST(test_windows), COST_TEST(test_bypass)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
