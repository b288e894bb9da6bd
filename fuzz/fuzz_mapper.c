/*
 * What every answer of a mapper obeys, on any small machine and layer and under
 * any constraints: a bound is no more than a value, a nest costs what is said
 * and breaks no rule, no sample is better than a bound, none is valid where
 * nothing is said to fit, and two runs agree; so do runs that prune less or
 * that are stopped early, as far as they go.  The first eight bytes are the
 * seed of all that; each three that follow change a level.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "demand.h"
#include "mapper/mapper_sample.h"
#include "mapper_brute.h"
#include "mapper_draw.h"
#include "mapper/mapper_sample.h"
#include "mapper_random_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  MOST_LEVELS = 16,
  SEED_BYTES = 8,
  EDIT_BYTES = 3,
  MOST_EDITS = 16,
  MOST_NESTS = 500, /* that are looked at one by one */
  MOST_TICKS = 400000
};

typedef struct trial {
  cost_random_case c;
  accel_constraints constraints;
  mapper_problem problem;
  uint32_t must[MOST_LEVELS];
  mapper_result best; /* by the rules as they are */
  random_state *random;
  arena *arena;
} trial;

/* ---- The case ------------------------------------------------------------ */

static void edit(accel_arch *arch, const uint8_t *bytes) {
  accel_level *l = &arch->levels[bytes[0] / 8 % arch->level_count];
  switch (bytes[0] % 8) {
    case 0: l->capacity_words = 1 + bytes[1]; break;
    case 1: l->capacity_words = ACCEL_UNLIMITED; break;
    case 2: l->read_bandwidth = bytes[1] / 16.0; break;
    case 3: l->write_bandwidth = bytes[1] / 16.0; break;
    case 4: l->energy.read_pj = bytes[1] / 4.0; break;
    case 5: l->network.hop_pj = bytes[1] / 16.0; break;
    case 6: l->min_utilization = bytes[1] % 4 / 4.0; break;
    default: l->energy.update_pj = bytes[1] / 4.0; break;
  }
}

/* Loops of a layer at random places; the rules are about them. */
static void draw_nest(accel_nest *n, const accel_layer *layer, random_state *r,
                      arena *a) {
  n->loops = arena_calloc(a, 64, sizeof *n->loops);
  demand(n->loops != NULL);
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    uint64_t left = layer->dimensions[d].bound;
    for (uint64_t prime = 2; left > 1; prime++)
      for (; left % prime == 0; left /= prime)
        n->loops[n->loop_count++] =
            (accel_loop){prime, prime, d, random_below(r, n->level_count),
                         random_below(r, 3) ? ACCEL_TEMPORAL : ACCEL_SPATIAL_X};
  }
  cost_sort_loops(n);
}

static void make_window(trial *t) {
  mapper_draw *d = arena_calloc(t->arena, 1, sizeof *d);
  demand(d && mapper_draw_make(d, t->random, t->arena));
  t->c = (cost_random_case){.arch = d->arch, .layer = d->layer};
  t->c.nest.kept = d->kept;
  t->c.nest.level_count = d->arch.level_count;
  draw_nest(&t->c.nest, &t->c.layer, t->random, t->arena);
}

/* Some tensors may be kept or not, as the mapper likes. */
static void draw_choices(trial *t) {
  const uint32_t levels = t->c.arch.level_count;
  for (uint32_t l = 0; l < levels; l++) t->must[l] = t->c.nest.kept[l];
  for (uint32_t k = random_below(t->random, 4); k-- > 1;) {
    const uint32_t level = random_below(t->random, levels);
    const uint32_t tensor = random_below(t->random, t->c.layer.tensor_count);
    t->must[level] &= ~(UINT32_C(1) << tensor);
    t->c.nest.kept[level] |= UINT32_C(1) << tensor;
  }
}

static void make(trial *t) {
  static const mapper_rule_chances chances[] = {{0},
                                                {.factor = 15, .foreign = 3},
                                                {8, 30, 30, 30, 4, 0},
                                                {.factor = 5, .foreign = 40}};
  const cost_random_options options = {.most_macs = 100, .valid = true};
  if (random_below(t->random, 2))
    make_window(t);
  else
    cost_random_make(&t->c, t->random, &options, t->arena);
  demand(t->c.arch.level_count <= MOST_LEVELS);
  mapper_random_rules(&t->constraints, &t->c,
                      &chances[random_below(t->random, 4)], t->random,
                      t->arena);
  draw_choices(t);
  t->problem = (mapper_problem){
      .arch = &t->c.arch,
      .layer = &t->c.layer,
      .constraints = random_below(t->random, 4) ? &t->constraints : NULL,
      .must_keep = t->must,
      .may_keep = t->c.nest.kept,
      .objective = (mapper_objective)random_below(t->random, MAPPER_BALANCE)};
}

/* ---- What a nest is ------------------------------------------------------ */

