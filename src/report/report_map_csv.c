/* Mapped layers as CSV: a line each, empty fields for what there is not. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/report_map.h"

/* Quoted where it has to be.  Control characters are spelled out, so that a
   layer is one line whatever it is called. */
static calm_status add_text(text *out, const char *field, arena *scratch) {
  const char *safe = report_name_escaped(scratch, field, ESCAPE_CONTROL);
  if (!safe) return context_no_memory(scratch->context);
  const bool quoted = safe[strcspn(safe, ",\"")] != '\0';
  if (quoted) text_add(out, "\"", 1);
  for (; *safe; safe++) {
    if (*safe == '"') text_add(out, "\"", 1);
    text_add(out, safe, 1);
  }
  if (quoted) text_add(out, "\"", 1);
  return CALM_OK;
}

/* With all its digits, so that it can be read back. */
static void add_real(text *out, bool known, double n) {
  text_format(out, ",");
  if (known && isfinite(n)) text_format(out, "%.17g", n);
}

static void add_number(text *out, bool known, uint64_t n) {
  text_format(out, ",");
  if (known) text_format(out, "%" PRIu64, n);
}

static calm_status add_layer(text *out, const calm_mapping *m,
                             const map_layer *l, arena *scratch) {
  const bool mapped = map_layer_is_mapped(l);
  const bool valued = report_map_has_value(m, l);
  const cost_result *r = &l->result.cost;
  const double gap = report_map_gap(m, l);
  TRY(add_text(out, l->name, scratch));
  add_number(out, true, l->count);
  text_format(out, ",%s", report_map_status(l));
  add_number(out, true, l->layer.macs);
  add_number(out, mapped, r->cycles);
  add_real(out, mapped && m->energy, r->energy_pj);
  add_real(out, mapped && m->energy, r->edp);
  add_real(out, mapped, r->utilization);
  add_real(out, valued, l->result.value);
  add_real(out, valued && l->result.bound > 0, l->result.bound);
  add_real(out, gap >= 0, gap);
  if (m->timing) add_real(out, true, l->seconds);
  text_format(out, ",");
  TRY(add_text(out, l->reason ? l->reason : "", scratch));
  text_format(out, "\n");
  return CALM_OK;
}

calm_status report_map_csv(text *out, const calm_mapping *m, arena *scratch) {
  text_format(out,
              "layer,count,status,macs,cycles,energy_pj,edp,utilization,value,"
              "bound,gap,%sreason\n",
              m->timing ? "seconds," : "");
  for (uint32_t i = 0; i < m->layer_count; i++)
    TRY(add_layer(out, m, &m->layers[i], scratch));
  return CALM_OK;
}
