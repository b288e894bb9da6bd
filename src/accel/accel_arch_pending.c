/* Stands in for accel_arch.c until that file is here; to be deleted then. */
#include <string.h>

#include "accel/accel_arch.h"

#pragma weak accel_arch_find
#pragma weak accel_arch_fanout

uint32_t accel_arch_find(const accel_arch *arch, const char *name) {
  for (uint32_t i = 0; i < arch->level_count; i++)
    if (!strcmp(arch->levels[i].name, name)) return i;
  return CALM_NONE;
}

accel_fanout accel_arch_fanout(const accel_arch *arch, uint32_t level) {
  const accel_level *outer = &arch->levels[level];
  if (level == 0)
    return (accel_fanout){arch->compute.mesh_x / outer->mesh_x,
                          arch->compute.mesh_y / outer->mesh_y};
  const accel_level *inner = &arch->levels[level - 1];
  return (accel_fanout){inner->mesh_x / outer->mesh_x,
                        inner->mesh_y / outer->mesh_y};
}
