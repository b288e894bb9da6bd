/*
 * What the verbs share: making a result under given or default options, the
 * memory model that options and model ask for, the arenas of subgraphs, limits.
 */
#ifndef CALM_PIPELINE_H
#define CALM_PIPELINE_H

#include "plan.h"

/* A zeroed result of `bytes`; NULL, "out of memory" recorded, if there is
   none. */
void *pipeline_allocate(calm_context *context, size_t bytes);

/* Fills a result; what it took is freed with the result, also after a failure.
 */
typedef calm_status pipeline_fill(void *result, const calm_options *options);

/* Run `fill` under the options, or under the defaults if they are NULL. */
calm_status pipeline_run(calm_context *context, const calm_options *options,
                         pipeline_fill *fill, void *result);

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

/* A model as it is in its file, for the prediction of what TensorFlow Lite
   Micro makes of it. */
typedef struct pipeline_tflm {
  bool
      tail_known; /* for the kind of file and the kernels that were asked for */
  tflm_target target; /* --target */
  memory_scratch scratch;
  tflm_model model; /* orders of the file; offsets if it carries a readable
                       plan, else NULL */
} pipeline_tflm;

/* A memory model that asks for what TensorFlow Lite Micro cannot do is of the
   first graph alone: with a warning, or CALM_MISUSE if --subgraphs tflm insists
   on the contrary. */
calm_status pipeline_tflm_settle(memory_model *memory, const calm_model *model,
                                 bool insisted);

/*
 * The offsets that the model's own plan gives to the tensors of a graph, whose
 * words begin at `first_word`; there are that many, and none is below -1.
 * UINT64_MAX: left to the runtime, as are constants whatever it says of them.
 */
calm_status pipeline_carried_offsets(uint64_t **out, const calm_model *model,
                                     uint32_t graph_index, uint32_t first_word,
                                     arena *a);

/* In the arena, which must outlive *out. */
calm_status pipeline_tflm_model(pipeline_tflm *out, const calm_model *model,
                                const calm_options *options, arena *a);

/* The tail for a model that was laid out from `file`. */
tflm_tail pipeline_tflm_tail(const pipeline_tflm *file,
                             const tflm_model *model);

/*
 * Its graphs with all scratch of an operator as its workspace.  None is a body
 * here: the runtime keeps the inputs of a body, like those of the entry, only
 * until their last use.  They borrow from the model.
 */
calm_status pipeline_tflm_graphs(graph **out, const pipeline_tflm *file,
                                 arena *a);

/* Inputs of the entry that the first of two laid out models overwrites while it
   runs, though the runtime keeps them where it places the second one by itself.
   Such an input has to be set before every invocation. */
typedef struct pipeline_lost_inputs {
  const char *name; /* the first; NULL: there is none */
  uint32_t count;
} pipeline_lost_inputs;
calm_status pipeline_find_lost_inputs(pipeline_lost_inputs *out,
                                      const tflm_model *planned,
                                      const tflm_model *untouched,
                                      const memory_model *memory, arena *a);

/* 0, 1, ..., count - 1: operators in the order in which the file lists them. */
calm_status pipeline_identity(uint32_t **out, uint32_t count, arena *a);

/* The limits of the options; only `share` of the time limit is given. */
void pipeline_limits(limits *out, calm_context *context,
                     const calm_options *options, double share);

layout_options pipeline_layout_options(const calm_options *options);

/* Counts and sums of a graph. */
plan_facts pipeline_facts(const graph *g, const memory_model *memory,
                          const memory_profile *profile);

/* The name of a choice as a text in the arena. */
calm_status pipeline_choice(const char **out, const char *option,
                            uint32_t choice, arena *a);

#endif
