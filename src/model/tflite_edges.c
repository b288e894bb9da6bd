#include <inttypes.h>

#include "model/tflite_parts.h"

/*
 * model_control_dependencies says, for each subgraph, which operators must keep
 * their order: version 1, then a list (of subgraphs) of lists (of edges) of
 * pairs from, to.  A list begins with its count.  All numbers are stored in
 * groups of 7 bits, lowest first, the top bit set on all but the last byte;
 * operator indices are folded so that small negative ones stay small.
 */
enum { EDGES_VERSION = 1 };

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

calm_status tflite_read_edges(tflite_reader *r, uint32_t buffer) {
  tflite_bytes bytes = tflite_buffer(r, buffer);
  cursor c = {r, (size_t)bytes.position, (size_t)(bytes.position + bytes.size)};
  uint32_t version, subgraphs;
  if (bytes.size == 0) return CALM_OK;
  TRY(read_number(&version, &c));
  if (version != EDGES_VERSION) {
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
  r->edge_lists = subgraphs;
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

/* ---- Writing ------------------------------------------------------------- */

static void add_number(text *out, uint32_t value) {
  do {
    const uint8_t more = value > 0x7f ? 0x80 : 0;
    const char byte = (char)((value & 0x7f) | more);
    text_add(out, &byte, 1);
    value >>= 7;
  } while (value);
}

static void add_op_index(text *out, uint32_t index) {
  add_number(out, index * 2);
}

static uint32_t count_edges(const tflite_reader *r, uint32_t first,
                            uint32_t subgraph) {
  uint32_t end = first;
  while (end < r->edges.count && r->edges.data[end].subgraph == subgraph) end++;
  return end - first;
}

void tflite_write_edges(text *out, const tflite_reader *r,
                        const op_id *const *places) {
  uint32_t next = 0;
  add_number(out, EDGES_VERSION);
  add_number(out, r->edge_lists);
  for (uint32_t i = 0; i < r->edge_lists; i++) {
    const uint32_t count = count_edges(r, next, i);
    add_number(out, count);
    for (uint32_t end = next + count; next < end; next++) {
      add_op_index(out, places[i][r->edges.data[next].from]);
      add_op_index(out, places[i][r->edges.data[next].to]);
    }
  }
}
