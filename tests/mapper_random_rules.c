#include "mapper_random_rules.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct draft {
  const cost_random_case *c;
  const mapper_rule_chances *chances;
  random_state *random;
  arena *arena;
} draft;

static void *take(draft *d, size_t count, size_t size) {
  void *out = arena_calloc(d->arena, count, size);
  if (!out) abort();
  return out;
}

static bool chance(draft *d, uint32_t percent) {
  return random_below(d->random, 100) < percent;
}

static bool is_in(const accel_loop *l, uint32_t level, bool spatial) {
  return l->level == level && (l->kind != ACCEL_TEMPORAL) == spatial;
}

/* ---- Factors ------------------------------------------------------------- */

static uint64_t factor_of(const draft *d, uint32_t dimension, uint32_t level,
                          bool spatial) {
  uint64_t factor = 1;
  for (uint32_t i = 0; i < d->c->nest.loop_count; i++) {
    const accel_loop *l = &d->c->nest.loops[i];
    if (l->dimension == dimension && is_in(l, level, spatial))
      factor *= l->bound;
  }
  return factor;
}

static void draw_factor(draft *d, accel_block_rules *b, uint32_t dimension,
                        uint32_t level, bool spatial) {
  const uint64_t factor = factor_of(d, dimension, level, spatial);
  accel_factor_rule rule = {.dimension = dimension, .value = factor};
  rule.relation = (accel_relation)random_below(d->random, 3);
  rule.place = (accel_place){"rules.yaml", 1 + level, 1 + dimension};
  if (rule.relation == ACCEL_AT_MOST && chance(d, 60))
    rule.value += random_below(d->random, 3);
  if (rule.relation == ACCEL_AT_LEAST)
    rule.value -= random_below(d->random, (uint32_t)factor);
  if (chance(d, d->chances->foreign))
    rule.value = 1 + random_below(d->random, 5);
  b->factors[b->factor_count++] = rule;
}

/* ---- Orders -------------------------------------------------------------- */

/* All dimensions, from inside: those with loops here in their order, the others
   between them anywhere; or any order at all. */
static void draw_order(draft *d, uint32_t *order, uint32_t level,
                       bool spatial) {
  const uint32_t count = d->c->layer.dimension_count;
  const bool foreign = chance(d, 2 * d->chances->foreign);
  uint32_t seen = 0, at = 0;
  for (uint32_t i = 0; i < d->c->nest.loop_count && !foreign; i++) {
    const accel_loop *l = &d->c->nest.loops[i];
    if (!is_in(l, level, spatial) || seen >> l->dimension & 1) continue;
    seen |= 1u << l->dimension;
    order[at++] = l->dimension;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (seen >> i & 1) continue;
    const uint32_t place = random_below(d->random, at + 1);
    for (uint32_t k = at++; k > place; k--) order[k] = order[k - 1];
    order[place] = i;
  }
}

static void draw_lists(draft *d, accel_block_rules *b, uint32_t level,
                       bool spatial) {
  uint32_t order[ACCEL_MAX_DIMENSIONS];
  const uint32_t count = d->c->layer.dimension_count;
  const accel_place place = {"rules.yaml", 100 + level, 1};
  b->inner_place = b->outer_place = b->split_place = place;
  draw_order(d, order, level, spatial);
  if (chance(d, d->chances->order))
    b->inner_count = random_below(d->random, count + 1);
  if (chance(d, d->chances->order))
    b->outer_count = random_below(d->random, count - b->inner_count + 1);
  for (uint32_t i = 0; i < b->inner_count; i++) b->inner[i] = order[i];
  for (uint32_t i = 0; i < b->outer_count; i++)
    b->outer[i] = order[count - 1 - i];
  if (spatial && chance(d, d->chances->split))
    b->split = random_below(d->random, count + 1);
}

/* ---- All of them --------------------------------------------------------- */

static void draw_block(draft *d, accel_block_rules *b, uint32_t level,
                       bool spatial) {
  const uint32_t count = d->c->layer.dimension_count;
  b->factors = take(d, count, sizeof *b->factors);
  b->inner = take(d, count, sizeof *b->inner);
  b->outer = take(d, count, sizeof *b->outer);
  b->split = CALM_NONE;
  for (uint32_t i = 0; i < count; i++)
    if (chance(d, d->chances->factor)) draw_factor(d, b, i, level, spatial);
  draw_lists(d, b, level, spatial);
}

static double share_of(const draft *d) {
  double used = 1;
  for (uint32_t i = 0; i < d->c->nest.loop_count; i++)
    if (d->c->nest.loops[i].kind != ACCEL_TEMPORAL)
      used *= (double)d->c->nest.loops[i].bound;
  return used / (double)d->c->arch.compute.instances;
}

void mapper_random_rules(accel_constraints *out, const cost_random_case *c,
                         const mapper_rule_chances *chances, random_state *r,
                         arena *a) {
  draft d = {c, chances, r, a};
  const uint32_t tensors = c->layer.tensor_count;
  *out = (accel_constraints){.level_count = c->arch.level_count};
  out->levels = take(&d, out->level_count, sizeof *out->levels);
  for (uint32_t i = 0; i < out->level_count; i++) {
    accel_level_rules *l = &out->levels[i];
    l->keep_places = take(&d, tensors, sizeof *l->keep_places);
    l->bypass_places = take(&d, tensors, sizeof *l->bypass_places);
    draw_block(&d, &l->temporal, i, false);
    draw_block(&d, &l->spatial, i, true);
  }
  if (!chance(&d, chances->parallelism)) return;
  out->min_parallelism = share_of(&d);
  out->parallelism_place = (accel_place){"rules.yaml", 200, 1};
  if (chance(&d, 2 * chances->foreign))
    out->min_parallelism = (double)random_below(r, 100) / 100;
}

/* ---- For people ---------------------------------------------------------- */

static void print_list(const char *what, const uint32_t *items, uint32_t count,
                       const accel_layer *layer) {
  if (count) printf(" %s", what);
  for (uint32_t i = 0; i < count; i++)
    printf(" %s", layer->dimensions[items[i]].name);
}

static void print_block(const char *what, const accel_block_rules *b,
                        uint32_t level, const accel_layer *layer) {
  static const char *const signs[] = {"=", "<=", ">="};
  printf("  level %u %s:", level, what);
  for (uint32_t i = 0; i < b->factor_count; i++)
    printf(" %s%s%" PRIu64, layer->dimensions[b->factors[i].dimension].name,
           signs[b->factors[i].relation], b->factors[i].value);
  print_list("inner", b->inner, b->inner_count, layer);
  print_list("outer", b->outer, b->outer_count, layer);
  if (b->split != CALM_NONE) printf(" split %u", b->split);
  printf("\n");
}

void mapper_print_rules(const accel_constraints *c, const accel_layer *layer) {
  for (uint32_t l = 0; l < c->level_count; l++) {
    print_block("temporal", &c->levels[l].temporal, l, layer);
    print_block("spatial", &c->levels[l].spatial, l, layer);
  }
  printf("  parallelism %g\n", c->min_parallelism);
}
