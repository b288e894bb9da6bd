#include "cost_theorems.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost_check.h"

/* Links are found by replaying the nest, which takes longer. */
enum { MOST_REPLAYED = 100000 };

/* A case, what it costs, and the first theorem that it breaks. */
typedef struct trial {
  const cost_random_case *c;
  cost_result result, adding; /* as it is, and if all levels can add */
  random_state *r;
  arena *arena;
  char *broken;
} trial;

static bool breaks(trial *t, const char *format, ...) PRINTF_LIKE(2, 3);

static bool breaks(trial *t, const char *format, ...) {
  va_list list;
  t->broken = referee_memory(t->arena, 400, 1);
  va_start(list, format);
  vsnprintf(t->broken, 400, format, list);
  va_end(list);
  return true;
}

static cost_result evaluate(const trial *t, const cost_random_case *c,
                            cost_model model) {
  const cost_options options = {
      .model = model, .fanout = COST_FANOUT_LEVEL, .networks = true};
  return cost_check_evaluate(&c->arch, &c->layer, &c->nest, options, t->arena);
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static const cost_tensor *tensor_of(const trial *t, uint32_t level,
                                    uint32_t tensor) {
  return &t->result.tensors[level * t->result.tensor_count + tensor];
}

static const cost_flow *flow_of(const trial *t, uint32_t level,
                                uint32_t tensor) {
  return &t->result.flows[level * t->result.tensor_count + tensor];
}

static bool keeps(const trial *t, uint32_t level, uint32_t tensor) {
  return t->c->nest.kept[level] >> tensor & 1;
}

static bool is_perfect(const cost_random_case *c) {
  for (uint32_t k = 0; k < c->nest.loop_count; k++)
    if (c->nest.loops[k].bound != c->nest.loops[k].residual) return false;
  return true;
}

/* ---- Nothing is made from nothing ---------------------------------------- */

/* Words that leave a level, each once, and that arrive below it, on average. */
typedef struct passage {
  double sent, got, copies;
  uint64_t least, most; /* multicast */
} passage;

static passage pass(const trial *t, uint32_t level, uint32_t tensor) {
  const cost_flow *f =
      &t->adding.flows[level * t->adding.tensor_count + tensor];
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

/* The case on a machine all of whose levels can add: there the networks carry
   each word once. */
static cost_result evaluate_adding(const trial *t) {
  cost_random_case c = *t->c;
  const uint32_t n = c.arch.level_count;
  c.arch.levels = referee_memory(t->arena, n, sizeof *c.arch.levels);
  for (uint32_t i = 0; i < n; i++) {
    c.arch.levels[i] = t->c->arch.levels[i];
    c.arch.levels[i].reduction_supported = true;
  }
  return evaluate(t, &c, COST_EXACT);
}

/* Is every number that rounds to `whole` (or is cut off to it) near x? */
static bool rounds_to(double x, uint64_t whole) {
  return fabs(x - (double)whole) <= 1 + 1e-9 * fabs(x);
}

static uint32_t outermost(const trial *t, uint32_t tensor) {
  uint32_t level = t->c->nest.level_count - 1;
  while (!keeps(t, level, tensor)) level--;
  return level;
}

/* What a level sends is what it reads; what it is sent is what it is filled
   with; what passes a level that does not keep it stays as much as it was. */
static bool words_are_lost(trial *t, uint32_t tensor) {
  const uint32_t top = outermost(t, tensor);
  const bool written = t->c->layer.tensors[tensor].read_write;
  const char *name = t->c->layer.tensors[tensor].name;
  for (uint32_t i = 0; i <= top; i++) {
    const cost_tensor *x = tensor_of(t, i, tensor);
    const double sent = pass(t, i, tensor).sent;
    const double got = i < top ? pass(t, i + 1, tensor).got : 0;
    const double part = written ? (double)x->partition_words : 0;
    if (!x->kept) {
      if (!near(sent, got))
        return breaks(t,
                      "conservation: %g words of %s enter level %u, which "
                      "does not keep them, and %g leave it",
                      got, name, i, sent);
      continue;
    }
    if (!rounds_to(fmax(sent - part, 0), x->reads))
      return breaks(t, "ledger: level %u sends %g words of %s and reads %g", i,
                    sent, name, (double)x->reads);
    if (written && !rounds_to(sent, x->updates))
      return breaks(t,
                    "ledger: level %u gets %g words of %s back and updates "
                    "%g",
                    i, sent, name, (double)x->updates);
    if (!rounds_to(i < top ? fmax(got - part, 0) : 0, x->fills))
      return breaks(t,
                    "ledger: level %u is sent %g words of %s and filled "
                    "with %g",
                    i, got, name, (double)x->fills);
  }
  return false;
}

/* Every product has each of its operands once. */
static bool operands_are_missing(trial *t, uint32_t tensor) {
  if (!is_perfect(t->c)) return false;
  const double copies =
      pass(t, 0, tensor).copies * (double)t->result.levels[0].instances;
  return !near(copies, (double)t->c->layer.macs) &&
         breaks(t, "operands: %g words of %s come to the multipliers, not %g",
                copies, t->c->layer.tensors[tensor].name,
                (double)t->c->layer.macs);
}

static bool computes_are_wrong(trial *t) {
  const cost_result *r = &t->result;
  if (r->computes != t->c->layer.macs)
    return breaks(t, "computes: %g", (double)r->computes);
  if (r->compute_cycles * r->multipliers < r->computes)
    return breaks(t, "cycles: %g are too few", (double)r->compute_cycles);
  if (r->cycles < r->compute_cycles || r->utilization > 1 + 1e-12)
    return breaks(t, "cycles: %g, utilization %g", (double)r->cycles,
                  r->utilization);
  for (uint32_t i = 0; i < r->level_count; i++)
    if (r->levels[i].used_words > t->c->arch.levels[i].capacity_words)
      return breaks(t, "capacity: level %u holds too much", i);
  return false;
}

/* Words that are looked at by the loops: of each rank, if no other rank shares
   a dimension with it, the sums that its terms can have. */
static double touched(const accel_layer *layer, uint32_t tensor) {
  const accel_tensor *t = &layer->tensors[tensor];
  double out = 1;
  for (uint32_t i = 0; i < t->rank_count; i++) {
    uint64_t most = 1; /* of the terms alone: a bound from below */
    for (uint32_t j = 0; j < t->ranks[i].term_count; j++) {
      const accel_term *term = &t->ranks[i].terms[j];
      const uint64_t bound = layer->dimensions[term->dimension].bound;
      for (uint32_t k = 0; k < i; k++)
        for (uint32_t m = 0; m < t->ranks[k].term_count; m++)
          if (t->ranks[k].terms[m].dimension == term->dimension) goto shared;
      if (term->coefficient && bound > most) most = bound;
    shared:;
    }
    out *= (double)most;
  }
  return out;
}

/* Each word that is looked at leaves the outermost level once at least, so much
   energy is needed in any case.  Where a level below is bypassed, its children
   have to share alike: else the accounting's average of them may be less. */
static bool too_cheap(trial *t) {
  const cost_result *r = &t->result;
  double least = r->compute_pj;
  if (!is_perfect(t->c)) return false;
  for (uint32_t i = 0; i < r->tensor_count; i++) {
    const uint32_t top = outermost(t, i);
    const accel_level *l = &t->c->arch.levels[top];
    const passage p = pass(t, top, i);
    const double words = touched(&t->c->layer, i);
    const double instances = (double)r->levels[top].instances;
    if (top > 0 && !keeps(t, top - 1, i) && p.least != p.most) continue;
    if (p.sent * instances < words * (1 - 1e-9))
      return breaks(t, "compulsory: %g of %g words of %s leave level %u",
                    p.sent * instances, words, t->c->layer.tensors[i].name,
                    top);
    const double pj = t->c->layer.tensors[i].read_write ? l->energy.update_pj
                                                        : l->energy.read_pj;
    least += words / l->block_words * pj *
             (double)tensor_of(t, top, i)->clusters / instances;
    least -= pj * instances; /* what rounding may take away */
  }
  return r->energy_pj < least * (1 - 1e-9) &&
         breaks(t, "compulsory: %g pJ are less than %g", r->energy_pj, least);
}

static bool sums_are_wrong(trial *t) {
  const cost_result *r = &t->result;
  double sum = r->compute_pj + r->network_pj, network = 0;
  for (uint32_t i = 0; i < r->level_count; i++) {
    double level = r->levels[i].leak_pj;
    for (uint32_t k = 0; k < r->tensor_count; k++) {
      level += tensor_of(t, i, k)->energy_pj;
      network += flow_of(t, i, k)->energy_pj + flow_of(t, i, k)->link_pj;
    }
    if (!near(level, r->levels[i].energy_pj))
      return breaks(t, "sum: level %u has %g pJ", i, level);
    sum += level;
  }
  if (!near(network, r->network_pj) || !near(sum, r->energy_pj) ||
      !near(r->edp, r->energy_pj * (double)r->cycles))
    return breaks(t, "sum: %g pJ, not %g", sum, r->energy_pj);
  return false;
}

/* ---- Changes that change nothing ----------------------------------------- */

static void *copy(const trial *t, const void *data, size_t count, size_t size) {
  void *out = referee_memory(t->arena, count, size);
  if (count) memcpy(out, data, count * size);
  return out;
}

/* The case, with loops of its own. */
static cost_random_case with_loops(const trial *t, uint32_t room) {
  cost_random_case c = *t->c;
  c.nest.loops =
      referee_memory(t->arena, c.nest.loop_count + room, sizeof *c.nest.loops);
  if (c.nest.loop_count)
    memcpy(c.nest.loops, t->c->nest.loops,
           c.nest.loop_count * sizeof *c.nest.loops);
  return c;
}

static void shuffle(uint32_t *out, uint32_t count, random_state *r) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t k = random_below(r, i + 1);
    out[i] = out[k];
    out[k] = i;
  }
}

