/*
 * Is there a placement in an arena of a given size?  Depth first over the bars
 * that are still open: is the body above, or below?  "Yes" comes with offsets,
 * "no" is a proof, and otherwise the budget was spent.
 */
#ifndef CALM_LAYOUT_LAYOUT_DECIDE_H
#define CALM_LAYOUT_LAYOUT_DECIDE_H

#include "layout/layout_reach.h"
#include "layout/layout_search.h"

typedef struct decide_frame {
  uint32_t mark, body, bar;
  int64_t side;
  bool turned; /* the other side is refuted */
} decide_frame;

typedef struct layout_decide {
  layout_reach reach;
  const int64_t *guide; /* a placement whose sides are tried first */
  uint64_t nodes;
  VECTOR(decide_frame) frames;
} layout_decide;

calm_status layout_decide_make(layout_decide *out, const layout_bars *bars,
                               const layout_steps *steps, arena *a, limits *l);
void layout_decide_free(layout_decide *d);

/* Spend at most so many ticks.  After LAYOUT_FITS, d->reach.low has offsets. */
calm_status layout_decide_fits(layout_answer *out, layout_decide *d,
                               int64_t arena_bytes, uint64_t ticks);

/* Without branching: can conclusions alone refute that arena? */
calm_status layout_decide_refutes(bool *out, layout_decide *d,
                                  int64_t arena_bytes);

#endif
