/*
 * Which rows and columns of each tensor a tile needs, backwards from the
 * output.  Elements [u, v) of an axis are computed from the windows from
 * u * stride - before to (v - 1) * stride - before + span; what of that lies in
 * front of or behind the picture is padding.  A tensor with several readers
 * needs the hull of what they need.
 */
#include "tile/tile_work.h"

tile_reach tile_reach_of(const window_axis *axis, tile_span out) {
  const int64_t begin = out.begin * axis->stride - axis->before;
  const int64_t end =
      (out.end - 1) * axis->stride - axis->before + window_span(axis);
  tile_reach reach = {{begin, end}, 0, 0};
  if (begin < 0) reach.front = -begin;
  if (end > axis->input) reach.back = end - axis->input;
  if (out.begin == 0 && out.end == axis->output) {
    reach.in = (tile_span){0, axis->input};
    return reach;
  }
  if (begin < 0) reach.in.begin = 0;
  if (end > axis->input) reach.in.end = axis->input;
  return reach;
}

const char *tile_find_needs(tile_area *needs, const tile_part *part,
                            const tile_area *output) {
  for (uint32_t i = 0; i < part->tensor_count; i++) needs[i] = (tile_area){0};
  needs[part->output] = *output;
  for (uint32_t i = part->step_count; i-- > 0;) {
    const tile_step *s = &part->steps[i];
    const graph_op *op = &part->g->ops.data[s->op];
    for (uint32_t axis = 0; axis < TILE_AXES; axis++) {
      const tile_reach reach =
          tile_reach_of(&s->axes[axis], needs[s->output].axes[axis]);
      if (tile_length(reach.in) <= 0)
        return "a tile would have nothing but padding";
      for (uint32_t slot = 0; slot < op->input_count; slot++) {
        if (s->slots[slot] == CALM_NONE) continue;
        tile_span *need = &needs[s->slots[slot]].axes[axis];
        *need = tile_hull(*need, reach.in);
      }
    }
  }
  return NULL;
}
