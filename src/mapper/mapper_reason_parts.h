/*
 * What the two halves of a reason share: demands as items that can be left out
 * (mapper_reason.c), and how they are told (mapper_reason_tell.c).
 */
#ifndef CALM_MAPPER_MAPPER_REASON_PARTS_H
#define CALM_MAPPER_MAPPER_REASON_PARTS_H

#include "base/text.h"
#include "mapper/mapper_reach.h"

/* In the order in which they are the subject of the line. */
typedef enum mapper_item_kind {
  MAPPER_ITEM_CAPACITY,
  MAPPER_ITEM_USE, /* a level's least utilization */
  MAPPER_ITEM_PARALLELISM,
  MAPPER_ITEM_FAN,
  MAPPER_ITEM_ORDER, /* order and split of spatial loops */
  MAPPER_ITEM_FACTOR
} mapper_item_kind;

enum { MAPPER_MOST_ITEMS = 512 };

typedef struct mapper_item {
  mapper_item_kind kind;
  bool on, spatial; /* spatial: FACTOR */
  uint32_t level;
  const accel_factor_rule *rule; /* FACTOR */
  double limit; /* CAPACITY, USE: words; PARALLELISM: multipliers */
} mapper_item;

typedef struct mapper_reasoning {
  const mapper_problem *problem;
  const mapper_space *space;
  const mapper_fan *ordered; /* per level: spreads that its order rules allow */
  mapper_item *items;
  uint32_t item_count;
  mapper_gate *gates; /* what the items that are on let pass */
  uint8_t *marks;     /* of gates */
  uint64_t work;      /* so far */
} mapper_reasoning;

/* Makes the gates of the items that are on. */
void mapper_reason_open(mapper_reasoning *r);

/* Is there a nest, the items that are off aside? */
calm_status mapper_reason_ask(bool *out, mapper_reasoning *r, arena *a);

/* The subject of the line, among the items that are on. */
mapper_item *mapper_reason_subject(const mapper_reasoning *r);

/* What the other items that are on make of the subject: words that its smallest
   tiles have, or its fullest; multipliers in use at most.  CALM_NONE in *node:
   they have no nest by themselves, or the subject has no number. */
typedef struct mapper_measure {
  double number;
  uint32_t node;
} mapper_measure;
calm_status mapper_reason_measure(mapper_measure *out, mapper_reasoning *r,
                                  mapper_item *subject, arena *a);

/* A rule that wants several iterations of a dimension that has one; false:
   there is none. */
bool mapper_reason_tell_ones(text *out, const mapper_reasoning *r);

/* The items that are on cannot hold together. */
calm_status mapper_reason_tell(text *out, mapper_reasoning *r, arena *a);

#endif
