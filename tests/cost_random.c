/*
 * The nest comes first: loops are drawn, and what they make up are the bounds
 * of the layer; then a machine is built around the nest, with more room here
 * and there than it needs.
 */
#include "cost_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 5, MOST_DIMENSIONS = 8, MOST_LOOPS = 40 };

typedef struct draft {
  random_state *r;
  const cost_random_options *options;
  arena *arena;
  cost_random_case *out;
} draft;

static uint32_t below(draft *d, uint32_t bound) {
  return random_below(d->r, bound);
}

static bool chance(draft *d, uint32_t percent) {
  return below(d, 100) < percent;
}

static void *take(draft *d, size_t count, size_t size) {
  void *out = arena_calloc(d->arena, count, size);
  if (!out) abort();
  return out;
}

static const char *name(draft *d, const char *letter, uint32_t number) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%s%u", letter, number);
  const char *out = arena_string(d->arena, text, (size_t)length);
  if (!out) abort();
  return out;
}

/* ---- Layers -------------------------------------------------------------- */

static void begin_tensor(accel_tensor *t, draft *d, const char *what,
                         uint32_t ranks, bool read_write) {
  *t = (accel_tensor){.name = what, .read_write = read_write};
  t->ranks = take(d, ranks, sizeof *t->ranks);
  t->rank_count = ranks;
}

static void add_term(accel_tensor *t, draft *d, uint32_t rank,
                     uint32_t dimension, uint64_t coefficient) {
  accel_rank *r = &t->ranks[rank];
  if (!r->terms) r->terms = take(d, MOST_DIMENSIONS, sizeof *r->terms);
  r->terms[r->term_count++] = (accel_term){dimension, coefficient};
  if (coefficient) t->dimensions |= UINT32_C(1) << dimension;
}

static void add_ranks(accel_tensor *t, draft *d, const uint32_t *dimensions) {
  for (uint32_t i = 0; i < t->rank_count; i++)
    if (dimensions[i] != CALM_NONE) add_term(t, d, i, dimensions[i], 1);
}

static void begin_layer(draft *d, const char *shape, const char *letters,
                        uint32_t tensors) {
  accel_layer *l = &d->out->layer;
  *l = (accel_layer){.name = "random", .shape = shape, .count = 1};
  l->dimension_count = (uint32_t)strlen(letters);
  l->dimensions = take(d, l->dimension_count, sizeof *l->dimensions);
  for (uint32_t i = 0; i < l->dimension_count; i++) {
    l->dimensions[i].name = arena_string(d->arena, letters + i, 1);
    l->dimensions[i].bound = 1;
  }
  l->tensors = take(d, tensors, sizeof *l->tensors);
  l->tensor_count = tensors;
}

/* Strides and dilations: 1 mostly, 0 seldom. */
static uint64_t step(draft *d) {
  static const uint64_t steps[] = {1, 1, 1, 2, 2, 3, 1, 1, 1, 0};
  return steps[below(d, 10)];
}

/* R S P Q C K N, and G if there are groups. */
static void draw_convolution(draft *d) {
  const bool groups = chance(d, 25);
  enum { R, S, P, Q, C, K, N, G };
  const uint32_t g = groups ? 1 : 0;
  begin_layer(d, "cnn-layer", groups ? "RSPQCKNG" : "RSPQCKN", 3);
  accel_tensor *t = d->out->layer.tensors;
  begin_tensor(&t[0], d, "Weights", 4 + g, false);
  add_ranks(&t[0], d, (const uint32_t[]){C, K, R, S, G});
  begin_tensor(&t[1], d, "Inputs", 4 + g, false);
  add_ranks(&t[1], d, (const uint32_t[]){N, C, CALM_NONE, CALM_NONE, G});
  add_term(&t[1], d, 2, R, step(d));
  add_term(&t[1], d, 2, P, step(d));
  add_term(&t[1], d, 3, S, step(d));
  add_term(&t[1], d, 3, Q, step(d));
  begin_tensor(&t[2], d, "Outputs", 4 + g, true);
  add_ranks(&t[2], d, (const uint32_t[]){N, K, Q, P, G});
}

