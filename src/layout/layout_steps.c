#include "layout/layout_steps.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/vector.h"
#include "layout/layout_pair.h"

typedef struct change {
  int64_t step;
  bool begins;
  uint32_t piece;
} change;

typedef struct live_piece {
  uint32_t body; /* in the bars */
  uint32_t piece;
} live_piece;

typedef struct collector {
  const layout_bars *bars;
  const layout_problem *p;
  arena *scratch;
  int64_t granule;
  uint32_t *number;       /* body of the problem -> in the bars */
  uint32_t *alive, *slot; /* pieces; slot[piece]: its place there */
  uint32_t alive_count;
  live_piece *live;       /* of one step, by body and low */
  uint32_t *member_of;    /* piece -> its member at this step */
  uint32_t *relief_begin; /* per piece, and one more: as input */
  const layout_relief **reliefs;
  VECTOR(layout_step) steps;
  VECTOR(step_member) members;
  VECTOR(step_share) shares;
} collector;

/* ---- One step ------------------------------------------------------------ */

static int by_body(const void *left, const void *right) {
  const live_piece *a = left, *b = right;
  if (a->body != b->body) return a->body < b->body ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

/* Ascending by low, the pieces of one body are taken up one by one. */
static void extend_member(step_member *m, int64_t low, int64_t high) {
  if (high <= m->high) return;
  m->bytes += high - (low > m->high ? low : m->high);
  m->high = high;
}

static int64_t low_of(const collector *c, uint32_t piece) {
  return (int64_t)c->p->pieces[piece].low;
}

static int64_t high_of(const collector *c, uint32_t piece) {
  return layout_round_up((int64_t)c->p->pieces[piece].high, c->granule);
}

/* Few pieces of one body are alive at once. */
static void sort_by_low(const collector *c, live_piece *live, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    const live_piece one = live[i];
    uint32_t at = i;
    for (; at > 0 && low_of(c, live[at - 1].piece) > low_of(c, one.piece); at--)
      live[at] = live[at - 1];
    live[at] = one;
  }
}

static calm_status add_member(collector *c, live_piece *live, uint32_t count) {
  sort_by_low(c, live, count);
  const int64_t low = low_of(c, live[0].piece);
  step_member m = {live[0].body, low, low, 0};
  for (uint32_t i = 0; i < count; i++) {
    extend_member(&m, low_of(c, live[i].piece), high_of(c, live[i].piece));
    c->member_of[live[i].piece] = c->members.count;
  }
  VECTOR_PUSH(c->scratch->context, &c->members, m);
  return CALM_OK;
}

/* The input begins the distance above the output, or the two are disjoint. */
static int64_t shared_bytes(const collector *c, const layout_relief *r) {
  const layout_piece *in = &c->p->pieces[r->input];
  const layout_piece *out = &c->p->pieces[r->output];
  const uint32_t i = c->number[in->body], j = c->number[out->body];
  const int64_t p = high_of(c, r->input) - low_of(c, r->input);
  const int64_t q = high_of(c, r->output) - low_of(c, r->output);
  const int64_t between = low_of(c, r->output) - low_of(c, r->input);
  if (r->distance >= q) return 0;
  if (r->distance <= -p) return p < q ? p : q;
  const int64_t distance = layout_round_up(between + r->distance,
                                           layout_bars_granule(c->bars, i, j)) -
                           between;
  int64_t least = p > q ? p : q;
  if (distance + p > least) least = distance + p;
  return p + q > least ? p + q - least : 0;
}

static calm_status add_shares(collector *c, uint32_t first, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t piece = c->live[k].piece;
    for (uint32_t i = c->relief_begin[piece]; i < c->relief_begin[piece + 1];
         i++) {
      const layout_relief *r = c->reliefs[i];
      if (c->slot[r->output] == CALM_NONE) continue;
      const step_share s = {c->member_of[piece] - first,
                            c->member_of[r->output] - first,
                            shared_bytes(c, r)};
      if (s.bytes > 0) VECTOR_PUSH(c->scratch->context, &c->shares, s);
    }
  }
  return CALM_OK;
}

