/* Building a graph from another one, part by part. */
#include "graph/graph_edit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void graph_edit_init(graph_edit *edit, const graph *before, arena *a) {
  *edit = (graph_edit){.before = before};
  graph_init(&edit->after, a, before->name);
  edit->after.channels_first = before->channels_first;
  edit->after.is_body = before->is_body;
  name_table_init(&edit->tensor_names, a->context);
  name_table_init(&edit->op_names, a->context);
}

void graph_edit_free(graph_edit *edit) {
  calm_context *context = edit->after.arena->context;
  VECTOR_FREE(context, &edit->tensors);
  VECTOR_FREE(context, &edit->ops);
  name_table_free(&edit->tensor_names);
  name_table_free(&edit->op_names);
  graph_free(&edit->after);
}

/* "NAME", or the first of "NAME#1", "NAME#2", ... that is free; taken now. */
static calm_status claim_name(const char **out, name_table *taken, arena *a,
                              const char *name, uint32_t id) {
  const size_t room = strlen(name) + 12;
  char *numbered = NULL;
  *out = name;
  for (uint32_t i = 1; name_table_find(taken, *out) != CALM_NONE; i++) {
    if (!numbered) ARENA_ARRAY(a, numbered, room);
    snprintf(numbered, room, "%s#%" PRIu32, name, i);
    *out = numbered;
  }
  return name_table_add(taken, *out, id);
}

calm_status graph_edit_add_tensor(tensor_id *out, graph_edit *edit,
                                  const graph_tensor *tensor,
                                  const edit_tensor *descent) {
  graph *g = &edit->after;
  graph_tensor named = *tensor;
  named.file_index = g->tensors.count;
  TRY(claim_name(&named.name, &edit->tensor_names, g->arena, tensor->name,
                 g->tensors.count));
  VECTOR_PUSH(g->arena->context, &edit->tensors, *descent);
  return graph_add_tensor(out, g, &named);
}

calm_status graph_edit_add_op(op_id *out, graph_edit *edit, const graph_op *op,
                              const edit_op *descent) {
  graph *g = &edit->after;
  graph_op named = *op;
  named.file_index = g->ops.count;
  TRY(claim_name(&named.name, &edit->op_names, g->arena, op->name,
                 g->ops.count));
  VECTOR_PUSH(g->arena->context, &edit->ops, *descent);
  return graph_add_op(out, g, &named);
}

calm_status graph_edit_finish(graph_edit *edit, const char *path) {
  return graph_finish(&edit->after, path);
}

const char *graph_op_attribute(const graph_op *op, const char *key) {
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key)) return op->attributes[i].value;
  return NULL;
}
