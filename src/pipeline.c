#include "pipeline.h"

#include <string.h>

#include "base/file.h"
#include "base/workers.h"
#include "memory/memory_alias.h"

enum { OVERLAP_OFF = 0, EFFORT_NORMAL = 0 }; /* of the options */

void *pipeline_allocate(calm_context *context, size_t bytes) {
  void *result = context_reallocate(context, NULL, 0, bytes);
  if (result)
    memset(result, 0, bytes);
  else
    context_no_memory(context);
  return result;
}

calm_status pipeline_run(calm_context *context, const calm_options *options,
                         pipeline_fill *fill, void *result) {
  calm_options *defaults;
  if (options) return fill(result, options);
  TRY(calm_options_new(&defaults, context));
  calm_status status = fill(result, defaults);
  calm_options_free(defaults);
  return status;
}

static const char *preset_of(const calm_model *model,
                             const calm_options *options) {
  if (strcmp(options->memory, "auto")) return options->memory;
  switch (model->format) {
    case MODEL_TFLITE: return "tflm";
    case MODEL_ONNX: return "ort";
    default: return "plain";
  }
}

static calm_status check_scratch_file(calm_context *context, const char *path) {
  file_map map;
  if (!path) return CALM_OK;
  TRY(file_map_open(&map, context, path));
  file_map_close(&map);
  return CALM_OK;
}

/* The scratch of kernels lies in TensorFlow Lite Micro's arena alone.  A file
   that is missing is an error also where nobody would look into it. */
static calm_status check_kernel_options(const memory_model *memory,
                                        calm_context *context,
                                        const calm_options *options) {
  const struct {
    bool unused;
    const char *option;
  } rules[] = {{options->scratch != NULL, "--scratch"},
               {strcmp(options->kernels, "auto") != 0 &&
                    strcmp(memory->name, "tflm") != 0,
                "--kernels"}};
  TRY(check_scratch_file(context, options->scratch));
  if (memory->subgraphs == SUBGRAPHS_TFLM) return CALM_OK;
  if (options->overlap != OVERLAP_OFF)
    context_log(context, CALM_LOG_WARNING,
                "--overlap has no effect: only a plan for TensorFlow Lite "
                "Micro can say where tensors lie (--memory tflm)");
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].unused)
      context_log(context, CALM_LOG_WARNING,
                  "%s has no effect: the scratch of kernels is counted for "
                  "TensorFlow Lite Micro only (--memory tflm)",
                  rules[i].option);
  return CALM_OK;
}

/* Are rows of tensors tensors, by this calm or by hand? */
static bool asks_for_rows(const calm_options *options) {
  return options->overlap != OVERLAP_OFF || strcmp(options->tile, "none") ||
         options->effort != EFFORT_NORMAL;
}

/*
 * What the plan may say of tensors in others, and of outputs over dying inputs.
 * A slice copies element by element, onto itself if need be; a concat by
 * memcpy, and so does squeeze.
 */
static calm_status use_overlap(memory_model *memory, calm_context *context,
                               kernel_library library,
                               const calm_options *options) {
  if (!options->equal_memcpy) bits_remove(memory->views, OP_squeeze);
  if (asks_for_rows(options) && !options->views) {
    bits_add(memory->views, OP_slice);
    if (options->equal_memcpy) bits_add(memory->views, OP_concat);
  }
  if (options->overlap == OVERLAP_OFF) return CALM_OK;
  if (library == KERNELS_AUTO)
    return context_fail(context, CALM_MISUSE,
                        "--overlap on: how far an output must begin below its "
                        "input depends on the kernels; name those of your "
                        "build with --kernels reference, portable, cmsis-nn-c, "
                        "cmsis-nn-dsp, cmsis-nn-mve or esp-nn-ansi");
  memory->overlap = true;
  return CALM_OK;
}

calm_status pipeline_memory_model(memory_model *out, const calm_model *model,
                                  const calm_options *options) {
  const struct {
    const char *column, *value;
  } overrides[] = {
      {"inputs", options->inputs},      {"outputs", options->outputs},
      {"align", options->align},        {"round", options->round},
      {"inplace", options->inplace},    {"views", options->views},
      {"concat", options->concat},      {"variables", options->variables},
      {"subgraphs", options->subgraphs}};
  kernel_library library;
  const char *preset = preset_of(model, options);
  TRY(kernel_library_find(&library, model->context, options->kernels));
  const memory_model *found = memory_model_find(preset);
  if (!found)
    return context_fail(model->context, CALM_MISUSE,
                        "--memory: '%s' is not one of auto, plain, serenity, "
                        "tflm, tflm-default, litert, ort",
                        preset);
  memory_model memory = *found;
  if (!strcmp(preset, "tflm")) memory_model_use_kernels(&memory, library);
  for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++)
    if (overrides[i].value)
      TRY(memory_model_override(&memory, model->context, overrides[i].column,
                                overrides[i].value));
  TRY(pipeline_tflm_settle(&memory, model, options->subgraphs != NULL));
  TRY(check_kernel_options(&memory, model->context, options));
  if (!strcmp(preset, "tflm") && memory.subgraphs == SUBGRAPHS_TFLM)
    TRY(use_overlap(&memory, model->context, library, options));
  if (memory_alias_asked(&memory) && memory.subgraphs != SUBGRAPHS_TFLM)
    return context_fail(model->context, CALM_MISUSE,
                        "--views: only a plan for TensorFlow Lite Micro can "
                        "say where the parts of a slice or a concat lie");
  *out = memory;
  return CALM_OK;
}

