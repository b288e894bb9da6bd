/*
 * Before the first step of a simulated run: what is stored behind each tensor,
 * what occupies the arena, what has to survive, and how many operators need it.
 *
 * A tensor is either stored, or it stands for others: a view for its input, an
 * elided concat for its operands, an operand of a partial sum for the sum.
 * simulation_follow finds what is stored behind a tensor by walking back
 * through the operators that only rename; sums are looked up.
 */
#include "memory/memory_simulate.h"

/* ---- The rules ----------------------------------------------------------- */

static bool is_const(const simulation *s, tensor_id t) {
  return tensor_of(s, t)->flags & CALM_TENSOR_CONST;
}

static bool uses_variable(const simulation *s, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE &&
        (tensor_of(s, op->inputs[i])->flags & CALM_TENSOR_VARIABLE))
      return true;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE &&
        (tensor_of(s, op->outputs[i])->flags & CALM_TENSOR_VARIABLE))
      return true;
  return false;
}

/* The slot of the input whose bytes the output of a view is; CALM_NONE for an
   operator that is no view. */
static uint32_t view_source(const simulation *s, const graph_op *op) {
  if (!bits_has(s->model->views, op->kind) || op->input_count == 0)
    return CALM_NONE;
  uint32_t slot = 0;
  if (op->kind == OP_split || op->kind == OP_split_v)
    for (; slot < op->input_count - 1; slot++)
      if (op->inputs[slot] == CALM_NONE || !is_const(s, op->inputs[slot]))
        break;
  tensor_id source = op->inputs[slot];
  if (s->model->own_outputs &&
      (tensor_of(s, op->outputs[0])->flags & CALM_TENSOR_OUTPUT))
    return CALM_NONE;
  if (source == CALM_NONE || (tensor_of(s, source)->flags & s->model->copied) ||
      tensor_of(s, source)->bytes != tensor_of(s, op->outputs[0])->bytes)
    return CALM_NONE;
  return slot;
}

typedef enum renaming { COMPUTES, VIEWS, JOINS, SUMS } renaming;

/* A partial result is added to others, so somebody has to compute it. */
static bool is_partial(const simulation *s, tensor_id t) {
  for (uint32_t i = s->g->reader_begin[t]; i < s->g->reader_begin[t + 1]; i++)
    if (s->g->ops.data[s->g->readers[i]].kind == OP_partial_sum) return true;
  return false;
}

static renaming classify(const simulation *s, const graph_op *op,
                         uint32_t *source_slot) {
  if (op->kind == OP_partial_sum) return SUMS;
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE ||
      uses_variable(s, op) || is_partial(s, op->outputs[0]))
    return COMPUTES;
  if (s->model->concat == CONCAT_ELIDE && op->kind == OP_concat &&
      op->input_count > 0)
    return JOINS;
  *source_slot = view_source(s, op);
  return *source_slot == CALM_NONE ? COMPUTES : VIEWS;
}

/* Whoever runs a body fills all its inputs before. */
static bool is_handed_over(const simulation *s, tensor_id t) {
  return s->g->is_body && (tensor_of(s, t)->flags & CALM_TENSOR_INPUT);
}

bool simulation_occupies(const simulation *s, tensor_id t) {
  const graph_tensor *tensor = tensor_of(s, t);
  const unsigned flags = tensor->flags;
  if (tensor->bytes == 0 || (flags & CALM_TENSOR_CONST) || s->outside[t])
    return false;
  if (flags & CALM_TENSOR_INPUT && s->model->inputs == INPUTS_EXTERNAL)
    return false;
  if (flags & CALM_TENSOR_VARIABLE)
    return s->model->variables == VARIABLES_WHOLE_RUN && s->touched[t];
  return s->touched[t] &&
         ((flags & CALM_TENSOR_INPUT) || s->g->producer[t] != CALM_NONE);
}

/* ---- Walking back to what is stored -------------------------------------- */

void simulation_forget(simulation *s) {
  s->found.count = 0;
  s->walk++;
}

static calm_status visit(simulation *s, tensor_id named) {
  if (named == CALM_NONE) return CALM_OK;
  const tensor_id t = s->origin[named];
  if (s->seen[t] == s->walk) return CALM_OK;
  s->seen[t] = s->walk;
  if (!s->joined[t]) {
    VECTOR_PUSH(s->context, &s->found, t);
    return CALM_OK;
  }
  const graph_op *join = &s->g->ops.data[s->g->producer[t]];
  for (uint32_t i = 0; i < join->input_count; i++)
    VECTOR_PUSH(s->context, &s->path, join->inputs[i]);
  return CALM_OK;
}

calm_status simulation_follow(simulation *s, tensor_id t) {
  TRY(visit(s, t));
  while (s->path.count) TRY(visit(s, s->path.data[--s->path.count]));
  return CALM_OK;
}

static calm_status follow_all(simulation *s, const tensor_id *tensors,
                              uint32_t count) {
  for (uint32_t i = 0; i < count; i++) TRY(simulation_follow(s, tensors[i]));
  return CALM_OK;
}

calm_status simulation_follow_operands(simulation *s, const graph_op *op) {
  TRY(follow_all(s, op->inputs, op->input_count));
  return follow_all(s, op->outputs, op->output_count);
}

/* ---- Before the first step ----------------------------------------------- */

/* What is stored behind two tensors together. */
static tensor_id unite(tensor_id a, tensor_id b) {
  if (a == NOTHING || a == b) return b;
  return b == NOTHING ? a : SEVERAL;
}

