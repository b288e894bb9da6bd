/*
 * An operator that treats each channel by itself moves above the concat:
 *
 *    x1  x2  x3             x1    x2    x3
 *     \  |  /                |     |     |
 *     concat                f/p1  f/p2  f/p3
 *        |                    \    |    /
 *        f                      concat
 *        |                         |
 *        y                         y
 *
 * The concat that is now behind it is made only if somebody needs y in one
 * piece.  Operands that are constants per channel are cut like the picture.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_parts.h"

/* ---- Which operators ----------------------------------------------------- */

typedef enum form {
  FORM_NONE,      /* it mixes channels, or nobody knows */
  FORM_JOIN,      /* another concat */
  FORM_UNARY,     /* one operand, element by element */
  FORM_SETTINGS,  /* and operands of one element each, the same for all */
  FORM_BINARY,    /* and operands that are broadcast to the picture */
  FORM_POOL,      /* each channel of the picture by itself */
  FORM_DEPTHWISE, /* the same, with kernel and bias per channel of the output */
  FORM_NORM,      /* element by element, with vectors per channel */
  FORM_REDUCE     /* along dimensions other than the channels */
} form;

static form form_of(op_kind kind) {
  switch (kind) {
    case OP_concat: return FORM_JOIN;
    case OP_relu:
    case OP_relu6:
    case OP_relu_n1_to_1:
    case OP_relu_0_to_1:
    case OP_leaky_relu:
    case OP_thresholded_relu:
    case OP_elu:
    case OP_celu:
    case OP_selu:
    case OP_gelu:
    case OP_mish:
    case OP_swish:
    case OP_hard_swish:
    case OP_hard_sigmoid:
    case OP_logistic:
    case OP_softplus:
    case OP_softsign:
    case OP_shrink:
    case OP_tanh:
    case OP_exp:
    case OP_log:
    case OP_sqrt:
    case OP_rsqrt:
    case OP_square:
    case OP_reciprocal:
    case OP_abs:
    case OP_neg:
    case OP_sign:
    case OP_floor:
    case OP_ceil:
    case OP_round:
    case OP_erf:
    case OP_sin:
    case OP_cos:
    case OP_tan:
    case OP_asin:
    case OP_acos:
    case OP_atan:
    case OP_sinh:
    case OP_cosh:
    case OP_asinh:
    case OP_acosh:
    case OP_atanh:
    case OP_logical_not:
    case OP_cast:
    case OP_identity:
    case OP_dropout: return FORM_UNARY;
    case OP_clip:
    case OP_quantize:
    case OP_dequantize: return FORM_SETTINGS;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_div:
    case OP_maximum:
    case OP_minimum:
    case OP_pow:
    case OP_prelu: return FORM_BINARY;
    case OP_average_pool1d:
    case OP_average_pool2d:
    case OP_average_pool3d:
    case OP_max_pool1d:
    case OP_max_pool2d:
    case OP_max_pool3d:
    case OP_l2_pool2d:
    case OP_lp_pool:
    case OP_global_average_pool:
    case OP_global_max_pool:
    case OP_global_lp_pool: return FORM_POOL;
    case OP_depthwise_conv2d: return FORM_DEPTHWISE;
    case OP_batch_normalization:
    case OP_instance_normalization: return FORM_NORM;
    case OP_mean:
    case OP_sum:
    case OP_reduce_max:
    case OP_reduce_min:
    case OP_reduce_prod: return FORM_REDUCE;
    default: return FORM_NONE;
  }
}

bool rewrite_is_channelwise(op_kind kind) { return form_of(kind) != FORM_NONE; }

/* ---- How a constant follows the channels --------------------------------- */

/* Along which axis of operand `slot` the channels of the output run; CALM_NONE:
   it is the same for all.  False: neither. */
