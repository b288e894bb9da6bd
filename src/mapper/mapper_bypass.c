#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "mapper/mapper_exact.h"
#include "mapper/mapper_keeps.h"

/*
 * Which level keeps which tensor, searched.  First all are kept wherever they
 * may be; the nest that is found is tried with one tensor more or less at one
 * level, as long as that is better, and the best choice is searched again.  So
 * there is soon a good nest.
 *
 * Then the choices come in the order of what they cost at best.  Each is
 * searched below a threshold not far above its bound, which raises its bound,
 * and it goes back into the queue: the least bound of all is that of the
 * answer, and what costs more than the best nest is never looked at.
 */

/* A choice is searched this far above its bound first. */
static const double first_step = 0.004;

typedef struct choice {
  uint32_t *kept;
  double step;
} choice;

typedef struct bypass {
  const mapper_problem *problem;
  const mapper_given *given;
  limits *limits;
  arena *arena;   /* of the result */
  arena *scratch; /* of all else */
  mapper_keeps keeps;
  cost_problem cost;
  cost_result figures;
  VECTOR(choice) choices;
  mapper_heap queue;
  mapper_result best;
  double bound;   /* of choices that will not be searched again */
  double cycles;  /* no nest has fewer */
  uint64_t looks; /* searches */
} bypass;

/* ---- What costs mean ----------------------------------------------------- */

/* The objective, of a bound of energy. */
static double value_of_bound(const bypass *b, double energy_pj) {
  if (energy_pj == HUGE_VAL) return energy_pj;
  switch (b->problem->objective) {
    case MAPPER_DELAY: return b->cycles;
    case MAPPER_EDP: return energy_pj * b->cycles;
    default: return energy_pj;
  }
}

/* What a nest has to be better than. */
static double most_of(const bypass *b) {
  return fmin(b->best.value, b->given->most_value);
}

static double next_bound(const bypass *b) {
  const double queued = b->queue.count ? b->queue.data[0].key : HUGE_VAL;
  const double fresh = value_of_bound(b, mapper_keeps_bound(&b->keeps));
  return fmin(queued, fresh);
}

static void tell(const bypass *b) {
  if (!context_logs(b->arena->context)) return;
  const double bound = fmin(b->bound, next_bound(b));
  context_log(
      b->arena->context, CALM_LOG_PROGRESS,
      "mapper: %s: bypass: %" PRIu64
      " searches of %u keep sets  bound %.9g  best %.9g  states %" PRIu64,
      b->problem->layer->name, b->looks, b->choices.count, bound, b->best.value,
      b->best.states);
}

/* ---- One choice ---------------------------------------------------------- */

static calm_status search_choice(mapper_result *out, bypass *b,
                                 const uint32_t *kept, double most) {
  mapper_problem p = *b->problem;
  mapper_given given = *b->given;
  p.must_keep = p.may_keep = kept;
  given.most_value = most;
  given.quiet = true;
  TRY(mapper_exact_given(out, &p, &given, b->limits, b->arena));
  b->best.states += out->states;
  b->best.rounds += out->rounds;
  b->looks++;
  return CALM_OK;
}

static void adopt(bypass *b, const mapper_result *r) {
  const uint64_t states = b->best.states, rounds = b->best.rounds;
  b->best = *r;
  b->best.states = states;
  b->best.rounds = rounds;
  tell(b);
}

static calm_status take_fresh(bypass *b) {
  choice c = {.step = first_step};
  const double bound = value_of_bound(b, mapper_keeps_bound(&b->keeps));
  ARENA_ARRAY(b->scratch, c.kept, b->problem->arch->level_count);
  TRY(mapper_keeps_next(&b->keeps, c.kept));
  VECTOR_PUSH(b->arena->context, &b->choices, c);
  return mapper_heap_push(&b->queue, bound, b->choices.count - 1,
                          b->arena->context);
}

/* ---- A good nest soon ---------------------------------------------------- */

