/* Runs of channels, and what each tensor of a graph means. */
#include "rewrite/rewrite_meaning.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* Concats of concats could repeat their operands without end. */
enum { MAX_RUNS = 1 << 22 };

uint32_t meaning_axis(const graph *g, uint32_t rank) {
  if (!g->channels_first) return rank ? rank - 1 : CALM_NONE;
  return rank > 1 ? 1 : CALM_NONE;
}

int64_t meaning_channels(const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  if (tensor->type == ELEMENT_ABSTRACT) return (int64_t)tensor->bytes;
  const uint32_t axis = meaning_axis(g, tensor->rank);
  return axis == CALM_NONE ? 1 : tensor->dimensions[axis];
}

bool meaning_read_axis(uint32_t *out, const graph_op *op, uint32_t rank) {
  const char *value = graph_op_attribute(op, "axis");
  uint64_t axis;
  if (!value) return false;
  const bool negative = *value == '-';
  if (!number_parse(&axis, value + negative, strlen(value + negative)))
    return false;
  if (negative && axis > rank) return false;
  *out = (uint32_t)(negative ? rank - axis : axis);
  return axis < rank || negative;
}

int64_t meaning_width(const meaning *x) {
  int64_t width = 0;
  for (uint32_t i = 0; i < x->run_count; i++)
    width += x->runs[i].end - x->runs[i].begin;
  return width;
}

bool meaning_equal(const meaning *x, const meaning *y) {
  if (x->run_count != y->run_count || !x->run_count) return false;
  for (uint32_t i = 0; i < x->run_count; i++)
    if (x->runs[i].of != y->runs[i].of ||
        x->runs[i].begin != y->runs[i].begin ||
        x->runs[i].end != y->runs[i].end)
      return false;
  return true;
}

/* Runs that continue each other are one. */
static void append_run(channel_run *runs, uint32_t *count, channel_run run) {
  channel_run *last = runs + *count - 1;
  if (*count && last->of == run.of && last->end == run.begin)
    last->end = run.end;
  else
    runs[(*count)++] = run;
}

bool meaning_scale(int64_t *out, int64_t at, int64_t made, int64_t read) {
  if (made == read) {
    *out = at;
    return true;
  }
  if (read <= 0 || (at && made > INT64_MAX / at) || at * made % read)
    return false;
  *out = at * made / read;
  return true;
}

calm_status meaning_join(meaning *out, const meaning *x, const meaning *y,
                         arena *a) {
  channel_run *runs;
  uint32_t count = 0;
  ARENA_ARRAY(a, runs, (size_t)x->run_count + y->run_count);
  for (uint32_t i = 0; i < x->run_count; i++)
    append_run(runs, &count, x->runs[i]);
  for (uint32_t i = 0; i < y->run_count; i++)
    append_run(runs, &count, y->runs[i]);
  *out = (meaning){.runs = runs, .run_count = count, .like = CALM_NONE};
  return CALM_OK;
}

calm_status meaning_cut(meaning *out, const meaning *whole, int64_t begin,
                        int64_t end, arena *a) {
  channel_run *runs;
  uint32_t count = 0;
  int64_t at = 0;
  ARENA_ARRAY(a, runs, whole->run_count);
  for (uint32_t i = 0; i < whole->run_count; i++) {
    channel_run run = whole->runs[i];
    const int64_t next = at + run.end - run.begin;
    const int64_t from = begin > at ? begin : at, to = end < next ? end : next;
    run.end = run.begin + (to - at);
    run.begin += from - at;
    if (from < to) append_run(runs, &count, run);
    at = next;
  }
  *out = (meaning){.runs = runs, .run_count = count, .like = CALM_NONE};
  return CALM_OK;
}

calm_status meaning_find(int64_t *out, const meaning *whole,
                         const meaning *part, int64_t from, arena *a) {
  const int64_t width = meaning_width(part), room = meaning_width(whole);
  int64_t at = 0;
  *out = -1;
  for (uint32_t i = 0; part->run_count && i < whole->run_count; i++) {
    const channel_run *run = &whole->runs[i], *first = &part->runs[0];
    const int64_t begin = at + first->begin - run->begin;
    meaning found;
    at += run->end - run->begin;
    if (run->of != first->of || first->begin < run->begin || begin < from)
      continue;
    if (first->begin >= run->end || begin + width > room) continue;
    TRY(meaning_cut(&found, whole, begin, begin + width, a));
    if (!meaning_equal(&found, part)) continue;
    *out = begin;
    return CALM_OK;
  }
  return CALM_OK;
}

/* ---- What operators do --------------------------------------------------- */

