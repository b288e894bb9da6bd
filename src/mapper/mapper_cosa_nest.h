/*
 * From a solution of the program to a nest that runs.  A tiling says what each
 * block of loops runs through, and in which order they stand at the permutation
 * level.  The program knows tiles by logarithms, and halos roughly: the nest is
 * judged exactly, and factors are moved outwards until its tiles fit.
 */
#ifndef CALM_MAPPER_MAPPER_COSA_NEST_H
#define CALM_MAPPER_MAPPER_COSA_NEST_H

#include "mapper/mapper_cosa_model.h"

typedef struct mapper_cosa_tiling {
  uint64_t *factors;                    /* mapper_cosa_factor_at */
  uint32_t order[ACCEL_MAX_DIMENSIONS]; /* all, innermost first */
} mapper_cosa_tiling;

/* Nothing but ones, in the usual order. */
calm_status mapper_cosa_tiling_init(mapper_cosa_tiling *out,
                                    const mapper_cosa_program *p, arena *a);

/* What the values of the columns say; the tiling is of ones before. */
void mapper_cosa_tiling_read(mapper_cosa_tiling *out,
                             const mapper_cosa_model *m, const double *values);

/* What a perfect nest says. */
void mapper_cosa_tiling_of(mapper_cosa_tiling *out,
                           const mapper_cosa_program *p, const accel_nest *n);

/* Room for any nest of the program, then nests that are built in it. */
calm_status mapper_cosa_nest_init(accel_nest *out, const mapper_cosa_program *p,
                                  arena *a);
void mapper_cosa_nest_build(accel_nest *out, const mapper_cosa_program *p,
                            const mapper_cosa_tiling *t);

/*
 * Moves prime factors outwards as long as tiles do not fit a level, each time
 * the one after which they fit with the most words, or else the least; factors
 * that constraints give stay.  The nest is built anew, and *verdict is of it:
 * COST_VALID, or what cannot be helped.  *moves counts.
 */
void mapper_cosa_repair(mapper_cosa_tiling *t, accel_nest *nest,
                        cost_verdict *verdict, uint32_t *moves,
                        const mapper_cosa_program *p, const cost_problem *cost);

static inline uint64_t *mapper_cosa_factor_at(const mapper_cosa_tiling *t,
                                              const mapper_cosa_program *p,
                                              uint32_t level,
                                              accel_loop_kind kind,
                                              uint32_t dimension) {
  return &t->factors[(level * 3 + kind) * p->dimension_count + dimension];
}

#endif
