/*
 * A plan in JSON (schema calm/plan/1, docs/json.md) read back, to be checked
 * against its graph.  Only what a plan says is taken from it: order, offsets,
 * arena and memory model.  What follows from the graph (bytes, steps) is not
 * believed; a size that differs from the graph's is an error, as the plan is
 * then of another model.
 */
#ifndef CALM_REPORT_REPORT_PLAN_READ_H
#define CALM_REPORT_REPORT_PLAN_READ_H

#include "memory/memory_check.h"

/*
 * Messages read "PATH:LINE:COLUMN: what" where the text is no JSON and
 * "PATH: layout.buffers[3].name: what" where it is no plan of `g`; both are
 * CALM_BAD_INPUT.  Everything in `out` comes from the arena; workspace_offsets
 * is NULL if the plan has no workspaces, workspace_bytes is left to the caller,
 * who knows the bodies.
 */
calm_status report_plan_read(memory_plan *out, memory_model *memory, arena *a,
                             const char *path, const char *bytes, size_t length,
                             const graph *g);

#endif