static calm_status add_step(collector *c) {
  const uint32_t first = c->members.count, count = c->alive_count;
  const uint32_t share = c->shares.count;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t piece = c->alive[i];
    c->live[i] = (live_piece){c->number[c->p->pieces[piece].body], piece};
  }
  qsort(c->live, count, sizeof *c->live, by_body);
  for (uint32_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && c->live[next].body == c->live[i].body;)
      next++;
    TRY(add_member(c, c->live + i, next - i));
  }
  TRY(add_shares(c, first, count));
  VECTOR_PUSH(c->scratch->context, &c->steps,
              (layout_step){first, c->members.count, share, c->shares.count});
  return CALM_OK;
}

/* ---- All steps ----------------------------------------------------------- */

/* At one step what ends is gone before anything begins. */
static int by_step(const void *left, const void *right) {
  const change *a = left, *b = right;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  if (a->begins != b->begins) return a->begins ? 1 : -1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static void apply_change(collector *c, const change *e) {
  if (e->begins) {
    c->slot[e->piece] = c->alive_count;
    c->alive[c->alive_count++] = e->piece;
    return;
  }
  const uint32_t last = c->alive[--c->alive_count];
  c->alive[c->slot[e->piece]] = last;
  c->slot[last] = c->slot[e->piece];
  c->slot[e->piece] = CALM_NONE;
}

/* Something has begun, and next something ends: more is alive than before and
   after. */
static calm_status sweep(collector *c) {
  change *changes;
  uint32_t count = 0;
  ARENA_ARRAY(c->scratch, changes, (size_t)c->p->piece_count * 2);
  for (uint32_t i = 0; i < c->p->piece_count; i++) {
    const layout_piece *p = &c->p->pieces[i];
    c->slot[i] = CALM_NONE;
    if (!layout_piece_counts(p)) continue;
    changes[count++] = (change){p->lower, true, i};
    changes[count++] = (change){p->upper, false, i};
  }
  qsort(changes, count, sizeof *changes, by_step);
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && changes[i - 1].begins && !changes[i].begins) TRY(add_step(c));
    apply_change(c, &changes[i]);
  }
  return CALM_OK;
}

static calm_status list_reliefs(collector *c) {
  const layout_problem *p = c->p;
  uint32_t *next;
  ARENA_ARRAY(c->scratch, c->relief_begin, (size_t)p->piece_count + 1);
  ARENA_ARRAY(c->scratch, next, (size_t)p->piece_count + 1);
  ARENA_ARRAY(c->scratch, c->reliefs, p->relief_count);
  for (uint32_t i = 0; i < p->relief_count; i++)
    c->relief_begin[p->reliefs[i].input + 1]++;
  for (uint32_t i = 0; i < p->piece_count; i++) {
    c->relief_begin[i + 1] += c->relief_begin[i];
    next[i] = c->relief_begin[i];
  }
  for (uint32_t i = 0; i < p->relief_count; i++)
    c->reliefs[next[p->reliefs[i].input]++] = &p->reliefs[i];
  return CALM_OK;
}

static int64_t find_granule(const layout_problem *p) {
  uint64_t unit = 0;
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const layout_piece *piece = &p->pieces[i];
    const layout_body *body = &p->bodies[piece->body];
    if (!layout_piece_counts(piece)) continue;
    unit = number_gcd(unit, body->fixed ? body->offset : body->align);
    unit = number_gcd(unit, piece->low);
  }
  return unit ? (int64_t)unit : 1;
}

