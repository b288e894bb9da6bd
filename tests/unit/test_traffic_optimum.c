/* The searches against a walk over all places, on problems with the forms of
   networks: the optimum, and every bound in the midst of a search. */
#include "base/number.h"
#include "traffic/traffic_exact.h"
#include "context_fixture.h"
#include "traffic_walk.h"

#ifndef PROBLEMS
#define PROBLEMS (CALM_SANITIZED ? 150 : 1000)
#endif
#ifndef SEED
#define SEED 1
#endif

typedef struct drawn {
  forms_draft draft;
  traffic_problem problem;
  traffic_memory memory;
  traffic_core core, held; /* free, and in the file order */
  uint32_t file[FORMS_MAX_OPS];
} drawn;

static void draw(drawn *d, random_state *r, uint32_t op_count, arena *a) {
  assert_int_equal(
      forms_make(&d->problem, &d->memory, &d->draft, r, op_count, a), CALM_OK);
  for (uint32_t u = 0; u < op_count; u++) d->file[u] = u;
  const uint64_t bytes = d->memory.bytes;
  assert_int_equal(traffic_core_build(&d->core, &d->problem, bytes, a),
                   CALM_OK);
  assert_int_equal(traffic_core_build(&d->held, &d->problem, bytes, a),
                   CALM_OK);
  traffic_core_hold(&d->held, d->file, NULL);
  assert_int_equal(traffic_core_close(&d->core, d->file, a), CALM_OK);
  assert_int_equal(traffic_core_close(&d->held, d->file, a), CALM_OK);
}

static uint64_t least_of(const drawn *d, const uint32_t *sequence) {
  return walk_least(&d->draft, d->memory.bytes, sequence, (walk_place){0});
}

/* ---- The optimum --------------------------------------------------------- */

static void check_search(const traffic_core *core,
                         const traffic_options *options, uint64_t least,
                         arena *a) {
  traffic_search s;
  traffic_verdict verdict;
  limits l;
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, options, a), CALM_OK);
  if (options->outlook) assert_int_equal(traffic_search_look(&s, &l), CALM_OK);
  assert_int_equal(traffic_search_best_first(&verdict, &s, least + 1, &l),
                   CALM_OK);
  assert_int_equal(verdict, TRAFFIC_REACHED);
  assert_int_equal(s.cost, least);
  assert_int_equal(traffic_search_best_first(&verdict, &s, least, &l), CALM_OK);
  assert_int_equal(verdict, TRAFFIC_DEAD);
  traffic_search_free(&s);
}

/* Each rule with nothing but dominance beside it, and all of them. */
static void check_rules(const traffic_core *core, uint64_t least, arena *a) {
  const traffic_options rules[] = {
      traffic_options_default(),
      {.dominance = true},
      {.dominance = true, .commit = true},
      {.dominance = true, .exchange = true},
      {.dominance = true, .commit = true, .exchange = true},
      {.dominance = true, .bound = true},
      {.dominance = true, .outlook = true},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    check_search(core, &rules[i], least, a);
}

static uint64_t check_driver(const drawn *d, bool fixed, arena *a) {
  const traffic_options options = traffic_options_default();
  traffic_order o;
  const char *fault;
  limits l;
  limits_init(&l, context);
  assert_int_equal((fixed ? traffic_choose : traffic_minimize)(
                       &o, &d->problem, &d->memory, d->file, &options, a, &l),
                   CALM_OK);
  assert_int_equal(o.outcome, CALM_OPTIMAL);
  assert_int_equal(
      traffic_check(&fault, &d->problem, o.sequence, &d->memory, &o.result, a),
      CALM_OK);
  assert_null(fault);
  return traffic_spills(&o.result.total);
}

static void optima_are_those_of_the_walk(void **state) {
  (void)state;
  random_state r = random_from_seed(SEED);
  uint32_t spilling = 0, skipped = 0, reordered = 0;
  for (uint32_t i = 0; i < PROBLEMS; i++) {
    arena a;
    drawn d;
    arena_init(&a, context);
    draw(&d, &r, 5 + random_below(&r, 5), &a);
    const uint64_t least = least_of(&d, NULL);
    const uint64_t filed = least_of(&d, d.file);
    if (least == UINT64_MAX || filed == UINT64_MAX) {
      skipped++;
      arena_free(&a);
      continue;
    }
    assert_int_equal(check_driver(&d, false, &a), least);
    assert_int_equal(check_driver(&d, true, &a), filed);
    check_rules(&d.core, least, &a);
    check_rules(&d.held, filed, &a);
    spilling += least > 0;
    reordered += least < filed;
    arena_free(&a);
  }
  print_message(
      "%d problems: %u spill, %u of them less if reordered, "
      "%u too large\n",
      PROBLEMS, spilling, reordered, skipped);
  assert_true(spilling > PROBLEMS / 3 && reordered > PROBLEMS / 6);
  assert_true(skipped <= PROBLEMS / 20);
}

static uint64_t search_least(const traffic_core *core,
                             const traffic_options *options, arena *a) {
  traffic_search s;
  traffic_verdict verdict;
  limits l;
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, options, a), CALM_OK);
  assert_int_equal(
      traffic_search_best_first(&verdict, &s, NUMBER_MAX_BYTES, &l), CALM_OK);
  assert_int_equal(verdict, TRAFFIC_REACHED);
  traffic_search_free(&s);
  return s.cost;
}

