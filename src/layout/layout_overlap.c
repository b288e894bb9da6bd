#include "layout/layout_overlap.h"

#include <stdlib.h>

typedef struct beginning {
  int64_t lower;
  uint32_t piece;
} beginning;

static int by_lower(const void *left, const void *right) {
  const beginning *a = left, *b = right;
  if (a->lower != b->lower) return a->lower < b->lower ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static calm_status sort_pieces(layout_overlap *index, arena *a) {
  const layout_problem *p = index->problem;
  beginning *order;
  ARENA_ARRAY(a, order, p->piece_count);
  for (uint32_t i = 0; i < p->piece_count; i++)
    order[i] = (beginning){p->pieces[i].lower, i};
  qsort(order, p->piece_count, sizeof *order, by_lower);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    index->sorted[i] = order[i].piece;
    index->position[order[i].piece] = i;
  }
  return CALM_OK;
}

calm_status layout_overlap_make(layout_overlap *out, const layout_problem *p,
                                arena *a) {
  *out = (layout_overlap){.problem = p, .leaves = 1};
  while (out->leaves < p->piece_count) out->leaves *= 2;
  ARENA_ARRAY(a, out->sorted, p->piece_count);
  ARENA_ARRAY(a, out->position, p->piece_count);
  ARENA_ARRAY(a, out->latest, (size_t)out->leaves * 2);
  ARENA_ARRAY(a, out->highest, (size_t)out->leaves * 2);
  TRY(sort_pieces(out, a));
  layout_overlap_clear(out);
  return CALM_OK;
}

void layout_overlap_clear(layout_overlap *index) {
  for (uint32_t i = 0; i < index->leaves * 2; i++) {
    index->latest[i] = INT64_MIN;
    index->highest[i] = 0;
  }
}

void layout_overlap_add(layout_overlap *index, uint32_t piece, uint64_t high) {
  const int64_t end = index->problem->pieces[piece].upper;
  uint32_t node = index->leaves + index->position[piece];
  for (; node; node /= 2) {
    if (index->latest[node] >= end && index->highest[node] >= high) break;
    if (index->latest[node] < end) index->latest[node] = end;
    if (index->highest[node] < high) index->highest[node] = high;
  }
}

/* How many pieces begin before `upper`. */
static uint32_t count_before(const layout_overlap *index, int64_t upper) {
  uint32_t low = 0, high = index->problem->piece_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (index->problem->pieces[index->sorted[middle]].lower < upper)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

layout_overlap_walk layout_overlap_begin(const layout_overlap *index,
                                         const layout_piece *with,
                                         uint64_t above) {
  return (layout_overlap_walk){.index = index,
                               .lower = with->lower,
                               .end = count_before(index, with->upper),
                               .above = above,
                               .stack = {1},
                               .depth = 1};
}

/* The first leaf below a node. */
static uint32_t first_leaf(const layout_overlap *index, uint32_t node) {
  while (node < index->leaves) node *= 2;
  return node - index->leaves;
}

/* The left child is visited first.  The stack holds at most one node per level
   besides the current one. */
uint32_t layout_overlap_next(layout_overlap_walk *walk) {
  const layout_overlap *index = walk->index;
  while (walk->depth) {
    uint32_t node = walk->stack[--walk->depth];
    walk->visited++;
    if (index->latest[node] <= walk->lower ||
        index->highest[node] <= walk->above ||
        first_leaf(index, node) >= walk->end)
      continue;
    if (node >= index->leaves) return index->sorted[node - index->leaves];
    walk->stack[walk->depth++] = 2 * node + 1;
    walk->stack[walk->depth++] = 2 * node;
  }
  return CALM_NONE;
}
