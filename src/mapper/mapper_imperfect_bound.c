#include <math.h>

#include "mapper/mapper_imperfect.h"
#include "mapper/mapper_parts.h"

/*
 * What no nest can do without, remainders or not, whatever it keeps: every
 * multiplication, as many steps as there are with the best factors of all
 * dimensions over all multipliers, every word once at a level that there is one
 * of.  A tensor may choose the levels that keep it, as if it were alone.
 */

/* ---- Steps --------------------------------------------------------------- */

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

/* ---- Cycles -------------------------------------------------------------- */

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

/* ---- Energy -------------------------------------------------------------- */

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

/* The levels of a tensor, from the innermost that keeps it to the outermost; in
   between are those that have to. */
static double least_energy_between(const mapper_space *s, uint32_t t,
                                   uint32_t inner, uint32_t outer) {
  double energy = 0;
  for (uint32_t l = inner; l <= outer; l++)
    if (l == inner || l == outer || s->kept[l] >> t & 1)
      energy += least_energy_at(s, t, l, l == inner, l == outer);
  return energy;
}

/* Bit l: level l keeps the tensor.  Virtual levels leave no choice. */
static uint64_t levels_of(const mapper_problem *p, const uint32_t *kept,
                          uint32_t t) {
  uint64_t levels = 0;
  for (uint32_t l = 0; l < p->arch->level_count; l++) {
    const bool fixed = p->arch->levels[l].virtual_level;
    const uint32_t set = fixed ? p->must_keep[l] : kept[l];
    levels |= (uint64_t)(set >> t & 1) << l;
  }
  return levels;
}

/* Of all choices of the levels that keep a tensor.  No level that is added in
   between makes it cheaper. */
static double least_energy_of(const mapper_space *s, const mapper_problem *p,
                              uint32_t t) {
  const uint64_t may = levels_of(p, p->may_keep, t);
  const uint64_t must = levels_of(p, p->must_keep, t);
  double least = HUGE_VAL;
  for (uint32_t i = 0; i < s->level_count; i++) {
    if (may >> i & 1)
      for (uint32_t o = i; o < s->level_count; o++)
        if (may >> o & 1 && !(must >> o >> 1))
          least = fmin(least, least_energy_between(s, t, i, o));
    if (must >> i & 1) break; /* none begins further out */
  }
  return least < HUGE_VAL ? least : 0;
}

static double least_energy(const mapper_space *s, const mapper_problem *p) {
  double energy = s->tables->macs * s->tables->mac_pj;
  for (uint32_t t = 0; t < s->tensor_count; t++)
    energy += least_energy_of(s, p, t);
  return energy;
}

/* ---- The bound ----------------------------------------------------------- */

/* The space is that of what has to be kept: bandwidths bear this at least. */
calm_status mapper_imperfect_bound(double *out, const mapper_problem *p,
                                   limits *l, arena *scratch) {
  mapper_problem least = *p;
  mapper_space s;
  double cycles;
  least.may_keep = p->must_keep;
  TRY(mapper_space_init(&s, &least, true, true, l, scratch));
  *out = 0;
  if (l->reason != LIMITS_NONE) return CALM_OK;
  TRY(find_least_cycles(&cycles, &s, scratch));
  switch (p->objective) {
    case MAPPER_DELAY: *out = cycles; break;
    case MAPPER_EDP: *out = least_energy(&s, p) * cycles; break;
    default: *out = least_energy(&s, p);
  }
  return CALM_OK;
}
