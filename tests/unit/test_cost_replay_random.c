/*
 * The replay on random nests: against the closed form where that holds, against
 * the referee that knows of imperfect loops but not of links, and against a
 * walk that knows of links: all visits one after the other, tiles as lists of
 * points at their places, elements and their neighbours one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost_check.h"
#include "cost_closed_stream.h"
#include "cost_fixture.h"
#include "cost_random.h"
#include "cost_referee.h"

enum { MOST_GROUPS = 4096, MOST_LOOPS = 64, MOST_RANKS = 8 };

static bool same_groups(const cost_stream *a, const cost_group *groups,
                        uint32_t count) {
  return cost_check_groups(a->groups, a->group_count, groups, count, true);
}

static void print_groups(const char *who, const cost_group *groups,
                         uint32_t count) {
  print_error("%s:", who);
  for (uint32_t i = 0; i < count; i++)
    print_error(" %ux%u:%g(%g)", (unsigned)groups[i].multicast,
                (unsigned)groups[i].scatter, groups[i].accesses,
                groups[i].hops);
  print_error("\n");
}

static void fail_at(const cost_random_case *c, const cost_question *q,
                    const cost_stream *s, const cost_group *groups,
                    uint32_t count) {
  cost_random_print(c);
  print_groups("replay", s->groups, s->group_count);
  print_groups("other", groups, count);
  fail_msg("tensor %u, level %u, %s%s", (unsigned)q->tensor, (unsigned)q->level,
           q->visits == COST_VISIT_TWO ? "two" : "all",
           q->links ? ", links" : "");
}

static void replay(cost_stream *out, const cost_question *q, arena *a) {
  *out = (cost_stream){0};
  assert_int_equal(cost_replay(out, NULL, q, a), CALM_OK);
  assert_int_equal(out->excess.fault, COST_VALID);
}

/* ---- The closed form ----------------------------------------------------- */

static uint32_t compare_closed(const cost_random_case *c, cost_problem *p,
                               arena *a) {
  static cost_group room[MOST_GROUPS];
  uint32_t compared = 0;
  cost_question q = {.problem = p, .nest = &c->nest};
  for (q.tensor = 0; q.tensor < c->layer.tensor_count; q.tensor++)
    for (q.level = 0; q.level < c->arch.level_count; q.level++)
      for (int two = 0; two < 2; two++) {
        cost_stream s;
        q.visits = two ? COST_VISIT_TWO : COST_VISIT_ALL;
        const cost_stream closed = cost_closed_stream(&q, room, MOST_GROUPS);
        if (closed.fanout == 0) continue;
        replay(&s, &q, a);
        assert_int_equal(s.fanout, closed.fanout);
        if (!same_groups(&s, closed.groups, closed.group_count))
          fail_at(c, &q, &s, closed.groups, closed.group_count);
        compared++;
      }
  return compared;
}

static void equals_closed_form(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(1);
  const cost_random_options options[] = {{2000, 0, false, true},
                                         {10000000, 0, false, true}};
  uint32_t compared = 0;
  for (uint32_t i = 0; i < 3000; i++) {
    cost_random_case c;
    cost_problem p;
    const cost_options model = {COST_EXACT, COST_FANOUT_CUMULATIVE, true};
    cost_random_make(&c, &r, &options[i % 2], &f->arena);
    assert_int_equal(
        cost_problem_init(&p, &c.arch, &c.layer, &model, &f->arena), CALM_OK);
    compared += compare_closed(&c, &p, &f->arena);
    arena_free(&f->arena);
  }
  print_message("%u streams compared\n", (unsigned)compared);
  assert_true(compared > 30000);
}

/* ---- The referee --------------------------------------------------------- */

static void equals_referee(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(2);
  for (uint32_t i = 0; i < 600; i++) {
    cost_random_case c;
    const cost_random_options options = {300, 2000, i % 3 > 0, true};
    cost_random_make(&c, &r, &options, &f->arena);
    const cost_problem p = {.arch = &c.arch, .layer = &c.layer};
    cost_question q = {
        .problem = &p, .nest = &c.nest, .visits = COST_VISIT_ALL};
    for (q.tensor = 0; q.tensor < c.layer.tensor_count; q.tensor++)
      for (q.level = 0; q.level < c.arch.level_count; q.level++) {
        referee_stream walked = {0};
        cost_stream s;
        referee_walk(&walked, &c, q.tensor, q.level, &f->arena);
        replay(&s, &q, &f->arena);
        if (!same_groups(&s, walked.groups, walked.group_count))
          fail_at(&c, &q, &s, walked.groups, walked.group_count);
      }
    arena_free(&f->arena);
  }
}

