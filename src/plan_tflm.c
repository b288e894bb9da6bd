/*
 * The pipeline for TensorFlow Lite Micro.  Its arena holds the tensors of all
 * graphs and the scratch of all kernels at once, so the orders of the bodies
 * are found first, from the inside out, each body being workspace of what runs
 * it; then every order of the entry is placed together with them.  What the
 * runtime will make of the plan is predicted, and a plan that would cost more
 * than none is not kept.
 */
#include <string.h>

#include "planner.h"

/* Of the time limit, for all bodies together. */
static const double BODIES_SHARE = 0.2;

/* ---- Before the entry is planned ----------------------------------------- */

/* An offline plan says where tensors lie; it cannot change what is copied or
   who owns the inputs. */
static calm_status refuse_columns(const planner *p) {
  const memory_model *m = &p->plan->memory;
  const struct {
    bool refused;
    const char *option;
  } rules[] = {
      {m->concat == CONCAT_ELIDE, "--concat elide"},
      {m->inputs != INPUTS_UNTIL_USE, "--inputs other than until-use"},
      {m->outputs != OUTPUTS_TO_END, "--outputs external"},
      {m->variables != VARIABLES_EXTERNAL, "--variables whole-run"},
      {m->align % TFLM_ALIGN != 0, "--align that is no multiple of 16"},
      {m->round != TFLM_ALIGN, "--round other than 16"}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].refused)
      return context_fail(p->plan->context, CALM_MISUSE,
                          "%s: TensorFlow Lite Micro does not do that; "
                          "--subgraphs entry plans the first graph alone, "
                          "without it",
                          rules[i].option);
  return CALM_OK;
}

/* The graphs of the model with all scratch of an operator as its workspace. */
static calm_status copy_graphs(planner *p, plan_tflm *t) {
  const graph_vector *graphs = &p->plan->model->graphs;
  uint32_t number = 0;
  ARENA_ARRAY(p->scratch, t->graphs, graphs->count);
  t->count = graphs->count;
  for (uint32_t i = 0; i < graphs->count; i++) {
    graph *g = &t->graphs[i];
    graph_op *ops;
    *g = graphs->data[i];
    ARENA_ARRAY(p->scratch, ops, g->ops.count);
    for (op_id op = 0; op < g->ops.count; op++) {
      ops[op] = g->ops.data[op];
      TRY(memory_scratch_sum(&ops[op].workspace_bytes, &t->scratch, number++,
                             TFLM_ALIGN, p->plan->context));
    }
    g->ops.data = ops;
  }
  return CALM_OK;
}

static bool bodies_are_done(const graph *g, const bool *done) {
  for (op_id op = 0; op < g->ops.count; op++)
    for (uint32_t i = 0; i < g->ops.data[op].body_count; i++)
      if (!done[g->ops.data[op].bodies[i]]) return false;
  return true;
}

/* Where a body's order is not proved, it may need less, and so may whatever
   runs it. */
static void note_doubt(plan_tflm *t, const order_result *result) {
  const uint64_t bound =
      result->bound_bytes > t->doubt ? result->bound_bytes - t->doubt : 0;
  if (result->peak_bytes - bound > t->doubt)
    t->doubt = result->peak_bytes - bound;
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
  TRY(memory_problem_build(&t->problems[i], g, &p->plan->memory, arenas,
                           p->scratch));
  TRY(order_solve(&result, &t->problems[i].order, &o, p->scratch, l));
  ARENA_ARRAY(p->scratch, sequence, g->ops.count);
  TRY(memory_expand_sequence(sequence, g, &t->problems[i], result.sequence));
  t->sequences[i] = sequence;
  arenas[i] = result.peak_bytes;
  note_doubt(t, &result);
  return CALM_OK;
}

/* Graphs run no graph that runs them, so each round finishes at least one; the
   entry is left to the rest of the pipeline, whoever runs it. */
