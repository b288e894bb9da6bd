/*
 * Rules as they are gathered from directives: factors, orders, splits, tensors.
 * A directive may repeat or tighten an earlier one; it may not contradict it.
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_constraints_parts.h"
#include "base/number.h"

const char *accel_place_spot(char spot[ACCEL_SPOT_SIZE], accel_place place) {
  if (place.file)
    snprintf(spot, ACCEL_SPOT_SIZE, "%.200s:%u", place.file, place.line);
  else
    snprintf(spot, ACCEL_SPOT_SIZE, "the architecture");
  return spot;
}

calm_status accel_rules_begin(accel_rules_draft *d) {
  const uint32_t dimensions = d->subject.layer->dimension_count;
  const uint32_t tensors = d->subject.layer->tensor_count;
  arena *a = d->subject.arena;
  d->rules = (accel_constraints){.level_count = d->subject.arch->level_count};
  ARENA_ARRAY(a, d->rules.levels, d->rules.level_count);
  for (uint32_t i = 0; i < d->rules.level_count; i++) {
    accel_level_rules *l = &d->rules.levels[i];
    ARENA_ARRAY(a, l->keep_places, tensors);
    ARENA_ARRAY(a, l->bypass_places, tensors);
    for (int spatial = 0; spatial < 2; spatial++) {
      accel_block_rules *b = spatial ? &l->spatial : &l->temporal;
      ARENA_ARRAY(a, b->factors, (size_t)dimensions * 3);
      ARENA_ARRAY(a, b->inner, dimensions);
      ARENA_ARRAY(a, b->outer, dimensions);
      b->split = CALM_NONE;
    }
  }
  return CALM_OK;
}

/* ---- Factors ------------------------------------------------------------- */

static const char *const signs[] = {"=", "<=", ">="};

static calm_status factors_contradict(const accel_rules_draft *d,
                                      uint32_t level, bool spatial,
                                      const accel_factor_rule *x,
                                      const accel_factor_rule *y) {
  char spot[ACCEL_SPOT_SIZE];
  const char *name = d->subject.layer->dimensions[x->dimension].name;
  return accel_place_fail(
      d->subject.context, CALM_BAD_INPUT, y->place,
      "%s%s%llu contradicts %s%s%llu in %s (%s loops of %s)", name,
      signs[y->relation], (unsigned long long)y->value, name,
      signs[x->relation], (unsigned long long)x->value,
      accel_place_spot(spot, x->place), spatial ? "spatial" : "temporal",
      d->subject.arch->levels[level].name);
}

uint64_t accel_rule_low(const accel_factor_rule *r) {
  return r->relation == ACCEL_AT_MOST ? 1 : r->value;
}

uint64_t accel_rule_high(const accel_factor_rule *r) {
  return r->relation == ACCEL_AT_LEAST ? UINT64_MAX : r->value;
}

static bool can_hold(const accel_factor_rule *x, const accel_factor_rule *y) {
  return accel_rule_low(x) <= accel_rule_high(y) &&
         accel_rule_low(y) <= accel_rule_high(x);
}

/* Timeloop passes over a factor that is larger than the bound, as files are
   written for families of layers; so does calm, aloud. */
static bool is_too_large(const accel_rules_draft *d, uint32_t level,
                         const accel_factor_rule *rule) {
  const accel_dimension *dim = &d->subject.layer->dimensions[rule->dimension];
  if (rule->relation != ACCEL_EQUAL || rule->value <= dim->bound) return false;
  context_log(d->subject.context, CALM_LOG_WARNING,
              "%s:%u: %s=%llu at %s is passed over: the bound of %s is %llu",
              rule->place.file ? rule->place.file : "", rule->place.line,
              dim->name, (unsigned long long)rule->value,
              d->subject.arch->levels[level].name, dim->name,
              (unsigned long long)dim->bound);
  return true;
}

static void tighten(accel_factor_rule *own, const accel_factor_rule *rule) {
  if (own->relation == ACCEL_AT_MOST ? rule->value < own->value
                                     : rule->value > own->value)
    *own = *rule;
}

