/* What a node is: its kind among those of the graph, and its attributes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/onnx_parts.h"

#define ALL UINT32_MAX
#define ALWAYS INT64_MIN

static const struct kind_row {
  const char *type;
  op_kind kind;
  uint32_t needed_outputs;
} kinds[] = {
#define ONNX_OP(type, kind, needed) {#type, OP_##kind, needed},
#include "model/onnx_ops.def"
#undef ONNX_OP
};

static const struct attribute_row {
  const char *name, *key;
  int64_t absent;
} attributes[] = {
#define ATTRIBUTE(name, key, absent) {name, key, absent},
#include "model/onnx_attributes.def"
#undef ATTRIBUTE
};

enum {
  KIND_COUNT = sizeof kinds / sizeof *kinds,
  ATTRIBUTE_COUNT = sizeof attributes / sizeof *attributes
};

static bool is_fused_conv(const onnx_node *node) {
  return !strcmp(node->op_type, "FusedConv") &&
         !strcmp(node->domain, "com.microsoft") && node->function == CALM_NONE;
}

/* The rows are sorted by type. */
static const struct kind_row *find_kind(const onnx_node *node) {
  uint32_t low = 0, high = KIND_COUNT;
  if (*node->domain || node->function != CALM_NONE) return NULL;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    int order = strcmp(kinds[middle].type, node->op_type);
    if (order == 0) return &kinds[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

uint32_t onnx_needed_outputs(const onnx_node *node) {
  const struct kind_row *row = find_kind(node);
  return row ? row->needed_outputs : ALL;
}

/* ---- Kinds --------------------------------------------------------------- */

static const onnx_shape *shape_of_input(const onnx_graph *g,
                                        const onnx_node *node, uint32_t i) {
  static const onnx_shape unknown = {.rank = ONNX_NO_RANK};
  if (i >= node->input_count || node->inputs[i] == CALM_NONE) return &unknown;
  return &g->values.data[node->inputs[i]].shape;
}

/* Kinds that depend on how many dimensions the picture has. */
static op_kind fit_rank(op_kind flat, uint32_t rank) {
  static const op_kind forms[][3] = {
      {OP_conv1d, OP_conv2d, OP_conv3d},
      {OP_conv1d_transpose, OP_transpose_conv, OP_conv3d_transpose},
      {OP_average_pool1d, OP_average_pool2d, OP_average_pool3d},
      {OP_max_pool1d, OP_max_pool2d, OP_max_pool3d}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (forms[i][1] != flat) continue;
    return rank >= 3 && rank <= 5 ? forms[i][rank - 3] : OP_OPAQUE;
  }
  return flat;
}

/* One group per channel. */
static bool is_depthwise(const onnx_graph *g, const onnx_node *node) {
  const onnx_shape *input = shape_of_input(g, node, 0);
  int64_t group = onnx_find_int(node, "group", 1);
  return input->rank == 4 && group > 1 && input->dims[1] == group;
}

/* A batch normalization that learns works on the batch as a whole. */
static bool normalizes_batches(const onnx_node *node) {
  if (strcmp(node->op_type, "BatchNormalization")) return false;
  if (node->opset >= 14) return onnx_find_int(node, "training_mode", 0) != 0;
  for (uint32_t i = 1; i < node->output_count; i++)
    if (node->outputs[i] != CALM_NONE) return true;
  return false;
}

static op_kind kind_of(const onnx_graph *g, const onnx_node *node) {
  const struct kind_row *row = find_kind(node);
  if (is_fused_conv(node) && shape_of_input(g, node, 0)->rank == 4)
    return OP_fused_conv;
  if (!row || normalizes_batches(node)) return OP_OPAQUE;
  if (row->kind == OP_dropout && onnx_is_random(g, node)) return OP_OPAQUE;
  if (row->kind == OP_conv2d && is_depthwise(g, node))
    return OP_depthwise_conv2d;
  return fit_rank(row->kind, shape_of_input(g, node, 0)->rank);
}

/* "erfinv" of ai.onnx, "com.microsoft:FusedMatMul" of others; never the name of
   a kind that it is not. */
static calm_status name_opaque(const char **out, onnx_reader *r,
                               const onnx_node *node) {
  const char *domain = *node->domain ? node->domain : "onnx";
  return onnx_qualify(out, r, domain, node->op_type);
}

/* ---- Attributes ---------------------------------------------------------- */

/* "1,2"; NULL if all are what they are when nothing is said, or if there are
   more than could mean anything. */
static calm_status print_numbers(const char **out, onnx_reader *r,
                                 const int64_t *numbers, uint32_t count,
                                 int64_t absent) {
  size_t size = (size_t)count * 21 + 1, used = 0;
  bool said = absent == ALWAYS;
  *out = NULL;
  if (count > 2 * GRAPH_MAX_RANK) return CALM_OK;
  char *value = arena_calloc(&r->scratch, size, 1);
  if (!value) return context_no_memory(r->context);
  for (uint32_t i = 0; i < count; i++) {
    said = said || numbers[i] != absent;
    used += (size_t)snprintf(value + used, size - used, "%s%" PRId64,
                             i ? "," : "", numbers[i]);
  }
  *out = said ? value : NULL;
  return CALM_OK;
}

/* Words in lower case. */
static calm_status print_word(const char **out, onnx_reader *r,
                              const char *word) {
  char *value = arena_string(&r->scratch, word, strlen(word));
  if (!value) return context_no_memory(r->context);
  for (char *c = value; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
  *out = !strcmp(value, "notset") ? NULL : value;
  return CALM_OK;
}

/* In as few digits as the float needs, whatever the locale makes of a point. */
static void print_float(char *out, size_t size, double value) {
  char printed[32];
  for (int digits = 1; digits <= 9; digits++) {
    snprintf(printed, sizeof printed, "%.*g", digits, value);
    if ((float)strtod(printed, NULL) == (float)value) break;
  }
  snprintf(out, size, "%s", printed);
  for (char *c = out; *c; c++)
    if (!strchr("0123456789+-einfa", *c)) *c = '.';
}

static calm_status print_real(const char **out, onnx_reader *r, double value) {
  enum { ROOM = 32 };
  char *printed = arena_calloc(&r->scratch, ROOM, 1);
  if (!printed) return context_no_memory(r->context);
  print_float(printed, ROOM, value);
  *out = printed;
  return CALM_OK;
}

static calm_status print_value(const char **out, onnx_reader *r,
                               const onnx_attribute *attribute,
                               int64_t absent) {
  *out = NULL;
  switch (attribute->type) {
    case ONNX_ATTRIBUTE_INT:
      return print_numbers(out, r, &attribute->i, 1, absent);
    case ONNX_ATTRIBUTE_INTS:
      return print_numbers(out, r, attribute->ints,
                           attribute->ints ? attribute->count : 0, absent);
    case ONNX_ATTRIBUTE_STRING: return print_word(out, r, attribute->s);
    case ONNX_ATTRIBUTE_FLOAT: return print_real(out, r, attribute->f);
    default: return CALM_OK;
  }
}

static bool is_spatial(op_kind kind) {
  static const op_kind spatial[] = {
      OP_conv1d,           OP_conv2d,         OP_conv3d,
      OP_conv1d_transpose, OP_transpose_conv, OP_conv3d_transpose,
      OP_average_pool1d,   OP_average_pool2d, OP_average_pool3d,
      OP_max_pool1d,       OP_max_pool2d,     OP_max_pool3d,
      OP_depthwise_conv2d, OP_fused_conv};
  for (size_t i = 0; i < sizeof spatial / sizeof *spatial; i++)
    if (spatial[i] == kind) return true;
  return false;
}

/* ---- Activations --------------------------------------------------------- */

static const char *name_activation(const char *type) {
  static const char *const names[][2] = {
      {"Relu", "relu"},        {"Tanh", "tanh"},
      {"Sigmoid", "logistic"}, {"LeakyRelu", "leaky_relu"},
      {"Clip", "clip"},        {"HardSigmoid", "hard_sigmoid"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i][0], type)) return names[i][1];
  return type;
}

static bool is_relu6(const char *name, const onnx_attribute *parameters) {
  return !strcmp(name, "clip") && parameters && parameters->count == 2 &&
         parameters->floats && parameters->floats[0] == 0.0 &&
         parameters->floats[1] == 6.0;
}

/* "clip,0,4": with its parameters, as they are part of what it is. */
static calm_status print_activation(const char **out, onnx_reader *r,
                                    const char *name,
                                    const onnx_attribute *parameters) {
  const uint32_t count =
      parameters && parameters->floats ? parameters->count : 0;
  const size_t size = strlen(name) + (size_t)count * 32 + 1;
  char *printed = arena_calloc(&r->scratch, size, 1);
  if (!printed) return context_no_memory(r->context);
  size_t used = (size_t)snprintf(printed, size, "%s", name);
  for (uint32_t i = 0; i < count; i++) {
    printed[used++] = ',';
    print_float(printed + used, size - used, parameters->floats[i]);
    used += strlen(printed + used);
  }
  *out = printed;
  return CALM_OK;
}

static calm_status list_activation(graph_op *op, onnx_reader *r,
                                   const onnx_node *node) {
  const onnx_attribute *type = onnx_find(node, "activation");
  const onnx_attribute *parameters = onnx_find(node, "activation_params");
  if (!type || type->type != ONNX_ATTRIBUTE_STRING || !*type->s) return CALM_OK;
  const char *name = name_activation(type->s);
  if (is_relu6(name, parameters))
    name = "relu6";
  else
    TRY(print_activation(&name, r, name, parameters));
  op->attributes[op->attribute_count++] = (graph_attribute){"activation", name};
  return CALM_OK;
}

/* ---- All of them --------------------------------------------------------- */

/* From opset 13 or 18 on an operand says which dimensions go. */
static calm_status list_axes(graph_op *op, onnx_reader *r, const onnx_graph *g,
                             const onnx_node *node) {
  const char *value;
  if (strncmp(node->op_type, "Reduce", 6) || node->input_count < 2 ||
      node->inputs[1] == CALM_NONE)
    return CALM_OK;
  const onnx_contents *axes = &g->values.data[node->inputs[1]].contents;
  if (!axes->integers) return CALM_OK;
  for (uint32_t i = 0; i < axes->count; i++)
    if (axes->integers[i] == ONNX_UNKNOWN) return CALM_OK;
  TRY(print_numbers(&value, r, axes->integers, axes->count, ALWAYS));
  if (value)
    op->attributes[op->attribute_count++] = (graph_attribute){"axes", value};
  return CALM_OK;
}

/* Channels stand behind the batch, unlike in TFLite, so that is said where it
   matters. */
static calm_status list_attributes(graph_op *op, onnx_reader *r,
                                   const onnx_graph *g, const onnx_node *node) {
  ARENA_ARRAY(&r->scratch, op->attributes, ATTRIBUTE_COUNT + 3);
  op->attribute_count = 0;
  if (is_spatial(op->kind))
    op->attributes[op->attribute_count++] =
        (graph_attribute){"layout", "channels_first"};
  for (uint32_t i = 0; i < ATTRIBUTE_COUNT; i++) {
    const onnx_attribute *found = onnx_find(node, attributes[i].name);
    const char *value = NULL;
    if (found) TRY(print_value(&value, r, found, attributes[i].absent));
    if (value)
      op->attributes[op->attribute_count++] =
          (graph_attribute){attributes[i].key, value};
  }
  if (op->kind == OP_fused_conv) TRY(list_activation(op, r, node));
  return list_axes(op, r, g, node);
}

calm_status onnx_describe(graph_op *op, onnx_reader *r, const onnx_graph *g,
                          const onnx_node *node) {
  op->kind = kind_of(g, node);
  op->stateful = onnx_is_random(g, node) ||
                 (node->function != CALM_NONE && r->random_functions);
  if (op->kind == OP_OPAQUE) TRY(name_opaque(&op->kind_name, r, node));
  if (*node->domain && op->kind != OP_fused_conv) return CALM_OK;
  return list_attributes(op, r, g, node);
}
