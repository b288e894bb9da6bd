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
  RUNS_EFFORT = 10, /* times as many where runs are moved */
  UPHILL = 64,      /* one step in so many may lead to a larger arena */
  PATIENCE = 60,    /* steps without a better one, until it begins elsewhere: */
  FARTHEST = 2000   /* at most so many steps from the best order */
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

bool plan_may_try(const planner *p) {
  return p->plan->joint.orders < p->options->joint_orders;
}

/* Place it again, where the result stays; if the clock ended the first time,
   for as many ticks, for it must not take away what was found. */
static calm_status place_again(plan_candidate *best, const planner *p,
                               const uint32_t *order_sequence,
                               const layout_options *options, limits again,
                               const limits *first) {
  plan_candidate c;
  if (first->reason == LIMITS_TIME) again.max_ticks = first->ticks;
  again.deadline = 0;
  again.reason = LIMITS_NONE;
  TRY(plan_place(&c, p, order_sequence, options, &again));
  if (c.layout.arena_bytes < best->layout.arena_bytes) *best = c;
  return CALM_OK;
}

calm_status plan_try_order(layout_result *out, plan_candidate *best,
                           const planner *p, const uint32_t *order_sequence,
                           const layout_options *options, limits *l) {
  plan_candidate c;
  arena tried;
  planner aside = *p;
  const limits before = *l;
  aside.scratch = &tried;
  arena_init(&tried, p->plan->context);
  calm_status status = plan_place(&c, &aside, order_sequence, options, l);
  arena_free(&tried);
  TRY(status);
  p->plan->joint.orders++;
  *out = c.layout;
  out->offsets = NULL;
  return out->arena_bytes < best->layout.arena_bytes
             ? place_again(best, p, order_sequence, options, before, l)
             : CALM_OK;
}

/* Operators at [from, from + length) of a sequence. */
typedef struct order_run {
  uint32_t from, length;
} order_run;

/* Does position `at` lie in the run? */
static bool is_inside(order_run run, uint32_t at) {
  return at >= run.from && at - run.from < run.length;
}

/* Where the run may begin instead: neighbours outside of it must stay before
   and behind.  where[u] is the position of u. */
static void find_room(uint32_t *out_low, uint32_t *out_high,
                      const uint32_t *sequence, const uint32_t *where,
                      order_run run, const order_problem *p) {
  uint32_t low = 0, high = p->op_count - run.length;
  for (uint32_t i = run.from; i < run.from + run.length; i++) {
    const uint32_t u = sequence[i];
    for (uint32_t k = p->pred_begin[u]; k < p->pred_begin[u + 1]; k++) {
      const uint32_t at = where[p->preds[k]];
      if (!is_inside(run, at) && at >= low) low = at + 1;
    }
    for (uint32_t k = p->succ_begin[u]; k < p->succ_begin[u + 1]; k++) {
      const uint32_t at = where[p->succs[k]];
      if (!is_inside(run, at) && at - run.length < high) high = at - run.length;
    }
  }
  *out_low = low;
  *out_high = high;
}

static void reverse(uint32_t *sequence, uint32_t from, uint32_t to) {
  while (from + 1 < to) {
    const uint32_t u = sequence[from];
    sequence[from++] = sequence[--to];
    sequence[to] = u;
  }
}

/* Exchange [from, middle) and [middle, to). */
static void rotate(uint32_t *sequence, uint32_t from, uint32_t middle,
                   uint32_t to) {
  reverse(sequence, from, middle);
  reverse(sequence, middle, to);
  reverse(sequence, from, to);
}

/*
 * Move some operators that follow each other to another place that their
 * neighbours allow.  The sequence stays an order.
 */
static void move_run(uint32_t *sequence, uint32_t *where,
                     const order_problem *p, order_run run,
                     random_state *random) {
  uint32_t low, high;
  find_room(&low, &high, sequence, where, run, p);
  const uint32_t to = low + random_below(random, high - low + 1);
  const uint32_t end = run.from + run.length;
  if (to < run.from)
    rotate(sequence, to, run.from, end);
  else
    rotate(sequence, run.from, end, to + run.length);
  const uint32_t last = to < run.from ? end : to + run.length;
  for (uint32_t i = to < run.from ? to : run.from; i < last; i++)
    where[sequence[i]] = i;
}

