#include "layout/layout_grid.h"

#include <stdlib.h>

#include "base/number.h"

/* ---- Sections ------------------------------------------------------------ */

/*
 * Time is cut wherever a piece begins or ends.  Going from left to right, a
 * slot is kept if some piece began since the last kept one and some piece ends
 * at its right edge: the slots kept are those whose set of pieces is not
 * contained in a neighbour's.
 */
typedef struct time_line {
  int64_t *times; /* ascending; slot i lies between times i and i + 1 */
  uint32_t count;
  uint32_t *kept_before; /* per time: kept slots before it */
} time_line;

static int by_value(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static uint32_t find_time(const time_line *t, int64_t time) {
  uint32_t low = 0, high = t->count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (t->times[middle] <= time)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static calm_status collect_times(time_line *t, const layout_problem *p,
                                 arena *a) {
  uint32_t count = 0;
  ARENA_ARRAY(a, t->times, (size_t)p->piece_count * 2 + 1);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    t->times[count++] = p->pieces[i].lower;
    t->times[count++] = p->pieces[i].upper;
  }
  qsort(t->times, count, sizeof *t->times, by_value);
  for (uint32_t i = 0; i < count; i++)
    if (t->count == 0 || t->times[i] != t->times[t->count - 1])
      t->times[t->count++] = t->times[i];
  return CALM_OK;
}

static calm_status cut_time(time_line *t, const layout_problem *p, arena *a) {
  uint8_t *begins, *ends;
  *t = (time_line){0};
  TRY(collect_times(t, p, a));
  ARENA_ARRAY(a, t->kept_before, (size_t)t->count + 1);
  ARENA_ARRAY(a, begins, t->count);
  ARENA_ARRAY(a, ends, t->count);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    begins[find_time(t, p->pieces[i].lower)] = 1;
    ends[find_time(t, p->pieces[i].upper)] = 1;
  }
  bool began = false;
  for (uint32_t i = 0; i + 1 < t->count; i++) {
    began = began || begins[i];
    bool keep = began && ends[i + 1];
    t->kept_before[i + 1] = t->kept_before[i] + keep;
    if (keep) began = false;
  }
  return CALM_OK;
}

/* Sections first .. end (exclusive) of a piece. */
static void find_sections(uint32_t *first, uint32_t *end, const time_line *t,
                          const layout_piece *piece) {
  *first = t->kept_before[find_time(t, piece->lower)];
  *end = t->kept_before[find_time(t, piece->upper)];
}

/* Pieces of one body that begin at the same step also end together: a cell for
   each of their sections. */
static uint32_t group_end(const layout_problem *p, uint32_t piece) {
  uint32_t end = piece + 1;
  while (end < p->piece_count && p->pieces[end].body == p->pieces[piece].body &&
         p->pieces[end].lower == p->pieces[piece].lower)
    end++;
  return end;
}

static uint64_t count_cells(const layout_problem *p, const time_line *t) {
  uint64_t cells = 0;
  for (uint32_t i = 0; i < p->piece_count; i = group_end(p, i)) {
    uint32_t first, end;
    find_sections(&first, &end, t, &p->pieces[i]);
    cells += end - first;
  }
  return cells;
}

calm_status layout_grid_measure(uint64_t *cells, const layout_problem *p,
                                calm_context *context) {
  time_line t;
  arena scratch;
  arena_init(&scratch, context);
  calm_status status = cut_time(&t, p, &scratch);
  if (status == CALM_OK) *cells = count_cells(p, &t);
  arena_free(&scratch);
  return status;
}

static calm_status fill_cells(layout_grid *g, const time_line *t, arena *a) {
  const layout_problem *p = g->problem;
  uint64_t next = 0;
  g->cell_count = count_cells(p, t);
  g->section_count = t->count ? t->kept_before[t->count - 1] : 0;
  ARENA_ARRAY(a, g->cells, g->cell_count);
  ARENA_ARRAY(a, g->cell_begin, (size_t)p->body_count + 1);
  for (uint32_t b = 0; b < p->body_count; b++) {
    g->cell_begin[b] = next;
    for (uint32_t i = p->piece_begin[b]; i < p->piece_begin[b + 1];) {
      uint32_t s, end, spans_end = group_end(p, i);
      find_sections(&s, &end, t, &p->pieces[i]);
      for (; s < end; s++) g->cells[next++] = (layout_cell){b, s, i, spans_end};
      i = spans_end;
    }
  }
  g->cell_begin[p->body_count] = next;
  return CALM_OK;
}

