/*
 * The front of energy and cycles against brute force: all pairs that no nest
 * beats in both, and no others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost_fixture.h"
#include "mapper_brute.h"
#include "mapper_draw.h"

enum { MOST_NESTS = 8000 };

typedef struct tally {
  uint32_t tried, proved, gaps, infeasible, points, wrong, longest;
} tally;

/* Does every point of brute force have one of ours, and the other way round?
   The last digits aside. */
static bool is_front(const mapper_result *r, const mapper_brute *b) {
  if (r->front_count != b->front_count) return false;
  for (uint32_t i = 0; i < r->front_count; i++) {
    const cost_result *c = &r->front[i].cost;
    if ((double)c->cycles != b->front[i].cycles) return false;
    if (fabs(c->energy_pj / b->front[i].energy_pj - 1) > 1e-9) return false;
  }
  return true;
}

/* A gap: each nest is beaten, or nearly so, by a point. */
static bool is_near(const mapper_result *r, const mapper_brute *b) {
  const double gap = r->value / r->bound * (1 + 1e-9);
  for (uint32_t i = 0; i < b->front_count; i++) {
    bool near = false;
    for (uint32_t k = 0; k < r->front_count; k++) {
      const cost_result *c = &r->front[k].cost;
      near |= c->energy_pj <= b->front[i].energy_pj * gap &&
              (double)c->cycles <= b->front[i].cycles * gap;
    }
    if (!near) return false;
  }
  return true;
}

static bool agrees(const mapper_result *r, const mapper_brute *b) {
  if (!b->valid) return r->outcome == CALM_INFEASIBLE;
  if (r->outcome == CALM_OPTIMAL) return is_front(r, b);
  return r->outcome == CALM_FEASIBLE && is_near(r, b);
}

static void complain(const mapper_result *r, const mapper_brute *b) {
  print_message("%s, value %.17g bound %.17g\n", calm_outcome_name(r->outcome),
                r->value, r->bound);
  for (uint32_t i = 0; i < r->front_count; i++)
    print_message("  ours  %8lu %.17g\n",
                  (unsigned long)r->front[i].cost.cycles,
                  r->front[i].cost.energy_pj);
  for (uint32_t i = 0; i < b->front_count; i++)
    print_message("  brute %8.0f %.17g\n", b->front[i].cycles,
                  b->front[i].energy_pj);
}

static void compare(tally *t, fixture *f, const mapper_problem *p,
                    const mapper_brute *b, const mapper_rules *rules) {
  mapper_result r;
  limits l;
  limits_init(&l, f->context);
  assert_int_equal(mapper_exact(&r, p, rules, &l, &f->arena), CALM_OK);
  t->tried++;
  t->proved += r.outcome == CALM_OPTIMAL;
  t->gaps += r.outcome == CALM_FEASIBLE;
  t->infeasible += r.outcome == CALM_INFEASIBLE;
  t->points += r.front_count;
  if (r.front_count > t->longest) t->longest = r.front_count;
  if (agrees(&r, b)) return;
  if (t->wrong++ < 3) complain(&r, b);
}

static void report(const tally *t) {
  print_message(
      "%u fronts, %u points, %u at most; proved %u, gaps %u, infeasible %u, "
      "wrong %u\n",
      t->tried, t->points, t->longest, t->proved, t->gaps, t->infeasible,
      t->wrong);
  assert_int_equal(t->wrong, 0);
}

static uint32_t cases_of(uint32_t usual) {
  const char *env = getenv("MAPPER_CASES");
  return env ? (uint32_t)atoi(env) : usual;
}

static void test_random(void **state) {
  fixture *f = *state;
  const mapper_rules rules[] = {
      {0}, {.no_bound = true}, {.no_dominance = true}};
  random_state r = random_from_seed(11);
  tally t = {0};
  for (uint32_t i = 0; i < cases_of(COST_CASES / 15); i++) {
    mapper_draw d;
    mapper_brute b;
    assert_true(mapper_draw_make(&d, &r, &f->arena));
    const mapper_problem p = {.arch = &d.arch,
                              .layer = &d.layer,
                              .must_keep = d.kept,
                              .may_keep = d.kept,
                              .objective = MAPPER_PARETO};
    assert_int_equal(mapper_brute_search(&b, &p, MOST_NESTS, &f->arena),
                     CALM_OK);
    if (b.complete) compare(&t, f, &p, &b, &rules[i % 3]);
    arena_free(&f->arena);
  }
  report(&t);
}

/* ---- Bypass -------------------------------------------------------------- */

/* What may be bypassed: up to three places. */
static void draw_places(uint32_t *must, uint32_t *may, const mapper_draw *d,
                        random_state *r) {
  for (uint32_t l = 0; l < d->arch.level_count; l++)
    must[l] = may[l] = d->kept[l];
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t level = random_below(r, d->arch.level_count);
    const uint32_t tensor = random_below(r, 3);
    must[level] &= ~(1u << tensor);
    may[level] |= 1u << tensor;
  }
}

/* The next set between `must` and `may`; false, `must` again, after the last.
 */
static bool next_set(uint32_t *kept, const uint32_t *must, const uint32_t *may,
                     uint32_t levels) {
  for (uint32_t l = 0; l < levels; l++) {
    const uint32_t free = may[l] & ~must[l];
    const uint32_t next = ((kept[l] & free) - free) & free;
    kept[l] = must[l] | next;
    if (next) return true;
  }
  return false;
}

static void brute_places(mapper_brute *all, fixture *f, const mapper_problem *p,
                         uint32_t *kept) {
  const uint32_t levels = p->arch->level_count;
  mapper_problem one = *p;
  one.must_keep = one.may_keep = kept;
  memcpy(kept, p->must_keep, levels * sizeof *kept);
  memset(all, 0, sizeof *all);
  all->complete = true;
  do {
    mapper_brute b;
    assert_int_equal(mapper_brute_search(&b, &one, MOST_NESTS, &f->arena),
                     CALM_OK);
    all->complete &= b.complete;
    all->valid += b.valid;
    for (uint32_t i = 0; i < b.front_count; i++)
      mapper_brute_enter(all, b.front[i].cycles, b.front[i].energy_pj);
  } while (all->complete && next_set(kept, p->must_keep, p->may_keep, levels));
}

static void test_bypass(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(12);
  tally t = {0};
  for (uint32_t i = 0; i < cases_of(COST_CASES / 60); i++) {
    uint32_t must[MAPPER_DRAW_LEVELS], may[MAPPER_DRAW_LEVELS];
    mapper_draw d;
    mapper_brute b;
    assert_true(mapper_draw_make(&d, &r, &f->arena));
    draw_places(must, may, &d, &r);
    const mapper_problem p = {.arch = &d.arch,
                              .layer = &d.layer,
                              .must_keep = must,
                              .may_keep = may,
                              .objective = MAPPER_PARETO};
    brute_places(&b, f, &p, d.kept);
    if (b.complete) compare(&t, f, &p, &b, &rules);
    arena_free(&f->arena);
  }
  report(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_random),
                                     COST_TEST(test_bypass)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
