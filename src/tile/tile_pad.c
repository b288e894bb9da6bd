/*
 * Exact ranges: each tensor of a tile is what its readers need, no more.  What
 * a window reaches beyond the picture must be padding in the tile, too, and
 * nothing else: a convolution has none (VALID), or SAME padding where that
 * means the same on the tile's size, or gets a pad of its own.  A pooling must
 * not see what a pad writes.  Where formats have a padding per side, that is
 * all it takes.
 */
#include "tile/tile_work.h"

tile_area tile_cell(const tile_grid *grid, uint32_t row, uint32_t column) {
  const int64_t *rows = grid->borders[TILE_ROWS] + row;
  const int64_t *columns = grid->borders[TILE_COLUMNS] + column;
  return (tile_area){{{rows[0], rows[1]}, {columns[0], columns[1]}}};
}

/* ---- Padding of a part --------------------------------------------------- */

static bool needs_none(const tile_reach *reach) {
  for (uint32_t i = 0; i < TILE_AXES; i++)
    if (reach[i].front > 0 || reach[i].back > 0) return false;
  return true;
}

/* Does SAME on what is read give these elements, from these windows? */
static bool is_same(const tile_step *s, const tile_reach *reach,
                    const tile_area *area) {
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    const window_axis *axis = &s->axes[i];
    const int64_t size = tile_length(reach[i].in);
    if ((size + axis->stride - 1) / axis->stride !=
            tile_length(area->axes[i]) ||
        window_same_before(size, axis->taps, axis->stride, axis->dilation) !=
            reach[i].front)
      return false;
  }
  return true;
}

/* Nothing is changed that may stay: an operator under SAME padding keeps it. */
static calm_status settle_padding(tile_padding *out, tile_piece *io,
                                  tile_maker *m, const tile_part *part,
                                  const tile_step *s, tile_reach *reach,
                                  const tile_area *area) {
  *out = (tile_padding){.given = true, .axes = reach};
  if (m->options->pads) return CALM_OK;
  out->same = is_same(s, reach, area);
  const char *old = graph_op_attribute(&m->g->ops.data[s->op], "pad");
  if (out->same && needs_none(reach)) out->same = old && old[0] == 's';
  if (out->same || needs_none(reach)) return CALM_OK;
  if (s->pool)
    return tile_fail(part, m->a->context,
                     "a pooling of a tile would need a padding of its own");
  return tile_surround(io, m, part, s, io, reach);
}

/* ---- One step ------------------------------------------------------------ */

static void find_reach(tile_reach *reach, tile_area *in, const tile_step *s,
                       const tile_area *area) {
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    reach[i] = tile_reach_of(&s->axes[i], area->axes[i]);
    in->axes[i] = reach[i].in;
  }
}

static calm_status compute_padding(tile_piece *out, tile_maker *m,
                                   const tile_part *part, const tile_step *s,
                                   const tile_piece *piece,
                                   const tile_area *area) {
  tile_reach reach[TILE_AXES];
  tile_area in;
  find_reach(reach, &in, s, area);
  TRY(tile_cut(out, m, part, s->slots[0], s->op, piece, &in));
  if (!needs_none(reach)) TRY(tile_surround(out, m, part, s, out, reach));
  out->area = *area;
  return CALM_OK;
}

calm_status tile_compute(tile_piece *out, tile_maker *m, const tile_part *part,
                         const tile_step *s, const tile_piece *pieces,
                         const tile_area *area) {
  const uint32_t count = m->g->ops.data[s->op].input_count;
  tile_padding padding = {0};
  tile_reach reach[TILE_AXES];
  tile_piece *operands;
  tile_area in;
  if (s->kind == TILE_PADDING)
    return compute_padding(out, m, part, s, &pieces[s->slots[0]], area);
  ARENA_ARRAY(m->a, operands, count);
  find_reach(reach, &in, s, area);
  for (uint32_t i = 0; i < count; i++)
    if (s->slots[i] != CALM_NONE)
      TRY(tile_cut(&operands[i], m, part, s->slots[i], s->op,
                   &pieces[s->slots[i]], &in));
  if (s->kind == TILE_WINDOW)
    TRY(settle_padding(&padding, operands, m, part, s, reach, area));
  return tile_run(out, m, part, s, operands, area, &padding);
}

/* ---- The tiles ----------------------------------------------------------- */

static calm_status make_tile(tile_piece *out, tile_maker *m,
                             const tile_part *part, const tile_area *cell,
                             tile_piece *pieces, tile_area *needs) {
  const char *reason = tile_find_needs(needs, part, cell);
  if (reason) return tile_fail(part, m->a->context, reason);
  for (uint32_t i = 0; i < part->step_count; i++) {
    const tile_step *s = &part->steps[i];
    TRY(tile_compute(&pieces[s->output], m, part, s, pieces,
                     &needs[s->output]));
  }
  *out = pieces[part->output];
  return CALM_OK;
}

calm_status tile_make_pad(tile_piece *out, tile_maker *m, const tile_part *part,
                          const tile_grid *grid) {
  const uint32_t rows = grid->counts[TILE_ROWS];
  const uint32_t columns = grid->counts[TILE_COLUMNS];
  tile_piece *pieces, *row;
  tile_area *needs;
  ARENA_ARRAY(m->a, pieces, part->tensor_count);
  ARENA_ARRAY(m->a, needs, part->tensor_count);
  ARENA_ARRAY(m->a, row, columns);
  pieces[0].id = part->tensors[0].id;
  for (uint32_t i = 0; i < TILE_AXES; i++)
    pieces[0].area.axes[i] = (tile_span){0, part->tensors[0].sizes[i]};
  for (uint32_t i = 0; i < rows; i++) {
    for (uint32_t j = 0; j < columns; j++) {
      const tile_area cell = tile_cell(grid, i, j);
      m->tile++;
      m->crops.count = 0;
      TRY(make_tile(&row[j], m, part, &cell, pieces, needs));
    }
    out[i] = row[0];
    if (columns > 1)
      TRY(tile_join(&out[i], m, part, part->output, TILE_COLUMNS, row, columns,
                    CALM_NONE));
  }
  return CALM_OK;
}
