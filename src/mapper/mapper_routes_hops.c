#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/number.h"
#include "mapper/mapper_routes_parts.h"

/*
 * An order of a spread's axes is laid out on the mesh, element by element, as
 * cost_spatial.c does.  Elements that need the same word are a group; its word
 * goes along a row and up and down the columns.  Which elements these are
 * depends on the order, and where windows meet on the tile as well: a pattern
 * is all that tiles have to do with it.
 */

typedef struct mapper_pair {
  uint32_t axes[2];
  double factors[2], coefficients[2];
} mapper_pair;

/* ---- Patterns ------------------------------------------------------------ */

/* The axis of a dimension that is spread, or CALM_NONE. */
static uint32_t spread_axis(const mapper_space *s, const mapper_spread *spread,
                            uint32_t dimension) {
  for (uint32_t rest = spread->axes; rest; rest &= rest - 1)
    if (s->axes[bits_lowest(rest)].dimension == dimension)
      return bits_lowest(rest);
  return CALM_NONE;
}

static uint32_t window_tensor(const mapper_space *s) {
  for (uint32_t t = 0; t < s->tensor_count; t++)
    if (s->tensors[t].windows) return t;
  return CALM_NONE;
}

static calm_status find_pairs(mapper_routes *out, const mapper_space *s,
                              const mapper_spread *spread) {
  const uint32_t w = window_tensor(s);
  mapper_pair *pairs;
  if (w == CALM_NONE) return CALM_OK;
  const cost_shape *shape = s->tensors[w].shape;
  ARENA_ARRAY(s->arena, pairs, shape->sum_count);
  for (uint32_t i = 0; i < shape->sum_count; i++) {
    const cost_sum *sum = &shape->sums[i];
    mapper_pair *p = &pairs[out->pair_count];
    bool both = sum->term_count == 2;
    for (uint32_t k = 0; both && k < 2; k++) {
      p->axes[k] = spread_axis(s, spread, sum->term_dimensions[k]);
      p->coefficients[k] = sum->coefficients[k];
      both = p->axes[k] != CALM_NONE;
      if (!both) break;
      p->factors[k] = s->axes[p->axes[k]].divisors[spread->digits[p->axes[k]]];
    }
    out->pair_count += both;
  }
  out->pairs = pairs;
  return CALM_OK;
}

static mapper_shear shear_of(const mapper_pair *p, double extent,
                             double other) {
  const double v = p->coefficients[0] * extent, w = p->coefficients[1] * other;
  const double g = (double)number_gcd((uint64_t)v, (uint64_t)w);
  if (p->factors[0] <= w / g || p->factors[1] <= v / g)
    return (mapper_shear){0, 0};
  return (mapper_shear){v / g, w / g};
}

static bool same_shear(const mapper_shear *a, const mapper_shear *b) {
  return a->step == b->step && a->other == b->other;
}

/* The different shears of a pair, over all tiles. */
static calm_status list_shears(mapper_shear **out, uint32_t *count,
                               const mapper_space *s, const mapper_pair *p) {
  const mapper_axis *x = &s->axes[p->axes[0]], *y = &s->axes[p->axes[1]];
  mapper_shear *list;
  ARENA_ARRAY(s->arena, list, (size_t)x->count * y->count);
  *count = 0;
  for (uint32_t i = 0; i < x->count; i++)
    for (uint32_t j = 0; j < y->count; j++) {
      const mapper_shear next = shear_of(p, x->divisors[i], y->divisors[j]);
      uint32_t k = 0;
      while (k < *count && !same_shear(&list[k], &next)) k++;
      if (k == *count) list[(*count)++] = next;
    }
  *out = list;
  return CALM_OK;
}

/* All combinations of the pairs' shears. */
calm_status mapper_routes_find_patterns(mapper_routes *out,
                                        const mapper_space *s,
                                        const mapper_spread *spread) {
  mapper_shear *lists[ACCEL_MAX_DIMENSIONS], *shears;
  uint32_t counts[ACCEL_MAX_DIMENSIONS];
  TRY(find_pairs(out, s, spread));
  out->pattern_count = 1;
  for (uint32_t i = 0; i < out->pair_count; i++) {
    TRY(list_shears(&lists[i], &counts[i], s, &out->pairs[i]));
    out->pattern_count *= counts[i];
  }
  ARENA_ARRAY(s->arena, shears, (size_t)out->pattern_count * out->pair_count);
  for (uint32_t k = 0; k < out->pattern_count; k++)
    for (uint32_t i = 0, rest = k; i < out->pair_count; i++) {
      shears[k * out->pair_count + i] = lists[i][rest % counts[i]];
      rest /= counts[i];
    }
  out->shears = shears;
  return CALM_OK;
}

