/* Machine and layer as tables, and all the memory that an evaluation needs. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "cost/cost_scratch.h"

/* A fan-out whose offsets coincide in a way that has no closed form is
   enumerated, up to so many elements; and no more patterns of delivery than
   this are told apart. */
enum { MOST_ELEMENTS = 1 << 20, MOST_BINS = 1 << 10 };

/* ---- Shapes -------------------------------------------------------------- */

/* The terms of a rank that move anything, one per dimension. */
static calm_status gather_terms(cost_sum *out, const accel_rank *rank,
                                const accel_layer *layer, arena *a) {
  double coefficients[ACCEL_MAX_DIMENSIONS] = {0};
  cost_sum sum = {.base = 1};
  for (uint32_t i = 0; i < rank->term_count; i++) {
    const accel_term *term = &rank->terms[i];
    if (layer->dimensions[term->dimension].bound == 1) continue;
    coefficients[term->dimension] += (double)term->coefficient;
  }
  uint32_t *dimensions;
  double *kept;
  ARENA_ARRAY(a, dimensions, layer->dimension_count);
  ARENA_ARRAY(a, kept, layer->dimension_count);
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (coefficients[d] > 0) {
      sum.dimensions |= UINT32_C(1) << d;
      dimensions[sum.term_count] = d;
      kept[sum.term_count++] = coefficients[d];
      sum.base -= coefficients[d];
    }
  sum.term_dimensions = dimensions;
  sum.coefficients = kept;
  *out = sum;
  return CALM_OK;
}

/*
 * Each sum gets a digit of its own, four times as wide as the sum's extent: the
 * difference of two offsets lies within one extent in either direction, and the
 * difference of such a difference and an offset within two.
 */
static calm_status spread_addresses(cost_shape *s, const cost_tables *t,
                                    arena *a) {
  double *address;
  ARENA_ARRAY(a, address, t->dimension_count);
  double digit = 1;
  for (uint32_t i = 0; i < s->sum_count; i++) {
    const cost_sum *sum = &s->sums[i];
    for (uint32_t k = 0; k < sum->term_count; k++)
      address[sum->term_dimensions[k]] += sum->coefficients[k] * digit;
    digit *= 4 * cost_extent(sum, t->bounds);
  }
  s->address = address;
  s->reach = digit;
  return CALM_OK;
}

/* Dimensions that are alone in a rank have a digit anywhere in 64 bits. */
static calm_status spread_moves(cost_shape *s, const cost_tables *t, arena *a) {
  uint64_t *move;
  random_state digits = random_from_seed(0);
  ARENA_ARRAY(a, move, t->dimension_count);
  for (uint32_t d = 0; d < t->dimension_count; d++) {
    move[d] = cost_whole(s->address[d]);
    if (s->alone >> d & 1) move[d] += random_next(&digits);
  }
  s->move = move;
  return CALM_OK;
}

static calm_status make_shape(cost_shape *out, const cost_tables *t,
                              const accel_layer *layer,
                              const accel_tensor *tensor, arena *a) {
  cost_shape s = {.read_write = tensor->read_write};
  cost_sum *sums;
  ARENA_ARRAY(a, sums, tensor->rank_count);
  for (uint32_t r = 0; r < tensor->rank_count; r++) {
    cost_sum sum;
    TRY(gather_terms(&sum, &tensor->ranks[r], layer, a));
    s.moving |= sum.dimensions;
    if (sum.term_count == 1) s.alone |= sum.dimensions;
    if (sum.term_count == 1 && sum.coefficients[0] == 1 &&
        !(sum.dimensions & s.factors)) {
      s.factors |= sum.dimensions;
    } else if (sum.term_count) {
      s.summed |= sum.dimensions;
      sums[s.sum_count++] = sum;
    }
  }
  s.sums = sums;
  s.words = cost_words(&s, t->bounds);
  TRY(spread_addresses(&s, t, a));
  TRY(spread_moves(&s, t, a));
  *out = s;
  return CALM_OK;
}

static calm_status make_bounds(cost_tables *t, const accel_layer *layer,
                               arena *a) {
  double *bounds;
  ARENA_ARRAY(a, bounds, layer->dimension_count);
  t->dimension_count = layer->dimension_count;
  t->macs = 1;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    bounds[d] = (double)layer->dimensions[d].bound;
    t->macs *= bounds[d];
  }
  t->bounds = bounds;
  return CALM_OK;
}

