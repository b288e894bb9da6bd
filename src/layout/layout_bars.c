#include "layout/layout_bars.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/vector.h"
#include "layout/layout_pair.h"

/* A bar of a body, before bars are sorted and joined. */
typedef struct raw_bar {
  uint32_t body;
  layout_bar bar;
} raw_bar;

typedef struct maker {
  layout_bars *out;
  const layout_problem *p;
  arena *scratch;
  uint32_t *number;       /* body of the problem -> its number here */
  layout_relief *reliefs; /* ascending by input, then output */
  bool *relieved;         /* per piece: has it any? */
  uint32_t *alive, alive_count;
  VECTOR(raw_bar) raw;
} maker;

/* ---- Bodies -------------------------------------------------------------- */

static uint64_t measure_span(const layout_problem *p, uint32_t body) {
  uint64_t span = 0;
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++)
    if (layout_piece_counts(&p->pieces[i]))
      span = number_larger(span, p->pieces[i].high);
  return span;
}

/* A multiple of both, or 0 if it is out of reach. */
static int64_t common_multiple(int64_t a, int64_t b) {
  uint64_t product;
  if (a == 0) return 0;
  const uint64_t part = (uint64_t)b / number_gcd((uint64_t)a, (uint64_t)b);
  if (!number_multiply(&product, (uint64_t)a, part) || product > 1 << 30)
    return 0;
  return (int64_t)product;
}

static void add_body(maker *m, uint32_t body, uint64_t span) {
  layout_bars *out = m->out;
  const layout_body *b = &m->p->bodies[body];
  const uint32_t at = out->count++;
  m->number[body] = at;
  out->body[at] = body;
  out->span[at] = (int64_t)span;
  out->align[at] = b->fixed ? 1 : (int64_t)b->align;
  out->fixed[at] = b->fixed ? (int64_t)b->offset : -1;
  if (!b->fixed) out->unit = common_multiple(out->unit, (int64_t)b->align);
}

/* All bodies on top of each other, above the fixed ones, are a placement; so no
   offset that is ever looked at exceeds the limit. */
static calm_status number_bodies(maker *m) {
  const layout_problem *p = m->p;
  uint64_t stack = 0, fixed_end = 0;
  bool fits = true;
  for (uint32_t b = 0; b < p->body_count; b++) {
    const uint64_t span = measure_span(p, b);
    m->number[b] = CALM_NONE;
    if (span == 0) continue;
    add_body(m, b, span);
    if (p->bodies[b].fixed)
      fixed_end = number_larger(fixed_end, p->bodies[b].offset + span);
    else
      fits = fits && number_add(&stack, stack, span) &&
             number_add(&stack, stack, p->bodies[b].align);
  }
  if (fits && number_add(&stack, stack, fixed_end) &&
      stack <= NUMBER_MAX_BYTES / 4)
    return CALM_OK;
  return context_fail(m->scratch->context, CALM_BAD_INPUT,
                      "bodies that may share bytes add up to more than 2^60");
}

/* ---- Bars ---------------------------------------------------------------- */

static int by_pieces(const void *left, const void *right) {
  const layout_relief *a = left, *b = right;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->output > b->output) - (a->output < b->output);
}

static const layout_relief *find_relief(const maker *m, uint32_t input,
                                        uint32_t output) {
  const layout_relief key = {input, output, 0};
  if (!m->relieved[input] || !m->relieved[output]) return NULL;
  return bsearch(&key, m->reliefs, m->p->relief_count, sizeof key, by_pieces);
}

int64_t layout_bars_granule(const layout_bars *b, uint32_t i, uint32_t j) {
  const int64_t x = b->fixed[i] >= 0 ? b->fixed[i] : b->align[i];
  const int64_t y = b->fixed[j] >= 0 ? b->fixed[j] : b->align[j];
  const int64_t step = (int64_t)number_gcd((uint64_t)x, (uint64_t)y);
  return step ? step : 1;
}