/* What the loops of the best nest cost with this keep set, if anything. */
static calm_status evaluate(double *value, bypass *b, uint32_t *kept) {
  accel_nest n = b->best.nest;
  n.kept = kept;
  TRY(cost_evaluate(&b->figures, &b->cost, &n));
  const bool good = b->figures.verdict.fault == COST_VALID &&
                    (double)b->figures.cycles <= b->given->most_cycles;
  *value =
      good ? mapper_value_of(b->problem->objective, &b->figures) : HUGE_VAL;
  return CALM_OK;
}

/* Tries each place once. */
static calm_status try_places(bool *better, bypass *b, uint32_t *kept,
                              double *value) {
  const mapper_problem *p = b->problem;
  for (uint32_t l = 0; l < p->arch->level_count; l++) {
    uint32_t free = p->may_keep[l] & ~p->must_keep[l];
    if (p->arch->levels[l].virtual_level) continue;
    for (; free; free &= free - 1) {
      double other;
      kept[l] ^= free & -free;
      TRY(evaluate(&other, b, kept));
      if (other < *value)
        *value = other, *better = true;
      else
        kept[l] ^= free & -free;
    }
  }
  return CALM_OK;
}

/* The best nest with other keep sets; false: none is better. */
static calm_status climb(bool *better, bypass *b, uint32_t *kept) {
  const uint32_t levels = b->problem->arch->level_count;
  double value = b->best.value;
  memcpy(kept, b->best.nest.kept, levels * sizeof *kept);
  *better = false;
  for (bool more = true; more; *better |= more) {
    more = false;
    TRY(try_places(&more, b, kept, &value));
  }
  if (!*better) return CALM_OK;
  mapper_result r = b->best;
  ARENA_ARRAY(b->arena, r.nest.kept, levels);
  memcpy(r.nest.kept, kept, levels * sizeof *kept);
  r.value = value;
  adopt(b, &r);
  return CALM_OK;
}

/* A search of one choice to its end, from which others follow. */
static calm_status follow(bypass *b, uint32_t *kept) {
  bool better;
  do {
    mapper_result r;
    TRY(search_choice(&r, b, kept, most_of(b)));
    if (mapper_exact_found(&r) && r.value < b->best.value) adopt(b, &r);
    if (b->best.value == HUGE_VAL) return CALM_OK;
    TRY(climb(&better, b, kept));
  } while (better && b->limits->reason == LIMITS_NONE);
  return CALM_OK;
}

/* A keep set that differs from the best in a place or two, or is the best. */
typedef struct neighbour {
  double bound;
  uint32_t level, other, bit; /* flipped at both; other may be CALM_NONE */
} neighbour;

static void flip(uint32_t *kept, const neighbour *n) {
  kept[n->level] ^= n->bit;
  if (n->other != CALM_NONE) kept[n->other] ^= n->bit;
}

static bool is_free(const bypass *b, uint32_t level, uint32_t bit) {
  const mapper_problem *p = b->problem;
  return !p->arch->levels[level].virtual_level &&
         (p->may_keep[level] & ~p->must_keep[level] & bit);
}

static int compare_neighbours(const void *left, const void *right) {
  const neighbour *a = left, *b = right;
  if (a->bound != b->bound) return a->bound < b->bound ? -1 : 1;
  if (a->level != b->level) return a->level < b->level ? -1 : 1;
  if (a->other != b->other) return a->other < b->other ? -1 : 1;
  return a->bit < b->bit ? -1 : a->bit > b->bit;
}

/* One place, or two of a tensor.  Those of less bound come first. */
static uint32_t find_neighbours(neighbour *out, const bypass *b,
                                uint32_t *kept) {
  const uint32_t levels = b->problem->arch->level_count;
  uint32_t count = 0;
  for (uint32_t t = 0; t < b->problem->layer->tensor_count; t++)
    for (uint32_t l = 0; l < levels; l++)
      for (uint32_t o = l + 1; o <= levels; o++) {
        neighbour n = {0, l, o < levels ? o : CALM_NONE, UINT32_C(1) << t};
        if (!is_free(b, l, n.bit) || (o < levels && !is_free(b, o, n.bit)))
          continue;
        flip(kept, &n);
        n.bound = value_of_bound(b, mapper_keeps_cost(&b->keeps, kept));
        flip(kept, &n);
        if (n.bound < most_of(b)) out[count++] = n;
      }
  qsort(out, count, sizeof *out, compare_neighbours);
  return count;
}

