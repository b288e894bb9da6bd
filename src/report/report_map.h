/*
 * The parts of a report on mapped layers: what was found for each, and how, as
 * tables, JSON and CSV.  The nest of a layer is shown as an evaluation of it is
 * (report_eval.h); report_map_explain.h says why it costs what it costs.
 */
#ifndef CALM_REPORT_REPORT_MAP_H
#define CALM_REPORT_REPORT_MAP_H

#include "map.h"
#include "report/report_eval.h"

/* ---- A layer ------------------------------------------------------------- */

/* What its nest is of: the layer as given, or padded. */
static inline const accel_layer *report_map_layer(const map_layer *l) {
  return l->result.padded ? l->result.padded : &l->layer;
}

/* "optimal", "feasible", "infeasible", "limit", or "failed". */
const char *report_map_status(const map_layer *l);

/* How much of the value may be saved at most, 0 to 1; negative where no bound
   is known, there is no nest, or there is no single value (PARETO). */
double report_map_gap(const calm_mapping *m, const map_layer *l);

/* What all that is mapped needs at least, pJ or cycles: the sum of the layers'
   bounds, each as often as the network has it.  False where one is not known,
   or the objective is no sum. */
bool report_map_total_bound(double *out, const calm_mapping *m);

/* Has the objective one value, and a nest that has it? */
bool report_map_has_value(const calm_mapping *m, const map_layer *l);

/* Multiply-accumulates of all that is mapped over what all multipliers could do
   in its cycles. */
static inline double report_map_utilization(const calm_mapping *m) {
  const double most =
      (double)m->arch.compute.instances * (double)m->total_cycles;
  return most > 0 ? (double)m->total_macs / most : 0;
}

/* A layer as an evaluation, which is valid if it has a nest.  It borrows from
   both and is not to be freed. */
void report_map_evaluation(calm_evaluation *out, const calm_mapping *m,
                           const map_layer *l);

/* ---- Words --------------------------------------------------------------- */

/* "exact": the chosen one among the values of an option. */
void report_map_choice(text *out, const char *option, uint32_t choice);

/* "1 layer", "1,234 layers" */
void report_map_count(text *out, uint64_t n, const char *singular);

/* "3x3 56x56 64->64 s2": filter, outputs, channels of a group, and what is not
   usual: s stride, d dilation, g groups, n batch.  Of no convolution its
   dimensions, "M512 K64". */
void report_map_shape(text *out, const accel_layer *layer);

/* "mapper exact, objective edp" */
void report_map_mapper(text *out, const calm_mapping *m);

/* ---- Parts --------------------------------------------------------------- */

/* By which mapper, what became of the layer, and why it is no more. */
calm_status report_map_outcome(text *out, const calm_mapping *m,
                               const map_layer *l, bool color);

/* The others begin with an empty line. */

/* Of objective PARETO: the nests that nothing beats, a line each and drawn; of
   many, some, unless `complete`. */
calm_status report_map_front(text *out, const calm_mapping *m,
                             const map_layer *l, bool complete, bool color);

/* The layers, a line each, and below them why some have no nest or no proof,
   and what is no layer at all: of that a few examples, unless `complete`. */
calm_status report_map_layers(text *out, const calm_mapping *m, bool complete,
                              bool color);

/* ---- For programs -------------------------------------------------------- */

/* calm/map/1 */
json_t *report_map_json(arena *scratch, const calm_mapping *m);

/* A line of titles, and one per layer. */
calm_status report_map_csv(text *out, const calm_mapping *m, arena *scratch);

#endif
