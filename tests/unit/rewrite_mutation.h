/*
 * Breaking an edit in one place.  What a mutation does is undone by a copy of
 * the lists it touched; not every mutation breaks something, which is for the
 * test to find out.
 */
#ifndef CALM_TESTS_REWRITE_MUTATION_H
#define CALM_TESTS_REWRITE_MUTATION_H

#include "rewrite/rewrite_contents.h"
#include "rewrite_run.h"

typedef struct mutation {
  graph_edit *edit;
  random_state *r;
  graph_tensor *tensors;
  graph_op *ops;
  edit_tensor *edit_tensors;
  edit_op *edit_ops;
} mutation;

static inline void *mutation_copy(arena *a, const void *data, size_t bytes) {
  void *copy = arena_calloc(a, bytes + 1, 1);
  assert_non_null(copy);
  if (bytes) memcpy(copy, data, bytes);
  return copy;
}

/* Operands and attributes too: they may be written to. */
static inline void mutation_own(graph *g) {
  for (op_id u = 0; u < g->ops.count; u++) {
    graph_op *op = &g->ops.data[u];
    op->inputs = mutation_copy(g->arena, op->inputs,
                               op->input_count * sizeof *op->inputs);
    op->attributes = mutation_copy(
        g->arena, op->attributes, op->attribute_count * sizeof *op->attributes);
  }
}

static inline void mutation_open(mutation *m, graph_edit *edit,
                                 random_state *r) {
  graph *g = &edit->after;
  arena *a = g->arena;
  *m = (mutation){.edit = edit, .r = r};
  m->tensors =
      mutation_copy(a, g->tensors.data, g->tensors.count * sizeof *m->tensors);
  m->ops = mutation_copy(a, g->ops.data, g->ops.count * sizeof *m->ops);
  m->edit_tensors = mutation_copy(
      a, edit->tensors.data, edit->tensors.count * sizeof *m->edit_tensors);
  m->edit_ops =
      mutation_copy(a, edit->ops.data, edit->ops.count * sizeof *m->edit_ops);
  mutation_own(g);
}

static inline void mutation_undo(mutation *m) {
  graph *g = &m->edit->after;
  memcpy(g->tensors.data, m->tensors, g->tensors.count * sizeof *m->tensors);
  memcpy(g->ops.data, m->ops, g->ops.count * sizeof *m->ops);
  memcpy(m->edit->tensors.data, m->edit_tensors,
         g->tensors.count * sizeof *m->edit_tensors);
  memcpy(m->edit->ops.data, m->edit_ops, g->ops.count * sizeof *m->edit_ops);
  assert_int_equal(graph_finish(g, "undone"), CALM_OK);
}

static inline graph_op *mutation_op(mutation *m) {
  graph *g = &m->edit->after;
  return &g->ops.data[random_below(m->r, g->ops.count)];
}

static inline edit_op *mutation_descent(mutation *m, const graph_op *op) {
  return &m->edit->ops.data[op - m->edit->after.ops.data];
}

static inline bool mutation_alike(const graph_tensor *x,
                                  const graph_tensor *y) {
  if (x->type != y->type || x->bytes != y->bytes || x->rank != y->rank)
    return false;
  return !x->rank ||
         !memcmp(x->dimensions, y->dimensions, x->rank * sizeof *x->dimensions);
}

/* Another tensor, of the same shape if there is one. */
static inline tensor_id mutation_other(mutation *m, tensor_id t) {
  const graph *g = &m->edit->after;
  const uint32_t count = g->tensors.count;
  const uint32_t start = random_below(m->r, count);
  for (uint32_t i = 0; i < count; i++) {
    const tensor_id other = (start + i) % count;
    if (other != t &&
        mutation_alike(&g->tensors.data[other], &g->tensors.data[t]))
      return other;
  }
  return start;
}

/* ---- The ways ------------------------------------------------------------ */

static inline bool read_another(mutation *m) {
  graph_op *op = mutation_op(m);
  const uint32_t i = random_below(m->r, op->input_count);
  if (op->inputs[i] == CALM_NONE) return false;
  op->inputs[i] = mutation_other(m, op->inputs[i]);
  return true;
}

