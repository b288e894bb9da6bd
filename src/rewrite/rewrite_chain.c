/*
 * From sums whose operands run in any order to operators that a runtime has.
 *
 * An operand of a partial_sum is computed by its `step`: a convolution of the
 * sum (`part`), an add_into, or any other operator.  The steps of a sum, in the
 * order of `sequence`, become a chain:
 *
 *     conv x1 w1 b -> acc1
 *     conv x2 w2 0 -> t2,  add acc1 t2 -> acc2      or  fused x2 w2 acc1 ->
 * acc2 conv x3 w3 0 -> t3,  add acc2 t3 -> y (relu)  or  fused x3 w3 acc2 -> y
 *
 * An operand that is no convolution of the sum is there already when its turn
 * comes, so the first two of them meet in one addition.  Operators are made in
 * the order of `sequence`, each addition where its step stands, which makes the
 * order of the ids a good one to run.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite.h"

typedef struct chain_link {
  uint32_t position; /* of the step in the sequence */
  op_id step;        /* makes the operand */
  op_id part;        /* the convolution of the sum that it is, or CALM_NONE, */
  tensor_id term;    /* and then what is added */
} chain_link;

typedef struct chain {
  op_id sum;         /* a partial_sum */
  op_id from;        /* of `before`: what it stands for */
  chain_link *links; /* in the order in which they become ready */
  uint32_t count;
  uint32_t done; /* links whose sum is `total`, a tensor that was made */
  tensor_id total;
} chain;

/* Ids of operators and tensors are those of the graph that is read (`g`), if
   nothing else is said. */
typedef struct chainer {
  graph_edit *out;
  const graph_edit *edit;
  const graph *g;
  bool fused;
  arena *a;
  uint32_t *position;      /* of each operator in the sequence */
  chain **sum_of;          /* of a partial_sum */
  chain **step_of;         /* of an operator that makes an operand of one */
  chain **part_of;         /* of a convolution that is part of one, */
  uint32_t *rank;          /* and its place in it */
  bool *inner;             /* tensors that are gone with the sums */
  tensor_id *made;         /* per tensor: what it became */
  op_id *last;             /* per operator: the last that was made for it */
  tensor_id *same;         /* per tensor of `before`: what it became */
  VECTOR(tensor_id) zeros; /* made biases of zeros */
} chainer;

static const graph_op *op_at(const chainer *c, op_id u) {
  return &c->g->ops.data[u];
}

static const graph_op *original(const chainer *c, const chain *sum) {
  return &c->edit->before->ops.data[sum->from];
}

static tensor_id result_of(const chainer *c, const chain *sum) {
  return op_at(c, sum->sum)->outputs[0];
}

static bool is_last(const chain *sum, uint32_t rank) {
  return rank + 1 == sum->count;
}

static bool has_activation(const graph_op *op) {
  return graph_op_attribute(op, "activation") != NULL;
}

/* An ONNX Add has no activation, so a sum that has one ends in a convolution
   that adds, as it began in one. */
