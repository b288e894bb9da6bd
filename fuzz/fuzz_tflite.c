/*
 * Any bytes are either refused with one line or read as a model, and then its
 * text, read and written again, is the same text.  Reading twice gives the
 * same, and nothing is left behind.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The text form refuses what a .tflite file may do: read a tensor from nowhere
 * or give one out.
 */
static int has_sources(const calm_model *model) {
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    for (tensor_id t = 0; t < g->tensors.count; t++) {
      unsigned flags = g->tensors.data[t].flags;
      int used = g->reader_begin[t] < g->reader_begin[t + 1] ||
                 (flags & CALM_TENSOR_OUTPUT);
      if (used && g->producer[t] == CALM_NONE &&
          !(flags & ~(unsigned)CALM_TENSOR_OUTPUT))
        return 0;
    }
  }
  return 1;
}

static char *dump(const calm_model *model) {
  text t;
  char *out = NULL;
  text_init(&t, model->context);
  graph_text_write(&t, model->graphs.data, model->graphs.count);
  demand(text_finish(&t, &out) == CALM_OK);
  return out;
}

/* The text of what was read, NULL if it was refused; *complete says whether
   that text can be read. */
static char *read_model(calm_context *context, const void *bytes, size_t length,
                        int *complete) {
  calm_model model;
  char *out = NULL;
  model_init(&model, context, "fuzz");
  model.map = (file_map){bytes, length};
  if (model_read(&model) == CALM_OK) {
    out = dump(&model);
    *complete = has_sources(&model);
  } else {
    demand(*calm_context_message(context) != '\0');
  }
  model_clear(&model);
  return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  calm_context_set_log(context, take_line, NULL);
  int complete = 0, ignored;
  char *first = read_model(context, data, size, &complete);
  char *second = read_model(context, data, size, &complete);
  demand(!first == !second && (!first || !strcmp(first, second)));
  if (first && complete) {
    char *again = read_model(context, first, strlen(first), &ignored);
    demand(again && !strcmp(first, again));
    calm_text_free(context, again);
  }
  calm_text_free(context, first);
  calm_text_free(context, second);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
