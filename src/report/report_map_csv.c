/* Mapped layers as CSV: a line each, of a front a line per nest, empty fields
   for what there is not.  docs/mapping.md names the columns. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/report_csv.h"
#include "report/report_map.h"

/* With all its digits, so that it can be read back. */
static void add_real(text *out, bool known, double n) {
  text_format(out, ",");
  if (known && isfinite(n)) text_format(out, "%.17g", n);
}

static void add_number(text *out, bool known, uint64_t n) {
  text_format(out, ",");
  if (known) text_format(out, "%" PRIu64, n);
}

/* What sets the pace: a level, or the multipliers. */
static calm_status add_limiting(text *out, const calm_mapping *m,
                                const cost_result *r, arena *scratch) {
  const char *name = r->limiting_level == CALM_NONE
                         ? m->arch.compute.name
                         : m->arch.levels[r->limiting_level].name;
  return report_csv_name(out, name, scratch);
}

/* A nest of the layer, with its costs; NULL: it has none. */
static calm_status add_line(text *out, const calm_mapping *m,
                            const map_layer *l, const cost_result *r,
                            arena *scratch) {
  const bool mapped = r != NULL;
  const bool valued = report_map_has_value(m, l);
  const double gap = report_map_gap(m, l);
  TRY(report_csv_name(out, l->name, scratch));
  add_number(out, true, l->count);
  text_format(out, ",%s", report_map_status(l));
  add_number(out, true, l->layer.macs);
  add_number(out, mapped, mapped ? r->cycles : 0);
  add_real(out, mapped && m->energy, mapped ? r->energy_pj : 0);
  add_real(out, mapped && m->energy, mapped ? r->edp : 0);
  add_real(out, mapped, mapped ? r->utilization : 0);
  text_format(out, ",");
  if (mapped) TRY(add_limiting(out, m, r, scratch));
  add_real(out, valued, l->result.value);
  add_real(out, valued && l->result.bound > 0, l->result.bound);
  add_real(out, gap >= 0, gap);
  if (m->timing) add_real(out, true, l->seconds);
  text_format(out, ",");
  TRY(report_csv_name(out, l->reason ? l->reason : "", scratch));
  text_format(out, "\n");
  return CALM_OK;
}

static calm_status add_layer(text *out, const calm_mapping *m,
                             const map_layer *l, arena *scratch) {
  const mapper_result *r = &l->result;
  if (!map_layer_is_mapped(l)) return add_line(out, m, l, NULL, scratch);
  if (r->front_count == 0) return add_line(out, m, l, &r->cost, scratch);
  for (uint32_t i = 0; i < r->front_count; i++)
    TRY(add_line(out, m, l, &r->front[i].cost, scratch));
  return CALM_OK;
}

calm_status report_map_csv(text *out, const calm_mapping *m, arena *scratch) {
  text_format(out,
              "layer,count,status,macs,cycles,energy_pj,edp,utilization,"
              "limiting_level,value,bound,gap,%sreason\n",
              m->timing ? "seconds," : "");
  for (uint32_t i = 0; i < m->layer_count; i++)
    TRY(add_layer(out, m, &m->layers[i], scratch));
  return CALM_OK;
}
