/*
 * An order placed, and other orders for a better arena.  The order search
 * minimises the peak and knows nothing of where tensors lie; many orders have
 * the same peak, and some of them can be placed without holes.  A random walk
 * over those, downhill for the most part, moves operators within the room that
 * their neighbours leave them, and places each order quickly: by the method
 * that was asked for, and greedily where that is the exact one.  One seed, one
 * walk.
 */
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "plan/planner.h"

enum {
  /* Steps of the walk: so many for one operator, fewer for each of several. */
  STEPS_OF_ONE = 600000,
  MOST_STEPS = 6000,
  LEAST_STEPS = 2000,
  UPHILL = 64,    /* one step in so many may lead to a larger arena */
  PATIENCE = 60,  /* steps without a better one, until it begins elsewhere: */
  FARTHEST = 2000 /* at most so many steps from the best order */
};

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

/* Where the walk is. */
typedef struct order_walk {
  uint32_t *sequence, *where, *before; /* before: the step that may be undone */
  uint32_t count;
  uint64_t arena_bytes;
  random_state random;
} order_walk;

static void go_to(order_walk *w, const uint32_t *sequence) {
  memcpy(w->sequence, sequence, w->count * sizeof *sequence);
  for (uint32_t i = 0; i < w->count; i++) w->where[w->sequence[i]] = i;
}

/* A few moves; undone if the peak rises above that of the plan. */
static calm_status step_order(bool *out_moved, order_walk *w,
                              const planner *p) {
  const order_problem *o = &p->problem.order;
  const size_t bytes = w->count * sizeof *w->sequence;
  uint64_t peak;
  memcpy(w->before, w->sequence, bytes);
  for (uint32_t moves = 1 + random_below(&w->random, 3); moves; moves--)
    move_operator(w->sequence, w->where, o, &w->random);
  TRY(order_replay(&peak, o, w->sequence, NULL, p->plan->context));
  *out_moved = peak <= p->plan->order.peak_bytes &&
               memcmp(w->before, w->sequence, bytes) != 0;
  if (!*out_moved) go_to(w, w->before);
  return CALM_OK;
}

/* The arena of the order; it becomes the best if it gets a smaller one, else it
   leaves nothing in the planner's scratch. */
static calm_status try_order(uint64_t *out_bytes, plan_candidate *best,
                             const planner *p, const uint32_t *sequence,
                             const layout_options *options, limits *l) {
  plan_candidate c;
  arena tried;
  planner aside = *p;
  aside.scratch = &tried;
  arena_init(&tried, p->plan->context);
  calm_status status = plan_place(&c, &aside, sequence, options, l);
  if (status == CALM_OK) *out_bytes = c.layout.arena_bytes;
  arena_free(&tried);
  TRY(status);
  return *out_bytes < best->layout.arena_bytes
             ? plan_place(best, p, sequence, options, l)
             : CALM_OK;
}

/* From the best order, but some way off; the first arena will do. */
static calm_status start_again(order_walk *w, const plan_candidate *best,
                               const planner *p) {
  bool moved;
  go_to(w, best->order_sequence);
  for (uint32_t i = random_below(&w->random, FARTHEST); i; i--)
    TRY(step_order(&moved, w, p));
  w->arena_bytes = UINT64_MAX;
  return CALM_OK;
}

/* Uphill now and then only, and to another place where nothing better is found
   for a while. */
static calm_status judge_step(order_walk *w, uint32_t *fruitless,
                              plan_candidate *best, const planner *p,
                              const layout_options *options, limits *l) {
  const uint64_t least = best->layout.arena_bytes;
  uint64_t bytes;
  TRY(try_order(&bytes, best, p, w->sequence, options, l));
  if (bytes <= w->arena_bytes || random_below(&w->random, UPHILL) == 0)
    w->arena_bytes = bytes;
  else
    go_to(w, w->before);
  *fruitless = best->layout.arena_bytes < least ? 0 : *fruitless + 1;
  if (*fruitless < PATIENCE) return CALM_OK;
  *fruitless = 0;
  return start_again(w, best, p);
}

static uint32_t count_steps(uint32_t ops) {
  const uint64_t steps = number_smaller(MOST_STEPS, STEPS_OF_ONE / ops);
  return (uint32_t)number_larger(LEAST_STEPS, steps);
}

calm_status plan_try_orders(plan_candidate *best, const planner *p,
                            uint64_t target_bytes, limits *l) {
  layout_options quick = pipeline_layout_options(p->options);
  order_walk w = {.count = p->problem.order.op_count,
                  .arena_bytes = best->layout.arena_bytes,
                  .random = random_from_seed(p->options->seed)};
  uint32_t fruitless = 0;
  if (quick.method == LAYOUT_EXACT) quick.method = LAYOUT_GREEDY;
  quick.target_bytes = target_bytes;
  ARENA_ARRAY(p->scratch, w.sequence, w.count);
  ARENA_ARRAY(p->scratch, w.where, w.count);
  ARENA_ARRAY(p->scratch, w.before, w.count);
  go_to(&w, best->order_sequence);
  for (uint32_t i = count_steps(w.count); i; i--) {
    bool moved;
    if (best->layout.arena_bytes <= target_bytes || limits_spend(l, w.count))
      break;
    TRY(step_order(&moved, &w, p));
    if (moved) TRY(judge_step(&w, &fruitless, best, p, &quick, l));
  }
  return CALM_OK;
}
