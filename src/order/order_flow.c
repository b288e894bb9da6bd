#include "order/order_flow.h"

#include <assert.h>
#include <string.h>

calm_status order_flow_init(order_flow *f, uint32_t node_count,
                            uint32_t pair_limit, arena *a) {
  *f = (order_flow){.node_count = node_count};
  ARENA_ARRAY(a, f->tails, pair_limit);
  ARENA_ARRAY(a, f->heads, pair_limit);
  ARENA_ARRAY(a, f->bounds, pair_limit);
  ARENA_ARRAY(a, f->begin, node_count + 2);
  ARENA_ARRAY(a, f->distance, node_count);
  ARENA_ARRAY(a, f->next, node_count);
  ARENA_ARRAY(a, f->queue, node_count);
  ARENA_ARRAY(a, f->path, node_count);
  ARENA_ARRAY(a, f->side, node_count);
  return CALM_OK;
}

void order_flow_add(order_flow *f, uint32_t from, uint32_t to, uint64_t bound) {
  assert(from < f->node_count && to < f->node_count && from != to);
  const uint32_t i = f->pair_count++;
  f->tails[i] = from;
  f->heads[i] = to;
  f->bounds[i] = bound;
  f->begin[from + 2]++;
  f->begin[to + 2]++;
}

/* Sort the arcs by where they leave. */
calm_status order_flow_finish(order_flow *f, arena *a) {
  const size_t arcs = (size_t)f->pair_count * 2;
  ARENA_ARRAY(a, f->head, arcs);
  ARENA_ARRAY(a, f->twin, arcs);
  ARENA_ARRAY(a, f->capacity, arcs);
  ARENA_ARRAY(a, f->residual, arcs);
  ARENA_ARRAY(a, f->arc_of, f->pair_count);
  for (uint32_t v = 2; v < f->node_count + 2; v++)
    f->begin[v] += f->begin[v - 1];
  for (uint32_t i = 0; i < f->pair_count; i++) {
    const uint32_t there = f->begin[f->tails[i] + 1]++;
    const uint32_t back = f->begin[f->heads[i] + 1]++;
    f->head[there] = f->heads[i];
    f->head[back] = f->tails[i];
    f->twin[there] = back;
    f->twin[back] = there;
    f->capacity[there] = f->bounds[i];
    f->arc_of[i] = there;
  }
  return CALM_OK;
}

/* Distances from the sources in the residual network, as far as the nearest
   sink.  False if no sink can be reached. */
static bool measure_distances(order_flow *f) {
  uint32_t head = 0, tail = 0, reached = CALM_NONE;
  memset(f->distance, 0xff, f->node_count * sizeof *f->distance);
  for (uint32_t v = 0; v < f->node_count; v++)
    if (f->side[v] == FLOW_SOURCE) {
      f->distance[v] = 0;
      f->queue[tail++] = v;
    }
  while (head < tail) {
    const uint32_t v = f->queue[head++];
    if (f->distance[v] >= reached) break;
    for (uint32_t i = f->begin[v]; i < f->begin[v + 1]; i++) {
      const uint32_t w = f->head[i];
      if (!f->residual[i] || f->distance[w] != CALM_NONE) continue;
      f->distance[w] = f->distance[v] + 1;
      f->queue[tail++] = w;
      if (f->side[w] == FLOW_SINK) reached = f->distance[w];
    }
    f->ticks += f->begin[v + 1] - f->begin[v];
  }
  return reached != CALM_NONE;
}

/* Push what the path of `length` arcs can take; yields the amount. */
static uint64_t augment(order_flow *f, uint32_t length) {
  uint64_t amount = UINT64_MAX;
  for (uint32_t i = 0; i < length; i++)
    if (f->residual[f->path[i]] < amount) amount = f->residual[f->path[i]];
  for (uint32_t i = 0; i < length; i++) {
    f->residual[f->path[i]] -= amount;
    f->residual[f->twin[f->path[i]]] += amount;
  }
  return amount;
}

/* An arc of v that leads one farther from the sources; CALM_NONE if none is
   left.  Arcs passed over stay so until distances are measured again. */
static uint32_t find_arc(order_flow *f, uint32_t v) {
  for (; f->next[v] < f->begin[v + 1]; f->next[v]++) {
    const uint32_t i = f->next[v];
    f->ticks++;
    if (f->residual[i] && f->distance[f->head[i]] == f->distance[v] + 1)
      return i;
  }
  return CALM_NONE;
}

/* All flow from one source along shortest paths: advance to a sink and push, or
   step back from a dead end. */
static uint64_t push_from(order_flow *f, uint32_t source) {
  uint64_t pushed = 0;
  uint32_t length = 0, v = source;
  for (;;) {
    if (f->side[v] == FLOW_SINK) {
      pushed += augment(f, length);
      length = 0;
      v = source;
      continue;
    }
    const uint32_t arc = find_arc(f, v);
    if (arc != CALM_NONE) {
      f->path[length++] = arc;
      v = f->head[arc];
    } else if (length) {
      v = f->head[f->twin[f->path[--length]]];
      f->next[v]++;
    } else {
      return pushed;
    }
  }
}

uint64_t order_flow_run(order_flow *f, uint64_t enough) {
  uint64_t flow = 0;
  memcpy(f->residual, f->capacity,
         (size_t)f->pair_count * 2 * sizeof *f->residual);
  while (flow < enough && measure_distances(f)) {
    memcpy(f->next, f->begin, f->node_count * sizeof *f->next);
    for (uint32_t v = 0; v < f->node_count; v++)
      if (f->side[v] == FLOW_SOURCE) flow += push_from(f, v);
  }
  return flow;
}
