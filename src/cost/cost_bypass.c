#include "cost/cost_count.h"

/*
 * A level that does not keep a tensor is only passed through.  Its own children
 * then fetch from the next outer level, as often as they would have from it:
 * every pattern of that level's network is scaled by how much more that is.
 * What a level is filled with is settled before, from the level above it
 * whether that keeps the tensor or not.  Neighbours of a level that is passed
 * through have nothing to hand on.
 */
static void pass_through(cost_ledger *inner, cost_ledger *outer,
                         cost_flow *flow) {
  const double more = inner->total * outer->fanout / outer->received;
  outer->total = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    flow->groups[i].accesses *= more;
    outer->total += flow->groups[i].accesses;
  }
  flow->links = 0;
  inner->share = 0;
}

/* What leaves a level.  Returns what each of the instances below receives, on
   average, which is added up group by group, as Timeloop does: fractions are
   cut off later. */
static double enter_flow(cost_ledger *l, const cost_flow *flow) {
  double share = 0;
  l->fanout = cost_real(flow->fanout);
  l->total = l->received = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    const cost_group *g = &flow->groups[i];
    const double weighted = g->accesses * cost_real(g->multicast);
    l->total += g->accesses;
    l->received += weighted;
    share += weighted / l->fanout;
  }
  return share;
}

/* A word that a neighbour hands on is read at one instance and filled at the
   other; all are counted alike. */
static double share_links(const cost_flow *flow, const cost_spread *inner) {
  return flow->links == 0 ? 0 : flow->links / inner->instances;
}

/* Above the outermost level that keeps the tensor nothing moves at all, and
   that one is filled from nowhere.  There is one, or the nest is not valid. */
static void silence_outer(cost_scratch *s, cost_flow *flows) {
  uint32_t level = s->tables.level_count - 1;
  s->ledgers[level].share = s->ledgers[level].peer = 0;
  for (; !s->ledgers[level].kept; level--) {
    cost_ledger *l = &s->ledgers[level];
    cost_flow *flow = &flows[level * s->tables.tensor_count];
    flow->group_count = 0;
    flow->fanout = 0;
    flow->links = 0;
    l->total = l[-1].share = l[-1].peer = 0;
  }
}

void cost_enter_flows(cost_scratch *s, cost_flow *flows, uint32_t tensor) {
  const uint32_t *kept = s->frame.nest->kept;
  cost_flow *flow = flows;
  for (uint32_t level = 0; level < s->tables.level_count; level++) {
    cost_ledger *l = &s->ledgers[level];
    const double share = enter_flow(l, flow);
    l->kept = kept[level] >> tensor & 1;
    if (level > 0) {
      cost_ledger *inner = l - 1;
      inner->share = share;
      if (!inner->kept) pass_through(inner, l, flow);
      inner->peer = share_links(flow, &s->frame.spreads[level - 1]);
    }
    flow += s->tables.tensor_count;
  }
  silence_outer(s, flows);
}
