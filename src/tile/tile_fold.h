/*
 * What the files that fold tiles share.  A picture is a whole one that tiles
 * are parts of; each tensor that was traced has its place in one.  The trace
 * (tile_fold_trace.c) guesses pictures and places, the judge
 * (tile_fold_judge.c) looks at every row and column whether the guess holds,
 * tile_fold.c finds regions, tile_fold_make.c makes the new graph.
 */
#ifndef CALM_TILE_TILE_FOLD_H
#define CALM_TILE_TILE_FOLD_H

#include "graph/graph_window.h"
#include "tile/tile.h"

enum { FOLD_AXES = 2 }; /* rows, columns */

typedef enum fold_padding {
  FOLD_VALID,
  FOLD_SAME,
  FOLD_GIVEN,   /* numbers per side, of the operator (.onnx) */
  FOLD_EXPLICIT /* a pad in front of a convolution */
} fold_padding;

typedef struct fold_picture {
  op_id op; /* one that makes a tile of it, as a model; CALM_NONE: the source */
  uint32_t *inputs; /* per operand of that: a picture; CALM_NONE: no picture */
  int64_t sizes[FOLD_AXES];
  bool window;                 /* else element by element */
  window_axis axes[FOLD_AXES]; /* of the whole */
  fold_padding padding;
  int64_t after[FOLD_AXES]; /* padding behind, where it is said in numbers */
} fold_picture;

/* Element 0 of a tensor is element `at` of the picture, which may lie in its
   padding. */
typedef struct fold_place {
  uint32_t picture; /* CALM_NONE: not known */
  int64_t at[FOLD_AXES];
  bool padded; /* some elements are padding, made by a pad */
} fold_place;

/* A size that a picture has at least, as others show. */
typedef struct fold_hint {
  int64_t sizes[FOLD_AXES];
} fold_hint;

typedef struct folder {
  const graph *g;
  const tile_options *options;
  arena *scratch;
  fold_place *places;     /* per tensor */
  fold_picture *pictures; /* the first is the source's */
  uint32_t picture_count;
  fold_hint *hints; /* per picture */
  bool again;       /* a hint was found: what was traced is not all right */
  tensor_id source; /* from where it was traced */
  bool *taken;      /* per operator: it is in a region that was found */
  bool *dead;       /* per operator: it can have no place in this trace */
  bool *bound;      /* per operator: others wait for it, or it for others,
                       without need */
} folder;

/* A region that is folded: from the source to `output`, by these pictures. */
typedef struct fold_region {
  tensor_id source, output;
  fold_picture *pictures;
  uint32_t count;
  bool *needed;  /* per picture */
  uint32_t last; /* the output's picture */
} fold_region;

typedef struct fold_regions {
  fold_region *list;
  uint32_t count;
} fold_regions;

static inline uint32_t fold_dimension(const graph *g, uint32_t axis) {
  return (g->channels_first ? 2 : 1) + axis;
}

static inline int64_t fold_size(const graph *g, tensor_id t, uint32_t axis) {
  return g->tensors.data[t].dimensions[fold_dimension(g, axis)];
}

/* Has the tensor four dimensions and no bytes of its own? */
bool fold_is_picture(const graph *g, tensor_id t);

bool fold_is_slice(const graph_op *op);
bool fold_is_pooling(op_kind kind);

/* The same type and quantization; as many batches and channels. */
bool fold_same_kind(const graph *g, tensor_id a, tensor_id b);
bool fold_whole_depth(const graph *g, tensor_id a, tensor_id b);

/* Can the operator still be given a place? */
bool fold_is_open(const folder *f, op_id u);

/* Give slices, pads and concats their places, where those of their operands are
   known (tile_fold_part.c). */
void fold_place_parts(folder *f);

/* Give everything a place that the source leads to. */
calm_status fold_trace(folder *f, tensor_id source);

/* How a picture is to be padded; false: nothing can pad it so. */
bool fold_choose_padding(const folder *f, fold_picture *p);

/* Do the marked operators compute `output` as the pictures say, in every row
   and column? */
calm_status fold_judge(bool *out, const folder *f, const bool *marked,
                       tensor_id output);

/* The graph with the regions folded. */
calm_status fold_make(graph_edit *out, const folder *f,
                      const fold_regions *regions, arena *a);

#endif
