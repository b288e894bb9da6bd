/*
 * The graph with regions in tiles.  Operators are walked in the graph's order:
 * one outside is kept, a region is made whole where its first operator stood.
 * All is made under provisional numbers; at the end those tensors that somebody
 * touches are numbered anew and go into the edit.
 */
#include <string.h>

#include "tile/tile_work.h"

static calm_status keep_op(tile_maker *m, op_id u) {
  const edit_op descent = {.from = u, .role = EDIT_KEEP, .activation = true};
  const graph_op *old = &m->g->ops.data[u];
  graph_op op = *old;
  ARENA_ARRAY(m->a, op.after, old->after_count);
  for (uint32_t i = 0; i < old->after_count; i++)
    op.after[i] = m->made_of[old->after[i]];
  m->made_of[u] = m->ops.count;
  return tile_add_op(m, &op, &descent);
}

/* ---- A region ------------------------------------------------------------ */

static calm_status check_counts(const tile_part *part, calm_context *context) {
  const tile_region *r = &part->region;
  const int64_t *sizes = part->tensors[part->output].sizes;
  if (r->mode >= TILE_MODES) return tile_fail(part, context, "no such mode");
  if (r->rows < 1 || r->columns < 1 || (r->rows == 1 && r->columns == 1))
    return tile_fail(part, context, "there must be two tiles at least");
  if (r->rows > sizes[TILE_ROWS] || r->columns > sizes[TILE_COLUMNS])
    return tile_fail(part, context,
                     "there are fewer rows or columns than tiles");
  return CALM_OK;
}

static bool has_pads(const tile_part *part) {
  for (uint32_t i = 0; i < part->step_count; i++)
    if (part->steps[i].kind == TILE_PADDING) return true;
  return false;
}

static calm_status make_region(tile_maker *m, const tile_region *region) {
  static calm_status (*const make[TILE_MODES])(
      tile_piece *, tile_maker *, const tile_part *, const tile_grid *) = {
      tile_make_pad, tile_make_same, tile_make_cache};
  tile_part part;
  tile_grid grid = {.counts = {region->rows, region->columns}};
  tile_piece *pieces, whole;
  TRY(tile_part_of(&part, m->g, region, m->a));
  TRY(check_counts(&part, m->a->context));
  if (m->options->pads && has_pads(&part))
    return tile_fail(&part, m->a->context,
                     "a pad is an operator of its own here");
  for (uint32_t i = 0; i < TILE_AXES; i++) {
    int64_t *borders;
    TRY(tile_split(&borders, &part, i, grid.counts[i], m->options->row_align,
                   m->a));
    grid.borders[i] = borders;
  }
  ARENA_ARRAY(m->a, pieces, region->rows);
  m->tile = 0;
  TRY(make[region->mode](pieces, m, &part, &grid));
  m->tile = 0;
  if (region->rows == 1) {
    /* The tiles of the only row were joined: that is the output. */
    m->ops.data[m->ops.count - 1].op.outputs[0] = part.tensors[part.output].id;
  } else {
    TRY(tile_join(&whole, m, &part, part.output, TILE_ROWS, pieces,
                  region->rows, part.tensors[part.output].id));
  }
  for (uint32_t i = region->first; i <= region->last; i++)
    m->made_of[m->g->order[i]] = m->ops.count - 1;
  return CALM_OK;
}

/* ---- All operators ------------------------------------------------------- */

static int by_first(const tile_region *a, const tile_region *b) {
  return a->first < b->first ? -1 : a->first > b->first;
}

static calm_status sort_regions(tile_region **out, const tile_region *regions,
                                uint32_t count, arena *a) {
  tile_region *sorted;
  ARENA_ARRAY(a, sorted, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t j = i;
    for (; j > 0 && by_first(&regions[i], &sorted[j - 1]) < 0; j--)
      sorted[j] = sorted[j - 1];
    sorted[j] = regions[i];
  }
  for (uint32_t i = 1; i < count; i++) {
    const tile_part later = {.region = sorted[i]};
    if (sorted[i].first <= sorted[i - 1].last)
      return tile_fail(&later, a->context, "it has operators of another one");
  }
  *out = sorted;
  return CALM_OK;
}

