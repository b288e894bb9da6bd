/*
 * Do tiles compute what the picture as a whole would?  Rows and columns can be
 * looked at one after the other: what a window reads at a row and a column is
 * padding if it is that along either axis.  So each tensor gets, for each of
 * its rows and columns, the row or column of the picture that it is, or that it
 * is padding, or wrong.  Of every row of a tile the windows of tile and whole
 * are compared tap by tap: both read the same row, or both padding.
 */
#include "tile/tile_fold.h"

enum { PADDING = -1, WRONG = -2 };

/* Per tensor, what its rows and columns are. */
typedef struct judge {
  const folder *f;
  int64_t **lines[FOLD_AXES];
} judge;

static calm_status make_lines(int64_t **out, const judge *j, tensor_id t,
                              uint32_t axis) {
  ARENA_ARRAY(j->f->scratch, *out, (size_t)fold_size(j->f->g, t, axis));
  j->lines[axis][t] = *out;
  return CALM_OK;
}

/* ---- Parts --------------------------------------------------------------- */

static calm_status judge_slice(const judge *j, const graph_op *op,
                               uint32_t axis) {
  const graph *g = j->f->g;
  const int64_t *in = j->lines[axis][op->inputs[0]];
  const int64_t input = fold_size(g, op->inputs[0], axis);
  const int64_t size = fold_size(g, op->outputs[0], axis);
  int64_t begin[GRAPH_MAX_RANK], *out;
  TRY(make_lines(&out, j, op->outputs[0], axis));
  const uint32_t count = graph_op_numbers(begin, op, "begin");
  for (int64_t i = 0; i < size; i++) {
    const int64_t at = count == 4 ? begin[fold_dimension(g, axis)] + i : -1;
    out[i] = at >= 0 && at < input ? in[at] : WRONG;
  }
  return CALM_OK;
}

static calm_status judge_pad(const judge *j, const graph_op *op,
                             uint32_t axis) {
  const graph *g = j->f->g;
  const int64_t *in = j->lines[axis][op->inputs[0]];
  const int64_t input = fold_size(g, op->inputs[0], axis);
  const int64_t size = fold_size(g, op->outputs[0], axis);
  int64_t before[GRAPH_MAX_RANK], *out;
  TRY(make_lines(&out, j, op->outputs[0], axis));
  const uint32_t count = graph_op_numbers(before, op, "before");
  for (int64_t i = 0; i < size; i++) {
    const int64_t at = count == 4 ? i - before[fold_dimension(g, axis)] : input;
    out[i] = count != 4 ? WRONG : at >= 0 && at < input ? in[at] : PADDING;
  }
  return CALM_OK;
}

/* Along one axis one operand follows the other, along the other one all are
   alike. */
static calm_status judge_join(const judge *j, const graph_op *op,
                              uint32_t axis) {
  const graph *g = j->f->g;
  const int64_t size = fold_size(g, op->outputs[0], axis);
  int64_t along[GRAPH_MAX_RANK], *out;
  TRY(make_lines(&out, j, op->outputs[0], axis));
  const uint32_t count = graph_op_numbers(along, op, "axis");
  if (count == 1 && along[0] < 0) along[0] += 4;
  const bool joined = count == 1 && along[0] == fold_dimension(g, axis);
  int64_t at = 0;
  for (uint32_t k = 0; k < op->input_count; k++) {
    const int64_t *in = j->lines[axis][op->inputs[k]];
    const int64_t input = fold_size(g, op->inputs[k], axis);
    for (int64_t i = 0; joined && i < input && at < size; i++)
      out[at++] = in[i];
    for (int64_t i = 0; !joined && i < size; i++)
      if (i >= input || (k && out[i] != in[i]))
        out[i] = WRONG;
      else
        out[i] = in[i];
  }
  for (; joined && at < size; at++) out[at] = WRONG;
  return CALM_OK;
}

/* ---- What computes ------------------------------------------------------- */

