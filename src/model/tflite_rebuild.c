/*
 * Rewritten .tflite files: the model table and the subgraphs.
 *
 *     | root | TFL3 | model, codes, subgraphs, metadata | buffers |
 *     | data of buffers behind the FlatBuffer | what else was in the file |
 *
 * Behind its FlatBuffer a file may hold what runtimes do not look at, such as
 * an archive of labels.  It stays at the end, and no nearer to the beginning
 * than it was, so that places which such an archive counts from there are still
 * found.
 */
#include "model/tflite_rebuild.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { ALIGN = 16 };

calm_status tflite_refuse(const tflite_rebuilder *w, const char *format, ...) {
  char what[384];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return context_fail(w->model->context, CALM_UNSUPPORTED, "%s: %s %s",
                      w->model->path, w->copier.whose, what);
}

static void set_whose(tflite_rebuilder *w, const char *what, const char *name) {
  snprintf(w->copier.whose, sizeof w->copier.whose, "%s '%.120s'", what, name);
}

/* ---- Tensors by number --------------------------------------------------- */

calm_status tflite_renumber(int32_t *out, const tflite_rebuilder *w,
                            int64_t old) {
  const uint32_t count = w->edit->before->tensors.count;
  *out = -1;
  if (old == -1) return CALM_OK;
  if (old < 0 || old >= count)
    return tflite_refuse(w, "names tensor %" PRId64 ", but there are %" PRIu32,
                         old, count);
  if (w->becomes[old] == CALM_NONE)
    return tflite_refuse(w, "needs tensor '%s', which the rewriting takes away",
                         w->edit->before->tensors.data[old].name);
  *out = (int32_t)w->becomes[old];
  return CALM_OK;
}

calm_status tflite_renumber_list(tflite_rebuilder *w, size_t from,
                                 size_t object) {
  const flat_file *file = tflite_old_file(w);
  const flat_vector old = {object + FLAT_OFFSET_BYTES,
                           (uint32_t)flat_number(file, object, 4)};
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, old.count));
  for (uint32_t i = 0; i < old.count; i++) {
    int32_t t;
    TRY(tflite_renumber(&t, w, flat_i32_at(file, old, i)));
    flat_build_set(&w->to, first + (size_t)i * 4, (uint32_t)t, 4);
  }
  return CALM_OK;
}

/* ---- Tables that are copied ---------------------------------------------- */

/* In blocks or along several axes: scales and zero points are tensors. */
static calm_status adjust_details(const tflite_rebuilder *w, flat_draft *draft,
                                  unsigned slot) {
  const int32_t old = (int32_t)draft->values[slot].number;
  int32_t t;
  TRY(tflite_renumber(&t, w, old));
  flat_draft_number(draft, slot, 4, (uint32_t)t, 0);
  return CALM_OK;
}

static calm_status adjust_table(void *payload, uint32_t kind,
                                flat_draft *draft) {
  const tflite_rebuilder *w = payload;
  const bool in_details =
      kind == TFLITE_TABLE_blockwise || kind == TFLITE_TABLE_multi_axis;
  if (kind == TFLITE_TABLE_operator) return tflite_check_places(w, draft);
  if (kind == TFLITE_TABLE_tensor) {
    const uint64_t old = draft->values[TFLITE_tensor_buffer].number;
    flat_draft_number(draft, TFLITE_tensor_buffer, 4,
                      tflite_new_buffer(w, (uint32_t)old), 0);
  }
  if (!in_details || !w->in_entry) return CALM_OK;
  TRY(adjust_details(w, draft, TFLITE_blockwise_scales));
  return adjust_details(w, draft, TFLITE_blockwise_zero_points);
}

/* ---- The entry subgraph -------------------------------------------------- */

static calm_status build_tensors(tflite_rebuilder *w, size_t from) {
  const graph *g = &w->edit->after;
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, g->tensors.count));
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    set_whose(w, "tensor", g->tensors.data[t].name);
    TRY(tflite_build_tensor(w, first + (size_t)t * 4, t));
  }
  return CALM_OK;
}

static calm_status build_ops(tflite_rebuilder *w, size_t from) {
  const graph *g = &w->edit->after;
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, g->ops.count));
  for (op_id u = 0; u < g->ops.count; u++) {
    set_whose(w, "operator", g->ops.data[u].name);
    TRY(tflite_build_op(w, first + (size_t)u * 4, u));
  }
  return CALM_OK;
}

static calm_status build_ends(tflite_rebuilder *w, const flat_draft *draft,
                              unsigned slot) {
  const flat_value *list = &draft->values[slot];
  set_whose(w, "graph", w->edit->before->name);
  if (!list->old) return CALM_OK;
  return tflite_renumber_list(w, draft->places[slot], list->old);
}

