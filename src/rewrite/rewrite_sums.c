/*
 * Sums whose operands are added in any order.
 *
 *     a - add - add - y         a - add_into -.
 *     b -'     |           ->   b - add_into -+- partial_sum - y
 *     c -------'                c - add_into -'
 *
 * Each operand is added as soon as it is there, and those that were added can
 * go.  A sum that another sum reads, and nobody else, becomes part of that one.
 *
 * Wherever the chain made a sum of two, y stands there now and nothing else
 * does, so kernels that add in place never need more.  An addition that makes a
 * copy can: the chain adds its first two operands at once, while here the first
 * is already in y when the second comes with its copy.
 */
#include <string.h>

#include "rewrite/rewrite_joint.h"
#include "rewrite/rewrite_parts.h"

typedef struct sum_terms {
  tensor_id *leaves; /* from left to right */
  op_id *ops;        /* what is replaced, the last operator first */
  uint32_t leaf_count, op_count;
} sum_terms;

/* ---- Finding ------------------------------------------------------------- */

/* A sum of two tensors or more of its own shape. */
static bool is_sum(const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  if (op->kind != OP_add && op->kind != OP_add_n && op->kind != OP_mean_n)
    return false;
  if (op->input_count < 2 || !rewrite_is_loose(g, u)) return false;
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  if (y->flags & CALM_TENSOR_VARIABLE) return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] == CALM_NONE ||
        !rewrite_same_shape(&g->tensors.data[op->inputs[i]], y))
      return false;
  return true;
}

/* The sum that makes `t` and can become part of the one that reads it. */
static op_id inner_sum(const graph *g, tensor_id t) {
  const op_id u = rewrite_sole_source(g, t);
  if (u == CALM_NONE || g->ops.data[u].kind == OP_mean_n || !is_sum(g, u) ||
      graph_op_attribute(&g->ops.data[u], "activation"))
    return CALM_NONE;
  return u;
}

static bool becomes_part(const graph *g, op_id u) {
  const tensor_id y = g->ops.data[u].outputs[0];
  return inner_sum(g, y) == u && is_sum(g, g->readers[g->reader_begin[y]]);
}

/* Operands are opened from right to left, so that they are taken out from left
   to right. */
typedef struct sum_walk {
  VECTOR(tensor_id) open, leaves;
  VECTOR(op_id) ops;
} sum_walk;

static calm_status open_sum(sum_walk *w, const graph *g, op_id u,
                            calm_context *context) {
  const graph_op *op = &g->ops.data[u];
  VECTOR_PUSH(context, &w->ops, u);
  for (uint32_t i = op->input_count; i-- > 0;)
    VECTOR_PUSH(context, &w->open, op->inputs[i]);
  return CALM_OK;
}

static calm_status walk_sum(sum_walk *w, const graph *g, op_id u,
                            calm_context *context) {
  TRY(open_sum(w, g, u, context));
  while (w->open.count) {
    const tensor_id t = w->open.data[--w->open.count];
    const op_id inner = inner_sum(g, t);
    if (inner == CALM_NONE)
      VECTOR_PUSH(context, &w->leaves, t);
    else
      TRY(open_sum(w, g, inner, context));
  }
  return CALM_OK;
}

static calm_status copy_terms(sum_terms *out, const sum_walk *w, arena *a) {
  ARENA_ARRAY(a, out->leaves, w->leaves.count);
  ARENA_ARRAY(a, out->ops, w->ops.count);
  memcpy(out->leaves, w->leaves.data, w->leaves.count * sizeof *out->leaves);
  memcpy(out->ops, w->ops.data, w->ops.count * sizeof *out->ops);
  out->leaf_count = w->leaves.count;
  out->op_count = w->ops.count;
  return CALM_OK;
}

static calm_status list_terms(sum_terms *out, const graph *g, op_id u,
                              arena *a) {
  sum_walk w = {0};
  calm_status status = walk_sum(&w, g, u, a->context);
  if (status == CALM_OK) status = copy_terms(out, &w, a);
  VECTOR_FREE(a->context, &w.open);
  VECTOR_FREE(a->context, &w.leaves);
  VECTOR_FREE(a->context, &w.ops);
  return status;
}

/* ---- Sites --------------------------------------------------------------- */

