#include "write_read_back.h"

#include <string.h>

#include "pipeline.h"

/* ---- Graphs -------------------------------------------------------------- */

/* One graph as it was, and as it is in the file that was written. */
typedef struct comparison {
  const calm_plan *plan;
  const graph *before, *after;
  const op_id *sequence;
  bool roughly;             /* kinds and operands are enough */
  const tensor_id *tensors; /* those of `before` in `after` */
  uint32_t *graphs;         /* likewise, CALM_NONE: not met yet */
  arena *scratch;
} comparison;

static calm_status fail(const calm_plan *plan, const char *what) {
  return context_fail(plan->context, CALM_INTERNAL,
                      "%s: what was written does not read back as meant: %s",
                      plan->model->path, what);
}

static bool same_tensors(const comparison *c, const tensor_id *a,
                         uint32_t a_count, const tensor_id *b,
                         uint32_t b_count) {
  if (a_count != b_count) return false;
  for (uint32_t i = 0; i < a_count; i++)
    if ((a[i] == CALM_NONE ? CALM_NONE : c->tensors[a[i]]) != b[i])
      return false;
  return true;
}

/* Bodies are numbered by where they stand in an .onnx file, so there they are
   those of the operators that run them. */
static bool same_bodies(const comparison *c, const graph_op *a,
                        const graph_op *b) {
  if (a->body_count != b->body_count) return false;
  for (uint32_t i = 0; i < a->body_count; i++) {
    uint32_t *known = &c->graphs[a->bodies[i]];
    if (*known == CALM_NONE) *known = b->bodies[i];
    if (*known != b->bodies[i]) return false;
  }
  return true;
}

static bool same_tensor(const graph_tensor *a, const graph_tensor *b) {
  return !strcmp(a->name, b->name) && a->type == b->type &&
         a->flags == b->flags && a->bytes == b->bytes && a->rank == b->rank &&
         (a->rank == 0 ||
          !memcmp(a->dimensions, b->dimensions, a->rank * sizeof(int64_t)));
}

static bool same_attributes(const graph_op *a, const graph_op *b) {
  if (a->attribute_count != b->attribute_count) return false;
  for (uint32_t i = 0; i < a->attribute_count; i++)
    if (strcmp(a->attributes[i].key, b->attributes[i].key) ||
        strcmp(a->attributes[i].value, b->attributes[i].value))
      return false;
  return true;
}

/* In an .onnx file a depthwise convolution of one channel is one like any
   other. */
static bool same_kind(const comparison *c, const graph_op *a,
                      const graph_op *b) {
  const char *group = graph_op_attribute(a, "group");
  if (a->kind == b->kind) return true;
  return c->roughly && a->kind == OP_depthwise_conv2d && b->kind == OP_conv2d &&
         (!group || !strcmp(group, "1"));
}

/* The name of an operator may speak of its place. */
static bool same_op(const comparison *c, const graph_op *a, const graph_op *b) {
  return same_kind(c, a, b) &&
         (c->roughly || (!strcmp(a->kind_name, b->kind_name) &&
                         a->workspace_bytes == b->workspace_bytes &&
                         same_attributes(a, b))) &&
         same_tensors(c, a->inputs, a->input_count, b->inputs,
                      b->input_count) &&
         same_tensors(c, a->outputs, a->output_count, b->outputs,
                      b->output_count) &&
         same_bodies(c, a, b);
}

/* Must each operator still wait for the same ones?  mark[u]: the last step that
   waits for operator u. */
static calm_status compare_waiting(const comparison *c) {
  const graph *before = c->before, *after = c->after;
  uint32_t *mark;
  ARENA_ARRAY(c->scratch, mark, before->ops.count);
  for (uint32_t step = 0; step < after->ops.count; step++) {
    const op_id op = c->sequence[step];
    const uint32_t begin = before->pred_begin[op],
                   end = before->pred_begin[op + 1];
    const uint32_t first = after->pred_begin[step],
                   last = after->pred_begin[step + 1];
    bool same = end - begin == last - first;
    for (uint32_t i = begin; i < end; i++) mark[before->preds[i]] = step + 1;
    for (uint32_t i = first; same && i < last; i++)
      same = mark[c->sequence[after->preds[i]]] == step + 1;
    if (!same) return fail(c->plan, "an operator waits for others");
  }
  return CALM_OK;
}

static calm_status compare_graph(const comparison *c) {
  const graph *before = c->before, *after = c->after;
  if (before->tensors.count != after->tensors.count ||
      before->ops.count != after->ops.count)
    return fail(c->plan, "a graph has another size");
  for (tensor_id t = 0; t < before->tensors.count; t++)
    if (!same_tensor(&before->tensors.data[t],
                     &after->tensors.data[c->tensors[t]]))
      return fail(c->plan, "a tensor has changed");
  for (uint32_t step = 0; step < before->ops.count; step++)
    if (!same_op(c, &before->ops.data[c->sequence[step]],
                 &after->ops.data[step]))
      return fail(c->plan, "the order is another");
  if (!after->file_order_valid) return fail(c->plan, "the order does not run");
  return compare_waiting(c);
}

