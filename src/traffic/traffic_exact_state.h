/*
 * The states of the search for the order with the fewest spills.  A state is
 * which operators have run, which of the buffers that are needed again are off
 * chip, and which of the others leave only after a write.  A buffer that goes
 * off chip pays at once for being read again, so `cost` never lacks anything.
 *
 * Two states after the same operators can be compared: one becomes the other by
 * putting out what only the other has out, and by writing back what only the
 * other has clean.  If it is still not dearer then, the other one is not
 * needed.  (That it may have more on chip or less does not matter: what is out
 * is paid for.)
 */
#ifndef CALM_TRAFFIC_TRAFFIC_EXACT_STATE_H
#define CALM_TRAFFIC_TRAFFIC_EXACT_STATE_H

#include "base/vector.h"
#include "traffic/traffic_exact_core.h"

typedef struct traffic_state {
  uint64_t cost;  /* bytes of spills; what is off chip is read again for sure */
  uint64_t least; /* no way from here ends below it */
  uint32_t parent; /* the state before */
  uint32_t op;     /* the last operator that ran */
  uint32_t size;   /* how many have run */
  uint32_t next;   /* another state after the same operators */
  bool dropped;    /* another one is as good */
  bool rough;      /* `least` can be raised by the points */
} traffic_state;

/* The sets of a state, one behind the other. */
typedef struct traffic_sets {
  uint64_t *done, *out, *dirty;
} traffic_sets;

typedef struct traffic_store {
  calm_context *context;
  const traffic_core *core;
  bool dominance;
  uint32_t row_words;
  traffic_state *states;
  uint64_t *rows;
  uint32_t count, state_capacity, row_capacity;
  uint32_t *slots; /* first state after each set of operators, + 1; 0: free */
  uint32_t slot_count, slot_capacity;
  uint64_t stored; /* states ever */
} traffic_store;

void traffic_store_init(traffic_store *out, const traffic_core *core,
                        bool dominance, calm_context *context);
void traffic_store_free(traffic_store *s);
uint64_t traffic_store_bytes(const traffic_store *s);

/* Forget all states, keep the memory. */
void traffic_store_clear(traffic_store *s);

/* Store a state unless one is there that is as good; *out_id is CALM_NONE then.
   Those that are not better than the new one are dropped.  *out_ticks grows by
   the states looked at. */
calm_status traffic_store_add(uint32_t *out_id, traffic_store *s,
                              const traffic_state *state,
                              const traffic_sets *sets, uint64_t *out_ticks);

/* Would it be stored? */
bool traffic_store_wants(const traffic_store *s, uint64_t cost,
                         const traffic_sets *sets, uint64_t *out_ticks);

/* Nothing that is stored from now on has the same operators as anything that is
   there. */
void traffic_store_seal(traffic_store *s);

/* Of the states from `first` on, keep those that are listed, ascending; they
   move together.  None of them was dropped, and all of the others go. */
calm_status traffic_store_compact(traffic_store *s, uint32_t first,
                                  const uint32_t *kept, uint32_t count);

static inline traffic_sets traffic_sets_of(const traffic_core *core,
                                           uint64_t *row) {
  return (traffic_sets){row, row + core->op_words,
                        row + core->op_words + core->buffer_words};
}

static inline traffic_sets traffic_store_sets(const traffic_store *s,
                                              uint32_t id) {
  return traffic_sets_of(s->core, s->rows + (size_t)id * s->row_words);
}

static inline uint32_t traffic_row_words(const traffic_core *core) {
  return core->op_words + 2 * core->buffer_words;
}

#endif