static bool differs_from(trial *t, const cost_result *r,
                         const cost_random_case *c, cost_model model,
                         const char *theorem) {
  const cost_result other = evaluate(t, c, model);
  const char *line =
      cost_referee_difference(r, &other, &c->arch, &c->layer, true, t->arena);
  return line && breaks(t, "%s: %s", theorem, line);
}

static bool differs(trial *t, const cost_random_case *c, const char *theorem) {
  return differs_from(t, &t->result, c, COST_EXACT, theorem);
}

/* Dimensions with other numbers. */
static bool names_matter(trial *t) {
  cost_random_case c = with_loops(t, 0);
  uint32_t to[ACCEL_MAX_DIMENSIONS];
  accel_layer *l = &c.layer;
  shuffle(to, l->dimension_count, t->r);
  l->dimensions =
      copy(t, l->dimensions, l->dimension_count, sizeof *l->dimensions);
  for (uint32_t d = 0; d < l->dimension_count; d++)
    l->dimensions[to[d]] = t->c->layer.dimensions[d];
  for (uint32_t k = 0; k < c.nest.loop_count; k++)
    c.nest.loops[k].dimension = to[c.nest.loops[k].dimension];
  l->tensors = copy(t, l->tensors, l->tensor_count, sizeof *l->tensors);
  for (uint32_t i = 0; i < l->tensor_count; i++) {
    accel_tensor *x = &l->tensors[i];
    x->ranks = copy(t, x->ranks, x->rank_count, sizeof *x->ranks);
    x->dimensions = 0;
    for (uint32_t k = 0; k < x->rank_count; k++) {
      accel_rank *rank = &x->ranks[k];
      rank->terms = copy(t, rank->terms, rank->term_count, sizeof *rank->terms);
      for (uint32_t m = 0; m < rank->term_count; m++) {
        rank->terms[m].dimension = to[rank->terms[m].dimension];
        if (rank->terms[m].coefficient)
          x->dimensions |= UINT32_C(1) << rank->terms[m].dimension;
      }
    }
  }
  if (differs(t, &c, "dimensions renamed")) return true;
  if (c.layer.macs > MOST_REPLAYED) return false;
  const cost_result printed = evaluate(t, t->c, COST_TIMELOOP);
  return differs_from(t, &printed, &c, COST_TIMELOOP,
                      "dimensions renamed, timeloop");
}

