/*
 * Changes that change nothing: names and orders that mean nothing, loops split,
 * levels that are not there.
 */
#include <string.h>

#include "cost_theorems_parts.h"

/* Links are found by replaying the nest, which takes longer. */
enum { MOST_REPLAYED = 100000 };

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

static bool differs(trial *t, const cost_random_case *c, const char *theorem) {
  return theorem_differs(t, &t->result, c, COST_EXACT, theorem);
}

/* A tensor whose dimensions have the numbers `to`. */
static void renumber(accel_tensor *x, const uint32_t *to, const trial *t) {
  x->ranks = copy(t, x->ranks, x->rank_count, sizeof *x->ranks);
  x->dimensions = 0;
  for (uint32_t k = 0; k < x->rank_count; k++) {
    accel_rank *rank = &x->ranks[k];
    rank->terms = copy(t, rank->terms, rank->term_count, sizeof *rank->terms);
    for (uint32_t m = 0; m < rank->term_count; m++) {
      accel_term *term = &rank->terms[m];
      term->dimension = to[term->dimension];
      if (term->coefficient) x->dimensions |= UINT32_C(1) << term->dimension;
    }
  }
}

/* Dimensions with other numbers. */
bool theorem_names_matter(trial *t) {
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
  for (uint32_t i = 0; i < l->tensor_count; i++)
    renumber(&l->tensors[i], to, t);
  if (differs(t, &c, "dimensions renamed")) return true;
  if (c.layer.macs > MOST_REPLAYED) return false;
  const cost_result printed = theorem_evaluate(t, t->c, COST_TIMELOOP);
  return theorem_differs(t, &printed, &c, COST_TIMELOOP,
                         "dimensions renamed, timeloop");
}

