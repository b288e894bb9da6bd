/*
 * A machine around a nest: with the room that the nest needs, more here and
 * there, and seldom less.
 */
#include "cost_random_parts.h"

static uint64_t used(const accel_nest *n, uint32_t level,
                     accel_loop_kind kind) {
  uint64_t out = 1;
  for (uint32_t k = 0; k < n->loop_count; k++)
    if (n->loops[k].level == level && n->loops[k].kind == kind)
      out *= n->loops[k].bound;
  return out;
}

/* Words that the nest needs at a level. */
static uint64_t needed(const cost_random_case *c, uint32_t level) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS], out = 0;
  for (uint32_t i = 0; i < c->layer.dimension_count; i++) extents[i] = 1;
  for (uint32_t k = 0; k < c->nest.loop_count; k++)
    if (c->nest.loops[k].level <= level)
      extents[c->nest.loops[k].dimension] *= c->nest.loops[k].bound;
  for (uint32_t t = 0; t < c->layer.tensor_count; t++)
    if (c->nest.kept[level] >> t & 1)
      out += accel_tensor_words(&c->layer.tensors[t], extents);
  return out;
}

/* A quarter of a small number, so that sums are exact. */
static double quarters(draft *d, uint32_t most) {
  return (double)(1 + draft_below(d, 4 * most)) / 4;
}

static void draw_capacity(draft *d, accel_level *l, uint32_t level) {
  const uint64_t words = needed(d->out, level);
  l->entries = l->capacity_words = ACCEL_UNLIMITED;
  l->multiple_buffering = 1;
  if (draft_chance(d, 20)) return;
  l->capacity_words =
      words * (1 + draft_below(d, 3)) + draft_below(d, 3) * draft_below(d, 4);
  if (l->capacity_words == 0) l->capacity_words = 1;
  if (!d->options->valid && draft_chance(d, 2) && words > 1)
    l->capacity_words = words - 1;
  l->entries = l->capacity_words;
  if (draft_chance(d, 20)) {
    l->multiple_buffering = 2;
    l->entries = 2 * l->capacity_words + draft_below(d, 2);
  }
  if (!d->options->valid && draft_chance(d, 4)) l->min_utilization = 0.5;
}

static void draw_bandwidths(draft *d, accel_level *l) {
  if (draft_chance(d, 30)) l->read_bandwidth = quarters(d, 4);
  if (draft_chance(d, 30)) l->write_bandwidth = quarters(d, 4);
  if (draft_chance(d, 15)) l->shared_bandwidth = quarters(d, 4);
  if (!draft_chance(d, 10)) return;
  l->scales = draft_take(d, 1, sizeof *l->scales);
  l->scale_count = 1;
  l->scales[0] = (accel_scale){
      .tensor =
          d->out->layer.tensors[draft_below(d, d->out->layer.tensor_count)]
              .name,
      .scale = quarters(d, 2)};
}

static void draw_energies(draft *d, accel_level *l) {
  l->energy =
      (accel_energy){.read_pj = quarters(d, 8),
                     .write_pj = quarters(d, 8),
                     .update_pj = quarters(d, 8),
                     .address_pj = draft_chance(d, 20) ? quarters(d, 2) : -1,
                     .known = true};
  if (draft_chance(d, 20)) l->energy.leak_pj = quarters(d, 1);
  l->network.word_bits = l->word_bits;
  l->network.hop_given = true;
  if (draft_chance(d, 40)) l->network.hop_pj = quarters(d, 2);
  if (draft_chance(d, 30)) l->network.router_pj = quarters(d, 2);
  if (draft_chance(d, 10)) l->network.ingress_pj = quarters(d, 2);
  if (draft_chance(d, 8)) l->network.fill_cycles = draft_below(d, 9);
  if (draft_chance(d, 8)) l->network.drain_cycles = draft_below(d, 9);
}

/* Instances that share an access: a divisor of their number. */
static uint32_t draw_cluster(draft *d, uint64_t instances) {
  const uint32_t cluster = 1 + draft_below(d, 8);
  return draft_chance(d, 40) && instances % cluster == 0 ? cluster : 1;
}

static void draw_level(draft *d, uint32_t level) {
  static const uint32_t blocks[] = {1, 1, 2, 4, 8};
  accel_level *l = &d->out->arch.levels[level];
  l->name = draft_name(d, "L", level);
  l->class_name = "";
  l->dram = level + 1 == d->out->arch.level_count && draft_chance(d, 80);
  l->reduction_supported = draft_chance(d, l->dram ? 20 : 85);
  l->word_bits = 8 * (1 + draft_below(d, 3));
  l->block_words = blocks[draft_below(d, 5)];
  l->cluster = draw_cluster(d, l->instances);
  l->virtual_level = !d->out->nest.kept[level] && draft_chance(d, 30);
  draw_capacity(d, l, level);
  draw_bandwidths(d, l);
  draw_energies(d, l);
}

/* Columns or rows of a fan-out: those that the nest uses, or more; seldom
   fewer. */
static uint64_t draw_fanout(draft *d, uint32_t level, accel_loop_kind kind) {
  const uint64_t need = used(&d->out->nest, level, kind);
  if (!d->options->valid && draft_chance(d, 2) && need > 1) return need / 2;
  if (draft_chance(d, 70)) return need;
  return draft_chance(d, 50) ? 2 * need : need + 1 + draft_below(d, 2);
}

static void draw_meshes(draft *d) {
  accel_arch *arch = &d->out->arch;
  uint64_t x = 1 + (draft_chance(d, 10) ? draft_below(d, 2) : 0), y = 1;
  for (uint32_t i = arch->level_count; i-- > 0;) {
    accel_level *l = &arch->levels[i];
    l->mesh_x = x;
    l->mesh_y = y;
    l->instances = x * y;
    x *= draw_fanout(d, i, ACCEL_SPATIAL_X);
    y *= draw_fanout(d, i, ACCEL_SPATIAL_Y);
  }
  arch->compute.mesh_x = x;
  arch->compute.mesh_y = y;
  arch->compute.instances = x * y;
}

void draft_machine(draft *d) {
  accel_arch *arch = &d->out->arch;
  *arch =
      (accel_arch){.name = "random", .level_count = d->out->nest.level_count};
  arch->levels = draft_take(d, arch->level_count, sizeof *arch->levels);
  arch->compute.name = "MAC";
  arch->compute.word_bits = 8;
  arch->compute.energy_pj = quarters(d, 2);
  arch->compute.energy_known = true;
  draw_meshes(d);
  for (uint32_t i = 0; i < arch->level_count; i++) draw_level(d, i);
}