/* ---- Links --------------------------------------------------------------- */

typedef struct point {
  int64_t at[MOST_RANKS];
} point;

typedef struct points {
  point *list;
  uint32_t count;
} points;

typedef struct walk {
  const cost_question *question;
  const accel_tensor *tensor;
  uint64_t index[MOST_LOOPS];
  uint64_t inner[ACCEL_MAX_DIMENSIONS]; /* steps of a dimension in a tile */
  uint32_t first, temporal;             /* loops of the fan-out, and above */
  uint64_t columns, rows;
  point *offsets; /* of each element, from the first */
  uint32_t element_count;
  points last, delta, sent; /* of the first element */
  point last_at, step;
  bool has_last, has_step, has_sent;
  cost_group groups[MOST_GROUPS];
  uint32_t group_count;
  double links;
  arena *arena;
} walk;

static void *take(walk *w, size_t count, size_t size) {
  void *out = arena_calloc(w->arena, count, size);
  if (!out) abort();
  return out;
}

static point locate(const walk *w) {
  point out = {{0}};
  uint64_t scale[ACCEL_MAX_DIMENSIONS], at[ACCEL_MAX_DIMENSIONS] = {0};
  memcpy(scale, w->inner, sizeof scale);
  for (uint32_t k = w->first; k < w->question->nest->loop_count; k++) {
    const accel_loop *l = &w->question->nest->loops[k];
    at[l->dimension] += w->index[k] * scale[l->dimension];
    scale[l->dimension] *= l->bound;
  }
  for (uint32_t i = 0; i < w->tensor->rank_count; i++)
    for (uint32_t j = 0; j < w->tensor->ranks[i].term_count; j++) {
      const accel_term *term = &w->tensor->ranks[i].terms[j];
      out.at[i] += (int64_t)(term->coefficient * at[term->dimension]);
    }
  return out;
}

static point between(const point *from, const point *to) {
  point out;
  for (uint32_t i = 0; i < MOST_RANKS; i++) out.at[i] = to->at[i] - from->at[i];
  return out;
}

static bool same_point(const point *a, const point *b) {
  return !memcmp(a, b, sizeof *a);
}

/* Points of a box, the last rank fastest. */
static points fill_box(walk *w, const point *low) {
  uint64_t extent[MOST_RANKS], count = 1;
  for (uint32_t i = 0; i < w->tensor->rank_count; i++) {
    extent[i] = 1;
    for (uint32_t j = 0; j < w->tensor->ranks[i].term_count; j++) {
      const accel_term *term = &w->tensor->ranks[i].terms[j];
      extent[i] += term->coefficient * (w->inner[term->dimension] - 1);
    }
    count *= extent[i];
  }
  points out = {take(w, count, sizeof(point)), (uint32_t)count};
  for (uint32_t n = 0; n < count; n++) {
    uint64_t rest = n;
    out.list[n] = *low;
    for (uint32_t i = w->tensor->rank_count; i-- > 0; rest /= extent[i])
      out.list[n].at[i] += (int64_t)(rest % extent[i]);
  }
  return out;
}

static points without(walk *w, const points *a, const points *b) {
  points out = {take(w, a->count, sizeof(point)), 0};
  for (uint32_t i = 0; i < a->count; i++) {
    bool found = false;
    for (uint32_t j = 0; j < b->count && !found; j++)
      found = same_point(&a->list[i], &b->list[j]);
    if (!found) out.list[out.count++] = a->list[i];
  }
  return out;
}

/* The rule of steps: what the first element gets at this visit. */
static points deliver(walk *w) {
  const point at = locate(w), still = {{0}};
  const points tile = fill_box(w, &at);
  points delta = tile;
  if (w->question->level > 0 && w->has_last) {
    const point t = between(&w->last_at, &at);
    if (same_point(&t, &still) || !w->has_step || same_point(&t, &w->step)) {
      if (!same_point(&t, &still)) w->has_step = true, w->step = t;
      delta = without(w, &tile, &w->last);
    } else {
      w->has_step = false;
    }
  }
  w->last = tile;
  w->last_at = at;
  w->has_last = true;
  return delta;
}

