/*
 * Random machines, layers and loop nests: everything that the accounting has a
 * rule for occurs, small enough to be walked or as large as one likes.  The
 * same seed gives the same case everywhere.  Most nests are valid; some are
 * not, for every reason there is.  All memory comes from the arena; the program
 * aborts without it.
 */
#ifndef CALM_TESTS_COST_RANDOM_H
#define CALM_TESTS_COST_RANDOM_H

#include "base/random.h"
#include "cost_pieces.h"

typedef struct cost_random_options {
  uint64_t most_macs;  /* about so many iterations, or fewer */
  uint64_t most_words; /* of a tensor, about; 0: any number */
  bool imperfect;      /* some loops have residuals */
  bool valid;          /* no faults on purpose */
} cost_random_options;

typedef cost_pieces cost_random_case;

void cost_random_make(cost_random_case *out, random_state *r,
                      const cost_random_options *options, arena *a);

/* The case as text, to be read when a test has failed. */
void cost_random_print(const cost_random_case *c);

#endif
