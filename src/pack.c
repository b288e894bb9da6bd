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

static calm_status solve(void *result, const calm_options *options) {
  calm_packing *p = result;
  limits l;
  const layout_options o = pipeline_layout_options(options);
  const double start = limits_clock();
  p->path = arena_string(&p->arena, p->path, strlen(p->path));
  if (!p->path) return context_no_memory(p->context);
  TRY(pipeline_choice(&p->layout_method, "layout", options->layout, &p->arena));
  TRY(read_csv(p));
  pipeline_limits(&l, p->context, options, 1.0);
  TRY(name_file(p,
                layout_solve(&p->layout, &p->csv.problem, &o, &p->arena, &l)));
  layout_fault fault;
  TRY(layout_check(&fault, &p->csv.problem, p->layout.offsets,
                   p->layout.arena_bytes, p->context));
  if (fault.kind != LAYOUT_SOUND)
    return context_fail(p->context, CALM_INTERNAL,
                        "%s: the placement does not hold", p->path);
  p->budget_bytes = options->budget_bytes;
  p->summary = (calm_packing_summary){p->layout.outcome, p->layout.arena_bytes,
                                      p->layout.bound_bytes, p->budget_bytes};
  p->timing = options->timing;
  p->seconds = limits_clock() - start;
  return CALM_OK;
}

calm_status calm_pack(calm_packing **out, calm_context *context,
                      const char *csv_path, const calm_options *options) {
  calm_packing *p = pipeline_allocate(context, sizeof *p);
  if (!p) return CALM_NO_MEMORY;
  p->context = context;
  p->path = csv_path;
  arena_init(&p->arena, context);
  calm_status status = pipeline_run(context, options, solve, p);
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

const calm_packing_summary *calm_packing_summary_of(const calm_packing *p) {
  return &p->summary;
}

calm_outcome calm_packing_outcome(const calm_packing *p) {
  return p->layout.outcome;
}

bool calm_packing_within_budget(const calm_packing *p) {
  return p->layout.arena_bytes <= p->budget_bytes;
}
