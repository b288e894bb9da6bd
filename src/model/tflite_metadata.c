#include <inttypes.h>
#include <string.h>

#include "model/tflite_parts.h"

static bool is_called(flat_string name, const char *wanted) {
  return name.length == strlen(wanted) &&
         memcmp(name.text, wanted, name.length) == 0;
}

/* ---- The offline plan --------------------------------------------------- */

/*
 * OfflineMemoryAllocation is an array of 32-bit words: a version and a number
 * of subgraphs, which runtimes ignore, the number n of tensors of all subgraphs
 * together, and n offsets in the arena, -1 for a tensor that is placed at run
 * time.  Whether the plan makes sense is not judged here; what is missing is
 * left out, and word_count tells.
 */
enum { PLAN_HEADER_WORDS = 3, WORD_BYTES = 4 };

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

/* ---- Control dependencies ----------------------------------------------- */

/*
 * model_control_dependencies says, for each subgraph, which operators must keep
 * their order: version 1, then a list (of subgraphs) of lists (of edges) of
 * pairs from, to.  A list begins with its count.  All numbers are stored in
 * groups of 7 bits, lowest first, the top bit set on all but the last byte;
 * operator indices are folded so that small negative ones stay small.
 */
typedef struct cursor {
  const tflite_reader *r;
  size_t position, end;
} cursor;

static calm_status fail_at(const cursor *c, const char *what) {
  return flat_fail(&c->r->file, c->position,
                   "%s (in metadata 'model_control_dependencies')", what);
}

static calm_status read_number(uint32_t *out, cursor *c) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (c->position >= c->end) return fail_at(c, "the data ends early");
    uint8_t byte = (uint8_t)flat_number(&c->r->file, c->position++, 1);
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    if (value > UINT32_MAX) break;
    *out = (uint32_t)value;
    return CALM_OK;
  }
  return fail_at(c, "a number has more than 32 bits");
}

/* Indices of operators that do not exist come out as large numbers. */
static calm_status read_op_index(uint32_t *out, cursor *c) {
  uint32_t folded;
  TRY(read_number(&folded, c));
  *out = folded % 2 ? CALM_NONE : folded / 2;
  return CALM_OK;
}

static calm_status read_edges(tflite_reader *r, cursor *c, uint32_t subgraph) {
  uint32_t count;
  TRY(read_number(&count, c));
  for (uint32_t i = 0; i < count; i++) {
    tflite_edge edge = {.subgraph = subgraph, .position = c->position};
    TRY(read_op_index(&edge.from, c));
    TRY(read_op_index(&edge.to, c));
    VECTOR_PUSH(r->context, &r->edges, edge);
  }
  return CALM_OK;
}

static calm_status read_dependencies(tflite_reader *r, uint32_t buffer) {
  tflite_bytes bytes = tflite_buffer(r, buffer);
  cursor c = {r, (size_t)bytes.position, (size_t)(bytes.position + bytes.size)};
  uint32_t version, subgraphs;
  if (bytes.size == 0) return CALM_OK;
  TRY(read_number(&version, &c));
  if (version != 1) {
    context_log(r->context, CALM_LOG_WARNING,
                "%s: control dependencies have version %" PRIu32
                ", which is not known; they are ignored",
                r->file.path, version);
    return CALM_OK;
  }
  TRY(read_number(&subgraphs, &c));
  if (subgraphs > r->subgraphs.count)
    return fail_at(&c, "there are fewer subgraphs than lists of edges");
  for (uint32_t i = 0; i < subgraphs; i++) TRY(read_edges(r, &c, i));
  return CALM_OK;
}

static calm_status check_edge(const tflite_reader *r, const tflite_edge *edge,
                              uint32_t ops) {
  if (edge->from < ops && edge->to < ops) return CALM_OK;
  uint32_t stray = edge->from < ops ? edge->to : edge->from;
  return flat_fail(&r->file, edge->position,
                   "an edge names operator %" PRId32 ", but subgraph %" PRIu32
                   " has %" PRIu32
                   " operators (in metadata 'model_control_dependencies')",
                   (int32_t)stray, r->subgraph, ops);
}

/* A counting sort by the operator that has to wait.  The edges are in the order
   of the subgraphs, and so are the calls. */
calm_status tflite_sort_edges(uint32_t **begin, op_id **after, tflite_reader *r,
                              uint32_t ops) {
  uint32_t first = r->edges_done, end = first;
  while (end < r->edges.count && r->edges.data[end].subgraph == r->subgraph)
    end++;
  ARENA_ARRAY(&r->scratch, *begin, (size_t)ops + 2);
  ARENA_ARRAY(&r->scratch, *after, end - first);
  uint32_t *next = *begin + 1;
  for (uint32_t i = first; i < end; i++) {
    const tflite_edge *edge = &r->edges.data[i];
    TRY(check_edge(r, edge, ops));
    next[edge->to + 1]++;
  }
  for (uint32_t u = 0; u < ops; u++) next[u + 1] += next[u];
  for (uint32_t i = first; i < end; i++) {
    const tflite_edge *edge = &r->edges.data[i];
    (*after)[next[edge->to]++] = edge->from;
  }
  r->edges_done = end;
  return CALM_OK;
}

/* ---- All of it ---------------------------------------------------------- */

/* Names are compared whole: an empty one, or one that merely begins alike, is
   another entry.  Of several the last one wins, as in the runtime. */
typedef struct known_entries {
  uint32_t plans;              /* how many there are */
  uint32_t plan, dependencies; /* their buffers */
  bool has_dependencies;
} known_entries;

static calm_status read_entry(known_entries *known, const char **out,
                              tflite_reader *r, flat_table entry) {
  flat_string name = flat_string_of(&r->file, entry, TFLITE_metadata_name);
  uint32_t buffer = flat_u32(&r->file, entry, TFLITE_metadata_buffer, 0);
  *out =
      arena_string(&r->model->arena, name.text ? name.text : "", name.length);
  if (!*out) return context_no_memory(r->context);
  if (is_called(name, "OfflineMemoryAllocation")) {
    known->plan = buffer;
    known->plans++;
  } else if (is_called(name, "model_control_dependencies")) {
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
  if (!known.has_dependencies) return CALM_OK;
  return read_dependencies(r, known.dependencies);
}

/* ---- Signatures --------------------------------------------------------- */

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
