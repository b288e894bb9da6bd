#include "cost/cost_count.h"

/*
 * A level that does not keep a tensor is only passed through.  Its own children
 * then fetch from the next outer level, as often as they would have from it:
 * every pattern of that level's network is scaled by how much more that is.
 * What a level is filled with is settled before, from the level above it
 * whether that keeps the tensor or not.  Neighbours of a level that is passed
 * through have nothing to hand on.
 */

static double total_of(const cost_flow *flow) {
  double total = 0;
  for (uint32_t i = 0; i < flow->group_count; i++)
    total += flow->groups[i].accesses;
  return total;
}

static double weighted_of(const cost_flow *flow) {
  double total = 0;
  for (uint32_t i = 0; i < flow->group_count; i++)
    total += flow->groups[i].accesses * (double)flow->groups[i].multicast;
  return total;
}

/* What each of the instances below a flow receives on average: added up group
   by group as Timeloop does, since fractions are cut off later. */
static double share_of(const cost_flow *flow) {
  double share = 0;
  for (uint32_t i = 0; i < flow->group_count; i++)
    share += flow->groups[i].accesses * (double)flow->groups[i].multicast /
             (double)flow->fanout;
  return share;
}

static void erase(cost_ledger *l) {
  l->words = l->part = l->content = l->share = 0;
}

static void pass_through(cost_ledger *inner, cost_ledger *outer,
                         cost_flow *flow) {
  const double more = inner->content * (double)flow->fanout / weighted_of(flow);
  if (more != 1)
    for (uint32_t i = 0; i < flow->group_count; i++)
      flow->groups[i].accesses *= more;
  flow->links = 0;
  outer->content = total_of(flow);
  erase(inner);
}

/* Above the outermost level that keeps the tensor nothing moves at all. */
static void silence_outer(cost_scratch *s, cost_flow *flows, uint32_t stride) {
  uint32_t level = s->tables.level_count;
  while (level-- > 0 && !s->ledgers[level].kept) {
    cost_flow *flow = &flows[level * stride];
    flow->group_count = 0;
    flow->fanout = 0;
    flow->links = 0;
    erase(&s->ledgers[level]);
  }
  if (level != UINT32_MAX) s->ledgers[level].share = 0;
}

/* A word that a neighbour hands on is read there and filled here: half of the
   children do the one, half the other, and all are counted alike. */
static void share_links(cost_scratch *s, const cost_flow *flows,
                        uint32_t stride) {
  for (uint32_t level = 1; level < s->tables.level_count; level++) {
    const double links = flows[level * stride].links;
    if (links != 0)
      s->ledgers[level - 1].peer =
          links / s->frame.spreads[level - 1].instances;
  }
}

void cost_collapse_bypass(cost_scratch *s, uint32_t tensor, cost_flow *flows,
                          uint32_t stride) {
  const uint32_t levels = s->tables.level_count;
  cost_ledger *ledgers = s->ledgers;
  for (uint32_t i = 0; i < levels; i++) {
    cost_ledger *l = &ledgers[i];
    l->kept = s->frame.nest->kept[i] >> tensor & 1;
    l->content = total_of(&flows[i * stride]);
    l->share = i + 1 < levels ? share_of(&flows[(i + 1) * stride]) : 0;
    l->peer = 0;
  }
  for (uint32_t i = 0; i + 1 < levels; i++)
    if (!ledgers[i].kept)
      pass_through(&ledgers[i], &ledgers[i + 1], &flows[(i + 1) * stride]);
  silence_outer(s, flows, stride);
  share_links(s, flows, stride);
}
