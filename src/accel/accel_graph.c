#include "accel/accel_graph_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "accel/accel_layer_parts.h"
#include "base/number.h"

/* ---- Layers -------------------------------------------------------------- */

/* Steps of an axis that is not walked along, and gaps of a filter of one tap,
   say nothing. */
static accel_window_axis normal_axis(accel_window_axis axis) {
  if (axis.positions == 1) axis.stride = 1;
  if (axis.taps == 1) axis.dilation = 1;
  return axis;
}

static calm_status make_layer(accel_layer *out, const accel_extractor *e,
                              const accel_window *w, bool deep) {
  const accel_window_axis *x = &w->axes[0], *y = &w->axes[1], *z = &w->axes[2];
  const accel_named_value values[] = {
      {"R", x->taps},
      {"P", x->positions},
      {"Wstride", x->stride},
      {"S", y->taps},
      {"Q", y->positions},
      {"Hstride", y->stride},
      {"T", z->taps},
      {"F", z->positions},
      {"Dstride", z->stride},
      {"C", w->c},
      {"Wdilation", x->dilation},
      {"K", w->k},
      {"Hdilation", y->dilation},
      {"N", w->n},
      {"Ddilation", z->dilation},
      {"G", w->groups},
  };
  const char *shape = deep             ? "3d-cnn-layer"
                      : w->groups == 1 ? "cnn-layer"
                                       : "grouped-cnn-layer";
  const accel_filling filling = {accel_graph_op(e)->name, shape, values,
                                 sizeof values / sizeof *values};
  return accel_shape_fill(out, &filling, e->arena);
}

/* What makes a layer that it is, as a text. */
static calm_status key_of(const char **out, const accel_window *w, arena *a) {
  char key[512];
  int length =
      snprintf(key, sizeof key, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
               w->c, w->k, w->n, w->groups);
  for (uint32_t i = 0; i < ACCEL_AXES; i++) {
    const accel_window_axis *axis = &w->axes[i];
    length +=
        snprintf(key + length, sizeof key - (size_t)length,
                 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, axis->taps,
                 axis->positions, axis->stride, axis->dilation);
  }
  *out = arena_string(a, key, (size_t)length);
  return *out ? CALM_OK : context_no_memory(a->context);
}

/* A layer of more than 2^53 iterations is skipped like one without shapes. */
static calm_status append_layer(accel_extractor *e, const accel_window *w,
                                const char *key, bool deep) {
  accel_layer layer;
  const calm_status status = make_layer(&layer, e, w, deep);
  if (status == CALM_BAD_INPUT) e->reason = "too large to be counted";
  if (status != CALM_OK) return status == CALM_BAD_INPUT ? CALM_OK : status;
  TRY(name_table_add(&e->known, key, e->layers.count));
  VECTOR_PUSH(e->context, &e->layers, layer);
  VECTOR_PUSH(e->context, &e->first_ops, e->op);
  return CALM_OK;
}

calm_status accel_graph_add(accel_extractor *e, accel_window w) {
  const char *key;
  for (uint32_t i = 0; i < ACCEL_AXES; i++) {
    w.axes[i] = normal_axis(w.axes[i]);
    if (w.axes[i].stride == 0 || w.axes[i].dilation == 0) {
      e->reason = "a stride or a dilation of 0";
      return CALM_OK;
    }
  }
  const bool deep = w.axes[2].taps > 1 || w.axes[2].positions > 1;
  if (deep && w.groups > 1) {
    e->reason = "a grouped convolution in three dimensions";
    return CALM_OK;
  }
  TRY(key_of(&key, &w, e->arena));
  const uint32_t known = name_table_find(&e->known, key);
  if (known == CALM_NONE) return append_layer(e, &w, key, deep);
  e->layers.data[known].count++;
  return CALM_OK;
}

/* ---- Operands ------------------------------------------------------------ */

static const graph_tensor *shaped(accel_extractor *e, const tensor_id *slots,
                                  uint32_t count, uint32_t i) {
  const graph_tensor *t = NULL;
  if (i < count && slots[i] != CALM_NONE)
    t = &e->g->tensors.data[slots[i]];
  else
    e->reason = "it lacks an operand";
  if (t && t->type == ELEMENT_ABSTRACT) {
    e->reason = "an operand has no static shape";
    t = NULL;
  }
  for (uint32_t d = 0; t && d < t->rank; d++)
    if (t->dimensions[d] <= 0) {
      e->reason = "an operand is empty";
      return NULL;
    }
  return t;
}

const graph_tensor *accel_graph_input(accel_extractor *e, uint32_t i) {
  const graph_op *op = accel_graph_op(e);
  return shaped(e, op->inputs, op->input_count, i);
}

