/*
 * What the verbs share: the memory model that options and model ask for, the
 * arenas of subgraphs, and limits.
 */
#ifndef CALM_PIPELINE_H
#define CALM_PIPELINE_H

#include "plan.h"

/* The preset that --memory names ("auto": by the format of the model), with the
   overrides applied. */
calm_status pipeline_memory_model(memory_model *out, const calm_model *model,
                                  const calm_options *options);

/*
 * Per graph of the model, the arena it needs when an operator runs it: its file
 * order, placed greedily by size.  Graphs that no operator runs get 0.
 */
calm_status pipeline_body_arenas(uint64_t **out, const calm_model *model,
                                 const memory_model *memory, arena *a);

/* The limits of the options; `share` of the time limit is given away. */
void pipeline_limits(limits *out, calm_context *context,
                     const calm_options *options, double share);

/* Counts and sums of a graph. */
plan_facts pipeline_facts(const graph *g, const memory_profile *profile);

/* The name of a choice as a text in the arena. */
calm_status pipeline_choice(const char **out, const char *option,
                            uint32_t choice, arena *a);

#endif
