/*
 * The memory pipeline: graph -> order problem -> order -> layout problem ->
 * arena -> check.  Order and layout are solved together: among orders whose
 * peak is as low, the one is kept whose arena comes closest to the peak.
 */
#include <string.h>

#include "base/number.h"
#include "plan/plan_tile.h"
#include "plan/planner.h"

/* Of exact layout, before other orders are tried. */
enum { FIRST_TICKS = 2000000 };

order_options plan_order_options(const calm_options *options) {
  order_options o = order_options_default();
  o.method = (order_method)options->order;
  o.seed = options->seed;
  o.dp_cuts = options->dp_cuts;
  o.dp_budget = options->dp_budget;
  o.count = options->count;
  o.blocks = options->order_blocks;
  o.commit = options->order_commit;
  o.root_bound = options->order_root_bound;
  o.groups = options->order_groups;
  o.reverse = options->order_reverse;
  o.series = options->order_series;
  o.windows = options->order_windows;
  return o;
}

/* Without a plan, as TensorFlow Lite Micro places it; where it has its own
   plan, nobody asked. */
static void take_default(plan_baseline *out, uint64_t *arena_bytes,
                         const plan_tflm *tflm) {
  *arena_bytes =
      tflm->carried_holds ? tflm->carried_bytes : tflm->default_head.bytes;
  out->offsets = tflm->carried_holds ? NULL : tflm->default_head.offsets;
}

static calm_status list_offsets(plan_baseline *out, const planner *p,
                                const plan_candidate *c) {
  if (p->litert) return CALM_OK; /* it places by itself */
  ARENA_ARRAY(p->scratch, out->offsets, p->g->tensors.count);
  for (tensor_id t = 0; t < p->g->tensors.count; t++)
    out->offsets[t] = plan_offset_of(p, c, t);
  return CALM_OK;
}

/* The arena of the file order, placed greedily as a runtime would, or by the
   plan that the file brings along: what it takes today is what can be saved. */
static calm_status place_file_order(plan_baseline *out, uint64_t *arena_bytes,
                                    const planner *p) {
  plan_candidate c;
  limits l;
  uint32_t *file_order;
  layout_options by_size = layout_options_default();
  if (p->tflm) {
    take_default(out, arena_bytes, p->tflm);
    return CALM_OK;
  }
  by_size.method = LAYOUT_SIZE;
  limits_init(&l, p->plan->context);
  TRY(pipeline_identity(&file_order, p->problem.order.op_count, p->scratch));
  TRY(plan_place(&c, p, file_order, &by_size, &l));
  *arena_bytes = c.layout.arena_bytes % PLAN_UNSOUND_BYTES;
  return list_offsets(out, p, &c);
}

/* What planning is compared with.  TensorFlow Lite Micro left alone neither
   aliases nor writes in place; a plan may make it do both. */
static calm_status place_baseline(planner *p) {
  memory_profile profile;
  calm_plan *plan = p->plan;
  const memory_model *alone = p->tflm && !p->tflm->carried_holds
                                  ? memory_model_find("tflm-default")
                                  : &plan->memory;
  p->baseline = p->run ? p->run : p->g->order;
  TRY(memory_simulate(&profile, p->g, alone, p->body_arenas, p->baseline,
                      p->scratch));
  plan_baseline found = {.graph = plan->graph,
                         .sequence = (op_id *)(uintptr_t)p->baseline,
                         .step_bytes = profile.step_bytes,
                         .peak_step = profile.peak_step,
                         .lives = profile.lives};
  plan->summary.baseline_peak_bytes = profile.peak_bytes;
  TRY(place_file_order(&found, &plan->summary.baseline_arena_bytes, p));
  plan->facts = pipeline_facts(p->g, &plan->memory, &profile);
  plan->baseline_order = "file";
  return plan_copy_baseline(plan, &found);
}

