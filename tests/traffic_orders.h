/*
 * Random traffic problems and the least spills of all: every topological order
 * with every choice of what stays over which gap is tried, by the definition in
 * traffic.h alone.  At most 20 operators; a handful is what one waits for.
 */
#ifndef CALM_TESTS_TRAFFIC_ORDERS_H
#define CALM_TESTS_TRAFFIC_ORDERS_H

#include "order_random.h"
#include "traffic/traffic.h"

/* Who writes: the maker of a buffer, now and then somebody later (a variable,
   a sum), and whoever is first. */
static inline bool traffic_orders_make(traffic_problem *out, random_state *r,
                                       unsigned features, uint32_t op_count,
                                       arena *a) {
  order_problem *o = arena_calloc(a, 1, sizeof *o);
  if (!o || !order_random_make(o, r, features, op_count, a)) return false;
  const uint32_t touches = o->touch_begin[o->buffer_count];
  traffic_problem p = {.order = o};
  p.writes = arena_calloc(a, touches, sizeof *p.writes);
  p.weight_bytes = arena_calloc(a, op_count, sizeof *p.weight_bytes);
  if (!p.writes || !p.weight_bytes) return false;
  for (uint32_t b = 0; b < o->buffer_count; b++)
    for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
      p.writes[i] = i == o->touch_begin[b] ? !o->buffers[b].pinned_start
                                           : features & ORDER_RANDOM_SHARED &&
                                                 order_random_chance(r, 20);
  for (uint32_t u = 0; u < op_count; u++)
    p.weight_bytes[u] = random_below(r, 3);
  *out = p;
  return true;
}

typedef struct traffic_orders {
  const traffic_problem *p;
  uint64_t capacity, best;
  const uint32_t *sequence; /* this order alone, if not NULL */
  uint32_t done;            /* operators */
  uint32_t depth;
  uint64_t cost;
  bool kept[ORDER_RANDOM_MAX_BUFFERS]; /* over the gap that is open */
  bool copy[ORDER_RANDOM_MAX_BUFFERS]; /* off chip is the same */
} traffic_orders;

static inline bool traffic_orders_writes(const traffic_orders *t, uint32_t u,
                                         uint32_t b) {
  const order_problem *o = t->p->order;
  const bool first = !(order_referee_touch(o, b) & t->done);
  if (first && !o->buffers[b].pinned_start) return true;
  for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
    if (o->touch[i] == u) return t->p->writes[i];
  return false;
}

/* Nobody writes any more what is an output: its last state. */
static inline bool traffic_orders_final(const traffic_orders *t, uint32_t b) {
  const order_problem *o = t->p->order;
  if (!o->buffers[b].pinned_end) return false;
  for (uint32_t i = o->touch_begin[b]; i < o->touch_begin[b + 1]; i++)
    if (t->p->writes[i] && !(t->done >> o->touch[i] & 1)) return false;
  return true;
}

static inline uint64_t traffic_orders_need(const traffic_orders *t,
                                           uint32_t u) {
  const order_problem *o = t->p->order;
  const uint32_t bit = UINT32_C(1) << u;
  uint64_t bytes = o->workspace[u], reuse = 0;
  for (uint32_t b = 0; b < o->buffer_count; b++)
    if (order_referee_touch(o, b) & bit) bytes += o->buffers[b].bytes;
  for (uint32_t i = 0; i < o->reuse_count; i++) {
    const order_reuse *r = &o->reuses[i];
    if (r->op == u && r->bytes > reuse && !o->buffers[r->input].pinned_end &&
        !o->buffers[r->output].pinned_start &&
        !(order_referee_touch(o, r->input) & ~(t->done | bit)) &&
        !(order_referee_touch(o, r->output) & t->done))
      reuse = r->bytes;
  }
  return bytes - reuse;
}

/* Bytes kept over the gaps that are open, of buffers that u touches or not. */
static inline uint64_t traffic_orders_kept(const traffic_orders *t, uint32_t u,
                                           bool touched) {
  const order_problem *o = t->p->order;
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < o->buffer_count; b++) {
    const uint32_t touch = order_referee_touch(o, b);
    if (touch & t->done && touch & ~t->done && t->kept[b] &&
        (touch >> u & 1) == touched)
      bytes += o->buffers[b].bytes;
  }
  return bytes;
}

static inline void traffic_orders_try(traffic_orders *t);

/* Behind operator u (done by now), decide about its buffers from b on. */
static inline void traffic_orders_decide(traffic_orders *t, uint32_t u,
                                         uint32_t b, uint64_t room) {
  const order_problem *o = t->p->order;
  for (; b < o->buffer_count; b++) {
    const uint32_t touch = order_referee_touch(o, b);
    if (touch >> u & 1 && touch & ~t->done) break;
  }
  if (b == o->buffer_count) {
    traffic_orders_try(t);
    return;
  }
  const uint64_t bytes = o->buffers[b].bytes, cost = t->cost;
  const bool copy = t->copy[b];
  if (bytes <= room) {
    t->kept[b] = true;
    traffic_orders_decide(t, u, b + 1, room - bytes);
  }
  t->kept[b] = false;
  t->copy[b] = true;
  t->cost += bytes + (copy || traffic_orders_final(t, b) ? 0 : bytes);
  if (t->cost < t->best) traffic_orders_decide(t, u, b + 1, room);
  t->cost = cost;
  t->copy[b] = copy;
}

static inline void traffic_orders_run(traffic_orders *t, uint32_t u) {
  const order_problem *o = t->p->order;
  const uint64_t need = traffic_orders_need(t, u);
  const uint64_t beside = traffic_orders_kept(t, u, false);
  const uint64_t held = traffic_orders_kept(t, u, true) + beside;
  if (need <= t->capacity ? need + beside > t->capacity : held > t->capacity)
    return;
  bool kept[ORDER_RANDOM_MAX_BUFFERS], copy[ORDER_RANDOM_MAX_BUFFERS];
  memcpy(kept, t->kept, sizeof kept);
  memcpy(copy, t->copy, sizeof copy);
  for (uint32_t b = 0; b < o->buffer_count; b++)
    if (order_referee_touch(o, b) >> u & 1 && traffic_orders_writes(t, u, b))
      t->copy[b] = false;
  t->done |= UINT32_C(1) << u;
  t->depth++;
  traffic_orders_decide(
      t, u, 0, need <= t->capacity ? UINT64_MAX : t->capacity - beside);
  t->depth--;
  t->done ^= UINT32_C(1) << u;
  memcpy(t->kept, kept, sizeof kept);
  memcpy(t->copy, copy, sizeof copy);
}

static inline void traffic_orders_try(traffic_orders *t) {
  const order_problem *o = t->p->order;
  if (t->depth == o->op_count) {
    t->best = t->cost;
    return;
  }
  for (uint32_t u = 0; u < o->op_count; u++)
    if (t->sequence
            ? u == t->sequence[t->depth]
            : !(t->done >> u & 1 || order_referee_preds(o, u) & ~t->done))
      traffic_orders_run(t, u);
}

/* The least spills of any order, or of one. */
static inline uint64_t traffic_orders_least(const traffic_problem *p,
                                            uint64_t capacity,
                                            const uint32_t *sequence) {
  traffic_orders t = {
      .p = p, .capacity = capacity, .best = UINT64_MAX, .sequence = sequence};
  for (uint32_t b = 0; b < p->order->buffer_count; b++)
    t.copy[b] = p->order->buffers[b].pinned_start;
  traffic_orders_try(&t);
  return t.best;
}

#endif
