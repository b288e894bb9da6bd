/*
 * The driver of the search for few spills.  It holds the best solution so far
 * (`cost`) and the best bound, and works on both:
 *
 *   1. the start under Belady's rule, and the bound of the empty state; where
 *      all fits, that is all
 *   2. a narrow beam, which improves the solution and, if it never left
 *      anything behind, proves it
 *   3. parts of the order, searched again by such a beam
 *   4. the same with a wider beam, until one of them proves the solution; with
 *      all but the narrowest goes best first, for as long as all has taken so
 *      far: a proof, or a bound
 *
 * Every solution is accounted for on the caller's problem: that, not what the
 * search believes, is its cost.
 */
#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "traffic/traffic_exact.h"
#include "traffic/traffic_improve.h"

enum {
  FIRST_WIDTH = 8,
  WIDTH_FACTOR = 8,
  LARGEST_WIDTH = 1 << 28,
  LEAST_TICKS = 1 << 22 /* best first may take so many in any case */
};

typedef struct minimize {
  const traffic_problem *problem;
  const traffic_memory *memory;
  bool fixed; /* the order is given */
  const traffic_options *options;
  limits *l;
  calm_context *context;
  arena *results, scratch;
  double began; /* only for the log */

  traffic_core core;
  traffic_search search;
  bool looked;    /* the outlook is there, or will never be */
  bool exhausted; /* best first had all the memory there is */
  random_state random;
  uint64_t part_states; /* of the searches of parts */

  uint32_t *sequence;
  traffic_result result; /* of it */
  uint64_t cost, bound;  /* bytes of spills */
} minimize;

traffic_options traffic_options_default(void) {
  return (traffic_options){.bound = true,
                           .outlook = true,
                           .dominance = true,
                           .commit = true,
                           .exchange = true};
}

static bool is_done(const minimize *m) {
  return m->cost <= m->bound || m->l->reason != LIMITS_NONE;
}

static void tell(const minimize *m) {
  const uint64_t states = m->search.store.stored + m->part_states;
  if (!context_logs(m->context)) return;
  const double gap =
      m->cost ? 100.0 * (double)(m->cost - m->bound) / (double)m->cost : 0;
  context_log(m->context, CALM_LOG_PROGRESS,
              "traffic: %.1f s  spills %llu  bound %llu  gap %.1f %%  "
              "states %llu  %.1f MB",
              limits_clock() - m->began, (unsigned long long)m->cost,
              (unsigned long long)m->bound, gap, (unsigned long long)states,
              (double)traffic_search_bytes(&m->search) * 1e-6);
}

/* ---- Solutions ----------------------------------------------------------- */

static uint64_t *kept_entry(const minimize *m, uint64_t *kept, uint32_t buffer,
                            uint32_t op) {
  const order_problem *p = m->problem->order;
  uint32_t i = p->touch_begin[buffer];
  while (p->touch[i] != op) i++;
  return &kept[i];
}

/* What stays over the gaps: what is not off chip at their end. */
static void fill_kept(const minimize *m, const traffic_search *s,
                      uint64_t *kept, uint32_t *last) {
  const traffic_core *core = s->core;
  for (uint32_t b = 0; b < core->buffer_count; b++) last[b] = CALM_NONE;
  for (uint32_t i = 0; i < core->op_count; i++) {
    const uint32_t u = s->sequence[i];
    const uint64_t *uses = traffic_core_buffers(core, core->uses, u);
    const uint64_t *out = traffic_core_buffers(core, s->out, i);
    for (uint32_t b = 0; b < core->buffer_count; b++) {
      if (!bits_has(uses, b)) continue;
      if (last[b] != CALM_NONE && !bits_has(out, b))
        *kept_entry(m, kept, core->name[b], last[b]) = core->bytes[b];
      last[b] = u;
    }
  }
}

/* The search has found something better. */
static calm_status adopt(minimize *m, const traffic_search *s) {
  const order_problem *p = m->problem->order;
  traffic_result r;
  uint32_t *last;
  ARENA_ARRAY(m->results, r.kept_bytes, p->touch_begin[p->buffer_count]);
  ARENA_ARRAY(&m->scratch, last, s->core->buffer_count);
  fill_kept(m, s, r.kept_bytes, last);
  TRY(traffic_account(&r, m->problem, s->sequence, m->memory, m->results));
  assert(traffic_spills(&r.total) == s->cost && s->cost < m->cost);
  memcpy(m->sequence, s->sequence, p->op_count * sizeof *m->sequence);
  m->result = r;
  m->cost = s->cost;
  tell(m);
  return CALM_OK;
}

static calm_status adopt_start(minimize *m, const uint32_t *start) {
  const uint32_t n = m->problem->order->op_count;
  ARENA_ARRAY(m->results, m->sequence, n);
  memcpy(m->sequence, start, n * sizeof *start);
  TRY(traffic_belady(&m->result, m->problem, start, m->memory, m->results));
  m->cost = traffic_spills(&m->result.total);
  return CALM_OK;
}

/* ---- Both sides of the gap ----------------------------------------------- */

static void raise_bound(minimize *m, uint64_t bound) {
  bound = number_smaller(bound, m->cost);
  if (bound <= m->bound) return;
  m->bound = bound;
  tell(m);
}

/* Nothing below the ceiling costs less than the search says. */
static calm_status settle(minimize *m, const traffic_search *s) {
  if (s->found) TRY(adopt(m, s));
  raise_bound(m, s->least);
  return CALM_OK;
}

static calm_status run_beam(minimize *m, uint32_t width) {
  traffic_verdict verdict;
  TRY(traffic_search_beam(&verdict, &m->search, m->cost, width, m->l));
  return settle(m, &m->search);
}

