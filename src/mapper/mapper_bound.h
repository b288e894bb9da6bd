/*
 * What every completion of a label costs at least.
 */
#ifndef CALM_MAPPER_MAPPER_BOUND_H
#define CALM_MAPPER_MAPPER_BOUND_H

#include "mapper/mapper_label.h"

typedef struct mapper_floor {
  double energy_pj, cycles;
} mapper_floor;

/* Words that arrive and that leave over a link, at least: [0] if the next loop
   moves the tensor, [1] if all loops that do not move it come first. */
typedef struct mapper_least {
  double arrive[2], leave[2];
} mapper_least;
mapper_least mapper_bound_chain(const mapper_space *s, const mapper_chain *c,
                                uint32_t node, uint32_t level);

/* How much an alive chain can still save, at most: in words, at spread 1. */
double mapper_bound_gain(const mapper_space *s, const mapper_chain *c,
                         uint32_t node);

/* The least share of its words that an open chain brings in if all dimensions
   that do move it are left to its windows. */
double mapper_bound_sweep(const mapper_space *s, uint32_t tensor, uint32_t tile,
                          uint32_t node);

/* How many times more instances may sum up one written word, from here on. */
double mapper_bound_same(const mapper_space *s, uint32_t node, uint32_t level);

/*
 * Of a written tensor the words that go back down are counted apart: first
 * touches save from them, the more the more instances start sums of their own,
 * but never more than all.
 */
typedef struct mapper_tally {
  double fixed;    /* at least */
  double returned; /* before first touches are taken off */
} mapper_tally;

/* Adds what the chain costs if the tensor's free loops do not come first, and
   if they do. */
void mapper_bound_add(mapper_tally sums[2], const mapper_space *s,
                      const mapper_account *a, const mapper_chain *c,
                      const mapper_least *least, double same);

/* What the sum of an account is multiplied by, if so many instances of its
   level are in use. */
double mapper_bound_share(const mapper_account *a, double spread);

/* Rounds cycles up to what there can be with so many multipliers in use so far,
   and adds what leaks meanwhile: of levels up to this one, so much a cycle. */
void mapper_bound_cycles(mapper_floor *f, const mapper_space *s, double spread,
                         double leaking, uint32_t level);

/* The label stands among the temporal loops of `level`.  At the end of the last
   level, with all chains settled, it is the cost itself. */
mapper_floor mapper_bound_label(const mapper_space *s, const mapper_label *l,
                                uint32_t level);

#endif
