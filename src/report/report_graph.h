/*
 * A graph for programs: its operators and tensors by position, so that a page
 * or a script can draw it.
 */
#ifndef CALM_REPORT_REPORT_GRAPH_H
#define CALM_REPORT_REPORT_GRAPH_H

#include "graph/graph.h"
#include "report/report_json.h"

/* {"operators": [{"name", "kind", "index", "inputs", "outputs"}], "tensors":
   [{"name", "index", "type", "shape", "bytes", "role"}]} */
json_t *report_graph_json(arena *scratch, const graph *g);

#endif
