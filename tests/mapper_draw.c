#include "mapper_draw.h"

#include <string.h>

static uint64_t pick(random_state *r, const uint64_t *of, uint32_t count) {
  return of[random_below(r, count)];
}

static bool draw_layer(accel_layer *out, random_state *r, arena *a) {
  static const uint64_t filters[] = {1, 2, 3}, widths[] = {2, 3, 4, 6, 8};
  accel_convolution k = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  k.r = pick(r, filters, 3);
  k.p = pick(r, widths, 5);
  k.k = pick(r, widths, 3);
  if (random_below(r, 2)) k.c = pick(r, widths, 3);
  if (random_below(r, 4) == 0) k.n = 2;
  k.stride_w = 1 + random_below(r, 3);
  k.dilation_w = 1 + random_below(r, 2);
  return accel_layer_convolution(out, "drawn", &k, a) == CALM_OK;
}

/* Prices rise outwards, or not; a level may be slow at what it is asked. */
static void draw_level(accel_level *l, random_state *r, uint32_t i, bool last,
                       uint32_t instances) {
  const double price = 1 + (double)random_below(r, 8) * (1 + 4 * i);
  l->name = "L";
  l->class_name = "";
  l->capacity_words = l->entries =
      last ? ACCEL_UNLIMITED : 1 + random_below(r, UINT32_C(12) << i);
  l->multiple_buffering = 1;
  l->word_bits = 8;
  l->block_words = random_below(r, 3) ? 1 : 2 + 2 * random_below(r, 2);
  l->cluster = instances % 2 == 0 && random_below(r, 3) == 0 ? 2 : 1;
  l->instances = l->mesh_x = instances;
  l->mesh_y = 1;
  l->energy =
      (accel_energy){price, price * 0.75, price * 1.25, 0, -1, true, 0, 0, {0}};
  if (random_below(r, 2)) l->read_bandwidth = 1 + random_below(r, 3);
  if (random_below(r, 2)) l->write_bandwidth = 1 + random_below(r, 3);
  l->reduction_supported = true;
}

bool mapper_draw_make(mapper_draw *out, random_state *r, arena *a) {
  memset(out, 0, sizeof *out);
  if (!draw_layer(&out->layer, r, a)) return false;
  const uint32_t levels = 2 + random_below(r, 2);
  uint32_t instances = 1;
  for (uint32_t i = levels; i-- > 0;) {
    const bool last = i + 1 == levels;
    draw_level(&out->levels[i], r, i, last, instances);
    out->kept[i] = last ? 7 : 1 + random_below(r, 7);
    if (random_below(r, 2)) instances *= 1 + random_below(r, 6);
  }
  out->arch = (accel_arch){
      .name = "drawn", .levels = out->levels, .level_count = levels};
  out->arch.compute = (accel_compute){.name = "MAC",
                                      .word_bits = 8,
                                      .instances = instances,
                                      .mesh_x = instances,
                                      .mesh_y = 1,
                                      .energy_pj = 1,
                                      .energy_known = true};
  return true;
}
