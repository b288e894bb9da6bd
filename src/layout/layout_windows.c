/*
 * A window keeps the parts of bodies that lie in some consecutive sections.  A
 * placement of the whole is one of the window too, so what the window cannot
 * do, the whole cannot.
 */
#include "layout/layout_windows.h"

static uint64_t next_step(uint64_t step, layout_answer answer,
                          uint64_t granule) {
  if (answer != LAYOUT_FITS_NOT) return step / 4;
  return step < granule ? granule : step * 2;
}

/* Raise the bound as long as the window refutes it, by steps that grow with
   each success. */
static calm_status ask(layout_windows *w, layout_search *s) {
  uint64_t step = 0;
  while (w->bound < w->most) {
    layout_answer answer;
    uint64_t room = w->most - 1 - w->bound;
    uint64_t capacity = w->bound + (step < room ? step : room);
    TRY(layout_search_decide(&answer, s, capacity, w->budget));
    if (answer == LAYOUT_FITS_NOT)
      w->bound = layout_grid_next_arena(w->grid, capacity);
    else if (step == 0)
      break;
    step = next_step(step, answer, w->grid->granule);
    if (step < w->grid->granule) step = 0;
  }
  w->nodes += s->nodes;
  return CALM_OK;
}

static calm_status open_window(layout_windows *w, uint32_t first,
                               uint32_t end) {
  layout_strip strip;
  layout_search search = {0};
  arena scratch;
  arena_init(&scratch, w->l->context);
  calm_status status = layout_strip_make(&strip, w->grid, first, end, &scratch);
  if (status == CALM_OK)
    status = layout_search_make(&search, &strip, w->options, &scratch, w->l);
  if (status == CALM_OK) status = ask(w, &search);
  layout_search_free(&search);
  arena_free(&scratch);
  return status;
}

/* Granules in use, per section. */
static void measure_sections(uint64_t *live, const layout_grid *grid) {
  for (uint64_t c = 0; c < grid->cell_count; c++) {
    const layout_cell *cell = &grid->cells[c];
    for (uint32_t i = cell->span_begin; i < cell->span_end; i++)
      live[cell->section] +=
          (uint64_t)(grid->spans[i].high - grid->spans[i].low);
  }
}

/* Only a window with a section that is full to fifteen sixteenths is worth a
   look. */
static bool is_crowded(const layout_windows *w, const uint64_t *live,
                       uint32_t first, uint32_t end) {
  uint64_t capacity = w->bound / w->grid->granule;
  for (uint32_t i = first; i < end; i++)
    if (live[i] >= capacity - capacity / 16) return true;
  return false;
}

/* 4, 6, 10, 16, ... sections, each a quarter of its length further on. */
static calm_status open_windows(layout_windows *w, const uint64_t *live) {
  uint32_t count = w->grid->section_count;
  for (uint32_t length = 4; length < count; length += (length + 3) / 4 * 2) {
    for (uint32_t i = 0; i + length <= count; i += length / 4) {
      if (limits_spend(w->l, length) || w->bound >= w->most) return CALM_OK;
      if (is_crowded(w, live, i, i + length))
        TRY(open_window(w, i, i + length));
    }
  }
  return CALM_OK;
}

calm_status layout_windows_raise(layout_windows *w) {
  arena scratch;
  arena_init(&scratch, w->l->context);
  uint64_t *live = arena_calloc(&scratch, w->grid->section_count, sizeof *live);
  calm_status status = CALM_OK;
  if (live) {
    measure_sections(live, w->grid);
    status = open_windows(w, live);
  } else {
    status = context_no_memory(w->l->context);
  }
  arena_free(&scratch);
  return status;
}
