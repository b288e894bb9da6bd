/* What is said of a name that neither the machine nor the layer has. */
#include <string.h>

#include "accel/accel_names.h"
#include "accel/accel_nest_parts.h"

calm_status accel_subject_no_level(const accel_subject *s, accel_place place,
                                   const char *name) {
  const accel_arch *arch = s->arch;
  const uint32_t count = arch->level_count;
  const char **names;
  ARENA_ARRAY(s->arena, names, count);
  for (uint32_t i = 0; i < count; i++)
    names[i] = arch->levels[count - 1 - i].name;
  const accel_listing all = accel_names_list(names, count);
  if (!strcmp(name, arch->compute.name))
    return accel_place_fail(s->context, CALM_BAD_INPUT, place,
                            "'%s' is the multipliers, which have no loops of "
                            "their own; the levels are %s",
                            name, all.text);
  return accel_place_fail(s->context, CALM_BAD_INPUT, place,
                          "the architecture has no level '%s'; it has %s%s",
                          name, all.text,
                          accel_names_hint(name, names, count).text);
}

calm_status accel_subject_no_dimension(const accel_subject *s,
                                       accel_place place, const char *name) {
  const char *names[ACCEL_MAX_DIMENSIONS];
  const uint32_t count = s->layer->dimension_count;
  for (uint32_t d = 0; d < count; d++) names[d] = s->layer->dimensions[d].name;
  return accel_place_fail(s->context, CALM_BAD_INPUT, place,
                          "the layer has no dimension '%s'; it has %s%s", name,
                          accel_names_list(names, count).text,
                          accel_names_hint(name, names, count).text);
}

calm_status accel_subject_no_tensor(const accel_subject *s, accel_place place,
                                    const char *name) {
  const char *names[ACCEL_MAX_TENSORS];
  const uint32_t count = s->layer->tensor_count;
  for (uint32_t t = 0; t < count; t++) names[t] = s->layer->tensors[t].name;
  return accel_place_fail(s->context, CALM_BAD_INPUT, place,
                          "the layer has no tensor '%s'; it has %s%s", name,
                          accel_names_list(names, count).text,
                          accel_names_hint(name, names, count).text);
}

calm_status accel_arch_check_tensors(const accel_arch *arch,
                                     const accel_layer *layer,
                                     calm_context *context) {
  const accel_subject s = {arch, layer, context, NULL};
  for (uint32_t i = arch->level_count; i-- > 0;)
    for (uint32_t k = 0; k < arch->levels[i].scale_count; k++) {
      const accel_scale *scale = &arch->levels[i].scales[k];
      if (accel_layer_tensor(layer, scale->tensor) == CALM_NONE)
        return accel_subject_no_tensor(&s, scale->place, scale->tensor);
    }
  return CALM_OK;
}