static bool find_axis(uint32_t *out, const graph *g, const graph_op *op,
                      uint32_t slot, uint64_t channels) {
  const graph_tensor *w = &g->tensors.data[op->inputs[slot]];
  const graph_tensor *y = &g->tensors.data[rewrite_output(op)];
  const uint32_t behind = y->rank - 1 - rewrite_channel_axis(g, y->rank);
  *out = CALM_NONE;
  switch (form_of(op->kind)) {
    case FORM_DEPTHWISE:
      *out = slot == 1 && !g->channels_first ? w->rank - 1 : 0;
      break;
    case FORM_NORM: *out = 0; break;
    case FORM_BINARY:
      if (w->rank > behind && w->dimensions[w->rank - 1 - behind] != 1)
        *out = w->rank - 1 - behind;
      break;
    default: break;
  }
  return *out == CALM_NONE ||
         (*out < w->rank && (uint64_t)w->dimensions[*out] == channels);
}

static const char *refuse_constant(const rewrite_finder *f, const graph_op *op,
                                   uint32_t slot) {
  const graph *g = f->g;
  const tensor_id t = op->inputs[slot];
  const graph_tensor *w = &g->tensors.data[t];
  const graph_tensor *y = &g->tensors.data[rewrite_output(op)];
  uint32_t axis;
  if (!(w->flags & CALM_TENSOR_CONST))
    return "it reads another tensor beside the concat";
  if (w->type == ELEMENT_ABSTRACT || y->type == ELEMENT_ABSTRACT)
    return w->type == y->type ? rewrite_refuse_constant(f, t)
                              : "of its weights only the bytes are known";
  if (!find_axis(&axis, g, op, slot, rewrite_channels(g, y)))
    return "its weights do not follow the channels";
  return axis == CALM_NONE ? NULL : rewrite_refuse_constant(f, t);
}

static const char *refuse_constants(const rewrite_finder *f, const graph_op *op,
                                    uint32_t data) {
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (i == data || op->inputs[i] == CALM_NONE) continue;
    const char *refusal = refuse_constant(f, op, i);
    if (refusal) return refusal;
  }
  return NULL;
}

/* ---- May it be ----------------------------------------------------------- */

static bool same_dimensions(const graph_tensor *x, const graph_tensor *y) {
  return x->rank == y->rank &&
         (x->rank == 0 || !memcmp(x->dimensions, y->dimensions,
                                  x->rank * sizeof *x->dimensions));
}

static const char *refuse_depthwise(const rewrite_finder *f, const graph_op *op,
                                    const graph_tensor *x,
                                    const graph_tensor *y) {
  const char *group = graph_op_attribute(op, "group");
  const tensor_id t = rewrite_operand(op, 1);
  if (x->type == ELEMENT_ABSTRACT) return NULL;
  if (rewrite_channels(f->g, y) % rewrite_channels(f->g, x))
    return "its channels are no multiple of the concat's";
  if (group && strtoull(group, NULL, 10) != rewrite_channels(f->g, x))
    return "grouped convolution";
  if (t != CALM_NONE && !rewrite_is_quantized(x) &&
      rewrite_is_quantized(&f->g->tensors.data[t]))
    return "it quantises its input as a whole";
  return NULL;
}

/* Operands that are no picture have one element. */
static const char *refuse_settings(const graph *g, const graph_op *op) {
  const graph_tensor *x = &g->tensors.data[op->inputs[0]];
  const graph_tensor *y = &g->tensors.data[rewrite_output(op)];
  if (x->scale_count > 1 || y->scale_count > 1)
    return "its scales differ from channel to channel";
  for (uint32_t i = 1; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) continue;
    const graph_tensor *w = &g->tensors.data[op->inputs[i]];
    for (uint32_t j = 0; j < w->rank; j++)
      if (w->dimensions[j] != 1)
        return "its settings differ from channel to "
               "channel";
  }
  return NULL;
}

/*
 * The axes of a reduction are a constant whose bytes nobody looks at here.  The
 * shapes tell them: `gone` is a set of axes without which x has the shape of y,
 * or in which it has ones there.
 */
static bool explains(uint32_t gone, const graph_tensor *x,
                     const graph_tensor *y) {
  const bool keeps = x->rank == y->rank;
  uint32_t j = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    const bool reduced = gone >> i & 1;
    if (reduced && !keeps) continue;
    if (j >= y->rank || y->dimensions[j] != (reduced ? 1 : x->dimensions[i]))
      return false;
    j++;
  }
  return j == y->rank;
}

