/*
 * Random order problems and a referee for them.  The generator makes small
 * problems with every feature that an order problem can have; the referee knows
 * only the definition in order.h and finds the optimum by dynamic programming
 * over all down-sets (at most 20 operators).
 */
#ifndef CALM_TESTS_ORDER_RANDOM_H
#define CALM_TESTS_ORDER_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "order/order.h"

enum {
  ORDER_RANDOM_SIZED = 1,    /* sizes 1 to 9, else 1 */
  ORDER_RANDOM_ZEROS = 2,    /* some sizes are 0 */
  ORDER_RANDOM_SHARED = 4,   /* buffers with several first or last touchers */
  ORDER_RANDOM_PINNED = 8,   /* inputs and outputs */
  ORDER_RANDOM_CONTROL = 16, /* edges without data */
  ORDER_RANDOM_WORKSPACE = 32,
  ORDER_RANDOM_REUSE = 64,
  ORDER_RANDOM_SPARED = 128, /* some permissions spare workspace */
  ORDER_RANDOM_ALL = 255,
  ORDER_RANDOM_SERIES = 256 /* the precedence is series-parallel */
};

enum { ORDER_RANDOM_MAX_OPS = 20, ORDER_RANDOM_MAX_BUFFERS = 64 };

/* The problem as sets of operators. */
typedef struct order_random_draft {
  random_state *r;
  unsigned features;
  uint32_t op_count, buffer_count;
  uint32_t preds[ORDER_RANDOM_MAX_OPS];
  uint32_t touch[ORDER_RANDOM_MAX_BUFFERS];
  order_buffer buffers[ORDER_RANDOM_MAX_BUFFERS];
} order_random_draft;

static inline bool order_random_chance(random_state *r, uint32_t percent) {
  return random_below(r, 100) < percent;
}

static inline uint64_t order_random_bytes(order_random_draft *d) {
  if (d->features & ORDER_RANDOM_ZEROS && order_random_chance(d->r, 15))
    return 0;
  return d->features & ORDER_RANDOM_SIZED ? 1 + random_below(d->r, 9) : 1;
}

/* All pairs of a series-parallel precedence: halves of [begin, end) follow each
   other or do not, and so on. */
static inline void order_random_series(order_random_draft *d, uint32_t begin,
                                       uint32_t end) {
  if (end - begin < 2) return;
  const uint32_t middle = begin + 1 + random_below(d->r, end - begin - 1);
  if (order_random_chance(d->r, 50))
    for (uint32_t u = middle; u < end; u++)
      for (uint32_t v = begin; v < middle; v++) d->preds[u] |= UINT32_C(1) << v;
  order_random_series(d, begin, middle);
  order_random_series(d, middle, end);
}

/* A buffer that `writer` makes and some later operators read. */
static inline void order_random_tensor(order_random_draft *d, uint32_t writer) {
  const uint32_t b = d->buffer_count++;
  d->buffers[b].bytes = order_random_bytes(d);
  d->touch[b] = UINT32_C(1) << writer;
  for (uint32_t u = writer + 1; u < d->op_count; u++)
    if (order_random_chance(d->r, 25) &&
        (!(d->features & ORDER_RANDOM_SERIES) || d->preds[u] >> writer & 1)) {
      d->touch[b] |= UINT32_C(1) << u;
      d->preds[u] |= UINT32_C(1) << writer;
    }
  if (d->features & ORDER_RANDOM_PINNED && order_random_chance(d->r, 20))
    d->buffers[b].pinned_end = true;
}

/* A buffer that several operators touch in whatever order they run. */
static inline void order_random_shared(order_random_draft *d) {
  const uint32_t b = d->buffer_count++;
  d->buffers[b].bytes = order_random_bytes(d);
  for (uint32_t u = 0; u < d->op_count; u++)
    if (order_random_chance(d->r, 30)) d->touch[b] |= UINT32_C(1) << u;
  if (!(d->features & ORDER_RANDOM_PINNED)) return;
  d->buffers[b].pinned_start = order_random_chance(d->r, 30);
  d->buffers[b].pinned_end = order_random_chance(d->r, 20);
}

