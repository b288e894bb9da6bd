/*
 * How full each level is, and what the next larger tile would take: one loop
 * outside of the level, less a factor that comes inside.
 */
#include "report/report_map_explain.h"

/* How far each dimension goes within a tile of a level. */
static void find_extents(uint64_t *extents, const calm_evaluation *e,
                         const accel_nest *nest, uint32_t level) {
  const accel_layer *layer = &e->layer;
  for (uint32_t d = 0; d < layer->dimension_count; d++) extents[d] = 1;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    uint64_t *extent = &extents[l->dimension];
    if (l->level <= level) *extent = accel_count_multiply(*extent, l->bound);
  }
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (extents[d] > layer->dimensions[d].bound)
      extents[d] = layer->dimensions[d].bound;
}

static uint64_t smallest_factor(uint64_t n) {
  for (uint64_t f = 2; f <= n / f; f++)
    if (n % f == 0) return f;
  return n;
}

/* The next larger extent of a dimension: a factor of a loop outside of the
   level moves into it, or, if factors need not divide their bounds, a step.
   The extent itself if no loop is left outside that runs over time. */
static uint64_t next_extent(uint64_t extent, const calm_evaluation *e,
                            const accel_nest *nest, uint32_t level,
                            uint32_t dimension) {
  const bool perfect = accel_nest_is_perfect(nest);
  const uint64_t bound = e->layer.dimensions[dimension].bound;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    if (l->dimension != dimension || l->level <= level ||
        l->kind != ACCEL_TEMPORAL)
      continue;
    const uint64_t next =
        perfect ? accel_count_multiply(extent, smallest_factor(l->bound))
                : extent + 1;
    if (next < least) least = next;
  }
  if (least == UINT64_MAX) return extent;
  return least < bound ? least : bound;
}

static uint64_t count_words(const calm_evaluation *e, const accel_nest *nest,
                            uint32_t level, const uint64_t *extents) {
  uint64_t words = 0;
  for (uint32_t t = 0; t < e->layer.tensor_count; t++)
    if (nest->kept[level] >> t & 1)
      words = accel_count_add(
          words, accel_tensor_words(&e->layer.tensors[t], extents));
  return words;
}

/* Dimensions that move a tensor which the level keeps. */
static uint32_t find_moving(const calm_evaluation *e, const accel_nest *nest,
                            uint32_t level) {
  uint32_t moving = 0;
  for (uint32_t t = 0; t < e->layer.tensor_count; t++)
    if (nest->kept[level] >> t & 1) moving |= e->layer.tensors[t].dimensions;
  return moving;
}

/* Dimensions that move nothing of what is kept cost no room. */
static void find_next(map_room *r, const calm_evaluation *e,
                      const accel_nest *nest) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS];
  const uint32_t moving = find_moving(e, nest, r->level);
  find_extents(extents, e, nest, r->level);
  for (uint32_t d = 0; d < e->layer.dimension_count; d++) {
    const uint64_t from = extents[d];
    const uint64_t to = next_extent(from, e, nest, r->level, d);
    if (!(moving >> d & 1) || to == from) continue;
    extents[d] = to;
    const uint64_t words = count_words(e, nest, r->level, extents);
    extents[d] = from;
    if (r->next && r->next <= words) continue;
    r->next = words;
    r->dimension = d;
    r->from = from;
    r->to = to;
  }
}

static void find_largest(map_room *r, const cost_result *result) {
  r->largest = CALM_NONE;
  for (uint32_t t = 0; t < result->tensor_count; t++) {
    const cost_tensor *c = report_eval_tensor(result, r->level, t);
    if (!c->kept ||
        (r->largest != CALM_NONE && c->tile_words <= r->largest_words))
      continue;
    r->largest = t;
    r->largest_words = c->tile_words;
  }
}

calm_status report_map_rooms(map_explanation *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  ARENA_ARRAY(scratch, out->rooms, e->arch.level_count);
  for (uint32_t level = e->arch.level_count; level-- > 0;) {
    map_room r = {.level = level,
                  .used = n->result.levels[level].used_words,
                  .capacity = e->arch.levels[level].capacity_words,
                  .dimension = CALM_NONE};
    if (r.capacity == ACCEL_UNLIMITED || !n->nest.kept[level]) continue;
    find_largest(&r, &n->result);
    find_next(&r, e, &n->nest);
    out->rooms[out->room_count++] = r;
  }
  return CALM_OK;
}
