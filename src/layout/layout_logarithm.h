/*
 * Logarithms by integers alone, so that orders are the same on every machine.
 */
#ifndef CALM_LAYOUT_LAYOUT_LOGARITHM_H
#define CALM_LAYOUT_LAYOUT_LOGARITHM_H

#include <stdint.h>

/* floor(65536 * log2(x)), by squaring the mantissa; 0 for x of 0 or 1. */
static inline int64_t layout_logarithm(uint64_t x) {
  int64_t whole = 0, part = 0;
  if (x <= 1) return 0;
  for (uint64_t y = x; y > 1; y >>= 1) whole++;
  uint64_t mantissa = whole > 31 ? x >> (whole - 31) : x << (31 - whole);
  for (int bit = 0; bit < 16; bit++) {
    mantissa = mantissa * mantissa >> 31;
    part <<= 1;
    if (mantissa >> 32) {
      mantissa >>= 1;
      part |= 1;
    }
  }
  return whole * 65536 + part;
}

#endif
