/*
 * Any .tflite file that can be read can be rebuilt with nothing changed, or is
 * refused with one line.  The new file can be read, holds the same graphs, and
 * rebuilt once more stays what it is.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/edited.h"
#include "demand.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int open_bytes(calm_model *model, calm_context *context,
                      const uint8_t *data, size_t size) {
  model_init(model, context, "fuzz.tflite");
  model->map = (file_map){data, size};
  return model_read(model) == CALM_OK && model->format == MODEL_TFLITE;
}

/* Constants can be read where the graph says so. */
static void read_constants(const calm_model *model, arena *a) {
  const graph *g = &model->graphs.data[0];
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    const uint8_t *bytes;
    uint64_t length;
    if (!(tensor->flags & CALM_TENSOR_CONST) ||
        tensor->contents != CONTENTS_HERE)
      continue;
    demand(model_constant(&bytes, &length, model, t, a) == CALM_OK);
    demand(length == tensor->bytes && bytes >= model->map.bytes &&
           length <= model->map.length);
  }
}

static char *dump(calm_context *context, const calm_model *model) {
  text t;
  char *out = NULL;
  text_init(&t, context);
  graph_text_write(&t, model->graphs.data, model->graphs.count);
  demand(text_finish(&t, &out) == CALM_OK);
  return out;
}

static calm_status rebuild(const uint8_t **out, size_t *length,
                           const calm_model *model, arena *a) {
  graph_edit edit;
  graph_edit_init(&edit, &model->graphs.data[0], a);
  demand(edited_keep_all(&edit) == CALM_OK);
  const calm_status status = model_rebuild(out, length, model, &edit, a);
  demand(status == CALM_OK || status == CALM_UNSUPPORTED);
  graph_edit_free(&edit);
  return status;
}

/* Once more: what was written by the library shares and hides nothing. */
static void rebuild_again(const calm_model *model, const uint8_t *bytes,
                          size_t length, arena *a) {
  const uint8_t *out;
  size_t out_length;
  demand(rebuild(&out, &out_length, model, a) == CALM_OK);
  demand(out_length == length && !memcmp(out, bytes, length));
}

static void expect_same(calm_context *context, const calm_model *model,
                        const uint8_t *bytes, size_t length, arena *a) {
  calm_model again;
  demand(open_bytes(&again, context, bytes, length));
  char *x = dump(context, model), *y = dump(context, &again);
  demand(!strcmp(x, y));
  calm_text_free(context, x);
  calm_text_free(context, y);
  rebuild_again(&again, bytes, length, a);
  model_clear(&again);
}

static void try_model(calm_context *context, const calm_model *model) {
  const uint8_t *bytes;
  size_t length;
  arena a;
  arena_init(&a, context);
  read_constants(model, &a);
  if (rebuild(&bytes, &length, model, &a) == CALM_OK)
    expect_same(context, model, bytes, length, &a);
  else
    demand(*calm_context_message(context) != '\0');
  arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  calm_context *context = calm_context_new(NULL);
  calm_model model;
  if (!context) return 0;
  if (open_bytes(&model, context, data, size)) try_model(context, &model);
  model_clear(&model);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
