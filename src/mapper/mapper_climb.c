#include "mapper/mapper_climb.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "mapper/mapper_exact.h"
#include "mapper/mapper_sample_draw.h"

/*
 * A nest is a factor for each dimension and place, and an order of the
 * dimensions for each place; places are numbered as in mapper_sample_draw.h.
 * One place of each dimension takes what the others leave, rounded up: so that
 * any move comes to a nest of the bounds, and without remainders to a perfect
 * one.
 */

typedef struct figures {
  double value, also; /* the objective, and what decides between equals */
} figures;

typedef struct climber {
  const mapper_problem *problem;
  const mapper_climbing *how;
  limits *limits;
  arena *arena;
  uint32_t dimensions, places;
  cost_problem cost;
  cost_result result;
  uint64_t *factors; /* [dimension * places + place] */
  uint32_t *order;   /* [place * dimensions + i], innermost first */
  accel_nest nest;   /* made of these */
  figures now;
  uint64_t tries;
  accel_nest best; /* of all starts; its loops are room for any nest */
  figures best_figures;
} climber;

static uint64_t *factor_at(const climber *c, uint32_t d, uint32_t place) {
  return &c->factors[(size_t)d * c->places + place];
}
static uint32_t *order_at(const climber *c, uint32_t place) {
  return &c->order[(size_t)place * c->dimensions];
}

/* ---- Costs --------------------------------------------------------------- */

static bool is_less(const figures *a, const figures *b) {
  if (a->value < b->value * (1 - 1e-12)) return true;
  return a->value <= b->value && a->also < b->also * (1 - 1e-12);
}

static figures figures_of(const climber *c, const cost_result *r) {
  const double cycles = (double)r->cycles;
  switch (c->problem->objective) {
    case MAPPER_DELAY: return (figures){cycles, r->energy_pj};
    case MAPPER_EDP:
    case MAPPER_PARETO: return (figures){r->edp, cycles};
    default: return (figures){r->energy_pj, cycles};
  }
}

/* A dimension along both columns and rows below one level is no nest that files
   can say, nor one that the search knows. */
static bool is_crossed(const climber *c) {
  for (uint32_t d = 0; d < c->dimensions; d++)
    for (uint32_t place = 0; place < c->places; place += MAPPER_KINDS)
      if (*factor_at(c, d, place + ACCEL_SPATIAL_X) > 1 &&
          *factor_at(c, d, place + ACCEL_SPATIAL_Y) > 1)
        return true;
  return false;
}

/* Loops from the factors, with residuals: of what is left outside of a loop,
   rounded up, the last pass has a part.  False: they fall short of a bound. */
static bool build(climber *c) {
  accel_nest *n = &c->nest;
  uint64_t left[ACCEL_MAX_DIMENSIONS];
  n->loop_count = 0;
  for (uint32_t d = 0; d < c->dimensions; d++)
    left[d] = c->problem->layer->dimensions[d].bound;
  for (uint32_t place = 0; place < c->places; place++)
    for (uint32_t i = 0; i < c->dimensions; i++) {
      const uint32_t d = order_at(c, place)[i];
      const uint64_t bound = *factor_at(c, d, place);
      if (bound == 1) continue;
      n->loops[n->loop_count++] = (accel_loop){
          bound, (left[d] - 1) % bound + 1, d, place / MAPPER_KINDS,
          (accel_loop_kind)(place % MAPPER_KINDS)};
      left[d] = (left[d] + bound - 1) / bound;
    }
  for (uint32_t d = 0; d < c->dimensions; d++)
    if (left[d] != 1) return false;
  return true;
}

static calm_status obeys(bool *out, const climber *c) {
  char *fault = NULL;
  const mapper_problem *p = c->problem;
  *out = true;
  if (!p->constraints) return CALM_OK;
  TRY(accel_constraints_check(&fault, p->constraints, &c->nest, p->arch,
                              p->layer, c->arena->context));
  *out = fault == NULL;
  calm_text_free(c->arena->context, fault);
  return CALM_OK;
}

/* What the nest costs that the factors make; HUGE_VAL: it is none. */
static calm_status try_nest(figures *out, climber *c) {
  bool good = !is_crossed(c) && build(c);
  *out = (figures){HUGE_VAL, HUGE_VAL};
  c->tries++;
  limits_spend(c->limits, 1);
  if (!good) return CALM_OK;
  cost_verdict verdict;
  cost_judge(&verdict, &c->cost, &c->nest);
  if (verdict.fault != COST_VALID) return CALM_OK;
  TRY(obeys(&good, c));
  if (!good) return CALM_OK;
  TRY(cost_evaluate(&c->result, &c->cost, &c->nest));
  if (c->result.verdict.fault == COST_VALID &&
      (double)c->result.cycles <= c->how->most_cycles)
    *out = figures_of(c, &c->result);
  return CALM_OK;
}