static tensor_id sole_of_operands(const simulation *s, const graph_op *op) {
  tensor_id sole = NOTHING;
  for (uint32_t i = 0; i < op->input_count; i++)
    if (op->inputs[i] != CALM_NONE) sole = unite(sole, s->sole[op->inputs[i]]);
  return sole;
}

/* What is added up in a sum that is itself a partial result is added up in
   the next one: from the last sum back to the first. */
static void find_sums(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++) s->origin[t] = t;
  for (uint32_t i = s->g->ops.count; i-- > 0;) {
    const graph_op *op = &s->g->ops.data[s->g->order[i]];
    for (uint32_t k = 0; op->kind == OP_partial_sum && k < op->input_count; k++)
      s->origin[op->inputs[k]] = s->origin[op->outputs[0]];
  }
}

/* A view of a view is a view of the first; producers come before readers. */
static void find_origins(simulation *s) {
  find_sums(s);
  for (tensor_id t = 0; t < s->g->tensors.count; t++) s->sole[t] = s->origin[t];
  for (uint32_t i = 0; i < s->g->ops.count; i++) {
    const graph_op *op = &s->g->ops.data[s->g->order[i]];
    uint32_t slot;
    const renaming kind = classify(s, op, &slot);
    if (kind == COMPUTES || kind == SUMS) continue;
    const tensor_id out = op->outputs[0];
    s->joined[out] = kind == JOINS;
    if (kind == VIEWS) s->origin[out] = s->origin[op->inputs[slot]];
    s->sole[out] =
        kind == VIEWS ? s->sole[op->inputs[slot]] : sole_of_operands(s, op);
  }
}

uint64_t simulation_scratch_of(const simulation *s, const graph_op *op) {
  uint64_t bodies = 0, bytes = 0;
  if (s->workspace)
    return number_round_up(s->workspace[op - s->g->ops.data], s->model->round);
  for (uint32_t i = 0; s->body_arena && i < op->body_count; i++)
    if (s->body_arena[op->bodies[i]] > bodies)
      bodies = s->body_arena[op->bodies[i]];
  if (!number_add(&bytes, op->workspace_bytes, bodies)) return UINT64_MAX;
  return number_round_up(bytes, s->model->round);
}

/* Does the operator do nothing: rename only, and need nothing else? */
static calm_status check_idle(simulation *s, const graph_op *op, bool *out) {
  uint32_t slot = CALM_NONE;
  const renaming kind = classify(s, op, &slot);
  *out = kind != COMPUTES && simulation_scratch_of(s, op) == 0;
  if (kind != VIEWS) return CALM_OK;
  simulation_forget(s);
  for (uint32_t i = 0; i < op->input_count; i++)
    if (i != slot) TRY(simulation_follow(s, op->inputs[i]));
  for (uint32_t i = 0; i < s->found.count; i++)
    if (simulation_occupies(s, s->found.data[i])) *out = false;
  return CALM_OK;
}

static calm_status keep_outputs(simulation *s) {
  simulation_forget(s);
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (tensor_of(s, t)->flags & CALM_TENSOR_OUTPUT)
      TRY(simulation_follow(s, t));
  for (uint32_t i = 0; i < s->found.count; i++) {
    s->kept[s->found.data[i]] = true;
    if (s->model->outputs == OUTPUTS_EXTERNAL)
      s->outside[s->found.data[i]] = true;
  }
  return CALM_OK;
}

/* Nobody reads it, and it is not made in place, where it would go together with
   what it is made of. */
static bool is_left_over(const simulation *s, tensor_id t) {
  const op_id producer = s->g->producer[t];
  return producer != CALM_NONE && reading_slots(s, t) == 0 &&
         !bits_has(s->model->inplace, s->g->ops.data[producer].kind);
}

static void keep_by_flags(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++) {
    const unsigned flags = tensor_of(s, t)->flags;
    if ((flags & CALM_TENSOR_VARIABLE) ||
        ((flags & CALM_TENSOR_INPUT) && s->model->inputs == INPUTS_WHOLE_RUN))
      s->kept[t] = true;
    if (s->model->keep_unread && is_left_over(s, t)) s->kept[t] = true;
  }
}

static calm_status mark_touched(simulation *s) {
  simulation_forget(s);
  for (op_id id = 0; id < s->g->ops.count; id++)
    TRY(simulation_follow_operands(s, &s->g->ops.data[id]));
  for (uint32_t i = 0; i < s->found.count; i++)
    s->touched[s->found.data[i]] = true;
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (is_handed_over(s, t)) s->touched[t] = true;
  return CALM_OK;
}

static calm_status count_needs(simulation *s, bool *idle) {
  for (op_id id = 0; id < s->g->ops.count; id++) {
    const graph_op *op = &s->g->ops.data[id];
    TRY(check_idle(s, op, &idle[id]));
    if (idle[id]) continue;
    simulation_forget(s);
    TRY(simulation_follow_operands(s, op));
    for (uint32_t i = 0; i < s->found.count; i++) s->needs[s->found.data[i]]++;
  }
  return CALM_OK;
}

/* An input of a body that the body leaves alone stays as long as it runs. */
static void keep_unused_inputs(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (is_handed_over(s, t) && !s->needs[t]) s->kept[t] = true;
}

calm_status simulation_find_storage(simulation *s) {
  find_origins(s);
  keep_by_flags(s);
  TRY(keep_outputs(s));
  return mark_touched(s);
}

calm_status simulation_find_needs(simulation *s, bool *idle) {
  TRY(count_needs(s, idle));
  keep_unused_inputs(s);
  return CALM_OK;
}
