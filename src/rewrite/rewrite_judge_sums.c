/* Sums: partial convolutions, what adds them up, and what ends them. */
#include "rewrite/rewrite_judge.h"

/* ---- Sums ---------------------------------------------------------------- */

/* With its activation, if it applies one, a sum must be all of the old result;
   then it is that. */
static calm_status end_sum(meaning *out, judge *j, op_id u,
                           const meaning *sum) {
  const op_id from = j->edit->ops.data[u].from;
  bool complete;
  if (!judge_is_active(j, u)) {
    *out = *sum;
    return CALM_OK;
  }
  TRY(sum_is_complete(&complete, &j->m, sum, from));
  if (!complete)
    return judge_refuse(
        j, "its activation is applied to something else than before");
  *out = j->m.of[judge_old_op(j, u)->outputs[0]];
  return CALM_OK;
}

bool judge_is_conv(const graph_op *op) {
  return op->kind == OP_conv2d || op->kind == OP_fused_conv;
}

/* The result of an operand is as large as that of the operator. */
static bool same_place(const judge *j, tensor_id x, tensor_id y) {
  const graph_tensor *a = judge_tensor(j, x), *b = judge_tensor(j, y);
  return a->type == b->type && a->bytes == b->bytes &&
         judge_same_dimensions(a, b, CALM_NONE);
}

static calm_status add_operand(meaning *sum, judge *j, op_id u, tensor_id x) {
  const meaning *more = x == CALM_NONE ? NULL : &j->of[x];
  if (!more || (!more->run_count && !more->sum) ||
      !same_place(j, x, judge_op(j, u)->outputs[0]))
    return judge_refuse(j, "an operand is nothing that can be added");
  if (!sum->sum && !sum->run_count) {
    *sum = *more;
    return CALM_OK;
  }
  return sum_of_two(sum, &j->m, sum, more, judge_old_op(j, u)->outputs[0]);
}

static bool has_bias(const graph_op *conv) {
  return judge_is_conv(conv) && judge_operand(conv, 2) != CALM_NONE;
}

static calm_status add_bias(meaning *sum, judge *j, op_id u) {
  const op_id from = j->edit->ops.data[u].from;
  meaning bias;
  TRY(sum_of_leaf(&bias, &j->m, (sum_node){.leaf = LEAF_BIAS, .op = from},
                  judge_old_op(j, u)->outputs[0]));
  return sum_of_two(sum, &j->m, sum, &bias, judge_old_op(j, u)->outputs[0]);
}

static bool adds(const graph_op *op, edit_role role) {
  if (role == EDIT_SUM) return op->kind == OP_partial_sum;
  return op->kind == OP_add ? op->input_count == 2
                            : op->kind == OP_add_into && op->input_count == 1;
}

calm_status judge_sum(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u);
  const edit_op *descent = &j->edit->ops.data[u];
  meaning sum = {.like = CALM_NONE};
  const bool partial = descent->role == EDIT_SUM;
  if (!adds(op, descent->role)) return judge_refuse(j, "it does not add");
  if (!judge_same_attributes(op, &(graph_op){0}, NULL))
    return judge_refuse(j, "it does more than to add");
  for (uint32_t i = 0; i < op->input_count && !j->fault; i++)
    TRY(add_operand(&sum, j, u, op->inputs[i]));
  if (j->fault || op->input_count == 0)
    return judge_refuse(j, "it adds nothing");
  if (partial && has_bias(judge_old_op(j, u))) TRY(add_bias(&sum, j, u));
  return end_sum(out, j, u, &sum);
}

/* ---- Partial convolutions ------------------------------------------------ */