static calm_status order_bodies(planner *p, plan_tflm *t, uint64_t *arenas) {
  limits l;
  bool *done;
  ARENA_ARRAY(p->scratch, done, t->count);
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
                      .scratch = &t->scratch};
}

static calm_status predict_default(planner *p, plan_tflm *t) {
  const op_id **orders;
  ARENA_ARRAY(p->scratch, orders, t->count);
  for (uint32_t i = 0; i < t->count; i++) orders[i] = t->graphs[i].order;
  const tflm_model model = model_of(t, orders, NULL);
  return tflm_predict(&t->default_head, &model, p->scratch);
}

calm_status plan_tflm_prepare(planner *p) {
  plan_tflm *t = arena_calloc(p->scratch, 1, sizeof *t);
  uint64_t *arenas;
  memory_library library;
  const uint32_t count = p->plan->model->graphs.count;
  if (!t) return context_no_memory(p->plan->context);
  TRY(refuse_columns(p));
  TRY(memory_library_find(&library, p->plan->context, p->options->kernels));
  TRY(memory_scratch_build(&t->scratch, p->plan->model->graphs.data, count,
                           library, p->options->scratch, p->scratch));
  TRY(copy_graphs(p, t));
  ARENA_ARRAY(p->scratch, t->problems, count);
  ARENA_ARRAY(p->scratch, t->sequences, count);
  ARENA_ARRAY(p->scratch, arenas, count);
  TRY(order_bodies(p, t, arenas));
  TRY(predict_default(p, t));
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

calm_status plan_tflm_place(plan_candidate *c, const planner *p,
                            const layout_options *options, limits *l) {
  const op_id *const *orders;
  p->tflm->problems[0] = p->problem;
  TRY(orders_with(&orders, p, c->sequence));
  TRY(memory_joint_build(&c->joint, p->tflm->graphs, p->tflm->count,
                         p->tflm->problems, orders, &p->plan->memory,
                         &p->tflm->scratch, p->scratch));
  return layout_solve(&c->layout, &c->joint.layout, options, p->scratch, l);
}

/* Where the placement puts a tensor; one that is never in use goes to the
   bottom, where it costs nothing. */
static uint64_t offset_of(const planner *p, const plan_candidate *c,
                          uint32_t graph, tensor_id t) {
  const uint32_t body = c->joint.body_of[c->joint.tensor_begin[graph] + t];
  if (body != CALM_NONE) return c->layout.offsets[body];
  return tflm_places(&p->tflm->graphs[graph].tensors.data[t], UINT64_MAX)
             ? 0
             : UINT64_MAX;
}

static calm_status list_offsets(plan_candidate *c, const planner *p) {
  ARENA_ARRAY(p->scratch, c->offsets, p->tflm->count);
  for (uint32_t i = 0; i < p->tflm->count; i++) {
    const uint32_t tensors = p->tflm->graphs[i].tensors.count;
    uint64_t *offsets;
    ARENA_ARRAY(p->scratch, offsets, tensors);
    for (tensor_id t = 0; t < tensors; t++) offsets[t] = offset_of(p, c, i, t);
    c->offsets[i] = offsets;
  }
  return CALM_OK;
}

/* ---- What the runtime makes of it ---------------------------------------- */

static calm_status predict(plan_candidate *c, const planner *p) {
  const op_id *const *orders;
  TRY(orders_with(&orders, p, c->sequence));
  const tflm_model model = model_of(p->tflm, orders, c->offsets);
  return tflm_predict(&c->head, &model, p->scratch);
}

/* Place the file order; keep it if the runtime needs less for it. */
static calm_status try_file_order(plan_candidate *best, const planner *p,
                                  limits *l) {
  plan_candidate c;
  uint32_t *file_order;
  const layout_options o = pipeline_layout_options(p->options);
  ARENA_ARRAY(p->scratch, file_order, p->problem.order.op_count);
  for (uint32_t u = 0; u < p->problem.order.op_count; u++) file_order[u] = u;
  TRY(plan_place(&c, p, file_order, &o, l));
  TRY(list_offsets(&c, p));
  TRY(predict(&c, p));
  if (c.head.bytes < best->head.bytes) *best = c;
  return CALM_OK;
}

/* Leave all placing to the runtime: in the order that was found, or in that of
   the file. */
static calm_status try_without_plan(plan_candidate *best, const planner *p,
                                    const op_id *sequence) {
  plan_candidate c = *best;
  c.offsets = NULL;
  ARENA_ARRAY(p->scratch, c.sequence, p->g->ops.count);
  if (p->g->ops.count)
    memcpy(c.sequence, sequence, p->g->ops.count * sizeof *sequence);
  TRY(predict(&c, p));
  if (c.head.bytes < best->head.bytes) *best = c;
  return CALM_OK;
}

calm_status plan_tflm_settle(plan_candidate *best, const planner *p,
                             limits *l) {
  const uint64_t most = p->tflm->default_head.bytes;
  const bool free_order = plan_order_is_free(p);
  TRY(list_offsets(best, p));
  TRY(predict(best, p));
  if (best->head.bytes > most && free_order) TRY(try_file_order(best, p, l));
  if (best->head.bytes > most) TRY(try_without_plan(best, p, best->sequence));
  if (best->head.bytes > most && free_order)
    TRY(try_without_plan(best, p, p->g->order));
  best->layout.arena_bytes = best->head.bytes;
  if (best->layout.bound_bytes > best->head.bytes) /* scratch was split */
    best->layout.bound_bytes = best->head.bytes;
  return CALM_OK;
}

/* ---- Into the plan ------------------------------------------------------- */

static calm_status record_graph(calm_plan *plan, const planner *p,
                                const plan_candidate *c,
                                const op_id *const *orders, uint32_t i) {
  const graph *g = &p->tflm->graphs[i];
  plan_graph *out = &plan->graphs[i];
  ARENA_ARRAY(&plan->arena, out->sequence, g->ops.count);
  ARENA_ARRAY(&plan->arena, out->offsets, g->tensors.count);
  for (uint32_t step = 0; step < g->ops.count; step++)
    out->sequence[step] = orders[i][step];
  for (tensor_id t = 0; t < g->tensors.count; t++)
    out->offsets[t] = c->offsets ? c->offsets[i][t] : UINT64_MAX;
  return CALM_OK;
}

static uint32_t count_scratch(const plan_tflm *t) {
  return t->scratch.begin[t->scratch.op_begin[t->count]];
}

/* Scratch in the order of graphs and operators in the file. */
static calm_status record_scratch(calm_plan *plan, const planner *p,
                                  const plan_candidate *c) {
  const plan_tflm *t = p->tflm;
  plan_runtime *r = &plan->runtime;
  ARENA_ARRAY(&plan->arena, r->scratch, count_scratch(t));
  for (uint32_t i = 0; i < t->count; i++)
    for (op_id op = 0; op < t->graphs[i].ops.count; op++) {
      const uint32_t number = t->scratch.op_begin[i] + op;
      for (uint32_t s = t->scratch.begin[number];
           s < t->scratch.begin[number + 1]; s++)
        r->scratch[r->scratch_count++] =
            (plan_scratch){.graph = i,
                           .op = op,
                           .bytes = t->scratch.bytes[s],
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

calm_status plan_tflm_record(planner *p, const plan_candidate *c) {
  calm_plan *plan = p->plan;
  const op_id *const *orders;
  TRY(orders_with(&orders, p, c->sequence));
  ARENA_ARRAY(&plan->arena, plan->graphs, p->tflm->count);
  for (uint32_t i = 0; i < p->tflm->count; i++)
    TRY(record_graph(plan, p, c, orders, i));
  plan->runtime =
      (plan_runtime){.name = "tflm",
                     .default_head_bytes = p->tflm->default_head.bytes,
                     .head_bytes = c->head.bytes,
                     .planned = c->offsets != NULL};
  TRY(record_scratch(plan, p, c));
  return record_entry(plan, p, c);
}
