/*
 * What must hold for every nest, whatever its numbers are: nothing is made from
 * nothing, names and orders that mean nothing change nothing.  The nests may be
 * of any size.
 */
#ifndef CALM_TESTS_COST_THEOREMS_H
#define CALM_TESTS_COST_THEOREMS_H

#include "cost_random.h"

/* The first theorem that a case breaks, with what broke it, as a line in `a`;
   NULL if all hold.  An invalid nest has to be found invalid by all. */
const char *cost_theorems_broken(const cost_random_case *c, random_state *r,
                                 arena *a);

#endif