/* Which input channels it reads; false: not those that its weights are for. */
static calm_status conv_channels(bool *out, judge *j, op_id u, sum_node *leaf) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  const tensor_id x = op->inputs[0], from = old->inputs[0];
  meaning cut;
  *out =
      j->of[x].run_count &&
      judge_same_type(judge_tensor(j, x), judge_old_tensor(j, from)) &&
      judge_same_dimensions(judge_tensor(j, x), judge_old_tensor(j, from),
                            meaning_axis(j->before, judge_tensor(j, x)->rank));
  if (!*out) return CALM_OK;
  if (old->input_count == 1) {
    leaf->channels = j->of[x];
    *out = judge_operand(op, 1) == CALM_NONE;
    return CALM_OK;
  }
  const tensor_id w = judge_operand(op, 1), whole = judge_operand(old, 1);
  const graph_tensor *kernel =
      whole == CALM_NONE ? NULL : judge_old_tensor(j, whole);
  const uint32_t axis = !kernel                     ? 0
                        : j->before->channels_first ? 1
                                                    : kernel->rank - 1;
  *out = kernel && kernel->rank == 4 && w != CALM_NONE &&
         kernel->dimensions[axis] == meaning_channels(j->before, from) &&
         judge_read_slice(&leaf->begin, &leaf->end, j, w, whole, axis);
  if (!*out) return CALM_OK;
  TRY(meaning_cut(&cut, &j->m.of[from], leaf->begin, leaf->end, &j->a));
  *out = meaning_equal(&cut, &j->of[x]);
  return CALM_OK;
}

/* A bias of zeros stands for none. */
static bool is_zero(const judge *j, tensor_id t) {
  return t != CALM_NONE && judge_descent(j, t)->contents == EDIT_ZERO;
}

/* The third operand: the bias, zeros of its length, or nothing. */
static calm_status conv_bias(meaning *sum, judge *j, op_id u) {
  const tensor_id b = judge_operand(judge_op(j, u), 2),
                  old = judge_operand(judge_old_op(j, u), 2);
  const tensor_id y = judge_op(j, u)->outputs[0];
  if (b == CALM_NONE) return CALM_OK;
  if (is_zero(j, b)) {
    const graph_tensor *zeros = judge_tensor(j, b);
    const int64_t wanted = meaning_channels(j->after, y);
    return zeros->rank == 1 && zeros->dimensions[0] == wanted
               ? CALM_OK
               : judge_refuse(j, "its bias of zeros has another length");
  }
  if (old != CALM_NONE && judge_is_same(j, b, old)) return add_bias(sum, j, u);
  return judge_refuse(j, "it has another bias");
}

calm_status judge_conv(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  const op_id from = j->edit->ops.data[u].from;
  sum_node leaf = {.leaf = LEAF_CONV, .op = from};
  meaning sum;
  bool fit = false;
  if (!judge_is_conv(op) || op->input_count > 4 ||
      (op->kind == OP_conv2d && judge_operand(op, 3) != CALM_NONE) ||
      !judge_same_attributes(op, old, NULL) || graph_op_attribute(op, "group"))
    return judge_refuse(j, "it is another convolution");
  TRY(conv_channels(&fit, j, u, &leaf));
  if (!fit)
    return judge_refuse(
        j, "its operand is not the channels that its weights are for");
  TRY(sum_of_leaf(&sum, &j->m, leaf, old->outputs[0]));
  TRY(conv_bias(&sum, j, u));
  if (judge_operand(op, 3) != CALM_NONE)
    TRY(add_operand(&sum, j, u, op->inputs[3]));
  return j->fault ? CALM_OK : end_sum(out, j, u, &sum);
}

calm_status judge_narrowed(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u);
  const meaning *x = &j->of[op->inputs[0]];
  bool complete;
  TRY(sum_is_complete(&complete, &j->m, x, j->edit->ops.data[u].from));
  const bool active =
      graph_op_attribute(judge_old_op(j, u), "activation") != NULL;
  if (!complete || judge_is_active(j, u) != active)
    return judge_refuse(j, "what it narrows is not the whole sum");
  *out = j->m.of[judge_old_op(j, u)->outputs[0]];
  return CALM_OK;
}
