/*
 * Keep sets: each comes once, by rising bounds, and no nest under one costs
 * less than its bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "cost_fixture.h"
#include "mapper/mapper_keeps.h"
#include "mapper_draw.h"

enum { MOST_SETS = 512 };

typedef struct keep_sets {
  uint32_t kept[MOST_SETS][MAPPER_DRAW_LEVELS];
  uint32_t count;
} keep_sets;

static void draw_places(mapper_draw *d, uint32_t *must, random_state *r) {
  for (uint32_t l = 0; l < d->arch.level_count; l++)
    must[l] = d->kept[l] & random_below(r, 8);
}

/* A tensor that is kept nowhere has no nest. */
static bool is_whole(const uint32_t *kept, uint32_t levels) {
  uint32_t somewhere = 0;
  for (uint32_t l = 0; l < levels; l++) somewhere |= kept[l];
  return somewhere == 7;
}

static bool is_new(const keep_sets *sets, const uint32_t *kept,
                   uint32_t levels) {
  for (uint32_t i = 0; i < sets->count; i++)
    if (!memcmp(sets->kept[i], kept, levels * sizeof *kept)) return false;
  return true;
}

/* The best nest under a set, if any, against the bound. */
static void check_bound(fixture *f, const mapper_draw *d, const uint32_t *kept,
                        double bound) {
  mapper_result best;
  limits l;
  const mapper_rules rules = {0};
  const mapper_problem p = {.arch = &d->arch,
                            .layer = &d->layer,
                            .must_keep = kept,
                            .may_keep = kept,
                            .objective = MAPPER_ENERGY};
  limits_init(&l, f->context);
  assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
  if (best.outcome == CALM_OPTIMAL)
    assert_true(bound <= best.value * (1 + 1e-9));
}

static void check_all(fixture *f, const mapper_draw *d, const uint32_t *must,
                      uint32_t *checked) {
  const uint32_t levels = d->arch.level_count;
  const mapper_problem p = {.arch = &d->arch,
                            .layer = &d->layer,
                            .must_keep = must,
                            .may_keep = must,
                            .objective = MAPPER_ENERGY};
  mapper_space s;
  mapper_keeps k;
  limits l;
  keep_sets sets = {.count = 0};
  double last = 0;
  limits_init(&l, f->context);
  assert_int_equal(mapper_space_init(&s, &p, true, false, &l, &f->arena),
                   CALM_OK);
  assert_int_equal(mapper_keeps_init(&k, &s, must, d->kept, &l, &f->arena),
                   CALM_OK);
  for (; mapper_keeps_bound(&k) < HUGE_VAL; sets.count++) {
    uint32_t *kept = sets.kept[sets.count];
    const double bound = mapper_keeps_bound(&k);
    assert_true(sets.count < MOST_SETS);
    assert_int_equal(mapper_keeps_next(&k, kept), CALM_OK);
    assert_true(bound >= last * (1 - 1e-12));
    assert_true(fabs(mapper_keeps_cost(&k, kept) - bound) <= 1e-9 * bound);
    assert_true(is_whole(kept, levels) && is_new(&sets, kept, levels));
    check_bound(f, d, kept, bound);
    last = bound;
  }
  *checked += sets.count;
  mapper_keeps_free(&k);
}

static void test_order(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(5);
  uint32_t checked = 0;
  for (uint32_t i = 0; i < COST_CASES / 30; i++) {
    uint32_t must[MAPPER_DRAW_LEVELS];
    mapper_draw d;
    assert_true(mapper_draw_make(&d, &r, &f->arena));
    draw_places(&d, must, &r);
    check_all(f, &d, must, &checked);
    arena_free(&f->arena);
  }
  print_message("%u keep sets\n", checked);
}

static void test_heap(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(6);
  mapper_heap h = {.count = 0};
  for (uint32_t i = 0; i < 1000; i++)
    assert_int_equal(mapper_heap_push(&h, random_below(&r, 100), i, f->context),
                     CALM_OK);
  mapper_entry last = mapper_heap_pop(&h);
  while (h.count > 0) {
    const mapper_entry next = mapper_heap_pop(&h);
    assert_true(next.key > last.key ||
                (next.key == last.key && next.number < last.number));
    last = next;
  }
  VECTOR_FREE(f->context, &h);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_order),
                                     COST_TEST(test_heap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
