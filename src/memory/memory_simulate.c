/*
 * An order, carried out on paper.  Step by step the operator's tensors come to
 * life, memory is added up, and what nobody needs any more goes.  Everything
 * comes from the graph and the rules in docs/memory-models.md; nothing here
 * knows of buffers, order problems or how those were built, because this is
 * what they are judged by.
 */
#include "memory/memory_simulate.h"

#include "memory/memory_alias.h"

/* ---- Step by step -------------------------------------------------------- */

static void give_birth(simulation *s, tensor_id t, uint32_t step) {
  s->alive[t] = true;
  s->profile->lives[t].counted = true;
  s->profile->lives[t].first = step;
  s->live_bytes += rounded(s, t);
}

static void bury(simulation *s, tensor_id t, uint32_t step) {
  s->alive[t] = false;
  s->profile->lives[t].last = step;
  s->live_bytes -= rounded(s, t);
}

static bool from_start(const simulation *s, tensor_id t) {
  return tensor_of(s, t)->flags & (CALM_TENSOR_INPUT | CALM_TENSOR_VARIABLE);
}

/* What is there before anything runs: inputs and state that someone needs or
   that must survive. */
static void begin_run(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (simulation_occupies(s, t) && from_start(s, t) &&
        (s->needs[t] || s->kept[t]))
      give_birth(s, t, 0);
}

/* The stored tensor that is all there is behind t, or CALM_NONE. */
static tensor_id sole_in_arena(const simulation *s, tensor_id t) {
  if (t == CALM_NONE || s->sole[t] >= NOTHING) return CALM_NONE;
  return simulation_occupies(s, s->sole[t]) ? s->sole[t] : CALM_NONE;
}

/* Does the memory model let the operator write over this operand, whose bytes
   are those of `source`, if it dies there? */
static bool lets_overwrite(const simulation *s, const graph_op *op,
                           uint32_t slot, tensor_id source) {
  const tensor_id in = op->inputs[slot], out = op->outputs[0];
  if (s->model->own_outputs &&
      (tensor_of(s, s->sole[out])->flags & CALM_TENSOR_OUTPUT))
    return false;
  if (s->model->sole_reader &&
      (reading_slots(s, in) > 1 || reading_slots(s, source) > 1))
    return false;
  return memory_slot_inplace(op->kind, slot) &&
         tensor_of(s, in)->bytes > s->model->inplace_above &&
         memory_same_elements(tensor_of(s, in), tensor_of(s, out));
}

/* Visit what a kernel reads while it changes one of its operands; nothing for
   other kernels. */
static calm_status follow_unchanged(simulation *s, const graph_op *op) {
  const uint32_t changed = memory_changed_slot(op->kind);
  simulation_forget(s);
  for (uint32_t i = 0; i < op->input_count && changed != CALM_NONE; i++)
    if (i != changed) TRY(simulation_follow(s, op->inputs[i]));
  return CALM_OK;
}

/* Does an add_into find nothing to add to, and may what it is given, which
   nobody needs any more, become the sum? */
static bool hands_over(const simulation *s, const graph_op *op) {
  if (op->kind != OP_add_into) return false;
  const tensor_id source = sole_in_arena(s, op->inputs[0]);
  const tensor_id sum = sole_in_arena(s, op->outputs[0]);
  return source != CALM_NONE && sum != CALM_NONE && s->alive[source] &&
         !s->alive[sum] && s->needs[source] == 1 && !s->kept[source] &&
         rounded(s, source) == rounded(s, sum);
}

/* Bytes saved because the first output takes the place of an input that dies
   with this operator; for a sum that begins so, its workspace is saved, too.
   Asked before the operator's tensors change state. */
static calm_status find_saving(simulation *s, const graph_op *op,
                               uint64_t *out) {
  *out = 0;
  if (hands_over(s, op)) {
    *out = rounded(s, s->sole[op->outputs[0]]) + simulation_scratch_of(s, op);
    return CALM_OK;
  }
  if (op->kind == OP_add_into || !bits_has(s->model->inplace, op->kind) ||
      op->output_count == 0)
    return CALM_OK;
  const tensor_id target = sole_in_arena(s, op->outputs[0]);
  if (target == CALM_NONE || s->alive[target]) return CALM_OK;
  TRY(follow_unchanged(s, op));
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id source = sole_in_arena(s, op->inputs[i]);
    if (source == CALM_NONE || !s->alive[source]) continue;
    if (s->needs[source] == 1 && !s->kept[source] &&
        s->seen[source] != s->walk &&
        rounded(s, source) == rounded(s, target) &&
        lets_overwrite(s, op, i, source))
      *out = rounded(s, target);
  }
  return CALM_OK;
}