/* Place the file order of one graph greedily; what is below it is known. */
static calm_status arena_of_body(uint64_t *out, const graph *g,
                                 const memory_model *memory,
                                 const uint64_t *arenas, arena *scratch) {
  memory_problem problem;
  memory_placement placement;
  layout_result result;
  limits l;
  layout_options greedy = layout_options_default();
  const memory_model whole = memory_model_of_whole(memory);
  greedy.method = LAYOUT_SIZE;
  limits_init(&l, scratch->context);
  TRY(memory_problem_build(&problem, g, &whole, arenas, scratch));
  TRY(memory_placement_build(&placement, g, &whole, &problem, g->order,
                             scratch));
  TRY(layout_solve(&result, &placement.layout, &greedy, scratch, &l));
  *out = result.arena_bytes;
  return CALM_OK;
}

typedef enum body_state { UNUSED, WANTED, DONE } body_state;

/* Mark the bodies of a graph; true if all of them are done. */
static bool want_bodies(const graph *g, body_state *states) {
  bool done = true;
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = 0; i < g->ops.data[op].body_count; i++) {
      body_state *state = &states[g->ops.data[op].bodies[i]];
      if (*state == UNUSED) *state = WANTED;
      if (*state != DONE) done = false;
    }
  return done;
}

/* Graphs run no graph that runs them, so each round finishes at least one. */
static calm_status fill_arenas(uint64_t *arenas, const calm_model *model,
                               const memory_model *memory, arena *scratch) {
  body_state *states;
  ARENA_ARRAY(scratch, states, model->graphs.count);
  want_bodies(&model->graphs.data[0], states);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < model->graphs.count; i++) {
      const graph *g = &model->graphs.data[i];
      if (states[i] != WANTED) continue;
      again = true;
      if (!want_bodies(g, states)) continue;
      TRY(arena_of_body(&arenas[i], g, memory, arenas, scratch));
      states[i] = DONE;
    }
  }
  return CALM_OK;
}

calm_status pipeline_body_arenas(uint64_t **out, const calm_model *model,
                                 const memory_model *memory, arena *a) {
  uint64_t *arenas;
  arena scratch;
  ARENA_ARRAY(a, arenas, model->graphs.count);
  arena_init(&scratch, model->context);
  calm_status status = fill_arenas(arenas, model, memory, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = arenas;
  return status;
}

calm_status pipeline_identity(uint32_t **out, uint32_t count, arena *a) {
  uint32_t *identity;
  ARENA_ARRAY(a, identity, count);
  for (uint32_t i = 0; i < count; i++) identity[i] = i;
  *out = identity;
  return CALM_OK;
}

void pipeline_limits(limits *out, calm_context *context,
                     const calm_options *options, double share) {
  limits_init(out, context);
  out->max_ticks = options->tick_limit;
  out->max_bytes = options->memory_limit_bytes;
  if (options->time_limit_s > 0)
    limits_set_time(out, options->time_limit_s * share);
}

layout_options pipeline_layout_options(const calm_options *options) {
  layout_options o = layout_options_default();
  o.method = (layout_method)options->layout;
  o.seed = options->seed;
  o.threads = workers_meant(options->threads);
  o.all_valleys = options->layout_valleys;
  o.memory = options->layout_memory;
  o.decompose = options->layout_decompose;
  o.windows = options->layout_windows;
  return o;
}

/* A tensor that the arena does not hold, by the first reason for that. */
static void add_outside(plan_facts *facts, const graph_tensor *tensor,
                        const memory_model *memory) {
  if (tensor->flags & CALM_TENSOR_CONST)
    facts->weight_bytes += tensor->bytes;
  else if (tensor->flags & CALM_TENSOR_VARIABLE)
    facts->state_bytes += tensor->bytes;
  else if (tensor->flags & CALM_TENSOR_INPUT &&
           memory->inputs == INPUTS_EXTERNAL)
    facts->input_bytes += tensor->bytes;
  else if (tensor->flags & CALM_TENSOR_OUTPUT &&
           memory->outputs == OUTPUTS_EXTERNAL)
    facts->output_bytes += tensor->bytes;
}

plan_facts pipeline_facts(const graph *g, const memory_model *memory,
                          const memory_profile *profile) {
  plan_facts facts = {.op_count = g->ops.count,
                      .tensor_count = g->tensors.count};
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (profile->lives[t].counted)
      facts.activation_bytes += profile->lives[t].bytes;
    else
      add_outside(&facts, &g->tensors.data[t], memory);
  return facts;
}

calm_status pipeline_choice(const char **out, const char *option,
                            uint32_t choice, arena *a) {
  size_t length;
  const char *name = options_choice_name(&length, option, choice);
  const char *copy = arena_string(a, name, length);
  if (!copy) return context_no_memory(a->context);
  *out = copy;
  return CALM_OK;
}