static calm_status build_entry(tflite_rebuilder *w, size_t from) {
  const graph *g = &w->edit->after;
  flat_draft draft;
  set_whose(w, "graph", w->edit->before->name);
  TRY(flat_load(&draft, &w->copier, w->entry,
                (flat_kind_of){TFLITE_TABLE_subgraph, NULL}));
  if (g->tensors.count)
    flat_draft_object(&draft, TFLITE_subgraph_tensors, true);
  if (g->ops.count) flat_draft_object(&draft, TFLITE_subgraph_operators, true);
  TRY(flat_build_table(&w->to, from, &draft));
  TRY(flat_copy_slot(&w->copier, &draft, TFLITE_TABLE_subgraph,
                     TFLITE_subgraph_name));
  TRY(build_ends(w, &draft, TFLITE_subgraph_inputs));
  TRY(build_ends(w, &draft, TFLITE_subgraph_outputs));
  if (draft.places[TFLITE_subgraph_tensors])
    TRY(build_tensors(w, draft.places[TFLITE_subgraph_tensors]));
  if (draft.places[TFLITE_subgraph_operators])
    TRY(build_ops(w, draft.places[TFLITE_subgraph_operators]));
  return CALM_OK;
}

static calm_status build_subgraphs(tflite_rebuilder *w, size_t from) {
  const flat_vector old = w->tables.subgraphs;
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, old.count));
  w->in_entry = true;
  TRY(build_entry(w, first));
  w->in_entry = false;
  for (uint32_t i = 1; i < old.count; i++) {
    set_whose(w, "graph", w->model->graphs.data[i].name);
    TRY(flat_copy(&w->copier, first + (size_t)i * 4,
                  flat_table_at(tflite_old_file(w), old, i),
                  (flat_kind_of){TFLITE_TABLE_subgraph, NULL}));
  }
  w->copier.whose[0] = '\0';
  return CALM_OK;
}

/* ---- The model ----------------------------------------------------------- */

/* Indices of buffers, in files older than the metadata with names. */
static calm_status build_buffer_numbers(tflite_rebuilder *w, size_t from,
                                        flat_vector old) {
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, old.count));
  for (uint32_t i = 0; i < old.count; i++) {
    const int32_t buffer = flat_i32_at(tflite_old_file(w), old, i);
    flat_build_set(&w->to, first + (size_t)i * 4,
                   tflite_new_buffer(w, (uint32_t)buffer), 4);
  }
  return CALM_OK;
}

static calm_status build_slot(tflite_rebuilder *w, const flat_draft *draft,
                              unsigned slot) {
  const flat_file *file = tflite_old_file(w);
  const size_t from = draft->places[slot];
  if (!draft->values[slot].refers) return CALM_OK;
  const flat_vector old = flat_vector_of(file, w->tables.root, slot, 4);
  switch (slot) {
    case TFLITE_model_operator_codes: return tflite_build_codes(w, from, old);
    case TFLITE_model_subgraphs: return build_subgraphs(w, from);
    case TFLITE_model_metadata_buffer:
      return build_buffer_numbers(w, from, old);
    case TFLITE_model_metadata: return tflite_build_metadata(w, from);
    case TFLITE_model_signature_defs:
      return tflite_build_signatures(w, from, old);
    case TFLITE_model_buffers: return CALM_OK;
    default: return flat_copy_slot(&w->copier, draft, TFLITE_TABLE_model, slot);
  }
}

/* The buffers come last: what is read most often is then close together. */
static calm_status build_model(tflite_rebuilder *w) {
  flat_draft draft;
  TRY(flat_load(&draft, &w->copier, w->tables.root,
                (flat_kind_of){TFLITE_TABLE_model, NULL}));
  if (w->codes.count)
    flat_draft_object(&draft, TFLITE_model_operator_codes, true);
  flat_draft_object(&draft, TFLITE_model_buffers, true);
  flat_draft_object(&draft, TFLITE_model_metadata, tflite_count_entries(w) > 0);
  TRY(flat_build_table(&w->to, 0, &draft));
  for (unsigned slot = 0; slot < FLAT_SLOTS; slot++)
    TRY(build_slot(w, &draft, slot));
  return tflite_build_buffers(w, draft.places[TFLITE_model_buffers]);
}

/* ---- Behind the FlatBuffer ----------------------------------------------- */

/* What lies behind everything that the model refers to and is not filling. */
static tflite_bytes find_rest(const tflite_rebuilder *w) {
  const flat_file *file = tflite_old_file(w);
  uint64_t end = flat_extent(file, tflite_schema());
  for (uint32_t i = 0; i < w->tables.buffers.count; i++) {
    const tflite_bytes b = tflite_buffer(&w->tables, i);
    if (b.size && b.position + b.size > end) end = b.position + b.size;
  }
  while (end < file->length && !file->bytes[end]) end++;
  return (tflite_bytes){end, file->length - end};
}

