/*
 * Making the tensors and operators of tiles.  A tensor of a tile is like the
 * one of the old graph of which it is a part, in all but its name and its rows
 * and columns; an operator likewise, in all but its padding.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tile/tile_work.h"

const graph_tensor *tile_tensor_at(const tile_maker *m, tensor_id t) {
  const uint32_t old = m->g->tensors.count;
  return t < old ? &m->g->tensors.data[t] : &m->tensors.data[t - old].tensor;
}

/* Converters join the names of all that they fused by semicolons; the last one
   tells enough. */
calm_status tile_name(const char **out, const tile_maker *m, const char *base,
                      const char *what) {
  const char *last = strrchr(base, ';');
  if (last && last[1]) base = last + 1;
  const size_t room = strlen(base) + strlen(what) + 32;
  char *name;
  ARENA_ARRAY(m->a, name, room);
  int used = snprintf(name, room, "%s", base);
  if (m->tile)
    used +=
        snprintf(name + used, room - (size_t)used, "/tile%" PRIu32, m->tile);
  if (*what) snprintf(name + used, room - (size_t)used, "/%s", what);
  *out = name;
  return CALM_OK;
}

calm_status tile_add_tensor(tile_piece *out, tile_maker *m,
                            const tile_part *part, tensor_id from,
                            const tile_area *area, const char *what) {
  const edit_tensor descent = {.from = from, .contents = EDIT_MADE};
  graph_tensor t = m->g->tensors.data[from];
  int64_t *dimensions;
  ARENA_ARRAY(m->a, dimensions, t.rank);
  memcpy(dimensions, t.dimensions, t.rank * sizeof *dimensions);
  for (uint32_t i = 0; i < TILE_AXES; i++)
    dimensions[part->axes[i]] = tile_length(area->axes[i]);
  t.dimensions = dimensions;
  t.flags = 0;
  t.place = (graph_place){0};
  TRY(tile_name(&t.name, m, t.name, what));
  *out = (tile_piece){m->g->tensors.count + m->tensors.count, *area};
  VECTOR_PUSH(m->a->context, &m->tensors, (tile_made_tensor){t, descent});
  return CALM_OK;
}

calm_status tile_add_op(tile_maker *m, const graph_op *op,
                        const edit_op *descent) {
  VECTOR_PUSH(m->a->context, &m->ops, (tile_made_op){*op, *descent});
  return CALM_OK;
}

/* An operator of a kind of ours, made for operator u: operands and attributes
   are filled in by the caller. */
static calm_status begin_op(graph_op *out, const tile_maker *m, op_kind kind,
                            op_id u, const char *what, uint32_t operands) {
  *out = (graph_op){.kind = kind,
                    .kind_name = op_kind_name(kind),
                    .input_count = operands,
                    .output_count = 1};
  TRY(tile_name(&out->name, m, m->g->ops.data[u].name, what));
  ARENA_ARRAY(m->a, out->inputs, operands);
  ARENA_ARRAY(m->a, out->outputs, 1);
  ARENA_ARRAY(m->a, out->attributes, 2);
  return CALM_OK;
}

static calm_status say(graph_op *op, const tile_maker *m, const char *key,
                       const int64_t *numbers, uint32_t count) {
  graph_attribute *said = &op->attributes[op->attribute_count++];
  said->key = key;
  return tile_list(&said->value, numbers, count, m->a);
}

/* ---- Slices -------------------------------------------------------------- */

/* .tflite: begin and size, of all dimensions. */
static calm_status give_sizes(graph_op *op, tile_maker *m, tensor_id from,
                              const int64_t *begin, const int64_t *size) {
  const int64_t four = 4;
  TRY(tile_numbers(&op->inputs[1], m, "begin", from, begin, &four, 1));
  return tile_numbers(&op->inputs[2], m, "size", from, size, &four, 1);
}

