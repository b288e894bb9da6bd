/*
 * Places: per level columns, rows, and time.  First the factors of each
 * dimension over all places, one dimension after the other; then the orders of
 * each level's temporal loops.
 */
#include "mapper_brute.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 8, PLACES = 3 * MOST_LEVELS };

typedef struct brute {
  const mapper_problem *problem;
  cost_problem cost;
  cost_result result;
  mapper_brute *out;
  uint64_t most;
  uint64_t factors[ACCEL_MAX_DIMENSIONS][PLACES];
  bool routes; /* the order of spatial loops matters */
  uint32_t order[PLACES][ACCEL_MAX_DIMENSIONS];
  uint32_t order_count[PLACES];
  accel_loop loops[128];
  uint32_t kept[MOST_LEVELS];
} brute;

/* Energies that differ in the last digits are one. */
void mapper_brute_enter(mapper_brute *b, double cycles, double energy_pj) {
  uint32_t at = 0, last;
  for (; at < b->front_count && b->front[at].cycles <= cycles; at++)
    if (b->front[at].energy_pj <= energy_pj * (1 + 1e-12)) return;
  if (at > 0 && b->front[at - 1].cycles == cycles) at--;
  for (last = at; last < b->front_count; last++)
    if (b->front[last].energy_pj < energy_pj * (1 - 1e-12)) break;
  const uint32_t rest = b->front_count - last;
  if (at + 1 + rest > MAPPER_BRUTE_POINTS) {
    b->complete = false;
    return;
  }
  memmove(&b->front[at + 1], &b->front[last], rest * sizeof *b->front);
  b->front[at] = (mapper_brute_point){cycles, energy_pj};
  b->front_count = at + 1 + rest;
}

static void note(brute *b) {
  mapper_brute *out = b->out;
  const cost_result *r = &b->result;
  const double cycles = (double)r->cycles;
  out->valid++;
  if (cycles < out->cycles) out->energy_at_cycles = HUGE_VAL;
  if (cycles <= out->cycles)
    out->energy_at_cycles = fmin(out->energy_at_cycles, r->energy_pj);
  out->cycles = fmin(out->cycles, cycles);
  out->energy_pj = fmin(out->energy_pj, r->energy_pj);
  out->edp = fmin(out->edp, r->edp);
  mapper_brute_enter(out, cycles, r->energy_pj);
}

static void add(accel_nest *n, uint64_t bound, uint32_t d, uint32_t level,
                accel_loop_kind kind) {
  if (bound > 1)
    n->loops[n->loop_count++] = (accel_loop){bound, bound, d, level, kind};
}

/* Does the nest observe the constraints, if there are any? */
static calm_status observes(bool *out, const brute *b, const accel_nest *n) {
  const mapper_problem *p = b->problem;
  char *line = NULL;
  if (p->constraints)
    TRY(accel_constraints_check(&line, p->constraints, n, p->arch, p->layer,
                                b->cost.context));
  *out = line == NULL;
  calm_text_free(b->cost.context, line);
  return CALM_OK;
}

/* Does it matter how spatial loops of one axis follow each other? */
static bool orders_fans(const accel_constraints *c) {
  for (uint32_t l = 0; c && l < c->level_count; l++)
    if (c->levels[l].spatial.inner_count || c->levels[l].spatial.outer_count)
      return true;
  return false;
}

static calm_status evaluate(brute *b) {
  static const accel_loop_kind kinds[] = {ACCEL_SPATIAL_X, ACCEL_SPATIAL_Y,
                                          ACCEL_TEMPORAL};
  accel_nest n = {.loops = b->loops,
                  .kept = b->kept,
                  .level_count = b->problem->arch->level_count};
  for (uint32_t i = 0; i < PLACES; i++)
    for (uint32_t k = 0; k < b->order_count[i]; k++) {
      const uint32_t d = b->order[i][k];
      add(&n, b->factors[d][i], d, i / 3, kinds[i % 3]);
    }
  b->out->nests++;
  TRY(cost_evaluate(&b->result, &b->cost, &n));
  if (b->result.verdict.fault != COST_VALID) return CALM_OK;
  bool allowed;
  TRY(observes(&allowed, b, &n));
  if (allowed) note(b);
  return CALM_OK;
}

/* The next order of one level; false, sorted again, after the last. */
static bool next_order(uint32_t *order, uint32_t count) {
  uint32_t i = count;
  while (i > 1 && order[i - 2] > order[i - 1]) i--;
  if (i < 2) {
    for (uint32_t k = 0; k < count / 2; k++) {
      const uint32_t swap = order[k];
      order[k] = order[count - 1 - k], order[count - 1 - k] = swap;
    }
    return false;
  }
  uint32_t k = count;
  while (order[k - 1] < order[i - 2]) k--;
  const uint32_t swap = order[k - 1];
  order[k - 1] = order[i - 2], order[i - 2] = swap;
  for (uint32_t low = i - 1, high = count - 1; low < high; low++, high--) {
    const uint32_t s = order[low];
    order[low] = order[high], order[high] = s;
  }
  return true;
}

