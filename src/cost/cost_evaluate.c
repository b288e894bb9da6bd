/*
 * One nest, step by step: it is judged, and with that measured; each tensor's
 * flows are found, by the closed form or a replay, and counted; what all
 * tensors ask of a level says how long it takes, and that what leaks.
 */
#include "cost/cost_count.h"
#include "cost/cost_judge.h"
#include "cost/cost_stream.h"

/* One nest under evaluation. */
typedef struct evaluation {
  const cost_problem *problem;
  const accel_nest *nest;
  cost_scratch *scratch;
  cost_result *result;
  cost_visits visits;
  uint64_t steps;  /* that replays may still take */
  double computes; /* per multiplier, as a replay counted them; 0: none did */
} evaluation;

/* ---- Streams ------------------------------------------------------------- */

/* Groups that a replay had to put elsewhere move into the result, which keeps
   the larger room. */
static calm_status keep_groups(cost_flow *flow, const cost_stream *stream,
                               arena *a) {
  if (stream->groups != flow->groups) {
    uint32_t room = flow->group_capacity * 2;
    if (room < stream->group_count) room = stream->group_count;
    ARENA_ARRAY(a, flow->groups, room);
    flow->group_capacity = room;
    for (uint32_t i = 0; i < stream->group_count; i++)
      flow->groups[i] = stream->groups[i];
  }
  flow->group_count = stream->group_count;
  flow->links = stream->links;
  flow->fanout = stream->fanout;
  return CALM_OK;
}

/* May neighbours hand the tensor on below the level? */
static bool links(const evaluation *e, uint32_t tensor, uint32_t level) {
  const uint32_t *unlinked = e->nest->unlinked;
  return e->problem->options.model == COST_TIMELOOP &&
         !(unlinked && unlinked[level] >> tensor & 1);
}

static calm_status replay(bool *found, evaluation *e, cost_flow *flow,
                          uint32_t tensor, uint32_t level) {
  const cost_question question = {
      e->problem, e->nest, tensor, level, e->visits, links(e, tensor, level),
      &e->steps};
  double *computes =
      level == 0 && !e->scratch->frame.perfect ? &e->computes : NULL;
  cost_stream stream = {.groups = flow->groups,
                        .group_capacity = flow->group_capacity};
  TRY(cost_replay(&stream, computes, &question, &e->scratch->replay));
  e->scratch->excess = stream.excess;
  *found = stream.excess.fault == COST_VALID;
  return keep_groups(flow, &stream, e->result->arena);
}

/* Does the closed form hold? */
static bool is_closed(const evaluation *e, uint32_t tensor, uint32_t level) {
  return e->scratch->frame.perfect &&
         !(links(e, tensor, level) &&
           cost_stream_may_link(e->scratch, tensor, level));
}

static calm_status find_flow(bool *found, evaluation *e, cost_flow *flow,
                             uint32_t tensor, uint32_t level) {
  if (!is_closed(e, tensor, level))
    return replay(found, e, flow, tensor, level);
  *found = cost_stream_closed(flow, e->scratch, tensor, level, e->visits);
  return CALM_OK;
}

/* The flows below all levels as if every level kept the tensor; *missing is the
   innermost one that is not found, or CALM_NONE. */
static calm_status find_flows(uint32_t *missing, evaluation *e,
                              cost_flow *flows, uint32_t tensor) {
  cost_scratch *s = e->scratch;
  *missing = CALM_NONE;
  if (e->problem->options.model == COST_EXACT && s->frame.perfect) {
    *missing = cost_streams_closed(flows, s, tensor, e->visits);
    return CALM_OK;
  }
  for (uint32_t level = 0; level < s->tables.level_count; level++) {
    bool found;
    TRY(find_flow(&found, e, &flows[level * s->tables.tensor_count], tensor,
                  level));
    if (found) continue;
    *missing = level;
    break;
  }
  return CALM_OK;
}

/* ---- One tensor ---------------------------------------------------------- */

static calm_status count_tensor(evaluation *e, uint32_t tensor) {
  cost_scratch *s = e->scratch;
  cost_flow *flows = e->result->flows + tensor;
  uint32_t missing;
  TRY(find_flows(&missing, e, flows, tensor));
  if (missing != CALM_NONE) {
    cost_stop(e->result, tensor, missing, &s->excess);
    return CALM_OK;
  }
  cost_enter_flows(s, flows, tensor);
  if (cost_count_accesses(e->result, s, tensor))
    cost_count_networks(flows, s, tensor);
  return CALM_OK;
}

/* ---- The whole ----------------------------------------------------------- */

