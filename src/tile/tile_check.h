/*
 * What the judge's files share.  A tensor of `after` is traced to one of
 * `before`, row by row and column by column: which of its rows stands here?  A
 * row beyond the picture, -1 or as many as it has, is one of zeros; one that is
 * not what any row of `before` is, is garbage.
 */
#ifndef CALM_TILE_TILE_CHECK_H
#define CALM_TILE_TILE_CHECK_H

#include "graph/graph_window.h"
#include "tile/tile.h"

#define TILE_GARBAGE INT64_MIN

/* What a tensor of `after` is. */
typedef struct tile_trace {
  tensor_id of;     /* of `before`; CALM_NONE: nothing is known */
  int64_t *axes[2]; /* per row, per column; NULL: it is no picture, or whole */
} tile_trace;

/* What a tensor of `before` is: the output of a pad is what is padded, shifted.
   Row r of it is row r - shift of `of`. */
typedef struct tile_origin {
  tensor_id of;
  int64_t shift[2];
} tile_origin;

typedef struct tile_judgement {
  const graph_edit *edit;
  const graph *before, *after;
  tile_origin *origins; /* per tensor of `before` */
  tile_trace *traces;   /* per tensor of `after` */
  arena a;
} tile_judgement;

/* Which dimensions rows and columns are. */
static inline uint32_t tile_check_dimension(const graph *g, int axis) {
  return (g->channels_first ? 2 : 1) + (uint32_t)axis;
}

static inline int64_t tile_check_size(const graph *g, tensor_id t, int axis) {
  return g->tensors.data[t].dimensions[tile_check_dimension(g, axis)];
}

/* The trace of what an operator makes; *fault: what is wrong with it, if
   anything is.  The operator is made for one that slides a window (a pooling,
   a convolution), or that works element by element. */
calm_status tile_check_window(tile_trace *out, const char **fault,
                              tile_judgement *j, op_id u);
calm_status tile_check_point(tile_trace *out, const char **fault,
                             tile_judgement *j, op_id u);

/* Slices, pads and concats that tiles brought along. */
calm_status tile_check_crop(tile_trace *out, const char **fault,
                            tile_judgement *j, op_id u);
calm_status tile_check_pad(tile_trace *out, const char **fault,
                           tile_judgement *j, op_id u);
calm_status tile_check_join(tile_trace *out, const char **fault,
                            tile_judgement *j, op_id u);

#endif
