/*
 * Sums under construction.  Each is a tree of its operands; to compare two,
 * their leaves are listed, sorted and counted.  A convolution of input channels
 * [b, e) is two marks, +1 at b and -1 at e, so that any way to part its
 * channels yields the same list, and any gap or overlap another one.
 */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_meaning.h"

enum { MAX_NODES = 1 << 22 };

calm_status sum_of_leaf(meaning *out, const meanings *m, sum_node leaf,
                        tensor_id like) {
  sum_node *node;
  ARENA_ARRAY(m->a, node, 1);
  *node = leaf;
  *out = (meaning){.sum = node, .like = like};
  return CALM_OK;
}

static calm_status as_sum(meaning *out, const meanings *m, const meaning *x) {
  *out = *x;
  if (x->sum) return CALM_OK;
  return sum_of_leaf(out, m, (sum_node){.leaf = LEAF_TERM, .channels = *x},
                     CALM_NONE);
}

calm_status sum_of_two(meaning *out, const meanings *m, const meaning *x,
                       const meaning *y, tensor_id like) {
  meaning left, right;
  TRY(as_sum(&left, m, x));
  TRY(as_sum(&right, m, y));
  return sum_of_leaf(out, m, (sum_node){.left = left.sum, .right = right.sum},
                     like);
}

/* ---- Lists of leaves ----------------------------------------------------- */

typedef struct sum_mark {
  uint32_t what;     /* a sum_leaf */
  uint32_t which;    /* operator; of a TERM a tensor, or below */
  tensor_id of;      /* of a CONV without weights: whose channels */
  int64_t at, count; /* `count` are equal up to here */
} sum_mark;

/* A term of several runs is named by its number among those of this list. */
enum { SEVERAL = 1 }; /* added to LEAF_TERM */

typedef struct sum_list {
  meanings *m;
  VECTOR(sum_mark) marks;
  VECTOR(meaning) several;
  VECTOR(const sum_node *) nodes; /* of the tree, to be looked into */
  VECTOR(tensor_id) open; /* tensors of the original to be taken apart */
  bool failed;            /* one is in it twice */
} sum_list;

static calm_status mark(sum_list *list, uint32_t what, uint32_t which,
                        tensor_id of, int64_t at, int64_t count) {
  VECTOR_PUSH(list->m->a->context, &list->marks,
              (sum_mark){what, which, of, at, count});
  return CALM_OK;
}

static calm_status mark_several(sum_list *list, const meaning *x) {
  uint32_t i = 0;
  while (i < list->several.count && !meaning_equal(&list->several.data[i], x))
    i++;
  if (i == list->several.count)
    VECTOR_PUSH(list->m->a->context, &list->several, *x);
  return mark(list, LEAF_TERM + SEVERAL, i, 0, 0, 1);
}

static calm_status mark_term(sum_list *list, const meaning *x) {
  const channel_run *run = &x->runs[0];
  if (x->run_count != 1 || run->begin != 0 ||
      run->end != meaning_channels(list->m->g, run->of))
    return mark_several(list, x);
  VECTOR_PUSH(list->m->a->context, &list->open, run->of);
  return CALM_OK;
}

static calm_status mark_conv(sum_list *list, const sum_node *leaf) {
  const meaning *x = &leaf->channels;
  if (!x->run_count) {
    TRY(mark(list, LEAF_CONV, leaf->op, 0, leaf->begin, 1));
    return mark(list, LEAF_CONV, leaf->op, 0, leaf->end, -1);
  }
  for (uint32_t i = 0; i < x->run_count; i++) {
    const channel_run *run = &x->runs[i];
    TRY(mark(list, LEAF_CONV, leaf->op, run->of, run->begin, 1));
    TRY(mark(list, LEAF_CONV, leaf->op, run->of, run->end, -1));
  }
  return CALM_OK;
}

static calm_status mark_leaf(sum_list *list, const sum_node *leaf) {
  switch (leaf->leaf) {
    case LEAF_CONV: return mark_conv(list, leaf);
    case LEAF_BIAS: return mark(list, LEAF_BIAS, leaf->op, 0, 0, 1);
    default: return mark_term(list, &leaf->channels);
  }
}

/* ---- The original taken apart -------------------------------------------- */

static bool same_size(const graph *g, tensor_id x, tensor_id y) {
  const graph_tensor *a = &g->tensors.data[x], *b = &g->tensors.data[y];
  if (a->type != b->type || a->bytes != b->bytes || a->rank != b->rank)
    return false;
  return !a->rank ||
         !memcmp(a->dimensions, b->dimensions, a->rank * sizeof *a->dimensions);
}

static bool is_conv(const graph_op *op) {
  return op->kind == OP_conv2d || op->kind == OP_fused_conv;
}

/* An addition without repetition of what is smaller. */
static bool is_addition(const graph *g, const graph_op *op) {
  if ((op->kind != OP_add && op->kind != OP_add_n) || op->output_count != 1 ||
      op->outputs[0] == CALM_NONE)
    return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] == CALM_NONE ||
        !same_size(g, op->inputs[i], op->outputs[0]))
      return false;
  return op->input_count > 0;
}

/* A tensor that is no more can only be in a sum as what it was the sum of. */
static bool comes_apart(const meanings *m, tensor_id t) {
  const op_id u = m->g->producer[t];
  if (m->kept[t] || u == CALM_NONE) return false;
  const graph_op *op = &m->g->ops.data[u];
  return !graph_op_attribute(op, "activation") &&
         (is_conv(op) || is_addition(m->g, op));
}

