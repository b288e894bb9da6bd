/*
 * Nests drawn at random: each way to place prime factors and to order loops as
 * often as any other, and nothing that the machine or a rule forbids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "cost_fixture.h"
#include "cost_random.h"
#include "mapper/mapper_sample_draw.h"

enum { DRAWS = 60000, MOST_LEVELS = 8 };

static const uint32_t all_kept[MOST_LEVELS] = {7, 7, 7, 7, 7, 7, 7, 7};

typedef struct bench {
  accel_arch arch;
  accel_layer layer;
  accel_level levels[3];
  mapper_problem problem;
} bench;

/* Three levels; 4 x 2 places below the outermost, 6 below the middle one. */
static void open_bench(bench *b, const accel_convolution *layer, fixture *f) {
  static const char *const names[] = {"PE", "GB", "DRAM"};
  static const uint64_t columns[] = {24, 4, 1}, rows[] = {2, 2, 1};
  memset(b, 0, sizeof *b);
  assert_int_equal(accel_layer_convolution(&b->layer, "l", layer, &f->arena),
                   CALM_OK);
  for (uint32_t i = 0; i < 3; i++) {
    b->levels[i] = cost_plain_level(names[i]);
    b->levels[i].mesh_x = columns[i];
    b->levels[i].mesh_y = rows[i];
    b->levels[i].instances = columns[i] * rows[i];
  }
  b->arch = (accel_arch){.name = "m",
                         .levels = b->levels,
                         .level_count = 3,
                         .compute = {.name = "MAC",
                                     .instances = 48,
                                     .mesh_x = 24,
                                     .mesh_y = 2,
                                     .energy_known = true}};
  b->problem = (mapper_problem){.arch = &b->arch,
                                .layer = &b->layer,
                                .must_keep = all_kept,
                                .may_keep = all_kept};
}

static const accel_convolution one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* No rules at all, for a machine. */
static accel_constraints *free_rules(uint32_t levels, uint32_t dimensions,
                                     arena *a) {
  accel_constraints *c = arena_calloc(a, 1, sizeof *c);
  c->level_count = levels;
  c->levels = arena_calloc(a, levels, sizeof *c->levels);
  for (uint32_t i = 0; i < 2 * levels; i++) {
    accel_block_rules *b =
        i % 2 ? &c->levels[i / 2].spatial : &c->levels[i / 2].temporal;
    b->factors = arena_calloc(a, 3 * (size_t)dimensions, sizeof *b->factors);
    b->inner = arena_calloc(a, dimensions, sizeof *b->inner);
    b->outer = arena_calloc(a, dimensions, sizeof *b->outer);
    b->split = CALM_NONE;
  }
  return c;
}

static void add_rule(accel_block_rules *b, uint32_t dimension,
                     accel_relation relation, uint64_t value) {
  b->factors[b->factor_count++] =
      (accel_factor_rule){dimension, relation, value, {0}};
}

/* ---- As often as any other ----------------------------------------------- */

/* Chi-square is about the degrees of freedom, give or take some of their
   roots. */
static void check_uniform(const uint32_t *seen, uint32_t kinds) {
  double all = 0, chi = 0;
  for (uint32_t i = 0; i < kinds; i++) all += seen[i];
  const double expected = all / kinds;
  for (uint32_t i = 0; i < kinds; i++)
    chi += (seen[i] - expected) * (seen[i] - expected) / expected;
  assert_true(chi < kinds + 6 * 2 * (kinds > 9 ? kinds / 3.0 : 3));
}

/* 7 fits below no fan-out, 5 below the middle level's only, 2 everywhere. */
static void test_places(void **state) {
  fixture *f = *state;
  accel_convolution layer = one;
  bench b;
  mapper_draw d;
  uint32_t seen[3][9] = {{0}};
  layer.k = 2, layer.c = 5, layer.p = 7;
  open_bench(&b, &layer, f);
  const uint32_t ids[] = {accel_layer_dimension(&b.layer, "K"),
                          accel_layer_dimension(&b.layer, "C"),
                          accel_layer_dimension(&b.layer, "P")};
  assert_int_equal(mapper_draw_init(&d, &b.problem, 5, &f->arena), CALM_OK);
  assert_null(d.reason);
  for (uint32_t i = 0; i < DRAWS; i++) {
    assert_true(mapper_draw_next(&d));
    assert_int_equal(d.nest.loop_count, 3);
    for (uint32_t k = 0; k < 3; k++)
      for (uint32_t j = 0; j < 3; j++)
        if (d.nest.loops[k].dimension == ids[j])
          seen[j][cost_place_of(&d.nest.loops[k])]++;
  }
  /* Places: columns, rows, time of PE, GB, DRAM. */
  const uint32_t two[] = {seen[0][2], seen[0][3], seen[0][5],
                          seen[0][6], seen[0][7], seen[0][8]};
  const uint32_t five[] = {seen[1][2], seen[1][3], seen[1][5], seen[1][8]};
  const uint32_t seven[] = {seen[2][2], seen[2][5], seen[2][8]};
  check_uniform(two, 6);
  check_uniform(five, 4);
  check_uniform(seven, 3);
  assert_int_equal(two[0] + two[1] + two[2] + two[3] + two[4] + two[5], DRAWS);
  assert_int_equal(five[0] + five[1] + five[2] + five[3], DRAWS);
  assert_int_equal(seven[0] + seven[1] + seven[2], DRAWS);
}

