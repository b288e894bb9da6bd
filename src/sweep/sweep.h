/*
 * Many layers on many accelerators: a sweep is a file of YAML that names
 * layers, machines with ranges of values, mappers and objectives, and a
 * database of what came of each of their points.  A point whose key (a hash of
 * all that its answer depends on) has a result is never run again.
 *
 *   sweep_read.c     the file; sweep_values.c its ranges, sweep_layers.c the
 *                    layers of models and problem files
 *   sweep_points.c   the product of it all
 *   sweep_task.c     a point as a text that can be solved anywhere
 *   sweep_solve.c    such a text solved, the answer as a text
 *   sweep_store.c    the database (SQLite)
 *   sweep_run.c      all open points, in processes of their own
 *   sweep_designs.c  sums over the layers of a machine, and Pareto fronts
 *   sweep_json.c, sweep_csv.c, sweep_table.c   what is shown
 *
 * Everything lies in the arena of the sweep.
 */
#ifndef CALM_SWEEP_SWEEP_H
#define CALM_SWEEP_SWEEP_H

#include <jansson.h>
#include <sqlite3.h>

#include "accel/accel_layer.h"
#include "base/options.h"

/* A file with its bytes. */
typedef struct sweep_file {
  const char *name, *bytes;
} sweep_file;

/* What one of a machine's values goes through: "GlobalBuffer.entries". */
typedef struct sweep_parameter {
  const char *name;
  const char **values;
  uint32_t count;
} sweep_parameter;

typedef struct sweep_machine {
  const char *name;
  sweep_file *parts, *constraints;
  uint32_t part_count, constraint_count;
  sweep_file ert; /* no name: there is none */
  sweep_parameter *parameters;
  uint32_t parameter_count;
} sweep_machine;

/* Equal layers of a model are one, with their count. */
typedef struct sweep_layer {
  const char *source; /* the model or the problem file */
  const char *name, *problem;
  uint64_t count;
} sweep_layer;

typedef struct sweep_option {
  const char *name, *value;
} sweep_option;

typedef enum sweep_status {
  SWEEP_OPTIMAL, /* the first four as in calm_outcome */
  SWEEP_FEASIBLE,
  SWEEP_INFEASIBLE,
  SWEEP_LIMIT,
  SWEEP_FAILED,
  SWEEP_OPEN
} sweep_status;

typedef struct sweep_result {
  sweep_status status;
  const char *reason;  /* NULL: none */
  const char *mapping; /* the nest; NULL: there is none */
  double value, bound; /* of the objective */
  uint64_t cycles;
  double energy_pj, edp;
} sweep_result;

typedef struct sweep_key {
  char digits[33];
} sweep_key;

/* A machine with one value of each parameter, and how it is mapped. */
typedef struct sweep_design {
  uint32_t machine;
  const char **values; /* per parameter of the machine */
  const char *mapper, *objective;
  /* Over all layers that have a nest, times their counts. */
  uint64_t cycles;
  double energy_pj, edp;
  uint32_t points, done, failed; /* done: answered, with a nest or without */
  bool complete;                 /* each layer has a nest */
  bool pareto; /* complete, and no other of its kind is less in both */
} sweep_design;

typedef struct sweep_point {
  uint32_t design, layer;
  sweep_key key;
  uint32_t twin; /* the first point of the same key: itself, or an earlier */
  uint32_t next; /* the next one of that key; CALM_NONE: it is the last */
  sweep_result result;
  bool pareto; /* no design has less cycles and energy for this layer */
} sweep_point;

struct calm_sweep {
  calm_context *context;
  arena arena;
  const char *name, *path;
  sweep_machine *machines;
  sweep_layer *layers;
  sweep_option *options; /* of every point */
  const char **mappers, **objectives;
  sweep_design *designs;
  sweep_point *points; /* a design's are together, in the order of layers */
  uint32_t machine_count, layer_count, option_count, mapper_count,
      objective_count, design_count, point_count;
  sqlite3 *database;
  const char *database_path;
  uint32_t jobs;
};

/* The words of a status: "optimal", ..., "failed", "open". */
const char *sweep_status_name(sweep_status status);
bool sweep_status_find(sweep_status *out, const char *word); /* not "open" */
bool sweep_status_has_nest(sweep_status status);

/* A copy in the arena; NULL of NULL. */
calm_status sweep_keep(const char **out, const char *words, arena *a);

/* {NAME: value} of a design's parameters. */
json_t *sweep_parameters_json(const calm_sweep *s, const sweep_design *d,
                              arena *scratch);

/* ---- Reading ------------------------------------------------------------- */

/* The file at sweep->path: name, machines, layers, mappers, objectives. */
calm_status sweep_read(calm_sweep *s);

/* A list, a single value, or {from, to, plus|times}, as texts. */
calm_status sweep_values_read(sweep_parameter *out, const accel_yaml *node,
                              const char *name, arena *a);

/* The layers of a model, or of a file of one layer, behind those that are
   there; `source` is the path as the sweep spells it. */
calm_status sweep_layers_add_model(calm_sweep *s, const char *source,
                                   const char *path,
                                   const calm_options *options);
calm_status sweep_layers_add_problem(calm_sweep *s, const char *source,
                                     const char *path);

/* Fills designs and points, all open. */
calm_status sweep_points_make(calm_sweep *s);

/* ---- One point ----------------------------------------------------------- */

/* All that the answer depends on, and the names for messages. */
calm_status sweep_task_write(char **out, const calm_sweep *s, uint32_t point);

/* A result as text, and back into an arena: CALM_BAD_INPUT if it is none. */
calm_status sweep_result_write(char **out, const sweep_result *r,
                               calm_context *context);
calm_status sweep_result_read(sweep_result *out, const char *text, arena *a);

/* ---- The database -------------------------------------------------------- */

/* Opens or makes it, writes the points, reads the results that there are. */
calm_status sweep_store_open(calm_sweep *s, const char *path);
void sweep_store_close(calm_sweep *s);

/* The result of a point and of its twins. */
calm_status sweep_store_put(calm_sweep *s, uint32_t point,
                            const sweep_result *r);

/* Forget those that failed. */
calm_status sweep_store_retry(calm_sweep *s);

/* ---- What is shown ------------------------------------------------------- */

/* Sums and fronts, of the results that there are. */
calm_status sweep_designs_sum(calm_sweep *s);

calm_status sweep_json(char **out, const calm_sweep *s);
calm_status sweep_csv(char **out, const calm_sweep *s);
calm_status sweep_table(char **out, const calm_sweep *s, bool color);

#endif
