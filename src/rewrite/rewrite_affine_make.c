/*
 * Making what stands for a chain.  Constants are recipes over the chain's
 * steps; their bytes are computed when a file is written.
 */
#include "rewrite/rewrite_affine.h"

/* ---- Constants ----------------------------------------------------------- */

/* What a constant is computed from: `start`, then all steps of the chain or
   only its factors, then one more. */
typedef struct formula {
  tensor_id start;
  double number;
  const recipe_step *first; /* before them; NULL: none */
  const recipe_step *steps;
  uint32_t count;
  const recipe_step *last; /* behind them; NULL: none */
} formula;

static calm_status write_recipe(edit_recipe *out, rewrite_maker *m,
                                const formula *from) {
  recipe_step *steps;
  uint32_t count = 0;
  ARENA_ARRAY(m->a, steps, (size_t)from->count + 2);
  if (from->first) steps[count++] = *from->first;
  for (uint32_t i = 0; i < from->count; i++) steps[count++] = from->steps[i];
  if (from->last) steps[count++] = *from->last;
  out->start = from->start;
  out->number = from->number;
  out->steps = steps;
  out->step_count = count;
  return CALM_OK;
}

/* A constant like tensor `like` but for its name and bytes. */
static calm_status make_given(tensor_id *out, rewrite_maker *m,
                              const graph_tensor *like, tensor_id from,
                              uint32_t axis, const formula *bytes) {
  edit_recipe *recipe;
  ARENA_ARRAY(m->a, recipe, 1);
  *recipe = (edit_recipe){
      .dimensions = like->dimensions, .rank = like->rank, .axis = axis};
  TRY(write_recipe(recipe, m, bytes));
  graph_tensor tensor = *like;
  tensor.flags = CALM_TENSOR_CONST;
  return rewrite_make_tensor(
      out, m, &tensor,
      &(edit_tensor){.from = from, .contents = EDIT_GIVEN, .recipe = recipe});
}

/* A vector of one number per channel, of the kind of tensor `from`. */
static calm_status describe_vector(graph_tensor *out, rewrite_maker *m,
                                   const affine_chain *chain, tensor_id from,
                                   const char *kind) {
  const graph_tensor *x = &m->g->tensors.data[chain->x];
  int64_t *dimensions;
  ARENA_ARRAY(m->a, dimensions, 1);
  dimensions[0] = x->dimensions[chain->axis];
  *out = (graph_tensor){.type = x->type,
                        .rank = 1,
                        .dimensions = dimensions,
                        .flags = CALM_TENSOR_CONST};
  return rewrite_name(&out->name, m, m->g->tensors.data[from].name, kind, 0);
}

static formula all_steps(const affine_chain *chain, tensor_id start) {
  return (formula){
      .start = start, .steps = chain->steps, .count = chain->step_count};
}

static formula all_factors(const affine_chain *chain, tensor_id start) {
  return (formula){.start = start,
                   .number = 1,
                   .steps = chain->factors,
                   .count = chain->factor_count};
}

/* ---- Folding into a convolution ------------------------------------------ */

static calm_status fold_weights(tensor_id *out, rewrite_maker *m,
                                const affine_chain *chain,
                                const graph_op *conv) {
  const tensor_id w = conv->inputs[1];
  graph_tensor like = m->g->tensors.data[w];
  const formula bytes = all_factors(chain, w);
  if (chain->factor_count == 0) return rewrite_whole(out, m, w);
  TRY(rewrite_name(&like.name, m, like.name, "scaled", 0));
  return make_given(out, m, &like, w, affine_kernel_axis(m->g, conv), &bytes);
}

static calm_status fold_bias(tensor_id *out, rewrite_maker *m,
                             const affine_chain *chain, const graph_op *conv) {
  const tensor_id b = rewrite_operand(conv, 2);
  const formula bytes = all_steps(chain, b);
  graph_tensor like;
  if (b == CALM_NONE && !chain->adds) return rewrite_whole(out, m, b);
  if (b == CALM_NONE) {
    TRY(describe_vector(&like, m, chain, chain->x, "bias"));
    return make_given(out, m, &like, chain->x, 0, &bytes);
  }
  like = m->g->tensors.data[b];
  TRY(rewrite_name(&like.name, m, like.name, "scaled", 0));
  return make_given(out, m, &like, b, 0, &bytes);
}

