/*
 * The best of many ids, without sorting the others.
 */
#ifndef CALM_BASE_SELECT_H
#define CALM_BASE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

/* Does a rank before b?  A strict total order of the ids. */
typedef bool select_before(const void *payload, uint32_t a, uint32_t b);

/* Moves the `wanted` best of `count` ids (one at least) to their front, in no
   order.  O(count) as a rule. */
void select_best(uint32_t *ids, uint32_t count, uint32_t wanted,
                 select_before *before, const void *payload);

#endif
