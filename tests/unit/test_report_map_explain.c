/*
 * What a nest has to carry and what holds it back: counted iteration by
 * iteration, and by trying the larger tiles.
 */
#include "cost_case.h"
#include "cost_fixture.h"
#include "cost_random.h"
#include "report/report_map.h"

enum { MOST_RANKS = 16 };

/* ---- Words that are used ------------------------------------------------- */

typedef struct place {
  uint64_t at[MOST_RANKS];
} place;

static int by_place(const void *a, const void *b) {
  return memcmp(a, b, sizeof(place));
}

static place place_of(const accel_tensor *t, const uint64_t *step) {
  place p = {{0}};
  assert_true(t->rank_count <= MOST_RANKS);
  for (uint32_t r = 0; r < t->rank_count; r++)
    for (uint32_t i = 0; i < t->ranks[r].term_count; i++) {
      const accel_term *term = &t->ranks[r].terms[i];
      p.at[r] += term->coefficient * step[term->dimension];
    }
  return p;
}

static bool next_step(uint64_t *step, const accel_layer *layer) {
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    if (++step[d] < layer->dimensions[d].bound) return true;
    step[d] = 0;
  }
  return false;
}

/* Different places that the iterations look at, by walking through all. */
static uint64_t walk(const accel_layer *layer, uint32_t tensor, arena *a) {
  uint64_t step[ACCEL_MAX_DIMENSIONS] = {0}, count = 0, different = 0;
  place *places = arena_calloc(a, layer->macs, sizeof *places);
  assert_non_null(places);
  do places[count++] = place_of(&layer->tensors[tensor], step);
  while (next_step(step, layer));
  assert_int_equal(count, layer->macs);
  qsort(places, count, sizeof *places, by_place);
  for (uint64_t i = 0; i < count; i++)
    different += i == 0 || by_place(&places[i - 1], &places[i]);
  return different;
}

/* Are these words counted, or only bounded? */
static bool is_plain(const accel_layer *layer, uint32_t tensor) {
  const accel_tensor *t = &layer->tensors[tensor];
  uint32_t seen = 0;
  for (uint32_t r = 0; r < t->rank_count; r++) {
    uint32_t here = 0, count = 0;
    for (uint32_t i = 0; i < t->ranks[r].term_count; i++) {
      const accel_term *term = &t->ranks[r].terms[i];
      const uint32_t bit = UINT32_C(1) << term->dimension;
      if (layer->dimensions[term->dimension].bound == 1 || !term->coefficient)
        continue;
      count += !(here & bit);
      here |= bit;
    }
    if (count > 2 || here & seen) return false;
    seen |= here;
  }
  return true;
}

static void used_words_are_those_of_the_iterations(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(1);
  uint32_t counted = 0, bounded = 0, loose = 0;
  for (uint32_t i = 0; i < COST_CASES / 2; i++) {
    const cost_random_options options = {.most_macs = 600, .valid = true};
    cost_random_case c;
    cost_random_make(&c, &r, &options, &f->arena);
    for (uint32_t t = 0; t < c.layer.tensor_count; t++) {
      const uint64_t used = report_map_used_words(&c.layer, t);
      const uint64_t walked = walk(&c.layer, t, &f->arena);
      if (used > walked || (is_plain(&c.layer, t) && used != walked)) {
        cost_random_print(&c);
        fail_msg("tensor %u: %llu words, walked %llu", t,
                 (unsigned long long)used, (unsigned long long)walked);
      }
      counted += is_plain(&c.layer, t);
      bounded += !is_plain(&c.layer, t);
      loose += used < walked;
    }
    arena_free(&f->arena);
  }
  print_message("%u tensors counted, %u bounded, of these %u loosely\n",
                counted, bounded, loose);
  assert_true(counted > COST_CASES / 6 && bounded > COST_CASES / 100);
}

/* ---- Loads --------------------------------------------------------------- */

/* A nest as an evaluation; false if it is not valid. */
static bool evaluate(calm_evaluation *out, const accel_arch *arch,
                     const accel_layer *layer, const accel_nest *nest,
                     arena *a) {
  const cost_options options = {.networks = true};
  *out = (calm_evaluation){.context = a->context,
                           .arch = *arch,
                           .layer = *layer,
                           .energy = true,
                           .nest_count = 1};
  out->nests[0].nest = *nest;
  assert_int_equal(cost_problem_init(&out->problem, arch, layer, &options, a),
                   CALM_OK);
  assert_int_equal(cost_result_init(&out->nests[0].result, &out->problem, a),
                   CALM_OK);
  assert_int_equal(cost_evaluate(&out->nests[0].result, &out->problem, nest),
                   CALM_OK);
  return out->nests[0].result.verdict.fault == COST_VALID;
}

static map_loads loads_of(const calm_evaluation *e, arena *a) {
  map_loads loads;
  assert_int_equal(report_map_loads(&loads, e, &e->nests[0], a), CALM_OK);
  return loads;
}

