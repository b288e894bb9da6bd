/*
 * Abstract edits made by hand: all convolutions of `parted` that read a concat
 * become partial sums, however a kernel adds.  No other rule, no nesting, so
 * that it can be seen to be right; the rules themselves are tested elsewhere.
 */
#ifndef CALM_TESTS_REWRITE_PARTED_H
#define CALM_TESTS_REWRITE_PARTED_H

#include <inttypes.h>

#include "rewrite/rewrite.h"
#include "rewrite_random.h"

enum { PARTED_OPERANDS = 16 };

typedef struct parting {
  graph_edit *edit;
  const graph *g;
  const bool *parted; /* per operator */
  rewrite_partials partials;
  tensor_id *made;
  op_id *last;
} parting;

static inline const char *parted_name(const parting *p, const char *base,
                                      const char *kind, unsigned number) {
  char name[64];
  snprintf(name, sizeof name, "%s/%s%u", base, kind, number);
  return arena_string(p->edit->after.arena, name, strlen(name));
}

/* Does the operator qualify?  It reads a concat of at least two. */
static inline bool parted_site(const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  if (op->kind != OP_conv2d) return false;
  const op_id maker = g->producer[op->inputs[0]];
  return maker != CALM_NONE && g->ops.data[maker].kind == OP_concat &&
         g->ops.data[maker].input_count > 1;
}

static inline tensor_id parted_copy(parting *p, tensor_id t) {
  if (t == CALM_NONE) return CALM_NONE;
  if (p->made[t] == CALM_NONE)
    assert_int_equal(
        graph_edit_add_tensor(&p->made[t], p->edit, &p->g->tensors.data[t],
                              &(edit_tensor){.from = t}),
        CALM_OK);
  return p->made[t];
}

static inline tensor_id parted_tensor(parting *p, graph_tensor tensor,
                                      const char *kind, unsigned number,
                                      edit_tensor descent) {
  tensor_id id;
  tensor.name = parted_name(p, tensor.name, kind, number);
  tensor.flags &= CALM_TENSOR_CONST;
  assert_int_equal(graph_edit_add_tensor(&id, p->edit, &tensor, &descent),
                   CALM_OK);
  return id;
}

static inline uint32_t parted_after(parting *p, op_id *out,
                                    const graph_op *op) {
  for (uint32_t i = 0; i < op->after_count; i++) out[i] = p->last[op->after[i]];
  return op->after_count;
}

/* Input channels [begin, begin + extent) of weights. */
static inline tensor_id parted_weights(parting *p, tensor_id w, unsigned number,
                                       int64_t begin, int64_t extent) {
  graph_tensor tensor = p->g->tensors.data[w];
  const uint32_t axis = p->g->channels_first ? 1 : 3;
  int64_t dimensions[4];
  memcpy(dimensions, tensor.dimensions, sizeof dimensions);
  dimensions[axis] = extent;
  tensor.dimensions = dimensions;
  return parted_tensor(
      p, tensor, "p", number,
      (edit_tensor){
          .from = w, .contents = EDIT_SLICE, .axis = axis, .begin = begin});
}

static inline int64_t parted_channels(const graph *g, tensor_id t) {
  const graph_tensor *tensor = &g->tensors.data[t];
  return tensor->rank ? tensor->dimensions[g->channels_first ? 1 : 3] : 0;
}

/* Without `activation`. */
static inline uint32_t parted_attributes(graph_attribute *out,
                                         const graph_op *op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (strcmp(op->attributes[i].key, "activation"))
      out[count++] = op->attributes[i];
  return count;
}

static inline tensor_id parted_part(parting *p, op_id u, tensor_id x,
                                    unsigned number, int64_t begin) {
  const graph_op *old = &p->g->ops.data[u];
  const graph_tensor *y = &p->g->tensors.data[old->outputs[0]];
  const bool into = p->partials != PARTIALS_ACCUMULATE;
  const edit_tensor made = {.from = old->outputs[0], .contents = EDIT_MADE};
  graph_attribute attributes[16];
  op_id after[8], id;
  graph_op op = *old;
  op.name = parted_name(p, old->name, "p", number);
  op.attributes = attributes;
  op.attribute_count = parted_attributes(attributes, old);
  op.after = after;
  op.after_count = parted_after(p, after, old);
  op.input_count = old->input_count > 1 ? 2 : 1;
  tensor_id inputs[2] = {parted_copy(p, x)};
  if (old->input_count > 1)
    inputs[1] = parted_weights(p, old->inputs[1], number, begin,
                               parted_channels(p->g, x));
  tensor_id output = parted_tensor(p, *y, into ? "t" : "p", number, made);
  op.inputs = inputs;
  op.outputs = &output;
  assert_int_equal(
      graph_edit_add_op(&id, p->edit, &op, &(edit_op){u, EDIT_KEEP, false}),
      CALM_OK);
  if (!into) return output;
  tensor_id sum = parted_tensor(p, *y, "p", number, made);
  graph_op add = {.name = parted_name(p, old->name, "a", number),
                  .kind = OP_add_into,
                  .inputs = &output,
                  .input_count = 1,
                  .outputs = &sum,
                  .output_count = 1};
  if (p->partials == PARTIALS_ADD_COPY) add.workspace_bytes = y->bytes;
  assert_int_equal(
      graph_edit_add_op(&id, p->edit, &add, &(edit_op){u, EDIT_ADD, false}),
      CALM_OK);
  return sum;
}