static inline void order_random_draw(order_random_draft *d) {
  if (d->features & ORDER_RANDOM_SERIES) order_random_series(d, 0, d->op_count);
  for (uint32_t u = 0; u < d->op_count; u++) {
    const uint32_t tensors =
        random_below(d->r, 8) < 6 ? 1 : random_below(d->r, 3);
    for (uint32_t i = 0; i < tensors; i++) order_random_tensor(d, u);
  }
  if (d->features & (ORDER_RANDOM_SHARED | ORDER_RANDOM_PINNED)) {
    const uint32_t shared = random_below(d->r, 4);
    for (uint32_t i = 0; i < shared; i++) order_random_shared(d);
  }
  if (d->features & ORDER_RANDOM_CONTROL &&
      !(d->features & ORDER_RANDOM_SERIES))
    for (uint32_t u = 1; u < d->op_count; u++)
      if (order_random_chance(d->r, 20))
        d->preds[u] |= UINT32_C(1) << random_below(d->r, u);
}

/* The members of a set of operators, appended to a row. */
static inline uint32_t order_random_list(uint32_t *out, uint32_t set) {
  uint32_t count = 0;
  for (uint32_t u = 0; set; u++, set >>= 1)
    if (set & 1) out[count++] = u;
  return count;
}

/* Permissions between an operator's buffers, also some that never hold. */
static inline void order_random_reuses(order_random_draft *d,
                                       order_problem *p) {
  for (uint32_t u = 0; u < d->op_count; u++)
    for (uint32_t i = 0; i < 3 && order_random_chance(d->r, 70); i++) {
      const uint32_t input = random_below(d->r, d->buffer_count);
      const uint32_t output = random_below(d->r, d->buffer_count);
      const uint64_t a = d->buffers[input].bytes, b = d->buffers[output].bytes;
      const uint32_t bit = UINT32_C(1) << u;
      if (input == output || !(d->touch[input] & d->touch[output] & bit))
        continue;
      const uint64_t most = a < b ? a : b;
      const uint64_t bytes = order_random_chance(d->r, 70)
                                 ? most
                                 : random_below(d->r, (uint32_t)most + 1);
      const uint64_t spared =
          most && d->features & ORDER_RANDOM_SPARED &&
                  order_random_chance(d->r, 50)
              ? random_below(d->r, (uint32_t)p->workspace[u] + 1)
              : 0;
      p->reuses[p->reuse_count++] =
          (order_reuse){u, input, output, bytes + spared};
    }
}

/* A random problem; false if there is no memory. */
static inline bool order_random_make(order_problem *out, random_state *r,
                                     unsigned features, uint32_t op_count,
                                     arena *a) {
  order_random_draft d = {.r = r, .features = features, .op_count = op_count};
  order_random_draw(&d);
  order_problem p = {.op_count = op_count, .buffer_count = d.buffer_count};
  p.buffers = arena_calloc(a, d.buffer_count, sizeof *p.buffers);
  p.touch_begin = arena_calloc(a, d.buffer_count + 1, sizeof *p.touch_begin);
  p.touch = arena_calloc(a, d.buffer_count * op_count, sizeof *p.touch);
  p.pred_begin = arena_calloc(a, op_count + 1, sizeof *p.pred_begin);
  p.preds = arena_calloc(a, op_count * op_count, sizeof *p.preds);
  p.workspace = arena_calloc(a, op_count, sizeof *p.workspace);
  p.reuses = arena_calloc(a, op_count * 3, sizeof *p.reuses);
  if (!p.buffers || !p.touch_begin || !p.touch || !p.pred_begin || !p.preds ||
      !p.workspace || !p.reuses)
    return false;
  memcpy(p.buffers, d.buffers, d.buffer_count * sizeof *p.buffers);
  for (uint32_t b = 0; b < d.buffer_count; b++)
    p.touch_begin[b + 1] =
        p.touch_begin[b] +
        order_random_list(p.touch + p.touch_begin[b], d.touch[b]);
  for (uint32_t u = 0; u < op_count; u++) {
    p.pred_begin[u + 1] =
        p.pred_begin[u] +
        order_random_list(p.preds + p.pred_begin[u], d.preds[u]);
    if (features & ORDER_RANDOM_WORKSPACE && order_random_chance(r, 40))
      p.workspace[u] = 1 + random_below(r, 9);
  }
  if (features & ORDER_RANDOM_REUSE) order_random_reuses(&d, &p);
  if (order_problem_finish(&p, a) != CALM_OK) return false;
  *out = p;
  return true;
}

