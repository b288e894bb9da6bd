/*
 * The driver of the exact search.  It holds the best order so far (`peak`) and
 * the best bound, and narrows the gap from both sides:
 *
 *   1. a greedy order and the simple bound; most networks end here
 *   2. narrow passes for something below the peak, in both directions, which
 *      improve the order and, if one of them dies with nothing left behind,
 *      prove it optimal
 *   3. the flow bound
 *   4. the same with wider and wider passes.  In between, passes that leave
 *      nothing behind, but are given up when they cost too much: just below
 *      the peak, where a death is the proof, and from a certain width on just
 *      above the bound, where it raises the bound in case time runs out
 *
 * What is spent grows by a factor from round to round, and with it what a proof
 * may cost, so without limits it ends.
 *
 * Who only wants an order below a ceiling has the passes begin there: a pass
 * with less room dies sooner, and if it leaves nothing behind, that is all.
 */
#include "order/order_exact.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "order/order_bound.h"
#include "order/order_effort.h"
#include "order/order_greedy.h"
#include "order/order_search.h"
#include "order/order_series.h"
#include "order/order_window.h"

#if CALM_HOSTILE
enum { LEAST_WINDOWED = 4 };
#else
enum { LEAST_WINDOWED = 128 }; /* operators; less is one window */
#endif

enum {
  FIRST_WIDTH = 64,
  WIDTH_FACTOR = 8,
  WINDOWS_PART = 4,
  LISTED_AFTER = 8000000, /* ticks: twice what list schedules take */
  GROUPS_PART = 2,        /* of what was spent so far, for bounds by groups */
  HOPELESS_RATIO = 4,
  LARGEST_WIDTH = 1 << 30,
  FIRST_TICKS = 20000000, /* and no more than these */
  FIRST_PARTS = 4, /* a first proof may cost so many times what was spent */
  SURE_PARTS = 4,  /* one that deaths below have foretold */
  ONE_WAY_WIDTH = 32768, /* from here on only where the best order came from */
  RAISE_PART = 3,        /* of what was spent so far, for deaths in the gap */
  RAISE_STEPS = 16,
  SLOWER_RATIO = 4 /* the direction that is not known yet may take longer */
};

typedef struct exact {
  const order_problem *problem;
  const order_options *options;
  limits *l;
  calm_context *context;
  arena scratch;
  double began;         /* only for the log */
  uint64_t first_ticks; /* of the limits, when it began */

  uint64_t unit;
  uint64_t peak, bound; /* in units */
  uint64_t target;      /* stop at or below it */
  uint64_t ceiling;     /* stop when the bound is at or above it */
  uint32_t *sequence;   /* the best order */
  uint64_t *step_bytes; /* of it, by position */
  uint64_t *op_bytes;   /* of it, by operator, in units */

  uint32_t *windowed; /* scratch: another order */

  order_problem reversed;
  order_search search[2]; /* forwards, backwards */
  uint32_t direction_count;
  uint64_t dropped[2]; /* what their last passes left behind */
  uint64_t spent[2];   /* ticks of their last passes inside the gap */
  order_effort effort[2];
  bool listed;     /* list schedules have been tried */
  bool grouped;    /* the bounds by groups are through */
  bool unforetold; /* a proof was tried in vain that nothing foretold */
  bool crowded;    /* memory does not hold passes that keep everything */
  uint32_t lucky;  /* the direction that found the best order */
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
  for (uint32_t i = 0; i < n; i++)
    x->op_bytes[x->sequence[i]] = x->step_bytes[i] / x->unit;
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
                            order_pass pass) {
  assert(pass.tau < x->peak);
  order_search *s = &x->search[direction];
  const uint64_t ticks = x->l->ticks;
  pass.other_bytes = bytes_held(x) - order_search_bytes(s);
  TRY(order_search_run(out, s, &pass, x->l));
  if (*out == ORDER_DEAD) {
    order_effort_note(&x->effort[direction], pass.tau, x->l->ticks - ticks);
    raise_bound(x, s->bound);
  }
  if (*out != ORDER_REACHED) return CALM_OK;
  TRY(adopt(x, s->sequence, direction == 1));
  assert(x->peak <= pass.tau);
  x->lucky = direction;
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
    const order_pass pass = {.tau = limit_of(x) - 1, .width = width};
    if (width < ONE_WAY_WIDTH ? !is_hopeless(x, d) : d == x->lucky) {
      TRY(run_pass(&verdict, x, d, pass));
      x->dropped[d] = x->search[d].store.dropped;
    }
    if (verdict == ORDER_REACHED) {
      failed = 0;
    } else {
      failed++;
      d = (d + 1) % x->direction_count;
    }
  }
  return CALM_OK;
}