/* .onnx: starts, ends and axes, of those that are cut. */
static calm_status give_ends(graph_op *op, tile_maker *m, tensor_id from,
                             const int64_t *begin, const int64_t *size) {
  const int64_t *sizes = tile_tensor_at(m, op->inputs[0])->dimensions;
  int64_t starts[4], ends[4], axes[4], count = 0;
  for (uint32_t i = 0; i < 4; i++) {
    if (begin[i] == 0 && size[i] == sizes[i]) continue;
    starts[count] = begin[i];
    ends[count] = begin[i] + size[i];
    axes[count++] = i;
  }
  TRY(tile_numbers(&op->inputs[1], m, "index", from, starts, &count, 1));
  TRY(tile_numbers(&op->inputs[2], m, "index", from, ends, &count, 1));
  return tile_numbers(&op->inputs[3], m, "index", from, axes, &count, 1);
}

static uint32_t slice_operands(const tile_options *options) {
  return options->bare_slices ? 1 : options->pads ? 4 : 3;
}

static calm_status slice(tile_piece *out, tile_maker *m, const tile_part *part,
                         uint32_t t, op_id u, const tile_piece *piece,
                         const tile_area *area) {
  const edit_op descent = {.from = u, .role = EDIT_CROP};
  const tensor_id old = part->tensors[t].id;
  int64_t begin[4] = {0}, size[4];
  graph_op op;
  memcpy(size, m->g->tensors.data[old].dimensions, sizeof size);
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    begin[part->axes[i]] = area->axes[i].begin - piece->area.axes[i].begin;
    size[part->axes[i]] = tile_length(area->axes[i]);
  }
  TRY(begin_op(&op, m, OP_slice, u, "slice", slice_operands(m->options)));
  TRY(tile_add_tensor(out, m, part, old, area, "part"));
  op.inputs[0] = piece->id;
  op.outputs[0] = out->id;
  if (op.input_count == 3) TRY(give_sizes(&op, m, old, begin, size));
  if (op.input_count == 4) TRY(give_ends(&op, m, old, begin, size));
  TRY(say(&op, m, "begin", begin, 4));
  TRY(say(&op, m, "size", size, 4));
  return tile_add_op(m, &op, &descent);
}

/* Where an area lies in a piece. */
static tile_area place_in(const tile_piece *piece, const tile_area *area) {
  tile_area place = *area;
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    place.axes[i].begin -= piece->area.axes[i].begin;
    place.axes[i].end -= piece->area.axes[i].begin;
  }
  return place;
}

/* Several readers of one part share it. */
calm_status tile_cut(tile_piece *out, tile_maker *m, const tile_part *part,
                     uint32_t t, op_id u, const tile_piece *piece,
                     const tile_area *area) {
  if (tile_same_area(area, &piece->area)) {
    *out = *piece;
    return CALM_OK;
  }
  const tile_area place = place_in(piece, area);
  for (uint32_t i = 0; i < m->crops.count; i++) {
    const tile_crop *crop = &m->crops.data[i];
    if (crop->from != piece->id || !tile_same_area(&crop->place, &place))
      continue;
    *out = (tile_piece){crop->made, *area};
    return CALM_OK;
  }
  TRY(slice(out, m, part, t, u, piece, area));
  VECTOR_PUSH(m->a->context, &m->crops, (tile_crop){piece->id, out->id, place});
  return CALM_OK;
}

/* ---- Padding ------------------------------------------------------------- */

/* .tflite: a pair per dimension; .onnx: all in front, then all behind. */
static calm_status give_paddings(graph_op *op, tile_maker *m, tensor_id from,
                                 const int64_t *before, const int64_t *after) {
  const int64_t pairs[2] = {4, 2}, eight = 8;
  int64_t numbers[8];
  for (uint32_t i = 0; i < 4; i++) {
    numbers[m->options->pads ? i : 2 * i] = before[i];
    numbers[m->options->pads ? i + 4 : 2 * i + 1] = after[i];
  }
  return m->options->pads ? tile_numbers(&op->inputs[1], m, "paddings", from,
                                         numbers, &eight, 1)
                          : tile_numbers(&op->inputs[1], m, "paddings", from,
                                         numbers, pairs, 2);
}

