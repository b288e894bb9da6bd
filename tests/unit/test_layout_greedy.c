#include "test_layout.h"

#include "layout/layout_greedy.h"

static layout_result solve_by(const small_problem *s, layout_method method,
                              uint64_t *offsets) {
  calm_context *context = calm_context_new(NULL);
  layout_options o = layout_options_default();
  layout_result r;
  layout_fault fault;
  arena a;
  limits l;
  o.method = method;
  arena_init(&a, context);
  limits_init(&l, context);
  assert_int_equal(layout_solve(&r, &s->p, &o, &a, &l), CALM_OK);
  assert_false(is_faulty(&fault, &s->p, r.offsets, r.arena_bytes));
  for (uint32_t b = 0; b < s->p.body_count; b++) offsets[b] = r.offsets[b];
  arena_free(&a);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return r;
}

static void larger_first_and_later_of_equals_first(void **state) {
  (void)state;
  small_problem s;
  uint64_t at[MOST_BODIES];
  small_init(&s);
  small_add_box(&s, 0, 2, 8);
  small_add_box(&s, 0, 2, 8);
  small_add_box(&s, 1, 3, 9);
  assert_int_equal(solve_by(&s, LAYOUT_SIZE, at).arena_bytes, 25);
  assert_int_equal(at[2], 0);
  assert_int_equal(at[1], 9);
  assert_int_equal(at[0], 17);
}

static void the_lowest_gap_is_taken(void **state) {
  (void)state;
  small_problem s;
  uint64_t at[MOST_BODIES];
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 0, 2, 9);
  small_add_box(&s, 1, 4, 8);
  small_add_box(&s, 2, 4, 7);
  solve_by(&s, LAYOUT_SIZE, at);
  assert_int_equal(at[1], 10);
  assert_int_equal(at[2], 19);
  assert_int_equal(at[3], 10); /* where the second one was */
}

static void fixed_bodies_are_gone_around(void **state) {
  (void)state;
  small_problem s;
  uint64_t at[MOST_BODIES];
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 0, 4, 4);
  s.bodies[1].fixed = true;
  s.bodies[1].offset = 6;
  s.bodies[0].align = 8;
  assert_int_equal(solve_by(&s, LAYOUT_SIZE, at).arena_bytes, 26);
  assert_int_equal(at[0], 16);
}

static void the_best_of_many_is_no_worse(void **state) {
  (void)state;
  random_state random = random_from_seed(13);
  int better = 0;
  for (int i = 0; i < 300; i++) {
    small_problem s;
    uint64_t at[MOST_BODIES];
    small_random(&s, (small_kind)(i % SMALL_KINDS), &random);
    layout_result size = solve_by(&s, LAYOUT_SIZE, at);
    layout_result best = solve_by(&s, LAYOUT_GREEDY, at);
    layout_result exact = solve_by(&s, LAYOUT_EXACT, at);
    assert_true(best.arena_bytes <= size.arena_bytes);
    assert_true(exact.arena_bytes <= best.arena_bytes);
    assert_true(best.bound_bytes <= exact.arena_bytes);
    better += best.arena_bytes < size.arena_bytes;
  }
  assert_true(better > 0);
}

/* With no ticks left one order is tried all the same. */
static void spent_limits_still_give_a_placement(void **state) {
  (void)state;
  small_problem s;
  random_state random = random_from_seed(2);
  small_random(&s, SMALL_TRICKY, &random);
  calm_context *context = calm_context_new(NULL);
  layout_options o = layout_options_default();
  layout_result r;
  layout_fault fault;
  arena a;
  limits l;
  arena_init(&a, context);
  limits_init(&l, context);
  l.max_ticks = 0;
  assert_int_equal(layout_solve(&r, &s.p, &o, &a, &l), CALM_OK);
  assert_false(is_faulty(&fault, &s.p, r.offsets, r.arena_bytes));
  arena_free(&a);
  calm_context_free(context);
}

/* ---- Wide problems ------------------------------------------------------- */

enum { WIDE = 1100 };

typedef struct wide_problem {
  layout_problem p;
  layout_body bodies[WIDE];
  layout_piece pieces[2 * WIDE];
  uint64_t offsets[WIDE]; /* what plain first fit makes of it */
  uint32_t order[WIDE];
} wide_problem;

