/*
 * Moves that make two regions at once: where a single one is too deep, because
 * its halo or its rows that are kept outgrow what they save, two may do, each
 * with as many strips as suit its own sizes.
 */
#include "tile/tile_search_parts.h"

enum {
  FARTHEST = 10, /* ends of a pair from the position around which it is made */
  KEPT_OF_SPAN = 3
};

static const uint32_t strips[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24};

/* What a region needs, and a little for each operator. */
static uint64_t cost_of(const tile_guess *g) {
  return g->bytes + 16 * (uint64_t)g->operators;
}

static uint32_t find_strips(tile_searcher *s, tile_region r, uint32_t most) {
  uint64_t least = UINT64_MAX;
  uint32_t best = 0;
  for (size_t i = 0; i < sizeof strips / sizeof *strips; i++) {
    r.rows = strips[i];
    if (r.rows > most) break;
    const tile_guess g = tile_search_guess(s, &r);
    if (cost_of(&g) >= least) continue;
    least = cost_of(&g);
    best = r.rows;
  }
  return best;
}

/* Strips that suit a span, looked for once; false: no region is there. */
static bool suit(tile_region *out, tile_searcher *s, uint32_t first,
                 uint32_t last, tile_mode mode) {
  const tile_span *span = tile_search_span(s, first, last);
  const tile_region r = {first, last, 2, 1, mode};
  if (!span || span->rows < 2) return false;
  uint32_t *best =
      &s->spans[(size_t)first * MOST_SPAN + last - first].best_rows[mode];
  if (*best == 0) *best = find_strips(s, r, span->rows);
  *out = r;
  out->rows = *best;
  return true;
}

static calm_status cut_at(tile_listing *l, tile_move m, uint32_t first,
                          uint32_t cut, uint32_t last) {
  static const tile_mode modes[][2] = {{TILE_PAD, TILE_PAD},
                                       {TILE_SAME, TILE_SAME},
                                       {TILE_CACHE, TILE_CACHE},
                                       {TILE_PAD, TILE_CACHE},
                                       {TILE_CACHE, TILE_PAD}};
  m.made_count = 2;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (suit(&m.made[0], l->s, first, cut - 1, modes[i][0]) &&
        suit(&m.made[1], l->s, cut, last, modes[i][1]))
      TRY(tile_search_offer(l, m));
  return CALM_OK;
}

/* Halves as they were, too: who is the better for it shows later. */
static calm_status keep_tiles(tile_listing *l, tile_move m, uint32_t cut) {
  const tile_region was = l->from->regions[m.at];
  m.made_count = 2;
  m.made[0] = m.made[1] = was;
  m.made[0].last = cut - 1;
  m.made[1].first = cut;
  TRY(tile_search_offer(l, m));
  tile_move other = m;
  other.made[1].rows = was.rows / 2 + 1;
  TRY(tile_search_offer(l, other));
  m.made[0].rows = 2 * was.rows;
  return tile_search_offer(l, m);
}

calm_status tile_search_split(tile_listing *l, uint32_t at) {
  const tile_region was = l->from->regions[at];
  const tile_move m = {.at = at, .removed = 1};
  for (uint32_t cut = was.first + 1; cut <= was.last; cut++) {
    TRY(keep_tiles(l, m, cut));
    TRY(cut_at(l, m, was.first, cut, was.last));
  }
  return CALM_OK;
}

calm_status tile_search_pairs(tile_listing *l, uint32_t position) {
  const tile_move m = {0};
  for (uint32_t back = 0; back <= FARTHEST && back <= position; back++)
    for (uint32_t on = back ? 0 : 1;
         on <= FARTHEST && position + on < l->s->op_count; on++) {
      const uint32_t first = position - back, last = position + on;
      const uint32_t begin = l->s->moves.count;
      for (uint32_t cut = first + 1; cut <= last; cut++)
        TRY(cut_at(l, m, first, cut, last));
      tile_search_keep_best(l, begin, KEPT_OF_SPAN);
    }
  return CALM_OK;
}
