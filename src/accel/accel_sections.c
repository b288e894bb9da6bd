#include "accel/accel_sections.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* What calm reads. */
static const char *const read_here[] = {"arch",
                                        "architecture",
                                        "variables",
                                        "problem",
                                        "mapping",
                                        "ERT",
                                        "mapspace",
                                        "ERT_summary",
                                        "ART",
                                        "ART_summary",
                                        "constraints",
                                        "mapspace_constraints",
                                        "architecture_constraints",
                                        "arch_constraints",
                                        "sparse_optimizations"};

/* What is near to one of these, and means something else. */
static const char *const read_elsewhere[] = {"mapper", "shape", "layout",
                                             "components"};

static bool is_among(const char *key, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (accel_yaml_same_key(key, names[i])) return true;
  return false;
}

/* Any section of constraints counts: `constraints_II` does. */
static bool is_known(const char *key) {
  return is_among(key, read_here, COUNT(read_here)) ||
         is_among(key, read_elsewhere, COUNT(read_elsewhere)) ||
         strstr(key, "constraints");
}

calm_status accel_sections_check(const accel_yaml *root,
                                 calm_context *context) {
  for (uint32_t i = 0; i < root->count; i++) {
    const char *key = root->keys[i];
    const char *near =
        is_known(key) ? NULL : accel_nearest(key, read_here, COUNT(read_here));
    if (near)
      return accel_place_fail(context, CALM_BAD_INPUT, root->key_places[i],
                              "unknown section '%s'; did you mean '%s'?", key,
                              near);
  }
  return CALM_OK;
}
