/* Making the tensors and operators of a rewritten graph. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_work.h"

calm_status rewrite_make_tensor(tensor_id *out, rewrite_maker *m,
                                const graph_tensor *tensor,
                                const edit_tensor *descent) {
  *out = m->work->tensors.count;
  VECTOR_PUSH(m->a->context, &m->work->tensors,
              (made_tensor){*tensor, *descent, CALM_NONE});
  return CALM_OK;
}

calm_status rewrite_make_op(rewrite_maker *m, const graph_op *op,
                            const edit_op *descent) {
  VECTOR_PUSH(m->a->context, &m->work->ops, (made_op){*op, *descent});
  return CALM_OK;
}

calm_status rewrite_whole(tensor_id *out, rewrite_maker *m, tensor_id t) {
  if (t == CALM_NONE) {
    *out = CALM_NONE;
    return CALM_OK;
  }
  const tensor_id head = m->work->fates[t].head;
  tensor_id *made = &m->work->fates[head].made;
  if (*made == CALM_NONE) {
    const edit_tensor same = {.from = head, .contents = EDIT_SAME};
    TRY(rewrite_make_tensor(made, m, &m->g->tensors.data[head], &same));
  }
  *out = *made;
  return CALM_OK;
}

calm_status rewrite_name(const char **out, rewrite_maker *m, const char *base,
                         const char *kind, uint32_t number) {
  const size_t room = strlen(base) + strlen(kind) + 13;
  char *name;
  ARENA_ARRAY(m->a, name, room);
  if (number)
    snprintf(name, room, "%s/%s%" PRIu32, base, kind, number);
  else
    snprintf(name, room, "%s/%s", base, kind);
  *out = name;
  return CALM_OK;
}

static uint64_t length_along(const graph_tensor *t, uint32_t axis) {
  return t->type == ELEMENT_ABSTRACT ? t->bytes : (uint64_t)t->dimensions[axis];
}

calm_status rewrite_resize(graph_tensor *t, rewrite_maker *m, uint32_t axis,
                           uint64_t count) {
  int64_t *dimensions;
  if (t->type == ELEMENT_ABSTRACT) {
    t->bytes = count;
    return CALM_OK;
  }
  ARENA_ARRAY(m->a, dimensions, t->rank);
  memcpy(dimensions, t->dimensions, t->rank * sizeof *dimensions);
  dimensions[axis] = (int64_t)count;
  t->dimensions = dimensions;
  return CALM_OK;
}

/* The same slice, made before: weights may be shared. */
static tensor_id find_slice(const rewrite_maker *m, tensor_id t,
                            const edit_tensor *descent, uint64_t count) {
  const made_tensor *tensors = m->work->tensors.data;
  tensor_id s = m->work->fates[t].slices;
  for (; s != CALM_NONE; s = tensors[s].next)
    if (tensors[s].descent.axis == descent->axis &&
        tensors[s].descent.begin == descent->begin &&
        length_along(&tensors[s].tensor, descent->axis) == count)
      break;
  return s;
}

calm_status rewrite_slice(tensor_id *out, rewrite_maker *m, tensor_id t,
                          const rewrite_range *range) {
  graph_tensor slice = m->g->tensors.data[t];
  const uint64_t all = length_along(&slice, range->axis);
  tensor_id *last = &m->work->fates[t].slices;
  const edit_tensor descent = {.from = t,
                               .contents = EDIT_SLICE,
                               .axis = range->axis,
                               .begin = (int64_t)range->begin};
  if (range->count == all) return rewrite_whole(out, m, t);
  *out = find_slice(m, t, &descent, range->count);
  if (*out != CALM_NONE) return CALM_OK;
  TRY(rewrite_resize(&slice, m, range->axis, range->count));
  TRY(rewrite_name(&slice.name, m, slice.name, "p", range->number));
  slice.flags = CALM_TENSOR_CONST;
  if (range->scaled && slice.scale_count == all && all > 1) {
    slice.scale_count = (uint32_t)range->count;
    slice.quantization = 0;
  }
  TRY(rewrite_make_tensor(out, m, &slice, &descent));
  m->work->tensors.data[*out].next = *last;
  *last = *out;
  return CALM_OK;
}

