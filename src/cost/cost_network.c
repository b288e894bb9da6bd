/* What the networks carry: words, additions on the way, and the energy of the
   routes. */
#include "cost/cost_count.h"

/*
 * A sink that cannot add sends the old value down first: twice the words, but
 * for the first touches.
 */
static double double_words(cost_flow *flow, double part) {
  double total = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    const double words = 2 * flow->groups[i].accesses - part;
    flow->groups[i].accesses = words > 0 ? words : 0;
    total += flow->groups[i].accesses;
  }
  return total;
}

/* A route of h hops passes 1 + floor(h) routers.  Routers and additions are
   counted in whole numbers, group by group. */
static void count_routes(double *hops, double *routers, const cost_flow *flow) {
  double passed = 0;
  *hops = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    const cost_group *g = &flow->groups[i];
    if (g->accesses <= 0) continue;
    const double each = 1 + cost_real(cost_whole(g->hops / g->accesses));
    *hops += g->hops;
    passed += each * g->accesses;
    if (passed < (double)ACCEL_MAX_COUNT)
      passed = cost_real(cost_whole(passed));
  }
  *routers = passed;
}

static uint64_t count_additions(const cost_flow *flow) {
  uint64_t additions = 0;
  for (uint32_t i = 0; i < flow->group_count; i++) {
    const cost_group *g = &flow->groups[i];
    additions = cost_whole(cost_real(additions) +
                           cost_real(g->multicast - 1) * g->accesses);
  }
  return additions;
}

/* Where routes cost nothing, nor are asked for. */
static void skip_routes(cost_flow *flow, const cost_store *store,
                        double instances) {
  flow->hops = flow->link_pj = 0;
  flow->energy_pj = flow->ingresses * store->ingress_pj * instances;
}

static void follow_routes(cost_flow *flow, const cost_store *store,
                          double instances) {
  double hops, routers;
  count_routes(&hops, &routers, flow);
  flow->hops = hops > 0 ? hops / flow->ingresses : 0;
  flow->energy_pj = (hops * store->hop_pj + routers * store->router_pj +
                     flow->ingresses * store->ingress_pj) *
                    instances;
  flow->link_pj =
      flow->links * (store->hop_pj + 2 * store->router_pj) * instances;
}

void cost_count_networks(cost_flow *flows, const cost_scratch *s,
                         uint32_t tensor) {
  const bool written = s->tables.shapes[tensor].read_write;
  cost_flow *flow = flows;
  for (uint32_t level = 0; level < s->tables.level_count; level++) {
    const cost_store *store = &s->tables.stores[level];
    const cost_ledger *l = &s->ledgers[level];
    const double instances = s->frame.spreads[level].instances;
    flow->ingresses =
        written && !store->reduces ? double_words(flow, l->part) : l->total;
    flow->spatial_reductions = written ? count_additions(flow) : 0;
    if (store->needs_hops)
      follow_routes(flow, store, instances);
    else
      skip_routes(flow, store, instances);
    flow += s->tables.tensor_count;
  }
}
