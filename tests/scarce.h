/*
 * An allocator that runs out: it grants as many requests as its payload, a
 * uint64_t, says and then none; frees always succeed.  Tests ask for 0, 1, 2,
 * ... until all goes well.
 */
#ifndef CALM_TESTS_SCARCE_H
#define CALM_TESTS_SCARCE_H

#include <stdint.h>
#include <stdlib.h>

#define SCARCE_NEVER UINT64_MAX

static inline void *scarce_reallocate(void *payload, void *old, size_t old_size,
                                      size_t new_size) {
  uint64_t *left = payload;
  (void)old_size;
  if (new_size == 0) {
    free(old);
    return NULL;
  }
  if (*left == 0) return NULL;
  --*left;
  return realloc(old, new_size);
}

#endif
