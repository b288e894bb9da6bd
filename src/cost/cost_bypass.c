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
    total += flow->groups[i].accesses * cost_real(flow->groups[i].multicast);
  return total;
}

/* What each of the instances below receives on average is added up group by
   group, as Timeloop does: fractions are cut off later. */
void cost_enter_flow(cost_scratch *s, const cost_flow *flow, uint32_t tensor,
                     uint32_t level) {
  cost_ledger *l = &s->ledgers[level];
  const double fanout = cost_real(flow->fanout);
  double content = 0, share = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    const cost_group *g = &flow->groups[i];
    content += g->accesses;
    share += g->accesses * cost_real(g->multicast) / fanout;
  }
  l->kept = s->frame.nest->kept[level] >> tensor & 1;
  l->content = content;
  l->share = l->peer = 0;
  if (level) s->ledgers[level - 1].share = share;
}

static void erase(cost_ledger *l) { l->part = l->content = l->share = 0; }

static void pass_through(cost_ledger *inner, cost_ledger *outer,
                         cost_flow *flow) {
  const double more =
      inner->content * cost_real(flow->fanout) / weighted_of(flow);
  if (more != 1)
    for (uint32_t i = 0; i < flow->group_count; i++)
      flow->groups[i].accesses *= more;
  flow->links = 0;
  outer->content = total_of(flow);
  erase(inner);
}

/* Above the outermost level that keeps the tensor nothing moves at all, and
   that one is filled from nowhere.  There is one, or the nest is not valid. */
static void silence_outer(cost_scratch *s, cost_flow *flows, uint32_t stride) {
  uint32_t level = s->tables.level_count - 1;
  for (; !s->ledgers[level].kept; level--) {
    cost_flow *flow = &flows[level * stride];
    flow->group_count = 0;
    flow->fanout = 0;
    flow->links = 0;
    erase(&s->ledgers[level]);
  }
  s->ledgers[level].share = 0;
}

/* A word that a neighbour hands on is read at one instance and filled at the
   other; all are counted alike. */
static void share_links(cost_scratch *s, const cost_flow *flows,
                        uint32_t stride) {
  for (uint32_t level = 1; level < s->tables.level_count; level++) {
    const double links = flows[level * stride].links;
    if (links != 0)
      s->ledgers[level - 1].peer =
          links / s->frame.spreads[level - 1].instances;
  }
}

void cost_collapse_bypass(cost_scratch *s, cost_flow *flows, uint32_t stride) {
  cost_ledger *ledgers = s->ledgers;
  for (uint32_t i = 0; i + 1 < s->tables.level_count; i++)
    if (!ledgers[i].kept)
      pass_through(&ledgers[i], &ledgers[i + 1], &flows[(i + 1) * stride]);
  silence_outer(s, flows, stride);
  share_links(s, flows, stride);
}
