/*
 * What is left to pay for the tiles of levels not reached yet, at least: one
 * table per level and account, over all nodes.
 */
#ifndef CALM_MAPPER_MAPPER_OUTLOOK_H
#define CALM_MAPPER_MAPPER_OUTLOOK_H

#include "base/arena.h"
#include "mapper/mapper_space.h"

/* Do the kept tiles of a node fit the level, and fill it enough? */
bool mapper_outlook_fits(const mapper_space *s, uint32_t node, uint32_t level);

/* Makes s->outlook; needs all else. */
calm_status mapper_outlook_init(mapper_space *s, arena *a);

#endif
