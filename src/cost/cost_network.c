#include "cost/cost_count.h"

/*
 * A sink that cannot add sends the old value down first: twice the words, but
 * for the first touches.
 */
static double ingress_of(double accesses, double part, bool twice) {
  if (!twice) return accesses;
  const double words = 2 * accesses - part;
  return words > 0 ? words : 0;
}

void cost_count_network(cost_flow *flow, const cost_scratch *s, uint32_t tensor,
                        uint32_t level) {
  const cost_store *store = &s->tables.stores[level];
  const bool written = s->tables.shapes[tensor].read_write;
  const double part = s->ledgers[level].part;
  double ingresses = 0, hops = 0;
  uint64_t routers = 0, reductions = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    cost_group *g = &flow->groups[i];
    g->accesses = ingress_of(g->accesses, part, written && !store->reduces);
    ingresses += g->accesses;
    if (written)
      reductions = (uint64_t)((double)reductions +
                              (double)(g->multicast - 1) * g->accesses);
    if (g->accesses <= 0) continue;
    hops += g->hops;
    const double touched = 1 + (double)(uint64_t)(g->hops / g->accesses);
    routers = (uint64_t)((double)routers + touched * g->accesses);
  }
  const double instances = s->frame.spreads[level].instances;
  flow->ingresses = ingresses;
  flow->hops = ingresses > 0 ? hops / ingresses : 0;
  flow->spatial_reductions = reductions;
  flow->energy_pj = (hops * store->hop_pj + (double)routers * store->router_pj +
                     ingresses * store->ingress_pj) *
                    instances;
  flow->link_pj =
      flow->links * (store->hop_pj + 2 * store->router_pj) * instances;
}
