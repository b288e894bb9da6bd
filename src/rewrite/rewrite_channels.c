/*
 * A convolution of a concat becomes one convolution per operand, each with the
 * weights of its channels, and what they add up to:
 *
 *    x1  x2  x3             x1    x2    x3
 *     \  |  /                |     |     |
 *     concat              conv/p1 /p2   /p3
 *        |                    \    |    /
 *      conv                  partial_sum
 *        |                         |
 *        y                         y
 *
 * The sum has no order yet.  Its operands are bytes of y, so kernels that
 * cannot add into their output get tensors of their own, and an add_into each.
 */
#include "rewrite/rewrite_parts.h"

/* ---- May it be ----------------------------------------------------------- */

bool rewrite_is_convolution(op_kind kind) {
  switch (kind) {
    case OP_conv1d:
    case OP_conv2d:
    case OP_conv3d:
    case OP_fused_conv:
    case OP_transpose_conv:
    case OP_conv1d_transpose:
    case OP_conv3d_transpose:
    case OP_conv_integer:
    case OP_qlinear_conv:
    case OP_deform_conv: return true;
    default: return false;
  }
}

/* The axis of the input channels in O H W I or O I H W. */
static uint32_t input_axis(const graph *g, const graph_tensor *w) {
  return g->channels_first ? 1 : w->rank - 1;
}

static const char *refuse_kind(const graph_op *op) {
  switch (op->kind) {
    case OP_conv2d: return NULL;
    case OP_fused_conv:
      return rewrite_operand(op, 3) == CALM_NONE
                 ? NULL
                 : "it adds another tensor already";
    case OP_conv1d:
    case OP_conv3d: return "only convolutions of two dimensions are parted";
    case OP_transpose_conv:
    case OP_conv1d_transpose:
    case OP_conv3d_transpose: return "transposed convolution";
    case OP_deform_conv: return "deformable convolution";
    default: return "partial sums would be requantised one by one";
  }
}

static const char *refuse_types(const rewrite_finder *f, const graph_tensor *x,
                                const graph_tensor *y) {
  if (f->options->abstract) return NULL;
  if (rewrite_is_quantized(y) || rewrite_is_quantized(x))
    return "partial sums would be requantised one by one";
  return NULL;
}

static bool is_grouped(const graph_op *op) {
  const char *group = graph_op_attribute(op, "group");
  return group && (group[0] != '1' || group[1]);
}

/* A convolution on paper has no operand but its picture. */
static const char *refuse_weights(const rewrite_finder *f, const graph_op *op,
                                  const graph_tensor *x) {
  const graph *g = f->g;
  const tensor_id t = rewrite_operand(op, 1);
  if (t == CALM_NONE)
    return op->input_count > 1 ? "its weights are absent" : NULL;
  const graph_tensor *w = &g->tensors.data[t];
  const char *refusal = rewrite_refuse_constant(f, t);
  if (refusal) return refusal;
  if (w->type == ELEMENT_ABSTRACT || x->type == ELEMENT_ABSTRACT)
    return "of its weights only the bytes are known";
  if (w->rank != 4 || x->rank != 4) return "its weights are no kernel";
  if ((uint64_t)w->dimensions[input_axis(g, w)] != rewrite_channels(g, x))
    return "grouped convolution";
  if (!rewrite_is_quantized(x) && rewrite_is_quantized(w))
    return "it quantises its input as a whole";
  return NULL;
}

/* The first part has the bias, whichever that is, so it must be there from the
   beginning. */
static const char *refuse_bias(const graph *g, const graph_op *op) {
  const tensor_id b = rewrite_operand(op, 2);
  if (b == CALM_NONE || g->tensors.data[b].flags & CALM_TENSOR_CONST)
    return NULL;
  return "its bias is no constant";
}

