/* The arena of a CSV of buffers, without a network. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "pipeline.h"

static calm_status read_csv(calm_packing *p) {
  file_map map;
  TRY(file_map_open(&map, p->context, p->path));
  calm_status status = layout_csv_read(&p->csv, &p->arena, p->path,
                                       (const char *)map.bytes, map.length);
  file_map_close(&map);
  return status;
}

/* The message of a failure that does not name the file yet, with its name. */
static calm_status name_file(const calm_packing *p, calm_status status) {
  char reason[512];
  if (status == CALM_OK || status == CALM_NO_MEMORY) return status;
  snprintf(reason, sizeof reason, "%s", calm_context_message(p->context));
  return context_fail(p->context, status, "%s: %s", p->path, reason);
}

static calm_status solve(calm_packing *p, const char *path,
                         const calm_options *options) {
  limits l;
  layout_options o = layout_options_default();
  o.method = (layout_method)options->layout;
  o.seed = options->seed;
  o.all_valleys = options->layout_valleys;
  o.memory = options->layout_memory;
  o.decompose = options->layout_decompose;
  o.windows = options->layout_windows;
  const double start = limits_clock();
  p->path = arena_string(&p->arena, path, strlen(path));
  if (!p->path) return context_no_memory(p->context);
  TRY(pipeline_choice(&p->layout_method, "layout", options->layout, &p->arena));
  TRY(read_csv(p));
  pipeline_limits(&l, p->context, options, 1.0);
  TRY(name_file(p,
                layout_solve(&p->layout, &p->csv.problem, &o, &p->arena, &l)));
  layout_fault fault;
  if (layout_check(&fault, &p->csv.problem, p->layout.offsets,
                   p->layout.arena_bytes))
    return context_fail(p->context, CALM_INTERNAL,
                        "%s: the placement does not hold", p->path);
  p->budget_bytes = options->budget_bytes;
  p->timing = options->timing;
  p->seconds = limits_clock() - start;
  return CALM_OK;
}

calm_status calm_pack(calm_packing **out, calm_context *context,
                      const char *csv_path, const calm_options *options) {
  calm_options *defaults = NULL;
  if (!options) TRY(calm_options_new(&defaults, context));
  calm_packing *p = context_reallocate(context, NULL, 0, sizeof *p);
  calm_status status = p ? CALM_OK : context_no_memory(context);
  if (p) {
    memset(p, 0, sizeof *p);
    p->context = context;
    arena_init(&p->arena, context);
    status = solve(p, csv_path, options ? options : defaults);
  }
  calm_options_free(defaults);
  if (status == CALM_OK)
    *out = p;
  else
    calm_packing_free(p);
  return status;
}

void calm_packing_free(calm_packing *p) {
  if (!p) return;
  calm_context *context = p->context;
  arena_free(&p->arena);
  context_reallocate(context, p, sizeof *p, 0);
}

calm_outcome calm_packing_outcome(const calm_packing *p) {
  return p->layout.outcome;
}

bool calm_packing_within_budget(const calm_packing *p) {
  return p->layout.arena_bytes <= p->budget_bytes;
}
