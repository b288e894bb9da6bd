/* Version 0.1: `arch` with `arithmetic` and a list `storage`, innermost level
   first, attributes without a mapping of their own. */
#include <string.h>

#include "accel/accel_arch_attributes.h"
#include "accel/accel_names.h"

/* What else may stand beside the two. */
static const char *const section_keys[] = {"arithmetic", "storage",
                                           "constraints", "version", "name"};
enum { SECTION_KEYS = sizeof section_keys / sizeof *section_keys };

static calm_status check_section(calm_context *context,
                                 const accel_yaml *section) {
  for (uint32_t i = 0; i < section->count; i++) {
    if (accel_names_have(section_keys, SECTION_KEYS, section->keys[i]))
      continue;
    const char *near =
        accel_names_nearest(section->keys[i], section_keys, SECTION_KEYS);
    return accel_place_fail(context, CALM_BAD_INPUT, section->key_places[i],
                            "unknown key '%s'; an architecture of version 0.1 "
                            "has '%s'%s",
                            section->keys[i], near ? near : "arithmetic",
                            near ? "" : " and 'storage'");
  }
  return CALM_OK;
}

/* The name, and where the attributes are: around them since version 0.2. */
static calm_status open_component(accel_component *out, accel_arch_draft *d,
                                  const accel_yaml *node,
                                  const char *otherwise) {
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(d->context, CALM_BAD_INPUT, node->place,
                            "a component is a mapping of attributes");
  accel_component c = {.class_name = "", .place = node->place};
  const char *spelled = otherwise;
  const accel_yaml *name = accel_yaml_get(node, "name");
  if (name) TRY(accel_yaml_text(&spelled, d->context, name, "name"));
  if (!spelled)
    return accel_place_fail(d->context, CALM_BAD_INPUT, node->place,
                            "a level of 'storage' has no 'name'");
  uint64_t count;
  TRY(accel_arch_split_name(&c.name, &count, spelled, node->place, d->arena));
  c.instances = count > 1 ? count : 0;
  c.attributes = accel_yaml_get(node, "attributes");
  const accel_yaml *class_name = accel_yaml_get(node, "class");
  if (c.attributes && class_name)
    TRY(accel_yaml_text(&c.class_name, d->context, class_name, "class"));
  TRY(accel_attributes_evaluate(&c.attributes, d,
                                c.attributes ? c.attributes : node));
  *out = c;
  return CALM_OK;
}

/* A class says nothing without `attributes`, so DRAM must be said otherwise. */
static void mention_class(accel_arch_draft *d, const accel_yaml *node,
                          const accel_level *l) {
  const accel_yaml *named = accel_yaml_get(node, "class");
  if (l->dram || !named || named->kind != ACCEL_YAML_SCALAR ||
      !strstr(named->text, "DRAM"))
    return;
  context_log(d->context, CALM_LOG_WARNING,
              "%s:%u: Timeloop does not look at the class of %s in a file of "
              "version 0.1; 'technology: DRAM' makes it DRAM",
              named->place.file, named->place.line, l->name);
}

static calm_status read_storage(accel_arch_draft *d, const accel_yaml *node) {
  accel_component c;
  accel_level level;
  TRY(open_component(&c, d, node, NULL));
  TRY(accel_arch_make_level(&level, d->context, &c, d->arena));
  mention_class(d, node, &level);
  VECTOR_PUSH(d->context, &d->levels, level);
  return CALM_OK;
}

calm_status accel_arch_read_flat(accel_arch_draft *d,
                                 const accel_yaml *section) {
  const accel_yaml *arithmetic = accel_yaml_get(section, "arithmetic");
  const accel_yaml *storage = accel_yaml_get(section, "storage");
  TRY(check_section(d->context, section));
  if (!arithmetic || !storage || storage->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(d->context, CALM_BAD_INPUT, section->place,
                            "an architecture of version 0.1 has 'arithmetic' "
                            "and 'storage', a list of levels; %s is missing",
                            arithmetic ? "the latter" : "the former");
  accel_component c;
  TRY(open_component(&c, d, arithmetic, "__ARITH__"));
  TRY(accel_arch_make_compute(&d->compute, d->context, &c));
  d->has_compute = true;
  for (uint32_t i = storage->count; i-- > 0;)
    TRY(read_storage(d, storage->items[i]));
  return CALM_OK;
}
