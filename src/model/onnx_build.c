/*
 * From values and nodes to the graphs of a model.  A node that only makes
 * weights is no operator; a value that no operator touches is no tensor.  What
 * a body reads from outside lies in the arena of the graph around it, where the
 * operator that runs the body keeps it alive; inside it costs nothing, so it is
 * marked as a constant there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/onnx_parts.h"

/* One graph on its way. */
typedef struct builder {
  onnx_reader *r;
  const onnx_graph *from;
  graph *to;
  bool *wanted;     /* per value: it becomes a tensor */
  bool *read;       /* per value: an operator reads it */
  tensor_id *ids;   /* per value */
  uint32_t *reader; /* per value: the last operator that lists it, from 1 */
} builder;

/* ---- Which values become tensors ----------------------------------------- */

/* Weights that bodies take from here are weights in there. */
static void note_reads(builder *b, const onnx_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CALM_NONE) b->read[node->inputs[i]] = true;
  for (uint32_t i = 0; i < node->captured_count; i++) {
    value_id v = node->captured[i];
    if (!(b->from->values.data[v].flags & ONNX_VALUE_WEIGHT)) b->read[v] = true;
  }
}

static bool is_given_out(const builder *b, value_id v) {
  return b->read[v] || (b->from->values.data[v].flags & ONNX_VALUE_OUTPUT);
}

/* An optional output that nobody reads is not asked for. */
static bool writes(const builder *b, const onnx_node *node, uint32_t i) {
  if (node->outputs[i] == CALM_NONE) return false;
  return i < onnx_needed_outputs(node) || is_given_out(b, node->outputs[i]);
}

static calm_status choose_values(builder *b) {
  const onnx_graph *g = b->from;
  arena *a = &b->r->scratch;
  ARENA_ARRAY(a, b->wanted, g->values.count);
  ARENA_ARRAY(a, b->read, g->values.count);
  ARENA_ARRAY(a, b->ids, g->values.count);
  ARENA_ARRAY(a, b->reader, g->values.count);
  for (uint32_t n = 0; n < g->nodes.count; n++)
    if (!g->nodes.data[n].weights_only) note_reads(b, &g->nodes.data[n]);
  for (value_id v = 0; v < g->values.count; v++)
    b->wanted[v] =
        is_given_out(b, v) || (g->values.data[v].flags & ONNX_VALUE_INPUT);
  for (uint32_t n = 0; n < g->nodes.count; n++) {
    const onnx_node *node = &g->nodes.data[n];
    for (uint32_t i = 0; !node->weights_only && i < node->output_count; i++)
      if (writes(b, node, i)) b->wanted[node->outputs[i]] = true;
  }
  return CALM_OK;
}

/* ---- Sizes that are not known -------------------------------------------- */

static bool has_shape(const onnx_value *value) {
  if (value->shape.rank == ONNX_NO_RANK) return false;
  for (uint32_t i = 0; i < value->shape.rank; i++)
    if (value->shape.dims[i] < 0) return false;
  return true;
}

/* What the runtime may have to keep for the value; NULL: not known. */
static const onnx_shape *shape_of(const onnx_value *value) {
  return has_shape(value) ? &value->shape : value->most;
}

/* Weights, values of other graphs, sequences and inputs that nobody reads cost
   nothing, so their sizes do not matter. */
static bool needs_size(const builder *b, value_id v) {
  const unsigned free_of_charge =
      ONNX_VALUE_WEIGHT | ONNX_VALUE_OUTER | ONNX_VALUE_OPAQUE;
  const onnx_value *value = &b->from->values.data[v];
  if (!b->wanted[v] || (value->flags & free_of_charge)) return false;
  if (b->from->unreachable) return false;
  return value->producer != CALM_NONE || is_given_out(b, v);
}

static bool is_missing(const builder *b, value_id v) {
  const onnx_value *value = &b->from->values.data[v];
  return needs_size(b, v) &&
         (!shape_of(value) || value->type == ONNX_UNDEFINED);
}