static double worth(const cost_result *c, mapper_objective o) {
  return o == MAPPER_DELAY ? (double)c->cycles
         : o == MAPPER_EDP ? c->edp
                           : c->energy_pj;
}

static bool is_about(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool is_least(double a, double b) { return a <= b + 1e-9 * fabs(b); }

/* Along both columns and rows below one level, which no file can say? */
static bool is_crossed(const accel_nest *n) {
  for (uint32_t i = 0; i < n->loop_count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (n->loops[i].level == n->loops[k].level &&
          n->loops[i].dimension == n->loops[k].dimension &&
          n->loops[i].kind == ACCEL_SPATIAL_Y &&
          n->loops[k].kind == ACCEL_SPATIAL_X)
        return true;
  return false;
}

/* Valid, under the rules, of tensors where they may be, and of that cost. */
static void check_nest(const trial *t, const accel_nest *n,
                       const cost_result *said) {
  cost_problem p;
  cost_result r;
  char *broken = NULL;
  demand(cost_problem_init(&p, t->problem.arch, t->problem.layer,
                           &t->problem.cost, t->arena) == CALM_OK);
  demand(cost_result_init(&r, &p, t->arena) == CALM_OK);
  demand(cost_evaluate(&r, &p, n) == CALM_OK);
  demand(r.verdict.fault == COST_VALID);
  demand(!is_crossed(n));
  demand(r.cycles == said->cycles && is_about(said->energy_pj, r.energy_pj));
  for (uint32_t l = 0; l < n->level_count; l++)
    demand((t->must[l] & ~n->kept[l]) == 0 &&
           (n->kept[l] & ~t->problem.may_keep[l]) == 0);
  if (!t->problem.constraints) return;
  demand(accel_constraints_check(&broken, t->problem.constraints, n,
                                 t->problem.arch, t->problem.layer,
                                 t->arena->context) == CALM_OK);
  demand(broken == NULL);
}

static bool has_nest(const mapper_result *r) {
  return r->outcome == CALM_OPTIMAL || r->outcome == CALM_FEASIBLE;
}

static void check_answer(const trial *t, const mapper_result *r) {
  const mapper_objective o = t->problem.objective;
  demand(r->outcome == CALM_OPTIMAL || (r->reason && *r->reason));
  demand(!r->reason || !strchr(r->reason, '\n'));
  if (!has_nest(r)) return;
  check_nest(t, &r->nest, &r->cost);
  for (uint32_t i = 0; i < r->front_count; i++) {
    check_nest(t, &r->front[i].nest, &r->front[i].cost);
    if (i == 0) continue;
    demand(r->front[i - 1].cost.cycles < r->front[i].cost.cycles);
    demand(r->front[i - 1].cost.energy_pj > r->front[i].cost.energy_pj);
  }
  if (o == MAPPER_PARETO) return;
  demand(is_about(r->value, worth(&r->cost, o)));
  demand(is_least(r->bound, r->value));
  if (r->outcome == CALM_OPTIMAL) demand(is_about(r->bound, r->value));
}

/* ---- Answers beside each other ------------------------------------------- */

static bool solve(mapper_result *out, const trial *t,
                  const mapper_problem *problem, const mapper_rules *rules,
                  uint64_t ticks) {
  limits l;
  limits_init(&l, t->arena->context);
  l.max_ticks = ticks;
  const calm_status status = mapper_exact(out, problem, rules, &l, t->arena);
  demand(status == CALM_OK || status == CALM_UNSUPPORTED);
  return status == CALM_OK;
}

/* Does no nest of `a` contradict what is known by `b`? */
static void check_beside(const trial *t, const mapper_result *a,
                         const mapper_result *b) {
  if (b->outcome == CALM_INFEASIBLE) demand(!has_nest(a));
  if (!has_nest(a) || t->problem.objective == MAPPER_PARETO) return;
  if (t->problem.objective != MAPPER_DELAY_ENERGY)
    demand(is_least(b->bound, a->value));
  if (a->outcome == CALM_OPTIMAL && b->outcome == CALM_OPTIMAL)
    demand(is_about(a->value, b->value));
}

static void compare(const trial *t, const mapper_result *a) {
  check_answer(t, a);
  check_beside(t, a, &t->best);
  check_beside(t, &t->best, a);
}

static void try_twice(const trial *t) {
  const mapper_rules rules = {0};
  const mapper_result *b = &t->best;
  mapper_result r;
  demand(solve(&r, t, &t->problem, &rules, MOST_TICKS));
  demand(r.outcome == b->outcome && r.states == b->states);
  if (!has_nest(b)) return;
  demand(r.front_count == b->front_count &&
         r.nest.loop_count == b->nest.loop_count);
  demand(r.cost.cycles == b->cost.cycles &&
         memcmp(&r.cost.energy_pj, &b->cost.energy_pj, sizeof(double)) == 0);
}

static void try_rules(const trial *t) {
  static const mapper_rules rules[] = {{.no_bound = true},
                                       {.no_dominance = true}};
  mapper_result r;
  demand(solve(&r, t, &t->problem, &rules[random_below(t->random, 2)],
               MOST_TICKS));
  compare(t, &r);
}

static void try_stopped(const trial *t) {
  const mapper_rules rules = {0};
  mapper_result r;
  demand(solve(&r, t, &t->problem, &rules, random_below(t->random, 3000)));
  compare(t, &r);
}

/* Perfect nests are among those with residuals. */
static void try_imperfect(const trial *t) {
  const mapper_rules rules = {0};
  mapper_problem p = t->problem;
  mapper_result r;
  p.imperfect = true;
  if (!solve(&r, t, &p, &rules, MOST_TICKS / 4)) return;
  check_answer(t, &r);
  if (r.outcome == CALM_INFEASIBLE) demand(!has_nest(&t->best));
  if (!has_nest(&t->best) || p.objective == MAPPER_PARETO ||
      p.objective == MAPPER_DELAY_ENERGY)
    return;
  demand(is_least(r.bound, t->best.value));
  if (r.outcome == CALM_OPTIMAL) demand(is_least(r.value, t->best.value));
}

/* Something of the front is no worse in both. */
static bool is_behind(const mapper_result *front, const cost_result *c) {
  for (uint32_t i = 0; i < front->front_count; i++)
    if (front->front[i].cost.cycles <= c->cycles &&
        is_least(front->front[i].cost.energy_pj, c->energy_pj))
      return true;
  return false;
}

static void try_samples(const trial *t) {
  const mapper_sampling s = {.seed = random_next(t->random),
                             .valid = 20,
                             .victory = 20,
                             .samples = 200};
  mapper_problem p = t->problem;
  mapper_result r;
  limits l;
  limits_init(&l, t->arena->context);
  const bool front = p.objective == MAPPER_PARETO;
  if (front) p.objective = MAPPER_EDP;
  demand((random_below(t->random, 2)
              ? mapper_random(&r, &p, &s, &l, t->arena)
              : mapper_hybrid(&r, &p, &s, &l, t->arena)) == CALM_OK);
  demand(r.outcome != CALM_OPTIMAL);
  if (r.outcome == CALM_INFEASIBLE) demand(!has_nest(&t->best));
  if (r.outcome != CALM_FEASIBLE) return;
  check_nest(t, &r.nest, &r.cost);
  check_beside(t, &r, &t->best);
  if (front && t->best.outcome == CALM_OPTIMAL)
    demand(is_behind(&t->best, &r.cost));
  if (p.objective == MAPPER_DELAY_ENERGY && t->best.outcome == CALM_OPTIMAL)
    demand(t->best.cost.cycles < r.cost.cycles ||
           (t->best.cost.cycles == r.cost.cycles &&
            is_least(t->best.value, r.cost.energy_pj)));
}

static double best_of(const mapper_brute *b, mapper_objective o) {
  return o == MAPPER_ENERGY  ? b->energy_pj
         : o == MAPPER_DELAY ? b->cycles
         : o == MAPPER_EDP   ? b->edp
                             : b->energy_at_cycles;
}

/* All nests of one choice of what is kept. */
static void try_all(const trial *t) {
  const mapper_objective o = t->problem.objective;
  const bool chosen = memcmp(t->must, t->problem.may_keep,
                             t->c.arch.level_count * sizeof *t->must) != 0;
  mapper_problem p = t->problem;
  mapper_brute b;
  p.must_keep = p.may_keep;
  const calm_status status = mapper_brute_search(&b, &p, MOST_NESTS, t->arena);
  if (status != CALM_OK || !b.valid) return;
  demand(t->best.outcome != CALM_INFEASIBLE);
  if (o == MAPPER_PARETO || o == MAPPER_DELAY_ENERGY) return;
  const double least = best_of(&b, o);
  demand(is_least(t->best.bound, least));
  if (b.complete && !chosen && t->best.outcome == CALM_OPTIMAL)
    demand(is_about(t->best.value, least));
}

static void try_case(trial *t) {
  const mapper_rules rules = {0};
  if (!solve(&t->best, t, &t->problem, &rules, MOST_TICKS)) return;
  check_answer(t, &t->best);
  try_twice(t);
  try_stopped(t);
  try_samples(t);
  try_rules(t);
  try_all(t);
  if (random_below(t->random, 2)) try_imperfect(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t seed = 0;
  if (size < SEED_BYTES) return 0;
  memcpy(&seed, data, SEED_BYTES);
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  arena a;
  arena_init(&a, context);
  random_state r = random_from_seed(seed);
  trial t = {.random = &r, .arena = &a};
  make(&t);
  for (size_t at = SEED_BYTES;
       at + EDIT_BYTES <= size && at < SEED_BYTES + MOST_EDITS * EDIT_BYTES;
       at += EDIT_BYTES)
    edit(&t.c.arch, data + at);
  try_case(&t);
  arena_free(&a);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