/* Timeloop counts the operations of an imperfect nest as it replays them. */
static double count_computes(const evaluation *e) {
  const cost_scratch *s = e->scratch;
  if (s->frame.perfect || e->problem->options.model == COST_EXACT)
    return s->tables.macs;
  return (double)(uint64_t)(e->computes * s->frame.multiplying);
}

/* Of a level that limits computing, the cycles that it stretches it to. */
static double busy_cycles(const evaluation *e, uint32_t level, double sharing,
                          double stretched) {
  const cost_result *r = e->result;
  if (r->levels[level].slowdown < 1) return stretched;
  return cost_busy_cycles(&e->scratch->tables.stores[level],
                          &r->tensors[level * r->tensor_count], r->tensor_count,
                          sharing);
}

static void count_cycles(evaluation *e) {
  cost_scratch *s = e->scratch;
  cost_result *r = e->result;
  const double compute = s->frame.compute_cycles;
  double cycles = compute;
  r->limiting_level = CALM_NONE;
  for (uint32_t level = 0; level < r->level_count; level++) {
    const cost_spread *spread = &s->frame.spreads[level];
    cost_level *out = &r->levels[level];
    const double sharing =
        spread->above_x * spread->above_y / spread->instances;
    double stretched = compute;
    out->slowdown = 1;
    if (s->tables.stores[level].throttles) {
      out->slowdown = cost_slowdown(&s->tables.stores[level],
                                    &r->tensors[level * r->tensor_count],
                                    r->tensor_count, compute, sharing);
      stretched = cost_stretch(compute, out->slowdown);
    }
    out->busy_cycles = -1;
    if (e->problem->options.networks)
      out->busy_cycles = busy_cycles(e, level, sharing, stretched);
    const double all = stretched + s->tables.network_cycles;
    if (all > (double)ACCEL_MAX_COUNT) {
      cost_refuse(r, CALM_NONE, level, all);
      return;
    }
    out->cycles = cost_whole(stretched);
    out->instances = cost_whole(spread->instances);
    if (stretched > cycles) cycles = stretched, r->limiting_level = level;
  }
  r->compute_cycles = cost_whole(compute);
  r->cycles = cost_whole(cycles + s->tables.network_cycles);
}

/* Leakage lasts as long as the slowest level, networks not counted. */
static void add_energies(evaluation *e) {
  const cost_tables *t = &e->scratch->tables;
  cost_result *r = e->result;
  const double lasting = cost_real(r->cycles) - t->network_cycles;
  r->compute_pj = cost_real(r->computes) * t->mac_pj;
  r->network_pj = 0;
  r->energy_pj = r->compute_pj;
  for (uint32_t level = 0; level < r->level_count; level++) {
    cost_level *out = &r->levels[level];
    out->leak_pj =
        t->stores[level].leak_pj * lasting * cost_real(out->instances);
    out->energy_pj = out->leak_pj;
    out->used_words = 0;
    for (uint32_t i = 0; i < r->tensor_count; i++) {
      const uint32_t at = level * r->tensor_count + i;
      out->energy_pj += r->tensors[at].energy_pj;
      out->used_words += r->tensors[at].tile_words;
      r->network_pj += r->flows[at].energy_pj + r->flows[at].link_pj;
    }
    r->energy_pj += out->energy_pj;
  }
  r->energy_pj += r->network_pj;
}

static void sum_up(evaluation *e) {
  const cost_tables *t = &e->scratch->tables;
  cost_result *r = e->result;
  r->computes = cost_whole(count_computes(e));
  r->multipliers = cost_whole(e->scratch->frame.multipliers);
  count_cycles(e);
  add_energies(e);
  r->edp = r->energy_pj * cost_real(r->cycles);
  r->utilization =
      cost_real(r->computes) / t->multipliers / cost_real(r->cycles);
}

static calm_status evaluate(evaluation *e) {
  cost_scratch *s = e->scratch;
  cost_judge(&e->result->verdict, e->problem, e->nest);
  if (e->result->verdict.fault != COST_VALID) return CALM_OK;
  for (uint32_t t = 0; t < s->tables.tensor_count; t++) {
    TRY(count_tensor(e, t));
    if (e->result->verdict.fault != COST_VALID) return CALM_OK;
  }
  sum_up(e);
  return CALM_OK;
}

static cost_visits visits_of(const cost_problem *p) {
  return p->options.model == COST_EXACT ? COST_VISIT_ALL : COST_VISIT_TWO;
}

calm_status cost_evaluate(cost_result *out, const cost_problem *p,
                          const accel_nest *n) {
  evaluation e = {p, n, p->scratch, out, visits_of(p), COST_REPLAY_STEPS, 0};
  const calm_status status = evaluate(&e);
  arena_free(&p->scratch->replay);
  return status;
}
