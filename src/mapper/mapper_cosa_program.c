#include "mapper/mapper_cosa_program.h"

#include <string.h>

#include "base/bits.h"

const mapper_cosa_weights mapper_cosa_released = {10, 1, 0.1};

/* The released form multiplies data and spatial terms with this, data terms
   with a number that rises from level to level (so that factors rather stand
   further in), and what concerns a tensor that bypasses the permutation level,
   and so comes from beyond it directly, with this. */
static const double released_share = 0.99;
static const double released_data = 0.8, released_data_step = 0.04;
static const double released_direct = 1.01;

static bool is_released(const mapper_cosa_program *p) {
  return p->options->form == MAPPER_COSA_RELEASED;
}

static bool is_kept(const mapper_cosa_program *p, uint32_t level,
                    uint32_t tensor) {
  return p->kept[level] >> tensor & 1;
}

/* ---- Levels -------------------------------------------------------------- */

/* The outermost level on chip that keeps two tensors or more; without one, the
   outermost on chip. */
static uint32_t find_global(const mapper_cosa_program *p) {
  for (uint32_t l = p->level_count - 1; l-- > 0;)
    if (bits_count_word(p->kept[l]) >= 2) return l;
  return p->level_count > 1 ? p->level_count - 2 : 0;
}

static calm_status choose_levels(mapper_cosa_program *p, arena *a) {
  const uint32_t all = (UINT32_C(1) << p->tensor_count) - 1;
  ARENA_ARRAY(a, p->kept, p->level_count);
  for (uint32_t l = 0; l < p->level_count; l++)
    if (!p->arch->levels[l].virtual_level)
      p->kept[l] = p->problem->may_keep[l] & all;
  p->global = find_global(p);
  return CALM_OK;
}

/* ---- Relevance ----------------------------------------------------------- */

static uint32_t written_dimensions(const accel_layer *layer) {
  uint32_t set = 0;
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    if (layer->tensors[t].read_write) set |= layer->tensors[t].dimensions;
  return set;
}

static uint32_t rank_dimensions(const accel_rank *rank) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < rank->term_count; i++)
    if (rank->terms[i].coefficient > 0)
      set |= UINT32_C(1) << rank->terms[i].dimension;
  return set;
}

static void count_rank(mapper_cosa_program *p, uint32_t tensor,
                       const accel_rank *rank, uint32_t taps) {
  for (uint32_t i = 0; i < rank->term_count; i++) {
    const accel_term *term = &rank->terms[i];
    if (term->coefficient == 0 || taps >> term->dimension & 1) continue;
    const uint32_t at = tensor * p->dimension_count + term->dimension;
    p->ranks[at]++;
    p->moved[term->dimension] |= UINT32_C(1) << tensor;
    if (is_released(p)) p->stride_bits[at] += log2((double)term->coefficient);
  }
}

/* In the released form taps of a window do not count for its tensor, but in
   its halo. */
static calm_status count_tensor(mapper_cosa_program *p, uint32_t t, arena *a) {
  const accel_tensor *tensor = &p->layer->tensors[t];
  const uint32_t written = written_dimensions(p->layer);
  for (uint32_t r = 0; r < tensor->rank_count; r++) {
    const accel_rank *rank = &tensor->ranks[r];
    const uint32_t set = rank_dimensions(rank);
    const uint32_t steps = set & written, taps = set & ~written;
    const bool window =
        is_released(p) && !tensor->read_write && steps != 0 && taps != 0;
    count_rank(p, t, rank, window ? taps : 0);
    if (!window) continue;
    if (p->window_count == MAPPER_COSA_MOST_WINDOWS)
      return context_fail(a->context, CALM_UNSUPPORTED,
                          "cosa: layer \"%s\" has more than %d windows",
                          p->layer->name, MAPPER_COSA_MOST_WINDOWS);
    p->windows[p->window_count++] = (mapper_cosa_window){t, steps, taps};
  }
  return CALM_OK;
}

static calm_status count_tensors(mapper_cosa_program *p, arena *a) {
  const size_t pairs = (size_t)p->tensor_count * p->dimension_count;
  ARENA_ARRAY(a, p->moved, p->dimension_count);
  ARENA_ARRAY(a, p->ranks, pairs);
  ARENA_ARRAY(a, p->stride_bits, pairs);
  for (uint32_t t = 0; t < p->tensor_count; t++) TRY(count_tensor(p, t, a));
  return CALM_OK;
}

