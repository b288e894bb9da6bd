/* Tensors and operators of a chain. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_chain.h"

bool chain_is_fused(const chainer *c, const chain *sum, uint32_t rank) {
  if (rank == 0 || sum->links[rank].part == CALM_NONE) return false;
  return c->fused || (c->g->channels_first && chain_is_last(sum, rank) &&
                      chain_has_activation(chain_original(c, sum)));
}

static calm_status format_name(const char **out, arena *a, const char *format,
                               ...) PRINTF_LIKE(3, 4);

static calm_status format_name(const char **out, arena *a, const char *format,
                               ...) {
  va_list arguments;
  char *name;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  ARENA_ARRAY(a, name, (size_t)length + 1);
  va_start(arguments, format);
  vsnprintf(name, (size_t)length + 1, format, arguments);
  va_end(arguments);
  *out = name;
  return CALM_OK;
}

/* ---- Tensors ------------------------------------------------------------- */

calm_status chain_add_tensor(tensor_id *out, chainer *c,
                             const graph_tensor *tensor,
                             const edit_tensor *descent) {
  TRY(graph_edit_add_tensor(out, c->out, tensor, descent));
  if (descent->contents == EDIT_SAME) c->same[descent->from] = *out;
  return CALM_OK;
}

static calm_status take_over(tensor_id *out, chainer *c, tensor_id before) {
  *out = before == CALM_NONE ? CALM_NONE : c->same[before];
  if (before == CALM_NONE || *out != CALM_NONE) return CALM_OK;
  return chain_add_tensor(
      out, c, &c->edit->before->tensors.data[before],
      &(edit_tensor){.from = before, .contents = EDIT_SAME});
}

/* What holds the sum of the first `rank` + 1 links, or `letters` "t": what is
   about to be added to it. */
static calm_status make_partial(tensor_id *out, chainer *c, const chain *sum,
                                const char *letters, uint32_t rank) {
  const tensor_id y = chain_result(c, sum);
  const edit_tensor descent = {.from = c->edit->tensors.data[y].from,
                               .contents = EDIT_MADE};
  graph_tensor tensor = c->g->tensors.data[y];
  TRY(format_name(&tensor.name, c->a, "%s/%s%" PRIu32, tensor.name, letters,
                  rank + 1));
  tensor.flags = 0;
  return chain_add_tensor(out, c, &tensor, &descent);
}

static calm_status make_total(tensor_id *out, chainer *c, const chain *sum,
                              uint32_t rank) {
  *out = c->made[chain_result(c, sum)];
  return chain_is_last(sum, rank) ? CALM_OK
                                  : make_partial(out, c, sum, "acc", rank);
}

static tensor_id bias_of(const graph_op *conv) {
  return conv->input_count > 2 ? conv->inputs[2] : CALM_NONE;
}

static bool find_zeros(tensor_id *out, const chainer *c,
                       const graph_tensor *wanted) {
  for (uint32_t i = 0; i < c->zeros.count; i++) {
    *out = c->zeros.data[i];
    const graph_tensor *t = &c->out->after.tensors.data[*out];
    if (t->type == wanted->type && t->dimensions[0] == wanted->dimensions[0] &&
        t->quantization == wanted->quantization)
      return true;
  }
  return false;
}

/* A bias of zeros like that of `conv`, which is an operator of `before`. */
static calm_status make_zeros(tensor_id *out, chainer *c,
                              const graph_op *conv) {
  const tensor_id bias = bias_of(conv);
  const edit_tensor descent = {
      .from = bias != CALM_NONE ? bias : conv->outputs[0],
      .contents = EDIT_ZERO};
  graph_tensor zeros = c->edit->before->tensors.data[descent.from];
  int64_t width = zeros.dimensions[zeros.rank - 1];
  zeros.dimensions = &width;
  zeros.rank = 1;
  zeros.flags = CALM_TENSOR_CONST;
  zeros.contents = CONTENTS_HERE;
  if (find_zeros(out, c, &zeros)) return CALM_OK;
  TRY(format_name(&zeros.name, c->a, "zero_bias/%" PRId64, width));
  TRY(chain_add_tensor(out, c, &zeros, &descent));
  VECTOR_PUSH(c->a->context, &c->zeros, *out);
  return CALM_OK;
}

/* ---- Operators ----------------------------------------------------------- */

/* Append an operator that waits for all that those of `h` wait for. */
static calm_status add_op(op_id *out, chainer *c, const graph_op *op,
                          const edit_op *descent, const heritage *h) {
  graph_op waiting = *op;
  uint32_t room = 0;
  for (uint32_t i = 0; i < h->count; i++)
    room += chain_op_at(c, h->of[i])->after_count;
  ARENA_ARRAY(c->a, waiting.after, room);
  waiting.after_count = 0;
  for (uint32_t i = 0; i < h->count; i++) {
    const graph_op *old = chain_op_at(c, h->of[i]);
    for (uint32_t j = 0; j < old->after_count; j++) {
      const op_id last = c->last[old->after[j]];
      if (last != CALM_NONE) waiting.after[waiting.after_count++] = last;
    }
  }
  return graph_edit_add_op(out, c->out, &waiting, descent);
}

