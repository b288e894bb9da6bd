/*
 * Cuts are the ends of all tensors that lie in a base, and of what slices take
 * out of it, sorted:
 *
 *     x  |---------------------|       strips a, b and c with their halos
 *     a  |--------|
 *     b         |--------|
 *     c                |-------|
 *        |  0   |1|  2 |1|  4  |       five segments
 */
#include "memory/memory_segments.h"

#include <stdlib.h>

#include "base/number.h"
#include "memory/memory_relief.h"

typedef struct cutter {
  const graph *g;
  const memory_model *model;
  const uint64_t *workspace;
  memory_storage *storage;
  arena *a;
  arena scratch;
  memory_alias *alias;
  bool *placed; /* base -> somebody needs a place in it */
  struct cut *cuts;
  uint32_t cut_count;
  memory_segments out;
} cutter;

typedef struct cut {
  tensor_id base;
  uint64_t place;
} cut;

static uint64_t bytes_of(const cutter *c, tensor_id t) {
  return c->g->tensors.data[t].bytes;
}

/* ---- Operators that do nothing ------------------------------------------- */

static bool lies_at(const cutter *c, tensor_id t, tensor_id in,
                    uint64_t place) {
  return c->alias[t].base == c->alias[in].base &&
         c->alias[t].place == c->alias[in].place + place;
}

/* A slice whose numbers are constants, and whose part is where it is wanted. */
static bool cuts_nothing(const cutter *c, op_id id) {
  const graph_op *op = &c->g->ops.data[id];
  uint64_t low, high;
  for (uint32_t i = 1; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        !(c->g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_CONST))
      return false;
  memory_read_bytes(&low, &high, c->g, id, 0);
  return lies_at(c, op->outputs[0], op->inputs[0], low);
}

static bool joins_nothing(const cutter *c, const graph_op *op) {
  uint64_t place = 0;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE ||
        !lies_at(c, op->inputs[i], op->outputs[0], place))
      return false;
    place += bytes_of(c, op->inputs[i]);
  }
  return true;
}

static bool is_idle(const cutter *c, op_id id) {
  const graph_op *op = &c->g->ops.data[id];
  if (!bits_has(c->model->views, op->kind) || c->workspace[id] ||
      op->output_count != 1 || op->outputs[0] == CALM_NONE ||
      op->input_count == 0 || op->inputs[0] == CALM_NONE)
    return false;
  return (op->kind == OP_slice && cuts_nothing(c, id)) ||
         (op->kind == OP_concat && joins_nothing(c, op));
}

/* ---- Cutting ------------------------------------------------------------- */

