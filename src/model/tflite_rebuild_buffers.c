/*
 * Buffers of a rebuilt .tflite file, and the bytes of constants.  Buffer 0 is
 * the empty one; behind it come the old ones that somebody still refers to, in
 * their order, and then those with bytes of the edit, each of which is stored
 * once however many tensors have it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "model/tflite_rebuild.h"

/* ---- Constants ----------------------------------------------------------- */

static calm_status find_constant(tflite_bytes *out, tflite_reader *r,
                                 const graph_tensor *tensor, tensor_id t) {
  const flat_file *file = &r->file;
  tflite_find_tables(r);
  const flat_table table =
      flat_table_at(file,
                    flat_vector_of(file, flat_table_at(file, r->subgraphs, 0),
                                   TFLITE_subgraph_tensors, 4),
                    t);
  *out = tflite_buffer(r, flat_u32(file, table, TFLITE_tensor_buffer, 0));
  if ((tensor->flags & CALM_TENSOR_CONST) &&
      tensor->contents == CONTENTS_HERE && out->size == tensor->bytes)
    return CALM_OK;
  return context_fail(r->context, CALM_UNSUPPORTED,
                      "%s: the bytes of tensor '%s' %s", file->path,
                      tensor->name,
                      tensor->flags & CALM_TENSOR_CONST
                          ? "lie in another file or are encoded"
                          : "are not in the file, it is no constant");
}

calm_status tflite_constant(const uint8_t **out, uint64_t *length,
                            const calm_model *model, tensor_id t, arena *a) {
  tflite_reader r = {.context = model->context};
  r.file = (flat_file){model->context, model->path, model->map.bytes,
                       model->map.length};
  tflite_bytes bytes;
  (void)a;
  TRY(find_constant(&bytes, &r, &model->graphs.data[0].tensors.data[t], t));
  *out = model->map.bytes + bytes.position;
  *length = bytes.size;
  return CALM_OK;
}

/* ---- Which are needed ---------------------------------------------------- */

static void need(tflite_rebuilder *w, uint64_t *needed, uint32_t buffer) {
  if (buffer < w->tables.buffers.count) bits_add(needed, buffer);
}

static void need_of_tensor(tflite_rebuilder *w, uint64_t *needed,
                           flat_table table) {
  need(w, needed, flat_u32(tflite_old_file(w), table, TFLITE_tensor_buffer, 0));
}

static void need_of_entry(tflite_rebuilder *w, uint64_t *needed) {
  const graph_edit *edit = w->edit;
  for (tensor_id t = 0; t < edit->after.tensors.count; t++)
    if (edit->tensors.data[t].contents == EDIT_SAME)
      need_of_tensor(w, needed,
                     flat_table_at(tflite_old_file(w), w->tensors,
                                   edit->tensors.data[t].from));
}

static void need_of_subgraph(tflite_rebuilder *w, uint64_t *needed,
                             uint32_t i) {
  const flat_file *file = tflite_old_file(w);
  const flat_vector tensors =
      flat_vector_of(file, flat_table_at(file, w->tables.subgraphs, i),
                     TFLITE_subgraph_tensors, 4);
  for (uint32_t t = 0; t < tensors.count; t++)
    need_of_tensor(w, needed, flat_table_at(file, tensors, t));
}

static void need_of_metadata(tflite_rebuilder *w, uint64_t *needed) {
  const flat_file *file = tflite_old_file(w);
  const flat_vector numbers =
      flat_vector_of(file, w->tables.root, TFLITE_model_metadata_buffer, 4);
  const flat_vector entries =
      flat_vector_of(file, w->tables.root, TFLITE_model_metadata, 4);
  for (uint32_t i = 0; i < numbers.count; i++)
    need(w, needed, (uint32_t)flat_i32_at(file, numbers, i));
  for (uint32_t i = 0; i < entries.count; i++)
    if (tflite_keeps_entry(w, entries, i))
      need(w, needed,
           flat_u32(file, flat_table_at(file, entries, i),
                    TFLITE_metadata_buffer, 0));
}

/* ---- Numbers ------------------------------------------------------------- */

static calm_status add_store(uint32_t *out, tflite_rebuilder *w,
                             const tflite_store *store) {
  *out = w->stores.count;
  VECTOR_PUSH(w->model->context, &w->stores, *store);
  return CALM_OK;
}

/* Data inside the FlatBuffer count first, as for runtimes. */
static tflite_store old_store(const tflite_rebuilder *w, uint32_t buffer) {
  const flat_file *file = tflite_old_file(w);
  const tflite_bytes bytes = tflite_buffer(&w->tables, buffer);
  const flat_table table = flat_table_at(file, w->tables.buffers, buffer);
  return (tflite_store){
      .old = table,
      .bytes = file->bytes + bytes.position,
      .size = bytes.size,
      .outside = bytes.size &&
                 !flat_vector_of(file, table, TFLITE_buffer_data, 1).count};
}

