/*
 * The words that cross the boundary below one level, before anybody looks at
 * what is bypassed, as a replay finds them: the way for links and for imperfect
 * nests, where no closed form (cost_stream.h) is known.  It allocates from the
 * caller's scratch and takes microseconds to a fraction of a second.
 */
#ifndef CALM_COST_COST_REPLAY_H
#define CALM_COST_COST_REPLAY_H

#include "cost/cost.h"

/*
 * One tensor between one level and what lies below it, as if every level kept
 * every tensor: the words that leave the level, by pattern of delivery.
 */
typedef struct cost_stream {
  cost_group *groups; /* ascending by (multicast, scatter) */
  uint32_t group_count, group_capacity;
  double links;       /* words that neighbours hand on instead */
  uint64_t fanout;    /* instances served; 1 without spatial loops */
  cost_excess excess; /* if not COST_VALID, why cost_replay gave up */
} cost_stream;

/* How iterations are visited: each one, or the first two of every loop with the
   second standing for all others (Timeloop's extrapolation). */
typedef enum cost_visits { COST_VISIT_ALL, COST_VISIT_TWO } cost_visits;

/* Steps that all replays of a nest together may take: a second or so. */
enum { COST_REPLAY_STEPS = 1 << 26 };

/* What is asked for: one tensor below one level. */
typedef struct cost_question {
  const cost_problem *problem;
  const accel_nest *nest;
  uint32_t tensor, level;
  cost_visits visits;
  bool links;      /* may neighbours hand words on? */
  uint64_t *steps; /* how many may be walked, less those that were; NULL:
                      COST_REPLAY_STEPS */
} cost_question;

/*
 * The stream by replaying Timeloop's state machine over the visited iterations
 * (memoised on the state relative to the current tile).  `computes` (for the
 * innermost level of an imperfect nest; NULL: not wanted) are the operations
 * per multiplier that the replay counted.  out->groups has room for
 * out->group_capacity groups on entry and may be replaced by a larger array
 * from the arena `a`, which is the caller's scratch.  A nest with more to walk
 * than question->steps, or with a fan-out beyond all sense, leaves no groups
 * and out->excess.
 */
calm_status cost_replay(cost_stream *out, double *computes,
                        const cost_question *question, arena *a);

#endif
