/* Nodes: what they are, the names of their operands, their attributes. */
#include <string.h>

#include "model/onnx_parts.h"
#include "model/onnx_schema.h"

enum { ATTRIBUTE_FLOATS = 7, ATTRIBUTE_INTS = 8, TYPE_SPARSE = 11 };

/* ---- Attributes ---------------------------------------------------------- */

static double float_of(uint64_t bits) {
  uint32_t half = (uint32_t)bits;
  float value;
  memcpy(&value, &half, sizeof value);
  return (double)value;
}

static calm_status read_floats(onnx_attribute *out, onnx_reader *r,
                               proto_span span) {
  uint64_t *bits;
  uint32_t count;
  TRY(proto_numbers(&bits, &count, &r->scratch, &r->file, span,
                    ATTRIBUTE_FLOATS, PROTO_FIXED32));
  if (count == 0) return CALM_OK;
  ARENA_ARRAY(&r->scratch, out->floats, count);
  for (uint32_t i = 0; i < count; i++) out->floats[i] = float_of(bits[i]);
  out->count = count;
  return CALM_OK;
}

static calm_status read_ints(onnx_attribute *out, onnx_reader *r,
                             proto_span span) {
  uint64_t *values;
  uint32_t count;
  TRY(proto_numbers(&values, &count, &r->scratch, &r->file, span,
                    ATTRIBUTE_INTS, PROTO_VARINT));
  if (count == 0) return CALM_OK;
  out->ints = (int64_t *)values;
  out->count = count;
  return CALM_OK;
}

/* The graph is only announced here; its turn comes when this one is done, so
   that depth costs no stack. */
static calm_status announce_graph(onnx_attribute *out, onnx_reader *r,
                                  uint32_t parent, uint32_t node,
                                  proto_span span) {
  uint32_t depth = r->graphs.data[parent].depth + 1;
  if (depth > ONNX_MAX_DEPTH)
    return onnx_fail(r, parent, span.begin, "bodies more than %d deep",
                     ONNX_MAX_DEPTH);
  onnx_graph body = {
      .name = "", .parent = parent, .node = node, .span = span, .depth = depth};
  name_table_init(&body.names, r->context);
  out->graphs[out->count++] = r->graphs.count;
  VECTOR_PUSH(r->context, &r->graphs, body);
  return CALM_OK;
}

static calm_status read_graphs(onnx_attribute *out, onnx_reader *r,
                               uint32_t parent, uint32_t node,
                               proto_span span) {
  uint32_t count = 0;
  proto_field f;
  for (proto_cursor c = proto_open(&r->file, span); proto_more(&c);) {
    TRY(proto_next(&f, &c));
    count += f.key == KEY_ATTRIBUTE_GRAPH || f.key == KEY_ATTRIBUTE_GRAPHS;
  }
  if (count == 0) return CALM_OK;
  ARENA_ARRAY(&r->scratch, out->graphs, count);
  for (proto_cursor c = proto_open(&r->file, span); proto_more(&c);) {
    TRY(proto_next(&f, &c));
    if (f.key == KEY_ATTRIBUTE_GRAPH || f.key == KEY_ATTRIBUTE_GRAPHS)
      TRY(announce_graph(out, r, parent, node, f.span));
  }
  return CALM_OK;
}

/* Bytes, of which calm only needs those that are words. */
static calm_status read_word(const char **out, onnx_reader *r,
                             proto_span span) {
  *out = arena_string(&r->scratch, (const char *)r->file.bytes + span.begin,
                      span.end - span.begin);
  return *out ? CALM_OK : context_no_memory(r->context);
}

/* Files older than the type field say by what is there. */
static calm_status read_scalar(onnx_attribute *out, onnx_reader *r,
                               const proto_field *f) {
  const char *ignored;
  switch (f->key) {
    case KEY_ATTRIBUTE_NAME:
      return proto_string(&out->name, &r->scratch, &r->file, f->span);
    case KEY_ATTRIBUTE_F:
      out->f = float_of(f->value);
      out->type = ONNX_ATTRIBUTE_FLOAT;
      return CALM_OK;
    case KEY_ATTRIBUTE_I:
      out->i = (int64_t)f->value;
      out->type = ONNX_ATTRIBUTE_INT;
      return CALM_OK;
    case KEY_ATTRIBUTE_S:
      out->type = ONNX_ATTRIBUTE_STRING;
      return read_word(&out->s, r, f->span);
    case KEY_ATTRIBUTE_TENSOR:
      out->type = ONNX_ATTRIBUTE_TENSOR;
      return onnx_read_tensor(&out->tensor, &ignored, r, f->span);
    case KEY_ATTRIBUTE_SPARSE:
      out->type = TYPE_SPARSE;
      return onnx_read_sparse(&out->tensor, &ignored, r, f->span);
    case KEY_ATTRIBUTE_GRAPH: out->type = ONNX_ATTRIBUTE_GRAPH; return CALM_OK;
    case KEY_ATTRIBUTE_GRAPHS:
      out->type = ONNX_ATTRIBUTE_GRAPHS;
      return CALM_OK;
    case PROTO_KEY(ATTRIBUTE_INTS, PROTO_VARINT):
    case PROTO_KEY(ATTRIBUTE_INTS, PROTO_BYTES):
      out->type = ONNX_ATTRIBUTE_INTS;
      return CALM_OK;
    case PROTO_KEY(ATTRIBUTE_FLOATS, PROTO_FIXED32):
    case PROTO_KEY(ATTRIBUTE_FLOATS, PROTO_BYTES):
      out->type = ONNX_ATTRIBUTE_FLOATS;
      return CALM_OK;
    default: return CALM_OK;
  }
}

