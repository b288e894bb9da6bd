/*
 * One GraphProto: its inputs, weights, nodes and outputs become values and
 * nodes.  The fields of a message may stand in any order, so each kind is read
 * in a walk of its own: what can be a source first, then who writes, then what
 * is said of those.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/onnx_parts.h"
#include "model/onnx_schema.h"

enum { FIRST_OVERRIDABLE_IR = 4 };

typedef calm_status entry_reader(onnx_reader *r, uint32_t graph,
                                 const proto_field *entry);

static calm_status for_each(onnx_reader *r, uint32_t graph, uint32_t key,
                            entry_reader *read) {
  proto_cursor c = proto_open(&r->file, r->graphs.data[graph].span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == key) TRY(read(r, graph, &f));
  }
  return CALM_OK;
}

static calm_status count(uint32_t *out, onnx_reader *r, uint32_t graph,
                         uint32_t key) {
  proto_cursor c = proto_open(&r->file, r->graphs.data[graph].span);
  *out = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    *out += f.key == key;
  }
  return CALM_OK;
}

/* ---- Values -------------------------------------------------------------- */

static calm_status add_value(value_id *out, onnx_reader *r, uint32_t graph,
                             const char *name, size_t position) {
  onnx_graph *g = &r->graphs.data[graph];
  onnx_value value = {.name = name,
                      .shape.rank = ONNX_NO_RANK,
                      .outer = CALM_NONE,
                      .producer = CALM_NONE,
                      .position = position};
  value_id id = g->values.count;
  TRY(name_table_add(&g->names, name, id));
  VECTOR_PUSH(r->context, &g->values, value);
  *out = id;
  return CALM_OK;
}

static onnx_value *find_value(onnx_reader *r, uint32_t graph,
                              const char *name) {
  onnx_graph *g = &r->graphs.data[graph];
  value_id id = name_table_find(&g->names, name);
  return id == CALM_NONE ? NULL : &g->values.data[id];
}

/* Name and type of a ValueInfoProto; *type is empty if nothing is said. */
static calm_status read_value_info(const char **name, proto_span *type,
                                   onnx_reader *r, const proto_field *entry) {
  proto_cursor c = proto_open(&r->file, entry->span);
  *name = "";
  *type = (proto_span){0, 0};
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_VALUE_NAME)
      TRY(proto_string(name, &r->scratch, &r->file, f.span));
    if (f.key == KEY_VALUE_TYPE) *type = f.span;
  }
  return CALM_OK;
}

static calm_status read_input(onnx_reader *r, uint32_t graph,
                              const proto_field *entry) {
  const char *name;
  proto_span type;
  value_id id;
  TRY(read_value_info(&name, &type, r, entry));
  if (!*name)
    return onnx_fail(r, graph, entry->all.begin, "an input without a name");
  if (find_value(r, graph, name))
    return onnx_fail(r, graph, entry->all.begin,
                     "'%s' is listed as an input twice", name);
  TRY(add_value(&id, r, graph, name, entry->all.begin));
  onnx_value *value = &r->graphs.data[graph].values.data[id];
  value->flags = ONNX_VALUE_INPUT;
  TRY(onnx_read_type(value, r, type));
  return graph ? CALM_OK : onnx_size_input(r, value);
}

/* ---- Weights ------------------------------------------------------------- */

/* Callers may replace it, unless they are taken at their word that they do
   not. */
static void take_listed(onnx_value *value, onnx_reader *r) {
  if (!r->model->fixed_weights) {
    value->flags |= ONNX_VALUE_DEFAULT;
    return;
  }
  if (r->fixed_weights++ == 0) r->fixed_weight = value->name;
}

/* An initializer that is listed as an input, too, is the input's default: up to
   IR 3 all initializers had to be listed. */
