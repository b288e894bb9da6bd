/*
 * The graph of a document (its "operators" and "tensors") as arrays, and parts
 * of it: operators that were chosen, with the tensors between them.
 */
#ifndef CALM_REPORT_REPORT_REGION_H
#define CALM_REPORT_REPORT_REGION_H

#include "base/hash.h"
#include "report/report_json.h"

/* Who touches what; whatever a document says, all ids are in range. */
typedef struct region_graph {
  const char **names; /* of operators */
  uint32_t op_count, tensor_count;
  uint32_t *input_begin, *inputs;   /* of operator i: input_begin[i] to [i+1] */
  uint32_t *output_begin, *outputs; /* likewise */
  uint32_t *producer;               /* of tensors; CALM_NONE */
  uint32_t *reader_begin, *readers; /* of tensor t */
  const bool *hidden;               /* constants, which are not drawn */
  name_table ops;                   /* by name */
} region_graph;

/* False in *found if the document has no such graph. */
calm_status region_graph_read(region_graph *out, bool *found,
                              const json_t *holder, arena *a);
void region_graph_free(region_graph *g);

/* Chosen operators, in the order in which they were added. */
typedef struct region {
  const region_graph *graph;
  bool *inside, *focus; /* per operator */
  uint32_t *ops, count, most;
} region;

calm_status region_begin(region *out, const region_graph *g, uint32_t most,
                         arena *a);

/* False once it is full, or if it is there already. */
bool region_add(region *r, uint32_t op, bool focus);

/* Neighbours of what is inside, in rings, `rings` times or until it is full. */
void region_grow(region *r, uint32_t rings);

#endif
