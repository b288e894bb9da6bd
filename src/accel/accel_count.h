/*
 * Counts of words and of iterations.  Those of a layer are at most
 * ACCEL_MAX_COUNT, up to which a double is exact; what factors and rules make
 * up together may be more, and stays at UINT64_MAX where it is too much.
 */
#ifndef CALM_ACCEL_ACCEL_COUNT_H
#define CALM_ACCEL_ACCEL_COUNT_H

#include <stdint.h>

#define ACCEL_MAX_COUNT (UINT64_C(1) << 53)

static inline uint64_t accel_count_add(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t accel_count_multiply(uint64_t a, uint64_t b) {
  return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

#endif
