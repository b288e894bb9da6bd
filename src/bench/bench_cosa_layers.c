/* The layers of the four networks, from their table. */
#include <stdio.h>
#include <string.h>

#include "bench/bench_cosa.h"

enum { ALEXNET, RESNET50, RESNEXT50, DEEPBENCH };

const char *const bench_cosa_networks[BENCH_COSA_NETWORKS] = {
    "AlexNet", "ResNet-50", "ResNeXt-50", "DeepBench"};

typedef struct row {
  uint32_t network;
  uint64_t r, p, q, c, k, stride;
  uint32_t times;
} row;

static const row rows[] = {
#define LAYER(network, r, p, q, c, k, stride, times) \
  {network, r, p, q, c, k, stride, times},
#include "bench/bench_cosa_layers.def"
#undef LAYER
};

enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)ROWS <= (int)BENCH_MOST_LAYERS,
               "sections have room for fewer");

/* As the paper has it, 3_7_512_512_1; with both extents where they differ. */
static calm_status name_row(const char **out, const row *r, arena *a) {
  text t;
  text_init(&t, a->context);
  text_format(&t, "%d_%d", (int)r->r, (int)r->p);
  if (r->q != r->p) text_format(&t, "x%d", (int)r->q);
  text_format(&t, "_%d_%d_%d", (int)r->c, (int)r->k, (int)r->stride);
  return text_keep(&t, out, a);
}

static calm_status make_row(bench_layer *out, const row *r, arena *a) {
  const accel_convolution c = {.r = r->r,
                               .s = r->r,
                               .p = r->p,
                               .q = r->q,
                               .c = r->c,
                               .k = r->k,
                               .n = 1,
                               .groups = 1,
                               .stride_w = r->stride,
                               .stride_h = r->stride,
                               .dilation_w = 1,
                               .dilation_h = 1};
  TRY(name_row(&out->name, r, a));
  out->network = r->network;
  out->times = r->times;
  return accel_layer_convolution(&out->layer, out->name, &c, a);
}

calm_status bench_layers_make(bench_layers *out, arena *a) {
  bench_layers made = {.count = ROWS};
  ARENA_ARRAY(a, made.data, ROWS);
  for (uint32_t i = 0; i < ROWS; i++) TRY(make_row(&made.data[i], &rows[i], a));
  *out = made;
  return CALM_OK;
}

uint32_t bench_layers_find(const bench_layers *layers, const char *name) {
  for (uint32_t i = 0; i < layers->count; i++)
    if (!strcmp(layers->data[i].name, name)) return i;
  return CALM_NONE;
}
