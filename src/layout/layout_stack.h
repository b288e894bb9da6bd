/*
 * Placed pieces from the lowest to the highest: what first fit walks along when
 * a body meets so many of them that sorting them each time would take longer.
 * Linear per question, without the constant of a sort; about the square root of
 * the pieces per piece added.
 */
#ifndef CALM_LAYOUT_LAYOUT_STACK_H
#define CALM_LAYOUT_LAYOUT_STACK_H

#include "layout/layout.h"

typedef struct layout_stack {
  arena *arena;
  struct stack_chunk **chunks; /* ascending; those beyond `count` are spare */
  uint32_t count, made;
} layout_stack;

/* A stack for all pieces of a problem. */
calm_status layout_stack_make(layout_stack *out, const layout_problem *p,
                              arena *a);

void layout_stack_clear(layout_stack *stack);

calm_status layout_stack_add(layout_stack *stack, const layout_piece *piece,
                             uint64_t offset);

/* The lowest free offset of a body from `from`, a multiple of its alignment,
   on.  *work grows by the pieces that were looked at. */
uint64_t layout_stack_fit(const layout_stack *stack, const layout_problem *p,
                          uint32_t body, uint64_t from, uint64_t *work);

#endif
