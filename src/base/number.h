/*
 * Checked arithmetic on byte counts, and sizes as people write them.
 * Byte counts stay below 2^62, so that a sum of two never wraps and every one
 * fits into a signed JSON integer.
 */
#ifndef CALM_BASE_NUMBER_H
#define CALM_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAX_BYTES (UINT64_C(1) << 62)

/* *out = a + b or a * b; false, *out untouched, if that exceeds
   NUMBER_MAX_BYTES. */
bool number_add(uint64_t *out, uint64_t a, uint64_t b);
bool number_multiply(uint64_t *out, uint64_t a, uint64_t b);

static inline uint64_t number_smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static inline uint64_t number_larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* bytes rounded up to a multiple of unit (unit > 0, bytes within the limit). */
uint64_t number_round_up(uint64_t bytes, uint64_t unit);

/* Greatest common divisor; gcd(0, b) = b. */
uint64_t number_gcd(uint64_t a, uint64_t b);

/* Exactly `length` decimal digits to a number; false otherwise. */
bool number_parse(uint64_t *out, const char *text, size_t length);

/* Digits with at most one point, 15 characters at most: no signs, exponents, or
   "inf". */
bool number_parse_decimal(double *out, const char *text);

/* "65536", "64K", "64KiB", "1M", "2GiB": K = 1024, M = 1024 K, G = 1024 M. */
bool number_parse_size(uint64_t *out, const char *text);

#endif
