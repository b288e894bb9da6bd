/*
 * The pipeline for TensorFlow Lite Micro.  Its arena holds the tensors of all
 * graphs and the scratch of all kernels at once, so the orders of the bodies
 * are found first, from the inside out, each body being workspace of what runs
 * it; then every order of the entry is placed together with them.  What the
 * runtime will make of the plan is predicted, and a plan that would cost more
 * than none is not kept.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "memory/memory_alias.h"
#include "memory/memory_bytes.h"
#include "plan/planner.h"

/* Of the time limit, for all bodies together. */
static const double BODIES_SHARE = 0.2;

/* ---- Before the entry is planned ----------------------------------------- */

static bool bodies_are_done(const graph *g, const bool *done) {
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = 0; i < g->ops.data[op].body_count; i++)
      if (!done[g->ops.data[op].bodies[i]]) return false;
  return true;
}

static uint64_t placed_bytes(const graph_tensor *tensor) {
  return tflm_places(tensor, UINT64_MAX)
             ? number_round_up(tflm_tensor_bytes(tensor), TFLM_ALIGN)
             : 0;
}

/* Before the operators of a graph run, all its inputs are there. */
static uint64_t sum_inputs(const graph *g) {
  uint64_t sum = 0;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->tensors.data[t].flags & CALM_TENSOR_INPUT)
      sum += placed_bytes(&g->tensors.data[t]);
  return sum;
}

/* Each tensor takes its bytes, whether an operator touches it or not. */
static void raise_floor_by_tensors(plan_tflm *t) {
  for (uint32_t i = 0; i < t->count; i++)
    for (tensor_id k = 0; k < t->graphs[i].tensors.count; k++)
      t->floor =
          number_larger(t->floor, placed_bytes(&t->graphs[i].tensors.data[k]));
  t->floor = number_larger(t->floor, sum_inputs(&t->graphs[0]));
}

static bool runs_graphs(const graph *g) {
  for (op_id op = 0; op < g->ops.count; op++)
    if (g->ops.data[op].body_count) return true;
  return false;
}

/* What a body needs and what it needs at least: where its order is not proved
   that may be less, and so may be what runs it. */
static uint64_t measure_body(plan_tflm *t, uint32_t i,
                             const order_result *result) {
  const uint64_t inputs = sum_inputs(&t->graphs[i]);
  const uint64_t bytes = number_larger(result->peak_bytes, inputs);
  const uint64_t certain =
      result->bound_bytes > t->doubt ? result->bound_bytes - t->doubt : 0;
  const uint64_t bound = number_larger(certain, inputs);
  if (!t->is_body[i] && !runs_graphs(&t->graphs[i]))
    t->floor = number_larger(t->floor, bound);
  t->doubt = number_larger(t->doubt, bytes - bound);
  return bytes;
}

/* The best order of one body and what it then needs. */
static calm_status order_body(planner *p, plan_tflm *t, uint32_t i,
                              uint64_t *arenas, limits *l) {
  const graph *g = &t->graphs[i];
  order_options o = plan_order_options(p->options);
  order_result result;
  op_id *sequence;
  o.count = false;
  if (!g->file_order_valid && o.method == ORDER_FILE) o.method = ORDER_LEVEL;
  const memory_model whole = memory_model_of_whole(&p->plan->memory);
  TRY(memory_problem_build(&t->problems[i], g, &whole, arenas, p->scratch));
  TRY(order_solve(&result, &t->problems[i].order, &o, p->scratch, l));
  ARENA_ARRAY(p->scratch, sequence, g->ops.count);
  TRY(memory_expand_sequence(sequence, g, &t->problems[i], result.sequence));
  t->sequences[i] = sequence;
  arenas[i] = measure_body(t, i, &result);
  return CALM_OK;
}

static calm_status find_bodies(planner *p, plan_tflm *t) {
  ARENA_ARRAY(p->scratch, t->is_body, t->count);
  for (uint32_t i = 0; i < t->count; i++)
    for (op_id op = 0; op < t->graphs[i].ops.count; op++)
      for (uint32_t k = 0; k < t->graphs[i].ops.data[op].body_count; k++)
        t->is_body[t->graphs[i].ops.data[op].bodies[k]] = true;
  return CALM_OK;
}

/* Graphs run no graph that runs them, so each round finishes at least one; the
   entry is left to the rest of the pipeline, whoever runs it. */
