/*
 * States that are known to have no completion.  One table holds states as
 * 128-bit keys; another holds, per set of unplaced bodies, a few skylines: a
 * state whose floors are nowhere lower than a stored one fails as well.  Keys
 * contain the capacity, so entries stay valid over restarts and capacities.
 * Tables grow between restarts only; when they may not, old entries go.
 */
#ifndef CALM_LAYOUT_LAYOUT_FAILURES_H
#define CALM_LAYOUT_LAYOUT_FAILURES_H

#include "base/context.h"
#include "layout/layout_skyline.h"

typedef struct failure_key {
  uint64_t a, b;
} failure_key;

/* A state with its floors, and without. */
typedef struct failure_keys {
  failure_key state, set;
} failure_keys;

/* Consecutive sections that share bodies without a place. */
typedef struct search_part {
  uint32_t first, last;
} search_part;

typedef struct failures {
  calm_context *context;
  uint64_t max_bytes;
  failure_key *states;
  uint32_t state_slots, state_count;
  struct failure_set *sets;
  uint32_t set_slots, set_count;
  int64_t *pool; /* a ring of skylines */
  uint32_t pool_size;
  uint64_t pool_head; /* where the next one goes, never wrapped */
} failures;

void failures_init(failures *f, calm_context *context, uint64_t max_bytes);
void failures_free(failures *f);

/* Double what has become full.  To be called between two runs. */
calm_status failures_grow(failures *f);

/* The keys of a part of the current state of `s`. */
failure_keys failures_key(const skyline *s, search_part part);

/* Is that state known to fail? */
bool failures_has(const failures *f, const failure_keys *keys, const skyline *s,
                  search_part part);

/* Its children were all refuted. */
void failures_add(failures *f, const failure_keys *keys, const skyline *s,
                  search_part part);

#endif
