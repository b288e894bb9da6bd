/*
 * What a choice of sites comes to.  Its least peak is that of the graph in
 * which the parts of a sum may run in any order; to know its arena, the sums
 * are turned into what the runtime has, in the order that was found, and the
 * result is planned as any model is.
 */
#include <string.h>

#include "base/number.h"
#include "plan/plan_rewrite_judge.h"

enum {
  QUESTION_TICKS = 8000000,      /* of an order search, */
  QUESTION_TICKS_PER_OP = 60000, /* or, if that is more, for each operator */
  QUICK_TICKS = 3000000 /* of each stage of a plan that is to be scored */
};

calm_status plan_judge_init(plan_judge *out, const calm_model *model,
                            const rewrite_sites *sites,
                            const plan_target *target,
                            const calm_options *options, limits *l, arena *a) {
  plan_judge j = {.context = model->context,
                  .model = model,
                  .sites = sites,
                  .target = target,
                  .options = options,
                  .quick = *options,
                  .focus = CALM_NONE,
                  .l = l};
  j.quick.budget_bytes = UINT64_MAX;
  j.quick.tick_limit = number_smaller(options->tick_limit, QUICK_TICKS);
  j.quick.count = false;
  j.quick.onchip = NULL; /* sites are chosen for the peak, whatever the order */
  j.quick.minimize = 0;
  context_mute(model->context, true); /* all has been said before */
  calm_status status = plan_memory_model(&j.memory, model, options);
  context_mute(model->context, false);
  TRY(status);
  plan_rewrite_memory(&j.memory, model, options);
  TRY(pipeline_body_arenas(&j.body_arenas, model, &j.memory, a));
  TRY(plan_rewrite_parts(&j.parts, sites, a));
  ARENA_ARRAY(a, j.focus_taken, sites->count);
  *out = j;
  return CALM_OK;
}

/* ---- The graph of a choice ----------------------------------------------- */

static calm_status apply(plan_round **out, const plan_judge *j,
                         const bool *taken) {
  plan_round *round;
  TRY(plan_round_new(&round, j->model));
  calm_status status =
      rewrite_apply(&round->edit, j->sites, taken, &round->arena);
  if (status == CALM_OK) status = plan_round_finish(round);
  if (status == CALM_OK)
    *out = round;
  else
    plan_round_free(round);
  return status;
}

/* With the scratch of kernels as workspace, where it counts. */
static calm_status build_problem(memory_problem *out, const plan_judge *j,
                                 plan_round *round) {
  pipeline_tflm file;
  graph *graphs = round->model.graphs.data;
  if (j->memory.subgraphs == SUBGRAPHS_TFLM) {
    TRY(pipeline_tflm_model(&file, &round->model, j->options, &round->arena));
    TRY(pipeline_tflm_graphs(&graphs, &file, &round->arena));
  }
  return memory_problem_build(out, &graphs[0], &j->memory, j->body_arenas,
                              &round->arena);
}

/* The best order of a graph, with a part of the judge's effort, `patience`
   times that of a question. */
static calm_status solve(order_result *out, const plan_judge *j,
                         const order_problem *problem, uint64_t ceiling,
                         uint32_t patience, arena *a) {
  const uint64_t most_ticks =
      patience * number_larger(QUESTION_TICKS, QUESTION_TICKS_PER_OP *
                                                   (uint64_t)problem->op_count);
  order_options o = plan_order_options(j->options);
  limits l = *j->l;
  o.method = ORDER_EXACT;
  o.count = false;
  o.ceiling_bytes = ceiling;
  l.max_ticks = number_smaller(l.max_ticks, l.ticks + most_ticks);
  l.next_look = 0;
  TRY(order_solve(out, problem, &o, a, &l));
  limits_spend(j->l, l.ticks - j->l->ticks);
  limits_look(j->l); /* there may be seconds between two questions */
  return CALM_OK;
}

/* ---- Peaks --------------------------------------------------------------- */

/* Does a choice differ in one part only from the one that is known? */
static bool is_in_focus(const plan_judge *j, const bool *taken) {
  if (j->focus == CALM_NONE) return false;
  for (uint32_t i = 0; i < j->sites->count; i++)
    if (j->parts[j->sites->sites[i].op] != j->focus &&
        taken[i] != j->focus_taken[i])
      return false;
  return true;
}