calm_status accel_rules_add_factor(accel_rules_draft *d, uint32_t level,
                                   bool spatial,
                                   const accel_factor_rule *rule) {
  accel_level_rules *l = &d->rules.levels[level];
  accel_block_rules *b = spatial ? &l->spatial : &l->temporal;
  accel_factor_rule *same = NULL;
  if (is_too_large(d, level, rule)) return CALM_OK;
  for (uint32_t i = 0; i < b->factor_count; i++) {
    accel_factor_rule *own = &b->factors[i];
    if (own->dimension != rule->dimension) continue;
    if (!can_hold(own, rule))
      return factors_contradict(d, level, spatial, own, rule);
    if (own->relation == rule->relation) same = own;
  }
  if (same)
    tighten(same, rule);
  else
    b->factors[b->factor_count++] = *rule;
  return CALM_OK;
}

/* One rule for each dimension of a set. */
static calm_status add_for_each(accel_rules_draft *d, uint32_t level,
                                bool spatial, uint32_t dimensions,
                                accel_factor_rule rule) {
  for (uint32_t i = 0; i < d->subject.layer->dimension_count; i++) {
    rule.dimension = i;
    if (dimensions >> i & 1)
      TRY(accel_rules_add_factor(d, level, spatial, &rule));
  }
  return CALM_OK;
}

static uint32_t all_dimensions(const accel_layer *layer) {
  return (uint32_t)((UINT64_C(1) << layer->dimension_count) - 1);
}

/* The dimensions that no rule of a block is about yet. */
static uint32_t free_dimensions(const accel_rules_draft *d, uint32_t level,
                                bool spatial) {
  const accel_level_rules *l = &d->rules.levels[level];
  const accel_block_rules *b = spatial ? &l->spatial : &l->temporal;
  uint32_t free = all_dimensions(d->subject.layer);
  for (uint32_t i = 0; i < b->factor_count; i++)
    free &= ~(UINT32_C(1) << b->factors[i].dimension);
  return free;
}

/* The dimensions in the projections of a set of tensors. */
static uint32_t projected(const accel_layer *layer, uint32_t tensors) {
  uint32_t set = 0;
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    for (uint32_t r = 0; r < layer->tensors[t].rank_count; r++)
      for (uint32_t i = 0; i < layer->tensors[t].ranks[r].term_count; i++)
        if (tensors >> t & 1)
          set |= UINT32_C(1) << layer->tensors[t].ranks[r].terms[i].dimension;
  return set;
}

static calm_status add_listed(accel_rules_draft *d, uint32_t level,
                              bool spatial, const accel_yaml *value) {
  accel_factors factors;
  TRY(accel_factors_read(&factors, &d->subject, value));
  for (uint32_t i = 0; i < factors.count; i++) {
    const accel_factor *f = &factors.items[i];
    if (f->residual && f->residual != f->rule.value)
      return accel_place_fail(
          d->subject.context, CALM_UNSUPPORTED, f->rule.place,
          "a rule on the last pass of an imperfect factor; rules "
          "are on whole factors");
    TRY(accel_rules_add_factor(d, level, spatial, &f->rule));
  }
  return CALM_OK;
}

static calm_status add_limit(accel_rules_draft *d, uint32_t level, bool spatial,
                             const accel_yaml *value, accel_relation relation) {
  uint64_t limit;
  if (!value) return CALM_OK;
  TRY(accel_yaml_integer(&limit, d->subject.context, value, "a limit"));
  if (limit == 0)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, value->place,
                            "a limit of 0 on factors; the least is 1");
  const accel_factor_rule rule = {0, relation, limit, value->place};
  return add_for_each(d, level, spatial, free_dimensions(d, level, spatial),
                      rule);
}

/* The macros of version 0.4 that keep dimensions at 1. */
static calm_status add_ones(accel_rules_draft *d, uint32_t level, bool spatial,
                            const accel_yaml *directive) {
  const accel_layer *layer = d->subject.layer;
  const uint32_t all = all_dimensions(layer);
  const accel_yaml *none =
      accel_directive_get(directive, "no_iteration_over_dataspaces");
  const accel_yaml *only =
      accel_directive_get(directive, "must_iterate_over_dataspaces");
  const accel_factor_rule one = {0, ACCEL_EQUAL, 1, directive->place};
  uint32_t tensors;
  if (none) {
    TRY(accel_tensors_read(&tensors, &d->subject, none));
    TRY(add_for_each(d, level, spatial, projected(layer, tensors), one));
  }
  if (only) {
    TRY(accel_tensors_read(&tensors, &d->subject, only));
    TRY(add_for_each(d, level, spatial, all & ~projected(layer, tensors), one));
  }
  if (!accel_yaml_get(directive, "factors_only")) return CALM_OK;
  return add_for_each(d, level, spatial, free_dimensions(d, level, spatial),
                      one);
}

