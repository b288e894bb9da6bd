/*
 * Is the precedence of a problem series-parallel, and how?  Operators that must
 * follow each other make a series, those that nothing ties together stand in
 * parallel, and so on with parts made that way (Valdes, Tarjan, Lawler 1982).
 */
#ifndef CALM_ORDER_SERIES_TREE_H
#define CALM_ORDER_SERIES_TREE_H

#include "order/order.h"

typedef enum series_kind { SERIES_OP, SERIES_ROW, SERIES_BESIDE } series_kind;

/* Nodes below op_count are the operators.  Children come before their parents,
   and those of a row are in running order. */
typedef struct series_tree {
  uint32_t node_count, root; /* root CALM_NONE: it is not series-parallel */
  uint32_t *parent;          /* CALM_NONE at the root */
  series_kind *kind;
  uint32_t *first, *next; /* children: the first one, and the next sibling */
} series_tree;

/* About linear in the edges; gives up, as if it were not series-parallel, where
   finding edges that others imply takes longer. */
calm_status order_series_tree(series_tree *out, const order_problem *p,
                              arena *a, limits *l);

#endif
