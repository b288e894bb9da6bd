/*
 * Can rules hold all at once?  Each is possible by itself; together they may
 * leave a dimension short of its bound, or want more than the fan-out has, or
 * leave a tensor without a level.  The message names every rule that takes part
 * with its place.
 */
#include <string.h>

#include "accel/accel_constraints_parts.h"
#include "base/number.h"
#include "base/text.h"

/* The factors that a dimension may have in one block. */
typedef struct range {
  uint64_t low, high;
  const accel_factor_rule *low_rule, *high_rule; /* NULL: no rule */
} range;

static const accel_block_rules *block_of(const accel_rules_draft *d,
                                         uint32_t level, bool spatial) {
  const accel_level_rules *l = &d->rules.levels[level];
  return spatial ? &l->spatial : &l->temporal;
}

static range find_range(const accel_rules_draft *d, uint32_t level,
                        bool spatial, uint32_t dimension) {
  const accel_block_rules *b = block_of(d, level, spatial);
  range r = {.low = 1, .high = UINT64_MAX};
  if (spatial) {
    const accel_fanout f = accel_arch_fanout(d->subject.arch, level);
    r.high = accel_count_multiply(f.x, f.y);
  }
  for (uint32_t i = 0; i < b->factor_count; i++) {
    const accel_factor_rule *rule = &b->factors[i];
    if (rule->dimension != dimension) continue;
    if (accel_rule_low(rule) > r.low) {
      r.low = accel_rule_low(rule);
      r.low_rule = rule;
    }
    if (accel_rule_high(rule) < r.high) {
      r.high = accel_rule_high(rule);
      r.high_rule = rule;
    }
  }
  return r;
}

/* ---- Bounds -------------------------------------------------------------- */

/* What of the ranges of a dimension is to be told. */
typedef enum side { LOW, HIGH } side;

static bool takes_part(const range *r, side what) {
  return what == LOW ? r->low > 1 : r->high < UINT64_MAX;
}

/* "4 at GlobalBuffer (spatial, c.yaml:7), ..." */
static void list_ranges(text *t, const accel_rules_draft *d, uint32_t dimension,
                        side what) {
  const char *comma = "";
  for (uint32_t i = d->rules.level_count * 2; i-- > 0;) {
    const range r = find_range(d, i / 2, !(i % 2), dimension);
    const accel_factor_rule *rule = what == HIGH ? r.high_rule : r.low_rule;
    char spot[ACCEL_SPOT_SIZE];
    if (!takes_part(&r, what) || (!rule && r.high == 1)) continue;
    text_format(t, "%s%llu at %s (%s, %s)", comma,
                (unsigned long long)(what == HIGH ? r.high : r.low),
                d->subject.arch->levels[i / 2].name,
                i % 2 ? "temporal" : "spatial",
                rule ? accel_place_spot(spot, rule->place) : "its fan-out");
    comma = ", ";
  }
}

/* The first rule from outside that takes part. */
static accel_place first_place(const accel_rules_draft *d, uint32_t dimension,
                               side what) {
  for (uint32_t i = d->rules.level_count * 2; i-- > 0;) {
    const range r = find_range(d, i / 2, !(i % 2), dimension);
    const accel_factor_rule *rule = what == HIGH ? r.high_rule : r.low_rule;
    if (takes_part(&r, what) && rule) return rule->place;
  }
  return (accel_place){0};
}

static calm_status tell_ranges(const accel_rules_draft *d, uint32_t dimension,
                               side what, uint64_t made) {
  static const char *const claims[] = {"make up at least", "make up at most"};
  const accel_dimension *dim = &d->subject.layer->dimensions[dimension];
  text t;
  char *list;
  text_init(&t, d->subject.context);
  list_ranges(&t, d, dimension, what);
  TRY(text_finish(&t, &list));
  const calm_status status = accel_place_fail(
      d->subject.context, CALM_BAD_INPUT, first_place(d, dimension, what),
      "the factors of %s %s %llu, and its bound is %llu: %s", dim->name,
      claims[what], (unsigned long long)made, (unsigned long long)dim->bound,
      list);
  calm_text_free(d->subject.context, list);
  return status;
}

