/*
 * An arena as a picture in characters: steps from left to right, addresses from
 * bottom to top, each block of bytes a field of one letter.  The largest
 * blocks have letters of their own and are listed below; the others are shaded.
 */
#ifndef CALM_REPORT_REPORT_PICTURE_H
#define CALM_REPORT_REPORT_PICTURE_H

#include "base/arena.h"
#include "base/text.h"

typedef struct picture_block {
  const char *name;
  uint64_t low, high;  /* bytes, high exclusive */
  uint64_t from, past; /* steps, past exclusive */
} picture_block;

typedef struct picture {
  const picture_block *blocks;
  uint32_t count;
  uint64_t bytes;      /* height of the arena */
  uint64_t steps;      /* width; blocks lie within [0, steps) */
  uint64_t first_step; /* what the first one is called */
} picture;

/* Append picture and legend, at most 100 columns wide; nothing for an empty
   arena.  O(count log count + cells touched). */
calm_status report_picture(text *out, const picture *p, bool color);

#endif
