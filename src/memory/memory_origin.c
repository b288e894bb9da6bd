/*
 * An output is put together from stretches of its operands, which the
 * operator's kind and attributes tell, and each stretch is looked through to
 * the runs of the operand.  Operators are visited as they run, so those are
 * known by then.
 */
#include "memory/memory_origin.h"

#include <stdlib.h>

#include "graph/graph_edit.h"
#include "graph/graph_window.h"

typedef struct tracer {
  const graph *g;
  memory_origin *origins;
  VECTOR(origin_run) runs; /* of the output at hand */
  calm_context *context;
  arena *a;
} tracer;

static const graph_tensor *tensor_of(const tracer *r, tensor_id t) {
  return &r->g->tensors.data[t];
}

/* ---- Runs ---------------------------------------------------------------- */

static calm_status add_run(tracer *r, origin_run run) {
  if (r->runs.count) {
    const origin_run *last = &r->runs.data[r->runs.count - 1];
    if (last->tensor == run.tensor &&
        run.from - last->from == run.begin - last->begin &&
        run.from >= last->from)
      return CALM_OK;
  }
  VECTOR_PUSH(r->context, &r->runs, run);
  return CALM_OK;
}

/* The run that a byte is in. */
static uint32_t find_run(const memory_origin *o, uint64_t byte) {
  uint32_t low = 0, high = o->count - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (o->runs[middle].begin <= byte)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Bytes [begin, begin + bytes) of the output are those of x from `from` on. */
static calm_status add_stretch(tracer *r, uint64_t begin, tensor_id x,
                               uint64_t from, uint64_t bytes) {
  const memory_origin *o = &r->origins[x];
  if (bytes == 0) return CALM_OK;
  for (uint32_t i = find_run(o, from);
       i < o->count && o->runs[i].begin < from + bytes; i++) {
    const origin_run *run = &o->runs[i];
    const uint64_t first = run->begin > from ? run->begin : from;
    TRY(add_run(r, (origin_run){begin + (first - from), run->tensor,
                                run->from + (first - run->begin)}));
  }
  return CALM_OK;
}

/* ---- Boxes --------------------------------------------------------------- */

/* A box of a picture within another: dimension by dimension. */
typedef struct box {
  uint32_t rank;
  const int64_t *sizes;       /* of the box */
  const int64_t *whole;       /* of what it is a part of */
  const int64_t *begin;       /* its place there */
  uint64_t element;           /* bytes */
  int64_t at[GRAPH_MAX_RANK]; /* the line at hand */
} box;

static bool is_whole(const box *b, uint32_t i) {
  return b->begin[i] == 0 && b->sizes[i] == b->whole[i];
}

/* Lines are contiguous in both: from dimension *out_inner on. */
static uint64_t line_bytes(uint32_t *out_inner, const box *b) {
  uint32_t inner = b->rank;
  uint64_t bytes = b->element;
  while (inner && (inner == b->rank || is_whole(b, inner)))
    bytes *= (uint64_t)b->sizes[--inner];
  *out_inner = inner;
  return bytes;
}

/* Where the line at hand begins in the whole. */
static uint64_t line_place(const box *b, uint32_t inner) {
  uint64_t place = 0;
  for (uint32_t i = 0; i < b->rank; i++)
    place = place * (uint64_t)b->whole[i] +
            (uint64_t)(b->begin[i] + (i < inner ? b->at[i] : 0));
  return place * b->element;
}

static bool next_line(box *b, uint32_t inner) {
  for (uint32_t i = inner; i-- > 0;) {
    if (++b->at[i] < b->sizes[i]) return true;
    b->at[i] = 0;
  }
  return false;
}

static bool fits(const box *b) {
  for (uint32_t i = 0; i < b->rank; i++)
    if (b->sizes[i] <= 0 || b->begin[i] < 0 ||
        b->begin[i] > b->whole[i] - b->sizes[i])
      return false;
  return b->rank > 0;
}

/* The output is a box of x. */
static calm_status take_box(tracer *r, box *b, tensor_id x) {
  uint32_t inner;
  uint64_t begin = 0;
  const uint64_t bytes = line_bytes(&inner, b);
  do {
    TRY(add_stretch(r, begin, x, line_place(b, inner), bytes));
    begin += bytes;
  } while (next_line(b, inner));
  return CALM_OK;
}

/* A stretch that lies in the output: sorted by place afterwards. */
typedef struct stretch {
  uint64_t begin, from, bytes;
  tensor_id x;
} stretch;

typedef VECTOR(stretch) stretches;

/* x is a box of the output. */
static calm_status put_box(stretches *list, const tracer *r, box *b,
                           tensor_id x) {
  uint32_t inner;
  uint64_t from = 0;
  const uint64_t bytes = line_bytes(&inner, b);
  do {
    VECTOR_PUSH(r->context, list,
                (stretch){line_place(b, inner), from, bytes, x});
    from += bytes;
  } while (next_line(b, inner));
  return CALM_OK;
}

static int compare_stretches(const void *left, const void *right) {
  const stretch *a = left, *b = right;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

/* What no stretch covers is the output's own. */
static calm_status add_stretches(tracer *r, stretches *list, tensor_id y) {
  uint64_t end = 0;
  if (list->count)
    qsort(list->data, list->count, sizeof *list->data, compare_stretches);
  for (uint32_t i = 0; i < list->count; i++) {
    const stretch *s = &list->data[i];
    if (s->begin > end) TRY(add_run(r, (origin_run){end, y, end}));
    TRY(add_stretch(r, s->begin, s->x, s->from, s->bytes));
    end = s->begin + s->bytes;
  }
  return end < tensor_of(r, y)->bytes ? add_run(r, (origin_run){end, y, end})
                                      : CALM_OK;
}

/* ---- Copies -------------------------------------------------------------- */

/* The same elements in both, so that bytes can be handed on. */
static bool alike(const graph_tensor *x, const graph_tensor *y) {
  return x->type == y->type && x->type != ELEMENT_ABSTRACT &&
         element_type_bits(x->type) % 8 == 0 &&
         x->quantization == y->quantization;
}

static box box_of(const graph_tensor *part, const graph_tensor *whole,
                  const int64_t *begin) {
  return (box){.rank = part->rank,
               .sizes = part->dimensions,
               .whole = whole->dimensions,
               .begin = begin,
               .element = element_type_bits(part->type) / 8};
}

static calm_status trace_slice(tracer *r, const graph_op *op) {
  const graph_tensor *x = tensor_of(r, op->inputs[0]);
  const graph_tensor *y = tensor_of(r, op->outputs[0]);
  int64_t begin[GRAPH_MAX_RANK];
  box b = box_of(y, x, begin);
  if (!alike(x, y) || x->rank != y->rank ||
      graph_op_numbers(begin, op, "begin") != x->rank || !fits(&b))
    return CALM_OK;
  return take_box(r, &b, op->inputs[0]);
}

static calm_status place_operand(stretches *list, const tracer *r, tensor_id x,
                                 tensor_id y, const int64_t *begin,
                                 bool *out_fits) {
  box b = box_of(tensor_of(r, x), tensor_of(r, y), begin);
  *out_fits = alike(tensor_of(r, x), tensor_of(r, y)) &&
              tensor_of(r, x)->rank == tensor_of(r, y)->rank && fits(&b);
  return *out_fits ? put_box(list, r, &b, x) : CALM_OK;
}

static calm_status trace_pad(stretches *list, const tracer *r,
                             const graph_op *op) {
  const graph_tensor *y = tensor_of(r, op->outputs[0]);
  int64_t begin[GRAPH_MAX_RANK];
  bool placed = false;
  if (graph_op_numbers(begin, op, "before") == y->rank)
    TRY(place_operand(list, r, op->inputs[0], op->outputs[0], begin, &placed));
  return CALM_OK;
}

static bool find_axis(uint32_t *out, const graph_op *op, uint32_t rank) {
  int64_t axis[GRAPH_MAX_RANK];
  if (graph_op_numbers(axis, op, "axis") != 1) return false;
  if (axis[0] < 0) axis[0] += rank;
  *out = (uint32_t)axis[0];
  return axis[0] >= 0 && axis[0] < rank;
}

static calm_status trace_concat(stretches *list, const tracer *r,
                                const graph_op *op) {
  const graph_tensor *y = tensor_of(r, op->outputs[0]);
  int64_t begin[GRAPH_MAX_RANK] = {0};
  uint32_t axis;
  bool placed =
      find_axis(&axis, op, y->rank) && !graph_op_attribute(op, "activation");
  for (uint32_t i = 0; i < op->input_count && placed; i++) {
    const tensor_id x = op->inputs[i];
    if (x == CALM_NONE) continue;
    TRY(place_operand(list, r, x, op->outputs[0], begin, &placed));
    if (placed) begin[axis] += tensor_of(r, x)->dimensions[axis];
  }
  if (!placed) list->count = 0;
  return CALM_OK;
}

static calm_status trace_view(tracer *r, const graph_op *op) {
  const graph_tensor *x = tensor_of(r, op->inputs[0]);
  const graph_tensor *y = tensor_of(r, op->outputs[0]);
  if (x->bytes != y->bytes || (x->flags & CALM_TENSOR_CONST)) return CALM_OK;
  return add_stretch(r, 0, op->inputs[0], 0, x->bytes);
}

static calm_status trace_parts(tracer *r, const graph_op *op) {
  stretches list = {0};
  calm_status status = op->kind == OP_concat ? trace_concat(&list, r, op)
                                             : trace_pad(&list, r, op);
  if (status == CALM_OK && list.count)
    status = add_stretches(r, &list, op->outputs[0]);
  VECTOR_FREE(r->context, &list);
  return status;
}

static calm_status trace_op(tracer *r, const graph_op *op) {
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE ||
      op->input_count == 0 || op->inputs[0] == CALM_NONE)
    return CALM_OK;
  switch (op->kind) {
    case OP_slice: return trace_slice(r, op);
    case OP_pad:
    case OP_concat: return trace_parts(r, op);
    default:
      return op_kind_flags(op->kind) & OP_VIEW ? trace_view(r, op) : CALM_OK;
  }
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status keep_runs(tracer *r, tensor_id t) {
  memory_origin *o = &r->origins[t];
  if (r->runs.count == 0) return CALM_OK;
  ARENA_ARRAY(r->a, o->runs, r->runs.count);
  for (uint32_t i = 0; i < r->runs.count; i++) o->runs[i] = r->runs.data[i];
  o->count = r->runs.count;
  r->runs.count = 0;
  return CALM_OK;
}

static calm_status trace(tracer *r, const op_id *sequence) {
  const uint32_t tensors = r->g->tensors.count;
  origin_run *own;
  ARENA_ARRAY(r->a, r->origins, tensors);
  ARENA_ARRAY(r->a, own, tensors);
  for (tensor_id t = 0; t < tensors; t++) {
    own[t] = (origin_run){0, t, 0};
    r->origins[t] = (memory_origin){&own[t], 1};
  }
  for (uint32_t step = 0; step < r->g->ops.count; step++) {
    const graph_op *op = &r->g->ops.data[sequence[step]];
    TRY(trace_op(r, op));
    if (r->runs.count) TRY(keep_runs(r, op->outputs[0]));
  }
  return CALM_OK;
}

calm_status memory_origin_trace(memory_origin **out, const graph *g,
                                const op_id *sequence, arena *a) {
  tracer r = {.g = g, .context = a->context, .a = a};
  calm_status status = trace(&r, sequence);
  VECTOR_FREE(r.context, &r.runs);
  if (status == CALM_OK) *out = r.origins;
  return status;
}
