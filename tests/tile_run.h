/*
 * An interpreter for tests of tiles: runs a graph of convolutions, poolings,
 * element-wise operators, pads, slices and concats on whole numbers that wrap,
 * so that the order of sums is no matter and a single wrong element shows.
 * Constants get their values from their names.  Its arithmetic of windows is
 * its own.
 */
#ifndef CALM_TESTS_TILE_RUN_H
#define CALM_TESTS_TILE_RUN_H

#include <stdlib.h>
#include <string.h>

#include "graph/graph_edit.h"

typedef struct tile_run {
  const graph *g;
  int32_t **values; /* per tensor */
  uint64_t macs;
  bool unknown; /* an operator that it does not know */
} tile_run;

typedef struct run_picture {
  int32_t *values;
  int64_t sizes[3];   /* rows, columns, channels */
  int64_t strides[3]; /* likewise */
} run_picture;

static inline int64_t run_count(const graph_tensor *t) {
  int64_t count = 1;
  for (uint32_t i = 0; i < t->rank; i++) count *= t->dimensions[i];
  return count;
}

static inline run_picture run_picture_of(const tile_run *r, tensor_id id) {
  const graph_tensor *t = &r->g->tensors.data[id];
  const bool first = r->g->channels_first;
  const uint32_t at[3] = {first ? 2 : 1, first ? 3 : 2, first ? 1 : 3};
  int64_t strides[4], stride = 1;
  run_picture p = {.values = r->values[id]};
  for (uint32_t i = 4; i-- > 0;) {
    strides[i] = stride;
    stride *= t->dimensions[i];
  }
  for (int i = 0; i < 3; i++) {
    p.sizes[i] = t->dimensions[at[i]];
    p.strides[i] = strides[at[i]];
  }
  return p;
}

static inline int32_t *run_at(const run_picture *p, int64_t row, int64_t column,
                              int64_t channel) {
  return &p->values[row * p->strides[0] + column * p->strides[1] +
                    channel * p->strides[2]];
}

static inline void run_numbers(int64_t *out, const graph_op *op,
                               const char *key, int64_t absent, int count) {
  const char *text = graph_op_attribute(op, key);
  for (int i = 0; i < count; i++) {
    out[i] = text ? strtol(text, NULL, 10) : absent;
    if (text) text = strchr(text, ',');
    if (text) text++;
  }
}

/* What is padded in front of an axis. */
static inline int64_t run_front(const graph_op *op, int axis, int64_t in,
                                int64_t out, int64_t reach, int64_t stride) {
  const char *word = graph_op_attribute(op, "pad");
  int64_t pads[4];
  run_numbers(pads, op, "pads", 0, 4);
  if (!word || strcmp(word, "same")) return pads[axis];
  const int64_t all = (out - 1) * stride + reach - in;
  return all > 0 ? all / 2 : 0;
}

typedef struct run_window {
  int64_t taps[2], stride[2], dilation[2], front[2];
} run_window;

static inline run_window run_window_of(const tile_run *r, const graph_op *op,
                                       const run_picture *x,
                                       const run_picture *y, bool pool) {
  run_window w;
  run_numbers(w.stride, op, "stride", 1, 2);
  run_numbers(w.dilation, op, "dilation", 1, 2);
  if (pool) {
    run_numbers(w.taps, op, "filter", 1, 2);
  } else {
    const graph_tensor *filter = &r->g->tensors.data[op->inputs[1]];
    const uint32_t first = r->g->channels_first ? 2 : 1;
    for (int i = 0; i < 2; i++)
      w.taps[i] = filter->dimensions[first + (uint32_t)i];
  }
  for (int i = 0; i < 2; i++)
    w.front[i] = run_front(op, i, x->sizes[i], y->sizes[i],
                           (w.taps[i] - 1) * w.dilation[i] + 1, w.stride[i]);
  return w;
}

typedef struct run_spot {
  int64_t row, column, channel;
} run_spot;