/* Ranks of a tensor in another order. */
static bool ranks_matter(trial *t) {
  cost_random_case c = *t->c;
  accel_layer *l = &c.layer;
  l->tensors = copy(t, l->tensors, l->tensor_count, sizeof *l->tensors);
  for (uint32_t i = 0; i < l->tensor_count; i++) {
    accel_tensor *x = &l->tensors[i];
    const accel_rank *ranks = x->ranks;
    x->ranks = copy(t, x->ranks, x->rank_count, sizeof *x->ranks);
    for (uint32_t k = 0; k < x->rank_count; k++)
      x->ranks[k] = ranks[x->rank_count - 1 - k];
  }
  return differs(t, &c, "ranks reversed");
}

/* Tensors in another order: each costs what it cost.  (Not the whole: cycles
   depend on the order in which demands are added, by one, and leakage on
   them.) */
static bool tensors_matter(trial *t) {
  cost_random_case c = *t->c;
  const uint32_t n = c.layer.tensor_count;
  uint32_t to[ACCEL_MAX_TENSORS];
  shuffle(to, n, t->r);
  c.layer.tensors = copy(t, c.layer.tensors, n, sizeof *c.layer.tensors);
  for (uint32_t i = 0; i < n; i++)
    c.layer.tensors[to[i]] = t->c->layer.tensors[i];
  c.nest.kept =
      referee_memory(t->arena, c.nest.level_count, sizeof *c.nest.kept);
  for (uint32_t i = 0; i < c.nest.level_count; i++)
    for (uint32_t k = 0; k < n; k++)
      if (keeps(t, i, k)) c.nest.kept[i] |= UINT32_C(1) << to[k];
  const cost_result other = evaluate(t, &c, COST_EXACT);
  if (other.verdict.fault != COST_VALID)
    return breaks(t, "tensors renamed: not valid");
  for (uint32_t i = 0; i < c.nest.level_count; i++)
    for (uint32_t k = 0; k < n; k++) {
      const cost_tensor *x = tensor_of(t, i, k);
      const cost_tensor *y = &other.tensors[i * n + to[k]];
      if (x->reads != y->reads || x->fills != y->fills ||
          x->updates != y->updates || !near(x->energy_pj, y->energy_pj))
        return breaks(t, "tensors renamed: level %u, %s", i,
                      c.layer.tensors[to[k]].name);
    }
  return !near(other.network_pj, t->result.network_pj) &&
         breaks(t, "tensors renamed: %g pJ, not %g", other.network_pj,
                t->result.network_pj);
}