static calm_status order_bodies(planner *p, plan_tflm *t, uint64_t *arenas) {
  limits l;
  bool *done;
  ARENA_ARRAY(p->scratch, done, t->count);
  TRY(find_bodies(p, t));
  pipeline_limits(&l, p->plan->context, p->options, BODIES_SHARE);
  done[0] = true;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 1; i < t->count; i++) {
      if (done[i] || !bodies_are_done(&t->graphs[i], done)) continue;
      TRY(order_body(p, t, i, arenas, &l));
      done[i] = again = true;
    }
  }
  return CALM_OK;
}

static tflm_model model_of(const plan_tflm *t, const op_id *const *sequences,
                           const uint64_t *const *offsets) {
  return (tflm_model){.graphs = t->graphs,
                      .count = t->count,
                      .sequences = sequences,
                      .offsets = offsets,
                      .scratch = &t->file.scratch};
}

/* The plan that the model brings along: its head, and whether it holds. */
static calm_status predict_carried(planner *p, plan_tflm *t) {
  tflm_head head;
  memory_verdict verdict;
  const tflm_model *carried = &t->file.model;
  t->carried_bytes = UINT64_MAX;
  if (!carried->offsets) return CALM_OK;
  TRY(tflm_predict(&head, carried, p->scratch));
  TRY(tflm_check(&verdict, carried, &p->plan->memory, p->scratch));
  t->carried_bytes = head.bytes;
  t->carried_holds = verdict.faults.count == 0;
  memory_verdict_free(&verdict, p->plan->context);
  return CALM_OK;
}

/* The model as it is: without any plan, and with the one it brings along. */
static calm_status predict_file(planner *p, plan_tflm *t) {
  const op_id **orders;
  ARENA_ARRAY(p->scratch, orders, t->count);
  for (uint32_t i = 0; i < t->count; i++) orders[i] = t->graphs[i].order;
  t->default_orders = orders;
  const tflm_model model = model_of(t, orders, NULL);
  TRY(tflm_predict(&t->default_head, &model, p->scratch));
  return predict_carried(p, t);
}

/* Offsets are multiples of 16, but where a tensor lies in the midst of another.
 */
static calm_status find_grid(planner *p, plan_tflm *t) {
  memory_alias *aliases;
  TRY(memory_alias_find(&aliases, &t->graphs[0], &p->plan->memory, p->scratch));
  t->on_grid = p->plan->memory.align % TFLM_ALIGN == 0;
  for (tensor_id k = 0; k < t->graphs[0].tensors.count; k++)
    if (aliases[k].place % TFLM_ALIGN) t->on_grid = false;
  return CALM_OK;
}

calm_status plan_tflm_prepare(planner *p) {
  plan_tflm *t = arena_calloc(p->scratch, 1, sizeof *t);
  uint64_t *arenas;
  const uint32_t count = p->plan->model->graphs.count;
  if (!t) return context_no_memory(p->plan->context);
  TRY(pipeline_tflm_model(&t->file, p->plan->model, p->options, p->scratch));
  t->count = count;
  TRY(pipeline_tflm_graphs(&t->graphs, &t->file, p->scratch));
  ARENA_ARRAY(p->scratch, t->problems, count);
  ARENA_ARRAY(p->scratch, t->sequences, count);
  ARENA_ARRAY(p->scratch, arenas, count);
  TRY(order_bodies(p, t, arenas));
  raise_floor_by_tensors(t);
  TRY(find_grid(p, t));
  TRY(predict_file(p, t));
  p->tflm = t;
  p->g = &t->graphs[0];
  p->body_arenas = arenas;
  return CALM_OK;
}

/* ---- Placing ------------------------------------------------------------- */

/* The orders of all graphs, with this one for the entry. */
static calm_status orders_with(const op_id *const **out, const planner *p,
                               const op_id *entry) {
  const op_id **orders;
  ARENA_ARRAY(p->scratch, orders, p->tflm->count);
  for (uint32_t i = 1; i < p->tflm->count; i++)
    orders[i] = p->tflm->sequences[i];
  orders[0] = entry;
  *out = orders;
  return CALM_OK;
}

static calm_status predict(plan_candidate *c, const planner *p);

/* Without a plan in the file the runtime places all by itself. */
static calm_status place_alone(plan_candidate *c, const planner *p) {
  TRY(predict(c, p));
  c->layout =
      (layout_result){.outcome = CALM_FEASIBLE, .arena_bytes = c->head.bytes};
  return CALM_OK;
}

