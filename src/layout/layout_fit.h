/*
 * First fit against bars: bodies one after the other in some order, each at the
 * lowest offset that no bar of an earlier one forbids.  An order may be changed
 * at one place and what follows be placed anew, at the cost of what moves.
 */
#ifndef CALM_LAYOUT_LAYOUT_FIT_H
#define CALM_LAYOUT_LAYOUT_FIT_H

#include "base/limits.h"
#include "base/vector.h"
#include "layout/layout_bars.h"

/* Offsets between the two, exclusive, are taken. */
typedef struct fit_taken {
  int64_t after, before;
} fit_taken;

/* A body that was moved, and from where. */
typedef struct fit_change {
  uint32_t body;
  int64_t offset;
} fit_change;

typedef struct layout_fit {
  const layout_bars *bars;
  limits *l;
  uint32_t *order, *rank; /* fixed bodies come first; rank[order[i]] is i */
  uint32_t first;         /* the first place of a body that may move */
  int64_t *offset;
  int64_t arena; /* of the whole placement */
  bool *stale;   /* a body whose offset may not be the lowest any more */
  fit_taken *taken;
  fit_change *changes; /* since the last trial began, and room for all */
  uint32_t change_count;
} layout_fit;

calm_status layout_fit_make(layout_fit *out, const layout_bars *bars, arena *a,
                            limits *l);

/* Place all bodies by descending key, equal keys by descending number. */
void layout_fit_sorted(layout_fit *f, const int64_t *keys);

/*
 * Take body `body` out of the order and put it where `place` is.  True: the
 * arena is at most `most`, and the change holds.  False: nothing has changed.
 */
bool layout_fit_move(layout_fit *f, uint32_t body, uint32_t place,
                     int64_t most);

/* A body that comes earlier and on which this one rests; CALM_NONE: the ground.
   Of several the `pick`-th, modulo how many there are. */
uint32_t layout_fit_support(const layout_fit *f, uint32_t body, uint32_t pick);

#endif