/* ---- Room ---------------------------------------------------------------- */

/* The levels of CoSA's own machine, whose global buffer is shared unequally. */
static bool is_simba(const mapper_cosa_program *p) {
  static const char *const names[] = {"Registers",    "AccumulationBuffer",
                                      "WeightBuffer", "InputBuffer",
                                      "GlobalBuffer", "DRAM"};
  if (p->level_count != 6) return false;
  for (uint32_t l = 0; l < 6; l++)
    if (strcmp(p->arch->levels[l].name, names[l])) return false;
  return bits_count_word(p->kept[p->global]) == 2;
}

static double share_of(const mapper_cosa_program *p, uint32_t level,
                       uint32_t tensor) {
  if (p->options->shares)
    return p->options->shares[mapper_cosa_at(p, level, tensor)];
  if (level == p->global && is_simba(p))
    return p->layer->tensors[tensor].read_write ? 0.75 : 0.25;
  return 1.0 / bits_count_word(p->kept[level]);
}

/* A share is a word at least. */
static double room_of(const mapper_cosa_program *p, uint32_t level,
                      uint32_t tensor) {
  const accel_level *l = &p->arch->levels[level];
  const bool outermost = level + 1 == p->level_count;
  if (outermost || !is_kept(p, level, tensor) || l->entries == ACCEL_UNLIMITED)
    return HUGE_VAL;
  const double words = (double)l->capacity_words * share_of(p, level, tensor);
  return fmax(log2(words), 0);
}

/*
 * Paper: an extent is at most the product of stride and factors, for P as for
 * R.  The stride counts once, whether there are factors or not; where a buffer
 * is too small even for the stride, none of the dimension's may be inside.
 */
static void take_strides(mapper_cosa_program *p, uint32_t level,
                         uint32_t tensor) {
  const accel_tensor *shape = &p->layer->tensors[tensor];
  const uint32_t at = mapper_cosa_at(p, level, tensor);
  for (uint32_t r = 0; r < shape->rank_count; r++)
    for (uint32_t i = 0; i < shape->ranks[r].term_count; i++) {
      const accel_term *term = &shape->ranks[r].terms[i];
      if (term->coefficient < 2 || !(p->looped >> term->dimension & 1))
        continue;
      const double bits = log2((double)term->coefficient);
      if (p->taken[at] + bits <= p->room[at])
        p->taken[at] += bits;
      else
        p->barred[at] |= UINT32_C(1) << term->dimension;
    }
}

/* Released: what comes from beyond the permutation level directly is worth
   more where it arrives. */
static double weight_of(const mapper_cosa_program *p, uint32_t level,
                        uint32_t tensor) {
  if (p->options->level_weights)
    return p->options->level_weights[mapper_cosa_at(p, level, tensor)];
  if (!is_kept(p, level, tensor) || level + 1 == p->level_count) return 0;
  if (!is_released(p)) return 1;
  if (level >= p->global) return 0;
  for (uint32_t l = level + 1; l <= p->global; l++)
    if (is_kept(p, l, tensor)) return 1;
  return bits_count_word(p->kept[p->global]) >= 2 ? released_direct : 1;
}

static calm_status share_levels(mapper_cosa_program *p, arena *a) {
  const size_t pairs = (size_t)p->level_count * p->tensor_count;
  ARENA_ARRAY(a, p->room, pairs);
  ARENA_ARRAY(a, p->taken, pairs);
  ARENA_ARRAY(a, p->weights, pairs);
  ARENA_ARRAY(a, p->barred, pairs);
  for (uint32_t l = 0; l < p->level_count; l++)
    for (uint32_t t = 0; t < p->tensor_count; t++) {
      p->room[mapper_cosa_at(p, l, t)] = room_of(p, l, t);
      p->weights[mapper_cosa_at(p, l, t)] = weight_of(p, l, t);
      if (!is_released(p)) take_strides(p, l, t);
    }
  return CALM_OK;
}

/* ---- Factors ------------------------------------------------------------- */

