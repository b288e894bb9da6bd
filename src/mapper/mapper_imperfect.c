#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/mapper_climb.h"
#include "mapper/mapper_imperfect.h"

/*
 * Factors that need not divide their bounds.  There are too many for a proof in
 * general; but nests that are good with remainders are near nests that are good
 * without, of bounds a little larger: so each bound is raised to numbers with
 * more prime factors, the exact search finds the best nest of these, and its
 * loops are taken for the real bounds, where they do no more than before.  The
 * best of them climbs on.  What is found is never worse than the nest that the
 * search began with.
 */

/* Raised bounds: a number of a dimension, of combinations, and how many more
   multiplications there may be. */
enum { MOST_RAISED = 4, MOST_COMBINATIONS = 48 };
static const double most_growth = 1.6;

/* Tries of the first look at a nest, and of the climb from the best one. */
enum { FEW_TRIES = 40, MANY_TRIES = 6000 };

typedef struct raise {
  uint64_t bounds[ACCEL_MAX_DIMENSIONS];
  double growth;
} raise;

typedef struct remainders {
  const mapper_problem *whole;
  mapper_problem problem; /* with one keep set, and the objective */
  mapper_given given;
  limits *limits;
  arena *arena;
  raise *raises;
  uint32_t raise_count;
  mapper_result best;
} remainders;

/* ---- Raised bounds ------------------------------------------------------- */

static uint32_t count_primes(uint64_t n) {
  uint32_t count = 0;
  for (uint64_t p = 2; p <= n / p; p++)
    for (; n % p == 0; n /= p) count++;
  return count + (n > 1);
}

/* The bound, and larger ones with more prime factors than all before. */
static uint32_t list_raised(uint64_t out[MOST_RAISED], uint64_t bound) {
  uint32_t count = 0, most = 0;
  for (uint64_t n = bound; n <= bound + bound / 3 && count < MOST_RAISED; n++) {
    const uint32_t primes = count_primes(n);
    if (n > bound && primes <= most) continue;
    most = primes;
    out[count++] = n;
  }
  return count;
}

static int compare_raises(const void *left, const void *right) {
  const raise *a = left, *b = right;
  if (a->growth != b->growth) return a->growth < b->growth ? -1 : 1;
  return memcmp(a->bounds, b->bounds, sizeof a->bounds);
}

/* All combinations, those of least growth first; too many are cut off as they
   come in, dimension by dimension. */
static calm_status list_raises(remainders *r) {
  const accel_layer *layer = r->problem.layer;
  ARENA_ARRAY(r->arena, r->raises, MOST_COMBINATIONS * MOST_RAISED);
  r->raises[0].growth = 1;
  r->raise_count = 1;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    uint64_t raised[MOST_RAISED];
    const uint64_t bound = layer->dimensions[d].bound;
    const uint32_t count = list_raised(raised, bound), old = r->raise_count;
    for (uint32_t i = 0; i < old; i++) {
      r->raises[i].bounds[d] = bound;
      for (uint32_t k = 1; k < count; k++) {
        raise more = r->raises[i];
        more.bounds[d] = raised[k];
        more.growth *= (double)raised[k] / (double)bound;
        if (more.growth <= most_growth) r->raises[r->raise_count++] = more;
      }
    }
    qsort(r->raises, r->raise_count, sizeof *r->raises, compare_raises);
    if (r->raise_count > MOST_COMBINATIONS) r->raise_count = MOST_COMBINATIONS;
  }
  return CALM_OK;
}

static calm_status raise_layer(accel_layer *out, const accel_layer *layer,
                               const raise *by, arena *a) {
  *out = *layer;
  ARENA_ARRAY(a, out->dimensions, layer->dimension_count);
  out->macs = 1;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    out->dimensions[d] = layer->dimensions[d];
    out->dimensions[d].bound = by->bounds[d];
    out->macs = accel_count_multiply(out->macs, by->bounds[d]);
  }
  return CALM_OK;
}

/* ---- Nests --------------------------------------------------------------- */

static void adopt(remainders *r, const mapper_result *found) {
  if (found->outcome != CALM_FEASIBLE || found->value >= r->best.value) return;
  r->best.nest = found->nest;
  r->best.value = found->value;
  r->best.outcome = CALM_FEASIBLE;
}