calm_status plan_tflm_place(plan_candidate *c, const planner *p,
                            const layout_options *options, limits *l) {
  p->tflm->problems[0] = p->problem;
  TRY(orders_with(&c->orders, p, c->sequence));
  if (!p->options->offline_plan) return place_alone(c, p);
  TRY(memory_joint_build(&c->joint, p->tflm->graphs, p->tflm->count,
                         p->tflm->problems, c->orders, &p->plan->memory,
                         &p->tflm->file.scratch, p->scratch));
  return layout_solve(&c->layout, &c->joint.layout, options, p->scratch, l);
}

/* Where the placement puts a tensor; one that is never in use goes to the
   bottom, where it costs nothing. */
static uint64_t offset_of(const planner *p, const plan_candidate *c,
                          uint32_t graph, tensor_id t) {
  const uint32_t body = c->joint.body_of[c->joint.tensor_begin[graph] + t];
  if (body != CALM_NONE)
    return c->layout.offsets[body] +
           c->joint.place_of[c->joint.tensor_begin[graph] + t];
  return tflm_places(&p->tflm->graphs[graph].tensors.data[t], UINT64_MAX)
             ? 0
             : UINT64_MAX;
}

static calm_status list_offsets(plan_candidate *c, const planner *p) {
  const uint64_t **all;
  ARENA_ARRAY(p->scratch, all, p->tflm->count);
  for (uint32_t i = 0; i < p->tflm->count; i++) {
    const uint32_t tensors = p->tflm->graphs[i].tensors.count;
    uint64_t *offsets;
    ARENA_ARRAY(p->scratch, offsets, tensors);
    for (tensor_id t = 0; t < tensors; t++) offsets[t] = offset_of(p, c, i, t);
    all[i] = offsets;
  }
  c->offsets = all;
  return CALM_OK;
}

/* ---- What the runtime makes of it ---------------------------------------- */

static calm_status predict(plan_candidate *c, const planner *p) {
  const tflm_model model = model_of(p->tflm, c->orders, c->offsets);
  return tflm_predict(&c->head, &model, p->scratch);
}

/* Whoever cut a network into tiles put them into an order that is good to
   overlap; the peak of an order does not tell. */
static bool may_gain_by_file(const plan_candidate *best, const planner *p) {
  return plan_tflm_tells_rows(p) && best->head.bytes > plan_arena_bound(p);
}

/* Place the file order; keep it if the runtime needs less for it. */
static calm_status try_file_order(plan_candidate *best, const planner *p,
                                  limits *l) {
  plan_candidate c;
  uint32_t *file_order;
  const layout_options o = pipeline_layout_options(p->options);
  TRY(pipeline_identity(&file_order, p->problem.order.op_count, p->scratch));
  TRY(plan_place(&c, p, file_order, &o, l));
  TRY(list_offsets(&c, p));
  TRY(predict(&c, p));
  if (c.head.bytes < best->head.bytes) *best = c;
  return CALM_OK;
}

static calm_status use_orders(plan_candidate *c, const planner *p,
                              const op_id *const *orders) {
  c->orders = orders;
  ARENA_ARRAY(p->scratch, c->sequence, p->g->ops.count);
  for (uint32_t step = 0; step < p->g->ops.count; step++)
    c->sequence[step] = orders[0][step];
  return CALM_OK;
}

/* Leave all placing to the runtime. */
static calm_status drop_plan(plan_candidate *c, const planner *p,
                             const op_id *const *orders) {
  c->source = PLAN_NONE;
  c->offsets = NULL;
  TRY(use_orders(c, p, orders));
  return predict(c, p);
}

static calm_status try_without_plan(plan_candidate *best, const planner *p,
                                    const op_id *const *orders) {
  plan_candidate c = *best;
  TRY(drop_plan(&c, p, orders));
  if (c.head.bytes < best->head.bytes) *best = c;
  return CALM_OK;
}

/* Keep to the plan that the file itself brings along, if that is better and
   holds. */
static calm_status try_carried(plan_candidate *best, const planner *p) {
  plan_candidate c = *best;
  const tflm_model *carried = &p->tflm->file.model;
  if (!p->tflm->carried_holds || p->tflm->carried_bytes >= best->head.bytes)
    return CALM_OK;
  c.source = PLAN_CARRIED;
  c.offsets = carried->offsets;
  TRY(use_orders(&c, p, carried->sequences));
  TRY(predict(&c, p));
  *best = c;
  return CALM_OK;
}

