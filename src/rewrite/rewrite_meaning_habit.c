/* What operators do to channels, by kind and by the shapes of their operands.
 */
#include <string.h>

#include "rewrite/rewrite_meaning.h"

static bool same_shape(const graph_tensor *x, const graph_tensor *y) {
  if (x->type != y->type || x->bytes != y->bytes || x->rank != y->rank)
    return false;
  return !x->rank ||
         !memcmp(x->dimensions, y->dimensions, x->rank * sizeof *x->dimensions);
}

static tensor_id only_output(const graph_op *op) {
  return op->output_count == 1 ? op->outputs[0] : CALM_NONE;
}

tensor_id meaning_operand(const graph *g, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        !(g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_CONST))
      return op->inputs[i];
  return op->input_count ? op->inputs[0] : CALM_NONE;
}

/* May it, if its output is like its input? */
static bool hands_on(const graph_op *op) {
  if (op_kind_flags(op->kind) & OP_VIEW || op->kind == OP_cast) return true;
  if (op->kind == OP_concat)
    return op->input_count == 1 && !graph_op_attribute(op, "activation");
  return op->kind == OP_split || op->kind == OP_split_v;
}

bool meaning_is_noop(const graph *g, const graph_op *op) {
  const tensor_id x = meaning_operand(g, op), y = only_output(op);
  if (x == CALM_NONE || y == CALM_NONE || !hands_on(op)) return false;
  const graph_tensor *from = &g->tensors.data[x], *to = &g->tensors.data[y];
  if (to->type == ELEMENT_ABSTRACT &&
      (op->kind == OP_cast || op->kind == OP_bitcast))
    return false;
  return same_shape(from, to) && from->quantization == to->quantization;
}

channel_habit meaning_habit(op_kind kind) {
  static const struct {
    channel_habit habit;
    op_kind kinds[48];
    uint32_t count;
  } rows[] = {
#define HABIT(habit, ...) \
  {HABIT_##habit,         \
   {__VA_ARGS__},         \
   sizeof((op_kind[]){__VA_ARGS__}) / sizeof(op_kind)}
      HABIT(ELEMENT, OP_relu, OP_relu6, OP_relu_n1_to_1, OP_relu_0_to_1,
            OP_leaky_relu, OP_thresholded_relu, OP_elu, OP_celu, OP_selu,
            OP_gelu, OP_mish, OP_swish, OP_hard_swish, OP_hard_sigmoid,
            OP_logistic, OP_softplus, OP_softsign, OP_shrink, OP_tanh, OP_exp,
            OP_log, OP_sqrt, OP_rsqrt, OP_square, OP_reciprocal, OP_abs, OP_neg,
            OP_sign, OP_floor, OP_ceil, OP_round, OP_erf, OP_sin, OP_cos,
            OP_tan, OP_asin, OP_acos, OP_atan, OP_sinh, OP_cosh, OP_asinh,
            OP_acosh, OP_atanh, OP_logical_not, OP_cast, OP_identity,
            OP_dropout, OP_clip),
      HABIT(ELEMENT, OP_quantize, OP_dequantize),
      HABIT(PICTURE, OP_average_pool1d, OP_average_pool2d, OP_average_pool3d,
            OP_max_pool1d, OP_max_pool2d, OP_max_pool3d, OP_l2_pool2d,
            OP_lp_pool, OP_global_average_pool, OP_global_max_pool,
            OP_global_lp_pool),
      HABIT(REDUCTION, OP_mean, OP_sum, OP_reduce_max, OP_reduce_min,
            OP_reduce_prod),
      HABIT(BROADCAST, OP_add, OP_sub, OP_mul, OP_div, OP_maximum, OP_minimum,
            OP_pow, OP_prelu),
      HABIT(VECTORS, OP_batch_normalization, OP_instance_normalization),
      HABIT(DEPTHWISE, OP_depthwise_conv2d),
#undef HABIT
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (uint32_t k = 0; k < rows[i].count; k++)
      if (rows[i].kinds[k] == kind) return rows[i].habit;
  return HABIT_MIXING;
}

/* Could a reduction along the axes in `set` make y of x? */
static bool could_reduce(uint32_t set, const graph_tensor *x,
                         const graph_tensor *y) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    const bool gone = set >> i & 1;
    if (gone && x->rank != y->rank) continue;
    if (k == y->rank || y->dimensions[k++] != (gone ? 1 : x->dimensions[i]))
      return false;
  }
  return k == y->rank;
}

/* The axes of a reduction are not at hand: the shapes must leave no doubt that
   the channels are not among them, and are where channels are. */
bool meaning_leaves_channels(const graph *g, const graph_op *op) {
  const graph_tensor *x = &g->tensors.data[op->inputs[0]];
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  const uint32_t axis = meaning_axis(g, x->rank);
  if (meaning_habit(op->kind) != HABIT_REDUCTION) return true;
  if (x->type == ELEMENT_ABSTRACT || axis == CALM_NONE || x->rank > 8)
    return false;
  for (uint32_t set = 0; set < UINT32_C(1) << x->rank; set++) {
    const bool moved = x->rank != y->rank && g->channels_first && set & 1;
    if ((moved || set >> axis & 1) && could_reduce(set, x, y)) return false;
  }
  return true;
}

/* A constant that has the same for all channels of y. */
static bool is_same_for_all(const graph *g, const graph_tensor *c,
                            const graph_tensor *y) {
  const uint32_t axis = meaning_axis(g, y->rank);
  if (!(c->flags & CALM_TENSOR_CONST)) return false;
  if (c->type == ELEMENT_ABSTRACT || c->rank == 0) return true;
  if (axis == CALM_NONE || c->rank > y->rank) return false;
  return axis + c->rank < y->rank ||
         c->dimensions[axis + c->rank - y->rank] == 1;
}

/* A product with one number, say, or with a picture of one channel; of abstract
   ones nobody knows. */
static bool has_channels_alike(const graph *g, const graph_op *op) {
  const tensor_id x = meaning_operand(g, op), y = only_output(op);
  if (x == CALM_NONE || y == CALM_NONE ||
      g->tensors.data[x].rank != g->tensors.data[y].rank)
    return false;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) return false;
    if (op->inputs[i] == x) continue;
    if (!is_same_for_all(g, &g->tensors.data[op->inputs[i]],
                         &g->tensors.data[y]))
      return false;
  }
  return op->input_count > 1;
}

bool meaning_is_uniform(const graph *g, const graph_op *op) {
  switch (meaning_habit(op->kind)) {
    case HABIT_ELEMENT:
    case HABIT_PICTURE: return true;
    case HABIT_REDUCTION: return meaning_leaves_channels(g, op);
    case HABIT_BROADCAST: return has_channels_alike(g, op);
    case HABIT_DEPTHWISE: return op->input_count == 1;
    default: return false;
  }
}
