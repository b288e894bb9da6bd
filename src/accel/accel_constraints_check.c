/* Which rule does a nest break first, from the outermost level inwards? */
#include "accel/accel_constraints_parts.h"
#include "base/text.h"

typedef struct checker {
  const accel_constraints *rules;
  const accel_nest *nest;
  const accel_arch *arch;
  const accel_layer *layer;
  text text; /* empty: nothing is broken yet */
} checker;

static bool is_broken(const checker *c) {
  return c->text.length > 0 || c->text.failed;
}

static void begin_line(checker *c, accel_place place) {
  char spot[ACCEL_SPOT_SIZE];
  text_format(&c->text, "%s: ", accel_place_spot(spot, place));
}

static const char *dimension_name(const checker *c, uint32_t dimension) {
  return c->layer->dimensions[dimension].name;
}

/* ---- Factors ------------------------------------------------------------- */

/* What a dimension's loops in one block run through.  A loop that nothing
   repeats is always in its last pass. */
static uint64_t factor_of(const checker *c, uint32_t level, bool spatial,
                          uint32_t dimension) {
  uint64_t factor = 1;
  bool repeated = false;
  for (uint32_t i = c->nest->loop_count; i-- > 0;) {
    const accel_loop *l = &c->nest->loops[i];
    if (l->dimension != dimension) continue;
    const uint64_t iterations = repeated ? l->bound : l->residual;
    repeated |= iterations > 1;
    if (l->level == level && (l->kind != ACCEL_TEMPORAL) == spatial)
      factor = accel_count_multiply(factor, iterations);
  }
  return factor;
}

static void check_factors(checker *c, uint32_t level, bool spatial,
                          const accel_block_rules *b) {
  static const char *const signs[] = {"", "at most ", "at least "};
  for (uint32_t i = 0; i < b->factor_count && !is_broken(c); i++) {
    const accel_factor_rule *r = &b->factors[i];
    const uint64_t factor = factor_of(c, level, spatial, r->dimension);
    if (factor >= accel_rule_low(r) && factor <= accel_rule_high(r)) continue;
    begin_line(c, r->place);
    text_format(&c->text, "the %s factor of %s at %s is %llu, not %s%llu",
                spatial ? "spatial" : "temporal",
                dimension_name(c, r->dimension), c->arch->levels[level].name,
                (unsigned long long)factor, signs[r->relation],
                (unsigned long long)r->value);
  }
}

/* ---- Orders -------------------------------------------------------------- */

/* The dimensions that have loops in a block, innermost first. */
typedef struct sequence {
  uint32_t dimensions[ACCEL_MAX_DIMENSIONS];
  uint32_t count, set;
} sequence;

static sequence find_sequence(const checker *c, uint32_t level, bool spatial) {
  sequence s = {.count = 0};
  for (uint32_t i = 0; i < c->nest->loop_count; i++) {
    const accel_loop *l = &c->nest->loops[i];
    const uint32_t bit = UINT32_C(1) << l->dimension;
    if (l->level != level || (l->kind != ACCEL_TEMPORAL) != spatial ||
        s.set & bit)
      continue;
    s.set |= bit;
    s.dimensions[s.count++] = l->dimension;
  }
  return s;
}

/* An order: from the inside, or from the outside. */
typedef struct listed {
  const uint32_t *dimensions;
  uint32_t count;
  bool outer;
  accel_place place;
} listed;

/* The listed dimensions that have loops, in their order, are the first of the
   sequence. */
static void check_list(checker *c, uint32_t level, const sequence *s,
                       const listed *list) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < list->count && !is_broken(c); i++) {
    const uint32_t wanted = list->dimensions[i];
    if (!(s->set >> wanted & 1)) continue;
    const uint32_t found = s->dimensions[list->outer ? s->count - 1 - at : at];
    at++;
    if (found == wanted) continue;
    begin_line(c, list->place);
    text_format(&c->text, "the loop over %s at %s stands where %s belongs",
                dimension_name(c, found), c->arch->levels[level].name,
                dimension_name(c, wanted));
  }
}

/* ---- Splits -------------------------------------------------------------- */

static bool is_listed(const accel_block_rules *b, uint32_t dimension) {
  for (uint32_t i = 0; i < b->inner_count; i++)
    if (b->inner[i] == dimension) return true;
  for (uint32_t i = 0; i < b->outer_count; i++)
    if (b->outer[i] == dimension) return true;
  return false;
}