static void draw_product(draft *d) {
  begin_layer(d, "gemm_ABZ", "MNK", 3);
  accel_tensor *t = d->out->layer.tensors;
  begin_tensor(&t[0], d, "A", 2, false);
  add_ranks(&t[0], d, (const uint32_t[]){0, 2});
  begin_tensor(&t[1], d, "B", 2, false);
  add_ranks(&t[1], d, (const uint32_t[]){1, 2});
  begin_tensor(&t[2], d, "Z", 2, true);
  add_ranks(&t[2], d, (const uint32_t[]){0, 1});
}

/* Sums of several dimensions, dimensions that move several ranks, coefficients
   of 0; written tensors have plain ranks. */
static void draw_rank(draft *d, accel_tensor *t, uint32_t rank) {
  const uint32_t dimensions = d->out->layer.dimension_count;
  const uint32_t terms = t->read_write ? 1 : 1 + below(d, 3);
  uint32_t taken = 0;
  if (chance(d, 5)) return;
  for (uint32_t i = 0; i < terms; i++) {
    const uint32_t dimension = below(d, dimensions);
    if (taken >> dimension & 1) continue;
    if (t->read_write && t->dimensions >> dimension & 1) continue;
    taken |= UINT32_C(1) << dimension;
    add_term(t, d, rank, dimension,
             t->read_write || chance(d, 60) ? 1 : below(d, 5));
  }
}

static void draw_contraction(draft *d) {
  const uint32_t dimensions = 1 + below(d, 6), tensors = 1 + below(d, 4);
  begin_layer(d, "odd", &"ABDEFG"[6 - dimensions], tensors);
  for (uint32_t i = 0; i < tensors; i++) {
    const uint32_t ranks = 1 + below(d, 3);
    accel_tensor *t = &d->out->layer.tensors[i];
    begin_tensor(t, d, name(d, "T", i), ranks, i == 0 || chance(d, 15));
    for (uint32_t k = 0; k < ranks; k++) draw_rank(d, t, k);
  }
}

static void draw_layer(draft *d) {
  const uint32_t kind = below(d, 10);
  if (kind < 6)
    draw_convolution(d);
  else if (kind < 7)
    draw_product(d);
  else
    draw_contraction(d);
}

/* ---- Nests --------------------------------------------------------------- */

typedef struct loops {
  accel_loop data[MOST_LOOPS];
  uint32_t count;
} loops;

static bool has_loop(const loops *l, const accel_loop *other) {
  for (uint32_t i = 0; i < l->count; i++) {
    const accel_loop *loop = &l->data[i];
    if (loop->dimension != other->dimension || loop->level != other->level)
      continue;
    if (loop->kind == other->kind) return true;
    if (loop->kind != ACCEL_TEMPORAL && other->kind != ACCEL_TEMPORAL)
      return true; /* a dimension is on one axis */
  }
  return false;
}

static uint64_t draw_bound(draft *d) {
  static const uint64_t bounds[] = {2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7};
  return bounds[below(d, 12)];
}

/* Loops at random places, until all iterations are spent. */
static void draw_loops(draft *d, loops *out, uint32_t levels) {
  const uint64_t most = 1 + random_next(d->r) % d->options->most_macs;
  const uint32_t spatial = 10 * below(d, 6);
  uint64_t macs = 1;
  for (uint32_t tries = 0; tries < MOST_LOOPS; tries++) {
    accel_loop loop = {.bound = draw_bound(d)};
    loop.residual = loop.bound;
    loop.dimension = below(d, d->out->layer.dimension_count);
    loop.level = below(d, levels);
    loop.kind = ACCEL_TEMPORAL;
    if (chance(d, spatial))
      loop.kind = chance(d, 60) ? ACCEL_SPATIAL_X : ACCEL_SPATIAL_Y;
    if (has_loop(out, &loop) || macs * loop.bound > most) continue;
    if (d->options->imperfect && chance(d, 30))
      loop.residual = 1 + below(d, (uint32_t)loop.bound);
    macs *= loop.bound;
    out->data[out->count++] = loop;
  }
}

static uint32_t rank_of(const accel_loop *l) {
  return l->level * 3 + (uint32_t)l->kind;
}

