/*
 * The referee.  It uses nothing of the other files of this room: what they
 * believe about collisions must not decide whether they were right.
 *
 * A sweep over time.  All pieces stand in a tournament in the order of their
 * lowest byte; those alive have entered it with the byte where they end.  A
 * piece that begins collides if, among the pieces that lie below its end, one
 * of another body reaches above its low.  Pieces of one body may overlap, so
 * each node keeps the highest end and the highest one of any other body.
 *
 * Where some pairs may share bytes this is of no use, and each piece that
 * begins is compared with all that are alive.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

static bool report(layout_fault *out, layout_fault_kind kind, uint32_t a,
                   uint32_t b, int64_t step) {
  *out = (layout_fault){kind, a, b, step};
  return true;
}

static bool occupies(const layout_piece *p) {
  return p->lower < p->upper && p->low < p->high;
}

static bool check_offset(layout_fault *out, const layout_problem *p,
                         uint32_t body, uint64_t offset) {
  const layout_body *b = &p->bodies[body];
  if (b->fixed && offset != b->offset)
    return report(out, LAYOUT_MOVED, body, CALM_NONE, 0);
  if (offset % b->align != 0)
    return report(out, LAYOUT_MISALIGNED, body, CALM_NONE, 0);
  return false;
}

static bool check_end(layout_fault *out, const layout_piece *piece,
                      uint64_t offset, uint64_t arena_bytes) {
  if (!occupies(piece)) return false;
  if (offset <= arena_bytes && piece->high <= arena_bytes - offset)
    return false;
  return report(out, LAYOUT_OUTSIDE, piece->body, CALM_NONE, piece->lower);
}

/* Two ends of different bodies, the higher first; 0: none. */
typedef struct ends {
  uint64_t high, next;
  uint32_t body, next_body;
} ends;

static ends higher_of(ends a, ends b) {
  if (a.high < b.high) return higher_of(b, a);
  const bool same = a.body == b.body;
  const uint64_t rival = same ? b.next : b.high;
  if (rival <= a.next) return a;
  return (ends){a.high, rival, a.body, same ? b.next_body : b.body};
}

/* A piece in bytes of the arena, and its place by `low`. */
typedef struct box {
  uint64_t low, high;
  const layout_piece *piece;
} box;

/* A box begins or has ended. */
typedef struct event {
  int64_t step;
  bool begins;
  uint32_t box;
} event;

typedef struct sweep {
  box *boxes; /* ascending by low */
  uint32_t count;
  event *events; /* two per box */
  ends *tree;    /* 1 is the root; leaf i is node leaves + i */
  uint32_t leaves;
} sweep;

static int by_low(const void *left, const void *right) {
  const box *a = left, *b = right;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

/* What ends at a step is gone when something begins there. */
static int by_step(const void *left, const void *right) {
  const event *a = left, *b = right;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  if (a->begins != b->begins) return a->begins ? 1 : -1;
  return (a->box > b->box) - (a->box < b->box);
}

static calm_status list_boxes(sweep *s, const layout_problem *p,
                              const uint64_t *offsets, arena *scratch) {
  ARENA_ARRAY(scratch, s->boxes, p->piece_count);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const layout_piece *piece = &p->pieces[i];
    const uint64_t at = offsets[piece->body];
    if (occupies(piece))
      s->boxes[s->count++] = (box){at + piece->low, at + piece->high, piece};
  }
  qsort(s->boxes, s->count, sizeof *s->boxes, by_low);
  return CALM_OK;
}

static calm_status list_events(sweep *s, arena *scratch) {
  ARENA_ARRAY(scratch, s->events, (size_t)s->count * 2);
  for (uint32_t i = 0; i < s->count; i++) {
    const layout_piece *piece = s->boxes[i].piece;
    s->events[2 * (size_t)i] = (event){piece->lower, true, i};
    s->events[2 * (size_t)i + 1] = (event){piece->upper, false, i};
  }
  qsort(s->events, (size_t)s->count * 2, sizeof *s->events, by_step);
  return CALM_OK;
}

static void set_leaf(sweep *s, uint32_t leaf, ends value) {
  uint32_t node = s->leaves + leaf;
  s->tree[node] = value;
  for (node /= 2; node; node /= 2)
    s->tree[node] = higher_of(s->tree[2 * node], s->tree[2 * node + 1]);
}

/* How many boxes lie below `high`. */
static uint32_t count_below(const sweep *s, uint64_t high) {
  uint32_t low = 0, up = s->count;
  while (low < up) {
    const uint32_t middle = low + (up - low) / 2;
    if (s->boxes[middle].low < high)
      low = middle + 1;
    else
      up = middle;
  }
  return low;
}

/* The highest ends among the first `count` leaves. */
static ends highest_of_first(const sweep *s, uint32_t count) {
  ends most = {0, 0, CALM_NONE, CALM_NONE};
  for (uint32_t node = s->leaves + count; node > 1; node /= 2)
    if (node % 2) most = higher_of(most, s->tree[node - 1]);
  return most;
}

/* The other body of a collision with a box that begins; CALM_NONE: none. */
static uint32_t find_rival(const sweep *s, const box *b) {
  const ends e = highest_of_first(s, count_below(s, b->high));
  const bool own = e.body == b->piece->body;
  if ((own ? e.next : e.high) <= b->low) return CALM_NONE;
  return own ? e.next_body : e.body;
}