static uint32_t pattern_of(const mapper_space *s, const mapper_routes *r,
                           uint32_t node) {
  mapper_shear here[ACCEL_MAX_DIMENSIONS];
  const uint8_t *digits = s->digits + (size_t)node * s->axis_count;
  for (uint32_t i = 0; i < r->pair_count; i++) {
    const mapper_pair *p = &r->pairs[i];
    here[i] = shear_of(p, s->axes[p->axes[0]].divisors[digits[p->axes[0]]],
                       s->axes[p->axes[1]].divisors[digits[p->axes[1]]]);
  }
  for (uint32_t k = 0; k < r->pattern_count; k++) {
    uint32_t i = 0;
    while (i < r->pair_count &&
           same_shear(&here[i], &r->shears[k * r->pair_count + i]))
      i++;
    if (i == r->pair_count) return k;
  }
  return 0;
}

const mapper_route *mapper_routes_of(const mapper_space *s,
                                     const mapper_arrangement *arrangement,
                                     uint32_t tensor, uint32_t node) {
  const mapper_routes *r = arrangement->of;
  const uint32_t pattern =
      s->tensors[tensor].windows ? pattern_of(s, r, node) : 0;
  return &arrangement->routes[pattern * s->tensor_count + tensor];
}

/* ---- One order, one tensor ----------------------------------------------- */

/* Axes that move nothing leave the key; pairs whose steps meet share a range,
   all others have one of their own. */
static void find_steps(mapper_layout *y, uint32_t tensor,
                       const mapper_shear *shears) {
  const mapper_tensor *t = &y->space->tensors[tensor];
  uint32_t range = 1, paired = 0;
  for (uint32_t i = 0; t->windows && i < y->routes->pair_count; i++) {
    const mapper_pair *p = &y->routes->pairs[i];
    if (shears[i].step == 0) continue;
    const uint32_t v = (uint32_t)shears[i].step, w = (uint32_t)shears[i].other;
    y->step[p->axes[0]] = v * range;
    y->step[p->axes[1]] = w * range;
    range *= ((uint32_t)p->factors[0] - 1) * v +
             ((uint32_t)p->factors[1] - 1) * w + 1;
    paired |= UINT32_C(1) << p->axes[0] | UINT32_C(1) << p->axes[1];
  }
  for (uint32_t rest = y->spread->axes & ~paired; rest; rest &= rest - 1) {
    const uint32_t a = bits_lowest(rest);
    const bool moves = t->moving >> y->space->axes[a].dimension & 1;
    y->step[a] = moves ? range : 0;
    if (moves) range *= (uint32_t)mapper_layout_factor(y, a);
  }
  y->key_count = range;
}

static void number_elements(mapper_layout *y) {
  uint32_t *keys = y->router->keys, count = 1;
  keys[0] = 0;
  for (uint32_t k = 0; k < y->count; k++) {
    const uint32_t step = y->step[y->axes[k]];
    const uint32_t bound = (uint32_t)mapper_layout_factor(y, y->axes[k]);
    uint32_t at = count;
    for (uint32_t j = 1; j < bound; j++)
      for (uint32_t i = 0; i < count; i++) keys[at++] = keys[i] + j * step;
    count = at;
  }
}

static void sort_elements(mapper_layout *y) {
  mapper_router *r = y->router;
  const uint32_t count = (uint32_t)y->spread->product;
  memset(r->starts, 0, (y->key_count + 2) * sizeof *r->starts);
  for (uint32_t i = 0; i < count; i++) r->starts[r->keys[i] + 2]++;
  for (uint32_t k = 2; k < y->key_count + 2; k++)
    r->starts[k] += r->starts[k - 1];
  for (uint32_t i = 0; i < count; i++)
    r->elements[r->starts[r->keys[i] + 1]++] = i;
}

