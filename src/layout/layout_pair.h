/*
 * When do two pieces collide?  The one place that says so for the solvers: two
 * pieces that are alive at a common step forbid an open interval of differences
 * between their bodies' offsets.  (layout_check.c decides it anew, on purpose.)
 */
#ifndef CALM_LAYOUT_LAYOUT_PAIR_H
#define CALM_LAYOUT_LAYOUT_PAIR_H

#include "layout/layout.h"

/* Does a piece hold any byte at any step? */
static inline bool layout_piece_counts(const layout_piece *p) {
  return p->lower < p->upper && p->low < p->high;
}

static inline bool layout_pieces_meet(const layout_piece *p,
                                      const layout_piece *q) {
  return p->lower < q->upper && q->lower < p->upper;
}

/*
 * The differences d = offset of p's body - offset of q's body at which p and q
 * share a byte at some step: all d with *after < d < *before.  False: none.
 */
static inline bool layout_pieces_forbid(int64_t *after, int64_t *before,
                                        const layout_piece *p,
                                        const layout_piece *q) {
  *after = (int64_t)q->low - (int64_t)p->high;
  *before = (int64_t)q->high - (int64_t)p->low;
  return layout_pieces_meet(p, q);
}

#endif
