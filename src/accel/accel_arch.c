#include "accel/accel_arch.h"

#include <string.h>

#include "accel/accel_arch_parts.h"
#include "accel/accel_names.h"

/* ---- Which kind of file -------------------------------------------------- */

/* Sections that change every figure, and that calm does not cost. */
static calm_status refuse_sections(calm_context *context,
                                   const accel_yaml *root) {
  static const char *const names[] = {"sparse_optimizations", "layout"};
  static const char *const reasons[] = {
      "calm costs dense tensors only",
      "calm costs bandwidth, not the layout of data in banks"};
  for (uint32_t i = 0; i < 2; i++) {
    const accel_yaml *section = accel_yaml_get(root, names[i]);
    if (section && (section->kind == ACCEL_YAML_SCALAR || section->count))
      return accel_place_fail(context, CALM_UNSUPPORTED, section->place,
                              "%s: %s", names[i], reasons[i]);
  }
  return CALM_OK;
}

static calm_status refuse_absent(calm_context *context,
                                 const accel_yaml *root) {
  const accel_listing found = accel_names_list(root->keys, root->count);
  return accel_place_fail(
      context, CALM_BAD_INPUT, root->place,
      "no architecture: looked for a section 'arch' (version 0.1) or "
      "'architecture' (0.2 to 0.4), found %s",
      root->count ? found.text : "nothing");
}

