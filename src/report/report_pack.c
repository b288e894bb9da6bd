/* A packing: the arena of a CSV file's buffers. */
#include <inttypes.h>

#include "report/report_facts.h"
#include "report/report_name.h"
#include "report/report_picture.h"

static report_search search_of(const calm_packing *p) {
  return (report_search){.what = "layout",
                         .method = p->layout_method,
                         .nothing = "no arena is smaller than",
                         .effort = "nodes",
                         .outcome = p->layout.outcome,
                         .value = p->layout.arena_bytes,
                         .bound = p->layout.bound_bytes,
                         .effort_count = p->layout.nodes,
                         .ticks = p->layout.ticks,
                         .stopped = p->layout.stopped,
                         .timing = p->timing,
                         .seconds = p->seconds};
}

static uint64_t offset_of(const calm_packing *p, uint32_t row) {
  return p->layout.offsets[p->csv.body_of[row]];
}

/* ---- Table --------------------------------------------------------------- */

/* Does a buffer take bytes at any step? */
static bool is_seen(const layout_csv *csv, uint32_t row) {
  return csv->size[row] > 0 && csv->lower[row] < csv->upper[row];
}

/* The steps that are seen at all; more than 32 bits of them draw nothing. */
static bool find_span(int64_t *out_lower, int64_t *out_upper,
                      const layout_csv *csv) {
  bool any = false;
  for (uint32_t row = 0; row < csv->row_count; row++) {
    if (!is_seen(csv, row)) continue;
    if (!any || csv->lower[row] < *out_lower) *out_lower = csv->lower[row];
    if (!any || csv->upper[row] > *out_upper) *out_upper = csv->upper[row];
    any = true;
  }
  return any && *out_lower >= 0 && *out_upper - *out_lower <= UINT32_MAX;
}

static calm_status write_picture(text *out, const calm_packing *p, bool color,
                                 arena *scratch) {
  picture_block *blocks;
  int64_t lower = 0, upper = 0;
  uint32_t count = 0;
  if (!p->layout.offsets || !find_span(&lower, &upper, &p->csv)) return CALM_OK;
  ARENA_ARRAY(scratch, blocks, p->csv.row_count);
  for (uint32_t row = 0; row < p->csv.row_count; row++)
    if (is_seen(&p->csv, row))
      blocks[count++] =
          (picture_block){.name = p->csv.ids[row],
                          .low = offset_of(p, row),
                          .high = offset_of(p, row) + p->csv.size[row],
                          .from = (uint64_t)(p->csv.lower[row] - lower),
                          .past = (uint64_t)(p->csv.upper[row] - lower)};
  const picture drawn = {.blocks = blocks,
                         .count = count,
                         .bytes = p->layout.arena_bytes,
                         .steps = (uint64_t)(upper - lower),
                         .first_step = (uint64_t)lower};
  text_format(out, "\n");
  return report_picture(out, &drawn, color);
}

static calm_status write_rows(text *out, const calm_packing *p, bool color) {
  static const report_column columns[] = {{"id", COLUMN_NAME},
                                          {"lower", COLUMN_NUMBER},
                                          {"upper", COLUMN_NUMBER},
                                          {"bytes", COLUMN_NUMBER},
                                          {"offset", COLUMN_NUMBER}};
  report_table t;
  if (!p->layout.offsets) return CALM_OK;
  text_format(out, "\n");
  report_table_init(&t, out->context, columns, 5);
  for (uint32_t row = 0; row < p->csv.row_count; row++) {
    report_table_name(&t, p->csv.ids[row]);
    report_table_cell(&t, "%" PRId64, p->csv.lower[row]);
    report_table_cell(&t, "%" PRId64, p->csv.upper[row]);
    report_table_number(&t, p->csv.size[row]);
    report_table_number(&t, offset_of(p, row));
  }
  return report_table_finish(&t, out, color);
}

static calm_status write_table(text *out, const calm_packing *p, bool complete,
                               bool color, arena *scratch) {
  const report_search search = search_of(p);
  TRY(report_heading(out, p->path, color));
  text_format(out, "  %s buffers; arena %s%s bytes%s\n",
              report_number(p->csv.row_count).text,
              report_tone_begin(TONE_TITLE, color),
              report_number(p->layout.arena_bytes).text,
              report_tone_end(color));
  report_outcome(out, &search, color);
  report_budget(out, p->budget_bytes, "", p->layout.arena_bytes,
                p->layout.bound_bytes, color);
  TRY(write_picture(out, p, color, scratch));
  return complete ? write_rows(out, p, color) : CALM_OK;
}

/* ---- JSON and CSV -------------------------------------------------------- */

static json_t *list_buffers(arena *scratch, const calm_packing *p) {
  json_t *list = json_array();
  for (uint32_t row = 0; row < p->csv.row_count && p->layout.offsets; row++)
    list = report_json_append(
        list, json_pack("{s:o, s:I, s:I, s:o, s:o}", "id",
                        report_json_name(scratch, p->csv.ids[row]), "lower",
                        (json_int_t)p->csv.lower[row], "upper",
                        (json_int_t)p->csv.upper[row], "bytes",
                        report_json_number(p->csv.size[row]), "offset",
                        report_json_number(offset_of(p, row))));
  return list;
}

static json_t *write_json(arena *scratch, const calm_packing *p) {
  const report_search search = search_of(p);
  json_t *root = json_pack("{s:s, s:o}", "schema", "calm/pack/1", "file",
                           report_json_name(scratch, p->path));
  root = report_json_merge(root, report_json_search(&search));
  root = report_json_member(root, "arena_bytes",
                            report_json_number(p->layout.arena_bytes));
  root = report_json_member(root, "budget_bytes",
                            report_json_optional(p->budget_bytes));
  root = report_json_member(
      root, "within_budget",
      json_boolean(p->layout.arena_bytes <= p->budget_bytes));
  return report_json_member(root, "buffers", list_buffers(scratch, p));
}

static void write_csv(text *out, const calm_packing *p) {
  if (p->layout.offsets)
    layout_csv_write(out, &p->csv, p->layout.offsets);
  else
    layout_csv_write_header(out);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status render(text *out, const calm_packing *p, calm_format format,
                          bool color, arena *scratch) {
  switch (format) {
    case CALM_FORMAT_JSON:
      return report_json_write(out, write_json(scratch, p));
    case CALM_FORMAT_CSV: write_csv(out, p); return CALM_OK;
    default:
      return write_table(out, p, format == CALM_FORMAT_LONG, color, scratch);
  }
}

calm_status calm_packing_render(char **out, const calm_packing *packing,
                                calm_format format, bool color) {
  text t;
  arena scratch;
  text_init(&t, packing->context);
  arena_init(&scratch, packing->context);
  calm_status status = render(&t, packing, format, color, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
