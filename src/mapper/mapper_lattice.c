#include "base/bits.h"
#include "base/number.h"
#include "mapper/mapper_parts.h"

/*
 * The lattice of tiles.  A node is a number in a mixed radix: a digit per
 * dimension, which says which divisor of the bound the tile has.  Growing a
 * tile makes its number larger, so that the order of numbers is an order in
 * which tiles can be visited.
 */

enum { MOST_NODES = 1 << 21 };

/* ---- Axes ---------------------------------------------------------------- */

static calm_status list_divisors(mapper_axis *axis, uint64_t bound, arena *a) {
  uint32_t count = 0;
  for (uint64_t k = 1; k <= bound / k; k++)
    if (bound % k == 0) count += k * k == bound ? 1 : 2;
  double *divisors;
  ARENA_ARRAY(a, divisors, count);
  uint32_t low = 0, high = count;
  for (uint64_t k = 1; k <= bound / k; k++) {
    const uint64_t other = bound / k;
    if (k * other != bound) continue;
    divisors[low++] = (double)k;
    if (k != other) divisors[--high] = (double)other;
  }
  axis->divisors = divisors;
  axis->count = count;
  return CALM_OK;
}

static uint32_t find_divisor(const mapper_axis *axis, double divisor) {
  for (uint32_t i = 0; i < axis->count; i++)
    if (axis->divisors[i] == divisor) return i;
  return CALM_NONE;
}

static calm_status tabulate_products(mapper_axis *axis, arena *a) {
  const uint32_t n = axis->count;
  uint32_t *times, *primes;
  ARENA_ARRAY(a, times, (size_t)n * n);
  ARENA_ARRAY(a, primes, n);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      times[i * n + j] =
          find_divisor(axis, axis->divisors[i] * axis->divisors[j]);
  for (uint32_t i = 1; i < n; i++) {
    bool prime = true;
    for (uint32_t k = 0; k < axis->prime_count; k++)
      prime &=
          (uint64_t)axis->divisors[i] % (uint64_t)axis->divisors[primes[k]] !=
          0;
    if (prime) primes[axis->prime_count++] = i;
  }
  axis->times = times;
  axis->primes = primes;
  return CALM_OK;
}

static calm_status refuse(calm_context *context) {
  return context_fail(context, CALM_UNSUPPORTED,
                      "the exact mapper does with %d dimensions, %d divisors "
                      "of a bound and %d tiles; --mapper hybrid has no such "
                      "limits",
                      MAPPER_MOST_AXES, UINT8_MAX, MOST_NODES);
}

static calm_status make_axes(mapper_space *s, arena *a) {
  const accel_layer *layer = s->problem->layer;
  mapper_axis *axes;
  ARENA_ARRAY(a, axes, MAPPER_MOST_AXES);
  uint64_t nodes = 1;
  for (uint32_t d = layer->dimension_count; d-- > 0;) {
    if (layer->dimensions[d].bound == 1) continue;
    if (s->axis_count == MAPPER_MOST_AXES) return refuse(a->context);
    mapper_axis *axis = &axes[s->axis_count++];
    axis->dimension = d;
    TRY(list_divisors(axis, layer->dimensions[d].bound, a));
    axis->stride = (uint32_t)nodes;
    nodes *= axis->count;
    if (nodes > MOST_NODES || axis->count > UINT8_MAX)
      return refuse(a->context);
    TRY(tabulate_products(axis, a));
  }
  s->axes = axes;
  s->node_count = (uint32_t)nodes;
  return CALM_OK;
}

/* ---- Nodes --------------------------------------------------------------- */

/* The factors that a tile has still to grow by. */
static void find_rest(double *rest, const mapper_space *s,
                      const double *extents) {
  for (uint32_t d = 0; d < s->tables->dimension_count; d++)
    rest[d] = s->tables->bounds[d] / extents[d];
}

static double product_of(const double *rest, uint32_t dimensions) {
  double product = 1;
  for (; dimensions; dimensions &= dimensions - 1)
    product *= rest[bits_lowest(dimensions)];
  return product;
}

/* Elements that differ only in windows of one rank need the same word at most
   as often as the rest of the windows can be spread beside the largest. */
static double halo_of(const mapper_tensor *t, const double *rest) {
  double halo = 1;
  for (uint32_t i = 0; i < t->shape->sum_count; i++) {
    const cost_sum *sum = &t->shape->sums[i];
    double largest = 1;
    for (uint32_t k = 0; k < sum->term_count; k++)
      if (rest[sum->term_dimensions[k]] > largest)
        largest = rest[sum->term_dimensions[k]];
    if (sum->term_count > 1)
      halo *= product_of(rest, sum->dimensions) / largest;
  }
  return halo;
}

typedef struct node_tables {
  double *extents, *words, *visits, *unmoved, *halo;
  uint8_t *digits;
} node_tables;