static const char *first_symbol(const onnx_value *value) {
  if (value->shape.rank == ONNX_NO_RANK || !value->shape.symbols) return NULL;
  for (uint32_t i = 0; i < value->shape.rank; i++)
    if (value->shape.dims[i] < 0 && value->shape.symbols[i])
      return value->shape.symbols[i];
  return NULL;
}

static void tell_missing(text *out, const builder *b, const onnx_value *value) {
  const char *symbol = first_symbol(value);
  text_format(out, " '%.60s'", value->name);
  if (symbol)
    text_format(out, " (size '%.40s' is open: --dim %.40s=N)", symbol, symbol);
  else if (value->why)
    text_format(out, " (%.120s)", value->why);
  else if (value->producer != CALM_NONE)
    text_format(out, " (written by '%.60s')",
                b->from->nodes.data[value->producer].label);
}

static calm_status fail_missing(const builder *b, uint32_t count) {
  enum { SHOWN = 4 };
  calm_context *context = b->r->context;
  text list;
  text_init(&list, context);
  uint32_t shown = 0;
  for (value_id v = 0; v < b->from->values.count && shown < SHOWN; v++)
    if (is_missing(b, v)) {
      tell_missing(&list, b, &b->from->values.data[v]);
      shown++;
    }
  if (count > shown) text_format(&list, " and %" PRIu32 " more", count - shown);
  calm_status status =
      list.failed
          ? context_no_memory(context)
          : context_fail(context, CALM_UNSUPPORTED,
                         "%s: graph '%.60s': %" PRIu32
                         " tensors are of unknown size:%s",
                         b->r->file.path, b->to->name, count, list.data);
  text_free(&list);
  return status;
}

static calm_status demand_sizes(const builder *b) {
  uint32_t missing = 0;
  for (value_id v = 0; v < b->from->values.count; v++)
    missing += is_missing(b, v);
  return missing ? fail_missing(b, missing) : CALM_OK;
}

/* ---- Tensors ------------------------------------------------------------- */

static unsigned flags_of(const onnx_value *value) {
  unsigned flags = 0;
  if (value->flags & ONNX_VALUE_INPUT) flags |= CALM_TENSOR_INPUT;
  if (value->flags & ONNX_VALUE_OUTPUT) flags |= CALM_TENSOR_OUTPUT;
  if (value->flags & (ONNX_VALUE_WEIGHT | ONNX_VALUE_OUTER))
    flags |= CALM_TENSOR_CONST;
  return flags;
}

/* A weight that the caller may replace is not to be taken for what it is in the
   file; one of the graph around is none of this graph. */
static graph_contents contents_of(const onnx_value *value) {
  if (!(value->flags & (ONNX_VALUE_WEIGHT | ONNX_VALUE_OUTER)))
    return CONTENTS_HERE;
  if (value->flags & (ONNX_VALUE_DEFAULT | ONNX_VALUE_OUTER))
    return CONTENTS_COMPUTED;
  return value->origin.contents;
}

/* What has no size counts no bytes; demand_sizes saw to it that this is so for
   good. */
static void size_tensor(graph_tensor *tensor, const onnx_value *value) {
  const onnx_shape *shape =
      value->flags & ONNX_VALUE_OPAQUE ? NULL : shape_of(value);
  tensor->type = shape ? onnx_element_type(value->type) : ELEMENT_ABSTRACT;
  if (tensor->type == ELEMENT_ABSTRACT) return;
  tensor->dimensions = shape->dims;
  tensor->rank = shape->rank;
}

static calm_status check_tensor(const builder *b, const graph_tensor *tensor,
                                const onnx_value *value) {
  uint64_t bytes;
  if (value->type && onnx_element_type(value->type) == ELEMENT_ABSTRACT)
    return context_fail(b->r->context, CALM_UNSUPPORTED,
                        "%s: byte %zu: '%s' has element type %" PRId32
                        ", which this version does not know",
                        b->r->file.path, value->position, value->name,
                        value->type);
  if (tensor->type == ELEMENT_ABSTRACT ||
      graph_bytes_of(&bytes, tensor->type, tensor->dimensions, tensor->rank))
    return CALM_OK;
  return proto_fail(&b->r->file, value->position,
                    "the shape of '%s' needs more than 2^62 bytes",
                    value->name);
}

