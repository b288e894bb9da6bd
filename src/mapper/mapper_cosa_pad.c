/*
 * Padding.  A program in prime factors cannot split a large one: a bound of 341
 * is 11 times 31, of 79 nothing at all.  CoSA raises such bounds to the next
 * number of small factors; what is found is of the padded layer, and says so.
 */
#include "mapper/mapper_cosa_program.h"

static bool is_smooth(uint64_t n, uint64_t largest) {
  for (uint64_t p = 2; p <= largest && p * p <= n; p++)
    while (n % p == 0) n /= p;
  return n <= largest;
}

/* Numbers of small factors are rare where bounds are huge. */
enum { MOST_STEPS = 1 << 16 };

static const uint32_t odd_primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31};

/* *best = the least multiple of `product` by 2 and the first `count` of these
   primes that is not below the bound, if that is less. */
static void find_least(uint64_t *best, uint64_t product, uint32_t count,
                       uint64_t bound) {
  if (count > 0) {
    for (; product < *best; product *= odd_primes[count - 1])
      find_least(best, product, count - 1, bound);
    return;
  }
  while (product < bound) product *= 2;
  if (product < *best) *best = product;
}

static uint64_t raise(uint64_t bound, uint64_t largest) {
  uint64_t best = 2 * bound;
  uint32_t count = 0;
  for (uint64_t n = bound; n < bound + MOST_STEPS; n++)
    if (is_smooth(n, largest)) return n;
  while (count < sizeof odd_primes / sizeof *odd_primes &&
         odd_primes[count] <= largest)
    count++;
  find_least(&best, 1, count, bound);
  return best;
}

static bool is_countable(accel_layer *layer) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS];
  layer->macs = 1;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    extents[d] = layer->dimensions[d].bound;
    layer->macs = accel_count_multiply(layer->macs, extents[d]);
  }
  if (layer->macs > ACCEL_MAX_COUNT) return false;
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    if (accel_tensor_words(&layer->tensors[t], extents) > ACCEL_MAX_COUNT)
      return false;
  return true;
}

static calm_status pad(accel_layer *layer, uint64_t largest, arena *a) {
  const accel_dimension *old = layer->dimensions;
  ARENA_ARRAY(a, layer->dimensions, layer->dimension_count);
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    layer->dimensions[d] = old[d];
    layer->dimensions[d].bound = raise(old[d].bound, largest);
  }
  if (is_countable(layer)) return CALM_OK;
  return context_fail(a->context, CALM_UNSUPPORTED,
                      "cosa: layer \"%s\" is too large to be padded to prime "
                      "factors of %llu at most; a larger --pad, or 0, pads "
                      "less",
                      layer->name, (unsigned long long)largest);
}

calm_status mapper_cosa_pad(const accel_layer **out, const accel_layer *layer,
                            uint64_t largest, arena *a) {
  bool smooth = true;
  if (largest == 1)
    return context_fail(a->context, CALM_MISUSE,
                        "cosa: no number but 1 has no prime factor above 1; "
                        "--pad is 0, for none, or 2 at least");
  for (uint32_t d = 0; d < layer->dimension_count && largest > 0; d++)
    smooth &= is_smooth(layer->dimensions[d].bound, largest);
  if (smooth) {
    *out = layer;
    return CALM_OK;
  }
  accel_layer *padded;
  ARENA_ARRAY(a, padded, 1);
  *padded = *layer;
  TRY(pad(padded, largest, a));
  *out = padded;
  return CALM_OK;
}
