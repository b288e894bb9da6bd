/*
 * Finding chains of multiplications and additions by constants.
 *
 * A link is one operator that makes of each element x of its operand an a x +
 * b, with a and b the same for all or one per channel.  It keeps the shape.
 * Links join where the tensor between them has no other reader; a chain is
 * found from its last operator.
 */
#include "rewrite/rewrite_affine.h"

#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_joint.h"

enum { LINK_STEPS = 4 };

typedef struct affine_link {
  tensor_id x, y;
  recipe_step steps[LINK_STEPS];
  uint32_t step_count;
} affine_link;

bool affine_is_constant(const graph *g, tensor_id t) {
  return t != CALM_NONE && (g->tensors.data[t].flags & CALM_TENSOR_CONST);
}

/* ---- Constants ----------------------------------------------------------- */

/* One element, or one per channel where broadcasting puts the channels. */
static bool lies_along_channels(const graph_tensor *c, const graph_tensor *x,
                                uint32_t axis) {
  if (c->type != x->type || c->rank > x->rank) return false;
  for (uint32_t i = 0; i < c->rank; i++) {
    const bool channels = i + (x->rank - c->rank) == axis;
    const int64_t length = c->dimensions[i];
    if (length != 1 && !(channels && length == x->dimensions[axis]))
      return false;
  }
  return true;
}

static bool is_vector_of(const graph_tensor *c, const graph_tensor *x,
                         uint32_t axis) {
  return c->type == x->type && c->rank == 1 &&
         c->dimensions[0] == x->dimensions[axis];
}

/* ---- Links --------------------------------------------------------------- */

/* Of ONNX: absent is 1e-5, and what is said was a float. */
static double epsilon_of(const graph_op *op) {
  const char *text = graph_op_attribute(op, "epsilon");
  double value = 0, scale = 1;
  bool fraction = false;
  if (!text) return (double)1e-5F;
  for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
    if (*text == '.') {
      fraction = true;
      continue;
    }
    value = value * 10 + (*text - '0');
    if (fraction) scale *= 10;
  }
  const int64_t exponent = *text == 'e' ? strtol(text + 1, NULL, 10) : 0;
  for (int64_t i = 0; i < exponent && i < 400; i++) value *= 10;
  for (int64_t i = 0; i > exponent && i > -400; i--) scale *= 10;
  return (double)(float)(value / scale);
}

static void add_step(affine_link *link, recipe_verb verb, tensor_id constant,
                     double number) {
  link->steps[link->step_count++] = (recipe_step){verb, constant, number};
}

/* scale (x - mean) / sqrt(var + epsilon) + bias */
static bool read_normalization(affine_link *link, const graph *g,
                               const graph_op *op, uint32_t axis) {
  const graph_tensor *x = &g->tensors.data[link->x];
  const char *spatial = graph_op_attribute(op, "spatial");
  if (op->input_count != 5 || link->x != op->inputs[0]) return false;
  if (spatial && strcmp(spatial, "1")) return false;
  for (uint32_t i = 1; i < 5; i++)
    if (!is_vector_of(&g->tensors.data[op->inputs[i]], x, axis)) return false;
  add_step(link, RECIPE_SUBTRACT, op->inputs[3], 0);
  add_step(link, RECIPE_DIVIDE_ROOT, op->inputs[4], epsilon_of(op));
  add_step(link, RECIPE_MULTIPLY, op->inputs[1], 0);
  add_step(link, RECIPE_ADD, op->inputs[2], 0);
  return true;
}

static bool read_arithmetic(affine_link *link, const graph *g,
                            const graph_op *op, uint32_t axis) {
  if (op->input_count != 2 || graph_op_attribute(op, "axis")) return false;
  const bool behind = op->inputs[0] == link->x;
  const tensor_id c = op->inputs[behind ? 1 : 0];
  if (!lies_along_channels(&g->tensors.data[c], &g->tensors.data[link->x],
                           axis))
    return false;
  switch (op->kind) {
    case OP_add: add_step(link, RECIPE_ADD, c, 0); return true;
    case OP_mul: add_step(link, RECIPE_MULTIPLY, c, 0); return true;
    case OP_sub:
      add_step(link, behind ? RECIPE_SUBTRACT : RECIPE_SUBTRACT_FROM, c, 0);
      return true;
    case OP_div: add_step(link, RECIPE_DIVIDE, c, 0); return behind;
    default: return false;
  }
}

/* Of abstract tensors it is only known that something is multiplied or added;
   a number stands for it. */
static bool read_abstract(affine_link *link, const graph_op *op) {
  const bool norm = op->kind == OP_batch_normalization;
  if (!norm && op->input_count != 2) return false;
  if (op->kind == OP_div && op->inputs[0] != link->x) return false;
  if (norm || op->kind == OP_mul || op->kind == OP_div)
    add_step(link, RECIPE_MULTIPLY, CALM_NONE, 1);
  if (norm || op->kind == OP_add || op->kind == OP_sub)
    add_step(link, RECIPE_ADD, CALM_NONE, 0);
  return true;
}