static calm_status find_order(planner *p) {
  limits l;
  const order_options o = plan_order_options(p->options);
  const double start = limits_clock();
  if (o.method == ORDER_FILE && !p->g->file_order_valid)
    return context_fail(p->plan->context, CALM_BAD_INPUT,
                        "%s: the file order is not topological, so there is no "
                        "--order file",
                        p->plan->model->path);
  pipeline_limits(&l, p->plan->context, p->options,
                  plan_traffic_decides(p->options) ? PLAN_ORDER_SHARE / 2
                                                   : PLAN_ORDER_SHARE);
  TRY(order_solve(&p->plan->order, &p->problem.order, &o, &p->plan->arena, &l));
  if (p->tflm)
    p->plan->order.bound_bytes -=
        number_smaller(p->tflm->doubt, p->plan->order.bound_bytes);
  p->plan->order_seconds = limits_clock() - start;
  return CALM_OK;
}

uint64_t plan_arena_bound(const planner *p) {
  uint64_t bound = number_larger(p->plan->order.bound_bytes, p->joint_bound);
  if (!p->tflm) return bound;
  if (p->tflm->floor > bound) bound = p->tflm->floor;
  return p->tflm->on_grid ? number_round_up(bound, TFLM_ALIGN) : bound;
}

bool plan_order_is_only(const planner *p) {
  const order_problem *o = &p->problem.order;
  for (uint32_t u = 1; u < o->op_count; u++) {
    bool follows = false;
    for (uint32_t i = o->pred_begin[u]; i < o->pred_begin[u + 1]; i++)
      if (o->preds[i] == u - 1) follows = true;
    if (!follows) return false;
  }
  return true;
}

bool plan_order_is_free(const planner *p) {
  if (p->run || plan_traffic_decides(p->options)) return false;
  return p->options->order == ORDER_EXACT || p->options->order == ORDER_DP;
}

/* Place the best order once more, with all effort that is left; a limit may
   leave the new placement behind the old one. */
static calm_status improve(plan_candidate *best, const planner *p,
                           const layout_options *options, limits *l) {
  plan_candidate again;
  TRY(plan_place(&again, p, best->order_sequence, options, l));
  if (again.layout.arena_bytes <= best->layout.arena_bytes) *best = again;
  return CALM_OK;
}

/* Tiles are listed in an order that is good to run. */
static calm_status try_file_order(plan_candidate *best, const planner *p,
                                  const layout_options *options, limits *l) {
  plan_candidate c;
  uint32_t *file_order;
  limits again = *l;
  again.ticks = 0;
  again.reason = LIMITS_NONE;
  again.next_look = 0;
  TRY(pipeline_identity(&file_order, p->problem.order.op_count, p->scratch));
  TRY(plan_place(&c, p, file_order, options, &again));
  if (c.layout.arena_bytes < best->layout.arena_bytes) *best = c;
  return CALM_OK;
}

/* The order that was found does not pack, as far as is known: others may.  What
   a runtime places by itself is not ours to prove. */
static calm_status find_together(plan_candidate *best, planner *p,
                                 const layout_options *options, limits *l) {
  const bool own = !p->tflm && !p->litert;
  layout_options o = *options;
  p->plan->joint.first_bytes = best->layout.arena_bytes;
  p->plan->joint.least_peak_bytes = p->plan->order.peak_bytes;
  if (own) TRY(plan_try_aligned(best, p, &o, l));
  o.target_bytes = plan_arena_bound(p);
  if (own && best->layout.arena_bytes > o.target_bytes)
    TRY(plan_try_every_order(best, p, &o, l));
  o.target_bytes = plan_arena_bound(p);
  if (best->layout.arena_bytes > o.target_bytes)
    TRY(plan_try_orders(best, p, o.target_bytes, l));
  if (best->layout.arena_bytes > o.target_bytes) TRY(improve(best, p, &o, l));
  return CALM_OK;
}

