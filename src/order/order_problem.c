/* The order problem itself: its derived arrays, its mirror image, and what an
   order of it costs. */
#include "order/order.h"

#include <assert.h>

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

calm_status order_problem_finish(order_problem *p, arena *a) {
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

calm_status order_problem_reverse(order_problem *out, const order_problem *p,
                                  arena *a) {
  assert(p->reuse_count == 0);
  order_problem r = {.op_count = p->op_count, .buffer_count = p->buffer_count};
  ARENA_ARRAY(a, r.buffers, p->buffer_count);
  for (uint32_t b = 0; b < p->buffer_count; b++)
    r.buffers[b] = (order_buffer){p->buffers[b].bytes, p->buffers[b].pinned_end,
                                  p->buffers[b].pinned_start};
  ARENA_ARRAY(a, r.workspace, p->op_count);
  for (uint32_t u = 0; u < p->op_count; u++)
    r.workspace[u] = p->workspace[p->op_count - 1 - u];
  TRY(mirror_touches(&r, p, a));
  TRY(mirror(&r.pred_begin, &r.preds, p->succ_begin, p->succs, p->op_count, a));
  TRY(order_problem_finish(&r, a));
  *out = r;
  return CALM_OK;
}

/* What an order has done so far: how many operators of each buffer are left. */
typedef struct replay {
  const order_problem *p;
  uint32_t *touchers_left;
  uint64_t live_bytes;
} replay;

static uint32_t toucher_count(const order_problem *p, uint32_t b) {
  return p->touch_begin[b + 1] - p->touch_begin[b];
}

/* The best permission of u: its input dies here, its output begins here. */
static uint64_t reusable_bytes(const replay *r, uint32_t u) {
  uint64_t best = 0;
  for (uint32_t i = 0; i < r->p->reuse_count; i++) {
    const order_reuse *reuse = &r->p->reuses[i];
    if (reuse->op != u || reuse->bytes <= best) continue;
    const bool dies = r->touchers_left[reuse->input] == 1 &&
                      !r->p->buffers[reuse->input].pinned_end;
    const bool begins =
        r->touchers_left[reuse->output] == toucher_count(r->p, reuse->output) &&
        !r->p->buffers[reuse->output].pinned_start;
    if (dies && begins) best = reuse->bytes;
  }
  return best;
}

/* Run one operator; the bytes while it runs. */
static uint64_t run(replay *r, uint32_t u) {
  const order_problem *p = r->p;
  uint64_t bytes = r->live_bytes + p->workspace[u] - reusable_bytes(r, u);
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++) {
    const uint32_t b = p->uses[i];
    const order_buffer *buffer = &p->buffers[b];
    if (r->touchers_left[b] == toucher_count(p, b) && !buffer->pinned_start) {
      bytes += buffer->bytes;
      r->live_bytes += buffer->bytes;
    }
    if (--r->touchers_left[b] == 0 && !buffer->pinned_end)
      r->live_bytes -= buffer->bytes;
  }
  return bytes;
}

calm_status order_replay(uint64_t *out_peak, const order_problem *p,
                         const uint32_t *sequence, uint64_t *step_bytes,
                         calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  replay r = {p, arena_calloc(&scratch, p->buffer_count, sizeof(uint32_t)), 0};
  if (!r.touchers_left) return context_no_memory(context);
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    r.touchers_left[b] = toucher_count(p, b);
    if (p->buffers[b].pinned_start &&
        (r.touchers_left[b] || p->buffers[b].pinned_end))
      r.live_bytes += p->buffers[b].bytes;
  }
  uint64_t peak = r.live_bytes;
  for (uint32_t i = 0; i < p->op_count; i++) {
    const uint64_t bytes = run(&r, sequence[i]);
    if (step_bytes) step_bytes[i] = bytes;
    if (bytes > peak) peak = bytes;
  }
  arena_free(&scratch);
  *out_peak = peak;
  return CALM_OK;
}
