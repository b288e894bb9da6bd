/*
 * The closed form in the form of a replay, so that both can be compared.
 */
#ifndef CALM_TESTS_COST_CLOSED_STREAM_H
#define CALM_TESTS_COST_CLOSED_STREAM_H

#include <stdlib.h>

#include "cost/cost_stream.h"

/* The stream that is asked for, with its groups in `room`; fan-out 0 if the
   nest is imperfect or wrong.  Links are not looked at. */
static inline cost_stream cost_closed_stream(const cost_question *q,
                                             cost_group *room,
                                             uint32_t capacity) {
  cost_scratch *s = q->problem->scratch;
  cost_flow flow = {.groups = room, .group_capacity = capacity};
  uint32_t wrong;
  double made;
  if (cost_frame_measure(&s->frame, &s->tables, q->nest, &wrong, &made) &&
      s->frame.perfect &&
      !cost_stream_closed(&flow, s, q->tensor, q->level, q->visits))
    abort();
  return (cost_stream){.groups = flow.groups,
                       .group_count = flow.group_count,
                       .group_capacity = capacity,
                       .fanout = flow.fanout};
}

#endif
