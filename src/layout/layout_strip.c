#include "layout/layout_strip.h"

#include <stdlib.h>
#include <string.h>

/* ---- Cells --------------------------------------------------------------- */

typedef struct cutter {
  const layout_grid *grid;
  layout_strip *strip;
  uint32_t first, end; /* sections of the grid */
} cutter;

static bool inside(const cutter *c, const layout_cell *cell) {
  return cell->section >= c->first && cell->section < c->end;
}

/* How much of everything there will be. */
static calm_status count_contents(cutter *c, arena *a) {
  layout_strip *s = c->strip;
  const layout_problem *p = c->grid->problem;
  for (uint32_t b = 0; b < p->body_count; b++) {
    uint32_t cells = 0, spans = 0;
    for (uint64_t i = c->grid->cell_begin[b]; i < c->grid->cell_begin[b + 1];
         i++) {
      const layout_cell *cell = &c->grid->cells[i];
      cells += inside(c, cell);
      spans += inside(c, cell) ? cell->span_end - cell->span_begin : 0;
    }
    s->wall_count += p->bodies[b].fixed ? spans : 0;
    s->cell_count += p->bodies[b].fixed ? 0 : cells;
    s->body_count += !p->bodies[b].fixed && cells;
  }
  ARENA_ARRAY(a, s->bodies, s->body_count);
  ARENA_ARRAY(a, s->cells, s->cell_count);
  ARENA_ARRAY(a, s->walls, s->wall_count);
  ARENA_ARRAY(a, s->lids, s->body_count);
  ARENA_ARRAY(a, s->padding, s->section_count);
  ARENA_ARRAY(a, s->lid_bytes, s->section_count);
  ARENA_ARRAY(a, s->member_begin, (size_t)s->section_count + 1);
  s->wall_count = s->cell_count = s->body_count = 0;
  return CALM_OK;
}

static void add_walls(cutter *c, const layout_cell *cell) {
  uint64_t offset = c->grid->problem->bodies[cell->body].offset;
  int64_t at = (int64_t)(offset / c->grid->granule);
  for (uint32_t i = cell->span_begin; i < cell->span_end; i++)
    c->strip->walls[c->strip->wall_count++] =
        (strip_wall){cell->section - c->first, at + c->grid->spans[i].low,
                     at + c->grid->spans[i].high};
}

static void add_cell(cutter *c, strip_body *body, const layout_cell *cell) {
  layout_strip *s = c->strip;
  const layout_span *spans = c->grid->spans;
  strip_cell *out = &s->cells[s->cell_count++];
  *out = (strip_cell){.body = s->body_count,
                      .section = cell->section - c->first,
                      .span_begin = cell->span_begin,
                      .span_end = cell->span_end,
                      .low = spans[cell->span_begin].low,
                      .high = spans[cell->span_end - 1].high};
  for (uint32_t i = cell->span_begin; i < cell->span_end; i++)
    out->size += spans[i].high - spans[i].low;
  if (body->cell_begin == s->cell_count - 1) body->first = out->section;
  body->last = out->section;
  if (body->total <= INT64_MAX - out->size) body->total += out->size;
  if (out->high > body->size) body->size = out->high;
}

static bool is_box(const layout_strip *s, const strip_body *body) {
  for (uint32_t i = body->cell_begin; i < body->cell_end; i++) {
    const strip_cell *cell = &s->cells[i];
    if (cell->low != 0 || cell->high != body->size ||
        cell->size != body->size ||
        cell->section != body->first + (i - body->cell_begin))
      return false;
  }
  return true;
}

static void add_body(cutter *c, uint32_t index) {
  layout_strip *s = c->strip;
  const layout_grid *g = c->grid;
  bool fixed = g->problem->bodies[index].fixed;
  strip_body body = {.body = index,
                     .cell_begin = s->cell_count,
                     .twin = CALM_NONE,
                     .align = g->align[index],
                     .end_bytes = g->end_bytes[index]};
  for (uint64_t i = g->cell_begin[index]; i < g->cell_begin[index + 1]; i++) {
    if (!inside(c, &g->cells[i])) continue;
    if (fixed)
      add_walls(c, &g->cells[i]);
    else
      add_cell(c, &body, &g->cells[i]);
  }
  body.cell_end = s->cell_count;
  if (body.cell_begin == body.cell_end) return;
  body.box = is_box(s, &body);
  s->bodies[s->body_count++] = body;
}

/* ---- Lids ---------------------------------------------------------------- */

/*
 * A body that is alive throughout an independent part of the time line can lie
 * on top of everything else there: whatever is above it moves down by its size.
 * This holds for boxes whose alignment and padding mean nothing, which are not
 * higher outside the strip, away from fixed bodies.
 */
static bool is_plain_part(const layout_strip *s, uint32_t first,
                          uint32_t last) {
  for (uint32_t b = 0; b < s->body_count; b++) {
    const strip_body *body = &s->bodies[b];
    if (body->first > last || body->last < first) continue;
    if (!body->box || body->align != 1 ||
        body->end_bytes != (uint64_t)body->size * s->grid->granule)
      return false;
  }
  for (uint32_t w = 0; w < s->wall_count; w++)
    if (s->walls[w].section >= first && s->walls[w].section <= last)
      return false;
  for (uint32_t i = first; i <= last; i++)
    if (s->padding[i]) return false;
  return true;
}

