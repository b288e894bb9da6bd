/* Running an order step by step, and what a whole order costs. */
#include "order/order_walk.h"

static uint32_t toucher_count(const order_problem *p, uint32_t b) {
  return p->touch_begin[b + 1] - p->touch_begin[b];
}

static bool untouched(const order_walk *w, uint32_t b) {
  return w->touchers_left[b] == toucher_count(w->p, b);
}

calm_status order_walk_begin(order_walk *out, const order_problem *p,
                             arena *a) {
  order_walk w = {.p = p};
  ARENA_ARRAY(a, w.touchers_left, p->buffer_count);
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    w.touchers_left[b] = toucher_count(p, b);
    const order_buffer *buffer = &p->buffers[b];
    if (buffer->pinned_start && (w.touchers_left[b] || buffer->pinned_end))
      w.live_bytes += buffer->bytes;
  }
  *out = w;
  return CALM_OK;
}

/* The best permission of u: its input dies here, its output begins here. */
static uint64_t reusable_bytes(const order_walk *w, uint32_t u) {
  const order_problem *p = w->p;
  uint64_t best = 0;
  for (uint32_t i = p->reuse_begin[u]; i < p->reuse_begin[u + 1]; i++) {
    const order_reuse *reuse = &p->reuses[i];
    const bool dies = w->touchers_left[reuse->input] == 1 &&
                      !p->buffers[reuse->input].pinned_end;
    const bool begins =
        untouched(w, reuse->output) && !p->buffers[reuse->output].pinned_start;
    if (dies && begins && reuse->bytes > best) best = reuse->bytes;
  }
  return best;
}

uint64_t order_walk_run(order_walk *w, uint32_t u) {
  const order_problem *p = w->p;
  uint64_t bytes = w->live_bytes + p->workspace[u] - reusable_bytes(w, u);
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++) {
    const uint32_t b = p->uses[i];
    const order_buffer *buffer = &p->buffers[b];
    if (untouched(w, b) && !buffer->pinned_start) {
      bytes += buffer->bytes;
      w->live_bytes += buffer->bytes;
    }
    if (--w->touchers_left[b] == 0 && !buffer->pinned_end)
      w->live_bytes -= buffer->bytes;
  }
  return bytes;
}

void order_walk_undo(order_walk *w, uint32_t u) {
  const order_problem *p = w->p;
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++) {
    const uint32_t b = p->uses[i];
    const order_buffer *buffer = &p->buffers[b];
    if (w->touchers_left[b]++ == 0 && !buffer->pinned_end)
      w->live_bytes += buffer->bytes;
    if (untouched(w, b) && !buffer->pinned_start)
      w->live_bytes -= buffer->bytes;
  }
}

static uint64_t replay(order_walk *w, const uint32_t *sequence,
                       uint64_t *step_bytes) {
  uint64_t peak = w->live_bytes;
  for (uint32_t i = 0; i < w->p->op_count; i++) {
    const uint64_t bytes = order_walk_run(w, sequence[i]);
    if (step_bytes) step_bytes[i] = bytes;
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

calm_status order_replay(uint64_t *out_peak, const order_problem *p,
                         const uint32_t *sequence, uint64_t *step_bytes,
                         calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  order_walk w;
  const calm_status status = order_walk_begin(&w, p, &scratch);
  if (status == CALM_OK) *out_peak = replay(&w, sequence, step_bytes);
  arena_free(&scratch);
  return status;
}
