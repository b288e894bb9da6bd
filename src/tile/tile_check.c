/*
 * The judge of tiles.  It walks over the operators of `after` and finds out
 * what each result is, from what its operands are and from what the operator
 * of `before` does that it is made for.  It knows nothing of regions, tiles and
 * modes.  An operator that is kept must read and make whole tensors; so must
 * whoever makes a tensor that goes by an old name.  What is neither is only of
 * use to others that are judged: garbage may stand in a tensor, but no row that
 * counts as right has read it.
 */
#include "tile/tile_check.h"

#include <string.h>

/* ---- What tensors of the old graph are ----------------------------------- */

static bool is_picture(const graph *g, tensor_id t) {
  return g->tensors.data[t].rank == 4;
}

/* Zeros, or the zero point, around a picture. */
static bool is_plain_pad(const graph *g, const graph_op *op) {
  int64_t numbers[GRAPH_MAX_RANK];
  return op->kind == OP_pad && op->input_count == 2 &&
         op->inputs[0] != CALM_NONE && is_picture(g, op->inputs[0]) &&
         !graph_op_attribute(op, "mode") &&
         g->tensors.data[op->inputs[0]].quantization ==
             g->tensors.data[op->outputs[0]].quantization &&
         graph_op_numbers(numbers, op, "before") == 4 &&
         graph_op_numbers(numbers, op, "after") == 4;
}

static calm_status find_origins(tile_judgement *j) {
  const graph *g = j->before;
  ARENA_ARRAY(&j->a, j->origins, g->tensors.count);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    j->origins[t] = (tile_origin){t, {0, 0}};
  for (uint32_t i = 0; i < g->ops.count; i++) {
    const graph_op *op = &g->ops.data[g->order[i]];
    int64_t before[GRAPH_MAX_RANK];
    if (!is_plain_pad(g, op)) continue;
    tile_origin *y = &j->origins[op->outputs[0]];
    graph_op_numbers(before, op, "before");
    *y = j->origins[op->inputs[0]];
    for (int axis = 0; axis < 2; axis++)
      y->shift[axis] += before[tile_check_dimension(g, axis)];
  }
  return CALM_OK;
}

/* ---- Whole tensors ------------------------------------------------------- */

/* Is tensor s of `after`, as traced, all of tensor t of `before`? */
static bool is_whole(const tile_judgement *j, const tile_trace *trace,
                     tensor_id s, tensor_id t) {
  const graph_tensor *x = &j->after->tensors.data[s];
  const graph_tensor *y = &j->before->tensors.data[t];
  const tile_origin *origin = &j->origins[t];
  if (x->type != y->type || x->rank != y->rank ||
      memcmp(x->dimensions, y->dimensions, x->rank * sizeof *x->dimensions))
    return false;
  if (!trace->axes[0]) return trace->of == t;
  if (trace->of != origin->of) return false;
  for (int axis = 0; axis < 2; axis++)
    for (int64_t i = 0; i < tile_check_size(j->after, s, axis); i++)
      if (trace->axes[axis][i] != i - origin->shift[axis]) return false;
  return true;
}

/* Tensor t under its own name. */
static calm_status trace_whole(tile_trace *out, tile_judgement *j,
                               tensor_id t) {
  const tile_origin *origin = &j->origins[t];
  *out = (tile_trace){.of = t};
  if (!is_picture(j->before, t)) return CALM_OK;
  out->of = origin->of;
  for (int axis = 0; axis < 2; axis++) {
    const int64_t size = tile_check_size(j->before, t, axis);
    ARENA_ARRAY(&j->a, out->axes[axis], (size_t)size);
    for (int64_t i = 0; i < size; i++)
      out->axes[axis][i] = i - origin->shift[axis];
  }
  return CALM_OK;
}

/* ---- One operator -------------------------------------------------------- */

static bool same_attributes(const graph_op *x, const graph_op *y) {
  if (x->attribute_count != y->attribute_count) return false;
  for (uint32_t i = 0; i < x->attribute_count; i++) {
    const char *value = graph_op_attribute(y, x->attributes[i].key);
    if (!value || strcmp(value, x->attributes[i].value)) return false;
  }
  return true;
}

/* Nothing has changed, operands included. */
static const char *judge_kept(const tile_judgement *j, op_id u) {
  const graph_op *op = &j->after->ops.data[u];
  const graph_op *old = &j->before->ops.data[j->edit->ops.data[u].from];
  if (op->kind != old->kind || strcmp(op->kind_name, old->kind_name) ||
      !same_attributes(op, old) || op->input_count != old->input_count ||
      op->output_count != old->output_count ||
      op->body_count != old->body_count)
    return "it is kept, and is another operator";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id s = op->inputs[i], t = old->inputs[i];
    if (s == CALM_NONE && t == CALM_NONE) continue;
    if (s == CALM_NONE || t == CALM_NONE || !is_whole(j, &j->traces[s], s, t))
      return "it is kept, and reads something else";
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    const tensor_id s = op->outputs[i], t = old->outputs[i];
    if (s == CALM_NONE && t == CALM_NONE) continue;
    if (s == CALM_NONE || t == CALM_NONE ||
        j->edit->tensors.data[s].contents != EDIT_SAME ||
        j->edit->tensors.data[s].from != t)
      return "it is kept, and makes something else";
  }
  return NULL;
}

