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

enum { MOST_NESTS = 8000 };

typedef struct tally {
  uint32_t tried, refused, infeasible, proved;
} tally;

/* Without networks and leakage a search goes other ways. */
static void plain_machine(accel_arch *arch) {
  for (uint32_t l = 0; l < arch->level_count; l++) {
    accel_level *level = &arch->levels[l];
    level->energy.leak_pj = 0;
    level->network.hop_pj = level->network.router_pj = 0;
    level->network.ingress_pj = 0;
  }
}

static bool agrees(const mapper_result *r, const mapper_brute *b,
                   mapper_objective o) {
  const double best = mapper_brute_best(b, o);
  if (!b->valid) return r->outcome == CALM_INFEASIBLE;
  return r->outcome == CALM_OPTIMAL && fabs(r->value - best) <= 1e-9 * best;
}

static const char *const names[] = {"energy", "delay", "edp", "delay-energy"};

static void complain(const cost_random_case *c, const mapper_result *r,
                     const mapper_brute *b, mapper_objective o) {
  cost_random_print(c);
  print_message("%s: %s %.17g bound %.17g, brute force %.17g of %" PRIu64
                " nests\n",
                names[o], calm_outcome_name(r->outcome), r->value, r->bound,
                mapper_brute_best(b, o), b->valid);
}

static void count(tally *t, const mapper_result *r) {
  t->infeasible += r->outcome == CALM_INFEASIBLE;
  t->proved += r->outcome == CALM_OPTIMAL;
}

/* Every objective, with these rules, against what brute force found. */
static void compare_all(fixture *f, const cost_random_case *c,
                        mapper_problem *p, const mapper_brute *b,
                        const mapper_rules *rules, uint32_t *wrong, tally *t) {
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++) {
    mapper_result r;
    limits l;
    limits_init(&l, f->context);
    p->objective = o;
    const calm_status status = mapper_exact(&r, p, rules, &l, &f->arena);
    if (status == CALM_UNSUPPORTED) {
      t->refused++;
      return;
    }
    assert_int_equal(status, CALM_OK);
    count(t, &r);
    if (agrees(&r, b, o)) continue;
    if ((*wrong)++ < 3) complain(c, &r, b, o);
  }
  t->tried++;
}

static void conclude(const tally *t, const char *what, uint32_t wrong) {
  print_message("%u %s, %u refused; proved %u, infeasible %u, wrong %u\n",
                t->tried, what, t->refused, t->proved, t->infeasible, wrong);
  assert_int_equal(wrong, 0);
}

static uint32_t case_count(uint32_t usual) {
  const char *env = getenv("MAPPER_CASES");
  return env ? (uint32_t)atoi(env) : usual;
}

static void compare_within(uint64_t most, fixture *f, const cost_random_case *c,
                           const mapper_rules *rules, uint32_t *wrong,
                           tally *t) {
  mapper_problem p = {.arch = &c->arch,
                      .layer = &c->layer,
                      .must_keep = c->nest.kept,
                      .may_keep = c->nest.kept};
  mapper_brute b;
  assert_int_equal(mapper_brute_search(&b, &p, most, &f->arena), CALM_OK);
  if (b.complete) compare_all(f, c, &p, &b, rules, wrong, t);
}

static void compare(fixture *f, const cost_random_case *c,
                    const mapper_rules *rules, uint32_t *wrong, tally *t) {
  compare_within(MOST_NESTS, f, c, rules, wrong, t);
}

static void test_random(void **state) {
  fixture *f = *state;
  const mapper_rules rules[] = {
      {0}, {.no_bound = true}, {.no_dominance = true}};
  random_state r = random_from_seed(20261130);
  const uint32_t cases = case_count(COST_CASES / 40);
  uint32_t wrong = 0;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    const cost_random_options options = {.most_macs = 200, .valid = true};
    cost_random_case c;
    cost_random_make(&c, &r, &options, &f->arena);
    if (i % 4 == 0) plain_machine(&c.arch);
    compare(f, &c, &rules[i % 3], &wrong, &t);
    arena_free(&f->arena);
  }
  conclude(&t, "machines", wrong);
}

/* ---- Windows ------------------------------------------------------------- */

/* A machine of so many levels: capacities, fan-outs, prices and bandwidths at
   random. */
