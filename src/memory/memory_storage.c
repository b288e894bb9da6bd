#include "memory/memory_storage.h"

#include "base/number.h"

/* The work of one resolution. */
typedef struct resolver {
  const graph *g;
  const memory_model *model;
  memory_storage *out;
  tensor_id *sum_of; /* tensor -> itself, or the partial sum that it goes into,
                        be it by way of others */
} resolver;

static const graph_tensor *tensor_at(const resolver *r, tensor_id t) {
  return &r->g->tensors.data[t];
}

static bool has_flag(const resolver *r, tensor_id t, unsigned flag) {
  return t != CALM_NONE && (tensor_at(r, t)->flags & flag);
}

/* The input that an operator of one output passes on under another shape: the
   first for a view, the one that is no constant for a split into one part. */
static uint32_t find_viewed_slot(const resolver *r, const graph_op *op) {
  uint32_t slot = 0;
  if (!bits_has(r->model->views, op->kind)) return CALM_NONE;
  if (op->kind != OP_split && op->kind != OP_split_v) return 0;
  while (slot + 1 < op->input_count &&
         has_flag(r, op->inputs[slot], CALM_TENSOR_CONST))
    slot++;
  return slot;
}

/*
 * State may change between the moment when it is copied and the moment when the
 * copy is read, so nothing stands for a variable and no variable stands for
 * anything.
 */
static bool touches_state(const resolver *r, const graph_op *op) {
  for (uint32_t i = 0; i < op->input_count; i++)
    if (has_flag(r, op->inputs[i], CALM_TENSOR_VARIABLE)) return true;
  return has_flag(r, op->outputs[0], CALM_TENSOR_VARIABLE);
}

/* What goes into a partial sum is added up there, whatever computes it. */
static memory_sharing find_sharing(const resolver *r, const graph_op *op) {
  const memory_sharing none = {0, 0};
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE ||
      touches_state(r, op) || graph_goes_into_sum(r->g, op->outputs[0]))
    return none;
  if (op->kind == OP_concat && r->model->concat == CONCAT_ELIDE)
    return (memory_sharing){0, op->input_count};
  uint32_t slot = find_viewed_slot(r, op);
  if (slot >= op->input_count || op->inputs[slot] == CALM_NONE ||
      has_flag(r, op->inputs[slot], r->model->copied) ||
      (r->model->own_outputs &&
       has_flag(r, op->outputs[0], CALM_TENSOR_OUTPUT)))
    return none;
  if (tensor_at(r, op->inputs[slot])->bytes !=
      tensor_at(r, op->outputs[0])->bytes)
    return none;
  return (memory_sharing){slot, slot + 1};
}

static bool shares(const memory_storage *s, op_id op) {
  return s->sharing[op].from < s->sharing[op].to;
}

static calm_status resolve_output(resolver *r, op_id id) {
  const graph_op *op = &r->g->ops.data[id];
  memory_rows *bases = &r->out->bases;
  memory_rows_open(bases, op->outputs[0]);
  for (uint32_t i = r->out->sharing[id].from; i < r->out->sharing[id].to; i++)
    if (op->inputs[i] != CALM_NONE)
      TRY(memory_rows_add_row(bases, op->inputs[i]));
  return CALM_OK;
}

/* A sum may go into another: the last of them comes first. */
static calm_status resolve_sums(resolver *r, arena *a) {
  const graph *g = r->g;
  ARENA_ARRAY(a, r->sum_of, g->tensors.count);
  for (tensor_id t = 0; t < g->tensors.count; t++) r->sum_of[t] = t;
  for (uint32_t i = g->ops.count; i-- > 0;) {
    const graph_op *op = &g->ops.data[g->order[i]];
    if (op->kind != OP_partial_sum) continue;
    for (uint32_t k = 0; k < op->input_count; k++)
      r->sum_of[op->inputs[k]] = r->sum_of[op->outputs[0]];
  }
  return CALM_OK;
}

/* Every tensor that no sharing operator makes is its own base, or that of the
   sum it goes into; the others follow in topological order. */
static calm_status resolve_bases(resolver *r) {
  memory_storage *s = r->out;
  for (tensor_id t = 0; t < r->g->tensors.count; t++) {
    op_id producer = r->g->producer[t];
    if (producer != CALM_NONE && shares(s, producer)) continue;
    memory_rows_open(&s->bases, t);
    TRY(memory_rows_add(&s->bases, r->sum_of[t]));
  }
  for (uint32_t i = 0; i < r->g->ops.count; i++)
    if (shares(s, r->g->order[i])) TRY(resolve_output(r, r->g->order[i]));
  return CALM_OK;
}

/* Does nobody read the tensor, and the runtime forget about it therefore?  One
   that is made in place goes with what it is made of. */
static bool stays_unread(const resolver *r, tensor_id t) {
  const op_id producer = r->g->producer[t];
  return r->model->keep_unread && producer != CALM_NONE &&
         r->g->reader_begin[t] == r->g->reader_begin[t + 1] &&
         !bits_has(r->model->inplace, r->g->ops.data[producer].kind);
}

