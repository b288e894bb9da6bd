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

/* The keys of sections first .. last of a state: with its floors, and
   without. */
void failures_key(failure_key *state, failure_key *set, const skyline *s,
                  uint32_t first, uint32_t last);

/* Is that state known to fail?  The state is the current one of `s`. */
bool failures_has(failures *f, const failure_key *state, const failure_key *set,
                  const skyline *s, uint32_t first, uint32_t last);

/* Its children were all refuted. */
void failures_add(failures *f, const failure_key *state, const failure_key *set,
                  const skyline *s, uint32_t first, uint32_t last);

#endif
