/* Concats over channels, and operators that treat each channel by itself. */
#include "rewrite/rewrite_judge.h"

/* ---- Concats ------------------------------------------------------------- */

calm_status judge_concat(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u);
  const graph_tensor *y = judge_tensor(j, op->outputs[0]);
  uint32_t axis;
  if (y->type != ELEMENT_ABSTRACT && (!meaning_read_axis(&axis, op, y->rank) ||
                                      axis != meaning_axis(j->after, y->rank)))
    return judge_refuse(j, "its axis is not that of the channels");
  if (judge_is_active(j, u) ||
      !judge_same_attributes(op, judge_old_op(j, u), "axis"))
    return judge_refuse(j, "it does more than to put channels together");
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] == CALM_NONE || !j->of[op->inputs[i]].run_count)
      return judge_refuse(j, "an operand is no channels");
  return meaning_join(out, j->of, op->inputs, op->input_count, &j->a);
}

/* ---- Some channels of an operator that treats each by itself ------------- */

typedef struct part {
  int64_t begin, end; /* of the channels that are read; begin < 0: not known */
  int64_t made, read; /* channels: so many of the result for so many read */
} part;

static bool agrees(part *p, int64_t begin, int64_t end) {
  if (p->begin < 0) {
    p->begin = begin;
    p->end = end;
  }
  return p->begin == begin && p->end == end;
}

/* Along which axis of operand i of a depthwise convolution, a normalization or
   an operation on elements the channels lie; CALM_NONE: along none. */
static uint32_t channel_axis(const judge *j, const graph_op *old, uint32_t i) {
  const graph_tensor *t = judge_old_tensor(j, old->inputs[i]);
  if (old->kind == OP_depthwise_conv2d)
    return i == 1 && !j->before->channels_first ? t->rank - 1 : 0;
  if (meaning_habit(old->kind) == HABIT_VECTORS) return 0;
  const uint32_t y_rank = judge_old_tensor(j, old->outputs[0])->rank;
  const uint32_t axis = meaning_axis(j->before, y_rank);
  if (axis == CALM_NONE || axis + t->rank < y_rank) return CALM_NONE;
  return axis - (y_rank - t->rank);
}

static bool is_broadcast(const graph_op *op) {
  return meaning_habit(op->kind) == HABIT_BROADCAST;
}

/* A constant with an element per channel of the result has its part; others,
   such as the axes of a mean, are whole. */
static bool constant_fits(judge *j, part *p, op_id u, uint32_t i) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  const graph_tensor *t = judge_old_tensor(j, old->inputs[i]);
  const channel_habit habit = meaning_habit(old->kind);
  const bool by_channel = habit == HABIT_BROADCAST || habit == HABIT_VECTORS ||
                          habit == HABIT_DEPTHWISE;
  const uint32_t axis = by_channel ? channel_axis(j, old, i) : CALM_NONE;
  int64_t begin, end;
  if (t->type == ELEMENT_ABSTRACT)
    return judge_is_constant(j->after, op->inputs[i]) &&
           judge_descent(j, op->inputs[i])->from == old->inputs[i];
  if (axis == CALM_NONE || axis >= t->rank ||
      (t->dimensions[axis] == 1 && p->made > 1))
    return judge_is_whole(j, op->inputs[i], old->inputs[i]);
  if (t->dimensions[axis] != p->made ||
      !judge_read_slice(&begin, &end, j, op->inputs[i], old->inputs[i], axis))
    return false;
  return meaning_scale(&begin, begin, p->read, p->made) &&
         meaning_scale(&end, end, p->read, p->made) && agrees(p, begin, end);
}

/* Is the same channel of operand i used for all of the result? */
static bool is_repeated(const judge *j, const part *p, const graph_op *old,
                        uint32_t i) {
  const graph_tensor *t = judge_old_tensor(j, old->inputs[i]);
  if (t->type == ELEMENT_ABSTRACT || !is_broadcast(old))
    return meaning_channels(j->before, old->inputs[i]) != p->read;
  const uint32_t axis = channel_axis(j, old, i);
  return axis == CALM_NONE || axis >= t->rank ||
         (t->dimensions[axis] == 1 && p->made > 1);
}

