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

calm_status meaning_join(meaning *out, const meaning *of, const tensor_id *list,
                         uint32_t count, arena *a) {
  channel_run *runs;
  uint64_t room = 0;
  uint32_t made = 0;
  for (uint32_t i = 0; i < count; i++) room += of[list[i]].run_count;
  ARENA_ARRAY(a, runs, (size_t)room);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < of[list[i]].run_count; k++)
      append_run(runs, &made, of[list[i]].runs[k]);
  *out = (meaning){.runs = runs, .run_count = made, .like = CALM_NONE};
  return CALM_OK;
}

calm_status meaning_cut(meaning *out, const meaning *whole, int64_t begin,
                        int64_t end, arena *a) {
  channel_run *runs = NULL;
  uint32_t room = 0, count = 0;
  for (int pass = 0; pass < 2; pass++) {
    int64_t at = 0;
    if (pass) ARENA_ARRAY(a, runs, room);
    for (uint32_t i = 0; i < whole->run_count && at < end; i++) {
      channel_run run = whole->runs[i];
      const int64_t next = at + run.end - run.begin;
      const int64_t from = begin > at ? begin : at,
                    to = end < next ? end : next;
      run.end = run.begin + (to - at);
      run.begin += from - at;
      at = next;
      if (from >= to) continue;
      if (pass)
        append_run(runs, &count, run);
      else
        room++;
    }
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

/* The operand that is worked on: the first that is no constant. */
static tensor_id data_operand(const graph *g, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        !(g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_CONST))
      return op->inputs[i];
  return op->input_count ? op->inputs[0] : CALM_NONE;
}

/* May it, if its output is like its input? */
static bool hands_on(const graph_op *op) {
  if (op_kind_flags(op->kind) & OP_VIEW || op->kind == OP_cast) return true;
  if (op->kind == OP_concat)
    return op->input_count == 1 && !graph_op_attribute(op, "activation");
  return op->kind == OP_split || op->kind == OP_split_v;
}

bool meaning_is_noop(const graph *g, const graph_op *op) {
  const tensor_id x = data_operand(g, op), y = only_output(op);
  if (x == CALM_NONE || y == CALM_NONE || !hands_on(op)) return false;
  const graph_tensor *from = &g->tensors.data[x], *to = &g->tensors.data[y];
  if (to->type == ELEMENT_ABSTRACT &&
      (op->kind == OP_cast || op->kind == OP_bitcast))
    return false;
  return same_shape(from, to) && from->quantization == to->quantization;
}

channel_habit meaning_habit(op_kind kind) {
  static const struct {
    channel_habit habit;
    op_kind kinds[48];
    uint32_t count;
  } rows[] = {
#define HABIT(habit, ...) \
  {HABIT_##habit,         \
   {__VA_ARGS__},         \
   sizeof((op_kind[]){__VA_ARGS__}) / sizeof(op_kind)}
      HABIT(ELEMENT, OP_relu, OP_relu6, OP_relu_n1_to_1, OP_relu_0_to_1,
            OP_leaky_relu, OP_thresholded_relu, OP_elu, OP_celu, OP_selu,
            OP_gelu, OP_mish, OP_swish, OP_hard_swish, OP_hard_sigmoid,
            OP_logistic, OP_softplus, OP_softsign, OP_shrink, OP_tanh, OP_exp,
            OP_log, OP_sqrt, OP_rsqrt, OP_square, OP_reciprocal, OP_abs, OP_neg,
            OP_sign, OP_floor, OP_ceil, OP_round, OP_erf, OP_sin, OP_cos,
            OP_tan, OP_asin, OP_acos, OP_atan, OP_sinh, OP_cosh, OP_asinh,
            OP_acosh, OP_atanh, OP_logical_not, OP_cast, OP_identity,
            OP_dropout, OP_clip),
      HABIT(ELEMENT, OP_quantize, OP_dequantize),
      HABIT(PICTURE, OP_average_pool1d, OP_average_pool2d, OP_average_pool3d,
            OP_max_pool1d, OP_max_pool2d, OP_max_pool3d, OP_l2_pool2d,
            OP_lp_pool, OP_global_average_pool, OP_global_max_pool,
            OP_global_lp_pool),
      HABIT(REDUCTION, OP_mean, OP_sum, OP_reduce_max, OP_reduce_min,
            OP_reduce_prod),
      HABIT(BROADCAST, OP_add, OP_sub, OP_mul, OP_div, OP_maximum, OP_minimum,
            OP_pow, OP_prelu),
      HABIT(VECTORS, OP_batch_normalization, OP_instance_normalization),
      HABIT(DEPTHWISE, OP_depthwise_conv2d),
#undef HABIT
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (uint32_t k = 0; k < rows[i].count; k++)
      if (rows[i].kinds[k] == kind) return rows[i].habit;
  return HABIT_MIXING;
}

/* Could a reduction along the axes in `set` make y of x? */
static bool could_reduce(uint32_t set, const graph_tensor *x,
                         const graph_tensor *y) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    const bool gone = set >> i & 1;
    if (gone && x->rank != y->rank) continue;
    if (k == y->rank || y->dimensions[k++] != (gone ? 1 : x->dimensions[i]))
      return false;
  }
  return k == y->rank;
}