/* Reads and updates are rounded to the nearest, fills are cut. */
static double rounding_of(const calm_evaluation *e, const map_load *l) {
  return 2 * (double)e->nests[0].result.levels[l->level].instances;
}

static void no_nest_carries_less_than_it_has_to(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(2);
  uint32_t valid = 0, tight = 0;
  for (uint32_t i = 0; i < COST_CASES; i++) {
    const cost_random_options options = {.most_macs = 600, .valid = true};
    cost_random_case c;
    calm_evaluation e;
    cost_random_make(&c, &r, &options, &f->arena);
    if (evaluate(&e, &c.arch, &c.layer, &c.nest, &f->arena)) {
      const map_loads loads = loads_of(&e, &f->arena);
      for (uint32_t k = 0; k < loads.count; k++) {
        const map_load *l = &loads.data[k];
        tight += l->carried == l->least;
        if (l->carried >= l->least - rounding_of(&e, l)) continue;
        cost_random_print(&c);
        fail_msg("level %u, tensor %u: %g of %g words", l->level, l->tensor,
                 l->carried, l->least);
      }
      valid++;
    }
    arena_free(&f->arena);
  }
  print_message("%u valid nests, %u loads as small as can be\n", valid, tight);
  assert_true(valid > COST_CASES / 6 && tight > COST_CASES / 6);
}

/* ---- Larger tiles -------------------------------------------------------- */

static uint64_t smallest_prime(uint64_t n) {
  uint64_t f = 2;
  while (n % f) f++;
  return f;
}

/* The nest with a factor of loop number `at` moved into a level, as the
   outermost of its loops. */
static accel_nest enlarge(const accel_nest *n, uint32_t at, uint32_t level,
                          arena *a) {
  accel_nest out = *n;
  const uint64_t factor = smallest_prime(n->loops[at].bound);
  out.loops = arena_calloc(a, n->loop_count + 1, sizeof *out.loops);
  assert_non_null(out.loops);
  out.loop_count = 0;
  const accel_loop moved = {factor, factor, n->loops[at].dimension, level,
                            ACCEL_TEMPORAL};
  bool placed = false;
  for (uint32_t i = 0; i < n->loop_count; i++) {
    accel_loop l = n->loops[i];
    if (i == at) l.bound = l.residual = l.bound / factor;
    if (!placed && l.level > level) {
      out.loops[out.loop_count++] = moved;
      placed = true;
    }
    if (l.bound > 1) out.loops[out.loop_count++] = l;
  }
  assert_true(placed);
  return out;
}

/* Would every larger tile be too large for the level? */
static bool is_full(const cost_random_case *c, uint32_t level, uint32_t tensor,
                    arena *a) {
  const cost_options options = {0};
  cost_problem p;
  bool wanted = false;
  assert_int_equal(cost_problem_init(&p, &c->arch, &c->layer, &options, a),
                   CALM_OK);
  for (uint32_t i = 0; i < c->nest.loop_count; i++) {
    const accel_loop *l = &c->nest.loops[i];
    if (l->level <= level || l->kind != ACCEL_TEMPORAL ||
        !(c->layer.tensors[tensor].dimensions >> l->dimension & 1))
      continue;
    const accel_nest larger = enlarge(&c->nest, i, level, a);
    cost_verdict verdict;
    cost_judge(&verdict, &p, &larger);
    if (verdict.fault == COST_VALID) return false;
    assert_int_equal(verdict.fault, COST_CAPACITY);
    assert_int_equal(verdict.level, level);
    wanted = true;
  }
  return wanted;
}

/* Only one level has a capacity, a little more than is used. */
static void narrow(cost_random_case *c, const calm_evaluation *e,
                   uint32_t level, random_state *r) {
  for (uint32_t i = 0; i < c->arch.level_count; i++) {
    c->arch.levels[i].capacity_words = ACCEL_UNLIMITED;
    c->arch.levels[i].entries = ACCEL_UNLIMITED;
    c->arch.levels[i].min_utilization = 0;
  }
  const uint64_t used = e->nests[0].result.levels[level].used_words;
  c->arch.levels[level].capacity_words = used + random_next(r) % (used + 2);
}

static void a_level_is_full_if_no_larger_tile_fits(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(3);
  uint32_t full = 0, open = 0;
  for (uint32_t i = 0; i < COST_CASES; i++) {
    const cost_random_options options = {.most_macs = 600, .valid = true};
    cost_random_case c;
    calm_evaluation e;
    cost_random_make(&c, &r, &options, &f->arena);
    if (!evaluate(&e, &c.arch, &c.layer, &c.nest, &f->arena)) {
      arena_free(&f->arena);
      continue;
    }
    const uint32_t level = (uint32_t)(random_next(&r) % c.arch.level_count);
    narrow(&c, &e, level, &r);
    assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &f->arena));
    const map_loads loads = loads_of(&e, &f->arena);
    for (uint32_t k = 0; k < loads.count; k++) {
      const map_load *l = &loads.data[k];
      const bool expected =
          l->level == level && is_full(&c, level, l->tensor, &f->arena);
      if (l->full != expected) {
        cost_random_print(&c);
        fail_msg("level %u, tensor %u: full %d", l->level, l->tensor, l->full);
      }
      full += l->level == level && l->full;
      open += l->level == level && !l->full;
    }
    arena_free(&f->arena);
  }
  print_message("%u full, %u not\n", full, open);
  assert_true(full > COST_CASES / 60 && open > COST_CASES / 60);
}

