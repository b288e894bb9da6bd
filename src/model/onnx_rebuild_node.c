/*
 * The nodes of a rebuilt graph.  One that stays is copied field by field: its
 * operands, its name and some of its attributes may be others, the rest is as
 * it was, whatever it is.  One that is new has what it needs and no more.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_window.h"
#include "model/onnx_rebuild.h"
#include "model/onnx_schema.h"
#include "model/protobuf_write.h"

static const char microsoft[] = "com.microsoft";

/* One node on its way. */
typedef struct node_copy {
  onnx_rebuilder *b;
  const graph_op *now, *was;
  const onnx_node *node;
  op_id op;
} node_copy;

static calm_status refuse(const node_copy *n, const char *reason) {
  return context_fail(n->b->r->context, CALM_UNSUPPORTED,
                      "%s: operator '%.100s' %s", n->b->model->path,
                      n->now->name, reason);
}

/* ---- Operands ------------------------------------------------------------ */

/* What bodies read is listed behind the operands, but only in the graph. */
static uint32_t operand_count(const node_copy *n) {
  return n->node->captured_count && n->now->input_count > n->node->input_count
             ? n->node->input_count
             : n->now->input_count;
}

static void put_inputs(text *out, const node_copy *n) {
  const uint32_t count = operand_count(n);
  for (uint32_t i = 0; i < count; i++)
    proto_put_string(out, KEY_NODE_INPUT,
                     rebuild_name(n->b, n->now->inputs[i]));
}

/* An optional output that nobody reads is none in the graph; it keeps its name
   in the file as long as the node is the same. */
static const char *name_output(const node_copy *n, uint32_t i, bool whole) {
  if (i < n->now->output_count && n->now->outputs[i] != CALM_NONE)
    return rebuild_name(n->b, n->now->outputs[i]);
  return whole && i < n->node->output_count ? n->node->output_names[i] : "";
}

static void put_outputs(text *out, const node_copy *n) {
  const bool whole = rebuild_is_whole(n->b, n->op);
  const uint32_t count = whole ? n->node->output_count : n->now->output_count;
  for (uint32_t i = 0; i < count; i++)
    proto_put_string(out, KEY_NODE_OUTPUT, name_output(n, i, whole));
}

/* ---- Name and type ------------------------------------------------------- */

/* A node without a name of its own is called by its number in the graph, which
   holds as long as nothing moves. */
static const char *name_of(const node_copy *n) {
  const bool same = !strcmp(n->now->name, n->node->label);
  if (same && (!n->b->renumbered || n->node->label == n->node->name))
    return n->node->name;
  return n->now->name;
}

static const char *type_of(const node_copy *n) {
  if (n->now->kind == OP_fused_conv) return "FusedConv";
  return n->was->kind == OP_fused_conv ? "Conv" : n->node->op_type;
}

static const char *new_type_of(op_kind kind) {
  switch (kind) {
    case OP_add: return "Add";
    case OP_sub: return "Sub";
    case OP_mul: return "Mul";
    case OP_div: return "Div";
    case OP_concat: return "Concat";
    case OP_batch_normalization: return "BatchNormalization";
    case OP_slice: return "Slice";
    default: return NULL;
  }
}

/* ---- Attributes ---------------------------------------------------------- */

/* Those that an edit may change. */
static const struct changeable {
  const char *name, *key;
  onnx_attribute_type type;
} changeables[] = {{"group", "group", ONNX_ATTRIBUTE_INT},
                   {"axis", "axis", ONNX_ATTRIBUTE_INT},
                   {"epsilon", "epsilon", ONNX_ATTRIBUTE_FLOAT},
                   {"pads", "pads", ONNX_ATTRIBUTE_INTS},
                   {"dilations", "dilation", ONNX_ATTRIBUTE_INTS},
                   {"auto_pad", "pad", ONNX_ATTRIBUTE_STRING}};

enum { CHANGEABLES = sizeof changeables / sizeof *changeables };

static bool differs(const node_copy *n, const char *key) {
  const char *now = graph_op_attribute(n->now, key);
  const char *was = graph_op_attribute(n->was, key);
  return now && was ? strcmp(now, was) != 0 : now != was;
}

static bool is_dropped(const node_copy *n, const char *name) {
  if (!strcmp(name, "activation") || !strcmp(name, "activation_params"))
    return differs(n, "activation");
  for (uint32_t i = 0; i < CHANGEABLES; i++)
    if (!strcmp(changeables[i].name, name))
      return differs(n, changeables[i].key);
  return false;
}

/* As the reader printed it: few digits, so that one division is exact. */
static float parse_float(const char *value) {
  double digits = 0, scale = 1;
  bool fraction = false;
  for (; (*value >= '0' && *value <= '9') || *value == '.'; value++) {
    if (*value == '.') {
      fraction = true;
      continue;
    }
    digits = digits * 10 + (*value - '0');
    if (fraction) scale *= 10;
  }
  long exponent = *value == 'e' ? strtol(value + 1, NULL, 10) : 0;
  for (; exponent > 0 && digits < 1e300; exponent--) digits *= 10;
  for (; exponent < 0 && scale < 1e300; exponent++) scale *= 10;
  return (float)(digits / scale);
}