static bool run_sweep(layout_fault *out, sweep *s) {
  for (size_t i = 0; i < (size_t)s->count * 2; i++) {
    const event *e = &s->events[i];
    const box *b = &s->boxes[e->box];
    if (!e->begins) {
      set_leaf(s, e->box, (ends){0, 0, CALM_NONE, CALM_NONE});
      continue;
    }
    const uint32_t own = b->piece->body, rival = find_rival(s, b);
    if (rival != CALM_NONE)
      return report(out, LAYOUT_OVERLAP, own < rival ? own : rival,
                    own < rival ? rival : own, e->step);
    set_leaf(s, e->box, (ends){b->high, 0, own, CALM_NONE});
  }
  return false;
}

static calm_status check_overlaps(layout_fault *out, const layout_problem *p,
                                  const uint64_t *offsets, arena *scratch) {
  sweep s = {.leaves = 1};
  TRY(list_boxes(&s, p, offsets, scratch));
  TRY(list_events(&s, scratch));
  while (s.leaves <= s.count) s.leaves *= 2;
  ARENA_ARRAY(scratch, s.tree, (size_t)s.leaves * 2);
  for (size_t i = 0; i < (size_t)s.leaves * 2; i++)
    s.tree[i] = (ends){0, 0, CALM_NONE, CALM_NONE};
  run_sweep(out, &s);
  return CALM_OK;
}

/* ---- With reliefs -------------------------------------------------------- */

/* Boxes alive, and the reliefs by their pieces. */
typedef struct watch {
  const layout_problem *problem;
  layout_relief *reliefs; /* ascending by input, then output */
  uint32_t *alive, *slot; /* boxes; slot[box]: its place in `alive` */
  uint32_t count;
} watch;

static int by_pieces(const void *left, const void *right) {
  const layout_relief *a = left, *b = right;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->output > b->output) - (a->output < b->output);
}

/* Is there a relief from the one to the other that they observe? */
static bool is_relieved(const watch *w, const box *input, const box *output) {
  const layout_relief key = {(uint32_t)(input->piece - w->problem->pieces),
                             (uint32_t)(output->piece - w->problem->pieces), 0};
  const layout_relief *r = bsearch(&key, w->reliefs, w->problem->relief_count,
                                   sizeof *w->reliefs, by_pieces);
  if (!r) return false;
  if (input->low >= output->low)
    return r->distance <= 0 ||
           input->low - output->low >= (uint64_t)r->distance;
  return r->distance < 0 && output->low - input->low <= -(uint64_t)r->distance;
}

static bool boxes_collide(const watch *w, const box *a, const box *b) {
  if (a->piece->body == b->piece->body) return false;
  if (a->low >= b->high || b->low >= a->high) return false;
  return !is_relieved(w, a, b) && !is_relieved(w, b, a);
}

static uint32_t find_watched(const watch *w, const sweep *s, const box *b) {
  uint32_t least = CALM_NONE;
  for (uint32_t i = 0; i < w->count; i++) {
    const box *other = &s->boxes[w->alive[i]];
    if (boxes_collide(w, b, other) && other->piece->body < least)
      least = other->piece->body;
  }
  return least;
}

static void watch_event(watch *w, const event *e) {
  if (e->begins) {
    w->slot[e->box] = w->count;
    w->alive[w->count++] = e->box;
  } else {
    const uint32_t last = w->alive[--w->count];
    w->alive[w->slot[e->box]] = last;
    w->slot[last] = w->slot[e->box];
  }
}

static void run_watch(layout_fault *out, watch *w, const sweep *s) {
  for (size_t i = 0; i < (size_t)s->count * 2; i++) {
    const event *e = &s->events[i];
    const box *b = &s->boxes[e->box];
    const uint32_t rival = e->begins ? find_watched(w, s, b) : CALM_NONE;
    if (rival != CALM_NONE) {
      const uint32_t own = b->piece->body;
      report(out, LAYOUT_OVERLAP, own < rival ? own : rival,
             own < rival ? rival : own, e->step);
      return;
    }
    watch_event(w, e);
  }
}

static calm_status check_relieved(layout_fault *out, const layout_problem *p,
                                  const uint64_t *offsets, arena *scratch) {
  sweep s = {0};
  watch w = {.problem = p};
  TRY(list_boxes(&s, p, offsets, scratch));
  TRY(list_events(&s, scratch));
  ARENA_ARRAY(scratch, w.alive, s.count);
  ARENA_ARRAY(scratch, w.slot, s.count);
  ARENA_ARRAY(scratch, w.reliefs, p->relief_count);
  memcpy(w.reliefs, p->reliefs, p->relief_count * sizeof *w.reliefs);
  qsort(w.reliefs, p->relief_count, sizeof *w.reliefs, by_pieces);
  run_watch(out, &w, &s);
  return CALM_OK;
}

/* -------------------------------------------------------------------------- */

static bool check_alone(layout_fault *out, const layout_problem *p,
                        const uint64_t *offsets, uint64_t arena_bytes) {
  for (uint32_t b = 0; b < p->body_count; b++)
    if (check_offset(out, p, b, offsets[b])) return true;
  for (uint32_t i = 0; i < p->piece_count; i++)
    if (check_end(out, &p->pieces[i], offsets[p->pieces[i].body], arena_bytes))
      return true;
  return false;
}

/* Ends are compared with the arena before pieces with each other, so that no
   sum of an offset and an end wraps. */
calm_status layout_check(layout_fault *out, const layout_problem *p,
                         const uint64_t *offsets, uint64_t arena_bytes,
                         calm_context *context) {
  layout_fault found = {LAYOUT_SOUND, CALM_NONE, CALM_NONE, 0};
  calm_status status = CALM_OK;
  arena scratch;
  arena_init(&scratch, context);
  if (!check_alone(&found, p, offsets, arena_bytes))
    status = p->relief_count ? check_relieved(&found, p, offsets, &scratch)
                             : check_overlaps(&found, p, offsets, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = found;
  return status;
}
