/*
 * The least spills of small problems, found by walking: what is on chip and
 * what has a copy off chip is a place; to put out one buffer is a step, and so
 * is to run an operator that is ready.  Anything may go at any time, whether
 * there is room or not, and it is paid for when it moves.  Dijkstra's algorithm
 * over all places, from the definitions in traffic.h alone.
 */
#ifndef CALM_TESTS_TRAFFIC_WALK_H
#define CALM_TESTS_TRAFFIC_WALK_H

#include "traffic_forms.h"

/* Sets of operators and of buffers. */
typedef struct walk_place {
  uint32_t done, on_chip, copied;
} walk_place;

typedef struct walk_entry {
  walk_place place;
  uint64_t cost;
  bool used, closed;
} walk_entry;

typedef struct walk {
  const forms_draft *d;
  uint64_t memory;
  const uint32_t *sequence; /* the only order, or NULL */
  walk_entry *table;
  uint32_t table_size, table_used;
  bool too_many;
  uint32_t **rings; /* per cost, entries; costs are small here */
  uint32_t *ring_counts, *ring_rooms, ring_count;
} walk;

static inline uint64_t walk_bytes(const walk *w, uint32_t set) {
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < w->d->buffer_count; b++)
    if (set >> b & 1) bytes += w->d->buffers[b].bytes;
  return bytes;
}

static inline uint32_t walk_touched(const walk *w, uint32_t u) {
  uint32_t set = 0;
  for (uint32_t b = 0; b < w->d->buffer_count; b++)
    set |= (w->d->touch[b] >> u & 1) << b;
  return set;
}

static inline uint64_t walk_need(const walk *w, uint32_t u, uint32_t before) {
  const forms_draft *d = w->d;
  uint64_t saved = 0;
  for (uint32_t i = 0; i < d->reuse_count; i++) {
    const order_reuse *r = &d->reuses[i];
    const uint32_t left = d->touch[r->input] & ~before;
    if (r->op == u && left == UINT32_C(1) << u &&
        !(d->touch[r->output] & before) && !d->buffers[r->input].pinned_end &&
        !d->buffers[r->output].pinned_start && r->bytes > saved)
      saved = r->bytes;
  }
  return walk_bytes(w, walk_touched(w, u)) + d->workspace[u] - saved;
}

/* ---- The table and the queue --------------------------------------------- */

static inline walk_entry *walk_find(walk *w, const walk_place *p) {
  uint64_t hash =
      p->done + UINT64_C(4099) * p->on_chip + UINT64_C(16785407) * p->copied;
  hash *= UINT64_C(0x9E3779B97F4A7C15);
  uint32_t i = (uint32_t)(hash >> 32) & (w->table_size - 1);
  while (w->table[i].used && memcmp(&w->table[i].place, p, sizeof *p) != 0)
    i = (i + 1) & (w->table_size - 1);
  return &w->table[i];
}

static inline void walk_queue(walk *w, uint32_t entry, uint64_t cost) {
  if (cost >= w->ring_count) abort();
  if (w->ring_counts[cost] == w->ring_rooms[cost]) {
    w->ring_rooms[cost] = w->ring_rooms[cost] * 2 + 16;
    w->rings[cost] =
        realloc(w->rings[cost], w->ring_rooms[cost] * sizeof *w->rings[cost]);
    if (!w->rings[cost]) abort();
  }
  w->rings[cost][w->ring_counts[cost]++] = entry;
}

static inline void walk_reach(walk *w, walk_place p, uint64_t cost) {
  walk_entry *e = walk_find(w, &p);
  if (e->used && e->cost <= cost) return;
  w->too_many = w->too_many || 2 * w->table_used >= w->table_size;
  if (w->too_many) return;
  w->table_used += !e->used;
  *e = (walk_entry){p, cost, true, false};
  walk_queue(w, (uint32_t)(e - w->table), cost);
}

/* ---- Steps --------------------------------------------------------------- */

/* What operator u leaves of a buffer that others still need. */
static inline void walk_leave(const walk *w, walk_place *p, uint32_t u,
                              uint32_t b, uint32_t before) {
  const forms_draft *d = w->d;
  const uint32_t bit = UINT32_C(1) << b;
  const bool first = !(d->touch[b] & before);
  p->on_chip |= bit;
  if (first && d->buffers[b].pinned_start) p->copied |= bit;
  if (!(d->writes[b] >> u & 1) && !(first && !d->buffers[b].pinned_start))
    return;
  p->copied &= ~bit;
  if (d->buffers[b].pinned_end && !(d->writes[b] & ~p->done))
    p->copied |= bit; /* the write that is compulsory */
}

