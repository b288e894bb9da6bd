/*
 * Any bytes are either refused with one line or read as a loop nest on a
 * machine of ours.  Written, that is a file that reads as the same nest.
 */
#include "accel_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *shown_nest(const accel_nest *nest, const accel_arch *arch,
                        calm_context *context) {
  text t;
  char *out;
  text_init(&t, context);
  show_nest(&t, nest, arch);
  demand(text_finish(&t, &out) == CALM_OK);
  return out;
}

static void check_writing(const accel_nest *nest, const accel_arch *arch,
                          const accel_layer *layer, arena *a) {
  char *file;
  accel_yaml *root;
  accel_nest again;
  demand(accel_nest_write(&file, nest, arch, layer, a->context) == CALM_OK);
  demand(accel_yaml_parse(&root, "w.yaml", file, strlen(file), a) == CALM_OK);
  demand(accel_nest_read(&again, root, arch, layer, a) == CALM_OK);
  char *one = shown_nest(nest, arch, a->context);
  char *two = shown_nest(&again, arch, a->context);
  demand(!strcmp(one, two));
  calm_text_free(a->context, one);
  calm_text_free(a->context, two);
  calm_text_free(a->context, file);
}

static void read_nest(text *t, const accel_yaml *root, const char *arch_text,
                      const char *layer_text, arena *a) {
  accel_arch arch;
  accel_layer layer;
  accel_nest nest;
  char *lines;
  own_case(&arch, &layer, arch_text, layer_text, a);
  if (!succeeded(t, accel_nest_read(&nest, root, &arch, &layer, a), a)) return;
  show_nest(t, &nest, &arch);
  demand(accel_nest_text(&lines, &nest, &arch, &layer, a->context) == CALM_OK);
  text_format(t, "%s", lines);
  calm_text_free(a->context, lines);
  check_writing(&nest, &arch, &layer, a);
}

static void read_nests(text *t, const accel_yaml *root, arena *a) {
  read_nest(t, root, own_arch, own_layer, a);
  read_nest(t, root, own_chain, own_product, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return use_twice(read_nests, data, size);
}
