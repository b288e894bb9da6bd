/*
 * Runs of channels, and what each tensor of a graph means.
 *
 * A concat of concats could repeat its operands without end: thirty of two
 * equal operands each have 2^30 runs.  So a tensor that everybody goes on to
 * read as a whole means itself to its readers, and the runs are only those that
 * some operator of the rewritten graph has as operands.  What such a tensor is
 * made of is known beside that, for whoever makes it in another way.
 */
#include "rewrite/rewrite_meaning.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* Of a graph; a concat for which no more are left means itself. */
enum { MAX_RUNS = 1 << 20 };

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

/* ---- What tensors mean --------------------------------------------------- */

static tensor_id only_output(const graph_op *op) {
  return op->output_count == 1 ? op->outputs[0] : CALM_NONE;
}

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
  const tensor_id x = meaning_operand(m->g, op);
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
static bool is_constant_in_time(const graph *g, const graph_op *op) {
  const tensor_id y = only_output(op);
  return y != CALM_NONE && !touches_variable(g, op) &&
         !(g->tensors.data[y].flags & CALM_TENSOR_VARIABLE);
}

tensor_id meaning_handed_on(const graph *g, const graph_op *op) {
  return meaning_is_noop(g, op) && is_constant_in_time(g, op)
             ? meaning_operand(g, op)
             : CALM_NONE;
}

static calm_status mean_made(meaning *out, meanings *m, const graph_op *op) {
  if (joins_channels(m, op)) return mean_concat(out, m, op);
  const tensor_id x = meaning_operand(m->g, op);
  if (x == CALM_NONE || m->of[x].run_count == 1 ||
      !meaning_is_uniform(m->g, op))
    return CALM_OK;
  return mean_uniform(out, m, op);
}

static calm_status mean_output(meanings *m, const graph_op *op) {
  const tensor_id y = only_output(op), x = meaning_handed_on(m->g, op);
  if (x != CALM_NONE) {
    m->of[y] = m->of[x];
    m->made[y] = m->made[x];
    return CALM_OK;
  }
  if (!is_constant_in_time(m->g, op)) return CALM_OK;
  TRY(mean_made(&m->made[y], m, op));
  if (!m->whole[y]) m->of[y] = m->made[y];
  return CALM_OK;
}

calm_status meanings_build(meanings *m) {
  const uint32_t count = m->g->tensors.count;
  m->runs_left = MAX_RUNS;
  ARENA_ARRAY(m->a, m->of, count);
  ARENA_ARRAY(m->a, m->made, count);
  ARENA_ARRAY(m->a, m->seen, m->g->ops.count);
  for (tensor_id t = 0; t < count; t++) {
    TRY(mean_itself(&m->of[t], m, t));
    m->made[t] = m->of[t];
  }
  for (uint32_t i = 0; i < m->g->ops.count; i++)
    TRY(mean_output(m, &m->g->ops.data[m->g->order[i]]));
  return CALM_OK;
}