/* Goes to the first neighbour with a better nest, as long as there is one. */
static calm_status descend(bypass *b) {
  const uint32_t levels = b->problem->arch->level_count;
  neighbour *all;
  uint32_t *kept;
  bool better = b->best.value < HUGE_VAL;
  ARENA_ARRAY(b->scratch, kept, levels);
  ARENA_ARRAY(b->scratch, all,
              (size_t)levels * (levels + 1) * b->problem->layer->tensor_count);
  while (better && b->limits->reason == LIMITS_NONE) {
    memcpy(kept, b->best.nest.kept, levels * sizeof *kept);
    const uint32_t count = find_neighbours(all, b, kept);
    const double value = b->best.value;
    better = false;
    for (uint32_t i = 0; i < count && !better; i++) {
      mapper_result r;
      if (b->limits->reason != LIMITS_NONE) break;
      flip(kept, &all[i]);
      TRY(search_choice(&r, b, kept, most_of(b)));
      flip(kept, &all[i]);
      if (mapper_exact_found(&r)) adopt(b, &r);
      better = b->best.value < value;
    }
  }
  return CALM_OK;
}

/* Does a level hold one word of each? */
static bool holds(const bypass *b, uint32_t level, uint32_t set) {
  const cost_store *store = &b->keeps.space->tables->stores[level];
  return !store->limited || bits_count_word(set) <= store->capacity;
}

/* The places of a level that are kept: as many as it holds, those of `order`
   first. */
static uint32_t fill_level(const bypass *b, uint32_t level, uint32_t order) {
  const mapper_problem *p = b->problem;
  const uint32_t tensors = p->layer->tensor_count;
  uint32_t set = p->must_keep[level];
  if (p->arch->levels[level].virtual_level) return set;
  for (uint32_t i = 0; i < tensors; i++) {
    const uint32_t bit = UINT32_C(1) << (order + i) % tensors;
    if (p->may_keep[level] & bit && holds(b, level, set | bit)) set |= bit;
  }
  return set;
}

/* Everything kept; where not all fit, one tensor or another. */
static calm_status find_soon(bypass *b) {
  uint32_t *kept, *last;
  const uint32_t levels = b->problem->arch->level_count;
  ARENA_ARRAY(b->scratch, kept, levels);
  ARENA_ARRAY(b->scratch, last, levels);
  for (uint32_t i = 0; i < b->problem->layer->tensor_count; i++) {
    for (uint32_t l = 0; l < levels; l++) kept[l] = fill_level(b, l, i);
    if (i > 0 && (b->limits->reason != LIMITS_NONE ||
                  !memcmp(kept, last, levels * sizeof *kept)))
      continue;
    memcpy(last, kept, levels * sizeof *kept);
    TRY(follow(b, kept));
  }
  return descend(b);
}

/* ---- All choices --------------------------------------------------------- */

/* Whether the choice is done with, or what its bound is now. */
static calm_status look(bypass *b, const mapper_entry *entry) {
  choice *c = &b->choices.data[entry->number];
  mapper_result r;
  const double most = most_of(b);
  const double threshold =
      b->given->front ? most : fmin(most, entry->key * (1 + c->step));
  c->step *= 2;
  TRY(search_choice(&r, b, c->kept, threshold));
  if (b->limits->reason != LIMITS_NONE) b->bound = fmin(b->bound, entry->key);
  if (mapper_exact_found(&r)) adopt(b, &r);
  if (r.outcome == CALM_INFEASIBLE || r.outcome == CALM_OPTIMAL) return CALM_OK;
  const double bound = fmax(entry->key, r.bound);
  /* A bound below the threshold is that of nests whose counts are not exact:
     another look would see them again. */
  const bool seen = r.outcome == CALM_LIMIT && bound < threshold &&
                    b->limits->reason == LIMITS_NONE;
  if (r.outcome == CALM_LIMIT && threshold < most && !seen)
    return mapper_heap_push(&b->queue, bound, entry->number, b->arena->context);
  b->bound = fmin(b->bound, bound);
  return CALM_OK;
}