static inline bool exchange_operands(mutation *m) {
  graph_op *op = mutation_op(m);
  const uint32_t i = random_below(m->r, op->input_count),
                 k = random_below(m->r, op->input_count);
  const tensor_id t = op->inputs[i];
  op->inputs[i] = op->inputs[k];
  op->inputs[k] = t;
  return op->inputs[i] != op->inputs[k];
}

/* Such as the slices of two parts. */
static inline bool exchange_between(mutation *m) {
  graph_op *x = mutation_op(m), *y = mutation_op(m);
  if (x->kind != y->kind || x == y) return false;
  const uint32_t i = random_below(
      m->r, x->input_count < y->input_count ? x->input_count : y->input_count);
  const tensor_id t = x->inputs[i];
  x->inputs[i] = y->inputs[i];
  y->inputs[i] = t;
  return x->inputs[i] != y->inputs[i];
}

static inline bool drop_operand(mutation *m) {
  graph_op *op = mutation_op(m);
  if (op->input_count < 2) return false;
  const uint32_t i = random_below(m->r, op->input_count);
  const bool last = i + 1 == op->input_count;
  if (!last && random_below(m->r, 2)) {
    const bool absent = op->inputs[i] == CALM_NONE;
    op->inputs[i] = CALM_NONE;
    return !absent;
  }
  for (uint32_t k = i; k + 1 < op->input_count; k++)
    op->inputs[k] = op->inputs[k + 1];
  op->input_count--;
  return true;
}

static inline bool double_operand(mutation *m) {
  graph_op *op = mutation_op(m);
  const uint32_t i = random_below(m->r, op->input_count),
                 k = random_below(m->r, op->input_count);
  if (op->inputs[i] == op->inputs[k]) return false;
  op->inputs[i] = op->inputs[k];
  return true;
}

/* A bias in addition, or another in its place. */
static inline bool give_bias(mutation *m) {
  const graph *g = &m->edit->after;
  graph_op *op = mutation_op(m);
  if (op->kind != OP_conv2d && op->kind != OP_fused_conv) return false;
  if (op->input_count < 2 || op->inputs[1] == CALM_NONE) return false;
  const uint32_t start = random_below(m->r, g->tensors.count);
  tensor_id bias = CALM_NONE;
  for (uint32_t i = 0; i < g->tensors.count; i++) {
    const tensor_id t = (start + i) % g->tensors.count;
    const graph_tensor *b = &g->tensors.data[t];
    if (b->flags & CALM_TENSOR_CONST && b->rank == 1) bias = t;
  }
  if (bias == CALM_NONE) return false;
  if (op->input_count > 2) {
    op->inputs[2] = bias;
    return true;
  }
  tensor_id *inputs = arena_calloc(g->arena, 3, sizeof *inputs);
  assert_non_null(inputs);
  memcpy(inputs, op->inputs, 2 * sizeof *inputs);
  inputs[2] = bias;
  op->inputs = inputs;
  op->input_count = 3;
  return true;
}

static inline bool move_activation(mutation *m) {
  graph_op *op = mutation_op(m);
  edit_op *descent = mutation_descent(m, op);
  const graph_op *from = &m->edit->before->ops.data[descent->from];
  const char *value = graph_op_attribute(from, "activation");
  if (!value) return false;
  descent->activation = !descent->activation;
  graph_attribute *all = arena_calloc(
      m->edit->after.arena, (size_t)op->attribute_count + 1, sizeof *all);
  uint32_t count = 0;
  assert_non_null(all);
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (strcmp(op->attributes[i].key, "activation"))
      all[count++] = op->attributes[i];
  if (descent->activation)
    all[count++] = (graph_attribute){"activation", value};
  op->attributes = all;
  op->attribute_count = count;
  return true;
}

static inline bool say_otherwise(mutation *m) {
  static const char *const values[] = {"1",    "2",     "3",       "1,1", "2,2",
                                       "same", "valid", "0,0,0,0", "relu"};
  graph_op *op = mutation_op(m);
  if (!op->attribute_count) return false;
  const uint32_t i = random_below(m->r, op->attribute_count);
  if (random_below(m->r, 4) == 0) {
    op->attributes[i] = op->attributes[--op->attribute_count];
    return true;
  }
  op->attributes[i].value = values[random_below(m->r, 9)];
  return true;
}