static calm_status trace_kept(const char **fault, tile_judgement *j, op_id u) {
  const graph_op *op = &j->after->ops.data[u];
  *fault = judge_kept(j, u);
  for (uint32_t i = 0; !*fault && i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE)
      TRY(trace_whole(&j->traces[op->outputs[i]], j,
                      j->edit->tensors.data[op->outputs[i]].from));
  return CALM_OK;
}

static calm_status trace_made(tile_trace *out, const char **fault,
                              tile_judgement *j, op_id u) {
  const graph_op *old = &j->before->ops.data[j->edit->ops.data[u].from];
  graph_window window;
  switch (j->edit->ops.data[u].role) {
    case EDIT_CROP: return tile_check_crop(out, fault, j, u);
    case EDIT_PAD: return tile_check_pad(out, fault, j, u);
    case EDIT_JOIN: return tile_check_join(out, fault, j, u);
    case EDIT_WINDOW:
      if (graph_window_of(&window, j->before, j->edit->ops.data[u].from))
        return tile_check_window(out, fault, j, u);
      if ((op_kind_flags(old->kind) & OP_ELEMENTWISE) &&
          old->kind != OP_softmax)
        return tile_check_point(out, fault, j, u);
      break;
    default: break;
  }
  *fault = "it is nothing that tiles are made of";
  return CALM_OK;
}

/* What is made is like what it is made from: in all but rows and columns, and
   wholly if it goes by its name. */
static const char *judge_result(const tile_judgement *j, tensor_id s) {
  const edit_tensor *descent = &j->edit->tensors.data[s];
  const graph_tensor *x = &j->after->tensors.data[s];
  const graph_tensor *y = &j->before->tensors.data[descent->from];
  const tile_trace *trace = &j->traces[s];
  if (descent->contents == EDIT_SAME)
    return is_whole(j, trace, s, descent->from)
               ? NULL
               : "it does not make all of a tensor of the old graph";
  if (descent->contents != EDIT_MADE || x->type != y->type || x->rank != 4 ||
      y->rank != 4 || x->dimensions[0] != y->dimensions[0] ||
      x->dimensions[j->after->channels_first ? 1 : 3] !=
          y->dimensions[j->after->channels_first ? 1 : 3])
    return "what it makes is unlike what it stands for";
  if (j->origins[descent->from].of != trace->of ||
      y->quantization != j->before->tensors.data[trace->of].quantization)
    return "what it makes is described as something else";
  return NULL;
}

static calm_status trace_op(const char **fault, tile_judgement *j, op_id u) {
  const graph_op *op = &j->after->ops.data[u];
  tile_trace trace = {.of = CALM_NONE};
  *fault = NULL;
  if (j->edit->ops.data[u].role == EDIT_KEEP) return trace_kept(fault, j, u);
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE ||
      !is_picture(j->after, op->outputs[0])) {
    *fault = "it makes no picture";
    return CALM_OK;
  }
  TRY(trace_made(&trace, fault, j, u));
  if (*fault) return CALM_OK;
  j->traces[op->outputs[0]] = trace;
  *fault = judge_result(j, op->outputs[0]);
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status trace_given(tile_judgement *j) {
  ARENA_ARRAY(&j->a, j->traces, j->after->tensors.count);
  for (tensor_id s = 0; s < j->after->tensors.count; s++) {
    j->traces[s].of = CALM_NONE;
    if (j->after->producer[s] == CALM_NONE &&
        j->edit->tensors.data[s].contents == EDIT_SAME)
      TRY(trace_whole(&j->traces[s], j, j->edit->tensors.data[s].from));
  }
  return CALM_OK;
}

/* Nothing that is known outside may be missing. */
static calm_status find_missing(tile_judgement *j, calm_context *context) {
  bool *there;
  ARENA_ARRAY(&j->a, there, j->before->tensors.count);
  for (tensor_id s = 0; s < j->after->tensors.count; s++) {
    const edit_tensor *descent = &j->edit->tensors.data[s];
    const graph_tensor *x = &j->after->tensors.data[s];
    if (descent->contents == EDIT_SAME &&
        x->flags == j->before->tensors.data[descent->from].flags)
      there[descent->from] = true;
  }
  for (tensor_id t = 0; t < j->before->tensors.count; t++)
    if ((j->before->tensors.data[t].flags & CALM_TENSOR_OUTPUT) && !there[t])
      return context_fail(context, CALM_INTERNAL,
                          "tiles: output '%s' is missing",
                          j->before->tensors.data[t].name);
  return CALM_OK;
}

static calm_status judge(tile_judgement *j, calm_context *context) {
  TRY(find_origins(j));
  TRY(trace_given(j));
  for (uint32_t i = 0; i < j->after->ops.count; i++) {
    const op_id u = j->after->order[i];
    const char *fault;
    TRY(trace_op(&fault, j, u));
    if (fault)
      return context_fail(context, CALM_INTERNAL, "tiles: operator '%s': %s",
                          j->after->ops.data[u].name, fault);
  }
  return find_missing(j, context);
}

calm_status tile_check(const graph_edit *edit, calm_context *context) {
  tile_judgement j = {
      .edit = edit, .before = edit->before, .after = &edit->after};
  arena_init(&j.a, context);
  const calm_status status = judge(&j, context);
  arena_free(&j.a);
  return status;
}
