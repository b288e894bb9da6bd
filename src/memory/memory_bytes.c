/*
 * Each operator of the entry runs as its kernel does, on a painted arena.  What
 * a kernel writes is painted as what it is, after all (memory_origin), so that
 * a copy onto itself changes nothing and two names of the same bytes do not
 * quarrel. Scratch buffers and the tensors of bodies are painted as nobody's
 * before and after, because their owners may write there at any time; in
 * between they must stay what they are.
 */
#include "memory/memory_bytes.h"

#include "base/number.h"
#include "memory/memory_origin.h"
#include "memory/memory_paint.h"

typedef struct runner {
  const tflm_model *model;
  const tflm_head *head;
  kernel_library library;
  const graph *g;
  const memory_origin *origins;
  uint32_t *tensor_begin; /* as in memory_scopes */
  painting arena;
  uint32_t step;
  const graph_op *op; /* that runs */
  uint32_t op_number;
  bytes_fault fault;
  calm_status status;
} runner;

/* Owners of segments: tensors of the entry, by their numbers; then whatever is
   not to be read by anybody else. */
static uint32_t nobody(const runner *r) { return r->g->tensors.count; }

static uint64_t offset_of(const runner *r, tensor_id t) {
  return r->head->offsets[t];
}

/* ---- Reads and writes ---------------------------------------------------- */

typedef calm_status run_visitor(runner *r, tensor_id t, paint_segment segment);

/* Bytes [from, to) of a tensor, run by run of its origin. */
static calm_status visit(runner *r, tensor_id t, uint64_t from, uint64_t to,
                         run_visitor *visitor) {
  const memory_origin *o = &r->origins[t];
  uint32_t low = 0, high = o->count - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (o->runs[middle].begin <= from)
      low = middle;
    else
      high = middle - 1;
  }
  for (uint32_t i = low; i < o->count && o->runs[i].begin < to; i++) {
    const uint64_t end = i + 1 < o->count ? o->runs[i + 1].begin : UINT64_MAX;
    const uint64_t begin = number_larger(from, o->runs[i].begin);
    TRY(visitor(r, t,
                (paint_segment){offset_of(r, t) + begin,
                                offset_of(r, t) + number_smaller(to, end),
                                o->runs[i].tensor,
                                o->runs[i].from + (begin - o->runs[i].begin)}));
  }
  return CALM_OK;
}

static calm_status put(runner *r, tensor_id t, paint_segment segment) {
  (void)t;
  return painting_put(&r->arena, segment);
}

static calm_status demand(runner *r, tensor_id t, paint_segment segment) {
  uint64_t byte;
  uint32_t owner;
  if (r->fault.found || painting_holds(&byte, &owner, &r->arena, segment))
    return CALM_OK;
  r->fault = (bytes_fault){true, r->step, t, byte - offset_of(r, t),
                           owner < nobody(r) ? owner : CALM_NONE};
  return CALM_OK;
}

/* Is there anything to be found in a tensor, at a place in the arena? */
static bool holds_something(const runner *r, tensor_id t) {
  const graph_tensor *tensor = &r->g->tensors.data[t];
  return offset_of(r, t) != UINT64_MAX && tensor->bytes > 0 &&
         (r->g->producer[t] != CALM_NONE ||
          (tensor->flags & (CALM_TENSOR_INPUT | CALM_TENSOR_VARIABLE)));
}

static void read_bytes(void *payload, uint32_t slot, uint64_t byte,
                       uint64_t bytes) {
  runner *r = payload;
  if (r->status != CALM_OK || slot >= r->op->input_count) return;
  const tensor_id t = r->op->inputs[slot];
  if (t != CALM_NONE && holds_something(r, t))
    r->status = visit(r, t, byte, byte + bytes, demand);
}

static void write_bytes(void *payload, uint32_t slot, uint64_t byte,
                        uint64_t bytes) {
  runner *r = payload;
  if (r->status != CALM_OK || slot >= r->op->output_count) return;
  const tensor_id t = r->op->outputs[slot];
  if (t != CALM_NONE && offset_of(r, t) != UINT64_MAX)
    r->status = visit(r, t, byte, byte + bytes, put);
}

/* ---- What is nobody's ---------------------------------------------------- */

/* Scratch as `visitor` has it: painted, or demanded to be as it was. */
static calm_status visit_scratch(runner *r, run_visitor *visitor) {
  const memory_scratch *s = r->model->scratch;
  for (uint32_t i = s->begin[r->op_number]; i < s->begin[r->op_number + 1]; i++)
    if (r->head->scratch_offsets[i] != UINT64_MAX && s->bytes[i])
      TRY(visitor(r, CALM_NONE,
                  (paint_segment){r->head->scratch_offsets[i],
                                  r->head->scratch_offsets[i] + s->bytes[i],
                                  nobody(r) + 1 + i, 0}));
  return CALM_OK;
}