static calm_status list_parts(uint32_t **out, const plan_judge *j,
                              const memory_problem *problem,
                              plan_round *round) {
  ARENA_ARRAY(&round->arena, *out, problem->order.op_count);
  for (uint32_t u = 0; u < problem->order.op_count; u++)
    (*out)[u] = j->parts[round->edit.ops.data[problem->op_of[u]].from];
  return CALM_OK;
}

static calm_status peak_of(rewrite_peak *out, const plan_judge *j,
                           plan_round *round, bool in_focus, uint64_t ceiling) {
  memory_problem problem;
  order_problem part;
  order_result result;
  uint32_t *parts;
  TRY(build_problem(&problem, j, round));
  if (in_focus) {
    TRY(list_parts(&parts, j, &problem, round));
    TRY(plan_focus(&part, &problem.order, parts, j->focus, &round->arena));
  }
  TRY(solve(&result, j, in_focus ? &part : &problem.order, ceiling, 1,
            &round->arena));
  *out = (rewrite_peak){result.peak_bytes, result.bound_bytes};
  if (in_focus)
    out->peak_bytes = number_larger(result.peak_bytes, j->elsewhere_bytes);
  return CALM_OK;
}

calm_status plan_judge_peak(rewrite_peak *out, const plan_judge *j,
                            const bool *taken, uint64_t ceiling) {
  plan_round *round;
  TRY(apply(&round, j, taken));
  const bool in_focus = ceiling != UINT64_MAX && is_in_focus(j, taken);
  calm_status status = peak_of(out, j, round, in_focus, ceiling);
  plan_round_free(round);
  return status;
}

/* ---- Where the peak is --------------------------------------------------- */

/* The most that each part needs in the best order. */
static calm_status measure_parts(uint64_t *most, const plan_judge *j,
                                 plan_round *round) {
  memory_problem problem;
  order_result result;
  uint64_t *bytes;
  uint32_t *parts;
  TRY(build_problem(&problem, j, round));
  TRY(solve(&result, j, &problem.order, UINT64_MAX, 1, &round->arena));
  ARENA_ARRAY(&round->arena, bytes, problem.order.op_count);
  TRY(list_parts(&parts, j, &problem, round));
  TRY(order_replay(&result.peak_bytes, &problem.order, result.sequence, bytes,
                   j->context));
  for (uint32_t step = 0; step < problem.order.op_count; step++) {
    uint64_t *part = &most[parts[result.sequence[step]]];
    *part = number_larger(*part, bytes[step]);
  }
  return CALM_OK;
}

/* The only part that needs `peak`, with what the others need; CALM_NONE if
   there are several. */
static void find_focus(plan_judge *j, const uint64_t *most, uint32_t count,
                       uint64_t peak) {
  j->focus = CALM_NONE;
  j->elsewhere_bytes = 0;
  for (uint32_t part = 0; part < count; part++)
    if (most[part] < peak)
      j->elsewhere_bytes = number_larger(j->elsewhere_bytes, most[part]);
    else if (j->focus == CALM_NONE)
      j->focus = part;
    else
      j->elsewhere_bytes = peak;
  if (j->elsewhere_bytes >= peak) j->focus = CALM_NONE;
}

static calm_status find_critical(bool *out, bool *alone, plan_judge *j,
                                 plan_round *round, const bool *taken,
                                 uint64_t peak) {
  const uint32_t count = 2 * j->sites->g->ops.count + 2;
  uint64_t *most;
  ARENA_ARRAY(&round->arena, most, count);
  TRY(measure_parts(most, j, round));
  find_focus(j, most, count, peak);
  *alone = j->focus != CALM_NONE;
  for (uint32_t i = 0; i < j->sites->count; i++) {
    out[i] = most[j->parts[j->sites->sites[i].op]] >= peak;
    j->focus_taken[i] = taken[i];
  }
  return CALM_OK;
}

static calm_status judge_critical(bool *out, bool *alone, void *payload,
                                  const bool *taken, uint64_t peak) {
  plan_judge *j = payload;
  plan_round *round;
  TRY(apply(&round, j, taken));
  calm_status status = find_critical(out, alone, j, round, taken, peak);
  plan_round_free(round);
  return status;
}

