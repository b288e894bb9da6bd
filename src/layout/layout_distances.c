/*
 * Pieces are swept over time; each that begins meets those that are still
 * there. At its first step a piece also closes the account of that step: what
 * is in use then, less what each output may share with its inputs.
 */
#include "layout/layout_distances.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/vector.h"
#include "layout/layout_pair.h"

/* A gap of a pair, a < b. */
typedef struct pair_gap {
  uint32_t a, b;
  int64_t after, before;
} pair_gap;

typedef struct finder {
  calm_context *context;
  const layout_problem *p;
  uint32_t *order; /* pieces that count, by their first step */
  uint32_t count;
  layout_relief *reliefs; /* by output, then input */
  VECTOR(uint32_t) alive;
  bool *is_alive; /* per piece */
  VECTOR(pair_gap) gaps;
  layout_distances out;
} finder;

static const layout_piece *piece_at(const finder *f, uint32_t i) {
  return &f->p->pieces[i];
}

/* ---- Reliefs ------------------------------------------------------------- */

static int compare_reliefs(const void *left, const void *right) {
  const layout_relief *a = left, *b = right;
  if (a->output != b->output) return a->output < b->output ? -1 : 1;
  return (a->input > b->input) - (a->input < b->input);
}

static const layout_relief *find_relief(const finder *f, uint32_t input,
                                        uint32_t output) {
  const layout_relief key = {input, output, 0};
  if (f->p->relief_count == 0) return NULL;
  return bsearch(&key, f->reliefs, f->p->relief_count, sizeof key,
                 compare_reliefs);
}

/* The first relief of an output, or of a later one. */
static uint32_t first_relief(const finder *f, uint32_t output) {
  uint32_t low = 0, high = f->p->relief_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (f->reliefs[middle].output < output)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static calm_status sort_reliefs(finder *f, arena *scratch) {
  ARENA_ARRAY(scratch, f->reliefs, f->p->relief_count);
  for (uint32_t i = 0; i < f->p->relief_count; i++)
    f->reliefs[i] = f->p->reliefs[i];
  if (f->p->relief_count)
    qsort(f->reliefs, f->p->relief_count, sizeof *f->reliefs, compare_reliefs);
  return CALM_OK;
}

/* ---- Gaps ---------------------------------------------------------------- */

/* The nearest multiples of `unit` at or outside an end. */
static int64_t multiple_below(int64_t x, int64_t unit) {
  const int64_t rest = x % unit;
  return x - rest - (rest < 0 ? unit : 0);
}

static int64_t multiple_above(int64_t x, int64_t unit) {
  return -multiple_below(-x, unit);
}

/* Offsets of both are multiples of this, so is their difference. */
static int64_t unit_of(const finder *f, uint32_t a, uint32_t b) {
  return (int64_t)number_gcd(f->p->bodies[a].align, f->p->bodies[b].align);
}

static calm_status add_gap(finder *f, uint32_t i, uint32_t k) {
  if (piece_at(f, i)->body > piece_at(f, k)->body) {
    const uint32_t other = i;
    i = k;
    k = other;
  }
  const layout_piece *p = piece_at(f, i), *q = piece_at(f, k);
  const layout_relief *down = find_relief(f, i, k), *up = find_relief(f, k, i);
  const int64_t unit = unit_of(f, p->body, q->body);
  int64_t after, before;
  layout_pieces_forbid(&after, &before, p, q);
  if (down) before = (int64_t)q->low - (int64_t)p->low + down->distance;
  if (up) after = (int64_t)q->low - (int64_t)p->low - up->distance;
  after = multiple_below(after, unit);
  before = multiple_above(before, unit);
  if (after < before - unit) /* something lies between */
    VECTOR_PUSH(f->context, &f->gaps,
                (pair_gap){p->body, q->body, after, before});
  return CALM_OK;
}

/* ---- Time ---------------------------------------------------------------- */

/* Bytes that an output may share with its inputs, at most. */
static uint64_t most_saved(const finder *f, uint32_t output) {
  const layout_piece *q = piece_at(f, output);
  const int64_t length = (int64_t)(q->high - q->low);
  uint64_t saved = 0;
  for (uint32_t i = first_relief(f, output);
       i < f->p->relief_count && f->reliefs[i].output == output; i++) {
    const layout_relief *r = &f->reliefs[i];
    const layout_piece *p = piece_at(f, r->input);
    const int64_t shared = r->distance > 0 ? length - r->distance : length;
    if (f->is_alive[r->input] && shared > 0)
      saved += number_smaller((uint64_t)shared, p->high - p->low);
  }
  return number_smaller(saved, (uint64_t)length);
}

/* A stretch of one body that is in use. */
typedef struct stretch {
  uint32_t body;
  uint64_t low, high;
} stretch;

static int compare_stretches(const void *left, const void *right) {
  const stretch *a = left, *b = right;
  if (a->body != b->body) return a->body < b->body ? -1 : 1;
  return (a->low > b->low) - (a->low < b->low);
}

/* Pieces of one body may lie on each other. */
static uint64_t union_bytes(const finder *f, stretch *room) {
  uint64_t sum = 0, end = 0;
  for (uint32_t i = 0; i < f->alive.count; i++) {
    const layout_piece *p = piece_at(f, f->alive.data[i]);
    room[i] = (stretch){p->body, p->low, p->high};
  }
  if (f->alive.count)
    qsort(room, f->alive.count, sizeof *room, compare_stretches);
  for (uint32_t i = 0; i < f->alive.count; i++) {
    if (i == 0 || room[i].body != room[i - 1].body) end = 0;
    const uint64_t low = number_larger(room[i].low, end);
    if (room[i].high > low) sum += room[i].high - low;
    end = number_larger(end, room[i].high);
  }
  return sum;
}

static void measure(finder *f, stretch *room) {
  uint64_t used = union_bytes(f, room);
  for (uint32_t i = 0; f->p->relief_count && i < f->alive.count; i++) {
    const uint64_t saved = most_saved(f, f->alive.data[i]);
    used -= number_smaller(saved, used);
  }
  f->out.working_set = number_larger(f->out.working_set, used);
}

static void bury(finder *f, int64_t step) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < f->alive.count; i++)
    if (piece_at(f, f->alive.data[i])->upper > step)
      f->alive.data[kept++] = f->alive.data[i];
    else
      f->is_alive[f->alive.data[i]] = false;
  f->alive.count = kept;
}

