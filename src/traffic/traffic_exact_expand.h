/*
 * The steps that lead on from a state: an operator that is ready, and what goes
 * off chip for it.  Nothing goes before there is no room, and never more than
 * has to: of all sets that make enough room only those are tried that have no
 * smaller one inside, since whatever could go may still go later.
 *
 * An operator that fits makes its room before it runs, and what it touches
 * stays.  One that streams makes it afterwards, out of all that is needed
 * again.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_EXACT_EXPAND_H
#define CALM_TRAFFIC_TRAFFIC_EXACT_EXPAND_H

#include "traffic/traffic_exact_state.h"

typedef struct traffic_expansion {
  const traffic_core *core;
  bool exchange;
  bool commit;        /* may a step that only helps be taken alone? */
  uint32_t most_sets; /* tried per operator, then `cut` is set; the caller's */
  bool cut;

  uint64_t *unlockers; /* operators that let another one fit that streams */
  uint64_t *from_row, *to_row, *live_row;
  traffic_sets from, to; /* the state, and where the step leads */
  uint64_t cost;         /* there */
  uint32_t op;           /* which ran */
  uint64_t from_cost, ceiling;
  uint64_t ticks;

  /* Sets of candidates, largest first: those on the stack, and where to go on.
   */
  uint32_t *candidates, *stack;
  uint64_t *firsts; /* per candidate, candidates that go before it does */
  uint64_t *candidate_cost, *rest; /* rest: bytes from a candidate on */
  uint32_t candidate_count, depth, at, sets;
  uint64_t excess, chosen, chosen_cost, chosen_set;
  bool streams; /* the operator is larger than the memory */
  bool sole;    /* it is the only one tried */
  bool more;    /* there may be another step */
} traffic_expansion;

calm_status traffic_expansion_init(traffic_expansion *out,
                                   const traffic_core *core,
                                   const traffic_options *options, arena *a);

/* Begin with a state; steps whose cost is not below the ceiling are left out.
 */
void traffic_expand(traffic_expansion *e, const traffic_sets *from,
                    uint64_t cost, uint64_t ceiling);

/* The next step: op, to and cost.  False if there is none. */
bool traffic_expand_next(traffic_expansion *e);

#endif
