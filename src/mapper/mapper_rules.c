#include "mapper/mapper_rules.h"

#include "base/bits.h"

/*
 * Constraints in a search that builds nests loop by loop.
 *
 * Factors.  What a dimension's loops of one block make up is the quotient of
 * its tiles at the end and at the start of the block, so a label remembers the
 * start (`base`), but only of dimensions whose factors are limited; two labels
 * are compared only if they started alike.  A dimension without any loop here
 * is locked from the start and needs no memory.
 *
 * Orders.  Each dimension has a rank in its block: those of the inner list come
 * first, in its order; those of the outer list last; all others share one rank
 * between.  A nest is allowed if ranks never fall from the inside outwards, so
 * after a loop all dimensions of lower ranks are locked until the block ends,
 * just as a window locks dimensions it went past: the label need not know more,
 * and the comparison of locks is the comparison that orders need.
 *
 * A label may have several steps of one dimension in a block that other loops
 * part; in the nest they are one loop, at the place of one of them.  Ranks do
 * not fall from the first of them to the last, so whatever stands between has
 * the same rank, and is in no list (there each rank has one dimension).  Among
 * such loops every order is allowed, and factors do not depend on it: the nest
 * observes the rules, wherever the steps meet.
 */

static const accel_block_rules *temporal_rules(const mapper_space *s,
                                               uint32_t level) {
  return &s->problem->constraints->levels[level].temporal;
}

static const accel_block_rules *spatial_rules(const mapper_space *s,
                                              uint32_t level) {
  return &s->problem->constraints->levels[level].spatial;
}

/* ---- Factors ------------------------------------------------------------- */

bool mapper_rules_allow_factor(const accel_factor_rule *r, double factor) {
  const double value = (double)r->value;
  switch (r->relation) {
    case ACCEL_AT_MOST: return factor <= value;
    case ACCEL_AT_LEAST: return factor >= value;
    default: return factor == value;
  }
}

/* Marks the factors of an axis; true if any is not allowed. */
static bool mark_factors(uint8_t *marks, const accel_block_rules *b,
                         const mapper_axis *axis) {
  bool limited = false;
  for (uint32_t i = axis->count; i-- > 0;) {
    bool may = true;
    for (uint32_t k = 0; k < b->factor_count; k++)
      if (b->factors[k].dimension == axis->dimension)
        may &= mapper_rules_allow_factor(&b->factors[k], axis->divisors[i]);
    limited |= !may;
    marks[i] = may ? MAPPER_MAY_BE | MAPPER_MAY_GROW : 0;
    for (uint32_t k = 0; k < axis->prime_count; k++) {
      const uint32_t more = axis->times[i * axis->count + axis->primes[k]];
      if (more != CALM_NONE) marks[i] |= marks[more] & MAPPER_MAY_GROW;
    }
  }
  return limited;
}

static calm_status limit_factors(const uint8_t **out, const mapper_space *s,
                                 const accel_block_rules *b, arena *a) {
  for (uint32_t i = 0; i < s->axis_count; i++) {
    uint8_t *marks;
    ARENA_ARRAY(a, marks, s->axes[i].count);
    out[i] = mark_factors(marks, b, &s->axes[i]) ? marks : NULL;
  }
  return CALM_OK;
}

static void sort_axes(mapper_demand *d, const mapper_space *s) {
  for (uint32_t i = 0; i < s->axis_count; i++) {
    const uint8_t *marks = d->temporal[i];
    if (!marks) continue;
    bool only_one = marks[0] & MAPPER_MAY_BE;
    for (uint32_t k = 1; k < s->axes[i].count; k++)
      only_one &= !(marks[k] & MAPPER_MAY_BE);
    if (only_one)
      d->once |= UINT32_C(1) << s->axes[i].dimension;
    else
      d->counted |= UINT32_C(1) << i;
  }
}

/* Dimensions of one iteration are no axes; their factors are all 1. */
static bool wants_more(const mapper_space *s, const accel_block_rules *b) {
  for (uint32_t i = 0; i < b->factor_count; i++)
    if (s->tables->bounds[b->factors[i].dimension] == 1 &&
        !mapper_rules_allow_factor(&b->factors[i], 1))
      return true;
  return false;
}

/* ---- Orders -------------------------------------------------------------- */

/* From the inside; more than the dimensions there are for the outer list. */
static uint32_t rank_of(const accel_block_rules *b, uint32_t dimension) {
  for (uint32_t i = 0; i < b->inner_count; i++)
    if (b->inner[i] == dimension) return i;
  for (uint32_t i = 0; i < b->outer_count; i++)
    if (b->outer[i] == dimension) return 2 * ACCEL_MAX_DIMENSIONS - i;
  return ACCEL_MAX_DIMENSIONS;
}

