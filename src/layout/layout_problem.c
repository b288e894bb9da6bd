#include "layout/layout_problem.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/vector.h"
#include "layout/layout_pair.h"

calm_status layout_problem_finish(layout_problem *p, arena *a) {
  uint32_t *begin;
  ARENA_ARRAY(a, begin, (size_t)p->body_count + 1);
  uint32_t next = 0;
  for (uint32_t b = 0; b < p->body_count; b++) {
    assert(p->bodies[b].align >= 1);
    begin[b] = next;
    while (next < p->piece_count && p->pieces[next].body == b) next++;
  }
  begin[p->body_count] = next;
  assert(next == p->piece_count); /* ascending, no body beyond the last */
  p->piece_begin = begin;
  return CALM_OK;
}

uint64_t layout_body_span(const layout_problem *p, uint32_t body) {
  uint64_t span = 0;
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++)
    if (p->pieces[i].high > span) span = p->pieces[i].high;
  return span;
}

uint64_t layout_arena_bytes(const layout_problem *p, const uint64_t *offsets) {
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < p->body_count; b++) {
    uint64_t end = offsets[b] + layout_body_span(p, b);
    if (layout_body_counts(p, b) && end > bytes) bytes = end;
  }
  return bytes;
}

/* ---- Checks -------------------------------------------------------------- */

typedef struct body_text {
  char text[80];
} body_text;

static body_text name_body(const layout_problem *p, uint32_t body) {
  body_text name;
  if (p->names)
    snprintf(name.text, sizeof name.text, "'%s'", p->names[body]);
  else
    snprintf(name.text, sizeof name.text, "body %" PRIu32, body);
  return name;
}

static calm_status check_body(const layout_body *body, uint32_t index,
                              calm_context *context) {
  if (body->align > NUMBER_MAX_BYTES)
    return context_fail(context, CALM_BAD_INPUT,
                        "body %" PRIu32 ": alignment %" PRIu64
                        " is beyond 2^62",
                        index, body->align);
  if (body->fixed && body->offset > NUMBER_MAX_BYTES)
    return context_fail(context, CALM_BAD_INPUT,
                        "body %" PRIu32 ": offset %" PRIu64 " is beyond 2^62",
                        index, body->offset);
  if (body->fixed && body->offset % body->align)
    return context_fail(context, CALM_BAD_INPUT,
                        "body %" PRIu32 ": fixed offset %" PRIu64
                        " is not a multiple of its alignment %" PRIu64,
                        index, body->offset, body->align);
  return CALM_OK;
}

static calm_status check_piece(const layout_problem *p,
                               const layout_piece *piece,
                               calm_context *context) {
  const layout_body *body = &p->bodies[piece->body];
  uint64_t end, start = body->fixed ? body->offset : 0;
  if (!number_add(&end, start, piece->high))
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: offset %" PRIu64 " and size %" PRIu64
                        " add up to more than 2^62 bytes",
                        name_body(p, piece->body).text, start, piece->high);
  return CALM_OK;
}

static calm_status fail_collision(const layout_problem *p,
                                  const layout_fault *fault,
                                  calm_context *context) {
  return context_fail(context, CALM_BAD_INPUT,
                      "%s and %s overlap at their fixed offsets %" PRIu64
                      " and %" PRIu64 " at step %" PRId64,
                      name_body(p, fault->a).text, name_body(p, fault->b).text,
                      p->bodies[fault->a].offset, p->bodies[fault->b].offset,
                      fault->step);
}

/* The fixed bodies alone, judged where they are: all others are left without a
   step, so that pieces keep their numbers and with them their reliefs. */
static calm_status check_fixed(const layout_problem *p, arena *a) {
  layout_problem fixed = *p;
  layout_fault fault;
  uint64_t *offsets;
  ARENA_ARRAY(a, fixed.pieces, p->piece_count);
  ARENA_ARRAY(a, offsets, p->body_count);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    fixed.pieces[i] = p->pieces[i];
    if (!p->bodies[p->pieces[i].body].fixed)
      fixed.pieces[i].upper = fixed.pieces[i].lower;
  }
  for (uint32_t b = 0; b < p->body_count; b++)
    if (p->bodies[b].fixed) offsets[b] = p->bodies[b].offset;
  TRY(layout_check(&fault, &fixed, offsets, UINT64_MAX, a->context));
  if (fault.kind == LAYOUT_SOUND) return CALM_OK;
  return fail_collision(p, &fault, a->context);
}

calm_status layout_problem_check(const layout_problem *p, arena *a) {
  for (uint32_t b = 0; b < p->body_count; b++) {
    TRY(check_body(&p->bodies[b], b, a->context));
    for (uint32_t i = p->piece_begin[b]; i < p->piece_begin[b + 1]; i++)
      TRY(check_piece(p, &p->pieces[i], a->context));
  }
  return check_fixed(p, a);
}

/* ---- Disjoint pieces ----------------------------------------------------- */

typedef VECTOR(layout_piece) piece_vector;
typedef VECTOR(int64_t) time_vector;

