/*
 * Tiles made by hand, for tests of those who write files: one convolution with
 * a stride of 1 and SAME padding is computed in two strips, each from a slice
 * of the picture, and padded as the format has it.
 */
#ifndef CALM_TESTS_HAND_TILED_H
#define CALM_TESTS_HAND_TILED_H

#include <stdio.h>
#include <string.h>

#include "graph/graph_edit.h"

enum { HAND_RANK = 4, HAND_NUMBERS = 8 };

typedef struct hand_tiler {
  graph_edit *edit;
  arena *a;
  op_id conv;      /* in `before` */
  bool onnx;       /* rows are dimension 2, numbers have 64 bits, no PAD */
  bool bare;       /* .onnx before opset 10: a slice has attributes alone */
  tensor_id *kept; /* per old tensor */
} hand_tiler;

static inline unsigned hand_rows(const hand_tiler *h) {
  return h->onnx ? 2 : 1;
}

static inline const graph_tensor *hand_tensor(const hand_tiler *h,
                                              tensor_id t) {
  return &h->edit->after.tensors.data[t];
}

static inline const char *hand_text(const hand_tiler *h, const int64_t *numbers,
                                    uint32_t count) {
  char text[128];
  size_t used = 0;
  for (uint32_t i = 0; i < count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld",
                             i ? "," : "", (long long)numbers[i]);
  return arena_string(h->a, text, used);
}

static inline calm_status hand_made(tensor_id *out, const hand_tiler *h,
                                    tensor_id like, const char *name,
                                    int64_t rows, int64_t columns) {
  graph_tensor tensor = h->edit->before->tensors.data[like];
  const edit_tensor descent = {.from = like, .contents = EDIT_MADE};
  int64_t dimensions[HAND_RANK];
  memcpy(dimensions, tensor.dimensions, sizeof dimensions);
  dimensions[hand_rows(h)] = rows;
  dimensions[hand_rows(h) + 1] = columns;
  tensor.name = name;
  tensor.dimensions = dimensions;
  tensor.flags = 0;
  return graph_edit_add_tensor(out, h->edit, &tensor, &descent);
}

static inline calm_status hand_numbers(tensor_id *out, const hand_tiler *h,
                                       const char *name, const int64_t *numbers,
                                       uint32_t count, bool pairs) {
  const tensor_id x = h->edit->before->ops.data[h->conv].inputs[0];
  const unsigned size = h->onnx ? 8 : 4;
  const int64_t dimensions[2] = {pairs ? count / 2 : count, 2};
  const graph_tensor tensor = {.name = name,
                               .type = h->onnx ? ELEMENT_i64 : ELEMENT_i32,
                               .dimensions = dimensions,
                               .rank = pairs ? 2 : 1,
                               .flags = CALM_TENSOR_CONST};
  uint8_t *bytes;
  ARENA_ARRAY(h->a, bytes, (size_t)count * size);
  for (uint32_t i = 0; i < count; i++)
    for (unsigned j = 0; j < size; j++)
      bytes[i * size + j] = (uint8_t)((uint64_t)numbers[i] >> 8 * j);
  return graph_edit_add_tensor(
      out, h->edit, &tensor,
      &(edit_tensor){.from = x, .contents = EDIT_NUMBERS, .bytes = bytes});
}

static inline calm_status hand_op(const hand_tiler *h, op_kind kind,
                                  edit_role role, const char *name,
                                  tensor_id *inputs, uint32_t count,
                                  tensor_id output,
                                  const graph_attribute *attributes,
                                  uint32_t attribute_count) {
  graph_attribute list[16];
  const graph_op op = {.name = name,
                       .kind = kind,
                       .kind_name = op_kind_name(kind),
                       .inputs = inputs,
                       .input_count = count,
                       .outputs = &output,
                       .output_count = 1,
                       .attributes = list,
                       .attribute_count = attribute_count};
  op_id id;
  if (attribute_count) memcpy(list, attributes, attribute_count * sizeof *list);
  return graph_edit_add_op(
      &id, h->edit, &op,
      &(edit_op){.from = h->conv, .role = role, .activation = true});
}

/* Rows [begin, end) of a picture. */
static inline calm_status hand_crop(tensor_id *out, const hand_tiler *h,
                                    tensor_id x, int64_t begin, int64_t end) {
  const graph_op *conv = &h->edit->before->ops.data[h->conv];
  const graph_tensor *tensor = hand_tensor(h, x);
  int64_t begins[HAND_RANK] = {0}, sizes[HAND_RANK];
  const int64_t axis = hand_rows(h);
  tensor_id operands[4] = {x};
  uint32_t count = 1;
  memcpy(sizes, tensor->dimensions, sizeof sizes);
  begins[axis] = begin;
  sizes[axis] = end - begin;
  const graph_attribute attributes[] = {
      {"begin", hand_text(h, begins, HAND_RANK)},
      {"size", hand_text(h, sizes, HAND_RANK)}};
  TRY(hand_made(out, h, conv->inputs[0], "strip", end - begin,
                sizes[axis + 1]));
  if (!h->onnx) {
    TRY(hand_numbers(&operands[count++], h, "begin", begins, HAND_RANK, false));
    TRY(hand_numbers(&operands[count++], h, "size", sizes, HAND_RANK, false));
  } else if (!h->bare) {
    TRY(hand_numbers(&operands[count++], h, "starts", &begin, 1, false));
    TRY(hand_numbers(&operands[count++], h, "ends", &end, 1, false));
    TRY(hand_numbers(&operands[count++], h, "axes", &axis, 1, false));
  }
  return hand_op(h, OP_slice, EDIT_CROP, "crop", operands, count, *out,
                 attributes, 2);
}

