/*
 * Where tiles lie.  From a source, slices, pads and concats lead to other parts
 * of the same picture; operators that are alike, but for their padding, make
 * parts of one new picture from parts of others.  Where the first window of any
 * tile begins tells the padding in front of the whole, where the last tile ends
 * its size:
 *
 *     tile          in          first window
 *     0        rows -1 .. 5         -1          1 row of padding in front
 *     1        rows  3 .. 9          3          begins with row 4 of the output
 *
 * All this is a guess, which the judge checks.
 */
#include <string.h>

#include "tile/tile_fold.h"

/* ---- Operators that are alike -------------------------------------------- */

static bool is_said_of_padding(const char *key) {
  return !strcmp(key, "pad") || !strcmp(key, "pads");
}

static uint32_t count_attributes(const graph_op *op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->attribute_count; i++)
    count += !is_said_of_padding(op->attributes[i].key);
  return count;
}

static bool same_attributes(const graph_op *a, const graph_op *b) {
  if (count_attributes(a) != count_attributes(b)) return false;
  for (uint32_t i = 0; i < a->attribute_count; i++) {
    const char *key = a->attributes[i].key;
    const char *other = graph_op_attribute(b, key);
    if (is_said_of_padding(key)) continue;
    if (!other || strcmp(other, a->attributes[i].value)) return false;
  }
  return true;
}

static bool same_constant(const folder *f, tensor_id a, tensor_id b) {
  if (a == b) return true;
  if (a == CALM_NONE || b == CALM_NONE || !f->options->same) return false;
  const graph_tensor *x = &f->g->tensors.data[a], *y = &f->g->tensors.data[b];
  return x->flags & y->flags & CALM_TENSOR_CONST && x->rank == y->rank &&
         fold_same_kind(f->g, a, b) &&
         (x->rank == 0 || !memcmp(x->dimensions, y->dimensions,
                                  x->rank * sizeof *x->dimensions)) &&
         f->options->same(f->options->payload, a, b);
}

static uint32_t picture_of(const folder *f, tensor_id t) {
  return fold_is_picture(f->g, t) ? f->places[t].picture : CALM_NONE;
}

static bool same_operands(const folder *f, const graph_op *a,
                          const graph_op *b) {
  if (a->input_count != b->input_count) return false;
  for (uint32_t i = 0; i < a->input_count; i++) {
    const uint32_t picture = picture_of(f, a->inputs[i]);
    if (picture != picture_of(f, b->inputs[i])) return false;
    if (picture == CALM_NONE && !same_constant(f, a->inputs[i], b->inputs[i]))
      return false;
  }
  return true;
}

static bool are_alike(const folder *f, op_id a, op_id b) {
  const graph_op *x = &f->g->ops.data[a], *y = &f->g->ops.data[b];
  return x->kind == y->kind &&
         fold_same_kind(f->g, x->outputs[0], y->outputs[0]) &&
         same_attributes(x, y) && same_operands(f, x, y);
}

/* ---- Which operators make pictures --------------------------------------- */

/* A constant operand is the same for all rows and columns. */
static bool is_uniform(const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  if (!(tensor->flags & CALM_TENSOR_CONST)) return false;
  for (uint32_t i = 0; i < FOLD_AXES; i++) {
    const uint32_t behind = 4 - fold_dimension(g, i);
    if (tensor->rank >= behind &&
        tensor->dimensions[tensor->rank - behind] != 1)
      return false;
  }
  return true;
}

/* Element by element, from the same place of all pictures. */
static bool is_pointwise(const folder *f, const graph_op *op) {
  const fold_place *first = NULL;
  if (!(op_kind_flags(op->kind) & OP_ELEMENTWISE) || op->kind == OP_softmax)
    return false;
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE) continue;
    if (picture_of(f, t) == CALM_NONE) {
      if (!is_uniform(f->g, t)) return false;
      continue;
    }
    const fold_place *place = &f->places[t];
    if (place->padded || !fold_whole_depth(f->g, t, op->outputs[0]))
      return false;
    for (uint32_t axis = 0; axis < FOLD_AXES; axis++)
      if (fold_size(f->g, t, axis) != fold_size(f->g, op->outputs[0], axis) ||
          (first && first->at[axis] != place->at[axis]))
        return false;
    if (!first) first = place;
  }
  return first != NULL;
}

static bool is_window(const folder *f, op_id u, graph_window *w) {
  const graph_op *op = &f->g->ops.data[u];
  if (!graph_window_of(w, f->g, u) || !fold_is_picture(f->g, op->inputs[0]) ||
      f->places[op->inputs[0]].picture == CALM_NONE)
    return false;
  for (uint32_t i = 1; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        !(f->g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_CONST))
      return false;
  return !fold_is_pooling(op->kind) || !f->places[op->inputs[0]].padded;
}

static bool makes_picture(const folder *f, op_id u, graph_window *w,
                          bool *window) {
  const graph_op *op = &f->g->ops.data[u];
  if (!fold_is_open(f, u) || op->body_count || op->input_count == 0 ||
      graph_op_stateful(op) || !fold_is_picture(f->g, op->outputs[0]))
    return false;
  *window = is_window(f, u, w);
  return *window || is_pointwise(f, op);
}

