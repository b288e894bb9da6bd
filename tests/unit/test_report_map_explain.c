/*
 * What a nest has to carry and what holds it back: counted iteration by
 * iteration, and by trying the larger tiles.
 */
#include <stdio.h>

#include "cost_case.h"
#include "cost_fixture.h"
#include "cost_random.h"
#include "report/report_map_explain.h"

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

static map_explanation explain(const calm_evaluation *e, arena *a) {
  map_explanation x;
  assert_int_equal(report_map_explain(&x, e, &e->nests[0], a), CALM_OK);
  return x;
}

/* Of a valid nest. */
static map_explanation explain_case(calm_evaluation *out, cost_case *c,
                                    const char *loops) {
  case_loops(c, loops);
  assert_true(evaluate(out, &c->arch, &c->layer, &c->nest, &c->arena));
  return explain(out, &c->arena);
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
      const map_explanation x = explain(&e, &f->arena);
      for (uint32_t k = 0; k < x.load_count; k++) {
        const map_load *l = &x.loads[k];
        tight += map_load_carried(l) == l->least;
        if (map_load_carried(l) >= l->least - rounding_of(&e, l)) continue;
        cost_random_print(&c);
        fail_msg("level %u, tensor %u: %g of %g words", l->level, l->tensor,
                 map_load_carried(l), l->least);
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

/* Words that the level would have to hold for the least of the larger tiles, as
   the judge demands them; 0: no larger tile. */
static uint64_t find_next(cost_random_case *c, uint32_t level, arena *a) {
  const cost_options options = {0};
  cost_problem p;
  uint64_t least = 0;
  const uint64_t capacity = c->arch.levels[level].capacity_words;
  c->arch.levels[level].capacity_words = 0;
  assert_int_equal(cost_problem_init(&p, &c->arch, &c->layer, &options, a),
                   CALM_OK);
  for (uint32_t i = 0; i < c->nest.loop_count; i++) {
    const accel_loop *l = &c->nest.loops[i];
    uint32_t moved = 0;
    for (uint32_t t = 0; t < c->layer.tensor_count; t++)
      if (c->nest.kept[level] >> t & 1) moved |= c->layer.tensors[t].dimensions;
    if (l->level <= level || l->kind != ACCEL_TEMPORAL ||
        !(moved >> l->dimension & 1))
      continue;
    const accel_nest larger = enlarge(&c->nest, i, level, a);
    cost_verdict verdict;
    cost_judge(&verdict, &p, &larger);
    assert_int_equal(verdict.fault, COST_CAPACITY);
    assert_int_equal(verdict.level, level);
    if (!least || verdict.needed < least) least = verdict.needed;
  }
  c->arch.levels[level].capacity_words = capacity;
  return least;
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

static void the_next_tile_is_the_least_of_the_larger_ones(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(3);
  uint32_t full = 0, open = 0, none = 0;
  for (uint32_t i = 0; i < COST_CASES; i++) {
    const cost_random_options options = {.most_macs = 600, .valid = true};
    cost_random_case c;
    calm_evaluation e;
    cost_random_make(&c, &r, &options, &f->arena);
    const uint32_t level = (uint32_t)(random_next(&r) % c.arch.level_count);
    if (evaluate(&e, &c.arch, &c.layer, &c.nest, &f->arena) &&
        c.nest.kept[level]) {
      narrow(&c, &e, level, &r);
      assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &f->arena));
      const map_explanation x = explain(&e, &f->arena);
      assert_int_equal(x.room_count, 1);
      const map_room *room = &x.rooms[0];
      assert_int_equal(room->level, level);
      const uint64_t next = find_next(&c, level, &f->arena);
      if (room->next != next) {
        cost_random_print(&c);
        fail_msg("level %u: %llu words next, not %llu", level,
                 (unsigned long long)room->next, (unsigned long long)next);
      }
      full += map_room_is_full(room);
      open += !map_room_is_full(room);
      none += next == 0;
    }
    arena_free(&f->arena);
  }
  print_message("%u full, %u not, of these %u without a loop outside\n", full,
                open, none);
  assert_true(full > COST_CASES / 60 && open - none > COST_CASES / 60);
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
  calm_evaluation e;
  const map_explanation x = explain_case(&e, &c, "R3 | P8 K4 |");
  assert_int_equal(x.load_count, 9);
  for (uint32_t i = 0; i < 9; i++) {
    const map_load *l = &x.loads[i];
    assert_int_equal(l->level, 2 - i / 3);
    assert_int_equal(l->tensor, i % 3);
    assert_true(l->least == least[l->level][l->tensor]);
    assert_true(map_load_carried(l) == carried[l->level][l->tensor]);
  }
  case_close(&c);
}

/* Of instances of which each has a part, the words are those of all. */
static void loads_are_those_of_all_instances(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  calm_evaluation e;
  const map_explanation x = explain_case(&e, &c, "R3 | K4x P8 |");
  const map_load *weights = &x.loads[6], *inputs = &x.loads[7];
  assert_true(map_load_carried(weights) == 4 * (24 + 3));
  assert_true(map_load_carried(inputs) == 4 * (24 + 10));
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
  calm_evaluation e;
  const map_explanation x = explain_case(&e, &c, "R3 | P8 K4 |");
  assert_int_equal(x.load_count, 7);
  const map_load *weights = &x.loads[2];
  assert_int_equal(weights->level, 1);
  assert_int_equal(weights->tensor, WEIGHTS);
  assert_true(weights->least == 12);
  case_close(&c);
}

/* The bandwidth that slows computing down most, and what it would have to be
   for that not to be so: 8 + ... words in 96 cycles. */
static void the_bandwidth_that_limits_is_told(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  for (uint32_t i = 0; i < CASE_LEVELS; i++)
    c.levels[i].read_bandwidth = c.levels[i].write_bandwidth = 0;
  calm_evaluation e;
  map_explanation x = explain_case(&e, &c, "R3 | P8 K4 |");
  assert_int_equal(x.pace.level, CALM_NONE);
  assert_null(x.pace.bandwidth);
  /* The global buffer reads 12 and 40 words, is filled with 12 and 10, and
     updates 32. */
  c.levels[1].read_bandwidth = 0.5;
  c.levels[1].write_bandwidth = 0.25;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  x = explain(&e, &c.arena);
  assert_int_equal(x.pace.level, 1);
  assert_string_equal(x.pace.bandwidth, "write");
  assert_true(x.pace.available == 0.25);
  assert_close(x.pace.needed, (12.0 + 10) / 96 + 32.0 / 96);
  accel_scale doubled = {.tensor = "Inputs", .scale = 2};
  c.levels[1].scales = &doubled;
  c.levels[1].scale_count = 1;
  c.levels[1].write_bandwidth = 0;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  x = explain(&e, &c.arena);
  assert_string_equal(x.pace.bandwidth, "read");
  assert_close(x.pace.needed, (12.0 + 2 * 40) / 96);
  c.levels[1].shared_bandwidth = 0.5;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  x = explain(&e, &c.arena);
  assert_string_equal(x.pace.bandwidth, "shared");
  assert_close(x.pace.needed, (12.0 + 2 * 40 + 12 + 2 * 10 + 32) / 96);
  case_close(&c);
}

/* A factor need not divide the bound: a tile that could grow by a step may. */
static void imperfect_tiles_grow_by_steps(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  c.levels[0].capacity_words = c.levels[2].capacity_words = ACCEL_UNLIMITED;
  calm_evaluation e;
  const map_explanation x = explain_case(&e, &c, "R3 | P3/2 | K4 P3");
  assert_int_equal(x.room_count, 1);
  /* 3 weights, 5 inputs, 3 outputs; with P 4: 3, 6 and 4. */
  assert_int_equal(x.rooms[0].next, 13);
  assert_int_equal(x.rooms[0].from, 3);
  assert_int_equal(x.rooms[0].to, 4);
  assert_string_equal(c.layer.dimensions[x.rooms[0].dimension].name, "P");
  case_close(&c);
}

/* Below the global buffer are 64 buffers in a row; K takes 4 of them. */
static void what_idles_is_told(void **state) {
  cost_case c;
  (void)state;
  case_open(&c, 1);
  calm_evaluation e;
  const map_explanation x = explain_case(&e, &c, "R3 | K4x P8 |");
  assert_int_equal(x.fan_count, 1);
  assert_int_equal(x.fans[0].level, 1);
  assert_int_equal(x.fans[0].x, 64);
  assert_int_equal(x.fans[0].y, 1);
  assert_int_equal(x.fans[0].used_x, 4);
  assert_int_equal(x.fans[0].used_y, 1);
  case_close(&c);
}

/* ---- In words ------------------------------------------------------------ */

static void assert_has(const text *out, const char *words) {
  if (strstr(out->data, words)) return;
  fputs(out->data, stderr); /* a message would be cut off */
  fail_msg("no '%s'", words);
}

static void tell(text *out, const calm_evaluation *e, arena *a) {
  eval_view v = {.complete = true};
  text_init(out, a->context);
  assert_int_equal(report_eval_look(&v, e, &e->nests[0], a), CALM_OK);
  assert_int_equal(report_map_explain_words(out, &v, a), CALM_OK);
}

static void words_say_what_would_help(void **state) {
  cost_case c;
  text out;
  (void)state;
  case_open(&c, 1);
  case_loops(&c, "R3 | K4x P8 |");
  calm_evaluation e;
  c.levels[0].capacity_words = 8;
  c.levels[1].read_bandwidth = 0.5;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  tell(&out, &e, &c.arena);
  assert_has(&out,
             "  level         tensor   at least  reads  fills  updates  times");
  assert_has(&out, "  PEBuffer      Weights        24     96     12");
  assert_has(&out,
             "  PEBuffer: 7 of 8 words, 3 of them Weights; full: the next "
             "larger tile (P 1 to 2) has 9, which are\n    1 too many\n");
  assert_has(&out,
             "  GlobalBuffer: 54 of 65,536 words, 32 of them Outputs; no loop "
             "is left outside that would fill");
  assert_has(&out,
             "  time: the read bandwidth of GlobalBuffer limits: 0.5 words a "
             "cycle in each instance, where 0.9167\n    would keep the "
             "multipliers busy; 44 cycles instead of 24; no nest that keeps "
             "the same tensors\n    there moves fewer words\n");
  assert_has(&out, "  below GlobalBuffer: 4 x 1 of 64 x 1 are in use\n");
  text_free(&out);
  c.levels[1].read_bandwidth = 0;
  c.levels[0].read_bandwidth = 0.5; /* of a level that carries much more */
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  tell(&out, &e, &c.arena);
  assert_has(&out, "the read bandwidth of PEBuffer limits");
  assert_null(strstr(out.data, "moves fewer"));
  text_free(&out);
  c.levels[0].read_bandwidth = 0;
  c.levels[0].instances = c.levels[0].mesh_x = 4;
  c.arch.compute.instances = c.arch.compute.mesh_x = 8;
  assert_true(evaluate(&e, &c.arch, &c.layer, &c.nest, &c.arena));
  tell(&out, &e, &c.arena);
  assert_has(&out,
             "  time: the multipliers limit: 4 of 8 need 24 cycles; the "
             "others idle\n");
  text_free(&out);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(no_nest_carries_less_than_it_has_to),
      COST_TEST(the_next_tile_is_the_least_of_the_larger_ones),
      cmocka_unit_test(loads_follow_from_counts),
      cmocka_unit_test(loads_are_those_of_all_instances),
      cmocka_unit_test(a_tensor_is_carried_where_it_is_kept),
      cmocka_unit_test(the_bandwidth_that_limits_is_told),
      cmocka_unit_test(imperfect_tiles_grow_by_steps),
      cmocka_unit_test(what_idles_is_told),
      cmocka_unit_test(words_say_what_would_help)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
