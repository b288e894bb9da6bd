/* Nests from files of either kind. */
#include "accel/accel_nest_parts.h"
#include "base/file.h"

/* A line that begins with '|' is no YAML that a mapping could have. */
static bool is_printed(const accel_source *source) {
  bool start = true;
  for (size_t i = 0; i < source->length; i++) {
    const char c = source->bytes[i];
    if (start && c == '|') return true;
    start = c == '\n' || (start && c == ' ');
  }
  return false;
}

calm_status accel_nest_parse(accel_nest *out, const accel_source *source,
                             const accel_arch *arch, const accel_layer *layer,
                             arena *a) {
  accel_yaml *root;
  if (is_printed(source)) {
    const accel_subject subject = {arch, layer, a->context, a};
    return accel_nest_read_printed(out, source, &subject);
  }
  TRY(accel_yaml_parse(&root, source->name, source->bytes, source->length, a));
  return accel_nest_read(out, root, arch, layer, a);
}

calm_status accel_nest_open(accel_nest *out, const char *path,
                            const accel_arch *arch, const accel_layer *layer,
                            arena *a) {
  file_map map;
  TRY(file_map_open(&map, a->context, path));
  const accel_source source = {path, (const char *)map.bytes, map.length};
  const calm_status status = accel_nest_parse(out, &source, arch, layer, a);
  file_map_close(&map);
  return status;
}

calm_status accel_nest_copy(accel_nest *out, const accel_nest *n, arena *a) {
  accel_nest copy = {.loop_count = n->loop_count,
                     .level_count = n->level_count};
  ARENA_ARRAY(a, copy.loops, n->loop_count);
  ARENA_ARRAY(a, copy.kept, n->level_count);
  for (uint32_t i = 0; i < n->loop_count; i++) copy.loops[i] = n->loops[i];
  for (uint32_t i = 0; i < n->level_count; i++) copy.kept[i] = n->kept[i];
  *out = copy;
  return CALM_OK;
}

bool accel_nest_is_perfect(const accel_nest *nest) {
  for (uint32_t i = 0; i < nest->loop_count; i++)
    if (nest->loops[i].residual != nest->loops[i].bound) return false;
  return true;
}