/* Two equal factors, each in one of six places: all 36 ways but the two that
   spread a dimension over columns and rows, and the one that wants four rows.
 */
static void test_pairs(void **state) {
  fixture *f = *state;
  accel_convolution layer = one;
  bench b;
  mapper_draw d;
  uint32_t seen[9][9] = {{0}}, once = 0, kinds = 0;
  uint32_t counts[21];
  layer.k = 4;
  open_bench(&b, &layer, f);
  assert_int_equal(mapper_draw_init(&d, &b.problem, 6, &f->arena), CALM_OK);
  for (uint32_t i = 0; i < DRAWS; i++) {
    assert_true(mapper_draw_next(&d));
    const accel_loop *l = d.nest.loops;
    const uint32_t last = d.nest.loop_count - 1;
    seen[cost_place_of(&l[0])][cost_place_of(&l[last])]++;
  }
  for (uint32_t x = 0; x < 9; x++)
    for (uint32_t y = x; y < 9; y++) {
      if (!seen[x][y]) continue;
      once += x == y;
      /* Two places can be chosen in two ways. */
      counts[kinds++] = x == y ? 2 * seen[x][y] : seen[x][y];
    }
  assert_int_equal(kinds, 21 - 2);
  assert_int_equal(once, 5);
  assert_int_equal(seen[6][7], 0);
  assert_int_equal(seen[7][7], 0);
  check_uniform(counts, kinds);
}

static void test_orders(void **state) {
  fixture *f = *state;
  accel_convolution layer = one;
  bench b;
  mapper_draw d;
  uint32_t seen[8][8] = {{0}}, counts[6], kinds = 0;
  layer.k = 2, layer.c = 2, layer.p = 2;
  open_bench(&b, &layer, f);
  accel_constraints *rules = free_rules(3, 8, &f->arena);
  for (uint32_t i = 0; i < b.layer.dimension_count; i++)
    add_rule(&rules->levels[1].temporal, i, ACCEL_EQUAL,
             b.layer.dimensions[i].bound);
  b.problem.constraints = rules;
  assert_int_equal(mapper_draw_init(&d, &b.problem, 7, &f->arena), CALM_OK);
  for (uint32_t i = 0; i < DRAWS / 10; i++) {
    assert_true(mapper_draw_next(&d));
    assert_int_equal(d.nest.loop_count, 3);
    seen[d.nest.loops[0].dimension][d.nest.loops[1].dimension]++;
  }
  for (uint32_t x = 0; x < 8; x++)
    for (uint32_t y = 0; y < 8; y++)
      if (seen[x][y]) counts[kinds++] = seen[x][y];
  assert_int_equal(kinds, 6);
  check_uniform(counts, kinds);
}

/* Free places are kept every other time, independently; others as they must. */
static void test_kept(void **state) {
  static const uint32_t must[] = {1, 0, 7}, may[] = {5, 3, 7};
  fixture *f = *state;
  bench b;
  mapper_draw d;
  uint32_t seen[8] = {0};
  open_bench(&b, &one, f);
  b.problem.must_keep = must;
  b.problem.may_keep = may;
  assert_int_equal(mapper_draw_init(&d, &b.problem, 8, &f->arena), CALM_OK);
  for (uint32_t i = 0; i < DRAWS / 10; i++) {
    assert_true(mapper_draw_next(&d));
    const uint32_t *kept = d.nest.kept;
    assert_true(kept[2] == 7 && (kept[0] & ~4u) == 1 && kept[1] <= 3);
    seen[(kept[0] >> 2) * 4 + kept[1]]++;
  }
  check_uniform(seen, 8);
}

/* ---- Nothing that is forbidden ------------------------------------------- */

static bool is_ordered(const accel_nest *n) {
  for (uint32_t i = 1; i < n->loop_count; i++)
    if (cost_place_of(&n->loops[i]) < cost_place_of(&n->loops[i - 1]))
      return false;
  return true;
}