static calm_status run_step(simulation *s, uint32_t step, const graph_op *op) {
  uint64_t saving;
  TRY(find_saving(s, op, &saving));
  simulation_forget(s);
  TRY(simulation_follow_operands(s, op));
  for (uint32_t i = 0; i < s->found.count; i++) {
    const tensor_id t = s->found.data[i];
    if (simulation_occupies(s, t) && !s->alive[t]) give_birth(s, t, step);
  }
  uint64_t gross;
  if (!number_add(&gross, s->live_bytes, simulation_scratch_of(s, op)))
    return context_fail(s->context, CALM_BAD_INPUT,
                        "graph '%s': more than 2^62 bytes are alive while '%s' "
                        "runs",
                        s->g->name, op->name);
  s->profile->step_bytes[step] = gross - saving;
  for (uint32_t i = 0; i < s->found.count; i++) {
    const tensor_id t = s->found.data[i];
    if (--s->needs[t] == 0 && s->alive[t] && !s->kept[t]) bury(s, t, step);
  }
  return CALM_OK;
}

static void end_run(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (s->alive[t]) bury(s, t, s->g->ops.count - 1);
}

static void find_peak(memory_profile *profile, uint32_t steps) {
  for (uint32_t step = 0; step < steps; step++)
    if (profile->step_bytes[step] > profile->peak_bytes) {
      profile->peak_bytes = profile->step_bytes[step];
      profile->peak_step = step;
    }
}

/* ---- All of it ----------------------------------------------------------- */

/* Whose bytes a tensor's are: itself, or what a view is a view of. */
static void describe_storage(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++) {
    memory_life *life = &s->profile->lives[t];
    life->storage = s->sole[t] < NOTHING ? s->sole[t] : t;
    life->bytes = rounded(s, t);
    life->kept = s->kept[t];
  }
}

static calm_status check_total(const simulation *s) {
  uint64_t total = 0;
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (simulation_occupies(s, t) && !number_add(&total, total, rounded(s, t)))
      return context_fail(s->context, CALM_BAD_INPUT,
                          "graph '%s': its tensors together exceed 2^62 bytes",
                          s->g->name);
  return CALM_OK;
}

static calm_status simulate(simulation *s, const op_id *sequence,
                            arena *scratch, arena *a) {
  const uint32_t tensors = s->g->tensors.count, ops = s->g->ops.count;
  bool *idle;
  ARENA_ARRAY(a, s->profile->lives, tensors);
  ARENA_ARRAY(a, s->profile->step_bytes, ops);
  if (s->model->overlap || memory_alias_asked(s->model)) {
    TRY(simulation_run_rows(s, sequence, scratch));
    find_peak(s->profile, ops);
    return CALM_OK;
  }
  ARENA_ARRAY(scratch, s->needs, tensors);
  ARENA_ARRAY(scratch, s->touched, tensors);
  ARENA_ARRAY(scratch, s->kept, tensors);
  ARENA_ARRAY(scratch, s->outside, tensors);
  ARENA_ARRAY(scratch, s->alive, tensors);
  ARENA_ARRAY(scratch, s->seen, tensors);
  ARENA_ARRAY(scratch, idle, ops);
  ARENA_ARRAY(scratch, s->origin, tensors);
  ARENA_ARRAY(scratch, s->joined, tensors);
  ARENA_ARRAY(scratch, s->sole, tensors);
  TRY(simulation_find_storage(s));
  TRY(check_total(s));
  describe_storage(s);
  TRY(simulation_find_needs(s, idle));
  begin_run(s);
  for (uint32_t step = 0; step < ops; step++)
    if (idle[sequence[step]])
      s->profile->step_bytes[step] = s->live_bytes;
    else
      TRY(run_step(s, step, &s->g->ops.data[sequence[step]]));
  end_run(s);
  find_peak(s->profile, ops);
  return CALM_OK;
}

static calm_status run_simulation(memory_profile *out, simulation *s,
                                  const op_id *sequence, arena *a) {
  memory_profile profile = {0};
  arena scratch;
  s->context = a->context;
  s->profile = &profile;
  arena_init(&scratch, a->context);
  calm_status status = simulate(s, sequence, &scratch, a);
  VECTOR_FREE(s->context, &s->found);
  VECTOR_FREE(s->context, &s->path);
  arena_free(&scratch);
  if (status == CALM_OK) *out = profile;
  return status;
}

calm_status memory_simulate(memory_profile *out, const graph *g,
                            const memory_model *model,
                            const uint64_t *body_arena, const op_id *sequence,
                            arena *a) {
  simulation s = {.g = g, .model = model, .body_arena = body_arena};
  return run_simulation(out, &s, sequence, a);
}

calm_status memory_simulate_workspaces(memory_profile *out, const graph *g,
                                       const memory_model *model,
                                       const uint64_t *workspace_bytes,
                                       const op_id *sequence, arena *a) {
  simulation s = {.g = g, .model = model, .workspace = workspace_bytes};
  return run_simulation(out, &s, sequence, a);
}