static inline uint32_t run_conv(tile_run *r, const graph_op *op,
                                const run_picture *x, const run_window *w,
                                run_spot o, int64_t outputs) {
  const bool depthwise = op->kind == OP_depthwise_conv2d;
  const int32_t *filter = r->values[op->inputs[1]];
  const int64_t depth = depthwise ? 1 : x->sizes[2];
  uint32_t sum = (uint32_t)r->values[op->inputs[2]][o.channel];
  for (int64_t i = 0; i < w->taps[0]; i++)
    for (int64_t j = 0; j < w->taps[1]; j++)
      for (int64_t c = 0; c < depth; c++) {
        const int64_t row =
            o.row * w->stride[0] - w->front[0] + i * w->dilation[0];
        const int64_t column =
            o.column * w->stride[1] - w->front[1] + j * w->dilation[1];
        const int64_t from =
            depthwise ? o.channel / (outputs / x->sizes[2]) : c;
        const int64_t weight =
            ((o.channel * w->taps[0] + i) * w->taps[1] + j) * depth + c;
        r->macs++;
        if (row < 0 || row >= x->sizes[0] || column < 0 ||
            column >= x->sizes[1])
          continue;
        sum +=
            (uint32_t)*run_at(x, row, column, from) * (uint32_t)filter[weight];
      }
  return sum;
}

static inline int32_t run_pool(const graph_op *op, const run_picture *x,
                               const run_window *w, run_spot o) {
  int64_t most = INT64_MIN, sum = 0, count = 0;
  for (int64_t i = 0; i < w->taps[0]; i++)
    for (int64_t j = 0; j < w->taps[1]; j++) {
      const int64_t row = o.row * w->stride[0] - w->front[0] + i;
      const int64_t column = o.column * w->stride[1] - w->front[1] + j;
      if (row < 0 || row >= x->sizes[0] || column < 0 || column >= x->sizes[1])
        continue;
      const int64_t value = *run_at(x, row, column, o.channel);
      if (value > most) most = value;
      sum += value;
      count++;
    }
  if (count == 0) return 0;
  return (int32_t)(op->kind == OP_max_pool2d ? most : sum / count);
}

static inline void run_windows(tile_run *r, const graph_op *op) {
  const bool pool = op->kind == OP_max_pool2d || op->kind == OP_average_pool2d;
  const run_picture x = run_picture_of(r, op->inputs[0]);
  const run_picture y = run_picture_of(r, op->outputs[0]);
  const run_window w = run_window_of(r, op, &x, &y, pool);
  for (run_spot o = {0}; o.row < y.sizes[0]; o.row++)
    for (o.column = 0; o.column < y.sizes[1]; o.column++)
      for (o.channel = 0; o.channel < y.sizes[2]; o.channel++)
        *run_at(&y, o.row, o.column, o.channel) =
            pool ? run_pool(op, &x, &w, o)
                 : (int32_t)run_conv(r, op, &x, &w, o, y.sizes[2]);
}

static inline int32_t run_operand(const tile_run *r, const graph_op *op,
                                  uint32_t i, run_spot o) {
  const graph_tensor *t = &r->g->tensors.data[op->inputs[i]];
  if (t->flags & CALM_TENSOR_CONST)
    return r->values[op->inputs[i]][run_count(t) == 1 ? 0 : o.channel];
  const run_picture x = run_picture_of(r, op->inputs[i]);
  return *run_at(&x, o.row, o.column, o.channel);
}

static inline int32_t run_value(const tile_run *r, const graph_op *op,
                                run_spot o) {
  const uint32_t a = (uint32_t)run_operand(r, op, 0, o);
  const uint32_t b =
      op->input_count > 1 ? (uint32_t)run_operand(r, op, 1, o) : 0;
  switch (op->kind) {
    case OP_add: return (int32_t)(a + b);
    case OP_sub: return (int32_t)(a - b);
    case OP_mul: return (int32_t)(a * b);
    default: return (int32_t)(a * 7 + 3); /* any function that moves zero */
  }
}

static inline void run_points(tile_run *r, const graph_op *op) {
  const run_picture y = run_picture_of(r, op->outputs[0]);
  for (run_spot o = {0}; o.row < y.sizes[0]; o.row++)
    for (o.column = 0; o.column < y.sizes[1]; o.column++)
      for (o.channel = 0; o.channel < y.sizes[2]; o.channel++)
        *run_at(&y, o.row, o.column, o.channel) = run_value(r, op, o);
}