/* A runtime left alone aliases nothing. */
void plan_tflm_leave_alone(memory_model *memory) {
  memset(memory->views, 0, sizeof memory->views);
  memset(memory->inplace, 0, sizeof memory->inplace);
  memory->overlap = false;
}

/* Where nobody may tell it: no model gets worse. */
static calm_status settle_alone(plan_candidate *best, const planner *p) {
  best->source = PLAN_NONE;
  TRY(predict(best, p));
  if (plan_order_is_free(p))
    TRY(try_without_plan(best, p, p->tflm->default_orders));
  best->layout.arena_bytes = best->head.bytes;
  best->layout.bound_bytes =
      number_smaller(best->layout.bound_bytes, best->head.bytes);
  return CALM_OK;
}

calm_status plan_tflm_settle(plan_candidate *best, const planner *p,
                             limits *l) {
  const plan_tflm *t = p->tflm;
  if (!p->options->offline_plan) return settle_alone(best, p);
  const uint64_t most = t->default_head.bytes;
  const bool free_order = plan_order_is_free(p);
  best->source = PLAN_OWN;
  TRY(list_offsets(best, p));
  TRY(predict(best, p));
  if (free_order && (best->head.bytes > most || may_gain_by_file(best, p)))
    TRY(try_file_order(best, p, l));
  if (best->head.bytes > most) TRY(try_without_plan(best, p, best->orders));
  if (best->head.bytes > most && free_order)
    TRY(try_without_plan(best, p, t->default_orders));
  if (free_order) TRY(try_carried(best, p));
  if (best->head.bytes > INT32_MAX) /* more than an offset can express */
    TRY(drop_plan(best, p, best->orders));
  if (best->source == PLAN_NONE) plan_tflm_leave_alone(&p->plan->memory);
  best->layout.arena_bytes = best->head.bytes;
  if (best->layout.bound_bytes > best->head.bytes) /* scratch was split */
    best->layout.bound_bytes = best->head.bytes;
  return CALM_OK;
}

/* ---- Into the plan ------------------------------------------------------- */

static calm_status record_graph(calm_plan *plan, const planner *p,
                                const plan_candidate *c, uint32_t i) {
  const graph *g = &p->tflm->graphs[i];
  plan_graph *out = &plan->graphs[i];
  ARENA_ARRAY(&plan->arena, out->sequence, g->ops.count);
  ARENA_ARRAY(&plan->arena, out->offsets, g->tensors.count);
  for (uint32_t step = 0; step < g->ops.count; step++)
    out->sequence[step] = c->orders[i][step];
  for (tensor_id t = 0; t < g->tensors.count; t++)
    out->offsets[t] = c->offsets ? c->offsets[i][t] : UINT64_MAX;
  return CALM_OK;
}

static uint32_t count_scratch(const plan_tflm *t) {
  return t->file.scratch.begin[t->file.scratch.op_begin[t->count]];
}

/* Scratch in the order of graphs and operators in the file. */
static calm_status record_scratch(calm_plan *plan, const planner *p,
                                  const plan_candidate *c) {
  const plan_tflm *t = p->tflm;
  plan_runtime *r = &plan->runtime;
  ARENA_ARRAY(&plan->arena, r->scratch, count_scratch(t));
  for (uint32_t i = 0; i < t->count; i++)
    for (op_id op = 0; op < t->graphs[i].ops.count; op++) {
      const uint32_t number = t->file.scratch.op_begin[i] + op;
      for (uint32_t s = t->file.scratch.begin[number];
           s < t->file.scratch.begin[number + 1]; s++)
        r->scratch[r->scratch_count++] =
            (plan_scratch){.graph = i,
                           .op = op,
                           .bytes = t->file.scratch.bytes[s],
                           .offset = c->head.scratch_offsets[s]};
    }
  return CALM_OK;
}

/* Where the entry's tensors lie, also those that the runtime places; its
   scratch is listed with the runtime's own. */
