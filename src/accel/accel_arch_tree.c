/* Versions 0.2 and 0.3: `architecture: subtree`, a tree in which each node
   holds components (`local`) and at most one smaller tree.  A name such as
   PE[0..15] multiplies what is below it. */
#include <string.h>

#include "accel/accel_arch_attributes.h"
#include "accel/accel_names.h"
#include "base/number.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* ---- Names --------------------------------------------------------------- */

static calm_status wrong_range(calm_context *context, const char *spelled,
                               accel_place place) {
  return accel_place_fail(context, CALM_BAD_INPUT, place,
                          "the name '%s' ends in no range; write NAME[0..15] "
                          "for 16 of them",
                          spelled);
}

/* "[0..15]": 16. */
static bool parse_range(uint64_t *count, const char *range) {
  const char *dots = strstr(range, "..");
  const size_t length = strlen(range);
  uint64_t first, last;
  if (!dots || range[length - 1] != ']') return false;
  if (!number_parse(&first, range + 1, (size_t)(dots - range - 1)) ||
      !number_parse(&last, dots + 2, (size_t)(range + length - dots - 3)))
    return false;
  if (last < first || last - first >= NUMBER_MAX_BYTES) return false;
  *count = last - first + 1;
  return true;
}

calm_status accel_arch_split_name(const char **name, uint64_t *count,
                                  const char *spelled, accel_place place,
                                  arena *a) {
  const char *range = strchr(spelled, '[');
  uint64_t times = 1;
  if (range && !parse_range(&times, range))
    return wrong_range(a->context, spelled, place);
  const size_t length = range ? (size_t)(range - spelled) : strlen(spelled);
  if (length == 0)
    return accel_place_fail(a->context, CALM_BAD_INPUT, place, "an empty name");
  const char *copy = arena_string(a, spelled, length);
  if (!copy) return context_no_memory(a->context);
  *name = copy;
  *count = times;
  return CALM_OK;
}

/* ---- Keys ---------------------------------------------------------------- */

static calm_status check_keys(calm_context *context, const accel_yaml *node,
                              const char *const *known, uint32_t count) {
  for (uint32_t i = 0; i < node->count; i++) {
    if (accel_names_have(known, count, node->keys[i])) continue;
    const accel_hint hint = accel_names_hint(node->keys[i], known, count);
    if (!*hint.text && accel_attributes_know(node->keys[i], ACCEL_KEY_BOTH))
      return accel_place_fail(context, CALM_BAD_INPUT, node->key_places[i],
                              "'%s' belongs below 'attributes:'",
                              node->keys[i]);
    return accel_place_fail(context, CALM_BAD_INPUT, node->key_places[i],
                            "unknown key '%s'%s", node->keys[i], hint.text);
  }
  return CALM_OK;
}

static calm_status refuse_sparse(calm_context *context,
                                 const accel_yaml *node) {
  const accel_yaml *sparse = accel_yaml_get(node, "sparse_optimizations");
  if (!sparse) return CALM_OK;
  return accel_place_fail(
      context, CALM_UNSUPPORTED, sparse->place,
      "sparse_optimizations: calm costs dense tensors only");
}

/* Timeloop's front end writes this word; Timeloop does not look at it. */
static calm_status refuse_disabled(calm_context *context,
                                   const accel_yaml *node) {
  bool enabled = true;
  const accel_yaml *value = accel_yaml_get(node, "enabled");
  if (value) TRY(accel_yaml_bool(&enabled, context, value, "enabled"));
  if (enabled) return CALM_OK;
  return accel_place_fail(context, CALM_UNSUPPORTED, value->place,
                          "a disabled component; Timeloop would cost it all "
                          "the same, so take it out of the file");
}

static calm_status check_attributes(calm_context *context,
                                    const accel_yaml *attributes,
                                    const char *name) {
  if (accel_yaml_is_null(attributes) || attributes->kind == ACCEL_YAML_MAPPING)
    return CALM_OK;
  return accel_place_fail(context, CALM_BAD_INPUT, attributes->place,
                          "the attributes of %s are no mapping of keys", name);
}

/* Timeloop's own reader lets nothing flow downwards, so what a container says
   has no effect; what the author may expect to have one is told. */
static void mention_inheritance(accel_arch_draft *d, const accel_yaml *node,
                                const char *name) {
  const accel_yaml *attributes = accel_yaml_get(node, "attributes");
  if (!attributes || attributes->kind != ACCEL_YAML_MAPPING) return;
  for (uint32_t i = 0; i < attributes->count; i++)
    if (accel_attributes_matter(attributes->keys[i]) &&
        !accel_yaml_same_key(attributes->keys[i], "technology"))
      context_log(d->context, CALM_LOG_WARNING,
                  "%s:%u: '%s' of the container %s does not reach its "
                  "components in a file of version 0.2 or 0.3",
                  attributes->key_places[i].file,
                  attributes->key_places[i].line, attributes->keys[i], name);
}

/* ---- Components ---------------------------------------------------------- */

static calm_status required_text(const char **out, calm_context *context,
                                 const accel_yaml *node, const char *key) {
  const accel_yaml *value = accel_yaml_get(node, key);
  if (!value)
    return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                            "a component has no '%s'", key);
  return accel_yaml_text(out, context, value, key);
}

