/* Try several orders, keep the best. */
#include "order/order_greedy.h"

#include <string.h>

#include "order/order_walk.h"

/* The best order so far, and where the next one is made. */
typedef struct contest {
  const order_problem *p;
  calm_context *context;
  uint32_t *best, *trial;
  uint64_t best_bytes;
} contest;

static calm_status judge(contest *c) {
  uint64_t bytes;
  TRY(order_replay(&bytes, c->p, c->trial, NULL, c->context));
  if (bytes >= c->best_bytes) return CALM_OK;
  c->best_bytes = bytes;
  memcpy(c->best, c->trial, c->p->op_count * sizeof *c->best);
  return CALM_OK;
}

static calm_status try_fixed_orders(contest *c) {
  order_file(c->trial, c->p);
  TRY(judge(c));
  TRY(order_level(c->trial, c->p, c->context));
  TRY(judge(c));
  TRY(order_dfs(c->trial, c->p, c->context));
  return judge(c);
}

calm_status order_greedy(uint32_t *out_sequence, const order_problem *p,
                         const order_options *options, limits *l) {
  (void)options;
  arena scratch;
  arena_init(&scratch, l->context);
  contest c = {p, l->context, out_sequence,
               arena_calloc(&scratch, p->op_count, sizeof *c.trial),
               UINT64_MAX};
  const calm_status status =
      c.trial ? try_fixed_orders(&c) : context_no_memory(l->context);
  arena_free(&scratch);
  return status;
}
