/*
 * Is it what it was before?  Files that outlive a run say what it was read
 * from: a hash of all the bytes, and how many there are.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/hash.h"
#include "map_parts.h"

/* With its length in front, so that no two lists of files look alike. */
static calm_status add_file(text *all, const char *path) {
  file_map map;
  if (!path) {
    text_format(all, "none;");
    return CALM_OK;
  }
  TRY(file_map_open(&map, all->context, path));
  text_format(all, "%zu;", map.length);
  text_add(all, (const char *)map.bytes, map.length);
  file_map_close(&map);
  return CALM_OK;
}

static calm_status add_machine(text *all, const map_run *run) {
  const calm_map_files *files = run->files;
  text_format(all, "%u;", files->arch_count);
  for (uint32_t i = 0; i < files->arch_count; i++)
    TRY(add_file(all, files->arch[i]));
  for (option_LIST item = run->options->settings; item; item = item->next)
    text_format(all, "%s;", item->text);
  return CALM_OK;
}

static calm_status add_run(text *all, const map_run *run) {
  const calm_options *o = run->options;
  text_format(all, "%s;", calm_version());
  TRY(add_machine(all, run));
  TRY(add_file(all, o->ert));
  TRY(add_file(all, o->cosa_weights));
  for (option_LIST item = o->constraints; item; item = item->next)
    TRY(add_file(all, item->text));
  return CALM_OK;
}

static calm_status identify(map_identity *out, const map_run *run,
                            calm_status (*add)(text *, const map_run *)) {
  text all;
  text_init(&all, run->mapping->context);
  calm_status status = add(&all, run);
  if (status == CALM_OK && all.failed) status = context_no_memory(all.context);
  if (status == CALM_OK)
    snprintf(out->digits, sizeof out->digits, "%016" PRIx64 "-%zu",
             hash_bytes(all.data, all.length), all.length);
  text_free(&all);
  return status;
}

calm_status map_identity_of_machine(map_identity *out, const map_run *run) {
  return identify(out, run, add_machine);
}

calm_status map_identity_of_run(map_identity *out, const map_run *run) {
  return identify(out, run, add_run);
}
