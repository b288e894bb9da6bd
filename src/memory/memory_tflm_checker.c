/* Tensors, scopes, views and rows of a model, before its plan is judged. */
#include "memory/memory_alias.h"
#include "memory/memory_tflm_checker.h"

static calm_status locate_tensors(tflm_checker *c) {
  const uint32_t tensors = c->scopes.tensor_begin[c->model->count];
  ARENA_ARRAY(&c->scratch, c->where, tensors);
  ARENA_ARRAY(&c->scratch, c->storage, tensors);
  for (uint32_t i = 0; i < c->model->count; i++)
    for (tensor_id t = 0; t < c->model->graphs[i].tensors.count; t++) {
      const uint32_t number = c->scopes.tensor_begin[i] + t;
      c->where[number] = (tflm_located){i, t};
      c->storage[number] = number;
    }
  return CALM_OK;
}

static calm_status index_scopes(tflm_checker *c) {
  const uint32_t ops = c->scopes.op_begin[c->model->count];
  for (uint32_t op = 0; op < ops; op++)
    if (c->scopes.ops[op].last >= c->scope_count)
      c->scope_count = c->scopes.ops[op].last + 1;
  ARENA_ARRAY(&c->scratch, c->op_at, (size_t)c->scope_count);
  for (int64_t i = 0; i < c->scope_count; i++) c->op_at[i] = CALM_NONE;
  for (uint32_t op = 0; op < ops; op++)
    if (c->scopes.ops[op].first != SCOPE_NEVER)
      c->op_at[c->scopes.ops[op].first] = op;
  return CALM_OK;
}

/* The operand of a view: the first that is no constant. */
static tensor_id viewed(const tflm_checker *c, const graph *g,
                        const graph_op *op) {
  if (!bits_has(c->memory->views, op->kind) || op->output_count != 1 ||
      op->outputs[0] == CALM_NONE)
    return CALM_NONE;
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t == CALM_NONE || (g->tensors.data[t].flags & CALM_TENSOR_CONST))
      continue;
    return g->tensors.data[t].bytes == g->tensors.data[op->outputs[0]].bytes
               ? t
               : CALM_NONE;
  }
  return CALM_NONE;
}

static void follow_views(tflm_checker *c, uint32_t owner) {
  const graph *g = &c->model->graphs[owner];
  uint32_t *storage = c->storage + c->scopes.tensor_begin[owner];
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const graph_op *op = &g->ops.data[c->model->sequences[owner][step]];
    const tensor_id t = viewed(c, g, op);
    if (t != CALM_NONE) storage[op->outputs[0]] = storage[t];
  }
}

/* Rows of the entry, where the memory model tells them apart, and nobody runs
   it in the midst of something else. */
static calm_status trace_rows(tflm_checker *c) {
  const tflm_model *m = c->model;
  if (!c->memory->overlap && !memory_alias_asked(c->memory)) return CALM_OK;
  for (uint32_t i = 0; i < m->count; i++)
    for (op_id op = 0; op < m->graphs[i].ops.count; op++)
      for (uint32_t k = 0; k < m->graphs[i].ops.data[op].body_count; k++)
        if (m->graphs[i].ops.data[op].bodies[k] == 0) return CALM_OK;
  return memory_origin_trace(&c->origins, &m->graphs[0], m->sequences[0],
                             &c->scratch);
}

calm_status tflm_checker_prepare(tflm_checker *c) {
  TRY(locate_tensors(c));
  TRY(index_scopes(c));
  for (uint32_t i = 0; i < c->model->count; i++) follow_views(c, i);
  return trace_rows(c);
}