/* Every explanation leaves the channels where they are. */
static const char *refuse_reduction(const graph *g, const graph_tensor *x,
                                    const graph_tensor *y) {
  if (x->type == ELEMENT_ABSTRACT || y->type == ELEMENT_ABSTRACT)
    return "nobody knows whether it mixes channels";
  if (x->rank > 8 || y->rank == 0) return "it mixes channels";
  const uint32_t axis = rewrite_channel_axis(g, x->rank);
  uint32_t moved = UINT32_C(1) << axis;
  if (g->channels_first && x->rank != y->rank) moved |= 1;
  bool explained = false;
  for (uint32_t gone = 0; gone < UINT32_C(1) << x->rank; gone++) {
    if (!explains(gone, x, y)) continue;
    if (gone & moved) return "it mixes channels, or may do so";
    explained = true;
  }
  return explained ? NULL : "its output has another shape";
}

static const char *refuse_form(const rewrite_finder *f,
                               const rewrite_spot *spot) {
  const graph *g = f->g;
  const graph_op *op = &g->ops.data[spot->u];
  const graph_tensor *x = &g->tensors.data[op->inputs[spot->slot]];
  const graph_tensor *y = &g->tensors.data[rewrite_output(op)];
  const form kind = form_of(op->kind);
  if (kind == FORM_NONE) return "it needs all channels at once";
  if (kind == FORM_JOIN) return NULL;
  if (spot->slot != 0 && kind != FORM_BINARY)
    return "the concat is not the picture that it reads";
  if (kind == FORM_REDUCE) return refuse_reduction(g, x, y);
  if ((x->type == ELEMENT_ABSTRACT) != (y->type == ELEMENT_ABSTRACT))
    return "of its output only the bytes are known, or of its input";
  if (x->rank != y->rank || rewrite_channels(g, y) == 0)
    return "its output has another shape";
  if (kind == FORM_DEPTHWISE) return refuse_depthwise(f, op, x, y);
  if (kind == FORM_SETTINGS) {
    const char *refusal = refuse_settings(g, op);
    if (refusal) return refusal;
  }
  if (kind != FORM_POOL && !same_dimensions(x, y))
    return "its output has another shape";
  return rewrite_channels(g, x) == rewrite_channels(g, y) ||
                 x->type == ELEMENT_ABSTRACT
             ? NULL
             : "its output has other channels";
}

static const char *refuse(const rewrite_finder *f, const rewrite_spot *spot) {
  const graph *g = f->g;
  const graph_op *op = &g->ops.data[spot->u];
  const char *refusal = refuse_form(f, spot);
  if (refusal || op->kind == OP_concat) return refusal;
  const uint64_t x =
      rewrite_channels(g, &g->tensors.data[op->inputs[spot->slot]]);
  const uint64_t y = rewrite_channels(g, &g->tensors.data[rewrite_output(op)]);
  for (uint32_t i = 0; i < spot->parts.count; i++) {
    uint64_t channels;
    if (!rewrite_scale(&channels, spot->parts.list[i].channels, x, y))
      return "its slices have no whole number of bytes";
  }
  return form_of(op->kind) == FORM_REDUCE ? NULL
                                          : refuse_constants(f, op, spot->slot);
}

/* ---- Making it ----------------------------------------------------------- */

/* One operator on its way, and one part of it. */
typedef struct piece {
  rewrite_maker *m;
  const rewrite_spot *spot;
  const graph_op *op;
  tensor_id y;
  uint64_t all;             /* channels of y */
  uint64_t begin, channels; /* of the output */
  uint32_t number;
} piece;

