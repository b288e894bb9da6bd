/*
 * Where constraints stand: in sections of a file, all of which hold, and at the
 * nodes of a version 0.4 architecture.  A section is a list, or has it under
 * `targets` or `constraints`; an entry is one directive, or a level with a list
 * of them.
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_constraints_parts.h"
#include "accel/accel_names.h"

/* ---- Entries ------------------------------------------------------------- */

/* Some files keep what a directive says under `attributes`. */
static calm_status add_directive(accel_rules_draft *d, const accel_yaml *target,
                                 const accel_yaml *directive) {
  const accel_subject *s = &d->subject;
  accel_directive_type type;
  uint32_t level;
  const accel_yaml *word = accel_yaml_get(directive, "type");
  const accel_yaml *attributes = accel_yaml_get(directive, "attributes");
  if (!word)
    return accel_place_fail(s->context, CALM_BAD_INPUT, directive->place,
                            "a constraint without 'type': temporal, spatial, "
                            "dataspace or parallelism");
  TRY(accel_directive_read_type(&type, s, word));
  TRY(accel_directive_find_level(&level, s, target, type));
  TRY(accel_rules_add(d, level, type, directive));
  if (!attributes || attributes->kind != ACCEL_YAML_MAPPING) return CALM_OK;
  return accel_rules_add(d, level, type, attributes);
}

static calm_status add_entry(accel_rules_draft *d, const accel_yaml *entry) {
  const accel_yaml *list = accel_yaml_get(entry, "constraints");
  if (entry->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, entry->place,
                            "a constraint has keys: target, type, ...");
  if (!list) return add_directive(d, entry, entry);
  if (list->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, list->place,
                            "the constraints of a target are a list");
  for (uint32_t i = 0; i < list->count; i++)
    TRY(add_directive(d, entry, list->items[i]));
  return CALM_OK;
}

static calm_status add_list(accel_rules_draft *d, const accel_yaml *list) {
  for (uint32_t i = 0; i < list->count; i++) TRY(add_entry(d, list->items[i]));
  return CALM_OK;
}

/* ---- Sections ------------------------------------------------------------ */

static const char *const section_keys[] = {"version", "template", "targets",
                                           "constraints"};
enum { SECTION_KEYS = sizeof section_keys / sizeof *section_keys };

/* Lists of one's own are called constraints_NAME. */
static bool is_known(const char *key) {
  return accel_names_have(section_keys, SECTION_KEYS, key) ||
         !strncmp(key, "constraints_", strlen("constraints_"));
}

static calm_status check_section(const accel_rules_draft *d,
                                 const accel_yaml *section) {
  for (uint32_t i = 0; i < section->count; i++) {
    if (is_known(section->keys[i])) continue;
    return accel_place_fail(
        d->subject.context, CALM_BAD_INPUT, section->key_places[i],
        "'%s' is no key of a section of constraints%s", section->keys[i],
        accel_names_hint(section->keys[i], section_keys, SECTION_KEYS).text);
  }
  return CALM_OK;
}

/* `constraints: NAME` chooses the list `constraints_NAME` beside it. */
static calm_status find_named(const accel_yaml **out,
                              const accel_rules_draft *d,
                              const accel_yaml *section,
                              const accel_yaml *name) {
  char key[256];
  snprintf(key, sizeof key, "constraints_%s", name->text);
  *out = accel_yaml_get(section, key);
  if (*out) return CALM_OK;
  return accel_place_fail(d->subject.context, CALM_BAD_INPUT, name->place,
                          "no list '%s' beside this", key);
}

