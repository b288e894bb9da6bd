/*
 * A nest measured: extents of tiles, fan-outs in use, and the temporal loops as
 * a list with prefix products.  Made once per nest; what is counted for a
 * tensor at a level reads only this and the tables.  The mappers, which have
 * tiles before they have nests, fill in the parts they need.
 */
#ifndef CALM_COST_COST_FRAME_H
#define CALM_COST_COST_FRAME_H

#include "cost/cost_tables.h"

/* A temporal loop. */
typedef struct cost_step {
  double bound;
  double scale; /* extent of its dimension inside of it */
  double outer; /* product of the bounds of the temporal loops outside of it */
  uint32_t dimension;
} cost_step;

/* The spatial loops below one level. */
typedef struct cost_spread {
  double x, y;             /* columns and rows in use below an instance */
  double above_x, above_y; /* columns and rows of this level in use */
  double instances;        /* in use: their product; with imperfect loops the
                              integer part of the average */
  double clusters;         /* of this level, in use */
  uint32_t dimensions;     /* bit d: d is spread here */
  uint32_t first_loop, last_loop; /* in nest->loops, last excluded */
  uint32_t first_step;            /* of the steps outside of this fan-out */
} cost_spread;

typedef struct cost_frame {
  const accel_nest *nest;
  bool perfect;
  /* Rows: steps of each dimension within tiles, then words of each tensor in
     them. */
  const double **tile;  /* per level: in a tile of it */
  const double **wide;  /* in all the tiles that lie below one instance, which
                           the level's temporal loops step over */
  double *rows;         /* 2 * levels + 1 of them; the first is all ones */
  cost_spread *spreads; /* per level */
  cost_step *steps;     /* temporal loops, innermost first */
  uint32_t step_count;
  uint64_t *steps_of;    /* per dimension; bit k: step k is one of it */
  double compute_cycles; /* product of all temporal bounds */
  double multipliers;    /* in use */
  double multiplying;    /* imperfect nests: on average, the integer part */
} cost_frame;

/* Loops of a perfect nest are fewer: each doubles at least, and all make up
   2^53 at most. */
enum { COST_MOST_STEPS = 64 };

/* Extents of the tile of the next inner level. */
static inline const double *cost_frame_below(const cost_frame *f,
                                             uint32_t level) {
  return level ? f->tile[level - 1] : f->rows;
}

/* Words of each tensor in a row. */
static inline const double *cost_row_words(const cost_tables *t,
                                           const double *row) {
  return row + t->dimension_count;
}

/* Measure a nest: all of the frame, if it is perfect; without the steps, if
   not. Returns false if the loops of a dimension do not make up its bound: then
   *wrong is the dimension and *made what they make up, and the frame is of no
   use. */
bool cost_frame_measure(cost_frame *f, const cost_tables *t,
                        const accel_nest *n, uint32_t *wrong, double *made);

/* Imperfect nests: the extents that Timeloop holds for tiles, and the integer
   part of the average of instances in use.  Called by cost_frame_measure. */
void cost_frame_average(cost_frame *f, const cost_tables *t);

#endif