static calm_status make_folded(rewrite_maker *m, const affine_plan *plan) {
  const graph_op *conv = &m->g->ops.data[plan->conv];
  graph_op op = *conv;
  ARENA_ARRAY(m->a, op.inputs, (size_t)conv->input_count + 3);
  for (uint32_t i = 0; i < conv->input_count; i++)
    TRY(rewrite_whole(&op.inputs[i], m, conv->inputs[i]));
  if (plan->chain.axis != CALM_NONE) {
    TRY(fold_weights(&op.inputs[1], m, &plan->chain, conv));
    TRY(fold_bias(&op.inputs[2], m, &plan->chain, conv));
    op.input_count = op.inputs[2] == CALM_NONE ? conv->input_count : 3;
  }
  ARENA_ARRAY(m->a, op.outputs, 1);
  TRY(rewrite_whole(op.outputs, m, plan->chain.y));
  return rewrite_make_op(
      m, &op,
      &(edit_op){.from = plan->conv, .role = EDIT_KEEP, .activation = true});
}

/* ---- One batch normalization --------------------------------------------- */

/* Mean 0 and variance 1. */
static calm_status make_standard(tensor_id mean_var[2], rewrite_maker *m,
                                 const affine_chain *chain) {
  const tensor_id y = chain->y;
  const formula one = {.start = CALM_NONE, .number = 1};
  graph_tensor mean, var;
  TRY(describe_vector(&mean, m, chain, y, "mean"));
  TRY(rewrite_make_tensor(&mean_var[0], m, &mean,
                          &(edit_tensor){.from = y, .contents = EDIT_ZERO}));
  TRY(describe_vector(&var, m, chain, y, "var"));
  return make_given(&mean_var[1], m, &var, y, 0, &one);
}

/* The step of the chain that divides by the root of the variance. */
static recipe_step root_step(const affine_chain *chain, tensor_id var) {
  for (uint32_t i = 0; i < chain->step_count; i++)
    if (chain->steps[i].verb == RECIPE_DIVIDE_ROOT &&
        chain->steps[i].constant == var)
      return (recipe_step){RECIPE_MULTIPLY_ROOT, var, chain->steps[i].number};
  return (recipe_step){RECIPE_MULTIPLY, CALM_NONE, 1};
}

static calm_status list_norm_operands(tensor_id inputs[5], rewrite_maker *m,
                                      const affine_chain *chain) {
  const bool found = chain->norm != CALM_NONE;
  const graph_op *norm = found ? &m->g->ops.data[chain->norm] : NULL;
  const recipe_step root =
      root_step(chain, found ? norm->inputs[4] : CALM_NONE);
  formula scale = all_factors(chain, CALM_NONE);
  scale.first = &root;
  const formula bias = all_steps(chain, found ? norm->inputs[3] : CALM_NONE);
  graph_tensor like;
  TRY(rewrite_whole(&inputs[0], m, chain->x));
  TRY(describe_vector(&like, m, chain, chain->y, "scale"));
  TRY(make_given(&inputs[1], m, &like, found ? norm->inputs[1] : chain->y, 0,
                 &scale));
  TRY(describe_vector(&like, m, chain, chain->y, "bias"));
  TRY(make_given(&inputs[2], m, &like, found ? norm->inputs[2] : chain->y, 0,
                 &bias));
  if (!found) return make_standard(inputs + 3, m, chain);
  TRY(rewrite_whole(&inputs[3], m, norm->inputs[3]));
  return rewrite_whole(&inputs[4], m, norm->inputs[4]);
}

/* Abstract constants stay what they are: all are operands. */
static calm_status list_abstract_operands(graph_op *op, rewrite_maker *m,
                                          const affine_chain *chain) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < chain->count; i++)
    most += m->g->ops.data[chain->ops[i]].input_count;
  ARENA_ARRAY(m->a, op->inputs, most);
  TRY(rewrite_whole(&op->inputs[0], m, chain->x));
  op->input_count = 1;
  for (uint32_t i = 0; i < chain->count; i++) {
    const graph_op *link = &m->g->ops.data[chain->ops[i]];
    for (uint32_t k = 0; k < link->input_count; k++)
      if (affine_is_constant(m->g, link->inputs[k]))
        TRY(rewrite_whole(&op->inputs[op->input_count++], m, link->inputs[k]));
  }
  return CALM_OK;
}