/* Steps that are taken alone go wrong at few sizes of the memory only. */
static void and_so_at_other_sizes_of_the_memory(void **state) {
  (void)state;
  const traffic_options rules = {.dominance = true, .commit = true};
  const traffic_options both = {
      .dominance = true, .commit = true, .exchange = true};
  random_state r = random_from_seed(SEED);
  for (uint32_t i = 0; i < PROBLEMS * 3; i++) {
    arena a;
    drawn d;
    arena_init(&a, context);
    draw(&d, &r, 4 + random_below(&r, 4), &a);
    uint64_t least = 1, bytes = 1 + random_below(&r, 3);
    for (; least && bytes < 80; bytes += 2 + random_below(&r, 2)) {
      traffic_core core;
      assert_int_equal(traffic_core_build(&core, &d.problem, bytes, &a),
                       CALM_OK);
      assert_int_equal(traffic_core_close(&core, d.file, &a), CALM_OK);
      least = walk_least(&d.draft, bytes, NULL, (walk_place){0});
      assert_int_equal(search_least(&core, &rules, &a), least);
      assert_int_equal(search_least(&core, &both, &a), least);
    }
    arena_free(&a);
  }
}

/* Stopped anywhere, and with beams of any width: what a run says of the least
   is true, and so is what its verdict says. */
static void check_run(const traffic_core *core, uint64_t least, random_state *r,
                      arena *a) {
  const traffic_options options = traffic_options_default();
  traffic_search s;
  traffic_verdict verdict;
  limits l;
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, &options, a), CALM_OK);
  if (random_below(r, 2))
    assert_int_equal(traffic_search_look(&s, &l), CALM_OK);
  for (uint32_t run = 0; run < 6; run++) {
    const uint64_t ceiling = least + random_below(r, 12);
    limits_init(&l, context);
    if (random_below(r, 2)) l.max_ticks = random_below(r, 4000);
    assert_int_equal(run % 2
                         ? traffic_search_beam(&verdict, &s, ceiling,
                                               1 + random_below(r, 6), &l)
                         : traffic_search_best_first(&verdict, &s, ceiling, &l),
                     CALM_OK);
    assert_true(s.least <= least);
    if (s.found) assert_true(s.cost >= least && s.cost < ceiling);
    if (verdict == TRAFFIC_REACHED) assert_int_equal(s.cost, least);
    if (verdict == TRAFFIC_DEAD) assert_int_equal(ceiling, least);
  }
  traffic_search_free(&s);
}

static void stopped_anywhere_it_is_true(void **state) {
  (void)state;
  random_state r = random_from_seed(SEED + 2);
  for (uint32_t i = 0; i < PROBLEMS; i++) {
    arena a;
    drawn d;
    arena_init(&a, context);
    draw(&d, &r, 6 + random_below(&r, 4), &a);
    const uint64_t least = least_of(&d, NULL);
    if (least != UINT64_MAX) check_run(&d.core, least, &r, &a);
    arena_free(&a);
  }
}

/* ---- Cases that chance does not draw ------------------------------------- */

/* A buffer: what it takes, who makes it, who else touches it. */
static void add_buffer(forms_draft *d, uint64_t bytes, uint32_t makes,
                       uint32_t touch) {
  const uint32_t b = d->buffer_count++;
  d->buffers[b].bytes = bytes;
  d->writes[b] = makes;
  d->touch[b] = makes | touch;
  d->buffers[b].pinned_start = makes == 0;
}

static void check_draft(forms_draft *draft, uint64_t bytes, uint64_t least) {
  arena a;
  drawn d = {.draft = *draft, .memory = {bytes, 0}};
  order_problem o;
  bool *writes = NULL;
  arena_init(&a, context);
  assert_int_equal(forms_write(&o, &writes, &d.draft, &a), CALM_OK);
  d.problem = (traffic_problem){.order = &o, .writes = writes};
  d.problem.weight_bytes =
      arena_calloc(&a, o.op_count, sizeof *d.problem.weight_bytes);
  for (uint32_t u = 0; u < o.op_count; u++) d.file[u] = u;
  assert_int_equal(traffic_core_build(&d.core, &d.problem, bytes, &a), CALM_OK);
  assert_int_equal(traffic_core_close(&d.core, d.file, &a), CALM_OK);
  assert_int_equal(least_of(&d, NULL), least);
  assert_int_equal(check_driver(&d, false, &a), least);
  check_rules(&d.core, least, &a);
  arena_free(&a);
}

