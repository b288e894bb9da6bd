/*
 * The parts of a report on loop nests: what each level and network did, as
 * tables, bars and JSON.  Levels stand outermost first, as in the files; a mesh
 * of a container (virtual_level) only where it is used.
 */
#ifndef CALM_REPORT_REPORT_EVAL_H
#define CALM_REPORT_REPORT_EVAL_H

#include "eval.h"
#include "report/report_json.h"
#include "report/report_quantity.h"
#include "report/report_table.h"

/* Is a level shown for this nest? */
bool report_eval_shows(const calm_evaluation *e, const eval_nest *n,
                       uint32_t level);

/* Those levels, outermost first. */
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

/* "WeightBuffer x 128"; the name alone for one; NULL without memory. */
const char *report_eval_times(arena *scratch, const char *name, uint64_t count);

/* ---- Parts --------------------------------------------------------------- */

/* One nest as it is shown: of a valid one, all of its figures. */
typedef struct eval_view {
  const calm_evaluation *evaluation;
  const eval_nest *nest;
  eval_levels levels;
  report_unit unit; /* of energies in tables */
  bool complete;    /* -v: also what is next to nothing */
  bool color;
} eval_view;

/* Turn a view, of which only `complete` and `color` are set, to a nest. */
calm_status report_eval_look(eval_view *v, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch);

/* Layer, machine and cost model, in two paragraphs. */
calm_status report_eval_subject(text *out, const calm_evaluation *e);

/* Cycles, energy, EDP and utilization of a valid nest, a line each. */
calm_status report_eval_headline(text *out, const eval_view *v);

/* The loops. */
calm_status report_eval_nest(text *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch);

/* All of the parts below, as far as they are wanted. */
calm_status report_eval_figures(text *out, const eval_view *v);

/* Each begins with an empty line. */

/* Accesses and energy of each tensor at each level, leakage where it can be
   seen. */
calm_status report_eval_table(text *out, const eval_view *v);

/* How energy and cycles are shared, as bars. */
calm_status report_eval_bars(text *out, const eval_view *v);

/* The networks that spread words. */
calm_status report_eval_networks(text *out, const eval_view *v);

/* What -v adds: the patterns of delivery; how full and how slow each level is;
   what else is counted of each tensor. */
calm_status report_eval_groups(text *out, const eval_view *v);
calm_status report_eval_capacity(text *out, const eval_view *v);
calm_status report_eval_details(text *out, const eval_view *v);

/* ---- Two nests ----------------------------------------------------------- */

/* What differs at one place: second minus first, over all instances. */
typedef struct eval_change {
  const char *level;
  const char *below;  /* of a network: what it leads to; else NULL */
  const char *tensor; /* NULL: what belongs to no tensor, such as leakage */
  double reads, fills, updates; /* of a network: words into it, 0, 0 */
  double before_pj, after_pj;
} eval_change;

typedef struct eval_changes {
  eval_change *data;
  uint32_t count;
} eval_changes;

/* Every place where something differs, the largest difference first: of energy,
   then of words.  Both nests are valid. */
calm_status report_eval_changes(eval_changes *out, const calm_evaluation *e,
                                arena *scratch);

/* The headline figures side by side, and the changes. */
calm_status report_eval_difference(text *out, const calm_evaluation *e,
                                   bool complete, bool color, arena *scratch);

/* ---- JSON ---------------------------------------------------------------- */

/* One nest, or two: calm/eval/1, calm/eval-difference/1. */
json_t *report_eval_json(arena *scratch, const calm_evaluation *e);

/* {"computes", ..., "edp", "levels", "networks"}: what a nest costs; null and
   empty if it is not valid. */
json_t *report_eval_json_figures(arena *scratch, const calm_evaluation *e,
                                 const eval_nest *n);

#endif