static calm_status find_section(const accel_yaml **out, calm_context *context,
                                const accel_yaml *root) {
  const accel_yaml *arch = accel_yaml_get(root, "arch");
  const accel_yaml *architecture = accel_yaml_get(root, "architecture");
  if (arch && architecture)
    return accel_place_fail(context, CALM_BAD_INPUT, architecture->place,
                            "two architectures: %s:%u has 'arch'; give one",
                            arch->place.file, arch->place.line);
  if (accel_yaml_get(root, "memories") &&
      accel_yaml_get(root, "operational_array"))
    return accel_place_fail(context, CALM_UNSUPPORTED, root->place,
                            "hardware of ZigZag ('memories', "
                            "'operational_array'); calm reads architectures of "
                            "Timeloop: write its levels as 'arch: arithmetic, "
                            "storage'");
  const accel_yaml *section = arch ? arch : architecture;
  if (!section) return refuse_absent(context, root);
  if (section->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(context, CALM_BAD_INPUT, section->place,
                            "an architecture is a mapping");
  *out = section;
  return CALM_OK;
}

static calm_status check_version(calm_context *context,
                                 const accel_yaml *section) {
  static const char *const known[] = {"0.1", "0.2", "0.3", "0.4"};
  const accel_yaml *version = accel_yaml_get(section, "version");
  const char *spelled;
  if (!version) return CALM_OK;
  TRY(accel_yaml_text(&spelled, context, version, "version"));
  for (uint32_t i = 0; i < 4; i++)
    if (!strcmp(spelled, known[i])) return CALM_OK;
  return accel_place_fail(context, CALM_UNSUPPORTED, version->place,
                          "an architecture of version '%s'; calm reads 0.1 to "
                          "0.4",
                          spelled);
}

/* The keys tell the kinds apart, whatever the version says. */
static calm_status read_section(accel_arch_draft *d, const accel_yaml *root) {
  const accel_yaml *section;
  TRY(refuse_sections(d->context, root));
  TRY(find_section(&section, d->context, root));
  TRY(check_version(d->context, section));
  if (accel_yaml_get(section, "nodes"))
    return accel_arch_read_nodes(d, root, section);
  if (accel_yaml_get(section, "subtree"))
    return accel_arch_read_tree(d, section);
  if (accel_yaml_get(section, "storage") ||
      accel_yaml_get(section, "arithmetic"))
    return accel_arch_read_flat(d, section);
  if (accel_yaml_get(section, "local"))
    return accel_place_fail(d->context, CALM_UNSUPPORTED, section->place,
                            "an architecture as Accelergy flattens it ('local' "
                            "without a tree); give the file that it was made "
                            "from");
  return accel_place_fail(d->context, CALM_BAD_INPUT, section->place,
                          "an architecture has 'arithmetic' and 'storage' "
                          "(version 0.1), 'subtree' (0.2, 0.3) or 'nodes' "
                          "(0.4)");
}

/* ---- Whole machines ------------------------------------------------------ */

static calm_status check_complete(const accel_arch_draft *d,
                                  const accel_yaml *root) {
  if (!d->has_compute)
    return accel_place_fail(d->context, CALM_BAD_INPUT, root->place,
                            "the architecture has no compute unit (class mac, "
                            "intmac, fpmac or compute)");
  if (d->levels.count == 0)
    return accel_place_fail(d->context, CALM_BAD_INPUT, root->place,
                            "the architecture has no level of memory");
  return CALM_OK;
}

static calm_status check_names(calm_context *context, const accel_arch *arch) {
  for (uint32_t i = 0; i < arch->level_count; i++)
    for (uint32_t j = 0; j < i; j++)
      if (!strcmp(arch->levels[i].name, arch->levels[j].name))
        return accel_place_fail(context, CALM_BAD_INPUT, arch->levels[j].place,
                                "two levels are named %s; the other is in line "
                                "%u",
                                arch->levels[j].name,
                                arch->levels[i].place.line);
  return CALM_OK;
}

/* Each instance of a level feeds equally many of the next inner one, in both
   directions of the mesh. */
static calm_status check_fanout(calm_context *context, const accel_arch *arch,
                                uint32_t level) {
  const accel_level *outer = &arch->levels[level];
  const accel_level *inner = level ? outer - 1 : NULL;
  const accel_compute *unit = &arch->compute;
  const uint64_t x = inner ? inner->mesh_x : unit->mesh_x;
  const uint64_t y = inner ? inner->mesh_y : unit->mesh_y;
  if (x % outer->mesh_x == 0 && y % outer->mesh_y == 0) return CALM_OK;
  return accel_place_fail(
      context, CALM_BAD_INPUT, outer->place,
      "%llu x %llu instances of %s cannot be shared out evenly among %llu x "
      "%llu of %s; its meshX and meshY must divide theirs",
      (unsigned long long)x, (unsigned long long)y,
      inner ? inner->name : unit->name, (unsigned long long)outer->mesh_x,
      (unsigned long long)outer->mesh_y, outer->name);
}

/* The name of a file without folder and suffix. */
static calm_status name_machine(const char **out, const accel_yaml *root,
                                arena *a) {
  const char *path = root->place.file ? root->place.file : "";
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  *out = arena_string(a, base, dot ? (size_t)(dot - base) : strlen(base));
  return *out ? CALM_OK : context_no_memory(a->context);
}

static calm_status finish(accel_arch *out, accel_arch_draft *d,
                          const accel_yaml *root) {
  accel_arch arch = {.compute = d->compute, .level_count = d->levels.count};
  TRY(check_complete(d, root));
  TRY(name_machine(&arch.name, root, d->arena));
  ARENA_ARRAY(d->arena, arch.levels, arch.level_count);
  for (uint32_t i = 0; i < arch.level_count; i++)
    arch.levels[i] = d->levels.data[arch.level_count - 1 - i];
  TRY(check_names(d->context, &arch));
  for (uint32_t i = 0; i < arch.level_count; i++)
    TRY(check_fanout(d->context, &arch, i));
  *out = arch;
  return CALM_OK;
}

calm_status accel_arch_read(accel_arch *out, const accel_yaml *root,
                            const accel_yaml *ert, bool energy, arena *a) {
  accel_arch_draft d = {.arena = a,
                        .context = a->context,
                        .variables = accel_yaml_get(root, "variables")};
  accel_arch arch;
  calm_status status = read_section(&d, root);
  if (status == CALM_OK) status = finish(&arch, &d, root);
  VECTOR_FREE(a->context, &d.levels);
  TRY(status);
  TRY(accel_energy_read(&arch, root, ert, energy, a->context));
  *out = arch;
  return CALM_OK;
}

accel_fanout accel_arch_fanout(const accel_arch *arch, uint32_t level) {
  const accel_level *outer = &arch->levels[level];
  if (level == 0)
    return (accel_fanout){arch->compute.mesh_x / outer->mesh_x,
                          arch->compute.mesh_y / outer->mesh_y};
  return (accel_fanout){outer[-1].mesh_x / outer->mesh_x,
                        outer[-1].mesh_y / outer->mesh_y};
}

uint32_t accel_arch_find(const accel_arch *arch, const char *name) {
  for (uint32_t i = 0; i < arch->level_count; i++)
    if (!strcmp(arch->levels[i].name, name)) return i;
  return CALM_NONE;
}