/*
 * Operator 3 needs 12 bytes, but may write over buffer 1 once operator 2 has
 * read that.  With so much memory or a little less it streams if it runs first,
 * and nothing is in its way; behind operator 2, which begins and holds nothing,
 * it fits, and buffer 0 has to go.
 */
static void to_free_an_input_may_cost(void **state) {
  (void)state;
  forms_draft d = {.op_count = 5, .reuse_count = 1};
  add_buffer(&d, 5, 1, 2 | 16);
  add_buffer(&d, 4, 2, 4 | 8);
  add_buffer(&d, 4, 0, 8);
  add_buffer(&d, 4, 8, 0);
  d.preds[1] = 1;
  d.preds[2] = d.preds[3] = 2;
  d.preds[4] = 1 | 8;
  d.reuses[0] = (order_reuse){3, 1, 3, 4};
  check_draft(&d, 9, 0);
  check_draft(&d, 10, 0);
  check_draft(&d, 11, 0);
  check_draft(&d, 12, 10);
  check_draft(&d, 13, 0);
}

/* Operator 1 frees 3 bytes and begins 4: not before operator 2 has had all that
   the 3 leave. */
static void what_is_born_may_be_a_byte_larger(void **state) {
  (void)state;
  forms_draft d = {.op_count = 4};
  add_buffer(&d, 3, 1, 2);
  add_buffer(&d, 4, 0, 2 | 8);
  d.workspace[2] = 9;
  d.preds[1] = d.preds[2] = 1;
  d.preds[3] = 2 | 4;
  check_draft(&d, 12, 0);
  check_draft(&d, 13, 0);
}

/* Operator 5 may begin buffer 3 in the place of buffer 0; but if operator 3
   begins it, then over buffer 2, and buffer 1 need not go. */
static void what_is_born_may_spoil_a_permission(void **state) {
  (void)state;
  forms_draft d = {.op_count = 6, .reuse_count = 1};
  add_buffer(&d, 4, 1, 32);
  add_buffer(&d, 12, 2, 16);
  add_buffer(&d, 4, 4, 8);
  add_buffer(&d, 4, 8, 32);
  d.preds[1] = d.preds[5] = 1;
  d.preds[2] = 2;
  d.preds[3] = 4;
  d.preds[4] = 8;
  d.reuses[0] = (order_reuse){3, 2, 3, 4};
  check_draft(&d, 16, 8);
}

/*
 * At operator 1 twelve bytes have to go.  A beam tries only so many sets, the
 * larger buffers first: with two of 15 fours, which have to be written, and
 * two of four threes, which have copies.  The other threes have to go at
 * operator 3, so all these sets are hopeless below 23; but to put out all
 * threes at once costs 12, and that they were not tried must not be forgotten.
 */
static void a_beam_that_cuts_proves_nothing(void **state) {
  (void)state;
  enum { OPS = 5 };
  arena a;
  drawn d = {.draft = {.op_count = OPS}, .memory = {72, 0}};
  order_problem o;
  bool *writes = NULL;
  const traffic_options options = {.bound = true, .dominance = true};
  traffic_search s;
  traffic_verdict verdict;
  limits l;
  for (int i = 0; i < 15; i++) add_buffer(&d.draft, 4, 1, 4);
  for (int i = 0; i < 4; i++) add_buffer(&d.draft, 3, 0, 1 | 16);
  d.draft.workspace[1] = 12;
  d.draft.workspace[3] = 72;
  for (uint32_t u = 1; u < OPS; u++) d.draft.preds[u] = UINT32_C(1) << (u - 1);
  arena_init(&a, context);
  limits_init(&l, context);
  assert_int_equal(forms_write(&o, &writes, &d.draft, &a), CALM_OK);
  d.problem = (traffic_problem){.order = &o, .writes = writes};
  for (uint32_t u = 0; u < OPS; u++) d.file[u] = u;
  assert_int_equal(traffic_core_build(&d.core, &d.problem, 72, &a), CALM_OK);
  assert_int_equal(traffic_core_close(&d.core, d.file, &a), CALM_OK);
  assert_int_equal(least_of(&d, NULL), 12);
  assert_int_equal(traffic_search_init(&s, &d.core, &options, &a), CALM_OK);
  assert_int_equal(traffic_search_beam(&verdict, &s, 23, 8, &l), CALM_OK);
  assert_int_equal(verdict, TRAFFIC_TRUNCATED);
  assert_true(s.least <= 12);
  assert_int_equal(traffic_search_beam(&verdict, &s, 23, 1000, &l), CALM_OK);
  assert_int_equal(verdict, TRAFFIC_REACHED);
  assert_int_equal(s.cost, 12);
  traffic_search_free(&s);
  arena_free(&a);
}