/* Each loop once in its place, and no dimension on both sides of a mesh. */
static bool is_said_once(const accel_nest *n) {
  for (uint32_t i = 0; i < n->loop_count; i++)
    for (uint32_t k = 0; k < i; k++) {
      const accel_loop *x = &n->loops[i], *y = &n->loops[k];
      if (x->level == y->level && x->dimension == y->dimension &&
          (x->kind == ACCEL_TEMPORAL) == (y->kind == ACCEL_TEMPORAL))
        return false;
    }
  return true;
}

static uint64_t factor_at(const accel_nest *n, uint32_t level, bool spatial,
                          uint32_t dimension) {
  for (uint32_t i = 0; i < n->loop_count; i++)
    if (n->loops[i].level == level && n->loops[i].dimension == dimension &&
        (n->loops[i].kind != ACCEL_TEMPORAL) == spatial)
      return n->loops[i].bound;
  return 1;
}

/* A rule that a nest observes, on some factor of a block. */
static void add_some_rule(accel_constraints *c, const accel_nest *n,
                          const accel_layer *layer, random_state *r) {
  const uint32_t level = random_below(r, c->level_count);
  const uint32_t dimension = random_below(r, layer->dimension_count);
  const bool spatial = random_below(r, 2);
  accel_block_rules *b =
      spatial ? &c->levels[level].spatial : &c->levels[level].temporal;
  for (uint32_t i = 0; i < b->factor_count; i++)
    if (b->factors[i].dimension == dimension) return;
  add_rule(b, dimension, (accel_relation)random_below(r, 3),
           factor_at(n, level, spatial, dimension));
}

/* The loops of a temporal block, from either end. */
static void add_some_order(accel_constraints *c, const accel_nest *n,
                           random_state *r) {
  const uint32_t level = random_below(r, c->level_count);
  accel_block_rules *b = &c->levels[level].temporal;
  uint32_t block[64], count = 0;
  for (uint32_t i = 0; i < n->loop_count; i++)
    if (n->loops[i].level == level && n->loops[i].kind == ACCEL_TEMPORAL)
      block[count++] = n->loops[i].dimension;
  if (!count || b->inner_count || b->outer_count) return;
  const uint32_t inner = random_below(r, count + 1);
  const uint32_t outer = random_below(r, count - inner + 1);
  while (b->inner_count < inner) {
    b->inner[b->inner_count] = block[b->inner_count];
    b->inner_count++;
  }
  while (b->outer_count < outer) {
    b->outer[b->outer_count] = block[count - 1 - b->outer_count];
    b->outer_count++;
  }
}

static accel_constraints *draw_rules(const cost_random_case *c,
                                     const accel_nest *n, random_state *r,
                                     arena *a) {
  accel_constraints *rules =
      free_rules(c->arch.level_count, c->layer.dimension_count, a);
  for (uint32_t i = random_below(r, 6); i-- > 0;)
    add_some_rule(rules, n, &c->layer, r);
  for (uint32_t i = random_below(r, 3); i-- > 0;) add_some_order(rules, n, r);
  return rules;
}

static void check_nest(fixture *f, const mapper_draw *d,
                       const cost_problem *cost, uint32_t *valid) {
  const mapper_problem *p = d->problem;
  cost_verdict v;
  char *broken = NULL;
  assert_true(is_ordered(&d->nest) && is_said_once(&d->nest));
  cost_judge(&v, cost, &d->nest);
  assert_int_not_equal(v.fault, COST_FACTORS);
  *valid += v.fault == COST_VALID;
  if (!p->constraints) return;
  assert_int_equal(accel_constraints_check(&broken, p->constraints, &d->nest,
                                           p->arch, p->layer, f->context),
                   CALM_OK);
  assert_null(broken);
}

/* Rules that a nest drawn without them happens to observe; then with them. */
static void test_rules(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(31);
  uint32_t valid = 0, drawn = 0, failed = 0;
  for (uint32_t i = 0; i < COST_CASES / 10; i++) {
    const cost_random_options options = {.most_macs = 5000, .valid = true};
    cost_random_case c;
    cost_problem cost;
    mapper_draw d;
    cost_random_make(&c, &r, &options, &f->arena);
    mapper_problem p = {.arch = &c.arch,
                        .layer = &c.layer,
                        .must_keep = c.nest.kept,
                        .may_keep = c.nest.kept};
    p.cost.fanout = i % 2 ? COST_FANOUT_LEVEL : COST_FANOUT_CUMULATIVE;
    assert_int_equal(
        cost_problem_init(&cost, &c.arch, &c.layer, &p.cost, &f->arena),
        CALM_OK);
    for (uint32_t k = 0; k < 2; k++) {
      assert_int_equal(mapper_draw_init(&d, &p, i, &f->arena), CALM_OK);
      assert_null(d.reason);
      for (uint32_t n = 0; n < 10; n++) {
        drawn++;
        if (mapper_draw_next(&d))
          check_nest(f, &d, &cost, &valid);
        else
          failed++;
      }
      p.constraints = draw_rules(&c, &d.nest, &r, &f->arena);
    }
    arena_free(&f->arena);
  }
  print_message("%u nests drawn, %u valid, %u without factors\n", drawn, valid,
                failed);
  assert_true(valid > drawn / 20 && failed < drawn / 20);
}