static calm_status add_factors(accel_rules_draft *d, uint32_t level,
                               bool spatial, const accel_yaml *directive) {
  TRY(add_listed(d, level, spatial, accel_directive_get(directive, "factors")));
  TRY(add_listed(d, level, spatial,
                 accel_directive_get(directive, "factors_only")));
  TRY(add_ones(d, level, spatial, directive));
  TRY(add_limit(d, level, spatial,
                accel_directive_get(directive, "default_max_factor"),
                ACCEL_AT_MOST));
  return add_limit(d, level, spatial,
                   accel_directive_get(directive, "default_min_factor"),
                   ACCEL_AT_LEAST);
}

/* ---- Orders and splits --------------------------------------------------- */

/* Dimensions in their order, from the innermost or from the outermost. */
typedef struct listed {
  const uint32_t *items;
  uint32_t count;
  accel_place place;
} listed;

/* The same of a block, to be changed. */
typedef struct own_list {
  uint32_t *items, *count;
  accel_place *place;
} own_list;

/* Of two lists one must begin with the other; the longer one stays. */
static calm_status add_list(accel_rules_draft *d, uint32_t level,
                            const own_list *own, const listed *more) {
  char spot[ACCEL_SPOT_SIZE];
  const accel_dimension *names = d->subject.layer->dimensions;
  for (uint32_t i = 0; i < *own->count && i < more->count; i++)
    if (own->items[i] != more->items[i])
      return accel_place_fail(
          d->subject.context, CALM_BAD_INPUT, more->place,
          "this order contradicts that in %s (loops of %s): %s and %s cannot "
          "both be in place %u",
          accel_place_spot(spot, *own->place),
          d->subject.arch->levels[level].name, names[own->items[i]].name,
          names[more->items[i]].name, i + 1);
  if (more->count <= *own->count) return CALM_OK;
  memcpy(own->items, more->items, more->count * sizeof *more->items);
  *own->count = more->count;
  *own->place = more->place;
  return CALM_OK;
}

static calm_status add_order(accel_rules_draft *d, uint32_t level,
                             accel_block_rules *b, const accel_yaml *value) {
  const own_list inner = {b->inner, &b->inner_count, &b->inner_place};
  const own_list outer = {b->outer, &b->outer_count, &b->outer_place};
  accel_order order;
  if (!value) return CALM_OK;
  TRY(accel_order_read(&order, &d->subject, value));
  const listed first = {order.inner, order.inner_count, value->place};
  const listed last = {order.outer, order.outer_count, value->place};
  TRY(add_list(d, level, &inner, &first));
  return add_list(d, level, &outer, &last);
}

static calm_status add_split(accel_rules_draft *d, uint32_t level,
                             accel_block_rules *b, const accel_yaml *value) {
  char spot[ACCEL_SPOT_SIZE];
  uint32_t split;
  if (!value) return CALM_OK;
  TRY(accel_split_read(&split, &d->subject, value));
  if (b->split != CALM_NONE && b->split != split)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, value->place,
                            "split %u contradicts split %u in %s (spatial "
                            "loops of %s)",
                            split, b->split,
                            accel_place_spot(spot, b->split_place),
                            d->subject.arch->levels[level].name);
  b->split = split;
  b->split_place = value->place;
  return CALM_OK;
}

static bool is_placed(const accel_block_rules *b, uint32_t dimension) {
  for (uint32_t i = 0; i < b->inner_count; i++)
    if (b->inner[i] == dimension) return true;
  for (uint32_t i = 0; i < b->outer_count; i++)
    if (b->outer[i] == dimension) return true;
  return false;
}

static bool is_one(const accel_block_rules *b, const accel_layer *layer,
                   uint32_t dimension) {
  if (layer->dimensions[dimension].bound == 1) return true;
  for (uint32_t i = 0; i < b->factor_count; i++)
    if (b->factors[i].dimension == dimension &&
        b->factors[i].relation == ACCEL_EQUAL && b->factors[i].value == 1)
      return true;
  return false;
}

