/*
 * From what was walked to what is counted: partitions, bypass, reads, fills and
 * updates, energies and cycles.
 */
#include <math.h>
#include <string.h>

#include "cost_referee_parts.h"

/* One tensor through all levels. */
typedef struct column {
  uint32_t tensor;
  bool written;
  referee_stream *streams; /* per level */
  double *leaving;         /* words that leave the level downwards */
  double *arriving;        /* words that an instance is sent from above */
  uint64_t *tile, *partition;
} column;

/* ---- Bypass -------------------------------------------------------------- */

static double all_words(const referee_stream *s) {
  double out = 0;
  for (uint32_t i = 0; i < s->group_count; i++) out += s->groups[i].accesses;
  return out;
}

/* Words that an instance below is sent, on average.  The parts are added in
   the order of the groups, as fractions are cut off afterwards. */
static double words_below(const referee_stream *s) {
  double out = 0;
  for (uint32_t i = 0; i < s->group_count; i++)
    out += s->groups[i].accesses * (double)s->groups[i].multicast /
           (double)s->fanout;
  return out;
}

static double copies(const referee_stream *s) {
  double out = 0;
  for (uint32_t i = 0; i < s->group_count; i++)
    out += s->groups[i].accesses * (double)s->groups[i].multicast;
  return out;
}

/* The share of the tensor that an instance is the first to hold: a whole one at
   the top, and below each fan-out the tile's share of what all instances
   together hold. */
static void find_partitions(column *c, const match *m) {
  const uint32_t n = m->arch->level_count;
  for (uint32_t i = n; i-- > 0;) {
    c->tile[i] =
        referee_words_within(m, c->tensor, referee_begin(m->nest, i + 1));
    if (i == n - 1) {
      c->partition[i] = c->tile[i];
      continue;
    }
    const uint32_t end = referee_temporal(m->nest, i + 1);
    const bool spread_out = end > referee_begin(m->nest, i + 1);
    const uint64_t together =
        spread_out ? referee_words_within(m, c->tensor, end) : c->tile[i];
    c->partition[i] = c->partition[i + 1] * c->tile[i] / together;
  }
}

/* A bypassed level passes on what is asked of it to the next outer one: so
   many words as leave it are sent to it.  Levels above the outermost that keeps
   the tensor take no part. */
static void hand_up(column *c, const match *m) {
  const uint32_t n = m->arch->level_count;
  for (uint32_t i = 0; i < n; i++) {
    if (referee_keeps(m, i, c->tensor)) continue;
    if (i + 1 < n) {
      referee_stream *outer = &c->streams[i + 1];
      const double ratio =
          c->leaving[i] * (double)outer->fanout / copies(outer);
      for (uint32_t g = 0; g < outer->group_count; g++)
        outer->groups[g].accesses *= ratio;
      c->leaving[i + 1] = all_words(outer);
    }
    c->tile[i] = c->partition[i] = 0;
    c->leaving[i] = c->arriving[i] = 0;
  }
  uint32_t top = n - 1;
  for (; !referee_keeps(m, top, c->tensor); top--)
    c->streams[top] = (referee_stream){.fanout = 0};
  c->arriving[top] = 0;
}

static void walk_column(column *c, const match *m, uint32_t tensor) {
  const uint32_t n = m->arch->level_count;
  *c = (column){.tensor = tensor,
                .written = m->layer->tensors[tensor].read_write};
  c->streams = referee_memory(m->arena, n, sizeof *c->streams);
  c->leaving = referee_memory(m->arena, n, sizeof *c->leaving);
  c->arriving = referee_memory(m->arena, n, sizeof *c->arriving);
  c->tile = referee_memory(m->arena, n, sizeof *c->tile);
  c->partition = referee_memory(m->arena, n, sizeof *c->partition);
  for (uint32_t i = 0; i < n; i++) {
    referee_walk(&c->streams[i], m->pieces, tensor, i, m->arena);
    c->leaving[i] = all_words(&c->streams[i]);
    if (i > 0) c->arriving[i - 1] = words_below(&c->streams[i]);
  }
  find_partitions(c, m);
  hand_up(c, m);
}

/* ---- Counts -------------------------------------------------------------- */

static uint64_t rounded(double x) { return x > 0 ? (uint64_t)llround(x) : 0; }

static cost_tensor *tensor_of(const match *m, uint32_t level, uint32_t tensor) {
  return &m->out->tensors[level * m->layer->tensor_count + tensor];
}