calm_status rewrite_imitate(graph_op *out, rewrite_maker *m,
                            const graph_op *model, const char *without) {
  graph_attribute *attributes;
  ARENA_ARRAY(m->a, attributes, model->attribute_count + 1);
  *out = (graph_op){.name = model->name,
                    .kind = model->kind,
                    .kind_name = model->kind_name,
                    .attributes = attributes,
                    .place = model->place};
  for (uint32_t i = 0; i < model->attribute_count; i++)
    if (!without || strcmp(model->attributes[i].key, without))
      attributes[out->attribute_count++] = model->attributes[i];
  return CALM_OK;
}

/* ---- The end ------------------------------------------------------------- */

static void mark_used(bool *used, const made_op *made) {
  for (uint32_t i = 0; i < made->op.input_count; i++)
    if (made->op.inputs[i] != CALM_NONE) used[made->op.inputs[i]] = true;
  for (uint32_t i = 0; i < made->op.output_count; i++)
    if (made->op.outputs[i] != CALM_NONE) used[made->op.outputs[i]] = true;
}

/* A tensor that nothing touches stays if nothing did before, or if it is known
   outside. */
static calm_status keep_untouched(rewrite_maker *m) {
  const graph *g = m->g;
  const unsigned outside =
      CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    tensor_id made;
    const bool touched =
        g->producer[t] != CALM_NONE || rewrite_readers(g, t) > 0;
    if (!touched || (g->tensors.data[t].flags & outside))
      TRY(rewrite_whole(&made, m, t));
  }
  return CALM_OK;
}

static calm_status add_tensor(tensor_id *number, graph_edit *edit,
                              const made_tensor *made) {
  return graph_edit_add_tensor(number, edit, &made->tensor, &made->descent);
}

/* Names of the old graph go to those that have them there. */
static calm_status add_tensors(tensor_id *numbers, graph_edit *edit,
                               rewrite_maker *m, const bool *used) {
  const rewrite_work *w = m->work;
  const unsigned outside =
      CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE;
  for (tensor_id t = 0; t < m->g->tensors.count; t++) {
    const tensor_id made = w->fates[t].made;
    if (made == CALM_NONE) continue;
    const bool untouched =
        m->g->producer[t] == CALM_NONE && rewrite_readers(m->g, t) == 0;
    if (used[made] || untouched || (m->g->tensors.data[t].flags & outside))
      TRY(add_tensor(&numbers[made], edit, &w->tensors.data[made]));
  }
  for (tensor_id t = 0; t < w->tensors.count; t++)
    if (used[t] && w->tensors.data[t].descent.contents != EDIT_SAME)
      TRY(add_tensor(&numbers[t], edit, &w->tensors.data[t]));
  return CALM_OK;
}

static void renumber(tensor_id *ids, uint32_t count, const tensor_id *numbers) {
  for (uint32_t i = 0; i < count; i++)
    if (ids[i] != CALM_NONE) ids[i] = numbers[ids[i]];
}

static calm_status add_ops(graph_edit *edit, const rewrite_work *w,
                           const tensor_id *numbers) {
  for (uint32_t i = 0; i < w->ops.count; i++) {
    const made_op *made = &w->ops.data[i];
    op_id id;
    TRY(graph_edit_add_op(&id, edit, &made->op, &made->descent));
    graph_op *op = &edit->after.ops.data[id];
    renumber(op->inputs, op->input_count, numbers);
    renumber(op->outputs, op->output_count, numbers);
  }
  return CALM_OK;
}

calm_status rewrite_settle(graph_edit *edit, rewrite_maker *m) {
  bool *used;
  tensor_id *numbers;
  TRY(keep_untouched(m));
  ARENA_ARRAY(m->a, used, m->work->tensors.count);
  ARENA_ARRAY(m->a, numbers, m->work->tensors.count);
  for (uint32_t i = 0; i < m->work->ops.count; i++)
    mark_used(used, &m->work->ops.data[i]);
  TRY(add_tensors(numbers, edit, m, used));
  TRY(add_ops(edit, m->work, numbers));
  edit->after.listed_inputs = m->g->listed_inputs;
  edit->after.listed_outputs = m->g->listed_outputs;
  return graph_edit_finish(edit, m->g->name ? m->g->name : "graph");
}