static calm_status data_fits(bool *out, judge *j, part *p, op_id u,
                             uint32_t i) {
  const tensor_id s = judge_op(j, u)->inputs[i],
                  t = judge_old_op(j, u)->inputs[i];
  const meaning *x = &j->of[s], *whole = &j->m.of[t];
  const int64_t width = meaning_width(x);
  meaning cut;
  int64_t begin = p->begin;
  *out = x->run_count &&
         judge_same_type(judge_tensor(j, s), judge_old_tensor(j, t));
  if (!*out) return CALM_OK;
  if (is_repeated(j, p, judge_old_op(j, u), i)) {
    *out = judge_is_same(j, s, t);
    return CALM_OK;
  }
  if (meaning_channels(j->before, t) != p->read ||
      (is_broadcast(judge_old_op(j, u)) &&
       judge_old_tensor(j, t)->rank !=
           judge_old_tensor(j, judge_old_op(j, u)->outputs[0])->rank)) {
    *out = false;
    return CALM_OK;
  }
  if (begin < 0) TRY(meaning_find(&begin, whole, x, 0, &j->a));
  *out = begin >= 0 && agrees(p, begin, begin + width);
  if (!*out) return CALM_OK;
  TRY(meaning_cut(&cut, whole, begin, begin + width, &j->a));
  *out = meaning_equal(&cut, x);
  return CALM_OK;
}

/* Constants tell which channels these are, where there are any. */
static calm_status operands_fit(bool *out, judge *j, part *p, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  *out = op->input_count == old->input_count;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; *out && i < op->input_count; i++) {
      const tensor_id s = op->inputs[i], t = old->inputs[i];
      if (s == CALM_NONE || t == CALM_NONE)
        *out = s == t;
      else if (judge_is_constant(j->before, t) != (pass == 0))
        continue;
      else if (pass == 0)
        *out = constant_fits(j, p, u, i);
      else
        TRY(data_fits(out, j, p, u, i));
    }
  return CALM_OK;
}

bool judge_is_channelwise(const judge *j, const graph_op *op) {
  return op->output_count == 1 && judge_operand(op, 0) != CALM_NONE &&
         op->outputs[0] != CALM_NONE &&
         meaning_habit(op->kind) != HABIT_MIXING &&
         meaning_leaves_channels(j->before, op);
}

/* The groups of a depthwise convolution are as many as its channels. */
static bool groups_fit(const judge *j, op_id u) {
  const char *text = graph_op_attribute(judge_op(j, u), "group");
  const tensor_id x = judge_operand(judge_op(j, u), 0);
  if (judge_old_op(j, u)->kind != OP_depthwise_conv2d ||
      !j->before->channels_first ||
      judge_tensor(j, x)->type == ELEMENT_ABSTRACT)
    return judge_same_attributes(judge_op(j, u), judge_old_op(j, u), NULL);
  const int64_t wanted = meaning_channels(j->after, x);
  int64_t groups = 0;
  for (; text && *text >= '0' && *text <= '9' && groups < wanted; text++)
    groups = 10 * groups + (*text - '0');
  return (text ? !*text : wanted == 1) && groups == (text ? wanted : 0) &&
         judge_same_attributes(judge_op(j, u), judge_old_op(j, u), "group");
}

calm_status judge_channels(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  const meaning *y = &j->m.made[old->outputs[0]];
  int64_t begin, end;
  bool fit = false;
  part p = {.begin = -1,
            .made = meaning_channels(j->before, old->outputs[0]),
            .read = meaning_channels(j->before, old->inputs[0])};
  if (is_broadcast(old)) p.read = p.made;
  if (op->kind != old->kind || !groups_fit(j, u) ||
      judge_is_active(j, u) != (graph_op_attribute(old, "activation") != NULL))
    return judge_refuse(j, "it does something else than before");
  TRY(operands_fit(&fit, j, &p, u));
  if (!fit || p.begin < 0)
    return judge_refuse(
        j, "its operands are not the same channels of those before");
  if (!meaning_scale(&begin, p.begin, p.made, p.read) ||
      !meaning_scale(&end, p.end, p.made, p.read))
    return judge_refuse(j, "it makes parts of channels");
  return meaning_cut(out, y, begin, end, &j->a);
}