/* A container's mesh has no loops over time. */
static void test_virtual(void **state) {
  static const uint32_t kept[] = {7, 0, 7};
  fixture *f = *state;
  accel_convolution layer = one;
  bench b;
  mapper_draw d;
  layer.k = 64;
  open_bench(&b, &layer, f);
  b.levels[1].virtual_level = true;
  b.problem.must_keep = kept;
  b.problem.may_keep = all_kept;
  assert_int_equal(mapper_draw_init(&d, &b.problem, 9, &f->arena), CALM_OK);
  for (uint32_t i = 0; i < 1000; i++) {
    assert_true(mapper_draw_next(&d));
    assert_int_equal(
        factor_at(&d.nest, 1, false, accel_layer_dimension(&b.layer, "K")), 1);
    assert_int_equal(d.nest.kept[1], 0);
  }
}

/* ---- Nothing to draw ----------------------------------------------------- */

static void expect_reason(bench *b, const char *reason, fixture *f) {
  mapper_draw d;
  assert_int_equal(mapper_draw_init(&d, &b->problem, 1, &f->arena), CALM_OK);
  assert_non_null(d.reason);
  assert_string_equal(d.reason, reason);
}

static void test_reasons(void **state) {
  static const uint32_t none[] = {5, 5, 5};
  fixture *f = *state;
  accel_convolution layer = one;
  bench b;
  layer.k = 8;
  open_bench(&b, &layer, f);
  const uint32_t k = accel_layer_dimension(&b.layer, "K");
  b.problem.constraints = free_rules(3, 8, &f->arena);
  add_rule(&b.problem.constraints->levels[2].temporal, k, ACCEL_EQUAL, 3);
  expect_reason(&b,
                "the constraints fix factors of K that do not divide its "
                "bound of 8",
                f);
  b.problem.constraints = free_rules(3, 8, &f->arena);
  for (uint32_t i = 0; i < 6; i++)
    add_rule(i % 2 ? &b.problem.constraints->levels[i / 2].spatial
                   : &b.problem.constraints->levels[i / 2].temporal,
             k, ACCEL_EQUAL, i ? 1 : 4);
  expect_reason(&b,
                "the constraints leave no place for a factor of 2 of the bound "
                "of K, which is 8",
                f);
  b.problem.constraints = NULL;
  b.problem.must_keep = b.problem.may_keep = none;
  expect_reason(&b, "Inputs is kept at no level", f);
}

static void test_seeds(void **state) {
  fixture *f = *state;
  accel_convolution layer = one;
  bench b;
  mapper_draw same[2], other;
  uint32_t differ = 0;
  layer.k = 64, layer.c = 30;
  open_bench(&b, &layer, f);
  for (uint32_t i = 0; i < 2; i++)
    assert_int_equal(mapper_draw_init(&same[i], &b.problem, 3, &f->arena),
                     CALM_OK);
  assert_int_equal(mapper_draw_init(&other, &b.problem, 4, &f->arena), CALM_OK);
  for (uint32_t i = 0; i < 100; i++) {
    assert_true(mapper_draw_next(&same[0]) && mapper_draw_next(&same[1]) &&
                mapper_draw_next(&other));
    const accel_nest *x = &same[0].nest, *y = &same[1].nest;
    assert_int_equal(x->loop_count, y->loop_count);
    for (uint32_t k = 0; k < x->loop_count; k++)
      assert_true(x->loops[k].bound == y->loops[k].bound &&
                  x->loops[k].dimension == y->loops[k].dimension &&
                  cost_place_of(&x->loops[k]) == cost_place_of(&y->loops[k]));
    differ += x->loop_count != other.nest.loop_count;
  }
  assert_true(differ > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_places),  COST_TEST(test_pairs), COST_TEST(test_orders),
      COST_TEST(test_kept),    COST_TEST(test_rules), COST_TEST(test_virtual),
      COST_TEST(test_reasons), COST_TEST(test_seeds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
