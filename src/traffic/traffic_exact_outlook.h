/*
 * The cost to come if bytes were all alike: of a state it is only known how
 * many bytes are off chip and how many are clean, and whenever something is
 * touched, it is what is on chip, and whenever something goes, what is clean.
 * That is less than the truth, and can be tabulated for all sets of operators,
 * if these are few: unlike the points of traffic_exact_bound.h it sees what
 * every order does to the room, step by step.
 *
 * An operator u after a set: `beside` are the live bytes it does not touch, and
 * `least` have to be off chip then.  Of `out` bytes min(out, beside) are still
 * out, and what lacks goes.  All that is out is clean; what lacks of clean ones
 * is written:
 *
 *     kept out  o = min(out, beside)    cost  max(0, least - o)
 *     clean     c = min(clean, beside)        + max(0, least - c)
 *
 * Both are rounded up to a grid, since more of either never costs more.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_EXACT_OUTLOOK_H
#define CALM_TRAFFIC_TRAFFIC_EXACT_OUTLOOK_H

#include "base/vector.h"
#include "traffic/traffic_exact_state.h"

typedef struct traffic_outlook {
  calm_context *context;
  const traffic_core *core;
  uint64_t unit; /* divides all sizes; costs are stored in it */
  uint64_t step; /* of the grid, in bytes */
  uint32_t levels;
  VECTOR(uint64_t) sets; /* of operators, by size */
  uint32_t count;
  uint32_t *slots; /* set + 1, 0: free */
  uint32_t slot_capacity;
  uint32_t *values; /* per set, per clean level, per out level */
  size_t value_count;
} traffic_outlook;

/* Tabulate; *out_ready is false if there are too many sets, or a limit was hit.
   To be freed in either case, but not after a failure. */
calm_status traffic_outlook_build(bool *out_ready, traffic_outlook *out,
                                  const traffic_core *core,
                                  calm_context *context, limits *l);
void traffic_outlook_free(traffic_outlook *o);
uint64_t traffic_outlook_bytes(const traffic_outlook *o);

/* Bytes to come behind a state, without those of oversize buffers. */
uint64_t traffic_outlook_of(const traffic_outlook *o, const traffic_sets *sets);

#endif