static calm_status add_tensors(builder *b) {
  for (value_id v = 0; v < b->from->values.count; v++) {
    const onnx_value *value = &b->from->values.data[v];
    b->ids[v] = CALM_NONE;
    if (!b->wanted[v]) continue;
    graph_tensor tensor = {
        .name = value->name,
        .flags = flags_of(value),
        .contents = contents_of(value),
        .dynamic = !has_shape(value) && shape_of(value) != NULL,
        .file_index = v};
    size_tensor(&tensor, value);
    TRY(check_tensor(b, &tensor, value));
    TRY(graph_add_tensor(&b->ids[v], b->to, &tensor));
  }
  return CALM_OK;
}

/* ---- Operators ----------------------------------------------------------- */

/* Operands first, then what the bodies read, each once. */
static calm_status list_inputs(graph_op *op, const builder *b,
                               const onnx_node *node) {
  ARENA_ARRAY(&b->r->scratch, op->inputs,
              (size_t)node->input_count + node->captured_count);
  for (uint32_t i = 0; i < node->input_count; i++) {
    value_id v = node->inputs[i];
    if (v != CALM_NONE) b->reader[v] = op->file_index + 1;
    op->inputs[op->input_count++] = v == CALM_NONE ? v : b->ids[v];
  }
  for (uint32_t i = 0; i < node->captured_count; i++) {
    value_id v = node->captured[i];
    bool listed = b->reader[v] == op->file_index + 1;
    b->reader[v] = op->file_index + 1;
    if (!listed && !(b->from->values.data[v].flags & ONNX_VALUE_WEIGHT))
      op->inputs[op->input_count++] = b->ids[v];
  }
  return CALM_OK;
}

/* Absent outputs at the end are not there at all. */
static calm_status list_outputs(graph_op *op, const builder *b,
                                const onnx_node *node) {
  ARENA_ARRAY(&b->r->scratch, op->outputs, node->output_count);
  for (uint32_t i = 0; i < node->output_count; i++) {
    op->outputs[i] = writes(b, node, i) ? b->ids[node->outputs[i]] : CALM_NONE;
    if (op->outputs[i] != CALM_NONE) op->output_count = i + 1;
  }
  return CALM_OK;
}

static calm_status list_bodies(graph_op *op, const builder *b,
                               const onnx_node *node) {
  for (uint32_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].graphs) op->body_count += node->attributes[i].count;
  ARENA_ARRAY(&b->r->scratch, op->bodies, op->body_count);
  op->body_count = 0;
  for (uint32_t i = 0; i < node->attribute_count; i++)
    for (uint32_t k = 0;
         node->attributes[i].graphs && k < node->attributes[i].count; k++)
      op->bodies[op->body_count++] = node->attributes[i].graphs[k];
  return CALM_OK;
}

static calm_status add_operators(builder *b) {
  for (uint32_t n = 0; n < b->from->nodes.count; n++) {
    const onnx_node *node = &b->from->nodes.data[n];
    graph_op op = {.name = node->label, .file_index = n};
    op_id id;
    if (node->weights_only) continue;
    TRY(list_inputs(&op, b, node));
    TRY(list_outputs(&op, b, node));
    TRY(list_bodies(&op, b, node));
    TRY(onnx_describe(&op, b->r, b->from, node));
    TRY(graph_add_op(&id, b->to, &op));
  }
  return CALM_OK;
}

/* ---- Graphs -------------------------------------------------------------- */

