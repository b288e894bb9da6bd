/*
 * Factors that do not divide their bounds: what is found is at least as good as
 * the best perfect nest, and no nest, of many at random, costs less than the
 * bound, whichever keep set it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cost_fixture.h"
#include "mapper/mapper_imperfect.h"
#include "mapper_draw.h"

enum { NESTS = 4000, FEWER_NESTS = 500, MOST_LOOPS = 128 };

static double value_of(mapper_objective o, const cost_result *r) {
  return o == MAPPER_DELAY ? (double)r->cycles
         : o == MAPPER_EDP ? r->edp
                           : r->energy_pj;
}

/* Each dimension has a factor at some places, the rest at the last of them. */
static void draw_factors(uint64_t *factors, uint32_t places, uint64_t bound,
                         random_state *r) {
  const uint32_t last = random_below(r, places);
  for (uint32_t i = 0; i < places; i++) factors[i] = 1;
  for (uint32_t i = 0; i < places && bound > 1; i++) {
    if (i == last || random_below(r, 3)) continue;
    factors[i] = 1 + random_below(r, (uint32_t)bound);
    bound = (bound + factors[i] - 1) / factors[i];
  }
  factors[last] = bound;
}

/* Loops of all places, dimensions in turn; residuals follow. */
static void draw_nest(accel_nest *n, const mapper_draw *d, random_state *r) {
  uint64_t factors[ACCEL_MAX_DIMENSIONS][3 * MAPPER_DRAW_LEVELS];
  uint64_t left[ACCEL_MAX_DIMENSIONS];
  const uint32_t places = 3 * d->arch.level_count;
  const uint32_t dimensions = d->layer.dimension_count;
  const uint32_t first = random_below(r, dimensions);
  for (uint32_t i = 0; i < dimensions; i++) {
    left[i] = d->layer.dimensions[i].bound;
    draw_factors(factors[i], places, left[i], r);
  }
  n->loop_count = 0;
  for (uint32_t place = 0; place < places; place++)
    for (uint32_t i = 0; i < dimensions; i++) {
      const uint32_t k = (first + i) % dimensions;
      const uint64_t f = factors[k][place];
      if (f == 1) continue;
      n->loops[n->loop_count++] = (accel_loop){
          f, (left[k] - 1) % f + 1, k, place / 3, (accel_loop_kind)(place % 3)};
      left[k] = (left[k] + f - 1) / f;
    }
}

/* Nests of one keep set. */
static uint32_t check_bound(const mapper_problem *p, const mapper_draw *d,
                            const uint32_t *set, uint32_t nests, double bound,
                            random_state *random, arena *a) {
  const cost_options options = {.model = COST_EXACT};
  cost_problem cost;
  cost_result figures;
  accel_loop loops[MOST_LOOPS];
  uint32_t valid = 0, kept[MAPPER_DRAW_LEVELS];
  accel_nest n = {.loops = loops, .level_count = d->arch.level_count};
  n.kept = kept;
  memcpy(kept, set, sizeof kept);
  assert_int_equal(cost_problem_init(&cost, p->arch, p->layer, &options, a),
                   CALM_OK);
  assert_int_equal(cost_result_init(&figures, &cost, a), CALM_OK);
  for (uint32_t i = 0; i < nests; i++) {
    draw_nest(&n, d, random);
    assert_int_equal(cost_evaluate(&figures, &cost, &n), CALM_OK);
    if (figures.verdict.fault != COST_VALID) continue;
    assert_true(value_of(p->objective, &figures) >= bound * (1 - 1e-9));
    valid++;
  }
  return valid;
}

static void make_odd(accel_layer *layer, random_state *r) {
  layer->macs = 1;
  for (uint32_t k = 0; k < layer->dimension_count; k++) {
    if (layer->dimensions[k].bound > 2 && random_below(r, 2))
      layer->dimensions[k].bound++;
    layer->macs *= layer->dimensions[k].bound;
  }
}

