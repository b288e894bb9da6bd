/*
 * What a plan says of the runtime that will execute it: the arena it will have,
 * and the scratch of its kernels.  Nothing where the memory model is nobody's.
 */
#ifndef CALM_REPORT_REPORT_RUNTIME_H
#define CALM_REPORT_REPORT_RUNTIME_H

#include "report/report_facts.h"

/* A few lines for people. */
calm_status report_runtime(text *out, const calm_plan *plan);

/* The object "runtime" of calm/plan/1; null. */
json_t *report_json_runtime(arena *scratch, const calm_plan *plan);

#endif