static bool same_shape(const graph_tensor *x, const graph_tensor *y) {
  if (x->type != y->type || x->bytes != y->bytes || x->rank != y->rank)
    return false;
  return !x->rank ||
         !memcmp(x->dimensions, y->dimensions, x->rank * sizeof *x->dimensions);
}

static tensor_id only_output(const graph_op *op) {
  return op->output_count == 1 ? op->outputs[0] : CALM_NONE;
}

/* The data operand of a split is the second one. */
static tensor_id data_operand(const graph_op *op) {
  const uint32_t i = op->kind == OP_split && op->input_count == 2 ? 1 : 0;
  return op->input_count > i ? op->inputs[i] : CALM_NONE;
}

static bool hands_on(const graph_op *op) {
  if (op_kind_flags(op->kind) & OP_VIEW) return true;
  if (op->kind == OP_concat)
    return op->input_count == 1 && !graph_op_attribute(op, "activation");
  return op->kind == OP_split || op->kind == OP_split_v;
}

bool meaning_is_noop(const graph *g, const graph_op *op) {
  const tensor_id x = data_operand(op), y = only_output(op);
  if (x == CALM_NONE || y == CALM_NONE || !hands_on(op)) return false;
  const graph_tensor *from = &g->tensors.data[x], *to = &g->tensors.data[y];
  return same_shape(from, to) && from->quantization == to->quantization;
}

/* A product with one number, say. */
static bool has_scalars(const graph *g, const graph_op *op) {
  for (uint32_t i = 1; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) return false;
    const graph_tensor *c = &g->tensors.data[op->inputs[i]];
    if (!(c->flags & CALM_TENSOR_CONST) || c->type == ELEMENT_ABSTRACT)
      return false;
    if (c->bytes * 8 > element_type_bits(c->type)) return false;
  }
  return op->input_count > 1;
}

bool meaning_is_uniform(const graph *g, const graph_op *op) {
  static const op_kind with_scalars[] = {OP_mul, OP_add, OP_sub, OP_div,
                                         OP_prelu};
  static const op_kind kinds[] = {OP_relu,
                                  OP_relu6,
                                  OP_relu_n1_to_1,
                                  OP_relu_0_to_1,
                                  OP_leaky_relu,
                                  OP_elu,
                                  OP_selu,
                                  OP_celu,
                                  OP_tanh,
                                  OP_logistic,
                                  OP_hard_swish,
                                  OP_hard_sigmoid,
                                  OP_gelu,
                                  OP_softplus,
                                  OP_softsign,
                                  OP_mish,
                                  OP_swish,
                                  OP_thresholded_relu,
                                  OP_erf,
                                  OP_abs,
                                  OP_neg,
                                  OP_exp,
                                  OP_sqrt,
                                  OP_rsqrt,
                                  OP_square,
                                  OP_clip,
                                  OP_average_pool2d,
                                  OP_max_pool2d,
                                  OP_l2_pool2d,
                                  OP_average_pool1d,
                                  OP_max_pool1d,
                                  OP_average_pool3d,
                                  OP_max_pool3d,
                                  OP_lp_pool,
                                  OP_mean,
                                  OP_global_average_pool,
                                  OP_global_max_pool};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (op->kind == kinds[i]) return true;
  for (size_t i = 0; i < sizeof with_scalars / sizeof *with_scalars; i++)
    if (op->kind == with_scalars[i]) return has_scalars(g, op);
  return op->kind == OP_depthwise_conv2d && op->input_count == 1;
}

/* ---- What tensors mean --------------------------------------------------- */

static calm_status mean_itself(meaning *out, const meanings *m, tensor_id t) {
  channel_run *run;
  ARENA_ARRAY(m->a, run, 1);
  *run = (channel_run){t, 0, meaning_channels(m->g, t)};
  *out = (meaning){.runs = run, .run_count = 1, .like = CALM_NONE};
  return CALM_OK;
}

/* A concat over channels whose operands fit, which leaves them as they are. */
static bool joins_channels(const meanings *m, const graph_op *op) {
  const graph_tensor *y = &m->g->tensors.data[op->outputs[0]];
  uint32_t axis;
  int64_t channels = 0;
  if (op->kind != OP_concat || graph_op_attribute(op, "activation"))
    return false;
  if (y->type != ELEMENT_ABSTRACT && (!meaning_read_axis(&axis, op, y->rank) ||
                                      axis != meaning_axis(m->g, y->rank)))
    return false;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) return false;
    const graph_tensor *x = &m->g->tensors.data[op->inputs[i]];
    if (x->type != y->type || x->rank != y->rank ||
        x->quantization != y->quantization)
      return false;
    channels += meaning_channels(m->g, op->inputs[i]);
  }
  return channels == meaning_channels(m->g, op->outputs[0]);
}

