#include "layout/layout_differences.h"
#include "memory_graphs.h"

enum { MOST_BODIES = 5, MOST_PIECES = 10, MOST_RELIEFS = 4, ROOM = 14 };

/* A problem small enough to try all placements. */
typedef struct small {
  layout_body bodies[MOST_BODIES];
  layout_piece pieces[MOST_PIECES];
  layout_relief reliefs[MOST_RELIEFS];
  layout_problem p;
} small;

static bool meet(const layout_piece *p, const layout_piece *q) {
  return p->lower < q->upper && q->lower < p->upper && p->low < p->high &&
         q->low < q->high;
}

/* A chain of layers, some of which are in use in parts. */
static void draw(small *s, random_state *r) {
  memset(s, 0, sizeof *s);
  const uint32_t bodies = 2 + random_below(r, MOST_BODIES - 1);
  uint32_t pieces = 0, reliefs = 0;
  for (uint32_t b = 0; b < bodies; b++) {
    s->bodies[b].align = random_below(r, 4) ? 1 : 2;
    const uint32_t count = 1 + random_below(r, 2);
    for (uint32_t i = 0; i < count && pieces < MOST_PIECES; i++) {
      layout_piece *p = &s->pieces[pieces++];
      p->body = b;
      p->lower = random_below(r, 5);
      p->upper = p->lower + 1 + random_below(r, 3);
      p->low = random_below(r, 3) ? 0 : random_below(r, 3);
      p->high = p->low + 1 + random_below(r, 4);
    }
  }
  for (uint32_t i = 0; i < pieces; i++)
    for (uint32_t k = 0; k < pieces && reliefs < MOST_RELIEFS; k++) {
      const layout_piece *in = &s->pieces[i], *out = &s->pieces[k];
      if (in->body == out->body || in->upper != out->lower + 1 ||
          in->lower >= out->lower || !meet(in, out) || random_below(r, 3) == 0)
        continue;
      const int64_t length = (int64_t)(out->high - out->low);
      s->reliefs[reliefs++] = (layout_relief){
          i, k, (int64_t)random_below(r, (uint32_t)length + 3) - 2};
      if (s->reliefs[reliefs - 1].distance > length)
        s->reliefs[reliefs - 1].distance = length;
    }
  s->p = (layout_problem){.bodies = s->bodies,
                          .pieces = s->pieces,
                          .body_count = bodies,
                          .piece_count = pieces,
                          .reliefs = s->reliefs,
                          .relief_count = reliefs};
}

/* May the two lie like that?  From the words of layout.h. */
static bool pair_holds(const small *s, uint32_t i, uint32_t k,
                       const uint64_t *offsets) {
  const layout_piece *p = &s->pieces[i], *q = &s->pieces[k];
  const int64_t p_begin = (int64_t)(offsets[p->body] + p->low);
  const int64_t q_begin = (int64_t)(offsets[q->body] + q->low);
  if (p->body == q->body || !meet(p, q)) return true;
  if (p_begin + (int64_t)(p->high - p->low) <= q_begin ||
      q_begin + (int64_t)(q->high - q->low) <= p_begin)
    return true;
  for (uint32_t r = 0; r < s->p.relief_count; r++) {
    const layout_relief *relief = &s->reliefs[r];
    if (relief->input == i && relief->output == k &&
        p_begin - q_begin >= relief->distance)
      return true;
    if (relief->input == k && relief->output == i &&
        q_begin - p_begin >= relief->distance)
      return true;
  }
  return false;
}

