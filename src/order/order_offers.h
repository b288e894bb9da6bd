/*
 * The look-ahead of the list scheduler.  Memory falls only when a buffer is
 * freed, so the sensible next steps are the blocks: for a buffer, the operators
 * still missing until it is freed.  This file keeps, for each buffer within
 * reach of a few operators and for each operator that is ready, what running
 * that block would cost, and brings the prices up to date after each operator,
 * looking only at blocks that it can have changed.
 */
#ifndef CALM_ORDER_ORDER_OFFERS_H
#define CALM_ORDER_ORDER_OFFERS_H

#include "order/order_walk.h"

/* A block with more operators is not on offer: that far nobody looks. */
enum { OFFER_OPS = 32 };

typedef struct order_offer {
  uint64_t hill;  /* most bytes above those live now */
  int64_t net;    /* live bytes afterwards, less those live now */
  uint32_t count; /* operators; 0: not on offer */
} order_offer;

/* Blocks 0 .. buffer_count - 1 free that buffer; block buffer_count + u runs
   operator u alone. */
typedef struct order_offers {
  order_walk walk;
  uint32_t *preds_left; /* per operator; CALM_NONE once it has run */
  order_offer *blocks;
  struct offer_watch *watches;  /* OFFER_OPS + 1 per buffer */
  uint32_t *watched[2];         /* per operator, its first watch of a kind */
  uint32_t *stale, stale_count; /* blocks to be priced again */
  bool *is_stale;
  uint64_t work;         /* operators looked at, for the ticks */
  uint32_t *seen, stamp; /* per operator: found in this search */
} order_offers;

/* Nothing has run; all blocks are stale. */
calm_status order_offers_begin(order_offers *out, const order_problem *p,
                               arena *a);

/* Price a stale block; its entry in blocks[] is then right. */
void order_offers_price(order_offers *b, uint32_t block);

/* The operators of a block on offer, in an order that may be run. */
uint32_t order_offers_members(const order_offers *b, uint32_t block,
                              uint32_t members[OFFER_OPS]);

/* Run an operator; blocks that may have changed are stale afterwards. */
void order_offers_run(order_offers *b, uint32_t u);

#endif
