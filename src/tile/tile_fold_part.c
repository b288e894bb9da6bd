/*
 * Parts of a picture: a slice is a part, a pad one with padding around it, a
 * concat of parts that follow each other a larger one.  Where they lie follows
 * from where their operands do.
 */
#include "tile/tile_fold.h"

bool fold_is_picture(const graph *g, tensor_id t) {
  if (t == CALM_NONE) return false;
  const graph_tensor *tensor = &g->tensors.data[t];
  return tensor->rank == 4 && tensor->type != ELEMENT_ABSTRACT &&
         !(tensor->flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE));
}

bool fold_is_slice(const graph_op *op) {
  return op->kind == OP_slice || op->kind == OP_strided_slice;
}

bool fold_is_pooling(op_kind kind) {
  return kind == OP_average_pool2d || kind == OP_max_pool2d;
}

bool fold_same_kind(const graph *g, tensor_id a, tensor_id b) {
  const graph_tensor *x = &g->tensors.data[a], *y = &g->tensors.data[b];
  return x->type == y->type && x->quantization == y->quantization;
}

/* ---- Parts of the same picture ------------------------------------------- */

/* Numbers per dimension that are `absent` but for rows and columns. */
static bool read_spatial(int64_t out[FOLD_AXES], const graph *g,
                         const graph_op *op, const char *key) {
  int64_t numbers[GRAPH_MAX_RANK];
  if (graph_op_numbers(numbers, op, key) != 4) return false;
  for (uint32_t i = 0; i < FOLD_AXES; i++) {
    out[i] = numbers[fold_dimension(g, i)];
    numbers[fold_dimension(g, i)] = 0;
  }
  for (uint32_t i = 0; i < 4; i++)
    if (numbers[i] != 0) return false;
  return true;
}

bool fold_whole_depth(const graph *g, tensor_id x, tensor_id y) {
  const uint32_t channel = g->channels_first ? 1 : 3;
  const int64_t *a = g->tensors.data[x].dimensions;
  const int64_t *b = g->tensors.data[y].dimensions;
  return a[0] == b[0] && a[channel] == b[channel];
}

static bool place_slice(fold_place *out, const folder *f, const graph_op *op) {
  const fold_place *x = &f->places[op->inputs[0]];
  int64_t begin[FOLD_AXES];
  if (!read_spatial(begin, f->g, op, "begin")) return false;
  *out = *x;
  for (uint32_t i = 0; i < FOLD_AXES; i++) out->at[i] += begin[i];
  return true;
}

static bool place_pad(fold_place *out, const folder *f, const graph_op *op) {
  const fold_place *x = &f->places[op->inputs[0]];
  int64_t before[FOLD_AXES], after[FOLD_AXES];
  if (!read_spatial(before, f->g, op, "before") ||
      !read_spatial(after, f->g, op, "after"))
    return false;
  *out = *x;
  for (uint32_t i = 0; i < FOLD_AXES; i++) {
    out->at[i] -= before[i];
    out->padded = out->padded || before[i] || after[i];
  }
  return true;
}

/* Which axis a concat is along; false: neither. */
static bool read_join_axis(uint32_t *out, const graph *g, const graph_op *op) {
  int64_t axis[GRAPH_MAX_RANK];
  if (graph_op_numbers(axis, op, "axis") != 1) return false;
  if (axis[0] < 0) axis[0] += 4;
  for (*out = 0; *out < FOLD_AXES; ++*out)
    if (axis[0] == fold_dimension(g, *out)) return true;
  return false;
}

/* Its operands follow each other. */
static bool place_join(fold_place *out, const folder *f, const graph_op *op) {
  uint32_t axis;
  if (!read_join_axis(&axis, f->g, op) || graph_op_attribute(op, "activation"))
    return false;
  *out = f->places[op->inputs[0]];
  int64_t end = out->at[axis];
  for (uint32_t i = 0; i < op->input_count; i++) {
    const fold_place *x = &f->places[op->inputs[i]];
    if (x->picture != out->picture || x->at[axis] != end ||
        x->at[!axis] != out->at[!axis])
      return false;
    end += fold_size(f->g, op->inputs[i], axis);
    out->padded = out->padded || x->padded;
  }
  return true;
}

static bool place_part(fold_place *out, const folder *f, const graph_op *op) {
  const uint32_t operands = op->kind == OP_concat ? op->input_count : 1;
  if (op->output_count != 1 || !fold_is_picture(f->g, op->outputs[0]) ||
      op->input_count == 0)
    return false;
  for (uint32_t i = 0; i < operands; i++)
    if (!fold_is_picture(f->g, op->inputs[i]) ||
        f->places[op->inputs[i]].picture == CALM_NONE ||
        !fold_same_kind(f->g, op->inputs[i], op->outputs[0]))
      return false;
  if (op->kind != OP_concat &&
      !fold_whole_depth(f->g, op->inputs[0], op->outputs[0]))
    return false;
  if (fold_is_slice(op)) return place_slice(out, f, op);
  if (op->kind == OP_pad) return place_pad(out, f, op);
  return op->kind == OP_concat && place_join(out, f, op);
}

bool fold_is_open(const folder *f, op_id u) {
  const graph_op *op = &f->g->ops.data[u];
  return !f->taken[u] && !f->dead[u] && !f->bound[u] && op->output_count == 1 &&
         op->outputs[0] != CALM_NONE &&
         f->places[op->outputs[0]].picture == CALM_NONE;
}

void fold_place_parts(folder *f) {
  for (uint32_t i = 0; i < f->g->ops.count; i++) {
    const op_id u = f->g->order[i];
    const graph_op *op = &f->g->ops.data[u];
    fold_place place;
    if (fold_is_open(f, u) && place_part(&place, f, op))
      f->places[op->outputs[0]] = place;
  }
}