static calm_status find_tensors(tensor_id *out, const comparison *c,
                                name_table *names) {
  for (tensor_id t = 0; t < c->after->tensors.count; t++)
    TRY(name_table_add(names, c->after->tensors.data[t].name, t));
  for (tensor_id t = 0; t < c->before->tensors.count; t++) {
    out[t] = name_table_find(names, c->before->tensors.data[t].name);
    if (out[t] == CALM_NONE) return fail(c->plan, "a tensor is gone");
  }
  return CALM_OK;
}

/* Where the file lists tensors they keep their numbers; in an .onnx file they
   are numbered by the nodes that write them. */
static calm_status match_tensors(const tensor_id **out, const comparison *c) {
  const uint32_t count = c->before->tensors.count;
  tensor_id *tensors;
  name_table names;
  ARENA_ARRAY(c->scratch, tensors, count);
  *out = tensors;
  for (tensor_id t = 0; t < count; t++) tensors[t] = t;
  if (c->after->tensors.count != count)
    return fail(c->plan, "a graph has another size");
  if (c->plan->model->format != MODEL_ONNX) return CALM_OK;
  name_table_init(&names, c->plan->context);
  calm_status status = find_tensors(tensors, c, &names);
  name_table_free(&names);
  return status;
}

static calm_status match_graphs(uint32_t **out, const calm_plan *plan,
                                arena *scratch) {
  ARENA_ARRAY(scratch, *out, plan->model->graphs.count);
  for (uint32_t i = 1; i < plan->model->graphs.count; i++)
    (*out)[i] = plan->model->format == MODEL_ONNX ? CALM_NONE : i;
  return CALM_OK;
}

static calm_status compare_graphs(const calm_plan *plan,
                                  const calm_model *written, arena *scratch) {
  const graph_vector *graphs = &plan->model->graphs;
  uint32_t *graph_of;
  TRY(match_graphs(&graph_of, plan, scratch));
  if (written->format != plan->model->format &&
      plan->model->format != MODEL_BUILT)
    return fail(plan, "the format is another");
  if (written->graphs.count != graphs->count)
    return fail(plan, "the number of graphs");
  for (uint32_t i = 0; i < graphs->count; i++) {
    if (graph_of[i] == CALM_NONE) return fail(plan, "a body is not run");
    comparison c = {.plan = plan,
                    .before = &graphs->data[i],
                    .after = &written->graphs.data[graph_of[i]],
                    .sequence = plan->graphs[i].sequence,
                    .graphs = graph_of,
                    .scratch = scratch};
    TRY(match_tensors(&c.tensors, &c));
    TRY(compare_graph(&c));
  }
  return CALM_OK;
}

/* ---- Rebuilt ------------------------------------------------------------- */

/* Under the plan's eyes, but of other models: numbers are to be the same. */
static calm_status compare_entry(const calm_plan *plan, const graph *before,
                                 const graph *after, arena *scratch) {
  comparison c = {.plan = plan,
                  .before = before,
                  .after = after,
                  .roughly = true,
                  .scratch = scratch};
  op_id *sequence;
  TRY(pipeline_identity(&sequence, before->ops.count, scratch));
  c.sequence = sequence;
  ARENA_ARRAY(scratch, c.graphs, plan->model->graphs.count);
  for (uint32_t i = 0; i < plan->model->graphs.count; i++)
    c.graphs[i] = CALM_NONE;
  TRY(match_tensors(&c.tensors, &c));
  return compare_graph(&c);
}

calm_status write_compare_rebuilt(const calm_plan *plan,
                                  const calm_model *before,
                                  const calm_model *after) {
  arena scratch;
  arena_init(&scratch, plan->context);
  calm_status status = before->format != after->format
                           ? fail(plan, "the format is another")
                       : before->graphs.count != after->graphs.count
                           ? fail(plan, "the number of graphs")
                           : compare_entry(plan, &before->graphs.data[0],
                                           &after->graphs.data[0], &scratch);
  arena_free(&scratch);
  return status;
}

/* ---- Offsets ------------------------------------------------------------- */

/* The offset that the file should give to a tensor. */
static int32_t wanted_offset(const calm_plan *plan, uint32_t g, tensor_id t) {
  const unsigned flags = plan->model->graphs.data[g].tensors.data[t].flags;
  const uint64_t offset = plan->graphs[g].offsets[t];
  return offset == UINT64_MAX ||
                 (flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE))
             ? -1
             : (int32_t)offset;
}

