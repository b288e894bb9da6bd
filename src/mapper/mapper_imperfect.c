#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/mapper_climb.h"
#include "mapper/mapper_exact.h"
#include "mapper/mapper_parts.h"

/*
 * Factors that need not divide their bounds.  There are too many for a proof in
 * general; but nests that are good with remainders are near nests that are good
 * without, of bounds a little larger: so each bound is raised to numbers with
 * more prime factors, the exact search finds the best nest of these, and its
 * loops are taken for the real bounds, where they do no more than before.  The
 * best of them climbs on.  What is found is never worse than the best perfect
 * nest, which is one of them.
 *
 * The bound counts what no nest can do without: every multiplication, as many
 * steps as there are with the best factors of all dimensions over all
 * multipliers, every word once at a level that there is one of.
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

/* What is asked for. */
typedef struct question {
  const mapper_problem *whole; /* whatever may be kept */
  const mapper_rules *rules;
  const uint32_t *kept; /* by all nests that are tried */
  limits *limits;
  arena *arena;
} question;

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
  p.imperfect = false;
  given.quiet = true;
  given.most_value = r->best.value * by->growth * by->growth;
  given.most_cycles *= by->growth;
  TRY(mapper_exact_any(&found, &p, &given, r->limits, r->arena));
  r->best.states += found.states;
  r->best.rounds += found.rounds;
  return mapper_exact_found(&found) ? climb(r, &found.nest, FEW_TRIES)
                                    : CALM_OK;
}

/* ---- The bound ----------------------------------------------------------- */

/* Tables for so many multipliers at most. */
enum { MOST_MULTIPLIERS = 1 << 16 };

/* steps[m]: the least of all dimensions from this one on if m multipliers are
   dealt out to them; `rest` is that without this one.  Of factors that leave
   equally many steps, the least will do. */
static void deal_out(double *steps, const double *rest, uint64_t bound,
                     uint64_t most) {
  for (uint64_t m = 1; m <= most; m++) {
    steps[m] = HUGE_VAL;
    for (uint64_t f = 1; f && f <= m;) {
      const uint64_t left = (bound + f - 1) / f;
      steps[m] = fmin(steps[m], (double)left * rest[m / f]);
      f = left > 1 ? (bound + left - 2) / (left - 1) : 0;
    }
  }
}

static calm_status find_least_steps(double *out, const accel_layer *layer,
                                    double multipliers, arena *a) {
  double *steps, *rest;
  *out = (double)layer->macs / multipliers;
  if (multipliers > MOST_MULTIPLIERS) return CALM_OK;
  const uint64_t most = (uint64_t)multipliers;
  ARENA_ARRAY(a, steps, most + 1);
  ARENA_ARRAY(a, rest, most + 1);
  for (uint64_t m = 1; m <= most; m++) rest[m] = 1;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    double *swap = rest;
    deal_out(steps, rest, layer->dimensions[d].bound, most);
    rest = steps, steps = swap;
  }
  *out = rest[most];
  return CALM_OK;
}

/* Words that a bandwidth has to bear: what is used, once. */
static double bear_words(const mapper_space *s, uint32_t level) {
  const cost_store *store = &s->tables->stores[level];
  double reads = 0, writes = 0, cycles = 0;
  if (s->beyond[level] != 1) return 0;
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    if (!(s->kept[level] >> t & 1)) continue;
    const double words = s->tensors[t].least * store->scales[t];
    *(s->tensors[t].written ? &writes : &reads) += words;
  }
  if (store->read_bandwidth > 0) cycles = reads / store->read_bandwidth;
  if (store->write_bandwidth > 0)
    cycles = fmax(cycles, writes / store->write_bandwidth);
  if (store->shared_bandwidth > 0)
    cycles = fmax(cycles, (reads + writes) / store->shared_bandwidth);
  return cycles;
}

static calm_status find_least_cycles(double *out, const mapper_space *s,
                                     arena *a) {
  double cycles;
  TRY(find_least_steps(&cycles, s->problem->layer,
                       s->beyond[0] * s->fans[0].size, a));
  for (uint32_t l = 0; l < s->level_count; l++)
    cycles = fmax(cycles, bear_words(s, l));
  *out = ceil(cycles * (1 - 1e-11)) + s->tables->network_cycles;
  return CALM_OK;
}

/*
 * A tensor at a level of one instance: every word arrives there and leaves it
 * once; from the innermost level, a word reaches only so many multipliers at a
 * time.  Where there are several instances, nothing is certain: the model takes
 * what the busiest one passes times the number that is busy on average, which
 * can be less than the words that there are.
 */
static double least_energy_at(const mapper_space *s, uint32_t t, uint32_t level,
                              bool innermost, bool outermost) {
  const mapper_price price = mapper_accounts_price(s, level, t);
  const mapper_tensor *tensor = &s->tensors[t];
  double leave = tensor->least;
  if (s->beyond[level] != 1) return 0;
  if (innermost)
    leave = fmax(leave, s->tables->macs / (s->beyond[0] * s->fans[0].size));
  if (tensor->written) return leave * price.update;
  return leave * price.read + (outermost ? 0 : tensor->least * price.fill);
}