/* Bodies are often all called the same, or nothing. */
static calm_status choose_name(const char **out, onnx_reader *r,
                               name_table *names, uint32_t index) {
  const char *own = r->graphs.data[index].name;
  size_t size = strlen(own) + 32;
  char *name = arena_calloc(&r->model->arena, size, 1);
  if (!name) return context_no_memory(r->context);
  int length = *own ? snprintf(name, size, "%s", own)
                    : snprintf(name, size, "graph%" PRIu32, index);
  while (name_table_find(names, name) != CALM_NONE) {
    size += 16;
    char *longer = arena_calloc(&r->model->arena, size, 1);
    if (!longer) return context_no_memory(r->context);
    length = snprintf(longer, size, "%.*s#%" PRIu32, length, name, index);
    name = longer;
  }
  *out = name;
  return name_table_add(names, name, index);
}

static calm_status add_graphs(onnx_reader *r, name_table *names) {
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    const char *name;
    graph g;
    TRY(choose_name(&name, r, names, i));
    graph_init(&g, &r->model->arena, name);
    g.channels_first = true;
    VECTOR_PUSH(r->context, &r->model->graphs, g);
  }
  return CALM_OK;
}

static calm_status name_graphs(onnx_reader *r) {
  name_table names;
  name_table_init(&names, r->context);
  calm_status status = add_graphs(r, &names);
  name_table_free(&names);
  return status;
}

static calm_status build_graph(onnx_reader *r, uint32_t index) {
  builder b = {.r = r,
               .from = &r->graphs.data[index],
               .to = &r->model->graphs.data[index]};
  TRY(choose_values(&b));
  TRY(demand_sizes(&b));
  TRY(add_tensors(&b));
  return add_operators(&b);
}

/* Of all graphs, each weight where it was made. */
static calm_status weigh(onnx_reader *r) {
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    const onnx_graph *g = &r->graphs.data[i];
    for (value_id v = 0; v < g->values.count; v++) {
      const onnx_value *value = &g->values.data[v];
      uint64_t bytes = 0, *total = &r->model->weight_bytes;
      element_type type = onnx_element_type(value->type);
      if (!(value->flags & ONNX_VALUE_WEIGHT) ||
          (value->flags & ONNX_VALUE_OUTER) || !has_shape(value) ||
          type == ELEMENT_ABSTRACT)
        continue;
      if (!graph_bytes_of(&bytes, type, value->shape.dims, value->shape.rank) ||
          !number_add(total, *total, bytes))
        return onnx_fail(r, i, value->position,
                         "the weights up to '%s' need more than 2^62 bytes",
                         value->name);
    }
  }
  return CALM_OK;
}

/* Sizes that depend on the branch of an If are bounds, and said to be so. */
static void tell_bounds(const onnx_reader *r) {
  const onnx_value *first = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    const onnx_graph *g = &r->graphs.data[i];
    for (value_id v = 0; v < g->values.count && !g->unreachable; v++) {
      const onnx_value *value = &g->values.data[v];
      if (!value->most || has_shape(value) || value->flags & ONNX_VALUE_OUTER)
        continue;
      if (!count++) first = value;
    }
  }
  if (count)
    context_log(r->context, CALM_LOG_WARNING,
                "%s: the size of '%.100s' depends on the branch of an If; the "
                "larger one is counted%s",
                r->file.path, first->name ? first->name : "",
                count > 1 ? "; others likewise" : "");
}

static calm_status keep_origins(onnx_reader *r) {
  const onnx_graph *g = &r->graphs.data[0];
  onnx_origin *origins;
  ARENA_ARRAY(&r->model->arena, origins, g->values.count);
  for (value_id v = 0; v < g->values.count; v++)
    origins[v] = g->values.data[v].origin;
  r->model->origins = origins;
  return CALM_OK;
}

calm_status onnx_build(onnx_reader *r) {
  TRY(name_graphs(r));
  TRY(keep_origins(r));
  for (uint32_t i = 0; i < r->graphs.count; i++) TRY(build_graph(r, i));
  tell_bounds(r);
  TRY(weigh(r));
  return model_finish_graphs(r->model);
}
