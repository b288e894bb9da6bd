/* Greedy orders at once: everything but the time is as with one thread. */
#include "test_layout.h"

#include <string.h>

#include "../scarce.h"
#include "layout/layout.h"

/* Threads pay, and are begun, from a certain size on; in the hostile build
   always. */
#if CALM_HOSTILE
enum { BODIES = 40, ROUNDS = 36, LEAST_TICKS = 1 };
#else
enum { BODIES = 420, ROUNDS = 6, LEAST_TICKS = 1 << 16 };
#endif

enum { PIECES = 2 * BODIES };

typedef struct large_problem {
  layout_problem p;
  layout_body bodies[BODIES];
  layout_piece pieces[PIECES];
  uint32_t begin[BODIES + 1];
} large_problem;

/* Tensors that are kept for the way back, and others that go soon; a body in
   eight has two pieces. */
static void draw(large_problem *s, random_state *random) {
  *s = (large_problem){0};
  s->p.bodies = s->bodies;
  s->p.pieces = s->pieces;
  s->p.piece_begin = s->begin;
  s->p.body_count = BODIES;
  for (uint32_t b = 0; b < BODIES; b++) {
    const uint32_t back = 2 * BODIES - b;
    const uint32_t begin = random_below(random, 2) ? b : back - 1;
    const uint32_t end = begin == b && random_below(random, 2)
                             ? back
                             : begin + 1 + random_below(random, 12);
    const uint64_t size =
        1 + random_below(random, 1U << random_below(random, 16));
    s->bodies[b].align = UINT64_C(1) << random_below(random, 4);
    s->pieces[s->p.piece_count++] =
        (layout_piece){b, (int64_t)begin, (int64_t)end, 0, size};
    if (random_below(random, 8) == 0)
      s->pieces[s->p.piece_count++] =
          (layout_piece){b, (int64_t)end, (int64_t)end + 2, size / 2, size + 3};
    s->begin[b + 1] = s->p.piece_count;
  }
}

typedef struct answer {
  layout_result result;
  uint64_t offsets[BODIES];
} answer;

static calm_status solve(answer *out, const large_problem *s, uint32_t threads,
                         calm_context *context, limits *l, uint64_t seed) {
  layout_options o = layout_options_default();
  arena a;
  o.method = threads ? LAYOUT_GREEDY : LAYOUT_SIZE;
  o.threads = threads;
  o.seed = seed;
  arena_init(&a, context);
  const calm_status status = layout_solve(&out->result, &s->p, &o, &a, l);
  if (status == CALM_OK)
    memcpy(out->offsets, out->result.offsets, sizeof out->offsets);
  arena_free(&a);
  return status;
}

static void assert_sound(const answer *a, const large_problem *s,
                         calm_context *context) {
  layout_fault fault;
  assert_int_equal(
      layout_check(&fault, &s->p, a->offsets, a->result.arena_bytes, context),
      CALM_OK);
  assert_int_equal(fault.kind, LAYOUT_SOUND);
}

static void assert_same(const answer *a, const answer *b) {
  assert_int_equal(a->result.arena_bytes, b->result.arena_bytes);
  assert_int_equal(a->result.ticks, b->result.ticks);
  assert_int_equal(a->result.stopped, b->result.stopped);
  assert_memory_equal(a->offsets, b->offsets, sizeof a->offsets);
}

/* Else the tests below would see one thread only. */
static void problems_are_large_enough(void **state) {
  static large_problem s;
  static answer first;
  random_state random = random_from_seed(5);
  calm_context *context = calm_context_new(NULL);
  limits l;
  (void)state;
  draw(&s, &random);
  limits_init(&l, context);
  assert_int_equal(solve(&first, &s, 0, context, &l, 1), CALM_OK);
  assert_true(first.result.ticks >= LEAST_TICKS);
  calm_context_free(context);
}

/* Whatever tick limit ends it: none, or a share of what it takes. */
static void threads_change_nothing(void **state) {
  static const uint32_t threads[] = {2, 3, 8};
  static large_problem s;
  static answer alone, other;
  random_state random = random_from_seed(5);
  calm_context *context = calm_context_new(NULL);
  uint64_t ticks = 0;
  (void)state;
  for (uint64_t round = 0; round < ROUNDS; round++) {
    limits l;
    const uint64_t limit =
        round % 3 ? 1 + ticks * random_below(&random, 1200) / 1000 : UINT64_MAX;
    if (round % 3 == 0) draw(&s, &random);
    limits_init(&l, context);
    l.max_ticks = limit;
    assert_int_equal(solve(&alone, &s, 1, context, &l, round), CALM_OK);
    if (round % 3 == 0) ticks = alone.result.ticks;
    assert_sound(&alone, &s, context);
    for (uint32_t i = 0; i < 3; i++) {
      limits_init(&l, context);
      l.max_ticks = limit;
      assert_int_equal(solve(&other, &s, threads[i], context, &l, round),
                       CALM_OK);
      assert_same(&alone, &other);
    }
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* Few bytes are few threads, and the same answer. */
static void a_memory_limit_changes_nothing(void **state) {
  static large_problem s;
  static answer alone, other;
  random_state random = random_from_seed(6);
  calm_context *context = calm_context_new(NULL);
  limits l;
  (void)state;
  draw(&s, &random);
  limits_init(&l, context);
  assert_int_equal(solve(&alone, &s, 1, context, &l, 1), CALM_OK);
  for (uint64_t bytes = 1; bytes < 1 << 26; bytes *= 32) {
    limits_init(&l, context);
    l.max_bytes = bytes;
    assert_int_equal(solve(&other, &s, 8, context, &l, 1), CALM_OK);
    assert_same(&alone, &other);
  }
  calm_context_free(context);
}

static void clock_and_interrupt_end_it(void **state) {
  static large_problem s;
  static answer a;
  random_state random = random_from_seed(7);
  calm_context *context = calm_context_new(NULL);
  (void)state;
  draw(&s, &random);
  for (uint32_t i = 0; i < 12; i++) {
    limits l;
    limits_init(&l, context);
    l.deadline = limits_clock() + (i < 10 ? 1e-4 * i : -1);
    if (i == 11) calm_context_interrupt(context);
    assert_int_equal(solve(&a, &s, 3, context, &l, 1), CALM_OK);
    assert_sound(&a, &s, context);
    if (i == 10) assert_int_equal(a.result.stopped, LIMITS_TIME);
    if (i == 11) assert_int_equal(a.result.stopped, LIMITS_INTERRUPT);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void memory_may_run_out_anywhere(void **state) {
  static large_problem s;
  static answer a;
  random_state random = random_from_seed(8);
  calm_status status = CALM_NO_MEMORY;
  (void)state;
  draw(&s, &random);
  for (uint64_t granted = 1; status != CALM_OK; granted += 1 + granted / 3) {
    uint64_t left = granted;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    limits l;
    limits_init(&l, context);
    status = solve(&a, &s, 3, context, &l, 1);
    if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(problems_are_large_enough),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(a_memory_limit_changes_nothing),
      cmocka_unit_test(clock_and_interrupt_end_it),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
