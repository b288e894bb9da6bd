/*
 * Colours for Model Explorer: the bytes alive while an operator runs, as node
 * data, from pale to red, or by --budget.
 *
 * What a key may be: the number of a node, or the name of a tensor that it
 * computes.  A .tflite operator goes by the name of its first output that is
 * the file's own and no other tensor's, so that the file fits the model that
 * was read and the one that calm writes; else by its number in the file.  An
 * .onnx node goes by its name; those without one are "node", "node_1", ... in
 * the order of the file there.
 *
 * Node data of a model with one graph are for whatever graph is open.  Else
 * they say of which: by the name of the graph, which is "main" if it has none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/report_emit.h"
#include "report/report_name.h"

typedef struct explorer {
  const calm_plan *plan;
  arena *scratch;
  name_table repeated;     /* names that several tensors have in the file */
  const char **node_names; /* per operator of an .onnx file */
  json_t *results;
} explorer;

/* ---- Tensors of a .tflite file ------------------------------------------- */

/* The reader gives "t7" to tensor 7 without a name, and puts "#7" behind the
   name of tensor 7 if that is taken: the length without that end, 0 if the name
   is the file's own. */
static size_t length_before_number(const graph_tensor *tensor) {
  char end[16];
  const size_t length = strlen(tensor->name);
  const int digits = snprintf(end, sizeof end, "#%" PRIu32, tensor->file_index);
  const size_t size = (size_t)digits;
  if (length <= size || strcmp(tensor->name + length - size, end)) return 0;
  return length - size;
}

static bool has_no_name(const graph_tensor *tensor) {
  char made[16];
  snprintf(made, sizeof made, "t%" PRIu32, tensor->file_index);
  return !strcmp(tensor->name, made);
}

static calm_status find_repeated(explorer *e) {
  const graph *g = e->plan->graph;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const size_t length = length_before_number(&g->tensors.data[t]);
    if (length == 0) continue;
    const char *name =
        arena_string(e->scratch, g->tensors.data[t].name, length);
    if (!name) return context_no_memory(e->scratch->context);
    if (name_table_find(&e->repeated, name) == CALM_NONE)
      TRY(name_table_add(&e->repeated, name, t));
  }
  return CALM_OK;
}

/* Is it the only tensor with that name, which JSON can hold as it is? */
static bool names_one(const explorer *e, const graph_tensor *tensor) {
  if (has_no_name(tensor) || length_before_number(tensor)) return false;
  if (name_table_find(&e->repeated, tensor->name) != CALM_NONE) return false;
  const char *shown =
      report_name_escaped(e->scratch, tensor->name, ESCAPE_INVALID);
  return shown && !strcmp(shown, tensor->name);
}

/* ---- Results ------------------------------------------------------------- */

static void add_result(explorer *e, const char *key, uint64_t bytes) {
  const char *valid = report_name_escaped(e->scratch, key, ESCAPE_INVALID);
  json_t *value = json_pack("{s:o}", "value", report_json_number(bytes));
  if (valid)
    e->results = report_json_member(e->results, valid, value);
  else
    json_decref(value);
}

static void add_tflite(explorer *e, const graph_op *op, uint64_t bytes) {
  char number[16];
  for (uint32_t i = 0; i < op->output_count; i++) {
    if (op->outputs[i] == CALM_NONE) continue;
    const graph_tensor *tensor = &e->plan->graph->tensors.data[op->outputs[i]];
    if (!names_one(e, tensor)) continue;
    add_result(e, tensor->name, bytes);
    return;
  }
  snprintf(number, sizeof number, "%" PRIu32, op->file_index);
  add_result(e, number, bytes);
}

/* "12_Conv" may be the node's own name, or the reader made it up. */
static bool may_be_made_up(const graph_op *op) {
  char made[16];
  const int length =
      snprintf(made, sizeof made, "%" PRIu32 "_", op->file_index);
  return !strncmp(op->name, made, (size_t)length);
}

/* The next of "node", "node_1", ... that no node so far has as its name. */
static calm_status next_node_name(const char **out, uint32_t *number,
                                  name_table *used, arena *a) {
  char name[24] = "node";
  while (name_table_find(used, name) != CALM_NONE)
    snprintf(name, sizeof name, "node_%" PRIu32, ++*number);
  *out = arena_string(a, name, strlen(name));
  if (!*out) return context_no_memory(a->context);
  return name_table_add(used, *out, 0);
}

