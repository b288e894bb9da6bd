/*
 * The driver of the exact search.  It holds the best order so far (`peak`) and
 * the best bound, and narrows the gap from both sides:
 *
 *   1. a greedy order and the simple bound; most networks end here
 *   2. narrow passes for something below the peak, in both directions, which
 *      improve the order and, if one of them dies with nothing left behind,
 *      prove it optimal
 *   3. the flow bound
 *   4. the same with wider and wider passes, until one proves the order; from
 *      a certain width on, passes in the middle of the gap raise the bound, in
 *      case time runs out
 *
 * Some width is never reached by any layer, so without limits it ends.
 *
 * Who only wants an order below a ceiling has the passes begin there: a pass
 * with less room dies sooner, and if it leaves nothing behind, that is all.
 */
#include "order/order_exact.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "order/order_bound.h"
#include "order/order_greedy.h"
#include "order/order_search.h"
#include "order/order_series.h"

enum {
  FIRST_WIDTH = 64,
  WIDTH_FACTOR = 8,
  BISECTION_WIDTH = 4096,
  BISECTION_PART = 4,
  HOPELESS_RATIO = 4,
  LARGEST_WIDTH = 1 << 30
};

typedef struct exact {
  const order_problem *problem;
  const order_options *options;
  limits *l;
  calm_context *context;
  arena scratch;
  double began; /* only for the log */

  uint64_t unit;
  uint64_t peak, bound; /* in units */
  uint64_t target;      /* stop at or below it */
  uint64_t ceiling;     /* stop when the bound is at or above it */
  uint32_t *sequence;   /* the best order */
  uint64_t *step_bytes; /* of it, in bytes, then in units */

  order_problem reversed;
  order_search search[2]; /* forwards, backwards */
  uint32_t direction_count;
  uint64_t dropped[2]; /* what their last passes left behind */
} exact;

static uint64_t states_stored(const exact *x) {
  return x->search[0].store.stored + x->search[1].store.stored;
}

static uint64_t bytes_held(const exact *x) {
  uint64_t bytes = arena_bytes(&x->scratch);
  for (uint32_t d = 0; d < x->direction_count; d++)
    bytes += order_search_bytes(&x->search[d]);
  return bytes;
}

static bool is_done(const exact *x) {
  return x->peak <= x->bound || x->peak <= x->target ||
         x->ceiling <= x->bound || x->l->reason != LIMITS_NONE;
}

/* An order has to be below this to be of interest. */
static uint64_t limit_of(const exact *x) {
  return number_smaller(x->peak, x->ceiling);
}

/* ---- The story ----------------------------------------------------------- */

/* Digits in groups of three; `out` has room for 27 characters. */
static const char *grouped(char *out, uint64_t value) {
  char *at = out + 26;
  *at = '\0';
  for (uint32_t digits = 0; digits == 0 || value; digits++, value /= 10) {
    if (digits && digits % 3 == 0) *--at = ',';
    *--at = (char)('0' + value % 10);
  }
  return at;
}

static void tell(const exact *x) {
  if (!context_logs(x->context)) return;
  char peak[27], bound[27], states[27];
  const double gap =
      x->peak ? 100.0 * (double)(x->peak - x->bound) / (double)x->peak : 0;
  context_log(x->context, CALM_LOG_PROGRESS,
              "order: %.1f s  peak %s  bound %s  gap %.1f %%  states %s  "
              "%.1f MB",
              limits_clock() - x->began, grouped(peak, x->peak * x->unit),
              grouped(bound, x->bound * x->unit), gap,
              grouped(states, states_stored(x)), (double)bytes_held(x) * 1e-6);
}

/* ---- Both sides of the gap ----------------------------------------------- */

/* An order of the mirrored problem, mirrored. */
static void turn(uint32_t *out, const uint32_t *sequence, uint32_t n,
                 bool backwards) {
  for (uint32_t i = 0; i < n; i++)
    out[i] = backwards ? n - 1 - sequence[n - 1 - i] : sequence[i];
}

