/*
 * What the event models of kernels share: the operator at hand, and reports in
 * elements.  A model is the kernel's loops with everything left out that no
 * byte depends on; reads of bytes that are read again later are left out, too.
 */
#ifndef CALM_KERNEL_KERNEL_RUN_PARTS_H
#define CALM_KERNEL_KERNEL_RUN_PARTS_H

#include "graph/graph_window.h"
#include "kernel/kernel.h"

typedef struct run_trace {
  const kernel_watch *watch;
  const graph *g;
  const graph_op *op;
  graph_window w; /* of a window operator */
  uint64_t width; /* bytes of an element of operand 0 and of output 0 */
} run_trace;

static inline void run_read(const run_trace *t, int64_t at, int64_t count) {
  if (count > 0)
    t->watch->read(t->watch->payload, 0, (uint64_t)at * t->width,
                   (uint64_t)count * t->width);
}

static inline void run_write(const run_trace *t, int64_t at, int64_t count) {
  if (count > 0)
    t->watch->write(t->watch->payload, 0, (uint64_t)at * t->width,
                    (uint64_t)count * t->width);
}

/* Channels [from, from + count) of the inputs in the window of output pixel
   `p`, pixels counted row after row. */
void run_read_window(const run_trace *t, int64_t p, int64_t from,
                     int64_t count);

/* Element by element: all channels of a pixel from all of its window. */
void run_conv(const run_trace *t);
/* Channel by channel; each makes its outputs `group` at a time from its own
   window. */
void run_depthwise(const run_trace *t, int64_t group);
/* The windows of `pixels` pixels are read before any of them is written, for
   `block` input channels at a time over the whole picture. */
void run_gather(const run_trace *t, int64_t pixels, int64_t block);

/* Inputs of one matrix product: each of `count` vectors of `length` elements,
   `step` apart from `input` on, makes `outputs` elements from `output` on. */
typedef struct run_vectors {
  int64_t count, step, length, input, output, outputs;
} run_vectors;

/* All vectors for two outputs before the next two. */
void run_by_outputs(const run_trace *t, const run_vectors *v);
/* Four vectors, read again for each output; the rest one by one, for four
   outputs at a time. */
void run_by_fours(const run_trace *t, const run_vectors *v);
/* Each vector is read for `group` outputs at a time, what is left singly. */
void run_by_vectors(const run_trace *t, const run_vectors *v, int64_t group);

/* A 1x1 convolution: one product, or one for each row if there are strides. */
void run_point(const run_trace *t,
               void (*product)(const run_trace *t, const run_vectors *v));
/* A 1xN convolution as MVE runs it; false: it does not, but the generic one. */
bool run_line(const run_trace *t);

#endif
