/*
 * Operators that compute.  A row of a convolution is the row of the old one
 * whose every tap reads the same: the same row of the picture, or nothing but
 * zeros, which padding is as well.  A pooling tells padding from zeros, so for
 * it a tap must lie on the picture in both or in neither.  Tap after tap is
 * looked at; that a row depends on rows alone, and a column on columns, lies in
 * the nature of windows.
 */
#include <string.h>

#include "tile/tile_check.h"

/* One axis of an operator before and after. */
typedef struct axis_pair {
  window_axis old, new;
  const int64_t *rows; /* what stands in the new input */
  int64_t shift, size; /* of the old input: from its rows to those of the
                          picture that was padded, which has `size` */
  bool pool;
} axis_pair;

enum { ZERO = -1 };

/* What the old operator reads: a row of the picture, or ZERO. */
static int64_t old_tap(bool *present, const axis_pair *p, int64_t row,
                       int64_t tap) {
  const int64_t at =
      row * p->old.stride - p->old.before + tap * p->old.dilation;
  const int64_t of = at - p->shift;
  *present = at >= 0 && at < p->old.input;
  return *present && of >= 0 && of < p->size ? of : ZERO;
}

/* What the new one reads; TILE_GARBAGE. */
static int64_t new_tap(bool *present, const axis_pair *p, int64_t row,
                       int64_t tap) {
  const int64_t at =
      row * p->new.stride - p->new.before + tap * p->new.dilation;
  *present = at >= 0 && at < p->new.input;
  if (!*present) return ZERO;
  const int64_t of = p->rows[at];
  if (of == TILE_GARBAGE) return of;
  return of >= 0 && of < p->size ? of : ZERO;
}

static bool is_row(const axis_pair *p, int64_t row, int64_t old_row) {
  if (old_row < 0 || old_row >= p->old.output) return false;
  for (int64_t tap = 0; tap < p->old.taps; tap++) {
    bool before, after;
    if (old_tap(&before, p, old_row, tap) != new_tap(&after, p, row, tap))
      return false;
    if (p->pool && before != after) return false;
  }
  return true;
}

/* The old row whose tap reads row `of` of the picture, if there is one that
   reads the same with all its taps. */
static int64_t row_of_tap(const axis_pair *p, int64_t row, int64_t tap,
                          int64_t of) {
  const int64_t begin = of + p->shift + p->old.before - tap * p->old.dilation;
  if (begin % p->old.stride) return TILE_GARBAGE;
  const int64_t old_row = begin / p->old.stride;
  return is_row(p, row, old_row) ? old_row : TILE_GARBAGE;
}

/* Where a tap stands, counted on from the border of the input beyond it. */
static int64_t place_of(const axis_pair *p, int64_t at) {
  const int64_t last = p->new.input - 1;
  const int64_t inside = at < 0 ? 0 : at > last ? last : at;
  const int64_t of = p->rows[inside];
  return of == TILE_GARBAGE ? of : of + at - inside;
}

/* The first tap on the picture tells which row it must be; where all is zeros,
   the place of one of them beyond the picture. */
static int64_t find_row(const axis_pair *p, int64_t row) {
  int64_t found = TILE_GARBAGE;
  for (int64_t tap = 0; tap < p->new.taps; tap++) {
    const int64_t at =
        row * p->new.stride - p->new.before + tap * p->new.dilation;
    bool present;
    const int64_t of = new_tap(&present, p, row, tap);
    if (of == TILE_GARBAGE) return TILE_GARBAGE;
    if (of != ZERO) return row_of_tap(p, row, tap, of);
    const int64_t place = place_of(p, at);
    if (found == TILE_GARBAGE && place != TILE_GARBAGE)
      found = row_of_tap(p, row, tap, place);
  }
  return found;
}

static bool same_window(const graph_window *x, const graph_window *y) {
  const window_axis *a[2] = {&x->rows, &x->columns};
  const window_axis *b[2] = {&y->rows, &y->columns};
  for (int i = 0; i < 2; i++)
    if (a[i]->taps != b[i]->taps || a[i]->stride != b[i]->stride ||
        (a[i]->taps > 1 && a[i]->dilation != b[i]->dilation))
      return false;
  return x->batches == y->batches && x->in_channels == y->in_channels &&
         x->out_channels == y->out_channels && x->groups == y->groups &&
         x->multiplier == y->multiplier;
}

/* ---- Operands ------------------------------------------------------------ */

static bool is_free(const char *key) {
  return !strcmp(key, "pad") || !strcmp(key, "pads") ||
         !strcmp(key, "dilation");
}

static uint32_t count_bound(const graph_op *op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->attribute_count; i++)
    count += !is_free(op->attributes[i].key);
  return count;
}

static bool same_attributes(const graph_op *x, const graph_op *y) {
  if (count_bound(x) != count_bound(y)) return false;
  for (uint32_t i = 0; i < x->attribute_count; i++) {
    const graph_attribute *said = &x->attributes[i];
    const char *value = graph_op_attribute(y, said->key);
    if (!is_free(said->key) && (!value || strcmp(value, said->value)))
      return false;
  }
  return true;
}

/* Same kind, same activation, same constants; pictures are what the old ones
   are made of. */
