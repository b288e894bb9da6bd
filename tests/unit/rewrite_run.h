/*
 * Running the random networks of rewrite_random.h, and what rewriting makes of
 * them, on numbers that depend only on the original graph.  In double, or with
 * each result rounded to float as a kernel would have it.  A graph whose shapes
 * do not fit cannot be run.
 */
#ifndef CALM_TESTS_REWRITE_RUN_H
#define CALM_TESTS_REWRITE_RUN_H

#include <float.h>

#include "rewrite/rewrite.h"
#include "rewrite_random.h"

typedef struct net_run {
  const graph *g;
  const graph_edit *edit; /* NULL: g is the original */
  const graph *before;
  bool single;    /* round to float */
  double **value; /* per tensor; NULL: not computed */
} net_run;

static inline uint64_t run_count(const graph_tensor *t) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < t->rank; i++) count *= (uint64_t)t->dimensions[i];
  return count;
}

/* Element i of tensor t of the original: a float in [-1, 1); of a variance in
   [0.5, 1.5). */
static inline float run_number(const graph *before, tensor_id t, uint64_t i) {
  random_state r = random_from_seed((uint64_t)t << 32 | i);
  const bool variance = !strncmp(before->tensors.data[t].name, "var", 3);
  const float number = (float)random_below(&r, 1 << 20) / (float)(1 << 19) - 1;
  return variance ? number / 2 + 1 : number;
}

/* A rewrite_reader; the payload is a fixture with the arena, `before` in it. */
typedef struct run_source {
  const graph *before;
  arena *a;
} run_source;

static inline bool run_read(void *payload, tensor_id t, const uint8_t **bytes,
                            uint64_t *length) {
  const run_source *s = payload;
  const uint64_t count = run_count(&s->before->tensors.data[t]);
  float *numbers = arena_calloc(s->a, count, sizeof *numbers);
  if (!numbers) return false;
  for (uint64_t i = 0; i < count; i++) numbers[i] = run_number(s->before, t, i);
  *bytes = (const uint8_t *)numbers;
  *length = count * sizeof *numbers;
  return true;
}

/* ---- Tensors ------------------------------------------------------------- */

typedef struct run_picture {
  int64_t h, w, c;
  bool first;
  double *at;
} run_picture;

static inline bool run_picture_of(run_picture *out, const net_run *n,
                                  tensor_id t) {
  if (t == CALM_NONE) return false;
  const graph_tensor *x = &n->g->tensors.data[t];
  const bool first = n->g->channels_first;
  if (x->rank != 4 || x->dimensions[0] != 1) return false;
  *out =
      (run_picture){x->dimensions[first ? 2 : 1], x->dimensions[first ? 3 : 2],
                    x->dimensions[first ? 1 : 3], first, n->value[t]};
  return n->value[t] != NULL;
}

static inline double *run_at(const run_picture *p, int64_t y, int64_t x,
                             int64_t c) {
  return p->at +
         (p->first ? (c * p->h + y) * p->w + x : (y * p->w + x) * p->c + c);
}

static inline double run_round(const net_run *n, double value) {
  return n->single ? (double)(float)value : value;
}

/* Constants and inputs have their numbers from the start. */
static inline void run_fill(net_run *n, tensor_id t) {
  const graph_tensor *tensor = &n->g->tensors.data[t];
  const edit_tensor *descent = n->edit ? &n->edit->tensors.data[t] : NULL;
  const uint64_t count = run_count(tensor);
  double *value = calloc(count + 1, sizeof *value);
  assert_non_null(value);
  n->value[t] = value;
  for (uint64_t i = 0; i < count; i++) {
    float number = 0;
    if (descent && descent->bytes)
      memcpy(&number, descent->bytes + i * sizeof number, sizeof number);
    else if (!descent || descent->contents == EDIT_SAME)
      number = run_number(n->before, descent ? descent->from : t, i);
    value[i] = (double)number;
  }
}

/* ---- Operators ----------------------------------------------------------- */

static inline int64_t run_setting(const graph_op *op, const char *key,
                                  int64_t absent) {
  const char *value = graph_op_attribute(op, key);
  return value ? strtol(value, NULL, 10) : absent;
}

static inline double run_activate(const graph_op *op, double value) {
  const char *name = graph_op_attribute(op, "activation");
  if (!name) return value;
  value = value > 0 ? value : 0;
  return !strcmp(name, "relu6") && value > 6 ? 6 : value;
}

/* One axis of a window. */
typedef struct run_window {
  int64_t kernel, stride, dilation, pad;
} run_window;

