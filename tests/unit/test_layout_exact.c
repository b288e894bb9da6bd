#include "test_layout.h"

#include <stdlib.h>
#include <string.h>

static layout_options options_with(unsigned rules) {
  layout_options o = layout_options_default();
  o.all_valleys = rules & 1;
  o.memory = rules & 2;
  o.decompose = rules & 4;
  o.windows = rules & 8;
  return o;
}

typedef struct fixture {
  calm_context *context;
  arena arena;
} fixture;

static fixture fixture_open(void) {
  fixture f = {.context = calm_context_new(NULL)};
  assert_non_null(f.context);
  arena_init(&f.arena, f.context);
  return f;
}

static void fixture_close(fixture *f) {
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

static layout_result solve_within(fixture *f, const layout_problem *p,
                                  const layout_options *o, uint64_t ticks) {
  layout_result r = {0};
  layout_fault fault;
  limits l;
  limits_init(&l, f->context);
  l.max_ticks = ticks;
  if (layout_solve(&r, p, o, &f->arena, &l))
    fail_msg("%s", calm_context_message(f->context));
  assert_false(is_faulty(&fault, p, r.offsets, r.arena_bytes));
  assert_true(r.bound_bytes <= r.arena_bytes);
  assert_int_equal(r.outcome == CALM_OPTIMAL, r.bound_bytes == r.arena_bytes);
  return r;
}

static layout_result solve(fixture *f, const layout_problem *p,
                           const layout_options *o) {
  return solve_within(f, p, o, UINT64_MAX);
}

static void print_problem(const layout_problem *p) {
  for (uint32_t b = 0; b < p->body_count; b++) {
    print_message("body %u align %u fixed %d at %u:", b,
                  (unsigned)p->bodies[b].align, p->bodies[b].fixed,
                  (unsigned)p->bodies[b].offset);
    for (uint32_t i = p->piece_begin[b]; i < p->piece_begin[b + 1]; i++)
      print_message(" [%d,%d)x[%u,%u)", (int)p->pieces[i].lower,
                    (int)p->pieces[i].upper, (unsigned)p->pieces[i].low,
                    (unsigned)p->pieces[i].high);
    print_message("\n");
  }
}

/* All sixteen sets of rules against all offsets. */
static bool agrees_with_brute_force(fixture *f, const layout_problem *p) {
  const uint64_t live = brute_live(p, f->context);
  uint64_t best = brute_arena(p, live);
  for (unsigned rules = 0; rules < 16; rules++) {
    layout_options o = options_with(rules);
    layout_result r = solve(f, p, &o);
    if (r.outcome == CALM_OPTIMAL && r.arena_bytes == best) continue;
    print_problem(p);
    fail_msg("rules %u: outcome %d, arena %u, bound %u, brute force %u", rules,
             r.outcome, (unsigned)r.arena_bytes, (unsigned)r.bound_bytes,
             (unsigned)best);
  }
  return best > live;
}

static void brute_force_agrees_under_all_rules(void **state) {
  (void)state;
  enum { EACH = 400 };
  static const char *const names[] = {"tricky", "boxes",  "aligned",
                                      "fixed",  "groups", "mixed"};
  for (int kind = 0; kind < SMALL_KINDS; kind++) {
    random_state random = random_from_seed((uint64_t)kind + 1);
    uint32_t above = 0;
    for (int i = 0; i < EACH; i++) {
      fixture f = fixture_open();
      small_problem s;
      small_random(&s, (small_kind)kind, &random);
      above += agrees_with_brute_force(&f, &s.p);
      fixture_close(&f);
    }
    print_message("%s: %d problems, %u with an optimum above the live bytes\n",
                  names[kind], EACH, above);
    if (kind == SMALL_TRICKY) assert_true(above > 100);
    if (kind == SMALL_MIXED) assert_true(above > 20);
  }
}

/* ---- Beyond brute force -------------------------------------------------- */

enum { SLOTS = 10, MOST_ROWS = 200 };

/* Random bodies, and then boxes that fill every step up to the fullest one, so
   that the bound leaves no room: often out of reach, and hard to refute. */
typedef struct full_problem {
  layout_problem p;
  layout_body bodies[MOST_ROWS];
  layout_piece pieces[MOST_ROWS];
  uint32_t begin[MOST_ROWS + 1];
} full_problem;

static void add_row(full_problem *s, bool new_body, int64_t lower,
                    int64_t upper, uint64_t size) {
  if (new_body) s->bodies[s->p.body_count++].align = 1;
  s->pieces[s->p.piece_count++] =
      (layout_piece){s->p.body_count - 1, lower, upper, 0, size};
  s->begin[s->p.body_count] = s->p.piece_count;
}

static uint64_t live_at(const full_problem *s, int64_t step) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->p.piece_count; i++)
    if (s->pieces[i].lower <= step && step < s->pieces[i].upper)
      bytes += s->pieces[i].high;
  return bytes;
}