/* ---- Bounds in the midst of a search ------------------------------------- */

/* What the walk calls the state of a search.  Buffers without bytes, which the
   search leaves out, are on chip as well as off. */
static walk_place place_of(const drawn *d, const traffic_core *core,
                           const traffic_sets *sets) {
  walk_place p = {.done = (uint32_t)sets->done[0]};
  for (uint32_t b = 0; b < d->draft.buffer_count; b++)
    if (d->draft.touch[b] & p.done && d->draft.touch[b] & ~p.done)
      p.on_chip |= UINT32_C(1) << b;
  p.copied = p.on_chip;
  for (uint32_t b = 0; b < core->buffer_count; b++) {
    const uint32_t bit = UINT32_C(1) << core->name[b];
    if (bits_has(sets->out, b)) p.on_chip &= ~bit;
    if (bits_has(sets->dirty, b)) p.copied &= ~bit;
  }
  return p;
}

/* False if the walk gives up. */
static bool check_bounds(const drawn *d, const traffic_core *core,
                         traffic_search *s, const traffic_sets *sets) {
  const walk_place place = place_of(d, core, sets);
  const uint64_t to_move = walk_least(&d->draft, d->memory.bytes,
                                      core == &d->held ? d->file : NULL, place);
  if (to_move == UINT64_MAX) return false;
  uint64_t paid = 0, ticks = 0;
  for (uint32_t b = 0; b < core->buffer_count; b++)
    if (bits_has(sets->out, b)) paid += core->bytes[b];
  assert_true(paid <= to_move);
  assert_true(traffic_bound_of(&s->bound, sets, &ticks) <= to_move - paid);
  if (s->looks)
    assert_true(traffic_outlook_of(&s->outlook, sets) +
                    traffic_bound_oversize(&s->bound, sets) <=
                to_move - paid);
  return true;
}

/* From state to state by any steps, each of them looked at. */
static uint32_t wander(const drawn *d, const traffic_core *core,
                       random_state *r, arena *a) {
  const traffic_options options = {.outlook = true};
  traffic_search s;
  limits l;
  uint64_t *row;
  uint32_t seen = 0;
  row = arena_calloc(a, traffic_row_words(core), sizeof *row);
  assert_non_null(row);
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, &options, a), CALM_OK);
  assert_int_equal(traffic_search_look(&s, &l), CALM_OK);
  const traffic_sets sets = traffic_sets_of(core, row);
  for (uint32_t size = 0; size < core->op_count; size++) {
    uint32_t steps = 0;
    if (!check_bounds(d, core, &s, &sets)) break;
    seen++;
    uint64_t *next = arena_calloc(a, traffic_row_words(core), sizeof *next);
    assert_non_null(next);
    traffic_expand(&s.expansion, &sets, 0, NUMBER_MAX_BYTES);
    while (traffic_expand_next(&s.expansion))
      if (random_below(r, ++steps) == 0)
        memcpy(next, s.expansion.to_row,
               traffic_row_words(core) * sizeof *next);
    assert_true(steps > 0);
    memcpy(row, next, traffic_row_words(core) * sizeof *row);
  }
  traffic_search_free(&s);
  return seen;
}

static void bounds_hold_everywhere(void **state) {
  (void)state;
  random_state r = random_from_seed(SEED + 1);
  uint32_t seen = 0;
  for (uint32_t i = 0; i < PROBLEMS / 2; i++) {
    arena a;
    drawn d;
    arena_init(&a, context);
    draw(&d, &r, 4 + random_below(&r, 5), &a);
    seen += wander(&d, &d.core, &r, &a) + wander(&d, &d.held, &r, &a);
    arena_free(&a);
  }
  print_message("%u states\n", seen);
  assert_true(seen > PROBLEMS * 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(optima_are_those_of_the_walk),
      cmocka_unit_test(and_so_at_other_sizes_of_the_memory),
      cmocka_unit_test(stopped_anywhere_it_is_true),
      cmocka_unit_test(to_free_an_input_may_cost),
      cmocka_unit_test(what_is_born_may_be_a_byte_larger),
      cmocka_unit_test(what_is_born_may_spoil_a_permission),
      cmocka_unit_test(a_beam_that_cuts_proves_nothing),
      cmocka_unit_test(bounds_hold_everywhere),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
