/*
 * Files that ONNX Runtime, left alone, runs in a good order: the parts of
 * plan_ort.c.
 */
#ifndef CALM_PLAN_ORT_H
#define CALM_PLAN_ORT_H

#include "plan/planner.h"

/* What there is beside for ONNX Runtime. */
struct plan_ort {
  ort_nodes nodes;
  bool by_default;   /* the runtime is left alone */
  const op_id *file; /* then: the file to be written */
};

/*
 * Find a file whose default order, which becomes p->run and the plan's order,
 * has a low peak.  Starts from the file as it is and from listings of the order
 * `found`, and improves the best by local search until it meets the bound of
 * all orders or the limits end it; without ticks it takes `found` as the file.
 * CALM_UNSUPPORTED if the runtime would break the control edges of the graph
 * whatever file it is given.
 */
calm_status plan_ort_search(planner *p, const op_id *found, limits *l);

#endif