static void put_integers(text *out, const char *value) {
  char *end;
  for (const char *at = value; *at; at = *end ? end + 1 : end) {
    const int64_t number = strtoll(at, &end, 10);
    proto_put_number(out, KEY_ATTRIBUTE_INTS, (uint64_t)number);
    if (end == at) return;
  }
}

static void put_attribute(text *out, const node_copy *n,
                          const struct changeable *c, const char *value) {
  text attribute;
  text_init(&attribute, n->b->r->context);
  proto_put_string(&attribute, KEY_ATTRIBUTE_NAME, c->name);
  if (c->type == ONNX_ATTRIBUTE_INT) {
    proto_put_number(&attribute, KEY_ATTRIBUTE_I,
                     (uint64_t)strtoll(value, NULL, 10));
  } else if (c->type == ONNX_ATTRIBUTE_INTS) {
    put_integers(&attribute, value);
  } else if (c->type == ONNX_ATTRIBUTE_STRING) {
    proto_put_string(&attribute, KEY_ATTRIBUTE_S, value);
  } else {
    const float number = parse_float(value);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    proto_put_number(&attribute, KEY_ATTRIBUTE_F, bits);
  }
  proto_put_number(&attribute, KEY_ATTRIBUTE_TYPE, (uint64_t)c->type);
  proto_put_message(out, KEY_NODE_ATTRIBUTE, &attribute);
}

static void put_attributes(text *out, const node_copy *n, bool all) {
  for (uint32_t i = 0; i < CHANGEABLES; i++) {
    const char *value = graph_op_attribute(n->now, changeables[i].key);
    if (value && (all || differs(n, changeables[i].key)))
      put_attribute(out, n, &changeables[i], value);
  }
}

/* ---- A node that stays --------------------------------------------------- */

static void put_span(text *out, const node_copy *n, proto_span span) {
  text_add(out, (const char *)n->b->r->file.bytes + span.begin,
           span.end - span.begin);
}

/* What has been written so far, so that each is written once. */
typedef struct progress {
  bool inputs, outputs, name, domain;
  uint32_t attribute;
} progress;

static void put_inputs_once(text *out, const node_copy *n, progress *p) {
  if (!p->inputs) put_inputs(out, n);
  p->inputs = true;
}

static void put_outputs_once(text *out, const node_copy *n, progress *p) {
  if (!p->outputs) put_outputs(out, n);
  p->outputs = true;
}

static void put_name_once(text *out, const node_copy *n, progress *p) {
  const char *name = name_of(n);
  if (!p->name && (*name || *n->node->name))
    proto_put_string(out, KEY_NODE_NAME, name);
  p->name = true;
}

static void put_domain_once(text *out, const node_copy *n, progress *p) {
  if (!p->domain && n->now->kind == OP_fused_conv)
    proto_put_string(out, KEY_NODE_DOMAIN, microsoft);
  p->domain = true;
}

static void copy_field(text *out, const node_copy *n, const proto_field *f,
                       progress *p) {
  const bool retyped = n->now->kind != n->was->kind;
  switch (f->key) {
    case KEY_NODE_INPUT: put_inputs_once(out, n, p); return;
    case KEY_NODE_OUTPUT: put_outputs_once(out, n, p); return;
    case KEY_NODE_NAME:
      if (*n->node->name)
        put_name_once(out, n, p);
      else
        put_span(out, n, f->all);
      return;
    case KEY_NODE_OP_TYPE:
      if (retyped)
        proto_put_string(out, f->key, type_of(n));
      else
        put_span(out, n, f->all);
      return;
    case KEY_NODE_DOMAIN:
      if (retyped)
        put_domain_once(out, n, p);
      else
        put_span(out, n, f->all);
      return;
    case KEY_NODE_ATTRIBUTE:
      if (!is_dropped(n, n->node->attributes[p->attribute++].name))
        put_span(out, n, f->all);
      return;
    default: put_span(out, n, f->all); return;
  }
}

static calm_status content_of(proto_span *out, const node_copy *n) {
  proto_field entry;
  proto_cursor c = proto_open(&n->b->r->file, n->node->entry);
  TRY(proto_next(&entry, &c));
  *out = entry.span;
  return CALM_OK;
}

static calm_status copy_node(text *out, const node_copy *n) {
  progress p = {0};
  proto_span content;
  TRY(content_of(&content, n));
  proto_cursor c = proto_open(&n->b->r->file, content);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    copy_field(out, n, &f, &p);
  }
  put_inputs_once(out, n, &p);
  put_outputs_once(out, n, &p);
  put_name_once(out, n, &p);
  if (n->now->kind != n->was->kind) put_domain_once(out, n, &p);
  put_attributes(out, n, false);
  return CALM_OK;
}

/* ---- A new node ---------------------------------------------------------- */