static calm_status read_attribute(onnx_attribute *out, onnx_reader *r,
                                  uint32_t graph, uint32_t node,
                                  proto_span span) {
  onnx_attribute attribute = {.name = "", .s = "", .span = span};
  int32_t stated = 0;
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_ATTRIBUTE_TYPE) stated = (int32_t)f.value;
    TRY(read_scalar(&attribute, r, &f));
  }
  TRY(read_ints(&attribute, r, span));
  TRY(read_floats(&attribute, r, span));
  TRY(read_graphs(&attribute, r, graph, node, span));
  if (stated) attribute.type = stated;
  *out = attribute;
  return CALM_OK;
}

/* ---- The node ------------------------------------------------------------ */

typedef struct node_counts {
  uint32_t inputs, outputs, attributes;
} node_counts;

static calm_status count_fields(node_counts *out, const onnx_reader *r,
                                proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  *out = (node_counts){0};
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    out->inputs += f.key == KEY_NODE_INPUT;
    out->outputs += f.key == KEY_NODE_OUTPUT;
    out->attributes += f.key == KEY_NODE_ATTRIBUTE;
  }
  return CALM_OK;
}

static calm_status reserve(onnx_node *out, onnx_reader *r, proto_span span) {
  node_counts counts;
  TRY(count_fields(&counts, r, span));
  ARENA_ARRAY(&r->scratch, out->inputs, counts.inputs);
  ARENA_ARRAY(&r->scratch, out->input_names, counts.inputs);
  ARENA_ARRAY(&r->scratch, out->outputs, counts.outputs);
  ARENA_ARRAY(&r->scratch, out->output_names, counts.outputs);
  ARENA_ARRAY(&r->scratch, out->attributes, counts.attributes);
  return CALM_OK;
}

static calm_status read_field(onnx_node *out, onnx_reader *r, uint32_t graph,
                              const proto_field *f) {
  const proto_file *file = &r->file;
  switch (f->key) {
    case KEY_NODE_INPUT:
      return proto_string(&out->input_names[out->input_count++], &r->scratch,
                          file, f->span);
    case KEY_NODE_OUTPUT:
      return proto_string(&out->output_names[out->output_count++], &r->scratch,
                          file, f->span);
    case KEY_NODE_NAME:
      return proto_string(&out->name, &r->scratch, file, f->span);
    case KEY_NODE_OP_TYPE:
      return proto_string(&out->op_type, &r->scratch, file, f->span);
    case KEY_NODE_DOMAIN:
      return proto_string(&out->domain, &r->scratch, file, f->span);
    case KEY_NODE_ATTRIBUTE:
      return read_attribute(&out->attributes[out->attribute_count++], r, graph,
                            r->graphs.data[graph].nodes.count, f->span);
    default: return CALM_OK;
  }
}

static int64_t opset_of(const onnx_reader *r, const char *domain) {
  uint32_t i = name_table_find(&r->opset_names, domain);
  return i == CALM_NONE ? 0 : r->opsets.data[i].version;
}

calm_status onnx_qualify(const char **out, onnx_reader *r, const char *domain,
                         const char *name) {
  size_t head = strlen(domain), tail = strlen(name);
  char *joined = arena_calloc(&r->scratch, head + tail + 2, 1);
  if (!joined) return context_no_memory(r->context);
  memcpy(joined, domain, head);
  joined[head] = ':';
  memcpy(joined + head + 1, name, tail);
  *out = joined;
  return CALM_OK;
}

static calm_status find_function(onnx_node *node, onnx_reader *r) {
  const char *qualified;
  node->function = CALM_NONE;
  if (r->functions.count == 0) return CALM_OK;
  TRY(onnx_qualify(&qualified, r, node->domain, node->op_type));
  node->function = name_table_find(&r->function_names, qualified);
  return CALM_OK;
}

calm_status onnx_read_node(onnx_node *out, onnx_reader *r, uint32_t graph,
                           const proto_field *field) {
  onnx_node node = {.name = "",
                    .op_type = "",
                    .domain = "",
                    .position = field->all.begin,
                    .entry = field->all};
  TRY(reserve(&node, r, field->span));
  proto_cursor c = proto_open(&r->file, field->span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    TRY(read_field(&node, r, graph, &f));
  }
  if (!*node.op_type)
    return onnx_fail(r, graph, node.position, "a node without an operator");
  if (!strcmp(node.domain, "ai.onnx")) node.domain = "";
  node.opset = opset_of(r, node.domain);
  TRY(find_function(&node, r));
  *out = node;
  return CALM_OK;
}

/* Dropout draws only where it is told that this is training. */
static bool trains(const onnx_graph *g, const onnx_node *node) {
  if (strcmp(node->op_type, "Dropout") || !g || node->input_count < 3 ||
      node->inputs[2] == CALM_NONE)
    return false;
  const onnx_value *mode = &g->values.data[node->inputs[2]];
  return !mode->contents.integers || mode->contents.count != 1 ||
         mode->contents.integers[0] != 0;
}

bool onnx_is_random(const onnx_graph *g, const onnx_node *node) {
  static const char *const kinds[] = {"RandomNormal",  "RandomNormalLike",
                                      "RandomUniform", "RandomUniformLike",
                                      "Multinomial",   "Bernoulli"};
  if (*node->domain) return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(node->op_type, kinds[i])) return true;
  return trains(g, node);
}

/* ---- Attributes by name -------------------------------------------------- */

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