/* Which tensors and dimensions have to do with each other. */
static calm_status index_shapes(cost_tables *t, arena *a) {
  uint32_t *factored;
  ARENA_ARRAY(a, factored, t->dimension_count);
  for (uint32_t i = 0; i < t->tensor_count; i++) {
    const cost_shape *s = &t->shapes[i];
    t->summed |= s->summed;
    if (s->sum_count) t->windowed |= UINT32_C(1) << i;
    for (uint32_t d = 0; d < t->dimension_count; d++)
      factored[d] |= (s->factors >> d & 1) << i;
  }
  t->factored = factored;
  t->all_tensors = (UINT32_C(1) << t->tensor_count) - 1;
  t->row_size = t->dimension_count + t->tensor_count;
  return CALM_OK;
}

static calm_status make_shapes(cost_tables *t, const accel_layer *layer,
                               arena *a) {
  const double most = (double)ACCEL_MAX_COUNT;
  cost_shape *shapes;
  TRY(make_bounds(t, layer, a));
  ARENA_ARRAY(a, shapes, layer->tensor_count);
  t->tensor_count = layer->tensor_count;
  t->large_tensor = CALM_NONE;
  for (uint32_t i = 0; i < layer->tensor_count; i++) {
    TRY(make_shape(&shapes[i], t, layer, &layer->tensors[i], a));
    if (shapes[i].words > most || shapes[i].reach > most) t->large_tensor = i;
  }
  t->shapes = shapes;
  return index_shapes(t, a);
}

/* ---- Levels -------------------------------------------------------------- */

static uint32_t shift_of(uint64_t block) {
  for (uint32_t shift = 0; shift < 63; shift++)
    if (block == UINT64_C(1) << shift) return shift;
  return CALM_NONE;
}

/* What a tensor that has no scale of its own takes: one word a word. */
static calm_status make_scales(const double **out, const accel_level *level,
                               const accel_layer *layer, arena *a) {
  double *scales;
  ARENA_ARRAY(a, scales, layer->tensor_count);
  for (uint32_t t = 0; t < layer->tensor_count; t++) {
    scales[t] = 1;
    for (uint32_t i = 0; i < level->scale_count; i++)
      if (!strcmp(level->scales[i].tensor, layer->tensors[t].name))
        scales[t] = level->scales[i].scale;
  }
  *out = scales;
  return CALM_OK;
}

/* Hops are counted where they cost something, or where someone wants to know.
 */
static void join_network(cost_store *s, const accel_network *n,
                         const cost_options *options) {
  s->hop_pj = n->hop_pj;
  s->router_pj = n->router_pj;
  s->ingress_pj = n->ingress_pj;
  s->needs_hops = options->networks || s->hop_pj != 0 || s->router_pj != 0;
}

static void copy_energies(cost_store *s, const accel_energy *e) {
  s->read_pj = e->read_pj;
  s->write_pj = e->write_pj;
  s->update_pj = e->update_pj;
  s->leak_pj = e->leak_pj;
  s->address_pj = e->address_pj > 0 ? e->address_pj : 0;
}

static void copy_sizes(cost_store *s, const accel_level *level) {
  const uint64_t cluster = level->cluster ? level->cluster : 1;
  const uint64_t whole_clusters = level->instances / cluster;
  s->no_memory = level->virtual_level;
  s->limited = level->capacity_words != ACCEL_UNLIMITED;
  s->capacity = (double)level->capacity_words;
  s->least = s->capacity * level->min_utilization;
  s->instances = (double)level->instances;
  s->mesh_x = (double)level->mesh_x;
  s->mesh_y = (double)level->mesh_y;
  s->clusters = (double)whole_clusters;
  s->block = level->block_words ? level->block_words : 1;
  s->block_shift = shift_of(s->block);
  s->read_bandwidth = level->read_bandwidth;
  s->write_bandwidth = level->write_bandwidth;
  s->shared_bandwidth = level->shared_bandwidth;
  s->throttles = level->read_bandwidth > 0 || level->write_bandwidth > 0 ||
                 level->shared_bandwidth > 0;
  s->reduces = level->reduction_supported;
}