/* ---- Proofs -------------------------------------------------------------- */

/* A pass that keeps everything, as long as it costs no more than so much. */
static calm_status attempt(order_verdict *out, exact *x, uint32_t direction,
                           uint64_t tau, uint64_t ticks) {
  const order_pass pass = {.tau = tau, .width = LARGEST_WIDTH, .ticks = ticks};
  TRY(run_pass(out, x, direction, pass));
  x->crowded |= x->search[direction].crowded;
  return CALM_OK;
}

/* Does it pay to look just below the limit, in which direction, and what may
   it cost?  Where nothing is foretold, a little. */
static uint64_t worth_of_proof(const exact *x, uint32_t *out_direction) {
  uint64_t least = UINT64_MAX;
  *out_direction = better_direction(x);
  for (uint32_t d = 0; d < x->direction_count; d++) {
    const uint64_t ticks = order_effort_predict(&x->effort[d], limit_of(x) - 1);
    if (ticks >= least) continue;
    least = ticks;
    *out_direction = d;
  }
  if (least == UINT64_MAX)
    return x->unforetold
               ? 0
               : number_smaller(x->l->ticks * FIRST_PARTS, FIRST_TICKS);
  return least / SURE_PARTS <= x->l->ticks ? least * 2 : 0;
}

/* Prove the order, if that is cheap compared with what was spent so far. */
static calm_status prove(exact *x) {
  for (order_verdict verdict = ORDER_REACHED;
       !is_done(x) && !x->crowded && verdict == ORDER_REACHED;) {
    uint32_t direction;
    const uint64_t worth = worth_of_proof(x, &direction);
    if (!worth) break;
    TRY(attempt(&verdict, x, direction, limit_of(x) - 1, worth));
    x->unforetold |= verdict == ORDER_TRUNCATED;
  }
  return CALM_OK;
}

/* The direction in which the last pass inside the gap was cheaper, and what
   this one may take there. */
static uint32_t cheaper_direction(const exact *x, uint64_t *in_out_ticks) {
  if (x->direction_count == 1) return 0;
  const bool known = x->spent[0] || x->spent[1];
  const uint32_t d = known ? x->spent[1] < x->spent[0] : better_direction(x);
  const uint64_t other = x->spent[1 - d];
  if (!other)
    *in_out_ticks /= SLOWER_RATIO;
  else if (other < *in_out_ticks / SLOWER_RATIO)
    *in_out_ticks = other * SLOWER_RATIO;
  return d;
}

/* First below the bound, ever closer, only to see how the effort grows; then
   above it, in steps of the gap. */
static uint64_t next_threshold(const exact *x, uint32_t direction) {
  const order_effort *e = &x->effort[direction];
  const uint64_t least = x->search[direction].core.start_bytes;
  if (e->deaths == 0) return number_larger(x->bound - x->bound / 4, least);
  if (e->tau[1] + 1 < x->bound) return x->bound - (x->bound - e->tau[1]) / 2;
  return x->bound + (limit_of(x) - 1 - x->bound) / RAISE_STEPS;
}