/* The axes of a reduction are not at hand: the shapes must leave no doubt that
   the channels are not among them, and are where channels are. */
bool meaning_leaves_channels(const graph *g, const graph_op *op) {
  const graph_tensor *x = &g->tensors.data[op->inputs[0]];
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  const uint32_t axis = meaning_axis(g, x->rank);
  if (meaning_habit(op->kind) != HABIT_REDUCTION) return true;
  if (x->type == ELEMENT_ABSTRACT || axis == CALM_NONE || x->rank > 8)
    return false;
  for (uint32_t set = 0; set < UINT32_C(1) << x->rank; set++) {
    const bool moved = x->rank != y->rank && g->channels_first && set & 1;
    if ((moved || set >> axis & 1) && could_reduce(set, x, y)) return false;
  }
  return true;
}

/* A constant that has the same for all channels of y. */
static bool is_same_for_all(const graph *g, const graph_tensor *c,
                            const graph_tensor *y) {
  const uint32_t axis = meaning_axis(g, y->rank);
  if (!(c->flags & CALM_TENSOR_CONST)) return false;
  if (c->type == ELEMENT_ABSTRACT || c->rank == 0) return true;
  if (axis == CALM_NONE || c->rank > y->rank) return false;
  return axis + c->rank < y->rank ||
         c->dimensions[axis + c->rank - y->rank] == 1;
}

/* A product with one number, say, or with a picture of one channel; of abstract
   ones nobody knows. */
static bool has_channels_alike(const graph *g, const graph_op *op) {
  const tensor_id x = data_operand(g, op), y = only_output(op);
  if (x == CALM_NONE || y == CALM_NONE ||
      g->tensors.data[x].rank != g->tensors.data[y].rank)
    return false;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) return false;
    if (op->inputs[i] == x) continue;
    if (!is_same_for_all(g, &g->tensors.data[op->inputs[i]],
                         &g->tensors.data[y]))
      return false;
  }
  return op->input_count > 1;
}

bool meaning_is_uniform(const graph *g, const graph_op *op) {
  switch (meaning_habit(op->kind)) {
    case HABIT_ELEMENT:
    case HABIT_PICTURE: return true;
    case HABIT_REDUCTION: return meaning_leaves_channels(g, op);
    case HABIT_BROADCAST: return has_channels_alike(g, op);
    case HABIT_DEPTHWISE: return op->input_count == 1;
    default: return false;
  }
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
  uint64_t room = 0;
  for (uint32_t i = 0; i < op->input_count; i++)
    room += m->of[op->inputs[i]].run_count;
  if (room > m->runs_left) return mean_itself(out, m, op->outputs[0]);
  m->runs_left -= room;
  return meaning_join(out, m->of, op->inputs, op->input_count, m->a);
}

/* Where a run of an operand stands in it. */
typedef struct placed_run {
  channel_run run;
  uint32_t index;
  int64_t at;
} placed_run;

