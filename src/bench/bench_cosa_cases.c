/* The machines and layers of CoSA's figures, as `calm map` reads them. */
#include <stdio.h>
#include <string.h>

#include "bench/bench_cosa.h"
#include "bench/bench_sections.h"

static const char *const machines[] = {"simba.yaml", "simba-4x.yaml",
                                       "simba-sram.yaml"};
enum { MACHINES = sizeof machines / sizeof *machines };

static calm_status put_words(const bench_folder *folder, const char *name,
                             const char *words, size_t length,
                             calm_context *context) {
  text copy;
  text_init(&copy, context);
  text_add(&copy, words, length);
  return folder->put(folder, name, &copy);
}

static calm_status put_machine(const bench *b, const char *machine,
                               const bench_folder *folder) {
  char name[64];
  const bench_case *file;
  TRY(bench_case_get(&file, machine, b->context));
  snprintf(name, sizeof name, "machines/%s", machine);
  return put_words(folder, name, file->bytes, file->length, b->context);
}

static calm_status put_layer(const bench *b, const bench_layer *layer,
                             const bench_folder *folder) {
  char name[64], *words;
  snprintf(name, sizeof name, "layers/%s.yaml", layer->name);
  TRY(accel_layer_write(&words, &layer->layer, b->context));
  const calm_status status =
      put_words(folder, name, words, strlen(words), b->context);
  calm_text_free(b->context, words);
  return status;
}

/* A layer of several networks has the same name in each. */
static calm_status put_layers(const bench *b, const bench_folder *folder,
                              arena *a) {
  bench_layers layers;
  TRY(bench_layers_make(&layers, a));
  for (uint32_t i = 0; i < layers.count; i++)
    if (bench_layers_find(&layers, layers.data[i].name) == i)
      TRY(put_layer(b, &layers.data[i], folder));
  return CALM_OK;
}

calm_status bench_cosa_cases(const bench *b, const bench_folder *folder) {
  arena scratch;
  TRY(folder->make(folder, "machines"));
  for (uint32_t i = 0; i < MACHINES; i++)
    TRY(put_machine(b, machines[i], folder));
  TRY(folder->make(folder, "layers"));
  arena_init(&scratch, b->context);
  const calm_status status = put_layers(b, folder, &scratch);
  arena_free(&scratch);
  return status;
}
