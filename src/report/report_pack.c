/* Packings as a table, as JSON (calm/pack/1) and as CSV with offsets. */
#include "report/report.h"

static void render_table(text *t, const calm_packing *p) {
  char arena[REPORT_NUMBER], bound[REPORT_NUMBER], budget[REPORT_NUMBER];
  report_name(t, report_base_name(p->path));
  text_format(t, ": %u buffers\n", p->csv.row_count);
  text_format(t, "arena  %s bytes, bound %s, %s",
              report_number(arena, p->layout.arena_bytes),
              report_number(bound, p->layout.bound_bytes),
              calm_outcome_name(p->layout.outcome));
  if (p->layout.stopped != LIMITS_NONE)
    text_format(t, " (stopped by the %s)",
                limits_reason_name(p->layout.stopped));
  text_add(t, "\n", 1);
  if (p->budget_bytes != UINT64_MAX)
    text_format(t, "budget %s bytes: %s\n",
                report_number(budget, p->budget_bytes),
                p->layout.arena_bytes <= p->budget_bytes ? "met" : "missed");
  if (p->timing) text_format(t, "seconds %.3f\n", p->seconds);
}

static void render_csv(text *t, const calm_packing *p) {
  layout_csv_write_header(t);
  for (uint32_t r = 0; r < p->csv.row_count; r++)
    layout_csv_write_row(t, p->csv.ids[r], p->csv.lower[r], p->csv.upper[r],
                         p->csv.size[r], p->layout.offsets[p->csv.body_of[r]]);
}

static calm_status render_json(char **out, const calm_packing *p) {
  report_json j;
  report_json_begin(&j, "calm/pack/1");
  report_put_text(&j, j.root, "status", calm_outcome_name(p->layout.outcome));
  report_put_text(&j, j.root, "method", p->layout_method);
  report_put_bytes(&j, j.root, "arena_bytes", p->layout.arena_bytes);
  report_put_bytes(&j, j.root, "bound_bytes", p->layout.bound_bytes);
  report_put_bytes(&j, j.root, "buffers", p->csv.row_count);
  report_put_bytes(&j, j.root, "nodes", p->layout.nodes);
  report_put_bytes(&j, j.root, "ticks", p->layout.ticks);
  report_put_text(&j, j.root, "stopped", limits_reason_name(p->layout.stopped));
  if (p->timing) report_put(&j, j.root, "seconds", json_real(p->seconds));
  return report_json_finish(&j, out, p->context);
}

calm_status calm_packing_render(char **out, const calm_packing *p,
                                calm_format format, bool color) {
  text t;
  (void)color;
  if (format == CALM_FORMAT_JSON) return render_json(out, p);
  text_init(&t, p->context);
  if (format == CALM_FORMAT_CSV)
    render_csv(&t, p);
  else
    render_table(&t, p);
  return text_finish(&t, out);
}
