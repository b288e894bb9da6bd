/*
 * Which tensors of the original are kept, and which of those nobody reads in
 * parts.  For each original operator, what is made in its place reads some
 * tensors of the original; from its old operands down through concats to these,
 * whatever is passed has been taken apart.  A tensor that is met more often
 * than it is read has been taken apart in one of its places.
 */
#include "base/vector.h"
#include "rewrite/rewrite_judge.h"

typedef struct finder {
  judge *j;
  bool *whole;
  tensor_id *head; /* what a tensor is another name of; itself, mostly */
  uint32_t *begin; /* original operator v: members[begin[v] .. begin[v + 1]] */
  op_id *members;  /* operators that make its output, or parts of it */
  op_id *reader;   /* per tensor: the last operator for which it is read, */
  uint32_t *reads; /* and how often it has not been met yet */
  VECTOR(tensor_id) stack;
} finder;

static void find_heads(finder *f) {
  const graph *g = f->j->before;
  for (tensor_id t = 0; t < g->tensors.count; t++) f->head[t] = t;
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const graph_op *op = &g->ops.data[g->order[i]];
    const tensor_id x = meaning_handed_on(g, op);
    if (x != CALM_NONE) f->head[op->outputs[0]] = f->head[x];
  }
}

/* A derived concat is made like another operator than the one it stands for. */
static op_id place_of(const judge *j, op_id u) {
  const tensor_id y =
      judge_op(j, u)->output_count ? judge_op(j, u)->outputs[0] : CALM_NONE;
  const op_id v = y == CALM_NONE
                      ? CALM_NONE
                      : j->before->producer[judge_descent(j, y)->from];
  return v == CALM_NONE ? j->edit->ops.data[u].from : v;
}

static void sort_members(finder *f) {
  const judge *j = f->j;
  for (op_id u = 0; u < j->after->ops.count; u++)
    f->begin[place_of(j, u) + 2]++;
  for (op_id v = 2; v < j->before->ops.count + 2; v++)
    f->begin[v] += f->begin[v - 1];
  for (op_id u = 0; u < j->after->ops.count; u++)
    f->members[f->begin[place_of(j, u) + 1]++] = u;
}

/* A part of what another operator makes says so itself. */
static void count_read(finder *f, op_id v, tensor_id s) {
  const edit_tensor *descent = judge_descent(f->j, s);
  const tensor_id t = f->head[descent->from];
  if (descent->contents == EDIT_MADE &&
      f->j->before->producer[descent->from] != v)
    f->whole[t] = false;
  if (descent->contents != EDIT_SAME) return;
  if (f->reader[t] != v) f->reads[t] = 0;
  f->reader[t] = v;
  f->reads[t]++;
}

/* How many tensors are read. */
static uint64_t count_reads(finder *f, op_id v) {
  uint64_t count = 0;
  for (uint32_t i = f->begin[v]; i < f->begin[v + 1]; i++) {
    const graph_op *op = judge_op(f->j, f->members[i]);
    for (uint32_t k = 0; k < op->input_count; k++)
      if (op->inputs[k] != CALM_NONE) count_read(f, v, op->inputs[k]);
    count += op->input_count;
  }
  return count;
}

static calm_status meet_operands(finder *f, op_id v, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) continue;
    const tensor_id t = f->head[op->inputs[i]];
    if (f->reader[t] == v && f->reads[t]) {
      f->reads[t]--;
      continue;
    }
    f->whole[t] = false;
    VECTOR_PUSH(f->j->a.context, &f->stack, t);
  }
  return CALM_OK;
}

/* Concats of two operands or more are fewer than what is below them, so a walk
   that takes longer is in an edit that is wrong. */
static calm_status open_operands(finder *f, op_id v) {
  const graph *g = f->j->before;
  if (f->begin[v] == f->begin[v + 1]) return CALM_OK;
  uint64_t steps = count_reads(f, v) + g->ops.data[v].input_count;
  TRY(meet_operands(f, v, &g->ops.data[v]));
  for (; f->stack.count && steps; steps--) {
    const op_id u = g->producer[f->stack.data[--f->stack.count]];
    if (u != CALM_NONE && g->ops.data[u].kind == OP_concat)
      TRY(meet_operands(f, v, &g->ops.data[u]));
  }
  f->stack.count = 0;
  return CALM_OK;
}

static calm_status find(finder *f, bool *kept) {
  const judge *j = f->j;
  const uint32_t tensors = j->before->tensors.count;
  arena *a = &f->j->a;
  ARENA_ARRAY(a, f->head, tensors);
  ARENA_ARRAY(a, f->reader, tensors);
  ARENA_ARRAY(a, f->reads, tensors);
  ARENA_ARRAY(a, f->begin, (size_t)j->before->ops.count + 2);
  ARENA_ARRAY(a, f->members, j->after->ops.count);
  find_heads(f);
  sort_members(f);
  for (tensor_id t = 0; t < j->after->tensors.count; t++)
    if (judge_descent(j, t)->contents == EDIT_SAME)
      kept[judge_descent(j, t)->from] = true;
  for (tensor_id t = 0; t < tensors; t++) {
    f->whole[t] = kept[t];
    f->reader[t] = CALM_NONE;
  }
  for (op_id v = 0; v < j->before->ops.count; v++) TRY(open_operands(f, v));
  return CALM_OK;
}

calm_status judge_find_kept(bool **kept, bool **whole, judge *j) {
  finder f = {.j = j};
  ARENA_ARRAY(&j->a, *kept, j->before->tensors.count);
  ARENA_ARRAY(&j->a, *whole, j->before->tensors.count);
  f.whole = *whole;
  const calm_status status = find(&f, *kept);
  VECTOR_FREE(j->a.context, &f.stack);
  return status;
}