static double least_energy(const mapper_space *s) {
  double energy = s->tables->macs * s->tables->mac_pj;
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    bool innermost = true;
    for (uint32_t l = 0; l < s->level_count; l++) {
      if (!(s->kept[l] >> t & 1)) continue;
      energy +=
          least_energy_at(s, t, l, innermost, l == s->tensors[t].outermost);
      innermost = false;
    }
  }
  return energy;
}

/* With what has to be kept alone. */
static calm_status find_bound(remainders *r, arena *scratch) {
  mapper_problem p = r->problem;
  mapper_space s;
  p.must_keep = p.may_keep = r->whole->must_keep;
  TRY(mapper_space_init(&s, &p, true, true, r->limits, scratch));
  if (r->limits->reason != LIMITS_NONE) return CALM_OK;
  double cycles;
  TRY(find_least_cycles(&cycles, &s, scratch));
  const double energy = p.objective == MAPPER_DELAY ? 1 : least_energy(&s);
  r->best.bound = p.objective == MAPPER_DELAY ? cycles
                  : p.objective == MAPPER_EDP ? energy * cycles
                                              : energy;
  return CALM_OK;
}

/* ---- One objective ------------------------------------------------------- */

static bool is_done(const remainders *r) {
  return r->limits->reason != LIMITS_NONE ||
         r->best.value <= r->best.bound * (1 + 1e-9);
}

static calm_status search_in(remainders *r, arena *scratch) {
  TRY(find_bound(r, scratch));
  TRY(list_raises(r));
  for (uint32_t i = 0; i < r->raise_count && !is_done(r); i++)
    TRY(try_raise(r, &r->raises[i]));
  if (r->best.value == HUGE_VAL || is_done(r)) return CALM_OK;
  const accel_nest from = r->best.nest;
  return climb(r, &from, MANY_TRIES);
}

/* Goes on from what is in *out. */
static calm_status search(mapper_result *out, const question *q,
                          mapper_objective objective, double most_cycles) {
  arena scratch;
  remainders r = {.whole = q->whole, .problem = *q->whole, .limits = q->limits};
  r.arena = q->arena;
  r.problem.must_keep = r.problem.may_keep = q->kept;
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
  return CALM_OK;
}

/* The fastest first, then the least energy within its cycles. */
static calm_status search_twice(mapper_result *out, const question *q) {
  const bool found = mapper_exact_found(out);
  out->value = found ? (double)out->cost.cycles : HUGE_VAL;
  TRY(search(out, q, MAPPER_DELAY, HUGE_VAL));
  if (!mapper_exact_found(out)) return CALM_OK;
  const bool proved = out->outcome == CALM_OPTIMAL;
  const double most_cycles = out->value;
  TRY(mapper_exact_evaluate(out, q->whole, q->arena));
  out->value = out->cost.energy_pj;
  TRY(search(out, q, MAPPER_DELAY_ENERGY, most_cycles));
  if (!proved) out->outcome = CALM_FEASIBLE;
  return CALM_OK;
}

/* ---- The answer ---------------------------------------------------------- */

/* Half of the time and of the work is for perfect nests. */
static void halve(limits *out, const limits *l) {
  *out = *l;
  if (l->deadline > 0) {
    const double now = limits_clock();
    out->deadline = now + fmax(0, l->deadline - now) / 2;
  }
  if (l->max_ticks < UINT64_MAX)
    out->max_ticks = l->ticks + (l->max_ticks - l->ticks) / 2;
  out->next_look = 0;
}

/* Only that it is time for the other half does not stop what follows. */
static void resume(limits *l, const limits *half) {
  l->ticks = half->ticks;
  l->next_look = 0;
  if (half->reason == LIMITS_MEMORY || half->reason == LIMITS_INTERRUPT)
    l->reason = half->reason;
  limits_spend(l, 0);
}

static calm_status start_perfect(mapper_result *out, const mapper_problem *p,
                                 const mapper_rules *rules, limits *l,
                                 arena *a) {
  mapper_problem perfect = *p;
  limits half;
  perfect.imperfect = false;
  halve(&half, l);
  TRY(mapper_exact(out, &perfect, rules, &half, a));
  resume(l, &half);
  return CALM_OK;
}

calm_status mapper_imperfect(mapper_result *out, const mapper_problem *p,
                             const mapper_rules *rules, limits *l, arena *a) {
  question q = {p, rules, p->may_keep, l, a};
  mapper_result r;
  if (p->objective == MAPPER_PARETO)
    return context_fail(a->context, CALM_UNSUPPORTED,
                        "exact mapper: no front of imperfect nests");
  TRY(start_perfect(&r, p, rules, l, a));
  if (mapper_exact_found(&r))
    q.kept = r.nest.kept;
  else
    r.value = HUGE_VAL;
  TRY(p->objective == MAPPER_DELAY_ENERGY
          ? search_twice(&r, &q)
          : search(&r, &q, p->objective, HUGE_VAL));
  *out = r;
  if (!mapper_exact_found(&r)) return CALM_OK;
  out->reason = r.outcome == CALM_OPTIMAL ? NULL
                : l->reason != LIMITS_NONE
                    ? limits_reason_name(l->reason)
                    : "with remainders, little is proved";
  return mapper_exact_evaluate(out, p, a);
}
