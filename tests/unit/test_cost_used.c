/*
 * How many words of a tensor are used, beside a walk through all iterations.
 */
#include <stdio.h>

#include "cost/cost_used.h"
#include "cost_case.h"
#include "cost_fixture.h"
#include "cost_random.h"

enum { MOST_RANKS = 16 };

typedef struct place {
  uint64_t at[MOST_RANKS];
} place;

static int by_place(const void *a, const void *b) {
  return memcmp(a, b, sizeof(place));
}

static place place_of(const accel_tensor *t, const uint64_t *step) {
  place p = {{0}};
  assert_true(t->rank_count <= MOST_RANKS);
  for (uint32_t r = 0; r < t->rank_count; r++)
    for (uint32_t i = 0; i < t->ranks[r].term_count; i++) {
      const accel_term *term = &t->ranks[r].terms[i];
      p.at[r] += term->coefficient * step[term->dimension];
    }
  return p;
}

static bool next_step(uint64_t *step, const accel_layer *layer) {
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    if (++step[d] < layer->dimensions[d].bound) return true;
    step[d] = 0;
  }
  return false;
}

/* Different places that the iterations look at, by walking through all. */
static uint64_t walk(const accel_layer *layer, uint32_t tensor, arena *a) {
  uint64_t step[ACCEL_MAX_DIMENSIONS] = {0}, count = 0, different = 0;
  place *places = arena_calloc(a, layer->macs, sizeof *places);
  assert_non_null(places);
  do places[count++] = place_of(&layer->tensors[tensor], step);
  while (next_step(step, layer));
  assert_int_equal(count, layer->macs);
  qsort(places, count, sizeof *places, by_place);
  for (uint64_t i = 0; i < count; i++)
    different += i == 0 || by_place(&places[i - 1], &places[i]);
  return different;
}

/* Are these words counted, or only bounded? */
static bool is_plain(const accel_layer *layer, uint32_t tensor) {
  const accel_tensor *t = &layer->tensors[tensor];
  uint32_t seen = 0;
  for (uint32_t r = 0; r < t->rank_count; r++) {
    uint32_t here = 0, count = 0;
    for (uint32_t i = 0; i < t->ranks[r].term_count; i++) {
      const accel_term *term = &t->ranks[r].terms[i];
      const uint32_t bit = UINT32_C(1) << term->dimension;
      if (layer->dimensions[term->dimension].bound == 1 || !term->coefficient)
        continue;
      count += !(here & bit);
      here |= bit;
    }
    if (count > 2 || here & seen) return false;
    seen |= here;
  }
  return true;
}

static void used_words_are_those_of_the_iterations(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(1);
  uint32_t counted = 0, bounded = 0, loose = 0;
  for (uint32_t i = 0; i < COST_CASES / 2; i++) {
    const cost_random_options options = {.most_macs = 600, .valid = true};
    cost_random_case c;
    cost_random_make(&c, &r, &options, &f->arena);
    for (uint32_t t = 0; t < c.layer.tensor_count; t++) {
      const uint64_t used = cost_used_words(&c.layer, t);
      const uint64_t walked = walk(&c.layer, t, &f->arena);
      if (used > walked || (is_plain(&c.layer, t) && used != walked)) {
        cost_random_print(&c);
        fail_msg("tensor %u: %llu words, walked %llu", t,
                 (unsigned long long)used, (unsigned long long)walked);
      }
      counted += is_plain(&c.layer, t);
      bounded += !is_plain(&c.layer, t);
      loose += used < walked;
    }
    arena_free(&f->arena);
  }
  print_message("%u tensors counted, %u bounded, of these %u loosely\n",
                counted, bounded, loose);
  assert_true(counted > COST_CASES / 6 && bounded > COST_CASES / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(used_words_are_those_of_the_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