static calm_status climb(remainders *r, const accel_nest *from,
                         uint64_t tries) {
  mapper_result found;
  const mapper_climbing how = {.most_cycles = r->given.most_cycles,
                               .tries = tries,
                               .imperfect = true,
                               .from = from};
  TRY(mapper_climb(&found, &r->problem, &how, r->limits, r->arena));
  adopt(r, &found);
  return CALM_OK;
}

/* What grew may cost as much more than what is known by now. */
static calm_status try_raise(remainders *r, const raise *by) {
  mapper_problem p = r->problem;
  mapper_given given = r->given;
  mapper_result found;
  accel_layer layer;
  TRY(raise_layer(&layer, p.layer, by, r->arena));
  if (layer.macs > ACCEL_MAX_COUNT) return CALM_OK;
  p.layer = &layer;
  given.quiet = true;
  given.most_value = r->best.value * by->growth * by->growth;
  given.most_cycles *= by->growth;
  TRY(mapper_exact_any(&found, &p, &given, r->limits, r->arena));
  r->best.states += found.states;
  r->best.rounds += found.rounds;
  return mapper_exact_found(&found) ? climb(r, &found.nest, FEW_TRIES)
                                    : CALM_OK;
}

/* ---- One objective ------------------------------------------------------- */

static bool is_done(const remainders *r) {
  return r->limits->reason != LIMITS_NONE ||
         r->best.value <= r->best.bound * (1 + 1e-9);
}

static calm_status search_in(remainders *r, arena *scratch) {
  mapper_problem whole = *r->whole;
  whole.objective = r->problem.objective;
  TRY(mapper_imperfect_bound(&r->best.bound, &whole, r->limits, scratch));
  TRY(list_raises(r));
  for (uint32_t i = 0; i < r->raise_count && !is_done(r); i++)
    TRY(try_raise(r, &r->raises[i]));
  if (r->best.value == HUGE_VAL || is_done(r)) return CALM_OK;
  const accel_nest from = r->best.nest;
  return climb(r, &from, MANY_TRIES);
}

/* Goes on from what is in *out. */
static calm_status search(mapper_result *out, const mapper_remainders *q,
                          const uint32_t *kept, mapper_objective objective,
                          double most_cycles) {
  arena scratch;
  remainders r = {.whole = q->whole, .problem = *q->whole, .limits = q->limits};
  r.arena = q->arena;
  r.problem.must_keep = r.problem.may_keep = kept;
  r.problem.imperfect = false;
  r.problem.objective = objective;
  r.given = (mapper_given){
      .rules = q->rules, .most_cycles = most_cycles, .most_value = HUGE_VAL};
  r.best = *out;
  r.best.bound = 0;
  arena_init(&scratch, q->arena->context);
  const calm_status status = search_in(&r, &scratch);
  arena_free(&scratch);
  TRY(status);
  *out = r.best;
  if (!mapper_exact_found(out)) return CALM_OK;
  const bool proved = out->value <= out->bound * (1 + 1e-9);
  out->outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE;
  if (proved) out->bound = out->value;
  return mapper_exact_evaluate(out, q->whole, q->arena);
}

/* The fastest first, then the least energy within its cycles. */
static calm_status search_twice(mapper_result *out, const mapper_remainders *q,
                                const uint32_t *kept) {
  const bool found = mapper_exact_found(out);
  out->value = found ? (double)out->cost.cycles : HUGE_VAL;
  TRY(search(out, q, kept, MAPPER_DELAY, HUGE_VAL));
  if (!mapper_exact_found(out)) return CALM_OK;
  const bool proved = out->outcome == CALM_OPTIMAL;
  const double most_cycles = out->value;
  out->value = out->cost.energy_pj;
  TRY(search(out, q, kept, MAPPER_DELAY_ENERGY, most_cycles));
  if (!proved) out->outcome = CALM_FEASIBLE;
  return CALM_OK;
}

calm_status mapper_imperfect_search(mapper_result *out,
                                    const mapper_remainders *q,
                                    const uint32_t *kept) {
  const mapper_objective objective = q->whole->objective;
  if (!mapper_exact_found(out)) out->value = HUGE_VAL;
  return objective == MAPPER_DELAY_ENERGY
             ? search_twice(out, q, kept)
             : search(out, q, kept, objective, HUGE_VAL);
}