static calm_status number_old(tflite_rebuilder *w, const uint64_t *needed) {
  const uint32_t count = w->tables.buffers.count;
  ARENA_ARRAY(&w->tables.scratch, w->buffers, count);
  const bool starts_empty = count && tflite_buffer(&w->tables, 0).size == 0;
  if (!starts_empty)
    VECTOR_PUSH(w->model->context, &w->stores, (tflite_store){0});
  for (uint32_t i = 0; i < count; i++) {
    const tflite_store store = old_store(w, i);
    w->buffers[i] = CALM_NONE;
    if (bits_has(needed, i) || (i == 0 && starts_empty))
      TRY(add_store(&w->buffers[i], w, &store));
  }
  return CALM_OK;
}

uint32_t tflite_new_buffer(const tflite_rebuilder *w, uint32_t old) {
  if (old >= w->tables.buffers.count || w->buffers[old] == CALM_NONE) return 0;
  return w->buffers[old];
}

/* Slices go where the whole was: it may not have fitted into the FlatBuffer. */
static bool goes_outside(const tflite_rebuilder *w,
                         const edit_tensor *descent) {
  const flat_file *file = tflite_old_file(w);
  const uint32_t buffer =
      flat_u32(file, flat_table_at(file, w->tensors, descent->from),
               TFLITE_tensor_buffer, 0);
  return buffer < w->tables.buffers.count && old_store(w, buffer).outside;
}

static calm_status number_own(tflite_rebuilder *w, tensor_id t,
                              uint32_t first) {
  const edit_tensor *descent = &w->edit->tensors.data[t];
  const uint64_t size = w->edit->after.tensors.data[t].bytes;
  const tflite_store store = {.bytes = descent->bytes,
                              .size = size,
                              .outside = goes_outside(w, descent)};
  for (uint32_t i = first; i < w->stores.count; i++)
    if (w->stores.data[i].bytes == descent->bytes &&
        w->stores.data[i].size == size) {
      w->own[t] = i;
      return CALM_OK;
    }
  return add_store(&w->own[t], w, &store);
}

static calm_status number_edited(tflite_rebuilder *w) {
  const graph_edit *edit = w->edit;
  const uint32_t first = w->stores.count;
  ARENA_ARRAY(&w->tables.scratch, w->own, edit->after.tensors.count);
  for (tensor_id t = 0; t < edit->after.tensors.count; t++)
    if (edit->tensors.data[t].contents > EDIT_MADE &&
        edit->tensors.data[t].bytes)
      TRY(number_own(w, t, first));
  if (!w->edges_change) return CALM_OK;
  const tflite_store edges = {.bytes = (const uint8_t *)w->edges.data,
                              .size = w->edges.length};
  return add_store(&w->edges_store, w, &edges);
}

calm_status tflite_number_buffers(tflite_rebuilder *w) {
  uint64_t *needed;
  ARENA_ARRAY(&w->tables.scratch, needed, bits_words(w->tables.buffers.count));
  need_of_entry(w, needed);
  for (uint32_t i = 1; i < w->tables.subgraphs.count; i++)
    need_of_subgraph(w, needed, i);
  need_of_metadata(w, needed);
  TRY(number_old(w, needed));
  return number_edited(w);
}

/* ---- Writing ------------------------------------------------------------- */

static calm_status draft_buffer(flat_draft *draft, const tflite_rebuilder *w,
                                const tflite_store *store) {
  *draft = (flat_draft){0};
  if (store->old)
    TRY(flat_load(draft, &w->copier, store->old,
                  (flat_kind_of){TFLITE_TABLE_buffer, NULL}));
  if (store->size == 0) return CALM_OK;
  flat_draft_object(draft, TFLITE_buffer_data, !store->outside);
  flat_draft_number(draft, TFLITE_buffer_offset, 8, store->outside, 0);
  flat_draft_number(draft, TFLITE_buffer_size, 8,
                    store->outside ? store->size : 0, 0);
  return CALM_OK;
}

static calm_status build_buffer(tflite_rebuilder *w, size_t from,
                                const tflite_store *store) {
  flat_draft draft;
  TRY(draft_buffer(&draft, w, store));
  TRY(flat_build_table(&w->to, from, &draft));
  if (store->outside) {
    VECTOR_PUSH(w->model->context, &w->outsiders,
                (tflite_outsider){draft.places[TFLITE_buffer_offset],
                                  store->bytes, store->size});
    return CALM_OK;
  }
  if (store->size == 0)
    return flat_copy_slots(&w->copier, &draft, TFLITE_TABLE_buffer);
  if (store->size > UINT32_MAX)
    return context_fail(w->model->context, CALM_UNSUPPORTED,
                        "%s: a constant of %" PRIu64
                        " bytes does not fit into a FlatBuffer",
                        w->model->path, store->size);
  return flat_build_bytes(&w->to, draft.places[TFLITE_buffer_data],
                          store->bytes, (uint32_t)store->size, 0);
}

calm_status tflite_build_buffers(tflite_rebuilder *w, size_t from) {
  size_t first;
  TRY(flat_build_offsets(&first, &w->to, from, w->stores.count));
  for (uint32_t i = 0; i < w->stores.count; i++)
    TRY(build_buffer(w, first + (size_t)i * 4, &w->stores.data[i]));
  return CALM_OK;
}