static calm_status collect(collector *c, const layout_bars *bars,
                           arena *scratch) {
  *c = (collector){.bars = bars, .p = bars->problem, .scratch = scratch};
  ARENA_ARRAY(scratch, c->number, c->p->body_count);
  ARENA_ARRAY(scratch, c->alive, c->p->piece_count);
  ARENA_ARRAY(scratch, c->slot, c->p->piece_count);
  ARENA_ARRAY(scratch, c->live, c->p->piece_count);
  ARENA_ARRAY(scratch, c->member_of, c->p->piece_count);
  for (uint32_t b = 0; b < bars->count; b++) c->number[bars->body[b]] = b;
  c->granule = find_granule(c->p);
  TRY(list_reliefs(c));
  return sweep(c);
}

/* ---- Results ------------------------------------------------------------- */

static calm_status index_bodies(layout_steps *s, uint32_t bodies, arena *a) {
  ARENA_ARRAY(a, s->step_begin, (size_t)bodies + 1);
  ARENA_ARRAY(a, s->steps_of, s->member_count);
  for (uint32_t i = 0; i < s->member_count; i++)
    s->step_begin[s->members[i].body]++;
  for (uint32_t b = 0; b < bodies; b++)
    s->step_begin[b + 1] += s->step_begin[b];
  for (uint32_t k = s->count; k-- > 0;)
    for (uint32_t i = s->steps[k].member_begin; i < s->steps[k].member_end; i++)
      s->steps_of[--s->step_begin[s->members[i].body]] = k;
  return CALM_OK;
}

static calm_status keep(layout_steps *out, const collector *c, arena *a) {
  layout_steps s = {.count = c->steps.count,
                    .member_count = c->members.count,
                    .granule = c->granule};
  ARENA_ARRAY(a, s.steps, c->steps.count);
  ARENA_ARRAY(a, s.members, c->members.count);
  ARENA_ARRAY(a, s.shares, c->shares.count);
  for (uint32_t i = 0; i < s.count; i++) s.steps[i] = c->steps.data[i];
  for (uint32_t i = 0; i < c->members.count; i++)
    s.members[i] = c->members.data[i];
  for (uint32_t i = 0; i < c->shares.count; i++)
    s.shares[i] = c->shares.data[i];
  TRY(index_bodies(&s, c->bars->count, a));
  *out = s;
  return CALM_OK;
}

calm_status layout_steps_make(layout_steps *out, const layout_bars *bars,
                              arena *a) {
  arena scratch;
  collector c;
  arena_init(&scratch, a->context);
  calm_status status = collect(&c, bars, &scratch);
  if (status == CALM_OK) status = keep(out, &c, a);
  VECTOR_FREE(a->context, &c.steps);
  VECTOR_FREE(a->context, &c.members);
  VECTOR_FREE(a->context, &c.shares);
  arena_free(&scratch);
  return status;
}

/* ---- The bound ----------------------------------------------------------- */

/* The topmost piece's rest need not lie in the arena. */
static int64_t largest_rest(const layout_bars *bars, int64_t granule) {
  const layout_problem *p = bars->problem;
  int64_t most = 0;
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const int64_t high = (int64_t)p->pieces[i].high;
    const int64_t rest = layout_round_up(high, granule) - high;
    if (layout_piece_counts(&p->pieces[i]) && rest > most) most = rest;
  }
  return most;
}

static int64_t step_bytes(const layout_steps *s, const layout_step *step) {
  int64_t bytes = 0;
  for (uint32_t i = step->member_begin; i < step->member_end; i++)
    bytes += s->members[i].bytes;
  for (uint32_t i = step->share_begin; i < step->share_end; i++)
    bytes -= s->shares[i].bytes;
  return bytes;
}

int64_t layout_steps_bound(const layout_steps *s, const layout_bars *bars) {
  int64_t most = 0, bound = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const int64_t bytes = step_bytes(s, &s->steps[i]);
    if (bytes > most) most = bytes;
  }
  bound = most - largest_rest(bars, s->granule);
  for (uint32_t b = 0; b < bars->count; b++) {
    const int64_t at = bars->fixed[b] > 0 ? bars->fixed[b] : 0;
    if (at + bars->span[b] > bound) bound = at + bars->span[b];
  }
  return bound;
}