static void fill_node(const node_tables *t, const mapper_space *s,
                      uint32_t node) {
  const uint32_t dims = s->tables->dimension_count;
  const uint32_t all = dims < 32 ? (UINT32_C(1) << dims) - 1 : UINT32_MAX;
  double rest[ACCEL_MAX_DIMENSIONS];
  double *extents = t->extents + (size_t)node * dims;
  for (uint32_t d = 0; d < dims; d++) extents[d] = 1;
  for (uint32_t i = 0; i < s->axis_count; i++) {
    const mapper_axis *axis = &s->axes[i];
    const uint32_t digit = node / axis->stride % axis->count;
    t->digits[(size_t)node * s->axis_count + i] = (uint8_t)digit;
    extents[axis->dimension] = axis->divisors[digit];
  }
  find_rest(rest, s, extents);
  t->visits[node] = product_of(rest, all);
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    const mapper_tensor *tensor = &s->tensors[i];
    const size_t at = (size_t)node * s->tensor_count + i;
    t->words[at] = cost_words(tensor->shape, extents);
    t->unmoved[at] = product_of(rest, all & ~tensor->moving);
    t->halo[at] = halo_of(tensor, rest);
  }
}

static calm_status make_nodes(mapper_space *s, arena *a) {
  const size_t nodes = s->node_count;
  node_tables t;
  ARENA_ARRAY(a, t.extents, nodes * s->tables->dimension_count);
  ARENA_ARRAY(a, t.digits, nodes * s->axis_count);
  ARENA_ARRAY(a, t.visits, nodes);
  ARENA_ARRAY(a, t.words, nodes * s->tensor_count);
  ARENA_ARRAY(a, t.unmoved, nodes * s->tensor_count);
  ARENA_ARRAY(a, t.halo, nodes * s->tensor_count);
  for (uint32_t node = 0; node < s->node_count; node++) {
    if (limits_spend(s->limits, 1)) break;
    fill_node(&t, s, node);
  }
  s->extents = t.extents;
  s->digits = t.digits;
  s->visits = t.visits;
  s->words = t.words;
  s->unmoved = t.unmoved;
  s->halo = t.halo;
  return CALM_OK;
}

/* Of the tables of nodes and one account. */
static uint64_t least_bytes(const mapper_space *s) {
  const uint64_t doubles =
      s->tables->dimension_count + 1 + 3 * s->tensor_count + 2 * s->level_count;
  return s->node_count * (doubles * sizeof(double) + s->axis_count);
}

calm_status mapper_lattice_init(mapper_space *s, arena *a) {
  TRY(make_axes(s, a));
  return limits_memory(s->limits, least_bytes(s)) ? CALM_OK : make_nodes(s, a);
}

/* ---- Spreading ----------------------------------------------------------- */

uint32_t mapper_space_spread(const mapper_space *s, uint32_t node,
                             const mapper_spread *spread) {
  const uint8_t *digits = s->digits + (size_t)node * s->axis_count;
  for (uint32_t rest = spread->axes; rest; rest &= rest - 1) {
    const uint32_t a = bits_lowest(rest);
    const mapper_axis *axis = &s->axes[a];
    const uint32_t digit =
        axis->times[digits[a] * axis->count + spread->digits[a]];
    if (digit == CALM_NONE) return CALM_NONE;
    node += (digit - digits[a]) * axis->stride;
  }
  return node;
}

/* Two dimensions that move one rank: pairs (i, j) that are not a step (v, w)
   away from another with the same offset. */
static double count_offsets(double n, double v, double m, double w) {
  const double g = (double)number_gcd((uint64_t)v, (uint64_t)w);
  const double more = n - w / g, also = m - v / g;
  return n * m - (more > 0 && also > 0 ? more * also : 0);
}

double mapper_space_apart(const mapper_space *s, uint32_t tensor, uint32_t node,
                          const mapper_spread *spread) {
  const mapper_tensor *t = &s->tensors[tensor];
  double apart = spread->apart[tensor];
  if (!t->windows) return apart;
  double factors[ACCEL_MAX_DIMENSIONS];
  const double *extents = mapper_extents(s, node);
  for (uint32_t d = 0; d < s->tables->dimension_count; d++) factors[d] = 1;
  for (uint32_t rest = spread->axes; rest; rest &= rest - 1) {
    const uint32_t a = bits_lowest(rest);
    factors[s->axes[a].dimension] = s->axes[a].divisors[spread->digits[a]];
  }
  for (uint32_t i = 0; i < t->shape->sum_count; i++) {
    const cost_sum *sum = &t->shape->sums[i];
    if (sum->term_count != 2) continue;
    const uint32_t p = sum->term_dimensions[0], r = sum->term_dimensions[1];
    if (factors[p] == 1 || factors[r] == 1) continue;
    apart *= count_offsets(factors[p], sum->coefficients[0] * extents[p],
                           factors[r], sum->coefficients[1] * extents[r]) /
             (factors[p] * factors[r]);
  }
  return apart;
}
