/*
 * Maximum flow in a network whose sources and sinks change from call to call
 * (Dinic, 1970: along shortest paths, a distance at a time).  No recursion; all
 * memory comes from the arena it was made in.
 */
#ifndef CALM_ORDER_FLOW_H
#define CALM_ORDER_FLOW_H

#include "base/arena.h"

#define ORDER_FLOW_UNBOUNDED (UINT64_C(1) << 62)

typedef enum order_flow_side {
  FLOW_INNER,
  FLOW_SOURCE,
  FLOW_SINK
} order_flow_side;

typedef struct order_flow {
  uint32_t node_count, pair_count;
  uint32_t *begin;         /* per node: its arcs, once finished */
  uint32_t *head;          /* per arc: where it goes */
  uint32_t *twin;          /* per arc: the way back */
  uint32_t *arc_of;        /* per pair: its forward arc */
  uint64_t *capacity;      /* per arc; the caller may change it */
  uint32_t *tails, *heads; /* per pair, as added */
  uint64_t *bounds;
  uint64_t *residual; /* per arc: what a run has left of it */
  uint32_t *distance, *next, *queue, *path;
  uint8_t *side;  /* per node, set by the caller: its side */
  uint64_t ticks; /* arcs looked at */
} order_flow;

/* A network without arcs; at most `pair_limit` are added. */
calm_status order_flow_init(order_flow *f, uint32_t node_count,
                            uint32_t pair_limit, arena *a);

void order_flow_add(order_flow *f, uint32_t from, uint32_t to, uint64_t bound);

/* No more arcs; the network can now be used. */
calm_status order_flow_finish(order_flow *f, arena *a);

/* The value of a maximum flow, or anything at least `enough` once it is known
   to be that large. */
uint64_t order_flow_run(order_flow *f, uint64_t enough);

#endif
