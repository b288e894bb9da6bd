/* Off-chip traffic step by step and tensor by tensor, for people. */
#include "report/report_traffic.h"

#include "report/report_name.h"

static void add_bytes(report_table *t, uint64_t bytes) {
  if (bytes)
    report_table_number(t, bytes);
  else
    report_table_cell(t, "-");
}

static void add_amounts(report_table *t, const traffic_amount *a) {
  add_bytes(t, a->spill_read_bytes);
  add_bytes(t, a->spill_write_bytes);
  add_bytes(t, a->input_bytes);
  add_bytes(t, a->output_bytes);
}

static calm_status write_steps(text *out, const plan_traffic *row, bool color) {
  static const report_column columns[] = {
      {"step", COLUMN_NUMBER},      {"operator", COLUMN_NAME},
      {"read back", COLUMN_NUMBER}, {"spilled", COLUMN_NUMBER},
      {"inputs", COLUMN_NUMBER},    {"outputs", COLUMN_NUMBER},
      {"weights", COLUMN_NUMBER},   {"", COLUMN_WORDS}};
  report_table t;
  report_table_init(&t, out->context, columns, 8);
  for (uint32_t i = 0; i < row->of->problem.order->op_count; i++) {
    const traffic_amount *a = &row->result.steps[i];
    if (!report_traffic_moves(a) && !row->result.streams[i]) continue;
    report_table_number(&t, row->steps[i]);
    report_table_name(&t, report_traffic_op(row, i)->name);
    add_amounts(&t, a);
    add_bytes(&t, a->weight_bytes);
    report_table_cell(&t, "%s", row->result.streams[i] ? "streams" : "");
  }
  return report_table_finish(&t, out, color);
}

static calm_status write_tensors(text *out, const plan_traffic *row,
                                 bool color) {
  static const report_column columns[] = {
      {"tensor", COLUMN_NAME},      {"bytes", COLUMN_NUMBER},
      {"read back", COLUMN_NUMBER}, {"spilled", COLUMN_NUMBER},
      {"inputs", COLUMN_NUMBER},    {"outputs", COLUMN_NUMBER}};
  const order_problem *order = row->of->problem.order;
  report_table t;
  report_table_init(&t, out->context, columns, 6);
  for (uint32_t b = 0; b < order->buffer_count; b++) {
    const traffic_amount *a = &row->result.buffers[b];
    if (!report_traffic_moves(a)) continue;
    report_table_name(&t, report_traffic_tensor(row, b)->name);
    report_table_number(&t, order->buffers[b].bytes);
    add_amounts(&t, a);
  }
  return report_table_finish(&t, out, color);
}

static calm_status write_row(text *out, const plan_traffic *row, bool color) {
  text_format(out, "\n  what moves with %s bytes on chip, order %s\n",
              report_number(row->memory.bytes).text, row->order);
  if (!report_traffic_moves(&row->result.total)) {
    text_format(out, "  nothing\n");
    return CALM_OK;
  }
  TRY(write_steps(out, row, color));
  text_format(out, "\n");
  return write_tensors(out, row, color);
}

calm_status report_traffic_lists(text *out, const plan_traffics *traffics,
                                 bool color) {
  for (uint32_t i = 0; i < traffics->count; i++)
    TRY(write_row(out, &traffics->rows[i], color));
  return CALM_OK;
}