/* Output element (row, column) is input element (row + offset[0], ...). */
static inline void run_copy(const run_picture *y, const run_picture *x,
                            const int64_t *offset) {
  for (int64_t i = 0; i < y->sizes[0]; i++)
    for (int64_t j = 0; j < y->sizes[1]; j++)
      for (int64_t c = 0; c < y->sizes[2]; c++) {
        const int64_t row = i + offset[0], column = j + offset[1];
        if (row >= 0 && row < x->sizes[0] && column >= 0 &&
            column < x->sizes[1])
          *run_at(y, i, j, c) = *run_at(x, row, column, c);
      }
}

static inline void run_moves(tile_run *r, const graph_op *op) {
  const uint32_t rows = r->g->channels_first ? 2 : 1;
  const run_picture y = run_picture_of(r, op->outputs[0]);
  int64_t numbers[4], offset[2] = {0, 0};
  run_numbers(numbers, op, op->kind == OP_slice ? "begin" : "before", 0, 4);
  if (op->kind == OP_concat) run_numbers(numbers, op, "axis", 0, 1);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const run_picture x = run_picture_of(r, op->inputs[i]);
    if (op->kind == OP_concat) {
      run_copy(&y, &x, offset);
      offset[numbers[0] - rows] -= x.sizes[numbers[0] - rows];
      continue;
    }
    offset[0] = op->kind == OP_slice ? numbers[rows] : -numbers[rows];
    offset[1] = op->kind == OP_slice ? numbers[rows + 1] : -numbers[rows + 1];
    run_copy(&y, &x, offset);
    return;
  }
}

static inline void run_op(tile_run *r, const graph_op *op) {
  switch (op->kind) {
    case OP_conv2d:
    case OP_depthwise_conv2d:
    case OP_max_pool2d:
    case OP_average_pool2d: run_windows(r, op); break;
    case OP_slice:
    case OP_pad:
    case OP_concat: run_moves(r, op); break;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_relu:
    case OP_logistic: run_points(r, op); break;
    default: r->unknown = true;
  }
}

/* Values from names, so that two graphs have the same. */
static inline void run_fill(int32_t *values, int64_t count, const char *name) {
  uint64_t state = 1469598103934665603u;
  for (; *name; name++) state = (state ^ (uint8_t)*name) * 1099511628211u;
  for (int64_t i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values[i] = (int32_t)(state >> 33) % 1000 - 500;
  }
}

/* Run all of it; to be freed with tile_run_free. */
static inline void tile_run_graph(tile_run *r, const graph *g) {
  *r = (tile_run){.g = g};
  r->values = calloc(g->tensors.count + 1, sizeof *r->values);
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    r->values[t] = calloc((size_t)run_count(tensor) + 1, sizeof **r->values);
    if (tensor->flags & (CALM_TENSOR_CONST | CALM_TENSOR_INPUT))
      run_fill(r->values[t], run_count(tensor), tensor->name);
  }
  for (uint32_t i = 0; i < g->ops.count; i++)
    run_op(r, &g->ops.data[g->order[i]]);
}

static inline void tile_run_free(tile_run *r) {
  for (tensor_id t = 0; t < r->g->tensors.count; t++) free(r->values[t]);
  free(r->values);
}

/* The output of `after` that differs from the one of the same name; NULL. */
static inline const char *tile_run_compare(const tile_run *before,
                                           const tile_run *after) {
  const graph *g = before->g, *h = after->g;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *x = &g->tensors.data[t];
    tensor_id s = 0;
    if (!(x->flags & CALM_TENSOR_OUTPUT)) continue;
    while (s < h->tensors.count && strcmp(h->tensors.data[s].name, x->name))
      s++;
    if (s == h->tensors.count || run_count(&h->tensors.data[s]) != run_count(x))
      return x->name;
    if (memcmp(before->values[t], after->values[s],
               (size_t)run_count(x) * sizeof **before->values))
      return x->name;
  }
  return NULL;
}

#endif