static calm_status find_layout(plan_candidate *best, planner *p) {
  layout_options o = pipeline_layout_options(p->options);
  const double start = limits_clock();
  const uint64_t target = plan_arena_bound(p);
  limits l, first;
  pipeline_limits(&l, p->plan->context, p->options, 0.25);
  first = l;
  if (plan_order_is_free(p) && first.max_ticks > FIRST_TICKS)
    first.max_ticks = FIRST_TICKS;
  o.target_bytes = plan_order_is_free(p) ? target : 0;
  TRY(plan_place(best, p, p->plan->order.sequence, &o, &first));
  if (p->tflm && plan_tflm_tells_rows(p) && plan_order_is_free(p))
    TRY(try_file_order(best, p, &o, &first));
  if (plan_order_is_free(p) && best->layout.arena_bytes > target &&
      p->problem.order.op_count > 1)
    TRY(find_together(best, p, &o, &l));
  if (p->tflm) TRY(plan_tflm_settle(best, p, &l));
  if (p->litert) TRY(plan_litert_settle(best, p));
  p->plan->layout_seconds = limits_clock() - start;
  return CALM_OK;
}

static calm_status check_peak(const calm_plan *plan) {
  if (plan->profile.peak_bytes >= plan->order.bound_bytes) return CALM_OK;
  return context_fail(plan->context, CALM_INTERNAL,
                      "%s: a peak below its bound", plan->model->path);
}

/* The plan, judged by code that knows nothing of how it was made. */
static calm_status check_plan(const planner *p) {
  const calm_plan *plan = p->plan;
  memory_verdict verdict;
  if (p->tflm) TRY(plan_tflm_check(p));
  if (p->tflm && plan->runtime.source != PLAN_OWN) return CALM_OK;
  if (p->tflm && plan_tflm_tells_rows(p)) return check_peak(plan);
  const memory_plan outside = {.sequence = plan->sequence,
                               .offsets = plan->offsets,
                               .workspace_offsets = plan->workspace_offsets,
                               .workspace_bytes = plan->workspace_bytes,
                               .arena_bytes = plan->layout.arena_bytes};
  TRY(memory_check(&verdict, p->g, &plan->memory, &outside, p->scratch));
  calm_status status = CALM_OK;
  if (p->litert)
    plan_litert_warn(p, &verdict);
  else if (verdict.faults.count)
    status = context_fail(plan->context, CALM_INTERNAL,
                          "%s: the plan does not hold: %s", plan->model->path,
                          verdict.faults.data[0].text);
  else
    status = check_peak(plan);
  memory_verdict_free(&verdict, plan->context);
  return status;
}

/* What operators need that run other graphs. */
static calm_status measure_bodies(planner *p) {
  uint64_t *arenas;
  if (p->plan->memory.subgraphs == SUBGRAPHS_TFLM) return plan_tflm_prepare(p);
  TRY(pipeline_body_arenas(&arenas, p->plan->model, &p->plan->memory,
                           p->scratch));
  p->body_arenas = arenas;
  return CALM_OK;
}

static void warn_of_note(const planner *p) {
  const calm_model *model = p->plan->model;
  if (p->options->note && model->format != MODEL_ONNX)
    context_log(model->context, CALM_LOG_WARNING,
                "--note has no effect: %s is no .onnx file", model->path);
}

calm_status plan_memory_model(memory_model *out, const calm_model *model,
                              const calm_options *options) {
  TRY(pipeline_memory_model(out, model, options));
  if (out->subgraphs == SUBGRAPHS_TFLM && !options->offline_plan)
    plan_tflm_leave_alone(out);
  else if (model->rewritten)
    plan_rewrite_memory(out, model, options);
  return CALM_OK;
}

static calm_status run(planner *p) {
  plan_candidate best;
  calm_plan *plan = p->plan;
  TRY(plan_memory_model(&plan->memory, plan->model, p->options));
  warn_of_note(p);
  p->litert = plan_litert_applies(p);
  TRY(pipeline_choice(&plan->order_method, "order", p->options->order,
                      &plan->arena));
  TRY(pipeline_choice(&plan->layout_method, "layout", p->options->layout,
                      &plan->arena));
  TRY(plan_traffic_ask(p));
  TRY(measure_bodies(p));
  TRY(plan_traffic_prepare(p));
  TRY(memory_problem_build(&p->problem, p->g, &plan->memory, p->body_arenas,
                           p->scratch));
  TRY(plan_ort_prepare(p));
  TRY(place_baseline(p));
  TRY(find_order(p));
  TRY(plan_ort_arrange(p));
  TRY(plan_traffic_arrange(p));
  TRY(find_layout(&best, p));
  plan->counted = p->options->count && p->options->order == ORDER_DP;
  plan->timing = p->options->timing;
  plan->offline_plan = p->options->offline_plan;
  plan->note = p->options->note;
  TRY(plan_record(p, &best));
  TRY(plan_traffic_record(p));
  TRY(plan_litert_warn_others(p));
  return check_plan(p);
}

