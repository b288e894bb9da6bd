#include "accel/accel_sections.h"

#include <string.h>

#include "accel/accel_names.h"

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

/* Any section of constraints counts: `constraints_II` does. */
static bool is_known(const char *key) {
  return accel_names_have(read_here, COUNT(read_here), key) ||
         accel_names_have(read_elsewhere, COUNT(read_elsewhere), key) ||
         strstr(key, "constraints");
}

calm_status accel_sections_check(const accel_yaml *root,
                                 calm_context *context) {
  for (uint32_t i = 0; i < root->count; i++) {
    const char *key = root->keys[i];
    const accel_hint hint = accel_names_hint(key, read_here, COUNT(read_here));
    if (*hint.text && !is_known(key))
      return accel_place_fail(context, CALM_BAD_INPUT, root->key_places[i],
                              "unknown section '%s'%s", key, hint.text);
  }
  return CALM_OK;
}
