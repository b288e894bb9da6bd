/*
 * What the files of the series-parallel method share: the parts of a tree as
 * ranges of one sequence, and the merging of parts that stand beside each
 * other.
 */
#ifndef CALM_ORDER_SERIES_MERGE_H
#define CALM_ORDER_SERIES_MERGE_H

#include "order/order_series_tree.h"

typedef struct series_part {
  uint32_t begin, end; /* in the sequence */
  uint32_t rank;       /* s->rank[rank] is this part */
  int64_t hill, net;
} series_part;

/* An operator that a shared buffer waits for and that could run at once. */
typedef struct starter {
  int64_t fall; /* less is better */
  uint32_t op, part;
} starter;

typedef struct stretch {
  int64_t hill, net;
  uint32_t begin, end; /* in the sequence */
  uint32_t part;
} stretch;

typedef struct series {
  const order_problem *p;
  limits *l;
  series_tree tree;
  uint32_t *top;         /* node: the highest above it of the same kind */
  uint32_t *begin, *end; /* node: its range */
  uint32_t *sequence, *trial, *best;
  int64_t *hill, *net;              /* operator */
  uint32_t *shared_begin, *shared;  /* node: buffers that die inside it */
  uint32_t *place, *stamped, stamp; /* operators of a trial */
  series_part *parts;
  uint32_t part_count, *stack, *rank;
  starter *starters;
  uint32_t starter_count;
  bool *early; /* operator: has been put in front in this trial */
  stretch *stretches;
  uint32_t trial_count;
  uint64_t patience; /* ticks */
} series;

/* For each node the highest above it of the same kind. */
void order_series_find_tops(series *s);

/* Leaves from left to right, and the range of each node. */
void order_series_lay_out(series *s);

/* The parts that stand beside each other in a node and those like it below. */
void order_series_list_parts(series *s, uint32_t node);

/* Append operators [begin, end) of the sequence to the trial, but for those
   that have been put in front. */
void order_series_append(series *s, uint32_t begin, uint32_t end);

/* Append the parts of `rank` in [from, to), merged by the rule. */
void order_series_merge(series *s, uint32_t from, uint32_t to);

/* The best of several orders of a node in which buffers die that several parts
   wait for, as the trial; they die where it says. */
calm_status order_series_fork(series *s, uint32_t node, arena *a);

#endif
