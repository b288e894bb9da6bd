/*
 * Random traffic problems in random sequences, and a referee that knows nothing
 * but the definition in traffic/traffic.h: it tries every choice of what is
 * kept, in whole buffers or in pages.
 */
#ifndef CALM_TESTS_TRAFFIC_RANDOM_H
#define CALM_TESTS_TRAFFIC_RANDOM_H

#include "order_cases.h"
#include "traffic/traffic.h"

enum { TRAFFIC_RANDOM_MAX_OPS = 64, TRAFFIC_REFEREE_MAX_GAPS = 1024 };

typedef struct traffic_case {
  order_problem order;
  traffic_problem problem;
  uint32_t sequence[TRAFFIC_RANDOM_MAX_OPS];
} traffic_case;

/* Who writes, and what weights there are, for an order problem and any of its
   sequences; false if there is no memory. */
static inline bool traffic_random_finish(traffic_case *c, random_state *r,
                                         arena *a) {
  const order_problem *o = &c->order;
  const uint32_t touches = o->touch_begin[o->buffer_count];
  c->problem = (traffic_problem){.order = o};
  c->problem.writes = arena_calloc(a, touches, sizeof *c->problem.writes);
  c->problem.weight_bytes =
      arena_calloc(a, o->op_count, sizeof *c->problem.weight_bytes);
  if (!c->problem.writes || !c->problem.weight_bytes) return false;
  const uint32_t percent = random_below(r, 3) * 25;
  for (uint32_t i = 0; i < touches; i++)
    c->problem.writes[i] = order_random_chance(r, percent);
  for (uint32_t u = 0; u < o->op_count; u++)
    if (order_random_chance(r, 30))
      c->problem.weight_bytes[u] = random_below(r, 9);
  random_order(c->sequence, o, r);
  return true;
}

/* Some features of order_random.h, some operators. */
static inline bool traffic_random_make(traffic_case *c, random_state *r,
                                       uint32_t most_ops, arena *a) {
  const unsigned features = random_below(r, ORDER_RANDOM_ALL + 1);
  const uint32_t ops = 1 + random_below(r, most_ops);
  return order_random_make(&c->order, r, features, ops, a) &&
         traffic_random_finish(c, r, a);
}

/* ---- The referee --------------------------------------------------------- */

typedef struct traffic_gap {
  uint32_t buffer, from, to;
  bool begins;     /* it is the first one of its buffer */
  bool dirty;      /* the touch before it writes */
  bool last_state; /* of an output: no touch after that writes */
} traffic_gap;

typedef struct traffic_referee {
  const traffic_case *c;
  bool whole;
  uint64_t page, memory;
  uint64_t bytes[ORDER_RANDOM_MAX_BUFFERS];
  uint64_t need[TRAFFIC_RANDOM_MAX_OPS];
  /* Of each step, and of the boundary before each: */
  uint64_t over[TRAFFIC_RANDOM_MAX_OPS + 1];
  uint64_t before[TRAFFIC_RANDOM_MAX_OPS + 1];
  traffic_gap gaps[TRAFFIC_REFEREE_MAX_GAPS];
  uint32_t gap_count;
  uint64_t tried, most; /* choices looked at, and allowed to be */
  uint64_t least_spills, least_reads;
  uint64_t choices; /* that fit */
} traffic_referee;

static inline uint64_t traffic_referee_ceil(const traffic_referee *f,
                                            uint64_t bytes) {
  return (bytes + f->page - 1) / f->page * f->page;
}

static inline bool traffic_referee_touches(const traffic_referee *f,
                                           uint32_t buffer, uint32_t step) {
  const order_problem *o = &f->c->order;
  for (uint32_t i = o->touch_begin[buffer]; i < o->touch_begin[buffer + 1]; i++)
    if (o->touch[i] == f->c->sequence[step]) return true;
  return false;
}

static inline bool traffic_referee_writes(const traffic_referee *f,
                                          uint32_t buffer, uint32_t step,
                                          bool first) {
  const order_problem *o = &f->c->order;
  for (uint32_t i = o->touch_begin[buffer]; i < o->touch_begin[buffer + 1]; i++)
    if (o->touch[i] == f->c->sequence[step] && f->c->problem.writes[i])
      return true;
  return first && !o->buffers[buffer].pinned_start;
}

/* Is the buffer touched in the steps from..to - 1? */
static inline bool traffic_referee_used(const traffic_referee *f,
                                        uint32_t buffer, uint32_t from,
                                        uint32_t to) {
  for (uint32_t s = from; s < to; s++)
    if (traffic_referee_touches(f, buffer, s)) return true;
  return false;
}

/* What the operator of a step needs if `r` holds; UINT64_MAX if it does not. */
static inline uint64_t traffic_referee_reused(const traffic_referee *f,
                                              const order_reuse *r,
                                              uint32_t step, uint64_t touched) {
  const order_problem *o = &f->c->order;
  const order_buffer *in = &o->buffers[r->input], *out = &o->buffers[r->output];
  if (in->pinned_end || out->pinned_start ||
      traffic_referee_used(f, r->input, step + 1, o->op_count) ||
      traffic_referee_used(f, r->output, 0, step))
    return UINT64_MAX;
  const uint64_t smaller = in->bytes < out->bytes ? in->bytes : out->bytes;
  const uint64_t overlap = r->bytes < smaller ? r->bytes : smaller;
  const uint64_t workspace =
      o->workspace[f->c->sequence[step]] - (r->bytes - overlap);
  return touched + traffic_referee_ceil(f, workspace) -
         (overlap == smaller ? traffic_referee_ceil(f, overlap)
                             : overlap / f->page * f->page);
}

