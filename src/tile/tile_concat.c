/*
 * Pieces put together.  Where a concat can have `most` operands, n pieces take
 * no more than (n - 1) / (most - 1) concats, rounded up: the first pieces are
 * joined to as few as are too many, then the next.  All are joined late, after
 * the last piece was made, and an inner one has the bytes of the outer one in
 * the same order: who places them may let each lie where it ends up.
 */
#include <string.h>

#include "tile/tile_work.h"

/* One concat of some pieces; `whole` CALM_NONE: its tensor is made. */
static calm_status join_some(tile_piece *out, tile_maker *m,
                             const tile_part *part, uint32_t t, uint32_t axis,
                             const tile_piece *pieces, uint32_t count,
                             tensor_id whole) {
  const tensor_id old = part->tensors[t].id;
  const op_id u = m->g->producer[old];
  const edit_op descent = {.from = u, .role = EDIT_JOIN};
  const int64_t dimension = part->axes[axis];
  graph_op op = {.kind = OP_concat,
                 .kind_name = op_kind_name(OP_concat),
                 .input_count = count,
                 .output_count = 1,
                 .attribute_count = 1};
  tile_area area = pieces[0].area;
  area.axes[axis].end = pieces[count - 1].area.axes[axis].end;
  TRY(tile_name(&op.name, m, m->g->ops.data[u].name, "join"));
  ARENA_ARRAY(m->a, op.inputs, count);
  ARENA_ARRAY(m->a, op.outputs, 1);
  ARENA_ARRAY(m->a, op.attributes, 1);
  op.attributes[0].key = "axis";
  TRY(tile_list(&op.attributes[0].value, &dimension, 1, m->a));
  for (uint32_t i = 0; i < count; i++) op.inputs[i] = pieces[i].id;
  *out = (tile_piece){whole, area};
  if (whole == CALM_NONE)
    TRY(tile_add_tensor(out, m, part, old, &area, "joined"));
  op.outputs[0] = out->id;
  return tile_add_op(m, &op, &descent);
}

calm_status tile_join(tile_piece *out, tile_maker *m, const tile_part *part,
                      uint32_t t, uint32_t axis, tile_piece *pieces,
                      uint32_t count, tensor_id whole) {
  const uint32_t most = m->options->most_operands;
  uint32_t next = 0; /* the first that is not joined yet */
  while (most > 1 && count > most) {
    const uint32_t excess = count - most + 1;
    const uint32_t run = excess < most ? excess : most;
    if (next + run > count) next = 0;
    tile_piece joined;
    TRY(join_some(&joined, m, part, t, axis, pieces + next, run, CALM_NONE));
    pieces[next++] = joined;
    count -= run - 1;
    memmove(pieces + next, pieces + next + run - 1,
            (count - next) * sizeof *pieces);
  }
  return join_some(out, m, part, t, axis, pieces, count, whole);
}