static calm_status make_norm(rewrite_maker *m, const affine_chain *chain) {
  static graph_attribute exact[] = {{"epsilon", "0"}};
  const op_id last = chain->ops[chain->count - 1];
  graph_op op = {.name = m->g->ops.data[last].name,
                 .kind = OP_batch_normalization,
                 .attributes = exact,
                 .attribute_count = 1,
                 .output_count = 1};
  if (chain->norm != CALM_NONE) {
    const graph_op *norm = &m->g->ops.data[chain->norm];
    op.attributes = norm->attributes;
    op.attribute_count = norm->attribute_count;
  }
  ARENA_ARRAY(m->a, op.outputs, 1);
  TRY(rewrite_whole(op.outputs, m, chain->y));
  if (chain->axis == CALM_NONE) {
    TRY(list_abstract_operands(&op, m, chain));
  } else {
    op.input_count = 5;
    ARENA_ARRAY(m->a, op.inputs, 5);
    TRY(list_norm_operands(op.inputs, m, chain));
  }
  return rewrite_make_op(m, &op, &(edit_op){.from = last, .role = EDIT_AFFINE});
}

/* ---- One multiplication, one addition ------------------------------------ */

static uint64_t count_elements(const graph_tensor *t) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < t->rank; i++) elements *= (uint64_t)t->dimensions[i];
  return elements;
}

/* The constant of the chain with the most elements: as wide as they need. */
static tensor_id widest_constant(const graph *g, const affine_chain *chain) {
  tensor_id widest = CALM_NONE;
  for (uint32_t i = 0; i < chain->step_count; i++) {
    const tensor_id c = chain->steps[i].constant;
    if (c != CALM_NONE &&
        (widest == CALM_NONE || count_elements(&g->tensors.data[c]) >
                                    count_elements(&g->tensors.data[widest])))
      widest = c;
  }
  return widest;
}

static uint32_t long_axis(const graph_tensor *c) {
  for (uint32_t i = 0; i < c->rank; i++)
    if (c->dimensions[i] > 1) return i;
  return 0;
}

/* Operator `u` with x and a constant that stands for all of the chain's steps,
   or only for the factors. */
static calm_status make_single(rewrite_maker *m, const affine_chain *chain,
                               op_id u, tensor_id x, tensor_id y) {
  static const recipe_step minus = {RECIPE_SUBTRACT_FROM, CALM_NONE, 0};
  static const recipe_step inverse = {RECIPE_DIVIDE_INTO, CALM_NONE, 1};
  const graph *g = m->g;
  const graph_op *from = &g->ops.data[u];
  const bool adds = from->kind == OP_add || from->kind == OP_sub;
  formula bytes =
      adds ? all_steps(chain, CALM_NONE) : all_factors(chain, CALM_NONE);
  if (from->kind == OP_sub) bytes.last = &minus;
  if (from->kind == OP_div) bytes.last = &inverse;
  const tensor_id widest = widest_constant(g, chain);
  graph_tensor like = g->tensors.data[widest];
  tensor_id constant;
  TRY(rewrite_name(&like.name, m, like.name, adds ? "sum" : "product", 0));
  TRY(make_given(&constant, m, &like, widest, long_axis(&like), &bytes));
  graph_op op = *from;
  ARENA_ARRAY(m->a, op.inputs, 2);
  ARENA_ARRAY(m->a, op.outputs, 1);
  for (uint32_t i = 0; i < 2; i++)
    op.inputs[i] = affine_is_constant(g, from->inputs[i]) ? constant : x;
  op.outputs[0] = y;
  return rewrite_make_op(
      m, &op, &(edit_op){.from = u, .role = EDIT_KEEP, .activation = true});
}

static calm_status make_pair(rewrite_maker *m, const affine_chain *chain,
                             tensor_id x, tensor_id y) {
  const op_id mul = affine_last(m->g, chain, false);
  const op_id add = affine_last(m->g, chain, true);
  graph_tensor between = m->g->tensors.data[chain->y];
  tensor_id t;
  between.flags = 0;
  TRY(rewrite_name(&between.name, m, between.name, "product", 0));
  TRY(rewrite_make_tensor(
      &t, m, &between,
      &(edit_tensor){.from = chain->y, .contents = EDIT_MADE}));
  TRY(make_single(m, chain, mul, x, t));
  return make_single(m, chain, add, t, y);
}

/* ---- Making -------------------------------------------------------------- */

calm_status affine_make(rewrite_maker *m, const rewrite_site *site) {
  affine_plan plan;
  tensor_id x, y;
  TRY(affine_plan_site(&plan, m->g, site->op, m->a));
  if (plan.form == FORM_FOLDED) return make_folded(m, &plan);
  if (plan.form == FORM_NORM || plan.chain.axis == CALM_NONE)
    return make_norm(m, &plan.chain);
  TRY(rewrite_whole(&x, m, plan.chain.x));
  TRY(rewrite_whole(&y, m, plan.chain.y));
  if (plan.form == FORM_PAIR) return make_pair(m, &plan.chain, x, y);
  return make_single(m, &plan.chain, site->op, x, y);
}