/* Loops within the innermost tile in another order: the multipliers keep
   nothing, and all else is outside. */
static bool innermost_order_matters(trial *t) {
  if (!is_perfect(t->c)) return false;
  cost_random_case c = with_loops(t, 0);
  const uint32_t begin = referee_temporal(&c.nest, 0);
  const uint32_t count = referee_begin(&c.nest, 1) - begin;
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t k = random_below(t->r, i + 1);
    const accel_loop swap = c.nest.loops[begin + i];
    c.nest.loops[begin + i] = c.nest.loops[begin + k];
    c.nest.loops[begin + k] = swap;
  }
  return differs(t, &c, "innermost loops permuted");
}

/* A loop of a * b iterations is one of a inside one of b. */
static bool splitting_matters(trial *t) {
  cost_random_case c = with_loops(t, 1);
  for (uint32_t k = 0; k < c.nest.loop_count; k++) {
    accel_loop *l = &c.nest.loops[k];
    uint64_t inner = 2;
    while (inner * inner <= l->bound && l->bound % inner) inner++;
    if (l->bound != l->residual || inner * inner > l->bound) continue;
    memmove(l + 1, l, (c.nest.loop_count - k) * sizeof *l);
    l[0].bound = l[0].residual = inner;
    l[1].bound = l[1].residual = l[1].bound / inner;
    c.nest.loop_count++;
    return differs(t, &c, "loop split in two");
  }
  return false;
}

