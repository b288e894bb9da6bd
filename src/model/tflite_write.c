/*
 * What changes in a .tflite file: the order of the operators, in place; what
 * speaks of that order, in place if it fits; the offline plan, in place if
 * there is one that fits.  What does not fit is left where it is, unused, and
 * written anew in front of the file.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "model/tflite_write.h"

static const flat_file *file_of(const tflite_writer *w) {
  return &w->tables.file;
}

/* ---- Operators ----------------------------------------------------------- */

static bool is_reordered(const graph *g, const op_id *sequence) {
  for (uint32_t i = 0; i < g->ops.count; i++)
    if (sequence[i] != i) return true;
  return false;
}

static calm_status set_places(tflite_writer *w, uint32_t subgraph,
                              bool *reordered) {
  const graph *g = &w->model->graphs.data[subgraph];
  const op_id *sequence = w->patch->sequences[subgraph];
  op_id *place;
  ARENA_ARRAY(w->a, place, g->ops.count);
  for (uint32_t i = 0; i < g->ops.count; i++) place[sequence[i]] = i;
  w->places[subgraph] = place;
  if (is_reordered(g, sequence)) *reordered = true;
  return CALM_OK;
}

/*
 * An element of the vector is the distance to its operator, and all operators
 * lie behind the vector, so each element can lead to any of them.
 */
calm_status tflite_permute(tflite_writer *w, uint32_t subgraph,
                           const op_id *sequence, uint32_t count) {
  const flat_table table =
      flat_table_at(file_of(w), w->tables.subgraphs, subgraph);
  const flat_vector ops =
      flat_vector_of(file_of(w), table, TFLITE_subgraph_operators, 4);
  for (uint32_t i = 0; i < count; i++) {
    const size_t from = ops.position + (size_t)i * 4;
    const size_t target = flat_table_at(file_of(w), ops, sequence[i]);
    if (target <= from || target - from > UINT32_MAX)
      return context_fail(w->model->context, CALM_UNSUPPORTED,
                          "%s: byte %zu: operator %" PRIu32
                          " of subgraph %" PRIu32
                          " lies before the end of the list of operators",
                          w->model->path, target, sequence[i], subgraph);
    if (sequence[i] != i) TRY(tflite_edit_number(w, from, target - from, 4));
  }
  return count == ops.count ? CALM_OK
                            : tflite_edit_number(w, ops.position - 4, count, 4);
}

static size_t operators_of(const tflite_writer *w, uint32_t subgraph) {
  const flat_table table =
      flat_table_at(file_of(w), w->tables.subgraphs, subgraph);
  return flat_vector_of(file_of(w), table, TFLITE_subgraph_operators, 4)
      .position;
}

/* Subgraphs may have one list of operators between them, which then has one
   order. */
static calm_status check_shared(const tflite_writer *w, uint32_t subgraph) {
  const graph_vector *graphs = &w->model->graphs;
  const op_id *const *sequences = w->patch->sequences;
  const size_t place = operators_of(w, subgraph);
  const uint32_t count = graphs->data[subgraph].ops.count;
  for (uint32_t i = 0; i < graphs->count; i++)
    if (i != subgraph && operators_of(w, i) == place &&
        memcmp(sequences[i], sequences[subgraph], count * sizeof(op_id)))
      return context_fail(w->model->context, CALM_UNSUPPORTED,
                          "%s: byte %zu: subgraphs %" PRIu32 " and %" PRIu32
                          " share their list of operators, but the plan has "
                          "an order for each; --order file keeps the list",
                          w->model->path, place, subgraph, i);
  return CALM_OK;
}

static calm_status permute_all(tflite_writer *w, bool *reordered) {
  const graph_vector *graphs = &w->model->graphs;
  for (uint32_t i = 0; i < graphs->count; i++) {
    TRY(set_places(w, i, reordered));
    if (!is_reordered(&graphs->data[i], w->patch->sequences[i])) continue;
    TRY(check_shared(w, i));
    TRY(tflite_permute(w, i, w->patch->sequences[i],
                       graphs->data[i].ops.count));
  }
  return CALM_OK;
}

