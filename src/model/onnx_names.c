/*
 * Names become ids.  A node sees the values of its own graph, wherever they
 * stand in the file, then those of the graphs around it; so an inner name hides
 * an outer one.  A value that comes from further out is handed in through each
 * graph on the way, and the node that runs such a graph reads it as if it were
 * listed among its inputs:
 *
 *     entry      x --------------.        node If reads x as well
 *       If       x (OUTER) ---.  |
 *         Loop   x (OUTER) <--'<-'
 */
#include <inttypes.h>
#include <string.h>

#include "model/onnx_parts.h"

/* A value of the graph that stands for one of the graph around it. */
static calm_status hand_in(value_id *out, onnx_reader *r, uint32_t graph,
                           value_id outer) {
  onnx_graph *g = &r->graphs.data[graph];
  onnx_value value = r->graphs.data[g->parent].values.data[outer];
  value.flags = ONNX_VALUE_OUTER | (value.flags & ONNX_VALUE_OPAQUE);
  value.outer = outer;
  value.producer = CALM_NONE;
  value_id id = g->values.count;
  TRY(name_table_add(&g->names, value.name, id));
  VECTOR_PUSH(r->context, &g->values, value);
  *out = id;
  return CALM_OK;
}

/* CALM_NONE, which is no failure, if no graph has the name. */
static calm_status resolve(value_id *out, onnx_reader *r, uint32_t graph,
                           const char *name) {
  uint32_t way[ONNX_MAX_DEPTH + 1], steps = 0;
  value_id id = CALM_NONE;
  for (uint32_t at = graph; at != CALM_NONE; at = r->graphs.data[at].parent) {
    id = name_table_find(&r->graphs.data[at].names, name);
    if (id != CALM_NONE) break;
    way[steps++] = at;
  }
  while (id != CALM_NONE && steps) TRY(hand_in(&id, r, way[--steps], id));
  *out = id;
  return CALM_OK;
}

static calm_status bind_inputs(onnx_reader *r, uint32_t graph, uint32_t index) {
  onnx_node *node = &r->graphs.data[graph].nodes.data[index];
  for (uint32_t i = 0; i < node->input_count; i++) {
    const char *name = node->input_names[i];
    node->inputs[i] = CALM_NONE;
    if (!*name) continue;
    TRY(resolve(&node->inputs[i], r, graph, name));
    if (node->inputs[i] == CALM_NONE)
      return onnx_fail(r, graph, node->position,
                       "node '%s' reads '%s', which is no input, no "
                       "initializer, and written by no node",
                       node->label, name);
  }
  return CALM_OK;
}

static calm_status bind_outputs(onnx_reader *r, uint32_t graph) {
  onnx_graph *g = &r->graphs.data[graph];
  for (uint32_t i = 0; i < g->output_count; i++) {
    TRY(resolve(&g->outputs[i], r, graph, g->output_names[i]));
    if (g->outputs[i] == CALM_NONE)
      return onnx_fail(r, graph, g->span.begin,
                       "output '%s' is no input, no initializer, and written "
                       "by no node",
                       g->output_names[i]);
    g->values.data[g->outputs[i]].flags |= ONNX_VALUE_OUTPUT;
  }
  return CALM_OK;
}

/* ---- What bodies read from outside --------------------------------------- */

static void count_captured(onnx_reader *r, uint32_t graph) {
  const onnx_graph *body = &r->graphs.data[graph];
  onnx_node *node = &r->graphs.data[body->parent].nodes.data[body->node];
  for (value_id v = 0; v < body->values.count; v++)
    node->captured_count += (body->values.data[v].flags & ONNX_VALUE_OUTER) > 0;
}

static calm_status reserve_captured(onnx_reader *r, uint32_t graph) {
  onnx_graph *g = &r->graphs.data[graph];
  for (uint32_t i = 0; i < g->nodes.count; i++) {
    onnx_node *node = &g->nodes.data[i];
    ARENA_ARRAY(&r->scratch, node->captured, node->captured_count);
    node->captured_count = 0;
  }
  return CALM_OK;
}

static void list_captured(onnx_reader *r, uint32_t graph) {
  const onnx_graph *body = &r->graphs.data[graph];
  onnx_node *node = &r->graphs.data[body->parent].nodes.data[body->node];
  for (value_id v = 0; v < body->values.count; v++)
    if (body->values.data[v].flags & ONNX_VALUE_OUTER)
      node->captured[node->captured_count++] = body->values.data[v].outer;
}

calm_status onnx_bind(onnx_reader *r) {
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    for (uint32_t n = 0; n < r->graphs.data[i].nodes.count; n++)
      TRY(bind_inputs(r, i, n));
    TRY(bind_outputs(r, i));
  }
  for (uint32_t i = 1; i < r->graphs.count; i++) count_captured(r, i);
  for (uint32_t i = 0; i < r->graphs.count; i++) TRY(reserve_captured(r, i));
  for (uint32_t i = 1; i < r->graphs.count; i++) list_captured(r, i);
  return CALM_OK;
}