/* `top` and `bottom` rows, and `side` columns on both sides, in addition. */
static inline calm_status hand_pad(tensor_id *out, const hand_tiler *h,
                                   tensor_id x, int64_t top, int64_t bottom,
                                   int64_t side) {
  const graph_op *conv = &h->edit->before->ops.data[h->conv];
  const graph_tensor tensor = *hand_tensor(h, x);
  const int64_t pairs[] = {0, 0, top, bottom, side, side, 0, 0};
  const int64_t before[] = {0, top, side, 0}, after[] = {0, bottom, side, 0};
  const graph_attribute attributes[] = {{"before", hand_text(h, before, 4)},
                                        {"after", hand_text(h, after, 4)}};
  tensor_id operands[2] = {x};
  TRY(hand_made(out, h, conv->inputs[0], "padded",
                tensor.dimensions[1] + top + bottom,
                tensor.dimensions[2] + 2 * side));
  TRY(hand_numbers(&operands[1], h, "paddings", pairs, HAND_NUMBERS, true));
  return hand_op(h, OP_pad, EDIT_PAD, "pad", operands, 2, *out, attributes, 2);
}

/* The convolution of a strip, with what the strip lacks around it. */
static inline calm_status hand_conv(tensor_id *out, const hand_tiler *h,
                                    tensor_id strip, int64_t top,
                                    int64_t bottom, int64_t side,
                                    int64_t rows) {
  const graph_op *conv = &h->edit->before->ops.data[h->conv];
  const graph_tensor *y = &h->edit->before->tensors.data[conv->outputs[0]];
  graph_attribute attributes[16];
  tensor_id operands[4] = {strip};
  const int64_t pads[] = {top, side, bottom, side};
  uint32_t count = 0;
  if (!h->onnx) TRY(hand_pad(&operands[0], h, strip, top, bottom, side));
  for (uint32_t i = 1; i < conv->input_count; i++)
    operands[i] =
        conv->inputs[i] == CALM_NONE ? CALM_NONE : h->kept[conv->inputs[i]];
  for (uint32_t i = 0; i < conv->attribute_count; i++) {
    const graph_attribute *a = &conv->attributes[i];
    if (strcmp(a->key, "pad") && strcmp(a->key, "pads")) {
      attributes[count++] = *a;
      continue;
    }
    if (!h->onnx) attributes[count++] = (graph_attribute){"pad", "valid"};
  }
  if (h->onnx)
    attributes[count++] = (graph_attribute){"pads", hand_text(h, pads, 4)};
  TRY(hand_made(out, h, conv->outputs[0], "tile", rows,
                y->dimensions[hand_rows(h) + 1]));
  return hand_op(h, conv->kind, EDIT_WINDOW, "conv", operands,
                 conv->input_count, *out, attributes, count);
}

static inline calm_status hand_join(const hand_tiler *h, tensor_id *tiles,
                                    tensor_id y) {
  const int64_t axis = hand_rows(h);
  const graph_attribute attribute = {"axis", hand_text(h, &axis, 1)};
  return hand_op(h, OP_concat, EDIT_JOIN, "join", tiles, 2, y, &attribute, 1);
}

static inline calm_status hand_tile_conv(const hand_tiler *h) {
  const graph_op *conv = &h->edit->before->ops.data[h->conv];
  const tensor_id x = h->kept[conv->inputs[0]], y = h->kept[conv->outputs[0]];
  const graph_tensor *w = &h->edit->before->tensors.data[conv->inputs[1]];
  const int64_t rows = hand_tensor(h, y)->dimensions[hand_rows(h)];
  const int64_t half = rows / 2;
  const int64_t halo = w->dimensions[hand_rows(h)] / 2;
  const int64_t side = w->dimensions[hand_rows(h) + 1] / 2;
  tensor_id strips[2], tiles[2];
  TRY(hand_crop(&strips[0], h, x, 0, half + halo));
  TRY(hand_conv(&tiles[0], h, strips[0], halo, 0, side, half));
  TRY(hand_crop(&strips[1], h, x, half - halo, rows));
  TRY(hand_conv(&tiles[1], h, strips[1], 0, halo, side, rows - half));
  return hand_join(h, tiles, y);
}

/* `before` with one convolution in two strips.  The edit is begun. */
static inline calm_status hand_tiled(graph_edit *edit, op_id conv, bool onnx,
                                     bool bare, arena *a) {
  const graph *g = edit->before;
  hand_tiler h = {
      .edit = edit, .a = a, .conv = conv, .onnx = onnx, .bare = bare};
  ARENA_ARRAY(a, h.kept, g->tensors.count);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    TRY(graph_edit_add_tensor(
        &h.kept[t], edit, &g->tensors.data[t],
        &(edit_tensor){.from = t, .contents = EDIT_SAME}));
  for (op_id u = 0; u < g->ops.count; u++) {
    op_id id;
    if (u == conv)
      TRY(hand_tile_conv(&h));
    else
      TRY(graph_edit_add_op(
          &id, edit, &g->ops.data[u],
          &(edit_op){.from = u, .role = EDIT_KEEP, .activation = true}));
  }
  return graph_edit_finish(edit, "hand-tiled");
}

#endif
