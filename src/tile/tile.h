/*
 * The tile room: regions of a network computed in strips or in a grid.  A
 * region is a run of operators, in the graph's topological order, that read one
 * activation from outside and make one that is read outside; its output is cut
 * into tiles, and the chain of each tile runs to its end before the next.
 * Every element is computed by the same kernel from the same numbers, with the
 * same weights.  Where tiles overlap, the halo is computed again, or kept.
 */
#ifndef CALM_TILE_TILE_H
#define CALM_TILE_TILE_H

#include "base/text.h"
#include "graph/graph_edit.h"

typedef enum tile_mode {
  TILE_PAD,   /* exact ranges; borders by an explicit PAD */
  TILE_SAME,  /* strips of full width under SAME padding; rows that are wrong
                 for being cut are cut off later */
  TILE_CACHE, /* strips; rows that are needed again are kept: no element is
                 computed twice */
  TILE_MODES
} tile_mode;

typedef struct tile_region {
  uint32_t first, last;   /* positions in the topological order of the graph */
  uint32_t rows, columns; /* tiles; columns 1: strips */
  tile_mode mode;
} tile_region;

typedef struct tile_options {
  uint32_t most_operands; /* that a concat can have; 0: any number */
  bool
      pads; /* convolutions have a padding per side (.onnx): no PAD is needed */
  bool bare_slices;   /* a slice has attributes only (.onnx before opset 10) */
  uint64_t row_align; /* strips begin at multiples of so many bytes where that
                         is possible at no other cost; 1: wherever */
  /* For tile_fold: do two constants have the same bytes?  NULL: nobody knows,
     only a tensor is like itself. */
  bool (*same)(void *payload, tensor_id a, tensor_id b);
  void *payload;
} tile_options;

/*
 * Can operators [first, last] be a region at all?  NULL, or the reason why not.
 * `rows` and `columns` get the size of its output.  Tiles, mode are judged by
 * tile_apply.
 */
const char *tile_refuse(const graph *g, uint32_t first, uint32_t last,
                        uint32_t *rows, uint32_t *columns);

/*
 * The graph with disjoint regions in tiles, operators in an order that is good
 * to run: of each region tile by tile, depth first.  Tensors and operators that
 * nobody needs are gone.  CALM_UNSUPPORTED, with the reason, if a region cannot
 * be cut like that; *out is untouched then.
 */
calm_status tile_apply(graph_edit *out, const graph *g,
                       const tile_region *regions, uint32_t count,
                       const tile_options *options, arena *a);

/*
 * Does `after` compute what `before` says?  Knows nothing of regions and modes:
 * each tensor of `after` is traced to a range of rows and columns of one of
 * `before`, element by element at the borders.  CALM_INTERNAL with the first
 * operator for which that fails.
 */
calm_status tile_check(const graph_edit *edit, calm_context *context);

/*
 * Tiles that a model already has, undone: slices of one tensor, chains with
 * equal weights, a concat; and pads in front of a convolution that SAME padding
 * can replace.  *found: how many regions were folded; if 0, *out is untouched.
 * What cannot be shown to be equal, row by row and tap by tap, stays.
 */
calm_status tile_fold(graph_edit *out, uint32_t *found, const graph *g,
                      const tile_options *options, arena *a);

/* "0-3:4:pad", the way --tile spells a region, and back.  CALM_MISUSE with the
   place in the list and what would be right. */
calm_status tile_parse(tile_region **out, uint32_t *count, const char *list,
                       arena *a);
void tile_print(text *out, const tile_region *region);

const char *tile_mode_name(tile_mode mode);

#endif
