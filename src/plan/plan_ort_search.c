/*
 * The default order of a file is a depth-first order, and so is every file that
 * is itself the default order of some listing.  Going backwards once from a
 * listing visits its last entries first; going backwards from the result visits
 * those last.  So a listing in the order that is wanted, sent through the
 * traversal twice, comes out in that order where a depth-first order can be
 * that at all:
 *
 *     listing --traversal--> file --traversal--> run
 *
 * Other files are reached directly: the listing made topological.  Both are
 * tried for every listing, and listings are changed at random, small steps that
 * do not raise the peak being kept.  Nothing is proved unless the bound of all
 * orders is met.
 */
#include <string.h>

#include "base/random.h"
#include "plan/plan_ort.h"

enum { MOST_STEPS = 20000, RESTART_AFTER = 2000 };

/* The peak, and then how much is in use above the bound over all steps. */
typedef struct run_cost {
  uint64_t peak, excess;
} run_cost;

typedef struct searcher {
  planner *p;
  limits *l;
  random_state random;
  uint32_t ops, order_ops;
  op_id *listing, *tried; /* of this walk: kept, and being tried */
  op_id *file, *run;      /* of the listing that was measured last */
  op_id *best_file, *best_run;
  uint32_t *step, *sequence; /* scratch of a measurement */
  uint64_t *step_bytes;
  run_cost best;
  bool found; /* there is a best */
} searcher;

static bool costs_less(run_cost a, run_cost b) {
  return a.peak != b.peak ? a.peak < b.peak : a.excess < b.excess;
}

/* ---- Measuring ----------------------------------------------------------- */

/* Control edges and state are not the runtime's concern, but ours. */
static bool keeps_edges(searcher *s) {
  const graph *g = s->p->g;
  for (uint32_t i = 0; i < s->ops; i++) s->step[s->run[i]] = i;
  for (op_id op = 0; op < s->ops; op++)
    for (uint32_t i = g->pred_begin[op]; i < g->pred_begin[op + 1]; i++)
      if (s->step[g->preds[i]] > s->step[op]) return false;
  return true;
}

static void list_order_operators(searcher *s) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->ops; i++) {
    const uint32_t u = s->p->problem.order_op_of[s->run[i]];
    if (u != CALM_NONE) s->sequence[count++] = u;
  }
}

static uint64_t excess_of(const searcher *s) {
  const uint64_t bound = s->p->plan->order.bound_bytes;
  uint64_t excess = 0;
  for (uint32_t i = 0; i < s->order_ops; i++)
    if (s->step_bytes[i] > bound) {
      const uint64_t above = s->step_bytes[i] - bound;
      excess = above > UINT64_MAX - excess ? UINT64_MAX : excess + above;
    }
  return excess;
}

/* What the runtime makes of s->file; remembered if it is the best so far. */
static calm_status measure(searcher *s, run_cost *out) {
  *out = (run_cost){UINT64_MAX, UINT64_MAX};
  ort_default_order(s->run, &s->p->ort->nodes, s->file);
  if (!keeps_edges(s)) return CALM_OK;
  list_order_operators(s);
  TRY(order_replay(&out->peak, &s->p->problem.order, s->sequence, s->step_bytes,
                   s->p->plan->context));
  out->excess = excess_of(s);
  if (!s->found || costs_less(*out, s->best)) {
    memcpy(s->best_file, s->file, s->ops * sizeof *s->file);
    memcpy(s->best_run, s->run, s->ops * sizeof *s->run);
    s->best = *out;
    s->found = true;
  }
  return CALM_OK;
}

/* The better of the two files that a listing stands for. */
static calm_status measure_listing(searcher *s, run_cost *out,
                                   const op_id *listing) {
  run_cost direct;
  ort_default_order(s->file, &s->p->ort->nodes, listing);
  TRY(measure(s, out));
  ort_priority_order(s->file, &s->p->ort->nodes, listing);
  TRY(measure(s, &direct));
  if (costs_less(direct, *out)) *out = direct;
  return CALM_OK;
}

/* ---- Walking over listings ----------------------------------------------- */

static void swap_places(op_id *listing, uint32_t *place, op_id a, op_id b) {
  const uint32_t at = place[a];
  listing[at] = b;
  listing[place[b]] = a;
}

