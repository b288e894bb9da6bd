/*
 * The judge of edits.  It goes through the rewritten graph operator by
 * operator, asks of each what its results mean given what its operands mean,
 * and compares with what the tensors of that name meant in the original.
 */
#include <string.h>

#include "rewrite/rewrite.h"
#include "rewrite/rewrite_meaning.h"

typedef struct judge {
  const graph_edit *edit;
  const graph *before, *after;
  meanings m;
  meaning *of;       /* of each tensor of `after` */
  op_id *completion; /* of each operator of `before`: which one of `after` makes
                        its output */
  const char *fault; /* what is wrong with the operator that is looked at */
  arena a;
} judge;

static const graph_op *new_op(const judge *j, op_id u) {
  return &j->after->ops.data[u];
}

static const graph_op *old_op(const judge *j, op_id u) {
  return &j->before->ops.data[j->edit->ops.data[u].from];
}

static const graph_tensor *new_tensor(const judge *j, tensor_id t) {
  return &j->after->tensors.data[t];
}

static const graph_tensor *old_tensor(const judge *j, tensor_id t) {
  return &j->before->tensors.data[t];
}

static const edit_tensor *descent_of(const judge *j, tensor_id t) {
  return &j->edit->tensors.data[t];
}

static calm_status fail_op(const judge *j, op_id u) {
  return context_fail(j->a.context, CALM_INTERNAL,
                      "operator '%s' of the rewritten graph: %s",
                      new_op(j, u)->name, j->fault);
}

static calm_status fail_tensor(const judge *j, tensor_id t, const char *what) {
  return context_fail(j->a.context, CALM_INTERNAL,
                      "tensor '%s' of the rewritten graph: %s",
                      new_tensor(j, t)->name, what);
}

/* Say what is wrong, once; an operator without result is refused. */
static bool wrong(judge *j, const char *what) {
  if (!j->fault) j->fault = what;
  return false;
}

/* ---- Tensors by themselves ----------------------------------------------- */

static bool same_dimensions(const graph_tensor *x, const graph_tensor *y,
                            uint32_t but) {
  if (x->rank != y->rank) return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != but && x->dimensions[i] != y->dimensions[i]) return false;
  return true;
}

static bool same_type(const graph_tensor *x, const graph_tensor *y) {
  return x->type == y->type && x->quantization == y->quantization;
}

static const char *fault_of_same(const graph_tensor *t,
                                 const graph_tensor *from) {
  if (strcmp(t->name, from->name)) return "it has another name than before";
  if (t->flags != from->flags) return "it is another kind of tensor";
  if (!same_type(t, from) || t->bytes != from->bytes ||
      !same_dimensions(t, from, CALM_NONE))
    return "it has another type or shape than before";
  return NULL;
}

static const char *fault_of_slice(const graph_tensor *t,
                                  const graph_tensor *from,
                                  const edit_tensor *descent) {
  const uint32_t axis = descent->axis;
  if (!(from->flags & CALM_TENSOR_CONST)) return "it is part of no constant";
  if (from->contents != CONTENTS_HERE)
    return "it is part of what cannot be parted";
  if (t->type == ELEMENT_ABSTRACT && from->type == ELEMENT_ABSTRACT)
    return descent->begin >= 0 && t->bytes <= from->bytes &&
                   (uint64_t)descent->begin <= from->bytes - t->bytes
               ? NULL
               : "it is part of what is not there";
  if (t->type != from->type || !same_dimensions(t, from, axis) ||
      axis >= t->rank)
    return "it has another type or shape than what it is part of";
  if (descent->begin < 0 || t->dimensions[axis] > from->dimensions[axis] ||
      descent->begin > from->dimensions[axis] - t->dimensions[axis])
    return "it is part of what is not there";
  return NULL;
}

static const char *fault_of_tensor(const judge *j, tensor_id t) {
  const edit_tensor *descent = descent_of(j, t);
  const graph_tensor *tensor = new_tensor(j, t);
  const bool constant = tensor->flags & CALM_TENSOR_CONST;
  if (descent->from >= j->before->tensors.count) return "it comes from nowhere";
  const graph_tensor *from = old_tensor(j, descent->from);
  if (descent->contents == EDIT_SAME) return fault_of_same(tensor, from);
  if (descent->contents == EDIT_MADE) {
    if (tensor->flags) return "it is new, and yet not inner";
    return j->after->producer[t] == CALM_NONE ? "nobody makes it" : NULL;
  }
  if (!constant || tensor->flags != CALM_TENSOR_CONST)
    return "it has contents, and is no constant";
  if (descent->contents == EDIT_SLICE)
    return fault_of_slice(tensor, from, descent);
  return tensor->type == from->type ? NULL : "it has another type than before";
}