static calm_status open_component(accel_component *out, accel_arch_draft *d,
                                  const accel_yaml *node, uint64_t times) {
  static const char *const known[] = {
      "name",         "class",           "subclass", "attributes",
      "area_scale",   "area_share",      "enabled",  "sparse_optimizations",
      "energy_scale", "required_actions"};
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(d->context, CALM_BAD_INPUT, node->place,
                            "a component is a mapping with name and class");
  TRY(check_keys(d->context, node, known, COUNT(known)));
  TRY(refuse_sparse(d->context, node));
  TRY(refuse_disabled(d->context, node));
  accel_component c = {.place = node->place};
  const char *spelled;
  uint64_t count;
  TRY(required_text(&spelled, d->context, node, "name"));
  TRY(required_text(&c.class_name, d->context, node, "class"));
  TRY(accel_arch_split_name(&c.name, &count, spelled, node->place, d->arena));
  if (!number_multiply(&c.instances, times, count))
    return accel_place_fail(d->context, CALM_BAD_INPUT, node->place,
                            "more than 2^62 instances of %s", c.name);
  TRY(accel_attributes_evaluate(&c.attributes, d,
                                accel_yaml_get(node, "attributes")));
  *out = c;
  return CALM_OK;
}

static calm_status read_level(accel_arch_draft *d, const accel_component *c) {
  accel_level level;
  TRY(accel_arch_make_level(&level, d->context, c, d->arena));
  VECTOR_PUSH(d->context, &d->levels, level);
  return CALM_OK;
}

static calm_status read_compute(accel_arch_draft *d, const accel_component *c) {
  if (d->has_compute)
    return accel_place_fail(d->context, CALM_UNSUPPORTED, c->place,
                            "%s is a second compute unit beside %s; calm "
                            "costs machines with one kind",
                            c->name, d->compute.name);
  d->has_compute = true;
  return accel_arch_make_compute(&d->compute, d->context, c);
}

/* Classes are told apart in Timeloop's order; one that it does not know stands
   for something that it does not cost. */
static calm_status read_component(accel_arch_draft *d, const accel_yaml *node,
                                  uint64_t times) {
  accel_component c;
  TRY(open_component(&c, d, node, times));
  if (accel_arch_is_memory(c.class_name)) return read_level(d, &c);
  if (accel_arch_is_compute(c.class_name)) return read_compute(d, &c);
  if (accel_arch_is_network(c.class_name))
    return accel_place_fail(d->context, CALM_UNSUPPORTED, c.place,
                            "%s of class %s is a user-defined network; calm "
                            "costs the networks between levels, described by "
                            "attributes of the outer one",
                            c.name, c.class_name);
  context_log(d->context, CALM_LOG_WARNING,
              "%s:%u: %s of class %s is neither a memory nor a multiplier: "
              "neglected, as in Timeloop",
              c.place.file, c.place.line, c.name, c.class_name);
  return CALM_OK;
}

/* ---- Nodes --------------------------------------------------------------- */

static calm_status read_local(accel_arch_draft *d, const accel_yaml *local,
                              uint64_t times) {
  if (local->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(d->context, CALM_BAD_INPUT, local->place,
                            "'local' is a list of components");
  for (uint32_t i = 0; i < local->count; i++)
    TRY(read_component(d, local->items[i], times));
  return CALM_OK;
}

/* The only tree of a list. */
static calm_status only_tree(const accel_yaml **out, calm_context *context,
                             const accel_yaml *trees) {
  if (trees->kind != ACCEL_YAML_SEQUENCE || trees->count == 0)
    return accel_place_fail(context, CALM_BAD_INPUT, trees->place,
                            "'subtree' is a list of one tree");
  if (trees->count > 1)
    return accel_place_fail(context, CALM_UNSUPPORTED, trees->items[1]->place,
                            "a second subtree: calm and Timeloop read machines "
                            "with one chain of levels");
  if (trees->items[0]->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(context, CALM_BAD_INPUT, trees->items[0]->place,
                            "a tree is a mapping with name, local, subtree");
  *out = trees->items[0];
  return CALM_OK;
}

static calm_status read_node(accel_arch_draft *d, const accel_yaml *node,
                             uint64_t *times) {
  static const char *const known[] = {"name", "attributes", "local", "subtree",
                                      "sparse_optimizations"};
  TRY(check_keys(d->context, node, known, COUNT(known)));
  TRY(refuse_sparse(d->context, node));
  const char *spelled, *name;
  uint64_t count;
  TRY(required_text(&spelled, d->context, node, "name"));
  TRY(accel_arch_split_name(&name, &count, spelled, node->place, d->arena));
  if (!number_multiply(times, *times, count))
    return accel_place_fail(d->context, CALM_BAD_INPUT, node->place,
                            "more than 2^62 of %s", name);
  TRY(check_attributes(d->context, accel_yaml_get(node, "attributes"), name));
  mention_inheritance(d, node, name);
  const accel_yaml *local = accel_yaml_get(node, "local");
  return local ? read_local(d, local, *times) : CALM_OK;
}

calm_status accel_arch_read_tree(accel_arch_draft *d,
                                 const accel_yaml *section) {
  static const char *const known[] = {"version",     "subtree",
                                      "constraints", "name",
                                      "attributes",  "sparse_optimizations"};
  TRY(check_keys(d->context, section, known, COUNT(known)));
  TRY(refuse_sparse(d->context, section));
  TRY(check_attributes(d->context, accel_yaml_get(section, "attributes"),
                       "the architecture"));
  uint64_t times = 1;
  const accel_yaml *trees = accel_yaml_get(section, "subtree");
  while (trees) {
    const accel_yaml *node;
    TRY(only_tree(&node, d->context, trees));
    TRY(read_node(d, node, &times));
    trees = accel_yaml_get(node, "subtree");
  }
  return CALM_OK;
}