/* The iterations that loops make up are at most the product of their factors,
   and fewer if some are imperfect.  The fewest are those where each but the
   outermost ends after one iteration of its last pass: 3 times 4 make up from
   2 * 4 + 1 = 9 to 12.  So a factor need not divide the bound. */
static calm_status settle_dimension(const accel_rules_draft *d,
                                    uint32_t dimension) {
  const uint64_t bound = d->subject.layer->dimensions[dimension].bound;
  uint64_t low = 1, high = 1;
  for (uint32_t i = d->rules.level_count * 2; i-- > 0;) {
    const range r = find_range(d, i / 2, !(i % 2), dimension);
    low = low == 1 ? r.low
                   : accel_count_add(accel_count_multiply(low - 1, r.low), 1);
    high = accel_count_multiply(high, r.high);
  }
  if (low > bound) return tell_ranges(d, dimension, LOW, low);
  if (high < bound) return tell_ranges(d, dimension, HIGH, high);
  return CALM_OK;
}

/* ---- Orders and fan-outs ------------------------------------------------- */

/* The place of a dimension from the innermost; CALM_NONE if it has none. */
static uint32_t inner_place(const accel_block_rules *b, uint32_t dimension) {
  for (uint32_t i = 0; i < b->inner_count; i++)
    if (b->inner[i] == dimension) return i;
  return CALM_NONE;
}

static uint32_t outer_place(const accel_block_rules *b, uint32_t dimension,
                            uint32_t dimension_count) {
  for (uint32_t i = 0; i < b->outer_count; i++)
    if (b->outer[i] == dimension) return dimension_count - 1 - i;
  return CALM_NONE;
}

accel_axis accel_constraints_axis(const accel_block_rules *b,
                                  uint32_t dimension,
                                  uint32_t dimension_count) {
  uint32_t place = inner_place(b, dimension);
  if (b->split == CALM_NONE) return ACCEL_AXIS_FREE;
  if (b->split == 0) return ACCEL_AXIS_Y;
  if (b->split >= dimension_count) return ACCEL_AXIS_X;
  if (place == CALM_NONE) place = outer_place(b, dimension, dimension_count);
  if (place != CALM_NONE) return place < b->split ? ACCEL_AXIS_X : ACCEL_AXIS_Y;
  /* Between the listed ones, where all places may be on one side. */
  if (b->split <= b->inner_count) return ACCEL_AXIS_Y;
  if (b->split >= dimension_count - b->outer_count) return ACCEL_AXIS_X;
  return ACCEL_AXIS_FREE;
}

/* Two lists of one block that want a dimension in different places, or
   different dimensions in one. */
static calm_status settle_order(const accel_rules_draft *d, uint32_t level,
                                const accel_block_rules *b) {
  const uint32_t count = d->subject.layer->dimension_count;
  char spot[ACCEL_SPOT_SIZE];
  for (uint32_t x = 0; x < count; x++)
    for (uint32_t y = 0; y < count; y++) {
      const uint32_t inner = inner_place(b, x);
      const uint32_t outer = outer_place(b, y, count);
      if (inner == CALM_NONE || outer == CALM_NONE) continue;
      if ((x == y) == (inner == outer)) continue;
      return accel_place_fail(
          d->subject.context, CALM_BAD_INPUT, b->outer_place,
          "the outer places of this order contradict the inner ones in %s "
          "(loops of %s): %s and %s",
          accel_place_spot(spot, b->inner_place),
          d->subject.arch->levels[level].name,
          d->subject.layer->dimensions[x].name,
          d->subject.layer->dimensions[y].name);
    }
  return CALM_OK;
}