/* In place of a pad, the piece is one of what that makes. */
calm_status tile_surround(tile_piece *out, tile_maker *m, const tile_part *part,
                          const tile_step *s, const tile_piece *piece,
                          const tile_reach *reach) {
  const edit_op descent = {.from = s->op, .role = EDIT_PAD};
  const tensor_id old = part->tensors[s->slots[0]].id;
  int64_t before[4] = {0}, after[4] = {0};
  tile_area area = piece->area;
  graph_op op;
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    before[part->axes[i]] = reach[i].front;
    after[part->axes[i]] = reach[i].back;
    area.axes[i].begin -= reach[i].front;
    area.axes[i].end += reach[i].back;
  }
  TRY(begin_op(&op, m, OP_pad, s->op, "pad", 2));
  op.inputs[0] = piece->id; /* `out` may be the same */
  TRY(tile_add_tensor(out, m, part, old, &area, "padded"));
  op.outputs[0] = out->id;
  TRY(give_paddings(&op, m, old, before, after));
  TRY(say(&op, m, "before", before, 4));
  TRY(say(&op, m, "after", after, 4));
  return tile_add_op(m, &op, &descent);
}

/* ---- Operators of the region --------------------------------------------- */

static bool speaks_of_padding(const char *key) {
  return !strcmp(key, "pad") || !strcmp(key, "pads");
}

/* Attributes as before, but for the padding, where that is given. */
static calm_status copy_attributes(graph_op *op, const tile_maker *m,
                                   const graph_op *old,
                                   const tile_padding *padding) {
  graph_attribute *list;
  ARENA_ARRAY(m->a, list, (size_t)old->attribute_count + 1);
  op->attributes = list;
  op->attribute_count = 0;
  for (uint32_t i = 0; i < old->attribute_count; i++)
    if (!padding->given || !speaks_of_padding(old->attributes[i].key))
      list[op->attribute_count++] = old->attributes[i];
  if (!padding->given) return CALM_OK;
  graph_attribute *said = &list[op->attribute_count++];
  if (!m->options->pads) {
    *said = (graph_attribute){"pad", padding->same ? "same" : "valid"};
    return CALM_OK;
  }
  const int64_t sides[4] = {
      padding->axes[TILE_ROWS].front, padding->axes[TILE_COLUMNS].front,
      padding->axes[TILE_ROWS].back, padding->axes[TILE_COLUMNS].back};
  said->key = "pads";
  if (sides[0] || sides[1] || sides[2] || sides[3] || !m->g->channels_first)
    return tile_list(&said->value, sides, 4, m->a);
  op->attribute_count--; /* as the reader has it */
  return CALM_OK;
}

calm_status tile_run(tile_piece *out, tile_maker *m, const tile_part *part,
                     const tile_step *s, const tile_piece *operands,
                     const tile_area *area, const tile_padding *padding) {
  const edit_op descent = {
      .from = s->op, .role = EDIT_WINDOW, .activation = true};
  const graph_op *old = &m->g->ops.data[s->op];
  graph_op op = *old;
  op.place = (graph_place){0};
  ARENA_ARRAY(m->a, op.inputs, op.input_count);
  ARENA_ARRAY(m->a, op.outputs, 1);
  TRY(tile_name(&op.name, m, old->name, ""));
  TRY(copy_attributes(&op, m, old, padding));
  TRY(tile_add_tensor(out, m, part, part->tensors[s->output].id, area, ""));
  for (uint32_t i = 0; i < op.input_count; i++)
    op.inputs[i] = s->slots[i] == CALM_NONE ? old->inputs[i] : operands[i].id;
  op.outputs[0] = out->id;
  return tile_add_op(m, &op, &descent);
}