static bool is_affine_kind(op_kind kind) {
  return kind == OP_batch_normalization || kind == OP_mul || kind == OP_add ||
         kind == OP_sub || kind == OP_div;
}

/* Its operand that is no constant; CALM_NONE if it is not just one. */
static tensor_id only_variable(const graph *g, const graph_op *op) {
  tensor_id x = CALM_NONE;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) return CALM_NONE;
    if (affine_is_constant(g, op->inputs[i])) continue;
    if (x != CALM_NONE) return CALM_NONE;
    x = op->inputs[i];
  }
  return x;
}

static bool read_link(affine_link *out, const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  *out = (affine_link){.y = rewrite_output(op)};
  if (!is_affine_kind(op->kind) || out->y == CALM_NONE) return false;
  out->x = only_variable(g, op);
  if (out->x == CALM_NONE) return false;
  const graph_tensor *x = &g->tensors.data[out->x];
  if (!rewrite_same_shape(x, &g->tensors.data[out->y])) return false;
  if ((x->flags | g->tensors.data[out->y].flags) & CALM_TENSOR_VARIABLE)
    return false;
  if (x->type == ELEMENT_ABSTRACT) return read_abstract(out, op);
  const uint32_t axis = rewrite_channel_axis(g, x->rank);
  if (axis == CALM_NONE) return false;
  return op->kind == OP_batch_normalization
             ? read_normalization(out, g, op, axis)
             : read_arithmetic(out, g, op, axis);
}

/* ---- Joints -------------------------------------------------------------- */

/* The link before `link`, if there is one. */
static op_id read_before(affine_link *out, const graph *g,
                         const affine_link *link) {
  const op_id u = rewrite_sole_source(g, link->x);
  if (u == CALM_NONE || graph_op_attribute(&g->ops.data[u], "activation") ||
      !read_link(out, g, u))
    return CALM_NONE;
  return u;
}

/* Does the operator that reads what `u` makes go on with the chain? */
static bool goes_on(const graph *g, op_id u, const affine_link *link) {
  affine_link next, before;
  if (rewrite_readers(g, link->y) != 1) return false;
  const op_id reader = g->readers[g->reader_begin[link->y]];
  return rewrite_is_loose(g, reader) && read_link(&next, g, reader) &&
         read_before(&before, g, &next) == u;
}

/* ---- Chains -------------------------------------------------------------- */

static recipe_step factor_of(const recipe_step *step) {
  return step->verb == RECIPE_SUBTRACT_FROM
             ? (recipe_step){RECIPE_SUBTRACT_FROM, CALM_NONE, 0}
             : *step;
}

static bool is_addition(const recipe_step *step) {
  return step->verb == RECIPE_ADD || step->verb == RECIPE_SUBTRACT;
}

static void append_steps(affine_chain *chain, const affine_link *link) {
  for (uint32_t i = 0; i < link->step_count; i++) {
    const recipe_step *step = &link->steps[i];
    chain->steps[chain->step_count++] = *step;
    chain->adds |= is_addition(step) || step->verb == RECIPE_SUBTRACT_FROM;
    if (!is_addition(step))
      chain->factors[chain->factor_count++] = factor_of(step);
  }
}

static uint32_t count_links(const graph *g, affine_link link) {
  uint32_t count = 1;
  for (affine_link before; read_before(&before, g, &link) != CALM_NONE;
       link = before)
    count++;
  return count;
}

static void list_links(affine_chain *out, const graph *g, op_id u) {
  affine_link link;
  for (uint32_t i = out->count; i-- > 0; u = rewrite_sole_source(g, link.x)) {
    out->ops[i] = u;
    read_link(&link, g, u);
    out->x = link.x;
  }
  for (uint32_t i = 0; i < out->count; i++) {
    u = out->ops[i];
    read_link(&link, g, u);
    append_steps(out, &link);
    if (out->norm == CALM_NONE && g->ops.data[u].kind == OP_batch_normalization)
      out->norm = u;
  }
}

calm_status affine_find(affine_chain *out, const graph *g, op_id u, arena *a) {
  affine_link last;
  *out = (affine_chain){.norm = CALM_NONE};
  if (!read_link(&last, g, u) || !rewrite_is_loose(g, u) ||
      goes_on(g, u, &last))
    return CALM_OK;
  affine_chain chain = {.norm = CALM_NONE, .y = last.y};
  chain.count = count_links(g, last);
  ARENA_ARRAY(a, chain.ops, chain.count);
  ARENA_ARRAY(a, chain.steps, (size_t)chain.count * LINK_STEPS);
  ARENA_ARRAY(a, chain.factors, (size_t)chain.count * LINK_STEPS);
  list_links(&chain, g, u);
  const graph_tensor *x = &g->tensors.data[chain.x];
  chain.axis = x->type == ELEMENT_ABSTRACT ? CALM_NONE
                                           : rewrite_channel_axis(g, x->rank);
  *out = chain;
  return CALM_OK;
}
