#include "cost/cost_count.h"
#include "cost/cost_judge.h"
#include "cost/cost_stream.h"

/* One nest under evaluation. */
typedef struct evaluation {
  const cost_problem *problem;
  const accel_nest *nest;
  cost_scratch *scratch;
  cost_result *result;
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

static cost_visits visits_of(const evaluation *e) {
  return e->problem->options.model == COST_EXACT ? COST_VISIT_ALL
                                                 : COST_VISIT_TWO;
}

static calm_status replay(bool *found, evaluation *e, cost_flow *flow,
                          uint32_t tensor, uint32_t level) {
  const cost_question question = {e->problem,   e->nest,
                                  tensor,       level,
                                  visits_of(e), links(e, tensor, level)};
  double *computes =
      level == 0 && !e->scratch->frame.perfect ? &e->computes : NULL;
  cost_stream stream = {.groups = flow->groups,
                        .group_capacity = flow->group_capacity};
  TRY(cost_replay(&stream, computes, &question, &e->scratch->replay));
  TRY(keep_groups(flow, &stream, e->result->arena));
  *found = !stream.too_large;
  return CALM_OK;
}

/* Does the closed form hold? */
static bool is_closed(const evaluation *e, uint32_t tensor, uint32_t level) {
  return e->scratch->frame.perfect &&
         !(links(e, tensor, level) &&
           cost_stream_may_link(e->scratch, tensor, level));
}

static void find_too_large(cost_verdict *v, uint32_t tensor, uint32_t level,
                           double needed) {
  *v = (cost_verdict){
      .fault = COST_TOO_LARGE,
      .level = level,
      .tensor = tensor,
      .dimension = CALM_NONE,
      .needed = needed < 1e19 ? (uint64_t)needed : UINT64_MAX,
      .available = ACCEL_MAX_COUNT,
  };
}

/* The flow below a level as if every level kept the tensor. */
static calm_status find_flow(evaluation *e, uint32_t tensor, uint32_t level) {
  cost_scratch *s = e->scratch;
  cost_flow *flow = &e->result->flows[level * s->tables.tensor_count + tensor];
  bool found;
  if (is_closed(e, tensor, level))
    found = cost_stream_closed(flow, s, tensor, level, visits_of(e));
  else
    TRY(replay(&found, e, flow, tensor, level));
  if (found)
    cost_enter_flow(s, flow, level);
  else
    find_too_large(&e->result->verdict, tensor, level, 1e300);
  return CALM_OK;
}

/* ---- One tensor ---------------------------------------------------------- */

/* Every count follows from these, and is no larger than the sum of them. */
static void refuse_large(evaluation *e, uint32_t tensor) {
  const uint32_t tensors = e->scratch->tables.tensor_count;
  for (uint32_t i = 0; i < e->scratch->tables.level_count; i++) {
    const cost_ledger *l = &e->scratch->ledgers[i];
    const double most = l->content + l->share + l->peer + l->received +
                        e->scratch->frame.words[i * tensors + tensor];
    if (most > (double)ACCEL_MAX_COUNT)
      find_too_large(&e->result->verdict, tensor, i, most);
  }
}

static calm_status count_tensor(evaluation *e, uint32_t tensor) {
  cost_scratch *s = e->scratch;
  const uint32_t tensors = s->tables.tensor_count;
  cost_count_parts(s, tensor);
  for (uint32_t level = 0; level < s->tables.level_count; level++)
    TRY(find_flow(e, tensor, level));
  if (e->result->verdict.fault != COST_VALID) return CALM_OK;
  cost_collapse_bypass(s, e->result->flows + tensor, tensor);
  refuse_large(e, tensor);
  if (e->result->verdict.fault != COST_VALID) return CALM_OK;
  cost_count_accesses(e->result, s, tensor);
  for (uint32_t level = 0; level < s->tables.level_count; level++)
    cost_count_network(&e->result->flows[level * tensors + tensor], s, tensor,
                       level);
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
    out->slowdown = cost_slowdown(&s->tables.stores[level],
                                  &r->tensors[level * r->tensor_count],
                                  r->tensor_count, compute, sharing);
    const double stretched = cost_stretch(compute, out->slowdown);
    const double all = stretched + s->tables.network_cycles;
    if (all > (double)ACCEL_MAX_COUNT) {
      find_too_large(&r->verdict, CALM_NONE, level, all);
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
  cost_judge_nest(&e->result->verdict, e->problem, e->nest);
  if (e->result->verdict.fault != COST_VALID) return CALM_OK;
  for (uint32_t t = 0; t < s->tables.tensor_count; t++) {
    TRY(count_tensor(e, t));
    if (e->result->verdict.fault != COST_VALID) return CALM_OK;
  }
  sum_up(e);
  return CALM_OK;
}

calm_status cost_evaluate(cost_result *out, const cost_problem *p,
                          const accel_nest *n) {
  evaluation e = {p, n, p->scratch, out, 0};
  const calm_status status = evaluate(&e);
  arena_free(&p->scratch->replay);
  return status;
}
