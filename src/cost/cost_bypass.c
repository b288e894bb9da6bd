#include "cost/cost_count.h"

/*
 * A level that does not keep a tensor is only passed through.  Its own children
 * then fetch from the next outer level, as often as they would have from it:
 * every pattern of that level's network is scaled by how much more that is.
 * What a level is filled with is settled before, from the level above it
 * whether that keeps the tensor or not.  Neighbours of a level that is passed
 * through have nothing to hand on.
 */

/* What each of the instances below receives on average is added up group by
   group, as Timeloop does: fractions are cut off later. */
void cost_enter_flow(cost_scratch *s, const cost_flow *flow, uint32_t level) {
  cost_ledger *l = &s->ledgers[level];
  const double fanout = cost_real(flow->fanout);
  const cost_group *g = flow->groups;
  double total = 0, received = 0, share = 0;
  if (flow->fanout == 1 && flow->group_count == 1)
    total = received = share = g->accesses;
  else
    for (uint32_t i = 0; i < flow->group_count; i++) {
      const double weighted = g[i].accesses * cost_real(g[i].multicast);
      total += g[i].accesses;
      received += weighted;
      share += weighted / fanout;
    }
  l->fanout = fanout;
  l->total = l->content = total;
  l->received = received;
  l->share = l->peer = 0;
  if (level) s->ledgers[level - 1].share = share;
}

static void erase(cost_ledger *l) { l->part = l->content = l->share = 0; }

static void pass_through(cost_ledger *inner, cost_ledger *outer,
                         cost_flow *flow) {
  const double more = inner->content * outer->fanout / outer->received;
  if (more != 1) {
    outer->total = 0;
    for (uint32_t i = 0; i < flow->group_count; i++) {
      flow->groups[i].accesses *= more;
      outer->total += flow->groups[i].accesses;
    }
    outer->content = outer->total;
  }
  flow->links = 0;
  erase(inner);
}

/* Above the outermost level that keeps the tensor nothing moves at all, and
   that one is filled from nowhere.  There is one, or the nest is not valid. */
static void silence_outer(cost_scratch *s, cost_flow *flows) {
  const uint32_t tensors = s->tables.tensor_count;
  uint32_t level = s->tables.level_count - 1;
  for (; !s->ledgers[level].kept; level--) {
    cost_flow *flow = &flows[level * tensors];
    flow->group_count = 0;
    flow->fanout = 0;
    flow->links = 0;
    s->ledgers[level].total = 0;
    erase(&s->ledgers[level]);
  }
  s->ledgers[level].share = 0;
}

/* A word that a neighbour hands on is read at one instance and filled at the
   other; all are counted alike. */
static void share_links(cost_scratch *s, const cost_flow *flows) {
  const uint32_t tensors = s->tables.tensor_count;
  for (uint32_t level = 1; level < s->tables.level_count; level++) {
    const double links = flows[level * tensors].links;
    if (links != 0)
      s->ledgers[level - 1].peer =
          links / s->frame.spreads[level - 1].instances;
  }
}

void cost_collapse_bypass(cost_scratch *s, cost_flow *flows, uint32_t tensor) {
  const uint32_t levels = s->tables.level_count;
  const uint32_t tensors = s->tables.tensor_count;
  cost_ledger *ledgers = s->ledgers;
  for (uint32_t i = 0; i < levels; i++) {
    ledgers[i].kept = s->frame.nest->kept[i] >> tensor & 1;
    if (!ledgers[i].kept && i + 1 < levels)
      pass_through(&ledgers[i], &ledgers[i + 1], &flows[(i + 1) * tensors]);
  }
  silence_outer(s, flows);
  share_links(s, flows);
}
