/*
 * Edits for tests of those who write rewritten files: the graph as it is, and
 * the comparison of a graph that was read with the one that was meant.  Tensors
 * are looked up by name: where they stand in the list is up to the file.
 */
#ifndef CALM_TESTS_EDITED_H
#define CALM_TESTS_EDITED_H

#include <stdio.h>
#include <string.h>

#include "graph/graph_edit.h"

static inline calm_status edited_same_tensors(graph_edit *edit) {
  const graph *g = edit->before;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const edit_tensor descent = {.from = t, .contents = EDIT_SAME};
    tensor_id id;
    TRY(graph_edit_add_tensor(&id, edit, &g->tensors.data[t], &descent));
  }
  return CALM_OK;
}

static inline calm_status edited_same_op(graph_edit *edit, op_id u) {
  const edit_op descent = {.from = u, .role = EDIT_KEEP, .activation = true};
  op_id id;
  return graph_edit_add_op(&id, edit, &edit->before->ops.data[u], &descent);
}

static inline calm_status edited_same_ops(graph_edit *edit) {
  for (op_id u = 0; u < edit->before->ops.count; u++)
    TRY(edited_same_op(edit, u));
  return CALM_OK;
}

/* `after` is `before`. */
static inline calm_status edited_keep_all(graph_edit *edit) {
  TRY(edited_same_tensors(edit));
  TRY(edited_same_ops(edit));
  return graph_edit_finish(edit, "identity");
}

/* The same from the beginning; to be finished by the caller. */
static inline calm_status edited_identity(graph_edit *edit, const graph *before,
                                          arena *a) {
  graph_edit_init(edit, before, a);
  TRY(edited_same_tensors(edit));
  return edited_same_ops(edit);
}

/* ---- Comparison ---------------------------------------------------------- */

static inline const char *edited_name(const graph *g, tensor_id t) {
  return t == CALM_NONE ? "-" : g->tensors.data[t].name;
}

static inline const char *edited_compare_op(const graph *a, const graph_op *x,
                                            const graph *b, const graph_op *y) {
  if (strcmp(x->name, y->name)) return "name";
  if (strcmp(x->kind_name, y->kind_name)) return "kind";
  if (x->input_count != y->input_count) return "number of operands";
  if (x->output_count != y->output_count) return "number of outputs";
  if (x->attribute_count != y->attribute_count) return "number of attributes";
  for (uint32_t i = 0; i < x->input_count; i++)
    if (strcmp(edited_name(a, x->inputs[i]), edited_name(b, y->inputs[i])))
      return "operand";
  for (uint32_t i = 0; i < x->output_count; i++)
    if (strcmp(edited_name(a, x->outputs[i]), edited_name(b, y->outputs[i])))
      return "output";
  for (uint32_t i = 0; i < x->attribute_count; i++) {
    const char *value = graph_op_attribute(y, x->attributes[i].key);
    if (!value || strcmp(value, x->attributes[i].value)) return "attribute";
  }
  return NULL;
}

static inline const char *edited_compare_tensor(const graph_tensor *x,
                                                const graph_tensor *y) {
  if (x->type != y->type) return "type";
  if (x->rank != y->rank) return "rank";
  for (uint32_t i = 0; i < x->rank; i++)
    if (x->dimensions[i] != y->dimensions[i]) return "dimension";
  if (x->flags != y->flags) return "flags";
  return NULL;
}

/* NULL: they are the same; else what is different, in `buffer`. */
static inline const char *edited_compare(char *buffer, size_t size,
                                         const graph *a, const graph *b) {
  snprintf(buffer, size, "counts");
  if (a->tensors.count != b->tensors.count || a->ops.count != b->ops.count)
    return buffer;
  for (op_id u = 0; u < a->ops.count; u++) {
    const char *what =
        edited_compare_op(a, &a->ops.data[u], b, &b->ops.data[u]);
    if (!what) continue;
    snprintf(buffer, size, "operator %s: %s", a->ops.data[u].name, what);
    return buffer;
  }
  name_table names;
  const char *what = NULL;
  name_table_init(&names, a->arena->context);
  for (tensor_id t = 0; t < b->tensors.count; t++)
    if (name_table_add(&names, b->tensors.data[t].name, t)) what = "memory";
  for (tensor_id t = 0; !what && t < a->tensors.count; t++) {
    const graph_tensor *x = &a->tensors.data[t];
    const uint32_t i = name_table_find(&names, x->name);
    what =
        i == CALM_NONE ? "name" : edited_compare_tensor(x, &b->tensors.data[i]);
    if (what) snprintf(buffer, size, "tensor %s: %s", x->name, what);
  }
  name_table_free(&names);
  return what ? buffer : NULL;
}

#endif
