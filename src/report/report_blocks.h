/*
 * What has bytes of its own in the arena of a plan, as the files that are made
 * of a plan list it: the tensors of the entry by number, then the scratch of
 * its operators by step; and, of a tensor that has none, why.
 */
#ifndef CALM_REPORT_REPORT_BLOCKS_H
#define CALM_REPORT_REPORT_BLOCKS_H

#include "plan.h"

typedef struct report_block {
  bool scratch;     /* of operator `id`; otherwise tensor `id` */
  uint32_t id;      /* in the entry */
  const char *name; /* of the tensor or operator, as it is */
  uint64_t offset, bytes;
  uint32_t first, last; /* steps, inclusive */
} report_block;

typedef struct report_blocks {
  report_block *data; /* in the arena it was listed into */
  uint32_t count;
} report_blocks;

/* Linear. */
calm_status report_blocks_list(report_blocks *out, const calm_plan *plan,
                               arena *a);

/* The scratch that a runtime was predicted to ask for in one graph of the
   model: that of operator op is runtime.scratch[begin[op] .. begin[op + 1]], in
   the order in which it is asked for. */
calm_status report_scratch_rows(uint32_t **out, const calm_plan *plan,
                                uint32_t graph, arena *a);

/* Why a tensor of the entry has no bytes of its own, in a few words; NULL if it
   has some. */
const char *report_tensor_absence(const calm_plan *plan, tensor_id tensor);

#endif
