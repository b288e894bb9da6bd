/*
 * Random small graphs, odd on purpose: names of any bytes, absent operands,
 * variables, state, control edges, and operators that do not stand in
 * topological order.  Some of them have cycles.
 */
#ifndef CALM_TESTS_GRAPH_RANDOM_H
#define CALM_TESTS_GRAPH_RANDOM_H

#include "base/random.h"
#include "graph_fixture.h"

enum { RANDOM_OPS = 12, RANDOM_TENSORS = 16, RANDOM_SLOTS = 4 };

/* Unique because of its first byte; the rest is anything but zero. */
static inline void random_name(char out[8], random_state *r, uint32_t unique) {
  uint32_t length = random_below(r, 6);
  bool plain = random_below(r, 2);
  out[0] = (char)('A' + unique);
  for (uint32_t i = 1; i <= length; i++)
    out[i] = plain ? (char)('0' + random_below(r, 10))
                   : (char)(1 + random_below(r, 255));
  out[length + 1] = '\0';
}

static inline void random_tensor(graph *g, random_state *r) {
  char name[8];
  int64_t dimensions[3];
  tensor_id id;
  random_name(name, r, g->tensors.count);
  graph_tensor tensor = {.name = name, .dimensions = dimensions};
  tensor.type = random_below(r, 2)
                    ? ELEMENT_ABSTRACT
                    : (element_type)random_below(r, ELEMENT_ABSTRACT);
  tensor.rank = random_below(r, 4);
  for (uint32_t i = 0; i < tensor.rank; i++)
    dimensions[i] = random_below(r, 70);
  tensor.bytes = random_next(r);
  tensor.bytes >>= 4 + random_below(r, 60);
  tensor.bytes >>= 6; /* so that all of them together fit */
  tensor.file_index = g->tensors.count;
  if (random_below(r, 3) == 0) tensor.flags = 1u << random_below(r, 4);
  if (random_below(r, 6) == 0) tensor.flags |= CALM_TENSOR_OUTPUT;
  assert_int_equal(graph_add_tensor(&id, g, &tensor), CALM_OK);
}

/* Give every tensor that needs one a producer: `writer` of each tensor. */
static inline void random_writers(uint32_t *writer, const graph *g,
                                  random_state *r, uint32_t ops) {
  const unsigned given = CALM_TENSOR_INPUT | CALM_TENSOR_CONST;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    unsigned flags = g->tensors.data[t].flags;
    bool may_lack = (flags & CALM_TENSOR_VARIABLE) && random_below(r, 2);
    writer[t] = (flags & given) || may_lack ? CALM_NONE : random_below(r, ops);
  }
}

static inline op_kind random_kind(random_state *r) {
  static const op_kind kinds[] = {OP_conv2d, OP_add, OP_concat,
                                  OP_random_uniform, OP_read_variable};
  return random_below(r, 2) ? OP_OPAQUE : kinds[random_below(r, 5)];
}

static inline void random_op(graph *g, random_state *r, const uint32_t *writer,
                             const uint32_t *rank, uint32_t ops) {
  char name[8];
  op_id u = g->ops.count, id;
  tensor_id inputs[RANDOM_SLOTS], outputs[RANDOM_TENSORS];
  op_id after[RANDOM_SLOTS];
  graph_attribute attribute = {"key", random_below(r, 2) ? "1,2" : "a \"b\""};
  random_name(name, r, u);
  graph_op op = {.name = name,
                 .inputs = inputs,
                 .outputs = outputs,
                 .after = after,
                 .attributes = &attribute,
                 .file_index = u};
  op.kind = random_kind(r);
  op.kind_name = random_below(r, 2) ? "op" : "odd kind";
  op.attribute_count = random_below(r, 2);
  op.workspace_bytes = random_below(r, 2) * 4096;
  op.stateful = random_below(r, 12) == 0;
  for (uint32_t i = random_below(r, RANDOM_SLOTS + 1); i > 0; i--) {
    tensor_id t = random_below(r, g->tensors.count);
    bool early = writer[t] == CALM_NONE || rank[writer[t]] < rank[u];
    inputs[op.input_count++] = early ? t : CALM_NONE;
  }
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (writer[t] == u) outputs[op.output_count++] = t;
  for (uint32_t i = random_below(r, 3); i > 0; i--) {
    op_id other = random_below(r, ops);
    if (rank[other] < rank[u]) after[op.after_count++] = other;
  }
  assert_int_equal(graph_add_op(&id, g, &op), CALM_OK);
}

static inline void random_graph(graph *g, arena *a, random_state *r,
                                const char *name) {
  uint32_t ops = 1 + random_below(r, RANDOM_OPS);
  uint32_t tensors = 1 + random_below(r, RANDOM_TENSORS);
  uint32_t rank[RANDOM_OPS], writer[RANDOM_TENSORS];
  bool sorted = random_below(r, 2);
  graph_init(g, a, name);
  g->channels_first = random_below(r, 2);
  for (uint32_t i = 0; i < tensors; i++) random_tensor(g, r);
  for (uint32_t u = 0; u < ops; u++)
    rank[u] = sorted ? u : random_below(r, 3 * ops);
  random_writers(writer, g, r, ops);
  for (uint32_t u = 0; u < ops; u++) random_op(g, r, writer, rank, ops);
}

#endif
