/*
 * The parts of a report on loop nests: what each level and network did, as
 * tables, bars and JSON.  Levels stand outermost first, as in the files; a mesh
 * of a container (virtual_level) only where it is used.
 */
#ifndef CALM_REPORT_REPORT_EVAL_H
#define CALM_REPORT_REPORT_EVAL_H

#include "eval.h"
#include "report/report_json.h"
#include "report/report_table.h"

/* The levels to be shown, outermost first. */
typedef struct eval_levels {
  uint32_t *ids;
  uint32_t count;
} eval_levels;

calm_status report_eval_levels(eval_levels *out, const calm_evaluation *e,
                               const eval_nest *n, arena *scratch);

/* The name of a level; of the compute array for CALM_NONE. */
const char *report_eval_level_name(const calm_evaluation *e, uint32_t level);

/* What lies below the network of shown level number `i`: its name. */
const char *report_eval_below(const calm_evaluation *e,
                              const eval_levels *levels, uint32_t i);

/* A tensor at a level, and through the network below it. */
static inline const cost_tensor *report_eval_tensor(const cost_result *r,
                                                    uint32_t level,
                                                    uint32_t tensor) {
  return &r->tensors[(size_t)level * r->tensor_count + tensor];
}

static inline const cost_flow *report_eval_flow(const cost_result *r,
                                                uint32_t level,
                                                uint32_t tensor) {
  return &r->flows[(size_t)level * r->tensor_count + tensor];
}

/* Instances that a word reaches on average: 1 where nothing flows. */
double report_eval_multicast(const cost_flow *f);

/* One nest, or two: calm/eval/1, calm/eval-difference/1. */
json_t *report_eval_json(arena *scratch, const calm_evaluation *e);

#endif