static void order_loops(mapper_demand *d, const mapper_space *s,
                        const accel_block_rules *b) {
  for (uint32_t i = 0; i < s->axis_count; i++)
    for (uint32_t k = 0; k < s->axis_count; k++)
      if (rank_of(b, s->axes[k].dimension) < rank_of(b, s->axes[i].dimension))
        d->inside[i] |= UINT32_C(1) << s->axes[k].dimension;
}

static void order_fan(mapper_demand *d, const mapper_space *s,
                      const accel_block_rules *b) {
  if (b->inner_count || b->outer_count || b->split != CALM_NONE)
    d->fan_rules = b;
  for (uint32_t i = 0; i < s->axis_count; i++)
    d->ranks[i] = (uint8_t)rank_of(b, s->axes[i].dimension);
}

/* ---- Tables -------------------------------------------------------------- */

static bool restricts(const accel_block_rules *b) {
  return b->factor_count || b->inner_count || b->outer_count ||
         b->split != CALM_NONE;
}

/* What is to be kept and bypassed is in the problem's keep sets. */
static bool has_rules(const accel_constraints *c) {
  if (!c) return false;
  bool rules = c->min_parallelism > 0;
  for (uint32_t l = 0; l < c->level_count; l++)
    rules |=
        restricts(&c->levels[l].temporal) || restricts(&c->levels[l].spatial);
  return rules;
}

static calm_status tabulate_quotients(mapper_demands *d, const mapper_space *s,
                                      arena *a) {
  for (uint32_t i = 0; i < s->axis_count; i++) {
    const uint32_t n = s->axes[i].count;
    uint8_t *quotients;
    ARENA_ARRAY(a, quotients, (size_t)n * n);
    for (uint32_t k = 0; k < n; k++)
      for (uint32_t by = 0; by < n; by++) {
        const uint32_t product = s->axes[i].times[by * n + k];
        if (product != CALM_NONE) quotients[product * n + by] = (uint8_t)k;
      }
    d->quotients[i] = quotients;
  }
  return CALM_OK;
}

double mapper_rules_least_spread(const mapper_space *s) {
  const double all = (double)s->problem->arch->compute.instances;
  const double share = s->problem->constraints->min_parallelism;
  double least = ceil(share * all);
  while (least > 1 && (least - 1) / all >= share) least--;
  while (least / all < share) least++;
  return least;
}

calm_status mapper_rules_init(mapper_space *s, arena *a) {
  mapper_demands *out;
  mapper_demand *levels;
  if (!has_rules(s->problem->constraints)) return CALM_OK;
  ARENA_ARRAY(a, out, 1);
  ARENA_ARRAY(a, levels, s->level_count);
  for (uint32_t l = 0; l < s->level_count; l++) {
    mapper_demand *d = &levels[l];
    TRY(limit_factors(d->temporal, s, temporal_rules(s, l), a));
    TRY(limit_factors(d->spatial, s, spatial_rules(s, l), a));
    sort_axes(d, s);
    order_loops(d, s, temporal_rules(s, l));
    order_fan(d, s, spatial_rules(s, l));
    out->impossible |= wants_more(s, temporal_rules(s, l)) ||
                       wants_more(s, spatial_rules(s, l));
  }
  TRY(tabulate_quotients(out, s, a));
  out->levels = levels;
  out->least_spread = mapper_rules_least_spread(s);
  s->demands = out;
  return CALM_OK;
}

/* ---- Spatial loops ------------------------------------------------------- */

bool mapper_rules_allow_spread(const mapper_space *s, uint32_t level,
                               const uint32_t *digits) {
  if (!s->demands) return true;
  const mapper_demand *d = &s->demands->levels[level];
  for (uint32_t i = 0; i < s->axis_count; i++)
    if (d->spatial[i] && !(d->spatial[i][digits[i]] & MAPPER_MAY_BE))
      return false;
  return true;
}

uint32_t mapper_rules_arrange(uint8_t *order, uint32_t *columns,
                              const mapper_space *s, uint32_t level,
                              const uint32_t *digits, uint32_t rows) {
  const uint8_t *ranks = s->demands ? s->demands->levels[level].ranks : NULL;
  uint32_t count = 0;
  for (uint32_t side = 0; side < 2; side++) {
    const uint32_t begin = count;
    for (uint32_t i = 0; i < s->axis_count; i++) {
      if (!digits[i] || (rows >> i & 1) != side) continue;
      uint32_t at = count++;
      for (; ranks && at > begin && ranks[order[at - 1]] > ranks[i]; at--)
        order[at] = order[at - 1];
      order[at] = (uint8_t)i;
    }
    if (side == 0) *columns = count;
  }
  return count;
}

static bool is_listed(const accel_block_rules *b, uint32_t dimension) {
  return rank_of(b, dimension) != ACCEL_MAX_DIMENSIONS;
}

