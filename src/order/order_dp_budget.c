/*
 * Adaptive soft budgeting, Algorithm 2.  A budget tau drops every partial order
 * whose peak is above it.  Too small, and nothing is left; too large, and a
 * layer takes longer than it may; an order that is found is optimal, for only
 * worse ones were dropped.  The paper starts at the peak of Kahn's order,
 * halves tau on a timeout, and on "no solution" goes to the mean of tau and the
 * budget of the last timeout.
 *
 * Those two moves can alternate for ever: if every tau at or above the optimum
 * times out, then below it there is no solution, and the same budgets come
 * again.  Ours keep what the trials prove.
 *
 *        no order here        optimum is in here           a timeout
 *     ------------------|============================|------------------> tau
 *                     lower                       timed_out
 *
 * "No solution" proves a bound: the smallest peak that was dropped, which is
 * above tau; lower rises to it.  A timeout lowers timed_out to tau.  The
 * paper's moves choose the next budget within [lower, timed_out); once that is
 * empty, the only useful budget is one that timed out, so a layer may take
 * longer from now on and timed_out is forgotten.  Each trial moves one end or,
 * finally, doubles the time, which some day suffices for every layer: it ends.
 * Time is counted in ticks, so it ends with the same trials on each machine.
 */
#include "order/order_dp.h"
#include "order/order_greedy.h"

enum { GROWTH = 2 }; /* of the ticks per layer */

typedef struct bracket {
  uint64_t lower;      /* no order has a smaller peak */
  uint64_t timed_out;  /* the smallest budget that did; UINT64_MAX: none */
  uint64_t upper;      /* the peak of Kahn's order */
  uint64_t budget;     /* of the next trial */
  uint64_t step_ticks; /* likewise */
} bracket;

static uint64_t mean(uint64_t a, uint64_t b) { return a + (b - a) / 2; }

static void after_timeout(bracket *b) {
  b->timed_out = b->budget;
  b->budget /= 2;
}

static void after_none(bracket *b, uint64_t bound) {
  const uint64_t end = b->timed_out < b->upper ? b->timed_out : b->upper;
  if (bound > b->lower) b->lower = bound;
  b->budget = mean(b->budget, end > b->budget ? end : b->budget);
}

/* Bring the budget into the bracket; if that is empty, give layers more time.
 */
static void settle(bracket *b) {
  if (b->budget < b->lower) b->budget = b->lower;
  if (b->budget < b->timed_out) return;
  b->timed_out = UINT64_MAX;
  b->step_ticks =
      b->step_ticks > UINT64_MAX / GROWTH ? UINT64_MAX : b->step_ticks * GROWTH;
}

static calm_status begin(bracket *out, const order_problem *p,
                         uint64_t step_ticks, calm_context *context,
                         arena *scratch) {
  uint32_t *kahn;
  uint64_t peak;
  ARENA_ARRAY(scratch, kahn, p->op_count);
  TRY(order_level(kahn, p, context));
  TRY(order_replay(&peak, p, kahn, NULL, context));
  *out = (bracket){order_working_set(p), UINT64_MAX, peak, peak,
                   step_ticks ? step_ticks : 1};
  return CALM_OK;
}

static calm_status try_budgets(order_dp_trial *out, uint32_t *sequence,
                               const order_problem *p, bracket *b, limits *l) {
  uint64_t states = 0;
  for (;;) {
    TRY(order_dp_try(out, sequence, p, b->budget, b->step_ticks, l));
    states += out->states;
    if (out->outcome == ORDER_DP_SOLUTION || out->outcome == ORDER_DP_STOPPED)
      break;
    if (out->outcome == ORDER_DP_TIMEOUT)
      after_timeout(b);
    else
      after_none(b, out->bound_bytes);
    settle(b);
  }
  out->states = states;
  if (out->outcome == ORDER_DP_STOPPED) out->bound_bytes = b->lower;
  return CALM_OK;
}

calm_status order_dp_adapt(order_dp_trial *out, uint32_t *out_sequence,
                           const order_problem *p, uint64_t step_ticks,
                           limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  bracket b = {0};
  calm_status status = begin(&b, p, step_ticks, l->context, &scratch);
  if (status == CALM_OK) status = try_budgets(out, out_sequence, p, &b, l);
  arena_free(&scratch);
  return status;
}