static void test_random(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(31);
  uint32_t better = 0, proved = 0, found = 0, valid = 0;
  for (uint32_t i = 0; i < COST_CASES / 40; i++) {
    mapper_draw d;
    mapper_result perfect, best;
    limits l;
    assert_true(mapper_draw_make(&d, &r, &f->arena));
    make_odd(&d.layer, &r);
    mapper_problem p = {.arch = &d.arch,
                        .layer = &d.layer,
                        .must_keep = d.kept,
                        .may_keep = d.kept,
                        .objective = (mapper_objective)(i % 4)};
    limits_init(&l, f->context);
    assert_int_equal(mapper_exact(&perfect, &p, &rules, &l, &f->arena),
                     CALM_OK);
    p.imperfect = true;
    assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
    if (perfect.outcome == CALM_OPTIMAL) {
      assert_true(best.outcome == CALM_OPTIMAL ||
                  best.outcome == CALM_FEASIBLE);
      if (p.objective == MAPPER_DELAY_ENERGY)
        assert_true(best.cost.cycles <= perfect.cost.cycles);
      else
        assert_true(best.value <= perfect.value);
      assert_true(best.value == value_of(p.objective, &best.cost));
      better += best.value < perfect.value;
      proved += best.outcome == CALM_OPTIMAL;
      found++;
      if (p.objective != MAPPER_DELAY_ENERGY)
        valid += check_bound(&p, &d, d.kept, NESTS, best.bound, &r, &f->arena);
    }
    arena_free(&f->arena);
  }
  print_message(
      "%u nests, %u better than perfect ones, %u proved; %u others "
      "cost no less than the bounds\n",
      found, better, proved, valid);
  assert_true(better > 0 && valid > 0);
}

/* ---- What is kept is searched, too --------------------------------------- */

static void solve(mapper_result *out, const mapper_problem *p, fixture *f) {
  const mapper_rules rules = {0};
  limits l;
  limits_init(&l, f->context);
  assert_int_equal(mapper_exact(out, p, &rules, &l, &f->arena), CALM_OK);
}

/* The next keep set between must and may; false after the last. */
static bool next_set(uint32_t *kept, const mapper_problem *p) {
  for (uint32_t l = 0; l < p->arch->level_count; l++) {
    const uint32_t free = p->may_keep[l] & ~p->must_keep[l];
    const uint32_t next = ((kept[l] & free) - free) & free;
    kept[l] = p->must_keep[l] | next;
    if (next) return true;
  }
  return false;
}

/* No nest of any keep set has less than the bound: neither those at random, nor
   the best that is found if the set is given. */
static uint32_t check_sets(const mapper_problem *p, const mapper_draw *d,
                           random_state *r, fixture *f) {
  double bound;
  limits l;
  uint32_t kept[MAPPER_DRAW_LEVELS] = {0}, valid = 0;
  mapper_problem given = *p;
  given.must_keep = given.may_keep = kept;
  memcpy(kept, p->must_keep, sizeof kept);
  limits_init(&l, f->context);
  assert_int_equal(mapper_imperfect_bound(&bound, p, &l, &f->arena), CALM_OK);
  do {
    mapper_result found;
    solve(&found, &given, f);
    if (found.outcome == CALM_OPTIMAL || found.outcome == CALM_FEASIBLE)
      assert_true(found.value >= bound * (1 - 1e-9));
    valid += check_bound(p, d, kept, FEWER_NESTS, bound, r, &f->arena);
  } while (next_set(kept, p));
  return valid;
}

/* A search of the keep sets is no worse than one without remainders, nor than
   one that keeps everything. */
static void check_better(const mapper_problem *p, const mapper_result *best,
                         fixture *f) {
  mapper_problem other = *p;
  mapper_result perfect, all;
  other.imperfect = false;
  solve(&perfect, &other, f);
  other = *p;
  other.must_keep = p->may_keep;
  solve(&all, &other, f);
  const mapper_result *than[2] = {&perfect, &all};
  for (uint32_t i = 0; i < 2; i++) {
    const calm_outcome outcome = than[i]->outcome;
    if (outcome != CALM_OPTIMAL && outcome != CALM_FEASIBLE) continue;
    if (p->objective != MAPPER_DELAY_ENERGY)
      assert_true(best->value <= than[i]->value);
    else
      assert_true(best->cost.cycles <= than[i]->cost.cycles);
  }
}

