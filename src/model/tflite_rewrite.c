/*
 * A rewriting happens in the map of the file, which is private: the edits are
 * exchanged with the bytes that are there, the whole is read as a new model,
 * and if that is not what was meant, they are exchanged again.
 */
#include <string.h>

#include "model/tflite_rewrite.h"

flat_table tflite_tensor_table(const tflite_writer *w, uint32_t subgraph,
                               tensor_id t) {
  const flat_file *file = &w->tables.file;
  return flat_table_at(
      file,
      flat_vector_of(file, flat_table_at(file, w->tables.subgraphs, subgraph),
                     TFLITE_subgraph_tensors, 4),
      t);
}

flat_table tflite_quantization_of(const tflite_writer *w, flat_table tensor) {
  return flat_table_of(&w->tables.file, tensor, TFLITE_tensor_quantization);
}

/* ---- What was meant ------------------------------------------------------ */

static calm_status make_changes(tflite_change **out, const calm_model *model,
                                arena *a) {
  tflite_change *changes;
  ARENA_ARRAY(a, changes, model->graphs.count);
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    tflite_change *c = &changes[i];
    ARENA_ARRAY(a, c->sequence, g->ops.count);
    ARENA_ARRAY(a, c->becomes, g->tensors.count);
    ARENA_ARRAY(a, c->unused, g->tensors.count);
    c->count = g->ops.count;
    for (op_id u = 0; u < g->ops.count; u++) c->sequence[u] = u;
    for (tensor_id t = 0; t < g->tensors.count; t++) c->becomes[t] = t;
  }
  *out = changes;
  return CALM_OK;
}

static bool same_tensor(const graph_tensor *a, const graph_tensor *b,
                        model_rewriting kind) {
  const bool lowered =
      kind == MODEL_TO_INT8 && a->type == ELEMENT_u8 && b->type == ELEMENT_i8;
  return (a->type == b->type || lowered) && a->flags == b->flags &&
         a->bytes == b->bytes && a->rank == b->rank &&
         !strcmp(a->name, b->name);
}

static bool same_op(const graph_op *a, const graph_op *b,
                    const tensor_id *becomes) {
  if (strcmp(a->kind_name, b->kind_name) || a->input_count != b->input_count ||
      a->output_count != b->output_count || a->after_count != b->after_count)
    return false;
  for (uint32_t i = 0; i < a->input_count; i++) {
    const tensor_id t = a->inputs[i];
    if (b->inputs[i] != (t == CALM_NONE ? t : becomes[t])) return false;
  }
  return a->output_count == 0 ||
         !memcmp(a->outputs, b->outputs, a->output_count * sizeof *a->outputs);
}

static bool same_graph(const graph *before, const graph *after,
                       const tflite_change *c, model_rewriting kind) {
  if (before->tensors.count != after->tensors.count ||
      after->ops.count != c->count)
    return false;
  for (tensor_id t = 0; t < before->tensors.count; t++)
    if (!c->unused[t] &&
        !same_tensor(&before->tensors.data[t], &after->tensors.data[t], kind))
      return false;
  for (uint32_t i = 0; i < c->count; i++)
    if (!same_op(&before->ops.data[c->sequence[i]], &after->ops.data[i],
                 c->becomes))
      return false;
  return true;
}

static calm_status compare(const calm_model *before, const calm_model *after,
                           const tflite_change *changes, model_rewriting kind) {
  bool same = before->graphs.count == after->graphs.count;
  for (uint32_t i = 0; same && i < before->graphs.count; i++)
    same = same_graph(&before->graphs.data[i], &after->graphs.data[i],
                      &changes[i], kind);
  if (same) return CALM_OK;
  return context_fail(before->context, CALM_UNSUPPORTED,
                      "%s: operators or tensors share lists that would have to "
                      "differ after the rewriting",
                      before->path);
}

/* ---- Making it ----------------------------------------------------------- */

/* Bytes that may be written to: the map, or a copy of a caller's memory. */
static calm_status take_bytes(calm_model *out, const calm_model *model) {
  uint8_t *copy;
  out->map = model->map;
  if (model->mapped)
    return file_map_detach(&out->map, model->context, model->path);
  ARENA_ARRAY(&out->arena, copy, model->map.length);
  memcpy(copy, model->map.bytes, model->map.length);
  out->map.bytes = copy;
  return CALM_OK;
}

/* All that can be said of the file has been said when it was read first. */
static calm_status read_again(calm_model *out, const calm_model *model,
                              tflite_writer *w, const tflite_change *changes,
                              model_rewriting kind) {
  out->path = arena_string(&out->arena, model->path, strlen(model->path));
  if (!out->path) return context_no_memory(model->context);
  TRY(take_bytes(out, model));
  uint8_t *bytes = (uint8_t *)(uintptr_t)out->map.bytes;
  tflite_edit_swap(w, bytes);
  context_mute(model->context, true);
  calm_status status = model_read(out);
  context_mute(model->context, false);
  if (status == CALM_OK) status = compare(model, out, changes, kind);
  if (status != CALM_OK) tflite_edit_swap(w, bytes);
  return status;
}

/* The new model takes the place of the old one, and the map with it. */
static void take_place(calm_model *model, calm_model *next) {
  next->mapped = model->mapped;
  next->altered = true;
  model_clear(model);
  *model = *next;
  model->arena.context = model->context;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    model->graphs.data[i].arena = &model->arena;
}

static calm_status rewrite(calm_model *model, model_rewriting kind,
                           tflite_writer *w) {
  tflite_change *changes;
  calm_model next;
  TRY(make_changes(&changes, model, w->a));
  TRY(kind == MODEL_TO_INT8 ? tflite_to_int8(w)
                            : tflite_remove_noops(w, changes));
  if (w->edits.count == 0) return CALM_OK;
  TRY(tflite_edit_settle(w));
  model_init(&next, model->context, NULL);
  calm_status status = read_again(&next, model, w, changes, kind);
  if (status == CALM_OK)
    take_place(model, &next);
  else
    model_clear(&next);
  return status;
}

calm_status tflite_rewrite(calm_model *model, model_rewriting kind) {
  tflite_writer w;
  arena a;
  arena_init(&a, model->context);
  calm_status status = tflite_writer_init(&w, model, NULL, &a);
  if (status == CALM_OK) status = rewrite(model, kind, &w);
  tflite_writer_free(&w);
  arena_free(&a);
  return status;
}