static int compare_cuts(const void *left, const void *right) {
  const cut *a = left, *b = right;
  if (a->base != b->base) return a->base < b->base ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

/* What an operator reads of its first input; false if that has no place. */
static bool find_read(const cutter *c, op_id id, cut *low, cut *high) {
  const graph_op *op = &c->g->ops.data[id];
  uint64_t from, to;
  if (op->input_count == 0 || op->inputs[0] == CALM_NONE) return false;
  const memory_alias at = c->alias[op->inputs[0]];
  if (!c->placed[at.base]) return false;
  memory_read_bytes(&from, &to, c->g, id, 0);
  *low = (cut){at.base, at.place + from};
  *high = (cut){at.base, at.place + to};
  return true;
}

/* Sorted, each once. */
static calm_status list_cuts(cutter *c) {
  const size_t most = (size_t)c->g->tensors.count + c->g->ops.count;
  uint32_t count = 0;
  ARENA_ARRAY(&c->scratch, c->cuts, 2 * most);
  for (tensor_id t = 0; t < c->g->tensors.count; t++) {
    const memory_alias at = c->alias[t];
    if (!c->placed[at.base]) continue;
    c->cuts[count++] = (cut){at.base, at.place};
    c->cuts[count++] = (cut){at.base, at.place + bytes_of(c, t)};
  }
  for (op_id op = 0; op < c->g->ops.count; op++)
    if (find_read(c, op, &c->cuts[count], &c->cuts[count + 1])) count += 2;
  if (count) qsort(c->cuts, count, sizeof *c->cuts, compare_cuts);
  for (uint32_t i = 0; i < count; i++)
    if (c->cut_count == 0 ||
        compare_cuts(&c->cuts[c->cut_count - 1], &c->cuts[i]))
      c->cuts[c->cut_count++] = c->cuts[i];
  return CALM_OK;
}

/* Between each cut and the next of the same base; *number: cut -> the segment
   that begins there. */
static calm_status cut_bases(cutter *c, uint32_t **out_number) {
  uint32_t *number;
  ARENA_ARRAY(&c->scratch, number, (size_t)c->cut_count + 1);
  ARENA_ARRAY(c->a, c->out.list, c->cut_count);
  for (uint32_t i = 0; i < c->cut_count; i++) {
    const cut *low = &c->cuts[i], *high = low + 1;
    number[i] = c->out.count;
    if (i + 1 == c->cut_count || high->base != low->base) continue;
    const uint64_t bytes = high->place - low->place;
    const bool whole = bytes == bytes_of(c, low->base);
    c->out.list[c->out.count++] = (memory_segment){
        low->base, whole ? c->storage->base[low->base].bytes : bytes};
  }
  *out_number = number;
  return CALM_OK;
}

static uint32_t find_cut(const cutter *c, cut wanted) {
  const cut *found =
      bsearch(&wanted, c->cuts, c->cut_count, sizeof wanted, compare_cuts);
  return (uint32_t)(found - c->cuts);
}

static calm_status list_tensors(cutter *c, const uint32_t *number) {
  ARENA_ARRAY(c->a, c->out.first, c->g->tensors.count);
  ARENA_ARRAY(c->a, c->out.end, c->g->tensors.count);
  for (tensor_id t = 0; t < c->g->tensors.count; t++) {
    const memory_alias at = c->alias[t];
    if (!c->placed[at.base]) continue;
    const cut low = {at.base, at.place};
    const cut high = {at.base, at.place + bytes_of(c, t)};
    c->out.first[t] = number[find_cut(c, low)];
    c->out.end[t] = number[find_cut(c, high)];
  }
  return CALM_OK;
}

static calm_status list_reads(cutter *c, const uint32_t *number) {
  ARENA_ARRAY(c->a, c->out.read_first, c->g->ops.count);
  ARENA_ARRAY(c->a, c->out.read_end, c->g->ops.count);
  for (op_id op = 0; op < c->g->ops.count; op++) {
    cut low, high;
    if (!find_read(c, op, &low, &high)) continue;
    c->out.read_first[op] = number[find_cut(c, low)];
    c->out.read_end[op] = number[find_cut(c, high)];
  }
  return CALM_OK;
}

/* ---- What one permission stands for -------------------------------------- */

uint32_t memory_segment_largest(const memory_segments *s, tensor_id t) {
  uint32_t best = CALM_NONE;
  for (uint32_t i = s->first[t]; i < s->end[t]; i++)
    if (best == CALM_NONE || s->list[i].bytes > s->list[best].bytes) best = i;
  return best;
}

/* What `op` can save at most beyond what the permissions of its segments say:
   these count one segment at a time, the layout all that die together.  Of
   those that are no larger than a given one all may die. */
static uint64_t find_lack(const cutter *c, tensor_id in, tensor_id out,
                          int64_t distance) {
  const memory_segment *list = c->out.list;
  const uint64_t target = list[memory_segment_largest(&c->out, out)].bytes;
  uint64_t whole = 0, lack = 0;
  for (uint32_t i = c->out.first[out]; i < c->out.end[out]; i++)
    whole += list[i].bytes;
  for (uint32_t i = c->out.first[in]; i < c->out.end[in]; i++) {
    uint64_t sum = 0;
    for (uint32_t k = c->out.first[in]; k < c->out.end[in]; k++)
      if (list[k].bytes <= list[i].bytes) sum += list[k].bytes;
    const uint64_t said = memory_relief_saving(list[i].bytes, target, distance);
    const uint64_t real = memory_relief_saving(sum, whole, distance);
    if (real > said && real - said > lack) lack = real - said;
  }
  return lack;
}

/* Take `lack` bytes from segments of a tensor other than the largest, where
   what was taken before counts; what is left of the lack. */
static uint64_t shrink_others(const cutter *c, tensor_id t, uint64_t lack,
                              uint64_t *taken) {
  const uint32_t largest = memory_segment_largest(&c->out, t);
  for (uint32_t i = c->out.first[t]; i < c->out.end[t]; i++)
    if (i != largest) lack -= number_smaller(lack, taken[i]);
  for (uint32_t i = c->out.first[t]; i < c->out.end[t]; i++) {
    if (i == largest) continue;
    const uint64_t more = number_smaller(lack, c->out.list[i].bytes - taken[i]);
    taken[i] += more;
    lack -= more;
  }
  return lack;
}

/*
 * Segments of the output are all made at once, so any of them may pay for what
 * permissions do not say.  If that is not enough all of the input but its
 * largest segment counts for nothing, too: what dies with that or without it
 * is then paid for.  What is taken for the sake of another operator from a
 * segment that a permission speaks of takes as much from both sides.
 */
static void pay_lack(const cutter *c, tensor_id in, tensor_id out,
                     int64_t distance, uint64_t *taken) {
  if (c->out.first[in] == c->out.end[in] ||
      c->out.first[out] == c->out.end[out])
    return;
  const uint64_t lack = find_lack(c, in, out, distance);
  if (shrink_others(c, out, lack, taken))
    shrink_others(c, in, UINT64_MAX, taken);
}

static calm_status shrink_segments(cutter *c) {
  memory_relief reliefs[RELIEFS_MOST];
  uint64_t *taken;
  ARENA_ARRAY(&c->scratch, taken, c->out.count);
  for (op_id op = 0; op < c->g->ops.count; op++) {
    const uint32_t count = memory_reliefs_of(reliefs, c->g, c->model, op);
    for (uint32_t i = 0; i < count; i++)
      pay_lack(c, reliefs[i].input, c->g->ops.data[op].outputs[0],
               reliefs[i].distance, taken);
  }
  for (uint32_t i = 0; i < c->out.count; i++) c->out.list[i].bytes -= taken[i];
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

/* Where a class needs a place, the base in which it lies does. */
static calm_status find_placed(cutter *c) {
  ARENA_ARRAY(&c->scratch, c->placed, c->g->tensors.count);
  for (tensor_id t = 0; t < c->g->tensors.count; t++)
    if (c->storage->base[t].placed) c->placed[c->alias[t].base] = true;
  return CALM_OK;
}

static calm_status find(cutter *c) {
  uint32_t *number;
  TRY(memory_alias_find(&c->alias, c->g, c->model, &c->scratch));
  for (op_id op = 0; op < c->g->ops.count; op++)
    if (is_idle(c, op)) c->storage->free_op[op] = true;
  TRY(find_placed(c));
  TRY(list_cuts(c));
  TRY(cut_bases(c, &number));
  TRY(list_tensors(c, number));
  TRY(list_reads(c, number));
  return shrink_segments(c);
}

calm_status memory_segments_find(memory_segments *out, memory_storage *storage,
                                 const graph *g, const memory_model *model,
                                 const uint64_t *workspace, arena *a) {
  cutter c = {.g = g,
              .model = model,
              .workspace = workspace,
              .storage = storage,
              .a = a};
  arena_init(&c.scratch, a->context);
  calm_status status = find(&c);
  arena_free(&c.scratch);
  if (status == CALM_OK) *out = c.out;
  return status;
}
