/*
 * Multiplications and additions by constants become one.
 *
 * A chain of them makes y = f x + t of x, with f and t per channel.  Behind a
 * convolution of constant weights nothing of it remains:
 *
 *     f conv(x, w, b) + t = conv(x, f w, f b + t)
 *
 * Elsewhere it becomes one batch normalization, of which mean m, variance v and
 * epsilon e are those of one in the chain, or 0, 1 and 0:
 *
 *     f x + t = s (x - m) / sqrt(v + e) + (f m + t)   with s = f sqrt(v + e)
 *
 * where f m + t is what the chain makes of m.  Without additions it becomes one
 * multiplication and the other way round; where there is no batch
 * normalization, in .tflite files, one of each.
 */
#include "rewrite/rewrite_affine.h"

#include <string.h>

#include "rewrite/rewrite_joint.h"

/* ---- Convolutions -------------------------------------------------------- */

static bool is_convolution(const graph *g, op_kind kind) {
  return kind == OP_conv2d || kind == OP_depthwise_conv2d ||
         kind == OP_fully_connected ||
         (g->channels_first && (kind == OP_conv1d || kind == OP_conv3d));
}

uint32_t affine_kernel_axis(const graph *g, const graph_op *conv) {
  const bool last = conv->kind == OP_depthwise_conv2d && !g->channels_first;
  return last ? g->tensors.data[conv->inputs[1]].rank - 1 : 0;
}

static bool is_real(element_type type) {
  return type == ELEMENT_f32 || type == ELEMENT_f64;
}

static const char *refuse_weights(const graph *g, const graph_op *conv,
                                  const graph_tensor *y, int64_t channels) {
  const graph_tensor *w = &g->tensors.data[conv->inputs[1]];
  if (w->type != y->type) return "its weights have another element type";
  if (w->rank == 0 || w->dimensions[affine_kernel_axis(g, conv)] != channels)
    return "its kernels do not match its channels";
  const tensor_id b = rewrite_operand(conv, 2);
  if (b == CALM_NONE) return NULL;
  const graph_tensor *bias = &g->tensors.data[b];
  const bool fits = bias->type == y->type && bias->rank == 1 &&
                    bias->dimensions[0] == channels;
  return fits ? NULL : "its bias does not match its channels";
}

static const char *refuse_folding(const graph *g, op_id u,
                                  const affine_chain *chain) {
  const graph_op *conv = &g->ops.data[u];
  const op_id last = chain->ops[chain->count - 1];
  const graph_tensor *y = &g->tensors.data[chain->y];
  if (graph_op_attribute(conv, "activation"))
    return "the convolution has an activation";
  if (graph_op_attribute(&g->ops.data[last], "activation"))
    return "its activation would have to move into the convolution";
  if (conv->input_count > 3) return "the convolution has further operands";
  for (uint32_t i = 1; i < conv->input_count; i++)
    if (conv->inputs[i] != CALM_NONE && !affine_is_constant(g, conv->inputs[i]))
      return "the weights are no constants";
  if (y->type == ELEMENT_ABSTRACT) return NULL;
  if (rewrite_operand(conv, 1) == CALM_NONE) return "there are no weights";
  return refuse_weights(g, conv, y, y->dimensions[chain->axis]);
}

/* ---- Plans --------------------------------------------------------------- */

static const char *refuse_type(const graph *g, const affine_chain *chain) {
  const graph_tensor *x = &g->tensors.data[chain->x];
  if (rewrite_is_quantized(x)) return "its tensors are quantised";
  if (x->type != ELEMENT_ABSTRACT && !is_real(x->type))
    return "only f32 and f64 constants can be folded";
  return NULL;
}

static bool norm_exists(const graph *g, const affine_chain *chain) {
  return chain->norm != CALM_NONE || chain->axis == CALM_NONE ||
         g->channels_first;
}

/* A pair of one multiplication and one addition is what it would become. */
static affine_form form_alone(const graph *g, const affine_chain *chain) {
  if (chain->count < 2) return FORM_NONE;
  if (!chain->adds || chain->factor_count == 0) return FORM_SINGLE;
  if (norm_exists(g, chain)) return FORM_NORM;
  return chain->count > 2 ? FORM_PAIR : FORM_NONE;
}

op_id affine_last(const graph *g, const affine_chain *chain, bool adds) {
  for (uint32_t i = chain->count; i-- > 0;) {
    const op_id u = chain->ops[i];
    const graph_op *op = &g->ops.data[u];
    const bool minus =
        op->kind == OP_sub && affine_is_constant(g, op->inputs[1]);
    if (adds ? op->kind == OP_add || minus
             : op->kind == OP_mul || op->kind == OP_div)
      return u;
  }
  return CALM_NONE;
}