static calm_status add_weight(onnx_reader *r, uint32_t graph, const char *name,
                              const onnx_tensor *tensor, size_t position) {
  value_id id;
  if (!*name)
    return onnx_fail(r, graph, position, "an initializer without a name");
  onnx_value *value = find_value(r, graph, name);
  if (!value) {
    TRY(add_value(&id, r, graph, name, position));
    value = &r->graphs.data[graph].values.data[id];
  } else if (value->flags & ONNX_VALUE_WEIGHT) {
    if (!r->repeated_weights)
      context_log(r->context, CALM_LOG_WARNING,
                  "%s: there are several initializers '%s'; the last one "
                  "counts, here and wherever else",
                  r->file.path, name);
    r->repeated_weights = true;
  } else {
    value->flags &= ~(unsigned)ONNX_VALUE_INPUT;
    if (r->ir_version >= FIRST_OVERRIDABLE_IR) take_listed(value, r);
  }
  value->flags |= ONNX_VALUE_WEIGHT;
  value->type = tensor->type;
  value->origin = tensor->origin;
  value->shape = (onnx_shape){tensor->dims, NULL, tensor->rank};
  value->contents = tensor->contents;
  return CALM_OK;
}

static calm_status read_initializer(onnx_reader *r, uint32_t graph,
                                    const proto_field *entry) {
  const char *name;
  onnx_tensor tensor;
  TRY(onnx_read_tensor(&tensor, &name, r, entry->span));
  return add_weight(r, graph, name, &tensor, entry->all.begin);
}

static calm_status read_sparse_initializer(onnx_reader *r, uint32_t graph,
                                           const proto_field *entry) {
  const char *name;
  onnx_tensor tensor;
  TRY(onnx_read_sparse(&tensor, &name, r, entry->span));
  return add_weight(r, graph, name, &tensor, entry->all.begin);
}

/* ---- Nodes --------------------------------------------------------------- */

static calm_status refuse_output(onnx_reader *r, uint32_t graph,
                                 const onnx_node *node,
                                 const onnx_value *value) {
  const onnx_graph *g = &r->graphs.data[graph];
  uint32_t index = g->nodes.count;
  if (value->producer == CALM_NONE)
    return onnx_fail(
        r, graph, node->position,
        "node %" PRIu32 " (%s '%s') writes '%s', which is %s", index,
        node->op_type, node->name, value->name,
        value->flags & ONNX_VALUE_WEIGHT ? "an initializer" : "an input");
  const char *other = value->producer == index
                          ? node->op_type
                          : g->nodes.data[value->producer].op_type;
  return onnx_fail(r, graph, node->position,
                   "'%s' is written by node %" PRIu32
                   " (%s) and by node "
                   "%" PRIu32 " (%s '%s'); a value has one producer",
                   value->name, value->producer, other, index, node->op_type,
                   node->name);
}

static calm_status add_outputs(onnx_reader *r, uint32_t graph,
                               onnx_node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    const char *name = node->output_names[i];
    node->outputs[i] = CALM_NONE;
    if (!*name) continue;
    const onnx_value *other = find_value(r, graph, name);
    if (other) return refuse_output(r, graph, node, other);
    TRY(add_value(&node->outputs[i], r, graph, name, node->position));
    onnx_graph *g = &r->graphs.data[graph];
    g->values.data[node->outputs[i]].producer = g->nodes.count;
  }
  return CALM_OK;
}

/* The graphs of the attributes move the array of graphs, so it is looked up
   again after they were read. */
static calm_status read_node(onnx_reader *r, uint32_t graph,
                             const proto_field *entry) {
  onnx_node node;
  TRY(onnx_read_node(&node, r, graph, entry));
  TRY(add_outputs(r, graph, &node));
  VECTOR_PUSH(r->context, &r->graphs.data[graph].nodes, node);
  return CALM_OK;
}

/* Names that several nodes have do not name any of them. */
static calm_status count_names(name_table *names, const onnx_graph *g,
                               uint32_t *uses) {
  for (uint32_t i = 0; i < g->nodes.count; i++) {
    const char *name = g->nodes.data[i].name;
    uint32_t first = name_table_find(names, name);
    if (first == CALM_NONE) {
      TRY(name_table_add(names, name, i));
      first = i;
    }
    uses[first]++;
  }
  return CALM_OK;
}

/* "12_Conv", made longer until no other node has that name or label. */
static calm_status make_label(const char **out, onnx_reader *r,
                              name_table *names, const onnx_node *node,
                              uint32_t index) {
  size_t size = strlen(node->op_type) + 32;
  char *label = arena_calloc(&r->scratch, size, 1);
  if (!label) return context_no_memory(r->context);
  int length = snprintf(label, size, "%" PRIu32 "_%s", index, node->op_type);
  while (name_table_find(names, label) != CALM_NONE) {
    size += 16;
    char *longer = arena_calloc(&r->scratch, size, 1);
    if (!longer) return context_no_memory(r->context);
    length = snprintf(longer, size, "%.*s#%" PRIu32, length, label, index);
    label = longer;
  }
  *out = label;
  return name_table_add(names, label, index);
}

