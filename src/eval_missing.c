/* Until constraints are read, none are; weak symbols, so that the real ones
   win. */
#include "eval.h"

#define WEAK __attribute__((weak))

WEAK calm_status accel_constraints_read(accel_constraints *out,
                                        const accel_yaml *root,
                                        const accel_arch *arch,
                                        const accel_layer *layer, arena *a) {
  (void)root, (void)layer;
  *out = (accel_constraints){0};
  out->level_count = arch->level_count;
  ARENA_ARRAY(a, out->levels, arch->level_count);
  return CALM_OK;
}
WEAK calm_status accel_constraints_check(char **out, const accel_constraints *c,
                                         const accel_nest *nest,
                                         const accel_arch *arch,
                                         const accel_layer *layer,
                                         calm_context *context) {
  (void)c, (void)nest, (void)arch, (void)layer, (void)context;
  *out = NULL;
  return CALM_OK;
}
