/*
 * Orders of a nest, one of each kind: whatever some order of its loops costs,
 * one of the orders that are looked at costs, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cost_scratch.h"
#include "cost_fixture.h"
#include "cost_random.h"
#include "mapper/mapper_sample_orders.h"

enum { MOST_ORDERS = 3000, MOST_LEVELS = 32 };

typedef struct cost_pair {
  double energy_pj, cycles;
} cost_pair;

/* What the orders of a nest cost. */
typedef struct costs {
  cost_pair *pairs;
  uint32_t count;
} costs;

typedef struct bench {
  fixture *f;
  const cost_random_case *c;
  accel_nest nest;
  cost_problem cost;
  cost_result result;
} bench;

static void note(costs *out, bench *b) {
  assert_int_equal(cost_evaluate(&b->result, &b->cost, &b->nest), CALM_OK);
  assert_int_equal(b->result.verdict.fault, COST_VALID);
  out->pairs[out->count++] =
      (cost_pair){b->result.energy_pj, (double)b->result.cycles};
}

/* ---- All orders ---------------------------------------------------------- */

/* The temporal loops of a level: *first to the one before *last. */
static void find_block(const accel_nest *n, uint32_t level, uint32_t *first,
                       uint32_t *last) {
  for (*first = 0; *first < n->loop_count; ++*first)
    if (n->loops[*first].level == level &&
        n->loops[*first].kind == ACCEL_TEMPORAL)
      break;
  for (*last = *first; *last < n->loop_count; ++*last)
    if (n->loops[*last].level != level) break;
}

static double count_orders(const accel_nest *n) {
  double orders = 1;
  for (uint32_t l = 0; l < n->level_count; l++) {
    uint32_t first, last;
    find_block(n, l, &first, &last);
    for (uint32_t i = first; i < last; i++) orders *= i - first + 1;
  }
  return orders;
}

static void swap_loops(accel_nest *n, uint32_t x, uint32_t y) {
  const accel_loop swap = n->loops[x];
  n->loops[x] = n->loops[y];
  n->loops[y] = swap;
}

/* Heap's way through the orders of one block, as a counter of exchanges. */
static bool next_permutation(accel_nest *n, uint32_t level, uint32_t *turns) {
  uint32_t first, last;
  find_block(n, level, &first, &last);
  for (uint32_t i = 1; i < last - first; i++) {
    if (turns[i] < i) {
      swap_loops(n, first + (i % 2 ? turns[i] : 0), first + i);
      turns[i]++;
      for (uint32_t k = 1; k < i; k++) turns[k] = 0;
      return true;
    }
  }
  memset(turns, 0, 64 * sizeof *turns);
  return false;
}

static void note_all(costs *out, bench *b) {
  static uint32_t turns[MOST_LEVELS][64];
  memset(turns, 0, sizeof turns);
  for (uint32_t level = 0; level < b->nest.level_count;) {
    note(out, b);
    level = 0;
    while (level < b->nest.level_count &&
           !next_permutation(&b->nest, level, turns[level]))
      level++;
  }
}

/* ---- Those of each kind -------------------------------------------------- */

static bool is_same(const accel_nest *x, const accel_nest *y) {
  if (x->loop_count != y->loop_count) return false;
  return !memcmp(x->loops, y->loops, x->loop_count * sizeof *x->loops);
}

static accel_nest copy(const accel_nest *n, arena *a) {
  accel_nest out = *n;
  out.loops = arena_calloc(a, n->loop_count, sizeof *out.loops);
  memcpy(out.loops, n->loops, n->loop_count * sizeof *out.loops);
  return out;
}

static void note_kinds(costs *out, bench *b, const accel_constraints *c) {
  mapper_orders o;
  const accel_nest own = copy(&b->nest, &b->f->arena);
  assert_int_equal(
      mapper_orders_init(&o, &b->cost.scratch->tables, c, &b->f->arena),
      CALM_OK);
  mapper_orders_begin(&o, &b->nest);
  assert_true(is_same(&own, &b->nest));
  note(out, b);
  while (mapper_orders_next(&o)) {
    assert_false(is_same(&own, &b->nest));
    note(out, b);
    assert_true(out->count <= MOST_ORDERS);
  }
  assert_true(is_same(&own, &b->nest));
}

/* ---- Both ---------------------------------------------------------------- */

/* But for words that are cut off where parts of a word pass a level by. */
static bool is_near(double x, double y) {
  return fabs(x - y) <= 1e-3 * fabs(x);
}

static bool has(const costs *c, const cost_pair *p) {
  for (uint32_t i = 0; i < c->count; i++)
    if (is_near(c->pairs[i].energy_pj, p->energy_pj) &&
        is_near(c->pairs[i].cycles, p->cycles))
      return true;
  return false;
}

static costs room_for_costs(fixture *f) {
  return (costs){arena_calloc(&f->arena, MOST_ORDERS + 1, sizeof(cost_pair)),
                 0};
}

/* Links are no matter of orders' kinds. */
static void unlink_all(accel_nest *n, arena *a) {
  n->unlinked = arena_calloc(a, n->level_count, sizeof *n->unlinked);
  for (uint32_t l = 0; l < n->level_count; l++) n->unlinked[l] = UINT32_MAX;
}

