/*
 * An arena: many small allocations, freed at once.  It is the lifetime of a
 * graph and of the scratch of one solve, so that error paths have nothing to
 * clean up but the arena.  Memory comes zeroed.
 */
#ifndef CALM_BASE_ARENA_H
#define CALM_BASE_ARENA_H

#include "base/context.h"

typedef struct arena {
  calm_context *context;
  struct arena_block *blocks; /* newest first */
} arena;

void arena_init(arena *a, calm_context *context);

/* Free everything in it; the arena is then empty and usable again. */
void arena_free(arena *a);

/* Bytes taken from the context. */
size_t arena_bytes(const arena *a);

/* `count` zeroed elements of `size` bytes; NULL without memory or on overflow.
   A count of 0 yields a valid pointer. */
void *arena_calloc(arena *a, size_t count, size_t size);

/* A copy of `length` bytes with a NUL behind them. */
char *arena_string(arena *a, const char *text, size_t length);

/* out = COUNT zeroed elements in arena A, or leave with "out of memory". */
#define ARENA_ARRAY(a, out, count)                      \
  do {                                                  \
    (out) = arena_calloc((a), (count), sizeof *(out));  \
    if (!(out)) return context_no_memory((a)->context); \
  } while (0)

#endif