static void fill_steps(full_problem *s, random_state *r, uint64_t largest) {
  uint64_t most = 0;
  for (int64_t t = 0; t < SLOTS; t++)
    if (live_at(s, t) > most) most = live_at(s, t);
  for (int64_t t = 0; t < SLOTS; t++) {
    uint64_t room;
    while ((room = most - live_at(s, t)) > 0) {
      int64_t end = t + 1;
      while (end < SLOTS && most - live_at(s, end) >= room &&
             random_below(r, 3))
        end++;
      add_row(s, true, t, end, room < largest ? room : largest);
    }
  }
}

static void make_full(full_problem *s, random_state *r, bool groups) {
  *s = (full_problem){0};
  s->p.bodies = s->bodies;
  s->p.pieces = s->pieces;
  s->p.piece_begin = s->begin;
  for (int i = 0; i < 10; i++) {
    int64_t lower = draw_between(r, 0, SLOTS - 1);
    int64_t upper = draw_between(r, lower + 1, SLOTS);
    uint64_t size = 1 + random_below(r, 6);
    add_row(s, true, lower, upper, size);
    if (groups && upper + 1 < SLOTS && random_below(r, 2))
      add_row(s, false, upper + draw_between(r, 0, 1), SLOTS, size);
  }
  fill_steps(s, r, 6);
}

static void all_rules_agree_on_full_problems(void **state) {
  (void)state;
  uint32_t above = 0, proved = 0, proved_by_all = 0;
  random_state random = random_from_seed(7);
  for (int i = 0; i < 24; i++) {
    full_problem s;
    fixture f = fixture_open();
    make_full(&s, &random, i % 2);
    layout_options all = options_with(15);
    layout_result best = solve_within(&f, &s.p, &all, 2000000);
    proved_by_all += best.outcome == CALM_OPTIMAL;
    for (unsigned rules = 0; rules < 15; rules++) {
      layout_options o = options_with(rules);
      layout_result r = solve_within(&f, &s.p, &o, 300000);
      assert_true(r.bound_bytes <= best.arena_bytes);
      assert_true(r.arena_bytes >= best.bound_bytes);
      if (r.outcome == CALM_OPTIMAL && best.outcome == CALM_OPTIMAL)
        assert_int_equal(r.arena_bytes, best.arena_bytes);
      proved += r.outcome == CALM_OPTIMAL;
    }
    const uint64_t live = brute_live(&s.p, f.context);
    above += best.arena_bytes > live;
    fixture_close(&f);
  }
  print_message(
      "%u of 24 have an optimum above the live bytes; %u of 360 "
      "runs with fewer rules end in a proof\n",
      above, proved);
  assert_true(above >= 4 && proved_by_all >= 20);
}