/* An interval without a difference that can occur bars nothing. */
static calm_status add_bar(maker *m, uint32_t i, uint32_t j, int64_t after,
                           int64_t before) {
  const int64_t step = layout_bars_granule(m->out, i, j);
  after = layout_round_down(after, step);
  before = layout_round_up(before, step);
  if (before - after <= step) return CALM_OK;
  VECTOR_PUSH(m->scratch->context, &m->raw, (raw_bar){i, {j, after, before}});
  VECTOR_PUSH(m->scratch->context, &m->raw, (raw_bar){j, {i, -before, -after}});
  return CALM_OK;
}

/* With p as input and q as output, p's body may come down to where p begins the
   distance above q. */
static calm_status compare_pieces(maker *m, uint32_t x, uint32_t y) {
  const layout_piece *p = &m->p->pieces[x], *q = &m->p->pieces[y];
  int64_t after, before;
  if (p->body == q->body || !layout_pieces_forbid(&after, &before, p, q))
    return CALM_OK;
  const layout_relief *down = find_relief(m, x, y), *up = find_relief(m, y, x);
  const int64_t between = (int64_t)q->low - (int64_t)p->low;
  if (down && down->distance < before - between)
    before =
        down->distance < after - between ? after : between + down->distance;
  if (up && up->distance < between - after)
    after = up->distance < between - before ? before : between - up->distance;
  if (before <= after) return CALM_OK;
  return add_bar(m, m->number[p->body], m->number[q->body], after, before);
}

static calm_status meet_alive(maker *m, uint32_t piece) {
  const int64_t now = m->p->pieces[piece].lower;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->alive_count; i++) {
    const uint32_t other = m->alive[i];
    if (m->p->pieces[other].upper <= now) continue;
    m->alive[kept++] = other;
    TRY(compare_pieces(m, other, piece));
  }
  m->alive[kept] = piece;
  m->alive_count = kept + 1;
  return CALM_OK;
}

typedef struct begin {
  int64_t step;
  uint32_t piece;
} begin;