/* ---- By hand ------------------------------------------------------------- */

/* docs/cost-model.md, Counts: Inputs of 10 words are swept for each K. */
static void loads_follow_from_counts(void **state) {
  static const double least[3][3] = {{24, 20, 32}, {24, 20, 32}, {12, 10, 32}};
  static const double carried[3][3] = {
      {108, 136, 160}, {24, 50, 32}, {12, 10, 32}};
  cost_case c;
  (void)state;
  case_open(&c, 1);
  case_loops(&c, "R3 | P8 K4 |");
  calm_evaluation e;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  const map_loads loads = loads_of(&e, &c.arena);
  assert_int_equal(loads.count, 9);
  for (uint32_t i = 0; i < 9; i++) {
    const map_load *l = &loads.data[i];
    assert_int_equal(l->level, 2 - i / 3);
    assert_int_equal(l->tensor, i % 3);
    assert_true(l->least == least[l->level][l->tensor]);
    assert_true(l->carried == carried[l->level][l->tensor]);
    assert_false(l->full);
  }
  case_close(&c);
}

/* Of instances of which each has a part, the words are those of all. */
static void loads_are_those_of_all_instances(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  case_loops(&c, "R3 | K4x P8 |");
  calm_evaluation e;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  const map_loads loads = loads_of(&e, &c.arena);
  const map_load *weights = &loads.data[6], *inputs = &loads.data[7];
  assert_true(weights->carried == 4 * (24 + 3));
  assert_true(inputs->carried == 4 * (24 + 10));
  assert_true(inputs->least == 20);
  case_close(&c);
}

/* A level that keeps nothing of a tensor has no load of it, and the outermost
   one that keeps it is not filled. */
static void a_tensor_is_carried_where_it_is_kept(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  c.kept[2] = ALL_KEPT & ~1u;
  c.kept[0] = ALL_KEPT & ~4u;
  case_loops(&c, "R3 | P8 K4 |");
  calm_evaluation e;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  const map_loads loads = loads_of(&e, &c.arena);
  assert_int_equal(loads.count, 7);
  const map_load *weights = &loads.data[2];
  assert_int_equal(weights->level, 1);
  assert_int_equal(weights->tensor, WEIGHTS);
  assert_true(weights->least == 12);
  case_close(&c);
}

/* The level that takes longest, if it is its bandwidth that makes it. */
static void the_slowest_level_is_told(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  case_loops(&c, "R3 | P8 K4 |");
  calm_evaluation e;
  for (uint32_t i = 0; i < CASE_LEVELS; i++)
    c.levels[i].read_bandwidth = c.levels[i].write_bandwidth = 0;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  map_loads loads = loads_of(&e, &c.arena);
  for (uint32_t i = 0; i < loads.count; i++) assert_false(loads.data[i].slow);
  c.levels[1].read_bandwidth = 0.25;
  c.levels[2].write_bandwidth = 0.25;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  loads = loads_of(&e, &c.arena);
  for (uint32_t i = 0; i < loads.count; i++)
    assert_int_equal(loads.data[i].slow, loads.data[i].level == 1);
  case_close(&c);
}

/* A factor need not divide the bound: a tile that could grow by a step may. */
static void imperfect_tiles_grow_by_steps(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  case_loops(&c, "R3 | P3/2 | K4 P3");
  calm_evaluation e;
  /* Of 3 outputs: 3 weights, 5 inputs, 3 outputs; of 4: 6 and 4. */
  c.levels[1].capacity_words = 12;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  map_loads loads = loads_of(&e, &c.arena);
  assert_int_equal(loads.data[4].tensor, INPUTS);
  assert_true(loads.data[4].full);
  c.levels[1].capacity_words = 13;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  loads = loads_of(&e, &c.arena);
  assert_false(loads.data[4].full);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(used_words_are_those_of_the_iterations),
      COST_TEST(no_nest_carries_less_than_it_has_to),
      COST_TEST(a_level_is_full_if_no_larger_tile_fits),
      cmocka_unit_test(loads_follow_from_counts),
      cmocka_unit_test(loads_are_those_of_all_instances),
      cmocka_unit_test(a_tensor_is_carried_where_it_is_kept),
      cmocka_unit_test(the_slowest_level_is_told),
      cmocka_unit_test(imperfect_tiles_grow_by_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
