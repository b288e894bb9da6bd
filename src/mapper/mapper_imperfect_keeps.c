#include <math.h>
#include <string.h>

#include "mapper/mapper_climb.h"
#include "mapper/mapper_imperfect.h"

/*
 * Which keep sets are tried with remainders.  Each is looked at as if it were
 * given: from its best perfect nest on.  If there is a choice, these are the
 * set of the best perfect nest of all, and the one that keeps everything, as
 * remainders may make room for it; then those that differ from the best in a
 * place or two, from its loops.  So the answer is never worse than without the
 * choice, unless a limit ends the search.
 */

/* Tries of a climb with a neighbour's keep set; rounds of neighbours. */
enum { NEIGHBOUR_TRIES = 250, MOST_ROUNDS = 6 };

typedef struct seeker {
  mapper_remainders q; /* its limits are `part` */
  limits *limits, part;
  mapper_result best;
  limits_reason cut; /* what a part ended by */
  uint32_t *kept;    /* of a neighbour */
} seeker;

/* ---- Limits -------------------------------------------------------------- */

/* A part of what is left of time and work. */
static void begin_part(seeker *s, uint32_t divisor) {
  const limits *l = s->limits;
  s->part = *l;
  s->part.next_look = 0;
  if (l->deadline > 0) {
    const double now = limits_clock();
    s->part.deadline = now + fmax(0, l->deadline - now) / divisor;
  }
  if (l->max_ticks < UINT64_MAX)
    s->part.max_ticks = l->ticks + (l->max_ticks - l->ticks) / divisor;
}

/* Only that it is time for the next part does not stop what follows. */
static void end_part(seeker *s) {
  limits *l = s->limits;
  const limits_reason reason = s->part.reason;
  if (reason != LIMITS_NONE) s->cut = reason;
  l->ticks = s->part.ticks;
  l->next_look = 0;
  if (reason == LIMITS_MEMORY || reason == LIMITS_INTERRUPT) l->reason = reason;
  limits_spend(l, 0);
}

/* ---- One keep set -------------------------------------------------------- */

static bool is_better(const mapper_result *a, const mapper_result *b,
                      mapper_objective objective) {
  if (!mapper_exact_found(a)) return false;
  if (!mapper_exact_found(b)) return true;
  if (objective == MAPPER_DELAY_ENERGY && a->cost.cycles != b->cost.cycles)
    return a->cost.cycles < b->cost.cycles;
  return a->value < b->value;
}

/* Bounds are of all keep sets: any of them holds. */
static void adopt(seeker *s, const mapper_result *r) {
  mapper_result best = s->best;
  if (is_better(r, &best, s->q.whole->objective)) best = *r;
  best.states = s->best.states + r->states;
  best.rounds = s->best.rounds + r->rounds;
  best.bound = fmax(s->best.bound, r->bound);
  s->best = best;
}

/* Does the nest of least tiles fit, constraints aside?  If not, no nest does.
 */
static calm_status fits_at_all(bool *out, seeker *s) {
  const mapper_climbing how = {.most_cycles = HUGE_VAL, .tries = 1};
  mapper_problem p = *s->q.whole;
  mapper_result plain;
  limits l;
  limits_init(&l, s->q.arena->context);
  p.constraints = NULL;
  p.may_keep = p.must_keep;
  TRY(mapper_climb(&plain, &p, &how, &l, s->q.arena));
  *out = mapper_exact_found(&plain);
  for (uint32_t i = 0; i < p.arch->level_count; i++)
    *out |= p.arch->levels[i].min_utilization > 0;
  return CALM_OK;
}

/* What is said if no nest is found with remainders either: that no perfect one
   keeps to the constraints proves nothing of these. */
static calm_status adopt_none(seeker *s, mapper_result *r) {
  bool fits;
  TRY(fits_at_all(&fits, s));
  s->best = *r;
  s->best.value = HUGE_VAL;
  r->states = r->rounds = 0;
  if (!fits || r->outcome != CALM_INFEASIBLE) return CALM_OK;
  s->best.outcome = CALM_LIMIT;
  s->best.reason =
      "no perfect nest is valid, and climbing found none with remainders";
  return CALM_OK;
}