static calm_status label_nodes_in(onnx_reader *r, onnx_graph *g,
                                  name_table *names) {
  uint32_t *uses;
  ARENA_ARRAY(&r->scratch, uses, g->nodes.count);
  TRY(count_names(names, g, uses));
  for (uint32_t i = 0; i < g->nodes.count; i++) {
    onnx_node *node = &g->nodes.data[i];
    if (*node->name && uses[name_table_find(names, node->name)] == 1)
      node->label = node->name;
  }
  for (uint32_t i = 0; i < g->nodes.count; i++) {
    onnx_node *node = &g->nodes.data[i];
    if (!node->label) TRY(make_label(&node->label, r, names, node, i));
  }
  return CALM_OK;
}

static calm_status label_nodes(onnx_reader *r, uint32_t graph) {
  name_table names;
  name_table_init(&names, r->context);
  calm_status status = label_nodes_in(r, &r->graphs.data[graph], &names);
  name_table_free(&names);
  return status;
}

/* ---- What is said of values ---------------------------------------------- */

/* A type that is stated twice is taken from where it stands first. */
static calm_status state_type(onnx_reader *r, uint32_t graph, const char *name,
                              proto_span type) {
  onnx_value *value = find_value(r, graph, name);
  if (!value || value->shape.rank != ONNX_NO_RANK) return CALM_OK;
  return onnx_read_type(value, r, type);
}

static calm_status read_statement(onnx_reader *r, uint32_t graph,
                                  const proto_field *entry) {
  const char *name;
  proto_span type;
  TRY(read_value_info(&name, &type, r, entry));
  return state_type(r, graph, name, type);
}

/* Outputs may be values of a graph around this one, so their names wait for
   onnx_bind; until then the position of the entry stands for each. */
static calm_status read_output(onnx_reader *r, uint32_t graph,
                               const proto_field *entry) {
  onnx_graph *g = &r->graphs.data[graph];
  const char *name;
  proto_span type;
  TRY(read_value_info(&name, &type, r, entry));
  if (!*name)
    return onnx_fail(r, graph, entry->all.begin, "an output without a name");
  g->output_names[g->output_count++] = name;
  return state_type(r, graph, name, type);
}

static calm_status read_name(onnx_reader *r, uint32_t graph,
                             const proto_field *entry) {
  return proto_string(&r->graphs.data[graph].name, &r->scratch, &r->file,
                      entry->span);
}

/* ---- The graph ----------------------------------------------------------- */

static calm_status list_inputs(onnx_reader *r, onnx_graph *g) {
  ARENA_ARRAY(&r->scratch, g->inputs, g->values.count);
  for (value_id v = 0; v < g->values.count; v++)
    if (g->values.data[v].flags & ONNX_VALUE_INPUT)
      g->inputs[g->input_count++] = v;
  return CALM_OK;
}

static calm_status read_outputs(onnx_reader *r, uint32_t graph) {
  uint32_t outputs;
  TRY(count(&outputs, r, graph, KEY_GRAPH_OUTPUT));
  onnx_graph *g = &r->graphs.data[graph];
  ARENA_ARRAY(&r->scratch, g->outputs, outputs);
  ARENA_ARRAY(&r->scratch, g->output_names, outputs);
  return for_each(r, graph, KEY_GRAPH_OUTPUT, read_output);
}

calm_status onnx_read_graph(onnx_reader *r, uint32_t graph) {
  TRY(for_each(r, graph, KEY_GRAPH_NAME, read_name));
  TRY(for_each(r, graph, KEY_GRAPH_INPUT, read_input));
  TRY(for_each(r, graph, KEY_GRAPH_INITIALIZER, read_initializer));
  TRY(for_each(r, graph, KEY_GRAPH_SPARSE_INITIALIZER,
               read_sparse_initializer));
  TRY(list_inputs(r, &r->graphs.data[graph]));
  TRY(for_each(r, graph, KEY_GRAPH_NODE, read_node));
  TRY(label_nodes(r, graph));
  TRY(read_outputs(r, graph));
  return for_each(r, graph, KEY_GRAPH_VALUE_INFO, read_statement);
}
