/*
 * The search over orders and what stays, joined: states (traffic_exact_state.h)
 * and the steps between them (traffic_exact_expand.h).  It is run in two ways.
 * Best first, it takes the state first that promises least, until that is an
 * end: an optimum; and if it is stopped before, no solution is below what the
 * next state promised.  As a beam, it goes through all numbers of operators
 * that have run and keeps the best states of each: fast, and a proof only if it
 * never left any behind.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_EXACT_H
#define CALM_TRAFFIC_TRAFFIC_EXACT_H

#include "traffic/traffic_exact_bound.h"
#include "traffic/traffic_exact_expand.h"
#include "traffic/traffic_exact_outlook.h"

typedef struct traffic_search {
  const traffic_core *core;
  bool prune; /* by the bound */
  traffic_bound bound;
  bool looks; /* the outlook is there */
  traffic_outlook outlook;
  traffic_expansion expansion;
  traffic_store store;
  uint64_t *start_row;
  VECTOR(uint32_t) open; /* best first: a heap; beam: one layer */

  /* What the last run found, if anything. */
  bool found;
  uint64_t cost;
  uint32_t *sequence;
  uint64_t *out;  /* per step, the buffers that are off chip before it */
  uint64_t least; /* of the last run: every solution below its ceiling costs at
                     least this */
} traffic_search;

typedef enum traffic_verdict {
  TRAFFIC_REACHED,   /* found one below the ceiling, the best there is */
  TRAFFIC_IMPROVED,  /* found one below the ceiling (beam) */
  TRAFFIC_DEAD,      /* there is none below the ceiling */
  TRAFFIC_TRUNCATED, /* found none, but left states behind (beam) */
  TRAFFIC_STOPPED    /* a limit was hit */
} traffic_verdict;

/* The core is closed, and borrowed. */
calm_status traffic_search_init(traffic_search *out, const traffic_core *core,
                                const traffic_options *options, arena *a);
void traffic_search_free(traffic_search *s);
uint64_t traffic_search_bytes(const traffic_search *s);

/* Tabulate the outlook, if that is not too much. */
calm_status traffic_search_look(traffic_search *s, limits *l);

/* What every solution costs at least. */
uint64_t traffic_search_root(traffic_search *s, limits *l);

/* A solution that costs less than the ceiling. */
calm_status traffic_search_best_first(traffic_verdict *out, traffic_search *s,
                                      uint64_t ceiling, limits *l);
calm_status traffic_search_beam(traffic_verdict *out, traffic_search *s,
                                uint64_t ceiling, uint32_t width, limits *l);

/* For both: a step behind state `id` whose cost the expansion knows, as a state
   that is stored unless it is hopeless; else *out_id is CALM_NONE. */
calm_status traffic_search_follow(uint32_t *out_id, traffic_search *s,
                                  uint32_t id, uint64_t ceiling, limits *l);

/* The state where nothing has run, as the only one. */
calm_status traffic_search_begin(uint32_t *out_id, traffic_search *s,
                                 limits *l);

/* The way to a state where all have run, into sequence, out and cost. */
void traffic_search_trace(traffic_search *s, uint32_t id);

#endif