/* Does element e get now what element n got before? */
static bool gets_the_same(const walk *w, uint32_t e, uint64_t n) {
  if (n >= w->element_count || w->sent.count != w->delta.count) return false;
  for (uint32_t i = 0; i < w->delta.count; i++)
    for (uint32_t k = 0; k < MOST_RANKS; k++)
      if (w->delta.list[i].at[k] + w->offsets[e].at[k] !=
          w->sent.list[i].at[k] + w->offsets[n].at[k])
        return false;
  return true;
}

static bool is_served(const walk *w, uint32_t e) {
  const uint64_t column = e % w->columns, row = e / w->columns;
  return (column > 0 && gets_the_same(w, e, e - 1)) ||
         (column + 1 < w->columns && gets_the_same(w, e, e + 1)) ||
         (row > 0 && gets_the_same(w, e, e - w->columns)) ||
         (row + 1 < w->rows && gets_the_same(w, e, e + w->columns));
}

static double count_hops(const walk *w, const bool *members) {
  const double middle = (double)(w->rows - 1) / 2;
  double along = 0, across = 0;
  if (w->first == w->temporal) return 0; /* there is no fan-out */
  for (uint64_t column = 0; column < w->columns; column++) {
    double up = 0, down = 0;
    for (uint32_t e = 0; e < w->element_count; e++) {
      if (!members[e] || e % w->columns != column) continue;
      along = (double)column;
      up = fmax(up, middle - (double)(e / w->columns));
      down = fmax(down, (double)(e / w->columns) - middle);
    }
    across += up + down;
  }
  return along + across;
}

/* Those that are not served, in groups of equal offsets: how many groups, and
   by size what they cost. */
static uint32_t make_groups(walk *w, const bool *served, cost_group *by_size) {
  bool *done = take(w, w->element_count, sizeof *done);
  bool *members = take(w, w->element_count, sizeof *members);
  uint32_t count = 0;
  for (uint32_t e = 0; e < w->element_count; e++) {
    if (done[e] || served[e]) continue;
    uint32_t size = 0;
    memset(members, 0, w->element_count);
    for (uint32_t f = e; f < w->element_count; f++) {
      if (served[f] || !same_point(&w->offsets[e], &w->offsets[f])) continue;
      members[f] = done[f] = true;
      size++;
    }
    by_size[size].scatter++;
    by_size[size].hops += count_hops(w, members);
    count++;
  }
  return count;
}

static void add_group(walk *w, uint64_t multicast, const cost_group *g,
                      double times) {
  uint32_t i = 0;
  while (i < w->group_count && (w->groups[i].multicast < multicast ||
                                (w->groups[i].multicast == multicast &&
                                 w->groups[i].scatter < g->scatter)))
    i++;
  if (i == w->group_count || w->groups[i].multicast != multicast ||
      w->groups[i].scatter != g->scatter) {
    assert_true(w->group_count < MOST_GROUPS);
    memmove(&w->groups[i + 1], &w->groups[i],
            (w->group_count++ - i) * sizeof *w->groups);
    w->groups[i] = (cost_group){multicast, g->scatter, 0, 0};
  }
  w->groups[i].accesses += times * (double)g->scatter;
  w->groups[i].hops += times * g->hops;
}

static void visit(walk *w, double times) {
  w->delta = deliver(w);
  bool *served = take(w, w->element_count, sizeof *served);
  bool *none = take(w, w->element_count, sizeof *none);
  cost_group *all = take(w, w->element_count + 1, sizeof *all);
  cost_group *some = take(w, w->element_count + 1, sizeof *some);
  if (w->delta.count > 0) {
    uint32_t handed_on = 0;
    for (uint32_t e = 0; e < w->element_count; e++) {
      served[e] = w->question->links && w->has_sent && is_served(w, e);
      handed_on += served[e];
    }
    const bool fewer = make_groups(w, served, some) < make_groups(w, none, all);
    for (uint32_t size = 1; size <= w->element_count; size++) {
      const cost_group *g = fewer ? &some[size] : &all[size];
      if (g->scatter) add_group(w, size, g, times * w->delta.count);
    }
    if (fewer) w->links += times * w->delta.count * handed_on;
  }
  w->sent = w->delta;
  w->has_sent = true;
}

