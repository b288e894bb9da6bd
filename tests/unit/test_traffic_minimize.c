#include "context_fixture.h"
#include "scarce.h"
#include "traffic_orders.h"

typedef struct drawn {
  traffic_problem problem;
  traffic_memory memory;
  uint32_t file[ORDER_RANDOM_MAX_OPS];
} drawn;

/* Some features, and a memory below the peak of the file order. */
static void draw(drawn *out, random_state *r, uint32_t op_count, arena *a) {
  const unsigned features =
      ORDER_RANDOM_ALL & ~((unsigned)random_next(r) & ORDER_RANDOM_ALL);
  assert_true(traffic_orders_make(&out->problem, r, features, op_count, a));
  for (uint32_t u = 0; u < op_count; u++) out->file[u] = u;
  const order_problem *o = out->problem.order;
  const uint64_t peak = order_referee_peak(o, out->file);
  const uint64_t least = order_working_set(o);
  out->memory.bytes = order_random_chance(r, 25) || least >= peak
                          ? random_below(r, (uint32_t)peak + 1)
                          : least + random_below(r, (uint32_t)(peak - least));
}

static uint64_t belady_spills(const drawn *d, arena *a) {
  traffic_result belady;
  assert_int_equal(traffic_belady(&belady, &d->problem, d->file, &d->memory, a),
                   CALM_OK);
  return traffic_spills(&belady.total);
}

/* What must hold whatever the limits; the spills. */
static uint64_t check_result(const drawn *d, const traffic_order *o, arena *a) {
  const char *fault;
  assert_int_equal(traffic_check(&fault, &d->problem, o->sequence, &d->memory,
                                 &o->result, a),
                   CALM_OK);
  if (fault) fail_msg("%s", fault);
  assert_true(order_referee_peak(d->problem.order, o->sequence) != UINT64_MAX);
  const uint64_t spills = traffic_spills(&o->result.total);
  assert_true(spills <= belady_spills(d, a));
  assert_true(o->bound_bytes <= spills);
  assert_int_equal(o->outcome == CALM_OPTIMAL, o->bound_bytes == spills);
  assert_true(o->outcome == CALM_OPTIMAL || o->stopped != LIMITS_NONE);
  return spills;
}

static void small_problems_are_solved(void **state) {
  (void)state;
  const traffic_options options = traffic_options_default();
  random_state r = random_from_seed(1);
  for (uint32_t i = 0; i < 2000; i++) {
    arena a;
    arena_init(&a, context);
    drawn d = {.memory = {0, 0}};
    traffic_order best, chosen;
    limits l;
    limits_init(&l, context);
    draw(&d, &r, 1 + random_below(&r, 7), &a);
    assert_int_equal(traffic_minimize(&best, &d.problem, &d.memory, d.file,
                                      &options, &a, &l),
                     CALM_OK);
    assert_int_equal(traffic_choose(&chosen, &d.problem, &d.memory, d.file,
                                    &options, &a, &l),
                     CALM_OK);
    assert_memory_equal(chosen.sequence, d.file,
                        d.problem.order->op_count * sizeof *d.file);
    assert_int_equal(best.outcome, CALM_OPTIMAL);
    assert_int_equal(chosen.outcome, CALM_OPTIMAL);
    assert_int_equal(check_result(&d, &best, &a),
                     traffic_orders_least(&d.problem, d.memory.bytes, NULL));
    assert_int_equal(check_result(&d, &chosen, &a),
                     traffic_orders_least(&d.problem, d.memory.bytes, d.file));
    arena_free(&a);
  }
}

/* Whenever it is stopped, what it says is true; and the same twice. */
static void stopped_early_it_tells_the_truth(void **state) {
  (void)state;
  const traffic_options options = traffic_options_default();
  random_state r = random_from_seed(2);
  uint32_t stopped = 0, between = 0;
  for (uint32_t i = 0; i < 600; i++) {
    arena a;
    arena_init(&a, context);
    drawn d = {.memory = {0, 0}};
    traffic_order first, again, best;
    limits l;
    draw(&d, &r, 10 + random_below(&r, 3), &a);
    limits_init(&l, context);
    assert_int_equal(traffic_minimize(&best, &d.problem, &d.memory, d.file,
                                      &options, &a, &l),
                     CALM_OK);
    const uint64_t least = check_result(&d, &best, &a);
    const uint64_t ticks = random_below(&r, (uint32_t)best.ticks + 1);
    for (int twice = 0; twice < 2; twice++) {
      limits_init(&l, context);
      l.max_ticks = ticks;
      assert_int_equal(traffic_minimize(twice ? &again : &first, &d.problem,
                                        &d.memory, d.file, &options, &a, &l),
                       CALM_OK);
    }
    const uint64_t spills = check_result(&d, &first, &a);
    assert_true(spills >= least && first.bound_bytes <= least);
    assert_memory_equal(first.sequence, again.sequence,
                        d.problem.order->op_count * sizeof *d.file);
    assert_int_equal(first.ticks, again.ticks);
    stopped += first.outcome == CALM_FEASIBLE;
    between += first.outcome == CALM_FEASIBLE && spills == least;
    arena_free(&a);
  }
  assert_true(stopped > 20 && between > 5);
}