/* Long lives and short ones; some bodies have two pieces, some are fixed. */
static void wide_draw(wide_problem *w, int64_t steps, bool plain,
                      random_state *r) {
  layout_problem *p = &w->p;
  *w = (wide_problem){.p = {.bodies = w->bodies, .pieces = w->pieces}};
  for (uint32_t b = 0; b < WIDE; b++) {
    const int64_t lower = draw_between(r, 0, steps);
    const int64_t upper = draw_between(r, lower + 1, lower + 1 + steps);
    const uint64_t low = plain ? 0 : 4 * random_below(r, 3);
    const uint64_t high = low + 1 + random_below(r, 200);
    w->bodies[p->body_count++].align =
        plain ? 1 : UINT64_C(4) << random_below(r, 3);
    p->pieces[p->piece_count++] = (layout_piece){b, lower, upper, low, high};
    if (!plain && random_below(r, 4) == 0)
      p->pieces[p->piece_count++] =
          (layout_piece){b, upper, upper + 3, 0, 1 + random_below(r, 99)};
  }
  for (uint32_t b = 0; b < 5 && !plain; b++) {
    w->bodies[b].fixed = true;
    w->bodies[b].offset = 3200 * (uint64_t)b;
  }
}

static uint64_t wide_span(const wide_problem *w, uint32_t body) {
  return layout_body_span(&w->p, body);
}

static bool wide_collides(const wide_problem *w, const layout_piece *x,
                          const layout_piece *y) {
  const uint64_t at = w->offsets[x->body], bt = w->offsets[y->body];
  return x->body != y->body && x->lower < y->upper && y->lower < x->upper &&
         at + x->low < bt + y->high && bt + y->low < at + x->high;
}

/* Raise a body above whatever it collides with until there is nothing. */
static void wide_place(wide_problem *w, uint32_t body, const bool *placed) {
  const layout_problem *p = &w->p;
  const uint64_t align = p->bodies[body].align;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++)
      for (uint32_t j = 0; j < p->piece_count; j++) {
        const layout_piece *x = &p->pieces[i], *y = &p->pieces[j];
        if (!placed[y->body] || !wide_collides(w, x, y)) continue;
        const uint64_t end = w->offsets[y->body] + y->high - x->low;
        w->offsets[body] = (end + align - 1) / align * align;
        moved = true;
      }
  }
}

static void wide_first_fit(wide_problem *w) {
  bool placed[WIDE] = {false};
  for (uint32_t b = 0; b < WIDE; b++)
    if (w->bodies[b].fixed) {
      w->offsets[b] = w->bodies[b].offset;
      placed[b] = true;
    }
  for (uint32_t n = 0; n < WIDE; n++) {
    uint32_t next = CALM_NONE;
    for (uint32_t b = 0; b < WIDE; b++)
      if (!placed[b] &&
          (next == CALM_NONE || wide_span(w, b) >= wide_span(w, next)))
        next = b;
    if (next == CALM_NONE) break;
    wide_place(w, next, placed);
    placed[next] = true;
  }
}

/* Probes and stack change nothing but the time it takes. */
static void wide_problems_are_placed_as_by_plain_first_fit(void **state) {
  (void)state;
  static wide_problem w;
  const int64_t steps[] = {0, 3, 100, 1000};
  random_state random = random_from_seed(21);
  calm_context *context = calm_context_new(NULL);
  for (int i = 0; i < 4; i++) {
    arena a;
    limits l;
    layout_result r;
    layout_options o = layout_options_default();
    o.method = LAYOUT_SIZE;
    arena_init(&a, context);
    limits_init(&l, context);
    wide_draw(&w, steps[i], i == 0, &random);
    assert_int_equal(layout_problem_finish(&w.p, &a), CALM_OK);
    assert_int_equal(layout_solve(&r, &w.p, &o, &a, &l), CALM_OK);
    wide_first_fit(&w);
    assert_memory_equal(r.offsets, w.offsets, sizeof w.offsets);
    arena_free(&a);
  }
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(larger_first_and_later_of_equals_first),
      cmocka_unit_test(the_lowest_gap_is_taken),
      cmocka_unit_test(fixed_bodies_are_gone_around),
      cmocka_unit_test(the_best_of_many_is_no_worse),
      cmocka_unit_test(spent_limits_still_give_a_placement),
      cmocka_unit_test(wide_problems_are_placed_as_by_plain_first_fit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