static calm_status make(calm_plan *plan, const calm_options *options) {
  arena scratch;
  arena_init(&scratch, plan->context);
  planner p = {
      .plan = plan, .g = plan->graph, .options = options, .scratch = &scratch};
  calm_status status = run(&p);
  arena_free(&scratch);
  return status;
}

calm_status plan_make_as_is(calm_plan **out, calm_model *model,
                            const calm_options *options) {
  calm_plan *plan = pipeline_allocate(model->context, sizeof *plan);
  if (!plan) return CALM_NO_MEMORY;
  plan->context = model->context;
  plan->model = plan->original = model;
  plan->graph = &model->graphs.data[0];
  arena_init(&plan->arena, plan->context);
  calm_status status = make(plan, options);
  if (status == CALM_OK)
    *out = plan;
  else
    calm_plan_free(plan);
  return status;
}

/* A plan to be made of a model. */
typedef struct plan_request {
  calm_plan **out;
  calm_model *model;
} plan_request;

/* What only rewriting asks for. */
static void warn_of_unused(const calm_model *model,
                           const calm_options *options) {
  const char *unused = options->partials      ? "--partials"
                       : options->accumulator ? "--accumulator"
                                              : NULL;
#define RULE(rule, option, needs, identity, cost) \
  if (!options->rewrite_##rule) unused = "--no-" option;
#include "rewrite/rules.def"
#undef RULE
  if (unused)
    context_log(model->context, CALM_LOG_WARNING,
                "%s has no effect without --rewrite, such as --rewrite auto",
                unused);
}

static calm_status make_plan(calm_plan **out, calm_model *model,
                             const calm_options *options) {
  if (plan_tile_wanted(options)) return plan_tile_make(out, model, options);
  plan_tile_warn_of_unused(model, options);
  if (strcmp(options->rewrite, "none"))
    return plan_rewrite_make(out, model, options);
  warn_of_unused(model, options);
  return plan_make_as_is(out, model, options);
}

static calm_status make_as_asked(void *result, const calm_options *options) {
  const plan_request *request = result;
  calm_plan *plan;
  TRY(make_plan(&plan, request->model, options));
  calm_status status = plan_mark(plan, options);
  if (status == CALM_OK)
    status =
        options_changed_find(&plan->changed, options, "plan", &plan->arena);
  if (status == CALM_OK)
    *request->out = plan;
  else
    calm_plan_free(plan);
  return status;
}

calm_status calm_plan_make(calm_plan **out, calm_model *model,
                           const calm_options *options) {
  plan_request request = {out, model};
  TRY(model_finish(model));
  return pipeline_run(model->context, options, make_as_asked, &request);
}

void calm_plan_free(calm_plan *plan) {
  if (!plan) return;
  calm_context *context = plan->context;
  for (uint32_t i = 0; i < plan->round_count; i++)
    plan_round_free(plan->rounds[i]);
  for (uint32_t i = plan->stage_count; i-- > 0;)
    plan_stage_free(plan->stages[i]);
  calm_plan_free(plan->earlier);
  calm_plan_free(plan->before);
  arena_free(&plan->arena);
  context_reallocate(context, plan, sizeof *plan, 0);
}

const calm_plan_summary *calm_plan_summary_of(const calm_plan *plan) {
  return &plan->summary;
}

const calm_model *calm_plan_model(const calm_plan *plan) { return plan->model; }

uint32_t calm_plan_op_at(const calm_plan *plan, uint32_t step) {
  return step < plan->graph->ops.count ? plan->sequence[step] : CALM_NONE;
}

uint64_t calm_plan_offset(const calm_plan *plan, uint32_t tensor) {
  return tensor < plan->graph->tensors.count ? plan->offsets[tensor]
                                             : UINT64_MAX;
}