static void draw_machine(cost_random_case *c, random_state *r, uint32_t levels,
                         arena *a) {
  accel_level *l = arena_calloc(a, levels, sizeof *l);
  c->nest.kept = arena_calloc(a, levels, sizeof *c->nest.kept);
  c->nest.level_count = levels;
  c->arch = (accel_arch){.name = "window", .levels = l, .level_count = levels};
  uint32_t instances = 1;
  for (uint32_t i = levels; i-- > 0;) {
    l[i].name = "L";
    l[i].class_name = "";
    l[i].capacity_words = l[i].entries =
        i + 1 == levels ? ACCEL_UNLIMITED
                        : 1 + random_below(r, UINT32_C(14) << i);
    l[i].multiple_buffering = 1;
    l[i].word_bits = 8;
    l[i].block_words = random_below(r, 3) ? 1 : 4;
    l[i].cluster = 1;
    l[i].instances = l[i].mesh_x = instances;
    l[i].mesh_y = 1;
    if (instances % 2 == 0 && random_below(r, 3) == 0) l[i].cluster = 2;
    const double price = 1 + (double)random_below(r, 8) * (1 + 4 * i);
    l[i].energy = (accel_energy){
        price, price * 0.75, price * 1.25, 0, -1, true, 0, 0, {0}};
    if (random_below(r, 3) == 0) l[i].read_bandwidth = 1 + random_below(r, 4);
    if (random_below(r, 3) == 0) l[i].write_bandwidth = 1 + random_below(r, 4);
    l[i].reduction_supported = true;
    c->nest.kept[i] = i + 1 == levels ? 7 : 1 + random_below(r, 7);
    if (random_below(r, 2)) instances *= 1 + random_below(r, 6);
  }
  c->arch.compute = (accel_compute){.name = "MAC",
                                    .word_bits = 8,
                                    .instances = instances,
                                    .mesh_x = instances,
                                    .mesh_y = 1,
                                    .energy_pj = 1,
                                    .energy_known = true};
}

/* One-dimensional convolutions, and two-dimensional ones; strides at
   which filter and window undo each other's steps. */
static void draw_window(cost_random_case *c, random_state *r, arena *a) {
  static const uint64_t filters[] = {2, 3, 4, 6}, widths[] = {4, 6, 8, 9, 12};
  accel_convolution k = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  k.r = filters[random_below(r, 4)];
  k.p = widths[random_below(r, 5)];
  k.k = 1 + random_below(r, 2);
  if (random_below(r, 3) == 0) k.c = 2;
  if (random_below(r, 4) == 0) k.q = 2, k.p = 4, k.s = 1 + random_below(r, 2);
  k.dilation_w = 1 + random_below(r, 3);
  k.stride_w = 1 + random_below(r, 3);
  if (random_below(r, 3) == 0) k.stride_w = k.r * k.dilation_w;
  if (random_below(r, 6) == 0) k.stride_w = (k.r - 1) * k.dilation_w;
  memset(c, 0, sizeof *c);
  assert_int_equal(accel_layer_convolution(&c->layer, "window", &k, a),
                   CALM_OK);
  draw_machine(c, r, 2 + random_below(r, 3), a);
}

static void test_windows(void **state) {
  fixture *f = *state;
  const mapper_rules rules[] = {{0}, {.no_bound = true}};
  random_state r = random_from_seed(42);
  const uint32_t cases = case_count(COST_CASES / 40);
  uint32_t wrong = 0;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    cost_random_case c;
    draw_window(&c, &r, &f->arena);
    compare(f, &c, &rules[i % 2], &wrong, &t);
    arena_free(&f->arena);
  }
  conclude(&t, "windows", wrong);
}

/* ---- Squares ------------------------------------------------------------- */

/* Two dimensions of each kind take many nests. */
enum { MOST_SQUARE_NESTS = 100000 };

/* Convolutions that look the same when turned, so that dimensions can be
   exchanged. */
static void draw_square(cost_random_case *c, random_state *r, arena *a) {
  accel_convolution k = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  k.p = k.q = 2 + 2 * random_below(r, 2);
  k.r = k.s = 1 + random_below(r, 3);
  if (k.r == 1) k.k = 1 + random_below(r, 2);
  if (k.r == 1 && random_below(r, 3) == 0) k.c = 2;
  k.dilation_w = k.dilation_h = 1 + random_below(r, 2);
  k.stride_w = k.stride_h = 1 + random_below(r, 3);
  if (random_below(r, 3) == 0) k.stride_w = k.stride_h = k.r * k.dilation_w;
  memset(c, 0, sizeof *c);
  assert_int_equal(accel_layer_convolution(&c->layer, "square", &k, a),
                   CALM_OK);
  draw_machine(c, r, 2 + random_below(r, 2), a);
}

