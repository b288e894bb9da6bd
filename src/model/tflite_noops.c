/*
 * Operators that only hand on their input: which they are, and how they leave
 * a .tflite file.  Who read the output reads the input, and the output's place
 * in the list of tensors is given to a constant, for which no runtime reserves
 * room.
 */
#include <string.h>

#include "model/tflite_rewrite.h"

/* ---- What is a no-op ----------------------------------------------------- */

/* The operand that is handed on, by kind; CALM_NONE: it is another kind. */
static uint32_t data_operand(const graph_op *op) {
  switch (op->kind) {
    case OP_split: return 1; /* the axis comes first */
    case OP_split_v:
    case OP_reshape:
    case OP_squeeze:
    case OP_expand_dims:
    case OP_bitcast:
    case OP_cast:
    case OP_concat: return 0;
    default: return CALM_NONE;
  }
}

static bool has_attribute(const graph_op *op, const char *key) {
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key)) return true;
  return false;
}

static bool same_scalars(const tflite_writer *w, flat_table a, flat_table b,
                         unsigned slot, uint32_t size) {
  const flat_file *file = &w->tables.file;
  const flat_vector x = flat_vector_of(file, a, slot, size);
  const flat_vector y = flat_vector_of(file, b, slot, size);
  return x.count == y.count &&
         (x.count == 0 ||
          !memcmp(file->bytes + x.position, file->bytes + y.position,
                  (size_t)x.count * size));
}

/* Do the numbers of both stand for the same values? */
static bool same_quantization(const tflite_writer *w, flat_table a,
                              flat_table b) {
  const flat_table x = tflite_quantization_of(w, a);
  const flat_table y = tflite_quantization_of(w, b);
  return same_scalars(w, x, y, TFLITE_quantization_scale, 4) &&
         same_scalars(w, x, y, TFLITE_quantization_zero_point, 8);
}

static bool is_dynamic(const tflite_writer *w, flat_table tensor) {
  const flat_file *file = &w->tables.file;
  const flat_vector signature =
      flat_vector_of(file, tensor, TFLITE_tensor_shape_signature, 4);
  for (uint32_t i = 1; i < signature.count; i++)
    if (flat_i32_at(file, signature, i) < 0) return true;
  return signature.count && flat_i32_at(file, signature, 0) < -1;
}

/* Only the first dimension, the batch, may be open, and in both. */
static bool same_shape(const tflite_writer *w, const graph_tensor *a,
                       const graph_tensor *b, flat_table x, flat_table y) {
  return a->type == b->type && a->rank == b->rank &&
         (a->rank == 0 || !memcmp(a->dimensions, b->dimensions,
                                  a->rank * sizeof *a->dimensions)) &&
         !is_dynamic(w, x) && !is_dynamic(w, y) &&
         same_scalars(w, x, y, TFLITE_tensor_shape_signature, 4);
}

/* A variable may change between the no-op and those who read its output; an
   output has to be there under its own name. */
static bool hands_on(const tflite_writer *w, uint32_t subgraph, tensor_id in,
                     tensor_id out) {
  const graph *g = &w->model->graphs.data[subgraph];
  const graph_tensor *a = &g->tensors.data[in], *b = &g->tensors.data[out];
  const unsigned fixed = CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  if ((a->flags & fixed) || (b->flags & (fixed | CALM_TENSOR_OUTPUT)))
    return false;
  const flat_table x = tflite_tensor_table(w, subgraph, in);
  const flat_table y = tflite_tensor_table(w, subgraph, out);
  return same_shape(w, a, b, x, y) && same_quantization(w, x, y);
}

/* The tensor that an operator hands on, or CALM_NONE. */
static tensor_id handed_on(const tflite_writer *w, uint32_t subgraph, op_id u) {
  const graph_op *op = &w->model->graphs.data[subgraph].ops.data[u];
  const uint32_t operand = data_operand(op);
  if (operand >= op->input_count || op->output_count != 1) return CALM_NONE;
  const tensor_id in = op->inputs[operand], out = op->outputs[0];
  if (in == CALM_NONE || out == CALM_NONE || op->after_count ||
      has_attribute(op, "activation") ||
      (op->kind == OP_concat && op->input_count != 1))
    return CALM_NONE;
  return hands_on(w, subgraph, in, out) ? in : CALM_NONE;
}

/* ---- One subgraph -------------------------------------------------------- */

/* Operators that others wait for stay where they are. */
static calm_status mark_awaited(bool **out, const graph *g, arena *a) {
  ARENA_ARRAY(a, *out, g->ops.count);
  for (op_id u = 0; u < g->ops.count; u++)
    for (uint32_t i = 0; i < g->ops.data[u].after_count; i++)
      (*out)[g->ops.data[u].after[i]] = true;
  return CALM_OK;
}