static void a_memory_limit_stops_it(void **state) {
  (void)state;
  const traffic_options options = traffic_options_default();
  random_state r = random_from_seed(3);
  uint32_t stopped = 0;
  for (uint32_t i = 0; i < 200; i++) {
    arena a;
    arena_init(&a, context);
    drawn d = {.memory = {0, 0}};
    traffic_order o;
    limits l;
    limits_init(&l, context);
    l.max_bytes = 4096;
    draw(&d, &r, 12, &a);
    assert_int_equal(
        traffic_minimize(&o, &d.problem, &d.memory, d.file, &options, &a, &l),
        CALM_OK);
    check_result(&d, &o, &a);
    stopped += o.stopped == LIMITS_MEMORY;
    arena_free(&a);
  }
  assert_true(stopped > 10);
}

static void pages_are_refused(void **state) {
  (void)state;
  const traffic_options options = traffic_options_default();
  random_state r = random_from_seed(4);
  arena a;
  arena_init(&a, context);
  drawn d = {.memory = {0, 0}};
  traffic_order o;
  limits l;
  limits_init(&l, context);
  draw(&d, &r, 5, &a);
  d.memory.page_bytes = 4;
  assert_int_equal(
      traffic_minimize(&o, &d.problem, &d.memory, d.file, &options, &a, &l),
      CALM_MISUSE);
  arena_free(&a);
}

/* Each allocation fails once; nothing is left behind. */
static void without_memory_it_says_so(void **state) {
  (void)state;
  const traffic_options options = traffic_options_default();
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *scarce = calm_context_new(&allocator);
    random_state r = random_from_seed(8);
    arena a;
    arena_init(&a, scarce);
    drawn d = {.memory = {0, 0}};
    traffic_order o;
    limits l;
    limits_init(&l, scarce);
    do draw(&d, &r, 12, &a);
    while (belady_spills(&d, &a) == 0);
    left = granted;
    status =
        traffic_minimize(&o, &d.problem, &d.memory, d.file, &options, &a, &l);
    left = SCARCE_NEVER;
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    assert_true(status == CALM_NO_MEMORY || granted > 5);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(scarce), 0);
    calm_context_free(scarce);
  }
}

/* Pairs of operators, more than a word holds: one makes 4 bytes of which the
   other makes one that all need at the end.  One after the other nothing
   spills; in the file order all fours are live. */
static void many_operators(void **state) {
  (void)state;
  enum { PAIRS = 50, OPS = 2 * PAIRS + 1 };
  arena a;
  arena_init(&a, context);
  order_problem o = {.op_count = OPS, .buffer_count = 2 * PAIRS};
  o.buffers = arena_calloc(&a, 2 * PAIRS, sizeof *o.buffers);
  o.touch_begin = arena_calloc(&a, 2 * PAIRS + 1, sizeof *o.touch_begin);
  o.touch = arena_calloc(&a, 4 * PAIRS, sizeof *o.touch);
  o.pred_begin = arena_calloc(&a, OPS + 1, sizeof *o.pred_begin);
  o.preds = arena_calloc(&a, 2 * PAIRS, sizeof *o.preds);
  o.workspace = arena_calloc(&a, OPS, sizeof *o.workspace);
  o.reuses = arena_calloc(&a, 1, sizeof *o.reuses);
  for (uint32_t i = 0; i < 2 * PAIRS; i++) {
    o.buffers[i].bytes = i < PAIRS ? 4 : 1;
    o.touch_begin[i + 1] = 2 * (i + 1);
    o.touch[2 * i] = i;
    o.touch[2 * i + 1] = i < PAIRS ? i + PAIRS : OPS - 1;
  }
  for (uint32_t u = PAIRS; u < 2 * PAIRS; u++) {
    o.pred_begin[u + 1] = u - PAIRS + 1;
    o.preds[u - PAIRS] = u - PAIRS;
  }
  for (uint32_t i = 0; i < PAIRS; i++) o.preds[PAIRS + i] = PAIRS + i;
  o.pred_begin[OPS] = 2 * PAIRS;
  assert_int_equal(order_problem_finish(&o, &a), CALM_OK);
  traffic_problem p = {.order = &o};
  p.writes = arena_calloc(&a, 4 * PAIRS, sizeof *p.writes);
  p.weight_bytes = arena_calloc(&a, OPS, sizeof *p.weight_bytes);
  for (uint32_t i = 0; i < 2 * PAIRS; i++) p.writes[2 * i] = true;
  uint32_t file[OPS];
  for (uint32_t u = 0; u < OPS; u++) file[u] = u;
  const traffic_options options = traffic_options_default();
  const traffic_memory memory = {PAIRS + 8, 0};
  traffic_order best, chosen;
  limits l;
  limits_init(&l, context);
  l.max_ticks = 1 << 24;
  assert_int_equal(traffic_minimize(&best, &p, &memory, file, &options, &a, &l),
                   CALM_OK);
  assert_int_equal(best.outcome, CALM_OPTIMAL);
  assert_int_equal(traffic_spills(&best.result.total), 0);
  limits_init(&l, context);
  l.max_ticks = 1 << 24;
  assert_int_equal(traffic_choose(&chosen, &p, &memory, file, &options, &a, &l),
                   CALM_OK);
  /* 50 fours in 58 bytes: 14 stay, 36 are written and read */
  assert_int_equal(traffic_spills(&chosen.result.total), 36 * 8);
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_problems_are_solved),
      cmocka_unit_test(stopped_early_it_tells_the_truth),
      cmocka_unit_test(a_memory_limit_stops_it),
      cmocka_unit_test(pages_are_refused),
      cmocka_unit_test(without_memory_it_says_so),
      cmocka_unit_test(many_operators),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