static inline void parted_sum(parting *p, op_id u) {
  const graph_op *old = &p->g->ops.data[u];
  const graph_op *concat = &p->g->ops.data[p->g->producer[old->inputs[0]]];
  tensor_id inputs[PARTED_OPERANDS];
  op_id after[8];
  int64_t begin = 0;
  for (uint32_t i = 0; i < concat->input_count; i++) {
    inputs[i] = parted_part(p, u, concat->inputs[i], i + 1, begin);
    begin += parted_channels(p->g, concat->inputs[i]);
  }
  tensor_id output = parted_copy(p, old->outputs[0]);
  graph_op op = {.name = old->name,
                 .kind = OP_partial_sum,
                 .inputs = inputs,
                 .input_count = concat->input_count,
                 .outputs = &output,
                 .output_count = 1,
                 .after = after};
  op.after_count = parted_after(p, after, old);
  assert_int_equal(graph_edit_add_op(&p->last[u], p->edit, &op,
                                     &(edit_op){u, EDIT_SUM, true}),
                   CALM_OK);
}

static inline void parted_op(parting *p, op_id u) {
  graph_op op = p->g->ops.data[u];
  tensor_id inputs[PARTED_OPERANDS], outputs[4];
  op_id after[8];
  for (uint32_t i = 0; i < op.input_count; i++)
    inputs[i] = parted_copy(p, op.inputs[i]);
  for (uint32_t i = 0; i < op.output_count; i++)
    outputs[i] = parted_copy(p, op.outputs[i]);
  op.after_count = parted_after(p, after, &op);
  op.inputs = inputs;
  op.outputs = outputs;
  op.after = after;
  assert_int_equal(graph_edit_add_op(&p->last[u], p->edit, &op,
                                     &(edit_op){u, EDIT_KEEP, true}),
                   CALM_OK);
}

/* Is operator `u` a concat that nobody needs any more? */
static inline bool parted_gone(const parting *p, op_id u) {
  const graph *g = p->g;
  const graph_op *op = &g->ops.data[u];
  if (op->kind != OP_concat) return false;
  const tensor_id t = op->outputs[0];
  if (g->tensors.data[t].flags & CALM_TENSOR_OUTPUT) return false;
  for (uint32_t i = g->reader_begin[t]; i < g->reader_begin[t + 1]; i++)
    if (!p->parted[g->readers[i]]) return false;
  for (op_id v = 0; v < g->ops.count; v++)
    for (uint32_t i = 0; i < g->ops.data[v].after_count; i++)
      if (g->ops.data[v].after[i] == u) return false;
  return op->after_count == 0;
}

/* To be freed with graph_edit_free. */
static inline void part_edit(graph_edit *edit, const graph *g,
                             const bool *parted, rewrite_partials partials,
                             arena *a) {
  parting p = {edit, g, parted, partials, NULL, NULL};
  graph_edit_init(edit, g, a);
  p.made = arena_calloc(a, g->tensors.count, sizeof *p.made);
  p.last = arena_calloc(a, g->ops.count, sizeof *p.last);
  assert_non_null(p.made);
  assert_non_null(p.last);
  for (tensor_id t = 0; t < g->tensors.count; t++) p.made[t] = CALM_NONE;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->tensors.data[t].flags & CALM_TENSOR_INPUT) parted_copy(&p, t);
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const op_id u = g->order[i];
    if (parted_gone(&p, u)) continue;
    if (parted[u])
      parted_sum(&p, u);
    else
      parted_op(&p, u);
  }
  if (graph_edit_finish(edit, "parted"))
    fail_msg("%s", calm_context_message(a->context));
}

#endif
