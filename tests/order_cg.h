/*
 * Order problems from graphs in the simple abstract text form: tensors with
 * byte counts, operators, control edges.  A stand-in for the real reader, so
 * that the tests of this room need no other; memory model "plain": a tensor is
 * a buffer that its producer and its readers touch, inputs are there from the
 * start, outputs stay to the end, and every other tensor dies with its last
 * toucher.
 */
#ifndef CALM_TESTS_ORDER_CG_H
#define CALM_TESTS_ORDER_CG_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "order/order.h"

enum { ORDER_CG_TOKEN = 256 };

/* What is known of a file while it is read: relations as bit matrices. */
typedef struct order_cg {
  uint32_t op_count, tensor_count, words;
  char (*op_names)[ORDER_CG_TOKEN], (*tensor_names)[ORDER_CG_TOKEN];
  uint32_t *producer;
  uint64_t *touch; /* tensor x operators */
  uint64_t *preds; /* operator x operators */
  order_buffer *buffers;
  uint64_t expected_best; /* 0: the file does not say */
} order_cg;

static inline uint32_t order_cg_find(char (*names)[ORDER_CG_TOKEN],
                                     uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(names[i], name)) return i;
  return CALM_NONE;
}

static inline void order_cg_tensor(order_cg *g, char *line) {
  const uint32_t t = g->tensor_count++;
  unsigned long long bytes = 0;
  sscanf(line, "tensor %255s %llu", g->tensor_names[t], &bytes);
  g->producer[t] = CALM_NONE;
  g->buffers[t] = (order_buffer){bytes, strstr(line, " input") != NULL,
                                 strstr(line, " output") != NULL};
}

/* One word of an operator's line; `place` counts the parentheses before it. */
static inline void order_cg_word(order_cg *g, uint32_t u, const char *word,
                                 int place) {
  if (place == 1 || place == 3) {
    const uint32_t t = order_cg_find(g->tensor_names, g->tensor_count, word);
    if (t == CALM_NONE) return;
    bits_add(g->touch + t * g->words, u);
    if (place == 3) g->producer[t] = u;
  } else if (place == 5) {
    const uint32_t v = order_cg_find(g->op_names, g->op_count, word);
    if (v != CALM_NONE) bits_add(g->preds + u * g->words, v);
  }
}

static inline void order_cg_op(order_cg *g, char *line) {
  const uint32_t u = g->op_count++;
  int place = 0;
  char *word = strtok(line, " \n");
  word = strtok(NULL, " \n");
  snprintf(g->op_names[u], ORDER_CG_TOKEN, "%s", word);
  while ((word = strtok(NULL, " \n")))
    if (!strcmp(word, "(") || !strcmp(word, ")"))
      place++;
    else
      order_cg_word(g, u, word, place);
}

static inline void order_cg_line(order_cg *g, char *line) {
  if (!strncmp(line, "tensor ", 7)) order_cg_tensor(g, line);
  if (!strncmp(line, "op ", 3)) order_cg_op(g, line);
  unsigned long long best;
  if (sscanf(line, "# expect peak-best %llu", &best) == 1)
    g->expected_best = best;
}

static inline void order_cg_edges(order_cg *g) {
  for (uint32_t t = 0; t < g->tensor_count; t++)
    for (uint32_t u = 0; u < g->op_count; u++)
      if (g->producer[t] != CALM_NONE && g->producer[t] != u &&
          bits_has(g->touch + t * g->words, u))
        bits_add(g->preds + u * g->words, g->producer[t]);
}

/* Compressed rows of a bit matrix. */
static inline void order_cg_rows(uint32_t **begin, uint32_t **list,
                                 const uint64_t *matrix, uint32_t rows,
                                 const order_cg *g, arena *a) {
  uint32_t filled = 0;
  *begin = arena_calloc(a, rows + 1, sizeof **begin);
  *list = arena_calloc(a, bits_count(matrix, rows * g->words), sizeof **list);
  if (!*begin || !*list) abort();
  for (uint32_t r = 0; r < rows; r++) {
    for (uint32_t u = 0; u < g->op_count; u++)
      if (bits_has(matrix + r * g->words, u)) (*list)[filled++] = u;
    (*begin)[r + 1] = filled;
  }
}

/* Read a file; false if it cannot be opened or its operators are not in
   topological order.  *out_best: what the file expects, 0 if nothing. */
static inline bool order_cg_read(order_problem *out, uint64_t *out_best,
                                 const char *path, arena *a) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  char line[1 << 14];
  uint32_t ops = 0, tensors = 0;
  while (fgets(line, sizeof line, file)) {
    ops += !strncmp(line, "op ", 3);
    tensors += !strncmp(line, "tensor ", 7);
  }
  order_cg g = {.words = bits_words(ops)};
  g.op_names = arena_calloc(a, ops, ORDER_CG_TOKEN);
  g.tensor_names = arena_calloc(a, tensors, ORDER_CG_TOKEN);
  g.producer = arena_calloc(a, tensors, sizeof *g.producer);
  g.touch = arena_calloc(a, tensors * (size_t)g.words, sizeof *g.touch);
  g.preds = arena_calloc(a, ops * (size_t)g.words, sizeof *g.preds);
  g.buffers = arena_calloc(a, tensors, sizeof *g.buffers);
  if (!g.op_names || !g.tensor_names || !g.producer || !g.touch || !g.preds ||
      !g.buffers)
    abort();
  rewind(file);
  while (fgets(line, sizeof line, file)) order_cg_line(&g, line);
  fclose(file);
  order_cg_edges(&g);
  order_problem p = {
      .op_count = ops, .buffer_count = tensors, .buffers = g.buffers};
  order_cg_rows(&p.touch_begin, &p.touch, g.touch, tensors, &g, a);
  order_cg_rows(&p.pred_begin, &p.preds, g.preds, ops, &g, a);
  for (uint32_t u = 0; u < ops; u++)
    if (p.pred_begin[u] < p.pred_begin[u + 1] &&
        p.preds[p.pred_begin[u + 1] - 1] >= u)
      return false;
  p.workspace = arena_calloc(a, ops, sizeof *p.workspace);
  p.reuses = arena_calloc(a, 1, sizeof *p.reuses);
  if (!p.workspace || !p.reuses || order_problem_finish(&p, a)) abort();
  *out = p;
  *out_best = g.expected_best;
  return true;
}

#endif
