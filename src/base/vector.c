#include "base/vector.h"

#if CALM_HOSTILE
enum { FIRST_CAPACITY = 1 };
#else
enum { FIRST_CAPACITY = 8 };
#endif

void *vector_grown(calm_context *context, void *data, uint32_t *capacity,
                   size_t element_bytes, uint64_t needed) {
  uint64_t wanted = *capacity ? *capacity : FIRST_CAPACITY;
  while (wanted < needed) wanted *= 2;
  if (wanted > UINT32_MAX) return NULL;
  void *grown = context_reallocate(context, data, *capacity * element_bytes,
                                   (size_t)wanted * element_bytes);
  if (grown) *capacity = (uint32_t)wanted;
  return grown;
}