/* In the order of a nest: by level and kind, at random within a block. */
static void sort_loops(loops *l) {
  for (uint32_t i = 1; i < l->count; i++)
    for (uint32_t k = i;
         k > 0 && rank_of(&l->data[k]) < rank_of(&l->data[k - 1]); k--) {
      const accel_loop swap = l->data[k];
      l->data[k] = l->data[k - 1];
      l->data[k - 1] = swap;
    }
}

/* The bound that the loops of a dimension make up. */
static uint64_t made_up(const loops *l, uint32_t dimension) {
  uint64_t out = 1;
  for (uint32_t k = l->count; k-- > 0;)
    if (l->data[k].dimension == dimension)
      out = (out - 1) * l->data[k].bound + l->data[k].residual;
  return out;
}

static void set_bounds(accel_layer *layer, const loops *l) {
  layer->macs = 1;
  for (uint32_t i = 0; i < layer->dimension_count; i++) {
    layer->dimensions[i].bound = made_up(l, i);
    layer->macs *= layer->dimensions[i].bound;
  }
}

/* Words of the largest tensor, as full passes make it. */
static uint64_t largest(const accel_layer *layer, const loops *l) {
  uint64_t out = 0, extents[MOST_DIMENSIONS];
  for (uint32_t i = 0; i < layer->dimension_count; i++) {
    extents[i] = 1;
    for (uint32_t k = 0; k < l->count; k++)
      if (l->data[k].dimension == i) extents[i] *= l->data[k].bound;
  }
  for (uint32_t t = 0; t < layer->tensor_count; t++) {
    uint64_t words = 1;
    const accel_tensor *tensor = &layer->tensors[t];
    for (uint32_t r = 0; r < tensor->rank_count; r++) {
      uint64_t size = 1;
      for (uint32_t i = 0; i < tensor->ranks[r].term_count; i++) {
        const accel_term *term = &tensor->ranks[r].terms[i];
        size += term->coefficient * (extents[term->dimension] - 1);
      }
      words *= size;
    }
    if (words > out) out = words;
  }
  return out;
}

static void draw_keeping(draft *d, uint32_t levels) {
  accel_nest *n = &d->out->nest;
  const uint32_t tensors = d->out->layer.tensor_count;
  const uint32_t keeping = 40 + 15 * below(d, 5);
  n->kept = take(d, levels, sizeof *n->kept);
  n->level_count = levels;
  for (uint32_t t = 0; t < tensors; t++) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < levels; i++) {
      const bool kept = chance(d, i == levels - 1 ? 97 : keeping);
      n->kept[i] |= kept ? UINT32_C(1) << t : 0;
      times += kept;
    }
    if (!times && (d->options->valid || chance(d, 80)))
      n->kept[below(d, levels)] |= UINT32_C(1) << t;
  }
}

static void draw_nest(draft *d) {
  loops l = {.count = 0};
  const uint32_t levels = 1 + below(d, MOST_LEVELS);
  draw_loops(d, &l, levels);
  sort_loops(&l);
  while (d->options->most_words &&
         largest(&d->out->layer, &l) > d->options->most_words)
    l.count--;
  set_bounds(&d->out->layer, &l);
  accel_nest *n = &d->out->nest;
  n->loops = take(d, l.count, sizeof *n->loops);
  memcpy(n->loops, l.data, l.count * sizeof *l.data);
  n->loop_count = l.count;
  draw_keeping(d, levels);
}

/* ---- Machines ------------------------------------------------------------ */

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
  uint64_t extents[MOST_DIMENSIONS], out = 0;
  for (uint32_t i = 0; i < c->layer.dimension_count; i++) {
    extents[i] = 1;
    for (uint32_t k = 0; k < c->nest.loop_count; k++)
      if (c->nest.loops[k].level <= level && c->nest.loops[k].dimension == i)
        extents[i] *= c->nest.loops[k].bound;
  }
  for (uint32_t t = 0; t < c->layer.tensor_count; t++) {
    const accel_tensor *tensor = &c->layer.tensors[t];
    if (!(c->nest.kept[level] >> t & 1)) continue;
    uint64_t words = 1;
    for (uint32_t r = 0; r < tensor->rank_count; r++) {
      uint64_t size = 1;
      for (uint32_t i = 0; i < tensor->ranks[r].term_count; i++) {
        const accel_term *term = &tensor->ranks[r].terms[i];
        size += term->coefficient * (extents[term->dimension] - 1);
      }
      words *= size;
    }
    out += words;
  }
  return out;
}

