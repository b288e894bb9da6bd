/*
 * Files that the library carries (bench/cases): networks, accelerators, layers.
 * The build makes one table of them, so that a bench needs nothing beside it.
 */
#ifndef CALM_BENCH_BENCH_CASE_H
#define CALM_BENCH_BENCH_CASE_H

#include "base/context.h"
#include "base/embedded.h"

typedef embedded_file bench_case;

/* NULL if there is none of that name. */
const bench_case *bench_case_find(const char *name);

/* CALM_INTERNAL if there is none. */
calm_status bench_case_get(const bench_case **out, const char *name,
                           calm_context *context);

#endif