static calm_status try_orders(brute *b) {
  const uint32_t places = 3 * b->problem->arch->level_count;
  for (uint32_t i = 0; i < PLACES; i++) {
    b->order_count[i] = 0;
    for (uint32_t d = 0; d < b->problem->layer->dimension_count; d++)
      if (i < places && b->factors[d][i] > 1)
        b->order[i][b->order_count[i]++] = d;
  }
  for (uint32_t i = 0; i < places;) {
    TRY(evaluate(b));
    if (b->out->nests >= b->most) return CALM_OK;
    for (i = 0; i < places; i++)
      if ((i % 3 == 2 || b->routes) &&
          next_order(b->order[i], b->order_count[i]))
        break;
  }
  return CALM_OK;
}

/* Columns and rows of each fan-out, as far as dimensions are placed. */
static bool fans_hold(const brute *b, uint32_t dimensions) {
  for (uint32_t l = 0; l < b->problem->arch->level_count; l++) {
    const accel_fanout fan = accel_arch_fanout(b->problem->arch, l);
    uint64_t x = 1, y = 1;
    for (uint32_t d = 0; d < dimensions; d++) {
      if (b->factors[d][3 * l] > 1 && b->factors[d][3 * l + 1] > 1)
        return false;
      x *= b->factors[d][3 * l], y *= b->factors[d][3 * l + 1];
    }
    if (x > fan.x || y > fan.y) return false;
  }
  return true;
}

/* The next way to write a bound as a product over the places, as an odometer
   whose last place takes what is left; false after the last. */
static bool next_factors(uint64_t *f, uint32_t places, uint64_t bound) {
  for (uint32_t i = 0; i + 1 < places; i++) {
    uint64_t others = 1;
    for (uint32_t k = i + 1; k + 1 < places; k++) others *= f[k];
    const uint64_t most = bound / others;
    for (uint64_t next = f[i] + 1; next <= most; next++)
      if (most % next == 0) {
        f[i] = next;
        f[places - 1] = most / next;
        return true;
      }
    f[i] = 1;
  }
  return false;
}

calm_status mapper_brute_search(mapper_brute *out, const mapper_problem *p,
                                uint64_t most, arena *a) {
  brute b = {.problem = p, .most = most, .out = out};
  const uint32_t dimensions = p->layer->dimension_count;
  const uint32_t places = 3 * p->arch->level_count;
  const cost_options options = {.model = COST_EXACT};
  if (p->arch->level_count > MOST_LEVELS) return CALM_UNSUPPORTED;
  *out = (mapper_brute){.energy_pj = HUGE_VAL,
                        .cycles = HUGE_VAL,
                        .edp = HUGE_VAL,
                        .energy_at_cycles = HUGE_VAL};
  memcpy(b.kept, p->must_keep, p->arch->level_count * sizeof *b.kept);
  TRY(cost_problem_init(&b.cost, p->arch, p->layer, &options, a));
  TRY(cost_result_init(&b.result, &b.cost, a));
  for (uint32_t l = 0; l < p->arch->level_count; l++)
    b.routes |= p->arch->levels[l].network.hop_pj != 0 ||
                p->arch->levels[l].network.router_pj != 0;
  b.routes |= orders_fans(p->constraints);
  for (uint32_t d = 0; d < dimensions; d++) {
    for (uint32_t i = 0; i < places; i++) b.factors[d][i] = 1;
    b.factors[d][places - 1] = p->layer->dimensions[d].bound;
  }
  for (uint32_t d = 0; d < dimensions;) {
    if (fans_hold(&b, dimensions)) TRY(try_orders(&b));
    if (out->nests >= most) return CALM_OK;
    for (d = 0; d < dimensions; d++) {
      if (next_factors(b.factors[d], places, p->layer->dimensions[d].bound))
        break;
      for (uint32_t i = 0; i < places; i++) b.factors[d][i] = 1;
      b.factors[d][places - 1] = p->layer->dimensions[d].bound;
    }
  }
  out->complete = out->front_count < MAPPER_BRUTE_POINTS;
  return CALM_OK;
}

double mapper_brute_best(const mapper_brute *b, mapper_objective o) {
  switch (o) {
    case MAPPER_ENERGY: return b->energy_pj;
    case MAPPER_DELAY: return b->cycles;
    case MAPPER_EDP: return b->edp;
    default: return b->energy_at_cycles;
  }
}
