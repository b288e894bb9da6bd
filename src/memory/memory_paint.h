/*
 * An arena whose bytes know what they hold: byte `from` of something that is
 * called `owner`.  Kept as segments, so that it costs nothing how large the
 * arena is.
 */
#ifndef CALM_MEMORY_MEMORY_PAINT_H
#define CALM_MEMORY_MEMORY_PAINT_H

#include "base/vector.h"

/* Bytes [begin, end) hold bytes [from, ...) of `owner`. */
typedef struct paint_segment {
  uint64_t begin, end;
  uint32_t owner;
  uint64_t from;
} paint_segment;

/* Ascending and disjoint; bytes in none of them hold nothing. */
typedef struct painting {
  calm_context *context;
  VECTOR(paint_segment) segments;
} painting;

void painting_free(painting *p);

/* What lay there is gone.  O(log n) where the new segment continues one. */
calm_status painting_put(painting *p, paint_segment segment);

/* Is that what lies there?  If not, *out_byte is the first that is something
   else, and *out_owner whose it is, CALM_NONE for nobody's. */
bool painting_holds(uint64_t *out_byte, uint32_t *out_owner, const painting *p,
                    paint_segment segment);

#endif
