/*
 * Strips in which nothing is computed twice.  Each strip computes of each
 * tensor the rows that are needed now and were not before, and joins them to
 * those of before that are still needed: the tail of what the last strip had.
 *
 *     strip 1   |=========|                rows of a tensor
 *     kept            |===|                of which these are needed again
 *     strip 2         |===|=======|        old and new ones joined
 *
 * What comes from outside is there anyway, and is cut where it is needed.
 */
#include "tile/tile_work.h"

/* Per tensor and strip: ends[strip + 1], the end of what is computed by then,
   ends[0] where it begins; keeps[strip]: where that begins what this strip and
   those after it need. */
typedef struct schedule {
  const tile_part *part;
  uint32_t strips;
  int64_t **ends, **keeps;
} schedule;

static calm_status make_room(schedule *s, const tile_part *part,
                             uint32_t strips, arena *a) {
  *s = (schedule){.part = part, .strips = strips};
  ARENA_ARRAY(a, s->ends, part->tensor_count);
  ARENA_ARRAY(a, s->keeps, part->tensor_count);
  for (uint32_t t = 0; t < part->tensor_count; t++) {
    ARENA_ARRAY(a, s->ends[t], (size_t)strips + 1);
    ARENA_ARRAY(a, s->keeps[t], (size_t)strips + 1);
    s->ends[t][0] = INT64_MAX;
    for (uint32_t i = 0; i <= strips; i++) s->keeps[t][i] = INT64_MAX;
  }
  return CALM_OK;
}

/* The rows that a strip computes of a tensor. */
static tile_span new_rows(const schedule *s, uint32_t t, uint32_t strip) {
  return (tile_span){s->ends[t][strip], s->ends[t][strip + 1]};
}

/* A step's demands on one of its operands. */
static const char *demand(const schedule *s, const tile_step *step,
                          uint32_t t) {
  for (uint32_t i = 0; i < s->strips; i++) {
    const tile_span rows = new_rows(s, step->output, i);
    if (tile_length(rows) <= 0) continue;
    const tile_span in = tile_reach_of(&step->axes[TILE_ROWS], rows).in;
    if (tile_length(in) <= 0) return "a strip would have nothing but padding";
    if (in.begin < s->ends[t][0]) s->ends[t][0] = in.begin;
    if (in.end > s->ends[t][i + 1]) s->ends[t][i + 1] = in.end;
    if (in.begin < s->keeps[t][i]) s->keeps[t][i] = in.begin;
  }
  return NULL;
}

/* When all readers of a tensor have said what they need: rows are there from
   the strip on that computes them, and are kept for all that come later. */
static void settle(schedule *s, uint32_t t) {
  for (uint32_t i = 0; i < s->strips; i++)
    if (s->ends[t][i + 1] < s->ends[t][i]) s->ends[t][i + 1] = s->ends[t][i];
  for (uint32_t i = s->strips; i-- > 0;)
    if (s->keeps[t][i] > s->keeps[t][i + 1])
      s->keeps[t][i] = s->keeps[t][i + 1];
}

static const char *plan(schedule *s, const int64_t *borders) {
  const tile_part *part = s->part;
  for (uint32_t i = 0; i <= s->strips; i++)
    s->ends[part->output][i] = borders[i];
  for (uint32_t i = part->step_count; i-- > 0;) {
    const tile_step *step = &part->steps[i];
    const uint32_t count = part->g->ops.data[step->op].input_count;
    settle(s, step->output);
    for (uint32_t slot = 0; slot < count; slot++) {
      if (step->slots[slot] == CALM_NONE) continue;
      const char *reason = demand(s, step, step->slots[slot]);
      if (reason) return reason;
    }
  }
  return NULL;
}

/* ---- Making them --------------------------------------------------------- */

typedef struct cache {
  tile_maker *m;
  const tile_part *part;
  const schedule *s;
  tile_piece *pieces; /* of this strip: old and new rows */
  tile_piece *kept;   /* per tensor: rows for the next strip; id CALM_NONE */
  uint32_t strip;
} cache;

static tile_area rows_of(const tile_part *part, uint32_t t, tile_span rows) {
  return (tile_area){{rows, {0, part->tensors[t].sizes[TILE_COLUMNS]}}};
}

/* The new rows of a step's output, behind those that were kept. */
static calm_status make_step(cache *c, const tile_step *step) {
  const uint32_t t = step->output;
  const tile_span rows = new_rows(c->s, t, c->strip);
  const tile_area area = rows_of(c->part, t, rows);
  tile_piece both[2] = {c->kept[t]};
  c->pieces[t] = c->kept[t];
  if (tile_length(rows) <= 0) return CALM_OK;
  TRY(tile_compute(&both[1], c->m, c->part, step, c->pieces, &area));
  c->pieces[t] = both[1];
  if (both[0].id == CALM_NONE) return CALM_OK;
  return tile_join(&c->pieces[t], c->m, c->part, t, TILE_ROWS, both, 2,
                   CALM_NONE);
}

/* After the last reader of a tensor: what the next strip needs of it. */
static calm_status keep(cache *c, uint32_t t, op_id u) {
  const int64_t from = c->s->keeps[t][c->strip + 1];
  const int64_t end = c->s->ends[t][c->strip + 1];
  tile_piece *piece = &c->pieces[t];
  c->kept[t].id = CALM_NONE;
  if (piece->id == CALM_NONE || from >= end) return CALM_OK;
  const tile_area area = rows_of(c->part, t, (tile_span){from, end});
  return tile_cut(&c->kept[t], c->m, c->part, t, u, piece, &area);
}

static calm_status keep_operands(cache *c, uint32_t step) {
  const tile_step *s = &c->part->steps[step];
  const uint32_t count = c->part->g->ops.data[s->op].input_count;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t t = s->slots[i];
    if (t == CALM_NONE || t == 0 || c->part->tensors[t].last_reader != step)
      continue;
    TRY(keep(c, t, s->op));
  }
  return CALM_OK;
}

static calm_status make_strip(cache *c) {
  for (uint32_t i = 0; i < c->part->step_count; i++) {
    TRY(make_step(c, &c->part->steps[i]));
    TRY(keep_operands(c, i));
  }
  return CALM_OK;
}

calm_status tile_make_cache(tile_piece *out, tile_maker *m,
                            const tile_part *part, const tile_grid *grid) {
  schedule s;
  cache c = {.m = m, .part = part, .s = &s};
  if (grid->counts[TILE_COLUMNS] > 1)
    return tile_fail(part, m->a->context, "mode cache makes strips only");
  TRY(make_room(&s, part, grid->counts[TILE_ROWS], m->a));
  const char *reason = plan(&s, grid->borders[TILE_ROWS]);
  if (reason) return tile_fail(part, m->a->context, reason);
  ARENA_ARRAY(m->a, c.pieces, part->tensor_count);
  ARENA_ARRAY(m->a, c.kept, part->tensor_count);
  for (uint32_t t = 0; t < part->tensor_count; t++) c.kept[t].id = CALM_NONE;
  c.pieces[0] = (tile_piece){
      part->tensors[0].id,
      rows_of(part, 0, (tile_span){0, part->tensors[0].sizes[TILE_ROWS]})};
  for (c.strip = 0; c.strip < s.strips; c.strip++) {
    m->tile++;
    m->crops.count = 0;
    TRY(make_strip(&c));
    out[c.strip] = c.pieces[part->output];
  }
  return CALM_OK;
}