static calm_status mark_operand(sum_list *list, tensor_id t) {
  if (!comes_apart(list->m, t)) return mark_term(list, &list->m->of[t]);
  VECTOR_PUSH(list->m->a->context, &list->open, t);
  return CALM_OK;
}

static calm_status open_conv(sum_list *list, op_id u) {
  const graph_op *op = &list->m->g->ops.data[u];
  const meaning *x = &list->m->of[op->inputs[0]];
  sum_node leaf = {.leaf = LEAF_CONV, .op = u};
  leaf.end = meaning_channels(list->m->g, op->inputs[0]);
  if (op->input_count == 1) leaf.channels = *x;
  TRY(mark_conv(list, &leaf));
  if (op->input_count > 2 && op->inputs[2] != CALM_NONE)
    TRY(mark(list, LEAF_BIAS, u, 0, 0, 1));
  if (op->input_count <= 3 || op->inputs[3] == CALM_NONE) return CALM_OK;
  return mark_operand(list, op->inputs[3]);
}

static calm_status open_op(sum_list *list, op_id u) {
  const graph_op *op = &list->m->g->ops.data[u];
  list->failed = list->failed || list->m->seen[u] == list->m->now;
  list->m->seen[u] = list->m->now;
  if (is_conv(op)) return open_conv(list, u);
  for (uint32_t i = 0; i < op->input_count; i++)
    TRY(mark_operand(list, op->inputs[i]));
  return CALM_OK;
}

static calm_status open_all(sum_list *list) {
  while (list->open.count && !list->failed) {
    const tensor_id t = list->open.data[--list->open.count];
    if (comes_apart(list->m, t))
      TRY(open_op(list, list->m->g->producer[t]));
    else
      TRY(mark(list, LEAF_TERM, t, 0, 0, 1));
  }
  return CALM_OK;
}

static calm_status list_tree(sum_list *list, const sum_node *root) {
  calm_context *context = list->m->a->context;
  VECTOR_PUSH(context, &list->nodes, root);
  for (uint32_t left = MAX_NODES; list->nodes.count; left--) {
    const sum_node *node = list->nodes.data[--list->nodes.count];
    list->failed = list->failed || left == 0;
    if (list->failed) return CALM_OK;
    if (node->leaf != LEAF_NONE) {
      TRY(mark_leaf(list, node));
      continue;
    }
    VECTOR_PUSH(context, &list->nodes, node->left);
    VECTOR_PUSH(context, &list->nodes, node->right);
  }
  return CALM_OK;
}

/* ---- Comparison ---------------------------------------------------------- */

static int compare_marks(const void *left, const void *right) {
  const sum_mark *x = left, *y = right;
  if (x->what != y->what) return x->what < y->what ? -1 : 1;
  if (x->which != y->which) return x->which < y->which ? -1 : 1;
  if (x->of != y->of) return x->of < y->of ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* Add up equal marks; those that come to nothing are none. */
static void settle(sum_list *list) {
  sum_mark *marks = list->marks.data;
  uint32_t count = 0;
  if (!list->marks.count) return;
  qsort(marks, list->marks.count, sizeof *marks, compare_marks);
  for (uint32_t i = 0; i < list->marks.count;) {
    sum_mark total = marks[i++];
    while (i < list->marks.count && !compare_marks(&total, &marks[i]))
      total.count += marks[i++].count;
    if (total.count) marks[count++] = total;
  }
  list->marks.count = count;
}

static bool equal_marks(const sum_list *x, const sum_list *y) {
  if (x->failed || y->failed || x->marks.count != y->marks.count) return false;
  for (uint32_t i = 0; i < x->marks.count; i++)
    if (compare_marks(&x->marks.data[i], &y->marks.data[i]) ||
        x->marks.data[i].count != y->marks.data[i].count)
      return false;
  return true;
}

/* Several runs have the same numbers in both lists: the second goes on with
   those of the first. */
static calm_status list_both(sum_list *got, sum_list *wanted, const meaning *x,
                             op_id original) {
  meanings *m = got->m;
  m->now++;
  TRY(list_tree(got, x->sum));
  TRY(open_all(got));
  settle(got);
  m->now++;
  wanted->several.data = got->several.data;
  wanted->several.count = got->several.count;
  wanted->several.capacity = got->several.capacity;
  got->several.data = NULL;
  got->several.count = got->several.capacity = 0;
  TRY(open_op(wanted, original));
  TRY(open_all(wanted));
  settle(wanted);
  return CALM_OK;
}

static void free_list(sum_list *list) {
  calm_context *context = list->m->a->context;
  VECTOR_FREE(context, &list->marks);
  VECTOR_FREE(context, &list->several);
  VECTOR_FREE(context, &list->nodes);
  VECTOR_FREE(context, &list->open);
}

calm_status sum_is_complete(bool *out, meanings *m, const meaning *x,
                            op_id original) {
  const graph_op *op = &m->g->ops.data[original];
  sum_list got = {.m = m}, wanted = {.m = m};
  *out = false;
  if (!x->sum ||
      (!is_conv(op) && !is_addition(m->g, op) && op->kind != OP_mean_n))
    return CALM_OK;
  calm_status status = list_both(&got, &wanted, x, original);
  *out = !status && equal_marks(&got, &wanted);
  free_list(&got);
  free_list(&wanted);
  return status;
}
