/*
 * The two long lists of a report: every step of an order with its live bytes,
 * and every tensor with its life.
 */
#ifndef CALM_REPORT_REPORT_STEPS_H
#define CALM_REPORT_REPORT_STEPS_H

#include "memory/memory_check.h"
#include "report/report_table.h"

/* Step, operator, kind, live bytes, a bar; the first step at the peak is
   marked. */
calm_status report_steps(text *out, const graph *g, const op_id *sequence,
                         const memory_profile *profile, bool color);

/* Tensors that take part: name, type and shape, bytes, offset (if `offsets` is
   not NULL), steps, role. */
calm_status report_tensors(text *out, const graph *g,
                           const memory_profile *profile,
                           const uint64_t *offsets, bool color);

/* A cell "f32[1,28,28,32]", or "-" for a tensor of which only bytes are
   known. */
void report_add_shape(report_table *t, const graph_tensor *tensor);

#endif