/* What tap `tap` for output `at` reads. */
static inline int64_t run_place(const run_window *w, int64_t at, int64_t tap) {
  return at * w->stride - w->pad + tap * w->dilation;
}

static inline bool run_window_of(run_window *w, const net_run *n,
                                 const graph_op *op, int64_t kernel, int64_t in,
                                 int64_t out) {
  const char *pad = graph_op_attribute(op, "pad");
  w->kernel = kernel;
  w->stride = run_setting(op, "stride", 1);
  w->dilation = run_setting(op, "dilation", 1);
  const int64_t reach = (kernel - 1) * w->dilation + 1;
  if (kernel < 1 || w->stride < 1) return false;
  if (n->g->channels_first) {
    w->pad = run_setting(op, "pads", 0);
    return out == (in + 2 * w->pad - reach) / w->stride + 1;
  }
  const bool same = pad && !strcmp(pad, "same");
  const int64_t total = (out - 1) * w->stride + reach - in;
  w->pad = same && total > 0 ? total / 2 : 0;
  return out == (same ? (in + w->stride - 1) / w->stride
                      : (in - reach) / w->stride + 1);
}

/* The sum over the window of input channels [from, to) at one place. */
typedef struct run_kernel {
  const double *w;
  int64_t outputs, k, inputs; /* of the weights */
  bool depthwise;
} run_kernel;

static inline double run_weight(const run_kernel *k, bool first, int64_t o,
                                int64_t i, int64_t y, int64_t x) {
  if (k->depthwise)
    return first ? k->w[(o * k->k + y) * k->k + x]
                 : k->w[(y * k->k + x) * k->outputs + o];
  return first ? k->w[((o * k->inputs + i) * k->k + y) * k->k + x]
               : k->w[((o * k->k + y) * k->k + x) * k->inputs + i];
}

static inline double run_taps(const net_run *n, const run_picture *in,
                              const run_kernel *k, const run_window w[2],
                              const int64_t at[3], double start) {
  const int64_t o = at[2];
  const int64_t begin = k->depthwise ? o * in->c / k->outputs : 0;
  const int64_t end = k->depthwise ? begin + 1 : in->c;
  double sum = start;
  for (int64_t y = 0; y < k->k; y++)
    for (int64_t x = 0; x < k->k; x++) {
      const int64_t h = run_place(&w[0], at[0], y);
      const int64_t v = run_place(&w[1], at[1], x);
      if (h < 0 || v < 0 || h >= in->h || v >= in->w) continue;
      for (int64_t i = begin; i < end; i++)
        sum = run_round(n, sum + run_round(n, *run_at(in, h, v, i) *
                                                  run_weight(k, in->first, o,
                                                             i - begin, y, x)));
    }
  return sum;
}

static inline bool run_kernel_of(run_kernel *k, const net_run *n,
                                 const graph_op *op, const run_picture *in,
                                 const run_picture *out) {
  if (op->input_count < 2 || op->inputs[1] == CALM_NONE) return false;
  const graph_tensor *w = &n->g->tensors.data[op->inputs[1]];
  const bool first = n->g->channels_first;
  k->depthwise = op->kind == OP_depthwise_conv2d;
  k->w = n->value[op->inputs[1]];
  if (w->rank != 4 || !k->w) return false;
  k->k = w->dimensions[first ? 2 : 1];
  k->outputs = w->dimensions[k->depthwise && !first ? 3 : 0];
  k->inputs = w->dimensions[first ? 1 : 3];
  if (k->outputs != out->c) return false;
  if (!k->depthwise)
    return k->inputs == in->c && !graph_op_attribute(op, "group");
  if (first && run_setting(op, "group", 1) != in->c) return false;
  if (first ? k->inputs != 1 : w->dimensions[0] != 1) return false;
  return out->c % in->c == 0 &&
         (first || run_setting(op, "multiplier", 1) == out->c / in->c);
}

static inline bool run_conv(net_run *n, const graph_op *op,
                            const run_picture *out) {
  run_picture in, sum = {0};
  run_kernel k;
  run_window w[2];
  const double *bias = NULL;
  if (!run_picture_of(&in, n, op->inputs[0]) ||
      !run_kernel_of(&k, n, op, &in, out) ||
      !run_window_of(&w[0], n, op, k.k, in.h, out->h) ||
      !run_window_of(&w[1], n, op, k.k, in.w, out->w))
    return false;
  if (op->input_count > 2 && op->inputs[2] != CALM_NONE) {
    bias = n->value[op->inputs[2]];
    if (!bias ||
        run_count(&n->g->tensors.data[op->inputs[2]]) != (uint64_t)out->c)
      return false;
  }
  if (op->input_count > 3 &&
      (!run_picture_of(&sum, n, op->inputs[3]) || sum.c != out->c ||
       sum.h != out->h || sum.w != out->w))
    return false;
  for (int64_t y = 0; y < out->h; y++)
    for (int64_t x = 0; x < out->w; x++)
      for (int64_t o = 0; o < out->c; o++) {
        const int64_t at[3] = {y, x, o};
        double value = sum.at ? *run_at(&sum, y, x, o) : 0;
        value = run_taps(n, &in, &k, w, at, value);
        if (bias) value = run_round(n, value + bias[o]);
        *run_at(out, y, x, o) = run_activate(op, value);
      }
  return true;
}