static calm_status record_entry(calm_plan *plan, const planner *p,
                                const plan_candidate *c) {
  ARENA_ARRAY(&plan->arena, plan->offsets, p->g->tensors.count);
  ARENA_ARRAY(&plan->arena, plan->workspace_offsets, p->g->ops.count);
  ARENA_ARRAY(&plan->arena, plan->workspace_bytes, p->g->ops.count);
  for (tensor_id t = 0; t < p->g->tensors.count; t++)
    plan->offsets[t] = c->head.offsets[t];
  for (op_id op = 0; op < p->g->ops.count; op++)
    plan->workspace_offsets[op] = UINT64_MAX;
  return CALM_OK;
}

/* The model's own graphs, whose scratch is not workspace. */
static tflm_tail tail_of(const plan_tflm *t, const op_id *const *orders,
                         const uint64_t *const *offsets) {
  const tflm_model model = model_of(t, orders, offsets);
  return pipeline_tflm_tail(&t->file, &model);
}

calm_status plan_tflm_record(planner *p, const plan_candidate *c) {
  calm_plan *plan = p->plan;
  const char *kernels = p->options->kernels;
  kernels = arena_string(&plan->arena, kernels, strlen(kernels));
  if (!kernels) return context_no_memory(plan->context);
  ARENA_ARRAY(&plan->arena, plan->graphs, p->tflm->count);
  for (uint32_t i = 0; i < p->tflm->count; i++)
    TRY(record_graph(plan, p, c, i));
  plan->runtime = (plan_runtime){
      .name = "tflm",
      .kernels = kernels,
      .default_head_bytes = p->tflm->default_head.bytes,
      .head_bytes = c->head.bytes,
      .tail = tail_of(p->tflm, c->orders, c->offsets),
      .default_tail = tail_of(p->tflm, p->tflm->default_orders, NULL),
      .carried_head_bytes = p->tflm->carried_bytes,
      .carried_holds = p->tflm->carried_holds,
      .source = c->source};
  TRY(record_scratch(plan, p, c));
  return record_entry(plan, p, c);
}

bool plan_tflm_tells_rows(const planner *p) {
  return p->plan->memory.overlap || memory_alias_asked(&p->plan->memory);
}

/* ---- And judged again ---------------------------------------------------- */

static calm_status judge(const planner *p, const memory_verdict *verdict) {
  const calm_plan *plan = p->plan;
  if (verdict->faults.count)
    return context_fail(plan->context, CALM_INTERNAL,
                        "%s: the plan does not hold: %s", plan->model->path,
                        verdict->faults.data[0].text);
  if (verdict->arena_bytes != plan->runtime.head_bytes)
    return context_fail(plan->context, CALM_INTERNAL,
                        "%s: another head than was predicted",
                        plan->model->path);
  return CALM_OK;
}

/* Every byte that a kernel reads is the one that it should be. */
static calm_status run_bytes(const planner *p, const tflm_model *model) {
  const calm_plan *plan = p->plan;
  const graph *g = &model->graphs[0];
  bytes_fault fault;
  tflm_head head;
  TRY(tflm_predict(&head, model, p->scratch));
  TRY(memory_bytes_run(&fault, model, &head, plan->memory.kernels,
                       plan->context));
  if (!fault.found) return CALM_OK;
  return context_fail(
      plan->context, CALM_INTERNAL,
      "%s: the plan does not hold: '%s' finds byte %" PRIu64
      " of '%s' overwritten",
      plan->model->path, g->ops.data[model->sequences[0][fault.step]].name,
      fault.byte,
      fault.tensor == CALM_NONE ? "its scratch"
                                : g->tensors.data[fault.tensor].name);
}

calm_status plan_tflm_check(const planner *p) {
  const calm_plan *plan = p->plan;
  memory_verdict verdict;
  const op_id **orders;
  const uint64_t **offsets;
  ARENA_ARRAY(p->scratch, orders, p->tflm->count);
  ARENA_ARRAY(p->scratch, offsets, p->tflm->count);
  for (uint32_t i = 0; i < p->tflm->count; i++) {
    orders[i] = plan->graphs[i].sequence;
    offsets[i] = plan->graphs[i].offsets;
  }
  const tflm_model model = {.graphs = plan->model->graphs.data,
                            .count = p->tflm->count,
                            .sequences = orders,
                            .offsets = offsets,
                            .scratch = &p->tflm->file.scratch};
  TRY(tflm_check(&verdict, &model, &plan->memory, p->scratch));
  calm_status status = judge(p, &verdict);
  memory_verdict_free(&verdict, plan->context);
  return status == CALM_OK && plan_tflm_tells_rows(p) ? run_bytes(p, &model)
                                                      : status;
}
