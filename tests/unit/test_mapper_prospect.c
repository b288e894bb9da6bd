/*
 * Kinds of spreads: each spread is of one kind, and no spread of a kind costs
 * less than the kind is said to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "cost_fixture.h"
#include "mapper/mapper_outlook.h"
#include "mapper/mapper_prospect.h"
#include "mapper_draw.h"

typedef struct tally {
  uint64_t kinds, spreads, wrong;
} tally;

static void check_casts(const mapper_space *s, const mapper_fan *fan,
                        const mapper_kind *kind) {
  for (uint32_t i = kind->first; i < kind->first + kind->count; i++) {
    const mapper_spread *spread = &fan->spreads[i];
    assert_true(spread->product == kind->product);
    for (uint32_t t = 0; t < s->tensor_count; t++) {
      const mapper_cast *cast = &fan->casts[t][kind->casts[t]];
      assert_true(cast->used == spread->product / spread->apart[t]);
      assert_true(cast->cast >= cast->used);
    }
  }
}

/* All fan-outs are sorted; the first kind is to spread nothing. */
static void check_sorted(const mapper_space *s) {
  for (uint32_t l = 0; l < s->level_count; l++) {
    const mapper_fan *fan = &s->fans[l];
    uint32_t count = 0;
    for (uint32_t k = 0; k < fan->kind_count; k++) {
      assert_int_equal(fan->kinds[k].first, count);
      check_casts(s, fan, &fan->kinds[k]);
      count += fan->kinds[k].count;
    }
    assert_int_equal(count, fan->spread_count);
  }
}

static void check_kind(tally *t, mapper_prospect *p, mapper_label *scratch,
                       const mapper_label *l, const mapper_kind *kind) {
  const mapper_space *s = p->space;
  const mapper_floor floor = mapper_prospect_floor(p, kind);
  t->kinds++;
  for (uint32_t i = kind->first; i < kind->first + kind->count; i++) {
    const mapper_spread *spread = &s->fans[p->level].spreads[i];
    const uint32_t node = mapper_space_spread(s, l->node, spread);
    if (node == CALM_NONE) continue;
    mapper_label_copy(scratch, l, s);
    mapper_label_spread(scratch, s, p->level, spread, node);
    const mapper_floor f = mapper_bound_label(s, scratch, p->level);
    t->spreads++;
    t->wrong +=
        f.energy_pj < floor.energy_pj * (1 - 1e-9) || f.cycles < floor.cycles;
  }
}

static void check_label(tally *t, mapper_prospect *p, mapper_label *scratch,
                        const mapper_label *l, uint32_t level) {
  const mapper_fan *fan = &p->space->fans[level];
  mapper_prospect_look(p, l, level);
  for (uint32_t k = 0; k < fan->kind_count; k++)
    check_kind(t, p, scratch, l, &fan->kinds[k]);
}

/* Some loops over time, if tiles fit then. */
static void step_at_random(mapper_label *l, const mapper_space *s,
                           random_state *r) {
  for (uint32_t i = random_below(r, 4); i > 0 && s->axis_count; i--) {
    const uint32_t a = random_below(r, s->axis_count);
    const mapper_axis *axis = &s->axes[a];
    const uint32_t digit = s->digits[(size_t)l->node * s->axis_count + a];
    const uint32_t prime = axis->primes[random_below(r, axis->prime_count)];
    if (l->locked >> axis->dimension & 1) continue;
    if (axis->times[digit * axis->count + prime] != CALM_NONE)
      mapper_label_step(l, s, a, prime, random_below(r, 2));
  }
}

static void descend(tally *t, mapper_space *s, random_state *r, arena *a) {
  mapper_prospect p;
  mapper_label *l = arena_calloc(a, 1, mapper_label_bytes(s));
  mapper_label *scratch = arena_calloc(a, 1, mapper_label_bytes(s));
  assert_int_equal(mapper_prospect_init(&p, s, a), CALM_OK);
  mapper_label_begin(l, s);
  for (uint32_t level = 0; level < s->level_count; level++) {
    const mapper_fan *fan = &s->fans[level];
    check_label(t, &p, scratch, l, level);
    const mapper_spread *spread =
        &fan->spreads[random_below(r, fan->spread_count)];
    const uint32_t node = mapper_space_spread(s, l->node, spread);
    if (node == CALM_NONE) return;
    mapper_label_spread(l, s, level, spread, node);
    step_at_random(l, s, r);
    if (!mapper_outlook_fits(s, l->node, level)) return;
    mapper_label_level(l, s, level);
  }
}

static void test_kinds(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(11);
  tally t = {0};
  for (uint32_t i = 0; i < COST_CASES / 8; i++) {
    mapper_draw d;
    mapper_space s;
    limits l;
    assert_true(mapper_draw_make(&d, &r, &f->arena));
    const mapper_problem p = {.arch = &d.arch,
                              .layer = &d.layer,
                              .must_keep = d.kept,
                              .may_keep = d.kept,
                              .objective = MAPPER_EDP};
    limits_init(&l, f->context);
    const calm_status status =
        mapper_space_init(&s, &p, true, true, &l, &f->arena);
    if (status == CALM_OK) {
      check_sorted(&s);
      for (uint32_t k = 0; k < 8; k++) descend(&t, &s, &r, &f->arena);
    }
    arena_free(&f->arena);
  }
  print_message("%" PRIu64 " kinds, %" PRIu64 " spreads, wrong %" PRIu64 "\n",
                t.kinds, t.spreads, t.wrong);
  assert_true(t.spreads > 1000);
  assert_int_equal(t.wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_kinds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
