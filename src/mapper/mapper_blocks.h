/*
 * What rounding up to blocks adds at least.  A level of one instance reads and
 * writes whole blocks; a search counts parts of them.  In its last round, which
 * is about what is rounded, that makes bounds tighter.
 */
#ifndef CALM_MAPPER_MAPPER_BLOCKS_H
#define CALM_MAPPER_MAPPER_BLOCKS_H

#include "mapper/mapper_label.h"

/* Sets `fill_block` and `send_block` of all links. */
void mapper_blocks_init(const mapper_space *s, mapper_link *links);

/* Of a chain that is settled, in picojoules. */
double mapper_blocks_settle(const mapper_space *s, const mapper_chain *c);

/* Of a link over which so many words go at least. */
double mapper_blocks_least(const mapper_space *s, const mapper_link *l,
                           double arrive, double leave);

/* Of a label; not of the levels that it has not reached. */
double mapper_blocks_more(const mapper_space *s, const mapper_label *l,
                          uint32_t level);

/* The same space with an outlook that counts whole blocks. */
calm_status mapper_blocks_look_ahead(mapper_space *out, const mapper_space *s);

#endif
