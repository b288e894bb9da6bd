/*
 * Operators that move rows and columns.  What they do is said twice, by
 * attributes, at which everybody looks, and by constants, which is what a
 * runtime reads: both must say the same.
 */
#include <string.h>

#include "tile/tile_check.h"

/* ---- Constants ----------------------------------------------------------- */

static int64_t number_at(const edit_tensor *t, uint32_t width, uint32_t i) {
  uint64_t value = 0;
  for (uint32_t b = width; b-- > 0;)
    value = value << 8 | t->bytes[i * width + b];
  return width == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

/* The numbers of a constant operand; 0 if it is none. */
static uint32_t read_numbers(int64_t *out, const tile_judgement *j,
                             const graph_op *op, uint32_t slot) {
  if (slot >= op->input_count || op->inputs[slot] == CALM_NONE) return 0;
  const graph_tensor *t = &j->after->tensors.data[op->inputs[slot]];
  const edit_tensor *descent = &j->edit->tensors.data[op->inputs[slot]];
  const uint32_t width = t->type == ELEMENT_i64 ? 8 : 4;
  if ((t->type != ELEMENT_i64 && t->type != ELEMENT_i32) ||
      descent->contents != EDIT_NUMBERS || !descent->bytes ||
      !(t->flags & CALM_TENSOR_CONST) || t->bytes > 8 * (uint64_t)width)
    return 0;
  const uint32_t count = (uint32_t)t->bytes / width;
  for (uint32_t i = 0; i < count; i++) out[i] = number_at(descent, width, i);
  return count;
}

static bool same_numbers(const int64_t *x, const int64_t *y, uint32_t count) {
  return !memcmp(x, y, count * sizeof *x);
}

/* Begin and size, or starts, ends and axes. */
static bool crops_alike(const tile_judgement *j, const graph_op *op,
                        const int64_t *begin, const int64_t *size) {
  const int64_t *all = j->after->tensors.data[op->inputs[0]].dimensions;
  int64_t x[8], y[8], z[8], from[4] = {0}, to[4];
  if (op->input_count == 1) return j->after->channels_first; /* .onnx */
  const uint32_t count = read_numbers(x, j, op, 1);
  if (read_numbers(y, j, op, 2) != count) return false;
  if (op->input_count == 3)
    return count == 4 && same_numbers(x, begin, 4) && same_numbers(y, size, 4);
  if (read_numbers(z, j, op, 3) != count) return false;
  memcpy(to, all, sizeof to);
  for (uint32_t i = 0; i < count; i++) {
    if (z[i] < 0 || z[i] >= 4) return false;
    from[z[i]] = x[i];
    to[z[i]] = y[i];
  }
  for (int i = 0; i < 4; i++) to[i] -= from[i];
  return same_numbers(from, begin, 4) && same_numbers(to, size, 4);
}

static bool pads_alike(const tile_judgement *j, const graph_op *op,
                       const int64_t *before, const int64_t *after) {
  const bool pairs = op->input_count > 1 && op->inputs[1] != CALM_NONE &&
                     j->after->tensors.data[op->inputs[1]].rank == 2;
  int64_t numbers[8];
  if (op->input_count != 2 || read_numbers(numbers, j, op, 1) != 8)
    return false;
  for (uint32_t i = 0; i < 4; i++)
    if (numbers[pairs ? 2 * i : i] != before[i] ||
        numbers[pairs ? 2 * i + 1 : i + 4] != after[i])
      return false;
  return true;
}

/* ---- Slices -------------------------------------------------------------- */

static const char *judge_crop(const tile_judgement *j, const graph_op *op,
                              const int64_t *begin, const int64_t *size) {
  const graph_tensor *x = &j->after->tensors.data[op->inputs[0]];
  const graph_tensor *y = &j->after->tensors.data[op->outputs[0]];
  for (uint32_t i = 0; i < 4; i++)
    if (begin[i] < 0 || size[i] < 1 || begin[i] + size[i] > x->dimensions[i] ||
        size[i] != y->dimensions[i])
      return "it cuts what is not there";
  if (begin[0] != 0 || size[0] != x->dimensions[0] ||
      begin[j->after->channels_first ? 1 : 3] != 0 ||
      size[j->after->channels_first ? 1 : 3] !=
          x->dimensions[j->after->channels_first ? 1 : 3])
    return "it cuts something else than rows and columns";
  return crops_alike(j, op, begin, size)
             ? NULL
             : "its constants say something else than its attributes";
}

calm_status tile_check_crop(tile_trace *out, const char **fault,
                            tile_judgement *j, op_id u) {
  const graph_op *op = &j->after->ops.data[u];
  int64_t begin[GRAPH_MAX_RANK], size[GRAPH_MAX_RANK];
  *fault = "it is no slice of a picture";
  if (op->kind != OP_slice || op->input_count == 0 ||
      op->inputs[0] == CALM_NONE || !j->traces[op->inputs[0]].axes[0] ||
      graph_op_numbers(begin, op, "begin") != 4 ||
      graph_op_numbers(size, op, "size") != 4)
    return CALM_OK;
  *fault = judge_crop(j, op, begin, size);
  if (*fault) return CALM_OK;
  *out = j->traces[op->inputs[0]];
  for (int axis = 0; axis < 2; axis++)
    out->axes[axis] += begin[tile_check_dimension(j->after, axis)];
  return CALM_OK;
}

/* ---- Pads ---------------------------------------------------------------- */

/* Zeros beyond the first or the last row: they are what rows beyond the picture
   are, if they lie there. */
static int64_t beyond(int64_t of, int64_t steps, int64_t size) {
  if (of == TILE_GARBAGE) return of;
  const int64_t row = of + steps;
  return row < 0 || row >= size ? row : TILE_GARBAGE;
}

static calm_status pad_axis(int64_t **out, tile_judgement *j,
                            const tile_trace *x, int axis, int64_t count,
                            int64_t before, int64_t after) {
  const int64_t *rows = x->axes[axis];
  const int64_t size = tile_check_size(j->before, x->of, axis);
  int64_t *padded;
  ARENA_ARRAY(&j->a, padded, (size_t)(before + count + after));
  for (int64_t i = 0; i < before; i++)
    padded[i] = beyond(rows[0], i - before, size);
  for (int64_t i = 0; i < count; i++) padded[before + i] = rows[i];
  for (int64_t i = 0; i < after; i++)
    padded[before + count + i] = beyond(rows[count - 1], i + 1, size);
  *out = padded;
  return CALM_OK;
}

static const char *judge_pad(const tile_judgement *j, const graph_op *op,
                             const int64_t *before, const int64_t *after) {
  const graph_tensor *x = &j->after->tensors.data[op->inputs[0]];
  const graph_tensor *y = &j->after->tensors.data[op->outputs[0]];
  const uint32_t channel = j->after->channels_first ? 1 : 3;
  for (uint32_t i = 0; i < 4; i++)
    if (before[i] < 0 || after[i] < 0 ||
        y->dimensions[i] != before[i] + x->dimensions[i] + after[i])
      return "what it makes has another size";
  if (before[0] || after[0] || before[channel] || after[channel])
    return "it pads something else than rows and columns";
  if (!pads_alike(j, op, before, after))
    return "its constants say something else than its attributes";
  return x->quantization == y->quantization
             ? NULL
             : "it pads under another quantization";
}

calm_status tile_check_pad(tile_trace *out, const char **fault,
                           tile_judgement *j, op_id u) {
  const graph_op *op = &j->after->ops.data[u];
  int64_t before[GRAPH_MAX_RANK], after[GRAPH_MAX_RANK];
  *fault = "it is no pad of a picture";
  if (op->kind != OP_pad || op->input_count != 2 ||
      op->inputs[0] == CALM_NONE || !j->traces[op->inputs[0]].axes[0] ||
      graph_op_numbers(before, op, "before") != 4 ||
      graph_op_numbers(after, op, "after") != 4)
    return CALM_OK;
  *fault = judge_pad(j, op, before, after);
  if (*fault) return CALM_OK;
  const tile_trace *x = &j->traces[op->inputs[0]];
  out->of = x->of;
  for (int axis = 0; axis < 2; axis++) {
    const uint32_t at = tile_check_dimension(j->after, axis);
    TRY(pad_axis(&out->axes[axis], j, x, axis,
                 tile_check_size(j->after, op->inputs[0], axis), before[at],
                 after[at]));
  }
  return CALM_OK;
}

/* ---- Concats ------------------------------------------------------------- */

/* All parts are of one tensor, and the same across the axis. */
static const char *judge_parts(const tile_judgement *j, const graph_op *op,
                               int along) {
  const graph *g = j->after;
  const tensor_id first = op->inputs[0], y = op->outputs[0];
  int64_t length = 0;
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id s = op->inputs[i];
    if (s == CALM_NONE || first == CALM_NONE || !j->traces[s].axes[0] ||
        j->traces[s].of != j->traces[first].of)
      return "it joins parts of several tensors";
    if (tile_check_size(g, s, !along) != tile_check_size(g, y, !along) ||
        !same_numbers(j->traces[s].axes[!along], j->traces[first].axes[!along],
                      (uint32_t)tile_check_size(g, y, !along)))
      return "its parts do not lie beside each other";
    if (g->tensors.data[s].quantization != g->tensors.data[y].quantization)
      return "its parts have another quantization";
    length += tile_check_size(g, s, along);
  }
  return length == tile_check_size(g, y, along)
             ? NULL
             : "what it makes has another size";
}

calm_status tile_check_join(tile_trace *out, const char **fault,
                            tile_judgement *j, op_id u) {
  const graph *g = j->after;
  const graph_op *op = &g->ops.data[u];
  int64_t numbers[GRAPH_MAX_RANK], at = 0;
  *fault = "it joins neither rows nor columns";
  if (op->kind != OP_concat || op->input_count == 0 ||
      graph_op_numbers(numbers, op, "axis") != 1)
    return CALM_OK;
  const int along = numbers[0] != tile_check_dimension(g, 0);
  if (along && numbers[0] != tile_check_dimension(g, 1)) return CALM_OK;
  *fault = judge_parts(j, op, along);
  if (*fault) return CALM_OK;
  *out = j->traces[op->inputs[0]];
  ARENA_ARRAY(&j->a, out->axes[along],
              (size_t)tile_check_size(g, op->outputs[0], along));
  for (uint32_t i = 0; i < op->input_count; i++) {
    const int64_t size = tile_check_size(g, op->inputs[i], along);
    memcpy(out->axes[along] + at, j->traces[op->inputs[i]].axes[along],
           (size_t)size * sizeof **out->axes);
    at += size;
  }
  return CALM_OK;
}
