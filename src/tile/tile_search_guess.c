/*
 * What a region comes to, before anybody is asked.  Of each tensor inside, a
 * tile holds the rows and columns that its part of the output is computed from:
 * so the largest pair of an operator's operands is known, and how many elements
 * are computed more than once.  Beside a tile lie what is left of the region's
 * input and what is there of its output, which together are about the larger of
 * the two.  This only says which questions to ask first.
 */
#include "base/number.h"
#include "tile/tile_search_parts.h"

/* ---- The graph, looked at once ------------------------------------------- */

static const graph_op *op_at(const tile_searcher *s, uint32_t position) {
  return &s->g->ops.data[s->g->order[position]];
}

static bool is_activation(const graph *g, tensor_id t) {
  return t != CALM_NONE && !(g->tensors.data[t].flags & CALM_TENSOR_CONST);
}

static void find_lives(tile_searcher *s) {
  const graph *g = s->g;
  for (uint32_t i = 0; i < s->op_count; i++) {
    const graph_op *op = op_at(s, i);
    for (uint32_t k = 0; k < op->output_count; k++)
      if (op->outputs[k] != CALM_NONE)
        s->born[op->outputs[k]] = s->dies[op->outputs[k]] = i;
    for (uint32_t k = 0; k < op->input_count; k++)
      if (op->inputs[k] != CALM_NONE) s->dies[op->inputs[k]] = i;
  }
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->tensors.data[t].flags & CALM_TENSOR_OUTPUT) s->dies[t] = s->op_count;
}

static void add_working_bytes(tile_searcher *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++) {
    if (!is_activation(s->g, t)) continue;
    for (uint32_t i = s->born[t]; i <= s->dies[t] && i < s->op_count; i++)
      s->working_bytes[i] += s->g->tensors.data[t].bytes;
  }
}

calm_status tile_search_measure(tile_searcher *s) {
  const size_t tensors = s->g->tensors.count, ops = s->op_count;
  ARENA_ARRAY(s->a, s->spans, ops * MOST_SPAN);
  ARENA_ARRAY(s->a, s->born, tensors);
  ARENA_ARRAY(s->a, s->dies, tensors);
  ARENA_ARRAY(s->a, s->rows, tensors);
  ARENA_ARRAY(s->a, s->columns, tensors);
  ARENA_ARRAY(s->a, s->working_bytes, ops);
  ARENA_ARRAY(s->a, s->macs, ops);
  ARENA_ARRAY(s->a, s->windows, ops);
  ARENA_ARRAY(s->a, s->reach, 2 * (ops + 1));
  find_lives(s);
  add_working_bytes(s);
  for (uint32_t i = 0; i < s->op_count; i++) {
    tile_window *w = &s->windows[i];
    w->slides = graph_window_of(&w->window, s->g, s->g->order[i]);
    s->macs[i] = graph_op_macs(s->g, s->g->order[i]);
  }
  return CALM_OK;
}

/* ---- Spans --------------------------------------------------------------- */

static bool comes_from_inside(const tile_searcher *s, tensor_id t,
                              uint32_t first) {
  return s->g->producer[t] != CALM_NONE && s->born[t] >= first;
}

/* Each is counted once: where it is read first, and where it is made. */
static void weigh_span(const tile_searcher *s, tile_span *span, uint32_t first,
                       uint32_t last) {
  const graph *g = s->g;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const uint64_t bytes = g->tensors.data[t].bytes;
    if (!is_activation(g, t) || s->dies[t] < first || s->born[t] > last)
      continue;
    if (comes_from_inside(s, t, first)) {
      if (s->dies[t] > last) span->bytes += bytes;
    } else if (s->dies[t] > last) {
      span->beside_bytes += bytes;
    } else {
      span->from_bytes += bytes;
    }
  }
}

const tile_span *tile_search_span(tile_searcher *s, uint32_t first,
                                  uint32_t last) {
  if (last < first || last - first >= MOST_SPAN || last >= s->op_count)
    return NULL;
  tile_span *span = &s->spans[(size_t)first * MOST_SPAN + last - first];
  if (!span->looked) {
    span->looked = true;
    span->valid = !tile_refuse(s->g, first, last, &span->rows, &span->columns);
    if (span->valid) weigh_span(s, span, first, last);
  }
  return span->valid ? span : NULL;
}

/* ---- One tile of a region ------------------------------------------------ */

typedef struct tile_picture {
  uint64_t rows, columns;
} tile_picture;

static tile_picture picture_of(const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  if (tensor->rank != 4) return (tile_picture){1, 1};
  const int64_t *d = tensor->dimensions + (g->channels_first ? 2 : 1);
  return (tile_picture){(uint64_t)(d[0] > 0 ? d[0] : 1),
                        (uint64_t)(d[1] > 0 ? d[1] : 1)};
}