static cost_flow *flow_of(const match *m, uint32_t level, uint32_t tensor) {
  return &m->out->flows[level * m->layer->tensor_count + tensor];
}

/* A word that is only read leaves the level as often as it is read there.  One
   that is written comes back as often as it leaves; it need not be read to be
   sent the first time, as it is zero then. */
static void count_tensor(const match *m, const column *c, uint32_t i) {
  cost_tensor *t = tensor_of(m, i, c->tensor);
  const double leaving = c->leaving[i], arriving = c->arriving[i];
  const double first = (double)c->partition[i];
  bool outermost = true;
  for (uint32_t j = i + 1; j < m->arch->level_count; j++)
    outermost = outermost && !referee_keeps(m, j, c->tensor);
  t->kept = true;
  t->tile_words = c->tile[i];
  t->partition_words = c->partition[i];
  if (c->written) {
    t->updates = rounded(leaving);
    t->reads = t->temporal_reductions = rounded(leaving - first);
    t->fills = rounded(outermost ? arriving : arriving - first);
    t->address_generations = t->updates + t->fills;
  } else {
    t->reads = rounded(leaving);
    t->fills = (uint64_t)arriving;
    t->address_generations = t->reads + t->fills;
  }
}

static void count_flow(const match *m, const column *c, uint32_t i) {
  const accel_level *l = &m->arch->levels[i];
  cost_flow *f = flow_of(m, i, c->tensor);
  referee_stream *s = &c->streams[i];
  double hops = 0, routers = 0;
  f->fanout = s->fanout;
  f->groups = s->groups;
  f->group_count = s->group_count;
  for (uint32_t g = 0; g < s->group_count; g++) {
    cost_group *group = &s->groups[g];
    if (c->written && !l->reduction_supported)
      group->accesses = fmax(2 * group->accesses - (double)c->partition[i], 0);
    f->ingresses += group->accesses;
    if (c->written)
      f->spatial_reductions =
          (uint64_t)((double)f->spatial_reductions +
                     (double)(group->multicast - 1) * group->accesses);
    if (group->accesses <= 0) continue;
    hops += group->hops;
    routers = floor(routers + (1 + floor(group->hops / group->accesses)) *
                                  group->accesses);
  }
  f->hops = f->ingresses > 0 ? hops / f->ingresses : 0;
  f->energy_pj = hops * l->network.hop_pj + routers * l->network.router_pj +
                 f->ingresses * l->network.ingress_pj;
  f->energy_pj *= (double)m->out->levels[i].instances;
}

static void count_levels(match *m) {
  for (uint32_t i = 0; i < m->arch->level_count; i++)
    m->out->levels[i].instances = (uint64_t)referee_average(m->nest, i + 1);
  for (uint32_t t = 0; t < m->layer->tensor_count; t++) {
    column c;
    walk_column(&c, m, t);
    for (uint32_t i = 0; i < m->arch->level_count; i++) {
      if (referee_keeps(m, i, t)) count_tensor(m, &c, i);
      count_flow(m, &c, i);
      m->out->levels[i].used_words += c.tile[i];
    }
  }
}

/* ---- Energy and time ----------------------------------------------------- */

static uint64_t vectors(uint64_t words, uint32_t block) {
  return words / block + (words % block ? 1 : 0);
}

/* Instances that are used: the product of all loops above. */
static uint64_t expanded(const match *m, uint32_t level) {
  return referee_spread(m->nest, level + 1, m->arch->level_count,
                        ACCEL_TEMPORAL);
}

/* All instances of a cluster share an access; how many share is the instances
   in use by the clusters in use. */
static void charge_tensor(const match *m, uint32_t i, uint32_t tensor) {
  const accel_level *l = &m->arch->levels[i];
  const double instances = (double)m->out->levels[i].instances;
  const uint64_t spread_over = expanded(m, i),
                 clusters = l->instances / l->cluster;
  cost_tensor *t = tensor_of(m, i, tensor);
  if (!t->kept) return;
  t->clusters = spread_over < clusters ? spread_over : clusters;
  const double each =
      (double)vectors(t->reads, l->block_words) * l->energy.read_pj +
      (double)vectors(t->fills, l->block_words) * l->energy.write_pj +
      (double)vectors(t->updates, l->block_words) * l->energy.update_pj;
  if (l->energy.address_pj > 0)
    t->address_pj = (double)t->address_generations * l->energy.address_pj *
                    (double)t->clusters;
  t->energy_pj =
      each / ((double)spread_over / (double)t->clusters) * instances +
      t->address_pj;
}

