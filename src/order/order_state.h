/*
 * The states of one pass of the exact search: down-sets, stored once each, in
 * layers by size.  A layer is open until it is expanded; then its sets are
 * forgotten, and only (parent, cause) pairs stay, from which the path to any
 * later state can be replayed.  All memory comes from the context.
 */
#ifndef CALM_ORDER_STATE_H
#define CALM_ORDER_STATE_H

#include "base/vector.h"

typedef struct order_state {
  uint64_t hash;
  uint64_t mem;    /* of the set */
  uint64_t peak;   /* the largest cost on the path that found it */
  uint32_t parent; /* path record it was reached from; next one when free */
  uint32_t cause;  /* which step led here: order_expand.h */
  uint32_t reach;  /* the last successor of any operator in the set */
} order_state;

/* How a state that was expanded had been reached. */
typedef struct order_path_record {
  uint32_t parent, cause;
} order_path_record;

typedef struct order_layer {
  uint32_t *slots; /* open addressing, state + 1, 0: free */
  uint32_t count, capacity;
} order_layer;

typedef struct order_store {
  calm_context *context;
  uint32_t words, layer_count;
  uint32_t width;      /* states that a layer may keep */
  bool truncated;      /* a layer had more */
  order_layer *layers; /* by number of operators in the set */
  order_state *states;
  uint64_t *sets; /* `words` per state */
  uint32_t state_capacity, set_capacity;
  uint32_t used, free; /* free: chain of released states */
  VECTOR(order_path_record) path;
  VECTOR(uint32_t) open;   /* the layer being expanded */
  VECTOR(uint32_t) ranked; /* scratch of choosing the best */
  uint64_t slot_bytes;     /* held by the layers' slots */
  uint64_t stored;         /* distinct states, over all passes */
} order_store;

calm_status order_store_init(order_store *out, calm_context *context,
                             uint32_t op_count);
void order_store_free(order_store *s);

/* Bytes taken from the context. */
uint64_t order_store_bytes(const order_store *s);

/* Forget all states and paths, keep the memory. */
void order_store_clear(order_store *s, uint32_t width);

/* Store a set (`words` words, `size` elements) unless its layer has it.  If it
   has, the path with the smaller peak is kept. */
calm_status order_store_add(order_store *s, const order_state *state,
                            const uint64_t *set, uint32_t size);

/* Close a layer: its states, at most the `width` best ones, move to `open`. */
calm_status order_store_open(order_store *s, uint32_t size);

/* Give back the states in `open`. */
void order_store_release(order_store *s);

/* Remember how a state was reached; its record's number. */
calm_status order_store_record(uint32_t *out, order_store *s,
                               const order_state *state);

static inline const uint64_t *order_store_set(const order_store *s,
                                              uint32_t state) {
  return s->sets + (size_t)state * s->words;
}

#endif
