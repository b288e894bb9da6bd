/*
 * Is there a placement within so many bytes?  Each gap is a choice: the one
 * body lies so far below the other, or so far above.  Choices of which one side
 * is out of reach are made at once, which moves the limits of other bodies, and
 * so on; what is left is searched.  Private to the layout room.
 */
#ifndef CALM_LAYOUT_LAYOUT_DISJUNCTIONS_H
#define CALM_LAYOUT_LAYOUT_DISJUNCTIONS_H

#include "base/limits.h"
#include "layout/layout_distances.h"

typedef enum layout_answer {
  LAYOUT_NO,     /* there is none */
  LAYOUT_YES,    /* offsets are one */
  LAYOUT_UNKNOWN /* the limits, or `most_nodes`, were spent before */
} layout_answer;

typedef struct layout_disjunctions layout_disjunctions;

/* In the arena, but for what layout_disjunctions_free frees. */
calm_status layout_disjunctions_new(layout_disjunctions **out,
                                    const layout_distances *d, arena *a);

void layout_disjunctions_free(layout_disjunctions *s);

/* `offsets`, per body, are filled in with YES only; most_nodes 0: no choice is
   made that is not forced, so that the answer is NO or, perhaps, YES. */
calm_status layout_disjunctions_ask(layout_answer *out, layout_disjunctions *s,
                                    uint64_t *offsets, uint64_t arena_bytes,
                                    uint64_t most_nodes, limits *l);

/* Of all questions so far. */
uint64_t layout_disjunctions_nodes(const layout_disjunctions *s);

#endif