/* What a tensor's own flags say, before the rest of the graph has its say. */
static memory_base describe_base(const resolver *r, tensor_id t) {
  const graph_tensor *tensor = tensor_at(r, t);
  const memory_model *m = r->model;
  const bool input = tensor->flags & CALM_TENSOR_INPUT;
  const bool variable = tensor->flags & CALM_TENSOR_VARIABLE;
  const bool external = (input && m->inputs == INPUTS_EXTERNAL) ||
                        (variable && m->variables == VARIABLES_EXTERNAL);
  const bool exists = input || variable || r->g->producer[t] != CALM_NONE;
  const bool constant = tensor->flags & CALM_TENSOR_CONST;
  return (memory_base){
      .placed = exists && !constant && !external && tensor->bytes > 0,
      .from_start = input || variable,
      .to_end = variable || (input && m->inputs == INPUTS_WHOLE_RUN) ||
                stays_unread(r, t),
      .bytes = number_round_up(tensor->bytes, m->round)};
}

/* An output keeps whatever it is made of to the end; an external one puts it
   outside. */
static void apply_output(resolver *r, tensor_id t) {
  const memory_rows *bases = &r->out->bases;
  for (uint32_t i = bases->begin[t]; i < bases->end[t]; i++) {
    memory_base *base = &r->out->base[bases->items.data[i]];
    base->to_end = true;
    if (r->model->outputs == OUTPUTS_EXTERNAL) base->placed = false;
  }
}

static void describe_bases(resolver *r) {
  for (tensor_id t = 0; t < r->g->tensors.count; t++)
    r->out->base[t] = describe_base(r, t);
  for (tensor_id t = 0; t < r->g->tensors.count; t++)
    if (has_flag(r, t, CALM_TENSOR_OUTPUT)) apply_output(r, t);
}

static bool needs_place(const memory_storage *s, tensor_id t) {
  if (t == CALM_NONE) return false;
  for (uint32_t i = s->bases.begin[t]; i < s->bases.end[t]; i++)
    if (s->base[s->bases.items.data[i]].placed) return true;
  return false;
}

/* A partial sum has been added up when it runs.  A sharing operator is free
   unless it also reads something else from the arena, such as a shape that
   another operator computes. */
static bool is_free(const resolver *r, op_id id, uint64_t workspace) {
  const graph_op *op = &r->g->ops.data[id];
  const memory_sharing sharing = r->out->sharing[id];
  if (op->kind == OP_partial_sum) return workspace == 0;
  if (sharing.from == sharing.to || workspace > 0) return false;
  for (uint32_t i = 0; i < op->input_count; i++)
    if ((i < sharing.from || i >= sharing.to) &&
        needs_place(r->out, op->inputs[i]))
      return false;
  return true;
}

static void mark(const memory_storage *s, tensor_id t, bool *marks) {
  if (t == CALM_NONE) return;
  for (uint32_t i = s->bases.begin[t]; i < s->bases.end[t]; i++)
    marks[s->bases.items.data[i]] = true;
}

static void mark_operands(const resolver *r, op_id id, bool *marks) {
  const graph_op *op = &r->g->ops.data[id];
  for (uint32_t i = 0; i < op->input_count; i++)
    mark(r->out, op->inputs[i], marks);
  for (uint32_t i = 0; i < op->output_count; i++)
    mark(r->out, op->outputs[i], marks);
}

/*
 * A base that no operator touches costs nothing, however it is pinned.  If only
 * free operators touch it (a graph input that is reshaped into an output) it
 * costs something only while it is pinned from start to end.  The inputs of a
 * body are the exception: whoever runs it writes them all, so one that nothing
 * works on keeps its bytes as long as the body runs.
 */
static calm_status drop_untouched(resolver *r, arena *a) {
  bool *by_any, *by_working;
  ARENA_ARRAY(a, by_any, r->g->tensors.count);
  ARENA_ARRAY(a, by_working, r->g->tensors.count);
  for (op_id op = 0; op < r->g->ops.count; op++) {
    mark_operands(r, op, by_any);
    if (!r->out->free_op[op]) mark_operands(r, op, by_working);
  }
  for (tensor_id t = 0; t < r->g->tensors.count; t++) {
    memory_base *base = &r->out->base[t];
    const bool handed_over = r->g->is_body && has_flag(r, t, CALM_TENSOR_INPUT);
    if (handed_over && !by_working[t]) {
      base->to_end = true;
      continue;
    }
    const bool whole_run = base->from_start && base->to_end;
    if (!by_working[t] && !(by_any[t] && whole_run)) base->placed = false;
  }
  return CALM_OK;
}

calm_status memory_storage_resolve(memory_storage *out, const graph *g,
                                   const memory_model *model,
                                   const uint64_t *workspace, arena *a) {
  resolver r = {.g = g, .model = model, .out = out};
  const uint32_t tensors = g->tensors.count, ops = g->ops.count;
  *out = (memory_storage){0};
  TRY(memory_rows_init(&out->bases, tensors, tensors, a));
  ARENA_ARRAY(a, out->sharing, ops);
  ARENA_ARRAY(a, out->base, tensors);
  ARENA_ARRAY(a, out->free_op, ops);
  for (op_id op = 0; op < ops; op++)
    out->sharing[op] = find_sharing(&r, &g->ops.data[op]);
  TRY(resolve_sums(&r, a));
  TRY(resolve_bases(&r));
  describe_bases(&r);
  for (op_id op = 0; op < ops; op++)
    out->free_op[op] = is_free(&r, op, workspace[op]);
  return drop_untouched(&r, a);
}

void memory_storage_free(memory_storage *storage) {
  if (storage->bases.context) memory_rows_free(&storage->bases);
}
