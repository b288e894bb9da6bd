/*
 * Strips without pads.  Each operator of a strip keeps its padding, although
 * the strip is cut where the picture is not: the rows next to a cut are wrong,
 * garbage.  They are carried along, are never what a row is computed from that
 * is right, and are cut off at the end.
 *
 * On rows [a, b) of its input an operator under SAME padding makes
 * ceil((b - a) / stride) rows with a padding in front that depends on b - a
 * alone; its first row is row (a - that + the picture's own) / stride of the
 * whole, which must be a number.  So what comes in is extended, row by row,
 * until that holds everywhere and the rows that are wanted are right.
 */
#include "tile/tile_work.h"

/* Rows of a tensor, and those of them that are right. */
typedef struct strip {
  tile_span all, right;
} strip;

typedef enum same_rule { RULE_VALID, RULE_SAME, RULE_GIVEN } same_rule;

static int64_t divide_up(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

static int64_t divide_down(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -divide_up(-a, b);
}

/* How an operator pads its rows, whatever their number. */
static same_rule rule_of(const tile_maker *m, const tile_step *s) {
  const char *word = graph_op_attribute(&m->g->ops.data[s->op], "pad");
  if (m->options->pads) return RULE_GIVEN;
  return word && word[0] == 's' ? RULE_SAME : RULE_VALID;
}

/* The rows that a window makes of a strip; false if it makes none, or others
   than the picture has. */
static bool advance_window(strip *out, const window_axis *axis, same_rule rule,
                           const strip *in) {
  const int64_t size = tile_length(in->all), span = window_span(axis);
  int64_t front = 0, count = (size - span) / axis->stride + 1;
  if (rule == RULE_SAME) {
    front = window_same_before(size, axis->taps, axis->stride, axis->dilation);
    count = (size + axis->stride - 1) / axis->stride;
  } else if (rule == RULE_GIVEN) {
    front = axis->before;
    count = (size + front + window_after(axis) - span) / axis->stride + 1;
    if (size + front + window_after(axis) < span) return false;
  } else if (size < span) {
    return false;
  }
  const int64_t offset = in->all.begin - front + axis->before;
  if (offset % axis->stride) return false;
  out->all.begin = offset / axis->stride;
  out->all.end = out->all.begin + count;
  out->right = out->all;
  if (in->right.begin > 0)
    out->right.begin = divide_up(in->right.begin + axis->before, axis->stride);
  if (in->right.end < axis->input)
    out->right.end =
        divide_down(in->right.end - span + axis->before, axis->stride) + 1;
  return out->all.begin >= 0 && out->all.end <= axis->output;
}

/* A pad goes on where the picture ends. */
static bool advance_pad(strip *out, const window_axis *axis, const strip *in) {
  const tile_span *from[2] = {&in->all, &in->right};
  tile_span *to[2] = {&out->all, &out->right};
  for (int i = 0; i < 2; i++) {
    to[i]->begin = from[i]->begin > 0 ? from[i]->begin + axis->before : 0;
    to[i]->end =
        from[i]->end < axis->input ? from[i]->end + axis->before : axis->output;
  }
  return true;
}

static tile_span intersect(tile_span a, tile_span b) {
  return (tile_span){a.begin > b.begin ? a.begin : b.begin,
                     a.end < b.end ? a.end : b.end};
}

static bool advance_point(strip *out, const tile_part *part, const tile_step *s,
                          const strip *strips) {
  const uint32_t count = part->g->ops.data[s->op].input_count;
  strip common = {{0, INT64_MAX}, {0, INT64_MAX}};
  for (uint32_t i = 0; i < count; i++) {
    if (s->slots[i] == CALM_NONE) continue;
    common.all = intersect(common.all, strips[s->slots[i]].all);
    common.right = intersect(common.right, strips[s->slots[i]].right);
  }
  *out = common;
  return true;
}

/* From the rows of the input to those of all tensors; false: not like that. */
static bool advance(strip *strips, const tile_maker *m, const tile_part *part) {
  for (uint32_t i = 0; i < part->step_count; i++) {
    const tile_step *s = &part->steps[i];
    const window_axis *axis = &s->axes[TILE_ROWS];
    strip *out = &strips[s->output];
    const bool fits =
        s->kind == TILE_POINT ? advance_point(out, part, s, strips)
        : s->kind == TILE_PADDING
            ? advance_pad(out, axis, &strips[s->slots[0]])
            : advance_window(out, axis, rule_of(m, s), &strips[s->slots[0]]);
    if (!fits) return false;
    out->right = intersect(out->right, out->all);
    if (tile_length(out->right) <= 0) return false;
  }
  return true;
}

/* ---- How far the input must reach ---------------------------------------- */

enum { MOST_EXTENSION = 256 };

static int64_t furthest(const tile_part *part) {
  int64_t product = 1;
  for (uint32_t i = 0; i < part->step_count; i++)
    if (product < MOST_EXTENSION)
      product *= part->steps[i].axes[TILE_ROWS].stride;
  return product < MOST_EXTENSION / 4 ? 4 * product : MOST_EXTENSION;
}

/* As few rows more as possible, those behind first. */
static bool find_strips(strip *strips, const tile_maker *m,
                        const tile_part *part, tile_span least,
                        tile_span wanted) {
  const int64_t size = part->tensors[0].sizes[TILE_ROWS];
  const int64_t most = furthest(part);
  for (int64_t more = 0; more <= most; more++)
    for (int64_t front = 0; front <= more; front++) {
      const tile_span all = {least.begin - front, least.end + more - front};
      if (all.begin < 0 || all.end > size) continue;
      strips[0] = (strip){all, all};
      if (!advance(strips, m, part)) continue;
      const tile_span right = strips[part->output].right;
      if (right.begin <= wanted.begin && right.end >= wanted.end) return true;
    }
  return false;
}

/* ---- Making them --------------------------------------------------------- */

static tile_area rows_of(const tile_part *part, uint32_t t, tile_span rows) {
  return (tile_area){{rows, {0, part->tensors[t].sizes[TILE_COLUMNS]}}};
}

static calm_status make_pad(tile_piece *out, tile_maker *m,
                            const tile_part *part, const tile_step *s,
                            const tile_piece *piece, const strip *made) {
  tile_reach reach[TILE_AXES];
  const tile_area area = rows_of(part, s->output, made->all);
  for (uint32_t i = 0; i < TILE_AXES; i++)
    reach[i] = tile_reach_of(&s->axes[i], area.axes[i]);
  *out = *piece;
  if (reach[0].front || reach[0].back || reach[1].front || reach[1].back)
    TRY(tile_surround(out, m, part, s, piece, reach));
  out->area = area;
  return CALM_OK;
}

static calm_status make_step(tile_piece *pieces, tile_maker *m,
                             const tile_part *part, const tile_step *s,
                             const strip *strips) {
  const uint32_t count = m->g->ops.data[s->op].input_count;
  const tile_area area = rows_of(part, s->output, strips[s->output].all);
  tile_reach sides[TILE_AXES] = {{{0, 0}, 0, 0}};
  tile_padding padding = {.axes = sides};
  tile_piece *operands;
  if (s->kind == TILE_PADDING)
    return make_pad(&pieces[s->output], m, part, s, &pieces[s->slots[0]],
                    &strips[s->output]);
  ARENA_ARRAY(m->a, operands, count);
  for (uint32_t i = 0; i < count; i++) {
    if (s->slots[i] == CALM_NONE) continue;
    operands[i] = pieces[s->slots[i]];
    if (s->kind == TILE_POINT)
      TRY(tile_cut(&operands[i], m, part, s->slots[i], s->op,
                   &pieces[s->slots[i]], &area));
  }
  if (m->options->pads && s->kind == TILE_WINDOW) {
    padding.given = true;
    for (uint32_t i = 0; i < TILE_AXES; i++) {
      sides[i].front = s->axes[i].before;
      sides[i].back = window_after(&s->axes[i]);
    }
  }
  return tile_run(&pieces[s->output], m, part, s, operands, &area, &padding);
}

static calm_status make_strip(tile_piece *out, tile_maker *m,
                              const tile_part *part, const tile_area *cell,
                              tile_piece *pieces, const strip *strips) {
  const uint32_t u = part->step_count - 1;
  const tile_area in = rows_of(part, 0, strips[0].all);
  tile_piece whole = {part->tensors[0].id, rows_of(part, 0, (tile_span){0, 0})};
  whole.area.axes[TILE_ROWS].end = part->tensors[0].sizes[TILE_ROWS];
  TRY(tile_cut(&pieces[0], m, part, 0, part->steps[0].op, &whole, &in));
  for (uint32_t i = 0; i < part->step_count; i++)
    TRY(make_step(pieces, m, part, &part->steps[i], strips));
  return tile_cut(out, m, part, part->output, part->steps[u].op,
                  &pieces[part->output], cell);
}

calm_status tile_make_same(tile_piece *out, tile_maker *m,
                           const tile_part *part, const tile_grid *grid) {
  tile_piece *pieces;
  tile_area *needs;
  strip *strips;
  if (grid->counts[TILE_COLUMNS] > 1)
    return tile_fail(part, m->a->context, "mode same makes strips only");
  ARENA_ARRAY(m->a, pieces, part->tensor_count);
  ARENA_ARRAY(m->a, needs, part->tensor_count);
  ARENA_ARRAY(m->a, strips, part->tensor_count);
  for (uint32_t i = 0; i < grid->counts[TILE_ROWS]; i++) {
    const tile_area cell = tile_cell(grid, i, 0);
    const char *reason = tile_find_needs(needs, part, &cell);
    if (reason) return tile_fail(part, m->a->context, reason);
    if (!find_strips(strips, m, part, needs[0].axes[TILE_ROWS],
                     cell.axes[TILE_ROWS]))
      return tile_fail(part, m->a->context,
                       "under its own padding a strip has other rows than the "
                       "whole");
    m->tile++;
    m->crops.count = 0;
    TRY(make_strip(&out[i], m, part, &cell, pieces, strips));
  }
  return CALM_OK;
}