static bool is_usable(bench *b, cost_model model) {
  const cost_random_case *c = b->c;
  const cost_options options = {.model = model};
  cost_verdict v;
  b->nest = copy(&c->nest, &b->f->arena);
  unlink_all(&b->nest, &b->f->arena);
  assert_int_equal(
      cost_problem_init(&b->cost, &c->arch, &c->layer, &options, &b->f->arena),
      CALM_OK);
  assert_int_equal(cost_result_init(&b->result, &b->cost, &b->f->arena),
                   CALM_OK);
  cost_judge(&v, &b->cost, &b->nest);
  return v.fault == COST_VALID && count_orders(&b->nest) <= MOST_ORDERS;
}

static void test_random(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(18);
  uint64_t all = 0, kinds = 0;
  uint32_t nests = 0;
  for (uint32_t i = 0; i < COST_CASES; i++) {
    const cost_random_options options = {.most_macs = 20000, .valid = true};
    cost_random_case c;
    bench b = {.f = f, .c = &c};
    cost_random_make(&c, &r, &options, &f->arena);
    if (is_usable(&b, i % 3 ? COST_EXACT : COST_TIMELOOP)) {
      costs every = room_for_costs(f), some = room_for_costs(f);
      note_kinds(&some, &b, NULL);
      note_all(&every, &b);
      assert_int_equal(every.count, count_orders(&b.nest));
      assert_true(some.count <= every.count);
      for (uint32_t k = 0; k < every.count; k++)
        if (!has(&some, &every.pairs[k])) {
          cost_random_print(&c);
          fail_msg("an order costs %.17g pJ, %.17g cycles",
                   every.pairs[k].energy_pj, every.pairs[k].cycles);
        }
      all += every.count;
      kinds += some.count;
      nests++;
    }
    arena_free(&f->arena);
  }
  print_message("%u nests with %lu orders of %lu kinds\n", nests,
                (unsigned long)all, (unsigned long)kinds);
  assert_true(nests > COST_CASES / 2 && kinds < all / 2);
}

/* ---- By hand ------------------------------------------------------------- */

enum { W = 1, I = 2, O = 4 };

static uint32_t count_kinds(fixture *f, const char *line,
                            const accel_constraints *rules) {
  cost_random_case c = {.arch = {.name = "m", .level_count = 2}};
  const accel_convolution size = {3, 1, 4, 1, 5, 7, 2, 1, 1, 1, 1, 1};
  uint32_t kept[] = {W | I | O, W | I | O};
  accel_loop loops[16];
  accel_level levels[] = {cost_plain_level("PE"), cost_plain_level("DRAM")};
  bench b = {.f = f, .c = &c};
  assert_int_equal(accel_layer_convolution(&c.layer, "l", &size, &f->arena),
                   CALM_OK);
  c.arch.levels = levels;
  c.arch.compute =
      (accel_compute){.name = "MAC", .instances = 1, .mesh_x = 1, .mesh_y = 1};
  c.nest = (accel_nest){.loops = loops, .kept = kept, .level_count = 2};
  cost_read_loops(&c.nest, line, &c.layer);
  assert_true(is_usable(&b, COST_EXACT));
  costs some = room_for_costs(f);
  note_kinds(&some, &b, rules);
  return some.count;
}

static void test_by_hand(void **state) {
  fixture *f = *state;
  /* Nothing is below the innermost level. */
  assert_int_equal(count_kinds(f, "R3 P4 C5 K7 N2 | ", NULL), 1);
  /* K moves weights and outputs, N inputs and outputs. */
  assert_int_equal(count_kinds(f, "R3 P4 C5 | K7 N2", NULL), 2);
  /* One loop has one order. */
  assert_int_equal(count_kinds(f, "R3 P4 C5 K7 | N2", NULL), 1);
  /* C moves weights and inputs, K weights and outputs, N inputs and outputs:
     the first loop leaves one tensor where it is, and the second moves it. */
  assert_int_equal(count_kinds(f, "R3 P4 | C5 K7 N2", NULL), 3);
}

/* K innermost, P outermost: what is between them, and its order, is free. */
static void test_listed(void **state) {
  fixture *f = *state;
  uint32_t inner[] = {5, 0}, outer[] = {2};
  accel_level_rules levels[2] = {{.keep = 0}};
  const accel_constraints rules = {.levels = levels, .level_count = 2};
  accel_layer layer;
  const accel_convolution size = {3, 1, 4, 1, 5, 7, 2, 1, 1, 1, 1, 1};
  assert_int_equal(accel_layer_convolution(&layer, "l", &size, &f->arena),
                   CALM_OK);
  inner[0] = accel_layer_dimension(&layer, "K");
  outer[0] = accel_layer_dimension(&layer, "P");
  levels[1].temporal = (accel_block_rules){.inner = inner,
                                           .inner_count = 1,
                                           .outer = outer,
                                           .outer_count = 1,
                                           .split = CALM_NONE};
  const uint32_t free_count = count_kinds(f, "R3 | K7 C5 N2 P4", NULL);
  const uint32_t listed = count_kinds(f, "R3 | K7 C5 N2 P4", &rules);
  assert_int_equal(listed, 1);
  assert_true(free_count > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_random), COST_TEST(test_by_hand), COST_TEST(test_listed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
