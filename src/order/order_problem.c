/* The order problem itself: its derived arrays and its mirror image. */
#include "order/order.h"

#include <assert.h>
#include <inttypes.h>

#include "base/number.h"

/*
 * The transpose of a relation in compressed rows: for every value that occurs
 * in the rows, which rows hold it, ascending.  Row r is list[begin[r] ..
 * begin[r + 1]].
 */
static calm_status transpose(uint32_t **out_begin, uint32_t **out_list,
                             const uint32_t *begin, const uint32_t *list,
                             uint32_t rows, uint32_t values, arena *a) {
  uint32_t *to, *back;
  ARENA_ARRAY(a, to, values + 2);
  ARENA_ARRAY(a, back, begin[rows]);
  for (uint32_t i = 0; i < begin[rows]; i++) to[list[i] + 2]++;
  for (uint32_t v = 2; v < values + 2; v++) to[v] += to[v - 1];
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t i = begin[r]; i < begin[r + 1]; i++)
      back[to[list[i] + 1]++] = r;
  *out_begin = to;
  *out_list = back;
  return CALM_OK;
}

static calm_status compute_levels(order_problem *p, arena *a) {
  ARENA_ARRAY(a, p->level, p->op_count);
  for (uint32_t u = 0; u < p->op_count; u++)
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++) {
      assert(p->preds[i] < u);
      if (p->level[u] <= p->level[p->preds[i]])
        p->level[u] = p->level[p->preds[i]] + 1;
    }
  return CALM_OK;
}

/* Reuses are ascending by operator: where do those of each one begin? */
static calm_status index_reuses(order_problem *p, arena *a) {
  ARENA_ARRAY(a, p->reuse_begin, p->op_count + 1);
  for (uint32_t i = 0; i < p->reuse_count; i++) {
    assert(i == 0 || p->reuses[i - 1].op <= p->reuses[i].op);
    p->reuse_begin[p->reuses[i].op + 1]++;
  }
  for (uint32_t u = 0; u < p->op_count; u++)
    p->reuse_begin[u + 1] += p->reuse_begin[u];
  return CALM_OK;
}

/* Everybody below adds bytes without looking: all of them together must fit. */
static calm_status check_total(const order_problem *p, calm_context *context) {
  uint64_t total = 0;
  bool fits = true;
  for (uint32_t b = 0; b < p->buffer_count; b++)
    fits = fits && number_add(&total, total, p->buffers[b].bytes);
  for (uint32_t u = 0; p->workspace && u < p->op_count; u++)
    fits = fits && number_add(&total, total, p->workspace[u]);
  if (fits) return CALM_OK;
  return context_fail(context, CALM_BAD_INPUT,
                      "all buffers and workspaces together exceed %" PRIu64
                      " bytes",
                      (uint64_t)NUMBER_MAX_BYTES);
}

calm_status order_problem_finish(order_problem *p, arena *a) {
  TRY(check_total(p, a->context));
  TRY(index_reuses(p, a));
  TRY(transpose(&p->uses_begin, &p->uses, p->touch_begin, p->touch,
                p->buffer_count, p->op_count, a));
  TRY(transpose(&p->succ_begin, &p->succs, p->pred_begin, p->preds, p->op_count,
                p->op_count, a));
  return compute_levels(p, a);
}

/* Rows of a relation between operators, mirrored: row u becomes row n - 1 - u,
   and so do the values where they are operators. */
static calm_status mirror(uint32_t **out_begin, uint32_t **out_list,
                          const uint32_t *begin, const uint32_t *list,
                          uint32_t n, arena *a) {
  uint32_t *to, *mirrored, filled = 0;
  ARENA_ARRAY(a, to, n + 1);
  ARENA_ARRAY(a, mirrored, begin[n]);
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t i = begin[n - u]; i-- > begin[n - 1 - u];)
      mirrored[filled++] = n - 1 - list[i];
    to[u + 1] = filled;
  }
  *out_begin = to;
  *out_list = mirrored;
  return CALM_OK;
}

/* Touchers of each buffer, mirrored and again ascending. */
static calm_status mirror_touches(order_problem *out, const order_problem *p,
                                  arena *a) {
  ARENA_ARRAY(a, out->touch, p->touch_begin[p->buffer_count]);
  out->touch_begin = p->touch_begin;
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    uint32_t to = p->touch_begin[b];
    for (uint32_t i = p->touch_begin[b + 1]; i-- > p->touch_begin[b];)
      out->touch[to++] = p->op_count - 1 - p->touch[i];
  }
  return CALM_OK;
}

/* Backwards, the output is what dies and the input is what begins. */
static calm_status mirror_reuses(order_problem *out, const order_problem *p,
                                 arena *a) {
  ARENA_ARRAY(a, out->reuses, p->reuse_count);
  for (uint32_t i = p->reuse_count; i-- > 0;) {
    const order_reuse *r = &p->reuses[i];
    out->reuses[out->reuse_count++] =
        (order_reuse){p->op_count - 1 - r->op, r->output, r->input, r->bytes};
  }
  return CALM_OK;
}

calm_status order_problem_reverse(order_problem *out, const order_problem *p,
                                  arena *a) {
  order_problem r = {.op_count = p->op_count, .buffer_count = p->buffer_count};
  ARENA_ARRAY(a, r.buffers, p->buffer_count);
  for (uint32_t b = 0; b < p->buffer_count; b++)
    r.buffers[b] = (order_buffer){p->buffers[b].bytes, p->buffers[b].pinned_end,
                                  p->buffers[b].pinned_start};
  ARENA_ARRAY(a, r.workspace, p->op_count);
  for (uint32_t u = 0; u < p->op_count; u++)
    r.workspace[u] = p->workspace[p->op_count - 1 - u];
  TRY(mirror_touches(&r, p, a));
  TRY(mirror_reuses(&r, p, a));
  TRY(mirror(&r.pred_begin, &r.preds, p->succ_begin, p->succs, p->op_count, a));
  TRY(order_problem_finish(&r, a));
  *out = r;
  return CALM_OK;
}