/* Of the perfect nests that keep what is between. */
static calm_status find_perfect(mapper_result *out, seeker *s,
                                const uint32_t *must, const uint32_t *may,
                                uint32_t divisor) {
  mapper_problem perfect = *s->q.whole;
  perfect.imperfect = false;
  perfect.must_keep = must;
  perfect.may_keep = may;
  begin_part(s, divisor);
  TRY(mapper_exact(out, &perfect, s->q.rules, &s->part, s->q.arena));
  end_part(s);
  out->bound = 0; /* not of nests with remainders */
  return CALM_OK;
}

static calm_status look_at(seeker *s, const mapper_result *from,
                           const uint32_t *kept, uint32_t divisor) {
  mapper_result r = *from;
  begin_part(s, divisor);
  TRY(mapper_imperfect_search(&r, &s->q, kept));
  end_part(s);
  adopt(s, &r);
  return CALM_OK;
}

/* ---- Neighbours ---------------------------------------------------------- */

/* The places of a tensor that are free, as bits of levels. */
static uint64_t free_places(const mapper_problem *p, uint32_t tensor) {
  uint64_t free = 0;
  for (uint32_t l = 0; l < p->arch->level_count; l++)
    if (!p->arch->levels[l].virtual_level)
      free |= (uint64_t)((p->may_keep[l] & ~p->must_keep[l]) >> tensor & 1)
              << l;
  return free;
}

static calm_status climb_with(seeker *s, const uint32_t *kept) {
  mapper_problem p = *s->q.whole;
  accel_nest from = s->best.nest;
  mapper_result found;
  const bool within = p.objective == MAPPER_DELAY_ENERGY;
  const mapper_climbing how = {
      .most_cycles = within ? (double)s->best.cost.cycles : HUGE_VAL,
      .tries = NEIGHBOUR_TRIES,
      .imperfect = true,
      .from = &from};
  from.kept = s->kept;
  p.must_keep = p.may_keep = kept;
  TRY(mapper_climb(&found, &p, &how, &s->part, s->q.arena));
  if (!mapper_exact_found(&found) || found.value >= s->best.value)
    return CALM_OK;
  TRY(mapper_exact_evaluate(&found, s->q.whole, s->q.arena));
  adopt(s, &found);
  return CALM_OK;
}

/* The best set, but for these levels of the tensor. */
static calm_status flip_and_climb(seeker *s, uint32_t tensor, uint64_t levels) {
  const uint32_t count = s->q.whole->arch->level_count;
  for (uint32_t l = 0; l < count; l++)
    s->kept[l] = s->best.nest.kept[l] ^ (uint32_t)(levels >> l & 1) << tensor;
  return climb_with(s, s->kept);
}

static calm_status visit_neighbours(seeker *s) {
  const mapper_problem *p = s->q.whole;
  for (uint32_t t = 0; t < p->layer->tensor_count; t++) {
    const uint64_t free = free_places(p, t);
    for (uint64_t i = free; i; i &= i - 1)
      for (uint64_t k = i; k && s->part.reason == LIMITS_NONE; k &= k - 1)
        TRY(flip_and_climb(s, t, (i & -i) | (k & -k)));
  }
  return CALM_OK;
}

/* As long as there is a better one. */
static calm_status descend(seeker *s) {
  double value = HUGE_VAL;
  begin_part(s, 2);
  for (uint32_t i = 0; i < MOST_ROUNDS && s->best.value < value; i++) {
    value = s->best.value;
    TRY(visit_neighbours(s));
  }
  end_part(s);
  return CALM_OK;
}

/* ---- All keep sets ------------------------------------------------------- */

static bool same_kept(const seeker *s, const uint32_t *a, const uint32_t *b) {
  return !memcmp(a, b, s->q.whole->arch->level_count * sizeof *a);
}

