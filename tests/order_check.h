/*
 * The referee of orders.  It reads the problem as it was stated: touch lists,
 * predecessors, pins, workspaces and permissions.  From the order it takes the
 * first and the last step of each buffer, and for each step it adds up anew all
 * buffers that live there: no running totals, none of the derived arrays.
 */
#ifndef CALM_TESTS_ORDER_CHECK_H
#define CALM_TESTS_ORDER_CHECK_H

#include <inttypes.h>

#include "order/order.h"

/* The steps from the first to the last that touches a buffer. */
typedef struct life {
  uint32_t first, last;
  bool touched;
} life;

typedef struct referee {
  const order_problem *p;
  const uint32_t *sequence;
  uint32_t *step; /* per operator: when it runs */
  life *lives;    /* per buffer */
  calm_context *context;
} referee;

static inline calm_status check_permutation(referee *r) {
  const uint32_t n = r->p->op_count;
  for (uint32_t u = 0; u < n; u++) r->step[u] = CALM_NONE;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t u = r->sequence[i];
    if (u >= n)
      return context_fail(r->context, CALM_INTERNAL,
                          "step %" PRIu32 " of the order runs operator %" PRIu32
                          ", but there are %" PRIu32,
                          i, u, n);
    if (r->step[u] != CALM_NONE)
      return context_fail(r->context, CALM_INTERNAL,
                          "operator %" PRIu32 " runs at step %" PRIu32
                          " and again at step %" PRIu32,
                          u, r->step[u], i);
    r->step[u] = i;
  }
  return CALM_OK;
}

static inline calm_status check_precedence(const referee *r) {
  const order_problem *p = r->p;
  for (uint32_t u = 0; u < p->op_count; u++)
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      if (r->step[p->preds[i]] >= r->step[u])
        return context_fail(r->context, CALM_INTERNAL,
                            "operator %" PRIu32 " runs before operator %" PRIu32
                            ", which must precede it",
                            u, p->preds[i]);
  return CALM_OK;
}

/* When is each buffer touched first and last?  Untouched ones never begin. */
static inline void find_lives(referee *r) {
  const order_problem *p = r->p;
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    r->lives[b] = (life){CALM_NONE, 0, false};
    for (uint32_t i = p->touch_begin[b]; i < p->touch_begin[b + 1]; i++) {
      const uint32_t step = r->step[p->touch[i]];
      if (step < r->lives[b].first) r->lives[b].first = step;
      if (step > r->lives[b].last) r->lives[b].last = step;
      r->lives[b].touched = true;
    }
  }
}

static inline bool begun(const referee *r, uint32_t buffer, uint32_t step) {
  const life *l = &r->lives[buffer];
  return r->p->buffers[buffer].pinned_start || (l->touched && l->first <= step);
}

static inline bool over(const referee *r, uint32_t buffer, uint32_t step) {
  const life *l = &r->lives[buffer];
  return !r->p->buffers[buffer].pinned_end && !(l->touched && l->last >= step);
}

/* The operator of this step may write one buffer over another if it is the last
   to touch the one and the first to touch the other. */
static inline bool permitted(const referee *r, const order_reuse *reuse,
                             uint32_t step) {
  return r->lives[reuse->input].last == step &&
         !r->p->buffers[reuse->input].pinned_end &&
         r->lives[reuse->output].first == step &&
         !r->p->buffers[reuse->output].pinned_start;
}

static inline uint64_t live_bytes(const referee *r, uint32_t step) {
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < r->p->buffer_count; b++)
    if (begun(r, b, step) && !over(r, b, step)) bytes += r->p->buffers[b].bytes;
  return bytes;
}

static inline uint64_t bytes_during(const referee *r, uint32_t step) {
  const order_problem *p = r->p;
  const uint32_t u = r->sequence[step];
  uint64_t saved = 0;
  for (uint32_t i = 0; i < p->reuse_count; i++)
    if (p->reuses[i].op == u && p->reuses[i].bytes > saved &&
        permitted(r, &p->reuses[i], step))
      saved = p->reuses[i].bytes;
  return live_bytes(r, step) + p->workspace[u] - saved;
}

/* What is live before a step is live during it; behind the last step only what
   is pinned to the end is left. */
static inline uint64_t peak_of(const referee *r) {
  uint64_t peak = live_bytes(r, r->p->op_count);
  for (uint32_t step = 0; step < r->p->op_count; step++) {
    const uint64_t bytes = bytes_during(r, step);
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

static inline calm_status check(uint64_t *out_peak, referee *r,
                                arena *scratch) {
  ARENA_ARRAY(scratch, r->step, r->p->op_count);
  ARENA_ARRAY(scratch, r->lives, r->p->buffer_count);
  TRY(check_permutation(r));
  TRY(check_precedence(r));
  find_lives(r);
  *out_peak = peak_of(r);
  return CALM_OK;
}

/*
 * From first principles and sharing nothing with the solvers: is `sequence` a
 * valid order, and what is its peak?  CALM_INTERNAL with a message if it is
 * not.
 */
static inline calm_status order_check(uint64_t *out_peak,
                                      const order_problem *p,
                                      const uint32_t *sequence,
                                      calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  referee r = {.p = p, .sequence = sequence, .context = context};
  const calm_status status = check(out_peak, &r, &scratch);
  arena_free(&scratch);
  return status;
}

#endif