/* An operand beside the picture. */
static calm_status cut_constant(tensor_id *out, const piece *p, uint32_t slot) {
  const tensor_id t = p->op->inputs[slot];
  rewrite_range range = {.begin = p->begin,
                         .count = p->channels,
                         .scaled = true,
                         .number = p->number};
  if (t == CALM_NONE || form_of(p->op->kind) == FORM_REDUCE)
    return rewrite_whole(out, p->m, t);
  const graph_tensor *w = &p->m->g->tensors.data[t];
  if (w->type == ELEMENT_ABSTRACT) {
    range.begin = rewrite_share(p->begin, p->all, w->bytes);
    range.count =
        rewrite_share(p->begin + p->channels, p->all, w->bytes) - range.begin;
    return rewrite_slice(out, p->m, t, &range);
  }
  find_axis(&range.axis, p->m->g, p->op, slot, p->all);
  return range.axis == CALM_NONE ? rewrite_whole(out, p->m, t)
                                 : rewrite_slice(out, p->m, t, &range);
}

/* A depthwise convolution has as many groups as channels to read.  Where files
   tell by the groups that it is one, a single channel makes any other. */
static calm_status regroup(graph_op *op, rewrite_maker *m, uint64_t channels) {
  char *value;
  for (uint32_t i = 0; i < op->attribute_count; i++) {
    if (strcmp(op->attributes[i].key, "group")) continue;
    if (channels == 1) {
      op->kind = OP_conv2d;
      op->kind_name = op_kind_name(OP_conv2d);
      op->attribute_count--;
      memmove(&op->attributes[i], &op->attributes[i + 1],
              (op->attribute_count - i) * sizeof *op->attributes);
      return CALM_OK;
    }
    ARENA_ARRAY(m->a, value, 24);
    snprintf(value, 24, "%" PRIu64, channels);
    op->attributes[i].value = value;
  }
  return CALM_OK;
}

static calm_status make_output(tensor_id *out, const piece *p) {
  const graph *g = p->m->g;
  graph_tensor t = g->tensors.data[p->y];
  const edit_tensor descent = {.from = p->y, .contents = EDIT_MADE};
  t.flags = 0;
  TRY(rewrite_name(&t.name, p->m, t.name, "p", p->number));
  TRY(rewrite_resize(&t, p->m, rewrite_channel_axis(g, t.rank), p->channels));
  return rewrite_make_tensor(out, p->m, &t, &descent);
}

static calm_status make_piece(tensor_id *out, const piece *p,
                              const rewrite_part *in) {
  const edit_op descent = {
      .from = p->spot->u, .role = EDIT_KEEP, .activation = true};
  const uint32_t count = p->op->input_count;
  graph_op op;
  TRY(rewrite_imitate(&op, p->m, p->op, NULL));
  TRY(rewrite_name(&op.name, p->m, p->op->name, "p", p->number));
  TRY(regroup(&op, p->m, in->channels));
  ARENA_ARRAY(p->m->a, op.inputs, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (i == p->spot->slot)
      op.inputs[i] = in->tensor;
    else
      TRY(cut_constant(&op.inputs[i], p, i));
  }
  TRY(make_output(out, p));
  op.input_count = count;
  op.outputs = op.inputs + count;
  op.outputs[0] = *out;
  op.output_count = 1;
  return rewrite_make_op(p->m, &op, &descent);
}

static calm_status divide(rewrite_parts *out, rewrite_maker *m,
                          const rewrite_spot *spot) {
  const graph_op *op = &m->g->ops.data[spot->u];
  piece p = {.m = m, .spot = spot, .op = op, .y = rewrite_output(op)};
  const tensor_id in = op->inputs[spot->slot];
  const uint64_t x = rewrite_channels(m->g, &m->g->tensors.data[in]);
  rewrite_part *list;
  ARENA_ARRAY(m->a, list, spot->parts.count);
  p.all = rewrite_channels(m->g, &m->g->tensors.data[p.y]);
  for (uint32_t i = 0; i < spot->parts.count; i++) {
    rewrite_scale(&p.channels, spot->parts.list[i].channels, x, p.all);
    p.number = i + 1;
    TRY(make_piece(&list[i].tensor, &p, &spot->parts.list[i]));
    list[i].channels = p.channels;
    p.begin += p.channels;
  }
  *out = (rewrite_parts){list, spot->parts.count};
  return CALM_OK;
}

const rewrite_hooks rewrite_kernels_hooks = {.refuse = refuse,
                                             .divide = divide};