static calm_status check_tensors(const judge *j) {
  if (j->edit->tensors.count != j->after->tensors.count ||
      j->edit->ops.count != j->after->ops.count)
    return context_fail(j->a.context, CALM_INTERNAL,
                        "the rewritten graph has parts of unknown descent");
  for (tensor_id t = 0; t < j->after->tensors.count; t++) {
    const char *fault = fault_of_tensor(j, t);
    if (fault) return fail_tensor(j, t, fault);
  }
  return CALM_OK;
}

/* ---- Operands ------------------------------------------------------------ */

static tensor_id operand(const graph_op *op, uint32_t i) {
  return i < op->input_count ? op->inputs[i] : CALM_NONE;
}

static bool is_constant(const graph *g, tensor_id t) {
  return t != CALM_NONE && g->tensors.data[t].flags & CALM_TENSOR_CONST;
}

/* Which elements of the old constant `t` the new one `s` has along `axis`:
   all dimensions but that one are full. */
static bool read_slice(int64_t *begin, int64_t *end, const judge *j,
                       tensor_id s, tensor_id t, uint32_t axis) {
  if (!is_constant(j->after, s) || descent_of(j, s)->from != t) return false;
  const edit_tensor *descent = descent_of(j, s);
  const graph_tensor *part = new_tensor(j, s);
  if (axis >= part->rank) return false;
  *begin = descent->contents == EDIT_SLICE ? descent->begin : 0;
  *end = *begin + part->dimensions[axis];
  if (descent->contents == EDIT_SAME) return true;
  return descent->contents == EDIT_SLICE &&
         (descent->axis == axis ||
          (descent->begin == 0 &&
           same_dimensions(part, old_tensor(j, t), CALM_NONE)));
}

/* All of the old constant. */
static bool is_whole(const judge *j, tensor_id s, tensor_id t) {
  if (!is_constant(j->after, s) || descent_of(j, s)->from != t) return false;
  const edit_tensor *descent = descent_of(j, s);
  if (descent->contents == EDIT_SAME) return true;
  return descent->contents == EDIT_SLICE && descent->begin == 0 &&
         same_dimensions(new_tensor(j, s), old_tensor(j, t), CALM_NONE);
}

/* The new tensor s is the old tensor t. */
static bool is_same(const judge *j, tensor_id s, tensor_id t) {
  if (s == CALM_NONE || t == CALM_NONE) return s == t;
  if (is_constant(j->before, t)) return is_whole(j, s, t);
  return meaning_equal(&j->of[s], &j->m.of[t]) &&
         same_type(new_tensor(j, s), old_tensor(j, t)) &&
         new_tensor(j, s)->bytes == old_tensor(j, t)->bytes &&
         same_dimensions(new_tensor(j, s), old_tensor(j, t), CALM_NONE);
}

/* ---- Attributes ---------------------------------------------------------- */

static bool speaks_of_activation(const char *key) {
  return !strncmp(key, "activation", strlen("activation"));
}

static bool said_by(const graph_op *op, const graph_attribute *a) {
  const char *value = graph_op_attribute(op, a->key);
  return value && !strcmp(value, a->value);
}

/* All that x says, y says, but for `except` and activations. */
static bool says_all(const graph_op *y, const graph_op *x, const char *except) {
  for (uint32_t i = 0; i < x->attribute_count; i++) {
    const graph_attribute *a = &x->attributes[i];
    if (speaks_of_activation(a->key) || (except && !strcmp(a->key, except)))
      continue;
    if (!said_by(y, a)) return false;
  }
  return true;
}

static bool same_attributes(const graph_op *x, const graph_op *y,
                            const char *except) {
  return says_all(x, y, except) && says_all(y, x, except);
}

static bool is_active(const judge *j, op_id u) {
  return j->edit->ops.data[u].activation &&
         graph_op_attribute(old_op(j, u), "activation");
}

/* An operator says which activation it applies: all of the old one's, or none.
   A partial_sum does not need to. */
static bool activation_told(const judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  const bool active = is_active(j, u);
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (speaks_of_activation(op->attributes[i].key) &&
        (!active || !said_by(old, &op->attributes[i])))
      return false;
  for (uint32_t i = 0; active && i < old->attribute_count; i++)
    if (speaks_of_activation(old->attributes[i].key) &&
        !said_by(op, &old->attributes[i]))
      return op->kind == OP_partial_sum;
  return true;
}

/* ---- Operators as they were ---------------------------------------------- */

static bool is_as_before(const judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  if (op->kind != old->kind || strcmp(op->kind_name, old->kind_name) ||
      op->input_count != old->input_count ||
      op->output_count != old->output_count ||
      op->body_count != old->body_count || op->stateful != old->stateful)
    return false;
  if (!same_attributes(op, old, NULL)) return false;
  if (graph_op_attribute(old, "activation") && !is_active(j, u)) return false;
  for (uint32_t i = 0; i < op->body_count; i++)
    if (op->bodies[i] != old->bodies[i]) return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (!is_same(j, op->inputs[i], old->inputs[i])) return false;
  for (uint32_t i = 0; i < op->output_count; i++)
    if ((op->outputs[i] == CALM_NONE) != (old->outputs[i] == CALM_NONE))
      return false;
  return true;
}