static calm_status make_node(text *out, const node_copy *n) {
  const char *type = new_type_of(n->now->kind);
  if (!type) return refuse(n, "is of no kind that an .onnx file can have here");
  put_inputs(out, n);
  put_outputs(out, n);
  proto_put_string(out, KEY_NODE_NAME, n->now->name);
  proto_put_string(out, KEY_NODE_OP_TYPE, type);
  put_attributes(out, n, true);
  return CALM_OK;
}

/* ---- A slice ------------------------------------------------------------- */

/* Since opset 10 the part that a slice takes stands in operands. */
static bool slices_have_operands(const node_copy *n) {
  enum { FIRST = 10 };
  const onnx_reader *r = n->b->r;
  const uint32_t i = name_table_find(&r->opset_names, "");
  return i == CALM_NONE || r->opsets.data[i].version >= FIRST;
}

static void put_places(text *out, const node_copy *n, const char *name,
                       const int64_t *numbers, uint32_t count) {
  text attribute;
  text_init(&attribute, n->b->r->context);
  proto_put_string(&attribute, KEY_ATTRIBUTE_NAME, name);
  for (uint32_t i = 0; i < count; i++)
    proto_put_number(&attribute, KEY_ATTRIBUTE_INTS, (uint64_t)numbers[i]);
  proto_put_number(&attribute, KEY_ATTRIBUTE_TYPE, ONNX_ATTRIBUTE_INTS);
  proto_put_message(out, KEY_NODE_ATTRIBUTE, &attribute);
}

/* Without axes they are all of them. */
static calm_status put_part(text *out, const node_copy *n) {
  int64_t begin[GRAPH_MAX_RANK], end[GRAPH_MAX_RANK];
  const uint32_t count = graph_op_numbers(begin, n->now, "begin");
  if (!count || graph_op_numbers(end, n->now, "size") != count)
    return refuse(n, "does not say which part it takes");
  for (uint32_t i = 0; i < count; i++) end[i] += begin[i];
  put_places(out, n, "starts", begin, count);
  put_places(out, n, "ends", end, count);
  return CALM_OK;
}

static calm_status make_slice(text *out, const node_copy *n) {
  const bool operands = slices_have_operands(n);
  if (operands && n->now->input_count < 3)
    return refuse(n, "needs its starts and ends as operands, since opset 10");
  if (!operands && n->now->input_count > 1)
    return refuse(n,
                  "can have its starts and ends as operands from opset 10 "
                  "on; the file asks for an older one");
  TRY(make_node(out, n));
  return operands ? CALM_OK : put_part(out, n);
}

/* ---- Which of the two ---------------------------------------------------- */

static bool is_convolution(op_kind kind) {
  return kind == OP_conv2d || kind == OP_depthwise_conv2d ||
         kind == OP_fused_conv;
}

static bool stays(const node_copy *n) {
  return n->now->kind == n->was->kind ||
         (is_convolution(n->now->kind) && is_convolution(n->was->kind));
}

/* Only a fused convolution has an activation in .onnx files, and it has the one
   that it had. */
static calm_status check_activation(const node_copy *n) {
  const char *now = graph_op_attribute(n->now, "activation");
  const char *was = graph_op_attribute(n->was, "activation");
  if (!now || n->now->kind == OP_OPAQUE) return CALM_OK;
  if (n->now->kind == OP_fused_conv && was && !strcmp(now, was)) return CALM_OK;
  return refuse(n, "cannot have an activation in an .onnx file");
}

/* Tiles are padded in numbers. */
static calm_status copy_window(text *out, const node_copy *n) {
  if (n->now->kind != n->was->kind)
    return refuse(n, "would become one of another kind");
  if (differs(n, "pad") && graph_op_attribute(n->now, "pad"))
    return refuse(n, "would be padded by a rule, not by numbers");
  return copy_node(out, n);
}

static calm_status compose(text *out, const node_copy *n) {
  TRY(check_activation(n));
  switch (n->b->edit->ops.data[n->op].role) {
    case EDIT_KEEP:
      if (stays(n)) return copy_node(out, n);
      return refuse(n, "would become one of another kind");
    case EDIT_CONCAT:
    case EDIT_AFFINE:
      return n->now->kind == n->was->kind ? copy_node(out, n)
                                          : make_node(out, n);
    case EDIT_ADD:
      if (n->now->kind == OP_add) return make_node(out, n);
      break;
    case EDIT_WINDOW: return copy_window(out, n);
    case EDIT_CROP:
      if (n->now->kind == OP_slice) return make_slice(out, n);
      break;
    case EDIT_JOIN:
      if (n->now->kind == OP_concat) return make_node(out, n);
      break;
    default: break;
  }
  return refuse(n, "is of no kind that an .onnx file can have");
}

calm_status rebuild_node(text *out, onnx_rebuilder *b, op_id u) {
  const node_copy n = {.b = b,
                       .now = &b->edit->after.ops.data[u],
                       .was = rebuild_was(b, u),
                       .node = rebuild_source(b, u),
                       .op = u};
  b->fused = b->fused || n.now->kind == OP_fused_conv;
  return compose(out, &n);
}
