/*
 * What the judge's files share: the edit that is judged, and questions about
 * its parts.  A function that finds out what an operator's result means leaves
 * `out` as it is, and says why, if the operator cannot be right.
 */
#ifndef CALM_REWRITE_REWRITE_JUDGE_H
#define CALM_REWRITE_REWRITE_JUDGE_H

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

/* ---- Parts of the edit --------------------------------------------------- */

static inline const graph_op *judge_op(const judge *j, op_id u) {
  return &j->after->ops.data[u];
}

/* The original operator that operator u of `after` is made for. */
static inline const graph_op *judge_old_op(const judge *j, op_id u) {
  return &j->before->ops.data[j->edit->ops.data[u].from];
}

static inline const graph_tensor *judge_tensor(const judge *j, tensor_id t) {
  return &j->after->tensors.data[t];
}

static inline const graph_tensor *judge_old_tensor(const judge *j,
                                                   tensor_id t) {
  return &j->before->tensors.data[t];
}

static inline const edit_tensor *judge_descent(const judge *j, tensor_id t) {
  return &j->edit->tensors.data[t];
}

static inline tensor_id judge_operand(const graph_op *op, uint32_t i) {
  return i < op->input_count ? op->inputs[i] : CALM_NONE;
}

/* Say what is wrong with the operator; the first to do so is heard. */
static inline calm_status judge_refuse(judge *j, const char *what) {
  if (!j->fault) j->fault = what;
  return CALM_OK;
}

/* All dimensions but one. */
bool judge_same_dimensions(const graph_tensor *x, const graph_tensor *y,
                           uint32_t but);

/* Elements that stand for the same numbers. */
bool judge_same_type(const graph_tensor *x, const graph_tensor *y);

bool judge_is_constant(const graph *g, tensor_id t);

/* Which elements of the old constant `t` the new one `s` has along `axis`, of
   which all else is full. */
bool judge_read_slice(int64_t *begin, int64_t *end, const judge *j, tensor_id s,
                      tensor_id t, uint32_t axis);

/* The new constant s is all of the old constant t. */
bool judge_is_whole(const judge *j, tensor_id s, tensor_id t);

/* The new tensor s is the old tensor t. */
bool judge_is_same(const judge *j, tensor_id s, tensor_id t);

/* But for one, and for those that speak of activations. */
bool judge_same_attributes(const graph_op *x, const graph_op *y,
                           const char *except);

/* Does operator u apply the activation that the old one has? */
bool judge_is_active(const judge *j, op_id u);

/* An operator says which activation it applies: all of the old one's, or none.
   A partial_sum does not need to. */
bool judge_activation_told(const judge *j, op_id u);

/* Operator u does with the same operands what the old one did. */
bool judge_is_as_before(const judge *j, op_id u);

/* ---- Parts of the original ----------------------------------------------- */

/* Which of its tensors are kept, and which of those nobody reads in parts
   (rewrite_judge_whole.c). */
calm_status judge_find_kept(bool **kept, bool **whole, judge *j);

/* ---- What results mean --------------------------------------------------- */

/* Channels put together (rewrite_judge_channels.c). */
calm_status judge_concat(meaning *out, judge *j, op_id u);

/* Some channels of an operator that treats each by itself. */
bool judge_is_channelwise(const judge *j, const graph_op *old);
calm_status judge_channels(meaning *out, judge *j, op_id u);

/* add, add_into, partial_sum (rewrite_judge_sums.c). */
calm_status judge_sum(meaning *out, judge *j, op_id u);

/* A convolution of some input channels. */
bool judge_is_conv(const graph_op *op);
calm_status judge_conv(meaning *out, judge *j, op_id u);

/* What narrows a wide sum and applies the activation. */
calm_status judge_narrowed(meaning *out, judge *j, op_id u);

/* Operators with constants that were computed (rewrite_judge_affine.c). */
bool judge_has_given(const judge *j, const graph_op *op);
bool judge_is_foldable(op_kind kind);
calm_status judge_affine(meaning *out, judge *j, op_id u);
calm_status judge_folded(meaning *out, judge *j, op_id u);

/* Is t, of abstract bytes that operator u makes, what it was because u was
   folded with those that follow it? */
calm_status judge_vaguely(bool *out, const judge *j, op_id u, tensor_id t);

#endif
