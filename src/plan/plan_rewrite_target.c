/* What the machine that rewriting is for can do. */
#include <string.h>

#include "plan/plan_rewrite.h"

/* The values of --partials, in their order: 0 leaves it to the runtime. */
enum { BY_RUNTIME, GIVEN_ACCUMULATE, GIVEN_ADD_INPLACE, GIVEN_ADD_COPY };

static bool is_named(const memory_model *memory, const char *name) {
  return !strcmp(memory->name, name);
}

static bool is_paper(const memory_model *memory) {
  return is_named(memory, "plain") || is_named(memory, "serenity");
}

/* Its concatenation has room for so many operands, and fails with more. */
enum { MICRO_CONCAT_OPERANDS = 10 };

static bool is_micro(const memory_model *memory) {
  return is_named(memory, "tflm") || is_named(memory, "tflm-default");
}

static bool adds_inplace(const memory_model *memory) {
  return bits_has(memory->inplace, OP_add);
}

static bool adds_integers(const calm_model *model) {
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    for (op_id u = 0; u < g->ops.count; u++)
      if (g->ops.data[u].kind == OP_add && g->ops.data[u].output_count &&
          g->tensors.data[g->ops.data[u].outputs[0]].type != ELEMENT_f32)
        return true;
  }
  return false;
}

/* Every kernel library of TensorFlow Lite Micro adds floats by the reference
   kernel, element by element; so, with a plan, sums need no copies.  Nothing is
   said of integers unless by --kernels. */
void plan_rewrite_memory(memory_model *memory, const calm_model *model,
                         const calm_options *options) {
  if (is_named(memory, "tflm") && options->offline_plan && !options->inplace &&
      options->partials != GIVEN_ADD_COPY && !adds_integers(model))
    bits_add(memory->inplace, OP_add);
}

static rewrite_partials usual_partials(const calm_model *model,
                                       const memory_model *memory) {
  if (is_paper(memory)) return PARTIALS_ACCUMULATE;
  if (is_named(memory, "ort") && model->format != MODEL_TFLITE)
    return PARTIALS_ACCUMULATE;
  return adds_inplace(memory) ? PARTIALS_ADD_INPLACE : PARTIALS_ADD_COPY;
}

/* What would be right where additions in place are asked for in vain. */
static const char *right_addition(const memory_model *memory,
                                  const calm_options *options) {
  if (is_named(memory, "ort"))
    return "--partials accumulate or add-copy would be right";
  if (!is_named(memory, "tflm") || options->inplace)
    return "--inplace add says that they are";
  return options->offline_plan ? "with --kernels reference they are"
                               : "only a plan in the file makes them so: leave "
                                 "out --no-offline-plan";
}

/* What a file of this format cannot say, or its runtime does not do. */
static calm_status check_partials(const calm_model *model,
                                  const memory_model *memory,
                                  const calm_options *options,
                                  rewrite_partials partials) {
  if (model->format == MODEL_TFLITE && partials == PARTIALS_ACCUMULATE)
    return context_fail(
        model->context, CALM_MISUSE,
        "--partials accumulate: no kernel of TensorFlow Lite adds to what is "
        "there; --partials add-inplace or add-copy would be right, or a memory "
        "model on paper (--memory plain, serenity)");
  if (partials == PARTIALS_ADD_INPLACE && !adds_inplace(memory))
    return context_fail(
        model->context, CALM_MISUSE,
        "--partials add-inplace: under --memory %s additions are not in place; "
        "%s",
        memory->name, right_addition(memory, options));
  return CALM_OK;
}

static calm_status choose_partials(plan_target *out, const calm_model *model,
                                   const memory_model *memory,
                                   const calm_options *options) {
  switch (options->partials) {
    case BY_RUNTIME:
      out->options.partials = usual_partials(model, memory);
      return CALM_OK;
    case GIVEN_ACCUMULATE: out->options.partials = PARTIALS_ACCUMULATE; break;
    case GIVEN_ADD_INPLACE: out->options.partials = PARTIALS_ADD_INPLACE; break;
    default: out->options.partials = PARTIALS_ADD_COPY;
  }
  return out->chained
             ? check_partials(model, memory, options, out->options.partials)
             : CALM_OK;
}

static calm_status choose_accumulator(plan_target *out, const calm_model *model,
                                      const memory_model *memory,
                                      const calm_options *options) {
  out->options.accumulator_factor = UINT32_C(1) << options->accumulator;
  if (!out->chained || options->accumulator == 0) return CALM_OK;
  return context_fail(model->context, CALM_MISUSE,
                      "--accumulator: under --memory %s no operator keeps sums "
                      "of another type; it goes with --memory plain or "
                      "serenity, or with a graph in calm's own text form",
                      memory->name);
}

static void choose_rules(plan_target *out, const calm_options *options) {
#define RULE(rule, option, needs, identity, cost) \
  out->options.rules[REWRITE_##rule] = options->rewrite_##rule;
#include "rewrite/rules.def"
#undef RULE
}

/* What was measured of the file's operators is not known of others. */
static calm_status refuse_scratch(const calm_model *model,
                                  const calm_options *options) {
  if (!options->scratch) return CALM_OK;
  return context_fail(model->context, CALM_MISUSE,
                      "--scratch names operators of the file, of which "
                      "--rewrite makes others; write the rewritten file "
                      "without it first, then plan that with its own");
}

static const char *partials_name(rewrite_partials partials) {
  switch (partials) {
    case PARTIALS_ACCUMULATE: return "accumulate";
    case PARTIALS_ADD_INPLACE: return "add-inplace";
    case PARTIALS_ADD_COPY: return "add-copy";
  }
  return "";
}

static bool is_chained(const calm_model *model, const memory_model *memory) {
  return (model->format == MODEL_TFLITE || model->format == MODEL_ONNX) &&
         !is_paper(memory);
}

calm_status plan_count_sites(uint32_t *out, const calm_model *model,
                             const memory_model *memory, arena *a) {
  rewrite_sites sites;
  rewrite_options options = {.partials = usual_partials(model, memory),
                             .abstract = !is_chained(model, memory),
                             .accumulator_factor = 1};
  for (int rule = 0; rule < REWRITE_RULES; rule++) options.rules[rule] = true;
  TRY(rewrite_find_sites(&sites, &model->graphs.data[0], &options, a));
  *out = 0;
  for (uint32_t i = 0; i < sites.count; i++)
    *out += !sites.sites[i].refusal && !sites.sites[i].harmless;
  return CALM_OK;
}

calm_status plan_rewrite_target(plan_target *out, const calm_model *model,
                                const calm_options *options, arena *a) {
  plan_target target = {0};
  memory_model memory;
  TRY(plan_memory_model(&memory, model, options));
  plan_rewrite_memory(&memory, model, options);
  target.chained = is_chained(model, &memory);
  TRY(refuse_scratch(model, options));
  target.options.abstract = !target.chained;
  if (is_micro(&memory)) target.options.most_operands = MICRO_CONCAT_OPERANDS;
  choose_rules(&target, options);
  TRY(choose_partials(&target, model, &memory, options));
  target.options.additions_copy =
      target.chained && target.options.partials == PARTIALS_ACCUMULATE &&
      !adds_inplace(&memory);
  TRY(choose_accumulator(&target, model, &memory, options));
  target.partials = partials_name(target.options.partials);
  TRY(pipeline_choice(&target.accumulator, "accumulator", options->accumulator,
                      a));
  *out = target;
  return CALM_OK;
}
