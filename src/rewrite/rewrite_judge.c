/* Questions about parts of an edit, each answered from its lists alone. */
#include <string.h>

#include "rewrite/rewrite_judge.h"

/* ---- Operands ------------------------------------------------------------ */

bool judge_same_dimensions(const graph_tensor *x, const graph_tensor *y,
                           uint32_t but) {
  if (x->rank != y->rank) return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != but && x->dimensions[i] != y->dimensions[i]) return false;
  return true;
}

bool judge_same_type(const graph_tensor *x, const graph_tensor *y) {
  return x->type == y->type && x->quantization == y->quantization;
}

bool judge_is_constant(const graph *g, tensor_id t) {
  return t != CALM_NONE && g->tensors.data[t].flags & CALM_TENSOR_CONST;
}

bool judge_read_slice(int64_t *begin, int64_t *end, const judge *j, tensor_id s,
                      tensor_id t, uint32_t axis) {
  if (!judge_is_constant(j->after, s) || judge_descent(j, s)->from != t)
    return false;
  const edit_tensor *descent = judge_descent(j, s);
  const graph_tensor *part = judge_tensor(j, s);
  if (axis >= part->rank) return false;
  *begin = descent->contents == EDIT_SLICE ? descent->begin : 0;
  *end = *begin + part->dimensions[axis];
  if (descent->contents == EDIT_SAME) return true;
  return descent->contents == EDIT_SLICE &&
         (descent->axis == axis ||
          (descent->begin == 0 &&
           judge_same_dimensions(part, judge_old_tensor(j, t), CALM_NONE)));
}

bool judge_is_whole(const judge *j, tensor_id s, tensor_id t) {
  if (!judge_is_constant(j->after, s) || judge_descent(j, s)->from != t)
    return false;
  const edit_tensor *descent = judge_descent(j, s);
  if (descent->contents == EDIT_SAME) return true;
  return descent->contents == EDIT_SLICE && descent->begin == 0 &&
         judge_same_dimensions(judge_tensor(j, s), judge_old_tensor(j, t),
                               CALM_NONE);
}

bool judge_is_same(const judge *j, tensor_id s, tensor_id t) {
  if (s == CALM_NONE || t == CALM_NONE) return s == t;
  if (judge_is_constant(j->before, t)) return judge_is_whole(j, s, t);
  return meaning_equal(&j->of[s], &j->m.of[t]) &&
         judge_same_type(judge_tensor(j, s), judge_old_tensor(j, t)) &&
         judge_tensor(j, s)->bytes == judge_old_tensor(j, t)->bytes &&
         judge_same_dimensions(judge_tensor(j, s), judge_old_tensor(j, t),
                               CALM_NONE);
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

bool judge_same_attributes(const graph_op *x, const graph_op *y,
                           const char *except) {
  return says_all(x, y, except) && says_all(y, x, except);
}

bool judge_is_active(const judge *j, op_id u) {
  return j->edit->ops.data[u].activation &&
         graph_op_attribute(judge_old_op(j, u), "activation");
}

bool judge_activation_told(const judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  const bool active = judge_is_active(j, u);
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

bool judge_is_as_before(const judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  if (op->kind != old->kind || strcmp(op->kind_name, old->kind_name) ||
      op->input_count != old->input_count ||
      op->output_count != old->output_count ||
      op->body_count != old->body_count || op->stateful != old->stateful)
    return false;
  if (!judge_same_attributes(op, old, NULL)) return false;
  if (graph_op_attribute(old, "activation") && !judge_is_active(j, u))
    return false;
  for (uint32_t i = 0; i < op->body_count; i++)
    if (op->bodies[i] != old->bodies[i]) return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (!judge_is_same(j, op->inputs[i], old->inputs[i])) return false;
  for (uint32_t i = 0; i < op->output_count; i++)
    if ((op->outputs[i] == CALM_NONE) != (old->outputs[i] == CALM_NONE))
      return false;
  return true;
}
