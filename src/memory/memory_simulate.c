/*
 * An order, carried out on paper.  Step by step the operator's tensors come to
 * life, memory is added up, and what nobody needs any more goes.  Everything
 * comes from the graph and the rules in docs/memory-models.md; nothing here
 * knows of buffers, order problems or how those were built, because this is
 * what they are judged by.
 *
 * A tensor is either stored, or it stands for others: a view for its input, an
 * elided concat for its operands, an operand of a partial sum for the sum.
 * `follow` finds what is stored behind a tensor by walking back through the
 * operators that only rename; sums are looked up.
 */
#include "memory/memory_check.h"

#include "base/number.h"
#include "base/vector.h"

typedef VECTOR(tensor_id) tensor_list;

typedef struct simulation {
  const graph *g;
  const memory_model *model;
  const uint64_t *body_arena;
  const uint64_t *workspace; /* per operator, bodies included, or NULL: what
                                the graph and body_arena say */
  calm_context *context;
  memory_profile *profile;
  /* Per tensor, of interest for stored ones: */
  uint32_t *needs; /* operators still to run that read or write it */
  bool *touched;   /* some operator has to do with it, be it only a view */
  bool *kept;      /* it must survive the run */
  bool *outside;   /* it lies in memory of the caller */
  bool *alive;
  tensor_id *origin; /* itself, or what a view is, after all, a view of, or the
                        sum that it is a part of */
  bool *joined;      /* an elided concat makes it */
  tensor_id *sole; /* the stored tensor that is all there is behind it, NOTHING
                      or SEVERAL */
  uint32_t *seen;  /* the walk that last met it */
  uint32_t walk;
  tensor_list found; /* result of the walks since the last forget() */
  tensor_list path;  /* still to be visited by a walk */
  uint64_t live_bytes;
} simulation;

static const graph_tensor *tensor_of(const simulation *s, tensor_id t) {
  return &s->g->tensors.data[t];
}

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

static uint32_t reading_slots(const simulation *s, tensor_id t) {
  return s->g->reader_begin[t + 1] - s->g->reader_begin[t];
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

/* Does a stored tensor occupy the arena at all? */
static bool occupies(const simulation *s, tensor_id t) {
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

static bool from_start(const simulation *s, tensor_id t) {
  return tensor_of(s, t)->flags & (CALM_TENSOR_INPUT | CALM_TENSOR_VARIABLE);
}

static uint64_t rounded(const simulation *s, tensor_id t) {
  return number_round_up(tensor_of(s, t)->bytes, s->model->round);
}

/* ---- Walking back to what is stored -------------------------------------- */

static void forget(simulation *s) {
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

/* Add to `found` the stored tensors behind t, each once since forget(). */
static calm_status follow(simulation *s, tensor_id t) {
  TRY(visit(s, t));
  while (s->path.count) TRY(visit(s, s->path.data[--s->path.count]));
  return CALM_OK;
}

static calm_status follow_all(simulation *s, const tensor_id *tensors,
                              uint32_t count) {
  for (uint32_t i = 0; i < count; i++) TRY(follow(s, tensors[i]));
  return CALM_OK;
}

static calm_status follow_operands(simulation *s, const graph_op *op) {
  TRY(follow_all(s, op->inputs, op->input_count));
  return follow_all(s, op->outputs, op->output_count);
}

/* ---- Before the first step ----------------------------------------------- */

/* No ids: these are the last two, and no graph has so many tensors. */
static const tensor_id SEVERAL = UINT32_MAX, NOTHING = UINT32_MAX - 1;

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

static uint64_t scratch_of(const simulation *s, const graph_op *op) {
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
  *out = kind != COMPUTES && scratch_of(s, op) == 0;
  if (kind != VIEWS) return CALM_OK;
  forget(s);
  for (uint32_t i = 0; i < op->input_count; i++)
    if (i != slot) TRY(follow(s, op->inputs[i]));
  for (uint32_t i = 0; i < s->found.count; i++)
    if (occupies(s, s->found.data[i])) *out = false;
  return CALM_OK;
}

static calm_status keep_outputs(simulation *s) {
  forget(s);
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (tensor_of(s, t)->flags & CALM_TENSOR_OUTPUT) TRY(follow(s, t));
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
  forget(s);
  for (op_id id = 0; id < s->g->ops.count; id++)
    TRY(follow_operands(s, &s->g->ops.data[id]));
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
    forget(s);
    TRY(follow_operands(s, op));
    for (uint32_t i = 0; i < s->found.count; i++) s->needs[s->found.data[i]]++;
  }
  return CALM_OK;
}

/* An input of a body that the body leaves alone stays as long as it runs. */
static void keep_unused_inputs(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (is_handed_over(s, t) && !s->needs[t]) s->kept[t] = true;
}

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

/* What is there before anything runs: inputs and state that someone needs or
   that must survive. */
static void begin_run(simulation *s) {
  for (tensor_id t = 0; t < s->g->tensors.count; t++)
    if (occupies(s, t) && from_start(s, t) && (s->needs[t] || s->kept[t]))
      give_birth(s, t, 0);
}

/* The stored tensor that is all there is behind t, or CALM_NONE. */
static tensor_id sole_in_arena(const simulation *s, tensor_id t) {
  if (t == CALM_NONE || s->sole[t] >= NOTHING) return CALM_NONE;
  return occupies(s, s->sole[t]) ? s->sole[t] : CALM_NONE;
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
  forget(s);
  for (uint32_t i = 0; i < op->input_count && changed != CALM_NONE; i++)
    if (i != changed) TRY(follow(s, op->inputs[i]));
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
    *out = rounded(s, s->sole[op->outputs[0]]) + scratch_of(s, op);
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
  forget(s);
  TRY(follow_operands(s, op));
  for (uint32_t i = 0; i < s->found.count; i++) {
    const tensor_id t = s->found.data[i];
    if (occupies(s, t) && !s->alive[t]) give_birth(s, t, step);
  }
  uint64_t gross;
  if (!number_add(&gross, s->live_bytes, scratch_of(s, op)))
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
    if (occupies(s, t) && !number_add(&total, total, rounded(s, t)))
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
  find_origins(s);
  keep_by_flags(s);
  TRY(keep_outputs(s));
  TRY(mark_touched(s));
  TRY(check_total(s));
  describe_storage(s);
  TRY(count_needs(s, idle));
  keep_unused_inputs(s);
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