static inline uint64_t traffic_referee_need(const traffic_referee *f,
                                            uint32_t step) {
  const order_problem *o = &f->c->order;
  const uint32_t u = f->c->sequence[step];
  uint64_t touched = 0;
  for (uint32_t b = 0; b < o->buffer_count; b++)
    if (traffic_referee_touches(f, b, step)) touched += f->bytes[b];
  uint64_t least = touched + traffic_referee_ceil(f, o->workspace[u]);
  for (uint32_t i = 0; i < o->reuse_count; i++) {
    if (o->reuses[i].op != u) continue;
    const uint64_t bytes =
        traffic_referee_reused(f, &o->reuses[i], step, touched);
    if (bytes < least) least = bytes;
  }
  return least;
}

static inline void traffic_referee_list_gaps(traffic_referee *f, uint32_t b) {
  const order_problem *o = &f->c->order;
  uint32_t before = CALM_NONE;
  bool begins = true;
  for (uint32_t s = 0; s < o->op_count; s++) {
    if (!traffic_referee_touches(f, b, s)) continue;
    if (before != CALM_NONE) {
      traffic_gap g = {b, before, s, begins, false, o->buffers[b].pinned_end};
      g.dirty = traffic_referee_writes(f, b, before, begins);
      for (uint32_t t = s; t < o->op_count; t++)
        if (traffic_referee_touches(f, b, t) &&
            traffic_referee_writes(f, b, t, false))
          g.last_state = false;
      f->gaps[f->gap_count++] = g;
      begins = false;
    }
    before = s;
  }
}

static inline void traffic_referee_begin(traffic_referee *f,
                                         const traffic_case *c,
                                         const traffic_memory *memory) {
  *f = (traffic_referee){.c = c, .least_spills = UINT64_MAX};
  f->least_reads = UINT64_MAX;
  f->whole = memory->page_bytes == 0;
  f->page = memory->page_bytes ? memory->page_bytes : 1;
  f->memory = memory->bytes / f->page * f->page;
  for (uint32_t b = 0; b < c->order.buffer_count; b++)
    f->bytes[b] = traffic_referee_ceil(f, c->order.buffers[b].bytes);
  for (uint32_t s = 0; s < c->order.op_count; s++)
    f->need[s] = traffic_referee_need(f, s);
  for (uint32_t b = 0; b < c->order.buffer_count; b++)
    traffic_referee_list_gaps(f, b);
}

/* Add so much to what is kept over a gap, and see whether all still fits. */
static inline bool traffic_referee_keep(traffic_referee *f,
                                        const traffic_gap *g, uint64_t bytes) {
  bool fits = true;
  for (uint32_t s = g->from; s <= g->to; s++) {
    if (s > g->from) f->before[s] += bytes;
    if (s > g->from && s < g->to) f->over[s] += bytes;
  }
  for (uint32_t s = 0; s < f->c->order.op_count; s++)
    if (f->need[s] > f->memory)
      fits = fits && f->before[s] <= f->memory && f->before[s + 1] <= f->memory;
    else
      fits = fits && f->need[s] + f->over[s] <= f->memory;
  return fits;
}

static inline void traffic_referee_try(traffic_referee *f, uint32_t i,
                                       uint64_t offchip, uint64_t reads,
                                       uint64_t writes);

/* So much is kept over the i-th gap: what does that cost, and what then? */
static inline void traffic_referee_choose(traffic_referee *f, uint32_t i,
                                          uint64_t kept, uint64_t offchip,
                                          uint64_t reads, uint64_t writes) {
  const traffic_gap *g = &f->gaps[i];
  const uint64_t missing = f->bytes[g->buffer] - kept;
  if (missing > offchip) {
    if (!g->last_state) writes += missing - offchip;
    offchip = missing;
  }
  if (traffic_referee_keep(f, g, kept))
    traffic_referee_try(f, i + 1, offchip, reads + missing, writes);
  traffic_referee_keep(f, g, 0 - kept);
}

/* All choices for the gaps from the i-th on, given what the ones before come
   to; offchip is the copy that the buffer has if this is not its first gap. */
static inline void traffic_referee_try(traffic_referee *f, uint32_t i,
                                       uint64_t offchip, uint64_t reads,
                                       uint64_t writes) {
  if (f->tried++ > f->most) return;
  if (i == f->gap_count) {
    f->choices++;
    if (reads + writes < f->least_spills) f->least_spills = reads + writes;
    if (reads < f->least_reads) f->least_reads = reads;
    return;
  }
  const traffic_gap *g = &f->gaps[i];
  const uint64_t bytes = f->bytes[g->buffer];
  const uint64_t unit = f->whole ? bytes : f->page;
  if (g->begins)
    offchip = f->c->order.buffers[g->buffer].pinned_start ? bytes : 0;
  if (g->dirty) offchip = 0;
  traffic_referee_choose(f, i, 0, offchip, reads, writes);
  for (uint64_t kept = unit; unit && kept <= bytes; kept += unit)
    traffic_referee_choose(f, i, kept, offchip, reads, writes);
}

/* The least bytes of spills, and the least bytes read of them; false if that
   takes more than so many choices. */
static inline bool traffic_referee_run(traffic_referee *f,
                                       const traffic_case *c,
                                       const traffic_memory *memory,
                                       uint64_t most) {
  traffic_referee_begin(f, c, memory);
  f->most = most;
  traffic_referee_try(f, 0, 0, 0, 0);
  return f->tried <= most;
}

#endif
