/* Operators whose constants are products and sums of the original ones. */
#include "rewrite/rewrite_judge.h"

static calm_status mean_map(meaning *out, judge *j, const affine_map *map,
                            tensor_id like) {
  affine_map *made;
  ARENA_ARRAY(&j->a, made, 1);
  *made = *map;
  *out = (meaning){.map = made, .like = like};
  return CALM_OK;
}

/* Of this rule there is always a constant that was computed. */
bool judge_has_given(const judge *j, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        judge_descent(j, op->inputs[i])->contents == EDIT_GIVEN)
      return true;
  return false;
}

calm_status judge_affine(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u);
  const edit_op *descent = &j->edit->ops.data[u];
  const affine_side side = {j->after, j->before, j->edit};
  const uint32_t slot = affine_operand(j->after, op);
  affine_map map = {.conv = CALM_NONE, .scale = 1, .activation = CALM_NONE};
  if (slot == CALM_NONE ||
      (descent->role == EDIT_KEEP &&
       (op->kind != judge_old_op(j, u)->kind ||
        !judge_same_attributes(op, judge_old_op(j, u), NULL))))
    return judge_refuse(j, "it is another operation");
  const meaning *x = &j->of[op->inputs[slot]];
  if (x->map)
    map = *x->map;
  else
    map.base = *x;
  map.vague =
      map.vague || judge_tensor(j, op->inputs[slot])->type == ELEMENT_ABSTRACT;
  if ((!x->map && !x->run_count) || map.activation != CALM_NONE ||
      !affine_apply(&map, &side, op))
    return judge_refuse(j, "its constants are not what they are said to be");
  if (judge_is_active(j, u)) map.activation = descent->from;
  return mean_map(out, j, &map, judge_old_op(j, u)->outputs[0]);
}

bool judge_is_foldable(op_kind kind) {
  return kind == OP_conv2d || kind == OP_depthwise_conv2d ||
         kind == OP_fully_connected || kind == OP_conv1d || kind == OP_conv3d;
}

/* A convolution whose weights and bias were computed. */
calm_status judge_folded(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  const affine_side side = {j->after, j->before, j->edit};
  const tensor_id w = judge_operand(old, 1);
  affine_map map = {.conv = j->edit->ops.data[u].from, .activation = CALM_NONE};
  if (op->kind != old->kind || op->input_count > 3 || w == CALM_NONE ||
      judge_operand(op, 1) == CALM_NONE ||
      graph_op_attribute(old, "activation") ||
      !judge_same_attributes(op, old, NULL) ||
      !judge_is_same(j, op->inputs[0], old->inputs[0]))
    return judge_refuse(j, "it is another convolution");
  const graph_tensor *kernel = judge_old_tensor(j, w);
  const bool last =
      op->kind == OP_depthwise_conv2d && !j->before->channels_first;
  const uint32_t axis = last && kernel->rank ? kernel->rank - 1 : 0;
  const int64_t channels = meaning_channels(j->before, old->outputs[0]);
  if (kernel->rank == 0 || kernel->dimensions[axis] != channels ||
      !judge_same_dimensions(kernel, judge_tensor(j, op->inputs[1]),
                             CALM_NONE) ||
      !affine_factor(&map.scale, &side, op->inputs[1], w, axis) ||
      !affine_vector(&map.shift, &side, judge_operand(op, 2), channels))
    return judge_refuse(j, "its constants are not what they are said to be");
  return mean_map(out, j, &map, old->outputs[0]);
}

/* An abstract convolution that is folded with what follows looks as before. */
calm_status judge_vaguely(bool *out, const judge *j, op_id u, tensor_id t) {
  const affine_map map = {.base = j->of[t],
                          .conv = CALM_NONE,
                          .vague = true,
                          .activation = CALM_NONE};
  *out = false;
  if (judge_tensor(j, t)->type != ELEMENT_ABSTRACT ||
      !judge_is_foldable(judge_op(j, u)->kind))
    return CALM_OK;
  return affine_is_complete(out, &j->m, &map, judge_descent(j, t)->from);
}
