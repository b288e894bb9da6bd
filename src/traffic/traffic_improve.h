/*
 * A part of an order, searched again: some operators are loose, and may move to
 * wherever they can, between all others, which keep their order.  What stays on
 * chip is chosen anew everywhere.  The loose ones are a run of the order, or
 * drawn from all over it, or one operator with its neighbours in the graph.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_IMPROVE_H
#define CALM_TRAFFIC_TRAFFIC_IMPROVE_H

#include "base/random.h"
#include "traffic/traffic_exact.h"

typedef struct traffic_part {
  arena scratch;
  traffic_core core;
  traffic_search search; /* what it found is in there */
} traffic_part;

/* The whole core is borrowed; the part has to be freed in any case but a
   failure. */
calm_status traffic_part_draw(traffic_part *out, const traffic_core *whole,
                              const uint32_t *sequence, random_state *r,
                              calm_context *context);

/* Look for less than the ceiling. */
calm_status traffic_part_search(traffic_part *p, uint64_t ceiling,
                                uint32_t width, const traffic_options *options,
                                limits *l);
void traffic_part_free(traffic_part *p);

#endif