static calm_status add_section(accel_rules_draft *d,
                               const accel_yaml *section) {
  const accel_yaml *list = section;
  if (section->kind == ACCEL_YAML_MAPPING) {
    TRY(check_section(d, section));
    list = accel_yaml_get(section, "constraints");
    if (!list) list = accel_yaml_get(section, "targets");
    if (list && list->kind == ACCEL_YAML_SCALAR && *list->text)
      TRY(find_named(&list, d, section, list));
  }
  if (!list || (list->kind == ACCEL_YAML_SCALAR && !*list->text))
    return CALM_OK;
  if (list->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(d->subject.context, CALM_BAD_INPUT, list->place,
                            "constraints are a list: - {target: ..., type: "
                            "temporal, factors: ...}");
  return add_list(d, list);
}

/* Any key that speaks of constraints, and the mapspace. */
static bool is_section(const char *key) {
  return strstr(key, "constraints") || accel_yaml_same_key(key, "mapspace");
}

/* Version 0.1 files may have them inside of the architecture. */
static const accel_yaml *inside_architecture(const accel_yaml *root) {
  const accel_yaml *arch = accel_yaml_get(root, "arch");
  if (!arch) arch = accel_yaml_get(root, "architecture");
  return arch ? accel_yaml_get(arch, "constraints") : NULL;
}

bool accel_constraints_present(const accel_yaml *root) {
  for (uint32_t i = 0; i < root->count; i++)
    if (is_section(root->keys[i])) return true;
  return inside_architecture(root) != NULL;
}

static calm_status add_sections(accel_rules_draft *d, const accel_yaml *root) {
  const accel_yaml *inside = inside_architecture(root);
  if (inside) TRY(add_section(d, inside));
  for (uint32_t i = 0; i < root->count; i++)
    if (is_section(root->keys[i])) TRY(add_section(d, root->items[i]));
  return CALM_OK;
}

/* ---- Nodes --------------------------------------------------------------- */

/* A mesh holds no tensor and has no loops over time. */
static calm_status add_mesh(accel_rules_draft *d, uint32_t level) {
  const accel_subject *s = &d->subject;
  const accel_place place = s->arch->levels[level].place;
  for (uint32_t i = 0; i < s->layer->dimension_count; i++) {
    const accel_factor_rule one = {i, ACCEL_EQUAL, 1, place};
    TRY(accel_rules_add_factor(d, level, false, &one));
  }
  return accel_rules_add_tensors(d, level, 0, accel_tensors_all(s->layer),
                                 place);
}

static calm_status add_group(accel_rules_draft *d, uint32_t level,
                             const char *group, accel_directive_type type) {
  const accel_yaml *node = accel_node_group(d->subject.arch, level, group);
  if (!node || (node->kind == ACCEL_YAML_SCALAR && !*node->text))
    return CALM_OK;
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(
        d->subject.context, CALM_BAD_INPUT, node->place,
        "the %s constraints of %s are no mapping of keys, such as "
        "'factors'",
        group, d->subject.arch->levels[level].name);
  return accel_rules_add(d, level, type, node);
}

static const char *const groups[] = {"temporal", "spatial", "dataspace",
                                     "utilization"};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

static calm_status check_groups(const accel_rules_draft *d,
                                const accel_yaml *node) {
  for (uint32_t i = 0; i < node->count; i++) {
    if (accel_names_have(groups, GROUP_COUNT, node->keys[i])) continue;
    if (node->items[i]->count == 0) continue;
    const bool unsupported =
        accel_yaml_same_key(node->keys[i], "max_overbooked_proportion");
    return accel_place_fail(
        d->subject.context, unsupported ? CALM_UNSUPPORTED : CALM_BAD_INPUT,
        node->key_places[i],
        unsupported ? "constraints of type '%s' are not supported"
                    : "'%s' is no kind of constraints: temporal, spatial, "
                      "dataspace",
        node->keys[i]);
  }
  return CALM_OK;
}

static calm_status add_node(accel_rules_draft *d, uint32_t level) {
  const accel_level *l = &d->subject.arch->levels[level];
  uint32_t bypass;
  if (l->constraints) TRY(check_groups(d, l->constraints));
  if (l->virtual_level) TRY(add_mesh(d, level));
  TRY(add_group(d, level, "temporal", ACCEL_DIRECTIVE_TEMPORAL));
  TRY(add_group(d, level, "spatial", ACCEL_DIRECTIVE_SPATIAL));
  TRY(add_group(d, level, "dataspace", ACCEL_DIRECTIVE_TENSORS));
  TRY(add_group(d, level, "utilization", ACCEL_DIRECTIVE_PARALLELISM));
  if (l->virtual_level) return CALM_OK;
  TRY(accel_node_branch(&bypass, &d->subject, level));
  return accel_rules_add_tensors(d, level, 0, bypass, l->branch.place);
}

calm_status accel_constraints_read_files(accel_constraints *out,
                                         const accel_rule_files *files,
                                         const accel_arch *arch,
                                         const accel_layer *layer, arena *a) {
  accel_rules_draft d = {.subject = {arch, layer, a->context, a}};
  TRY(accel_rules_begin(&d));
  for (uint32_t i = 0; i < arch->level_count; i++) TRY(add_node(&d, i));
  for (uint32_t i = 0; i < files->count; i++)
    TRY(add_sections(&d, files->roots[i]));
  accel_rules_place_ones(&d);
  TRY(accel_rules_settle(&d));
  *out = d.rules;
  return CALM_OK;
}

calm_status accel_constraints_read(accel_constraints *out,
                                   const accel_yaml *root,
                                   const accel_arch *arch,
                                   const accel_layer *layer, arena *a) {
  const accel_rule_files files = {&root, root ? 1 : 0};
  return accel_constraints_read_files(out, &files, arch, layer, a);
}
