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
#include "rewrite/rewrite_chain.h"

#include <stdlib.h>

/* ---- Reading sums -------------------------------------------------------- */

/* Is `u` one of the convolutions into which the sum's operator was parted? */
static bool is_part(const chainer *c, const chain *sum, op_id u) {
  if (u == CALM_NONE) return false;
  const edit_op *descent = &c->edit->ops.data[u];
  const graph *g = c->g;
  const tensor_id t = chain_op_at(c, u)->outputs[0];
  return descent->role == EDIT_KEEP && descent->from == sum->from &&
         chain_op_at(c, u)->kind == OP_conv2d &&
         g->reader_begin[t + 1] - g->reader_begin[t] == 1;
}

static void read_link(chainer *c, chain *sum, chain_link *link,
                      tensor_id operand) {
  tensor_id source = operand;
  link->step = c->g->producer[operand];
  link->position = c->position[link->step];
  link->part = CALM_NONE;
  const graph_op *step = chain_op_at(c, link->step);
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
  const tensor_id t = chain_op_at(c, u)->outputs[0];
  const graph_tensor *wide = &c->g->tensors.data[t];
  const graph_tensor *y =
      &c->edit->before->tensors.data[c->edit->tensors.data[t].from];
  if (wide->type == y->type && wide->bytes == y->bytes) return CALM_OK;
  return context_fail(c->a->context, CALM_UNSUPPORTED,
                      "operator '%s': no runtime adds partial results that are "
                      "wider than its output '%s'",
                      chain_op_at(c, u)->name, y->name);
}

static calm_status read_sum(chainer *c, op_id u) {
  const graph_op *op = chain_op_at(c, u);
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

/* ---- The sequence -------------------------------------------------------- */

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
      TRY(chain_add_tensor(&c->made[t], c, &c->g->tensors.data[t],
                           &c->edit->tensors.data[t]));
  return CALM_OK;
}

/* An add_into becomes no operator of its own: its control edges go to the one
   that adds its operand, those of the first to the one that adds the second. */
static bool vanishes(const chainer *c, op_id u) {
  return c->step_of[u] && chain_op_at(c, u)->kind == OP_add_into;
}

/* Add a link other than the first to the sum of those before it. */
static calm_status add_link(chainer *c, chain *sum, uint32_t rank) {
  const chain_link *link = &sum->links[rank];
  const op_id first = sum->links[0].step;
  const bool fused = chain_is_fused(c, sum, rank);
  heritage h = {{0}, 0};
  chain_inherit(&h, link->step, vanishes(c, link->step));
  chain_inherit(&h, link->part, fused);
  chain_inherit(&h, first, rank == 1 && vanishes(c, first));
  chain_inherit(&h, sum->sum, chain_is_last(sum, rank));
  if (!fused) return chain_make_addition(&sum->total, c, sum, rank, &h);
  TRY(chain_make_conv(c, sum, rank, &h));
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

/* A sum that waits for other operators gets its last link when it may end. */
static bool ends_late(const chainer *c, const chain *sum) {
  return chain_is_last(sum, sum->done) && chain_op_at(c, sum->sum)->after_count;
}

static calm_status end_sum(chainer *c, chain *sum) {
  if (sum->done < sum->count) TRY(advance(c, sum));
  c->last[sum->sum] = c->last[sum->links[sum->count - 1].step];
  if (sum->total == c->made[chain_result(c, sum)]) return CALM_OK;
  return context_fail(
      c->a->context, CALM_UNSUPPORTED,
      "operator '%s': a sum of one operand that is not computed "
      "for it alone",
      chain_op_at(c, sum->sum)->name);
}

static calm_status make_part(chainer *c, chain *sum, op_id u) {
  const uint32_t rank = c->rank[u];
  heritage h = {{u}, 1};
  chain_inherit(&h, sum->sum, sum->count == 1);
  return chain_is_fused(c, sum, rank) ? CALM_OK
                                      : chain_make_conv(c, sum, rank, &h);
}

static calm_status chain_op(chainer *c, op_id u) {
  if (c->sum_of[u])
    TRY(end_sum(c, c->sum_of[u]));
  else if (c->part_of[u])
    TRY(make_part(c, c->part_of[u], u));
  else if (!vanishes(c, u))
    TRY(chain_copy_op(c, u));
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