/* How many dimensions that no order lists may be on X and on Y. */
static void free_places(uint32_t *x, uint32_t *y, const accel_block_rules *b,
                        uint32_t dimensions) {
  const uint32_t listed = b->inner_count + b->outer_count;
  const uint32_t between = dimensions > listed ? dimensions - listed : 0;
  *x = b->split > b->inner_count ? b->split - b->inner_count : 0;
  if (*x > between) *x = between;
  *y = between - *x;
}

static void check_split(checker *c, uint32_t level,
                        const accel_block_rules *b) {
  const uint32_t dimensions = c->layer->dimension_count;
  uint32_t free_x, free_y;
  if (b->split == CALM_NONE) return;
  free_places(&free_x, &free_y, b, dimensions);
  for (uint32_t i = 0; i < c->nest->loop_count && !is_broken(c); i++) {
    const accel_loop *l = &c->nest->loops[i];
    if (l->level != level || l->kind == ACCEL_TEMPORAL) continue;
    const bool on_x = l->kind == ACCEL_SPATIAL_X;
    const accel_axis axis = accel_constraints_axis(b, l->dimension, dimensions);
    bool broken = axis == (on_x ? ACCEL_AXIS_Y : ACCEL_AXIS_X);
    if (!is_listed(b, l->dimension)) {
      uint32_t *left = on_x ? &free_x : &free_y;
      broken |= *left == 0;
      *left -= *left > 0;
    }
    if (!broken) continue;
    begin_line(c, b->split_place);
    text_format(&c->text, "%s at %s is along %s, not along %s",
                dimension_name(c, l->dimension), c->arch->levels[level].name,
                on_x ? "X" : "Y", on_x ? "Y" : "X");
  }
}

/* ---- Levels -------------------------------------------------------------- */

static void check_block(checker *c, uint32_t level, bool spatial,
                        const accel_block_rules *b) {
  const sequence s = find_sequence(c, level, spatial);
  check_factors(c, level, spatial, b);
  const listed inner = {b->inner, b->inner_count, false, b->inner_place};
  const listed outer = {b->outer, b->outer_count, true, b->outer_place};
  check_list(c, level, &s, &inner);
  check_list(c, level, &s, &outer);
}

static void check_tensors(checker *c, uint32_t level,
                          const accel_level_rules *l) {
  for (uint32_t t = 0; t < c->layer->tensor_count && !is_broken(c); t++) {
    const bool kept = c->nest->kept[level] >> t & 1;
    if (!kept && l->keep >> t & 1)
      begin_line(c, l->keep_places[t]);
    else if (kept && l->bypass >> t & 1)
      begin_line(c, l->bypass_places[t]);
    else
      continue;
    text_format(&c->text, "%s must %sbe kept at %s", c->layer->tensors[t].name,
                kept ? "not " : "", c->arch->levels[level].name);
  }
}

static void check_parallelism(checker *c) {
  double used = 1;
  for (uint32_t i = 0; i < c->nest->loop_count; i++)
    if (c->nest->loops[i].kind != ACCEL_TEMPORAL)
      used *= (double)c->nest->loops[i].bound;
  const double share = used / (double)c->arch->compute.instances;
  if (is_broken(c) || share >= c->rules->min_parallelism) return;
  begin_line(c, c->rules->parallelism_place);
  text_format(&c->text,
              "%.4g of the %llu multipliers are in use, which is less than "
              "%.4g of them",
              used, (unsigned long long)c->arch->compute.instances,
              c->rules->min_parallelism);
}

calm_status accel_constraints_check(char **out, const accel_constraints *rules,
                                    const accel_nest *nest,
                                    const accel_arch *arch,
                                    const accel_layer *layer,
                                    calm_context *context) {
  checker c = {.rules = rules, .nest = nest, .arch = arch, .layer = layer};
  text_init(&c.text, context);
  for (uint32_t i = rules->level_count; i-- > 0 && !is_broken(&c);) {
    const accel_level_rules *l = &rules->levels[i];
    check_tensors(&c, i, l);
    check_block(&c, i, false, &l->temporal);
    check_block(&c, i, true, &l->spatial);
    check_split(&c, i, &l->spatial);
  }
  check_parallelism(&c);
  if (!is_broken(&c)) {
    *out = NULL;
    return CALM_OK;
  }
  return text_finish(&c.text, out);
}
