/*
 * The memory pipeline: graph -> order problem -> order -> layout problem ->
 * arena -> check.  Order and layout are solved together: among orders whose
 * peak is as low, the one is kept whose arena comes closest to the peak.
 */
#include <string.h>

#include "base/random.h"
#include "pipeline.h"

/* Everything one run of the pipeline works with. */
typedef struct planner {
  calm_plan *plan;
  const graph *g;
  const calm_options *options;
  const uint64_t *body_arenas;
  memory_problem problem;
  arena *scratch;
} planner;

enum {
  OTHER_ORDERS = 2000,   /* orders tried for a better arena */
  FIRST_TICKS = 2000000, /* of exact layout before other orders are tried */
};

static order_options order_options_of(const calm_options *options) {
  order_options o = order_options_default();
  o.method = (order_method)options->order;
  o.seed = options->seed;
  o.dp_cuts = options->dp_cuts;
  o.dp_budget = options->dp_budget;
  o.count = options->count;
  o.blocks = options->order_blocks;
  o.commit = options->order_commit;
  o.root_bound = options->order_root_bound;
  o.reverse = options->order_reverse;
  return o;
}

/* An order of the order problem, with the arena it gets. */
typedef struct candidate {
  uint32_t *order_sequence;
  op_id *sequence;
  memory_placement placement;
  layout_result layout;
} candidate;

static calm_status place(candidate *out, const planner *p,
                         const uint32_t *order_sequence,
                         const layout_options *options, limits *l) {
  candidate c = {0};
  ARENA_ARRAY(p->scratch, c.order_sequence, p->problem.order.op_count);
  ARENA_ARRAY(p->scratch, c.sequence, p->g->ops.count);
  if (p->problem.order.op_count)
    memcpy(c.order_sequence, order_sequence,
           p->problem.order.op_count * sizeof *order_sequence);
  TRY(memory_expand_sequence(c.sequence, p->g, &p->problem, order_sequence));
  TRY(memory_placement_build(&c.placement, p->g, &p->plan->memory, &p->problem,
                             c.sequence, p->scratch));
  TRY(layout_solve(&c.layout, &c.placement.layout, options, p->scratch, l));
  *out = c;
  return CALM_OK;
}

/* File order, placed as the runtime would: what planning is compared with. */
static calm_status plan_baseline(planner *p) {
  candidate c;
  memory_profile profile;
  limits l;
  uint32_t *identity;
  layout_options by_size = layout_options_default();
  by_size.method = LAYOUT_SIZE;
  limits_init(&l, p->plan->context);
  ARENA_ARRAY(p->scratch, identity, p->problem.order.op_count);
  for (uint32_t u = 0; u < p->problem.order.op_count; u++) identity[u] = u;
  TRY(place(&c, p, identity, &by_size, &l));
  TRY(memory_simulate(&profile, p->g, &p->plan->memory, p->body_arenas,
                      p->g->order, p->scratch));
  p->plan->summary.baseline_peak_bytes = profile.peak_bytes;
  p->plan->summary.baseline_arena_bytes = c.layout.arena_bytes;
  p->plan->facts = pipeline_facts(p->g, &profile);
  p->plan->baseline_order = "file";
  return CALM_OK;
}

static calm_status plan_order(planner *p) {
  limits l;
  const order_options o = order_options_of(p->options);
  const double start = limits_clock();
  if (o.method == ORDER_FILE && !p->g->file_order_valid)
    return context_fail(p->plan->context, CALM_BAD_INPUT,
                        "%s: the file order is not topological, so there is no "
                        "--order file",
                        p->plan->model->path);
  pipeline_limits(&l, p->plan->context, p->options, 0.75);
  TRY(order_solve(&p->plan->order, &p->problem.order, &o, &p->plan->arena, &l));
  p->plan->order_seconds = limits_clock() - start;
  return CALM_OK;
}

/*
 * Move one operator to another place that its neighbours allow.  where[u] is
 * the position of u.  The sequence stays an order.
 */
