/* Wants, origins and distances, for the judge. */
#include "memory/memory_tflm_rows.h"

#include "base/number.h"
#include "graph/graph_window.h"

/* ---- Wants --------------------------------------------------------------- */

typedef struct range {
  uint64_t low, high;
} range;

/* From the first element that a slice takes to the last. */
static range taken_by_slice(const graph_tensor *t, const graph_op *op) {
  int64_t begin[GRAPH_MAX_RANK], size[GRAPH_MAX_RANK];
  const range all = {0, t->bytes};
  uint64_t row = t->bytes;
  range part = {0, 0};
  if (t->rank == 0 || t->type == ELEMENT_ABSTRACT ||
      element_type_bits(t->type) % 8 ||
      graph_op_numbers(begin, op, "begin") != t->rank ||
      graph_op_numbers(size, op, "size") != t->rank)
    return all;
  for (uint32_t i = 0; i < t->rank; i++) {
    const int64_t length = t->dimensions[i];
    const int64_t taken = size[i] < 0 ? length - begin[i] : size[i];
    if (length < 1 || begin[i] < 0 || taken < 1 || begin[i] + taken > length)
      return all;
    row /= (uint64_t)length;
    part.low += (uint64_t)begin[i] * row;
    part.high += (uint64_t)(begin[i] + taken - 1) * row;
  }
  part.high += row; /* of one element by now */
  return part;
}

static bool reads_tensor(const graph_op *op, tensor_id t) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] == t) return true;
  return false;
}

/* What an operator wants of a tensor. */
static range taken(const graph *g, op_id id, tensor_id t) {
  const graph_op *op = &g->ops.data[id];
  const graph_tensor *tensor = &g->tensors.data[t];
  for (uint32_t i = 1; i < op->input_count; i++)
    if (op->inputs[i] == t) return (range){0, tensor->bytes};
  return op->kind == OP_slice && reads_tensor(op, t)
             ? taken_by_slice(tensor, op)
             : (range){0, tensor->bytes};
}

/* The next scope after `after` at which something wants the tensor, and the
   hull of what is wanted then and later; false if nothing is. */
static bool find_next(int64_t *next, range *wanted, const graph *g,
                      const memory_scopes *s, tensor_id t, int64_t after) {
  const graph_tensor *tensor = &g->tensors.data[t];
  const op_id maker = g->producer[t];
  *next = INT64_MAX;
  *wanted = (range){tensor->bytes, 0};
  const uint32_t readers = g->reader_begin[t + 1] - g->reader_begin[t];
  for (uint32_t i = 0; i < readers + 2; i++) {
    range one = {0, tensor->bytes};
    int64_t scope = SCOPE_NEVER;
    if (i < readers) {
      const op_id op = g->readers[g->reader_begin[t] + i];
      one = taken(g, op, t);
      scope = s->ops[op].last;
    } else if (i == readers && maker != CALM_NONE) {
      scope = s->ops[maker].last;
    } else if (i > readers && tensor->flags & CALM_TENSOR_OUTPUT) {
      scope = s->tensors[t].last;
    }
    if (scope <= after) continue;
    if (scope < *next) *next = scope;
    wanted->low = number_smaller(wanted->low, one.low);
    wanted->high = number_larger(wanted->high, one.high);
  }
  return *next != INT64_MAX;
}

calm_status tflm_find_wants(tflm_wants *out, const graph *g,
                            const memory_scopes *scopes, tensor_id t,
                            calm_context *context) {
  const int64_t first = scopes->tensors[t].first;
  int64_t next, last = first;
  range wanted;
  tflm_want all = {first, first, 0, g->tensors.data[t].bytes};
  VECTOR_PUSH(context, out, all);
  while (find_next(&next, &wanted, g, scopes, t, last)) {
    const tflm_want want = {last == first ? first + 1 : last, next, wanted.low,
                            wanted.high};
    VECTOR_PUSH(context, out, want);
    last = next;
  }
  return CALM_OK;
}

/* ---- Origins ------------------------------------------------------------- */

static const origin_run *run_at(const memory_origin *o, uint64_t byte) {
  uint32_t low = 0, high = o->count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (o->runs[middle].begin <= byte)
      low = middle;
    else
      high = middle;
  }
  return &o->runs[low];
}

static uint64_t end_of_run(const memory_origin *o, const origin_run *run) {
  return run + 1 < o->runs + o->count ? run[1].begin : UINT64_MAX;
}

bool tflm_same_bytes(const memory_origin *a, uint64_t from_a,
                     const memory_origin *b, uint64_t from_b, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    if (!a->count || !b->count) return false;
    const origin_run *ra = run_at(a, from_a + done);
    const origin_run *rb = run_at(b, from_b + done);
    if (ra->tensor == CALM_NONE || ra->tensor != rb->tensor ||
        ra->from + (from_a + done - ra->begin) !=
            rb->from + (from_b + done - rb->begin))
      return false;
    done =
        number_smaller(end_of_run(a, ra) - from_a, end_of_run(b, rb) - from_b);
  }
  return true;
}

/* ---- Distances ----------------------------------------------------------- */

bool tflm_keeps_distance(kernel_library library, const graph *g, op_id id,
                         tensor_id t, uint64_t input, uint64_t output) {
  const graph_op *op = &g->ops.data[id];
  if (op->body_count || !reads_tensor(op, t)) return false;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] != t) continue;
    const kernel_distance d = kernel_overlap(library, g, id, i);
    if (!d.safe || (int64_t)input - (int64_t)output < d.bytes) return false;
  }
  return true;
}