/* A quarter of a small number, so that sums are exact. */
static double quarters(draft *d, uint32_t most) {
  return (double)(1 + below(d, 4 * most)) / 4;
}

static void draw_capacity(draft *d, accel_level *l, uint32_t level) {
  const uint64_t words = needed(d->out, level);
  l->entries = l->capacity_words = ACCEL_UNLIMITED;
  l->multiple_buffering = 1;
  if (chance(d, 20)) return;
  l->capacity_words = words * (1 + below(d, 3)) + below(d, 3) * below(d, 4);
  if (l->capacity_words == 0) l->capacity_words = 1;
  if (!d->options->valid && chance(d, 2) && words > 1)
    l->capacity_words = words - 1;
  l->entries = l->capacity_words;
  if (chance(d, 20)) {
    l->multiple_buffering = 2;
    l->entries = 2 * l->capacity_words + below(d, 2);
  }
  if (!d->options->valid && chance(d, 4)) l->min_utilization = 0.5;
}

static void draw_bandwidths(draft *d, accel_level *l) {
  if (chance(d, 30)) l->read_bandwidth = quarters(d, 4);
  if (chance(d, 30)) l->write_bandwidth = quarters(d, 4);
  if (chance(d, 15)) l->shared_bandwidth = quarters(d, 4);
  if (!chance(d, 10)) return;
  l->scales = take(d, 1, sizeof *l->scales);
  l->scale_count = 1;
  l->scales[0] = (accel_scale){
      d->out->layer.tensors[below(d, d->out->layer.tensor_count)].name,
      quarters(d, 2)};
}

static void draw_energies(draft *d, accel_level *l) {
  l->energy = (accel_energy){.read_pj = quarters(d, 8),
                             .write_pj = quarters(d, 8),
                             .update_pj = quarters(d, 8),
                             .address_pj = chance(d, 20) ? quarters(d, 2) : -1,
                             .known = true};
  if (chance(d, 20)) l->energy.leak_pj = quarters(d, 1);
  l->network.word_bits = l->word_bits;
  l->network.hop_given = true;
  if (chance(d, 40)) l->network.hop_pj = quarters(d, 2);
  if (chance(d, 30)) l->network.router_pj = quarters(d, 2);
  if (chance(d, 10)) l->network.ingress_pj = quarters(d, 2);
  if (chance(d, 8)) l->network.fill_cycles = below(d, 9);
  if (chance(d, 8)) l->network.drain_cycles = below(d, 9);
}

/* Instances that share an access: a divisor of their number. */
static uint32_t draw_cluster(draft *d, uint64_t instances) {
  const uint32_t cluster = 1 + below(d, 8);
  return chance(d, 40) && instances % cluster == 0 ? cluster : 1;
}

static void draw_level(draft *d, uint32_t level) {
  static const uint32_t blocks[] = {1, 1, 2, 4, 8};
  accel_level *l = &d->out->arch.levels[level];
  l->name = name(d, "L", level);
  l->class_name = "";
  l->dram = level + 1 == d->out->arch.level_count && chance(d, 80);
  l->reduction_supported = chance(d, l->dram ? 20 : 85);
  l->word_bits = 8 * (1 + below(d, 3));
  l->block_words = blocks[below(d, 5)];
  l->cluster = draw_cluster(d, l->instances);
  l->virtual_level = !d->out->nest.kept[level] && chance(d, 30);
  draw_capacity(d, l, level);
  draw_bandwidths(d, l);
  draw_energies(d, l);
}

/* Columns or rows of a fan-out: those that the nest uses, or more; seldom
   fewer. */
static uint64_t draw_fanout(draft *d, uint32_t level, accel_loop_kind kind) {
  const uint64_t need = used(&d->out->nest, level, kind);
  if (!d->options->valid && chance(d, 2) && need > 1) return need / 2;
  if (chance(d, 70)) return need;
  return chance(d, 50) ? 2 * need : need + 1 + below(d, 2);
}