static const char *refuse(const rewrite_finder *f, const rewrite_spot *spot) {
  const graph_op *op = &f->g->ops.data[spot->u];
  const graph_tensor *x = &f->g->tensors.data[op->inputs[spot->slot]];
  const graph_tensor *y = &f->g->tensors.data[rewrite_output(op)];
  if (spot->slot != 0) return "the concat is not the picture that it reads";
  const char *refusal = refuse_kind(op);
  if (!refusal && is_grouped(op)) refusal = "grouped convolution";
  if (!refusal) refusal = refuse_types(f, x, y);
  if (!refusal) refusal = refuse_weights(f, op, x);
  return refusal ? refusal : refuse_bias(f->g, op);
}

/* ---- Making it ----------------------------------------------------------- */

/* One convolution on its way. */
typedef struct division {
  rewrite_maker *m;
  op_id u;
  const graph_op *op;
  graph_tensor sum; /* what the parts add up to, and each of them looks like */
  tensor_id y;      /* of the graph */
  bool wide;        /* the sum is wider than y */
} division;

static bool wants_wide(const rewrite_options *options, const graph_tensor *y) {
  return options->accumulator_factor > 1 &&
         (y->type == ELEMENT_ABSTRACT || rewrite_is_quantized(y));
}

static element_type wide_type(element_type type, uint32_t factor) {
  switch (element_type_bits(type) * factor) {
    case 16: return ELEMENT_i16;
    case 32: return ELEMENT_i32;
    default: return ELEMENT_i64;
  }
}

/* What is added up before it is narrowed to y. */
static calm_status widen(division *d) {
  const uint32_t factor = d->m->sites->options.accumulator_factor;
  if (d->sum.type == ELEMENT_ABSTRACT) {
    if (d->sum.bytes > UINT64_MAX / 8 / factor)
      return context_fail(d->m->a->context, CALM_BAD_INPUT,
                          "tensor '%s': its sum has more than 2^62 bytes",
                          d->sum.name);
    d->sum.bytes *= factor;
    return CALM_OK;
  }
  d->sum.type = wide_type(d->sum.type, factor);
  return graph_bytes_of(&d->sum.bytes, d->sum.type, d->sum.dimensions,
                        d->sum.rank)
             ? CALM_OK
             : context_fail(d->m->a->context, CALM_BAD_INPUT,
                            "tensor '%s': its sum has more than 2^62 bytes",
                            d->sum.name);
}

static calm_status make_summand(tensor_id *out, const division *d,
                                const char *kind, uint32_t number) {
  graph_tensor t = d->sum;
  const edit_tensor descent = {.from = d->y, .contents = EDIT_MADE};
  TRY(rewrite_name(&t.name, d->m, d->m->g->tensors.data[d->y].name, kind,
                   number));
  return rewrite_make_tensor(out, d->m, &t, &descent);
}

/* ADD: from a tensor of its own into the sum. */
static calm_status make_addition(tensor_id *io, const division *d,
                                 uint32_t number) {
  const bool copies = d->m->sites->options.partials == PARTIALS_ADD_COPY;
  const edit_op descent = {.from = d->u, .role = EDIT_ADD};
  tensor_id *operands;
  graph_op op = {.kind = OP_add_into,
                 .kind_name = op_kind_name(OP_add_into),
                 .input_count = 1,
                 .output_count = 1,
                 .workspace_bytes = copies ? d->sum.bytes : 0,
                 .place = d->op->place};
  ARENA_ARRAY(d->m->a, operands, 2);
  TRY(rewrite_name(&op.name, d->m, d->op->name, "a", number));
  operands[0] = *io;
  TRY(make_summand(&operands[1], d, "p", number));
  op.inputs = operands;
  op.outputs = operands + 1;
  *io = operands[1];
  return rewrite_make_op(d->m, &op, &descent);
}

static calm_status slice_weights(tensor_id *out, const division *d,
                                 uint64_t begin, const rewrite_part *part,
                                 uint32_t number) {
  const graph *g = d->m->g;
  const tensor_id t = d->op->inputs[1];
  const graph_tensor *w = &g->tensors.data[t];
  const rewrite_range range = {.axis = input_axis(g, w),
                               .begin = begin,
                               .count = part->channels,
                               .number = number};
  return rewrite_slice(out, d->m, t, &range);
}