/* ---- A new picture ------------------------------------------------------- */

static const window_axis *axis_of(const graph_window *w, uint32_t axis) {
  return axis ? &w->columns : &w->rows;
}

/* Where the first window of a tile begins in the picture that it is of. */
static int64_t first_window(const folder *f, op_id u, const graph_window *w,
                            uint32_t axis) {
  return f->places[f->g->ops.data[u].inputs[0]].at[axis] -
         axis_of(w, axis)->before;
}

static tensor_id first_picture(const folder *f, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (picture_of(f, op->inputs[i]) != CALM_NONE) return op->inputs[i];
  return CALM_NONE;
}

static calm_status start_picture(fold_picture *p, const folder *f, op_id u,
                                 const graph_window *w, bool window) {
  const graph_op *op = &f->g->ops.data[u];
  const fold_picture *source =
      &f->pictures[f->places[first_picture(f, op)].picture];
  *p = (fold_picture){.op = u, .window = window};
  ARENA_ARRAY(f->scratch, p->inputs, op->input_count);
  for (uint32_t i = 0; i < op->input_count; i++)
    p->inputs[i] = picture_of(f, op->inputs[i]);
  for (uint32_t axis = 0; axis < FOLD_AXES; axis++) {
    p->sizes[axis] = window ? 0 : source->sizes[axis];
    if (!window) continue;
    p->axes[axis] = *axis_of(w, axis);
    p->axes[axis].input = source->sizes[axis];
    p->axes[axis].before = -first_window(f, u, w, axis);
  }
  return CALM_OK;
}

static int64_t windows_of(const window_axis *axis, int64_t after) {
  const int64_t room = axis->input + axis->before + after - window_span(axis);
  return room < 0 ? 0 : room / axis->stride + 1;
}

static bool fits_same(const window_axis *axis, int64_t tiled) {
  return axis->before == window_same_before(axis->input, axis->taps,
                                            axis->stride, axis->dilation) &&
         tiled <= (axis->input + axis->stride - 1) / axis->stride;
}

/* Rows at the end that nobody reads have no tile.  They are there if nothing
   could leave them away, and under SAME padding, which is likely where there is
   padding in front, of this axis or of the other one. */
static int64_t whole_size(const folder *f, const fold_picture *p, uint32_t axis,
                          bool complete) {
  const window_axis *a = &p->axes[axis], *other = &p->axes[!axis];
  const int64_t hint = f->hints[f->picture_count - 1].sizes[axis];
  const int64_t tiled = p->sizes[axis], least = windows_of(a, 0);
  const bool padded =
      a->before > 0 || (other->before > 0 && fits_same(other, 1));
  if (hint >= tiled) return hint;
  if (!complete && padded && !f->options->pads && fits_same(a, tiled))
    return (a->input + a->stride - 1) / a->stride;
  return tiled < least ? least : tiled;
}

/* The operators of `members` with windows: padding, places, size. */
static void settle_windows(folder *f, fold_picture *p, uint32_t id,
                           const op_id *members, uint32_t count) {
  graph_window w;
  bool complete[FOLD_AXES] = {false, false};
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t axis = 0; axis < FOLD_AXES; axis++) {
      graph_window_of(&w, f->g, members[i]);
      if (axis_of(&w, axis)->input >= p->axes[axis].input)
        complete[axis] = true; /* as a tile of all of it has it */
      const int64_t before = -first_window(f, members[i], &w, axis);
      if (before > p->axes[axis].before) p->axes[axis].before = before;
    }
  for (uint32_t i = 0; i < count; i++) {
    const tensor_id y = f->g->ops.data[members[i]].outputs[0];
    fold_place place = {.picture = id};
    graph_window_of(&w, f->g, members[i]);
    for (uint32_t axis = 0; axis < FOLD_AXES; axis++) {
      const int64_t from =
          first_window(f, members[i], &w, axis) + p->axes[axis].before;
      place.at[axis] = from / p->axes[axis].stride;
      if (from % p->axes[axis].stride) place.picture = CALM_NONE;
      const int64_t end = place.at[axis] + fold_size(f->g, y, axis);
      if (end > p->sizes[axis]) p->sizes[axis] = end;
    }
    if (place.picture == CALM_NONE) f->dead[members[i]] = true;
    f->places[y] = place;
  }
  for (uint32_t axis = 0; axis < FOLD_AXES; axis++)
    p->axes[axis].output = p->sizes[axis] =
        whole_size(f, p, axis, complete[axis]);
}

static void settle_points(folder *f, uint32_t id, const op_id *members,
                          uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const graph_op *op = &f->g->ops.data[members[i]];
    fold_place place = f->places[first_picture(f, op)];
    place.picture = id;
    f->places[op->outputs[0]] = place;
  }
}

