/*
 * What the nodes of a version 0.4 architecture say of the mappings on them:
 * their `constraints`, and where they stand in a `!Parallel`.
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_nest_parts.h"

enum { LONGEST_NAME = 256 };

uint32_t accel_node_mesh(const accel_arch *arch, const char *name) {
  char mesh[LONGEST_NAME];
  const int length = snprintf(mesh, sizeof mesh, "inter_%s_spatial", name);
  if (length < 0 || length >= LONGEST_NAME) return CALM_NONE;
  const uint32_t level = accel_arch_find(arch, mesh);
  return level != CALM_NONE && arch->levels[level].virtual_level ? level
                                                                 : CALM_NONE;
}

/* A mesh stands at the node of a container or of a component, and takes the
   rules of the node's spatial loops with it. */
const accel_yaml *accel_node_group(const accel_arch *arch, uint32_t level,
                                   const char *group) {
  const accel_level *l = &arch->levels[level];
  const bool spatial = !strcmp(group, "spatial");
  if (!l->constraints || (l->virtual_level && !spatial)) return NULL;
  if (!l->virtual_level && spatial &&
      accel_node_mesh(arch, l->name) != CALM_NONE)
    return NULL;
  return accel_yaml_get(l->constraints, group);
}

/* ---- Branches of a !Parallel --------------------------------------------- */

static calm_status read_names(uint32_t *out, const accel_subject *s,
                              const accel_branch *b, const char **names,
                              uint32_t count) {
  *out = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!strcmp(names[i], "*")) {
      *out = accel_tensors_all(s->layer);
      continue;
    }
    const uint32_t t = accel_layer_tensor(s->layer, names[i]);
    if (t == CALM_NONE) return accel_subject_no_tensor(s, b->place, names[i]);
    *out |= UINT32_C(1) << t;
  }
  return CALM_OK;
}

static calm_status check_kept_somewhere(const accel_subject *s,
                                        const accel_branch *b, uint32_t kept) {
  for (uint32_t t = 0; t < s->layer->tensor_count; t++)
    if (!(kept >> t & 1))
      return accel_place_fail(s->context, CALM_BAD_INPUT, b->place,
                              "no branch of this !Parallel keeps %s; name it "
                              "in a 'keep', of a !Nothing if it passes by",
                              s->layer->tensors[t].name);
  return CALM_OK;
}

/* A branch bypasses whatever it does not keep. */
calm_status accel_node_branch(uint32_t *bypass, const accel_subject *s,
                              uint32_t level) {
  const accel_branch *b = &s->arch->levels[level].branch;
  uint32_t keeps, bypasses;
  *bypass = 0;
  if (!b->place.file) return CALM_OK;
  TRY(read_names(&keeps, s, b, b->keeps, b->keep_count));
  TRY(read_names(&bypasses, s, b, b->bypasses, b->bypass_count));
  TRY(check_kept_somewhere(s, b, keeps | bypasses));
  *bypass = (accel_tensors_all(s->layer) & ~keeps) | bypasses;
  return CALM_OK;
}

calm_status accel_node_tensors(uint32_t *keep, uint32_t *bypass,
                               const accel_subject *s, uint32_t level) {
  const accel_level *l = &s->arch->levels[level];
  const accel_yaml *node = accel_node_group(s->arch, level, "dataspace");
  uint32_t branch;
  *keep = 0;
  *bypass = l->virtual_level ? accel_tensors_all(s->layer) : 0;
  if (l->virtual_level) return CALM_OK;
  if (node) TRY(accel_directive_tensors(keep, bypass, s, node));
  TRY(accel_node_branch(&branch, s, level));
  *bypass |= branch;
  return CALM_OK;
}