/* An output, or another scratch buffer, lies on the scratch. */
static calm_status demand_scratch(runner *r, tensor_id t,
                                  paint_segment segment) {
  uint64_t byte;
  uint32_t owner;
  (void)t;
  if (r->fault.found || painting_holds(&byte, &owner, &r->arena, segment))
    return CALM_OK;
  r->fault = (bytes_fault){true, r->step, CALM_NONE, byte - segment.begin,
                           owner < nobody(r) ? owner : CALM_NONE};
  return CALM_OK;
}

/* Everything that a graph has in the arena is written. */
static calm_status paint_body(runner *r, uint32_t body) {
  const graph *g = &r->model->graphs[body];
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const uint64_t offset = r->head->offsets[r->tensor_begin[body] + t];
    if (offset != UINT64_MAX && g->tensors.data[t].bytes)
      TRY(painting_put(
          &r->arena, (paint_segment){offset, offset + g->tensors.data[t].bytes,
                                     nobody(r), 0}));
  }
  return CALM_OK;
}

/* The bodies of an operator and what those run, per graph. */
static void find_bodies(bool *out, const runner *r) {
  for (uint32_t i = 0; i < r->op->body_count; i++) out[r->op->bodies[i]] = true;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < r->model->count; i++) {
      const graph *g = &r->model->graphs[i];
      for (op_id op = 0; out[i] && op < g->ops.count; op++)
        for (uint32_t k = 0; k < g->ops.data[op].body_count; k++) {
          again = again || !out[g->ops.data[op].bodies[k]];
          out[g->ops.data[op].bodies[k]] = true;
        }
    }
  }
}

static calm_status paint_bodies(runner *r) {
  bool *bodies;
  arena scratch;
  if (r->op->body_count == 0) return CALM_OK;
  arena_init(&scratch, r->arena.context);
  bodies = arena_calloc(&scratch, r->model->count, sizeof *bodies);
  calm_status status = bodies ? CALM_OK : context_no_memory(r->arena.context);
  if (bodies) find_bodies(bodies, r);
  for (uint32_t i = 1; status == CALM_OK && i < r->model->count; i++)
    if (bodies[i]) status = paint_body(r, i);
  arena_free(&scratch);
  return status;
}

/* ---- The run ------------------------------------------------------------- */

static calm_status run_op(runner *r, op_id op) {
  const kernel_watch watch = {r, read_bytes, write_bytes};
  r->op = &r->g->ops.data[op];
  r->op_number = r->model->scratch->op_begin[0] + op;
  TRY(visit_scratch(r, put));
  TRY(paint_bodies(r));
  kernel_run(r->library, r->g, op, &watch);
  TRY(r->status);
  TRY(visit_scratch(r, demand_scratch));
  return paint_bodies(r);
}

static calm_status visit_whole(runner *r, unsigned flags,
                               run_visitor *visitor) {
  for (tensor_id t = 0; t < r->g->tensors.count; t++)
    if ((r->g->tensors.data[t].flags & flags) && holds_something(r, t))
      TRY(visit(r, t, 0, r->g->tensors.data[t].bytes, visitor));
  return CALM_OK;
}

static calm_status run_once(runner *r) {
  TRY(visit_whole(r, CALM_TENSOR_INPUT, put));
  for (r->step = 0; r->step < r->g->ops.count && !r->fault.found; r->step++)
    TRY(run_op(r, r->model->sequences[0][r->step]));
  return visit_whole(r, CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE, demand);
}

/* Only variables tell a second run from the first. */
static calm_status run_twice(runner *r) {
  bool again = false;
  for (tensor_id t = 0; t < r->g->tensors.count; t++)
    again = again || ((r->g->tensors.data[t].flags & CALM_TENSOR_VARIABLE) &&
                      holds_something(r, t));
  TRY(visit_whole(r, CALM_TENSOR_VARIABLE, put));
  TRY(run_once(r));
  return again && !r->fault.found ? run_once(r) : CALM_OK;
}

static calm_status number_tensors(runner *r, arena *a) {
  uint32_t total = 0;
  ARENA_ARRAY(a, r->tensor_begin, r->model->count);
  for (uint32_t i = 0; i < r->model->count; i++) {
    r->tensor_begin[i] = total;
    total += r->model->graphs[i].tensors.count;
  }
  return CALM_OK;
}

static calm_status run(runner *r, arena *a) {
  memory_origin *origins;
  TRY(number_tensors(r, a));
  TRY(memory_origin_trace(&origins, r->g, r->model->sequences[0], a));
  r->origins = origins;
  return run_twice(r);
}

calm_status memory_bytes_run(bytes_fault *out, const tflm_model *model,
                             const tflm_head *head, kernel_library library,
                             calm_context *context) {
  arena a;
  runner r = {.model = model,
              .head = head,
              .library = library,
              .g = &model->graphs[0],
              .arena.context = context};
  arena_init(&a, context);
  calm_status status = run(&r, &a);
  painting_free(&r.arena);
  arena_free(&a);
  if (status == CALM_OK) *out = r.fault;
  return status;
}