static inline bool cut_elsewhere(mutation *m) {
  const uint32_t count = m->edit->tensors.count;
  const uint32_t start = random_below(m->r, count);
  for (uint32_t i = 0; i < count; i++) {
    edit_tensor *t = &m->edit->tensors.data[(start + i) % count];
    if (t->contents != EDIT_SLICE) continue;
    if (random_below(m->r, 3) == 0)
      t->axis = random_below(m->r, 5);
    else
      t->begin += random_below(m->r, 2) ? 1 : -1;
    return true;
  }
  return false;
}

static inline bool descend_otherwise(mutation *m) {
  const uint32_t count = m->edit->tensors.count;
  edit_tensor *t = &m->edit->tensors.data[random_below(m->r, count)];
  const edit_tensor old = *t;
  if (random_below(m->r, 2))
    t->from = random_below(m->r, m->edit->before->tensors.count);
  else
    t->contents = (edit_contents)random_below(m->r, 5);
  return t->from != old.from || t->contents != old.contents;
}

static inline bool compute_otherwise(mutation *m) {
  const uint32_t count = m->edit->tensors.count;
  const uint32_t start = random_below(m->r, count);
  for (uint32_t i = 0; i < count; i++) {
    edit_tensor *t = &m->edit->tensors.data[(start + i) % count];
    if (t->contents != EDIT_GIVEN || !t->recipe) continue;
    arena *a = m->edit->after.arena;
    edit_recipe *recipe = mutation_copy(a, t->recipe, sizeof *recipe);
    recipe_step *steps = mutation_copy(
        a, recipe->steps, (size_t)recipe->step_count * sizeof *steps);
    t->recipe = recipe;
    recipe->steps = steps;
    if (!recipe->step_count || random_below(m->r, 6) == 0) {
      recipe->number += 2;
      recipe->start = CALM_NONE;
      return true;
    }
    recipe_step *step = &steps[random_below(m->r, recipe->step_count)];
    switch (random_below(m->r, 3)) {
      case 0: *step = steps[--recipe->step_count]; break;
      case 1: step->verb = (recipe_verb)random_below(m->r, 8); break;
      default: step->number += 0.5; break;
    }
    return true; /* perhaps to the same */
  }
  return false;
}

static inline bool be_another_kind(mutation *m) {
  static const op_kind kinds[] = {OP_max_pool2d,
                                  OP_average_pool2d,
                                  OP_relu,
                                  OP_relu6,
                                  OP_add,
                                  OP_sub,
                                  OP_mul,
                                  OP_conv2d,
                                  OP_depthwise_conv2d,
                                  OP_partial_sum,
                                  OP_add_into,
                                  OP_concat};
  graph_op *op = mutation_op(m);
  const op_kind kind = kinds[random_below(m->r, 12)];
  if (op->kind == kind || (kind == OP_add && op->kind == OP_partial_sum) ||
      (kind == OP_partial_sum && op->kind == OP_add))
    return false;
  op->kind = kind;
  op->kind_name = op_kind_name(kind);
  return true;
}

static inline bool come_from_another(mutation *m) {
  graph_op *op = mutation_op(m);
  edit_op *descent = mutation_descent(m, op);
  const edit_op old = *descent;
  if (random_below(m->r, 2))
    descent->from = random_below(m->r, m->edit->before->ops.count);
  else
    descent->role = (edit_role)random_below(m->r, 5);
  return descent->from != old.from || descent->role != old.role;
}

static bool (*const mutations[])(mutation *) = {
    read_another,     exchange_operands, exchange_between,  drop_operand,
    double_operand,   give_bias,         move_activation,   say_otherwise,
    cut_elsewhere,    descend_otherwise, compute_otherwise, be_another_kind,
    come_from_another};

enum { MUTATIONS = sizeof mutations / sizeof *mutations };

#endif
