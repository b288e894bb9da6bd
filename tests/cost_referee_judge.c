/*
 * Is the nest valid?  The checks of docs/cost-model.md in their order; and what
 * they measure of the nest.
 */
#include "cost_referee_parts.h"

/* ---- Measures ------------------------------------------------------------ */

static bool has_outer_loop(const match *m, uint32_t end, uint32_t dimension) {
  for (uint32_t k = end; k < m->nest->loop_count; k++)
    if (m->nest->loops[k].dimension == dimension &&
        m->nest->loops[k].residual > 1)
      return true;
  return false;
}

uint64_t referee_words_within(const match *m, uint32_t tensor, uint32_t end) {
  const accel_tensor *t = &m->layer->tensors[tensor];
  uint64_t out = 1;
  for (uint32_t i = 0; i < t->rank_count; i++) {
    uint64_t size = 1;
    for (uint32_t j = 0; j < t->ranks[i].term_count; j++) {
      const accel_term *term = &t->ranks[i].terms[j];
      const bool last = !has_outer_loop(m, end, term->dimension);
      size += term->coefficient *
              (referee_extent(m->nest, end, term->dimension, last) - 1);
    }
    out *= size;
  }
  return out;
}

uint64_t referee_spread(const accel_nest *n, uint32_t level, uint32_t end,
                        accel_loop_kind kind) {
  uint64_t out = 1;
  for (uint32_t k = 0; k < n->loop_count; k++) {
    const accel_loop *l = &n->loops[k];
    if (l->level < level || l->level >= end || l->kind == ACCEL_TEMPORAL)
      continue;
    if (kind == ACCEL_TEMPORAL || l->kind == kind) out *= l->bound;
  }
  return out;
}

double referee_average(const accel_nest *n, uint32_t level) {
  double out = 1;
  for (uint32_t k = n->loop_count; k-- > 0;) {
    const accel_loop *l = &n->loops[k];
    if (l->level < level || l->kind == ACCEL_TEMPORAL) continue;
    double passes = 1;
    for (uint32_t j = n->loop_count; j-- > k + 1;)
      if (n->loops[j].dimension == l->dimension)
        passes = (double)n->loops[j].residual +
                 (double)n->loops[j].bound * (passes - 1);
    out *= ((double)l->residual + (double)l->bound * (passes - 1)) / passes;
  }
  return out;
}

/* ---- Checks -------------------------------------------------------------- */

/* The bound that the loops of a dimension make up, from the outermost. */
static uint64_t made_up(const accel_nest *n, uint32_t dimension) {
  uint64_t out = 1;
  for (uint32_t k = n->loop_count; k-- > 0;)
    if (n->loops[k].dimension == dimension)
      out = (out - 1) * n->loops[k].bound + n->loops[k].residual;
  return out;
}

static bool fault(match *m, cost_fault fault, uint32_t level, uint64_t needed,
                  uint64_t available) {
  m->out->verdict = (cost_verdict){.fault = fault,
                                   .level = level,
                                   .tensor = CALM_NONE,
                                   .dimension = CALM_NONE,
                                   .needed = needed,
                                   .available = available};
  return false;
}

static bool judge_factors(match *m) {
  for (uint32_t d = 0; d < m->layer->dimension_count; d++) {
    const uint64_t bound = m->layer->dimensions[d].bound;
    const uint64_t made = made_up(m->nest, d);
    if (made == bound) continue;
    fault(m, COST_FACTORS, CALM_NONE, made, bound);
    m->out->verdict.dimension = d;
    return false;
  }
  return true;
}

static bool judge_keeping(match *m) {
  for (uint32_t t = 0; t < m->layer->tensor_count; t++) {
    bool kept = false;
    for (uint32_t i = 0; i < m->arch->level_count; i++)
      kept = kept || referee_keeps(m, i, t);
    if (kept) continue;
    fault(m, COST_KEPT_NOWHERE, CALM_NONE, 0, 0);
    m->out->verdict.tensor = t;
    return false;
  }
  return true;
}