static const char *refuse_sum(const rewrite_finder *f, op_id u,
                              const sum_terms *terms) {
  const graph_op *op = &f->g->ops.data[u];
  const graph_tensor *y = &f->g->tensors.data[op->outputs[0]];
  if (rewrite_is_quantized(y))
    return "each addition of quantised tensors rounds";
  if (y->type == ELEMENT_ABSTRACT && f->options->accumulator_factor > 1)
    return "its partial sums are wider than the tensors";
  if (op->kind == OP_mean_n && y->type != ELEMENT_ABSTRACT)
    return "a mean divides what was added, which takes one more operator";
  for (uint32_t i = 0; i < terms->op_count; i++)
    if (f->bound[terms->ops[i]])
      return "other operators wait for it, or it for them";
  for (uint32_t i = 0; i < terms->leaf_count; i++) {
    const graph_tensor *x = &f->g->tensors.data[terms->leaves[i]];
    if (x->flags & CALM_TENSOR_CONST) return "one of its operands is constant";
    if (x->flags & CALM_TENSOR_VARIABLE) return "one of its operands is state";
  }
  return NULL;
}

static bool copies(const rewrite_options *options) {
  return options->partials == PARTIALS_ADD_COPY || options->additions_copy;
}

static calm_status find_sum(rewrite_finder *f, op_id u) {
  sum_terms terms;
  if (!is_sum(f->g, u) || becomes_part(f->g, u)) return CALM_OK;
  TRY(list_terms(&terms, f->g, u, f->a));
  if (terms.leaf_count < 3) return CALM_OK;
  return rewrite_add_site(f, REWRITE_sums, u, refuse_sum(f, u, &terms),
                          !copies(f->options));
}

static calm_status cover_sum(op_id **out, uint32_t *count, const graph *g,
                             const rewrite_site *site, arena *a) {
  sum_terms terms;
  TRY(list_terms(&terms, g, site->op, a));
  *out = terms.ops;
  *count = terms.op_count;
  return CALM_OK;
}

/* ---- Making -------------------------------------------------------------- */

/* What adds operand `number` into a tensor that stands for a part of the sum.
 */
static calm_status make_addition(tensor_id *out, rewrite_maker *m, op_id u,
                                 tensor_id leaf, uint32_t number) {
  const tensor_id y = m->g->ops.data[u].outputs[0];
  graph_tensor part = m->g->tensors.data[y];
  graph_op op = {.kind = OP_add_into, .input_count = 1, .output_count = 1};
  part.flags = 0;
  TRY(rewrite_name(&part.name, m, part.name, "p", number));
  TRY(rewrite_make_tensor(out, m, &part,
                          &(edit_tensor){.from = y, .contents = EDIT_MADE}));
  TRY(rewrite_name(&op.name, m, m->g->ops.data[u].name, "a", number));
  op.workspace_bytes = copies(&m->sites->options) ? part.bytes : 0;
  ARENA_ARRAY(m->a, op.inputs, 1);
  ARENA_ARRAY(m->a, op.outputs, 1);
  TRY(rewrite_whole(op.inputs, m, leaf));
  op.outputs[0] = *out;
  return rewrite_make_op(m, &op, &(edit_op){.from = u, .role = EDIT_ADD});
}

/* Nothing else that an addition may say means anything for a sum. */
static void copy_activation(graph_op *op, const graph_op *from) {
  for (uint32_t i = 0; i < from->attribute_count; i++)
    if (!strcmp(from->attributes[i].key, "activation")) {
      op->attributes = &from->attributes[i];
      op->attribute_count = 1;
    }
}

static calm_status make_sum(rewrite_maker *m, const rewrite_site *site) {
  const graph_op *from = &m->g->ops.data[site->op];
  sum_terms terms;
  TRY(list_terms(&terms, m->g, site->op, m->a));
  graph_op op = {.name = from->name,
                 .kind = OP_partial_sum,
                 .input_count = terms.leaf_count,
                 .output_count = 1};
  ARENA_ARRAY(m->a, op.inputs, terms.leaf_count);
  ARENA_ARRAY(m->a, op.outputs, 1);
  TRY(rewrite_whole(op.outputs, m, from->outputs[0]));
  copy_activation(&op, from);
  for (uint32_t i = 0; i < terms.leaf_count; i++)
    TRY(make_addition(&op.inputs[i], m, site->op, terms.leaves[i], i + 1));
  return rewrite_make_op(
      m, &op,
      &(edit_op){.from = site->op, .role = EDIT_SUM, .activation = true});
}

const rewrite_hooks rewrite_sums_hooks = {
    .find = find_sum, .cover = cover_sum, .make = make_sum};