static void move_operator(uint32_t *sequence, uint32_t *where,
                          const order_problem *p, random_state *random) {
  const uint32_t from = random_below(random, p->op_count);
  const uint32_t u = sequence[from];
  uint32_t low = 0, high = p->op_count - 1;
  for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
    if (where[p->preds[i]] >= low) low = where[p->preds[i]] + 1;
  for (uint32_t i = p->succ_begin[u]; i < p->succ_begin[u + 1]; i++)
    if (where[p->succs[i]] <= high) high = where[p->succs[i]] - 1;
  const uint32_t to = low + random_below(random, high - low + 1);
  for (uint32_t i = from; i < to; i++) sequence[i] = sequence[i + 1];
  for (uint32_t i = from; i > to; i--) sequence[i] = sequence[i - 1];
  sequence[to] = u;
  for (uint32_t i = from < to ? from : to; i <= (from < to ? to : from); i++)
    where[sequence[i]] = i;
}

/* A step of the walk over orders: a few moves, undone if the peak rises above
   `most_bytes`. */
static calm_status step_order(bool *out_moved, uint32_t *sequence,
                              uint32_t *where, const planner *p,
                              uint64_t most_bytes, random_state *random) {
  const order_problem *o = &p->problem.order;
  const size_t bytes = o->op_count * sizeof *sequence;
  uint64_t peak;
  uint32_t *before;
  arena undo;
  arena_init(&undo, p->plan->context);
  before = arena_calloc(&undo, o->op_count, sizeof *before);
  if (!before) return context_no_memory(p->plan->context);
  memcpy(before, sequence, bytes);
  for (uint32_t moves = 1 + random_below(random, 3); moves; moves--)
    move_operator(sequence, where, o, random);
  calm_status status = order_replay(&peak, o, sequence, NULL, p->plan->context);
  *out_moved = status == CALM_OK && peak <= most_bytes &&
               memcmp(before, sequence, bytes) != 0;
  if (!*out_moved) {
    memcpy(sequence, before, bytes);
    for (uint32_t i = 0; i < o->op_count; i++) where[sequence[i]] = i;
  }
  arena_free(&undo);
  return status;
}

/* Walk over orders whose peak is no higher; keep the best arena. */
static calm_status try_other_orders(candidate *best, planner *p,
                                    uint64_t target_bytes, limits *l) {
  layout_options greedy = pipeline_layout_options(p->options);
  random_state random = random_from_seed(p->options->seed);
  uint32_t *sequence, *where;
  const uint32_t n = p->problem.order.op_count;
  greedy.method = LAYOUT_GREEDY;
  greedy.target_bytes = target_bytes;
  ARENA_ARRAY(p->scratch, sequence, n);
  ARENA_ARRAY(p->scratch, where, n);
  memcpy(sequence, best->order_sequence, n * sizeof *sequence);
  for (uint32_t i = 0; i < n; i++) where[sequence[i]] = i;
  for (int i = 0; i < OTHER_ORDERS; i++) {
    candidate c;
    bool moved;
    if (best->layout.arena_bytes <= target_bytes || limits_spend(l, n)) break;
    TRY(step_order(&moved, sequence, where, p, p->plan->order.peak_bytes,
                   &random));
    if (!moved) continue;
    arena *outer = p->scratch, tried;
    arena_init(&tried, p->plan->context);
    p->scratch = &tried;
    calm_status status = place(&c, p, sequence, &greedy, l);
    p->scratch = outer;
    const bool better =
        status == CALM_OK && c.layout.arena_bytes < best->layout.arena_bytes;
    arena_free(&tried);
    TRY(status);
    if (better) TRY(place(best, p, sequence, &greedy, l));
  }
  return CALM_OK;
}

/* Is another order than the one that was found as good an answer? */
static bool order_is_free(const planner *p) {
  return p->options->order == ORDER_EXACT || p->options->order == ORDER_DP;
}

/* Place the best order once more, with all effort that is left; a limit may
   leave the new placement behind the old one. */
static calm_status improve(candidate *best, const planner *p,
                           const layout_options *options, limits *l) {
  candidate again;
  TRY(place(&again, p, best->order_sequence, options, l));
  if (again.layout.arena_bytes <= best->layout.arena_bytes) *best = again;
  return CALM_OK;
}