static bool turn(walk *w) {
  const accel_nest *nest = w->question->nest;
  for (uint32_t k = w->temporal; k < nest->loop_count; k++) {
    const uint64_t visited =
        w->question->visits == COST_VISIT_TWO ? 2 : nest->loops[k].bound;
    if (nest->loops[k].kind != ACCEL_TEMPORAL) continue;
    if (++w->index[k] < visited) return true;
    w->index[k] = 0;
  }
  return false;
}

static double weight(const walk *w) {
  const accel_nest *nest = w->question->nest;
  double out = 1;
  if (w->question->visits == COST_VISIT_ALL) return out;
  for (uint32_t k = w->temporal; k < nest->loop_count; k++)
    if (w->index[k]) out *= (double)(nest->loops[k].bound - 1);
  return out;
}

static void find_elements(walk *w, const accel_arch *arch) {
  const accel_nest *nest = w->question->nest;
  const accel_fanout built = accel_arch_fanout(arch, w->question->level);
  uint64_t used[2] = {1, 1};
  for (uint32_t k = w->first; k < w->temporal; k++)
    used[nest->loops[k].kind == ACCEL_SPATIAL_Y] *= nest->loops[k].bound;
  w->columns = used[0] > built.x ? used[0] : built.x;
  w->rows = used[1] > built.y ? used[1] : built.y;
  w->element_count = (uint32_t)(used[0] * used[1]);
  w->offsets = take(w, w->element_count, sizeof *w->offsets);
  for (uint32_t e = 0; e < w->element_count; e++) {
    uint64_t rest = e;
    for (uint32_t k = w->first; k < w->temporal; k++) {
      w->index[k] = rest % nest->loops[k].bound;
      rest /= nest->loops[k].bound;
    }
    w->offsets[e] = locate(w);
  }
  memset(w->index, 0, sizeof w->index);
}

static void walk_nest(walk *w, const cost_random_case *c,
                      const cost_question *q, arena *a) {
  *w = (walk){.question = q, .tensor = &c->layer.tensors[q->tensor]};
  w->arena = a;
  assert_true(w->tensor->rank_count <= MOST_RANKS);
  assert_true(c->nest.loop_count <= MOST_LOOPS);
  for (uint32_t d = 0; d < ACCEL_MAX_DIMENSIONS; d++) w->inner[d] = 1;
  w->first = referee_begin(&c->nest, q->level);
  w->temporal = referee_temporal(&c->nest, q->level);
  for (uint32_t k = 0; k < w->first; k++)
    w->inner[c->nest.loops[k].dimension] *= c->nest.loops[k].bound;
  find_elements(w, &c->arch);
  do visit(w, weight(w));
  while (turn(w));
}

static void links_equal_walk(void **state) {
  fixture *f = *state;
  static walk w;
  random_state r = random_from_seed(3);
  uint32_t linked = 0;
  for (uint32_t i = 0; i < 1200; i++) {
    cost_random_case c;
    const cost_random_options options = {500, 500, false, true};
    cost_random_make(&c, &r, &options, &f->arena);
    const cost_problem p = {.arch = &c.arch, .layer = &c.layer};
    cost_question q = {.problem = &p, .nest = &c.nest, .links = true};
    q.visits = i % 2 ? COST_VISIT_TWO : COST_VISIT_ALL;
    for (q.tensor = 0; q.tensor < c.layer.tensor_count; q.tensor++)
      for (q.level = 0; q.level < c.arch.level_count; q.level++) {
        cost_stream s;
        walk_nest(&w, &c, &q, &f->arena);
        replay(&s, &q, &f->arena);
        if (!same_groups(&s, w.groups, w.group_count) || s.links != w.links)
          fail_at(&c, &q, &s, w.groups, w.group_count);
        linked += s.links > 0;
      }
    arena_free(&f->arena);
  }
  print_message("links in %u streams\n", (unsigned)linked);
  assert_true(linked > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(equals_closed_form),
      COST_TEST(equals_referee),
      COST_TEST(links_equal_walk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