static uint64_t needed(const window_axis *axis, uint64_t output) {
  const uint64_t all = (uint64_t)axis->input;
  return number_smaller(
      all, (output - 1) * (uint64_t)axis->stride + (uint64_t)window_span(axis));
}

static uint64_t portion(uint64_t bytes, uint64_t part, uint64_t whole) {
  return part < whole ? bytes / whole * part + bytes % whole * part / whole
                      : bytes;
}

/* The bytes of a tensor that are there for one tile. */
static uint64_t tile_bytes(const tile_searcher *s, tensor_id t) {
  const tile_picture all = picture_of(s->g, t);
  return portion(portion(s->g->tensors.data[t].bytes, s->rows[t], all.rows),
                 s->columns[t], all.columns);
}

static void need(tile_searcher *s, tensor_id t, uint64_t rows,
                 uint64_t columns) {
  s->rows[t] = number_larger(s->rows[t], rows);
  s->columns[t] = number_larger(s->columns[t], columns);
}

/* Forget what was noted for another region. */
static void forget(tile_searcher *s, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; i++) {
    const graph_op *op = op_at(s, i);
    for (uint32_t k = 0; k < op->input_count + op->output_count; k++) {
      const tensor_id t = k < op->input_count
                              ? op->inputs[k]
                              : op->outputs[k - op->input_count];
      if (t != CALM_NONE) s->rows[t] = s->columns[t] = 0;
    }
  }
}

/* What the operator at a position needs of its operands for its part. */
static void ask_operands(tile_searcher *s, uint32_t position, tensor_id made) {
  const graph_op *op = op_at(s, position);
  const tile_window *w = &s->windows[position];
  uint64_t rows = s->rows[made], columns = s->columns[made];
  if (w->slides) {
    rows = needed(&w->window.rows, rows);
    columns = needed(&w->window.columns, columns);
  }
  for (uint32_t k = 0; k < op->input_count; k++)
    if (is_activation(s->g, op->inputs[k]))
      need(s, op->inputs[k], rows, columns);
}

/* What lies there of the operator's own operands, but for the region's input
   and output. */
static uint64_t inner_bytes(const tile_searcher *s, uint32_t position,
                            uint32_t first, uint32_t last) {
  const graph_op *op = op_at(s, position);
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < op->input_count; k++)
    if (is_activation(s->g, op->inputs[k]) &&
        comes_from_inside(s, op->inputs[k], first))
      bytes += tile_bytes(s, op->inputs[k]);
  if (op->outputs[0] != CALM_NONE && s->dies[op->outputs[0]] <= last)
    bytes += tile_bytes(s, op->outputs[0]);
  return bytes;
}

/* Multiply-accumulates of all tiles beyond those of the whole. */
static uint64_t repeated(const tile_searcher *s, const tile_region *r,
                         uint32_t position, tensor_id made) {
  const tile_picture all = picture_of(s->g, made);
  const uint64_t tiles =
      r->rows * s->rows[made] * (r->columns * s->columns[made]);
  const uint64_t once = all.rows * all.columns;
  if (r->mode == TILE_CACHE || tiles <= once) return 0;
  return portion(s->macs[position], 1, once) * (tiles - once);
}

static uint32_t operators_per_tile(tile_mode mode) {
  return mode == TILE_SAME ? 1 : mode == TILE_PAD ? 2 : 3;
}

tile_guess tile_search_guess(tile_searcher *s, const tile_region *r) {
  const tile_span *span = tile_search_span(s, r->first, r->last);
  tile_guess out = {0};
  uint64_t inner = 0;
  if (!span) return (tile_guess){UINT64_MAX / 4, 0, 0};
  forget(s, r->first, r->last);
  for (uint32_t i = r->last + 1; i-- > r->first;) {
    const tensor_id made = op_at(s, i)->outputs[0];
    if (made == CALM_NONE) continue;
    if (s->dies[made] > r->last)
      need(s, made, (span->rows + r->rows - 1) / r->rows,
           (span->columns + r->columns - 1) / r->columns);
    if (s->rows[made] == 0) continue;
    ask_operands(s, i, made);
    inner = number_larger(inner, inner_bytes(s, i, r->first, r->last));
    out.extra_macs += repeated(s, r, i, made);
  }
  out.bytes =
      span->beside_bytes + number_larger(span->from_bytes, span->bytes) + inner;
  out.operators = (r->last - r->first + 1) * r->rows * r->columns *
                  operators_per_tile(r->mode);
  return out;
}