/* Multiplying all bytes multiplies the optimum; renaming changes nothing. */
static void scale_does_not_matter(void **state) {
  (void)state;
  random_state random = random_from_seed(5);
  layout_options o = layout_options_default();
  for (int i = 0; i < 200; i++) {
    small_problem s;
    fixture f = fixture_open();
    small_random(&s, (small_kind)(i % SMALL_KINDS), &random);
    uint64_t once = solve(&f, &s.p, &o).arena_bytes;
    small_scale(&s, UINT64_C(1) << 40);
    assert_true(solve(&f, &s.p, &o).arena_bytes == once << 40);
    fixture_close(&f);
  }
}

/* A byte that is always alive keeps sizes near 2^62 from being divided. */
static void huge_sizes_do_not_wrap(void **state) {
  (void)state;
  random_state random = random_from_seed(6);
  layout_options o = layout_options_default();
  for (int i = 0; i < 200; i++) {
    small_problem s;
    fixture f = fixture_open();
    do small_random(&s, i % 2 ? SMALL_TRICKY : SMALL_BOXES, &random);
    while (s.p.body_count == MOST_BODIES);
    uint64_t once = solve(&f, &s.p, &o).arena_bytes;
    uint64_t factor = ((UINT64_C(1) << 61) - 1) / (once ? once : 1);
    small_scale(&s, factor);
    for (uint32_t b = 0; b < s.p.body_count; b++) s.bodies[b].align = 1;
    small_add_box(&s, -100, 100, 1);
    assert_true(solve(&f, &s.p, &o).arena_bytes == once * factor + 1);
    fixture_close(&f);
  }
}

/* ---- Determinism, limits, memory ----------------------------------------- */

static void runs_repeat_exactly(void **state) {
  (void)state;
  random_state random = random_from_seed(11);
  for (int i = 0; i < 10; i++) {
    full_problem s;
    fixture f = fixture_open(), g = fixture_open();
    make_full(&s, &random, i % 2);
    layout_options o = layout_options_default();
    layout_result a = solve_within(&f, &s.p, &o, 2000000);
    layout_result b = solve_within(&g, &s.p, &o, 2000000);
    assert_int_equal(a.nodes, b.nodes);
    assert_int_equal(a.ticks, b.ticks);
    assert_memory_equal(a.offsets, b.offsets,
                        s.p.body_count * sizeof *a.offsets);
    fixture_close(&f);
    fixture_close(&g);
  }
}

/* Whatever the tick limit, there is a valid placement and a valid bound. */
static void every_tick_limit_gives_an_answer(void **state) {
  (void)state;
  full_problem s;
  random_state random = random_from_seed(3);
  make_full(&s, &random, true);
  fixture f = fixture_open();
  layout_options o = layout_options_default();
  layout_result best = solve(&f, &s.p, &o);
  for (uint64_t ticks = 0; ticks < best.ticks; ticks += 1 + ticks / 3) {
    layout_result r;
    layout_fault fault;
    limits l;
    limits_init(&l, f.context);
    l.max_ticks = ticks;
    assert_int_equal(layout_solve(&r, &s.p, &o, &f.arena, &l), CALM_OK);
    assert_false(is_faulty(&fault, &s.p, r.offsets, r.arena_bytes));
    assert_true(r.bound_bytes <= best.arena_bytes);
    assert_true(r.arena_bytes >= best.arena_bytes);
    if (r.outcome == CALM_FEASIBLE) assert_int_equal(r.stopped, LIMITS_TICKS);
  }
  fixture_close(&f);
}

static void other_limits_give_an_answer(void **state) {
  (void)state;
  full_problem s;
  random_state random = random_from_seed(3);
  make_full(&s, &random, false);
  fixture f = fixture_open();
  layout_options o = layout_options_default();
  for (int kind = 0; kind < 3; kind++) {
    layout_result r;
    layout_fault fault;
    limits l;
    limits_init(&l, f.context);
    if (kind == 0) l.max_bytes = 1;
    if (kind == 1) l.deadline = limits_clock() - 1;
    if (kind == 2) calm_context_interrupt(f.context);
    assert_int_equal(layout_solve(&r, &s.p, &o, &f.arena, &l), CALM_OK);
    calm_context_resume(f.context);
    assert_false(is_faulty(&fault, &s.p, r.offsets, r.arena_bytes));
    if (r.outcome == CALM_FEASIBLE)
      assert_int_not_equal(r.stopped, LIMITS_NONE);
  }
  fixture_close(&f);
}

