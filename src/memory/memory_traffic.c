/* Who writes which buffer, and which constants an operator reads. */
#include "memory/memory_traffic.h"

#include "base/number.h"

typedef struct builder {
  const graph *g;
  const memory_problem *p;
  traffic_problem out;
  uint32_t *read_by;  /* buffer -> the last operator that reads it, plus 1 */
  uint32_t *taken_by; /* tensor -> the last operator that it was counted for,
                         plus 1 */
} builder;

static const graph_tensor *tensor_at(const builder *b, tensor_id t) {
  return &b->g->tensors.data[t];
}

/* ---- Writing ------------------------------------------------------------- */

static void set_writes(builder *b, uint32_t buffer, uint32_t u) {
  const order_problem *o = &b->p->order;
  for (uint32_t i = o->touch_begin[buffer]; i < o->touch_begin[buffer + 1]; i++)
    if (o->touch[i] == u) b->out.writes[i] = true;
}

/* State is no operator's output: any that has it for an operand may change
   it. */
static void mark_inputs(builder *b, const graph_op *op, uint32_t u) {
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE) continue;
    for (uint32_t k = b->p->buffer_begin[t]; k < b->p->buffer_begin[t + 1];
         k++) {
      b->read_by[b->p->buffers[k]] = u + 1;
      if (tensor_at(b, t)->flags & CALM_TENSOR_VARIABLE)
        set_writes(b, b->p->buffers[k], u);
    }
  }
}

/* An output that is an input under another name is not written: a view that
   also reads a shape, an elided concat with workspace, a partial sum that the
   others have made. */
static void mark_outputs(builder *b, const graph_op *op, uint32_t u) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    const tensor_id t = op->outputs[i];
    if (t == CALM_NONE) continue;
    for (uint32_t k = b->p->buffer_begin[t]; k < b->p->buffer_begin[t + 1];
         k++) {
      const uint32_t buffer = b->p->buffers[k];
      if (b->read_by[buffer] != u + 1) set_writes(b, buffer, u);
    }
  }
}

/* ---- Weights ------------------------------------------------------------- */

static calm_status add_weights(builder *b, const graph_op *op, uint32_t u,
                               calm_context *context) {
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE || !(tensor_at(b, t)->flags & CALM_TENSOR_CONST) ||
        b->taken_by[t] == u + 1)
      continue;
    b->taken_by[t] = u + 1;
    if (!number_add(&b->out.weight_bytes[u], b->out.weight_bytes[u],
                    tensor_at(b, t)->bytes))
      return context_fail(context, CALM_BAD_INPUT,
                          "operator '%s': its constants exceed 2^62 bytes",
                          op->name);
  }
  return CALM_OK;
}

static calm_status fill(builder *b, arena *scratch) {
  const order_problem *o = &b->p->order;
  ARENA_ARRAY(scratch, b->read_by, o->buffer_count);
  ARENA_ARRAY(scratch, b->taken_by, b->g->tensors.count);
  for (uint32_t u = 0; u < o->op_count; u++) {
    const graph_op *op = &b->g->ops.data[b->p->op_of[u]];
    mark_inputs(b, op, u);
    mark_outputs(b, op, u);
    TRY(add_weights(b, op, u, scratch->context));
  }
  return CALM_OK;
}

memory_model memory_traffic_model(const memory_model *model) {
  memory_model m = *model;
  if (m.inputs == INPUTS_EXTERNAL) m.inputs = INPUTS_WHOLE_RUN;
  m.outputs = OUTPUTS_TO_END;
  m.keep_unread = false;
  return m;
}

calm_status memory_traffic_build(traffic_problem *out, const graph *g,
                                 const memory_problem *p, arena *a) {
  builder b = {.g = g, .p = p, .out = {.order = &p->order}};
  ARENA_ARRAY(a, b.out.writes, p->order.touch_begin[p->order.buffer_count]);
  ARENA_ARRAY(a, b.out.weight_bytes, p->order.op_count);
  arena scratch;
  arena_init(&scratch, a->context);
  const calm_status status = fill(&b, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = b.out;
  return status;
}