/* Far memory, and levels that hold much: what is kept further in saves a lot.
 */
static void make_far(mapper_draw *d, random_state *r) {
  accel_energy *far = &d->levels[d->arch.level_count - 1].energy;
  if (random_below(r, 3) == 0) return;
  far->read_pj *= 40, far->write_pj *= 40, far->update_pj *= 40;
  for (uint32_t l = 0; l + 1 < d->arch.level_count; l++)
    d->levels[l].capacity_words = d->levels[l].entries = UINT64_C(60) << l;
}

static void test_keeps(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(47);
  uint32_t found = 0, proved = 0, valid = 0;
  for (uint32_t i = 0; i < COST_CASES / 100; i++) {
    mapper_draw d;
    mapper_result best;
    uint32_t may[MAPPER_DRAW_LEVELS], must[MAPPER_DRAW_LEVELS] = {0};
    assert_true(mapper_draw_make(&d, &r, &f->arena));
    make_odd(&d.layer, &r);
    make_far(&d, &r);
    for (uint32_t l = 0; l < MAPPER_DRAW_LEVELS; l++) {
      may[l] = 7;
      if (random_below(&r, 3) == 0) must[l] = 1U << random_below(&r, 3);
    }
    must[d.arch.level_count - 1] = 7;
    const mapper_problem p = {.arch = &d.arch,
                              .layer = &d.layer,
                              .must_keep = must,
                              .may_keep = may,
                              .objective = (mapper_objective)(i % 4),
                              .imperfect = true};
    solve(&best, &p, f);
    check_better(&p, &best, f);
    if (best.outcome == CALM_OPTIMAL || best.outcome == CALM_FEASIBLE) {
      assert_true(best.value == value_of(p.objective, &best.cost));
      assert_true(best.bound <= best.value);
      proved += best.outcome == CALM_OPTIMAL;
      found++;
      if (p.objective != MAPPER_DELAY_ENERGY)
        valid += check_sets(&p, &d, &r, f);
    }
    arena_free(&f->arena);
  }
  print_message(
      "%u nests of searched keep sets, %u proved; %u others cost no "
      "less than the bounds\n",
      found, proved, valid);
  assert_true(found > 0 && valid > 0);
}

/* Thirteen iterations on six multipliers: in three steps, not in thirteen. */
static void test_prime(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  const accel_convolution k = {1, 1, 1, 1, 1, 13, 1, 1, 1, 1, 1, 1};
  random_state r = random_from_seed(1);
  mapper_draw d;
  mapper_result best;
  limits l;
  assert_true(mapper_draw_make(&d, &r, &f->arena));
  assert_int_equal(accel_layer_convolution(&d.layer, "prime", &k, &f->arena),
                   CALM_OK);
  d.arch.level_count = 1;
  d.levels[0] = (accel_level){.name = "L",
                              .class_name = "",
                              .capacity_words = ACCEL_UNLIMITED,
                              .entries = ACCEL_UNLIMITED,
                              .multiple_buffering = 1,
                              .word_bits = 8,
                              .block_words = 1,
                              .cluster = 1,
                              .instances = 1,
                              .mesh_x = 1,
                              .mesh_y = 1,
                              .energy = d.levels[0].energy,
                              .reduction_supported = true};
  d.arch.compute.instances = d.arch.compute.mesh_x = 6;
  d.kept[0] = 7;
  mapper_problem p = {.arch = &d.arch,
                      .layer = &d.layer,
                      .must_keep = d.kept,
                      .may_keep = d.kept,
                      .objective = MAPPER_DELAY};
  limits_init(&l, f->context);
  assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
  assert_true(best.value == 13);
  p.imperfect = true;
  assert_int_equal(mapper_exact(&best, &p, &rules, &l, &f->arena), CALM_OK);
  assert_int_equal(best.outcome, CALM_OPTIMAL);
  assert_true(best.value == 3);
  assert_int_equal(best.cost.computes, 13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_random), COST_TEST(test_keeps), COST_TEST(test_prime)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