static calm_status mean_concat(meaning *out, meanings *m, const graph_op *op) {
  channel_run *runs;
  uint64_t room = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->input_count; i++)
    room += m->of[op->inputs[i]].run_count;
  if (room > m->runs_left) return mean_itself(out, m, op->outputs[0]);
  m->runs_left -= room;
  ARENA_ARRAY(m->a, runs, (size_t)room);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const meaning *x = &m->of[op->inputs[i]];
    for (uint32_t j = 0; j < x->run_count; j++)
      append_run(runs, &count, x->runs[j]);
  }
  *out = (meaning){.runs = runs, .run_count = count, .like = CALM_NONE};
  return CALM_OK;
}

static int compare_runs(const void *left, const void *right) {
  const channel_run *x = left, *y = right;
  if (x->of != y->of) return x->of < y->of ? -1 : 1;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Where a run stands in the operand, and in its result. */
typedef struct placed_run {
  channel_run run;
  uint32_t index;
  int64_t at;
} placed_run;

static int compare_placed(const void *left, const void *right) {
  const placed_run *x = left, *y = right;
  const int order = compare_runs(&x->run, &y->run);
  return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* An operator that treats all channels alike makes the same of an operand that
   its concat has twice: both are the first of them.  A channel of it, or byte,
   makes `made` / `read` of the result. */
static calm_status mean_uniform(meaning *out, meanings *m, const graph_op *op) {
  const meaning *x = &m->of[op->inputs[0]];
  const int64_t read = meaning_channels(m->g, op->inputs[0]),
                made = meaning_channels(m->g, op->outputs[0]);
  placed_run *sorted;
  channel_run *runs;
  uint32_t count = 0;
  int64_t at = 0;
  ARENA_ARRAY(m->a, sorted, x->run_count);
  ARENA_ARRAY(m->a, runs, x->run_count);
  for (uint32_t i = 0; i < x->run_count; i++) {
    sorted[i] = (placed_run){x->runs[i], i, 0};
    if (!meaning_scale(&sorted[i].at, at, made, read)) return CALM_OK;
    at += x->runs[i].end - x->runs[i].begin;
  }
  qsort(sorted, x->run_count, sizeof *sorted, compare_placed);
  for (uint32_t i = 0, first = 0; i < x->run_count; i++) {
    if (compare_runs(&sorted[first].run, &sorted[i].run)) first = i;
    const channel_run *run = &sorted[i].run;
    int64_t width;
    if (!meaning_scale(&width, run->end - run->begin, made, read))
      return CALM_OK;
    runs[sorted[i].index] = (channel_run){op->outputs[0], sorted[first].at,
                                          sorted[first].at + width};
  }
  channel_run *merged;
  ARENA_ARRAY(m->a, merged, x->run_count);
  for (uint32_t i = 0; i < x->run_count; i++)
    append_run(merged, &count, runs[i]);
  *out = (meaning){.runs = merged, .run_count = count, .like = CALM_NONE};
  return CALM_OK;
}

static bool touches_variable(const graph *g, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_VARIABLE)
      return true;
  return false;
}

/* A variable means something else at another time. */
static calm_status mean_output(meanings *m, const graph_op *op) {
  const tensor_id y = only_output(op);
  if (y == CALM_NONE || touches_variable(m->g, op)) return CALM_OK;
  if (m->g->tensors.data[y].flags & CALM_TENSOR_VARIABLE) return CALM_OK;
  if (meaning_is_noop(m->g, op)) {
    m->of[y] = m->of[data_operand(op)];
    return CALM_OK;
  }
  if (joins_channels(m, op)) return mean_concat(&m->of[y], m, op);
  if (!meaning_is_uniform(m->g, op) || op->inputs[0] == CALM_NONE)
    return CALM_OK;
  if (m->of[op->inputs[0]].run_count == 1) return CALM_OK;
  if (m->g->tensors.data[op->inputs[0]].rank != m->g->tensors.data[y].rank)
    return CALM_OK;
  return mean_uniform(&m->of[y], m, op);
}

calm_status meanings_build(meanings *m, const graph *g, const bool *kept,
                           arena *a) {
  *m = (meanings){.g = g, .kept = kept, .a = a, .runs_left = MAX_RUNS};
  ARENA_ARRAY(a, m->of, g->tensors.count);
  ARENA_ARRAY(a, m->seen, g->ops.count);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    TRY(mean_itself(&m->of[t], m, t));
  for (uint32_t i = 0; i < g->ops.count; i++)
    TRY(mean_output(m, &g->ops.data[g->order[i]]));
  return CALM_OK;
}
