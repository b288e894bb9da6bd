#include "order/order_window.h"

#include <assert.h>

/*
 * Where the window ends, the rest of the order is a matter of pins: what an
 * operator before it touches is live from the start, what one after it touches
 * is live to the end.  What only passes by is one more buffer, always live.
 */
typedef struct window {
  const order_problem *p;
  const uint32_t *sequence;
  uint32_t from, to;
  uint32_t *place;  /* operator -> position in the sequence */
  uint32_t *buffer; /* buffer -> its number in the window, CALM_NONE: none */
} window;

static bool is_inside(const window *w, uint32_t u) {
  return w->place[u] >= w->from && w->place[u] < w->to;
}

/* Insert into an ascending row that ends at *end. */
static void insert(uint32_t *list, uint32_t begin, uint32_t *end,
                   uint32_t value) {
  uint32_t at = (*end)++;
  for (; at > begin && list[at - 1] > value; at--) list[at] = list[at - 1];
  list[at] = value;
}

static calm_status cut_preds(order_problem *out, const window *w, arena *a) {
  const order_problem *p = w->p;
  uint32_t arcs = 0, filled = 0;
  for (uint32_t i = w->from; i < w->to; i++)
    arcs += p->pred_begin[w->sequence[i] + 1] - p->pred_begin[w->sequence[i]];
  ARENA_ARRAY(a, out->pred_begin, out->op_count + 1);
  ARENA_ARRAY(a, out->preds, arcs);
  ARENA_ARRAY(a, out->workspace, out->op_count);
  for (uint32_t i = 0; i < out->op_count; i++) {
    const uint32_t u = w->sequence[w->from + i];
    out->workspace[i] = p->workspace[u];
    for (uint32_t j = p->pred_begin[u]; j < p->pred_begin[u + 1]; j++)
      if (is_inside(w, p->preds[j]))
        insert(out->preds, out->pred_begin[i], &filled,
               w->place[p->preds[j]] - w->from);
    out->pred_begin[i + 1] = filled;
  }
  return CALM_OK;
}

/* One buffer: into the window if an operator there touches it, or among the
   bytes that pass by. */
static void cut_buffer(order_problem *out, window *w, uint32_t b,
                       uint32_t *filled, uint64_t *passing) {
  const order_problem *p = w->p;
  order_buffer cut = p->buffers[b];
  const uint32_t begin = *filled;
  for (uint32_t i = p->touch_begin[b]; i < p->touch_begin[b + 1]; i++) {
    const uint32_t u = p->touch[i];
    if (is_inside(w, u))
      insert(out->touch, begin, filled, w->place[u] - w->from);
    else if (w->place[u] < w->from)
      cut.pinned_start = true;
    else
      cut.pinned_end = true;
  }
  w->buffer[b] = CALM_NONE;
  if (*filled > begin) {
    w->buffer[b] = out->buffer_count;
    out->buffers[out->buffer_count++] = cut;
    out->touch_begin[out->buffer_count] = *filled;
  } else if (cut.pinned_start && cut.pinned_end) {
    *passing += cut.bytes;
  }
}

static calm_status cut_buffers(order_problem *out, window *w, arena *a) {
  const order_problem *p = w->p;
  uint32_t filled = 0, uses = 0;
  uint64_t passing = 0;
  for (uint32_t i = w->from; i < w->to; i++)
    uses += p->uses_begin[w->sequence[i] + 1] - p->uses_begin[w->sequence[i]];
  ARENA_ARRAY(a, out->buffers, uses + 1);
  ARENA_ARRAY(a, out->touch, uses);
  ARENA_ARRAY(a, out->touch_begin, uses + 2);
  for (uint32_t b = 0; b < p->buffer_count; b++)
    cut_buffer(out, w, b, &filled, &passing);
  assert(filled == uses);
  out->buffers[out->buffer_count++] = (order_buffer){passing, true, true};
  out->touch_begin[out->buffer_count] = filled;
  return CALM_OK;
}

/* A permission stays as long as it could be used. */
static calm_status cut_reuses(order_problem *out, const window *w, arena *a) {
  const order_problem *p = w->p;
  uint32_t most = 0;
  for (uint32_t i = w->from; i < w->to; i++)
    most += p->reuse_begin[w->sequence[i] + 1] - p->reuse_begin[w->sequence[i]];
  ARENA_ARRAY(a, out->reuses, most);
  for (uint32_t i = w->from; i < w->to; i++) {
    const uint32_t u = w->sequence[i];
    for (uint32_t j = p->reuse_begin[u]; j < p->reuse_begin[u + 1]; j++) {
      order_reuse r = p->reuses[j];
      r.op = i - w->from;
      r.input = w->buffer[r.input];
      r.output = w->buffer[r.output];
      assert(r.input != CALM_NONE && r.output != CALM_NONE);
      if (!out->buffers[r.input].pinned_end &&
          !out->buffers[r.output].pinned_start)
        out->reuses[out->reuse_count++] = r;
    }
  }
  return CALM_OK;
}

calm_status order_window_cut(order_problem *out, const order_problem *p,
                             const uint32_t *sequence, uint32_t from,
                             uint32_t to, arena *a) {
  assert(from < to && to <= p->op_count);
  window w = {p, sequence, from, to, NULL, NULL};
  order_problem cut = {.op_count = to - from};
  ARENA_ARRAY(a, w.place, p->op_count);
  ARENA_ARRAY(a, w.buffer, p->buffer_count);
  for (uint32_t i = 0; i < p->op_count; i++) w.place[sequence[i]] = i;
  TRY(cut_preds(&cut, &w, a));
  TRY(cut_buffers(&cut, &w, a));
  TRY(cut_reuses(&cut, &w, a));
  TRY(order_problem_finish(&cut, a));
  *out = cut;
  return CALM_OK;
}