static bool is_fused(const chainer *c, const chain *sum, uint32_t rank) {
  if (rank == 0 || sum->links[rank].part == CALM_NONE) return false;
  return c->fused || (c->g->channels_first && is_last(sum, rank) &&
                      has_activation(original(c, sum)));
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

/* ---- Reading sums -------------------------------------------------------- */

/* Is `u` one of the convolutions into which the sum's operator was parted? */
static bool is_part(const chainer *c, const chain *sum, op_id u) {
  if (u == CALM_NONE) return false;
  const edit_op *descent = &c->edit->ops.data[u];
  const graph *g = c->g;
  const tensor_id t = op_at(c, u)->outputs[0];
  return descent->role == EDIT_KEEP && descent->from == sum->from &&
         op_at(c, u)->kind == OP_conv2d &&
         g->reader_begin[t + 1] - g->reader_begin[t] == 1;
}

static void read_link(chainer *c, chain *sum, chain_link *link,
                      tensor_id operand) {
  tensor_id source = operand;
  link->step = c->g->producer[operand];
  link->position = c->position[link->step];
  link->part = CALM_NONE;
  const graph_op *step = op_at(c, link->step);
  if (step->kind == OP_add_into) {
    c->inner[operand] = true;
    source = step->inputs[0];
  }
  link->term = source;
  c->step_of[link->step] = sum;
  if (!is_part(c, sum, c->g->producer[source])) return;
  link->part = c->g->producer[source];
  c->part_of[link->part] = sum;
  c->inner[source] = true;
}

static int compare_links(const void *left, const void *right) {
  const chain_link *a = left, *b = right;
  return (a->position > b->position) - (a->position < b->position);
}

/* A sum of another type than what it stands for is a wide one. */
static calm_status refuse_wide(const chainer *c, op_id u) {
  const tensor_id t = op_at(c, u)->outputs[0];
  const graph_tensor *wide = &c->g->tensors.data[t];
  const graph_tensor *y =
      &c->edit->before->tensors.data[c->edit->tensors.data[t].from];
  if (wide->type == y->type && wide->bytes == y->bytes) return CALM_OK;
  return context_fail(c->a->context, CALM_UNSUPPORTED,
                      "operator '%s': no runtime adds partial results that are "
                      "wider than its output '%s'",
                      op_at(c, u)->name, y->name);
}

static calm_status read_sum(chainer *c, op_id u) {
  const graph_op *op = op_at(c, u);
  chain *sum;
  TRY(refuse_wide(c, u));
  ARENA_ARRAY(c->a, sum, 1);
  *sum = (chain){u,        c->edit->ops.data[u].from, NULL, op->input_count, 0,
                 CALM_NONE};
  ARENA_ARRAY(c->a, sum->links, sum->count);
  for (uint32_t i = 0; i < sum->count; i++)
    read_link(c, sum, &sum->links[i], op->inputs[i]);
  qsort(sum->links, sum->count, sizeof *sum->links, compare_links);
  for (uint32_t i = 0; i < sum->count; i++)
    if (sum->links[i].part != CALM_NONE) c->rank[sum->links[i].part] = i;
  c->sum_of[u] = sum;
  return CALM_OK;
}

/* ---- Tensors ------------------------------------------------------------- */

static calm_status add_tensor(tensor_id *out, chainer *c,
                              const graph_tensor *tensor,
                              const edit_tensor *descent) {
  TRY(graph_edit_add_tensor(out, c->out, tensor, descent));
  if (descent->contents == EDIT_SAME) c->same[descent->from] = *out;
  return CALM_OK;
}

/* Constants that nobody reads, and what is left of sums, do not go along. */
static bool is_left_out(const chainer *c, tensor_id t) {
  const graph *g = c->g;
  const unsigned flags = g->tensors.data[t].flags;
  if (c->inner[t]) return true;
  if (g->reader_begin[t] < g->reader_begin[t + 1]) return false;
  if (g->producer[t] != CALM_NONE) return false;
  return !(flags & ~(unsigned)CALM_TENSOR_CONST);
}

static calm_status copy_tensors(chainer *c) {
  for (tensor_id t = 0; t < c->g->tensors.count; t++)
    if (!is_left_out(c, t))
      TRY(add_tensor(&c->made[t], c, &c->g->tensors.data[t],
                     &c->edit->tensors.data[t]));
  return CALM_OK;
}

static calm_status take_over(tensor_id *out, chainer *c, tensor_id before) {
  *out = before == CALM_NONE ? CALM_NONE : c->same[before];
  if (before == CALM_NONE || *out != CALM_NONE) return CALM_OK;
  return add_tensor(out, c, &c->edit->before->tensors.data[before],
                    &(edit_tensor){.from = before, .contents = EDIT_SAME});
}

/* What holds the sum of the first `rank` + 1 links, or `letters` "t": what is
   about to be added to it. */
static calm_status make_partial(tensor_id *out, chainer *c, const chain *sum,
                                const char *letters, uint32_t rank) {
  const tensor_id y = result_of(c, sum);
  const edit_tensor descent = {.from = c->edit->tensors.data[y].from,
                               .contents = EDIT_MADE};
  graph_tensor tensor = c->g->tensors.data[y];
  TRY(format_name(&tensor.name, c->a, "%s/%s%" PRIu32, tensor.name, letters,
                  rank + 1));
  tensor.flags = 0;
  return add_tensor(out, c, &tensor, &descent);
}

static calm_status make_total(tensor_id *out, chainer *c, const chain *sum,
                              uint32_t rank) {
  *out = c->made[result_of(c, sum)];
  return is_last(sum, rank) ? CALM_OK : make_partial(out, c, sum, "acc", rank);
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
  TRY(add_tensor(out, c, &zeros, &descent));
  VECTOR_PUSH(c->a->context, &c->zeros, *out);
  return CALM_OK;
}

/* ---- Operators ----------------------------------------------------------- */

/* Operators whose control edges a new one takes over; CALM_NONE: no more. */
enum { MAX_HEIRS = 4 };
typedef struct heritage {
  op_id of[MAX_HEIRS];
  uint32_t count;
} heritage;

static void inherit(heritage *h, op_id u, bool really) {
  if (really) h->of[h->count++] = u;
}

/* Append an operator that waits for all that those of `h` wait for. */
static calm_status add_op(op_id *out, chainer *c, const graph_op *op,
                          const edit_op *descent, const heritage *h) {
  graph_op waiting = *op;
  uint32_t room = 0;
  for (uint32_t i = 0; i < h->count; i++)
    room += op_at(c, h->of[i])->after_count;
  ARENA_ARRAY(c->a, waiting.after, room);
  waiting.after_count = 0;
  for (uint32_t i = 0; i < h->count; i++) {
    const graph_op *old = op_at(c, h->of[i]);
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

static calm_status copy_op(chainer *c, op_id u) {
  const heritage own = {{u}, 1};
  graph_op op = *op_at(c, u);
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
  const graph_op *from = original(c, sum);
  const tensor_id y = result_of(c, sum);
  const bool typed = c->g->tensors.data[y].type != ELEMENT_ABSTRACT;
  if (rank == 0 && op->input_count == 2)
    for (uint32_t i = 2; i < from->input_count; i++)
      TRY(take_over(&op->inputs[op->input_count++], c, from->inputs[i]));
  while (op->input_count > 2 && op->inputs[op->input_count - 1] == CALM_NONE)
    op->input_count--;
  if (is_fused(c, sum, rank)) {
    while (op->input_count < 3) op->inputs[op->input_count++] = CALM_NONE;
    op->inputs[op->input_count++] = sum->total;
  } else if (op->input_count == 2 && !c->g->channels_first && typed) {
    TRY(make_zeros(&op->inputs[op->input_count++], c, from));
  }
  return CALM_OK;
}

/* The convolution of a link.  What it makes is the sum so far if it is the
   first or adds; else it is still to be added. */
static calm_status make_conv(chainer *c, chain *sum, uint32_t rank,
                             const heritage *h) {
  const chain_link *link = &sum->links[rank];
  const graph_op *from = original(c, sum);
  const bool total = rank == 0 || is_fused(c, sum, rank);
  edit_op descent = c->edit->ops.data[link->part];
  graph_op op = *op_at(c, link->part);
  tensor_id output;
  TRY(map_tensors(&op.inputs, c, op.input_count, from->input_count + 4));
  TRY(add_operands(&op, c, sum, rank));
  descent.activation = total && is_last(sum, rank);
  if (descent.activation) TRY(add_activation(&op, c, from));
  if (op.input_count > 3 || (descent.activation && has_activation(from) &&
                             from->kind == OP_fused_conv))
    op.kind = OP_fused_conv;
  TRY(total ? make_total(&output, c, sum, rank)
            : make_partial(&output, c, sum, "t", rank));
  op.outputs = &output;
  c->made[link->term] = output;
  return add_op(&c->last[link->part], c, &op, &descent, h);
}

static calm_status make_addition(tensor_id *total, chainer *c, chain *sum,
                                 uint32_t rank, const heritage *h) {
  const chain_link *link = &sum->links[rank];
  const graph_op *from = original(c, sum);
  const edit_op descent = {sum->from, EDIT_ADD, is_last(sum, rank)};
  tensor_id inputs[] = {sum->total, c->made[link->term]};
  graph_op op = {.kind = OP_add,
                 .inputs = inputs,
                 .input_count = 2,
                 .outputs = total,
                 .output_count = 1};
  if (descent.activation && c->g->channels_first && has_activation(from))
    return context_fail(c->a->context, CALM_UNSUPPORTED,
                        "operator '%s': no addition of an .onnx file has an "
                        "activation",
                        from->name);
  if (descent.activation) TRY(add_activation(&op, c, from));
  TRY(format_name(&op.name, c->a, "%s/a%" PRIu32, from->name, rank + 1));
  TRY(make_total(total, c, sum, rank));
  return add_op(&c->last[link->step], c, &op, &descent, h);
}

/* An add_into becomes no operator of its own: its control edges go to the one
   that adds its operand, those of the first to the one that adds the second. */
static bool vanishes(const chainer *c, op_id u) {
  return c->step_of[u] && op_at(c, u)->kind == OP_add_into;
}

/* Add a link other than the first to the sum of those before it. */
static calm_status add_link(chainer *c, chain *sum, uint32_t rank) {
  const chain_link *link = &sum->links[rank];
  const op_id first = sum->links[0].step;
  const bool fused = is_fused(c, sum, rank);
  heritage h = {{0}, 0};
  inherit(&h, link->step, vanishes(c, link->step));
  inherit(&h, link->part, fused);
  inherit(&h, first, rank == 1 && vanishes(c, first));
  inherit(&h, sum->sum, is_last(sum, rank));
  if (!fused) return make_addition(&sum->total, c, sum, rank, &h);
  TRY(make_conv(c, sum, rank, &h));
  sum->total = c->made[link->term];
  c->last[link->step] = c->last[link->part];
  return CALM_OK;
}

static calm_status advance(chainer *c, chain *sum) {
  const uint32_t rank = sum->done++;
  const chain_link *link = &sum->links[rank];
  if (rank > 0) return add_link(c, sum, rank);
  const op_id maker = c->g->producer[link->term];
  c->last[link->step] = maker == CALM_NONE ? CALM_NONE : c->last[maker];
  sum->total = c->made[link->term];
  return CALM_OK;
}

/* ---- The sequence -------------------------------------------------------- */

/* A sum that waits for other operators gets its last link when it may end. */
static bool ends_late(const chainer *c, const chain *sum) {
  return is_last(sum, sum->done) && op_at(c, sum->sum)->after_count;
}

static calm_status end_sum(chainer *c, chain *sum) {
  if (sum->done < sum->count) TRY(advance(c, sum));
  c->last[sum->sum] = c->last[sum->links[sum->count - 1].step];
  if (sum->total == c->made[result_of(c, sum)]) return CALM_OK;
  return context_fail(
      c->a->context, CALM_UNSUPPORTED,
      "operator '%s': a sum of one operand that is not computed "
      "for it alone",
      op_at(c, sum->sum)->name);
}

static calm_status make_part(chainer *c, chain *sum, op_id u) {
  const uint32_t rank = c->rank[u];
  heritage h = {{u}, 1};
  inherit(&h, sum->sum, sum->count == 1);
  return is_fused(c, sum, rank) ? CALM_OK : make_conv(c, sum, rank, &h);
}

static calm_status chain_op(chainer *c, op_id u) {
  if (c->sum_of[u])
    TRY(end_sum(c, c->sum_of[u]));
  else if (c->part_of[u])
    TRY(make_part(c, c->part_of[u], u));
  else if (!vanishes(c, u))
    TRY(copy_op(c, u));
  if (!c->step_of[u] || ends_late(c, c->step_of[u])) return CALM_OK;
  return advance(c, c->step_of[u]);
}

static calm_status allocate(chainer *c) {
  const uint32_t ops = c->g->ops.count, tensors = c->g->tensors.count;
  ARENA_ARRAY(c->a, c->position, ops);
  ARENA_ARRAY(c->a, c->sum_of, ops);
  ARENA_ARRAY(c->a, c->step_of, ops);
  ARENA_ARRAY(c->a, c->part_of, ops);
  ARENA_ARRAY(c->a, c->rank, ops);
  ARENA_ARRAY(c->a, c->last, ops);
  ARENA_ARRAY(c->a, c->inner, tensors);
  ARENA_ARRAY(c->a, c->made, tensors);
  ARENA_ARRAY(c->a, c->same, c->edit->before->tensors.count);
  for (op_id u = 0; u < ops; u++) c->last[u] = CALM_NONE;
  for (tensor_id t = 0; t < tensors; t++) c->made[t] = CALM_NONE;
  for (tensor_id t = 0; t < c->edit->before->tensors.count; t++)
    c->same[t] = CALM_NONE;
  return CALM_OK;
}

static calm_status chain_all(chainer *c, const op_id *sequence) {
  const graph *g = c->g;
  TRY(allocate(c));
  for (uint32_t i = 0; i < g->ops.count; i++) c->position[sequence[i]] = i;
  for (op_id u = 0; u < g->ops.count; u++)
    if (c->edit->ops.data[u].role == EDIT_SUM) TRY(read_sum(c, u));
  TRY(copy_tensors(c));
  for (uint32_t i = 0; i < g->ops.count; i++) TRY(chain_op(c, sequence[i]));
  c->out->after.listed_inputs = g->listed_inputs;
  c->out->after.listed_outputs = g->listed_outputs;
  return graph_edit_finish(c->out, g->name);
}

calm_status rewrite_chain(graph_edit *out, const graph_edit *edit,
                          const op_id *sequence, bool fused, arena *a) {
  graph_edit made;
  chainer c = {
      .out = &made, .edit = edit, .g = &edit->after, .fused = fused, .a = a};
  if (fused && !edit->before->channels_first)
    return context_fail(a->context, CALM_MISUSE,
                        "only .onnx files have convolutions that add");
  graph_edit_init(&made, edit->before, a);
  calm_status status = chain_all(&c, sequence);
  VECTOR_FREE(a->context, &c.zeros);
  if (status) {
    graph_edit_free(&made);
    return status;
  }
  *out = made;
  return CALM_OK;
}