static uint64_t measure(const tflite_rebuilder *w, tflite_bytes rest) {
  uint64_t length = w->to.bytes.count;
  for (uint32_t i = 0; i < w->outsiders.count; i++)
    length = number_round_up(length, ALIGN) + w->outsiders.data[i].size;
  if (rest.size == 0) return length;
  return number_larger(number_round_up(length, ALIGN), rest.position) +
         rest.size;
}

static calm_status assemble(const uint8_t **out, size_t *length,
                            tflite_rebuilder *w) {
  const tflite_bytes rest = find_rest(w);
  const uint64_t total = measure(w, rest);
  uint64_t next = w->to.bytes.count;
  uint8_t *bytes;
  if (total > SIZE_MAX) return context_no_memory(w->model->context);
  ARENA_ARRAY(w->a, bytes, (size_t)total);
  for (uint32_t i = 0; i < w->outsiders.count; i++) {
    const tflite_outsider *o = &w->outsiders.data[i];
    next = number_round_up(next, ALIGN);
    flat_build_set(&w->to, o->place, next, 8);
    memcpy(bytes + next, o->bytes, (size_t)o->size);
    next += o->size;
  }
  memcpy(bytes, w->to.bytes.data, w->to.bytes.count);
  if (rest.size)
    memcpy(bytes + (total - rest.size),
           tflite_old_file(w)->bytes + rest.position, (size_t)rest.size);
  *out = bytes;
  *length = (size_t)total;
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

/* A file that shares nothing may be several times as large as one that does. */
static size_t limit_of(const tflite_rebuilder *w) {
  enum { FACTOR = 16, BASE = 1 << 20, TABLE = 1 << 10 };
  const graph *g = &w->edit->after;
  uint64_t limit = (uint64_t)w->model->map.length * FACTOR + BASE;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    limit += TABLE + strlen(tensor->name) + tensor->rank * (uint64_t)8;
    if (w->edit->tensors.data[t].bytes)
      limit = number_smaller(limit + number_smaller(tensor->bytes, INT32_MAX),
                             INT32_MAX);
  }
  limit += TABLE * (uint64_t)g->ops.count;
  return (size_t)number_smaller(limit, INT32_MAX);
}

static calm_status find_tensors(tflite_rebuilder *w) {
  const graph_edit *edit = w->edit;
  ARENA_ARRAY(&w->tables.scratch, w->becomes, edit->before->tensors.count);
  for (tensor_id t = 0; t < edit->before->tensors.count; t++)
    w->becomes[t] = CALM_NONE;
  for (tensor_id t = 0; t < edit->after.tensors.count; t++) {
    const edit_tensor *descent = &edit->tensors.data[t];
    if (descent->contents != EDIT_SAME) continue;
    w->becomes[descent->from] = t;
    if (descent->from == t && w->unmoved == t) w->unmoved++;
  }
  return CALM_OK;
}

static calm_status rebuild(const uint8_t **out, size_t *length,
                           tflite_rebuilder *w) {
  const flat_file *file = tflite_old_file(w);
  tflite_find_tables(&w->tables);
  w->entry = flat_table_at(file, w->tables.subgraphs, 0);
  w->tensors = flat_vector_of(file, w->entry, TFLITE_subgraph_tensors, 4);
  w->operators = flat_vector_of(file, w->entry, TFLITE_subgraph_operators, 4);
  TRY(flat_build_init(&w->to, w->model->context, w->model->path, limit_of(w),
                      "TFL3"));
  TRY(find_tensors(w));
  TRY(tflite_describe_edges(w));
  TRY(tflite_number_buffers(w));
  TRY(tflite_find_codes(w));
  TRY(build_model(w));
  return assemble(out, length, w);
}

calm_status tflite_rebuild(const uint8_t **out, size_t *length,
                           const calm_model *model, const graph_edit *edit,
                           arena *a) {
  calm_context *context = model->context;
  tflite_rebuilder w = {.model = model, .edit = edit, .a = a};
  w.tables.context = context;
  w.tables.file =
      (flat_file){context, model->path, model->map.bytes, model->map.length};
  w.copier = (flat_copier){.from = &w.tables.file,
                           .schema = tflite_schema(),
                           .to = &w.to,
                           .adjust = adjust_table,
                           .payload = &w};
  arena_init(&w.tables.scratch, context);
  text_init(&w.edges, context);
  calm_status status = rebuild(out, length, &w);
  flat_build_free(&w.to);
  text_free(&w.edges);
  VECTOR_FREE(context, &w.stores);
  VECTOR_FREE(context, &w.outsiders);
  VECTOR_FREE(context, &w.codes);
  VECTOR_FREE(context, &w.tables.edges);
  arena_free(&w.tables.scratch);
  return status;
}
