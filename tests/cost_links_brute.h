/*
 * Words per link by walking: at every visit of every tile, who is given the
 * same words, the tree that leads to them, and each link of that tree one word
 * richer.  Shares no code with src/cost; what is not of a single walk (how
 * often a tensor passes a level that does not keep it, how often sums are
 * fetched again) it takes from the referee's counts.
 */
#ifndef CALM_TESTS_COST_LINKS_BRUTE_H
#define CALM_TESTS_COST_LINKS_BRUTE_H

#include "cost_referee.h"

/* Over the most loaded link of the mesh below a level of a perfect nest.
   `counted` is the referee's. */
double cost_links_brute(const cost_pieces *c, const cost_result *counted,
                        uint32_t level, arena *a);

/* Hops of all words of one tensor through that mesh, each as long as its tree,
   as if every level kept it. */
double cost_links_brute_hops(const cost_pieces *c, uint32_t tensor,
                             uint32_t level, arena *a);

#endif