static void mean_as_before(judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE)
      j->of[op->outputs[i]] = j->m.of[old->outputs[i]];
}

/* ---- Concats ------------------------------------------------------------- */

static calm_status mean_concat(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u);
  const graph_tensor *y = new_tensor(j, op->outputs[0]);
  uint32_t axis;
  meaning joined = {.like = CALM_NONE};
  if (y->type != ELEMENT_ABSTRACT &&
      (!meaning_read_axis(&axis, op, y->rank) ||
       axis != meaning_axis(j->after, y->rank))) {
    wrong(j, "its axis is not that of the channels");
    return CALM_OK;
  }
  if (is_active(j, u) || !same_attributes(op, old_op(j, u), "axis")) {
    wrong(j, "it does more than to put channels together");
    return CALM_OK;
  }
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id x = op->inputs[i];
    if (x == CALM_NONE || !j->of[x].run_count) {
      wrong(j, "an operand is no channels");
      return CALM_OK;
    }
    TRY(meaning_join(&joined, &joined, &j->of[x], &j->a));
  }
  *out = joined;
  return CALM_OK;
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
  const graph_tensor *t = old_tensor(j, old->inputs[i]);
  if (old->kind == OP_depthwise_conv2d)
    return i == 1 && !j->before->channels_first ? t->rank - 1 : 0;
  if (meaning_habit(old->kind) == HABIT_VECTORS) return 0;
  const uint32_t y_rank = old_tensor(j, old->outputs[0])->rank;
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
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  const graph_tensor *t = old_tensor(j, old->inputs[i]);
  const channel_habit habit = meaning_habit(old->kind);
  const bool by_channel = habit == HABIT_BROADCAST || habit == HABIT_VECTORS ||
                          habit == HABIT_DEPTHWISE;
  const uint32_t axis = by_channel ? channel_axis(j, old, i) : CALM_NONE;
  int64_t begin, end;
  if (t->type == ELEMENT_ABSTRACT)
    return is_constant(j->after, op->inputs[i]) &&
           descent_of(j, op->inputs[i])->from == old->inputs[i];
  if (axis == CALM_NONE || axis >= t->rank ||
      (t->dimensions[axis] == 1 && p->made > 1))
    return is_whole(j, op->inputs[i], old->inputs[i]);
  if (t->dimensions[axis] != p->made ||
      !read_slice(&begin, &end, j, op->inputs[i], old->inputs[i], axis))
    return false;
  return meaning_scale(&begin, begin, p->read, p->made) &&
         meaning_scale(&end, end, p->read, p->made) && agrees(p, begin, end);
}

/* A bias of zeros stands for none. */
static bool is_zero(const judge *j, tensor_id t) {
  return t != CALM_NONE && descent_of(j, t)->contents == EDIT_ZERO;
}

/* Is the same channel of operand i used for all of the result? */
static bool is_repeated(const judge *j, const part *p, const graph_op *old,
                        uint32_t i) {
  const graph_tensor *t = old_tensor(j, old->inputs[i]);
  if (t->type == ELEMENT_ABSTRACT || !is_broadcast(old))
    return meaning_channels(j->before, old->inputs[i]) != p->read;
  const uint32_t axis = channel_axis(j, old, i);
  return axis == CALM_NONE || axis >= t->rank ||
         (t->dimensions[axis] == 1 && p->made > 1);
}

static calm_status data_fits(bool *out, judge *j, part *p, op_id u,
                             uint32_t i) {
  const tensor_id s = new_op(j, u)->inputs[i], t = old_op(j, u)->inputs[i];
  const meaning *x = &j->of[s], *whole = &j->m.of[t];
  const int64_t width = meaning_width(x);
  meaning cut;
  int64_t begin = p->begin;
  *out = x->run_count && same_type(new_tensor(j, s), old_tensor(j, t));
  if (!*out) return CALM_OK;
  if (is_repeated(j, p, old_op(j, u), i)) {
    *out = is_same(j, s, t);
    return CALM_OK;
  }
  if (meaning_channels(j->before, t) != p->read ||
      (is_broadcast(old_op(j, u)) &&
       old_tensor(j, t)->rank !=
           old_tensor(j, old_op(j, u)->outputs[0])->rank)) {
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
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  *out = op->input_count == old->input_count;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; *out && i < op->input_count; i++) {
      const tensor_id s = op->inputs[i], t = old->inputs[i];
      if (s == CALM_NONE || t == CALM_NONE)
        *out = s == t;
      else if (is_constant(j->before, t) != (pass == 0))
        continue;
      else if (pass == 0)
        *out = constant_fits(j, p, u, i);
      else
        TRY(data_fits(out, j, p, u, i));
    }
  return CALM_OK;
}