static bool is_done(const seeker *s) {
  return s->limits->reason != LIMITS_NONE || s->best.outcome == CALM_OPTIMAL;
}

/* Everything that may be kept. */
static calm_status find_most(uint32_t **out, const mapper_problem *p,
                             arena *a) {
  uint32_t *most;
  ARENA_ARRAY(a, most, p->arch->level_count);
  for (uint32_t l = 0; l < p->arch->level_count; l++)
    most[l] =
        p->arch->levels[l].virtual_level ? p->must_keep[l] : p->may_keep[l];
  *out = most;
  return CALM_OK;
}

/* Where neighbours led to, from there on and from its own perfect nest. */
static calm_status settle(seeker *s, const uint32_t *kept) {
  mapper_result r = s->best;
  r.states = r.rounds = 0;
  TRY(look_at(s, &r, kept, 2));
  if (is_done(s)) return CALM_OK;
  TRY(find_perfect(&r, s, kept, kept, 2));
  return look_at(s, &r, kept, 1);
}

/* The set of the best perfect nest is `first`, NULL if there is none. */
static calm_status look_around(seeker *s, const uint32_t *first,
                               const uint32_t *most) {
  mapper_result r;
  if (!first || !same_kept(s, first, most)) {
    TRY(find_perfect(&r, s, most, most, 2));
    TRY(look_at(s, &r, most, 2));
  }
  if (is_done(s) || !mapper_exact_found(&s->best)) return CALM_OK;
  TRY(descend(s));
  const uint32_t *kept = s->best.nest.kept;
  if (is_done(s) || same_kept(s, kept, most)) return CALM_OK;
  if (first && same_kept(s, kept, first)) return CALM_OK;
  return settle(s, kept);
}

static calm_status look_everywhere(seeker *s) {
  const mapper_problem *p = s->q.whole;
  uint32_t *most;
  mapper_result r;
  TRY(find_most(&most, p, s->q.arena));
  ARENA_ARRAY(s->q.arena, s->kept, p->arch->level_count);
  TRY(find_perfect(&r, s, p->must_keep, p->may_keep, 2));
  if (!mapper_exact_found(&r)) TRY(adopt_none(s, &r));
  if (same_kept(s, p->must_keep, p->may_keep)) return look_at(s, &r, most, 1);
  const uint32_t *first = mapper_exact_found(&r) ? r.nest.kept : NULL;
  if (first) TRY(look_at(s, &r, first, 2));
  return is_done(s) ? CALM_OK : look_around(s, first, most);
}

/* ---- The answer ---------------------------------------------------------- */

static const char *reason_of(const seeker *s) {
  if (s->best.outcome == CALM_OPTIMAL) return NULL;
  if (s->limits->reason != LIMITS_NONE)
    return limits_reason_name(s->limits->reason);
  return s->cut != LIMITS_NONE
             ? limits_reason_name(s->cut)
             : "remainders are searched by climbing; more time finds no more";
}

calm_status mapper_imperfect(mapper_result *out, const mapper_problem *p,
                             const mapper_rules *rules, limits *l, arena *a) {
  seeker s = {.limits = l};
  s.q = (mapper_remainders){p, rules, &s.part, a};
  s.best = (mapper_result){.outcome = CALM_LIMIT, .value = HUGE_VAL};
  if (p->objective == MAPPER_PARETO)
    return context_fail(a->context, CALM_UNSUPPORTED,
                        "exact mapper: no front of imperfect nests");
  TRY(look_everywhere(&s));
  mapper_result r = s.best;
  if (mapper_exact_found(&r)) {
    const bool proved = r.value <= r.bound * (1 + 1e-9);
    if (proved && p->objective != MAPPER_DELAY_ENERGY) r.outcome = CALM_OPTIMAL;
    if (r.outcome == CALM_OPTIMAL) r.bound = r.value;
    s.best.outcome = r.outcome;
    r.reason = reason_of(&s);
    TRY(mapper_exact_evaluate(&r, p, a));
  }
  *out = r;
  return CALM_OK;
}
