/*
 * The pieces of a plan's report: calm_plan_render (report_plan.c) chooses among
 * them.
 */
#ifndef CALM_REPORT_REPORT_PLAN_H
#define CALM_REPORT_REPORT_PLAN_H

#include "report/report_facts.h"

/* The two searches of a plan, in the words of a report. */
report_search report_plan_order(const calm_plan *plan);
report_search report_plan_layout(const calm_plan *plan);

/* Does a tensor have bytes of its own in the arena? */
bool report_plan_places(const calm_plan *plan, tensor_id tensor);

/* Does an operator have a workspace in the arena? */
bool report_plan_places_workspace(const calm_plan *plan, op_id op);

/* The object of schema calm/plan/1, docs/json.md. */
json_t *report_plan_json(arena *scratch, const calm_plan *plan);

#endif