uint64_t mapper_cosa_prime(uint64_t n) {
  for (uint64_t p = 2; p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

static void add_prime(mapper_cosa_program *p, uint32_t dimension,
                      uint64_t prime) {
  mapper_cosa_factor *last = p->factors + p->factor_count - 1;
  const bool same = p->factor_count > 0 && last->dimension == dimension &&
                    last->prime == prime;
  if (same && !p->options->literal)
    last->count++;
  else
    p->factors[p->factor_count++] =
        (mapper_cosa_factor){dimension, 1, prime, log2((double)prime)};
}

static void find_factors(mapper_cosa_program *p) {
  for (uint32_t d = 0; d < p->dimension_count; d++) {
    uint64_t rest = p->layer->dimensions[d].bound;
    if (rest > 1) p->looped |= UINT32_C(1) << d;
    while (rest > 1) {
      const uint64_t prime = mapper_cosa_prime(rest);
      add_prime(p, d, prime);
      rest /= prime;
    }
  }
}

calm_status mapper_cosa_program_init(mapper_cosa_program *out,
                                     const mapper_problem *problem,
                                     const mapper_cosa_options *o,
                                     const accel_layer *layer, arena *a) {
  mapper_cosa_program p = {.problem = problem,
                           .options = o,
                           .arch = problem->arch,
                           .layer = layer,
                           .level_count = problem->arch->level_count,
                           .tensor_count = layer->tensor_count,
                           .dimension_count = layer->dimension_count};
  find_factors(&p);
  TRY(choose_levels(&p, a));
  TRY(count_tensors(&p, a));
  TRY(share_levels(&p, a));
  *out = p;
  return CALM_OK;
}

/* ---- What a factor is worth ---------------------------------------------- */

bool mapper_cosa_allows(const mapper_cosa_program *p, uint32_t dimension,
                        uint32_t level, accel_loop_kind kind) {
  const accel_constraints *c = p->problem->constraints;
  if (kind == ACCEL_TEMPORAL) return !p->arch->levels[level].virtual_level;
  const accel_fanout fan = accel_arch_fanout(p->arch, level);
  if ((kind == ACCEL_SPATIAL_X ? fan.x : fan.y) < 2) return false;
  if (!c) return true;
  const accel_axis axis = accel_constraints_axis(&c->levels[level].spatial,
                                                 dimension, p->dimension_count);
  return axis != (kind == ACCEL_SPATIAL_X ? ACCEL_AXIS_Y : ACCEL_AXIS_X);
}

double mapper_cosa_inside(const mapper_cosa_program *p, uint32_t tensor,
                          const mapper_cosa_use *u) {
  const uint32_t at = tensor * p->dimension_count + u->dimension;
  return p->ranks[at] * u->bits + p->stride_bits[at] * u->primes;
}

/* Released: beyond the permutation level nothing is inside of what counts, so
   weights there are 0 and the sum is empty. */
double mapper_cosa_utility(const mapper_cosa_program *p,
                           const mapper_cosa_use *u) {
  double sum = 0;
  for (uint32_t l = u->level; l < p->level_count; l++)
    for (uint32_t t = 0; t < p->tensor_count; t++) {
      const double weight = p->weights[mapper_cosa_at(p, l, t)];
      if (weight > 0) sum += weight * mapper_cosa_inside(p, t, u);
    }
  return sum;
}

/* Released: what loops beyond the permutation level cost all tensors. */
static double outer_traffic(const mapper_cosa_program *p) {
  double sum = 0;
  for (uint32_t t = 0; t < p->tensor_count; t++)
    sum += is_kept(p, p->global, t) ? 1 : released_direct;
  return sum;
}

double mapper_cosa_traffic(const mapper_cosa_program *p,
                           const mapper_cosa_use *u) {
  const double related = bits_count_word(p->moved[u->dimension]);
  const bool temporal = u->kind == ACCEL_TEMPORAL;
  if (u->level < p->global) {
    const double data =
        is_released(p)
            ? released_share * (released_data + released_data_step * u->level)
            : 1;
    return data * related * u->bits;
  }
  if (!temporal)
    return (is_released(p) ? released_share * p->tensor_count : related) *
           u->bits;
  if (u->level == p->global) return related * u->bits;
  return is_released(p) ? outer_traffic(p) * u->bits : 0;
}

/* ---- Orders -------------------------------------------------------------- */

uint32_t mapper_cosa_place(const mapper_cosa_program *p, uint32_t dimension) {
  static const char order[] = "RSPQCKN";
  const char *name = p->layer->dimensions[dimension].name;
  const char *at = name[0] && !name[1] ? strchr(order, name[0]) : NULL;
  return at ? (uint32_t)(at - order) : sizeof order + dimension;
}
