/*
 * Two rounds of rewriting as one.  Each tensor and operator of the second is
 * followed through the first to where it comes from in the original:
 *
 *     second       first         together
 *     SAME         whatever      what the first says
 *     MADE         any           MADE, like the original's tensor
 *     SLICE        SAME          SLICE
 *     SLICE        GIVEN         GIVEN, that part of the recipe
 *     SLICE        ZERO          ZERO
 *     ZERO         any           ZERO
 */
#include "rewrite/rewrite.h"

static calm_status refuse(const graph_edit *second, const char *what,
                          const char *name) {
  return context_fail(second->after.arena->context, CALM_UNSUPPORTED,
                      "%s '%s' was made anew in both rounds of rewriting", what,
                      name);
}

/* Both are parts along one axis. */
static bool join_slices(edit_tensor *out, const edit_tensor *first,
                        const edit_tensor *second) {
  if (first->axis != second->axis) return false;
  *out = *first;
  out->begin += second->begin;
  return true;
}

static bool join_slice(edit_tensor *out, const edit_tensor *first,
                       const edit_tensor *second) {
  switch (first->contents) {
    case EDIT_SLICE: return join_slices(out, first, second);
    case EDIT_ZERO: break;
    case EDIT_MADE: return false;
    case EDIT_GIVEN:
    case EDIT_SAME:
      out->axis = second->axis;
      out->begin = second->begin;
      if (first->contents == EDIT_SAME) out->contents = EDIT_SLICE;
  }
  return true;
}

static bool join_tensor(edit_tensor *out, const edit_tensor *first,
                        const edit_tensor *second) {
  *out = *first;
  out->bytes = NULL;
  switch (second->contents) {
    case EDIT_SAME: return true;
    case EDIT_SLICE: return join_slice(out, first, second);
    case EDIT_MADE:
    case EDIT_ZERO:
      *out = (edit_tensor){.from = first->from, .contents = second->contents};
      return true;
    case EDIT_GIVEN: return false;
  }
  return false;
}

/* An operator that only one of the rounds made anew. */
static bool join_op(edit_op *out, const edit_op *first, const edit_op *second) {
  *out = (edit_op){.from = first->from,
                   .role = first->role,
                   .activation = first->activation && second->activation};
  if (first->role == EDIT_KEEP) out->role = second->role;
  return first->role == EDIT_KEEP || second->role == EDIT_KEEP;
}

static calm_status compose(graph_edit *out, const graph_edit *first,
                           const graph_edit *second) {
  uint32_t id;
  for (tensor_id t = 0; t < second->tensors.count; t++) {
    const edit_tensor *descent = &second->tensors.data[t];
    const graph_tensor *tensor = &second->after.tensors.data[t];
    edit_tensor joined;
    if (!join_tensor(&joined, &first->tensors.data[descent->from], descent))
      return refuse(second, "tensor", tensor->name);
    TRY(graph_edit_add_tensor(&id, out, tensor, &joined));
  }
  for (op_id u = 0; u < second->ops.count; u++) {
    const edit_op *descent = &second->ops.data[u];
    const graph_op *op = &second->after.ops.data[u];
    edit_op joined;
    if (!join_op(&joined, &first->ops.data[descent->from], descent))
      return refuse(second, "operator", op->name);
    TRY(graph_edit_add_op(&id, out, op, &joined));
  }
  out->after.listed_inputs = second->after.listed_inputs;
  out->after.listed_outputs = second->after.listed_outputs;
  return graph_edit_finish(out, second->after.name);
}

calm_status rewrite_compose(graph_edit *out, const graph_edit *first,
                            const graph_edit *second, arena *a) {
  graph_edit edit;
  graph_edit_init(&edit, first->before, a);
  const calm_status status = compose(&edit, first, second);
  if (status == CALM_OK)
    *out = edit;
  else
    graph_edit_free(&edit);
  return status;
}