/* ---- Granules ------------------------------------------------------------ */

/*
 * Where all offsets are multiples of a unit anyway, a piece denies the others
 * its size rounded up to that unit.  And in a best placement in which no body
 * can be moved down every offset is a sum of sizes, rounded up to alignments:
 * so everything is a multiple of the greatest common divisor of sizes, lows,
 * fixed offsets, and those alignments that do not divide it.
 */
static uint64_t find_granule(const layout_problem *p, uint64_t unit) {
  uint64_t granule = 0, before;
  for (uint32_t i = 0; i < p->piece_count; i++) {
    uint64_t high = number_round_up(p->pieces[i].high, unit);
    granule = number_gcd(granule, number_gcd(high, p->pieces[i].low));
  }
  for (uint32_t b = 0; b < p->body_count; b++)
    if (layout_body_counts(p, b) && p->bodies[b].fixed)
      granule = number_gcd(granule, p->bodies[b].offset);
  do {
    before = granule;
    for (uint32_t b = 0; b < p->body_count; b++)
      if (layout_body_counts(p, b) && !p->bodies[b].fixed &&
          granule % p->bodies[b].align)
        granule = number_gcd(granule, p->bodies[b].align);
  } while (granule != before);
  return granule;
}

static calm_status fill_granules(layout_grid *g, arena *a) {
  const layout_problem *p = g->problem;
  uint64_t unit = layout_offset_unit(p);
  if (unit == 0) unit = 1;
  g->granule = find_granule(p, unit);
  ARENA_ARRAY(a, g->spans, p->piece_count);
  ARENA_ARRAY(a, g->align, p->body_count);
  ARENA_ARRAY(a, g->end_bytes, p->body_count);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    uint64_t high = number_round_up(p->pieces[i].high, unit);
    g->spans[i] = (layout_span){(int64_t)(p->pieces[i].low / g->granule),
                                (int64_t)(high / g->granule)};
  }
  for (uint32_t b = 0; b < p->body_count; b++) {
    uint64_t align = p->bodies[b].align;
    g->end_bytes[b] = layout_body_span(p, b);
    g->align[b] =
        g->granule && align > g->granule ? (int64_t)(align / g->granule) : 1;
  }
  return CALM_OK;
}

static calm_status fill_padding(layout_grid *g, arena *a) {
  ARENA_ARRAY(a, g->padding, g->section_count);
  for (uint64_t c = 0; c < g->cell_count; c++) {
    const layout_cell *cell = &g->cells[c];
    uint32_t top = cell->span_end - 1;
    uint64_t padding = (uint64_t)g->spans[top].high * g->granule -
                       g->problem->pieces[top].high;
    if (padding > g->padding[cell->section])
      g->padding[cell->section] = padding;
  }
  return CALM_OK;
}

static calm_status make(layout_grid *g, arena *scratch, arena *a) {
  time_line t;
  TRY(cut_time(&t, g->problem, scratch));
  TRY(fill_cells(g, &t, a));
  TRY(fill_granules(g, a));
  return fill_padding(g, a);
}

calm_status layout_grid_make(layout_grid *out, const layout_problem *p,
                             arena *a) {
  layout_grid grid = {.problem = p};
  arena scratch;
  arena_init(&scratch, a->context);
  calm_status status = make(&grid, &scratch, a);
  if (status == CALM_OK) *out = grid;
  arena_free(&scratch);
  return status;
}

/* A body that moves by whole granules ends at its own residue. */
static uint64_t next_end(const layout_grid *g, uint32_t body, uint64_t bytes) {
  uint64_t end = g->end_bytes[body];
  if (g->problem->bodies[body].fixed)
    return end + g->problem->bodies[body].offset;
  if (end > bytes) return end;
  return end + ((bytes - end) / g->granule + 1) * g->granule;
}

uint64_t layout_grid_next_arena(const layout_grid *grid, uint64_t bytes) {
  uint64_t least = UINT64_MAX;
  for (uint32_t b = 0; b < grid->problem->body_count; b++) {
    if (!layout_body_counts(grid->problem, b)) continue;
    uint64_t end = next_end(grid, b, bytes);
    if (end > bytes && end < least) least = end;
  }
  return least;
}
