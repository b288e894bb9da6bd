/*
 * Nothing is made from nothing, and nothing is lost: words between levels,
 * operands at the multipliers, energy and its parts.
 */
#include "cost_theorems_parts.h"

/* Words that leave a level, each once, and that arrive below it, on average. */
typedef struct passage {
  double sent, got, copies;
  uint64_t least, most; /* multicast */
} passage;

static passage pass(const trial *t, uint32_t level, uint32_t tensor) {
  const cost_flow *f = theorem_flow(&t->adding, level, tensor);
  passage p = {.least = UINT64_MAX};
  for (uint32_t i = 0; i < f->group_count; i++) {
    const cost_group *g = &f->groups[i];
    if (g->accesses <= 0) continue;
    p.sent += g->accesses;
    p.copies += g->accesses * (double)g->multicast;
    if (g->multicast < p.least) p.least = g->multicast;
    if (g->multicast > p.most) p.most = g->multicast;
  }
  if (f->fanout) p.got = p.copies / (double)f->fanout;
  return p;
}

/* Is every number that rounds to `whole` (or is cut off to it) near x? */
static bool rounds_to(double x, uint64_t whole) {
  return fabs(x - (double)whole) <= 1 + 1e-9 * fabs(x);
}

static uint32_t outermost(const trial *t, uint32_t tensor) {
  uint32_t level = t->c->nest.level_count - 1;
  while (!theorem_keeps(t, level, tensor)) level--;
  return level;
}

/* A level that keeps the tensor reads what it sends, updates what comes back,
   and is filled with what it is sent; first touches cost nothing. */
static bool ledger_is_wrong(trial *t, uint32_t level, uint32_t tensor,
                            double sent, double got) {
  const cost_tensor *x = theorem_tensor(&t->result, level, tensor);
  const bool written = t->c->layer.tensors[tensor].read_write;
  const char *name = t->c->layer.tensors[tensor].name;
  const double part = written ? (double)x->partition_words : 0;
  if (!rounds_to(fmax(sent - part, 0), x->reads))
    return theorem_breaks(t, "ledger: level %u sends %g words of %s, reads %g",
                          level, sent, name, (double)x->reads);
  if (written && !rounds_to(sent, x->updates))
    return theorem_breaks(t, "ledger: level %u gets %g of %s back, updates %g",
                          level, sent, name, (double)x->updates);
  return !rounds_to(fmax(got - part, 0), x->fills) &&
         theorem_breaks(t, "ledger: level %u is sent %g of %s, filled with %g",
                        level, got, name, (double)x->fills);
}

/* What passes a level that does not keep it stays as much as it was. */
bool theorem_words_are_lost(trial *t, uint32_t tensor) {
  const uint32_t top = outermost(t, tensor);
  for (uint32_t i = 0; i <= top; i++) {
    const double sent = pass(t, i, tensor).sent;
    const double got = i < top ? pass(t, i + 1, tensor).got : 0;
    if (theorem_tensor(&t->result, i, tensor)->kept) {
      if (ledger_is_wrong(t, i, tensor, sent, got)) return true;
    } else if (!theorem_near(sent, got)) {
      return theorem_breaks(t,
                            "conservation: %g words of %s enter level %u, "
                            "which does not keep them, and %g leave it",
                            got, t->c->layer.tensors[tensor].name, i, sent);
    }
  }
  return false;
}

/* Every product has each of its operands once. */
bool theorem_operands_are_missing(trial *t, uint32_t tensor) {
  if (!accel_nest_is_perfect(&t->c->nest)) return false;
  const double copies =
      pass(t, 0, tensor).copies * (double)t->result.levels[0].instances;
  return !theorem_near(copies, (double)t->c->layer.macs) &&
         theorem_breaks(
             t, "operands: %g words of %s come to the multipliers, not %g",
             copies, t->c->layer.tensors[tensor].name,
             (double)t->c->layer.macs);
}

