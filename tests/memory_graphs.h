/*
 * What the tests of the memory room share: graphs from text, memory models from
 * "preset column=value ...", graphs, models and orders at random, and an
 * allocator whose n-th request fails.
 */
#ifndef CALM_TESTS_MEMORY_GRAPHS_H
#define CALM_TESTS_MEMORY_GRAPHS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "cases.h"
#include "graph/graph_text.h"
#include "memory/memory.h"
#include "scarce.h"

typedef struct fixture {
  calm_context *context;
  arena arena;
  graph_vector graphs;
  const graph *g; /* the first */
} fixture;

static inline void fixture_begin(fixture *f, const calm_allocator *allocator) {
  memset(f, 0, sizeof *f);
  f->context = calm_context_new(allocator);
  assert_non_null(f->context);
  arena_init(&f->arena, f->context);
}

/* Open graphs from their text, without its first line. */
static inline void fixture_open(fixture *f, const char *body) {
  static const char head[] = "calm-graph 1\ngraph test\n";
  char *text = malloc(sizeof head + strlen(body));
  assert_non_null(text);
  strcpy(text, head);
  strcat(text, body);
  fixture_begin(f, NULL);
  if (graph_text_read(&f->graphs, &f->arena, "test", text, strlen(text)))
    fail_msg("%s", calm_context_message(f->context));
  free(text);
  f->g = f->graphs.data;
}

