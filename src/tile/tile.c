/*
 * What can be a region.  Each operator for itself: it slides a window, pads, or
 * works element by element, on pictures of one batch whose sizes are known; all
 * else that it reads is constant, and the same for all rows and columns.  Then
 * all of them together: one tensor comes in, one goes out, and nobody outside
 * looks at what is between.
 */
#include "tile/tile.h"

#include <string.h>

#include "tile/tile_work.h"

static const char *const names[TILE_MODES] = {
    [TILE_PAD] = "pad", [TILE_SAME] = "same", [TILE_CACHE] = "cache"};

const char *tile_mode_name(tile_mode mode) { return names[mode]; }

/* ---- One operator -------------------------------------------------------- */

static bool is_constant(const graph *g, tensor_id t) {
  return g->tensors.data[t].flags & CALM_TENSOR_CONST;
}

static bool is_picture(const graph_tensor *t) {
  if (t->type == ELEMENT_ABSTRACT || t->rank != 4 || t->dynamic ||
      (t->flags & CALM_TENSOR_VARIABLE) || element_type_bits(t->type) < 8)
    return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->dimensions[i] <= 0) return false;
  return t->dimensions[0] == 1;
}

static bool same_shape(const graph_tensor *x, const graph_tensor *y) {
  return x->rank == y->rank &&
         !memcmp(x->dimensions, y->dimensions, x->rank * sizeof *x->dimensions);
}

/* Is a constant the same for all rows and columns of a picture?  Its
   dimensions stand below the picture's last ones. */
static bool is_uniform(const graph *g, const graph_op *op, tensor_id t) {
  const graph_tensor *c = &g->tensors.data[t];
  if (c->type == ELEMENT_ABSTRACT) return false;
  if (op->kind == OP_batch_normalization) return c->rank == 1;
  for (uint32_t i = 0; i < c->rank; i++) {
    const int64_t place = 4 - (int64_t)c->rank + i;
    const bool channel = place == (g->channels_first ? 1 : 3);
    if (!channel && c->dimensions[i] != 1) return false;
  }
  return true;
}

/* All operands from the second on are constants. */
static bool rest_is_constant(const graph *g, const graph_op *op) {
  for (uint32_t i = 1; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE && !is_constant(g, op->inputs[i]))
      return false;
  return true;
}

bool tile_is_window(op_kind kind) {
  return kind == OP_conv2d || kind == OP_depthwise_conv2d ||
         kind == OP_average_pool2d || kind == OP_max_pool2d;
}

static const char *refuse_window(const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  graph_window window;
  if (!graph_window_of(&window, g, u))
    return "it has a window whose sizes are not known";
  if (!rest_is_constant(g, op)) return "its weights are not constant";
  if (op->kind == OP_average_pool2d && graph_op_attribute(op, "ceil") &&
      graph_op_attribute(op, "count_pad"))
    return "what its last windows divide by depends on the padding";
  return NULL;
}

static const char *refuse_pad(const graph *g, const graph_op *op) {
  const graph_tensor *x = &g->tensors.data[op->inputs[0]];
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  const char *mode = graph_op_attribute(op, "mode");
  int64_t before[GRAPH_MAX_RANK], after[GRAPH_MAX_RANK];
  if (op->input_count > 2 || !rest_is_constant(g, op) ||
      (mode && strcmp(mode, "constant")))
    return "it pads by something else than zeros";
  if (graph_op_numbers(before, op, "before") != 4 ||
      graph_op_numbers(after, op, "after") != 4)
    return "its padding is not known";
  if (x->quantization != y->quantization)
    return "it pads under another quantization";
  for (uint32_t i = 0; i < 4; i++) {
    const bool spatial = i == tile_dimension(g, TILE_ROWS) ||
                         i == tile_dimension(g, TILE_COLUMNS);
    if (before[i] < 0 || after[i] < 0 ||
        (!spatial && (before[i] > 0 || after[i] > 0)) ||
        y->dimensions[i] != x->dimensions[i] + before[i] + after[i])
      return "it pads something else than rows and columns";
  }
  return NULL;
}

