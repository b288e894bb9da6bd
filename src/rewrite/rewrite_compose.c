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
 *     GIVEN        any           GIVEN, what the recipes start from followed
 *                                into the original
 */
#include <string.h>

#include "rewrite/rewrite.h"
#include "rewrite/rewrite_contents.h"

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
    case EDIT_MADE:
    case EDIT_NUMBERS: return false;
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
    case EDIT_GIVEN:
    case EDIT_NUMBERS: break;
  }
  return false;
}

/* ---- Recipes -------------------------------------------------------------
 */

static bool has_contents(const graph_edit *first, tensor_id t,
                         edit_contents contents) {
  return first->tensors.data[t].contents == contents;
}

/* Do the steps of one go on where those of the other end? */
static bool go_on(const edit_recipe *begun, const edit_recipe *more) {
  return begun->rank == more->rank && begun->axis == more->axis &&
         !memcmp(begun->dimensions, more->dimensions,
                 more->rank * sizeof *more->dimensions);
}

/* Steps are with constants of the original. */
static bool can_join_recipe(const graph_edit *first, const edit_recipe *more) {
  const tensor_id start = more->start;
  for (uint32_t i = 0; i < more->step_count; i++) {
    const tensor_id c = more->steps[i].constant;
    if (c != CALM_NONE && !has_contents(first, c, EDIT_SAME)) return false;
  }
  return start == CALM_NONE || has_contents(first, start, EDIT_SAME) ||
         (has_contents(first, start, EDIT_GIVEN) &&
          go_on(first->tensors.data[start].recipe, more));
}

static void follow(tensor_id *t, const graph_edit *first) {
  if (*t != CALM_NONE) *t = first->tensors.data[*t].from;
}

/* What the first round made of the start, and then the steps of the second. */
static calm_status join_recipe(edit_tensor *out, const graph_edit *first,
                               const edit_recipe *more, arena *a) {
  edit_recipe *recipe;
  recipe_step *steps;
  uint32_t begun = 0;
  ARENA_ARRAY(a, recipe, 1);
  *recipe = *more;
  if (more->start != CALM_NONE &&
      has_contents(first, more->start, EDIT_GIVEN)) {
    const edit_recipe *start = first->tensors.data[more->start].recipe;
    recipe->start = start->start;
    recipe->number = start->number;
    begun = start->step_count;
    ARENA_ARRAY(a, steps, (size_t)begun + more->step_count);
    memcpy(steps, start->steps, begun * sizeof *steps);
  } else {
    follow(&recipe->start, first);
    ARENA_ARRAY(a, steps, (size_t)more->step_count + 1);
  }
  for (uint32_t i = 0; i < more->step_count; i++) {
    steps[begun + i] = more->steps[i];
    follow(&steps[begun + i].constant, first);
  }
  recipe->steps = steps;
  recipe->step_count = begun + more->step_count;
  *out = (edit_tensor){
      .from = out->from, .contents = EDIT_GIVEN, .recipe = recipe};
  return CALM_OK;
}

/* ---- Both ----------------------------------------------------------------
 */

static calm_status join(bool *done, edit_tensor *out, const graph_edit *first,
                        const edit_tensor *second, arena *a) {
  const edit_tensor *from = &first->tensors.data[second->from];
  *done = join_tensor(out, from, second);
  if (second->contents != EDIT_GIVEN) return CALM_OK;
  *done = can_join_recipe(first, second->recipe);
  return *done ? join_recipe(out, first, second->recipe, a) : CALM_OK;
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
    bool done;
    TRY(join(&done, &joined, first, descent, out->after.arena));
    if (!done) return refuse(second, "tensor", tensor->name);
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