static bool is_done(const climber *c) {
  return c->tries >= c->how->tries || c->limits->reason != LIMITS_NONE;
}

/* ---- Moves --------------------------------------------------------------- */

/* What a place has to take for the others to make up the bound. */
static uint64_t rest_of(const climber *c, uint32_t d, uint32_t place) {
  uint64_t left = c->problem->layer->dimensions[d].bound;
  for (uint32_t i = 0; i < c->places; i++)
    if (i != place) {
      const uint64_t f = *factor_at(c, d, i);
      left = (left + f - 1) / f;
    }
  return left;
}

/* A place has another factor, and a second place makes up for it. */
static calm_status try_factor(bool *better, climber *c, uint32_t d,
                              const uint32_t places[2], uint64_t factor) {
  uint64_t *at = factor_at(c, d, places[0]);
  uint64_t *other = factor_at(c, d, places[1]);
  const uint64_t old[2] = {*at, *other};
  figures f;
  *at = factor;
  *other = rest_of(c, d, places[1]);
  *better = false;
  if (*at == old[0] && *other == old[1]) return CALM_OK;
  TRY(try_nest(&f, c));
  *better = is_less(&f, &c->now);
  if (*better)
    c->now = f;
  else
    *at = old[0], *other = old[1];
  return CALM_OK;
}

/* Small divisors are found by themselves, large ones by what they leave. */
static uint64_t next_divisor(uint64_t n, uint64_t divisor) {
  uint64_t next = divisor + 1;
  for (; next <= n / next; next++)
    if (n % next == 0) return next;
  for (uint64_t left = n / divisor; --left > 0;)
    if (n % left == 0 && n / left > divisor) return n / left;
  return 0;
}

/* The next larger factor to be tried; 0 after the last.  With remainders, the
   least of those that leave equally many iterations outside. */
static uint64_t next_factor(const climber *c, uint64_t most, uint64_t factor) {
  if (c->how->imperfect) {
    if (factor >= most) return 0;
    const uint64_t outside = (most + factor - 1) / factor;
    return outside > 1 ? (most + outside - 2) / (outside - 1) : 0;
  }
  return next_divisor(most, factor);
}

/* All factors of one place that a second can make up for. */
static calm_status try_pair(bool *better, climber *c, uint32_t d,
                            const uint32_t places[2]) {
  const uint64_t was = *factor_at(c, d, places[0]);
  uint64_t *other = factor_at(c, d, places[1]);
  const uint64_t old = *other;
  *other = 1;
  const uint64_t most = rest_of(c, d, places[0]);
  *other = old;
  if (most == 1 && was == 1) return CALM_OK;
  for (uint64_t f = 1; f && !is_done(c); f = next_factor(c, most, f)) {
    bool improved;
    TRY(try_factor(&improved, c, d, places, f));
    *better |= improved;
  }
  return CALM_OK;
}

static calm_status move_factors(bool *better, climber *c) {
  for (uint32_t d = 0; d < c->dimensions; d++)
    for (uint32_t to = 0; to < c->places; to++)
      for (uint32_t from = 0; from < c->places && !is_done(c); from++) {
        const uint32_t places[2] = {to, from};
        if (from == to || *factor_at(c, d, from) == 1) continue;
        TRY(try_pair(better, c, d, places));
      }
  return CALM_OK;
}

static void turn(uint32_t *order, uint32_t from, uint32_t to) {
  const uint32_t d = order[from];
  for (; from < to; from++) order[from] = order[from + 1];
  for (; from > to; from--) order[from] = order[from - 1];
  order[to] = d;
}

static calm_status move_loops(bool *better, climber *c) {
  for (uint32_t place = 0; place < c->places; place++)
    for (uint32_t from = 0; from < c->dimensions; from++) {
      if (*factor_at(c, order_at(c, place)[from], place) == 1) continue;
      for (uint32_t to = 0; to < c->dimensions && !is_done(c); to++) {
        figures f;
        /* Only past loops that are there. */
        if (to == from || *factor_at(c, order_at(c, place)[to], place) == 1)
          continue;
        turn(order_at(c, place), from, to);
        TRY(try_nest(&f, c));
        if (is_less(&f, &c->now)) {
          c->now = f;
          *better = true;
          break;
        }
        turn(order_at(c, place), to, from);
      }
    }
  return CALM_OK;
}

/* ---- Starts -------------------------------------------------------------- */