/* ---- Metadata entries ---------------------------------------------------- */

static flat_table entry_at(const tflite_writer *w, uint32_t i) {
  return flat_table_at(file_of(w), w->metadata, i);
}

static bool entry_is_called(const tflite_writer *w, uint32_t i,
                            const char *name) {
  return tflite_is_called(
      flat_string_of(file_of(w), entry_at(w, i), TFLITE_metadata_name), name);
}

static uint32_t entry_buffer(const tflite_writer *w, uint32_t i) {
  return flat_u32(file_of(w), entry_at(w, i), TFLITE_metadata_buffer, 0);
}

void tflite_drop_named(tflite_writer *w, const char *name) {
  for (uint32_t i = 0; i < w->metadata.count; i++)
    if (entry_is_called(w, i, name)) w->dropped[i] = true;
}

static calm_status add_entry(tflite_writer *w, const char *name,
                             const void *bytes, size_t length) {
  uint8_t *copy;
  ARENA_ARRAY(w->a, copy, length);
  memcpy(copy, bytes, length);
  VECTOR_PUSH(w->model->context, &w->added, (tflite_entry){name, copy, length});
  return CALM_OK;
}

/* Elements move towards the beginning of the vector, so that their distances
   grow; the room behind them is not used any more. */
calm_status tflite_drop_entries(tflite_writer *w) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < w->metadata.count; i++) {
    if (w->dropped[i]) continue;
    const size_t at = w->metadata.position + (size_t)kept++ * 4;
    TRY(tflite_edit_number(w, at, entry_at(w, i) - at, 4));
  }
  return tflite_edit_number(w, w->metadata.position - 4, kept, 4);
}

/* The last entry of a name, as runtimes see it; CALM_NONE. */
static uint32_t find_entry(const tflite_writer *w, const char *name,
                           uint32_t *count) {
  uint32_t found = CALM_NONE;
  *count = 0;
  for (uint32_t i = 0; i < w->metadata.count; i++)
    if (entry_is_called(w, i, name)) {
      found = i;
      ++*count;
    }
  return found;
}

/* ---- Data that change in place ------------------------------------------- */

static bool is_weight(const tflite_writer *w, uint32_t buffer) {
  const flat_file *file = file_of(w);
  for (uint32_t i = 0; i < w->tables.subgraphs.count; i++) {
    const flat_vector tensors =
        flat_vector_of(file, flat_table_at(file, w->tables.subgraphs, i),
                       TFLITE_subgraph_tensors, 4);
    for (uint32_t t = 0; t < tensors.count; t++)
      if (flat_u32(file, flat_table_at(file, tensors, t), TFLITE_tensor_buffer,
                   0) == buffer)
        return true;
  }
  return false;
}

static bool overlap(tflite_bytes a, tflite_bytes b) {
  return a.size && b.size && a.position < b.position + b.size &&
         b.position < a.position + a.size;
}

/* Does a buffer serve this metadata entry alone? */
static bool is_own(const tflite_writer *w, uint32_t entry) {
  const uint32_t buffer = entry_buffer(w, entry);
  const tflite_bytes bytes = tflite_buffer(&w->tables, buffer);
  if (buffer == 0 || bytes.size == 0 || is_weight(w, buffer)) return false;
  for (uint32_t i = 0; i < w->metadata.count; i++)
    if (i != entry && entry_buffer(w, i) == buffer) return false;
  for (uint32_t i = 0; i < w->tables.buffers.count; i++)
    if (i != buffer && overlap(bytes, tflite_buffer(&w->tables, i)))
      return false;
  return true;
}