static int by_step(const void *left, const void *right) {
  const begin *a = left, *b = right;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static calm_status sweep(maker *m) {
  begin *begins;
  uint32_t count = 0;
  ARENA_ARRAY(m->scratch, begins, m->p->piece_count);
  ARENA_ARRAY(m->scratch, m->alive, (size_t)m->p->piece_count + 1);
  for (uint32_t i = 0; i < m->p->piece_count; i++)
    if (layout_piece_counts(&m->p->pieces[i]))
      begins[count++] = (begin){m->p->pieces[i].lower, i};
  qsort(begins, count, sizeof *begins, by_step);
  for (uint32_t i = 0; i < count; i++) TRY(meet_alive(m, begins[i].piece));
  return CALM_OK;
}

/* ---- Sorted and joined --------------------------------------------------- */

static int by_other(const void *left, const void *right) {
  const layout_bar *a = left, *b = right;
  if (a->other != b->other) return a->other < b->other ? -1 : 1;
  if (a->after != b->after) return a->after < b->after ? -1 : 1;
  return (a->before > b->before) - (a->before < b->before);
}

/* Bars that touch leave the difference between them. */
static uint32_t join_bars(layout_bar *bars, uint32_t count) {
  uint32_t kept = 0;
  if (count == 0) return 0;
  qsort(bars, count, sizeof *bars, by_other);
  for (uint32_t i = 1; i < count; i++) {
    layout_bar *last = &bars[kept];
    if (bars[i].other != last->other || bars[i].after >= last->before)
      bars[++kept] = bars[i];
    else if (bars[i].before > last->before)
      last->before = bars[i].before;
  }
  return kept + 1;
}

static calm_status distribute(maker *m, arena *a) {
  layout_bars *out = m->out;
  ARENA_ARRAY(a, out->bar_begin, (size_t)out->count + 1);
  ARENA_ARRAY(a, out->bars, m->raw.count);
  uint32_t *first = out->bar_begin, *next, kept = 0;
  ARENA_ARRAY(m->scratch, next, (size_t)out->count + 1);
  for (uint32_t i = 0; i < m->raw.count; i++) next[m->raw.data[i].body + 1]++;
  for (uint32_t b = 0; b < out->count; b++) next[b + 1] += next[b];
  memcpy(first, next, ((size_t)out->count + 1) * sizeof *first);
  for (uint32_t i = 0; i < m->raw.count; i++)
    out->bars[next[m->raw.data[i].body]++] = m->raw.data[i].bar;
  for (uint32_t b = 0; b < out->count; b++) {
    const uint32_t from = first[b], count = first[b + 1] - from;
    const uint32_t joined = join_bars(out->bars + from, count);
    memmove(out->bars + kept, out->bars + from, joined * sizeof *out->bars);
    first[b] = kept;
    kept += joined;
  }
  first[out->count] = kept;
  return CALM_OK;
}

static calm_status sort_reliefs(maker *m) {
  const layout_problem *p = m->p;
  ARENA_ARRAY(m->scratch, m->relieved, p->piece_count);
  ARENA_ARRAY(m->scratch, m->reliefs, p->relief_count);
  for (uint32_t i = 0; i < p->relief_count; i++) {
    const layout_relief *r = &p->reliefs[i];
    assert(r->input < p->piece_count && r->output < p->piece_count);
    assert(p->pieces[r->input].body != p->pieces[r->output].body);
    m->relieved[r->input] = m->relieved[r->output] = true;
    m->reliefs[i] = *r;
  }
  qsort(m->reliefs, p->relief_count, sizeof *m->reliefs, by_pieces);
  return CALM_OK;
}

static calm_status make(maker *m, arena *a) {
  layout_bars *out = m->out;
  *out = (layout_bars){.problem = m->p, .unit = 1};
  ARENA_ARRAY(a, out->body, m->p->body_count);
  ARENA_ARRAY(a, out->span, m->p->body_count);
  ARENA_ARRAY(a, out->align, m->p->body_count);
  ARENA_ARRAY(a, out->fixed, m->p->body_count);
  ARENA_ARRAY(m->scratch, m->number, m->p->body_count);
  TRY(number_bodies(m));
  TRY(sort_reliefs(m));
  TRY(sweep(m));
  return distribute(m, a);
}

calm_status layout_bars_make(layout_bars *out, const layout_problem *p,
                             arena *a) {
  arena scratch;
  layout_bars made;
  maker m = {.out = &made, .p = p, .scratch = &scratch};
  arena_init(&scratch, a->context);
  calm_status status = make(&m, a);
  VECTOR_FREE(a->context, &m.raw);
  arena_free(&scratch);
  if (status == CALM_OK) *out = made;
  return status;
}

/* ---- Upside down --------------------------------------------------------- */

/*
 * A body at offset o in an arena of T bytes, T a multiple of the unit, lies at
 * T - o - span as seen from above; with its span rounded up to its alignment,
 * that is a multiple of it, too.
 */
calm_status layout_bars_turn(layout_bars *out, const layout_bars *bars,
                             arena *a) {
  layout_bars turned = *bars;
  const uint32_t count = bars->bar_begin[bars->count];
  ARENA_ARRAY(a, turned.span, bars->count);
  ARENA_ARRAY(a, turned.bars, count);
  for (uint32_t b = 0; b < bars->count; b++)
    turned.span[b] = layout_round_up(bars->span[b], bars->align[b]);
  for (uint32_t b = 0; b < bars->count; b++) {
    const uint32_t begin = bars->bar_begin[b], end = bars->bar_begin[b + 1];
    for (uint32_t i = begin; i < end; i++) {
      const layout_bar *bar = &bars->bars[i];
      const int64_t shift = turned.span[bar->other] - turned.span[b];
      turned.bars[i] =
          (layout_bar){bar->other, shift - bar->before, shift - bar->after};
    }
    qsort(turned.bars + begin, end - begin, sizeof *turned.bars, by_other);
  }
  *out = turned;
  return CALM_OK;
}

void layout_bars_turn_back(int64_t *offsets, const layout_bars *turned) {
  const int64_t top =
      layout_round_up(layout_bars_arena(turned, offsets), turned->unit);
  for (uint32_t b = 0; b < turned->count; b++)
    offsets[b] = top - turned->span[b] - offsets[b];
}

int64_t layout_bars_arena(const layout_bars *bars, const int64_t *offsets) {
  int64_t arena_bytes = 0;
  for (uint32_t b = 0; b < bars->count; b++)
    if (offsets[b] + bars->span[b] > arena_bytes)
      arena_bytes = offsets[b] + bars->span[b];
  return arena_bytes;
}