/* Limits for something that may take as long as everything before, and then
   gives way. */
static limits take_share(const minimize *m) {
  limits share = *m->l;
  const uint64_t more = number_larger(share.ticks, LEAST_TICKS);
  if (share.max_ticks - share.ticks > more)
    share.max_ticks = share.ticks + more;
  share.next_look = share.ticks;
  return share;
}

static void give_back(minimize *m, const limits *share) {
  m->l->ticks = share->ticks;
  m->l->next_look = share->ticks;
  if (share->reason == LIMITS_TIME || share->reason == LIMITS_INTERRUPT)
    m->l->reason = share->reason;
  limits_spend(m->l, 0);
}

static calm_status run_best_first(minimize *m) {
  traffic_verdict verdict;
  limits share = take_share(m);
  TRY(traffic_search_best_first(&verdict, &m->search, m->cost, &share));
  give_back(m, &share);
  TRY(settle(m, &m->search));
  m->exhausted = share.reason == LIMITS_MEMORY;
  if (m->exhausted) traffic_search_free(&m->search);
  return CALM_OK;
}

/* Better bounds, if the sets of operators are few. */
static calm_status look_ahead(minimize *m) {
  if (!m->options->outlook || m->looked) return CALM_OK;
  limits share = take_share(m);
  TRY(traffic_search_look(&m->search, &share));
  give_back(m, &share);
  m->looked = share.reason != LIMITS_TICKS;
  raise_bound(m, traffic_search_root(&m->search, m->l));
  return CALM_OK;
}

/*
 * Parts of the order again, by a beam of that width, until as many tries as
 * there are operators have failed in a row.
 */
static calm_status improve(minimize *m, uint32_t width) {
  const uint32_t n = m->core.op_count;
  const uint64_t enough =
      number_larger(2 * m->l->ticks, m->l->ticks + LEAST_TICKS);
  uint32_t failed = 0;
  while (failed < n && m->l->ticks < enough && !is_done(m)) {
    traffic_part part;
    TRY(traffic_part_draw(&part, &m->core, m->sequence, &m->random,
                          m->context));
    calm_status status =
        traffic_part_search(&part, m->cost, width, m->options, m->l);
    const bool found = status == CALM_OK && part.search.found;
    if (found) status = adopt(m, &part.search);
    m->part_states += part.search.store.stored;
    traffic_part_free(&part);
    if (status != CALM_OK) return status;
    failed = found ? 0 : failed + 1;
  }
  return CALM_OK;
}

static calm_status raise_from_below(minimize *m) {
  TRY(look_ahead(m));
  return is_done(m) || m->exhausted ? CALM_OK : run_best_first(m);
}

static calm_status search(minimize *m) {
  for (uint32_t width = FIRST_WIDTH; !is_done(m);) {
    TRY(run_beam(m, width));
    if (!is_done(m) && !m->fixed) TRY(improve(m, width));
    if (!is_done(m) && width > FIRST_WIDTH) TRY(raise_from_below(m));
    width = width < LARGEST_WIDTH / WIDTH_FACTOR ? width * WIDTH_FACTOR
                                                 : LARGEST_WIDTH;
  }
  return CALM_OK;
}

static calm_status begin_search(minimize *m) {
  TRY(traffic_core_build(&m->core, m->problem, m->memory->bytes, &m->scratch));
  if (m->fixed) traffic_core_hold(&m->core, m->sequence, NULL);
  TRY(traffic_core_close(&m->core, m->sequence, &m->scratch));
  TRY(traffic_search_init(&m->search, &m->core, m->options, &m->scratch));
  raise_bound(m, traffic_search_root(&m->search, m->l));
  const calm_status status = search(m);
  traffic_search_free(&m->search);
  return status;
}

static void report(traffic_order *out, const minimize *m, uint64_t ticks) {
  const bool optimal = m->cost == m->bound;
  *out = (traffic_order){.outcome = optimal ? CALM_OPTIMAL : CALM_FEASIBLE,
                         .sequence = m->sequence,
                         .result = m->result,
                         .bound_bytes = m->bound,
                         .states = m->search.store.stored + m->part_states,
                         .ticks = m->l->ticks - ticks,
                         .stopped = optimal ? LIMITS_NONE : m->l->reason};
}

static calm_status solve(traffic_order *out, minimize *m, const uint32_t *start,
                         arena *a) {
  const uint64_t ticks = m->l->ticks;
  if (m->memory->page_bytes)
    return context_fail(a->context, CALM_MISUSE,
                        "the order with the least traffic is searched for "
                        "whole buffers, not for pages");
  m->context = a->context;
  m->random = random_from_seed(m->options->seed);
  m->results = a;
  m->began = context_logs(a->context) ? limits_clock() : 0;
  TRY(adopt_start(m, start));
  arena_init(&m->scratch, a->context);
  const calm_status status = m->cost ? begin_search(m) : CALM_OK;
  arena_free(&m->scratch);
  if (status == CALM_OK) report(out, m, ticks);
  return status;
}

calm_status traffic_minimize(traffic_order *out, const traffic_problem *p,
                             const traffic_memory *memory,
                             const uint32_t *start,
                             const traffic_options *options, arena *a,
                             limits *l) {
  minimize m = {.problem = p, .memory = memory, .options = options, .l = l};
  return solve(out, &m, start, a);
}

calm_status traffic_choose(traffic_order *out, const traffic_problem *p,
                           const traffic_memory *memory,
                           const uint32_t *sequence,
                           const traffic_options *options, arena *a,
                           limits *l) {
  minimize m = {.problem = p,
                .memory = memory,
                .fixed = true,
                .options = options,
                .l = l};
  return solve(out, &m, sequence, a);
}