static inline bool run_pool(net_run *n, const graph_op *op,
                            const run_picture *out) {
  run_picture in;
  run_window w[2];
  const int64_t kernel = run_setting(op, "filter", 1);
  if (!run_picture_of(&in, n, op->inputs[0]) || in.c != out->c ||
      !run_window_of(&w[0], n, op, kernel, in.h, out->h) ||
      !run_window_of(&w[1], n, op, kernel, in.w, out->w))
    return false;
  for (int64_t i = 0; i < out->h * out->w * out->c; i++) {
    const int64_t y = i / (out->w * out->c), x = i / out->c % out->w,
                  c = i % out->c;
    double sum = 0, most = -DBL_MAX;
    int64_t count = 0;
    for (int64_t k = 0; k < kernel * kernel; k++) {
      const int64_t h = run_place(&w[0], y, k / kernel);
      const int64_t v = run_place(&w[1], x, k % kernel);
      if (h < 0 || v < 0 || h >= in.h || v >= in.w) continue;
      const double value = *run_at(&in, h, v, c);
      sum = run_round(n, sum + value);
      most = value > most ? value : most;
      count++;
    }
    *run_at(out, y, x, c) =
        op->kind == OP_max_pool2d ? most : run_round(n, sum / (double)count);
  }
  return true;
}

static inline bool run_concat(net_run *n, const graph_op *op,
                              const run_picture *out) {
  const int64_t axis = run_setting(op, "axis", 0);
  int64_t begin = 0;
  if ((axis < 0 ? axis + 4 : axis) != (out->first ? 1 : 3)) return false;
  for (uint32_t i = 0; i < op->input_count; i++) {
    run_picture in;
    if (!run_picture_of(&in, n, op->inputs[i]) || in.h != out->h ||
        in.w != out->w || begin + in.c > out->c)
      return false;
    for (int64_t y = 0; y < in.h; y++)
      for (int64_t x = 0; x < in.w; x++)
        for (int64_t c = 0; c < in.c; c++)
          *run_at(out, y, x, begin + c) = *run_at(&in, y, x, c);
    begin += in.c;
  }
  return begin == out->c;
}

/* Operand i at one place: a picture, or a constant per channel. */
static inline bool run_operand(double *value, const net_run *n,
                               const graph_op *op, uint32_t i,
                               const run_picture *out, const int64_t at[3]) {
  run_picture in;
  if (i >= op->input_count || op->inputs[i] == CALM_NONE) return false;
  const graph_tensor *t = &n->g->tensors.data[op->inputs[i]];
  const double *numbers = n->value[op->inputs[i]];
  if (!numbers) return false;
  if (run_picture_of(&in, n, op->inputs[i])) {
    if (in.h != out->h || in.w != out->w || in.c != out->c) return false;
    *value = *run_at(&in, at[0], at[1], at[2]);
    return true;
  }
  const uint64_t count = run_count(t);
  if (t->rank == 4 || (count != 1 && count != (uint64_t)out->c)) return false;
  *value = numbers[count == 1 ? 0 : at[2]];
  return true;
}

static inline double run_epsilon(const graph_op *op) {
  const char *text = graph_op_attribute(op, "epsilon");
  return text ? (double)strtof(text, NULL) : (double)1e-5F;
}

/* Of a number near 1. */
static inline double run_root(double value) {
  double root = value;
  for (int i = 0; i < 64; i++) root = (root + value / root) / 2;
  return root;
}