static calm_status sweep(finder *f, arena *scratch) {
  stretch *room;
  ARENA_ARRAY(scratch, room, f->count);
  ARENA_ARRAY(scratch, f->is_alive, f->p->piece_count);
  for (uint32_t i = 0; i < f->count;) {
    const int64_t step = piece_at(f, f->order[i])->lower;
    bury(f, step);
    for (; i < f->count && piece_at(f, f->order[i])->lower == step; i++) {
      for (uint32_t k = 0; k < f->alive.count; k++)
        if (piece_at(f, f->alive.data[k])->body !=
            piece_at(f, f->order[i])->body)
          TRY(add_gap(f, f->order[i], f->alive.data[k]));
      VECTOR_PUSH(f->context, &f->alive, f->order[i]);
      f->is_alive[f->order[i]] = true;
    }
    measure(f, room);
  }
  return CALM_OK;
}

typedef struct dated {
  int64_t lower;
  uint32_t piece;
} dated;

static int compare_dated(const void *left, const void *right) {
  const dated *a = left, *b = right;
  if (a->lower != b->lower) return a->lower < b->lower ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static calm_status order_pieces(finder *f, arena *scratch) {
  dated *list;
  ARENA_ARRAY(scratch, list, f->p->piece_count);
  ARENA_ARRAY(scratch, f->order, f->p->piece_count);
  for (uint32_t i = 0; i < f->p->piece_count; i++)
    if (layout_piece_counts(piece_at(f, i)))
      list[f->count++] = (dated){piece_at(f, i)->lower, i};
  if (f->count) qsort(list, f->count, sizeof *list, compare_dated);
  for (uint32_t i = 0; i < f->count; i++) f->order[i] = list[i].piece;
  return CALM_OK;
}

/* ---- Lists per body ------------------------------------------------------ */

static int compare_gaps(const void *left, const void *right) {
  const pair_gap *x = left, *y = right;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  if (x->b != y->b) return x->b < y->b ? -1 : 1;
  return (x->after > y->after) - (x->after < y->after);
}

/* Gaps of a pair that leave nothing between them become one. */
static void unite_gaps(finder *f) {
  uint32_t kept = 0;
  pair_gap *g = f->gaps.data;
  if (f->gaps.count) qsort(g, f->gaps.count, sizeof *g, compare_gaps);
  for (uint32_t i = 0; i < f->gaps.count; i++) {
    pair_gap *last = kept ? &g[kept - 1] : NULL;
    if (last && last->a == g[i].a && last->b == g[i].b &&
        g[i].after < last->before)
      last->before = g[i].before > last->before ? g[i].before : last->before;
    else
      g[kept++] = g[i];
  }
  f->gaps.count = kept;
}

static void list_gap(layout_distances *d, uint32_t *next, uint32_t body,
                     layout_gap gap) {
  d->gaps[next[body]++] = gap;
}

/* Sorted by a and b, so that each list ascends by the other body: those of
   smaller bodies first, then, pair by pair, those of larger ones. */
static calm_status list_gaps(finder *f, arena *a, arena *scratch) {
  layout_distances *d = &f->out;
  uint32_t *next;
  const uint32_t bodies = f->p->body_count;
  ARENA_ARRAY(a, d->gap_begin, (size_t)bodies + 1);
  ARENA_ARRAY(a, d->gaps, (size_t)f->gaps.count * 2);
  ARENA_ARRAY(scratch, next, bodies);
  for (uint32_t i = 0; i < f->gaps.count; i++) {
    d->gap_begin[f->gaps.data[i].a + 1]++;
    d->gap_begin[f->gaps.data[i].b + 1]++;
  }
  for (uint32_t b = 0; b < bodies; b++) {
    d->gap_begin[b + 1] += d->gap_begin[b];
    next[b] = d->gap_begin[b];
  }
  for (uint32_t i = 0; i < f->gaps.count; i++) {
    const pair_gap *g = &f->gaps.data[i];
    list_gap(d, next, g->b, (layout_gap){g->a, -g->before, -g->after});
  }
  for (uint32_t i = 0; i < f->gaps.count; i++) {
    const pair_gap *g = &f->gaps.data[i];
    list_gap(d, next, g->a, (layout_gap){g->b, g->after, g->before});
  }
  return CALM_OK;
}

static calm_status measure_spans(finder *f, arena *a) {
  ARENA_ARRAY(a, f->out.span, f->p->body_count);
  for (uint32_t i = 0; i < f->count; i++) {
    const layout_piece *p = piece_at(f, f->order[i]);
    f->out.span[p->body] = number_larger(f->out.span[p->body], p->high);
  }
  return CALM_OK;
}

/* Sums of all that is placed are plain sums. */
static calm_status check_numbers(const finder *f) {
  uint64_t total = 0;
  bool good = true;
  for (uint32_t b = 0; b < f->p->body_count; b++) {
    const layout_body *body = &f->p->bodies[b];
    good = good && number_add(&total, total, f->out.span[b]) &&
           number_add(&total, total, body->align) &&
           number_add(&total, total, body->fixed ? body->offset : 0) &&
           total <= NUMBER_MAX_BYTES;
  }
  return good ? CALM_OK
              : context_fail(f->context, CALM_BAD_INPUT,
                             "what is to be placed exceeds 2^62 bytes");
}

static calm_status find(finder *f, arena *a, arena *scratch) {
  TRY(order_pieces(f, scratch));
  TRY(measure_spans(f, a));
  TRY(check_numbers(f));
  TRY(sort_reliefs(f, scratch));
  TRY(sweep(f, scratch));
  unite_gaps(f);
  return list_gaps(f, a, scratch);
}

calm_status layout_distances_find(layout_distances *out,
                                  const layout_problem *p, arena *a) {
  finder f = {.context = a->context, .p = p, .out.p = p};
  arena scratch;
  arena_init(&scratch, a->context);
  calm_status status = find(&f, a, &scratch);
  VECTOR_FREE(a->context, &f.alive);
  VECTOR_FREE(a->context, &f.gaps);
  arena_free(&scratch);
  if (status == CALM_OK) *out = f.out;
  return status;
}
