/*
 * Any bytes are either refused with one line or read as a layer.  Written, that
 * is a file that reads as the same layer.
 */
#include "accel_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *shown_layer(const accel_layer *layer, calm_context *context) {
  text t;
  char *out;
  text_init(&t, context);
  show_layer(&t, layer);
  demand(text_finish(&t, &out) == CALM_OK);
  return out;
}

static void check_writing(text *t, const accel_layer *layer, arena *a) {
  char *file;
  accel_yaml *root;
  accel_layer again;
  const calm_status status = accel_layer_write(&file, layer, a->context);
  if (!succeeded(t, status, a)) return;
  demand(accel_yaml_parse(&root, "w.yaml", file, strlen(file), a) == CALM_OK);
  demand(accel_layer_read(&again, root, ACCEL_DILATION_LITERAL, a) == CALM_OK);
  char *one = shown_layer(layer, a->context);
  char *two = shown_layer(&again, a->context);
  demand(!strcmp(one, two));
  calm_text_free(a->context, one);
  calm_text_free(a->context, two);
  calm_text_free(a->context, file);
}

static void read_layer(text *t, const accel_yaml *root, arena *a) {
  accel_layer layer;
  for (int zero = 0; zero < 2; zero++) {
    const calm_status status = accel_layer_read(
        &layer, root, zero ? ACCEL_DILATION_ONE : ACCEL_DILATION_LITERAL, a);
    if (!succeeded(t, status, a)) continue;
    show_layer(t, &layer);
    check_writing(t, &layer, a);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return use_twice(read_layer, data, size);
}
