#include "graph/graph.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "graph/graph_sums.h"
#include "graph/graph_topology.h"

enum { MESSAGE_BYTES = 1024 };

calm_status graph_fail(calm_context *context, const char *path,
                       graph_place place, const char *format, ...) {
  char what[MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (place.line == 0)
    return context_fail(context, CALM_BAD_INPUT, "%s: %s", path, what);
  return context_fail(context, CALM_BAD_INPUT, "%s:%" PRIu32 ":%" PRIu32 ": %s",
                      path, place.line, place.column, what);
}

void graph_init(graph *g, arena *a, const char *name) {
  *g = (graph){.arena = a, .name = name};
}

void graph_free(graph *g) {
  VECTOR_FREE(g->arena->context, &g->tensors);
  VECTOR_FREE(g->arena->context, &g->ops);
}

bool graph_op_stateful(const graph_op *op) {
  return op->stateful || (op_kind_flags(op->kind) & OP_STATEFUL);
}

static calm_status copy_string(const char **out, arena *a, const char *string) {
  *out = arena_string(a, string, strlen(string));
  return *out ? CALM_OK : context_no_memory(a->context);
}

static calm_status copy_ids(uint32_t **out, arena *a, const uint32_t *ids,
                            uint32_t count) {
  ARENA_ARRAY(a, *out, count);
  if (count) memcpy(*out, ids, count * sizeof *ids);
  return CALM_OK;
}

static calm_status copy_dimensions(graph_tensor *tensor, arena *a) {
  int64_t *copy;
  ARENA_ARRAY(a, copy, tensor->rank);
  if (tensor->rank)
    memcpy(copy, tensor->dimensions, tensor->rank * sizeof *copy);
  tensor->dimensions = copy;
  return CALM_OK;
}

static calm_status measure_tensor(graph_tensor *tensor, calm_context *context) {
  if (tensor->type == ELEMENT_ABSTRACT) {
    tensor->dimensions = NULL;
    tensor->rank = 0;
    if (tensor->bytes <= NUMBER_MAX_BYTES) return CALM_OK;
    return context_fail(context, CALM_BAD_INPUT,
                        "tensor '%s': more than 2^62 bytes", tensor->name);
  }
  if (tensor->rank > GRAPH_MAX_RANK)
    return context_fail(context, CALM_BAD_INPUT,
                        "tensor '%s': %" PRIu32 " dimensions, at most %d work",
                        tensor->name, tensor->rank, GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < tensor->rank; i++)
    if (tensor->dimensions[i] < 0)
      return context_fail(context, CALM_BAD_INPUT,
                          "tensor '%s': dimension %" PRIu32 " is %" PRId64
                          ", it must not be negative",
                          tensor->name, i, tensor->dimensions[i]);
  if (graph_bytes_of(&tensor->bytes, tensor->type, tensor->dimensions,
                     tensor->rank))
    return CALM_OK;
  return context_fail(context, CALM_BAD_INPUT,
                      "tensor '%s': its shape needs more than 2^62 bytes",
                      tensor->name);
}

calm_status graph_add_tensor(tensor_id *out, graph *g,
                             const graph_tensor *tensor) {
  graph_tensor copy = *tensor;
  assert(copy.name && (copy.rank == 0 || copy.dimensions));
  TRY(measure_tensor(&copy, g->arena->context));
  TRY(copy_string(&copy.name, g->arena, tensor->name));
  TRY(copy_dimensions(&copy, g->arena));
  VECTOR_PUSH(g->arena->context, &g->tensors, copy);
  *out = g->tensors.count - 1;
  return CALM_OK;
}

static calm_status copy_attributes(graph_op *op, arena *a) {
  graph_attribute *copy;
  ARENA_ARRAY(a, copy, op->attribute_count);
  for (uint32_t i = 0; i < op->attribute_count; i++) {
    TRY(copy_string(&copy[i].key, a, op->attributes[i].key));
    TRY(copy_string(&copy[i].value, a, op->attributes[i].value));
  }
  op->attributes = copy;
  return CALM_OK;
}

/* A known kind takes its name from the table, so that the two agree. */
static calm_status copy_kind(graph_op *op, arena *a) {
  if (op->kind == OP_OPAQUE)
    return copy_string(&op->kind_name, a, op->kind_name);
  op->kind_name = op_kind_name(op->kind);
  return CALM_OK;
}

calm_status graph_add_op(op_id *out, graph *g, const graph_op *op) {
  arena *a = g->arena;
  graph_op copy = *op;
  assert(copy.name && (copy.kind != OP_OPAQUE || copy.kind_name));
  if (copy.workspace_bytes > NUMBER_MAX_BYTES)
    return context_fail(a->context, CALM_BAD_INPUT,
                        "operator '%s': a workspace of more than 2^62 bytes",
                        copy.name);
  TRY(copy_string(&copy.name, a, op->name));
  TRY(copy_kind(&copy, a));
  TRY(copy_ids(&copy.inputs, a, op->inputs, op->input_count));
  TRY(copy_ids(&copy.outputs, a, op->outputs, op->output_count));
  TRY(copy_ids(&copy.after, a, op->after, op->after_count));
  TRY(copy_ids(&copy.bodies, a, op->bodies, op->body_count));
  TRY(copy_attributes(&copy, a));
  VECTOR_PUSH(a->context, &g->ops, copy);
  *out = g->ops.count - 1;
  return CALM_OK;
}

/* ---- Validation ---------------------------------------------------------- */

static calm_status check_tensor_names(const graph *g, const char *path,
                                      name_table *names) {
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    tensor_id other = name_table_find(names, tensor->name);
    if (other != CALM_NONE)
      return graph_fail(g->arena->context, path, tensor->place,
                        "tensors %" PRIu32 " and %" PRIu32
                        " are both named '%s'; names must differ",
                        other, t, tensor->name);
    TRY(name_table_add(names, tensor->name, t));
  }
  return CALM_OK;
}

