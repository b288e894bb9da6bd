/*
 * Where the output is cut.  A tile at the border of the picture has a smaller
 * halo, so that it may be larger than those between without needing more room.
 * Candidates: all equal, what is left over going to the first and the last; and
 * for each size of those between, the rest shared by the first and the last.
 * Kept is the one whose largest tile needs the least room, then the one with
 * the most borders where the caller wants them, then the most even one.
 */
#include "tile/tile_work.h"

#include "base/number.h"

typedef struct splitting {
  const tile_part *part;
  uint32_t axis, count;
  int64_t size;  /* of the output along the axis */
  int64_t align; /* borders should be multiples of this */
  tile_area *needs;
  int64_t *trial, *best;
  uint64_t best_bytes;
  uint32_t best_strays;
} splitting;

static uint64_t bytes_of(const tile_part *part, uint32_t t,
                         const tile_area *area) {
  return part->tensors[t].pixel_bytes *
         (uint64_t)(tile_length(area->axes[TILE_ROWS]) *
                    tile_length(area->axes[TILE_COLUMNS]));
}

/* What is inside a region counts; its input and output are there anyway, unless
   there is nothing else. */
static uint64_t weigh(const splitting *s, uint32_t t) {
  const bool outer = t == 0 || t == s->part->output;
  return outer && s->part->step_count > 1 ? 0
                                          : bytes_of(s->part, t, &s->needs[t]);
}

/* The most that an operator of a tile needs. */
static uint64_t measure(const splitting *s, tile_span span) {
  const tile_part *part = s->part;
  tile_area area;
  uint64_t most = 0;
  for (uint32_t i = 0; i < TILE_AXES; i++)
    area.axes[i] = (tile_span){0, part->tensors[part->output].sizes[i]};
  area.axes[s->axis] = span;
  if (tile_find_needs(s->needs, part, &area)) return UINT64_MAX;
  for (uint32_t i = 0; i < part->step_count; i++) {
    const tile_step *step = &part->steps[i];
    const uint32_t slots = part->g->ops.data[step->op].input_count;
    uint64_t bytes = weigh(s, step->output);
    for (uint32_t slot = 0; slot < slots; slot++)
      if (step->slots[slot] != CALM_NONE) bytes += weigh(s, step->slots[slot]);
    most = number_larger(most, bytes);
  }
  return most;
}

static void consider(splitting *s) {
  uint64_t most = 0;
  uint32_t strays = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->trial[i] >= s->trial[i + 1]) return;
    const uint64_t bytes =
        measure(s, (tile_span){s->trial[i], s->trial[i + 1]});
    most = number_larger(most, bytes);
    strays += s->trial[i] % s->align != 0;
  }
  if (most > s->best_bytes ||
      (most == s->best_bytes && strays >= s->best_strays))
    return;
  for (uint32_t i = 0; i <= s->count; i++) s->best[i] = s->trial[i];
  s->best_bytes = most;
  s->best_strays = strays;
}

/* All equal but for what is left over: one more for the first, the last, the
   second, the third, ... */
static void try_even(splitting *s) {
  const int64_t each = s->size / s->count, left = s->size % s->count;
  s->trial[0] = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const int64_t turn = i == 0 ? 0 : i == s->count - 1 ? 1 : (int64_t)i + 1;
    s->trial[i + 1] = s->trial[i] + each + (turn < left);
  }
  consider(s);
}

/* Those between get `each`, the first and the last what remains. */
static void try_inner(splitting *s, int64_t each, bool larger_last) {
  const int64_t rest = s->size - (int64_t)(s->count - 2) * each;
  if (rest < 2) return;
  const int64_t first = larger_last ? rest / 2 : rest - rest / 2;
  s->trial[0] = 0;
  for (uint32_t i = 1; i < s->count; i++)
    s->trial[i] = first + (int64_t)(i - 1) * each;
  s->trial[s->count] = s->size;
  consider(s);
}

/* Even ones, moved to where borders should be. */
static void try_aligned(splitting *s) {
  s->trial[0] = 0;
  for (uint32_t i = 1; i < s->count; i++) {
    const int64_t even = s->size * i / s->count;
    s->trial[i] = (even + s->align / 2) / s->align * s->align;
  }
  s->trial[s->count] = s->size;
  consider(s);
}

calm_status tile_split(int64_t **out, const tile_part *part, uint32_t axis,
                       uint32_t count, uint64_t row_align, arena *a) {
  const tile_tensor *y = &part->tensors[part->output];
  splitting s = {.part = part, .axis = axis, .count = count, .align = 1};
  s.size = y->sizes[axis];
  s.best_bytes = UINT64_MAX;
  s.best_strays = UINT32_MAX;
  if (axis == TILE_ROWS && row_align > 1)
    s.align =
        (int64_t)(row_align / number_gcd(y->pixel_bytes * (uint64_t)y->sizes[1],
                                         row_align));
  ARENA_ARRAY(a, s.needs, part->tensor_count);
  ARENA_ARRAY(a, s.trial, (size_t)count + 1);
  ARENA_ARRAY(a, s.best, (size_t)count + 1);
  try_even(&s);
  const int64_t each = s.size / count;
  for (int64_t i = each + 1; count > 2 && i > 0 && i > each - 3; i--) {
    try_inner(&s, i, false);
    try_inner(&s, i, true);
  }
  if (count == 2 && s.size % 2) {
    s.trial[1] = s.size / 2;
    consider(&s);
  }
  if (s.align > 1) try_aligned(&s);
  if (s.best_bytes == UINT64_MAX)
    return tile_fail(part, a->context, "a tile would have nothing but padding");
  *out = s.best;
  return CALM_OK;
}
