/*
 * Small traffic problems with the forms of real networks, which chance alone
 * rarely draws: fans that split and join, operators with many inputs, sums of
 * several partial results in any order, chains in place, variables that nobody
 * makes, outputs that are read on, inputs that are outputs, many buffers of one
 * size and some of none.  The memory is drawn near what some operator needs.
 */
#ifndef CALM_TESTS_TRAFFIC_FORMS_H
#define CALM_TESTS_TRAFFIC_FORMS_H

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "traffic/traffic.h"

enum { FORMS_MAX_OPS = 12, FORMS_MAX_BUFFERS = 27, FORMS_MAX_REUSES = 24 };

/* The problem as sets of operators. */
typedef struct forms_draft {
  random_state *r;
  uint32_t op_count, buffer_count, reuse_count;
  uint32_t preds[FORMS_MAX_OPS];
  uint32_t touch[FORMS_MAX_BUFFERS], writes[FORMS_MAX_BUFFERS];
  order_buffer buffers[FORMS_MAX_BUFFERS];
  order_reuse reuses[FORMS_MAX_REUSES];
  uint64_t workspace[FORMS_MAX_OPS];
  uint32_t sizes, writers, pins; /* how they are drawn */
} forms_draft;

static inline bool forms_chance(forms_draft *d, uint32_t percent) {
  return random_below(d->r, 100) < percent;
}

static inline uint64_t forms_bytes(forms_draft *d) {
  switch (d->sizes) {
    case 0: return 4;
    case 1: return 2 + 2 * random_below(d->r, 2);
    case 2: return random_below(d->r, 8) ? 1 + random_below(d->r, 9) : 0;
    case 3: return 1 + random_below(d->r, 3);
    default: return 1 + random_below(d->r, 60); /* a table of these is coarse */
  }
}

/* A buffer touched and written by these; who writes later is drawn. */
static inline uint32_t forms_buffer(forms_draft *d, uint32_t touch,
                                    uint32_t writes) {
  const uint32_t b = d->buffer_count++;
  d->touch[b] = touch;
  d->writes[b] = writes;
  for (uint32_t u = 0; u < d->op_count; u++)
    if (touch >> u & 1 && forms_chance(d, d->writers))
      d->writes[b] |= UINT32_C(1) << u;
  d->buffers[b] = (order_buffer){.bytes = forms_bytes(d),
                                 .pinned_end = forms_chance(d, d->pins)};
  return b;
}

/* `writer` makes what a set of later operators reads. */
static inline void forms_tensor(forms_draft *d, uint32_t writer,
                                uint32_t readers) {
  const uint32_t bit = UINT32_C(1) << writer;
  forms_buffer(d, bit | readers, bit);
  for (uint32_t u = writer + 1; u < d->op_count; u++)
    if (readers >> u & 1) d->preds[u] |= bit;
}

/* Operators from `u` on, at most `most` of them, by chance. */
static inline uint32_t forms_later(forms_draft *d, uint32_t u, uint32_t most,
                                   uint32_t percent) {
  uint32_t set = 0, count = 0;
  for (; u < d->op_count && count < most; u++)
    if (forms_chance(d, percent)) {
      set |= UINT32_C(1) << u;
      count++;
    }
  return set;
}

/* Fans: one operator, some beside each other, one that joins them. */
static inline void forms_fans(forms_draft *d) {
  for (uint32_t split = 0; split + 1 < d->op_count;) {
    const uint32_t left = d->op_count - split - 2;
    const uint32_t width =
        left ? 1 + random_below(d->r, left < 4 ? left : 4) : 0;
    const uint32_t join = split + width + 1;
    uint32_t branches = 0;
    for (uint32_t u = split + 1; u < join; u++) {
      branches |= UINT32_C(1) << u;
      forms_tensor(d, u, UINT32_C(1) << join);
    }
    if (forms_chance(d, 40)) branches |= UINT32_C(1) << join;
    forms_tensor(d, split, branches ? branches : UINT32_C(1) << join);
    split = join;
  }
}

/* Each operator makes one tensor or two; the last one often reads many. */
static inline void forms_web(forms_draft *d) {
  const uint32_t last = UINT32_C(1) << (d->op_count - 1);
  const bool gathers = forms_chance(d, 60);
  for (uint32_t u = 0; u < d->op_count; u++)
    for (uint32_t i = forms_chance(d, 20) ? 2 : 1; i-- > 0;)
      forms_tensor(
          d, u,
          forms_later(d, u + 1, 3, 35) |
              (gathers && u + 1 < d->op_count && forms_chance(d, 70) ? last
                                                                     : 0));
}

/* Partial results that are added in any order, and read when all are there. */
static inline void forms_sum(forms_draft *d) {
  const uint32_t partials = forms_later(d, 0, 4, 60);
  const uint32_t b = forms_buffer(d, partials, partials);
  const uint32_t last = d->op_count - 1;
  if (forms_chance(d, 25)) d->buffers[b].pinned_start = true;
  if (partials >> last & 1 || forms_chance(d, 20)) return;
  d->touch[b] |= UINT32_C(1) << last;
  d->preds[last] |= partials;
}

/* One buffer that several operators change, one after the other. */
static inline void forms_in_place(forms_draft *d) {
  const uint32_t chain = forms_later(d, 0, 4, 50);
  const uint32_t b = forms_buffer(d, chain, chain);
  uint32_t before = 0;
  for (uint32_t u = 0; u < d->op_count; u++) {
    if (!(chain >> u & 1)) continue;
    d->preds[u] |= before;
    before = UINT32_C(1) << u;
  }
  d->buffers[b].pinned_start = forms_chance(d, 40);
}