static calm_status check_op_names(const graph *g, const char *path,
                                  name_table *names) {
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    op_id other = name_table_find(names, op->name);
    if (other != CALM_NONE)
      return graph_fail(g->arena->context, path, op->place,
                        "operators %" PRIu32 " and %" PRIu32
                        " are both named '%s'; names must differ",
                        other, u, op->name);
    TRY(name_table_add(names, op->name, u));
  }
  return CALM_OK;
}

static calm_status check_names(const graph *g, const char *path,
                               calm_status (*check)(const graph *, const char *,
                                                    name_table *)) {
  name_table names;
  name_table_init(&names, g->arena->context);
  calm_status status = check(g, path, &names);
  name_table_free(&names);
  return status;
}

static calm_status check_range(const graph *g, const char *path,
                               const graph_op *op, const char *role,
                               const uint32_t *ids, uint32_t id_count,
                               uint32_t count) {
  for (uint32_t i = 0; i < id_count; i++)
    if (ids[i] >= count && ids[i] != CALM_NONE)
      return graph_fail(g->arena->context, path, op->place,
                        "operator '%s': its %s %" PRIu32 " is number %" PRIu32
                        ", but there are only %" PRIu32,
                        op->name, role, i, ids[i], count);
  return CALM_OK;
}

static calm_status check_ids(const graph *g, const char *path) {
  uint64_t slots = 0;
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    TRY(check_range(g, path, op, "input", op->inputs, op->input_count,
                    g->tensors.count));
    TRY(check_range(g, path, op, "output", op->outputs, op->output_count,
                    g->tensors.count));
    TRY(check_range(g, path, op, "predecessor", op->after, op->after_count,
                    g->ops.count));
    slots += op->input_count;
  }
  if (slots < UINT32_MAX) return CALM_OK;
  return graph_fail(g->arena->context, path, (graph_place){0, 0},
                    "more than 2^32 operands");
}

/* So that no sum of sizes, in any order and at any step, can wrap. */
static calm_status check_total(const graph *g, const char *path) {
  uint64_t total = 0;
  bool fits = true;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    fits = fits && number_add(&total, total, g->tensors.data[t].bytes);
  for (op_id u = 0; u < g->ops.count; u++)
    fits = fits && number_add(&total, total, g->ops.data[u].workspace_bytes);
  if (fits) return CALM_OK;
  return graph_fail(g->arena->context, path, (graph_place){0, 0},
                    "the tensors of graph '%s' need more than 2^62 bytes",
                    g->name);
}

static calm_status check_sources(const graph *g, const char *path) {
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (g->producer[t] == CALM_NONE) continue;
    if (!(tensor->flags & (CALM_TENSOR_INPUT | CALM_TENSOR_CONST))) continue;
    const graph_op *op = &g->ops.data[g->producer[t]];
    return graph_fail(
        g->arena->context, path, op->place,
        "operator '%s' writes tensor '%s', which is %s; only other tensors can "
        "be outputs of an operator",
        op->name, tensor->name,
        tensor->flags & CALM_TENSOR_INPUT ? "a graph input" : "a constant");
  }
  return CALM_OK;
}

bool graph_tensor_is_missing(const graph *g, tensor_id t) {
  const unsigned given =
      CALM_TENSOR_INPUT | CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  const unsigned flags = g->tensors.data[t].flags;
  return g->producer[t] == CALM_NONE && !(flags & given) &&
         (g->reader_begin[t] < g->reader_begin[t + 1] ||
          flags & CALM_TENSOR_OUTPUT);
}

calm_status graph_finish(graph *g, const char *path) {
  TRY(check_names(g, path, check_tensor_names));
  TRY(check_names(g, path, check_op_names));
  TRY(check_ids(g, path));
  TRY(check_total(g, path));
  TRY(topology_build(g, path));
  TRY(check_sources(g, path));
  return graph_check_sums(g, path);
}
