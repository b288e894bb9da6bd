#include "mapper/mapper_outlook.h"

#include <math.h>

#include "base/bits.h"
#include "mapper/mapper_blocks.h"
#include "mapper/mapper_bound.h"
#include "mapper/mapper_rules.h"

/*
 * The tile of a level not reached yet will be some node that contains the one
 * where the search stands, and fits the level.  For each such node: what its
 * tiles cost until the next outer level that keeps them.  Outside of it, the
 * innermost loop moves all tensors but those that it is free for, so that only
 * one tensor (if no dimension leaves out several) has any free loops.  The
 * least over all nodes that contain a node is found by one sweep per dimension.
 */

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

bool mapper_outlook_fits(const mapper_space *s, uint32_t node, uint32_t level) {
  const cost_store *store = &s->tables->stores[level];
  if (s->demands && s->demands->ends &&
      !s->demands->ends[(size_t)level * s->node_count + node])
    return false;
  if (!store->limited) return true;
  double used = 0;
  for (uint32_t t = 0; t < s->tensor_count; t++)
    if (s->kept[level] >> t & 1)
      used += s->words[(size_t)node * s->tensor_count + t];
  return used <= store->capacity && used >= store->least;
}

/* ---- One node ------------------------------------------------------------ */

static mapper_least find_least(const mapper_space *s, const mapper_link *l,
                               uint32_t node) {
  const mapper_tensor *t = &s->tensors[l->tensor];
  const size_t at = (size_t)node * s->tensor_count + l->tensor;
  const double swept = s->words[at] * s->visits[node] *
                       mapper_bound_sweep(s, l->tensor, node, node);
  const double fans = s->beyond[l->child] / s->beyond[l->parent];
  const double halo = smaller(fans, s->halo[at]);
  const double cast = smaller(fans, s->unmoved[at] * s->halo[at]);
  const double free = s->unmoved[at];
  mapper_least out = {{swept, swept / free},
                      {swept / cast, swept / (free * halo)}};
  for (uint32_t k = 0; k < 2; k++) {
    out.arrive[k] = larger(out.arrive[k], t->least);
    out.leave[k] = larger(out.leave[k], t->least);
  }
  return out;
}

/* First touches save at most `same` times the tensor. */
static double price_of(const mapper_space *s, const mapper_account *a,
                       uint32_t link, const mapper_least *least, uint32_t free,
                       double same) {
  const mapper_tensor *t = &s->tensors[s->links[link].tensor];
  const double arrive = least->arrive[free], leave = least->leave[free];
  double blocks = 0;
  if (s->blocks && a->energy && a->level == CALM_NONE)
    blocks = mapper_blocks_least(s, &s->links[link], arrive, leave);
  if (!t->written)
    return arrive * a->fill[link] + leave * a->send[link] + blocks;
  const double saved = t->least * same;
  return blocks + leave * (a->send[link] - a->fetch[link]) +
         larger(0, arrive - saved) * a->fill[link] +
         larger(0, leave - saved) * a->fetch[link];
}

/* The links whose child is `level`. */
typedef struct frontier {
  uint32_t links[ACCEL_MAX_TENSORS], count;
  mapper_least least[ACCEL_MAX_TENSORS];
} frontier;

static void find_frontier(frontier *f, const mapper_space *s, uint32_t level) {
  f->count = 0;
  for (uint32_t i = 0; i < s->link_count; i++)
    if (s->links[i].child == level) f->links[f->count++] = i;
}

static double price_node(const mapper_space *s, const mapper_account *a,
                         const frontier *f, double same) {
  double all[2] = {0, 0}, best = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    const double bound = price_of(s, a, f->links[i], &f->least[i], 0, same);
    const double free = price_of(s, a, f->links[i], &f->least[i], 1, same);
    all[0] += bound, all[1] += free;
    best = larger(best, bound - free);
  }
  return s->often_free ? all[1] : all[0] - best;
}

/* ---- All nodes ----------------------------------------------------------- */

/* One row of nodes per account. */
static void price_level(double *table, const mapper_space *s, uint32_t level) {
  frontier f;
  find_frontier(&f, s, level);
  for (uint32_t node = 0; node < s->node_count; node++) {
    if (limits_spend(s->limits, s->account_count)) return;
    const bool fits = mapper_outlook_fits(s, node, level);
    const double same = mapper_bound_same(s, node, level);
    for (uint32_t i = 0; fits && i < f.count; i++)
      f.least[i] = find_least(s, &s->links[f.links[i]], node);
    for (uint32_t j = 0; j < s->account_count; j++)
      table[(size_t)j * s->node_count + node] =
          fits ? price_node(s, &s->accounts[j], &f, same) : HUGE_VAL;
  }
}

/* Along one axis, for nodes whose digits on it are the same: from `grown`. */
static void carry_over(double *row, const mapper_space *s, uint32_t stride,
                       uint32_t count, uint32_t digit, uint32_t grown) {
  for (uint32_t base = 0; base < s->node_count; base += stride * count) {
    double *to = row + base + (size_t)digit * stride;
    const double *from = row + base + (size_t)grown * stride;
    for (uint32_t i = 0; i < stride; i++) to[i] = smaller(to[i], from[i]);
  }
}

/* From divisors that are a prime factor larger; the rest follows. */
static void sweep(double *row, const mapper_space *s) {
  for (uint32_t a = 0; a < s->axis_count; a++) {
    const mapper_axis *axis = &s->axes[a];
    if (limits_spend(s->limits, s->node_count)) return;
    for (uint32_t digit = axis->count; digit-- > 0;)
      for (uint32_t k = 0; k < axis->prime_count; k++) {
        const uint32_t grown =
            axis->times[digit * axis->count + axis->primes[k]];
        if (grown != CALM_NONE)
          carry_over(row, s, axis->stride, axis->count, digit, grown);
      }
  }
}

calm_status mapper_outlook_init(mapper_space *s, arena *a) {
  const size_t row = s->node_count;
  double *outlook, *table;
  ARENA_ARRAY(a, outlook, s->level_count * s->account_count * row);
  ARENA_ARRAY(a, table, s->account_count * row);
  for (uint32_t level = s->level_count; level-- > 0;) {
    double *here = outlook + level * s->account_count * row;
    const double *outer = here + s->account_count * row;
    price_level(table, s, level);
    for (uint32_t j = 0; j < s->account_count; j++) {
      sweep(table + j * row, s);
      for (size_t i = 0; i < row; i++)
        here[j * row + i] =
            table[j * row + i] +
            (level + 1 < s->level_count ? outer[j * row + i] : 0);
    }
  }
  s->outlook = outlook;
  return CALM_OK;
}