static calm_status map_tensors(tensor_id **list, const chainer *c,
                               uint32_t count, uint32_t room) {
  tensor_id *mapped;
  ARENA_ARRAY(c->a, mapped, (size_t)count + room);
  for (uint32_t i = 0; i < count; i++)
    mapped[i] = (*list)[i] == CALM_NONE ? CALM_NONE : c->made[(*list)[i]];
  *list = mapped;
  return CALM_OK;
}

calm_status chain_copy_op(chainer *c, op_id u) {
  const heritage own = {{u}, 1};
  graph_op op = *chain_op_at(c, u);
  TRY(map_tensors(&op.inputs, c, op.input_count, 0));
  TRY(map_tensors(&op.outputs, c, op.output_count, 0));
  return add_op(&c->last[u], c, &op, &c->edit->ops.data[u], &own);
}

/* The attributes that say which activation `from` has. */
static calm_status add_activation(graph_op *op, chainer *c,
                                  const graph_op *from) {
  graph_attribute *all;
  ARENA_ARRAY(c->a, all, (size_t)op->attribute_count + from->attribute_count);
  if (op->attribute_count)
    memcpy(all, op->attributes, op->attribute_count * sizeof *all);
  for (uint32_t i = 0; i < from->attribute_count; i++)
    if (!strncmp(from->attributes[i].key, "activation", strlen("activation")))
      all[op->attribute_count++] = from->attributes[i];
  op->attributes = all;
  return CALM_OK;
}

/* What follows the weights.  The first part has what the original has: a bias,
   even a tensor that it adds.  There is room for all of it. */
static calm_status add_operands(graph_op *op, chainer *c, const chain *sum,
                                uint32_t rank) {
  const graph_op *from = chain_original(c, sum);
  const tensor_id y = chain_result(c, sum);
  const bool typed = c->g->tensors.data[y].type != ELEMENT_ABSTRACT;
  if (rank == 0 && op->input_count == 2)
    for (uint32_t i = 2; i < from->input_count; i++)
      TRY(take_over(&op->inputs[op->input_count++], c, from->inputs[i]));
  while (op->input_count > 2 && op->inputs[op->input_count - 1] == CALM_NONE)
    op->input_count--;
  if (chain_is_fused(c, sum, rank)) {
    while (op->input_count < 3) op->inputs[op->input_count++] = CALM_NONE;
    op->inputs[op->input_count++] = sum->total;
  } else if (op->input_count == 2 && !c->g->channels_first && typed) {
    TRY(make_zeros(&op->inputs[op->input_count++], c, from));
  }
  return CALM_OK;
}

calm_status chain_make_conv(chainer *c, chain *sum, uint32_t rank,
                            const heritage *h) {
  const chain_link *link = &sum->links[rank];
  const graph_op *from = chain_original(c, sum);
  const bool total = rank == 0 || chain_is_fused(c, sum, rank);
  edit_op descent = c->edit->ops.data[link->part];
  graph_op op = *chain_op_at(c, link->part);
  tensor_id output;
  TRY(map_tensors(&op.inputs, c, op.input_count, from->input_count + 4));
  TRY(add_operands(&op, c, sum, rank));
  descent.activation = total && chain_is_last(sum, rank);
  if (descent.activation) TRY(add_activation(&op, c, from));
  if (op.input_count > 3 || (descent.activation && chain_has_activation(from) &&
                             from->kind == OP_fused_conv))
    op.kind = OP_fused_conv;
  TRY(total ? make_total(&output, c, sum, rank)
            : make_partial(&output, c, sum, "t", rank));
  op.outputs = &output;
  c->made[link->term] = output;
  return add_op(&c->last[link->part], c, &op, &descent, h);
}

calm_status chain_make_addition(tensor_id *total, chainer *c, chain *sum,
                                uint32_t rank, const heritage *h) {
  const chain_link *link = &sum->links[rank];
  const graph_op *from = chain_original(c, sum);
  const edit_op descent = {sum->from, EDIT_ADD, chain_is_last(sum, rank)};
  tensor_id inputs[] = {sum->total, c->made[link->term]};
  graph_op op = {.kind = OP_add,
                 .inputs = inputs,
                 .input_count = 2,
                 .outputs = total,
                 .output_count = 1};
  if (descent.activation && c->g->channels_first && chain_has_activation(from))
    return context_fail(c->a->context, CALM_UNSUPPORTED,
                        "operator '%s': no addition of an .onnx file has an "
                        "activation",
                        from->name);
  if (descent.activation) TRY(add_activation(&op, c, from));
  TRY(format_name(&op.name, c->a, "%s/a%" PRIu32, from->name, rank + 1));
  TRY(make_total(total, c, sum, rank));
  return add_op(&c->last[link->step], c, &op, &descent, h);
}