static int by_value(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static int by_low(const void *left, const void *right) {
  const layout_piece *a = left, *b = right;
  return (a->low > b->low) - (a->low < b->low);
}

typedef struct tidier {
  calm_context *context;
  piece_vector out;    /* of all bodies so far */
  piece_vector slot;   /* of one body between two of its times */
  time_vector times;   /* where pieces of the body begin and end */
  uint32_t last_begin; /* out[last_begin..]: pieces of the body's last slot */
} tidier;

static calm_status collect_times(tidier *t, const layout_piece *pieces,
                                 uint32_t count) {
  t->times.count = 0;
  for (uint32_t i = 0; i < count; i++)
    if (layout_piece_counts(&pieces[i])) {
      VECTOR_PUSH(t->context, &t->times, pieces[i].lower);
      VECTOR_PUSH(t->context, &t->times, pieces[i].upper);
    }
  if (t->times.count == 0) return CALM_OK;
  qsort(t->times.data, t->times.count, sizeof *t->times.data, by_value);
  uint32_t kept = 1;
  for (uint32_t i = 1; i < t->times.count; i++)
    if (t->times.data[i] != t->times.data[kept - 1])
      t->times.data[kept++] = t->times.data[i];
  t->times.count = kept;
  return CALM_OK;
}

/* The bytes in use between two times, ascending, touching ones joined. */
static calm_status collect_slot(tidier *t, const layout_piece *pieces,
                                uint32_t count, int64_t lower, int64_t upper) {
  t->slot.count = 0;
  for (uint32_t i = 0; i < count; i++)
    if (layout_piece_counts(&pieces[i]) && pieces[i].lower <= lower &&
        upper <= pieces[i].upper)
      VECTOR_PUSH(t->context, &t->slot,
                  (layout_piece){pieces[i].body, lower, upper, pieces[i].low,
                                 pieces[i].high});
  if (t->slot.count == 0) return CALM_OK;
  qsort(t->slot.data, t->slot.count, sizeof *t->slot.data, by_low);
  uint32_t kept = 0;
  for (uint32_t i = 1; i < t->slot.count; i++) {
    layout_piece *last = &t->slot.data[kept], *next = &t->slot.data[i];
    if (next->low > last->high)
      t->slot.data[++kept] = *next;
    else if (next->high > last->high)
      last->high = next->high;
  }
  t->slot.count = kept + 1;
  return CALM_OK;
}

/* The slot holds the very bytes of the one before it. */
static bool repeats_last_slot(const tidier *t) {
  if (t->slot.count == 0 || t->out.count - t->last_begin != t->slot.count)
    return false;
  const layout_piece *last = t->out.data + t->last_begin;
  for (uint32_t i = 0; i < t->slot.count; i++)
    if (last[i].low != t->slot.data[i].low ||
        last[i].high != t->slot.data[i].high ||
        last[i].upper != t->slot.data[i].lower)
      return false;
  return true;
}

static calm_status append_slot(tidier *t) {
  if (repeats_last_slot(t)) {
    for (uint32_t i = 0; i < t->slot.count; i++)
      t->out.data[t->last_begin + i].upper = t->slot.data[i].upper;
    return CALM_OK;
  }
  t->last_begin = t->out.count;
  for (uint32_t i = 0; i < t->slot.count; i++)
    VECTOR_PUSH(t->context, &t->out, t->slot.data[i]);
  return CALM_OK;
}

/* Cut the pieces of one body at all its times; join equal neighbours again. */
static calm_status tidy_body(tidier *t, const layout_piece *pieces,
                             uint32_t count) {
  if (count == 1 && layout_piece_counts(pieces)) {
    VECTOR_PUSH(t->context, &t->out, *pieces);
    return CALM_OK;
  }
  TRY(collect_times(t, pieces, count));
  t->last_begin = t->out.count;
  for (uint32_t i = 0; i + 1 < t->times.count; i++) {
    TRY(collect_slot(t, pieces, count, t->times.data[i], t->times.data[i + 1]));
    TRY(append_slot(t));
  }
  return CALM_OK;
}

static calm_status tidy_bodies(tidier *t, const layout_problem *p) {
  for (uint32_t b = 0; b < p->body_count; b++) {
    uint32_t begin = p->piece_begin[b], end = p->piece_begin[b + 1];
    TRY(check_body(&p->bodies[b], b, t->context));
    for (uint32_t i = begin; i < end; i++)
      TRY(check_piece(p, &p->pieces[i], t->context));
    TRY(tidy_body(t, p->pieces + begin, end - begin));
  }
  return CALM_OK;
}

static calm_status keep_pieces(layout_problem *out, const tidier *t,
                               const layout_problem *p, arena *a) {
  layout_piece *pieces;
  ARENA_ARRAY(a, pieces, t->out.count);
  for (uint32_t i = 0; i < t->out.count; i++) pieces[i] = t->out.data[i];
  *out = (layout_problem){.bodies = p->bodies,
                          .pieces = pieces,
                          .body_count = p->body_count,
                          .piece_count = t->out.count,
                          .names = p->names};
  TRY(layout_problem_finish(out, a));
  return check_fixed(out, a);
}

calm_status layout_problem_tidy(layout_problem *out, const layout_problem *p,
                                arena *a) {
  tidier t = {.context = a->context};
  calm_status status = tidy_bodies(&t, p);
  if (status == CALM_OK) status = keep_pieces(out, &t, p, a);
  VECTOR_FREE(a->context, &t.out);
  VECTOR_FREE(a->context, &t.slot);
  VECTOR_FREE(a->context, &t.times);
  return status;
}