/* Two of the nodes that one node reads change places. */
static bool swap_predecessors(searcher *s) {
  const ort_nodes *n = &s->p->ort->nodes;
  const op_id op = random_below(&s->random, s->ops);
  const uint32_t begin = n->pred_begin[op];
  const uint32_t count = n->pred_begin[op + 1] - begin;
  if (count < 2) return false;
  const uint32_t i = random_below(&s->random, count);
  const uint32_t k = (i + 1 + random_below(&s->random, count - 1)) % count;
  for (uint32_t at = 0; at < s->ops; at++) s->step[s->tried[at]] = at;
  swap_places(s->tried, s->step, n->preds[begin + i], n->preds[begin + k]);
  return true;
}

static void move_anywhere(searcher *s) {
  const uint32_t from = random_below(&s->random, s->ops);
  const uint32_t to = random_below(&s->random, s->ops);
  const op_id op = s->tried[from];
  for (uint32_t i = from; i < to; i++) s->tried[i] = s->tried[i + 1];
  for (uint32_t i = from; i > to; i--) s->tried[i] = s->tried[i - 1];
  s->tried[to] = op;
}

static void change_listing(searcher *s) {
  for (uint32_t moves = 1 + random_below(&s->random, 3); moves; moves--)
    if (random_below(&s->random, 2) || !swap_predecessors(s)) move_anywhere(s);
}

static bool is_done(searcher *s) {
  return (s->found && s->best.peak <= s->p->plan->order.bound_bytes) ||
         limits_spend(s->l, 4 * (uint64_t)s->ops + 1);
}

/* Downhill and level steps from one listing, until nothing was gained for long.
 */
static calm_status walk_from(searcher *s, const op_id *start) {
  run_cost now, next;
  const size_t bytes = s->ops * sizeof *start;
  memmove(s->listing, start, bytes);
  TRY(measure_listing(s, &now, s->listing));
  for (uint32_t idle = 0; idle < RESTART_AFTER && !is_done(s); idle++) {
    memcpy(s->tried, s->listing, bytes);
    change_listing(s);
    TRY(measure_listing(s, &next, s->tried));
    if (costs_less(now, next)) continue;
    if (costs_less(next, now)) idle = 0;
    memcpy(s->listing, s->tried, bytes);
    now = next;
  }
  return CALM_OK;
}

/* From the file as it is, from the order that was found, from their default
   orders, and then from the best again and again. */
static calm_status walk(searcher *s, const op_id *found) {
  op_id *original;
  TRY(pipeline_identity(&original, s->ops, s->p->scratch));
  TRY(walk_from(s, found));
  TRY(walk_from(s, original));
  for (int i = 0; i < MOST_STEPS / RESTART_AFTER && s->found && !is_done(s);
       i++)
    TRY(walk_from(s, i % 2 ? s->best_run : s->best_file));
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status reserve(searcher *s) {
  arena *a = s->p->scratch;
  ARENA_ARRAY(a, s->listing, s->ops);
  ARENA_ARRAY(a, s->tried, s->ops);
  ARENA_ARRAY(a, s->file, s->ops);
  ARENA_ARRAY(a, s->run, s->ops);
  ARENA_ARRAY(a, s->best_file, s->ops);
  ARENA_ARRAY(a, s->best_run, s->ops);
  ARENA_ARRAY(a, s->step, s->ops);
  ARENA_ARRAY(a, s->sequence, s->order_ops);
  ARENA_ARRAY(a, s->step_bytes, s->order_ops);
  return CALM_OK;
}

/* The run that was found becomes the order of the plan. */
static void settle(searcher *s) {
  planner *p = s->p;
  memcpy(s->run, s->best_run, s->ops * sizeof *s->run);
  list_order_operators(s);
  memcpy(p->plan->order.sequence, s->sequence,
         s->order_ops * sizeof *s->sequence);
  p->ort->file = s->best_file;
  p->run = s->best_run;
}

calm_status plan_ort_search(planner *p, const op_id *found, limits *l) {
  run_cost cost;
  searcher s = {.p = p,
                .l = l,
                .random = random_from_seed(p->options->seed),
                .ops = p->g->ops.count,
                .order_ops = p->problem.order.op_count};
  if (s.ops == 0) return CALM_OK;
  TRY(reserve(&s));
  memcpy(s.file, found, s.ops * sizeof *found);
  TRY(measure(&s, &cost));
  if (l->max_ticks > 0) TRY(walk(&s, found));
  if (!s.found)
    return context_fail(p->plan->context, CALM_UNSUPPORTED,
                        "%s: some operators have to keep an order of their "
                        "own, which ONNX Runtime does not follow by default",
                        p->plan->model->path);
  settle(&s);
  return CALM_OK;
}
