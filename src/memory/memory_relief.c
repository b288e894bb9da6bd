/*
 * An input that begins at least e bytes above an output of s bytes shares at
 * most s - e with it.  Inputs do not share bytes with each other, so several
 * together share at most what lies above the least distance:
 *
 *     output  |##################|
 *     input a        |======|          e = 7
 *     input b               |======|
 *
 * An order problem counts one of them only.  That is right where the largest
 * fills all there is, as with operands of equal size that are added.
 */
#include "memory/memory_relief.h"

#include "base/number.h"

uint64_t memory_relief_saving(uint64_t input, uint64_t output,
                              int64_t distance) {
  const uint64_t below = distance < 0 ? 0 : (uint64_t)distance;
  return below >= output ? 0 : number_smaller(input, output - below);
}

static bool can_die(const graph_tensor *t) {
  return t->bytes > 0 &&
         !(t->flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE));
}

/* The largest distance of the slots that hold a tensor, from `slot` on, the
   first of them; false if one is not safe. */
static bool find_distance(int64_t *out, const graph *g,
                          const memory_model *model, op_id id, uint32_t slot) {
  const graph_op *op = &g->ops.data[id];
  *out = INT64_MIN;
  for (uint32_t i = slot; i < op->input_count; i++) {
    if (op->inputs[i] != op->inputs[slot]) continue;
    const kernel_distance d = kernel_overlap(model->kernels, g, id, i);
    if (!d.safe) return false;
    if (d.bytes > *out) *out = d.bytes;
  }
  return true;
}

static bool repeats(const graph_op *op, uint32_t slot) {
  for (uint32_t i = 0; i < slot; i++)
    if (op->inputs[i] == op->inputs[slot]) return true;
  return false;
}

/* Leave those that together save no more than one: the best, and others only if
   it takes all above the least distance. */
static uint32_t keep_countable(memory_relief *list, uint32_t count,
                               uint64_t output) {
  uint32_t best = 0;
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].saved > list[best].saved) best = i;
    if (list[i].distance < least) least = list[i].distance;
  }
  if (count < 2 ||
      list[best].saved == memory_relief_saving(output, output, least))
    return count;
  list[0] = list[best];
  return 1;
}

uint32_t memory_reliefs_of(memory_relief *out, const graph *g,
                           const memory_model *model, op_id id) {
  const graph_op *op = &g->ops.data[id];
  uint32_t count = 0;
  if (!model->overlap || op->output_count == 0 || op->outputs[0] == CALM_NONE ||
      op->body_count)
    return 0;
  const graph_tensor *target = &g->tensors.data[op->outputs[0]];
  if (!can_die(target)) return 0;
  for (uint32_t i = 0; i < op->input_count && count < RELIEFS_MOST; i++) {
    const tensor_id t = op->inputs[i];
    int64_t distance;
    if (t == CALM_NONE || !can_die(&g->tensors.data[t]) || repeats(op, i) ||
        !find_distance(&distance, g, model, id, i))
      continue;
    const uint64_t saved =
        memory_relief_saving(g->tensors.data[t].bytes, target->bytes, distance);
    if (saved) out[count++] = (memory_relief){t, distance, saved};
  }
  return keep_countable(out, count, target->bytes);
}