/*
 * Raise the bound from below, in case time runs out: each death costs by a
 * factor more than the one before it, and together they foretell what the proof
 * will.  They may take a part of what the search has cost so far.
 */
static calm_status raise_from_below(exact *x) {
  const uint64_t enough = x->l->ticks + x->l->ticks / RAISE_PART;
  while (!is_done(x) && !x->crowded && x->l->ticks < enough) {
    const uint64_t began = x->l->ticks;
    uint64_t ticks = enough - began;
    const uint32_t d = cheaper_direction(x, &ticks);
    order_verdict verdict;
    TRY(attempt(&verdict, x, d, next_threshold(x, d), ticks));
    x->spent[d] = x->l->ticks - began;
    if (verdict == ORDER_TRUNCATED) x->spent[d] *= 2;
  }
  return CALM_OK;
}

static calm_status raise_by_flow(exact *x) {
  if (is_done(x) || !x->options->root_bound) return CALM_OK;
  uint64_t bound = x->bound;
  TRY(order_bound_flow(&bound, &x->search[0].core, x->op_bytes, limit_of(x),
                       x->l, x->context));
  raise_bound(x, bound);
  return CALM_OK;
}

/* The dearest groups first; what is left waits for the next round. */
static calm_status raise_by_groups(exact *x) {
  if (is_done(x) || !x->options->groups || x->grouped) return CALM_OK;
  const order_known known = {x->sequence, x->op_bytes, limit_of(x)};
  const uint64_t enough = x->l->ticks + x->l->ticks / GROUPS_PART;
  uint64_t bound = x->bound;
  TRY(order_bound_groups(&bound, &x->search[0].core, &known,
                         x->l->ticks / GROUPS_PART, x->l));
  x->grouped = x->l->ticks < enough;
  raise_bound(x, bound);
  return CALM_OK;
}

/* Parts of the order by themselves, for a part of what was spent so far. */
static calm_status search_windows(exact *x) {
  const uint32_t n = x->problem->op_count;
  if (is_done(x) || !x->options->windows || n < LEAST_WINDOWED) return CALM_OK;
  memcpy(x->windowed, x->sequence, n * sizeof *x->windowed);
  TRY(order_windows_search(x->windowed, x->bound * x->unit, x->problem,
                           x->options, x->l->ticks / WINDOWS_PART,
                           bytes_held(x), x->l));
  TRY(adopt(x, x->windowed, false));
  tell(x);
  return CALM_OK;
}

/* On a hard problem no answer may be worse than what list schedules find in a
   moment; on an easy one that moment is longer than all the rest. */
static calm_status list_schedules(exact *x) {
  if (is_done(x) || x->listed || x->l->ticks - x->first_ticks < LISTED_AFTER)
    return CALM_OK;
  order_options greedy = *x->options;
  uint32_t *sequence;
  uint64_t bytes;
  x->listed = true;
  greedy.method = ORDER_GREEDY;
  ARENA_ARRAY(&x->scratch, sequence, x->problem->op_count);
  TRY(order_greedy(sequence, x->problem, &greedy, x->l));
  TRY(order_replay(&bytes, x->problem, sequence, NULL, x->context));
  if (bytes / x->unit >= x->peak) return CALM_OK;
  TRY(adopt(x, sequence, false));
  tell(x);
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
    TRY(list_schedules(x));
    TRY(raise_by_groups(x));
    TRY(prove(x));
    TRY(search_windows(x));
    width = width < LARGEST_WIDTH / WIDTH_FACTOR ? width * WIDTH_FACTOR
                                                 : LARGEST_WIDTH;
    TRY(descend(x, width));
    TRY(raise_from_below(x));
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
  ARENA_ARRAY(&x->scratch, x->op_bytes, p->op_count);
  ARENA_ARRAY(&x->scratch, x->windowed, p->op_count);
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
             .first_ticks = ticks,
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
