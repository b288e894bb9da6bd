/*
 * Tiles that a model already has, undone.  A region begins at a tensor that is
 * sliced or padded and ends at the first one behind it that is a whole picture
 * again, where nothing between is wanted by anybody else.  It is folded if the
 * judge finds that every row and column is what the picture as a whole would
 * have there, and if there are then fewer operators.  A pad in front of a
 * convolution goes as well, where SAME padding does the same.
 */
#include "tile/tile_fold.h"

#include <string.h>

/* ---- What a region has --------------------------------------------------- */

typedef struct marking {
  folder *f;
  tensor_id output;
  bool *marked; /* per operator */
  uint32_t count;
} marking;

/* Everything that the output comes from, back to the source. */
static calm_status mark_back(bool *out, marking *m) {
  const graph *g = m->f->g;
  tensor_id *waiting;
  uint32_t count = 0;
  *out = true;
  ARENA_ARRAY(m->f->scratch, waiting, g->ops.count + 1);
  memset(m->marked, 0, g->ops.count * sizeof *m->marked);
  m->count = 0;
  waiting[count++] = m->output;
  while (count) {
    const op_id u = g->producer[waiting[--count]];
    if (u == CALM_NONE || m->f->taken[u]) {
      *out = false;
      return CALM_OK;
    }
    m->marked[u] = true;
    m->count++;
    const graph_op *op = &g->ops.data[u];
    for (uint32_t i = 0; i < op->input_count; i++) {
      const tensor_id t = op->inputs[i];
      if (!fold_is_picture(g, t) || t == m->f->source) continue;
      const op_id from = g->producer[t];
      if (m->f->places[t].picture == CALM_NONE || from == CALM_NONE) {
        *out = false;
        return CALM_OK;
      }
      if (m->marked[from]) continue;
      m->marked[from] = true; /* it is waiting, once */
      waiting[count++] = t;
    }
  }
  return CALM_OK;
}

/* Does nobody else want what lies between? */
static bool is_closed(const marking *m) {
  const graph *g = m->f->g;
  for (op_id u = 0; u < g->ops.count; u++) {
    if (!m->marked[u]) continue;
    const tensor_id t = g->ops.data[u].outputs[0];
    if (t == m->output) continue;
    if (g->tensors.data[t].flags & CALM_TENSOR_OUTPUT) return false;
    for (uint32_t i = g->reader_begin[t]; i < g->reader_begin[t + 1]; i++)
      if (!m->marked[g->readers[i]]) return false;
  }
  return true;
}

static bool is_whole(const folder *f, tensor_id t) {
  const fold_place *place = &f->places[t];
  if (place->picture == CALM_NONE || place->picture == 0 || place->padded)
    return false;
  for (uint32_t axis = 0; axis < FOLD_AXES; axis++)
    if (place->at[axis] ||
        fold_size(f->g, t, axis) != f->pictures[place->picture].sizes[axis])
      return false;
  return true;
}

/* Concats put tiles together; a convolution alone may have a pad in front. */
static bool may_end(const folder *f, op_id u) {
  const graph_op *op = &f->g->ops.data[u];
  if (f->taken[u] || op->output_count != 1 ||
      !fold_is_picture(f->g, op->outputs[0]) || !is_whole(f, op->outputs[0]))
    return false;
  if (op->kind == OP_concat) return true;
  return f->pictures[f->places[op->outputs[0]].picture].window &&
         f->places[op->inputs[0]].padded;
}

/* ---- What it becomes ----------------------------------------------------- */

static calm_status find_needed(fold_region *r, const folder *f,
                               tensor_id output) {
  r->source = f->source;
  r->output = output;
  r->count = f->picture_count;
  r->last = f->places[output].picture;
  ARENA_ARRAY(f->scratch, r->needed, r->count);
  ARENA_ARRAY(f->scratch, r->pictures, r->count);
  memcpy(r->pictures, f->pictures, r->count * sizeof *r->pictures);
  r->needed[r->last] = true;
  for (uint32_t i = r->count; i-- > 1;) {
    const fold_picture *p = &r->pictures[i];
    if (!r->needed[i]) continue;
    for (uint32_t k = 0; k < f->g->ops.data[p->op].input_count; k++)
      if (p->inputs[k] != CALM_NONE) r->needed[p->inputs[k]] = true;
  }
  return CALM_OK;
}

