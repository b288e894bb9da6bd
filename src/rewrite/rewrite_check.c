/*
 * The judge of edits.  It goes through the rewritten graph operator by
 * operator, asks of each what its results mean given what its operands mean,
 * and compares with what the tensors of that name meant in the original.
 */
#include <string.h>

#include "rewrite/rewrite.h"
#include "rewrite/rewrite_judge.h"

static calm_status fail_op(const judge *j, op_id u) {
  return context_fail(j->a.context, CALM_INTERNAL,
                      "operator '%s' of the rewritten graph: %s",
                      judge_op(j, u)->name, j->fault);
}

static calm_status fail_tensor(const judge *j, tensor_id t, const char *what) {
  return context_fail(j->a.context, CALM_INTERNAL,
                      "tensor '%s' of the rewritten graph: %s",
                      judge_tensor(j, t)->name, what);
}

/* ---- Tensors by themselves ----------------------------------------------- */

static const char *fault_of_same(const graph_tensor *t,
                                 const graph_tensor *from) {
  if (strcmp(t->name, from->name)) return "it has another name than before";
  if (t->flags != from->flags) return "it is another kind of tensor";
  if (!judge_same_type(t, from) || t->bytes != from->bytes ||
      !judge_same_dimensions(t, from, CALM_NONE))
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
  if (t->type != from->type || !judge_same_dimensions(t, from, axis) ||
      axis >= t->rank)
    return "it has another type or shape than what it is part of";
  if (descent->begin < 0 || t->dimensions[axis] > from->dimensions[axis] ||
      descent->begin > from->dimensions[axis] - t->dimensions[axis])
    return "it is part of what is not there";
  return NULL;
}

static const char *fault_of_tensor(const judge *j, tensor_id t) {
  const edit_tensor *descent = judge_descent(j, t);
  const graph_tensor *tensor = judge_tensor(j, t);
  const bool constant = tensor->flags & CALM_TENSOR_CONST;
  if (descent->from >= j->before->tensors.count) return "it comes from nowhere";
  const graph_tensor *from = judge_old_tensor(j, descent->from);
  if (descent->contents == EDIT_SAME) return fault_of_same(tensor, from);
  if (descent->contents == EDIT_MADE) {
    if (tensor->flags) return "it is new, and yet not inner";
    if (from->flags & CALM_TENSOR_CONST) return "it is made like a constant";
    if (tensor->quantization != from->quantization)
      return "it is quantised in another way than what it is made like";
    return j->after->producer[t] == CALM_NONE ? "nobody makes it" : NULL;
  }
  if (!constant || tensor->flags != CALM_TENSOR_CONST)
    return "it has contents, and is no constant";
  if (descent->contents == EDIT_SLICE)
    return fault_of_slice(tensor, from, descent);
  return tensor->type == from->type ? NULL : "it has another type than before";
}

static calm_status check_descent(judge *j) {
  if (j->edit->tensors.count != j->after->tensors.count ||
      j->edit->ops.count != j->after->ops.count)
    return context_fail(j->a.context, CALM_INTERNAL,
                        "the rewritten graph has parts of unknown descent");
  for (tensor_id t = 0; t < j->after->tensors.count; t++) {
    const char *fault = fault_of_tensor(j, t);
    if (fault) return fail_tensor(j, t, fault);
  }
  for (op_id u = 0; u < j->after->ops.count; u++)
    if (j->edit->ops.data[u].from >= j->before->ops.count) {
      j->fault = "it comes from nowhere";
      return fail_op(j, u);
    }
  return CALM_OK;
}

/* ---- Every operator ------------------------------------------------------ */

static void mean_as_before(judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE)
      j->of[op->outputs[i]] = j->m.of[old->outputs[i]];
}

