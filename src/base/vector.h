/*
 * Growing arrays.  VECTOR(T) holds data, count and capacity; pushing grows it
 * through the context.  Elements move when it grows: keep indices, not
 * pointers.
 */
#ifndef CALM_BASE_VECTOR_H
#define CALM_BASE_VECTOR_H

#include "base/context.h"

#define VECTOR(T)             \
  struct {                    \
    T *data;                  \
    uint32_t count, capacity; \
  }

/* `data` moved to where `needed` elements fit, *capacity updated; NULL, both
   untouched, without memory. */
void *vector_grown(calm_context *context, void *data, uint32_t *capacity,
                   size_t element_bytes, uint64_t needed);

/* Make room for `more` elements, or leave the function with "out of memory". */
#define VECTOR_RESERVE(context, v, more)                                \
  do {                                                                  \
    uint64_t needed_ = (uint64_t)(v)->count + (more);                   \
    if (needed_ > (v)->capacity) {                                      \
      void *grown_ = vector_grown((context), (v)->data, &(v)->capacity, \
                                  sizeof *(v)->data, needed_);          \
      if (!grown_) return context_no_memory(context);                   \
      (v)->data = grown_;                                               \
    }                                                                   \
  } while (0)

/* Append, or leave the function with "out of memory". */
#define VECTOR_PUSH(context, v, ...)         \
  do {                                       \
    VECTOR_RESERVE((context), (v), 1);       \
    (v)->data[(v)->count++] = (__VA_ARGS__); \
  } while (0)

#define VECTOR_FREE(context, v)                               \
  do {                                                        \
    context_reallocate((context), (v)->data,                  \
                       (v)->capacity * sizeof *(v)->data, 0); \
    (v)->data = NULL;                                         \
    (v)->count = (v)->capacity = 0;                           \
  } while (0)

#endif