static void a_target_is_enough(void **state) {
  (void)state;
  fixture f = fixture_open();
  small_problem s;
  small_init(&s);
  small_add_box(&s, 0, 2, 10);
  small_add_box(&s, 1, 3, 20);
  small_add_box(&s, 2, 4, 30);
  small_add_box(&s, 3, 5, 40);
  small_add_box(&s, 0, 2, 50);
  layout_options o = layout_options_default();
  assert_int_equal(solve(&f, &s.p, &o).arena_bytes, 80);
  o.target_bytes = 95;
  layout_result r = solve(&f, &s.p, &o);
  assert_true(r.arena_bytes <= 95);
  o.method = LAYOUT_SIZE;
  assert_int_equal(solve(&f, &s.p, &o).arena_bytes, 90);
  fixture_close(&f);
}

static void nothing_to_place(void **state) {
  (void)state;
  fixture f = fixture_open();
  small_problem s;
  layout_options o = layout_options_default();
  small_init(&s);
  layout_result r = solve(&f, &s.p, &o);
  assert_int_equal(r.arena_bytes, 0);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
  small_add_box(&s, 3, 3, 7);    /* no step */
  small_add_box(&s, 0, 9, 0);    /* no byte */
  small_add_body(&s)->align = 8; /* no piece */
  small_add_body(&s)->fixed = true;
  s.bodies[3].offset = 64;
  r = solve(&f, &s.p, &o);
  assert_int_equal(r.arena_bytes, 0);
  assert_int_equal(r.offsets[3], 64);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
  fixture_close(&f);
}

/* An allocator that refuses its n-th call. */
typedef struct refusing {
  size_t calls, refused, bytes;
} refusing;

static void *refuse(void *payload, void *old, size_t old_size,
                    size_t new_size) {
  refusing *r = payload;
  if (new_size && ++r->calls == r->refused) return NULL;
  void *block = NULL;
  if (new_size)
    block = realloc(old, new_size);
  else
    free(old);
  r->bytes += new_size - old_size;
  return block;
}

static void each_refused_allocation_is_reported(void **state) {
  (void)state;
  full_problem s;
  random_state random = random_from_seed(21);
  make_full(&s, &random, true);
  for (size_t n = 1;; n++) {
    refusing r = {.refused = n + 1}; /* the first makes the context */
    calm_allocator allocator = {refuse, &r};
    calm_context *context = calm_context_new(&allocator);
    layout_options o = layout_options_default();
    layout_result result;
    arena a;
    limits l;
    arena_init(&a, context);
    limits_init(&l, context);
    l.max_ticks = 300000;
    calm_status status = layout_solve(&result, &s.p, &o, &a, &l);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    assert_int_equal(r.bytes, 0);
    if (status == CALM_OK) {
      assert_true(r.calls <= n);
      print_message("%u allocations\n", (unsigned)n - 1);
      return;
    }
    assert_int_equal(status, CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brute_force_agrees_under_all_rules),
      cmocka_unit_test(all_rules_agree_on_full_problems),
      cmocka_unit_test(scale_does_not_matter),
      cmocka_unit_test(huge_sizes_do_not_wrap),
      cmocka_unit_test(runs_repeat_exactly),
      cmocka_unit_test(every_tick_limit_gives_an_answer),
      cmocka_unit_test(other_limits_give_an_answer),
      cmocka_unit_test(a_target_is_enough),
      cmocka_unit_test(nothing_to_place),
      cmocka_unit_test(each_refused_allocation_is_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