static inline void walk_run(walk *w, walk_place p, uint64_t cost, uint32_t u) {
  const forms_draft *d = w->d;
  const uint32_t before = p.done, touched = walk_touched(w, u);
  const uint64_t need = walk_need(w, u, before);
  if (need <= w->memory &&
      need + walk_bytes(w, p.on_chip & ~touched) > w->memory)
    return;
  p.done |= UINT32_C(1) << u;
  for (uint32_t b = 0; b < d->buffer_count; b++) {
    if (!(touched >> b & 1)) continue;
    if (d->touch[b] & before && !(p.on_chip >> b & 1))
      cost += d->buffers[b].bytes;
    if (d->touch[b] & ~p.done)
      walk_leave(w, &p, u, b, before);
    else
      p.on_chip &= ~(UINT32_C(1) << b), p.copied &= ~(UINT32_C(1) << b);
  }
  walk_reach(w, p, cost);
}

static inline void walk_put_out(walk *w, walk_place p, uint64_t cost,
                                uint32_t b) {
  const uint32_t bit = UINT32_C(1) << b;
  if (!(p.copied & bit)) cost += w->d->buffers[b].bytes;
  p.on_chip &= ~bit;
  p.copied |= bit;
  walk_reach(w, p, cost);
}

static inline void walk_on(walk *w, walk_place p, uint64_t cost) {
  const forms_draft *d = w->d;
  uint32_t depth = 0;
  for (uint32_t u = 0; u < d->op_count; u++) depth += p.done >> u & 1;
  for (uint32_t b = 0; b < d->buffer_count; b++)
    if (p.on_chip >> b & 1) walk_put_out(w, p, cost, b);
  if (walk_bytes(w, p.on_chip) > w->memory) return;
  for (uint32_t u = 0; u < d->op_count; u++)
    if (!(p.done >> u & 1) && !(d->preds[u] & ~p.done) &&
        (!w->sequence || w->sequence[depth] == u))
      walk_run(w, p, cost, u);
}

static inline void walk_begin(walk *w) {
  const uint64_t all = walk_bytes(w, UINT32_MAX);
  w->table_size = UINT32_C(1) << 17;
  w->ring_count = (uint32_t)all * 2 * w->d->op_count + 1;
  w->table = calloc(w->table_size, sizeof *w->table);
  w->rings = calloc(w->ring_count, sizeof *w->rings);
  w->ring_counts = calloc(w->ring_count, sizeof *w->ring_counts);
  w->ring_rooms = calloc(w->ring_count, sizeof *w->ring_rooms);
  if (!w->table || !w->rings || !w->ring_counts || !w->ring_rooms) abort();
}

static inline void walk_end(walk *w) {
  for (uint32_t i = 0; i < w->ring_count; i++) free(w->rings[i]);
  free(w->rings);
  free(w->ring_counts);
  free(w->ring_rooms);
  free(w->table);
}

/* The least bytes that are still to be moved from a place; UINT64_MAX if there
   are too many places. */
static inline uint64_t walk_least(const forms_draft *d, uint64_t memory,
                                  const uint32_t *sequence, walk_place from) {
  walk w = {.d = d, .memory = memory, .sequence = sequence};
  const uint32_t all = (UINT32_C(1) << d->op_count) - 1;
  uint64_t least = UINT64_MAX;
  walk_begin(&w);
  walk_reach(&w, from, 0);
  for (uint32_t cost = 0;
       cost < w.ring_count && least == UINT64_MAX && !w.too_many; cost++)
    for (uint32_t i = 0; i < w.ring_counts[cost]; i++) {
      walk_entry *e = &w.table[w.rings[cost][i]];
      if (e->closed || e->cost != cost) continue;
      e->closed = true;
      if (e->place.done == all) least = cost;
      if (e->place.done == all) break;
      walk_on(&w, e->place, cost);
    }
  walk_end(&w);
  return w.too_many ? UINT64_MAX : least;
}

#endif