static void draw_meshes(draft *d) {
  accel_arch *arch = &d->out->arch;
  uint64_t x = 1 + (chance(d, 10) ? below(d, 2) : 0), y = 1;
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

static void draw_machine(draft *d) {
  accel_arch *arch = &d->out->arch;
  *arch =
      (accel_arch){.name = "random", .level_count = d->out->nest.level_count};
  arch->levels = take(d, arch->level_count, sizeof *arch->levels);
  arch->compute.name = "MAC";
  arch->compute.word_bits = 8;
  arch->compute.energy_pj = quarters(d, 2);
  arch->compute.energy_known = true;
  draw_meshes(d);
  for (uint32_t i = 0; i < arch->level_count; i++) draw_level(d, i);
}

/* ---- Faults -------------------------------------------------------------- */

static void spoil(draft *d) {
  accel_nest *n = &d->out->nest;
  const uint32_t dimension = below(d, d->out->layer.dimension_count);
  accel_layer *layer = &d->out->layer;
  if (d->options->valid) return;
  if (chance(d, 3)) {
    layer->macs = layer->macs / layer->dimensions[dimension].bound *
                  (layer->dimensions[dimension].bound + 1);
    layer->dimensions[dimension].bound++;
  }
  if (chance(d, 2)) {
    const uint32_t level = below(d, n->level_count);
    d->out->arch.levels[level].virtual_level = true;
  }
}

void cost_random_make(cost_random_case *out, random_state *r,
                      const cost_random_options *options, arena *a) {
  draft d = {r, options, a, out};
  memset(out, 0, sizeof *out);
  draw_layer(&d);
  draw_nest(&d);
  draw_machine(&d);
  spoil(&d);
}

/* ---- To be read ---------------------------------------------------------- */

static void print_level(const cost_random_case *c, uint32_t i) {
  const accel_level *l = &c->arch.levels[i];
  printf("  %s%s%s mesh %" PRIu64 "x%" PRIu64 " capacity %" PRIu64
         " block %u cluster %u%s keeps",
         l->name, l->dram ? " dram" : "", l->virtual_level ? " virtual" : "",
         l->mesh_x, l->mesh_y, l->capacity_words, l->block_words, l->cluster,
         l->reduction_supported ? "" : " no-reduction");
  for (uint32_t t = 0; t < c->layer.tensor_count; t++)
    if (c->nest.kept[i] >> t & 1) printf(" %s", c->layer.tensors[t].name);
  printf("\n   ");
  for (uint32_t k = c->nest.loop_count; k-- > 0;) {
    const accel_loop *loop = &c->nest.loops[k];
    if (loop->level != i) continue;
    printf(" %s%" PRIu64, c->layer.dimensions[loop->dimension].name,
           loop->bound);
    if (loop->residual != loop->bound) printf(",%" PRIu64, loop->residual);
    printf("%s", loop->kind == ACCEL_SPATIAL_X   ? "X"
                 : loop->kind == ACCEL_SPATIAL_Y ? "Y"
                                                 : "");
  }
  printf("\n");
}

void cost_random_print(const cost_random_case *c) {
  for (uint32_t i = 0; i < c->layer.dimension_count; i++)
    printf("%s=%" PRIu64 " ", c->layer.dimensions[i].name,
           c->layer.dimensions[i].bound);
  printf("\n");
  for (uint32_t t = 0; t < c->layer.tensor_count; t++) {
    const accel_tensor *tensor = &c->layer.tensors[t];
    printf("%s%s", tensor->name, tensor->read_write ? " (written)" : "");
    for (uint32_t r = 0; r < tensor->rank_count; r++) {
      printf(" [");
      for (uint32_t k = 0; k < tensor->ranks[r].term_count; k++) {
        const accel_term *term = &tensor->ranks[r].terms[k];
        printf("%s%s*%" PRIu64, k ? " + " : "",
               c->layer.dimensions[term->dimension].name, term->coefficient);
      }
      printf("]");
    }
    printf("\n");
  }
  for (uint32_t i = c->arch.level_count; i-- > 0;) print_level(c, i);
  printf("  MAC mesh %" PRIu64 "x%" PRIu64 "\n", c->arch.compute.mesh_x,
         c->arch.compute.mesh_y);
  fflush(stdout);
}