/* In an order in which it runs, so that a chain of no-ops leads to its head. */
static calm_status find_noops(tflite_writer *w, uint32_t subgraph,
                              tflite_change *change) {
  const graph *g = &w->model->graphs.data[subgraph];
  bool *awaited, *gone;
  TRY(mark_awaited(&awaited, g, w->a));
  ARENA_ARRAY(w->a, gone, g->ops.count);
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const op_id u = g->order[i];
    const tensor_id in = awaited[u] ? CALM_NONE : handed_on(w, subgraph, u);
    if (in == CALM_NONE) continue;
    const tensor_id out = g->ops.data[u].outputs[0];
    change->becomes[out] = change->becomes[in];
    change->unused[out] = true;
    gone[u] = true;
  }
  change->count = 0;
  for (op_id u = 0; u < g->ops.count; u++)
    if (!gone[u]) change->sequence[change->count++] = u;
  return CALM_OK;
}

static calm_status redirect_operands(tflite_writer *w, uint32_t subgraph,
                                     const tflite_change *change, op_id u) {
  const flat_file *file = &w->tables.file;
  const graph_op *op = &w->model->graphs.data[subgraph].ops.data[u];
  const flat_vector ops =
      flat_vector_of(file, flat_table_at(file, w->tables.subgraphs, subgraph),
                     TFLITE_subgraph_operators, 4);
  const flat_vector inputs = flat_vector_of(file, flat_table_at(file, ops, u),
                                            TFLITE_operator_inputs, 4);
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id t = op->inputs[i];
    if (t != CALM_NONE && change->becomes[t] != t)
      TRY(tflite_edit_number(w, inputs.position + (size_t)i * 4,
                             change->becomes[t], 4));
  }
  return CALM_OK;
}

/* The table of a constant behind `position`; 0: there is none. */
static flat_table find_constant(const tflite_writer *w, uint32_t subgraph,
                                size_t position) {
  const graph *g = &w->model->graphs.data[subgraph];
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    if (!(g->tensors.data[t].flags & CALM_TENSOR_CONST)) continue;
    const flat_table table = tflite_tensor_table(w, subgraph, t);
    if (table > position) return table;
  }
  return 0;
}

/*
 * A tensor that nobody touches still takes room in some runtimes.  It cannot be
 * taken out of the list, which would renumber all others; but it can be a
 * second name of a constant.
 */
static calm_status hide_unused(tflite_writer *w, uint32_t subgraph,
                               const tflite_change *change) {
  const flat_file *file = &w->tables.file;
  const graph *g = &w->model->graphs.data[subgraph];
  const flat_vector tensors =
      flat_vector_of(file, flat_table_at(file, w->tables.subgraphs, subgraph),
                     TFLITE_subgraph_tensors, 4);
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    if (!change->unused[t]) continue;
    const size_t at = tensors.position + (size_t)t * 4;
    const flat_table constant = find_constant(w, subgraph, at);
    if (constant) TRY(tflite_edit_number(w, at, constant - at, 4));
  }
  return CALM_OK;
}

static calm_status set_places(tflite_writer *w, uint32_t subgraph,
                              const tflite_change *change) {
  op_id *places;
  ARENA_ARRAY(w->a, places, w->model->graphs.data[subgraph].ops.count);
  for (uint32_t i = 0; i < change->count; i++) places[change->sequence[i]] = i;
  w->places[subgraph] = places;
  return CALM_OK;
}

static calm_status shrink(tflite_writer *w, uint32_t subgraph,
                          const tflite_change *change) {
  for (uint32_t i = 0; i < change->count; i++)
    TRY(redirect_operands(w, subgraph, change, change->sequence[i]));
  TRY(hide_unused(w, subgraph, change));
  return tflite_permute(w, subgraph, change->sequence, change->count);
}

calm_status tflite_remove_noops(tflite_writer *w, tflite_change *changes) {
  bool changed = false;
  for (uint32_t i = 0; i < w->model->graphs.count; i++) {
    TRY(find_noops(w, i, &changes[i]));
    TRY(set_places(w, i, &changes[i]));
    if (changes[i].count == w->model->graphs.data[i].ops.count) continue;
    TRY(shrink(w, i, &changes[i]));
    changed = true;
  }
  if (!changed) return CALM_OK;
  TRY(tflite_renumber_edges(w));
  if (w->added.count)
    return context_fail(w->model->context, CALM_UNSUPPORTED,
                        "%s: the metadata '%s' have no room for other numbers",
                        w->model->path, TFLITE_EDGES_NAME);
  tflite_drop_named(w, TFLITE_PLAN_NAME);
  tflite_drop_named(w, TFLITE_MARK_NAME);
  return w->model->offline.present ? tflite_drop_entries(w) : CALM_OK;
}