static calm_status search_all(bypass *b) {
  uint64_t told = 16;
  while (b->limits->reason == LIMITS_NONE && next_bound(b) < most_of(b)) {
    const double fresh = value_of_bound(b, mapper_keeps_bound(&b->keeps));
    if (b->queue.count == 0 || fresh < b->queue.data[0].key) TRY(take_fresh(b));
    const mapper_entry first = mapper_heap_pop(&b->queue);
    TRY(look(b, &first));
    if (b->looks < told) continue;
    told *= 2;
    tell(b);
  }
  b->bound = fmin(b->bound, next_bound(b));
  return CALM_OK;
}

/* ---- The answer ---------------------------------------------------------- */

static void conclude(mapper_result *best, double bound, const limits *l) {
  best->bound = fmin(bound, best->value);
  if (best->value < HUGE_VAL) {
    const bool proved = best->value <= best->bound * (1 + 1e-9);
    best->outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE;
    best->reason = proved ? NULL : mapper_exact_reason(l);
    return;
  }
  const bool stopped = l->reason != LIMITS_NONE;
  best->outcome = stopped || bound < HUGE_VAL ? CALM_LIMIT : CALM_INFEASIBLE;
  best->reason =
      stopped ? limits_reason_name(l->reason) : "no tiling fits the capacities";
}

static calm_status prepare(bypass *b, const mapper_problem *p) {
  mapper_problem *all;
  mapper_space *space;
  const cost_options options = {.model = COST_EXACT};
  ARENA_ARRAY(b->scratch, all, 1);
  ARENA_ARRAY(b->scratch, space, 1);
  *all = *p;
  all->may_keep = p->must_keep; /* what bandwidths bear in any case */
  TRY(cost_problem_init(&b->cost, p->arch, p->layer, &options, b->scratch));
  TRY(cost_result_init(&b->figures, &b->cost, b->scratch));
  TRY(mapper_space_init(space, all, p->objective != MAPPER_DELAY,
                        p->objective != MAPPER_ENERGY, b->limits, b->scratch));
  b->cycles = space->least_cycles + space->tables->network_cycles;
  b->keeps.space = space;
  if (b->limits->reason != LIMITS_NONE) return CALM_OK;
  return mapper_keeps_init(&b->keeps, space, p->must_keep, p->may_keep,
                           b->limits, b->scratch);
}

static calm_status search(bypass *b, const mapper_problem *p) {
  TRY(prepare(b, p));
  const bool stopped = b->limits->reason != LIMITS_NONE;
  if (stopped) b->bound = 0;
  if (!b->given->front) TRY(find_soon(b));
  return stopped ? CALM_OK : search_all(b);
}

calm_status mapper_bypass_search(mapper_result *out, const mapper_problem *p,
                                 const mapper_given *given, limits *l,
                                 arena *a) {
  arena scratch;
  bypass b = {.problem = p, .given = given, .limits = l, .arena = a};
  b.scratch = &scratch;
  b.best = (mapper_result){.outcome = CALM_LIMIT, .value = HUGE_VAL};
  b.bound = HUGE_VAL;
  b.keeps.arena = &scratch;
  arena_init(&scratch, a->context);
  const calm_status status = search(&b, p);
  mapper_keeps_free(&b.keeps);
  VECTOR_FREE(a->context, &b.choices);
  VECTOR_FREE(a->context, &b.queue);
  arena_free(&scratch);
  TRY(status);
  conclude(&b.best, b.bound, l);
  *out = b.best;
  return CALM_OK;
}