/* A level of its own for a part of a level's loops, its spatial ones and some
   temporal ones that follow; it keeps nothing, has no network that costs, and
   so nobody notices. */
static bool empty_level_matters(trial *t) {
  const cost_random_case *old = t->c;
  const uint32_t n = old->nest.level_count, at = random_below(t->r, n);
  const uint32_t first = referee_begin(&old->nest, at);
  const uint32_t temporal = referee_temporal(&old->nest, at);
  const uint32_t end = referee_begin(&old->nest, at + 1);
  const uint32_t cut = temporal + random_below(t->r, end - temporal + 1);
  cost_random_case c = with_loops(t, 0);
  if (!is_perfect(old)) return false;
  (void)first;
  for (uint32_t k = 0; k < c.nest.loop_count; k++)
    if (k >= cut) c.nest.loops[k].level++;
  c.nest.level_count = c.arch.level_count = n + 1;
  c.nest.kept = referee_memory(t->arena, n + 1, sizeof *c.nest.kept);
  c.arch.levels = referee_memory(t->arena, n + 1, sizeof *c.arch.levels);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t to = i < at ? i : i + 1;
    c.nest.kept[to] = old->nest.kept[i];
    c.arch.levels[to] = old->arch.levels[i];
  }
  accel_level *empty = &c.arch.levels[at];
  *empty = old->arch.levels[at];
  *empty = (accel_level){.name = "empty",
                         .class_name = "",
                         .entries = ACCEL_UNLIMITED,
                         .capacity_words = ACCEL_UNLIMITED,
                         .multiple_buffering = 1,
                         .word_bits = 8,
                         .block_words = 1,
                         .cluster = 1,
                         .instances = old->arch.levels[at].instances,
                         .mesh_x = old->arch.levels[at].mesh_x,
                         .mesh_y = old->arch.levels[at].mesh_y,
                         .reduction_supported = true};
  const cost_result other = evaluate(t, &c, COST_EXACT);
  if (other.verdict.fault != COST_VALID)
    return breaks(t, "empty level: not valid");
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < old->layer.tensor_count; k++) {
      const cost_tensor *x = tensor_of(t, i, k);
      const cost_tensor *y =
          &other.tensors[(i < at ? i : i + 1) * other.tensor_count + k];
      if (x->reads != y->reads || x->fills != y->fills ||
          x->updates != y->updates || x->tile_words != y->tile_words ||
          x->partition_words != y->partition_words ||
          !near(x->energy_pj, y->energy_pj))
        return breaks(t,
                      "empty level %u: level %u, %s: reads %g %g, fills %g "
                      "%g",
                      at, i, old->layer.tensors[k].name, (double)x->reads,
                      (double)y->reads, (double)x->fills, (double)y->fills);
    }
  return other.compute_cycles != t->result.compute_cycles &&
         breaks(t, "empty level: cycles");
}

/* A batch: a dimension of its own rank in every tensor, outside all else.  All
   counts are so many times as large. */
