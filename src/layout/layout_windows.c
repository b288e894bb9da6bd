#include "layout/layout_windows.h"

/* A window's answer is a question of its own: raise the bound as long as it is
   refuted. */
static calm_status raise_in(uint64_t *bound, uint64_t *nodes, layout_search *s,
                            uint64_t most, uint64_t budget) {
  layout_answer answer = LAYOUT_FITS_NOT;
  while (*bound < most) {
    TRY(layout_search_decide(&answer, s, *bound, budget));
    if (answer != LAYOUT_FITS_NOT) break;
    *bound = layout_grid_next_arena(s->strip->grid, *bound);
  }
  *nodes += s->nodes;
  return CALM_OK;
}

typedef struct window {
  uint32_t first, end;
} window;

static calm_status raise_at(uint64_t *bound, uint64_t *nodes,
                            const layout_grid *grid, window w, uint64_t most,
                            uint64_t budget, const layout_options *options,
                            limits *l) {
  layout_strip strip;
  layout_search search = {0};
  arena scratch;
  arena_init(&scratch, l->context);
  calm_status status =
      layout_strip_make(&strip, grid, w.first, w.end, &scratch);
  if (status == CALM_OK)
    status = layout_search_make(&search, &strip, options, &scratch, l);
  if (status == CALM_OK) status = raise_in(bound, nodes, &search, most, budget);
  layout_search_free(&search);
  arena_free(&scratch);
  return status;
}

/* Only windows in which little room is left are worth a look. */
static calm_status measure_sections(uint64_t *live, const layout_grid *grid) {
  for (uint64_t c = 0; c < grid->cell_count; c++) {
    const layout_cell *cell = &grid->cells[c];
    for (uint32_t i = cell->span_begin; i < cell->span_end; i++)
      live[cell->section] +=
          (uint64_t)(grid->spans[i].high - grid->spans[i].low);
  }
  return CALM_OK;
}

/* Some section is full to fifteen sixteenths. */
static bool is_crowded(const uint64_t *live, window w, uint64_t capacity) {
  for (uint32_t i = w.first; i < w.end; i++)
    if (live[i] >= capacity - capacity / 16) return true;
  return false;
}

static calm_status raise_all(uint64_t *bound, uint64_t *nodes,
                             const layout_grid *grid, const uint64_t *live,
                             uint64_t most, uint64_t budget,
                             const layout_options *options, limits *l) {
  uint32_t count = grid->section_count;
  for (uint32_t length = 4; length < count; length += (length + 3) / 4 * 2) {
    uint32_t stride = length / 4;
    for (uint32_t i = 0; i + length <= count && *bound < most; i += stride) {
      window w = {i, i + length};
      if (limits_spend(l, length)) return CALM_OK;
      if (is_crowded(live, w, *bound / grid->granule))
        TRY(raise_at(bound, nodes, grid, w, most, budget, options, l));
    }
  }
  return CALM_OK;
}

calm_status layout_windows_raise(uint64_t *bound, uint64_t *nodes,
                                 const layout_grid *grid, uint64_t most,
                                 uint64_t budget, const layout_options *options,
                                 limits *l) {
  uint64_t *live;
  arena scratch;
  arena_init(&scratch, l->context);
  live = arena_calloc(&scratch, grid->section_count, sizeof *live);
  calm_status status =
      live ? measure_sections(live, grid) : context_no_memory(l->context);
  if (status == CALM_OK)
    status = raise_all(bound, nodes, grid, live, most, budget, options, l);
  arena_free(&scratch);
  return status;
}
