/*
 * What the files of the tile room share that cut regions: a region as numbers
 * (tile_part.c), which parts of its tensors a tile needs (tile_ranges.c), where
 * its output is cut (tile_split.c), and a graph while it is made (tile_make.c).
 * The judge (tile_check.c) knows nothing of this.
 */
#ifndef CALM_TILE_TILE_WORK_H
#define CALM_TILE_TILE_WORK_H

#include "graph/graph_window.h"
#include "tile/tile.h"

enum { TILE_ROWS, TILE_COLUMNS, TILE_AXES };

/* [begin, end) along an axis. */
typedef struct tile_span {
  int64_t begin, end;
} tile_span;

/* A part of a picture. */
typedef struct tile_area {
  tile_span axes[TILE_AXES];
} tile_area;

static inline int64_t tile_length(tile_span s) { return s.end - s.begin; }

static inline bool tile_same_span(tile_span a, tile_span b) {
  return a.begin == b.begin && a.end == b.end;
}

static inline bool tile_same_area(const tile_area *a, const tile_area *b) {
  return tile_same_span(a->axes[TILE_ROWS], b->axes[TILE_ROWS]) &&
         tile_same_span(a->axes[TILE_COLUMNS], b->axes[TILE_COLUMNS]);
}

/* The least that has both; an empty one has nothing. */
static inline tile_span tile_hull(tile_span a, tile_span b) {
  if (tile_length(a) <= 0) return b;
  if (tile_length(b) <= 0) return a;
  return (tile_span){a.begin < b.begin ? a.begin : b.begin,
                     a.end > b.end ? a.end : b.end};
}

/* ---- A region as numbers ------------------------------------------------- */

typedef enum tile_kind {
  TILE_WINDOW,  /* a convolution or a pooling */
  TILE_PADDING, /* a pad: a window of one element */
  TILE_POINT    /* element by element */
} tile_kind;

typedef struct tile_step {
  op_id op;
  tile_kind kind;
  bool pool;
  uint32_t output;       /* among the tensors of the part */
  const uint32_t *slots; /* per operand: likewise; CALM_NONE: no picture */
  window_axis axes[TILE_AXES];
} tile_step;

typedef struct tile_tensor {
  tensor_id id;
  int64_t sizes[TILE_AXES];
  uint64_t pixel_bytes; /* of one row and column */
  uint32_t last_reader; /* the last step that reads it; CALM_NONE */
} tile_tensor;

typedef struct tile_part {
  const graph *g;
  tile_region region;
  tile_step *steps;
  tile_tensor *tensors; /* the first is read from outside */
  uint32_t step_count, tensor_count;
  uint32_t output;          /* the tensor that is read outside */
  uint32_t axes[TILE_AXES]; /* which dimensions rows and columns are */
} tile_part;

/* Of one operator: NULL, or why it cannot be in a region (tile.c). */
const char *tile_refuse_op(const graph *g, op_id u);

/* A convolution, a pooling. */
bool tile_is_window(op_kind kind);

/* Which dimension rows (0) and columns (1) are. */
static inline uint32_t tile_dimension(const graph *g, uint32_t axis) {
  return (g->channels_first ? 2 : 1) + axis;
}

/* CALM_UNSUPPORTED with the reason, and the operator that it is about, if
   operators cannot be a region. */
calm_status tile_part_of(tile_part *out, const graph *g,
                         const tile_region *region, arena *a);

/* "0-3:4:pad: REASON" */
calm_status tile_fail(const tile_part *part, calm_context *context,
                      const char *reason);

/* ---- Ranges -------------------------------------------------------------- */

/* What a part of an axis is computed from, and what of that is padding. */
typedef struct tile_reach {
  tile_span in;
  int64_t front, back;
} tile_reach;

/* An axis that is computed whole is computed from all there is, also from what
   no window reaches. */
tile_reach tile_reach_of(const window_axis *axis, tile_span out);

/* Which part of each tensor is needed for a part of the output.  NULL, or the
   reason why there is none. */
const char *tile_find_needs(tile_area *needs, const tile_part *part,
                            const tile_area *output);

/* count + 1 borders of the tiles along an axis of the output. */
calm_status tile_split(int64_t **out, const tile_part *part, uint32_t axis,
                       uint32_t count, uint64_t row_align, arena *a);

/* ---- A graph while it is made -------------------------------------------- */

typedef struct tile_made_tensor {
  graph_tensor tensor;
  edit_tensor descent;
} tile_made_tensor;

