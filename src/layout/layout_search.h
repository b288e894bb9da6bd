/*
 * Does a strip fit into an arena of a given size?  Depth-first search over the
 * skyline with restarts in several noisy orders.  "Yes" comes with offsets,
 * "no" is a proof, and otherwise the budget was spent.
 */
#ifndef CALM_LAYOUT_LAYOUT_SEARCH_H
#define CALM_LAYOUT_LAYOUT_SEARCH_H

#include "base/limits.h"
#include "base/random.h"
#include "layout/layout_failures.h"

typedef enum layout_answer {
  LAYOUT_FITS,
  LAYOUT_FITS_NOT,
  LAYOUT_UNDECIDED
} layout_answer;

typedef struct search_frame {
  search_part part;
  uint32_t section; /* in which the choices are made */
  uint32_t choice_begin, choice_next;
  uint32_t part_begin, part_next; /* of the present choice */
  uint32_t mark;                  /* state before the choice */
  bool chosen;
  failure_keys keys;
} search_frame;

typedef struct layout_search {
  const layout_strip *strip;
  const layout_options *options;
  limits *l;
  skyline sky;
  failures failures;
  int64_t *score;   /* per body: higher goes first */
  uint32_t *weight; /* per section: conflicts there */
  bool weighted;
  random_state random;
  uint32_t restarts;
  uint64_t nodes, stop_at;
  VECTOR(search_frame) frames;
  VECTOR(uint32_t) choices; /* of all frames */
  VECTOR(search_part) parts;
} layout_search;

calm_status layout_search_make(layout_search *out, const layout_strip *strip,
                               const layout_options *options, arena *a,
                               limits *l);
void layout_search_free(layout_search *s);

/* Spend at most `budget` nodes on one capacity. */
calm_status layout_search_decide(layout_answer *out, layout_search *s,
                                 uint64_t capacity_bytes, uint64_t budget);

/* After LAYOUT_FITS: the offsets of all bodies of the strip, in bytes. */
void layout_search_offsets(const layout_search *s, uint64_t *offsets);

#endif