/* ---- A bound that no choice is below ------------------------------------- */

/* Is an operator of `after` what it was, with the operands it had? */
static bool is_untouched(const plan_judge *j, const graph_edit *edit, op_id op,
                         const bool *changed) {
  const graph_op *now = &edit->after.ops.data[op];
  const edit_op *descent = &edit->ops.data[op];
  const graph_op *before = &edit->before->ops.data[descent->from];
  if (changed[descent->from] || descent->role != EDIT_KEEP ||
      bits_has(j->memory.inplace, now->kind) ||
      now->input_count != before->input_count ||
      now->output_count != before->output_count)
    return false;
  for (uint32_t i = 0; i < now->input_count + now->output_count; i++) {
    const bool in = i < now->input_count;
    const uint32_t slot = in ? i : i - now->input_count;
    const tensor_id t = in ? now->inputs[slot] : now->outputs[slot];
    const tensor_id was = in ? before->inputs[slot] : before->outputs[slot];
    if (t == CALM_NONE || was == CALM_NONE) {
      if (t != was) return false;
    } else if (edit->tensors.data[t].contents != EDIT_SAME ||
               edit->tensors.data[t].from != was) {
      return false;
    }
  }
  return true;
}

static uint64_t working_set(const order_problem *o, uint32_t u) {
  uint64_t bytes = o->workspace[u];
  for (uint32_t i = o->uses_begin[u]; i < o->uses_begin[u + 1]; i++)
    bytes += o->buffers[o->uses[i]].bytes;
  return bytes;
}

static calm_status floor_of(uint64_t *out, const plan_judge *j,
                            plan_round *round) {
  memory_problem problem;
  bool *changed;
  uint64_t most = 0;
  TRY(build_problem(&problem, j, round));
  ARENA_ARRAY(&round->arena, changed, round->edit.before->ops.count);
  for (uint32_t i = 0; i < j->sites->count; i++) {
    const rewrite_site *site = &j->sites->sites[i];
    if (!site->refusal) changed[site->op] = true;
    if (site->concat != CALM_NONE) changed[site->concat] = true;
  }
  for (uint32_t u = 0; u < problem.order.op_count; u++)
    if (problem.order.reuse_begin[u] == problem.order.reuse_begin[u + 1] &&
        is_untouched(j, &round->edit, problem.op_of[u], changed))
      most = number_larger(most, working_set(&problem.order, u));
  *out = most;
  return CALM_OK;
}

static calm_status apply_all(plan_round **out, const plan_judge *j) {
  arena scratch;
  arena_init(&scratch, j->context);
  bool *all = arena_calloc(&scratch, j->sites->count, sizeof *all);
  calm_status status = all ? CALM_OK : context_no_memory(j->context);
  for (uint32_t i = 0; all && i < j->sites->count; i++)
    all[i] = !j->sites->sites[i].refusal;
  if (all) status = apply(out, j, all);
  arena_free(&scratch);
  return status;
}

calm_status plan_judge_floor(uint64_t *out, const plan_judge *j) {
  plan_round *round;
  TRY(apply_all(&round, j));
  calm_status status = floor_of(out, j, round);
  plan_round_free(round);
  return status;
}

/* ---- Rounds and scores --------------------------------------------------- */

static calm_status chain(plan_round *round, const plan_judge *j,
                         plan_round *parts, uint32_t patience) {
  memory_problem problem;
  order_result result;
  op_id *sequence;
  const graph *g = &parts->edit.after;
  TRY(build_problem(&problem, j, parts));
  TRY(solve(&result, j, &problem.order, UINT64_MAX, patience, &parts->arena));
  ARENA_ARRAY(&parts->arena, sequence, g->ops.count);
  TRY(memory_expand_sequence(sequence, g, &problem, result.sequence));
  const bool fused = j->target->options.partials == PARTIALS_ACCUMULATE;
  TRY(rewrite_chain(&round->edit, &parts->edit, sequence, fused,
                    &round->arena));
  return plan_round_finish(round);
}