/* Fewer operators than before, each of which can be padded as it must. */
static bool is_worthwhile(const fold_region *r, const folder *f,
                          uint32_t marked) {
  uint32_t count = 0;
  for (uint32_t i = 1; i < r->count; i++) {
    if (!r->needed[i]) continue;
    if (r->pictures[i].window && !fold_choose_padding(f, &r->pictures[i]))
      return false;
    count += r->pictures[i].padding == FOLD_EXPLICIT ? 2 : 1;
  }
  return count < marked;
}

static calm_status try_region(bool *out, fold_region *r, marking *m) {
  TRY(mark_back(out, m));
  if (!*out || !is_closed(m)) {
    *out = false;
    return CALM_OK;
  }
  TRY(find_needed(r, m->f, m->output));
  if (!is_worthwhile(r, m->f, m->count)) {
    *out = false;
    return CALM_OK;
  }
  return fold_judge(out, m->f, m->marked, m->output);
}

/* ---- Where to look ------------------------------------------------------- */

static bool may_begin(const folder *f, tensor_id t) {
  const graph *g = f->g;
  if (!fold_is_picture(g, t)) return false;
  for (uint32_t i = g->reader_begin[t]; i < g->reader_begin[t + 1]; i++) {
    const graph_op *op = &g->ops.data[g->readers[i]];
    if (!f->taken[g->readers[i]] && (fold_is_slice(op) || op->kind == OP_pad))
      return true;
  }
  return false;
}

static calm_status look_from(bool *out, fold_regions *regions, folder *f,
                             tensor_id source) {
  const graph *g = f->g;
  marking m = {.f = f};
  *out = false;
  ARENA_ARRAY(f->scratch, m.marked, g->ops.count);
  TRY(fold_trace(f, source));
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const op_id u = g->order[i];
    if (!may_end(f, u)) continue;
    m.output = g->ops.data[u].outputs[0];
    TRY(try_region(out, &regions->list[regions->count], &m));
    if (!*out) continue;
    for (op_id v = 0; v < g->ops.count; v++)
      f->taken[v] = f->taken[v] || m.marked[v];
    regions->count++;
    return CALM_OK;
  }
  return CALM_OK;
}

static calm_status look_again(fold_regions *regions, folder *f, tensor_id t) {
  bool found = true;
  while (found && may_begin(f, t)) TRY(look_from(&found, regions, f, t));
  return CALM_OK;
}

/* In the order in which tensors are made. */
static calm_status find_regions(fold_regions *regions, folder *f) {
  const graph *g = f->g;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->producer[t] == CALM_NONE) TRY(look_again(regions, f, t));
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const graph_op *op = &g->ops.data[g->order[i]];
    for (uint32_t k = 0; k < op->output_count; k++)
      if (op->outputs[k] != CALM_NONE)
        TRY(look_again(regions, f, op->outputs[k]));
  }
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static void find_bound(folder *f) {
  for (op_id u = 0; u < f->g->ops.count; u++) {
    const graph_op *op = &f->g->ops.data[u];
    if (op->after_count) f->bound[u] = true;
    for (uint32_t i = 0; i < op->after_count; i++)
      f->bound[op->after[i]] = true;
  }
}

static calm_status start(folder *f, fold_regions *regions) {
  const uint32_t ops = f->g->ops.count;
  ARENA_ARRAY(f->scratch, f->places, f->g->tensors.count);
  ARENA_ARRAY(f->scratch, f->pictures, ops + 1);
  ARENA_ARRAY(f->scratch, f->hints, ops + 1);
  ARENA_ARRAY(f->scratch, f->taken, ops);
  ARENA_ARRAY(f->scratch, f->dead, ops);
  ARENA_ARRAY(f->scratch, f->bound, ops);
  ARENA_ARRAY(f->scratch, regions->list, ops + 1);
  find_bound(f);
  return CALM_OK;
}

static calm_status fold(graph_edit *out, uint32_t *found, folder *f, arena *a) {
  fold_regions regions = {0};
  TRY(start(f, &regions));
  TRY(find_regions(&regions, f));
  if (regions.count) TRY(fold_make(out, f, &regions, a));
  *found = regions.count;
  return CALM_OK;
}

calm_status tile_fold(graph_edit *out, uint32_t *found, const graph *g,
                      const tile_options *options, arena *a) {
  arena scratch;
  folder f = {.g = g, .options = options, .scratch = &scratch};
  arena_init(&scratch, a->context);
  const calm_status status = fold(out, found, &f, a);
  arena_free(&scratch);
  return status;
}
