/*
 * One direction of the exact search: is there an order whose peak is at most
 * tau?  Layers of down-sets are expanded by size; a layer keeps at most `width`
 * of them.  If the search dies out and nothing was left behind, there is none.
 */
#ifndef CALM_ORDER_SEARCH_H
#define CALM_ORDER_SEARCH_H

#include "order/order_expand.h"
#include "order/order_state.h"

typedef enum order_verdict {
  ORDER_REACHED,   /* there is: `sequence` */
  ORDER_DEAD,      /* there is none; every order needs `bound` */
  ORDER_TRUNCATED, /* died out, but something was left behind */
  ORDER_STOPPED    /* a limit */
} order_verdict;

/* What one pass is to find out, and what it may cost. */
typedef struct order_pass {
  uint64_t tau;         /* scaled, as in the core */
  uint32_t width;       /* states that a layer keeps */
  uint64_t ticks;       /* with more spent, or the memory full, it is
                                 given up: truncated; 0: it never is */
  uint64_t other_bytes; /* held elsewhere, count towards the limit */
} order_pass;

typedef struct order_search {
  order_core core;
  order_rules rules;
  order_store store;
  order_expansion expansion;
  arena scratch; /* of the expansion */
  uint32_t near_capacity;
  uint64_t *target; /* the set a step leads to */
  uint64_t full_hash;
  uint32_t *sequence; /* of the last verdict "reached" */
  uint64_t bound;     /* of the last verdict "dead", scaled */
  bool crowded;       /* the last pass was given up for lack of memory */
} order_search;

/* `p` must outlive the search; order_search_free also after a failure. */
calm_status order_search_init(order_search *s, const order_problem *p,
                              uint64_t unit, const order_options *options,
                              arena *a);
void order_search_free(order_search *s);

calm_status order_search_run(order_verdict *out, order_search *s,
                             const order_pass *pass, limits *l);

uint64_t order_search_bytes(const order_search *s);

#endif
