/*
 * How a folded constant is computed: a chain of additions and multiplications
 * by other constants, applied to one of them or to a number.  All of it is
 * done in double and rounded once, to the type of the constant.  Recipes and
 * what they point to lie in the arena of the edit; ids are those of `before`.
 */
#ifndef CALM_REWRITE_REWRITE_CONTENTS_H
#define CALM_REWRITE_REWRITE_CONTENTS_H

#include "graph/graph_edit.h"

/* What a step makes of the value v with its operand c and its number n. */
typedef enum recipe_verb {
  RECIPE_ADD,           /* v + c */
  RECIPE_SUBTRACT,      /* v - c */
  RECIPE_SUBTRACT_FROM, /* c - v */
  RECIPE_MULTIPLY,      /* v * c */
  RECIPE_DIVIDE,        /* v / c */
  RECIPE_DIVIDE_INTO,   /* c / v */
  RECIPE_MULTIPLY_ROOT, /* v * sqrt(c + n) */
  RECIPE_DIVIDE_ROOT    /* v / sqrt(c + n) */
} recipe_verb;

/* The constant has one element, or as many as the recipe's axis is long. */
typedef struct recipe_step {
  recipe_verb verb;
  tensor_id constant; /* CALM_NONE: c is `number`, and n is 0 */
  double number;
} recipe_step;

/*
 * A constant of `rank` dimensions.  A GIVEN tensor is the part [begin, begin +
 * length) of it along the tensor's `axis`, which is all of it where the length
 * is; so recipes can be sliced like constants.
 */
typedef struct edit_recipe {
  const int64_t *dimensions;
  uint32_t rank;
  uint32_t axis;   /* along which the operands of the steps lie */
  tensor_id start; /* one element, as many as the axis is long, or as many as
                      the recipe's dimensions say; CALM_NONE: `number` */
  double number;
  const recipe_step *steps;
  uint32_t step_count;
} edit_recipe;

#endif