/* Every order is replayed on the caller's problem: that, not what the search
   believes, is its peak. */
static calm_status adopt(exact *x, const uint32_t *sequence, bool backwards) {
  const uint32_t n = x->problem->op_count;
  turn(x->sequence, sequence, n, backwards);
  uint64_t peak;
  TRY(order_replay(&peak, x->problem, x->sequence, x->step_bytes, x->context));
  assert(peak % x->unit == 0);
  x->peak = peak / x->unit;
  for (uint32_t i = 0; i < n; i++) x->step_bytes[i] /= x->unit;
  return CALM_OK;
}

static void raise_bound(exact *x, uint64_t bound) {
  if (bound > x->peak) bound = x->peak;
  if (bound <= x->bound) return;
  x->bound = bound;
  tell(x);
}

/* One pass for an order with a peak of at most tau. */
static calm_status run_pass(order_verdict *out, exact *x, uint32_t direction,
                            uint64_t tau, uint32_t width) {
  assert(tau >= x->bound && tau < x->peak);
  order_search *s = &x->search[direction];
  const uint64_t other = bytes_held(x) - order_search_bytes(s);
  TRY(order_search_run(out, s, tau, width, other, x->l));
  x->dropped[direction] = s->store.dropped;
  if (*out == ORDER_DEAD) raise_bound(x, s->bound);
  if (*out != ORDER_REACHED) return CALM_OK;
  TRY(adopt(x, s->sequence, direction == 1));
  assert(x->peak <= tau);
  tell(x);
  return CALM_OK;
}

/* Which direction dies first differs by orders of magnitude; the one that left
   far more behind is not worth the wait. */
static bool is_hopeless(const exact *x, uint32_t direction) {
  return x->direction_count == 2 &&
         x->dropped[direction] / HOPELESS_RATIO > x->dropped[1 - direction];
}

/* The direction whose last pass left less behind. */
static uint32_t better_direction(const exact *x) {
  return x->direction_count == 2 && x->dropped[1] < x->dropped[0] ? 1 : 0;
}

/* Passes of one width just below the limit, until neither direction helps. */
static calm_status descend(exact *x, uint32_t width) {
  uint32_t d = better_direction(x);
  for (uint32_t failed = 0; failed < x->direction_count && !is_done(x);) {
    order_verdict verdict = ORDER_TRUNCATED;
    if (!is_hopeless(x, d))
      TRY(run_pass(&verdict, x, d, limit_of(x) - 1, width));
    if (verdict == ORDER_REACHED) {
      failed = 0;
    } else {
      failed++;
      d = (d + 1) % x->direction_count;
    }
  }
  return CALM_OK;
}

/*
 * Passes of one width inside the gap, in case time runs out: a death raises the
 * bound; a pass that left something behind says nothing, and half of what is
 * below is tried.  They may take a part of what the search has cost so far.
 */
static calm_status bisect(exact *x, uint32_t width) {
  const uint32_t d = better_direction(x);
  const uint64_t enough = x->l->ticks + x->l->ticks / BISECTION_PART;
  uint64_t tried = limit_of(x) - 1; /* from here on everything was tried */
  while (!is_done(x) && tried > x->bound && x->l->ticks < enough) {
    order_verdict verdict;
    const uint64_t tau = x->bound + (tried - x->bound - 1) / 2;
    TRY(run_pass(&verdict, x, d, tau, width));
    if (verdict == ORDER_TRUNCATED) tried = tau;
    if (verdict == ORDER_REACHED) tried = limit_of(x) - 1;
  }
  return CALM_OK;
}

static calm_status raise_by_flow(exact *x) {
  if (is_done(x) || !x->options->root_bound) return CALM_OK;
  uint64_t bound = x->bound;
  TRY(order_bound_flow(&bound, &x->search[0].core, x->step_bytes, limit_of(x),
                       x->l, x->context));
  raise_bound(x, bound);
  return CALM_OK;
}

