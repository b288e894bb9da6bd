/*
 * What is alive together, step by step, and how much of it may share bytes.
 * Sums of bytes bound what pairs of bodies alone do not.
 */
#ifndef CALM_LAYOUT_LAYOUT_STEPS_H
#define CALM_LAYOUT_LAYOUT_STEPS_H

#include "layout/layout_bars.h"

/* A body at a step: bytes [low, high) of it hold all its pieces, which come to
   `bytes` without counting any twice. */
typedef struct step_member {
  uint32_t body; /* number in the bars */
  int64_t low, high, bytes;
} step_member;

/* Two members of a step, by their places in it, and what they may share. */
typedef struct step_share {
  uint32_t input, output;
  int64_t bytes;
} step_share;

typedef struct layout_step {
  uint32_t member_begin, member_end;
  uint32_t share_begin, share_end;
} layout_step;

/*
 * Steps whose members are all at a neighbouring one, too, are left out.  Where
 * all pieces begin at multiples of a granule, ends are rounded up to it: what
 * is left there is of use to nobody.
 */
typedef struct layout_steps {
  layout_step *steps;
  step_member *members;
  step_share *shares;
  uint32_t count, member_count;
  int64_t granule;
  uint32_t *step_begin; /* per body and one more: steps_of[...] */
  uint32_t *steps_of;
} layout_steps;

calm_status layout_steps_make(layout_steps *out, const layout_bars *bars,
                              arena *a);

/* No arena is smaller: the bytes of one step, less what can be shared. */
int64_t layout_steps_bound(const layout_steps *s, const layout_bars *bars);

#endif
