#include <inttypes.h>
#include <string.h>

#include "graph/graph_lexer.h"
#include "graph/graph_text.h"

/* ---- Names --------------------------------------------------------------- */

static bool all_bare(const char *name, const char *also) {
  for (; *name; name++)
    if (!lexer_is_bare(*name) && !strchr(also, *name)) return false;
  return true;
}

/* Bytes of the well-formed UTF-8 sequence that begins here; 0 if none does. */
static size_t utf8_sequence(const char *text) {
  const unsigned char *b = (const unsigned char *)text;
  size_t length = b[0] < 0x80   ? 1
                  : b[0] < 0xC2 ? 0
                  : b[0] < 0xE0 ? 2
                  : b[0] < 0xF0 ? 3
                  : b[0] < 0xF5 ? 4
                                : 0;
  for (size_t i = 1; i < length; i++)
    if ((b[i] & 0xC0) != 0x80) return 0;
  bool overlong =
      (b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xF0 && b[1] < 0x90);
  bool surrogate = b[0] == 0xED && b[1] >= 0xA0;
  bool too_large = b[0] == 0xF4 && b[1] >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

/* What an editor shows as it is stays as it is; the rest becomes escapes. */
static void write_quoted(text *out, const char *name) {
  text_add(out, "\"", 1);
  while (*name) {
    size_t length = utf8_sequence(name);
    unsigned char c = (unsigned char)*name;
    if (c == '"' || c == '\\')
      text_format(out, "\\%c", c);
    else if (c == '\n')
      text_add(out, "\\n", 2);
    else if (c < 0x20 || c == 0x7F || length == 0)
      text_format(out, "\\x%02x", (unsigned)c);
    else
      text_add(out, name, length);
    name += length ? length : 1;
  }
  text_add(out, "\"", 1);
}

void graph_text_write_name(text *out, const char *name) {
  if (*name && strcmp(name, "-") && all_bare(name, ""))
    text_add(out, name, strlen(name));
  else
    write_quoted(out, name);
}

static void write_value(text *out, const char *value) {
  if (*value && all_bare(value, ","))
    text_add(out, value, strlen(value));
  else
    write_quoted(out, value);
}

/* ---- Lines --------------------------------------------------------------- */

static void write_shape(text *out, const graph_tensor *tensor) {
  text_format(out, " %s[", element_type_name(tensor->type));
  for (uint32_t i = 0; i < tensor->rank; i++)
    text_format(out, "%s%" PRId64, i ? "," : "", tensor->dimensions[i]);
  text_add(out, "]", 1);
}

static void write_tensor(text *out, const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  text_format(out, "tensor ");
  graph_text_write_name(out, tensor->name);
  if (tensor->type == ELEMENT_ABSTRACT)
    text_format(out, " %" PRIu64, tensor->bytes);
  else
    write_shape(out, tensor);
  if (tensor->flags & CALM_TENSOR_INPUT) text_format(out, " input");
  if (tensor->flags & CALM_TENSOR_OUTPUT) text_format(out, " output");
  if (tensor->flags & CALM_TENSOR_CONST) text_format(out, " const");
  if (tensor->flags & CALM_TENSOR_VARIABLE) text_format(out, " variable");
  if (graph_tensor_is_missing(g, t)) text_format(out, " unwritten");
  text_add(out, "\n", 1);
}

static void write_operands(text *out, const graph *g, const tensor_id *tensors,
                           uint32_t count) {
  text_add(out, "( ", 2);
  for (uint32_t i = 0; i < count; i++) {
    if (tensors[i] == CALM_NONE)
      text_add(out, "-", 1);
    else
      graph_text_write_name(out, g->tensors.data[tensors[i]].name);
    text_add(out, " ", 1);
  }
  text_add(out, ")", 1);
}

static bool runs_after(const graph_op *op, op_id other) {
  for (uint32_t i = 0; i < op->after_count; i++)
    if (op->after[i] == other) return true;
  return false;
}

/*
 * The order among stateful operators is implied only where both are stateful by
 * kind: the text has no word for an opaque operator with state, so the edge to
 * and from one is spelled out.
 */
static bool must_tell_state(const graph *g, op_id u, op_id previous) {
  const graph_op *op = &g->ops.data[u];
  if (previous == CALM_NONE || !graph_op_stateful(op)) return false;
  if (runs_after(op, previous)) return false;
  unsigned both =
      op_kind_flags(op->kind) & op_kind_flags(g->ops.data[previous].kind);
  return !(both & OP_STATEFUL);
}

static void write_after(text *out, const graph *g, op_id u,
                        op_id last_stateful) {
  const graph_op *op = &g->ops.data[u];
  bool state = must_tell_state(g, u, last_stateful);
  if (op->after_count == 0 && !state) return;
  text_format(out, " after (");
  for (uint32_t i = 0; i < op->after_count + state; i++) {
    op_id other = i < op->after_count ? op->after[i] : last_stateful;
    text_add(out, " ", 1);
    graph_text_write_name(out, g->ops.data[other].name);
  }
  text_format(out, " )");
}

static void write_attributes(text *out, const graph *graphs,
                             const graph_op *op) {
  if (op->workspace_bytes)
    text_format(out, " workspace=%" PRIu64, op->workspace_bytes);
  for (uint32_t i = 0; i < op->body_count; i++) {
    text_format(out, " body=");
    graph_text_write_name(out, graphs[op->bodies[i]].name);
  }
  for (uint32_t i = 0; i < op->attribute_count; i++) {
    text_add(out, " ", 1);
    graph_text_write_name(out, op->attributes[i].key);
    text_add(out, "=", 1);
    write_value(out, op->attributes[i].value);
  }
}

static void write_op(text *out, const graph *graphs, const graph *g, op_id u,
                     op_id last_stateful) {
  const graph_op *op = &g->ops.data[u];
  text_format(out, "op ");
  graph_text_write_name(out, op->name);
  text_add(out, " ", 1);
  graph_text_write_name(out, op->kind_name);
  text_add(out, " ", 1);
  write_operands(out, g, op->inputs, op->input_count);
  text_format(out, " -> ");
  write_operands(out, g, op->outputs, op->output_count);
  write_after(out, g, u, last_stateful);
  write_attributes(out, graphs, op);
  text_add(out, "\n", 1);
}

static void write_graph(text *out, const graph *graphs, const graph *g) {
  op_id last_stateful = CALM_NONE;
  text_format(out, "graph ");
  graph_text_write_name(out, g->name);
  text_format(out, "%s\n", g->channels_first ? " layout=nchw" : "");
  for (tensor_id t = 0; t < g->tensors.count; t++) write_tensor(out, g, t);
  for (op_id u = 0; u < g->ops.count; u++) {
    write_op(out, graphs, g, u, last_stateful);
    if (graph_op_stateful(&g->ops.data[u])) last_stateful = u;
  }
}

void graph_text_write(text *out, const graph *graphs, uint32_t count) {
  text_format(out, "calm-graph 1\n");
  for (uint32_t i = 0; i < count; i++) write_graph(out, graphs, &graphs[i]);
}