static calm_status make_stores(cost_tables *t, const cost_problem *p,
                               arena *a) {
  const accel_arch *arch = p->arch;
  cost_store *stores;
  ARENA_ARRAY(a, stores, arch->level_count);
  t->level_count = arch->level_count;
  t->multipliers = (double)arch->compute.instances;
  t->mesh_x = (double)arch->compute.mesh_x;
  t->mesh_y = (double)arch->compute.mesh_y;
  t->mac_pj = arch->compute.energy_pj;
  for (uint32_t i = 0; i < arch->level_count; i++) {
    const accel_level *level = &arch->levels[i];
    cost_store *s = &stores[i];
    copy_sizes(s, level);
    copy_energies(s, &level->energy);
    const accel_fanout fanout = accel_arch_fanout(arch, i);
    s->fanout_x = (double)fanout.x;
    s->fanout_y = (double)fanout.y;
    join_network(s, &level->network, &p->options);
    TRY(make_scales(&s->scales, level, p->layer, a));
    t->network_cycles += (double)level->network.fill_cycles;
    t->network_cycles += (double)level->network.drain_cycles;
  }
  t->stores = stores;
  return CALM_OK;
}

/* ---- Rooms --------------------------------------------------------------- */

/*
 * How many patterns a fan-out of F elements can have: each pattern takes a
 * different number of them, so that 1 + 2 + ... <= F.  Without a rank that
 * several dimensions move there is only one.
 */
static void bound_patterns(cost_tables *t, const accel_arch *arch) {
  double most = (double)arch->compute.instances;
  bool windows = false;
  for (uint32_t i = 0; i < t->level_count; i++)
    most = fmax(most, (double)arch->levels[i].instances);
  for (uint32_t i = 0; i < t->tensor_count; i++)
    for (uint32_t k = 0; k < t->shapes[i].sum_count; k++)
      windows |= t->shapes[i].sums[k].term_count > 1;
  t->most_elements = (uint32_t)fmin(most, MOST_ELEMENTS);
  t->most_bins = windows ? (uint32_t)fmin(sqrt(2 * most) + 2, MOST_BINS) : 1;
}

static calm_status reserve_frame(cost_frame *f, const cost_tables *t,
                                 arena *a) {
  const size_t levels = t->level_count;
  ARENA_ARRAY(a, f->tile, levels);
  ARENA_ARRAY(a, f->wide, levels);
  ARENA_ARRAY(a, f->rows, (2 * levels + 1) * t->row_size);
  ARENA_ARRAY(a, f->spreads, levels);
  ARENA_ARRAY(a, f->steps, COST_MOST_STEPS);
  ARENA_ARRAY(a, f->steps_of, t->dimension_count);
  for (uint32_t i = 0; i < t->row_size; i++) f->rows[i] = 1;
  return CALM_OK;
}

static calm_status reserve_scratch(cost_scratch *s, arena *a) {
  const cost_tables *t = &s->tables;
  TRY(reserve_frame(&s->frame, t, a));
  ARENA_ARRAY(a, s->ledgers, t->level_count);
  ARENA_ARRAY(a, s->bins, t->most_bins);
  ARENA_ARRAY(a, s->more_bins, t->most_bins);
  ARENA_ARRAY(a, s->elements, t->most_elements);
  arena_init(&s->replay, a->context);
  return CALM_OK;
}

calm_status cost_problem_init(cost_problem *out, const accel_arch *arch,
                              const accel_layer *layer,
                              const cost_options *options, arena *a) {
  cost_problem p = {arch, layer, *options, a->context, NULL};
  ARENA_ARRAY(a, p.scratch, 1);
  cost_tables *t = &p.scratch->tables;
  TRY(make_shapes(t, layer, a));
  TRY(make_stores(t, &p, a));
  bound_patterns(t, arch);
  TRY(reserve_scratch(p.scratch, a));
  *out = p;
  return CALM_OK;
}

calm_status cost_result_init(cost_result *out, const cost_problem *p,
                             arena *a) {
  const cost_tables *t = &p->scratch->tables;
  const size_t count = (size_t)t->level_count * t->tensor_count;
  cost_result r = {.level_count = t->level_count,
                   .tensor_count = t->tensor_count,
                   .arena = a};
  ARENA_ARRAY(a, r.levels, t->level_count);
  ARENA_ARRAY(a, r.tensors, count);
  ARENA_ARRAY(a, r.flows, count);
  for (size_t i = 0; i < count; i++) {
    r.flows[i].group_capacity = t->most_bins;
    ARENA_ARRAY(a, r.flows[i].groups, t->most_bins);
  }
  *out = r;
  return CALM_OK;
}