static void keep_best(climber *c) {
  if (!is_less(&c->now, &c->best_figures)) return;
  build(c);
  c->best_figures = c->now;
  c->best.loop_count = c->nest.loop_count;
  memcpy(c->best.loops, c->nest.loops,
         c->nest.loop_count * sizeof *c->nest.loops);
}

static calm_status go_up(climber *c) {
  bool better = true;
  TRY(try_nest(&c->now, c));
  if (c->now.value == HUGE_VAL) return CALM_OK;
  while (better && !is_done(c)) {
    better = false;
    TRY(move_factors(&better, c));
    TRY(move_loops(&better, c));
  }
  keep_best(c);
  return CALM_OK;
}

/* Everything over time at the outermost level. */
static void begin(climber *c) {
  for (uint32_t d = 0; d < c->dimensions; d++) {
    for (uint32_t i = 0; i < c->places; i++) *factor_at(c, d, i) = 1;
    *factor_at(c, d, c->places - 1) = c->problem->layer->dimensions[d].bound;
  }
  for (uint32_t i = 0; i < c->places; i++)
    for (uint32_t d = 0; d < c->dimensions; d++) order_at(c, i)[d] = d;
}

/* The loops of a nest come first in their places, in their order. */
static void take(climber *c, const accel_nest *n) {
  begin(c);
  for (uint32_t d = 0; d < c->dimensions; d++)
    *factor_at(c, d, c->places - 1) = 1;
  for (uint32_t i = n->loop_count; i-- > 0;) {
    const accel_loop *l = &n->loops[i];
    const uint32_t place = l->level * MAPPER_KINDS + l->kind;
    uint32_t *order = order_at(c, place), at = 0;
    while (order[at] != l->dimension) at++;
    turn(order, at, 0);
    *factor_at(c, l->dimension, place) *= l->bound;
  }
}

static calm_status start_from(climber *c, const accel_nest *n) {
  take(c, n);
  return go_up(c);
}

static calm_status start_plainly(climber *c) {
  begin(c);
  return go_up(c);
}

static calm_status start_at_random(climber *c) {
  mapper_draw draw;
  TRY(mapper_draw_init(&draw, c->problem, 1, c->arena));
  if (draw.reason) return CALM_OK;
  for (uint32_t i = 0; i < c->how->starts && !is_done(c); i++)
    if (mapper_draw_next(&draw)) TRY(start_from(c, &draw.nest));
  return CALM_OK;
}

/* ---- The answer ---------------------------------------------------------- */

static calm_status prepare(climber *c) {
  const mapper_problem *p = c->problem;
  const cost_options options = {.model = COST_EXACT};
  c->dimensions = p->layer->dimension_count;
  c->places = p->arch->level_count * MAPPER_KINDS;
  const size_t most = (size_t)c->dimensions * c->places;
  c->best_figures = (figures){HUGE_VAL, HUGE_VAL};
  ARENA_ARRAY(c->arena, c->factors, most);
  ARENA_ARRAY(c->arena, c->order, most);
  ARENA_ARRAY(c->arena, c->nest.loops, most);
  ARENA_ARRAY(c->arena, c->best.loops, most);
  ARENA_ARRAY(c->arena, c->nest.kept, p->arch->level_count);
  c->nest.level_count = c->best.level_count = p->arch->level_count;
  memcpy(c->nest.kept, c->how->from ? c->how->from->kept : p->must_keep,
         p->arch->level_count * sizeof *c->nest.kept);
  c->best.kept = c->nest.kept;
  TRY(cost_problem_init(&c->cost, p->arch, p->layer, &options, c->arena));
  return cost_result_init(&c->result, &c->cost, c->arena);
}

static calm_status climb(climber *c) {
  TRY(prepare(c));
  if (c->how->from) TRY(start_from(c, c->how->from));
  if (!is_done(c)) TRY(start_plainly(c));
  return is_done(c) ? CALM_OK : start_at_random(c);
}

calm_status mapper_climb(mapper_result *out, const mapper_problem *p,
                         const mapper_climbing *how, limits *l, arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  climber c = {.problem = p, .how = how, .limits = l, .arena = &scratch};
  mapper_result r = {.outcome = CALM_LIMIT};
  calm_status status = climb(&c);
  if (status == CALM_OK && c.best_figures.value < HUGE_VAL) {
    r.outcome = CALM_FEASIBLE;
    r.value = c.best_figures.value;
    status = accel_nest_copy(&r.nest, &c.best, a);
  }
  r.samples = c.tries;
  arena_free(&scratch);
  TRY(status);
  *out = r;
  return CALM_OK;
}
