/* Pseudo-random numbers from an explicit seed (SplitMix64, Steele, Lea, Flood,
   OOPSLA 2014): the same sequence on every machine. */
#ifndef CALM_BASE_RANDOM_H
#define CALM_BASE_RANDOM_H

#include <stdint.h>

typedef struct random_state {
  uint64_t state;
} random_state;

static inline random_state random_from_seed(uint64_t seed) {
  return (random_state){seed};
}

static inline uint64_t random_next(random_state *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* 0 to bound - 1; bound > 0. */
static inline uint32_t random_below(random_state *r, uint32_t bound) {
  return (uint32_t)((random_next(r) >> 32) * bound >> 32);
}

#endif
