/*
 * Off-chip traffic, as plans and inspections show it: a table of totals, lists
 * of what moves step by step and tensor by tensor, JSON, and CSV.
 */
#ifndef CALM_REPORT_REPORT_TRAFFIC_H
#define CALM_REPORT_REPORT_TRAFFIC_H

#include "report/report_facts.h"

/* A line per on-chip memory and order, what is compulsory, and which operators
   stream; nothing if no traffic was asked for. */
calm_status report_traffic(text *out, const plan_traffics *traffics,
                           bool color);

/* Of each line of that table the steps and the tensors at which something
   moves. */
calm_status report_traffic_lists(text *out, const plan_traffics *traffics,
                                 bool color);

/* The list "traffic" of docs/json.md. */
json_t *report_traffic_json(arena *scratch, const plan_traffics *traffics);

/* CSV: a line per memory, order and step.  CALM_MISUSE if none was asked for.
 */
calm_status report_traffic_csv(text *out, const plan_traffics *traffics,
                               arena *scratch);

/* The operator at a step of a row, and the tensor of a buffer. */
static inline const graph_op *report_traffic_op(const plan_traffic *row,
                                                uint32_t step) {
  const plan_traffic_problem *p = row->of;
  return &p->graph->ops.data[p->memory.op_of[row->sequence[step]]];
}

static inline const graph_tensor *report_traffic_tensor(const plan_traffic *row,
                                                        uint32_t buffer) {
  const plan_traffic_problem *p = row->of;
  return &p->graph->tensors.data[p->memory.tensor_of[buffer]];
}

/* Does anything move? */
static inline bool report_traffic_moves(const traffic_amount *a) {
  return a->input_bytes || a->weight_bytes || a->output_bytes ||
         a->spill_read_bytes || a->spill_write_bytes;
}

#endif