static calm_status make_all(tile_maker *m, const tile_region *regions,
                            uint32_t count) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < m->g->ops.count; i++) {
    if (next == count || regions[next].first != i) {
      TRY(keep_op(m, m->g->order[i]));
      continue;
    }
    TRY(make_region(m, &regions[next]));
    i = regions[next++].last;
  }
  if (next == count) return CALM_OK;
  const tile_part beyond = {.region = regions[next]};
  return tile_fail(&beyond, m->a->context, "the graph has no such operators");
}

/* ---- The end ------------------------------------------------------------- */

static void mark_used(bool *used, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE) used[op->inputs[i]] = true;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE) used[op->outputs[i]] = true;
}

/* A tensor that nothing touches stays if nothing did before, or if it is known
   outside. */
static bool stays(const graph *g, tensor_id t) {
  const unsigned outside =
      CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE;
  return (g->tensors.data[t].flags & outside) ||
         (g->producer[t] == CALM_NONE &&
          g->reader_begin[t] == g->reader_begin[t + 1]);
}

static calm_status add_tensors(tensor_id *numbers, graph_edit *edit,
                               const tile_maker *m, const bool *used) {
  const graph *g = m->g;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const edit_tensor same = {.from = t, .contents = EDIT_SAME};
    if (used[t] || stays(g, t))
      TRY(graph_edit_add_tensor(&numbers[t], edit, &g->tensors.data[t], &same));
  }
  for (uint32_t i = 0; i < m->tensors.count; i++) {
    const tile_made_tensor *made = &m->tensors.data[i];
    const tensor_id t = g->tensors.count + i;
    if (used[t])
      TRY(graph_edit_add_tensor(&numbers[t], edit, &made->tensor,
                                &made->descent));
  }
  return CALM_OK;
}

static void renumber(tensor_id *ids, uint32_t count, const tensor_id *numbers) {
  for (uint32_t i = 0; i < count; i++)
    if (ids[i] != CALM_NONE) ids[i] = numbers[ids[i]];
}

static calm_status fill_edit(graph_edit *edit, tile_maker *m) {
  bool *used;
  tensor_id *numbers;
  const size_t count = (size_t)m->g->tensors.count + m->tensors.count;
  ARENA_ARRAY(m->a, used, count);
  ARENA_ARRAY(m->a, numbers, count);
  for (uint32_t i = 0; i < m->ops.count; i++)
    mark_used(used, &m->ops.data[i].op);
  TRY(add_tensors(numbers, edit, m, used));
  for (uint32_t i = 0; i < m->ops.count; i++) {
    op_id id;
    TRY(graph_edit_add_op(&id, edit, &m->ops.data[i].op,
                          &m->ops.data[i].descent));
    graph_op *op = &edit->after.ops.data[id];
    renumber(op->inputs, op->input_count, numbers);
    renumber(op->outputs, op->output_count, numbers);
  }
  edit->after.listed_inputs = m->g->listed_inputs;
  edit->after.listed_outputs = m->g->listed_outputs;
  return graph_edit_finish(edit, m->g->name ? m->g->name : "graph");
}

static calm_status tile(graph_edit *edit, tile_maker *m,
                        const tile_region *regions, uint32_t count) {
  tile_region *sorted;
  TRY(sort_regions(&sorted, regions, count, m->a));
  ARENA_ARRAY(m->a, m->made_of, m->g->ops.count);
  TRY(make_all(m, sorted, count));
  return fill_edit(edit, m);
}

calm_status tile_apply(graph_edit *out, const graph *g,
                       const tile_region *regions, uint32_t count,
                       const tile_options *options, arena *a) {
  tile_maker m = {.g = g, .options = options, .a = a};
  graph_edit edit;
  graph_edit_init(&edit, g, a);
  const calm_status status = tile(&edit, &m, regions, count);
  VECTOR_FREE(a->context, &m.tensors);
  VECTOR_FREE(a->context, &m.ops);
  VECTOR_FREE(a->context, &m.numbers);
  VECTOR_FREE(a->context, &m.crops);
  if (status == CALM_OK)
    *out = edit;
  else
    graph_edit_free(&edit);
  return status;
}