/* Where the walk is. */
typedef struct order_walk {
  uint64_t most_peak;  /* no order with a higher one is looked at */
  uint64_t first_peak; /* the least, or where it begins */
  bool second_half;
  uint32_t longest; /* run of operators that is moved at once */
  uint32_t *sequence, *where, *before; /* before: the step that may be undone */
  uint32_t count;
  uint64_t arena_bytes;
  random_state random;
} order_walk;

static void go_to(order_walk *w, const uint32_t *sequence) {
  memcpy(w->sequence, sequence, w->count * sizeof *sequence);
  for (uint32_t i = 0; i < w->count; i++) w->where[w->sequence[i]] = i;
}

/*
 * An arena is no smaller than the peak where each live byte has a place of its
 * own: only a peak below the best arena leaves hope.  Orders of a low peak pack
 * best as a rule: the first half of the walk keeps to that of the order that it
 * begins with.  Not where rows lie over others, for an arena is more than the
 * peak then most of the time; and where a runtime or a greedy method places
 * there is no second half: what they need is no reason to give up a least peak.
 */
static uint64_t most_peak(const planner *p, const plan_candidate *best,
                          const order_walk *w) {
  const bool own = !p->litert && p->options->layout == LAYOUT_EXACT;
  const bool any = p->tflm ? plan_tflm_tells_rows(p) : own && w->second_half;
  return any ? number_larger(w->first_peak, best->layout.arena_bytes - 1)
             : w->first_peak;
}

/* One operator most of the time; where whole tiles can change places, also a
   run of them. */
static order_run draw_run(order_walk *w) {
  const uint32_t from = random_below(&w->random, w->count);
  uint32_t length = 1;
  if (w->longest > 1 && random_below(&w->random, 2))
    length = 1 + random_below(&w->random, w->longest);
  return (order_run){from, length < w->count - from ? length : w->count - from};
}

/* A few moves; undone if the peak becomes too high. */
static calm_status step_order(bool *out_moved, order_walk *w,
                              const planner *p) {
  const order_problem *o = &p->problem.order;
  const size_t bytes = w->count * sizeof *w->sequence;
  uint64_t peak;
  memcpy(w->before, w->sequence, bytes);
  for (uint32_t moves = 1 + random_below(&w->random, 3); moves; moves--)
    move_run(w->sequence, w->where, o, draw_run(w), &w->random);
  TRY(order_replay(&peak, o, w->sequence, NULL, p->plan->context));
  *out_moved =
      peak <= w->most_peak && memcmp(w->before, w->sequence, bytes) != 0;
  if (!*out_moved) go_to(w, w->before);
  return CALM_OK;
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
  layout_result placed;
  TRY(plan_try_order(&placed, best, p, w->sequence, options, l));
  const uint64_t bytes = placed.arena_bytes;
  w->most_peak = most_peak(p, best, w);
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
                  .longest = 1,
                  .random = random_from_seed(p->options->seed)};
  uint32_t fruitless = 0;
  if (quick.method == LAYOUT_EXACT) quick.method = LAYOUT_GREEDY;
  quick.target_bytes = target_bytes;
  ARENA_ARRAY(p->scratch, w.sequence, w.count);
  ARENA_ARRAY(p->scratch, w.where, w.count);
  ARENA_ARRAY(p->scratch, w.before, w.count);
  go_to(&w, best->order_sequence);
  TRY(order_replay(&w.first_peak, &p->problem.order, w.sequence, NULL,
                   p->plan->context));
  w.first_peak = number_larger(w.first_peak, p->plan->order.peak_bytes);
  w.most_peak = most_peak(p, best, &w);
  if (p->tflm && plan_tflm_tells_rows(p)) w.longest = 1 + w.count / 4;
  const uint32_t effort = w.longest > 1 ? RUNS_EFFORT : 1;
  const uint32_t steps = effort * count_steps(w.count);
  for (uint32_t i = 0; i < steps; i++) {
    bool moved;
    w.second_half = i >= steps / 2;
    if (best->layout.arena_bytes <= target_bytes || !plan_may_try(p) ||
        limits_spend(l, w.count))
      break;
    TRY(step_order(&moved, &w, p));
    if (moved) TRY(judge_step(&w, &fruitless, best, p, &quick, l));
  }
  return CALM_OK;
}