static int compare_placed(const void *left, const void *right) {
  const placed_run *x = left, *y = right;
  if (x->run.of != y->run.of) return x->run.of < y->run.of ? -1 : 1;
  if (x->run.begin != y->run.begin) return x->run.begin < y->run.begin ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* An end of a run: one that overlaps it is cut here. */
typedef struct run_end {
  tensor_id of;
  int64_t at;
} run_end;

static int compare_ends(const void *left, const void *right) {
  const run_end *x = left, *y = right;
  if (x->of != y->of) return x->of < y->of ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

static uint32_t list_ends(run_end *ends, const meaning *x) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < x->run_count; i++) {
    ends[2 * i] = (run_end){x->runs[i].of, x->runs[i].begin};
    ends[2 * i + 1] = (run_end){x->runs[i].of, x->runs[i].end};
  }
  qsort(ends, 2 * (size_t)x->run_count, sizeof *ends, compare_ends);
  for (uint32_t i = 0; i < 2 * x->run_count; i++)
    if (!count || compare_ends(&ends[count - 1], &ends[i]))
      ends[count++] = ends[i];
  return count;
}

/* The first end that is not before `wanted`. */
static uint32_t find_end(const run_end *ends, uint32_t count, run_end wanted) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (compare_ends(&ends[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The runs of x in pieces that are the same or do not overlap; none if they are
   too many. */
static calm_status cut_apart(placed_run **out, uint32_t *count, meanings *m,
                             const meaning *x) {
  run_end *ends;
  uint64_t pieces = 0;
  int64_t at = 0;
  *count = 0;
  ARENA_ARRAY(m->a, ends, 2 * (size_t)x->run_count);
  const uint32_t end_count = list_ends(ends, x);
  for (uint32_t i = 0; i < x->run_count; i++) {
    const channel_run *run = &x->runs[i];
    pieces += find_end(ends, end_count, (run_end){run->of, run->end}) -
              find_end(ends, end_count, (run_end){run->of, run->begin});
  }
  if (pieces > m->runs_left) return CALM_OK;
  m->runs_left -= pieces;
  ARENA_ARRAY(m->a, *out, (size_t)pieces);
  for (uint32_t i = 0; i < x->run_count; i++) {
    const channel_run *run = &x->runs[i];
    uint32_t e = find_end(ends, end_count, (run_end){run->of, run->begin});
    for (int64_t begin = run->begin; begin < run->end; begin = ends[e].at) {
      e++;
      (*out)[*count] = (placed_run){{run->of, begin, ends[e].at}, *count, at};
      at += ends[e].at - begin;
      ++*count;
    }
  }
  return CALM_OK;
}

/* An operator that treats all channels alike makes the same of an operand that
   its concat has twice: both are the first of them.  A channel of it, or byte,
   makes `made` / `read` of the result. */
static calm_status mean_uniform(meaning *out, meanings *m, const graph_op *op) {
  const tensor_id x = data_operand(m->g, op);
  const int64_t read = meaning_channels(m->g, x),
                made = meaning_channels(m->g, op->outputs[0]);
  placed_run *pieces;
  channel_run *runs, *merged;
  uint32_t count, merged_count = 0;
  TRY(cut_apart(&pieces, &count, m, &m->of[x]));
  if (count == 0) return CALM_OK;
  ARENA_ARRAY(m->a, runs, count);
  ARENA_ARRAY(m->a, merged, count);
  qsort(pieces, count, sizeof *pieces, compare_placed);
  for (uint32_t i = 0, first = 0; i < count; i++) {
    const channel_run *run = &pieces[i].run;
    if (pieces[first].run.of != run->of ||
        pieces[first].run.begin != run->begin)
      first = i;
    channel_run *result = &runs[pieces[i].index];
    result->of = op->outputs[0];
    if (!meaning_scale(&result->begin, pieces[first].at, made, read) ||
        !meaning_scale(&result->end, pieces[first].at + run->end - run->begin,
                       made, read))
      return CALM_OK;
  }
  for (uint32_t i = 0; i < count; i++)
    append_run(merged, &merged_count, runs[i]);
  *out =
      (meaning){.runs = merged, .run_count = merged_count, .like = CALM_NONE};
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
    m->of[y] = m->of[data_operand(m->g, op)];
    return CALM_OK;
  }
  if (joins_channels(m, op)) return mean_concat(&m->of[y], m, op);
  const tensor_id x = data_operand(m->g, op);
  if (x == CALM_NONE || m->of[x].run_count == 1 ||
      !meaning_is_uniform(m->g, op))
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