static calm_status mean_kept(meaning *out, judge *j, op_id u) {
  const graph_op *op = judge_op(j, u), *old = judge_old_op(j, u);
  if (op->output_count != 1 || old->output_count != 1 ||
      judge_operand(op, 0) == CALM_NONE || judge_operand(old, 0) == CALM_NONE)
    return judge_refuse(j, "its operands are not those before");
  if (judge_is_foldable(old->kind) && judge_has_given(j, op))
    return judge_folded(out, j, u);
  if (judge_has_given(j, op)) return judge_affine(out, j, u);
  if (op->kind == OP_quantize && judge_is_conv(old))
    return judge_narrowed(out, j, u);
  if (judge_is_conv(old)) return judge_conv(out, j, u);
  if (op->kind == OP_concat && old->kind == OP_concat)
    return judge_concat(out, j, u);
  if (judge_is_channelwise(j, old)) return judge_channels(out, j, u);
  return judge_refuse(j, "its operands are not those before");
}

static calm_status mean_op(meaning *out, judge *j, op_id u) {
  switch (j->edit->ops.data[u].role) {
    case EDIT_KEEP: return mean_kept(out, j, u);
    case EDIT_CONCAT:
      if (judge_op(j, u)->kind == OP_concat) return judge_concat(out, j, u);
      break;
    case EDIT_ADD:
    case EDIT_SUM: return judge_sum(out, j, u);
    case EDIT_AFFINE: return judge_affine(out, j, u);
    case EDIT_WINDOW: /* tiles are judged in their own room */
    case EDIT_CROP:
    case EDIT_PAD:
    case EDIT_JOIN: break;
  }
  return judge_refuse(j, "it has no such role");
}

/* A sum may be wider than what it will become. */
static bool is_wide_enough(const graph_tensor *sum, const graph_tensor *like) {
  if (sum->type != ELEMENT_ABSTRACT)
    return like->type != ELEMENT_ABSTRACT &&
           element_type_bits(sum->type) >= element_type_bits(like->type);
  if (like->type != ELEMENT_ABSTRACT) return false;
  return like->bytes ? sum->bytes % like->bytes == 0 : sum->bytes == 0;
}

/* Do type and shape of a tensor fit what it means? */
static bool fits_meaning(const judge *j, tensor_id t, const meaning *x) {
  const graph_tensor *tensor = judge_tensor(j, t);
  const uint32_t axis = meaning_axis(j->after, tensor->rank);
  if (x->sum || x->map) {
    const graph_tensor *like = judge_old_tensor(j, x->like);
    return judge_same_dimensions(tensor, like, CALM_NONE) &&
           (x->sum ? is_wide_enough(tensor, like)
                   : judge_same_type(tensor, like) &&
                         tensor->bytes == like->bytes);
  }
  for (uint32_t i = 0; i < x->run_count; i++) {
    const graph_tensor *from = judge_old_tensor(j, x->runs[i].of);
    if (!judge_same_type(tensor, from) ||
        !judge_same_dimensions(tensor, from, axis))
      return false;
  }
  return meaning_channels(j->after, t) == meaning_width(x);
}

/* Is what is not obviously tensor t of the original so after all? */
static calm_status is_complete(bool *out, judge *j, op_id u, tensor_id t) {
  const meaning *x = &j->of[t];
  const tensor_id from = judge_descent(j, t)->from;
  const op_id old = j->before->producer[from];
  *out = false;
  if (x->map) return affine_is_complete(out, &j->m, x->map, from);
  if (!x->sum) return judge_vaguely(out, j, u, t);
  if (old == CALM_NONE ||
      graph_op_attribute(&j->before->ops.data[old], "activation"))
    return judge_refuse(j, "its result lacks an activation");
  if (old != j->edit->ops.data[u].from)
    return judge_refuse(
        j, "it is made for another operator than the one it stands for");
  return sum_is_complete(out, &j->m, x, old);
}

/* A tensor of the original must mean what it meant. */
static calm_status settle(judge *j, op_id u, tensor_id t) {
  const edit_tensor *descent = judge_descent(j, t);
  meaning *x = &j->of[t];
  const meaning *wanted = &j->m.of[descent->from],
                *made = &j->m.made[descent->from];
  if (!x->sum && !x->run_count && !x->map) judge_refuse(j, "it makes nothing");
  if (!j->fault && !fits_meaning(j, t, x))
    judge_refuse(j, "its result has another shape or type");
  if (descent->contents != EDIT_SAME || j->fault) return CALM_OK;
  bool complete = meaning_equal(x, wanted) || meaning_equal(x, made);
  if (!complete) TRY(is_complete(&complete, j, u, t));
  if (!complete) return judge_refuse(j, "its result is not what it was");
  *x = *wanted;
  if (j->before->producer[descent->from] != CALM_NONE)
    j->completion[j->before->producer[descent->from]] = u;
  return CALM_OK;
}