static void test_squares(void **state) {
  fixture *f = *state;
  const mapper_rules rules[] = {{0}, {.no_bound = true}};
  random_state r = random_from_seed(56);
  const uint32_t cases = case_count(COST_CASES / 100);
  uint32_t wrong = 0;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    cost_random_case c;
    draw_square(&c, &r, &f->arena);
    compare_within(MOST_SQUARE_NESTS, f, &c, &rules[i % 2], &wrong, &t);
    arena_free(&f->arena);
  }
  conclude(&t, "squares", wrong);
}

/* ---- Bypass -------------------------------------------------------------- */

enum { PLACES = 3, MOST_LEVELS = 8 };

/* A few places where a tensor may be kept or not. */
typedef struct places {
  uint32_t must[MOST_LEVELS], may[MOST_LEVELS];
  uint32_t levels[PLACES], tensors[PLACES], count;
} places;

static void draw_places(places *out, const cost_random_case *c,
                        random_state *r) {
  memset(out, 0, sizeof *out);
  for (uint32_t l = 0; l < c->arch.level_count; l++)
    out->must[l] = out->may[l] = c->nest.kept[l];
  for (uint32_t i = 0; i < PLACES; i++) {
    const uint32_t level = random_below(r, c->arch.level_count);
    const uint32_t tensor = random_below(r, 3);
    if (out->may[level] & ~out->must[level] & 1u << tensor) continue;
    out->must[level] &= ~(1u << tensor);
    out->may[level] |= 1u << tensor;
    out->levels[out->count] = level;
    out->tensors[out->count++] = tensor;
  }
}

static void merge_brute(mapper_brute *all, const mapper_brute *b) {
  if (b->cycles < all->cycles) all->energy_at_cycles = b->energy_at_cycles;
  if (b->cycles == all->cycles)
    all->energy_at_cycles = fmin(all->energy_at_cycles, b->energy_at_cycles);
  all->cycles = fmin(all->cycles, b->cycles);
  all->energy_pj = fmin(all->energy_pj, b->energy_pj);
  all->edp = fmin(all->edp, b->edp);
  all->valid += b->valid;
  all->complete &= b->complete;
}

static void brute_places(mapper_brute *all, fixture *f,
                         const cost_random_case *c, const places *at) {
  *all = (mapper_brute){.complete = true,
                        .energy_pj = HUGE_VAL,
                        .cycles = HUGE_VAL,
                        .edp = HUGE_VAL,
                        .energy_at_cycles = HUGE_VAL};
  for (uint32_t set = 0; set < 1u << at->count && all->complete; set++) {
    uint32_t kept[MOST_LEVELS];
    memcpy(kept, at->must, sizeof kept);
    for (uint32_t i = 0; i < at->count; i++)
      if (set >> i & 1) kept[at->levels[i]] |= 1u << at->tensors[i];
    const mapper_problem p = {.arch = &c->arch,
                              .layer = &c->layer,
                              .must_keep = kept,
                              .may_keep = kept};
    mapper_brute b;
    assert_int_equal(mapper_brute_search(&b, &p, MOST_NESTS, &f->arena),
                     CALM_OK);
    merge_brute(all, &b);
  }
}

static void test_bypass(void **state) {
  fixture *f = *state;
  const mapper_rules rules = {0};
  random_state r = random_from_seed(7);
  const uint32_t cases = case_count(COST_CASES / 100);
  uint32_t wrong = 0;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    cost_random_case c;
    places at;
    mapper_brute all;
    draw_window(&c, &r, &f->arena);
    draw_places(&at, &c, &r);
    brute_places(&all, f, &c, &at);
    mapper_problem p = {.arch = &c.arch,
                        .layer = &c.layer,
                        .must_keep = at.must,
                        .may_keep = at.may};
    if (all.complete) compare_all(f, &c, &p, &all, &rules, &wrong, &t);
    arena_free(&f->arena);
  }
  conclude(&t, "bypasses", wrong);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_random), COST_TEST(test_windows), COST_TEST(test_squares),
      COST_TEST(test_bypass)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
