/*
 * The driver decides instead of minimising: hard problems are nearly always
 * feasible at their bound, and that question is the one that prunes best.  Only
 * where it stays open, or is answered with no, are capacities between bound and
 * incumbent tried, in rounds of growing budgets, so that no single capacity
 * eats all of the time.
 */
#include "layout/layout_exact.h"

#include <inttypes.h>
#include <string.h>

#include "layout/layout_windows.h"

typedef struct improver {
  const layout_problem *p;
  const layout_options *options;
  limits *l;
  layout_knowledge *k;
  layout_grid grid;
  layout_strip strip;
  layout_search search;
  uint64_t *offsets; /* of the latest placement */
} improver;

static bool is_done(const improver *m) {
  uint64_t arena_bytes = m->k->best.arena_bytes;
  return arena_bytes <= m->k->bound_bytes ||
         arena_bytes <= m->options->target_bytes || m->l->reason != LIMITS_NONE;
}

static void report(const improver *m) {
  context_log(m->l->context, CALM_LOG_PROGRESS,
              "layout: arena %" PRIu64 ", bound %" PRIu64 ", %" PRIu64 " nodes",
              m->k->best.arena_bytes, m->k->bound_bytes,
              m->k->nodes + m->search.nodes);
}

/* Fixed and empty bodies are not in the strip and stay where they are. */
static void take_placement(improver *m) {
  size_t bytes = m->p->body_count * sizeof *m->offsets;
  memcpy(m->offsets, m->k->best.offsets, bytes);
  layout_search_offsets(&m->search, m->offsets);
  uint64_t arena_bytes = layout_arena_bytes(m->p, m->offsets);
  if (arena_bytes >= m->k->best.arena_bytes) return;
  memcpy(m->k->best.offsets, m->offsets, bytes);
  m->k->best.arena_bytes = arena_bytes;
  report(m);
}

/* One question; its answer lowers the incumbent or raises the bound. */
static calm_status decide(layout_answer *answer, improver *m, uint64_t capacity,
                          uint64_t budget) {
  TRY(layout_search_decide(answer, &m->search, capacity, budget));
  if (*answer == LAYOUT_FITS) take_placement(m);
  if (*answer == LAYOUT_FITS_NOT)
    m->k->bound_bytes = layout_grid_next_arena(&m->grid, capacity);
  return CALM_OK;
}

/*
 * Capacities above the bound: half way to the incumbent, a quarter, an eighth,
 * at last the bound itself; from the start again after every answer, which is
 * bisection as long as there are answers.
 */
static calm_status decide_ladder(improver *m, uint64_t budget) {
  uint64_t gap = m->k->best.arena_bytes - m->k->bound_bytes;
  while (gap > 0 && !is_done(m)) {
    layout_answer answer;
    gap = gap / 2 < m->grid.granule ? 0 : gap / 2;
    TRY(decide(&answer, m, m->k->bound_bytes + gap, budget));
    if (answer != LAYOUT_UNDECIDED)
      gap = m->k->best.arena_bytes - m->k->bound_bytes;
  }
  return CALM_OK;
}

static calm_status raise_bound(improver *m, uint64_t budget) {
  if (!m->options->windows || is_done(m)) return CALM_OK;
  layout_windows w = {.grid = &m->grid,
                      .options = m->options,
                      .l = m->l,
                      .bound = m->k->bound_bytes,
                      .most = m->k->best.arena_bytes,
                      .budget = budget};
  TRY(layout_windows_raise(&w));
  m->k->bound_bytes = w.bound;
  m->k->nodes += w.nodes;
  return CALM_OK;
}

static calm_status run_rounds(improver *m) {
  layout_answer answer;
  uint64_t budget = 20 * ((uint64_t)m->strip.body_count + 10);
  for (uint32_t round = 0; !is_done(m); round++) {
    TRY(decide(&answer, m, m->k->bound_bytes, budget));
    if (round % 3 == 0) TRY(raise_bound(m, UINT64_C(500) << round));
    if (!is_done(m)) TRY(decide_ladder(m, budget / 4));
    if (round < 40) budget *= 2;
  }
  return CALM_OK;
}

/* About what a cell takes in the grid, the strip and the skyline.  With more of
   them than that a single dive takes minutes, and what first fit has found is
   as good as what is left of the time would find. */
enum { BYTES_PER_CELL = 160, MOST_CELLS = 1 << 20 };

static calm_status prepare(improver *m, arena *scratch) {
  TRY(layout_grid_make(&m->grid, m->p, scratch));
  TRY(layout_strip_make(&m->strip, &m->grid, 0, m->grid.section_count,
                        scratch));
  TRY(layout_search_make(&m->search, &m->strip, m->options, scratch, m->l));
  ARENA_ARRAY(scratch, m->offsets, m->p->body_count);
  m->k->bound_bytes = layout_grid_next_arena(&m->grid, m->k->bound_bytes - 1);
  return CALM_OK;
}

static calm_status improve(improver *m, arena *scratch) {
  uint64_t cells;
  TRY(layout_grid_measure(&cells, m->p, m->l->context));
  if (cells > MOST_CELLS ||
      limits_memory(m->l,
                    cells * BYTES_PER_CELL + calm_context_bytes(m->l->context)))
    return CALM_OK;
  TRY(prepare(m, scratch));
  return run_rounds(m);
}

calm_status layout_exact_improve(layout_knowledge *k, const layout_problem *p,
                                 const layout_options *options, limits *l) {
  improver m = {.p = p, .options = options, .l = l, .k = k};
  arena scratch;
  arena_init(&scratch, l->context);
  calm_status status = improve(&m, &scratch);
  k->nodes += m.search.nodes;
  layout_search_free(&m.search);
  arena_free(&scratch);
  return status;
}
