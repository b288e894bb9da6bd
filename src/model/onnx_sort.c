/*
 * The order of the nodes.  A file should list them so that each stands behind
 * those that feed it, but many do not.  The question is the one that graphs
 * answer, so a bare graph of names and edges is put together and asked: it
 * knows the order that is nearest to the file's, and names a cycle.
 */
#include "graph/graph_topology.h"
#include "model/onnx_parts.h"

static calm_status add_values(graph *bare, const onnx_graph *g) {
  for (value_id v = 0; v < g->values.count; v++) {
    graph_tensor tensor = {.name = g->values.data[v].name,
                           .type = ELEMENT_ABSTRACT};
    tensor_id id;
    TRY(graph_add_tensor(&id, bare, &tensor));
  }
  return CALM_OK;
}

/* All that a node reads: its operands, and what its bodies take from here. */
static calm_status list_reads(value_id **out, uint32_t *count, arena *a,
                              const onnx_node *node) {
  *count = node->input_count + node->captured_count;
  ARENA_ARRAY(a, *out, *count);
  for (uint32_t i = 0; i < node->input_count; i++) (*out)[i] = node->inputs[i];
  for (uint32_t i = 0; i < node->captured_count; i++)
    (*out)[node->input_count + i] = node->captured[i];
  return CALM_OK;
}

static calm_status add_nodes(graph *bare, const onnx_graph *g, arena *a) {
  for (uint32_t i = 0; i < g->nodes.count; i++) {
    const onnx_node *node = &g->nodes.data[i];
    graph_op op = {.name = node->label,
                   .kind_name = node->op_type,
                   .kind = OP_OPAQUE,
                   .outputs = node->outputs,
                   .output_count = node->output_count};
    op_id id;
    TRY(list_reads(&op.inputs, &op.input_count, a, node));
    TRY(graph_add_op(&id, bare, &op));
  }
  return CALM_OK;
}

static calm_status order_nodes(graph *bare, onnx_reader *r, onnx_graph *g) {
  TRY(add_values(bare, g));
  TRY(add_nodes(bare, g, bare->arena));
  TRY(topology_build(bare, r->file.path));
  model_warn_about_order(r->model, bare);
  ARENA_ARRAY(&r->scratch, g->order, g->nodes.count);
  for (uint32_t i = 0; i < g->nodes.count; i++) g->order[i] = bare->order[i];
  return CALM_OK;
}

static calm_status sort_graph(onnx_reader *r, onnx_graph *g) {
  arena scratch;
  graph bare;
  arena_init(&scratch, r->context);
  graph_init(&bare, &scratch, g->name);
  calm_status status = order_nodes(&bare, r, g);
  graph_free(&bare);
  arena_free(&scratch);
  return status;
}

calm_status onnx_sort(onnx_reader *r) {
  for (uint32_t i = 0; i < r->graphs.count; i++)
    TRY(sort_graph(r, &r->graphs.data[i]));
  return CALM_OK;
}