static void place_ones(accel_block_rules *b, const accel_layer *layer) {
  uint32_t ones[ACCEL_MAX_DIMENSIONS], count = 0;
  for (uint32_t i = 0; i < layer->dimension_count; i++)
    if (is_one(b, layer, i) && !is_placed(b, i)) ones[count++] = i;
  memmove(b->inner + count, b->inner, b->inner_count * sizeof *b->inner);
  memcpy(b->inner, ones, count * sizeof *ones);
  if (b->inner_count == 0) b->inner_place = b->split_place;
  b->inner_count += count;
}

/* Only a split makes these places matter: no loop stands there. */
void accel_rules_place_ones(accel_rules_draft *d) {
  for (uint32_t i = 0; i < d->rules.level_count; i++) {
    accel_block_rules *b = &d->rules.levels[i].spatial;
    if (d->subject.arch->levels[i].virtual_level && b->split != CALM_NONE)
      place_ones(b, d->subject.layer);
  }
}

/* ---- Tensors ------------------------------------------------------------- */

calm_status accel_rules_add_tensors(accel_rules_draft *d, uint32_t level,
                                    uint32_t keep, uint32_t bypass,
                                    accel_place place) {
  accel_level_rules *l = &d->rules.levels[level];
  char spot[ACCEL_SPOT_SIZE], other[ACCEL_SPOT_SIZE];
  for (uint32_t t = 0; t < d->subject.layer->tensor_count; t++) {
    const uint32_t bit = UINT32_C(1) << t;
    if (keep & bit & ~l->keep) l->keep_places[t] = place;
    if (bypass & bit & ~l->bypass) l->bypass_places[t] = place;
    l->keep |= keep & bit;
    l->bypass |= bypass & bit;
    if (l->keep & l->bypass & bit)
      return accel_place_fail(d->subject.context, CALM_BAD_INPUT, place,
                              "%s must be kept at %s (%s) and bypassed (%s)",
                              d->subject.layer->tensors[t].name,
                              d->subject.arch->levels[level].name,
                              accel_place_spot(spot, l->keep_places[t]),
                              accel_place_spot(other, l->bypass_places[t]));
  }
  return CALM_OK;
}

/* ---- Directives ---------------------------------------------------------- */

/* Timeloop has this at its innermost level alone: the share of the multipliers
   that must be in use. */
static calm_status add_parallelism(accel_rules_draft *d, uint32_t level,
                                   const accel_yaml *directive) {
  const accel_yaml *value = accel_directive_get(directive, "min");
  double share;
  if (!value) return CALM_OK;
  TRY(accel_yaml_real(&share, d->subject.context, value, "min"));
  if (level != 0)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, value->place,
                            "the share of multipliers in use is a rule of the "
                            "innermost level, %s",
                            d->subject.arch->levels[0].name);
  if (share < 0 || share > 1)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, value->place,
                            "a share is between 0 and 1, not %s", value->text);
  if (share <= d->rules.min_parallelism) return CALM_OK;
  d->rules.min_parallelism = share;
  d->rules.parallelism_place = value->place;
  return CALM_OK;
}

calm_status accel_rules_add(accel_rules_draft *d, uint32_t level,
                            accel_directive_type type,
                            const accel_yaml *directive) {
  accel_level_rules *l = &d->rules.levels[level];
  const bool spatial = type == ACCEL_DIRECTIVE_SPATIAL;
  accel_block_rules *b = spatial ? &l->spatial : &l->temporal;
  uint32_t keep, bypass;
  TRY(accel_directive_check_keys(&d->subject, directive, type, true));
  switch (type) {
    case ACCEL_DIRECTIVE_TEMPORAL:
    case ACCEL_DIRECTIVE_SPATIAL:
      TRY(add_factors(d, level, spatial, directive));
      TRY(add_order(d, level, b,
                    accel_directive_get(directive, "permutation")));
      return spatial ? add_split(d, level, b,
                                 accel_directive_get(directive, "split"))
                     : CALM_OK;
    case ACCEL_DIRECTIVE_TENSORS:
      TRY(accel_directive_tensors(&keep, &bypass, &d->subject, directive));
      return accel_rules_add_tensors(d, level, keep, bypass, directive->place);
    default: return add_parallelism(d, level, directive);
  }
}
