#include <string.h>

#include "model/onnx_parts.h"

const onnx_attribute *onnx_find(const onnx_node *node, const char *name) {
  for (uint32_t i = 0; i < node->attribute_count; i++)
    if (!strcmp(node->attributes[i].name, name)) return &node->attributes[i];
  return NULL;
}

int64_t onnx_find_int(const onnx_node *node, const char *name,
                      int64_t otherwise) {
  const onnx_attribute *a = onnx_find(node, name);
  return a && a->type == ONNX_ATTRIBUTE_INT ? a->i : otherwise;
}
