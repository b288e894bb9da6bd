/* Off-chip traffic as a table of totals. */
#include "report/report_traffic.h"

#include <string.h>

#include "report/report_name.h"

/* "inputs, outputs" of those bits that are set. */
static void add_names(text *out, unsigned bits) {
  const char *comma = "";
  for (int i = 0; i < OFFCHIP_NAMES; i++) {
    if (!(bits >> i & 1)) continue;
    text_format(out, "%s%s", comma, plan_offchip_names[i]);
    comma = ", ";
  }
}

static calm_status write_heading(text *out, const plan_traffics *traffics) {
  const uint64_t page_bytes = traffics->rows[0].memory.page_bytes;
  text words;
  text_init(&words, out->context);
  text_format(&words, "off-chip traffic in bytes, ");
  if (page_bytes)
    text_format(&words, "in pages of %s; ", report_number(page_bytes).text);
  else
    text_format(&words, "of whole tensors; ");
  if (traffics->counted) {
    text_format(&words, "the total includes ");
    add_names(&words, traffics->counted);
  } else {
    text_format(&words, "what is compulsory is not in the total");
  }
  return report_hanging_text(out, &words);
}

/* ---- Rows ---------------------------------------------------------------- */

static void add_amount(report_table *t, uint64_t bytes) {
  if (bytes)
    report_table_number(t, bytes);
  else
    report_table_cell(t, "none");
}

/* What the order spares of what that of the file moves. */
static void add_less(report_table *t, const calm_traffic *file,
                     const calm_traffic *row) {
  const uint64_t before = file->read_bytes + file->write_bytes;
  const uint64_t now = row->read_bytes + row->write_bytes;
  if (file == row || (before == 0 && now == 0))
    report_table_cell(t, "%s", "");
  else if (now == before)
    report_table_cell(t, "the same");
  else if (before == 0)
    report_table_cell(t, "more");
  else if (now < before)
    report_table_cell(t, "%s less", report_percent(before - now, before).text);
  else
    report_table_cell(t, "%s more", report_percent(now - before, before).text);
}

static void add_row(report_table *t, const calm_traffic *file,
                    const calm_traffic *row) {
  if (file == row)
    report_table_number(t, row->onchip_bytes);
  else
    report_table_cell(t, "%s", "");
  report_table_cell(t, "%s", row->order);
  add_amount(t, row->read_bytes + row->write_bytes);
  add_amount(t, row->spill_read_bytes);
  add_amount(t, row->spill_write_bytes);
  add_less(t, file, row);
}

static calm_status write_rows(text *out, const plan_traffics *traffics,
                              bool color) {
  static const report_column columns[] = {
      {"on chip", COLUMN_NUMBER},        {"order", COLUMN_WORDS},
      {"total", COLUMN_NUMBER},          {"spills read", COLUMN_NUMBER},
      {"spills written", COLUMN_NUMBER}, {"", COLUMN_NUMBER}};
  report_table t;
  calm_traffic file, row;
  report_table_init(&t, out->context, columns, 6);
  for (uint32_t i = 0; plan_traffic_figures(&row, traffics, i); i++) {
    const bool first = i % traffics->orders == 0;
    if (first) file = row;
    add_row(&t, &file, first ? &file : &row);
  }
  return report_table_finish(&t, out, color);
}

/* An order of least peak is not made for this. */
static bool is_worse(const plan_traffics *traffics) {
  const uint32_t last = traffics->orders - 1;
  for (uint32_t i = 0; i < traffics->count; i += traffics->orders) {
    calm_traffic file, plan;
    plan_traffic_figures(&file, traffics, i);
    plan_traffic_figures(&plan, traffics, i + last);
    if (plan.read_bytes + plan.write_bytes > file.read_bytes + file.write_bytes)
      return true;
  }
  return false;
}

/* ---- Notes --------------------------------------------------------------- */

static calm_status write_compulsory(text *out, const plan_traffics *traffics) {
  calm_traffic t;
  text words;
  plan_traffic_figures(&t, traffics, traffics->orders - 1);
  text_init(&words, out->context);
  text_format(&words, "compulsory: %s bytes of inputs read,",
              report_number(t.input_bytes).text);
  text_format(&words, " %s of weights read,",
              report_number(t.weight_bytes).text);
  text_format(&words, " %s of outputs written",
              report_number(t.output_bytes).text);
  return report_hanging_text(out, &words);
}

enum { SHOWN_STREAMS = 8 };

/* Their names, those that run first first. */
static calm_status add_streams(text *words, const plan_traffic *row,
                               uint32_t count, arena *scratch) {
  uint32_t shown = 0;
  for (uint32_t step = 0; shown < count && shown < SHOWN_STREAMS; step++) {
    if (!row->result.streams[step]) continue;
    const char *name = report_name_escaped(
        scratch, report_traffic_op(row, step)->name, ESCAPE_CONTROL);
    if (!name) return context_no_memory(scratch->context);
    text_format(words, "%s%s", shown++ ? ", " : ": ", name);
  }
  if (count > SHOWN_STREAMS)
    text_format(words, ", and %s more",
                report_number(count - SHOWN_STREAMS).text);
  return CALM_OK;
}

/* Of the plan, for each memory that is too small for some of its operators. */
static calm_status write_streams(text *out, const plan_traffics *traffics,
                                 arena *scratch) {
  calm_traffic t;
  for (uint32_t i = traffics->orders - 1; plan_traffic_figures(&t, traffics, i);
       i += traffics->orders) {
    text words;
    if (!t.streaming_ops) continue;
    text_init(&words, out->context);
    text_format(&words, "%s %s more than %s by %s",
                report_number(t.streaming_ops).text,
                t.streaming_ops == 1 ? "operator needs" : "operators need",
                report_number(t.onchip_bytes).text,
                t.streaming_ops == 1 ? "itself, so its tensors stream"
                                     : "themselves, so their tensors stream");
    calm_status status =
        add_streams(&words, &traffics->rows[i], t.streaming_ops, scratch);
    if (status != CALM_OK) {
      text_free(&words);
      return status;
    }
    TRY(report_hanging_text(out, &words));
  }
  return CALM_OK;
}

calm_status report_traffic(text *out, const plan_traffics *traffics,
                           bool color) {
  arena scratch;
  if (!traffics->count) return CALM_OK;
  text_format(out, "\n");
  TRY(write_heading(out, traffics));
  TRY(write_rows(out, traffics, color));
  if (is_worse(traffics))
    text_format(out, "  --minimize traffic finds an order for one of these\n");
  TRY(write_compulsory(out, traffics));
  arena_init(&scratch, out->context);
  calm_status status = write_streams(out, traffics, &scratch);
  arena_free(&scratch);
  return status;
}