static const char *refuse_form(const graph *g, const affine_plan *plan) {
  const affine_chain *chain = &plan->chain;
  const op_id last = chain->ops[chain->count - 1];
  const graph_tensor *x = &g->tensors.data[chain->x];
  if (plan->form == FORM_NORM && chain->norm == CALM_NONE && x->dynamic)
    return "its channels may change from run to run";
  if (plan->form == FORM_NORM &&
      graph_op_attribute(&g->ops.data[last], "activation"))
    return "a batch normalization has no activation";
  if (plan->form != FORM_PAIR) return NULL;
  const op_id add = affine_last(g, chain, true);
  if (add == CALM_NONE || affine_last(g, chain, false) == CALM_NONE)
    return "it takes a multiplication and an addition to stand for it";
  if (add != last && graph_op_attribute(&g->ops.data[last], "activation"))
    return "its activation would come before the addition";
  return NULL;
}

calm_status affine_plan_site(affine_plan *out, const graph *g, op_id u,
                             arena *a) {
  *out = (affine_plan){.conv = CALM_NONE};
  TRY(affine_find(&out->chain, g, u, a));
  if (out->chain.count == 0) return CALM_OK;
  out->conv = rewrite_sole_source(g, out->chain.x);
  if (out->conv != CALM_NONE && !is_convolution(g, g->ops.data[out->conv].kind))
    out->conv = CALM_NONE;
  const affine_form alone = form_alone(g, &out->chain);
  const char *folded =
      out->conv == CALM_NONE ? NULL : refuse_folding(g, out->conv, &out->chain);
  const bool folds = out->conv != CALM_NONE && (!folded || alone == FORM_NONE);
  out->form = folds ? FORM_FOLDED : alone;
  if (out->form == FORM_NONE) return CALM_OK;
  out->refusal = refuse_type(g, &out->chain);
  if (!out->refusal) out->refusal = folds ? folded : refuse_form(g, out);
  return CALM_OK;
}

/* ---- Sites --------------------------------------------------------------- */

static calm_status name_site(rewrite_finder *f, const affine_plan *plan,
                             op_id u) {
  const char *conv = f->g->ops.data[plan->conv].name;
  const char *op = f->g->ops.data[u].name;
  const size_t head = strlen(conv), tail = strlen(op);
  char *name;
  ARENA_ARRAY(f->a, name, head + tail + 2);
  memcpy(name, conv, head);
  name[head] = '<';
  memcpy(name + head + 1, op, tail);
  f->sites.data[f->sites.count - 1].name = name;
  return CALM_OK;
}

/* Their bytes have to be at hand, whatever form the chain takes. */
static const char *refuse_constants(const rewrite_finder *f,
                                    const affine_plan *plan) {
  const affine_chain *chain = &plan->chain;
  const char *refusal = NULL;
  for (uint32_t i = 0; i < chain->step_count && !refusal; i++)
    if (chain->steps[i].constant != CALM_NONE)
      refusal = rewrite_refuse_constant(f, chain->steps[i].constant);
  if (plan->form != FORM_FOLDED || chain->axis == CALM_NONE) return refusal;
  const graph_op *conv = &f->g->ops.data[plan->conv];
  for (uint32_t i = 1; i < conv->input_count && !refusal; i++)
    if (conv->inputs[i] != CALM_NONE)
      refusal = rewrite_refuse_constant(f, conv->inputs[i]);
  return refusal;
}

static const char *refuse_bound(const rewrite_finder *f,
                                const affine_plan *plan) {
  bool bound = plan->form == FORM_FOLDED && f->bound[plan->conv];
  for (uint32_t i = 0; i < plan->chain.count; i++)
    bound |= f->bound[plan->chain.ops[i]];
  return bound ? "other operators wait for it, or it for them" : NULL;
}

static calm_status find_affine(rewrite_finder *f, op_id u) {
  affine_plan plan;
  TRY(affine_plan_site(&plan, f->g, u, f->a));
  if (plan.form == FORM_NONE) return CALM_OK;
  if (!plan.refusal) plan.refusal = refuse_bound(f, &plan);
  if (!plan.refusal) plan.refusal = refuse_constants(f, &plan);
  TRY(rewrite_add_site(f, REWRITE_affine, u, plan.refusal, true));
  return plan.form == FORM_FOLDED ? name_site(f, &plan, u) : CALM_OK;
}

static calm_status cover_affine(op_id **out, uint32_t *count, const graph *g,
                                const rewrite_site *site, arena *a) {
  affine_plan plan;
  TRY(affine_plan_site(&plan, g, site->op, a));
  const bool folded = plan.form == FORM_FOLDED;
  op_id *ops;
  ARENA_ARRAY(a, ops, (size_t)plan.chain.count + 1);
  memcpy(ops, plan.chain.ops, plan.chain.count * sizeof *ops);
  if (folded) ops[plan.chain.count] = plan.conv;
  *out = ops;
  *count = plan.chain.count + folded;
  return CALM_OK;
}

const rewrite_hooks rewrite_affine_hooks = {
    .find = find_affine, .cover = cover_affine, .make = affine_make};
