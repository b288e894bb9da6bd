/*
 * The parts of a report on mapped layers: what was found for each, what a nest
 * has to carry and what holds it back, as tables, JSON and CSV.  The nest of a
 * layer is shown as an evaluation of it is (report_eval.h).
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

/* Has the objective one value, and a nest that has it? */
bool report_map_has_value(const calm_mapping *m, const map_layer *l);

/* A mapped layer as an evaluation of its nest.  It borrows from both and is not
   to be freed. */
void report_map_evaluation(calm_evaluation *out, const calm_mapping *m,
                           const map_layer *l);

/* ---- What a nest carries ------------------------------------------------- */

/* A tensor at a level that keeps it.  Words are reads, fills and updates of all
   instances together. */
typedef struct map_load {
  uint32_t level, tensor;
  double least;   /* any nest that keeps it there has them, but for rounding */
  double carried; /* this one has */
  bool full; /* its tile cannot be made larger, by any loop outside of it that
                moves it: the level is too small for that */
  bool slow; /* the bandwidth of the level decides how long the layer takes */
} map_load;

typedef struct map_loads {
  map_load *data;
  uint32_t count;
} map_loads;

/* Of a valid nest, levels outermost first. */
calm_status report_map_loads(map_loads *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch);

/* Words of a tensor that the loops look at: no more than there are, and all of
   them if no rank sums more than two dimensions that move it and no dimension
   moves two ranks. */
uint64_t report_map_used_words(const accel_layer *layer, uint32_t tensor);

/* ---- Words --------------------------------------------------------------- */

/* "exact": the chosen one among the values of an option. */
void report_map_choice(text *out, const char *option, uint32_t choice);

/* "1 layer", "1,234 layers" */
void report_map_count(text *out, uint64_t n, const char *singular);

/* "mapper exact, objective edp" */
void report_map_mapper(text *out, const calm_mapping *m);

/* ---- Parts --------------------------------------------------------------- */

/* By which mapper, what became of the layer, and why it is no more. */
calm_status report_map_outcome(text *out, const calm_mapping *m,
                               const map_layer *l, bool color);

/* The others begin with an empty line. */

/* What each level has to carry at least, carries, and is held back by. */
calm_status report_map_explain(text *out, const eval_view *v, arena *scratch);

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