/* Between the listed dimensions there are so many places, some of them on
   columns.  A dimension takes one of the places of its side. */
static bool keeps_split(const mapper_space *s, const accel_block_rules *b,
                        const uint8_t *order, uint32_t columns,
                        uint32_t count) {
  const uint32_t all = s->tables->dimension_count;
  const uint32_t listed = b->inner_count + b->outer_count;
  const uint32_t between = all > listed ? all - listed : 0;
  uint32_t left[2] = {0, 0};
  if (b->split > b->inner_count) left[0] = b->split - b->inner_count;
  if (left[0] > between) left[0] = between;
  left[1] = between - left[0];
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t dimension = s->axes[order[i]].dimension;
    const uint32_t side = i >= columns;
    const accel_axis axis = accel_constraints_axis(b, dimension, all);
    if (axis == (side ? ACCEL_AXIS_X : ACCEL_AXIS_Y)) return false;
    if (is_listed(b, dimension)) continue;
    if (left[side]-- == 0) return false;
  }
  return true;
}

bool mapper_rules_allow_order(const mapper_space *s, uint32_t level,
                              const uint8_t *order, uint32_t columns,
                              uint32_t count) {
  if (!s->demands || !s->demands->levels[level].fan_rules) return true;
  const mapper_demand *d = &s->demands->levels[level];
  for (uint32_t i = 1; i < count; i++)
    if (d->ranks[order[i]] < d->ranks[order[i - 1]]) return false;
  return d->fan_rules->split == CALM_NONE ||
         keeps_split(s, d->fan_rules, order, columns, count);
}

bool mapper_rules_allow_rows(const mapper_space *s, uint32_t level,
                             const uint32_t *digits, uint32_t rows) {
  uint8_t order[MAPPER_MOST_AXES];
  uint32_t columns, count;
  if (!s->demands || !s->demands->levels[level].fan_rules) return true;
  count = mapper_rules_arrange(order, &columns, s, level, digits, rows);
  return mapper_rules_allow_order(s, level, order, columns, count);
}

/* ---- Temporal loops ------------------------------------------------------ */

uint32_t mapper_rules_base(const mapper_space *s, uint32_t level,
                           uint32_t node) {
  const uint8_t *digits = s->digits + (size_t)node * s->axis_count;
  uint32_t base = 0;
  for (uint32_t left = s->demands->levels[level].counted; left;
       left &= left - 1)
    base += digits[bits_lowest(left)] * s->axes[bits_lowest(left)].stride;
  return base;
}

/* The digit of what the loops of this block make up on an axis. */
static uint32_t factor_digit(const mapper_space *s, const mapper_label *l,
                             uint32_t axis) {
  const mapper_axis *a = &s->axes[axis];
  const uint32_t digit = s->digits[(size_t)l->node * s->axis_count + axis];
  const uint32_t base = l->base / a->stride % a->count;
  return s->demands->quotients[axis][digit * a->count + base];
}

bool mapper_rules_alive(const mapper_space *s, const mapper_label *l,
                        uint32_t level) {
  const double room = mapper_rules_room(s, level, l->node);
  if (s->demands->impossible) return false;
  return room > 0 && l->spread * room * (1 + 1e-6) >= s->demands->least_spread;
}

bool mapper_rules_begin(mapper_label *l, const mapper_space *s,
                        uint32_t level) {
  if (!s->demands) return true;
  l->base = mapper_rules_base(s, level, l->node);
  l->locked |= s->demands->levels[level].once;
  return mapper_rules_alive(s, l, level);
}

/* Locks matter only for dimensions of which something is left. */
bool mapper_rules_step(mapper_label *l, const mapper_space *s, uint32_t level,
                       uint32_t axis) {
  if (!s->demands) return true;
  const mapper_demand *d = &s->demands->levels[level];
  const double *extents = mapper_extents(s, l->node);
  for (uint32_t left = d->inside[axis] & ~l->locked; left; left &= left - 1) {
    const uint32_t dimension = bits_lowest(left);
    if (extents[dimension] < s->tables->bounds[dimension])
      l->locked |= UINT32_C(1) << dimension;
  }
  if (d->counted >> axis & 1 &&
      !(d->temporal[axis][factor_digit(s, l, axis)] & MAPPER_MAY_GROW))
    return false;
  return mapper_rules_alive(s, l, level);
}

bool mapper_rules_leave(const mapper_label *l, const mapper_space *s,
                        uint32_t level) {
  if (!s->demands) return true;
  const mapper_demand *d = &s->demands->levels[level];
  for (uint32_t left = d->counted; left; left &= left - 1) {
    const uint32_t axis = bits_lowest(left);
    if (!(d->temporal[axis][factor_digit(s, l, axis)] & MAPPER_MAY_BE))
      return false;
  }
  return true;
}