static calm_status plan_layout(candidate *best, planner *p) {
  layout_options o = pipeline_layout_options(p->options);
  const double start = limits_clock();
  const uint64_t target = p->plan->order.bound_bytes;
  limits l, first;
  pipeline_limits(&l, p->plan->context, p->options, 0.25);
  first = l;
  if (order_is_free(p) && first.max_ticks > FIRST_TICKS)
    first.max_ticks = FIRST_TICKS;
  o.target_bytes = order_is_free(p) ? target : 0;
  TRY(place(best, p, p->plan->order.sequence, &o, &first));
  if (order_is_free(p) && best->layout.arena_bytes > target &&
      p->problem.order.op_count > 1) {
    TRY(try_other_orders(best, p, target, &l));
    if (best->layout.arena_bytes > target) TRY(improve(best, p, &o, &l));
  }
  p->plan->layout_seconds = limits_clock() - start;
  return CALM_OK;
}

/* Where everything lies: offsets of tensors and of workspaces. */
static calm_status record_offsets(planner *p, const candidate *c) {
  calm_plan *plan = p->plan;
  const memory_problem *m = &p->problem;
  ARENA_ARRAY(&plan->arena, plan->offsets, p->g->tensors.count);
  ARENA_ARRAY(&plan->arena, plan->workspace_offsets, p->g->ops.count);
  TRY(memory_workspaces(&plan->workspace_bytes, p->g, p->body_arenas,
                        &plan->arena));
  for (tensor_id t = 0; t < p->g->tensors.count; t++) {
    const bool single = m->buffer_begin[t + 1] - m->buffer_begin[t] == 1;
    plan->offsets[t] =
        single
            ? c->layout
                  .offsets[c->placement.body_of[m->buffers[m->buffer_begin[t]]]]
            : UINT64_MAX;
  }
  for (op_id op = 0; op < p->g->ops.count; op++) {
    const uint32_t body = c->placement.workspace_body[op];
    plan->workspace_offsets[op] =
        body == CALM_NONE ? UINT64_MAX : c->layout.offsets[body];
  }
  return CALM_OK;
}

/* Graphs other than the entry run in file order, wherever the runtime likes. */
static calm_status record_graphs(calm_plan *plan) {
  const graph_vector *graphs = &plan->model->graphs;
  ARENA_ARRAY(&plan->arena, plan->graphs, graphs->count);
  plan->graphs[0] = (plan_graph){plan->sequence, plan->offsets};
  for (uint32_t i = 1; i < graphs->count; i++) {
    const graph *g = &graphs->data[i];
    plan_graph *out = &plan->graphs[i];
    ARENA_ARRAY(&plan->arena, out->sequence, g->ops.count);
    ARENA_ARRAY(&plan->arena, out->offsets, g->tensors.count);
    for (op_id op = 0; op < g->ops.count; op++)
      out->sequence[op] = g->order[op];
    for (tensor_id t = 0; t < g->tensors.count; t++)
      out->offsets[t] = UINT64_MAX;
  }
  return CALM_OK;
}

/*
 * The arena is optimal when it meets a bound that holds for every order; for an
 * order that was asked for, when it meets the bound of that order.
 */
static void record_layout(planner *p, const candidate *c) {
  calm_plan *plan = p->plan;
  plan->layout = c->layout;
  plan->layout.offsets = NULL; /* by body, and gone with the scratch */
  if (order_is_free(p)) plan->layout.bound_bytes = plan->order.bound_bytes;
  plan->layout.outcome = plan->layout.arena_bytes == plan->layout.bound_bytes
                             ? CALM_OPTIMAL
                             : CALM_FEASIBLE;
}

static calm_status record(planner *p, const candidate *c) {
  calm_plan *plan = p->plan;
  ARENA_ARRAY(&plan->arena, plan->sequence, p->g->ops.count);
  if (p->g->ops.count)
    memcpy(plan->sequence, c->sequence,
           p->g->ops.count * sizeof *plan->sequence);
  TRY(memory_simulate(&plan->profile, p->g, &plan->memory, p->body_arenas,
                      plan->sequence, &plan->arena));
  plan->order.peak_bytes = plan->profile.peak_bytes;
  plan->order.outcome = plan->order.peak_bytes == plan->order.bound_bytes
                            ? CALM_OPTIMAL
                            : CALM_FEASIBLE;
  record_layout(p, c);
  plan->summary.order_outcome = plan->order.outcome;
  plan->summary.peak_bytes = plan->order.peak_bytes;
  plan->summary.peak_bound_bytes = plan->order.bound_bytes;
  plan->summary.layout_outcome = plan->layout.outcome;
  plan->summary.arena_bytes = plan->layout.arena_bytes;
  plan->summary.arena_bound_bytes = plan->layout.bound_bytes;
  plan->budget_bytes = p->options->budget_bytes;
  plan->summary.within_budget = plan->layout.arena_bytes <= plan->budget_bytes;
  TRY(record_offsets(p, c));
  return record_graphs(plan);
}