/* Data inside the FlatBuffer may become shorter: their count says so. */
static calm_status shorten(tflite_writer *w, uint32_t buffer,
                           const tflite_bytes *bytes, uint64_t length,
                           bool *done) {
  const flat_table table = flat_table_at(file_of(w), w->tables.buffers, buffer);
  const bool inside =
      flat_vector_of(file_of(w), table, TFLITE_buffer_data, 1).count > 0;
  *done = length == bytes->size || (length < bytes->size && inside);
  if (!*done || length == bytes->size) return CALM_OK;
  return tflite_edit_number(w, (size_t)bytes->position - 4, length, 4);
}

calm_status tflite_put_entry(tflite_writer *w, const char *name,
                             const void *bytes, size_t length) {
  uint32_t count;
  bool done = false;
  const uint32_t entry = find_entry(w, name, &count);
  if (count == 1 && is_own(w, entry)) {
    const uint32_t buffer = entry_buffer(w, entry);
    const tflite_bytes old = tflite_buffer(&w->tables, buffer);
    TRY(shorten(w, buffer, &old, length, &done));
    if (done) return tflite_edit_bytes(w, (size_t)old.position, bytes, length);
  }
  tflite_drop_named(w, name);
  return add_entry(w, name, bytes, length);
}

/* ---- Control edges ------------------------------------------------------- */

/* An entry that says nothing, or in a way that is not known, stays. */
calm_status tflite_renumber_edges(tflite_writer *w) {
  uint32_t count;
  const uint32_t entry = find_entry(w, TFLITE_EDGES_NAME, &count);
  text t;
  if (entry == CALM_NONE) return CALM_OK;
  TRY(tflite_read_edges(&w->tables, entry_buffer(w, entry)));
  if (w->tables.edges.count == 0) return CALM_OK;
  text_init(&t, w->model->context);
  tflite_write_edges(&t, &w->tables, w->places);
  calm_status status =
      t.failed ? context_no_memory(w->model->context)
               : tflite_put_entry(w, TFLITE_EDGES_NAME, t.data, t.length);
  text_free(&t);
  return status;
}

/* ---- The offline plan ---------------------------------------------------- */

enum { WORD = 4, UNPLANNED = -1 };

/* Constants are not in the arena, and the state of variables must outlive the
   run, which only the runtime's own place for it does. */
static calm_status offset_of(int32_t *out, const tflite_writer *w,
                             uint32_t subgraph, tensor_id t) {
  const graph *g = &w->model->graphs.data[subgraph];
  const uint64_t offset = w->patch->offsets[subgraph][t];
  const unsigned unplanned = CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  *out = UNPLANNED;
  if (offset == UINT64_MAX || (g->tensors.data[t].flags & unplanned))
    return CALM_OK;
  if (offset > INT32_MAX)
    return context_fail(w->model->context, CALM_UNSUPPORTED,
                        "%s: tensor '%s' lies at offset %" PRIu64
                        ", beyond the 2 GiB that an offline plan can express; "
                        "--no-offline-plan writes the order alone",
                        w->model->path, g->tensors.data[t].name, offset);
  *out = (int32_t)offset;
  return CALM_OK;
}

static uint64_t count_tensors(const tflite_writer *w) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < w->model->graphs.count; i++)
    count += w->model->graphs.data[i].tensors.count;
  return count;
}

static void put_word(uint8_t *bytes, uint64_t i, uint32_t value) {
  for (unsigned j = 0; j < WORD; j++)
    bytes[i * WORD + j] = (uint8_t)(value >> 8 * j);
}

/* Version, subgraphs, tensors, and the offsets of all subgraphs. */
static calm_status compose_plan(tflite_writer *w, uint8_t *bytes) {
  uint64_t next = TFLITE_PLAN_HEADER_WORDS;
  put_word(bytes, 0, 0);
  put_word(bytes, 1, w->model->graphs.count);
  put_word(bytes, 2, (uint32_t)count_tensors(w));
  for (uint32_t i = 0; i < w->model->graphs.count; i++)
    for (tensor_id t = 0; t < w->model->graphs.data[i].tensors.count; t++) {
      int32_t offset;
      TRY(offset_of(&offset, w, i, t));
      put_word(bytes, next++, (uint32_t)offset);
    }
  return CALM_OK;
}

