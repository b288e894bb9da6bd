/*
 * An order placed, and other orders for a better arena.  The order search
 * minimises the peak and knows nothing of where tensors lie; many orders have
 * the same peak, and some of them can be placed without holes.  A random walk
 * over those moves operators within the room that their neighbours leave them,
 * and places each order quickly: by the method that was asked for, and greedily
 * where that is the exact one.  One seed, one walk.
 */
#include <string.h>

#include "base/random.h"
#include "planner.h"

enum { OTHER_ORDERS = 2000 /* steps of the walk */ };

calm_status plan_place(plan_candidate *out, const planner *p,
                       const uint32_t *order_sequence,
                       const layout_options *options, limits *l) {
  plan_candidate c = {0};
  ARENA_ARRAY(p->scratch, c.order_sequence, p->problem.order.op_count);
  ARENA_ARRAY(p->scratch, c.sequence, p->g->ops.count);
  if (p->problem.order.op_count)
    memcpy(c.order_sequence, order_sequence,
           p->problem.order.op_count * sizeof *order_sequence);
  if (p->run && p->g->ops.count)
    memcpy(c.sequence, p->run, p->g->ops.count * sizeof *p->run);
  else
    TRY(memory_expand_sequence(c.sequence, p->g, &p->problem, order_sequence));
  if (p->tflm) {
    TRY(plan_tflm_place(&c, p, options, l));
  } else if (p->litert) {
    TRY(plan_litert_place(&c, p));
  } else {
    TRY(memory_placement_build(&c.placement, p->g, &p->plan->memory,
                               &p->problem, c.sequence, p->scratch));
    TRY(layout_solve(&c.layout, &c.placement.layout, options, p->scratch, l));
  }
  *out = c;
  return CALM_OK;
}

/*
 * Move one operator to another place that its neighbours allow.  where[u] is
 * the position of u.  The sequence stays an order.
 */
static void move_operator(uint32_t *sequence, uint32_t *where,
                          const order_problem *p, random_state *random) {
  const uint32_t from = random_below(random, p->op_count);
  const uint32_t u = sequence[from];
  uint32_t low = 0, high = p->op_count - 1;
  for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
    if (where[p->preds[i]] >= low) low = where[p->preds[i]] + 1;
  for (uint32_t i = p->succ_begin[u]; i < p->succ_begin[u + 1]; i++)
    if (where[p->succs[i]] <= high) high = where[p->succs[i]] - 1;
  const uint32_t to = low + random_below(random, high - low + 1);
  for (uint32_t i = from; i < to; i++) sequence[i] = sequence[i + 1];
  for (uint32_t i = from; i > to; i--) sequence[i] = sequence[i - 1];
  sequence[to] = u;
  for (uint32_t i = from < to ? from : to; i <= (from < to ? to : from); i++)
    where[sequence[i]] = i;
}

/* A step of the walk over orders: a few moves, undone if the peak rises above
   `most_bytes`. */
static calm_status step_order(bool *out_moved, uint32_t *sequence,
                              uint32_t *where, const planner *p,
                              uint64_t most_bytes, random_state *random) {
  const order_problem *o = &p->problem.order;
  const size_t bytes = o->op_count * sizeof *sequence;
  uint64_t peak;
  uint32_t *before;
  arena undo;
  arena_init(&undo, p->plan->context);
  before = arena_calloc(&undo, o->op_count, sizeof *before);
  if (!before) return context_no_memory(p->plan->context);
  memcpy(before, sequence, bytes);
  for (uint32_t moves = 1 + random_below(random, 3); moves; moves--)
    move_operator(sequence, where, o, random);
  calm_status status = order_replay(&peak, o, sequence, NULL, p->plan->context);
  *out_moved = status == CALM_OK && peak <= most_bytes &&
               memcmp(before, sequence, bytes) != 0;
  if (!*out_moved) {
    memcpy(sequence, before, bytes);
    for (uint32_t i = 0; i < o->op_count; i++) where[sequence[i]] = i;
  }
  arena_free(&undo);
  return status;
}

/* Keep the order if it gets a smaller arena; a worse one leaves nothing in the
   planner's scratch. */
static calm_status try_order(plan_candidate *best, const planner *p,
                             const uint32_t *sequence,
                             const layout_options *options, limits *l) {
  plan_candidate c;
  arena tried;
  planner aside = *p;
  aside.scratch = &tried;
  arena_init(&tried, p->plan->context);
  calm_status status = plan_place(&c, &aside, sequence, options, l);
  const bool better =
      status == CALM_OK && c.layout.arena_bytes < best->layout.arena_bytes;
  arena_free(&tried);
  return better ? plan_place(best, p, sequence, options, l) : status;
}

calm_status plan_try_orders(plan_candidate *best, const planner *p,
                            uint64_t target_bytes, limits *l) {
  layout_options quick = pipeline_layout_options(p->options);
  random_state random = random_from_seed(p->options->seed);
  uint32_t *sequence, *where;
  const uint32_t n = p->problem.order.op_count;
  if (quick.method == LAYOUT_EXACT) quick.method = LAYOUT_GREEDY;
  quick.target_bytes = target_bytes;
  ARENA_ARRAY(p->scratch, sequence, n);
  ARENA_ARRAY(p->scratch, where, n);
  memcpy(sequence, best->order_sequence, n * sizeof *sequence);
  for (uint32_t i = 0; i < n; i++) where[sequence[i]] = i;
  for (int i = 0; i < OTHER_ORDERS; i++) {
    bool moved;
    if (best->layout.arena_bytes <= target_bytes || limits_spend(l, n)) break;
    TRY(step_order(&moved, sequence, where, p, p->plan->order.peak_bytes,
                   &random));
    if (moved) TRY(try_order(best, p, sequence, &quick, l));
  }
  return CALM_OK;
}
