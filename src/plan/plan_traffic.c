/*
 * Off-chip traffic in a plan.  What the orders of the file and of the plan move
 * is counted when the plan stands.  With --minimize traffic the order of least
 * peak is only where the search for the plan's order begins; the arena is then
 * laid out for that order and no other.
 */
#include <string.h>

#include "plan/planner.h"

enum { FOR_PEAK, FOR_TRAFFIC };
enum { FOR_FILE_ORDER };

bool plan_traffic_decides(const calm_options *options) {
  return options->minimize == FOR_TRAFFIC;
}

/* ---- What is asked for --------------------------------------------------- */

static calm_status check_request(const planner *p) {
  calm_context *context = p->plan->context;
  if (!plan_traffic_decides(p->options)) return CALM_OK;
  if (p->traffic.count != 1)
    return context_fail(context, CALM_MISUSE,
                        "--minimize traffic is for one on-chip memory: %s "
                        "--onchip SIZE, such as --onchip 64K",
                        p->traffic.count ? "give one size only as" : "add");
  if (p->options->order != ORDER_EXACT)
    return context_fail(context, CALM_MISUSE,
                        "--minimize traffic finds an order by itself and "
                        "begins with the exact one: leave out --order %s",
                        p->plan->order_method);
  if (p->options->page_bytes)
    return context_fail(context, CALM_MISUSE,
                        "--minimize traffic is for whole tensors: leave out "
                        "--page-size");
  if (p->options->traversal != FOR_FILE_ORDER)
    return context_fail(context, CALM_MISUSE,
                        "--minimize traffic plans an order that ONNX Runtime "
                        "follows on request only: leave out --for ort-default");
  return CALM_OK;
}

calm_status plan_traffic_ask(planner *p) {
  TRY(pipeline_traffic_ask(&p->traffic, p->options, &p->plan->arena));
  return check_request(p);
}

calm_status plan_traffic_prepare(planner *p) {
  if (!p->traffic.count) return CALM_OK;
  return pipeline_traffic_build(&p->traffic, p->g, p->plan->graph,
                                &p->plan->memory, p->body_arenas);
}

/* ---- The order that moves least ------------------------------------------ */

/* As operators of the planner's own problem. */
static calm_status take_order(planner *p, const op_id *sequence) {
  uint32_t *own;
  ARENA_ARRAY(&p->plan->arena, own, p->problem.order.op_count);
  memory_fold_sequence(own, p->g, &p->problem, sequence);
  p->plan->order.sequence = own;
  return CALM_OK;
}

/* The order of least peak, as the problem of traffic numbers operators. */
static calm_status start_from(uint32_t **out, planner *p) {
  ARENA_ARRAY(p->scratch, p->least_peak, p->g->ops.count);
  TRY(memory_expand_sequence(p->least_peak, p->g, &p->problem,
                             p->plan->order.sequence));
  return pipeline_traffic_fold(out, NULL, &p->traffic, p->least_peak,
                               p->scratch);
}

/* What the order of least peak has left of the time for orders. */
static void limit_search(limits *out, const planner *p) {
  pipeline_limits(out, p->plan->context, p->options, PLAN_ORDER_SHARE);
  if (out->deadline > 0) out->deadline -= p->plan->order_seconds;
}

calm_status plan_traffic_arrange(planner *p) {
  traffic_options o = traffic_options_default();
  limits l;
  uint32_t *start;
  op_id *sequence;
  traffic_order *found = &p->least_traffic;
  if (!plan_traffic_decides(p->options)) return CALM_OK;
  const double begun = limits_clock();
  o.seed = p->options->seed;
  limit_search(&l, p);
  TRY(start_from(&start, p));
  TRY(traffic_minimize(found, &p->traffic.problem->problem,
                       &p->traffic.memories[0], start, &o, &p->plan->arena,
                       &l));
  ARENA_ARRAY(p->scratch, sequence, p->g->ops.count);
  TRY(memory_expand_sequence(sequence, p->g, &p->traffic.problem->memory,
                             found->sequence));
  TRY(take_order(p, sequence));
  p->plan->order_method = "traffic";
  p->plan->order_seconds += limits_clock() - begun;
  p->plan->traffic.least =
      (plan_least_traffic){.wanted = true,
                           .outcome = found->outcome,
                           .spill_bytes = traffic_spills(&found->result.total),
                           .bound_bytes = found->bound_bytes,
                           .states = found->states,
                           .ticks = found->ticks,
                           .stopped = found->stopped};
  return CALM_OK;
}

/* ---- Into the plan ------------------------------------------------------- */

/* What stays was chosen with the order, not by Belady's rule. */
static calm_status record_found(planner *p, plan_traffic *row) {
  const uint32_t count = p->traffic.problem->memory.order.op_count;
  const traffic_order *found = &p->least_traffic;
  if (count && memcmp(found->sequence, row->sequence,
                      count * sizeof *found->sequence) != 0)
    return context_fail(p->plan->context, CALM_INTERNAL,
                        "%s: not the order that was found",
                        p->plan->model->path);
  row->result = found->result;
  return pipeline_traffic_check(row, p->scratch);
}

/* Never more than the order of least peak, and never less than is proved. */
static calm_status check_found(const planner *p) {
  const plan_traffics *t = &p->plan->traffic;
  const uint64_t spills = traffic_spills(&t->rows[2].result.total);
  if (spills <= traffic_spills(&t->rows[1].result.total) &&
      spills >= t->least.bound_bytes &&
      (t->least.outcome != CALM_OPTIMAL || spills == t->least.bound_bytes))
    return CALM_OK;
  return context_fail(p->plan->context, CALM_INTERNAL,
                      "%s: the order of least traffic is none",
                      p->plan->model->path);
}

calm_status plan_traffic_record(planner *p) {
  plan_traffics *t = &p->plan->traffic;
  const bool found = t->least.wanted;
  const uint32_t last = found ? 2 : 1;
  if (!p->traffic.count) return CALM_OK;
  TRY(pipeline_traffic_open(t, &p->traffic, last + 1));
  TRY(pipeline_traffic_add(t, &p->traffic, 0, "file", p->baseline));
  if (found)
    TRY(pipeline_traffic_add(t, &p->traffic, 1, "peak", p->least_peak));
  TRY(pipeline_traffic_add(t, &p->traffic, last, "plan", p->plan->sequence));
  if (!found) return CALM_OK;
  TRY(record_found(p, &t->rows[last]));
  p->plan->summary.order_outcome = t->least.outcome;
  return check_found(p);
}

bool calm_plan_traffic(calm_traffic *out, const calm_plan *plan, uint32_t row) {
  return plan_traffic_figures(out, &plan->traffic, row);
}