static calm_status check_op(judge *j, op_id u) {
  const graph_op *op = judge_op(j, u);
  const edit_op *descent = &j->edit->ops.data[u];
  j->fault = NULL;
  if (!judge_activation_told(j, u))
    judge_refuse(j, "its activation is not what it says");
  if (!j->fault && descent->role == EDIT_KEEP && judge_is_as_before(j, u)) {
    mean_as_before(j, u);
  } else if (!j->fault) {
    if (op->output_count != 1 || op->outputs[0] == CALM_NONE) {
      judge_refuse(j, "its operands are not those before");
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
    const edit_tensor *descent = judge_descent(j, t);
    if (j->after->producer[t] != CALM_NONE || descent->contents != EDIT_SAME)
      continue;
    if (j->before->producer[descent->from] != CALM_NONE &&
        !(judge_tensor(j, t)->flags & CALM_TENSOR_VARIABLE))
      return fail_tensor(j, t, "nobody makes it any more");
    j->of[t] = j->m.of[descent->from];
  }
  return CALM_OK;
}

/* What the user gives and gets, and what outlives the run, is all there. */
static calm_status check_borders(const judge *j) {
  const unsigned border =
      CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE;
  for (tensor_id t = 0; t < j->before->tensors.count; t++)
    if (judge_old_tensor(j, t)->flags & border && !j->m.kept[t])
      return context_fail(j->a.context, CALM_INTERNAL,
                          "tensor '%s' is not in the rewritten graph",
                          judge_old_tensor(j, t)->name);
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
    while (u < j->after->ops.count &&
           !keeps_its_place(j->after, judge_op(j, u)))
      u++;
    const bool there = u < j->after->ops.count;
    if (there == last || (there && j->edit->ops.data[u].from != v))
      return context_fail(j->a.context, CALM_INTERNAL,
                          "operators with state do not keep their order");
    u++;
  }
  return CALM_OK;
}

/* Mostly the i-th is the i-th still. */
static bool waits_for(const graph_op *op, uint32_t likely, op_id other) {
  if (likely < op->after_count && op->after[likely] == other) return true;
  for (uint32_t i = 0; i < op->after_count; i++)
    if (op->after[i] == other) return true;
  return false;
}

/* An operator that is kept, or each part of it, waits for what it waited for to
   be complete. */
static calm_status check_control(judge *j) {
  for (op_id u = 0; u < j->after->ops.count; u++) {
    const graph_op *old = judge_old_op(j, u);
    const edit_role role = j->edit->ops.data[u].role;
    if (role == EDIT_ADD || role == EDIT_SUM) continue;
    for (uint32_t i = 0; i < old->after_count; i++) {
      const op_id awaited = j->completion[old->after[i]];
      if (awaited != CALM_NONE && waits_for(judge_op(j, u), i, awaited))
        continue;
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
        j->edit->ops.data[u].role == EDIT_KEEP && judge_is_as_before(j, u))
      j->completion[from] = u;
  }
  return CALM_OK;
}

static calm_status judge_edit(judge *j) {
  bool *kept, *whole;
  ARENA_ARRAY(&j->a, j->of, j->after->tensors.count);
  ARENA_ARRAY(&j->a, j->completion, j->before->ops.count);
  for (op_id v = 0; v < j->before->ops.count; v++) j->completion[v] = CALM_NONE;
  TRY(check_descent(j));
  TRY(judge_find_kept(&kept, &whole, j));
  j->m = (meanings){.g = j->before, .kept = kept, .whole = whole, .a = &j->a};
  TRY(meanings_build(&j->m));
  TRY(check_sources(j));
  TRY(check_borders(j));
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