static bool is_channelwise(const judge *j, const graph_op *op) {
  return op->output_count == 1 && operand(op, 0) != CALM_NONE &&
         op->outputs[0] != CALM_NONE &&
         meaning_habit(op->kind) != HABIT_MIXING &&
         meaning_leaves_channels(j->before, op);
}

/* The groups of a depthwise convolution are as many as its channels. */
static bool groups_fit(const judge *j, op_id u) {
  const char *text = graph_op_attribute(new_op(j, u), "group");
  const tensor_id x = operand(new_op(j, u), 0);
  if (old_op(j, u)->kind != OP_depthwise_conv2d || !j->before->channels_first ||
      new_tensor(j, x)->type == ELEMENT_ABSTRACT)
    return same_attributes(new_op(j, u), old_op(j, u), NULL);
  const int64_t wanted = meaning_channels(j->after, x);
  int64_t groups = 0;
  for (; text && *text >= '0' && *text <= '9' && groups < wanted; text++)
    groups = 10 * groups + (*text - '0');
  return (text ? !*text : wanted == 1) && groups == (text ? wanted : 0) &&
         same_attributes(new_op(j, u), old_op(j, u), "group");
}

static calm_status mean_channels(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  const meaning *y = &j->m.of[old->outputs[0]];
  int64_t begin, end;
  bool fit = false;
  part p = {.begin = -1,
            .made = meaning_channels(j->before, old->outputs[0]),
            .read = meaning_channels(j->before, old->inputs[0])};
  if (is_broadcast(old)) p.read = p.made;
  if (op->kind != old->kind || !groups_fit(j, u) ||
      is_active(j, u) != (graph_op_attribute(old, "activation") != NULL)) {
    wrong(j, "it does something else than before");
    return CALM_OK;
  }
  TRY(operands_fit(&fit, j, &p, u));
  if (!fit || p.begin < 0) {
    wrong(j, "its operands are not the same channels of those before");
    return CALM_OK;
  }
  if (!meaning_scale(&begin, p.begin, p.made, p.read) ||
      !meaning_scale(&end, p.end, p.made, p.read)) {
    wrong(j, "it makes parts of channels");
    return CALM_OK;
  }
  return meaning_cut(out, y, begin, end, &j->a);
}

/* ---- Sums ---------------------------------------------------------------- */

/* With its activation, if it applies one, a sum must be all of the old result;
   then it is that. */
static calm_status end_sum(meaning *out, judge *j, op_id u,
                           const meaning *sum) {
  const op_id from = j->edit->ops.data[u].from;
  bool complete;
  *out = *sum;
  if (!is_active(j, u)) return CALM_OK;
  TRY(sum_is_complete(&complete, &j->m, sum, from));
  if (complete)
    *out = j->m.of[old_op(j, u)->outputs[0]];
  else
    *out = (meaning){.like = CALM_NONE},
    wrong(j, "its activation is applied to something else than before");
  return CALM_OK;
}

static bool is_conv(const graph_op *op) {
  return op->kind == OP_conv2d || op->kind == OP_fused_conv;
}

/* The result of an operand is as large as that of the operator. */
static bool same_place(const judge *j, tensor_id x, tensor_id y) {
  const graph_tensor *a = new_tensor(j, x), *b = new_tensor(j, y);
  return a->type == b->type && a->bytes == b->bytes &&
         same_dimensions(a, b, CALM_NONE);
}

static calm_status add_operand(meaning *sum, judge *j, op_id u, tensor_id x) {
  const meaning *more = x == CALM_NONE ? NULL : &j->of[x];
  if (!more || (!more->run_count && !more->sum) ||
      !same_place(j, x, new_op(j, u)->outputs[0])) {
    wrong(j, "an operand is nothing that can be added");
    return CALM_OK;
  }
  if (!sum->sum && !sum->run_count) {
    *sum = *more;
    return CALM_OK;
  }
  return sum_of_two(sum, &j->m, sum, more, old_op(j, u)->outputs[0]);
}

static bool has_bias(const graph_op *conv) {
  return is_conv(conv) && operand(conv, 2) != CALM_NONE;
}

static calm_status add_bias(meaning *sum, judge *j, op_id u) {
  const op_id from = j->edit->ops.data[u].from;
  meaning bias;
  TRY(sum_of_leaf(&bias, &j->m, (sum_node){.leaf = LEAF_BIAS, .op = from},
                  old_op(j, u)->outputs[0]));
  return sum_of_two(sum, &j->m, sum, &bias, old_op(j, u)->outputs[0]);
}

