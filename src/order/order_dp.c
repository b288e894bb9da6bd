/* The method as a whole: cut, solve the parts, put them together. */
#include "order/order_dp.h"

#include <string.h>

#include "order/order_greedy.h"

/* What a layer may take in the first trials of soft budgeting: enough for
   SwiftNet's and DARTS' cells at once, a few milliseconds. */
enum { FIRST_STEP_TICKS = 1 << 14 };

/* The whole while its parts are solved one after the other. */
typedef struct division {
  const order_problem *p;
  const order_options *options;
  limits *l;
  order_result *r;
  uint32_t *cuts; /* r->segments + 1 of them */
  bool solved;    /* every part so far to the optimum */
  bool counted;
} division;

static uint64_t add_saturating(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b) {
  return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static calm_status find_parts(division *d, arena *scratch) {
  if (d->options->dp_cuts)
    return order_dp_find_cuts(&d->cuts, &d->r->segments, d->p, scratch);
  ARENA_ARRAY(scratch, d->cuts, 2);
  d->cuts[1] = d->p->op_count;
  d->r->segments = 1;
  return CALM_OK;
}

/* Orders multiply; down-sets add, a shared end counting once. */
static void count_part(division *d, const order_dp_trial *trial) {
  d->r->orders = multiply_saturating(d->r->orders, trial->orders);
  d->r->downsets = add_saturating(d->r->downsets, trial->states - 1);
}

/* Counting needs every down-set, so it allows no budget.  It may use the search
   without a budget if there was one. */
static calm_status count_orders(division *d, const order_dp_trial *searched,
                                const order_problem *part) {
  if (!d->options->count || !d->counted) return CALM_OK;
  order_dp_trial trial = *searched;
  if (d->options->dp_budget)
    TRY(order_dp_try(&trial, NULL, part, UINT64_MAX, UINT64_MAX, d->l));
  d->counted = trial.outcome == ORDER_DP_SOLUTION;
  if (d->counted) count_part(d, &trial);
  return CALM_OK;
}

static calm_status search_part(order_dp_trial *trial, uint32_t *sequence,
                               division *d, const order_problem *part) {
  if (d->options->dp_budget)
    return order_dp_adapt(trial, sequence, part, FIRST_STEP_TICKS, d->l);
  TRY(order_dp_try(trial, sequence, part, UINT64_MAX, UINT64_MAX, d->l));
  if (trial->outcome != ORDER_DP_SOLUTION)
    trial->bound_bytes = order_working_set(part);
  return CALM_OK;
}

/* A part that cannot be finished keeps its file order, for now. */
static calm_status solve_part(division *d, const order_problem *part,
                              uint32_t first) {
  uint32_t *sequence = d->r->sequence + first;
  order_dp_trial trial;
  order_file(sequence, part);
  TRY(search_part(&trial, sequence, d, part));
  for (uint32_t i = 0; i < part->op_count; i++) sequence[i] += first;
  /* the first set of a part is the last of the part before it */
  d->r->states += trial.states - (first > 0);
  if (trial.bound_bytes > d->r->bound_bytes)
    d->r->bound_bytes = trial.bound_bytes;
  d->solved = d->solved && trial.outcome == ORDER_DP_SOLUTION;
  return count_orders(d, &trial, part);
}

static calm_status solve_parts(division *d, arena *scratch, arena *part_arena) {
  order_dp_parts parts;
  TRY(order_dp_parts_begin(&parts, d->p, scratch));
  for (uint32_t i = 0; i < d->r->segments; i++) {
    order_problem part;
    TRY(order_dp_parts_next(&part, &parts, d->cuts[i + 1], part_arena));
    TRY(solve_part(d, &part, d->cuts[i]));
    arena_free(part_arena);
  }
  return CALM_OK;
}

/* A limit came first: what a short list scheduling finds may be better than
   parts in file order.  The limit does not count for it, an interrupt does. */
static calm_status fall_back(division *d, arena *scratch) {
  limits brief;
  uint32_t *sequence;
  uint64_t peak;
  ARENA_ARRAY(scratch, sequence, d->p->op_count);
  limits_init(&brief, d->l->context);
  brief.max_ticks = 20000 + UINT64_C(200) * d->p->op_count;
  TRY(order_greedy(sequence, d->p, d->options, &brief));
  TRY(order_replay(&peak, d->p, sequence, NULL, d->l->context));
  if (peak >= d->r->peak_bytes) return CALM_OK;
  d->r->peak_bytes = peak;
  memcpy(d->r->sequence, sequence, d->p->op_count * sizeof *sequence);
  return CALM_OK;
}

static calm_status solve(division *d, arena *a, arena *scratch,
                         arena *part_arena) {
  order_result *r = d->r;
  const uint64_t ticks = d->l->ticks;
  ARENA_ARRAY(a, r->sequence, d->p->op_count);
  TRY(find_parts(d, scratch));
  TRY(solve_parts(d, scratch, part_arena));
  if (!d->options->count || !d->counted) r->orders = r->downsets = 0;
  TRY(order_replay(&r->peak_bytes, d->p, r->sequence, NULL, d->l->context));
  if (!d->solved) TRY(fall_back(d, scratch));
  r->outcome = r->peak_bytes == r->bound_bytes ? CALM_OPTIMAL : CALM_FEASIBLE;
  r->ticks = d->l->ticks - ticks;
  r->stopped = d->l->reason;
  return CALM_OK;
}

calm_status order_dp(order_result *out, const order_problem *p,
                     const order_options *options, arena *a, limits *l) {
  arena scratch, part_arena;
  arena_init(&scratch, l->context);
  arena_init(&part_arena, l->context);
  /* an empty order and its one set, to which the parts add */
  order_result r = {
      .bound_bytes = order_working_set(p), .downsets = 1, .orders = 1};
  division d = {.p = p,
                .options = options,
                .l = l,
                .r = &r,
                .solved = true,
                .counted = true};
  const calm_status status = solve(&d, a, &scratch, &part_arena);
  arena_free(&part_arena);
  arena_free(&scratch);
  if (status == CALM_OK) *out = r;
  return status;
}