/* Is what a tile reads at `tile` what the whole reads at `whole`? */
static bool same_tap(const int64_t *lines, int64_t tile, int64_t tile_size,
                     int64_t whole, int64_t whole_size, bool pool) {
  const bool outside = tile < 0 || tile >= tile_size;
  const bool beyond = whole < 0 || whole >= whole_size;
  if (outside) return beyond;
  if (lines[tile] == PADDING) return beyond && !pool;
  return lines[tile] == whole && !beyond;
}

static calm_status judge_window(const judge *j, op_id u, uint32_t axis) {
  const graph_op *op = &j->f->g->ops.data[u];
  const fold_place *place = &j->f->places[op->outputs[0]];
  const window_axis *whole = &j->f->pictures[place->picture].axes[axis];
  graph_window w;
  int64_t *out;
  const bool known = graph_window_of(&w, j->f->g, u);
  const window_axis *tile = axis ? &w.columns : &w.rows;
  TRY(make_lines(&out, j, op->outputs[0], axis));
  for (int64_t i = 0; i < fold_size(j->f->g, op->outputs[0], axis); i++) {
    const int64_t at = place->at[axis] + i;
    bool same = known && at >= 0 && at < whole->output;
    for (int64_t tap = 0; same && tap < tile->taps; tap++) {
      const int64_t far = tap * tile->dilation;
      same = same_tap(j->lines[axis][op->inputs[0]],
                      i * tile->stride - tile->before + far, tile->input,
                      at * whole->stride - whole->before + far, whole->input,
                      fold_is_pooling(op->kind));
    }
    out[i] = same ? at : WRONG;
  }
  return CALM_OK;
}

static calm_status judge_points(const judge *j, const graph_op *op,
                                uint32_t axis) {
  const int64_t size = fold_size(j->f->g, op->outputs[0], axis);
  const int64_t *first = NULL;
  int64_t *out;
  TRY(make_lines(&out, j, op->outputs[0], axis));
  for (uint32_t k = 0; k < op->input_count; k++) {
    if (!fold_is_picture(j->f->g, op->inputs[k])) continue;
    const int64_t *in = j->lines[axis][op->inputs[k]];
    for (int64_t i = 0; i < size; i++)
      if (!first)
        out[i] = in[i] >= 0 ? in[i] : WRONG;
      else if (in[i] != out[i])
        out[i] = WRONG;
    first = in;
  }
  return CALM_OK;
}

static calm_status judge_op(const judge *j, op_id u, uint32_t axis) {
  const graph_op *op = &j->f->g->ops.data[u];
  const fold_place *place = &j->f->places[op->outputs[0]];
  if (fold_is_slice(op)) return judge_slice(j, op, axis);
  if (op->kind == OP_pad) return judge_pad(j, op, axis);
  if (op->kind == OP_concat) return judge_join(j, op, axis);
  return j->f->pictures[place->picture].window ? judge_window(j, u, axis)
                                               : judge_points(j, op, axis);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status judge_axis(bool *out, const judge *j, const bool *marked,
                              tensor_id output, uint32_t axis) {
  const graph *g = j->f->g;
  const int64_t size = fold_size(g, output, axis);
  int64_t *source;
  TRY(make_lines(&source, j, j->f->source, axis));
  for (int64_t i = 0; i < fold_size(g, j->f->source, axis); i++) source[i] = i;
  for (uint32_t i = 0; i < g->ops.count; i++)
    if (marked[g->order[i]]) TRY(judge_op(j, g->order[i], axis));
  *out = size == j->f->pictures[j->f->places[output].picture].sizes[axis];
  for (int64_t i = 0; i < size; i++)
    *out = *out && j->lines[axis][output][i] == i;
  return CALM_OK;
}

calm_status fold_judge(bool *out, const folder *f, const bool *marked,
                       tensor_id output) {
  judge j = {.f = f};
  *out = true;
  for (uint32_t axis = 0; *out && axis < FOLD_AXES; axis++) {
    ARENA_ARRAY(f->scratch, j.lines[axis], f->g->tensors.count);
    TRY(judge_axis(out, &j, marked, output, axis));
  }
  return CALM_OK;
}