static const char *judge_operands(const tile_judgement *j, op_id u) {
  const edit_op *descent = &j->edit->ops.data[u];
  const graph_op *op = &j->after->ops.data[u];
  const graph_op *old = &j->before->ops.data[descent->from];
  if (op->kind != old->kind || !same_attributes(op, old) ||
      !descent->activation || op->input_count != old->input_count)
    return "it is another operator than the one it is made for";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id s = op->inputs[i], t = old->inputs[i];
    if (s == CALM_NONE && t == CALM_NONE) continue;
    if (s == CALM_NONE || t == CALM_NONE) return "an operand is missing";
    const edit_tensor *from = &j->edit->tensors.data[s];
    const bool constant = j->before->tensors.data[t].flags & CALM_TENSOR_CONST;
    if (constant ? from->contents != EDIT_SAME || from->from != t
                 : !j->traces[s].axes[0] || j->traces[s].of != j->origins[t].of)
      return "it reads something else than the one it is made for";
  }
  return NULL;
}

/* ---- Windows ------------------------------------------------------------- */

calm_status tile_check_window(tile_trace *out, const char **fault,
                              tile_judgement *j, op_id u) {
  const op_id from = j->edit->ops.data[u].from;
  const graph_op *op = &j->after->ops.data[u];
  const graph_op *old = &j->before->ops.data[from];
  graph_window x, y;
  *fault = judge_operands(j, u);
  if (*fault) return CALM_OK;
  if (!graph_window_of(&x, j->before, from) ||
      !graph_window_of(&y, j->after, u) || !same_window(&x, &y)) {
    *fault = "its window is another one";
    return CALM_OK;
  }
  const tile_origin *origin = &j->origins[old->inputs[0]];
  out->of = old->outputs[0];
  for (int axis = 0; axis < 2; axis++) {
    const axis_pair p = {
        .old = axis ? x.columns : x.rows,
        .new = axis ? y.columns : y.rows,
        .rows = j->traces[op->inputs[0]].axes[axis],
        .shift = origin->shift[axis],
        .size = tile_check_size(j->before, origin->of, axis),
        .pool = old->kind == OP_average_pool2d || old->kind == OP_max_pool2d};
    ARENA_ARRAY(&j->a, out->axes[axis], (size_t)p.new.output);
    for (int64_t i = 0; i < p.new.output; i++)
      out->axes[axis][i] = find_row(&p, i);
  }
  return CALM_OK;
}

/* ---- Element by element -------------------------------------------------- */

/* Row i of an operand as a row of what the old operator read, which has as many
   as its output. */
static int64_t point_row(const tile_judgement *j, const graph_op *op,
                         const graph_op *old, uint32_t slot, int axis,
                         int64_t i) {
  const int64_t of = j->traces[op->inputs[slot]].axes[axis][i];
  if (of == TILE_GARBAGE) return of;
  const int64_t row = of + j->origins[old->inputs[slot]].shift[axis];
  return row >= 0 && row < tile_check_size(j->before, old->outputs[0], axis)
             ? row
             : TILE_GARBAGE;
}

static bool is_constant(const graph *g, tensor_id t) {
  return g->tensors.data[t].flags & CALM_TENSOR_CONST;
}

/* A constant must not tell one row or column from another. */
static const char *judge_sizes(const tile_judgement *j, const graph_op *op,
                               const graph_op *old) {
  const graph *g = j->after;
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id s = op->inputs[i];
    if (s == CALM_NONE) continue;
    const graph_tensor *x = &g->tensors.data[s];
    for (int axis = 0; axis < 2; axis++) {
      const uint32_t place = tile_check_dimension(g, axis) + x->rank;
      if (is_constant(g, s) ? old->kind != OP_batch_normalization &&
                                  place >= 4 && x->dimensions[place - 4] != 1
                            : tile_check_size(g, s, axis) !=
                                  tile_check_size(g, op->outputs[0], axis))
        return "its operands have other sizes than its output";
    }
  }
  return NULL;
}

calm_status tile_check_point(tile_trace *out, const char **fault,
                             tile_judgement *j, op_id u) {
  const graph_op *op = &j->after->ops.data[u];
  const graph_op *old = &j->before->ops.data[j->edit->ops.data[u].from];
  *fault = judge_operands(j, u);
  if (!*fault) *fault = judge_sizes(j, op, old);
  if (*fault) return CALM_OK;
  out->of = old->outputs[0];
  for (int axis = 0; axis < 2; axis++) {
    const int64_t size = tile_check_size(j->after, op->outputs[0], axis);
    ARENA_ARRAY(&j->a, out->axes[axis], (size_t)size);
    for (int64_t i = 0; i < size; i++) {
      int64_t *row = &out->axes[axis][i];
      bool any = false;
      for (uint32_t slot = 0; slot < op->input_count; slot++) {
        if (op->inputs[slot] == CALM_NONE ||
            is_constant(j->after, op->inputs[slot]))
          continue;
        const int64_t said = point_row(j, op, old, slot, axis, i);
        *row = any && *row != said ? TILE_GARBAGE : said;
        any = true;
      }
    }
  }
  return CALM_OK;
}