bool theorem_computes_are_wrong(trial *t) {
  const cost_result *r = &t->result;
  if (r->computes != t->c->layer.macs)
    return theorem_breaks(t, "computes: %g", (double)r->computes);
  if (r->compute_cycles * r->multipliers < r->computes)
    return theorem_breaks(t, "cycles: %g are too few",
                          (double)r->compute_cycles);
  if (r->cycles < r->compute_cycles || r->utilization > 1 + 1e-12)
    return theorem_breaks(t, "cycles: %g, utilization %g", (double)r->cycles,
                          r->utilization);
  for (uint32_t i = 0; i < r->level_count; i++)
    if (r->levels[i].used_words > t->c->arch.levels[i].capacity_words)
      return theorem_breaks(t, "capacity: level %u holds too much", i);
  return false;
}

/* Does the dimension move a rank before this one? */
static bool is_taken(const accel_tensor *t, uint32_t rank, uint32_t dimension) {
  for (uint32_t k = 0; k < rank; k++)
    for (uint32_t i = 0; i < t->ranks[k].term_count; i++)
      if (t->ranks[k].terms[i].dimension == dimension) return true;
  return false;
}

/* Words that are looked at by the loops, at least: of each rank, the steps of
   its longest dimension, each dimension taken once. */
static double touched(const accel_layer *layer, uint32_t tensor) {
  const accel_tensor *t = &layer->tensors[tensor];
  double out = 1;
  for (uint32_t i = 0; i < t->rank_count; i++) {
    uint64_t most = 1;
    for (uint32_t j = 0; j < t->ranks[i].term_count; j++) {
      const accel_term *term = &t->ranks[i].terms[j];
      const uint64_t bound = layer->dimensions[term->dimension].bound;
      if (term->coefficient && bound > most && !is_taken(t, i, term->dimension))
        most = bound;
    }
    out *= (double)most;
  }
  return out;
}

/* Each word that is looked at leaves the outermost level once at least, so much
   energy is needed in any case.  Where a level below is bypassed, its children
   have to share alike: else the accounting's average of them may be less. */
bool theorem_too_cheap(trial *t) {
  const cost_result *r = &t->result;
  double least = r->compute_pj;
  if (!accel_nest_is_perfect(&t->c->nest)) return false;
  for (uint32_t i = 0; i < r->tensor_count; i++) {
    const uint32_t top = outermost(t, i);
    const accel_level *l = &t->c->arch.levels[top];
    const passage p = pass(t, top, i);
    const double words = touched(&t->c->layer, i);
    const double instances = (double)r->levels[top].instances;
    if (top > 0 && !theorem_keeps(t, top - 1, i) && p.least != p.most) continue;
    if (p.sent * instances < words * (1 - 1e-9))
      return theorem_breaks(
          t, "compulsory: %g of %g words of %s leave level %u",
          p.sent * instances, words, t->c->layer.tensors[i].name, top);
    const double pj = t->c->layer.tensors[i].read_write ? l->energy.update_pj
                                                        : l->energy.read_pj;
    least += words / l->block_words * pj *
             (double)theorem_tensor(&t->result, top, i)->clusters / instances;
    least -= pj * instances; /* what rounding may take away */
  }
  return r->energy_pj < least * (1 - 1e-9) &&
         theorem_breaks(t, "compulsory: %g pJ are less than %g", r->energy_pj,
                        least);
}

bool theorem_sums_are_wrong(trial *t) {
  const cost_result *r = &t->result;
  double sum = r->compute_pj + r->network_pj, network = 0;
  for (uint32_t i = 0; i < r->level_count; i++) {
    double level = r->levels[i].leak_pj;
    for (uint32_t k = 0; k < r->tensor_count; k++) {
      level += theorem_tensor(&t->result, i, k)->energy_pj;
      network += theorem_flow(&t->result, i, k)->energy_pj +
                 theorem_flow(&t->result, i, k)->link_pj;
    }
    if (!theorem_near(level, r->levels[i].energy_pj))
      return theorem_breaks(t, "sum: level %u has %g pJ", i, level);
    sum += level;
  }
  if (!theorem_near(network, r->network_pj) ||
      !theorem_near(sum, r->energy_pj) ||
      !theorem_near(r->edp, r->energy_pj * (double)r->cycles))
    return theorem_breaks(t, "sum: %g pJ, not %g", sum, r->energy_pj);
  return false;
}