static void take_lids(layout_strip *s, uint32_t first, uint32_t last) {
  if (!is_plain_part(s, first, last)) return;
  for (uint32_t b = 0; b < s->body_count; b++) {
    const strip_body *body = &s->bodies[b];
    if (body->first != first || body->last != last) continue;
    s->lids[s->lid_count++] = (strip_lid){body->body, first, last};
    for (uint32_t i = first; i <= last; i++) s->lid_bytes[i] += body->end_bytes;
  }
}

static calm_status find_lids(layout_strip *s, arena *a) {
  uint32_t *crossing, begin = 0; /* bodies alive at i and i + 1 */
  ARENA_ARRAY(a, crossing, (size_t)s->section_count + 1);
  for (uint32_t b = 0; b < s->body_count; b++)
    for (uint32_t i = s->bodies[b].first; i < s->bodies[b].last; i++)
      crossing[i]++;
  for (uint32_t i = 0; i < s->section_count; i++)
    if (crossing[i] == 0) {
      take_lids(s, begin, i);
      begin = i + 1;
    }
  return CALM_OK;
}

/* Close the gaps that lids leave among bodies and cells. */
static void drop_lids(layout_strip *s) {
  uint32_t bodies = 0, cells = 0;
  for (uint32_t b = 0; b < s->body_count; b++) {
    strip_body body = s->bodies[b];
    bool lid = false;
    for (uint32_t i = 0; i < s->lid_count; i++)
      lid = lid || s->lids[i].body == body.body;
    if (lid) continue;
    uint32_t begin = cells;
    for (uint32_t i = body.cell_begin; i < body.cell_end; i++) {
      s->cells[cells] = s->cells[i];
      s->cells[cells++].body = bodies;
    }
    body.cell_begin = begin;
    body.cell_end = cells;
    s->bodies[bodies++] = body;
  }
  s->body_count = bodies;
  s->cell_count = cells;
}

/* ---- Twins --------------------------------------------------------------- */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Equal bodies compare as 0: same sections, spans, alignment and end. */
static int compare_bodies(const layout_strip *s, const strip_body *a,
                          const strip_body *b) {
  int order = compare(a->first, b->first);
  uint32_t cells = a->cell_end - a->cell_begin;
  if (!order) order = compare(a->last, b->last);
  if (!order) order = compare(cells, b->cell_end - b->cell_begin);
  if (!order) order = compare(a->align, b->align);
  if (!order) order = compare((int64_t)a->end_bytes, (int64_t)b->end_bytes);
  for (uint32_t i = 0; !order && i < cells; i++) {
    const strip_cell *ca = &s->cells[a->cell_begin + i];
    const strip_cell *cb = &s->cells[b->cell_begin + i];
    uint32_t spans = ca->span_end - ca->span_begin;
    order = compare(ca->section, cb->section);
    if (!order) order = compare(spans, cb->span_end - cb->span_begin);
    if (!order)
      order =
          memcmp(&s->grid->spans[ca->span_begin],
                 &s->grid->spans[cb->span_begin], spans * sizeof(layout_span));
  }
  return order;
}

/* What the comparison of two bodies in a sort has to know. */
typedef struct candidate {
  const layout_strip *strip;
  uint32_t body;
} candidate;

static int by_shape(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  int order = compare_bodies(a->strip, &a->strip->bodies[a->body],
                             &b->strip->bodies[b->body]);
  return order ? order : compare(a->body, b->body);
}

static calm_status find_twins(layout_strip *s, arena *a) {
  candidate *sorted;
  ARENA_ARRAY(a, sorted, s->body_count);
  for (uint32_t b = 0; b < s->body_count; b++) sorted[b] = (candidate){s, b};
  qsort(sorted, s->body_count, sizeof *sorted, by_shape);
  for (uint32_t i = 1; i < s->body_count; i++) {
    uint32_t one = sorted[i - 1].body, two = sorted[i].body;
    if (!compare_bodies(s, &s->bodies[one], &s->bodies[two]))
      s->bodies[two].twin = one;
  }
  return CALM_OK;
}

static void count_members(layout_strip *s) {
  for (uint32_t i = 0; i < s->cell_count; i++)
    s->member_begin[s->cells[i].section + 1]++;
  for (uint32_t i = 0; i < s->section_count; i++)
    s->member_begin[i + 1] += s->member_begin[i];
}

calm_status layout_strip_make(layout_strip *out, const layout_grid *grid,
                              uint32_t first, uint32_t end, arena *a) {
  *out = (layout_strip){.grid = grid, .section_count = end - first};
  cutter c = {grid, out, first, end};
  TRY(count_contents(&c, a));
  for (uint32_t b = 0; b < grid->problem->body_count; b++) add_body(&c, b);
  for (uint32_t i = first; i < end; i++)
    out->padding[i - first] = grid->padding[i];
  TRY(find_lids(out, a));
  if (out->lid_count) drop_lids(out);
  count_members(out);
  return find_twins(out, a);
}