static bool batches_differ(trial *t) {
  enum { BATCH = 3 };
  const cost_random_case *old = t->c;
  const uint32_t n = old->nest.level_count, d = old->layer.dimension_count;
  cost_random_case c = with_loops(t, 1);
  if (!is_perfect(old) || d == ACCEL_MAX_DIMENSIONS) return false;
  accel_layer *l = &c.layer;
  l->dimensions = referee_memory(t->arena, d + 1, sizeof *l->dimensions);
  memcpy(l->dimensions, old->layer.dimensions, d * sizeof *l->dimensions);
  l->dimensions[d] = (accel_dimension){"batch", BATCH};
  l->dimension_count++;
  l->macs *= BATCH;
  l->tensors = copy(t, l->tensors, l->tensor_count, sizeof *l->tensors);
  for (uint32_t i = 0; i < l->tensor_count; i++) {
    accel_tensor *x = &l->tensors[i];
    const accel_rank *ranks = x->ranks;
    accel_term *term = referee_memory(t->arena, 1, sizeof *term);
    *term = (accel_term){d, 1};
    x->ranks = referee_memory(t->arena, x->rank_count + 1, sizeof *x->ranks);
    if (x->rank_count)
      memcpy(x->ranks, ranks, x->rank_count * sizeof *x->ranks);
    x->ranks[x->rank_count++] = (accel_rank){term, 1};
    x->dimensions |= UINT32_C(1) << d;
  }
  c.nest.loops[c.nest.loop_count++] =
      (accel_loop){BATCH, BATCH, d, n - 1, ACCEL_TEMPORAL};
  c.arch.levels = copy(t, c.arch.levels, n, sizeof *c.arch.levels);
  c.arch.levels[n - 1].capacity_words = ACCEL_UNLIMITED;
  const cost_result other = evaluate(t, &c, COST_EXACT);
  if (other.verdict.fault != COST_VALID) return breaks(t, "batch: not valid");
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < l->tensor_count; k++) {
      const cost_tensor *x = tensor_of(t, i, k);
      const cost_tensor *y = &other.tensors[i * l->tensor_count + k];
      const double slack = BATCH;
      if (fabs((double)y->reads - BATCH * (double)x->reads) > slack ||
          fabs((double)y->fills - BATCH * (double)x->fills) > slack ||
          fabs((double)y->updates - BATCH * (double)x->updates) > slack)
        return breaks(t, "batch: level %u, %s: reads %g %g, fills %g %g", i,
                      l->tensors[k].name, (double)x->reads, (double)y->reads,
                      (double)x->fills, (double)y->fills);
    }
  return other.compute_cycles != BATCH * t->result.compute_cycles &&
         breaks(t, "batch: cycles");
}

/* ---- Two models ---------------------------------------------------------- */

/* Without windows and without neighbours there is nothing that two iterations
   of a loop do not tell. */
static bool models_differ(trial *t) {
  const accel_layer *l = &t->c->layer;
  if (!is_perfect(t->c)) return false;
  for (uint32_t k = 0; k < t->c->nest.loop_count; k++)
    if (t->c->nest.loops[k].kind != ACCEL_TEMPORAL) return false;
  for (uint32_t i = 0; i < l->tensor_count; i++) {
    uint32_t seen = 0;
    for (uint32_t k = 0; k < l->tensors[i].rank_count; k++) {
      const accel_rank *r = &l->tensors[i].ranks[k];
      if (r->term_count > 1) return false;
      if (r->term_count && seen >> r->terms[0].dimension & 1) return false;
      if (r->term_count) seen |= UINT32_C(1) << r->terms[0].dimension;
    }
  }
  return differs_from(t, &t->result, t->c, COST_TIMELOOP, "models");
}

/* ---- All of them --------------------------------------------------------- */

static bool breaks_any(trial *t) {
  for (uint32_t i = 0; i < t->c->layer.tensor_count; i++)
    if (words_are_lost(t, i) || operands_are_missing(t, i)) return true;
  return computes_are_wrong(t) || sums_are_wrong(t) || too_cheap(t) ||
         names_matter(t) || ranks_matter(t) || tensors_matter(t) ||
         innermost_order_matters(t) || splitting_matters(t) ||
         empty_level_matters(t) || batches_differ(t) || models_differ(t);
}

const char *cost_theorems_broken(const cost_random_case *c, random_state *r,
                                 arena *a) {
  trial t = {.c = c, .r = r, .arena = a};
  t.result = evaluate(&t, c, COST_EXACT);
  if (t.result.verdict.fault != COST_VALID) return NULL;
  t.adding = evaluate_adding(&t);
  breaks_any(&t);
  return t.broken;
}