static inline bool run_element(double *out, const net_run *n,
                               const graph_op *op, const run_picture *y,
                               const int64_t at[3]) {
  double v[5];
  const uint32_t count = op->input_count < 5 ? op->input_count : 5;
  for (uint32_t i = 0; i < count; i++)
    if (!run_operand(&v[i], n, op, i, y, at)) return false;
  switch (op->kind) {
    case OP_relu: *out = v[0] > 0 ? v[0] : 0; return count == 1;
    case OP_relu6: *out = v[0] < 0 ? 0 : v[0] > 6 ? 6 : v[0]; return count == 1;
    case OP_add_into: *out = v[0]; return count == 1;
    case OP_add: *out = v[0] + v[1]; return count == 2;
    case OP_sub: *out = v[0] - v[1]; return count == 2;
    case OP_mul: *out = v[0] * v[1]; return count == 2;
    case OP_batch_normalization:
      *out = (v[0] - v[3]) / run_root(v[4] + run_epsilon(op)) * v[1] + v[2];
      return count == 5;
    default: return false;
  }
}

static inline bool run_elements(net_run *n, const graph_op *op,
                                const run_picture *out) {
  for (int64_t i = 0; i < out->h * out->w * out->c; i++) {
    const int64_t at[3] = {i / (out->w * out->c), i / out->c % out->w,
                           i % out->c};
    double value;
    if (!run_element(&value, n, op, out, at)) return false;
    *run_at(out, at[0], at[1], at[2]) = run_activate(op, run_round(n, value));
  }
  return true;
}

/* The bias and the activation are those of the original. */
static inline bool run_sum(net_run *n, const graph_op *op,
                           const run_picture *out) {
  const edit_op *descent = &n->edit->ops.data[op - n->g->ops.data];
  const graph_op *from = &n->before->ops.data[descent->from];
  const bool biased = from->kind == OP_conv2d && from->input_count > 2;
  for (int64_t i = 0; i < out->h * out->w * out->c; i++) {
    const int64_t at[3] = {i / (out->w * out->c), i / out->c % out->w,
                           i % out->c};
    double sum = 0, value;
    for (uint32_t k = 0; k < op->input_count; k++) {
      if (!run_operand(&value, n, op, k, out, at)) return false;
      sum = run_round(n, sum + value);
    }
    if (biased)
      sum += (double)run_number(n->before, from->inputs[2], (uint64_t)at[2]);
    *run_at(out, at[0], at[1], at[2]) =
        descent->activation ? run_activate(from, sum) : sum;
  }
  return true;
}

static inline bool run_op(net_run *n, const graph_op *op) {
  run_picture out;
  if (op->output_count != 1 || op->input_count == 0) return false;
  n->value[op->outputs[0]] = calloc(
      run_count(&n->g->tensors.data[op->outputs[0]]) + 1, sizeof **n->value);
  if (!run_picture_of(&out, n, op->outputs[0])) return false;
  switch (op->kind) {
    case OP_conv2d:
    case OP_fused_conv:
    case OP_depthwise_conv2d: return run_conv(n, op, &out);
    case OP_average_pool2d:
    case OP_max_pool2d: return run_pool(n, op, &out);
    case OP_concat: return run_concat(n, op, &out);
    case OP_partial_sum: return n->edit && run_sum(n, op, &out);
    default: return run_elements(n, op, &out);
  }
}

/* To be freed with run_free, whatever it returns. */
static inline bool run_net(net_run *n, const graph *g, const graph_edit *edit,
                           bool single) {
  *n = (net_run){g, edit, edit ? edit->before : g, single, NULL};
  n->value = calloc(g->tensors.count + 1, sizeof *n->value);
  assert_non_null(n->value);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->producer[t] == CALM_NONE) run_fill(n, t);
  for (uint32_t i = 0; i < g->ops.count; i++)
    if (!run_op(n, &g->ops.data[g->order[i]])) return false;
  return true;
}

static inline void run_free(net_run *n) {
  for (tensor_id t = 0; t < n->g->tensors.count; t++) free(n->value[t]);
  free(n->value);
}

static inline double run_size(double value) {
  return value < 0 ? -value : value;
}

/* The largest difference between tensors that both have, over the largest
   number in them. */
static inline double run_distance(const net_run *before, const net_run *after) {
  double worst = 0;
  for (tensor_id t = 0; t < after->g->tensors.count; t++) {
    const edit_tensor *descent = &after->edit->tensors.data[t];
    if (descent->contents != EDIT_SAME || after->g->producer[t] == CALM_NONE)
      continue;
    const double *x = before->value[descent->from], *y = after->value[t];
    double most = 1e-30, difference = 0;
    for (uint64_t i = 0; i < run_count(&after->g->tensors.data[t]); i++) {
      most = run_size(x[i]) > most ? run_size(x[i]) : most;
      difference = run_size(x[i] - y[i]) > difference ? run_size(x[i] - y[i])
                                                      : difference;
    }
    worst = difference / most > worst ? difference / most : worst;
  }
  return worst;
}

#endif