static bool holds(const small *s, const uint64_t *offsets) {
  for (uint32_t i = 0; i < s->p.piece_count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (!pair_holds(s, i, k, offsets)) return false;
  return true;
}

static uint64_t arena_of(const small *s, const uint64_t *offsets) {
  uint64_t arena = 0;
  for (uint32_t i = 0; i < s->p.piece_count; i++) {
    const uint64_t end = offsets[s->pieces[i].body] + s->pieces[i].high;
    if (end > arena) arena = end;
  }
  return arena;
}

/* The least arena, by trying all offsets below ROOM. */
static uint64_t brute_force(const small *s) {
  uint64_t offsets[MOST_BODIES] = {0}, best = UINT64_MAX;
  for (;;) {
    const uint64_t arena = arena_of(s, offsets);
    if (arena < best && holds(s, offsets)) best = arena;
    uint32_t b = 0;
    while (b < s->p.body_count && (offsets[b] += s->bodies[b].align) >= ROOM)
      offsets[b++] = 0;
    if (b == s->p.body_count) return best;
  }
}

static void judge(fixture *f, const small *s, uint64_t least,
                  layout_method method) {
  layout_result result;
  limits l;
  layout_options o = layout_options_default();
  o.method = method;
  limits_init(&l, f->context);
  assert_int_equal(layout_differences_solve(&result, &s->p, &o, &f->arena, &l),
                   CALM_OK);
  assert_true(holds(s, result.offsets));
  for (uint32_t b = 0; b < s->p.body_count; b++)
    assert_int_equal(result.offsets[b] % s->bodies[b].align, 0);
  assert_int_equal(arena_of(s, result.offsets), result.arena_bytes);
  assert_true(result.bound_bytes <= least);
  assert_true(result.arena_bytes >= least);
  if (method != LAYOUT_EXACT) return;
  assert_int_equal(result.outcome, CALM_OPTIMAL);
  assert_int_equal(result.arena_bytes, least);
}

static void the_exact_search_finds_the_least(void **state) {
  (void)state;
  random_state r = random_from_seed(11);
  fixture f;
  fixture_begin(&f, NULL);
  uint32_t relieved = 0;
  for (int round = 0; round < (CALM_SANITIZED ? 150 : 700); round++) {
    small s;
    draw(&s, &r);
    assert_int_equal(layout_problem_finish(&s.p, &f.arena), CALM_OK);
    const uint64_t least = brute_force(&s);
    assert_true(least < UINT64_MAX);
    judge(&f, &s, least, LAYOUT_SIZE);
    judge(&f, &s, least, LAYOUT_GREEDY);
    judge(&f, &s, least, LAYOUT_EXACT);
    relieved += s.p.relief_count > 0;
    arena_free(&f.arena);
  }
  assert_true(relieved > 50);
  fixture_close(&f);
}

/* Layers of 8,000 bytes: each begins 384 bytes below the one before, and none
   can go up again without taking its own 8,000 on top. */
static void a_chain_slides_down_and_that_is_proved(void **state) {
  (void)state;
  enum { LAYERS = 10, BYTES = 8000, STEP = 384 };
  layout_body bodies[LAYERS];
  layout_piece pieces[LAYERS];
  layout_relief reliefs[LAYERS - 1];
  layout_result result;
  limits l;
  fixture f;
  fixture_begin(&f, NULL);
  for (uint32_t i = 0; i < LAYERS; i++) {
    bodies[i] = (layout_body){.align = 16};
    pieces[i] = (layout_piece){i, i, i + 2, 0, BYTES};
    if (i) reliefs[i - 1] = (layout_relief){i - 1, i, STEP - 15};
  }
  layout_problem p = {.bodies = bodies,
                      .pieces = pieces,
                      .body_count = LAYERS,
                      .piece_count = LAYERS,
                      .reliefs = reliefs,
                      .relief_count = LAYERS - 1};
  const layout_options o = layout_options_default();
  limits_init(&l, f.context);
  assert_int_equal(layout_problem_finish(&p, &f.arena), CALM_OK);
  assert_int_equal(layout_solve(&result, &p, &o, &f.arena, &l), CALM_OK);
  assert_int_equal(result.outcome, CALM_OPTIMAL);
  assert_int_equal(result.arena_bytes, BYTES + (LAYERS - 1) * STEP);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_exact_search_finds_the_least),
      cmocka_unit_test(a_chain_slides_down_and_that_is_proved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
