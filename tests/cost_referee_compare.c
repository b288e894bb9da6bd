/*
 * Two answers side by side: the first number in which they differ, by name.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cost_referee.h"

typedef struct comparison {
  char *line; /* empty as long as all is equal */
  size_t size;
  bool hops;
  char where[160];
} comparison;

static bool near(double a, double b) {
  return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static bool real(comparison *c, const char *what, double a, double b) {
  if (near(a, b)) return true;
  snprintf(c->line, c->size, "%s%s: %.17g and %.17g", c->where, what, a, b);
  return false;
}

static bool count(comparison *c, const char *what, uint64_t a, uint64_t b) {
  if (a == b) return true;
  snprintf(c->line, c->size, "%s%s: %llu and %llu", c->where, what,
           (unsigned long long)a, (unsigned long long)b);
  return false;
}

static bool compare_tensor(comparison *c, const cost_tensor *a,
                           const cost_tensor *b) {
  return count(c, "kept", a->kept, b->kept) &&
         count(c, "tile", a->tile_words, b->tile_words) &&
         count(c, "partition", a->partition_words, b->partition_words) &&
         count(c, "reads", a->reads, b->reads) &&
         count(c, "fills", a->fills, b->fills) &&
         count(c, "updates", a->updates, b->updates) &&
         count(c, "temporal reductions", a->temporal_reductions,
               b->temporal_reductions) &&
         count(c, "address generations", a->address_generations,
               b->address_generations) &&
         count(c, "clusters", a->clusters, b->clusters) &&
         real(c, "address energy", a->address_pj, b->address_pj) &&
         real(c, "energy", a->energy_pj, b->energy_pj);
}

/* Groups in which nothing is delivered do not count. */
static const cost_group *next_group(const cost_flow *f, uint32_t *i) {
  while (*i < f->group_count && f->groups[*i].accesses == 0) ++*i;
  return *i < f->group_count ? &f->groups[(*i)++] : NULL;
}

static bool compare_groups(comparison *c, const cost_flow *a,
                           const cost_flow *b) {
  uint32_t i = 0, j = 0;
  for (;;) {
    const cost_group *g = next_group(a, &i), *h = next_group(b, &j);
    if (!g && !h) return true;
    if (!count(c, "group", g != NULL, h != NULL) ||
        !count(c, "multicast", g->multicast, h->multicast) ||
        !count(c, "scatter", g->scatter, h->scatter) ||
        !real(c, "accesses of a group", g->accesses, h->accesses) ||
        (c->hops && !real(c, "hops of a group", g->hops, h->hops)))
      return false;
  }
}

static bool compare_flow(comparison *c, const cost_flow *a,
                         const cost_flow *b) {
  return count(c, "fanout", a->fanout, b->fanout) &&
         real(c, "ingresses", a->ingresses, b->ingresses) &&
         real(c, "links", a->links, b->links) &&
         count(c, "spatial reductions", a->spatial_reductions,
               b->spatial_reductions) &&
         compare_groups(c, a, b) &&
         (!c->hops || real(c, "hops", a->hops, b->hops)) &&
         real(c, "network energy", a->energy_pj, b->energy_pj) &&
         real(c, "link energy", a->link_pj, b->link_pj);
}

static bool compare_level(comparison *c, const cost_level *a,
                          const cost_level *b) {
  return count(c, "instances", a->instances, b->instances) &&
         count(c, "used words", a->used_words, b->used_words) &&
         real(c, "slowdown", a->slowdown, b->slowdown) &&
         count(c, "cycles", a->cycles, b->cycles) &&
         real(c, "leakage", a->leak_pj, b->leak_pj) &&
         real(c, "energy", a->energy_pj, b->energy_pj);
}

static bool compare_verdicts(comparison *c, const cost_verdict *a,
                             const cost_verdict *b) {
  return count(c, "fault", a->fault, b->fault) &&
         count(c, "level at fault", a->level, b->level) &&
         count(c, "dimension at fault", a->dimension, b->dimension) &&
         count(c, "needed", a->needed, b->needed) &&
         count(c, "available", a->available, b->available);
}

static bool compare_totals(comparison *c, const cost_result *a,
                           const cost_result *b) {
  return count(c, "computes", a->computes, b->computes) &&
         count(c, "multipliers", a->multipliers, b->multipliers) &&
         count(c, "compute cycles", a->compute_cycles, b->compute_cycles) &&
         count(c, "cycles", a->cycles, b->cycles) &&
         count(c, "limiting level", a->limiting_level, b->limiting_level) &&
         real(c, "utilization", a->utilization, b->utilization) &&
         real(c, "compute energy", a->compute_pj, b->compute_pj) &&
         real(c, "network energy", a->network_pj, b->network_pj) &&
         real(c, "energy", a->energy_pj, b->energy_pj) &&
         real(c, "edp", a->edp, b->edp);
}

static bool compare_levels(comparison *c, const cost_result *a,
                           const cost_result *b, const accel_arch *arch,
                           const accel_layer *layer) {
  for (uint32_t i = 0; i < a->level_count; i++)
    for (uint32_t t = 0; t < a->tensor_count; t++) {
      const uint32_t at = i * a->tensor_count + t;
      snprintf(c->where, sizeof c->where,
               "%.60s of %.60s: ", layer->tensors[t].name,
               arch->levels[i].name);
      if (!compare_tensor(c, &a->tensors[at], &b->tensors[at]) ||
          !compare_flow(c, &a->flows[at], &b->flows[at]))
        return false;
    }
  for (uint32_t i = 0; i < a->level_count; i++) {
    snprintf(c->where, sizeof c->where, "%.60s: ", arch->levels[i].name);
    if (!compare_level(c, &a->levels[i], &b->levels[i])) return false;
  }
  c->where[0] = '\0';
  return true;
}

const char *cost_referee_difference(const cost_result *a, const cost_result *b,
                                    const cost_pieces *pieces, bool hops,
                                    arena *memory) {
  comparison c = {.size = 256, .hops = hops};
  c.line = referee_memory(memory, c.size, 1);
  if (!compare_verdicts(&c, &a->verdict, &b->verdict)) return c.line;
  if (a->verdict.fault != COST_VALID) return NULL;
  if (!compare_levels(&c, a, b, &pieces->arch, &pieces->layer) ||
      !compare_totals(&c, a, b))
    return c.line;
  return NULL;
}