const graph_tensor *accel_graph_output(accel_extractor *e) {
  const graph_op *op = accel_graph_op(e);
  return shaped(e, op->outputs, op->output_count, 0);
}

uint64_t accel_graph_number(const graph_op *op, const char *key, uint32_t i,
                            uint64_t absent) {
  const char *text = graph_op_attribute(op, key);
  uint64_t value;
  for (; text && i > 0; i--) {
    text = strchr(text, ',');
    if (text) text++;
  }
  return text && number_parse(&value, text, strcspn(text, ",")) ? value
                                                                : absent;
}

/* ---- All operators ------------------------------------------------------- */

typedef calm_status operator_reader(accel_extractor *e);

/* What an operator becomes, or why it becomes no layer. */
static const struct rule {
  op_kind kind;
  operator_reader *read;
  const char *reason;
} rules[] = {
    {OP_conv2d, accel_graph_convolution, NULL},
    {OP_depthwise_conv2d, accel_graph_convolution, NULL},
    {OP_conv1d, accel_graph_convolution, NULL},
    {OP_conv3d, accel_graph_convolution, NULL},
    {OP_fused_conv, accel_graph_convolution, NULL},
    {OP_conv_integer, accel_graph_convolution, NULL},
    {OP_qlinear_conv, accel_graph_convolution, NULL},
    {OP_transpose_conv, accel_graph_transposed, NULL},
    {OP_conv1d_transpose, accel_graph_transposed, NULL},
    {OP_conv3d_transpose, accel_graph_transposed, NULL},
    {OP_fully_connected, accel_graph_dense, NULL},
    {OP_gemm, accel_graph_product, NULL},
    {OP_batch_matmul, accel_graph_product, NULL},
    {OP_matmul_integer, accel_graph_product, NULL},
    {OP_qlinear_matmul, accel_graph_product, NULL},
    {OP_lstm, NULL, "a recurrence"},
    {OP_rnn, NULL, "a recurrence"},
    {OP_gru, NULL, "a recurrence"},
    {OP_unidirectional_sequence_rnn, NULL, "a recurrence"},
    {OP_unidirectional_sequence_lstm, NULL, "a recurrence"},
    {OP_bidirectional_sequence_rnn, NULL, "a recurrence"},
    {OP_bidirectional_sequence_lstm, NULL, "a recurrence"},
    {OP_svdf, NULL, "a filter with memory"},
    {OP_deform_conv, NULL, "it reads where its data says"},
    {OP_einsum, NULL, "its equation is not taken apart"},
    {OP_attention, NULL, "it is several products"},
    {OP_stablehlo_convolution, NULL, "its dimension numbers are not read"},
    {OP_stablehlo_dot_general, NULL, "its dimension numbers are not read"},
    {OP_OPAQUE, NULL, "what it computes is not known"},
};

static calm_status take_op(accel_extractor *e, op_id op) {
  e->op = op;
  e->reason = NULL;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (rules[i].kind != accel_graph_op(e)->kind) continue;
    e->reason = rules[i].reason;
    if (rules[i].read) TRY(rules[i].read(e));
  }
  if (op_kind_flags(accel_graph_op(e)->kind) & OP_CONTROL)
    e->reason = "it runs another graph";
  if (!e->reason) return CALM_OK;
  VECTOR_PUSH(e->context, &e->skipped, op);
  VECTOR_PUSH(e->context, &e->reasons, e->reason);
  return CALM_OK;
}

#define COPY_OUT(e, out, v)                                                   \
  do {                                                                        \
    ARENA_ARRAY((e)->arena, (out), (v)->count);                               \
    if ((v)->count) memcpy((out), (v)->data, (v)->count * sizeof *(v)->data); \
  } while (0)

static calm_status extract(accel_graph_layers *out, accel_extractor *e) {
  for (op_id op = 0; op < e->g->ops.count; op++) TRY(take_op(e, op));
  accel_graph_layers found = {.layer_count = e->layers.count,
                              .skipped_count = e->skipped.count};
  COPY_OUT(e, found.layers, &e->layers);
  COPY_OUT(e, found.first_ops, &e->first_ops);
  COPY_OUT(e, found.skipped, &e->skipped);
  COPY_OUT(e, found.reasons, &e->reasons);
  *out = found;
  return CALM_OK;
}

calm_status accel_graph_extract(accel_graph_layers *out, const graph *g,
                                arena *a) {
  accel_extractor e = {.g = g, .arena = a, .context = a->context};
  name_table_init(&e.known, e.context);
  const calm_status status = extract(out, &e);
  name_table_free(&e.known);
  VECTOR_FREE(e.context, &e.layers);
  VECTOR_FREE(e.context, &e.first_ops);
  VECTOR_FREE(e.context, &e.skipped);
  VECTOR_FREE(e.context, &e.reasons);
  return status;
}
