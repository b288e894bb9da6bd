/*
 * Any bytes are either refused with one line or read as a model.  Then its text
 * is a text that can be read; the file can be written in another order of its
 * operators, is as long as before, and reads as a model of the same tensors
 * whose order runs; and written in the order that it has, it stays as it is.
 * Rebuilt from an edit that changes nothing, or that does everything twice, it
 * reads as the graph of the edit.  Reading twice gives the same, and nothing is
 * left behind.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/edited.h"
#include "demand.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_model(calm_model *model, calm_context *context,
                      const void *bytes, size_t length) {
  model_init(model, context, "fuzz");
  model->map = (file_map){bytes, length};
  if (model_read(model) == CALM_OK) return 1;
  demand(*calm_context_message(context) != '\0');
  model_clear(model);
  return 0;
}

static char *dump(const calm_model *model) {
  text t;
  char *out = NULL;
  text_init(&t, model->context);
  graph_text_write(&t, model->graphs.data, model->graphs.count);
  demand(text_finish(&t, &out) == CALM_OK);
  return out;
}

/* The text form demands what a text can say: that what is used is made. */
static void check_text(const calm_model *model) {
  calm_model again;
  char *text = dump(model);
  if (read_model(&again, model->context, text, strlen(text))) {
    char *second = dump(&again);
    demand(!strcmp(text, second));
    calm_text_free(model->context, second);
    model_clear(&again);
  }
  calm_text_free(model->context, text);
}

/* The operators as late in the file as they can run first, or, `kept`, in the
   order that is nearest to the file's. */
static void choose_order(op_id *out, const graph *g, int kept, arena *a) {
  uint32_t *waiting = arena_calloc(a, g->ops.count, sizeof *waiting);
  if (kept) {
    for (uint32_t i = 0; i < g->ops.count; i++) out[i] = g->order[i];
    return;
  }
  for (op_id u = 0; u < g->ops.count; u++)
    waiting[u] = g->pred_begin[u + 1] - g->pred_begin[u] + 1;
  uint32_t count = 0;
  for (op_id u = g->ops.count; u-- > 0;)
    if (--waiting[u] == 0) out[count++] = u;
  for (uint32_t next = 0; next < count; next++) {
    op_id u = out[next];
    for (uint32_t i = g->succ_begin[u]; i < g->succ_begin[u + 1]; i++)
      if (--waiting[g->succs[i]] == 0) out[count++] = g->succs[i];
  }
  demand(count == g->ops.count);
}

static uint8_t *write_model(const calm_model *model, int kept,
                            size_t *out_length) {
  arena a;
  file_pieces pieces = {0};
  uint8_t *bytes = malloc(model->map.length + 1);
  size_t length = 0;
  arena_init(&a, model->context);
  const op_id **sequences =
      arena_calloc(&a, model->graphs.count, sizeof *sequences);
  demand(bytes && sequences);
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    op_id *order = arena_calloc(&a, g->ops.count, sizeof *order);
    choose_order(order, g, kept, &a);
    sequences[i] = order;
  }
  const model_patch patch = {sequences, NULL, MODEL_PLAN_KEEP, NULL};
  demand(model_pieces(&pieces, model, &patch, &a) == CALM_OK);
  for (uint32_t i = 0; i < pieces.count; i++) {
    demand(pieces.data[i].length <= model->map.length - length);
    memcpy(bytes + length, pieces.data[i].bytes, pieces.data[i].length);
    length += pieces.data[i].length;
  }
  VECTOR_FREE(model->context, &pieces);
  arena_free(&a);
  *out_length = length;
  return bytes;
}

static uint32_t count_tensors(const calm_model *model) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    count += model->graphs.data[i].tensors.count;
  return count;
}

static void check_writing(const calm_model *model) {
  for (int kept = 0; kept < 2; kept++) {
    calm_model moved;
    size_t length, again_length;
    uint8_t *bytes = write_model(model, kept, &length);
    demand(length == model->map.length);
    demand(read_model(&moved, model->context, bytes, length));
    demand(moved.graphs.count == model->graphs.count);
    demand(count_tensors(&moved) == count_tensors(model));
    for (uint32_t i = 0; i < moved.graphs.count; i++)
      demand(moved.graphs.data[i].file_order_valid);
    uint8_t *again = write_model(&moved, 1, &again_length);
    demand(again_length == length && !memcmp(again, bytes, length));
    model_clear(&moved);
    free(again);
    free(bytes);
  }
}

/* Another operator that does the same for nobody, where that is no matter. */
static void repeat_op(graph_edit *edit, op_id u, arena *a) {
  const graph *g = edit->before;
  graph_op op = g->ops.data[u];
  tensor_id *outputs = arena_calloc(a, op.output_count, sizeof *outputs);
  demand(outputs != NULL);
  if (op.stateful || op.body_count || op.output_count == 0) return;
  for (uint32_t i = 0; i < op.output_count; i++)
    if (op.outputs[i] != CALM_NONE &&
        g->tensors.data[op.outputs[i]].type == ELEMENT_ABSTRACT)
      return;
  for (uint32_t i = 0; i < op.output_count; i++) {
    outputs[i] = CALM_NONE;
    if (op.outputs[i] == CALM_NONE) continue;
    graph_tensor tensor = g->tensors.data[op.outputs[i]];
    const edit_tensor descent = {.from = op.outputs[i], .contents = EDIT_MADE};
    tensor.flags = 0;
    demand(graph_edit_add_tensor(&outputs[i], edit, &tensor, &descent) ==
           CALM_OK);
  }
  op.outputs = outputs;
  const edit_op descent = {.from = u, .role = EDIT_KEEP};
  demand(graph_edit_add_op(&u, edit, &op, &descent) == CALM_OK);
}

/* What is refused without need, is a finding: only names may be in the way. */
static void check_rebuilding(const calm_model *model, int twice) {
  graph_edit edit;
  arena a;
  calm_model again;
  const uint8_t *bytes;
  size_t length;
  char difference[256];
  arena_init(&a, model->context);
  demand(edited_identity(&edit, &model->graphs.data[0], &a) == CALM_OK);
  for (op_id u = 0; twice && u < edit.before->ops.count; u++)
    repeat_op(&edit, u, &a);
  demand(graph_edit_finish(&edit, "edit") == CALM_OK);
  const calm_status status = model_rebuild(&bytes, &length, model, &edit, &a);
  demand(status == CALM_OK || (twice && status == CALM_UNSUPPORTED));
  if (status == CALM_OK) {
    demand(read_model(&again, model->context, bytes, length));
    demand(!edited_compare(difference, sizeof difference, &edit.after,
                           &again.graphs.data[0]));
    model_clear(&again);
  }
  graph_edit_free(&edit);
  arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  calm_context *context = calm_context_new(NULL);
  calm_model model, second;
  if (!context) return 0;
  calm_context_set_log(context, take_line, NULL);
  int readable = read_model(&model, context, data, size);
  demand(readable == read_model(&second, context, data, size));
  if (readable) {
    char *one = dump(&model), *two = dump(&second);
    demand(!strcmp(one, two));
    calm_text_free(context, one);
    calm_text_free(context, two);
    check_text(&model);
    if (model.format == MODEL_ONNX) {
      check_writing(&model);
      check_rebuilding(&model, 0);
      check_rebuilding(&model, 1);
    }
    model_clear(&second);
    model_clear(&model);
  }
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
