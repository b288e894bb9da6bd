#include <math.h>

#include "cost/cost_count.h"
#include "mapper/mapper_parts.h"

/*
 * How many cycles any nest needs.  A level of one instance has to bear at least
 * every word that is used, once.  The time for that is rounded in floating
 * point, by steps that depend on the compute cycles; so it is computed as
 * the evaluator does, for every number of compute cycles that there can be.
 */

/* Counts of the words that cross the links below a level. */
static void count_least(cost_tensor *counts, const mapper_space *s,
                        uint32_t level) {
  for (uint32_t t = 0; t < s->tensor_count; t++) counts[t] = (cost_tensor){0};
  for (uint32_t i = 0; i < s->link_count; i++) {
    const mapper_link *l = &s->links[i];
    if (l->parent != level || l->passing) continue;
    const uint64_t words = cost_whole(s->tensors[l->tensor].least);
    if (s->tensors[l->tensor].written)
      counts[l->tensor].updates = words;
    else
      counts[l->tensor].reads = words;
  }
}

static double slowest(const mapper_space *s, const cost_tensor *counts,
                      double compute) {
  double cycles = compute;
  for (uint32_t l = 0; l < s->level_count; l++) {
    if (s->beyond[l] != 1) continue;
    const double slowdown =
        cost_slowdown(&s->tables->stores[l], counts + l * s->tensor_count,
                      s->tensor_count, compute, 1);
    cycles = fmax(cycles, cost_stretch(compute, slowdown));
  }
  return cycles;
}

/* Tables up to so many multipliers. */
enum { MOST_TABLE = 1 << 16 };

/* Each number of multipliers that a nest can use, with its cycles; 0: none. */
static void find_spreads(double *cycles, const mapper_space *s, double most) {
  for (uint32_t node = 0; node < s->node_count; node++) {
    const double compute = s->visits[node];
    if (limits_spend(s->limits, 1)) return;
    if (s->tables->macs > compute * most) continue;
    double *at = &cycles[cost_whole(s->tables->macs / compute)];
    if (*at == 0) *at = slowest(s, s->least_counts, compute);
  }
}

/* What some loops use already, the others multiply. */
static void spread_to_divisors(double *out, const double *cycles,
                               uint32_t most) {
  for (uint32_t few = 1; few <= most; few++) {
    out[few] = cycles[few];
    for (uint32_t many = few; many <= most && cycles[few] > 0; many += few)
      if (cycles[many] > 0) out[few] = fmin(out[few], cycles[many]);
  }
}

/* Do more multipliers never mean more cycles?  By rounding they may. */
static bool is_falling(const double *cycles, uint32_t most) {
  double last = HUGE_VAL;
  for (uint32_t i = 1; i <= most; i++) {
    if (cycles[i] == 0) continue;
    if (cycles[i] > last) return false;
    last = cycles[i];
  }
  return true;
}

bool mapper_cycles_no_more(const mapper_space *s, double a, double b) {
  if (a == b) return true;
  if (a < b) return false;
  if (s->falling) return true;
  for (double many = a, fewer = b; many <= s->most_spread;
       many += a, fewer += b) {
    const double x = s->end_cycles[(uint32_t)many];
    const double y = s->end_cycles[(uint32_t)fewer];
    if (x > 0 && y > 0 && x > y) return false;
  }
  return true;
}

static calm_status tabulate(mapper_space *s, arena *a) {
  double *cycles, *least;
  const double most = fmin(s->beyond[0] * s->fans[0].size, s->tables->macs);
  s->least_cycles = ceil(s->tables->macs / most);
  s->falling = true;
  if (most > MOST_TABLE) return CALM_OK;
  ARENA_ARRAY(a, cycles, (size_t)most + 1);
  ARENA_ARRAY(a, least, (size_t)most + 1);
  find_spreads(cycles, s, most);
  spread_to_divisors(least, cycles, (uint32_t)most);
  s->end_cycles = cycles;
  s->spread_cycles = least;
  s->least_cycles = least[1];
  s->most_spread = most;
  s->falling = is_falling(cycles, (uint32_t)most);
  return CALM_OK;
}

double mapper_cycles_next(const mapper_space *s, double compute, double most) {
  double next = 0;
  for (uint32_t node = 0; node < s->node_count; node++) {
    const double other = s->visits[node];
    if (other < compute && other > next &&
        slowest(s, s->least_counts, other) <= most)
      next = other;
  }
  return next;
}

calm_status mapper_cycles_init(mapper_space *s, arena *a) {
  cost_tensor *counts;
  ARENA_ARRAY(a, counts, (size_t)s->level_count * s->tensor_count);
  for (uint32_t l = 0; l < s->level_count; l++)
    count_least(counts + l * s->tensor_count, s, l);
  s->least_counts = counts;
  return tabulate(s, a);
}