/* Ranks of a tensor in another order. */
bool theorem_ranks_matter(trial *t) {
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
bool theorem_tensors_matter(trial *t) {
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
      if (theorem_keeps(t, i, k)) c.nest.kept[i] |= UINT32_C(1) << to[k];
  const cost_result other = theorem_evaluate(t, &c, COST_EXACT);
  if (other.verdict.fault != COST_VALID)
    return theorem_breaks(t, "tensors renamed: not valid");
  for (uint32_t i = 0; i < c.nest.level_count; i++)
    for (uint32_t k = 0; k < n; k++) {
      const cost_tensor *x = theorem_tensor(&t->result, i, k);
      const cost_tensor *y = theorem_tensor(&other, i, to[k]);
      if (x->reads != y->reads || x->fills != y->fills ||
          x->updates != y->updates || !theorem_near(x->energy_pj, y->energy_pj))
        return theorem_breaks(t, "tensors renamed: level %u, %s", i,
                              c.layer.tensors[to[k]].name);
    }
  return !theorem_near(other.network_pj, t->result.network_pj) &&
         theorem_breaks(t, "tensors renamed: %g pJ, not %g", other.network_pj,
                        t->result.network_pj);
}

/* Loops within the innermost tile in another order: the multipliers keep
   nothing, and all else is outside. */
bool theorem_innermost_order_matters(trial *t) {
  if (!accel_nest_is_perfect(&t->c->nest)) return false;
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
bool theorem_splitting_matters(trial *t) {
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

/* The case with an empty level inside `at`: its loops before `cut` are the new
   level's. */
static cost_random_case with_level(const trial *t, uint32_t at, uint32_t cut) {
  const cost_random_case *old = t->c;
  const uint32_t n = old->nest.level_count;
  cost_random_case c = with_loops(t, 0);
  for (uint32_t k = cut; k < c.nest.loop_count; k++) c.nest.loops[k].level++;
  c.nest.level_count = c.arch.level_count = n + 1;
  c.nest.kept = referee_memory(t->arena, n + 1, sizeof *c.nest.kept);
  c.arch.levels = referee_memory(t->arena, n + 1, sizeof *c.arch.levels);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t to = i < at ? i : i + 1;
    c.nest.kept[to] = old->nest.kept[i];
    c.arch.levels[to] = old->arch.levels[i];
  }
  accel_level *empty = &c.arch.levels[at];
  *empty = cost_plain_level("empty");
  empty->instances = old->arch.levels[at].instances;
  empty->mesh_x = old->arch.levels[at].mesh_x;
  empty->mesh_y = old->arch.levels[at].mesh_y;
  return c;
}

static bool same_counts(const cost_tensor *x, const cost_tensor *y) {
  return x->reads == y->reads && x->fills == y->fills &&
         x->updates == y->updates && x->tile_words == y->tile_words &&
         x->partition_words == y->partition_words &&
         theorem_near(x->energy_pj, y->energy_pj);
}

/* A level of its own for a part of a level's loops, its spatial ones and some
   temporal ones that follow; it keeps nothing, has no network that costs, and
   so nobody notices. */
bool theorem_empty_level_matters(trial *t) {
  const accel_nest *nest = &t->c->nest;
  const uint32_t at = random_below(t->r, nest->level_count);
  const uint32_t temporal = referee_temporal(nest, at);
  const uint32_t end = referee_begin(nest, at + 1);
  const uint32_t cut = temporal + random_below(t->r, end - temporal + 1);
  if (!accel_nest_is_perfect(nest)) return false;
  const cost_random_case c = with_level(t, at, cut);
  const cost_result other = theorem_evaluate(t, &c, COST_EXACT);
  if (other.verdict.fault != COST_VALID)
    return theorem_breaks(t, "empty level: not valid");
  for (uint32_t i = 0; i < nest->level_count; i++)
    for (uint32_t k = 0; k < t->c->layer.tensor_count; k++) {
      const cost_tensor *x = theorem_tensor(&t->result, i, k);
      const cost_tensor *y = theorem_tensor(&other, i < at ? i : i + 1, k);
      if (!same_counts(x, y))
        return theorem_breaks(
            t, "empty level %u: level %u, %s: reads %g %g, fills %g %g", at, i,
            t->c->layer.tensors[k].name, (double)x->reads, (double)y->reads,
            (double)x->fills, (double)y->fills);
    }
  return other.compute_cycles != t->result.compute_cycles &&
         theorem_breaks(t, "empty level: cycles");
}

enum { BATCH = 3 };

static void add_batch_rank(accel_tensor *x, uint32_t dimension,
                           const trial *t) {
  const accel_rank *ranks = x->ranks;
  accel_term *term = referee_memory(t->arena, 1, sizeof *term);
  *term = (accel_term){dimension, 1};
  x->ranks = referee_memory(t->arena, x->rank_count + 1, sizeof *x->ranks);
  if (x->rank_count) memcpy(x->ranks, ranks, x->rank_count * sizeof *x->ranks);
  x->ranks[x->rank_count++] = (accel_rank){term, 1};
  x->dimensions |= UINT32_C(1) << dimension;
}

/* The case with a dimension of its own rank in every tensor, outside all else.
 */
static cost_random_case with_batch(const trial *t) {
  const uint32_t n = t->c->nest.level_count;
  const uint32_t d = t->c->layer.dimension_count;
  cost_random_case c = with_loops(t, 1);
  accel_layer *l = &c.layer;
  l->dimensions = referee_memory(t->arena, d + 1, sizeof *l->dimensions);
  memcpy(l->dimensions, t->c->layer.dimensions, d * sizeof *l->dimensions);
  l->dimensions[d] = (accel_dimension){"batch", BATCH};
  l->dimension_count++;
  l->macs *= BATCH;
  l->tensors = copy(t, l->tensors, l->tensor_count, sizeof *l->tensors);
  for (uint32_t i = 0; i < l->tensor_count; i++)
    add_batch_rank(&l->tensors[i], d, t);
  c.nest.loops[c.nest.loop_count++] =
      (accel_loop){BATCH, BATCH, d, n - 1, ACCEL_TEMPORAL};
  c.arch.levels = copy(t, c.arch.levels, n, sizeof *c.arch.levels);
  c.arch.levels[n - 1].capacity_words = ACCEL_UNLIMITED;
  return c;
}

/* Up to what is rounded in each. */
static bool is_batch_of(uint64_t many, uint64_t one) {
  return fabs((double)many - BATCH * (double)one) <= BATCH;
}

/* A batch: all counts are so many times as large. */
bool theorem_batches_differ(trial *t) {
  if (!accel_nest_is_perfect(&t->c->nest) ||
      t->c->layer.dimension_count == ACCEL_MAX_DIMENSIONS)
    return false;
  const cost_random_case c = with_batch(t);
  const cost_result other = theorem_evaluate(t, &c, COST_EXACT);
  if (other.verdict.fault != COST_VALID)
    return theorem_breaks(t, "batch: not valid");
  for (uint32_t i = 0; i < c.nest.level_count; i++)
    for (uint32_t k = 0; k < c.layer.tensor_count; k++) {
      const cost_tensor *x = theorem_tensor(&t->result, i, k);
      const cost_tensor *y = theorem_tensor(&other, i, k);
      if (!is_batch_of(y->reads, x->reads) ||
          !is_batch_of(y->fills, x->fills) ||
          !is_batch_of(y->updates, x->updates))
        return theorem_breaks(
            t, "batch: level %u, %s: reads %g %g, fills %g %g", i,
            c.layer.tensors[k].name, (double)x->reads, (double)y->reads,
            (double)x->fills, (double)y->fills);
    }
  return other.compute_cycles != BATCH * t->result.compute_cycles &&
         theorem_breaks(t, "batch: cycles");
}