/* What a chain refers to of the graph it is made from lies in its own arena. */
static calm_status apply_chained(plan_round **out, const plan_judge *j,
                                 const bool *taken, uint32_t patience) {
  plan_round *round, *parts;
  TRY(plan_round_new(&round, j->model));
  calm_status status = plan_round_new(&parts, j->model);
  if (status == CALM_OK) {
    status = rewrite_apply(&parts->edit, j->sites, taken, &round->arena);
    if (status == CALM_OK) status = plan_round_finish(parts);
    if (status == CALM_OK) status = chain(round, j, parts, patience);
    plan_round_free(parts);
  }
  if (status == CALM_OK)
    *out = round;
  else
    plan_round_free(round);
  return status;
}

calm_status plan_judge_round(plan_round **out, const plan_judge *j,
                             const bool *taken, uint32_t patience) {
  return j->target->chained ? apply_chained(out, j, taken, patience)
                            : apply(out, j, taken);
}

/* The runtime of ONNX models asks for its bytes one tensor at a time. */
static uint64_t needed_bytes(const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  if (plan_is_for(plan, "ort"))
    return r->by_default ? r->planned_peaks.default_bytes
                         : r->planned_peaks.priority_bytes;
  return plan_needed_bytes(plan);
}

rewrite_score plan_score_of(const calm_plan *plan) {
  return (rewrite_score){.arena_bytes = needed_bytes(plan),
                         .peak_bytes = plan->summary.peak_bytes,
                         .op_count = plan->graph->ops.count};
}

static calm_status score_of(rewrite_score *out, const plan_judge *j,
                            plan_round *round) {
  calm_plan *plan;
  context_mute(j->context, true);
  calm_status status = plan_make_as_is(&plan, &round->model, &j->quick);
  context_mute(j->context, false);
  TRY(status);
  *out = plan_score_of(plan);
  limits_spend(j->l, plan->order.ticks + plan->layout.ticks);
  calm_plan_free(plan);
  return CALM_OK;
}

static calm_status judge_peak(rewrite_peak *out, void *payload,
                              const bool *taken, uint64_t ceiling) {
  return plan_judge_peak(out, payload, taken, ceiling);
}

static calm_status judge_score(rewrite_score *out, void *payload,
                               const bool *taken) {
  const plan_judge *j = payload;
  plan_round *round;
  TRY(plan_judge_round(&round, j, taken, 1));
  calm_status status = score_of(out, j, round);
  plan_round_free(round);
  return status;
}

/* Nothing but the disappearance of copies changes what is live: no bytes are
   overwritten in place, sizes are not rounded, sums are no wider than what they
   add up to. */
static bool is_monotone(const plan_judge *j) {
  return j->target->options.partials == PARTIALS_ACCUMULATE &&
         j->target->options.accumulator_factor == 1 &&
         bits_count(j->memory.inplace, OP_KIND_WORDS) == 0 &&
         j->memory.round == 1;
}

rewrite_judge plan_judge_of(plan_judge *j) {
  return (rewrite_judge){.payload = j,
                         .monotone = is_monotone(j),
                         .peak = judge_peak,
                         .critical = judge_critical,
                         .score = judge_score};
}

/* ---- Counting ------------------------------------------------------------ */

/* A sum of parts is no operator of its own where kernels accumulate; where they
   do not, k parts have k - 1 additions, and so have k operands of a sum. */
static uint32_t count_gone(const graph *g, op_id u, bool fused) {
  const graph_op *sum = &g->ops.data[u];
  if (sum->kind != OP_partial_sum) return 0;
  const op_id first = g->producer[sum->inputs[0]];
  return fused && g->ops.data[first].kind != OP_add_into ? 1 : 2;
}

calm_status plan_count_ops(uint32_t *out, const plan_judge *j,
                           const bool *taken) {
  plan_round *round;
  uint32_t gone = 0;
  TRY(apply(&round, j, taken));
  const graph *g = &round->edit.after;
  const bool fused = j->target->options.partials == PARTIALS_ACCUMULATE;
  for (op_id op = 0; op < g->ops.count; op++) gone += count_gone(g, op, fused);
  *out = g->ops.count - gone;
  plan_round_free(round);
  return CALM_OK;
}