static void list_spatial(text *t, const accel_rules_draft *d, uint32_t level,
                         accel_axis axis) {
  const accel_block_rules *b = block_of(d, level, true);
  const uint32_t count = d->subject.layer->dimension_count;
  const char *comma = "";
  for (uint32_t x = 0; x < count; x++) {
    const range r = find_range(d, level, true, x);
    char spot[ACCEL_SPOT_SIZE];
    if (r.low <= 1 || !r.low_rule) continue;
    if (axis != ACCEL_AXIS_FREE && accel_constraints_axis(b, x, count) != axis)
      continue;
    text_format(t, "%s%s=%llu (%s)", comma,
                d->subject.layer->dimensions[x].name, (unsigned long long)r.low,
                accel_place_spot(spot, r.low_rule->place));
    comma = ", ";
  }
}

/* The least spatial factors, of all dimensions or of those on an axis, against
   what there is. */
static calm_status settle_fanout(const accel_rules_draft *d, uint32_t level,
                                 accel_axis axis, uint64_t available,
                                 const char *what) {
  const accel_block_rules *b = block_of(d, level, true);
  const uint32_t count = d->subject.layer->dimension_count;
  accel_place place = {0};
  uint64_t least = 1;
  text t;
  char *list;
  for (uint32_t x = 0; x < count; x++) {
    const range r = find_range(d, level, true, x);
    if (axis != ACCEL_AXIS_FREE && accel_constraints_axis(b, x, count) != axis)
      continue;
    if (r.low > 1) place = r.low_rule->place;
    least = accel_count_multiply(least, r.low);
  }
  if (least <= available) return CALM_OK;
  text_init(&t, d->subject.context);
  list_spatial(&t, d, level, axis);
  TRY(text_finish(&t, &list));
  const calm_status status = accel_place_fail(
      d->subject.context, CALM_BAD_INPUT, place,
      "the spatial factors of %s make up %llu, and %s is %llu: %s",
      d->subject.arch->levels[level].name, (unsigned long long)least, what,
      (unsigned long long)available, list);
  calm_text_free(d->subject.context, list);
  return status;
}

static calm_status settle_level(const accel_rules_draft *d, uint32_t level) {
  const accel_level_rules *l = &d->rules.levels[level];
  const accel_fanout f = accel_arch_fanout(d->subject.arch, level);
  TRY(settle_order(d, level, &l->temporal));
  TRY(settle_order(d, level, &l->spatial));
  TRY(settle_fanout(d, level, ACCEL_AXIS_FREE, accel_count_multiply(f.x, f.y),
                    "its fan-out"));
  TRY(settle_fanout(d, level, ACCEL_AXIS_X, f.x, "its fan-out along X"));
  return settle_fanout(d, level, ACCEL_AXIS_Y, f.y, "its fan-out along Y");
}

/* ---- Tensors ------------------------------------------------------------- */

static calm_status settle_tensor(const accel_rules_draft *d, uint32_t tensor) {
  const accel_constraints *rules = &d->rules;
  text t;
  char *list;
  for (uint32_t i = 0; i < rules->level_count; i++)
    if (!(rules->levels[i].bypass >> tensor & 1)) return CALM_OK;
  text_init(&t, d->subject.context);
  for (uint32_t i = rules->level_count; i-- > 0;) {
    char spot[ACCEL_SPOT_SIZE];
    text_format(&t, "%s (%s)%s", d->subject.arch->levels[i].name,
                accel_place_spot(spot, rules->levels[i].bypass_places[tensor]),
                i ? ", " : "");
  }
  TRY(text_finish(&t, &list));
  const calm_status status = accel_place_fail(
      d->subject.context, CALM_BAD_INPUT,
      rules->levels[rules->level_count - 1].bypass_places[tensor],
      "%s is bypassed at every level: %s",
      d->subject.layer->tensors[tensor].name, list);
  calm_text_free(d->subject.context, list);
  return status;
}

calm_status accel_rules_settle(const accel_rules_draft *d) {
  if (d->rules.level_count == 0) return CALM_OK;
  for (uint32_t i = 0; i < d->rules.level_count; i++) TRY(settle_level(d, i));
  for (uint32_t i = 0; i < d->subject.layer->dimension_count; i++)
    TRY(settle_dimension(d, i));
  for (uint32_t i = 0; i < d->subject.layer->tensor_count; i++)
    TRY(settle_tensor(d, i));
  return CALM_OK;
}
