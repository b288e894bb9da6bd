/* The door of the room: defaults, and which method answers. */
#include "order/order.h"

#include "order/order_dp.h"
#include "order/order_exact.h"
#include "order/order_greedy.h"

order_options order_options_default(void) {
  return (order_options){.method = ORDER_EXACT,
                         .dp_cuts = true,
                         .dp_budget = true,
                         .blocks = true,
                         .commit = true,
                         .root_bound = true,
                         .groups = true,
                         .reverse = true,
                         .series = true,
                         .windows = true};
}

/* What lives all the time, whoever runs. */
static bool always_live(const order_problem *p, uint32_t b) {
  return p->buffers[b].pinned_start && p->buffers[b].pinned_end;
}

static uint64_t most_reusable(const order_problem *p, uint32_t u) {
  uint64_t most = 0;
  for (uint32_t i = p->reuse_begin[u]; i < p->reuse_begin[u + 1]; i++)
    if (p->reuses[i].bytes > most) most = p->reuses[i].bytes;
  return most;
}

uint64_t order_working_set(const order_problem *p) {
  uint64_t always = 0, at_start = 0, at_end = 0, largest = 0;
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    const order_buffer *buffer = &p->buffers[b];
    const bool touched = p->touch_begin[b] != p->touch_begin[b + 1];
    if (always_live(p, b)) always += buffer->bytes;
    if (buffer->pinned_start && (touched || buffer->pinned_end))
      at_start += buffer->bytes;
    if (buffer->pinned_end && (touched || buffer->pinned_start))
      at_end += buffer->bytes;
  }
  for (uint32_t u = 0; u < p->op_count; u++) {
    uint64_t bytes = always + p->workspace[u];
    for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++)
      if (!always_live(p, p->uses[i])) bytes += p->buffers[p->uses[i]].bytes;
    bytes -= most_reusable(p, u);
    if (bytes > largest) largest = bytes;
  }
  if (at_start > largest) largest = at_start;
  return at_end > largest ? at_end : largest;
}

static calm_status make_sequence(uint32_t *out, const order_problem *p,
                                 const order_options *options, limits *l) {
  switch (options->method) {
    case ORDER_FILE: order_file(out, p); return CALM_OK;
    case ORDER_LEVEL: return order_level(out, p, l->context);
    case ORDER_DFS: return order_dfs(out, p, l->context);
    default: return order_greedy(out, p, options, l);
  }
}

/* The methods without a search of their own: an order and the simple bound. */
static calm_status solve_heuristically(order_result *out,
                                       const order_problem *p,
                                       const order_options *options, arena *a,
                                       limits *l) {
  order_result r = {.bound_bytes = order_working_set(p), .segments = 1};
  const uint64_t ticks = l->ticks;
  ARENA_ARRAY(a, r.sequence, p->op_count);
  TRY(make_sequence(r.sequence, p, options, l));
  TRY(order_replay(&r.peak_bytes, p, r.sequence, NULL, l->context));
  r.outcome = r.peak_bytes == r.bound_bytes ? CALM_OPTIMAL : CALM_FEASIBLE;
  r.ticks = l->ticks - ticks;
  r.stopped = r.outcome == CALM_OPTIMAL ? LIMITS_NONE : l->reason;
  *out = r;
  return CALM_OK;
}

calm_status order_solve(order_result *out, const order_problem *p,
                        const order_options *options, arena *a, limits *l) {
  switch (options->method) {
    case ORDER_DP: return order_dp(out, p, options, a, l);
    case ORDER_EXACT: return order_exact(out, p, options, a, l);
    default: return solve_heuristically(out, p, options, a, l);
  }
}
