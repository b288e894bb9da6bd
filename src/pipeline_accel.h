/*
 * What the verbs of accelerators share (eval, map): the files that describe a
 * machine, and by whose rules a nest is costed.
 */
#ifndef CALM_PIPELINE_ACCEL_H
#define CALM_PIPELINE_ACCEL_H

#include "accel/accel_constraints.h"
#include "base/options.h"
#include "cost/cost.h"

/* What the files hold before anybody asks what it means. */
typedef struct pipeline_machine {
  accel_yaml *arch; /* all parts of it */
  accel_yaml *ert;  /* NULL: none given */
  accel_rule_files constraints;
} pipeline_machine;

/* Sections of constraints among the parts of the architecture hold as well as
   those of --constraints. */
calm_status pipeline_machine_open(pipeline_machine *out,
                                  const char *const *parts, uint32_t part_count,
                                  const calm_options *options, arena *a);

/* Whatever has no file of its own (path NULL) may stand among the parts. */
calm_status pipeline_open_or_find(accel_yaml **out, const char *path,
                                  const char *section, accel_yaml *parts,
                                  arena *a);

/* --cost and --fanout. */
cost_options pipeline_cost_options(const calm_options *options);

/* A copy in the arena. */
calm_status pipeline_keep_text(const char **out, const char *words, arena *a);

/* Why a nest is not valid: the verdict as a line in the arena. */
calm_status pipeline_verdict(const char **out, const cost_verdict *v,
                             const cost_problem *p, arena *a);

/* The first constraint that a nest breaks, NULL if it breaks none. */
calm_status pipeline_broken_rule(const char **out, const accel_constraints *c,
                                 const accel_nest *n, const cost_problem *p,
                                 arena *a);

#endif
