/*
 * Sets of small integers as arrays of 64-bit words.  The caller knows how many
 * words a set has (bits_words) and owns them.
 */
#ifndef CALM_BASE_BITS_H
#define CALM_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_words(uint32_t size) { return (size + 63) / 64; }

static inline bool bits_has(const uint64_t *set, uint32_t i) {
  return set[i / 64] >> (i % 64) & 1;
}

static inline void bits_add(uint64_t *set, uint32_t i) {
  set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bits_remove(uint64_t *set, uint32_t i) {
  set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline bool bits_equal(const uint64_t *a, const uint64_t *b,
                              uint32_t words) {
  return memcmp(a, b, words * sizeof *a) == 0;
}

/* a is a subset of b. */
static inline bool bits_within(const uint64_t *a, const uint64_t *b,
                               uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (a[w] & ~b[w]) return false;
  return true;
}

static inline bool bits_meet(const uint64_t *a, const uint64_t *b,
                             uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (a[w] & b[w]) return true;
  return false;
}

static inline uint32_t bits_count_word(uint64_t word) {
#if defined(__GNUC__)
  return (uint32_t)__builtin_popcountll(word);
#else
  uint32_t count = 0;
  for (; word; word &= word - 1) count++;
  return count;
#endif
}

/* The lowest element of a word that is not 0. */
static inline uint32_t bits_lowest(uint64_t word) {
#if defined(__GNUC__)
  return (uint32_t)__builtin_ctzll(word);
#else
  uint32_t i = 0;
  while (!(word >> i & 1)) i++;
  return i;
#endif
}

static inline uint32_t bits_count(const uint64_t *set, uint32_t words) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < words; w++) count += bits_count_word(set[w]);
  return count;
}

#endif
