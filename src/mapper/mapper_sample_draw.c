/*
 * Rules are on the factors of one dimension, as is that a dimension is not
 * spread over columns and rows of one fan-out at once (Timeloop's mappings
 * cannot say that).  So each dimension is drawn by itself, until it observes
 * them, and what is drawn is as uniform over the rest as it would be if whole
 * nests were thrown away.  Factors that rules fix are dealt out first.
 */
#include "mapper/mapper_sample_draw.h"

#include <stdio.h>
#include <string.h>

#include "cost/cost_frame.h"

/* For one dimension. */
enum { MOST_TRIES = 1000 };

static const accel_block_rules *rules_of(const mapper_problem *p,
                                         uint32_t level, bool spatial) {
  if (!p->constraints) return NULL;
  const accel_level_rules *l = &p->constraints->levels[level];
  return spatial ? &l->spatial : &l->temporal;
}

/* ---- Where factors may go ------------------------------------------------ */

static mapper_range find_range(const mapper_problem *p, uint32_t level,
                               bool spatial, uint32_t dimension) {
  const accel_block_rules *b = rules_of(p, level, spatial);
  mapper_range r = {1, UINT64_MAX};
  if (!spatial && p->arch->levels[level].virtual_level) r.high = 1;
  for (uint32_t i = 0; b && i < b->factor_count; i++) {
    const accel_factor_rule *rule = &b->factors[i];
    if (rule->dimension != dimension) continue;
    if (rule->relation != ACCEL_AT_MOST && rule->value > r.low)
      r.low = rule->value;
    if (rule->relation != ACCEL_AT_LEAST && rule->value < r.high)
      r.high = rule->value;
  }
  return r;
}

static bool is_fixed(const mapper_range *r) { return r->low >= r->high; }

/* Cumulative fan-outs only have to stay within the mesh of the next inner
   level. */
static accel_fanout find_room(const mapper_problem *p, uint32_t level) {
  if (p->cost.fanout == COST_FANOUT_LEVEL)
    return accel_arch_fanout(p->arch, level);
  if (level == 0)
    return (accel_fanout){p->arch->compute.mesh_x, p->arch->compute.mesh_y};
  const accel_level *child = &p->arch->levels[level - 1];
  return (accel_fanout){child->mesh_x, child->mesh_y};
}

/* May a factor of a dimension stand there, whatever the block's range? */
static bool has_room(const mapper_draw *d, uint32_t dimension, uint32_t place,
                     uint64_t factor) {
  const uint32_t level = place / MAPPER_KINDS;
  const accel_loop_kind kind = place % MAPPER_KINDS;
  if (kind == ACCEL_TEMPORAL) return true;
  const bool x = kind == ACCEL_SPATIAL_X;
  const accel_block_rules *b = rules_of(d->problem, level, true);
  if (factor > (x ? d->rooms[level].x : d->rooms[level].y)) return false;
  return !b || accel_constraints_axis(b, dimension,
                                      d->problem->layer->dimension_count) !=
                   (x ? ACCEL_AXIS_Y : ACCEL_AXIS_X);
}

static const mapper_range *range_of(const mapper_bound *b, uint32_t place) {
  const bool spatial = place % MAPPER_KINDS != ACCEL_TEMPORAL;
  return &b->ranges[place / MAPPER_KINDS * 2 + spatial];
}

/* In all blocks that are not fixed, or, if `only` is one, in that one. */
static calm_status add_prime(mapper_draw *d, uint32_t dimension, uint64_t value,
                             const mapper_range *only, arena *a) {
  mapper_bound *b = &d->bounds[dimension];
  mapper_prime *prime = &b->primes[b->prime_count++];
  const uint32_t places = d->problem->arch->level_count * MAPPER_KINDS;
  uint32_t *list;
  ARENA_ARRAY(a, list, places);
  *prime = (mapper_prime){value, list, 0};
  for (uint32_t i = 0; i < places; i++) {
    const mapper_range *r = range_of(b, i);
    const bool open = only ? r == only : !is_fixed(r) && value <= r->high;
    if (open && has_room(d, dimension, i, value))
      list[prime->place_count++] = i;
  }
  return CALM_OK;
}

static calm_status add_primes(mapper_draw *d, uint32_t dimension,
                              uint64_t factor, const mapper_range *only,
                              arena *a) {
  for (uint64_t prime = 2; prime * prime <= factor; prime++)
    for (; factor % prime == 0; factor /= prime)
      TRY(add_prime(d, dimension, prime, only, a));
  return factor > 1 ? add_prime(d, dimension, factor, only, a) : CALM_OK;
}

/* ---- Nothing to draw ----------------------------------------------------- */