static const char *refuse_elementwise(const graph *g, const graph_op *op) {
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE) continue;
    if (is_constant(g, t) ? !is_uniform(g, op, t)
                          : !same_shape(&g->tensors.data[t], y))
      return "its operands have other sizes than its output";
  }
  return NULL;
}

static const char *refuse_pictures(const graph *g, const graph_op *op) {
  bool any = false;
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE)
    return "it has more than one output";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE || is_constant(g, t)) continue;
    any = true;
    if (!is_picture(&g->tensors.data[t]))
      return "it reads no picture of one batch and known size";
  }
  if (!any || !is_picture(&g->tensors.data[op->outputs[0]]))
    return "it makes no picture of one batch and known size";
  if (op->inputs[0] == CALM_NONE) return "it lacks its first operand";
  return NULL;
}

const char *tile_refuse_op(const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  if (graph_op_stateful(op) || op->after_count > 0 || op->body_count > 0)
    return "it must keep its place";
  const bool pointwise =
      (op_kind_flags(op->kind) & OP_ELEMENTWISE) && op->kind != OP_softmax;
  if (!tile_is_window(op->kind) && op->kind != OP_pad && !pointwise)
    return "it is no convolution, no pooling and not element by element";
  const char *reason = refuse_pictures(g, op);
  if (reason) return reason;
  if (pointwise) return refuse_elementwise(g, op);
  if (is_constant(g, op->inputs[0])) return "it reads a constant picture";
  return op->kind == OP_pad ? refuse_pad(g, op) : refuse_window(g, u);
}

/* ---- All of them --------------------------------------------------------- */

typedef struct region_range {
  const graph *g;
  uint32_t first, last;
  tensor_id in, out;
} region_range;

static bool is_inside(const region_range *r, op_id u) {
  if (u == CALM_NONE) return false;
  if (r->g->file_order_valid) return u >= r->first && u <= r->last;
  for (uint32_t i = r->first; i <= r->last; i++)
    if (r->g->order[i] == u) return true;
  return false;
}

static const char *look_at_operands(region_range *r, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE || is_constant(r->g, t) ||
        is_inside(r, r->g->producer[t]))
      continue;
    if (r->in != CALM_NONE && r->in != t)
      return "more than one tensor comes from outside";
    r->in = t;
  }
  return NULL;
}

static const char *look_at_output(region_range *r, tensor_id t) {
  const graph *g = r->g;
  const uint32_t begin = g->reader_begin[t], end = g->reader_begin[t + 1];
  bool outside = g->tensors.data[t].flags & CALM_TENSOR_OUTPUT;
  if (graph_goes_into_sum(g, t)) return "its output is a part of a sum";
  if (begin == end && !outside) return "nobody reads one of its tensors";
  for (uint32_t i = begin; i < end && !outside; i++)
    outside = !is_inside(r, g->readers[i]);
  if (!outside) return NULL;
  if (r->out != CALM_NONE) return "more than one tensor is read outside";
  r->out = t;
  return NULL;
}

const char *tile_refuse(const graph *g, uint32_t first, uint32_t last,
                        uint32_t *rows, uint32_t *columns) {
  region_range r = {g, first, last, CALM_NONE, CALM_NONE};
  if (first > last || last >= g->ops.count)
    return "the graph has no such operators";
  for (uint32_t i = first; i <= last; i++) {
    const graph_op *op = &g->ops.data[g->order[i]];
    const char *reason = tile_refuse_op(g, g->order[i]);
    if (!reason) reason = look_at_operands(&r, op);
    if (!reason) reason = look_at_output(&r, op->outputs[0]);
    if (reason) return reason;
  }
  if (r.in == CALM_NONE) return "no tensor comes from outside";
  if (r.out == CALM_NONE) return "no tensor is read outside";
  const int64_t *sizes = g->tensors.data[r.out].dimensions;
  *rows = (uint32_t)sizes[tile_dimension(g, TILE_ROWS)];
  *columns = (uint32_t)sizes[tile_dimension(g, TILE_COLUMNS)];
  return NULL;
}
