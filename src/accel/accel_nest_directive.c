/*
 * What directives of mappings and constraints have in common: their type, the
 * level they are about, which keys they may have, the tensors they speak of.
 */
#include <string.h>

#include "accel/accel_names.h"
#include "accel/accel_nest_parts.h"
#include "base/number.h"

/* ---- Types --------------------------------------------------------------- */

typedef struct type_word {
  const char *word;
  accel_directive_type type;
} type_word;

static const type_word types[] = {
    {"temporal", ACCEL_DIRECTIVE_TEMPORAL},
    {"spatial", ACCEL_DIRECTIVE_SPATIAL},
    {"datatype", ACCEL_DIRECTIVE_TENSORS},
    {"dataspace", ACCEL_DIRECTIVE_TENSORS},
    {"bypass", ACCEL_DIRECTIVE_TENSORS},
    {"bypassing", ACCEL_DIRECTIVE_TENSORS},
    {"utilization", ACCEL_DIRECTIVE_PARALLELISM},
    {"parallelism", ACCEL_DIRECTIVE_PARALLELISM},
    {"skew", ACCEL_DIRECTIVE_OTHER},
    {"max_overbooked_proportion", ACCEL_DIRECTIVE_OTHER},
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

calm_status accel_directive_read_type(accel_directive_type *out,
                                      const accel_subject *s,
                                      const accel_yaml *type) {
  const char *word, *words[TYPE_COUNT];
  TRY(accel_yaml_text(&word, s->context, type, "type"));
  for (uint32_t i = 0; i < TYPE_COUNT; i++) {
    words[i] = types[i].word;
    if (!accel_yaml_same_key(word, words[i])) continue;
    *out = types[i].type;
    if (*out != ACCEL_DIRECTIVE_OTHER) return CALM_OK;
    return accel_place_fail(s->context, CALM_UNSUPPORTED, type->place,
                            "directives of type '%s' are not supported", word);
  }
  return accel_place_fail(s->context, CALM_BAD_INPUT, type->place,
                          "the type '%s' is none of temporal, spatial and "
                          "datatype%s",
                          word, accel_names_hint(word, words, TYPE_COUNT).text);
}

/* ---- Levels -------------------------------------------------------------- */

calm_status accel_directive_find_level(uint32_t *out, const accel_subject *s,
                                       const accel_yaml *directive,
                                       accel_directive_type type) {
  const char *name;
  const accel_yaml *target = accel_yaml_get(directive, "target");
  if (!target) target = accel_yaml_get(directive, "name");
  if (!target)
    return accel_place_fail(s->context, CALM_BAD_INPUT, directive->place,
                            "a directive without 'target', the level that it "
                            "is about");
  TRY(accel_yaml_text(&name, s->context, target, "target"));
  const uint32_t mesh = accel_node_mesh(s->arch, name);
  *out = accel_arch_find(s->arch, name);
  if (mesh != CALM_NONE &&
      (*out == CALM_NONE || type == ACCEL_DIRECTIVE_SPATIAL))
    *out = mesh;
  if (*out != CALM_NONE) return CALM_OK;
  uint64_t number;
  if (!target->quoted && number_parse(&number, name, strlen(name)) &&
      number < s->arch->level_count) {
    *out = (uint32_t)number;
    return CALM_OK;
  }
  return accel_subject_no_level(s, target->place, name);
}

/* ---- Keys ---------------------------------------------------------------- */

typedef enum key_role {
  READ,          /* here and in constraints */
  MAPPING,       /* read in mappings, not supported in constraints */
  CONSTRAINT,    /* read in constraints */
  NOT_SUPPORTED, /* would change what is counted */
} key_role;

typedef struct key_row {
  const char *key;
  key_role role;
  uint32_t types; /* bit of accel_directive_type: has a meaning there */
} key_row;

enum {
  T = 1 << ACCEL_DIRECTIVE_TEMPORAL,
  S = 1 << ACCEL_DIRECTIVE_SPATIAL,
  D = 1 << ACCEL_DIRECTIVE_TENSORS,
  P = 1 << ACCEL_DIRECTIVE_PARALLELISM,
  ANY = T | S | D | P
};

static const key_row keys[] = {
    {"target", READ, ANY},
    {"name", READ, ANY},
    {"type", READ, ANY},
    {"factors", READ, T | S},
    {"permutation", READ, T | S},
    {"split", READ, S},
    {"keep", READ, D},
    {"bypass", READ, D},
    {"keep_only", CONSTRAINT, D},
    {"bypass_only", CONSTRAINT, D},
    {"factors_only", CONSTRAINT, T | S},
    {"no_iteration_over_dataspaces", CONSTRAINT, T | S},
    {"must_iterate_over_dataspaces", CONSTRAINT, T | S},
    {"default_max_factor", CONSTRAINT, T | S},
    {"default_min_factor", CONSTRAINT, T | S},
    {"min", CONSTRAINT, P},
    {"attributes", CONSTRAINT, ANY},
    {"no_link_transfer", MAPPING, S},
    {"no_reuse", NOT_SUPPORTED, T | S},
    {"no_temporal_reuse", NOT_SUPPORTED, T},
    {"no_multicast_no_reduction", NOT_SUPPORTED, S},
    {"rmw_first_update", NOT_SUPPORTED, T},
    {"no_coalesce", NOT_SUPPORTED, D},
    {"maximize_dims", NOT_SUPPORTED, T | S},
    {"maximize_dims_capacity", NOT_SUPPORTED, T | S},
    {"remainders", NOT_SUPPORTED, T | S},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

static calm_status unknown_key(const accel_subject *s, const accel_yaml *node,
                               uint32_t i) {
  const char *words[KEY_COUNT];
  for (uint32_t k = 0; k < KEY_COUNT; k++) words[k] = keys[k].key;
  const accel_hint hint = accel_names_hint(node->keys[i], words, KEY_COUNT);
  return accel_place_fail(s->context, CALM_BAD_INPUT, node->key_places[i],
                          "'%s' is no key of a directive%s", node->keys[i],
                          hint.text);
}

/* Nothing, an empty list, or the word that Timeloop's front end writes. */
static bool is_empty(const accel_yaml *value) {
  if (value->kind != ACCEL_YAML_SCALAR) return value->count == 0;
  return accel_yaml_is_null(value) ||
         (!value->quoted && !strcmp(value->text, "None"));
}

static calm_status check_key(const accel_subject *s, const accel_yaml *node,
                             uint32_t i, accel_directive_type type,
                             bool constraint) {
  const key_row *row = NULL;
  for (uint32_t k = 0; k < KEY_COUNT && !row; k++)
    if (accel_yaml_same_key(keys[k].key, node->keys[i])) row = &keys[k];
  if (!row) return unknown_key(s, node, i);
  const bool reads = row->role == READ ||
                     (row->role == MAPPING && !constraint) ||
                     (row->role == CONSTRAINT && constraint);
  if (is_empty(node->items[i])) return CALM_OK;
  if (!(row->types >> type & 1)) {
    context_log(s->context, CALM_LOG_WARNING,
                "%s:%u: '%s' means nothing in this type of directive",
                node->key_places[i].file, node->key_places[i].line,
                node->keys[i]);
    return CALM_OK;
  }
  if (reads) return CALM_OK;
  return accel_place_fail(s->context, CALM_UNSUPPORTED, node->key_places[i],
                          "'%s' is not supported%s", node->keys[i],
                          row->role == NOT_SUPPORTED ? ""
                          : constraint ? " in constraints; it belongs to the "
                                         "mapping"
                                       : " in mappings; it is a constraint");
}

calm_status accel_directive_check_keys(const accel_subject *s,
                                       const accel_yaml *directive,
                                       accel_directive_type type,
                                       bool constraint) {
  for (uint32_t i = 0; i < directive->count; i++)
    TRY(check_key(s, directive, i, type, constraint));
  return CALM_OK;
}

const accel_yaml *accel_directive_get(const accel_yaml *directive,
                                      const char *key) {
  const accel_yaml *value = accel_yaml_get(directive, key);
  return value && !is_empty(value) ? value : NULL;
}

/* ---- Tensors ------------------------------------------------------------- */

calm_status accel_directive_tensors(uint32_t *keep, uint32_t *bypass,
                                    const accel_subject *s,
                                    const accel_yaml *directive) {
  const uint32_t all = accel_tensors_all(s->layer);
  const accel_yaml *keep_only = accel_directive_get(directive, "keep_only");
  const accel_yaml *bypass_only = accel_directive_get(directive, "bypass_only");
  uint32_t only = 0;
  TRY(accel_tensors_read(keep, s, accel_directive_get(directive, "keep")));
  TRY(accel_tensors_read(bypass, s, accel_directive_get(directive, "bypass")));
  TRY(accel_tensors_read(&only, s, keep_only));
  if (keep_only) {
    *keep |= only;
    *bypass |= all & ~only;
  }
  TRY(accel_tensors_read(&only, s, bypass_only));
  if (bypass_only) {
    *bypass |= only;
    *keep |= all & ~only;
  }
  return CALM_OK;
}