/* add, add_into, partial_sum. */
static calm_status mean_sum(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u);
  const edit_op *descent = &j->edit->ops.data[u];
  meaning sum = {.like = CALM_NONE};
  const bool partial = descent->role == EDIT_SUM;
  if (partial ? op->kind != OP_partial_sum
              : op->kind != OP_add && op->kind != OP_add_into) {
    wrong(j, "it does not add");
    return CALM_OK;
  }
  if (!same_attributes(op, &(graph_op){0}, NULL)) {
    wrong(j, "it does more than to add");
    return CALM_OK;
  }
  for (uint32_t i = 0; i < op->input_count && !j->fault; i++)
    TRY(add_operand(&sum, j, u, op->inputs[i]));
  if (j->fault || op->input_count == 0) {
    wrong(j, "it adds nothing");
    return CALM_OK;
  }
  if (partial && has_bias(old_op(j, u))) TRY(add_bias(&sum, j, u));
  return end_sum(out, j, u, &sum);
}

/* ---- Partial convolutions ------------------------------------------------ */

/* Which input channels it reads; false: not those that its weights are for. */
static calm_status conv_channels(bool *out, judge *j, op_id u, sum_node *leaf) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  const tensor_id x = op->inputs[0], from = old->inputs[0];
  meaning cut;
  *out = j->of[x].run_count &&
         same_type(new_tensor(j, x), old_tensor(j, from)) &&
         same_dimensions(new_tensor(j, x), old_tensor(j, from),
                         meaning_axis(j->before, new_tensor(j, x)->rank));
  if (!*out) return CALM_OK;
  if (old->input_count == 1) {
    leaf->channels = j->of[x];
    *out = operand(op, 1) == CALM_NONE;
    return CALM_OK;
  }
  const tensor_id w = operand(op, 1), whole = operand(old, 1);
  const graph_tensor *kernel = whole == CALM_NONE ? NULL : old_tensor(j, whole);
  const uint32_t axis = !kernel                     ? 0
                        : j->before->channels_first ? 1
                                                    : kernel->rank - 1;
  *out = kernel && kernel->rank == 4 && w != CALM_NONE &&
         kernel->dimensions[axis] == meaning_channels(j->before, from) &&
         read_slice(&leaf->begin, &leaf->end, j, w, whole, axis);
  if (!*out) return CALM_OK;
  TRY(meaning_cut(&cut, &j->m.of[from], leaf->begin, leaf->end, &j->a));
  *out = meaning_equal(&cut, &j->of[x]);
  return CALM_OK;
}

/* The third operand: the bias, zeros of its length, or nothing. */
static calm_status conv_bias(meaning *sum, judge *j, op_id u) {
  const tensor_id b = operand(new_op(j, u), 2), old = operand(old_op(j, u), 2);
  const tensor_id y = new_op(j, u)->outputs[0];
  if (b == CALM_NONE) return CALM_OK;
  if (is_zero(j, b)) {
    if (new_tensor(j, b)->rank != 1 ||
        new_tensor(j, b)->dimensions[0] != meaning_channels(j->after, y))
      wrong(j, "its bias of zeros has another length");
    return CALM_OK;
  }
  if (old != CALM_NONE && is_same(j, b, old)) return add_bias(sum, j, u);
  wrong(j, "it has another bias");
  return CALM_OK;
}

static calm_status mean_conv(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  const op_id from = j->edit->ops.data[u].from;
  sum_node leaf = {.leaf = LEAF_CONV, .op = from};
  meaning sum;
  bool fit = false;
  if (!is_conv(op) || op->input_count > 4 ||
      (op->kind == OP_conv2d && operand(op, 3) != CALM_NONE) ||
      !same_attributes(op, old, NULL) || graph_op_attribute(op, "group")) {
    wrong(j, "it is another convolution");
    return CALM_OK;
  }
  TRY(conv_channels(&fit, j, u, &leaf));
  if (!fit) {
    wrong(j, "its operand is not the channels that its weights are for");
    return CALM_OK;
  }
  TRY(sum_of_leaf(&sum, &j->m, leaf, old->outputs[0]));
  TRY(conv_bias(&sum, j, u));
  if (operand(op, 3) != CALM_NONE) TRY(add_operand(&sum, j, u, op->inputs[3]));
  return j->fault ? CALM_OK : end_sum(out, j, u, &sum);
}

/* What narrows a wide sum applies the activation. */
static calm_status mean_narrowed(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u);
  const meaning *x = &j->of[op->inputs[0]];
  bool complete;
  TRY(sum_is_complete(&complete, &j->m, x, j->edit->ops.data[u].from));
  if (complete && is_active(j, u) ==
                      (graph_op_attribute(old_op(j, u), "activation") != NULL))
    *out = j->m.of[old_op(j, u)->outputs[0]];
  else
    wrong(j, "what it narrows is not the whole sum");
  return CALM_OK;
}