static calm_status add_picture(folder *f, op_id u, const graph_window *w,
                               bool window) {
  const uint32_t id = f->picture_count;
  fold_picture *p = &f->pictures[id];
  op_id *members;
  uint32_t count = 0;
  graph_window other;
  bool other_window;
  ARENA_ARRAY(f->scratch, members, f->g->ops.count);
  TRY(start_picture(p, f, u, w, window));
  for (uint32_t i = 0; i < f->g->ops.count; i++) {
    const op_id v = f->g->order[i];
    if (makes_picture(f, v, &other, &other_window) && are_alike(f, u, v))
      members[count++] = v;
  }
  f->picture_count++;
  if (window)
    settle_windows(f, p, id, members, count);
  else
    settle_points(f, id, members, count);
  return CALM_OK;
}

/* ---- Sizes that must agree ----------------------------------------------- */

/* The picture with windows that an element-wise one gets its size from. */
static uint32_t root_of(const folder *f, uint32_t picture) {
  while (picture && !f->pictures[picture].window) {
    const fold_picture *p = &f->pictures[picture];
    picture = f->places[first_picture(f, &f->g->ops.data[p->op])].picture;
  }
  return picture;
}

/* Operands of one operator are pictures of one size: what is known of the
   larger one is true of the other.  The trace then begins again. */
static bool sizes_agree(folder *f, op_id u) {
  const graph_op *op = &f->g->ops.data[u];
  const uint32_t first = f->places[first_picture(f, op)].picture;
  for (uint32_t i = 0; i < op->input_count; i++) {
    const uint32_t other = picture_of(f, op->inputs[i]);
    if (other == CALM_NONE) continue;
    for (uint32_t axis = 0; axis < FOLD_AXES; axis++) {
      const int64_t a = f->pictures[first].sizes[axis];
      const int64_t b = f->pictures[other].sizes[axis];
      if (a == b) continue;
      const uint32_t root = root_of(f, a < b ? first : other);
      const int64_t wanted = a < b ? b : a;
      f->again = root && f->hints[root].sizes[axis] < wanted;
      f->hints[root].sizes[axis] = wanted;
      return false;
    }
  }
  return true;
}

/* The first operator of which all pictures are known makes the next one. */
static calm_status next_picture(bool *out, folder *f) {
  graph_window w;
  bool window;
  *out = false;
  for (uint32_t i = 0; i < f->g->ops.count && !f->again; i++) {
    const op_id u = f->g->order[i];
    if (!makes_picture(f, u, &w, &window)) continue;
    *out = true;
    if (window || sizes_agree(f, u)) return add_picture(f, u, &w, window);
    f->dead[u] = true;
  }
  return CALM_OK;
}

static calm_status trace_once(folder *f, tensor_id source) {
  bool more = true;
  f->again = false;
  for (tensor_id t = 0; t < f->g->tensors.count; t++)
    f->places[t] = (fold_place){.picture = CALM_NONE};
  memset(f->dead, 0, f->g->ops.count * sizeof *f->dead);
  f->source = source;
  f->picture_count = 1;
  f->pictures[0] = (fold_picture){.op = CALM_NONE};
  f->places[source].picture = 0;
  for (uint32_t axis = 0; axis < FOLD_AXES; axis++)
    f->pictures[0].sizes[axis] = fold_size(f->g, source, axis);
  while (more) {
    fold_place_parts(f);
    TRY(next_picture(&more, f));
  }
  return CALM_OK;
}

calm_status fold_trace(folder *f, tensor_id source) {
  enum { MOST_TIMES = 16 };
  memset(f->hints, 0, (f->g->ops.count + 1) * sizeof *f->hints);
  f->again = true;
  for (uint32_t i = 0; i < MOST_TIMES && f->again; i++)
    TRY(trace_once(f, source));
  return CALM_OK;
}

/* ---- Padding of the whole ------------------------------------------------ */

static bool is_same(const window_axis *axis) {
  return axis->before == window_same_before(axis->input, axis->taps,
                                            axis->stride, axis->dilation) &&
         axis->output == (axis->input + axis->stride - 1) / axis->stride;
}

/* SAME and VALID can be the same; it is then what the tiles are. */
bool fold_choose_padding(const folder *f, fold_picture *p) {
  const char *word = graph_op_attribute(&f->g->ops.data[p->op], "pad");
  bool none = true, same = true;
  for (uint32_t i = 0; i < FOLD_AXES; i++) {
    const window_axis *axis = &p->axes[i];
    p->after[i] = window_after(axis);
    if (axis->before < 0 || axis->output < 1 ||
        windows_of(axis, p->after[i]) != axis->output)
      return false;
    none = none && axis->before == 0 && p->after[i] == 0;
    same = same && is_same(axis);
  }
  if (f->options->pads)
    p->padding = FOLD_GIVEN;
  else if (none && !(same && word && !strcmp(word, "same")))
    p->padding = FOLD_VALID;
  else
    p->padding = same ? FOLD_SAME : FOLD_EXPLICIT;
  return p->padding != FOLD_EXPLICIT ||
         !fold_is_pooling(f->g->ops.data[p->op].kind);
}
