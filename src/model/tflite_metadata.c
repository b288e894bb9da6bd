/* What a .tflite file says beside its graphs. */
#include <inttypes.h>
#include <string.h>

#include "model/tflite_parts.h"

/* ---- The offline plan ---------------------------------------------------- */

/*
 * OfflineMemoryAllocation is an array of 32-bit words: a version and a number
 * of subgraphs, which runtimes ignore, the number n of tensors of all subgraphs
 * together, and n offsets in the arena, -1 for a tensor that is placed at run
 * time.  Whether the plan makes sense is not judged here; what is missing is
 * left out, and word_count tells.
 */
enum { PLAN_HEADER_WORDS = TFLITE_PLAN_HEADER_WORDS, WORD_BYTES = 4 };

static int32_t plan_word(const tflite_reader *r, tflite_bytes bytes,
                         uint64_t i) {
  if ((i + 1) * WORD_BYTES > bytes.size) return 0;
  return (int32_t)flat_number(
      &r->file, (size_t)(bytes.position + i * WORD_BYTES), WORD_BYTES);
}

static calm_status read_plan(tflite_reader *r, uint32_t buffer) {
  tflite_bytes bytes = tflite_buffer(r, buffer);
  uint64_t words = bytes.size / WORD_BYTES;
  uint64_t count = words > PLAN_HEADER_WORDS ? words - PLAN_HEADER_WORDS : 0;
  int32_t *offsets;
  if (count > UINT32_MAX) count = UINT32_MAX;
  ARENA_ARRAY(&r->model->arena, offsets, count);
  for (uint64_t i = 0; i < count; i++)
    offsets[i] = plan_word(r, bytes, PLAN_HEADER_WORDS + i);
  model_offline_plan *plan = &r->model->offline;
  plan->present = true;
  plan->version = plan_word(r, bytes, 0);
  plan->subgraph = plan_word(r, bytes, 1);
  plan->declared_count = plan_word(r, bytes, 2);
  plan->word_count = (uint32_t)count;
  plan->offsets = offsets;
  plan->fault = NULL;
  if (buffer >= r->buffers.count)
    plan->fault = "its buffer does not exist";
  else if (bytes.size == 0)
    plan->fault = "its buffer is empty";
  else if (words < PLAN_HEADER_WORDS)
    plan->fault = "its buffer ends before the offsets";
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

bool tflite_is_called(flat_string name, const char *wanted) {
  return name.length == strlen(wanted) &&
         memcmp(name.text, wanted, name.length) == 0;
}

/* Names are compared whole: an empty one, or one that merely begins alike, is
   another entry.  Of several the last one wins, as in the runtime. */
typedef struct known_entries {
  uint32_t plans;                    /* how many there are */
  uint32_t plan, mark, dependencies; /* their buffers */
  bool has_mark, has_dependencies;
} known_entries;

static calm_status read_entry(known_entries *known, const char **out,
                              tflite_reader *r, flat_table entry) {
  flat_string name = flat_string_of(&r->file, entry, TFLITE_metadata_name);
  uint32_t buffer = flat_u32(&r->file, entry, TFLITE_metadata_buffer, 0);
  *out =
      arena_string(&r->model->arena, name.text ? name.text : "", name.length);
  if (!*out) return context_no_memory(r->context);
  if (tflite_is_called(name, TFLITE_PLAN_NAME)) {
    known->plan = buffer;
    known->plans++;
  } else if (tflite_is_called(name, TFLITE_MARK_NAME)) {
    known->mark = buffer;
    known->has_mark = true;
  } else if (tflite_is_called(name, TFLITE_EDGES_NAME)) {
    known->dependencies = buffer;
    known->has_dependencies = true;
  }
  return CALM_OK;
}

calm_status tflite_read_metadata(tflite_reader *r) {
  flat_vector entries =
      flat_vector_of(&r->file, r->root, TFLITE_model_metadata, 4);
  known_entries known = {.plans = 0};
  const char **names;
  ARENA_ARRAY(&r->model->arena, names, entries.count);
  for (uint32_t i = 0; i < entries.count; i++)
    TRY(read_entry(&known, &names[i], r, flat_table_at(&r->file, entries, i)));
  r->model->metadata_names = names;
  r->model->metadata_count = entries.count;
  if (known.plans) TRY(read_plan(r, known.plan));
  r->model->offline.entries = known.plans;
  if (known.has_mark) TRY(tflite_read_mark(r, known.mark));
  if (!known.has_dependencies) return CALM_OK;
  return tflite_read_edges(r, known.dependencies);
}

/* ---- Signatures ---------------------------------------------------------- */

/* Tensors that a signature names and its subgraph does not have. */
static uint32_t count_strays(const tflite_reader *r, flat_table signature,
                             unsigned slot, uint32_t tensors) {
  flat_vector maps = flat_vector_of(&r->file, signature, slot, 4);
  uint32_t strays = 0;
  for (uint32_t i = 0; i < maps.count; i++) {
    flat_table map = flat_table_at(&r->file, maps, i);
    if (flat_u32(&r->file, map, TFLITE_tensor_map_tensor_index, 0) >= tensors)
      strays++;
  }
  return strays;
}

static bool signature_holds(const tflite_reader *r, flat_table signature) {
  const graph_vector *graphs = &r->model->graphs;
  uint32_t subgraph =
      flat_u32(&r->file, signature, TFLITE_signature_subgraph_index, 0);
  if (subgraph >= graphs->count) return false;
  uint32_t tensors = graphs->data[subgraph].tensors.count;
  return !count_strays(r, signature, TFLITE_signature_inputs, tensors) &&
         !count_strays(r, signature, TFLITE_signature_outputs, tensors);
}

void tflite_check_signatures(const tflite_reader *r) {
  flat_vector signatures =
      flat_vector_of(&r->file, r->root, TFLITE_model_signature_defs, 4);
  for (uint32_t i = 0; i < signatures.count; i++)
    if (!signature_holds(r, flat_table_at(&r->file, signatures, i)))
      context_log(r->context, CALM_LOG_WARNING,
                  "%s: signature %" PRIu32
                  " names a subgraph or tensors that do not exist",
                  r->file.path, i);
}