/* ---- Products and sums with constants ------------------------------------ */

static calm_status mean_map(meaning *out, judge *j, const affine_map *map,
                            tensor_id like) {
  affine_map *made;
  ARENA_ARRAY(&j->a, made, 1);
  *made = *map;
  *out = (meaning){.map = made, .like = like};
  return CALM_OK;
}

/* Of this rule there is always a constant that was computed. */
static bool has_given(const judge *j, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        descent_of(j, op->inputs[i])->contents == EDIT_GIVEN)
      return true;
  return false;
}

static calm_status mean_affine(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u);
  const edit_op *descent = &j->edit->ops.data[u];
  const affine_side side = {j->after, j->before, j->edit};
  const uint32_t slot = affine_operand(j->after, op);
  affine_map map = {.conv = CALM_NONE, .scale = 1, .activation = CALM_NONE};
  if (slot == CALM_NONE || (descent->role == EDIT_KEEP &&
                            (op->kind != old_op(j, u)->kind ||
                             !same_attributes(op, old_op(j, u), NULL)))) {
    wrong(j, "it is another operation");
    return CALM_OK;
  }
  const meaning *x = &j->of[op->inputs[slot]];
  if (x->map)
    map = *x->map;
  else
    map.base = *x;
  map.vague =
      map.vague || new_tensor(j, op->inputs[slot])->type == ELEMENT_ABSTRACT;
  if ((!x->map && !x->run_count) || map.activation != CALM_NONE ||
      !affine_apply(&map, &side, op)) {
    wrong(j, "its constants are not what they are said to be");
    return CALM_OK;
  }
  if (is_active(j, u)) map.activation = descent->from;
  return mean_map(out, j, &map, old_op(j, u)->outputs[0]);
}

static bool is_foldable(op_kind kind) {
  return kind == OP_conv2d || kind == OP_depthwise_conv2d ||
         kind == OP_fully_connected || kind == OP_conv1d || kind == OP_conv3d;
}

/* A convolution whose weights and bias were computed. */
static calm_status mean_folded(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  const affine_side side = {j->after, j->before, j->edit};
  const tensor_id w = operand(old, 1);
  affine_map map = {.conv = j->edit->ops.data[u].from, .activation = CALM_NONE};
  if (op->kind != old->kind || op->input_count > 3 || w == CALM_NONE ||
      operand(op, 1) == CALM_NONE || graph_op_attribute(old, "activation") ||
      !same_attributes(op, old, NULL) ||
      !is_same(j, op->inputs[0], old->inputs[0])) {
    wrong(j, "it is another convolution");
    return CALM_OK;
  }
  const graph_tensor *kernel = old_tensor(j, w);
  const bool last =
      op->kind == OP_depthwise_conv2d && !j->before->channels_first;
  const uint32_t axis = last && kernel->rank ? kernel->rank - 1 : 0;
  const int64_t channels = meaning_channels(j->before, old->outputs[0]);
  if (kernel->rank == 0 || kernel->dimensions[axis] != channels ||
      !same_dimensions(kernel, new_tensor(j, op->inputs[1]), CALM_NONE) ||
      !affine_factor(&map.scale, &side, op->inputs[1], w, axis) ||
      !affine_vector(&map.shift, &side, operand(op, 2), channels)) {
    wrong(j, "its constants are not what they are said to be");
    return CALM_OK;
  }
  return mean_map(out, j, &map, old->outputs[0]);
}

/* An abstract convolution that is folded with what follows looks as before. */
static calm_status is_vaguely(bool *out, const judge *j, op_id u, tensor_id t) {
  const affine_map map = {.base = j->of[t],
                          .conv = CALM_NONE,
                          .vague = true,
                          .activation = CALM_NONE};
  *out = false;
  if (new_tensor(j, t)->type != ELEMENT_ABSTRACT ||
      !is_foldable(new_op(j, u)->kind))
    return CALM_OK;
  return affine_is_complete(out, &j->m, &map, descent_of(j, t)->from);
}

/* ---- Every operator ------------------------------------------------------ */

static calm_status mean_kept(meaning *out, judge *j, op_id u) {
  const graph_op *op = new_op(j, u), *old = old_op(j, u);
  if (op->output_count != 1 || old->output_count != 1 ||
      operand(op, 0) == CALM_NONE || operand(old, 0) == CALM_NONE) {
    wrong(j, "its operands are not those before");
    return CALM_OK;
  }
  if (is_foldable(old->kind) && has_given(j, op)) return mean_folded(out, j, u);
  if (has_given(j, op)) return mean_affine(out, j, u);
  if (op->kind == OP_quantize && is_conv(old)) return mean_narrowed(out, j, u);
  if (is_conv(old)) return mean_conv(out, j, u);
  if (op->kind == OP_concat && old->kind == OP_concat)
    return mean_concat(out, j, u);
  if (is_channelwise(j, old)) return mean_channels(out, j, u);
  wrong(j, "its operands are not those before");
  return CALM_OK;
}