/* ---- The referee --------------------------------------------------------- */

static inline uint32_t order_referee_touch(const order_problem *p, uint32_t b) {
  uint32_t set = 0;
  for (uint32_t i = p->touch_begin[b]; i < p->touch_begin[b + 1]; i++)
    set |= UINT32_C(1) << p->touch[i];
  return set;
}

/* mem(S), as order.h defines it. */
static inline uint64_t order_referee_mem(const order_problem *p, uint32_t set) {
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    const uint32_t touch = order_referee_touch(p, b);
    if ((p->buffers[b].pinned_start || touch & set) &&
        (p->buffers[b].pinned_end || touch & ~set))
      bytes += p->buffers[b].bytes;
  }
  return bytes;
}

/* What running u from S costs, as order.h defines it. */
static inline uint64_t order_referee_cost(const order_problem *p, uint32_t set,
                                          uint32_t u) {
  const uint32_t bit = UINT32_C(1) << u;
  uint64_t bytes = order_referee_mem(p, set) + p->workspace[u], reuse = 0;
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    const uint32_t touch = order_referee_touch(p, b);
    if (!p->buffers[b].pinned_start && touch & bit && !(touch & set))
      bytes += p->buffers[b].bytes;
  }
  for (uint32_t i = 0; i < p->reuse_count; i++) {
    const order_reuse *r = &p->reuses[i];
    if (r->op != u || r->bytes <= reuse) continue;
    if (p->buffers[r->input].pinned_end || p->buffers[r->output].pinned_start)
      continue;
    if (order_referee_touch(p, r->input) & ~(set | bit)) continue;
    if (order_referee_touch(p, r->output) & set) continue;
    reuse = r->bytes;
  }
  return bytes - reuse;
}

static inline uint32_t order_referee_preds(const order_problem *p, uint32_t u) {
  uint32_t set = 0;
  for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
    set |= UINT32_C(1) << p->preds[i];
  return set;
}

/* The least peak of all orders. */
static inline uint64_t order_referee_optimum(const order_problem *p) {
  const uint32_t n = p->op_count, full = (UINT32_C(1) << n) - 1;
  uint64_t *best = malloc((full + (size_t)1) * sizeof *best);
  if (!best) abort();
  for (uint32_t set = 0; set <= full; set++) best[set] = UINT64_MAX;
  best[0] = order_referee_mem(p, 0);
  for (uint32_t set = 0; set < full; set++) {
    if (best[set] == UINT64_MAX) continue;
    for (uint32_t u = 0; u < n; u++) {
      const uint32_t bit = UINT32_C(1) << u;
      if (set & bit || order_referee_preds(p, u) & ~set) continue;
      const uint64_t cost = order_referee_cost(p, set, u);
      const uint64_t peak = cost > best[set] ? cost : best[set];
      if (peak < best[set | bit]) best[set | bit] = peak;
    }
  }
  const uint64_t end = order_referee_mem(p, full);
  const uint64_t optimum = end > best[full] ? end : best[full];
  free(best);
  return optimum;
}

/* The peak of one order; UINT64_MAX if it is none. */
static inline uint64_t order_referee_peak(const order_problem *p,
                                          const uint32_t *sequence) {
  uint32_t set = 0;
  uint64_t peak = order_referee_mem(p, 0);
  for (uint32_t i = 0; i < p->op_count; i++) {
    const uint32_t u = sequence[i];
    if (u >= p->op_count || set >> u & 1 || order_referee_preds(p, u) & ~set)
      return UINT64_MAX;
    const uint64_t cost = order_referee_cost(p, set, u);
    if (cost > peak) peak = cost;
    set |= UINT32_C(1) << u;
  }
  const uint64_t end = order_referee_mem(p, set);
  return end > peak ? end : peak;
}

#endif