/* The plan, judged by code that knows nothing of how it was made. */
static calm_status check_plan(const planner *p) {
  const calm_plan *plan = p->plan;
  memory_verdict verdict;
  const memory_plan outside = {.sequence = plan->sequence,
                               .offsets = plan->offsets,
                               .workspace_offsets = plan->workspace_offsets,
                               .workspace_bytes = plan->workspace_bytes,
                               .arena_bytes = plan->layout.arena_bytes};
  TRY(memory_check(&verdict, p->g, &plan->memory, &outside, p->scratch));
  calm_status status = CALM_OK;
  if (verdict.faults.count)
    status = context_fail(plan->context, CALM_INTERNAL,
                          "%s: the plan does not hold: %s", plan->model->path,
                          verdict.faults.data[0].text);
  else if (plan->profile.peak_bytes < plan->order.bound_bytes)
    status = context_fail(plan->context, CALM_INTERNAL,
                          "%s: a peak below its bound", plan->model->path);
  memory_verdict_free(&verdict, plan->context);
  return status;
}

static calm_status run(planner *p) {
  candidate best;
  uint64_t *arenas;
  calm_plan *plan = p->plan;
  TRY(pipeline_memory_model(&plan->memory, plan->model, p->options));
  TRY(pipeline_choice(&plan->order_method, "order", p->options->order,
                      &plan->arena));
  TRY(pipeline_choice(&plan->layout_method, "layout", p->options->layout,
                      &plan->arena));
  TRY(pipeline_body_arenas(&arenas, plan->model, &plan->memory, p->scratch));
  p->body_arenas = arenas;
  TRY(memory_problem_build(&p->problem, p->g, &plan->memory, arenas,
                           p->scratch));
  TRY(plan_baseline(p));
  TRY(plan_order(p));
  TRY(plan_layout(&best, p));
  plan->counted = p->options->count && p->options->order == ORDER_DP;
  plan->timing = p->options->timing;
  plan->offline_plan = p->options->offline_plan;
  TRY(record(p, &best));
  return check_plan(p);
}

static calm_status make(void *result, const calm_options *options) {
  calm_plan *plan = result;
  arena scratch;
  arena_init(&scratch, plan->context);
  planner p = {
      .plan = plan, .g = plan->graph, .options = options, .scratch = &scratch};
  calm_status status = run(&p);
  arena_free(&scratch);
  return status;
}

calm_status calm_plan_make(calm_plan **out, calm_model *model,
                           const calm_options *options) {
  TRY(model_finish(model));
  calm_plan *plan = pipeline_allocate(model->context, sizeof *plan);
  if (!plan) return CALM_NO_MEMORY;
  plan->context = model->context;
  plan->model = model;
  plan->graph = &model->graphs.data[0];
  arena_init(&plan->arena, plan->context);
  calm_status status = pipeline_run(plan->context, options, make, plan);
  if (status == CALM_OK)
    *out = plan;
  else
    calm_plan_free(plan);
  return status;
}

void calm_plan_free(calm_plan *plan) {
  if (!plan) return;
  calm_context *context = plan->context;
  arena_free(&plan->arena);
  context_reallocate(context, plan, sizeof *plan, 0);
}

const calm_plan_summary *calm_plan_summary_of(const calm_plan *plan) {
  return &plan->summary;
}

uint32_t calm_plan_op_at(const calm_plan *plan, uint32_t step) {
  return step < plan->graph->ops.count ? plan->sequence[step] : CALM_NONE;
}

uint64_t calm_plan_offset(const calm_plan *plan, uint32_t tensor) {
  return tensor < plan->graph->tensors.count ? plan->offsets[tensor]
                                             : UINT64_MAX;
}