static calm_status mean_op(meaning *out, judge *j, op_id u) {
  switch (j->edit->ops.data[u].role) {
    case EDIT_KEEP: return mean_kept(out, j, u);
    case EDIT_CONCAT:
      if (new_op(j, u)->kind == OP_concat) return mean_concat(out, j, u);
      break;
    case EDIT_ADD:
    case EDIT_SUM: return mean_sum(out, j, u);
    case EDIT_AFFINE: return mean_affine(out, j, u);
  }
  wrong(j, "it has no such role");
  return CALM_OK;
}

/* Do type and shape of a tensor fit what it means? */
static bool fits_meaning(const judge *j, tensor_id t, const meaning *x) {
  const graph_tensor *tensor = new_tensor(j, t);
  const uint32_t axis = meaning_axis(j->after, tensor->rank);
  if (x->map) {
    const graph_tensor *like = old_tensor(j, x->like);
    return same_type(tensor, like) && tensor->bytes == like->bytes &&
           same_dimensions(tensor, like, CALM_NONE);
  }
  if (x->sum) {
    const graph_tensor *like = old_tensor(j, x->like);
    return same_dimensions(tensor, like, CALM_NONE) &&
           (tensor->type == ELEMENT_ABSTRACT
                ? like->type == ELEMENT_ABSTRACT &&
                      (like->bytes ? tensor->bytes % like->bytes == 0
                                   : tensor->bytes == 0)
                : element_type_bits(tensor->type) >=
                      element_type_bits(like->type));
  }
  for (uint32_t i = 0; i < x->run_count; i++) {
    const graph_tensor *from = old_tensor(j, x->runs[i].of);
    if (!same_type(tensor, from) || !same_dimensions(tensor, from, axis))
      return false;
  }
  return meaning_channels(j->after, t) == meaning_width(x);
}

/* A tensor of the original must mean what it meant. */
static calm_status settle(judge *j, op_id u, tensor_id t) {
  const edit_tensor *descent = descent_of(j, t);
  meaning *x = &j->of[t];
  const meaning *wanted = &j->m.of[descent->from];
  bool complete = false;
  if (!x->sum && !x->run_count && !x->map) wrong(j, "it makes nothing");
  if (!j->fault && !fits_meaning(j, t, x))
    wrong(j, "its result has another shape or type");
  if (descent->contents != EDIT_SAME || j->fault) return CALM_OK;
  if (x->sum) {
    const op_id old = j->before->producer[descent->from];
    if (old == CALM_NONE ||
        graph_op_attribute(&j->before->ops.data[old], "activation"))
      wrong(j, "its result lacks an activation");
    else
      TRY(sum_is_complete(&complete, &j->m, x, old));
  }
  if (x->map)
    TRY(affine_is_complete(&complete, &j->m, x->map, descent->from));
  else if (!complete && !meaning_equal(x, wanted))
    TRY(is_vaguely(&complete, j, u, t));
  if (complete) *x = *wanted;
  if (!meaning_equal(x, wanted)) wrong(j, "its result is not what it was");
  if (j->before->producer[descent->from] != CALM_NONE)
    j->completion[j->before->producer[descent->from]] = u;
  return CALM_OK;
}

static calm_status check_op(judge *j, op_id u) {
  const graph_op *op = new_op(j, u);
  const edit_op *descent = &j->edit->ops.data[u];
  j->fault = NULL;
  if (descent->from >= j->before->ops.count) {
    wrong(j, "it comes from nowhere");
    return fail_op(j, u);
  }
  if (!activation_told(j, u)) wrong(j, "its activation is not what it says");
  if (!j->fault && descent->role == EDIT_KEEP && is_as_before(j, u)) {
    mean_as_before(j, u);
  } else if (!j->fault) {
    if (op->output_count != 1 || op->outputs[0] == CALM_NONE) {
      wrong(j, "its operands are not those before");
    } else {
      meaning made = {.like = CALM_NONE};
      TRY(mean_op(&made, j, u));
      j->of[op->outputs[0]] = made;
    }
  }
  for (uint32_t i = 0; i < op->output_count && !j->fault; i++)
    if (op->outputs[i] != CALM_NONE) TRY(settle(j, u, op->outputs[i]));
  return j->fault ? fail_op(j, u) : CALM_OK;
}

/* ---- The graph as a whole ------------------------------------------------ */

