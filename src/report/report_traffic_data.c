/* Off-chip traffic for programs: JSON (docs/json.md), and CSV. */
#include <inttypes.h>

#include "report/report_csv.h"
#include "report/report_traffic.h"

/* ---- JSON ---------------------------------------------------------------- */

static json_t *add_amounts(json_t *object, const traffic_amount *a) {
  object = report_json_member(object, "spill_read_bytes",
                              report_json_number(a->spill_read_bytes));
  object = report_json_member(object, "spill_write_bytes",
                              report_json_number(a->spill_write_bytes));
  object = report_json_member(object, "input_bytes",
                              report_json_number(a->input_bytes));
  return report_json_member(object, "output_bytes",
                            report_json_number(a->output_bytes));
}

static json_t *add_weights(json_t *object, const traffic_amount *a) {
  return report_json_member(object, "weight_bytes",
                            report_json_number(a->weight_bytes));
}

static json_t *list_steps(arena *scratch, const plan_traffic *row) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < row->of->problem.order->op_count; i++) {
    const traffic_amount *a = &row->result.steps[i];
    if (!report_traffic_moves(a) && !row->result.streams[i]) continue;
    json_t *step =
        json_pack("{s:I, s:o, s:b}", "step", (json_int_t)row->steps[i], "op",
                  report_json_name(scratch, report_traffic_op(row, i)->name),
                  "streams", row->result.streams[i]);
    list = report_json_append(list, add_weights(add_amounts(step, a), a));
  }
  return list;
}

static json_t *list_tensors(arena *scratch, const plan_traffic *row) {
  const order_problem *order = row->of->problem.order;
  json_t *list = json_array();
  for (uint32_t b = 0; b < order->buffer_count; b++) {
    const traffic_amount *a = &row->result.buffers[b];
    if (!report_traffic_moves(a)) continue;
    json_t *tensor = json_pack(
        "{s:o, s:o}", "name",
        report_json_name(scratch, report_traffic_tensor(row, b)->name), "bytes",
        report_json_number(order->buffers[b].bytes));
    list = report_json_append(list, add_amounts(tensor, a));
  }
  return list;
}

static json_t *list_streams(arena *scratch, const plan_traffic *row) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < row->of->problem.order->op_count; i++)
    if (row->result.streams[i])
      list = report_json_append(
          list, report_json_name(scratch, report_traffic_op(row, i)->name));
  return list;
}

static json_t *write_row(arena *scratch, const plan_traffic *row,
                         const calm_traffic *t) {
  json_t *object = json_pack(
      "{s:o, s:s, s:o, s:s, s:o, s:o}", "onchip_bytes",
      report_json_number(t->onchip_bytes), "model",
      t->page_bytes ? "pages" : "tensors", "page_bytes",
      t->page_bytes ? report_json_number(t->page_bytes) : json_null(), "order",
      t->order, "read_bytes", report_json_number(t->read_bytes), "write_bytes",
      report_json_number(t->write_bytes));
  object = add_amounts(object, &row->result.total);
  object = add_weights(object, &row->result.total);
  object = report_json_member(object, "used_bytes",
                              report_json_number(t->used_bytes));
  object = report_json_member(object, "streams", list_streams(scratch, row));
  object = report_json_member(object, "steps", list_steps(scratch, row));
  return report_json_member(object, "tensors", list_tensors(scratch, row));
}

json_t *report_traffic_json(arena *scratch, const plan_traffics *traffics) {
  json_t *list = json_array();
  calm_traffic t;
  for (uint32_t i = 0; plan_traffic_figures(&t, traffics, i); i++)
    list = report_json_append(list, write_row(scratch, &traffics->rows[i], &t));
  return list;
}

/* ---- CSV ----------------------------------------------------------------- */

static calm_status add_lines(text *out, const plan_traffic *row,
                             arena *scratch) {
  for (uint32_t i = 0; i < row->of->problem.order->op_count; i++) {
    const traffic_amount *a = &row->result.steps[i];
    text_format(out, "%" PRIu64 ",%s,%" PRIu32 ",", row->memory.bytes,
                row->order, row->steps[i]);
    TRY(report_csv_name(out, report_traffic_op(row, i)->name, scratch));
    text_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, a->spill_read_bytes,
                a->spill_write_bytes, a->input_bytes);
    text_format(out, ",%" PRIu64 ",%" PRIu64 ",%d\n", a->output_bytes,
                a->weight_bytes, (int)row->result.streams[i]);
  }
  return CALM_OK;
}

calm_status report_traffic_csv(text *out, const plan_traffics *traffics,
                               arena *scratch) {
  if (!traffics->count)
    return context_fail(scratch->context, CALM_MISUSE,
                        "no traffic was counted: add --onchip SIZE, such as "
                        "--onchip 64K");
  text_format(out,
              "onchip_bytes,order,step,op,spill_read_bytes,spill_write_bytes,"
              "input_bytes,output_bytes,weight_bytes,streams\n");
  for (uint32_t i = 0; i < traffics->count; i++)
    TRY(add_lines(out, &traffics->rows[i], scratch));
  return CALM_OK;
}