/* An input; now and then it is written, or an output as well. */
static inline void forms_input(forms_draft *d) {
  const uint32_t b = forms_buffer(d, forms_later(d, 0, 5, 40), 0);
  d->buffers[b].pinned_start = true;
}

/* A variable: who touches it first has made it. */
static inline void forms_variable(forms_draft *d) {
  forms_buffer(d, forms_later(d, 0, 4, 40), 0);
}

static inline void forms_reuses(forms_draft *d) {
  for (uint32_t i = 0; i < 60 && d->reuse_count < FORMS_MAX_REUSES; i++) {
    const uint32_t u = random_below(d->r, d->op_count);
    const uint32_t in = random_below(d->r, d->buffer_count);
    const uint32_t out = random_below(d->r, d->buffer_count);
    if (in == out || !(d->touch[in] & d->touch[out] & UINT32_C(1) << u))
      continue;
    const uint64_t x = d->buffers[in].bytes, y = d->buffers[out].bytes;
    d->reuses[d->reuse_count++] = (order_reuse){u, in, out, x < y ? x : y};
  }
}

static inline void forms_draw(forms_draft *d) {
  static void (*const extras[])(forms_draft *) = {forms_sum, forms_in_place,
                                                  forms_input, forms_variable};
  d->sizes = random_below(d->r, 5);
  d->writers = random_below(d->r, 3) * 10;
  d->pins = random_below(d->r, 3) * 15;
  if (forms_chance(d, 50))
    forms_fans(d);
  else
    forms_web(d);
  for (uint32_t i = random_below(d->r, 4); i-- > 0;)
    extras[random_below(d->r, 4)](d);
  const uint32_t busy = random_below(d->r, 3) * 20;
  for (uint32_t u = 0; u < d->op_count; u++)
    if (forms_chance(d, busy)) d->workspace[u] = random_below(d->r, 6);
  if (forms_chance(d, 40)) forms_reuses(d);
}

/* The members of a set, appended to a row. */
static inline uint32_t forms_list(uint32_t *out, uint32_t set) {
  uint32_t count = 0;
  for (uint32_t u = 0; set; u++, set >>= 1)
    if (set & 1) out[count++] = u;
  return count;
}

static inline int forms_compare_reuses(const void *a, const void *b) {
  const order_reuse *x = a, *y = b;
  return (x->op > y->op) - (x->op < y->op);
}

static inline calm_status forms_write(order_problem *o, bool **out_writes,
                                      forms_draft *d, arena *a) {
  const uint32_t n = d->op_count, m = d->buffer_count;
  *o = (order_problem){
      .op_count = n, .buffer_count = m, .reuse_count = d->reuse_count};
  ARENA_ARRAY(a, o->buffers, m);
  ARENA_ARRAY(a, o->touch_begin, m + 1);
  ARENA_ARRAY(a, o->touch, m * n);
  ARENA_ARRAY(a, o->pred_begin, n + 1);
  ARENA_ARRAY(a, o->preds, n * n);
  ARENA_ARRAY(a, o->workspace, n);
  ARENA_ARRAY(a, o->reuses, d->reuse_count);
  ARENA_ARRAY(a, *out_writes, m * n);
  for (uint32_t b = 0; b < m; b++) {
    const uint32_t begin = o->touch_begin[b];
    const uint32_t end = begin + forms_list(o->touch + begin, d->touch[b]);
    o->buffers[b] = d->buffers[b];
    o->touch_begin[b + 1] = end;
    for (uint32_t i = begin; i < end; i++)
      (*out_writes)[i] = d->writes[b] >> o->touch[i] & 1;
  }
  for (uint32_t u = 0; u < n; u++) {
    const uint32_t begin = o->pred_begin[u];
    o->pred_begin[u + 1] = begin + forms_list(o->preds + begin, d->preds[u]);
    o->workspace[u] = d->workspace[u];
  }
  if (d->reuse_count) {
    qsort(d->reuses, d->reuse_count, sizeof *d->reuses, forms_compare_reuses);
    memcpy(o->reuses, d->reuses, d->reuse_count * sizeof *o->reuses);
  }
  return order_problem_finish(o, a);
}

/* What some operator needs, a little less, a little more, or more. */
static inline uint64_t forms_memory(forms_draft *d) {
  const uint32_t u = random_below(d->r, d->op_count);
  uint64_t need = d->workspace[u];
  for (uint32_t b = 0; b < d->buffer_count; b++)
    if (d->touch[b] >> u & 1) need += d->buffers[b].bytes;
  switch (random_below(d->r, 6)) {
    case 0: return need ? need - 1 : 0;
    case 1: return need;
    case 2: return need + 1;
    default: return need + random_below(d->r, 9);
  }
}

/* A problem of so many operators, a memory for it and the draft it was made
   of. */
static inline calm_status forms_make(traffic_problem *out,
                                     traffic_memory *memory, forms_draft *d,
                                     random_state *r, uint32_t op_count,
                                     arena *a) {
  order_problem *o;
  bool *writes = NULL;
  *d = (forms_draft){.r = r, .op_count = op_count};
  forms_draw(d);
  ARENA_ARRAY(a, o, 1);
  TRY(forms_write(o, &writes, d, a));
  *out = (traffic_problem){.order = o, .writes = writes};
  ARENA_ARRAY(a, out->weight_bytes, op_count);
  *memory = (traffic_memory){forms_memory(d), 0};
  return CALM_OK;
}

#endif
