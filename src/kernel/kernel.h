/*
 * The kernel room: what the kernels of a library do with memory.  Which
 * operands they may overwrite, how far below an input an output may begin
 * (kernel_overlap), in which order they read and write (kernel_run), and which
 * scratch they ask for (kernel_scratch.h).  All this belongs to the build that
 * runs on the target, not to the model.  Each answer stands on a row of
 * evidence (docs/kernels.md); what was not measured is answered with "never".
 */
#ifndef CALM_KERNEL_KERNEL_H
#define CALM_KERNEL_KERNEL_H

#include "graph/graph.h"

typedef enum kernel_library {
  KERNELS_AUTO, /* not said: what every library does */
  KERNELS_REFERENCE,
  KERNELS_PORTABLE, /* what holds in all that follow, and in the one before */
  KERNELS_CMSIS_NN_C,
  KERNELS_CMSIS_NN_DSP,
  KERNELS_CMSIS_NN_MVE,
  KERNELS_ESP_NN_ANSI,
  KERNEL_LIBRARIES
} kernel_library;

/* By the name that --kernels has.  CALM_MISUSE with the list of names. */
calm_status kernel_library_find(kernel_library *out, calm_context *context,
                                const char *name);
const char *kernel_library_name(kernel_library library);

/* Do the kernels of a kind run in place, at equal sizes?  Without a name of the
   library nothing can be relied on. */
bool kernel_in_place(kernel_library library, op_kind kind);

/* The edition of a library's distances, which rises whenever one of them is
   changed: a plan that was made by another edition is to be judged anew. */
uint64_t kernel_edition(kernel_library library);

/*
 * How far below an input must the output of an operator begin, so that no byte
 * is overwritten before it is read for the last time?  Every distance of at
 * least `bytes` is safe, if `safe`; a negative one lets the output begin above
 * the input's first byte.  An output that does not share a byte with the input
 * is always safe.  With several inputs each has its own distance.
 */
typedef struct kernel_distance {
  bool safe; /* false: they may not share a byte */
  int64_t bytes;
  const char *why; /* the row of the table; where not safe, the reason */
} kernel_distance;

/* Of output 0 and the input in `slot`; O(1) but for the borders of windows. */
kernel_distance kernel_overlap(kernel_library library, const graph *g, op_id op,
                               uint32_t slot);

/*
 * The accesses of one run of an operator in the order in which the kernel of
 * the library makes them.  Reads may be reported once per output element or per
 * group of elements that are written together, as late as the kernel reads them
 * (a byte that was overwritten stays so, so earlier reads of the same byte need
 * not be told).  Of a kernel whose order is not known all output is written
 * before anything is read, and read again after that.
 */
typedef struct kernel_watch {
  void *payload;
  void (*read)(void *payload, uint32_t slot, uint64_t byte, uint64_t bytes);
  void (*write)(void *payload, uint32_t slot, uint64_t byte, uint64_t bytes);
} kernel_watch;

/* The dispatch of the library decides which kernel runs, as the target's would.
   It shares nothing with kernel_overlap but the shapes of operands. */
void kernel_run(kernel_library library, const graph *g, op_id op,
                const kernel_watch *watch);

#endif
