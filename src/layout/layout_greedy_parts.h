/*
 * First fit between its two files: one order (layout_greedy.c), and several
 * orders at once (layout_greedy_contest.c).
 */
#ifndef CALM_LAYOUT_LAYOUT_GREEDY_PARTS_H
#define CALM_LAYOUT_LAYOUT_GREEDY_PARTS_H

#include <stdatomic.h>

#include "base/vector.h"
#include "layout/layout_greedy.h"
#include "layout/layout_overlap.h"
#include "layout/layout_probe.h"
#include "layout/layout_stack.h"

typedef enum order_kind {
  BY_SIZE_DESCENDING_INDEX,
  BY_SIZE_AND_START,
  BY_SIZE_AND_DURATION,
  BY_AREA,
  BY_DURATION,
  BY_START,
  BY_CONFLICTS,
  BY_CLASS
} order_kind;

/* Classes of size: sizes whose logarithm, plus a phase, is in one step.  Both
   in 1/65536. */
typedef struct order {
  order_kind kind;
  uint32_t step, phase;
} order;

/* What orders look at. */
typedef struct body_facts {
  uint64_t size, duration;
  int64_t start;
  uint64_t conflicts; /* pieces that share a step with its own */
} body_facts;

/* A body's place in an order: first descending, second ascending. */
typedef struct rank {
  uint64_t first, second;
  uint32_t body;
} rank;

/* Offsets between `after` and `before`, both exclusive, are taken. */
typedef struct taken {
  int64_t after, before;
} taken;

/* So high was the arena after so many ticks. */
typedef struct level {
  uint64_t arena_bytes, ticks;
} level;

/* An order that is tried while others are. */
typedef struct attempt {
  _Atomic(uint64_t) to_beat; /* least of what is known of those before */
  VECTOR(level) levels;      /* ascending; in the worker's context */
  uint64_t arena_bytes;      /* if finished */
  uint64_t ticks;
  uint32_t worker;
  bool finished;
  limits_reason reason; /* of a stop, if not */
} attempt;

typedef struct greedy {
  const layout_problem *p;
  limits *l;
  body_facts *facts;
  rank *order;
  uint32_t movable; /* bodies in `order` */
  taken *taken;     /* scratch of one body */
  uint32_t taken_capacity;
  layout_overlap placed; /* pieces that have a place */
  layout_probes probes;
  bool wide; /* bodies may meet very many others */
  layout_stack stack;
  uint64_t *offsets;
  layout_placement best;
  struct attempt *attempt; /* among others at once; NULL: alone */
} greedy;

/* Orders that are tried after the one by size; those that may be tried at once:
   not the first, the best of all as a rule.  While nothing good is known, each
   of the others would go on for long. */
enum { LAYOUT_GREEDY_ORDERS = 35, LAYOUT_GREEDY_REST = 34 };

/* Scratch of one order at a time from `scratch`, room for the best offsets from
   `results`.  To be freed even after a failure. */
calm_status layout_greedy_prepare(greedy *g, const layout_problem *p,
                                  arena *scratch, arena *results, limits *l);
void layout_greedy_free(greedy *g, arena *scratch);

/* Bodies in this order to g->order. */
void layout_greedy_sort(greedy *g, const order *o);

/* *out: the arena that this order needs, or `cutoff` once it is not less, or
   time is up and another order has been finished. */
calm_status layout_greedy_place(greedy *g, uint64_t *out, uint64_t cutoff);

/* Try an order; g->best if it is better. */
calm_status layout_greedy_try(greedy *g, order o);

/* Try the LAYOUT_GREEDY_REST orders in so many threads until an arena of
   `enough` bytes is found: g->best and ticks are those of one after the other.
   No limit has been hit before. */
calm_status layout_greedy_contest(greedy *g, const order *orders,
                                  uint64_t enough, uint32_t threads,
                                  arena *scratch);

#endif
