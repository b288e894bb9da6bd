#include "cost/cost_used.h"

typedef struct term {
  uint32_t dimension;
  uint64_t steps, width; /* bound, coefficient */
} term;

/* The dimensions that move a rank, without those that moved one before. */
static uint32_t gather_terms(term *out, const accel_layer *layer,
                             const accel_rank *rank, uint32_t taken) {
  uint64_t width[ACCEL_MAX_DIMENSIONS] = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank->term_count; i++)
    width[rank->terms[i].dimension] += rank->terms[i].coefficient;
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (width[d] && layer->dimensions[d].bound > 1 && !(taken >> d & 1))
      out[count++] = (term){d, layer->dimensions[d].bound, width[d]};
  return count;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Pairs of steps, less those whose offset another pair has already: so many
   steps of one dimension lead as far as so many of the other. */
static uint64_t distinct_sums(const term *a, const term *b) {
  const uint64_t common = greatest_divisor(a->width, b->width);
  const uint64_t apart_a = b->width / common, apart_b = a->width / common;
  const uint64_t pairs = a->steps * b->steps;
  if (a->steps <= apart_a || b->steps <= apart_b) return pairs;
  return pairs - (a->steps - apart_a) * (b->steps - apart_b);
}

/* Each further dimension adds all but one of its steps at least. */
static uint64_t distinct_offsets(const term *terms, uint32_t count) {
  if (count == 0) return 1;
  uint64_t offsets =
      count > 1 ? distinct_sums(&terms[0], &terms[1]) : terms[0].steps;
  for (uint32_t i = 2; i < count; i++) offsets += terms[i].steps - 1;
  return offsets;
}

uint64_t cost_used_words(const accel_layer *layer, uint32_t tensor) {
  const accel_tensor *t = &layer->tensors[tensor];
  term terms[ACCEL_MAX_DIMENSIONS];
  uint32_t taken = 0;
  uint64_t words = 1;
  for (uint32_t r = 0; r < t->rank_count; r++) {
    const uint32_t count = gather_terms(terms, layer, &t->ranks[r], taken);
    words = accel_count_multiply(words, distinct_offsets(terms, count));
    for (uint32_t i = 0; i < count; i++)
      taken |= UINT32_C(1) << terms[i].dimension;
  }
  return words;
}