static calm_status search(exact *x) {
  TRY(order_search_init(&x->search[0], x->problem, x->unit, x->options,
                        &x->scratch));
  x->direction_count = 1;
  if (x->options->reverse) {
    TRY(order_problem_reverse(&x->reversed, x->problem, &x->scratch));
    x->direction_count = 2;
    TRY(order_search_init(&x->search[1], &x->reversed, x->unit, x->options,
                          &x->scratch));
  }
  TRY(descend(x, FIRST_WIDTH));
  TRY(raise_by_flow(x));
  for (uint32_t width = FIRST_WIDTH; !is_done(x);) {
    width = width < LARGEST_WIDTH / WIDTH_FACTOR ? width * WIDTH_FACTOR
                                                 : LARGEST_WIDTH;
    TRY(descend(x, width));
    if (!is_done(x) && width >= BISECTION_WIDTH) TRY(bisect(x, width));
  }
  return CALM_OK;
}

/* Of series-parallel problems; forwards, then backwards. */
static calm_status merge_series(exact *x) {
  uint32_t *sequence;
  if (is_done(x) || !x->options->series) return CALM_OK;
  ARENA_ARRAY(&x->scratch, sequence, x->problem->op_count);
  for (uint32_t back = 0; back < 2 && !is_done(x); back++) {
    const order_problem *p = x->problem;
    uint64_t peak = x->peak * x->unit, bound = x->bound * x->unit;
    if (back) TRY(order_problem_reverse(&x->reversed, x->problem, &x->scratch));
    if (back) p = &x->reversed;
    turn(sequence, x->sequence, p->op_count, back);
    TRY(order_series(sequence, &peak, &bound, p, x->l));
    if (peak < x->peak * x->unit) TRY(adopt(x, sequence, back));
    raise_bound(x, bound / x->unit + (bound % x->unit != 0));
  }
  return CALM_OK;
}

/* In units: an order below it is below so many bytes, too. */
static uint64_t ceiling_of(uint64_t bytes, uint64_t unit) {
  return bytes ? bytes / unit + (bytes % unit != 0) : UINT64_MAX;
}

static calm_status solve(exact *x) {
  const order_problem *p = x->problem;
  uint32_t *first;
  ARENA_ARRAY(&x->scratch, first, p->op_count);
  ARENA_ARRAY(&x->scratch, x->step_bytes, p->op_count);
  x->unit = order_core_unit(p);
  x->bound = order_working_set(p) / x->unit;
  x->target = x->options->target_bytes / x->unit;
  x->ceiling = ceiling_of(x->options->ceiling_bytes, x->unit);
  TRY(order_fixed_best(first, p, x->l));
  TRY(adopt(x, first, false));
  assert(x->bound <= x->peak);
  tell(x);
  TRY(merge_series(x));
  return is_done(x) ? CALM_OK : search(x);
}

static void report(order_result *out, const exact *x, uint64_t ticks) {
  const bool optimal = x->peak == x->bound;
  *out = (order_result){.outcome = optimal ? CALM_OPTIMAL : CALM_FEASIBLE,
                        .sequence = x->sequence,
                        .peak_bytes = x->peak * x->unit,
                        .bound_bytes = x->bound * x->unit,
                        .states = states_stored(x),
                        .ticks = x->l->ticks - ticks,
                        .segments = 1,
                        .stopped = optimal ? LIMITS_NONE : x->l->reason};
}

calm_status order_exact(order_result *out, const order_problem *p,
                        const order_options *options, arena *a, limits *l) {
  const uint64_t ticks = l->ticks;
  exact x = {.problem = p,
             .options = options,
             .l = l,
             .context = a->context,
             .began = context_logs(a->context) ? limits_clock() : 0};
  ARENA_ARRAY(a, x.sequence, p->op_count);
  arena_init(&x.scratch, a->context);
  const calm_status status = solve(&x);
  for (uint32_t d = 0; d < x.direction_count; d++)
    order_search_free(&x.search[d]);
  arena_free(&x.scratch);
  if (status == CALM_OK) report(out, &x, ticks);
  return status;
}
