/*
 * 1x1 convolutions with a dilation of 2.  A window of one element is the same
 * element whatever the dilation, and SAME pads nothing either way; but CMSIS-NN
 * has kernels of its own for windows of 1x1 without dilation, which write the
 * output channel by channel over all pixels, and leaves the others to one that
 * finishes pixel after pixel.  The options of most files have no room for the
 * two numbers, so the file is built anew.
 */
#include <string.h>

#include "graph/graph_window.h"
#include "model/tflite_rewrite.h"

#define DILATED "2,2"

/* ---- Which ----------------------------------------------------------------
 */

static bool is_int8(const graph *g, const graph_op *op, uint32_t slot) {
  return op->input_count > slot && op->inputs[slot] != CALM_NONE &&
         g->tensors.data[op->inputs[slot]].type == ELEMENT_i8;
}

static bool is_point(const window_axis *axis) {
  return axis->taps == 1 && axis->stride == 1 && axis->dilation == 1 &&
         axis->before == 0 && axis->input == axis->output;
}

/* What CMSIS-NN would run its 1x1 kernel for. */
static bool is_wanted(const graph *g, op_id u) {
  graph_window window;
  const graph_op *op = &g->ops.data[u];
  return op->kind == OP_conv2d && is_int8(g, op, 0) && is_int8(g, op, 1) &&
         graph_window_of(&window, g, u) && is_point(&window.rows) &&
         is_point(&window.columns) && window.groups == 1;
}

/* ---- The edit -------------------------------------------------------------
 */

static calm_status dilate_op(graph_edit *edit, op_id u, arena *a) {
  graph_op op = edit->before->ops.data[u];
  graph_attribute *list;
  uint32_t count = 0;
  op_id out;
  ARENA_ARRAY(a, list, (size_t)op.attribute_count + 1);
  for (uint32_t i = 0; i < op.attribute_count; i++)
    if (strcmp(op.attributes[i].key, "dilation"))
      list[count++] = op.attributes[i];
  list[count++] = (graph_attribute){"dilation", DILATED};
  op.attributes = list;
  op.attribute_count = count;
  return graph_edit_add_op(
      &out, edit, &op,
      &(edit_op){.from = u, .role = EDIT_WINDOW, .activation = true});
}

static calm_status keep_op(graph_edit *edit, op_id u) {
  op_id out;
  return graph_edit_add_op(
      &out, edit, &edit->before->ops.data[u],
      &(edit_op){.from = u, .role = EDIT_KEEP, .activation = true});
}

static calm_status fill_edit(uint32_t *count, graph_edit *edit,
                             const calm_model *model, arena *a) {
  const graph *g = edit->before;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    tensor_id out;
    const edit_tensor same = {.from = t, .contents = EDIT_SAME};
    TRY(graph_edit_add_tensor(&out, edit, &g->tensors.data[t], &same));
  }
  *count = 0;
  for (op_id u = 0; u < g->ops.count; u++) {
    const bool wanted = is_wanted(g, u);
    TRY(wanted ? dilate_op(edit, u, a) : keep_op(edit, u));
    *count += wanted;
  }
  return *count ? graph_edit_finish(edit, model->path) : CALM_OK;
}

/* ---- What was meant -------------------------------------------------------
 */

static bool same_axis(const window_axis *a, const window_axis *b) {
  return a->input == b->input && a->output == b->output && a->taps == b->taps &&
         a->stride == b->stride && a->before == b->before &&
         window_after(a) == window_after(b);
}

/* Sizes and padding of one that was dilated. */
static bool same_window(const graph *before, const graph *after, op_id u) {
  graph_window a, b;
  return graph_window_of(&a, before, u) && graph_window_of(&b, after, u) &&
         same_axis(&a.rows, &b.rows) && same_axis(&a.columns, &b.columns) &&
         b.rows.dilation == 2 && b.columns.dilation == 2;
}

static bool same_ids(const uint32_t *a, const uint32_t *b, uint32_t count) {
  return count == 0 || !memcmp(a, b, count * sizeof *a);
}

static bool same_op(const graph *before, const graph *after, op_id u) {
  const graph_op *a = &before->ops.data[u], *b = &after->ops.data[u];
  return !strcmp(a->kind_name, b->kind_name) &&
         a->input_count == b->input_count &&
         a->output_count == b->output_count &&
         a->after_count == b->after_count &&
         same_ids(a->inputs, b->inputs, a->input_count) &&
         same_ids(a->outputs, b->outputs, a->output_count) &&
         (!is_wanted(before, u) || same_window(before, after, u));
}

static bool same_tensor(const graph_tensor *a, const graph_tensor *b) {
  return a->type == b->type && a->flags == b->flags && a->bytes == b->bytes &&
         a->rank == b->rank && !strcmp(a->name, b->name);
}

static calm_status compare(const calm_model *before, const calm_model *after) {
  const graph *a = &before->graphs.data[0], *b = &after->graphs.data[0];
  bool same = before->graphs.count == after->graphs.count &&
              a->tensors.count == b->tensors.count &&
              a->ops.count == b->ops.count;
  for (tensor_id t = 0; same && t < a->tensors.count; t++)
    same = same_tensor(&a->tensors.data[t], &b->tensors.data[t]);
  for (op_id u = 0; same && u < a->ops.count; u++) same = same_op(a, b, u);
  if (same) return CALM_OK;
  return context_fail(before->context, CALM_INTERNAL,
                      "%s: --rewrite-1x1: the graph would become another",
                      before->path);
}

/* ---- All of it ------------------------------------------------------------
 */

static calm_status read_again(calm_model *next, const calm_model *model,
                              const graph_edit *edit) {
  const uint8_t *bytes;
  size_t length;
  next->path = arena_string(&next->arena, model->path, strlen(model->path));
  if (!next->path) return context_no_memory(model->context);
  TRY(tflite_rebuild(&bytes, &length, model, edit, &next->arena));
  next->map = (file_map){bytes, length};
  next->altered = true;
  context_mute(model->context, true);
  calm_status status = model_read(next);
  context_mute(model->context, false);
  return status == CALM_OK ? compare(model, next) : status;
}

static void take_place(calm_model *model, calm_model *next) {
  if (model->mapped) file_map_close(&model->map);
  model_clear(model);
  *model = *next;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    model->graphs.data[i].arena = &model->arena;
}

static calm_status rebuild(calm_model *model, const graph_edit *edit) {
  calm_model next;
  model_init(&next, model->context, NULL);
  calm_status status = read_again(&next, model, edit);
  if (status == CALM_OK)
    take_place(model, &next);
  else
    model_clear(&next);
  return status;
}

calm_status tflite_dilate(calm_model *model) {
  graph_edit edit;
  uint32_t count;
  arena a;
  arena_init(&a, model->context);
  graph_edit_init(&edit, &model->graphs.data[0], &a);
  calm_status status = fill_edit(&count, &edit, model, &a);
  if (status == CALM_OK && count) status = rebuild(model, &edit);
  if (status == CALM_OK && count == 0)
    context_log(model->context, CALM_LOG_WARNING,
                "%s: --rewrite-1x1 has no effect: there is no int8 convolution "
                "of 1x1 with stride 1 and without dilation",
                model->path);
  graph_edit_free(&edit);
  arena_free(&a);
  return status;
}