/* Along a row to the farthest column, and up and down each column from the
   middle; elements come row by row. */
static double count_hops(mapper_layout *y, uint32_t key) {
  const mapper_fan *fan = &y->space->fans[y->level];
  mapper_router *r = y->router;
  const uint32_t width = (uint32_t)fan->x;
  const double middle = (fan->y - 1) / 2;
  uint32_t farthest = 0;
  double hops = 0;
  for (uint32_t i = r->starts[key]; i < r->starts[key + 1]; i++) {
    const uint32_t column = r->elements[i] % width;
    const uint32_t row = r->elements[i] / width;
    const double down = fmax(row - middle, 0);
    if (r->seen[column] == key + 1)
      hops += down - fmax(r->row[column] - middle, 0);
    else
      hops += fmax(middle - row, 0) + down;
    r->seen[column] = key + 1, r->row[column] = row;
    if (column > farthest) farthest = column;
  }
  return hops + farthest;
}

static void add_bin(mapper_router *r, double multicast, double hops) {
  uint32_t i = 0;
  while (i < r->bin_count && r->bins[i].multicast != multicast) i++;
  if (i == r->bin_count) r->bins[r->bin_count++] = (cost_bin){multicast, 0, 0};
  r->bins[i].scatter++;
  r->bins[i].hops += hops;
}

static void find_bins(mapper_layout *y, uint32_t tensor, uint32_t pattern) {
  mapper_router *r = y->router;
  find_steps(y, tensor,
             y->routes->shears + (size_t)pattern * y->routes->pair_count);
  number_elements(y);
  sort_elements(y);
  memset(r->seen, 0, (size_t)y->space->fans[y->level].x * sizeof *r->seen);
  r->bin_count = 0;
  for (uint32_t key = 0; key < y->key_count; key++) {
    const uint32_t size = r->starts[key + 1] - r->starts[key];
    if (size > 0) add_bin(r, size, count_hops(y, key));
  }
}

static void sum_route(mapper_route *out, const mapper_layout *y) {
  *out = (mapper_route){.groups = y->router->bin_count};
  for (uint32_t i = 0; i < y->router->bin_count; i++) {
    const cost_bin *bin = &y->router->bins[i];
    out->hops += bin->hops;
    out->print += bin->hops * sqrt(bin->multicast);
    for (uint32_t k = 0; k < 2; k++) {
      const double words = bin->scatter * (k + 1);
      out->routers[k] += floor(bin->hops / words) * words;
    }
  }
  out->hops /= y->spread->product;
  out->routers[0] /= y->spread->product;
  out->routers[1] /= y->spread->product;
}

void mapper_routes_follow(mapper_route *out, mapper_layout *y, uint32_t tensor,
                          uint32_t pattern) {
  find_bins(y, tensor, pattern);
  sum_route(out, y);
}

/* ---- Memory -------------------------------------------------------------- */

/* Keys of a pair that meets have gaps: twice as many as there are elements. */
calm_status mapper_routes_init(mapper_space *s, arena *a) {
  mapper_router *r;
  double elements = 0, width = 0, keys = 2;
  const uint32_t w = window_tensor(s);
  s->arena = a;
  for (uint32_t l = 0; l < s->level_count; l++) {
    if (!s->fans[l].routed) continue;
    elements = fmax(elements, s->fans[l].size);
    width = fmax(width, s->fans[l].x);
  }
  if (w != CALM_NONE)
    for (uint32_t i = 0; i < s->tensors[w].shape->sum_count; i++) keys *= 2;
  if (elements > s->tables->most_elements)
    return context_fail(a->context, CALM_UNSUPPORTED,
                        "exact mapper: a fan-out of %.0f, too large to follow "
                        "the routes of",
                        elements);
  ARENA_ARRAY(a, r, 1);
  ARENA_ARRAY(a, r->keys, (size_t)elements);
  ARENA_ARRAY(a, r->elements, (size_t)elements);
  ARENA_ARRAY(a, r->starts, (size_t)(elements * keys) + 2);
  ARENA_ARRAY(a, r->seen, (size_t)width);
  ARENA_ARRAY(a, r->row, (size_t)width);
  ARENA_ARRAY(a, r->bins, s->tables->most_bins + 1);
  s->router = r;
  return CALM_OK;
}
