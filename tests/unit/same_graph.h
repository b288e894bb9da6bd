/* Is a graph that was read what an edit meant?  Names of operators do not
   count: readers make them up. */
#ifndef CALM_TESTS_SAME_GRAPH_H
#define CALM_TESTS_SAME_GRAPH_H

#include <string.h>

#include "graph/graph_edit.h"

static inline bool same_ids(const uint32_t *a, uint32_t a_count,
                            const uint32_t *b, uint32_t b_count) {
  return a_count == b_count &&
         (a_count == 0 || !memcmp(a, b, a_count * sizeof *a));
}

static inline bool same_meant_tensor(const graph_tensor *a,
                                     const graph_tensor *b) {
  return !strcmp(a->name, b->name) && a->type == b->type &&
         a->flags == b->flags && a->bytes == b->bytes &&
         a->dynamic == b->dynamic && a->rank == b->rank &&
         (a->rank == 0 ||
          !memcmp(a->dimensions, b->dimensions, a->rank * sizeof(int64_t)));
}

static inline bool same_meant_op(const graph_op *a, const graph_op *b) {
  if (a->kind != b->kind || strcmp(a->kind_name, b->kind_name) ||
      a->stateful != b->stateful || a->attribute_count != b->attribute_count)
    return false;
  for (uint32_t i = 0; i < a->attribute_count; i++)
    if (strcmp(a->attributes[i].key, b->attributes[i].key) ||
        strcmp(a->attributes[i].value, b->attributes[i].value))
      return false;
  return same_ids(a->inputs, a->input_count, b->inputs, b->input_count) &&
         same_ids(a->outputs, a->output_count, b->outputs, b->output_count) &&
         same_ids(a->after, a->after_count, b->after, b->after_count) &&
         same_ids(a->bodies, a->body_count, b->bodies, b->body_count);
}

/* What is quantized alike still is; numbers may be others. */
static inline bool same_quantizations(const graph *a, const graph *b) {
  for (tensor_id t = 0; t < a->tensors.count; t++)
    for (tensor_id u = 0; u < t; u++)
      if ((a->tensors.data[t].quantization ==
           a->tensors.data[u].quantization) !=
          (b->tensors.data[t].quantization == b->tensors.data[u].quantization))
        return false;
  return true;
}

/* NULL, or what differs. */
static inline const char *graph_difference(const graph *meant,
                                           const graph *read) {
  if (strcmp(meant->name, read->name)) return "the graph's name";
  if (meant->tensors.count != read->tensors.count) return "count of tensors";
  if (meant->ops.count != read->ops.count) return "count of operators";
  for (tensor_id t = 0; t < meant->tensors.count; t++)
    if (!same_meant_tensor(&meant->tensors.data[t], &read->tensors.data[t]))
      return meant->tensors.data[t].name;
  for (op_id u = 0; u < meant->ops.count; u++)
    if (!same_meant_op(&meant->ops.data[u], &read->ops.data[u]))
      return meant->ops.data[u].name;
  return NULL;
}

#endif