enum { REASON_SIZE = 256 };

static calm_status keep_reason(mapper_draw *d, const char *line, arena *a) {
  d->reason = arena_string(a, line, strlen(line));
  return d->reason ? CALM_OK : context_no_memory(a->context);
}

static calm_status say_undivided(mapper_draw *d, const accel_dimension *dim,
                                 arena *a) {
  char line[REASON_SIZE];
  snprintf(line, sizeof line,
           "the constraints fix factors of %.100s that do not divide its "
           "bound of %llu",
           dim->name, (unsigned long long)dim->bound);
  return keep_reason(d, line, a);
}

static calm_status say_no_place(mapper_draw *d, const accel_dimension *dim,
                                uint64_t prime, arena *a) {
  char line[REASON_SIZE];
  snprintf(line, sizeof line,
           "the constraints leave no place for a factor of %llu of the bound "
           "of %.100s, which is %llu",
           (unsigned long long)prime, dim->name,
           (unsigned long long)dim->bound);
  return keep_reason(d, line, a);
}

static calm_status say_unkept(mapper_draw *d, const accel_tensor *tensor,
                              arena *a) {
  char line[REASON_SIZE];
  snprintf(line, sizeof line, "%.200s is kept at no level", tensor->name);
  return keep_reason(d, line, a);
}

/* ---- The factors of a dimension ------------------------------------------ */

static calm_status find_primes(mapper_draw *d, uint32_t dimension, arena *a) {
  mapper_bound *b = &d->bounds[dimension];
  const uint32_t blocks = d->problem->arch->level_count * 2;
  const accel_dimension *dim = &d->problem->layer->dimensions[dimension];
  uint64_t rest = dim->bound;
  for (uint32_t i = 0; i < blocks; i++) {
    const mapper_range *r = &b->ranges[i];
    if (!is_fixed(r) || r->low == 1) continue;
    if (rest % r->low) return say_undivided(d, dim, a);
    TRY(add_primes(d, dimension, r->low, r, a));
    rest /= r->low;
  }
  TRY(add_primes(d, dimension, rest, NULL, a));
  for (uint32_t i = 0; i < b->prime_count; i++)
    if (b->primes[i].place_count == 0)
      return say_no_place(d, dim, b->primes[i].value, a);
  return CALM_OK;
}

static calm_status find_bound(mapper_draw *d, uint32_t dimension, arena *a) {
  mapper_bound *b = &d->bounds[dimension];
  const uint32_t blocks = d->problem->arch->level_count * 2;
  ARENA_ARRAY(a, b->primes, COST_MOST_STEPS);
  ARENA_ARRAY(a, b->ranges, blocks);
  for (uint32_t i = 0; i < blocks; i++)
    b->ranges[i] = find_range(d->problem, i / 2, i % 2, dimension);
  return find_primes(d, dimension, a);
}

/* ---- What can be kept ---------------------------------------------------- */

static uint32_t may_keep(const mapper_problem *p, uint32_t level) {
  return p->arch->levels[level].virtual_level ? p->must_keep[level]
                                              : p->may_keep[level];
}

static calm_status check_kept(mapper_draw *d, arena *a) {
  const mapper_problem *p = d->problem;
  uint32_t kept = 0;
  for (uint32_t l = 0; l < p->arch->level_count; l++) kept |= may_keep(p, l);
  for (uint32_t t = 0; t < p->layer->tensor_count; t++)
    if (!(kept >> t & 1)) return say_unkept(d, &p->layer->tensors[t], a);
  return CALM_OK;
}

calm_status mapper_draw_init(mapper_draw *out, const mapper_problem *p,
                             uint64_t seed, arena *a) {
  const uint32_t levels = p->arch->level_count;
  const uint32_t dimensions = p->layer->dimension_count;
  mapper_draw d = {.problem = p, .random = random_from_seed(seed)};
  ARENA_ARRAY(a, d.bounds, dimensions);
  ARENA_ARRAY(a, d.rooms, levels);
  ARENA_ARRAY(a, d.factors, (size_t)dimensions * levels * MAPPER_KINDS);
  ARENA_ARRAY(a, d.nest.loops, COST_MOST_STEPS);
  ARENA_ARRAY(a, d.nest.kept, levels);
  d.nest.level_count = levels;
  for (uint32_t l = 0; l < levels; l++) d.rooms[l] = find_room(p, l);
  for (uint32_t i = 0; i < dimensions && !d.reason; i++)
    TRY(find_bound(&d, i, a));
  if (!d.reason) TRY(check_kept(&d, a));
  *out = d;
  return CALM_OK;
}

/* ---- Factors ------------------------------------------------------------- */

