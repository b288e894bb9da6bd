/*
 * Off-chip traffic of the orders of a graph, as plans and inspections show it:
 * what the options ask for, the traffic problem of the graph, and orders that
 * are added one by one.  Whatever is added was judged by traffic_check.
 */
#ifndef CALM_PIPELINE_TRAFFIC_H
#define CALM_PIPELINE_TRAFFIC_H

#include "pipeline.h"

/* What was asked for.  Everything below is taken from the arena, that of the
   plan or the inspection. */
typedef struct pipeline_traffic {
  traffic_memory *memories; /* as --onchip lists them */
  uint32_t count;           /* 0: nothing was asked for */
  unsigned counted;         /* OFFCHIP_* */
  plan_traffic_problem *problem;
  arena *a;
} pipeline_traffic;

/* Read --onchip, --page-size and --offchip; CALM_MISUSE, with what would be
   right, where they make no sense. */
calm_status pipeline_traffic_ask(pipeline_traffic *out,
                                 const calm_options *options, arena *a);

/* Build the problem, under memory_traffic_model.  `named` is the graph that
   reports speak of, the same as `g` but for workspaces. */
calm_status pipeline_traffic_build(pipeline_traffic *t, const graph *g,
                                   const graph *named,
                                   const memory_model *memory,
                                   const uint64_t *body_arenas);

/* From a sequence of graph operators to one of the problem; steps (may be NULL)
   gets where each of these stands in it. */
calm_status pipeline_traffic_fold(uint32_t **out, uint32_t **steps,
                                  const pipeline_traffic *t,
                                  const op_id *sequence, arena *a);

/* A row for each memory, number `which` of out->orders: the order `name`, and
   what it moves by Belady's rule. */
calm_status pipeline_traffic_add(plan_traffics *out, const pipeline_traffic *t,
                                 uint32_t which, const char *name,
                                 const op_id *sequence);

/* Room for the rows of so many orders. */
calm_status pipeline_traffic_open(plan_traffics *out, const pipeline_traffic *t,
                                  uint32_t orders);

/* CALM_INTERNAL if a row does not hold. */
calm_status pipeline_traffic_check(const plan_traffic *row, arena *a);

#endif