/* Also a test that nothing was left behind. */
static inline void fixture_close(fixture *f) {
  for (uint32_t i = 0; i < f->graphs.count; i++) graph_free(&f->graphs.data[i]);
  VECTOR_FREE(f->context, &f->graphs);
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

static inline tensor_id tensor_named(const graph *g, const char *name) {
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (!strcmp(g->tensors.data[t].name, name)) return t;
  fail_msg("no tensor '%s'", name);
  return CALM_NONE;
}

static inline op_id op_named(const graph *g, const char *name) {
  for (op_id op = 0; op < g->ops.count; op++)
    if (!strcmp(g->ops.data[op].name, name)) return op;
  fail_msg("no operator '%s'", name);
  return CALM_NONE;
}

/* "serenity align=16 inplace=add,mul" */
static inline memory_model model_of(calm_context *context, const char *text) {
  char words[256];
  snprintf(words, sizeof words, "%s", text);
  char *rest, *word = strtok_r(words, " ", &rest);
  memory_model model = *memory_model_find(word);
  while ((word = strtok_r(NULL, " ", &rest))) {
    char *value = strchr(word, '=');
    *value++ = '\0';
    if (memory_model_override(&model, context, word, value))
      fail_msg("%s", calm_context_message(context));
  }
  return model;
}

/* ---- At random ----------------------------------------------------------- */

static inline bool chance(random_state *r, uint32_t percent) {
  return random_below(r, 100) < percent;
}

static inline memory_model random_model(random_state *r,
                                        calm_context *context) {
  static const char *const presets[] = {"plain", "serenity", "tflm-default",
                                        "litert", "ort"};
  static const char *const overrides[] = {"inputs=until-use",
                                          "inputs=whole-run",
                                          "inputs=external",
                                          "outputs=to-end",
                                          "outputs=external",
                                          "views=none",
                                          "views=identity",
                                          "concat=copy",
                                          "concat=elide",
                                          "inplace=none",
                                          "inplace=elementwise",
                                          "inplace=add,scatter_elements,concat",
                                          "inplace=relu,fused_conv",
                                          "inplace=reshape",
                                          "variables=external",
                                          "variables=whole-run",
                                          "round=1",
                                          "round=4",
                                          "align=8"};
  const uint32_t count = sizeof overrides / sizeof *overrides;
  char text[256];
  int length = snprintf(text, sizeof text, "%s", presets[random_below(r, 5)]);
  for (uint32_t i = random_below(r, 6); i > 0; i--)
    length += snprintf(text + length, sizeof text - (size_t)length, " %s",
                       overrides[random_below(r, count)]);
  return model_of(context, text);
}

enum { RANDOM_MAX_OPS = 14, RANDOM_MAX_TENSORS = 64, RANDOM_BODIES = 3 };

/* Bytes that the bodies of random operators need. */
static const uint64_t random_body_arena[RANDOM_BODIES] = {0, 5, 12};

typedef struct random_graph {
  random_state *r;
  graph g;
  uint32_t op_count;
  graph_op ops[RANDOM_MAX_OPS];
  tensor_id operands[RANDOM_MAX_OPS][8];
  uint32_t bodies[RANDOM_MAX_OPS][2];
  op_id after[RANDOM_MAX_OPS];
  bool with_sums;
  bool partial[RANDOM_MAX_TENSORS]; /* tensors that go into a sum */
} random_graph;

static inline tensor_id random_tensor(random_graph *b, uint64_t bytes,
                                      unsigned flags) {
  char name[16];
  snprintf(name, sizeof name, "t%" PRIu32, b->g.tensors.count);
  const graph_tensor tensor = {
      .name = name, .type = ELEMENT_ABSTRACT, .flags = flags, .bytes = bytes};
  tensor_id id;
  assert_int_equal(graph_add_tensor(&id, &b->g, &tensor), CALM_OK);
  return id;
}

static inline unsigned random_source_flags(random_state *r) {
  switch (random_below(r, 8)) {
    case 0: return CALM_TENSOR_CONST;
    case 1: return CALM_TENSOR_VARIABLE;
    case 2: return CALM_TENSOR_CONST | CALM_TENSOR_OUTPUT;
    case 3: return CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT;
    default: return CALM_TENSOR_INPUT;
  }
}

static inline uint64_t random_size(random_state *r) {
  return chance(r, 5) ? 0 : 1 + random_below(r, 4) * 4;
}

/* An operand that is there already. */
static inline tensor_id random_operand(random_graph *b) {
  random_state *r = b->r;
  const uint32_t count = b->g.tensors.count;
  const uint32_t back = random_below(r, chance(r, 70) && count > 4 ? 4 : count);
  const tensor_id t = count - 1 - back;
  return chance(r, 5) || b->partial[t] ? CALM_NONE : t;
}

/* An operator whose operands exist, with new outputs. */
static inline void random_op(random_graph *b, uint32_t i) {
  static const op_kind kinds[] = {OP_conv2d,     OP_add,
                                  OP_relu,       OP_concat,
                                  OP_concat,     OP_split,
                                  OP_split,      OP_reshape,
                                  OP_identity,   OP_mul,
                                  OP_reshape,    OP_add,
                                  OP_max_pool2d, OP_fully_connected,
                                  OP_OPAQUE,     OP_scatter_elements,
                                  OP_fused_conv};
  random_state *r = b->r;
  graph_op *op = &b->ops[i];
  tensor_id *operands = b->operands[i];
  op->kind = kinds[random_below(r, sizeof kinds / sizeof *kinds)];
  op->kind_name = op_kind_name(op->kind);
  op->inputs = operands;
  op->input_count = op->kind == OP_fused_conv ? 4 : random_below(r, 4);
  uint64_t bytes = random_size(r);
  for (uint32_t k = 0; k < op->input_count; k++) {
    operands[k] = random_operand(b);
    if (operands[k] != CALM_NONE && chance(r, 70))
      bytes = b->g.tensors.data[operands[k]].bytes;
  }
  op->outputs = operands + op->input_count;
  op->output_count = chance(r, 80) ? 1 : random_below(r, 3);
  for (uint32_t k = 0; k < op->output_count; k++) {
    const unsigned flags = chance(r, 12) ? CALM_TENSOR_OUTPUT : 0;
    op->outputs[k] = chance(r, 4) ? CALM_NONE : random_tensor(b, bytes, flags);
  }
  op->workspace_bytes = chance(r, 15) ? random_below(r, 20) : 0;
  op->bodies = b->bodies[i];
  if (chance(r, 10)) {
    op->body_count = 1 + random_below(r, 2);
    for (uint32_t k = 0; k < op->body_count; k++)
      op->bodies[k] = random_below(r, RANDOM_BODIES);
  }
}

/* An operator that computes a part of a sum from what is there, or hands on
   what is there and has the right size. */
static inline tensor_id random_part(random_graph *b, uint32_t i,
                                    uint64_t bytes) {
  graph_op *op = &b->ops[i];
  random_op(b, i);
  op->outputs[0] = random_tensor(b, bytes, 0);
  op->output_count = 1;
  const tensor_id given = random_operand(b);
  if (given != CALM_NONE && b->g.tensors.data[given].bytes == bytes) {
    op->kind = OP_add_into;
    op->kind_name = op_kind_name(op->kind);
    op->input_count = 1;
    op->inputs[0] = given;
    op->outputs = op->inputs + 1;
    op->outputs[0] = b->g.tensors.count - 1;
    if (chance(b->r, 50)) op->workspace_bytes = bytes;
  }
  b->partial[op->outputs[0]] = true;
  return op->outputs[0];
}

/* Some parts from operator i on, and their sum; sometimes that is again a part
   of a sum of one or two.  Yields the next operator. */
static inline uint32_t random_sum(random_graph *b, uint32_t i) {
  const tensor_id like = random_operand(b);
  const uint64_t bytes =
      like == CALM_NONE ? random_size(b->r) : b->g.tensors.data[like].bytes;
  tensor_id inner = CALM_NONE;
  do {
    tensor_id parts[3];
    uint32_t count = 0;
    if (inner != CALM_NONE) parts[count++] = inner;
    for (uint32_t more = random_below(b->r, 2) + (count == 0); more--;)
      parts[count++] = random_part(b, i++, bytes);
    graph_op *op = &b->ops[i];
    random_op(b, i);
    op->kind = OP_partial_sum;
    op->kind_name = op_kind_name(op->kind);
    op->inputs = b->operands[i++];
    op->input_count = count;
    memcpy(op->inputs, parts, count * sizeof *parts);
    op->outputs = op->inputs + count;
    op->output_count = 1;
    const bool again = inner == CALM_NONE && chance(b->r, 25);
    const unsigned flags = !again && chance(b->r, 15) ? CALM_TENSOR_OUTPUT : 0;
    op->outputs[0] = random_tensor(b, bytes, flags);
    b->partial[op->outputs[0]] = again;
    inner = again ? op->outputs[0] : CALM_NONE;
  } while (inner != CALM_NONE);
  return i;
}

/* With room for the largest sum: two parts, one more, and two sums. */
static inline void random_make_ops(random_graph *b) {
  enum { LARGEST_SUM = 5 };
  for (uint32_t i = 0; i < b->op_count;)
    if (b->with_sums && i + LARGEST_SUM <= b->op_count && chance(b->r, 20))
      i = random_sum(b, i);
    else
      random_op(b, i++);
}

/* Where each operator goes in the file: mostly in the order of making. */
static inline void random_positions(random_graph *b, uint32_t *place) {
  for (uint32_t i = 0; i < b->op_count; i++) place[i] = i;
  if (chance(b->r, 75)) return;
  for (uint32_t i = b->op_count; i > 1; i--) {
    const uint32_t k = random_below(b->r, i), swap = place[i - 1];
    place[i - 1] = place[k];
    place[k] = swap;
  }
}

static inline void random_add_ops(random_graph *b) {
  uint32_t place[RANDOM_MAX_OPS], at[RANDOM_MAX_OPS];
  random_positions(b, place);
  for (uint32_t i = 0; i < b->op_count; i++) at[place[i]] = i;
  for (uint32_t i = 0; i < b->op_count; i++) {
    graph_op *op = &b->ops[at[i]];
    char name[16];
    snprintf(name, sizeof name, "o%" PRIu32, at[i]);
    op->name = name;
    if (at[i] > 0 && chance(b->r, 15)) {
      b->after[at[i]] = place[random_below(b->r, at[i])];
      op->after = &b->after[at[i]];
      op->after_count = 1;
    }
    op_id id;
    assert_int_equal(graph_add_op(&id, &b->g, op), CALM_OK);
  }
}

static inline calm_status fixture_keep(fixture *f, graph g) {
  VECTOR_PUSH(f->context, &f->graphs, g);
  return CALM_OK;
}

/* One attempt; false if the shuffled file order and the state in it make a
   cycle. */
static inline bool fixture_try_random(fixture *f, random_state *r,
                                      bool with_sums) {
  random_graph b = {.r = r, .with_sums = with_sums};
  fixture_begin(f, NULL);
  graph_init(&b.g, &f->arena, "random");
  b.g.is_body = chance(r, 30);
  for (uint32_t i = 2 + random_below(r, 3); i > 0; i--) {
    const uint64_t bytes = random_size(r);
    random_tensor(&b, bytes, random_source_flags(r));
  }
  if (chance(r, 20)) random_tensor(&b, random_size(r), 0); /* an orphan */
  b.op_count = 1 + random_below(r, RANDOM_MAX_OPS);
  random_make_ops(&b);
  random_add_ops(&b);
  const calm_status status = graph_finish(&b.g, "random");
  assert_int_equal(fixture_keep(f, b.g), CALM_OK);
  f->g = f->graphs.data;
  return status == CALM_OK;
}

/* A graph with everything in it that the rules speak of. */
static inline void fixture_random(fixture *f, random_state *r) {
  while (!fixture_try_random(f, r, true)) fixture_close(f);
}

/* Without partial sums, which no runtime knows. */
static inline void fixture_random_real(fixture *f, random_state *r) {
  while (!fixture_try_random(f, r, false)) fixture_close(f);
}

/* Any topological order of all operators. */
static inline void random_order(op_id *out, const graph *g, random_state *r) {
  uint32_t left[RANDOM_MAX_OPS];
  op_id ready[RANDOM_MAX_OPS];
  uint32_t ready_count = 0;
  assert_true(g->ops.count <= RANDOM_MAX_OPS);
  for (op_id op = 0; op < g->ops.count; op++) {
    left[op] = g->pred_begin[op + 1] - g->pred_begin[op];
    if (left[op] == 0) ready[ready_count++] = op;
  }
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const uint32_t pick = random_below(r, ready_count);
    const op_id op = ready[pick];
    ready[pick] = ready[--ready_count];
    out[step] = op;
    for (uint32_t i = g->succ_begin[op]; i < g->succ_begin[op + 1]; i++)
      if (--left[g->succs[i]] == 0) ready[ready_count++] = g->succs[i];
  }
}

#endif