static bool is_within(const mapper_range *r, uint64_t factor) {
  return factor >= r->low && factor <= r->high;
}

/* `row` has the factors of a dimension, by place. */
static bool observes_rules(const mapper_draw *d, const mapper_bound *b,
                           const uint64_t *row) {
  for (uint32_t l = 0; l < d->problem->arch->level_count; l++) {
    const uint64_t *at = &row[l * MAPPER_KINDS];
    const uint64_t x = at[ACCEL_SPATIAL_X], y = at[ACCEL_SPATIAL_Y];
    if (x > d->rooms[l].x || y > d->rooms[l].y || (x > 1 && y > 1))
      return false;
    if (!is_within(&b->ranges[2 * l], at[ACCEL_TEMPORAL]) ||
        !is_within(&b->ranges[2 * l + 1], x * y))
      return false;
  }
  return true;
}

static bool draw_factors(mapper_draw *d, uint32_t dimension) {
  const mapper_bound *b = &d->bounds[dimension];
  const uint32_t places = d->problem->arch->level_count * MAPPER_KINDS;
  uint64_t *row = &d->factors[(size_t)dimension * places];
  for (uint32_t tries = 0; tries < MOST_TRIES; tries++) {
    for (uint32_t i = 0; i < places; i++) row[i] = 1;
    for (uint32_t i = 0; i < b->prime_count; i++) {
      const mapper_prime *prime = &b->primes[i];
      const uint32_t which = random_below(&d->random, prime->place_count);
      row[prime->places[which]] *= prime->value;
    }
    if (observes_rules(d, b, row)) return true;
  }
  return false;
}

/* ---- Orders -------------------------------------------------------------- */

static void shuffle(uint32_t *list, uint32_t count, random_state *r) {
  for (uint32_t i = count; i > 1; i--) {
    const uint32_t k = random_below(r, i);
    const uint32_t swap = list[k];
    list[k] = list[i - 1];
    list[i - 1] = swap;
  }
}

/* The dimensions of `set`, innermost first: those that are listed stand where
   they belong. */
static uint32_t arrange(uint32_t *out, uint32_t set, const accel_block_rules *b,
                        random_state *r) {
  uint32_t count = 0, outer = 0;
  for (uint32_t i = 0; b && i < b->inner_count; i++) {
    if (!(set >> b->inner[i] & 1)) continue;
    out[count++] = b->inner[i];
    set &= ~(UINT32_C(1) << b->inner[i]);
  }
  for (uint32_t i = 0; b && i < b->outer_count; i++)
    outer |= set & UINT32_C(1) << b->outer[i];
  const uint32_t first = count;
  for (uint32_t left = set & ~outer; left; left &= left - 1)
    out[count++] = bits_lowest(left);
  shuffle(out + first, count - first, r);
  for (uint32_t i = outer ? b->outer_count : 0; i-- > 0;)
    if (outer >> b->outer[i] & 1) out[count++] = b->outer[i];
  return count;
}

static void add_place(mapper_draw *d, uint32_t place) {
  const uint32_t dimensions = d->problem->layer->dimension_count;
  const uint32_t places = d->problem->arch->level_count * MAPPER_KINDS;
  const uint32_t level = place / MAPPER_KINDS;
  const accel_loop_kind kind = place % MAPPER_KINDS;
  const accel_block_rules *b =
      rules_of(d->problem, level, kind != ACCEL_TEMPORAL);
  uint32_t order[ACCEL_MAX_DIMENSIONS], set = 0;
  for (uint32_t i = 0; i < dimensions; i++)
    if (d->factors[(size_t)i * places + place] > 1) set |= UINT32_C(1) << i;
  const uint32_t count = arrange(order, set, b, &d->random);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t bound = d->factors[(size_t)order[i] * places + place];
    d->nest.loops[d->nest.loop_count++] =
        (accel_loop){bound, bound, order[i], level, kind};
  }
}

static void draw_kept(mapper_draw *d) {
  const mapper_problem *p = d->problem;
  for (uint32_t l = 0; l < p->arch->level_count; l++) {
    const uint32_t free = may_keep(p, l) & ~p->must_keep[l];
    d->nest.kept[l] = p->must_keep[l];
    if (free)
      d->nest.kept[l] |= (uint32_t)(random_next(&d->random) >> 32) & free;
  }
}

bool mapper_draw_next(mapper_draw *d) {
  const uint32_t places = d->problem->arch->level_count * MAPPER_KINDS;
  for (uint32_t i = 0; i < d->problem->layer->dimension_count; i++)
    if (!draw_factors(d, i)) return false;
  d->nest.loop_count = 0;
  for (uint32_t i = 0; i < places; i++) add_place(d, i);
  draw_kept(d);
  return true;
}
