/* Try many list schedules, keep the best order. */
#include "order/order_greedy.h"

#include <string.h>

#include "base/random.h"
#include "order/order_list.h"

/* Ticks that all list schedules together may spend, after which only the one
   under way is finished: small problems get every try, large ones a few. */
enum { PLENTY_TICKS = 4000000 };

/* Targets tried between the bound and the best, and shuffles of ties. */
enum { RUNGS = 6, SHUFFLES = 1 };

/* The best order so far, and where the next one is made. */
typedef struct contest {
  const order_problem *p;
  const order_problem *directions[2]; /* as it is, backwards */
  limits *l;
  uint64_t plenty; /* at this tick there was enough trying */
  uint32_t *best, *trial;
  uint64_t best_bytes, bound_bytes;
} contest;

static bool enough(const contest *c) {
  return c->best_bytes <= c->bound_bytes || c->l->ticks >= c->plenty ||
         c->l->reason != LIMITS_NONE;
}

static calm_status judge(contest *c) {
  uint64_t bytes;
  TRY(order_replay(&bytes, c->p, c->trial, NULL, c->l->context));
  if (bytes >= c->best_bytes) return CALM_OK;
  c->best_bytes = bytes;
  memcpy(c->best, c->trial, c->p->op_count * sizeof *c->best);
  return CALM_OK;
}

static calm_status try_fixed_orders(contest *c) {
  order_file(c->trial, c->p);
  TRY(judge(c));
  TRY(order_level(c->trial, c->p, c->l->context));
  TRY(judge(c));
  TRY(order_dfs(c->trial, c->p, c->l->context));
  return judge(c);
}

/* An order of the mirrored problem, mirrored. */
static void turn_round(uint32_t *sequence, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) sequence[i] = n - 1 - sequence[i];
  for (uint32_t low = 0, high = n; low + 1 < high; low++) {
    const uint32_t moved = sequence[low];
    sequence[low] = sequence[--high];
    sequence[high] = moved;
  }
}

/* Both directions under one rule. */
static calm_status try_rule(contest *c, order_rule rule) {
  for (int back = 0; back < 2; back++) {
    bool finished;
    if (enough(c)) return CALM_OK;
    TRY(order_list_schedule(c->trial, &finished, c->directions[back], rule,
                            c->l));
    if (!finished) return CALM_OK;
    if (back) turn_round(c->trial, c->p->op_count);
    TRY(judge(c));
  }
  return CALM_OK;
}

/*
 * A schedule under a target below the best often finds a better one, and then
 * the same again; where just below fails, further below may succeed, for a
 * lower target makes it take other ways.
 */
static calm_status descend_targets(contest *c, uint64_t seed, uint32_t rungs) {
  uint32_t rung = 1;
  while (rung <= rungs && !enough(c)) {
    const uint64_t best = c->best_bytes;
    const uint64_t step = (best - c->bound_bytes) / RUNGS * (rung - 1);
    TRY(try_rule(c, (order_rule){best - 1 - step, seed}));
    rung = c->best_bytes < best ? 1 : rung + 1;
  }
  return CALM_OK;
}

static calm_status try_lists(contest *c, const order_options *options) {
  random_state random = random_from_seed(options->seed);
  TRY(try_rule(c, (order_rule){0, 0}));
  /* a search that begins here finds the rest itself */
  if (options->method != ORDER_GREEDY) return descend_targets(c, 0, 1);
  TRY(descend_targets(c, 0, RUNGS));
  for (int i = 0; i < SHUFFLES && !enough(c); i++) {
    const uint64_t seed = random_next(&random) | 1;
    TRY(try_rule(c, (order_rule){0, seed}));
    TRY(descend_targets(c, seed, RUNGS));
  }
  return CALM_OK;
}

static calm_status run_contest(contest *c, const order_options *options,
                               arena *scratch) {
  order_problem backwards;
  ARENA_ARRAY(scratch, c->trial, c->p->op_count);
  TRY(try_fixed_orders(c));
  if (enough(c)) return CALM_OK;
  TRY(order_problem_reverse(&backwards, c->p, scratch));
  c->directions[1] = &backwards;
  return try_lists(c, options);
}

static calm_status run_fixed(contest *c, const order_options *options,
                             arena *scratch) {
  (void)options;
  ARENA_ARRAY(scratch, c->trial, c->p->op_count);
  return try_fixed_orders(c);
}

/* Set a contest up, run it, clean up. */
static calm_status hold_contest(uint32_t *out_sequence, const order_problem *p,
                                const order_options *options, limits *l,
                                calm_status (*run)(contest *,
                                                   const order_options *,
                                                   arena *)) {
  arena scratch;
  arena_init(&scratch, l->context);
  contest c = {.p = p,
               .directions = {p, NULL},
               .l = l,
               .plenty = l->ticks + PLENTY_TICKS + UINT64_C(400) * p->op_count,
               .best = out_sequence,
               .best_bytes = UINT64_MAX,
               .bound_bytes = order_working_set(p)};
  const calm_status status = run(&c, options, &scratch);
  arena_free(&scratch);
  return status;
}

calm_status order_greedy(uint32_t *out_sequence, const order_problem *p,
                         const order_options *options, limits *l) {
  return hold_contest(out_sequence, p, options, l, run_contest);
}

calm_status order_fixed_best(uint32_t *out_sequence, const order_problem *p,
                             limits *l) {
  return hold_contest(out_sequence, p, NULL, l, run_fixed);
}
