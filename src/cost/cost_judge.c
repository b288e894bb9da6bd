/*
 * Whether a nest can run on the machine.  The checks and their order are
 * Timeloop's, so that a nest which it rejects is rejected for the same reason;
 * what calm asks beyond that is asked last.
 */
#include "cost/cost_judge.h"

/* Numbers in a verdict are for people: what is too large for one is as large as
   one can be. */
static uint64_t whole(double x) { return x < 1e19 ? (uint64_t)x : UINT64_MAX; }

static bool find(cost_verdict *out, cost_fault fault, uint32_t level,
                 double needed, double available) {
  *out = (cost_verdict){.fault = fault,
                        .level = level,
                        .tensor = CALM_NONE,
                        .dimension = CALM_NONE,
                        .needed = whole(needed),
                        .available = whole(available)};
  return true;
}

static bool exceeds(cost_verdict *out, cost_fault fault, uint32_t level,
                    double needed, double available) {
  return needed > available && find(out, fault, level, needed, available);
}

/* ---- Where tensors are kept ---------------------------------------------- */

static bool kept_nowhere(cost_verdict *out, const cost_tables *t,
                         const accel_nest *n) {
  uint32_t kept = 0;
  for (uint32_t level = 0; level < t->level_count; level++)
    kept |= n->kept[level];
  const uint32_t missing = ~kept & t->all_tensors;
  if (!missing) return false;
  find(out, COST_KEPT_NOWHERE, CALM_NONE, 0, 0);
  out->tensor = bits_lowest(missing);
  return true;
}

static bool kept_without_memory(cost_verdict *out, const cost_tables *t,
                                const accel_nest *n) {
  for (uint32_t level = 0; level < t->level_count; level++) {
    const uint32_t kept = n->kept[level] & t->all_tensors;
    if (!kept || !t->stores[level].no_memory) continue;
    find(out, COST_VIRTUAL_KEPT, level, 0, 0);
    out->tensor = bits_lowest(kept);
    return true;
  }
  return false;
}

/* ---- Capacity ------------------------------------------------------------ */

static bool exceeds_capacity(cost_verdict *out, uint32_t level, uint32_t kept,
                             const double *words, double used,
                             double capacity) {
  find(out, COST_CAPACITY, level, used, capacity);
  out->tensor = bits_lowest(kept);
  for (uint32_t left = kept; left; left &= left - 1)
    if (words[bits_lowest(left)] > words[out->tensor])
      out->tensor = bits_lowest(left);
  out->tensor_words = whole(words[out->tensor]);
  return true;
}

static bool wrong_use(cost_verdict *out, const cost_scratch *s,
                      const accel_nest *n, uint32_t level) {
  const cost_tables *t = &s->tables;
  const cost_store *store = &t->stores[level];
  if (!store->limited) return false;
  const double *words = cost_row_words(t, s->frame.tile[level]);
  const uint32_t kept = n->kept[level] & t->all_tensors;
  double used = 0;
  for (uint32_t left = kept; left; left &= left - 1)
    used += words[bits_lowest(left)];
  if (used > store->capacity)
    return exceeds_capacity(out, level, kept, words, used, store->capacity);
  return used < store->least &&
         find(out, COST_MIN_UTILIZATION, level, used, store->least);
}

/* ---- Instances ----------------------------------------------------------- */

static bool wrong_multipliers(cost_verdict *out, const cost_scratch *s) {
  const cost_tables *t = &s->tables;
  const cost_spread *inner = &s->frame.spreads[0];
  return exceeds(out, COST_COMPUTE_COUNT, CALM_NONE, s->frame.multipliers,
                 t->multipliers) ||
         exceeds(out, COST_COMPUTE_X, CALM_NONE, inner->above_x * inner->x,
                 t->mesh_x) ||
         exceeds(out, COST_COMPUTE_Y, CALM_NONE, inner->above_y * inner->y,
                 t->mesh_y);
}

static bool wrong_mesh(cost_verdict *out, const cost_scratch *s,
                       uint32_t level) {
  const cost_store *store = &s->tables.stores[level];
  const cost_spread *spread = &s->frame.spreads[level];
  return exceeds(out, COST_INSTANCES, level, spread->instances,
                 store->instances) ||
         exceeds(out, COST_MESH_X, level, spread->above_x, store->mesh_x) ||
         exceeds(out, COST_MESH_Y, level, spread->above_y, store->mesh_y);
}

static bool wrong_fanout(cost_verdict *out, const cost_scratch *s) {
  for (uint32_t level = 0; level < s->tables.level_count; level++) {
    const cost_store *store = &s->tables.stores[level];
    const cost_spread *spread = &s->frame.spreads[level];
    if (exceeds(out, COST_FANOUT_X, level, spread->x, store->fanout_x) ||
        exceeds(out, COST_FANOUT_Y, level, spread->y, store->fanout_y))
      return true;
  }
  return false;
}

/* ---- All of it ----------------------------------------------------------- */

static bool wrong_factors(cost_verdict *out, cost_scratch *s,
                          const accel_nest *n) {
  uint32_t dimension;
  double made;
  if (cost_frame_measure(&s->frame, &s->tables, n, &dimension, &made))
    return false;
  find(out, COST_FACTORS, CALM_NONE, made, s->tables.bounds[dimension]);
  out->dimension = dimension;
  return true;
}

/* Counts of a layer with such a tensor are not exact in any nest. */
static bool too_large(cost_verdict *out, const cost_tables *t) {
  if (t->large_tensor == CALM_NONE) return false;
  find(out, COST_TOO_LARGE, CALM_NONE, t->shapes[t->large_tensor].words,
       (double)ACCEL_MAX_COUNT);
  out->tensor = t->large_tensor;
  return true;
}

static bool wrong_levels(cost_verdict *out, const cost_scratch *s,
                         const accel_nest *n) {
  for (uint32_t level = 0; level < s->tables.level_count; level++)
    if (wrong_use(out, s, n, level) || wrong_mesh(out, s, level)) return true;
  return false;
}

void cost_judge(cost_verdict *out, const cost_problem *p, const accel_nest *n) {
  cost_scratch *s = p->scratch;
  if (wrong_factors(out, s, n) || kept_nowhere(out, &s->tables, n) ||
      wrong_multipliers(out, s) || wrong_levels(out, s, n) ||
      kept_without_memory(out, &s->tables, n) ||
      (p->options.fanout == COST_FANOUT_LEVEL && wrong_fanout(out, s)) ||
      too_large(out, &s->tables))
    return;
  find(out, COST_VALID, CALM_NONE, 0, 0);
}

void cost_stop(cost_result *r, uint32_t tensor, uint32_t level,
               const cost_excess *excess) {
  find(&r->verdict, excess->fault, level, excess->needed, excess->available);
  r->verdict.tensor = tensor;
}

void cost_refuse(cost_result *r, uint32_t tensor, uint32_t level,
                 double needed) {
  const cost_excess large = {COST_TOO_LARGE, needed, (double)ACCEL_MAX_COUNT};
  cost_stop(r, tensor, level, &large);
}