/* Tensors that nobody makes mean what they did. */
static calm_status check_sources(judge *j) {
  for (tensor_id t = 0; t < j->after->tensors.count; t++) {
    const edit_tensor *descent = descent_of(j, t);
    if (j->after->producer[t] != CALM_NONE || descent->contents != EDIT_SAME)
      continue;
    if (j->before->producer[descent->from] != CALM_NONE &&
        !(new_tensor(j, t)->flags & CALM_TENSOR_VARIABLE))
      return fail_tensor(j, t, "nobody makes it any more");
    j->of[t] = j->m.of[descent->from];
  }
  return CALM_OK;
}

/* What the user gives and gets, and what outlives the run, is all there. */
static calm_status check_borders(const judge *j, const bool *kept) {
  const unsigned border =
      CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE;
  for (tensor_id t = 0; t < j->before->tensors.count; t++)
    if (old_tensor(j, t)->flags & border && !kept[t])
      return context_fail(j->a.context, CALM_INTERNAL,
                          "tensor '%s' is not in the rewritten graph",
                          old_tensor(j, t)->name);
  return CALM_OK;
}

static bool keeps_its_place(const graph *g, const graph_op *op) {
  if (graph_op_stateful(op) || op->body_count) return true;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_VARIABLE)
      return true;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE &&
        g->tensors.data[op->outputs[i]].flags & CALM_TENSOR_VARIABLE)
      return true;
  return false;
}

/* Operators with state, or that touch variables: the same, in their order. */
static calm_status check_state(const judge *j) {
  op_id u = 0;
  for (op_id v = 0; v < j->before->ops.count; v++)
    if (j->before->ops.data[v].output_count == 0 &&
        j->completion[v] == CALM_NONE)
      return context_fail(j->a.context, CALM_INTERNAL,
                          "operator '%s' is not in the rewritten graph",
                          j->before->ops.data[v].name);
  for (op_id v = 0; v <= j->before->ops.count; v++) {
    const bool last = v == j->before->ops.count;
    if (!last && !keeps_its_place(j->before, &j->before->ops.data[v])) continue;
    while (u < j->after->ops.count && !keeps_its_place(j->after, new_op(j, u)))
      u++;
    const bool there = u < j->after->ops.count;
    if (there == last || (there && j->edit->ops.data[u].from != v))
      return context_fail(j->a.context, CALM_INTERNAL,
                          "operators with state do not keep their order");
    u++;
  }
  return CALM_OK;
}

static bool waits_for(const graph_op *op, op_id other) {
  for (uint32_t i = 0; i < op->after_count; i++)
    if (op->after[i] == other) return true;
  return false;
}

/* An operator that is kept, or each part of it, waits for what it waited for to
   be complete. */
static calm_status check_control(judge *j) {
  for (op_id u = 0; u < j->after->ops.count; u++) {
    const graph_op *old = old_op(j, u);
    const edit_role role = j->edit->ops.data[u].role;
    if (role == EDIT_ADD || role == EDIT_SUM) continue;
    for (uint32_t i = 0; i < old->after_count; i++) {
      const op_id awaited = j->completion[old->after[i]];
      if (awaited != CALM_NONE && waits_for(new_op(j, u), awaited)) continue;
      j->fault = "it does not wait for the operators that it waited for";
      return fail_op(j, u);
    }
  }
  return CALM_OK;
}

static calm_status check_ops(judge *j) {
  for (uint32_t i = 0; i < j->after->ops.count; i++)
    TRY(check_op(j, j->after->order[i]));
  for (op_id u = 0; u < j->after->ops.count; u++) {
    /* Without outputs there is nothing else to tell it by. */
    const op_id from = j->edit->ops.data[u].from;
    if (j->completion[from] == CALM_NONE &&
        j->edit->ops.data[u].role == EDIT_KEEP && is_as_before(j, u))
      j->completion[from] = u;
  }
  return CALM_OK;
}

static calm_status judge_edit(judge *j) {
  bool *kept;
  ARENA_ARRAY(&j->a, kept, j->before->tensors.count);
  ARENA_ARRAY(&j->a, j->of, j->after->tensors.count);
  ARENA_ARRAY(&j->a, j->completion, j->before->ops.count);
  TRY(check_tensors(j));
  for (op_id v = 0; v < j->before->ops.count; v++) j->completion[v] = CALM_NONE;
  for (tensor_id t = 0; t < j->after->tensors.count; t++)
    if (descent_of(j, t)->contents == EDIT_SAME)
      kept[descent_of(j, t)->from] = true;
  TRY(meanings_build(&j->m, j->before, kept, &j->a));
  TRY(check_sources(j));
  TRY(check_borders(j, kept));
  TRY(check_ops(j));
  TRY(check_state(j));
  return check_control(j);
}

calm_status rewrite_check(const graph_edit *edit, calm_context *context) {
  judge j = {.edit = edit, .before = edit->before, .after = &edit->after};
  arena_init(&j.a, context);
  calm_status status = judge_edit(&j);
  arena_free(&j.a);
  return status;
}
