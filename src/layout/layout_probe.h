/*
 * How low can a body lie at best?  A few steps of a large problem are watched:
 * for each, which bytes are free.  What is taken at one step of a body's life
 * is taken for the body, so the first gaps at those steps bound its offset from
 * below, and the exact search has only to look above.  Where thousands of
 * pieces are alive at once they hardly leave gaps, and the bound is nearly the
 * answer.  Costs about the square root of the gaps per step and question.
 */
#ifndef CALM_LAYOUT_LAYOUT_PROBE_H
#define CALM_LAYOUT_LAYOUT_PROBE_H

#include "layout/layout_overlap.h"

/* Free bytes at one step. */
typedef struct layout_probe {
  int64_t step;
  struct gap_chunk **chunks; /* ascending; those beyond `count` are spare */
  uint32_t count, made;
} layout_probe;

enum { PROBES_MOST = 17 };

typedef struct layout_probes {
  const layout_problem *problem;
  arena *arena;
  uint64_t unit; /* all offsets are multiples of it, so ends may be, too */
  layout_probe probes[PROBES_MOST];
  uint32_t count;
} layout_probes;

/* Choose the steps: where most pieces are alive, and where equally many have
   begun.  `p` is tidy, `index` is its own.  Few pieces get no probes. */
calm_status layout_probes_make(layout_probes *out, const layout_problem *p,
                               const layout_overlap *index, arena *a);

/* Everything is free again. */
void layout_probes_clear(layout_probes *probes);

/* Take the bytes of a piece whose body is placed where it collides with none.
 */
calm_status layout_probes_add(layout_probes *probes, const layout_piece *piece,
                              uint64_t offset);

/* A multiple of the body's alignment, at most the lowest free offset.  *work
   grows by the gaps that were looked at. */
uint64_t layout_probes_bound(const layout_probes *probes, uint32_t body,
                             uint64_t *work);

#endif
