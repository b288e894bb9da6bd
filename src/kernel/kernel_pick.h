/*
 * Which kernel of a library runs an operator: the tests that the library's own
 * dispatch makes, on the same numbers.  What the kernel is then known to need
 * stands in its row (kernel_rows.def).
 */
#ifndef CALM_KERNEL_KERNEL_PICK_H
#define CALM_KERNEL_KERNEL_PICK_H

#include "graph/graph_window.h"
#include "kernel/kernel.h"

typedef enum kernel_row {
#define ROW(name, formula, reference, why, evidence) KERNEL_##name,
#include "kernel/kernel_rows.def"
#undef ROW
  KERNEL_ROWS
} kernel_row;

typedef enum kernel_formula {
  FORMULA_NEVER,
  FORMULA_CONV,
  FORMULA_DEPTHWISE,
  FORMULA_DENSE,
  FORMULA_PAD,
  FORMULA_SLICE,
  FORMULA_ELEMENTS,
  FORMULA_NARROW,
  FORMULA_STRIDED,
  FORMULA_MVE_POINT,
  FORMULA_MVE_STRIDED,
  FORMULA_MVE_LINE
} kernel_formula;

typedef struct kernel_row_facts {
  kernel_formula formula;
  bool reference; /* the reference kernel's distance is safe, too */
  const char *why, *evidence;
} kernel_row_facts;

extern const kernel_row_facts kernel_rows[]; /* per kernel_row */

/* Channels that the depthwise kernel of MVE works on at a time. */
enum { MVE_BLOCK = 124 };

/* An operator, looked at once. */
typedef struct kernel_subject {
  const graph *g;
  const graph_op *op;
  const graph_tensor *x, *y; /* the operand in question, the output */
  uint32_t slot;
  bool pictures; /* `window` is filled in */
  graph_window window;
} kernel_subject;

/* False if operand or output is absent or has no elements of known size. */
bool kernel_subject_of(kernel_subject *out, const graph *g, op_id op,
                       uint32_t slot);

/* The row of what runs, or the reason why there is none. */
kernel_row kernel_pick(kernel_library library, const kernel_subject *s);

/* Tests of CMSIS-NN's dispatch on the convolution that a window is. */
bool kernel_is_point(const graph_window *w); /* 1x1, no padding */
bool kernel_is_line(const graph_window *w);  /* 1xN */

/* How the MVE kernel divides a line: pixels that touch the padding on the left,
   none, on the right; false if the generic kernel runs instead. */
typedef struct kernel_line {
  int64_t left, middle, right;
  bool uneven; /* one more padded pixel on the right than on the left */
} kernel_line;
bool kernel_line_of(kernel_line *out, const window_axis *columns);

/* The convolution that MVE makes of a depthwise one with one input channel. */
bool kernel_becomes_conv(const graph_window *w, op_kind kind);

/* Does the fully connected operator run as a 1x1 convolution? */
bool kernel_dense_is_point(const kernel_subject *s);

#endif