static calm_status compare_offsets(const calm_plan *plan,
                                   const calm_model *written) {
  const model_offline_plan *offline = &written->offline;
  uint32_t next = 0;
  if (!offline->present || offline->fault || offline->entries != 1)
    return fail(plan, "the offline plan is not there");
  for (uint32_t i = 0; i < plan->model->graphs.count; i++)
    for (tensor_id t = 0; t < plan->model->graphs.data[i].tensors.count; t++)
      if (next >= offline->word_count ||
          offline->offsets[next++] != wanted_offset(plan, i, t))
        return fail(plan, "the offsets are others");
  return (int64_t)offline->declared_count == (int64_t)next
             ? CALM_OK
             : fail(plan, "the number of offsets");
}

/* Beside offsets that rely on certain kernels, and only there. */
static calm_status compare_mark(const calm_plan *plan,
                                const calm_model *written) {
  const model_mark *a = &plan->mark, *b = &written->offline.mark;
  if (a->present != b->present) return fail(plan, "the mark of the plan");
  if (!a->present) return CALM_OK;
  const bool same = !b->fault && b->same_graphs && b->same_offsets &&
                    a->edition == b->edition &&
                    !strcmp(a->kernels, b->kernels) &&
                    !strcmp(a->views, b->views) && !strcmp(a->tool, b->tool);
  return same ? CALM_OK : fail(plan, "what the mark of the plan says");
}

/* Scratch that was told by name cannot be told again: names speak of places. */
static bool same_scratch(const calm_plan *plan, const pipeline_tflm *t,
                         const calm_model *written) {
  const graph_vector *graphs = &written->graphs;
  const uint32_t last = graphs->count - 1;
  const uint32_t ops = t->scratch.op_begin[last] + graphs->data[last].ops.count;
  uint64_t bytes = 0, planned = 0;
  for (uint32_t i = 0; i < t->scratch.begin[ops]; i++)
    bytes += t->scratch.bytes[i];
  for (uint32_t i = 0; i < plan->runtime.scratch_count; i++)
    planned += plan->runtime.scratch[i].bytes;
  return bytes == planned &&
         t->scratch.begin[ops] == plan->runtime.scratch_count;
}

/* All graphs as they will run, by the file alone. */
static calm_status check_offsets(const calm_plan *plan,
                                 const calm_model *written,
                                 const calm_options *options, arena *scratch) {
  pipeline_tflm t;
  memory_verdict verdict;
  TRY(pipeline_tflm_model(&t, written, options, scratch));
  TRY(tflm_check(&verdict, &t.model, &plan->memory, scratch));
  calm_status status = CALM_OK;
  if (verdict.faults.count)
    status = fail(plan, verdict.faults.data[0].text);
  else if (same_scratch(plan, &t, written) &&
           verdict.arena_bytes != plan->runtime.head_bytes)
    status = fail(plan, "the arena is another");
  memory_verdict_free(&verdict, plan->context);
  return status;
}

static calm_status check_written(const calm_plan *plan,
                                 const calm_model *written, arena *scratch) {
  calm_options *options;
  TRY(compare_offsets(plan, written));
  TRY(compare_mark(plan, written));
  TRY(calm_options_new(&options, plan->context));
  calm_status status =
      calm_options_set(options, "kernels", plan->runtime.kernels);
  if (status == CALM_OK)
    status = check_offsets(plan, written, options, scratch);
  calm_options_free(options);
  return status;
}

/* ---- Both ---------------------------------------------------------------- */

static calm_status compare(const calm_plan *plan, const calm_model *written,
                           model_plan_action action) {
  arena scratch;
  arena_init(&scratch, plan->context);
  calm_status status = compare_graphs(plan, written, &scratch);
  if (status == CALM_OK && action == MODEL_PLAN_WRITE)
    status = check_written(plan, written, &scratch);
  if (status == CALM_OK && action == MODEL_PLAN_STRIP &&
      (written->offline.present || written->offline.mark.present))
    status = fail(plan, "the offline plan is still there");
  arena_free(&scratch);
  return status;
}

/* All that can be said of the file has been said when the input was read. */
calm_status write_read_back(const calm_plan *plan, const char *path,
                            model_plan_action action) {
  calm_model written;
  model_init(&written, plan->context, plan->model->path);
  written.dims = plan->model->dims;
  written.fixed_weights = plan->model->fixed_weights;
  context_mute(plan->context, true);
  calm_status status = file_map_open(&written.map, plan->context, path);
  if (status == CALM_OK) {
    status = model_read(&written);
    if (status == CALM_OK) status = compare(plan, &written, action);
    file_map_close(&written.map);
  }
  context_mute(plan->context, false);
  model_clear(&written);
  return status;
}