typedef struct tile_made_op {
  graph_op op;
  edit_op descent;
} tile_made_op;

/* A made tensor: this part of a tensor of the region. */
typedef struct tile_piece {
  tensor_id id;
  tile_area area;
} tile_piece;

/* A slice that was made: of which tensor, and where it lies in that. */
typedef struct tile_crop {
  tensor_id from, made;
  tile_area place;
} tile_crop;

/* Tensors of the old graph keep their numbers until the end; those that are
   made have numbers behind them. */
typedef struct tile_maker {
  const graph *g;
  const tile_options *options;
  arena *a;
  op_id *made_of; /* per operator of the graph: what stands for it */
  VECTOR(tile_made_tensor) tensors;
  VECTOR(tile_made_op) ops;
  VECTOR(tensor_id) numbers; /* constants that were made */
  VECTOR(tile_crop) crops;   /* of this tile */
  uint32_t tile;             /* that is made, from 1 */
} tile_maker;

/* A list of numbers as the value of an attribute. */
calm_status tile_list(const char **out, const int64_t *numbers, uint32_t count,
                      arena *a);

/* A constant of these numbers, one for all that are equal; `rank` dimensions.
   Its name begins with `base`. */
calm_status tile_numbers(tensor_id *out, tile_maker *m, const char *base,
                         tensor_id from, const int64_t *numbers,
                         const int64_t *dimensions, uint32_t rank);

/* What describes a tensor that is there already, old or made. */
const graph_tensor *tile_tensor_at(const tile_maker *m, tensor_id t);

/* "NAME/tileN/WHAT", of the last of the names that are joined in NAME;
   "NAME/WHAT" in tile 0. */
calm_status tile_name(const char **out, const tile_maker *m, const char *base,
                      const char *what);

/* A tensor of this area that is like the old tensor `from`. */
calm_status tile_add_tensor(tile_piece *out, tile_maker *m,
                            const tile_part *part, tensor_id from,
                            const tile_area *area, const char *what);
calm_status tile_add_op(tile_maker *m, const graph_op *op,
                        const edit_op *descent);

/* A part of a piece of the old tensor `t`, by a slice in front of operator u
   unless it is all of it. */
calm_status tile_cut(tile_piece *out, tile_maker *m, const tile_part *part,
                     uint32_t t, op_id u, const tile_piece *piece,
                     const tile_area *area);

/* Padding around a piece of tensor t, in front of or in place of step `s`. */
calm_status tile_surround(tile_piece *out, tile_maker *m, const tile_part *part,
                          const tile_step *s, const tile_piece *piece,
                          const tile_reach *reach);

/* Run a step on whole pieces, one per operand that is a picture. */
typedef struct tile_padding {
  bool given;       /* else it stays as it is */
  bool same;        /* SAME, else VALID */
  tile_reach *axes; /* the padding per side, where that can be said */
} tile_padding;
calm_status tile_run(tile_piece *out, tile_maker *m, const tile_part *part,
                     const tile_step *s, const tile_piece *operands,
                     const tile_area *area, const tile_padding *padding);

/* A part of a step's output, exactly, from pieces that have what it needs
   (tile_pad.c). */
calm_status tile_compute(tile_piece *out, tile_maker *m, const tile_part *part,
                         const tile_step *s, const tile_piece *pieces,
                         const tile_area *area);

/* ---- Pieces put together ------------------------------------------------- */

/* Pieces that follow each other along an axis, as one; `whole` CALM_NONE: a
   tensor is made for it, like the old tensor t.  No concat gets more operands
   than it can have. */
calm_status tile_join(tile_piece *out, tile_maker *m, const tile_part *part,
                      uint32_t t, uint32_t axis, tile_piece *pieces,
                      uint32_t count, tensor_id whole);

/* ---- Modes: a tile of the output after the other ------------------------- */

/* Where the tiles are cut. */
typedef struct tile_grid {
  const int64_t *borders[TILE_AXES];
  uint32_t counts[TILE_AXES];
} tile_grid;

tile_area tile_cell(const tile_grid *grid, uint32_t row, uint32_t column);

/* Fill `pieces` of the output, row by row; the tiles of a row are joined. */
calm_status tile_make_pad(tile_piece *pieces, tile_maker *m,
                          const tile_part *part, const tile_grid *grid);
calm_status tile_make_same(tile_piece *pieces, tile_maker *m,
                           const tile_part *part, const tile_grid *grid);
calm_status tile_make_cache(tile_piece *pieces, tile_maker *m,
                            const tile_part *part, const tile_grid *grid);

#endif
