/* A random case as text, levels and loops outermost first, for whoever looks at
   a test that has failed. */
#include <inttypes.h>
#include <stdio.h>

#include "cost_random.h"

static void print_level(const cost_random_case *c, uint32_t i) {
  const accel_level *l = &c->arch.levels[i];
  printf("  %s%s%s mesh %" PRIu64 "x%" PRIu64 " capacity %" PRIu64
         " block %u cluster %u%s keeps",
         l->name, l->dram ? " dram" : "", l->virtual_level ? " virtual" : "",
         l->mesh_x, l->mesh_y, l->capacity_words, l->block_words, l->cluster,
         l->reduction_supported ? "" : " no-reduction");
  for (uint32_t t = 0; t < c->layer.tensor_count; t++)
    if (c->nest.kept[i] >> t & 1) printf(" %s", c->layer.tensors[t].name);
  printf("\n   ");
  for (uint32_t k = c->nest.loop_count; k-- > 0;) {
    const accel_loop *loop = &c->nest.loops[k];
    if (loop->level != i) continue;
    printf(" %s%" PRIu64, c->layer.dimensions[loop->dimension].name,
           loop->bound);
    if (loop->residual != loop->bound) printf("/%" PRIu64, loop->residual);
    printf("%s", loop->kind == ACCEL_SPATIAL_X   ? "x"
                 : loop->kind == ACCEL_SPATIAL_Y ? "y"
                                                 : "");
  }
  printf("\n");
}

static void print_tensor(const cost_random_case *c, uint32_t t) {
  const accel_tensor *tensor = &c->layer.tensors[t];
  printf("%s%s", tensor->name, tensor->read_write ? " (written)" : "");
  for (uint32_t r = 0; r < tensor->rank_count; r++) {
    printf(" [");
    for (uint32_t k = 0; k < tensor->ranks[r].term_count; k++) {
      const accel_term *term = &tensor->ranks[r].terms[k];
      printf("%s%s*%" PRIu64, k ? " + " : "",
             c->layer.dimensions[term->dimension].name, term->coefficient);
    }
    printf("]");
  }
  printf("\n");
}

void cost_random_print(const cost_random_case *c) {
  for (uint32_t i = 0; i < c->layer.dimension_count; i++)
    printf("%s=%" PRIu64 " ", c->layer.dimensions[i].name,
           c->layer.dimensions[i].bound);
  printf("\n");
  for (uint32_t t = 0; t < c->layer.tensor_count; t++) print_tensor(c, t);
  for (uint32_t i = c->arch.level_count; i-- > 0;) print_level(c, i);
  printf("  MAC mesh %" PRIu64 "x%" PRIu64 "\n", c->arch.compute.mesh_x,
         c->arch.compute.mesh_y);
  fflush(stdout);
}