static calm_status make_part(tensor_id *out, const division *d, uint64_t begin,
                             const rewrite_part *part, uint32_t number) {
  const bool adds = d->m->sites->options.partials != PARTIALS_ACCUMULATE;
  const edit_op descent = {.from = d->u, .role = EDIT_KEEP};
  const bool weighted = rewrite_operand(d->op, 1) != CALM_NONE;
  tensor_id *operands;
  graph_op op;
  TRY(rewrite_imitate(&op, d->m, d->op, "activation"));
  TRY(rewrite_name(&op.name, d->m, d->op->name, "p", number));
  if (op.kind == OP_fused_conv) op.kind = OP_conv2d;
  ARENA_ARRAY(d->m->a, operands, 3);
  operands[0] = part->tensor;
  if (weighted) TRY(slice_weights(&operands[1], d, begin, part, number));
  TRY(make_summand(&operands[2], d, adds ? "t" : "p", number));
  op.inputs = operands;
  op.input_count = weighted ? 2 : 1;
  op.outputs = operands + 2;
  op.output_count = 1;
  *out = operands[2];
  TRY(rewrite_make_op(d->m, &op, &descent));
  return adds ? make_addition(out, d, number) : CALM_OK;
}

static calm_status make_sum(const division *d, tensor_id *summands,
                            uint32_t count, tensor_id y) {
  const edit_op descent = {
      .from = d->u, .role = EDIT_SUM, .activation = !d->wide};
  graph_op op = {.name = d->op->name,
                 .kind = OP_partial_sum,
                 .kind_name = op_kind_name(OP_partial_sum),
                 .inputs = summands,
                 .input_count = count,
                 .output_count = 1,
                 .place = d->op->place};
  if (d->wide) TRY(rewrite_name(&op.name, d->m, d->op->name, "sum", 0));
  ARENA_ARRAY(d->m->a, op.outputs, 1);
  op.outputs[0] = y;
  return rewrite_make_op(d->m, &op, &descent);
}

static calm_status make_narrow(const division *d, tensor_id wide, tensor_id y) {
  const edit_op descent = {.from = d->u, .role = EDIT_KEEP, .activation = true};
  graph_op op = {.name = d->op->name,
                 .kind = OP_quantize,
                 .kind_name = op_kind_name(OP_quantize),
                 .input_count = 1,
                 .output_count = 1,
                 .place = d->op->place};
  graph_attribute activation = {"activation", NULL};
  activation.value = graph_op_attribute(d->op, activation.key);
  if (activation.value) {
    ARENA_ARRAY(d->m->a, op.attributes, 1);
    op.attributes[op.attribute_count++] = activation;
  }
  ARENA_ARRAY(d->m->a, op.inputs, 2);
  op.inputs[0] = wide;
  op.outputs = op.inputs + 1;
  op.outputs[0] = y;
  return rewrite_make_op(d->m, &op, &descent);
}

/* The parts end in a sum: the output is in one piece. */
static calm_status divide(rewrite_parts *out, rewrite_maker *m,
                          const rewrite_spot *spot) {
  const graph_op *op = &m->g->ops.data[spot->u];
  division d = {.m = m, .u = spot->u, .op = op, .y = rewrite_output(op)};
  tensor_id y, sum, *summands;
  uint64_t begin = 0;
  d.sum = m->g->tensors.data[d.y];
  d.sum.flags = 0;
  d.wide = wants_wide(&m->sites->options, &d.sum);
  if (d.wide) TRY(widen(&d));
  ARENA_ARRAY(m->a, summands, spot->parts.count);
  for (uint32_t i = 0; i < spot->parts.count; i++) {
    TRY(make_part(&summands[i], &d, begin, &spot->parts.list[i], i + 1));
    begin += spot->parts.list[i].channels;
  }
  TRY(rewrite_whole(&y, m, d.y));
  sum = y;
  if (d.wide) TRY(make_summand(&sum, &d, "wide", 0));
  TRY(make_sum(&d, summands, spot->parts.count, sum));
  *out = (rewrite_parts){0};
  return d.wide ? make_narrow(&d, sum, y) : CALM_OK;
}

const rewrite_hooks rewrite_channels_hooks = {.refuse = refuse,
                                              .divide = divide};