static double scale_of(const match *m, const accel_level *l, uint32_t tensor) {
  for (uint32_t i = 0; i < l->scale_count; i++)
    if (!strcmp(l->scales[i].tensor, m->layer->tensors[tensor].name))
      return l->scales[i].scale;
  return 1;
}

static double slowed(double slowdown, double bandwidth, double demand) {
  if (bandwidth <= 0 || bandwidth >= demand) return slowdown;
  return fmin(slowdown, bandwidth / demand);
}

static void time_level(const match *m, uint32_t i) {
  const accel_level *l = &m->arch->levels[i];
  cost_level *out = &m->out->levels[i];
  const double cycles = (double)m->out->compute_cycles;
  const double share = (double)expanded(m, i) / (double)out->instances;
  double read = 0, write = 0;
  for (uint32_t t = 0; t < m->layer->tensor_count; t++) {
    const cost_tensor *c = tensor_of(m, i, t);
    const double scale = scale_of(m, l, t);
    read += ceil((double)c->reads / share) / cycles * scale;
    write += ceil((double)(c->fills + c->updates) / share) / cycles * scale;
  }
  out->slowdown = slowed(1, l->read_bandwidth, read);
  out->slowdown = slowed(out->slowdown, l->write_bandwidth, write);
  out->slowdown = slowed(out->slowdown, l->shared_bandwidth, read + write);
  out->cycles = (uint64_t)ceil(cycles / out->slowdown);
}

static void count_time(const match *m) {
  cost_result *out = m->out;
  const uint32_t n = m->arch->level_count;
  out->compute_cycles = 1;
  for (uint32_t k = 0; k < m->nest->loop_count; k++)
    if (m->nest->loops[k].kind == ACCEL_TEMPORAL)
      out->compute_cycles *= m->nest->loops[k].bound;
  out->multipliers = referee_spread(m->nest, 0, n, ACCEL_TEMPORAL);
  out->cycles = out->compute_cycles;
  out->limiting_level = CALM_NONE;
  for (uint32_t i = 0; i < n; i++) {
    time_level(m, i);
    if (out->levels[i].cycles <= out->cycles) continue;
    out->cycles = out->levels[i].cycles;
    out->limiting_level = i;
  }
}

/* Networks take part in time after all, once: to be filled and drained. */
static void add_latencies(const match *m) {
  cost_result *out = m->out;
  for (uint32_t i = 0; i < m->arch->level_count; i++)
    out->cycles += m->arch->levels[i].network.fill_cycles +
                   m->arch->levels[i].network.drain_cycles;
  out->utilization = (double)out->computes /
                     (double)m->arch->compute.instances / (double)out->cycles;
}

static void count_energy(const match *m) {
  cost_result *out = m->out;
  out->compute_pj = (double)out->computes * m->arch->compute.energy_pj;
  out->energy_pj = out->compute_pj;
  for (uint32_t i = 0; i < m->arch->level_count; i++) {
    cost_level *l = &out->levels[i];
    l->leak_pj = m->arch->levels[i].energy.leak_pj * (double)out->cycles *
                 (double)l->instances;
    l->energy_pj = l->leak_pj;
    for (uint32_t t = 0; t < m->layer->tensor_count; t++) {
      charge_tensor(m, i, t);
      l->energy_pj += tensor_of(m, i, t)->energy_pj;
      out->network_pj += flow_of(m, i, t)->energy_pj;
    }
    out->energy_pj += l->energy_pj;
  }
  out->energy_pj += out->network_pj;
}

static void count_totals(const match *m) {
  cost_result *out = m->out;
  count_time(m);
  count_energy(m);
  add_latencies(m);
  out->edp = out->energy_pj * (double)out->cycles;
}

void cost_referee(cost_result *out, const cost_pieces *c,
                  cost_fanout_rule fanout, arena *a) {
  match m = {c, &c->arch, &c->layer, &c->nest, a, out};
  const uint32_t n = c->arch.level_count, tensors = c->layer.tensor_count;
  *out = (cost_result){.level_count = n, .tensor_count = tensors};
  out->levels = referee_memory(a, n, sizeof *out->levels);
  out->tensors = referee_memory(a, (size_t)n * tensors, sizeof *out->tensors);
  out->flows = referee_memory(a, (size_t)n * tensors, sizeof *out->flows);
  if (!referee_judge(&m, fanout)) return;
  out->computes = referee_count_iterations(m.layer, m.nest, a);
  count_levels(&m);
  count_totals(&m);
}