/* What stands for nodes without a name; NULL for the others. */
static calm_status name_nodes(explorer *e, name_table *used) {
  const graph *g = e->plan->graph;
  uint32_t number = 0;
  ARENA_ARRAY(e->scratch, e->node_names, g->ops.count);
  for (op_id op = 0; op < g->ops.count; op++) {
    const char *own = g->ops.data[op].name;
    if (may_be_made_up(&g->ops.data[op]))
      TRY(next_node_name(&e->node_names[op], &number, used, e->scratch));
    else if (name_table_find(used, own) == CALM_NONE)
      TRY(name_table_add(used, own, 0));
  }
  return CALM_OK;
}

static calm_status find_node_names(explorer *e) {
  name_table used;
  name_table_init(&used, e->scratch->context);
  calm_status status = name_nodes(e, &used);
  name_table_free(&used);
  return status;
}

static void add_onnx(explorer *e, op_id id, uint64_t bytes) {
  add_result(e, e->plan->graph->ops.data[id].name, bytes);
  if (e->node_names[id]) add_result(e, e->node_names[id], bytes);
}

static void add_results(explorer *e) {
  const graph *g = e->plan->graph;
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const graph_op *op = &g->ops.data[e->plan->sequence[step]];
    const uint64_t bytes = e->plan->profile.step_bytes[step];
    switch (e->plan->model->format) {
      case MODEL_TFLITE: add_tflite(e, op, bytes); break;
      case MODEL_ONNX: add_onnx(e, e->plan->sequence[step], bytes); break;
      case MODEL_CG:
      case MODEL_BUILT: add_result(e, op->name, bytes); break;
    }
  }
}

/* ---- All of it ----------------------------------------------------------- */

static json_t *stop_at(double stop, const char *color) {
  return json_pack("{s:f, s:s}", "stop", stop, "bgColor", color);
}

/* With a budget, what fits and what does not; the colour of a value is that of
   the first limit it does not exceed. */
static json_t *color_limits(const calm_plan *plan) {
  const uint64_t budget = plan->budget_bytes;
  json_t *list = report_json_append(
      json_array(), json_pack("{s:o, s:s}", "value", report_json_number(budget),
                              "bgColor", "#b7e1a1"));
  if (plan->summary.peak_bytes <= budget) return list;
  return report_json_append(
      list, json_pack("{s:o, s:s}", "value",
                      report_json_number(plan->summary.peak_bytes), "bgColor",
                      "#d7191c"));
}

static json_t *color_range(void) {
  json_t *list = report_json_append(json_array(), stop_at(0, "#fff7ec"));
  list = report_json_append(list, stop_at(0.5, "#fdbb84"));
  return report_json_append(list, stop_at(1, "#b30000"));
}

static json_t *describe_graph(explorer *e) {
  const bool budget = e->plan->budget_bytes != UINT64_MAX;
  return json_pack("{s:s, s:o, s:o}", "name", "bytes alive (calm)", "results",
                   e->results, budget ? "thresholds" : "gradient",
                   budget ? color_limits(e->plan) : color_range());
}

/* The reader calls the first graph "subgraph0" if it has no name, or "graph0"
   in an .onnx file. */
static const char *graph_key(const calm_plan *plan) {
  const char *name = plan->graph->name;
  if (plan->model->format == MODEL_TFLITE && !strcmp(name, "subgraph0"))
    return "main";
  if (plan->model->format == MODEL_ONNX && !strcmp(name, "graph0"))
    return "<main>";
  return name;
}

static json_t *describe(explorer *e) {
  json_t *graph = describe_graph(e);
  if (e->plan->model->graphs.count == 1) return graph;
  const char *key =
      report_name_escaped(e->scratch, graph_key(e->plan), ESCAPE_INVALID);
  if (key) return report_json_member(json_object(), key, graph);
  json_decref(graph);
  return NULL;
}

calm_status report_explorer(text *out, const calm_plan *plan, arena *scratch) {
  explorer e = {.plan = plan, .scratch = scratch};
  name_table_init(&e.repeated, scratch->context);
  calm_status status = find_repeated(&e);
  if (status == CALM_OK && plan->model->format == MODEL_ONNX)
    status = find_node_names(&e);
  if (status == CALM_OK) {
    e.results = json_object();
    add_results(&e);
    status = report_json_write(out, describe(&e));
  }
  name_table_free(&e.repeated);
  return status;
}
