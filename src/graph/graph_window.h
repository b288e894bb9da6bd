/*
 * Operators that slide a window over a picture, as numbers: convolutions and
 * poolings of two dimensions, and what pads or cuts pictures.  A window has
 * rows and columns; an element of the output is computed from the window that
 * begins at `stride` times its place, less the padding in front.
 */
#ifndef CALM_GRAPH_GRAPH_WINDOW_H
#define CALM_GRAPH_GRAPH_WINDOW_H

#include "graph/graph.h"

typedef struct window_axis {
  int64_t input, output; /* sizes */
  int64_t taps, stride, dilation;
  int64_t before; /* padding in front, as the operator applies it */
} window_axis;

typedef struct graph_window {
  window_axis rows, columns;
  int64_t batches, in_channels, out_channels;
  int64_t groups;     /* 1; in_channels for a depthwise one and for a pooling */
  int64_t multiplier; /* outputs per input channel of a depthwise one; else 1 */
} graph_window;

/* Of conv2d, depthwise_conv2d, average_pool2d, max_pool2d with typed operands
   of four dimensions; false for all else, and where attributes are missing or
   contradict the shapes. */
bool graph_window_of(graph_window *out, const graph *g, op_id op);

/* The padding behind: what the last window reaches beyond the input; 0 where it
   does not reach so far. */
int64_t window_after(const window_axis *axis);

/* What a window of the axis spans: (taps - 1) * dilation + 1. */
int64_t window_span(const window_axis *axis);

/* The input [*begin, *end) that output [u, v) is computed from, u < v. */
void window_needs(int64_t *begin, int64_t *end, const window_axis *axis,
                  int64_t u, int64_t v);

/* The padding in front that SAME means for these sizes, and its output. */
int64_t window_same_before(int64_t input, int64_t taps, int64_t stride,
                           int64_t dilation);

/*
 * Numbers of an attribute such as "0,5,0,0", at most GRAPH_MAX_RANK; returns
 * how many, 0 if there is no such attribute or it is no list of numbers.  A
 * slice whose operands are constants has `begin` and `size`, a pad `before` and
 * `after`, one number per dimension.
 */
uint32_t graph_op_numbers(int64_t *out, const graph_op *op, const char *key);

/* Multiply-accumulates of one run: of convolutions, plain, grouped and
   depthwise, and of fully connected operators; 0 of all else.  UINT64_MAX if
   they do not fit. */
uint64_t graph_op_macs(const graph *g, op_id op);
uint64_t graph_macs(const graph *g);

#endif