/* The instances of what is below `level` loops: of a level, or the multipliers
   for level 0. */
static bool judge_instances(match *m, uint32_t level, uint64_t used,
                            uint64_t instances, uint64_t x, uint64_t y) {
  const uint32_t end = m->arch->level_count;
  const bool compute = level == 0;
  const uint32_t at = compute ? CALM_NONE : level - 1;
  const uint64_t used_x = referee_spread(m->nest, level, end, ACCEL_SPATIAL_X);
  const uint64_t used_y = referee_spread(m->nest, level, end, ACCEL_SPATIAL_Y);
  if (used > instances)
    return fault(m, compute ? COST_COMPUTE_COUNT : COST_INSTANCES, at, used,
                 instances);
  if (used_x > x)
    return fault(m, compute ? COST_COMPUTE_X : COST_MESH_X, at, used_x, x);
  if (used_y > y)
    return fault(m, compute ? COST_COMPUTE_Y : COST_MESH_Y, at, used_y, y);
  return true;
}

static bool judge_level(match *m, uint32_t i) {
  const accel_level *l = &m->arch->levels[i];
  const uint32_t end = referee_begin(m->nest, i + 1);
  uint64_t words = 0;
  for (uint32_t t = 0; t < m->layer->tensor_count; t++)
    if (referee_keeps(m, i, t)) words += referee_words_within(m, t, end);
  if (l->capacity_words != ACCEL_UNLIMITED) {
    if (words > l->capacity_words)
      return fault(m, COST_CAPACITY, i, words, l->capacity_words);
    const double least = (double)l->capacity_words * l->min_utilization;
    if ((double)words < least)
      return fault(m, COST_MIN_UTILIZATION, i, words, (uint64_t)least);
  }
  return judge_instances(m, i + 1, (uint64_t)referee_average(m->nest, i + 1),
                         l->instances, l->mesh_x, l->mesh_y);
}

static bool judge_fanout(match *m, uint32_t i) {
  const accel_level *l = &m->arch->levels[i];
  const uint64_t x = (i ? l[-1].mesh_x : m->arch->compute.mesh_x) / l->mesh_x;
  const uint64_t y = (i ? l[-1].mesh_y : m->arch->compute.mesh_y) / l->mesh_y;
  const uint64_t used_x = referee_spread(m->nest, i, i + 1, ACCEL_SPATIAL_X);
  const uint64_t used_y = referee_spread(m->nest, i, i + 1, ACCEL_SPATIAL_Y);
  if (used_x > x) return fault(m, COST_FANOUT_X, i, used_x, x);
  if (used_y > y) return fault(m, COST_FANOUT_Y, i, used_y, y);
  return true;
}

static bool judge_virtual(match *m, uint32_t i) {
  if (!m->arch->levels[i].virtual_level || !m->nest->kept[i]) return true;
  fault(m, COST_VIRTUAL_KEPT, i, 0, 0);
  m->out->verdict.tensor = 0;
  while (!referee_keeps(m, i, m->out->verdict.tensor)) m->out->verdict.tensor++;
  return false;
}

/* What the accounting checks, in the order in which it does. */
bool referee_judge(match *m, cost_fanout_rule rule) {
  const accel_arch *arch = m->arch;
  fault(m, COST_VALID, CALM_NONE, 0, 0);
  if (!judge_factors(m) || !judge_keeping(m)) return false;
  if (!judge_instances(
          m, 0, referee_spread(m->nest, 0, arch->level_count, ACCEL_TEMPORAL),
          arch->compute.instances, arch->compute.mesh_x, arch->compute.mesh_y))
    return false;
  for (uint32_t i = 0; i < arch->level_count; i++)
    if (!judge_level(m, i)) return false;
  for (uint32_t i = 0; i < arch->level_count; i++)
    if (!judge_virtual(m, i)) return false;
  for (uint32_t i = 0; rule == COST_FANOUT_LEVEL && i < arch->level_count; i++)
    if (!judge_fanout(m, i)) return false;
  return true;
}