static uint64_t hash_offsets(const uint8_t *bytes, uint64_t words) {
  uint64_t hash = 0;
  for (uint64_t i = TFLITE_PLAN_HEADER_WORDS; i < words; i++) {
    uint32_t word = 0;
    for (unsigned j = 0; j < WORD; j++)
      word |= (uint32_t)bytes[i * WORD + j] << 8 * j;
    hash = hash_fold(hash, word);
  }
  return hash;
}

/* A plan with room for all tensors keeps its version, and what other tools
   wrote behind the offsets. */
static calm_status write_plan(tflite_writer *w) {
  const uint64_t words = TFLITE_PLAN_HEADER_WORDS + count_tensors(w);
  const size_t keep = 2 * WORD, length = (size_t)words * WORD;
  uint8_t *bytes;
  uint32_t count;
  ARENA_ARRAY(w->a, bytes, length);
  TRY(compose_plan(w, bytes));
  TRY(tflite_write_mark(w, hash_offsets(bytes, words)));
  const uint32_t entry = find_entry(w, TFLITE_PLAN_NAME, &count);
  if (count == 1 && is_own(w, entry)) {
    const tflite_bytes old = tflite_buffer(&w->tables, entry_buffer(w, entry));
    if (old.size >= length)
      return tflite_edit_bytes(w, (size_t)old.position + keep, bytes + keep,
                               length - keep);
  }
  tflite_drop_named(w, TFLITE_PLAN_NAME);
  return add_entry(w, TFLITE_PLAN_NAME, bytes, length);
}

/* ---- All of it ----------------------------------------------------------- */

static bool any_dropped(const tflite_writer *w) {
  for (uint32_t i = 0; i < w->metadata.count; i++)
    if (w->dropped[i]) return true;
  return false;
}

static calm_status apply(tflite_writer *w) {
  bool reordered = false;
  TRY(permute_all(w, &reordered));
  assert(!reordered || w->patch->plan != MODEL_PLAN_KEEP ||
         !w->model->offline.present);
  if (reordered) TRY(tflite_renumber_edges(w));
  if (w->patch->plan == MODEL_PLAN_STRIP) {
    tflite_drop_named(w, TFLITE_PLAN_NAME);
    tflite_drop_named(w, TFLITE_MARK_NAME);
  }
  if (w->patch->plan == MODEL_PLAN_WRITE) TRY(write_plan(w));
  if (w->added.count) return tflite_build_prefix(w);
  return any_dropped(w) ? tflite_drop_entries(w) : CALM_OK;
}

calm_status tflite_writer_init(tflite_writer *w, const calm_model *model,
                               const model_patch *patch, arena *a) {
  *w = (tflite_writer){.model = model, .patch = patch, .a = a};
  w->tables.context = model->context;
  w->tables.file = (flat_file){model->context, model->path, model->map.bytes,
                               model->map.length};
  arena_init(&w->tables.scratch, model->context);
  tflite_find_tables(&w->tables);
  w->metadata =
      flat_vector_of(file_of(w), w->tables.root, TFLITE_model_metadata, 4);
  ARENA_ARRAY(a, w->dropped, w->metadata.count);
  ARENA_ARRAY(a, w->places, model->graphs.count);
  return CALM_OK;
}

void tflite_writer_free(tflite_writer *w) {
  calm_context *context = w->model->context;
  VECTOR_FREE(context, &w->edits);
  VECTOR_FREE(context, &w->added);
  VECTOR_FREE(context, &w->tables.edges);
  arena_free(&w->tables.scratch);
}

calm_status tflite_pieces(file_pieces *out, const calm_model *model,
                          const model_patch *patch, arena *a) {
  tflite_writer w;
  calm_status status = tflite_writer_init(&w, model, patch, a);
  if (status == CALM_OK) status = apply(&w);
  if (status == CALM_OK) status = tflite_edit_pieces(out, &w);
  tflite_writer_free(&w);
  return status;
}
