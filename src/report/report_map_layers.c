/* What was found for each layer of a network: a table, and the reasons of those
   that have no nest or no proof. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/report_map.h"

/* Of operators that are no layers, so many are shown in short. */
enum { FEW = 6 };

/* ---- A layer ------------------------------------------------------------- */

const char *report_map_status(const map_layer *l) {
  return l->error == CALM_OK ? calm_outcome_name(l->result.outcome) : "failed";
}

bool report_map_has_value(const calm_mapping *m, const map_layer *l) {
  return map_layer_is_mapped(l) && m->objective != MAPPER_PARETO;
}

double report_map_gap(const calm_mapping *m, const map_layer *l) {
  const mapper_result *r = &l->result;
  if (!report_map_has_value(m, l)) return -1;
  if (r->outcome == CALM_OPTIMAL) return 0;
  if (r->bound <= 0 || r->value <= 0) return -1;
  return r->bound < r->value ? (r->value - r->bound) / r->value : 0;
}

bool report_map_total_bound(double *out, const calm_mapping *m) {
  *out = 0;
  if (m->objective != MAPPER_ENERGY && m->objective != MAPPER_DELAY)
    return false;
  for (uint32_t i = 0; i < m->layer_count; i++) {
    const map_layer *l = &m->layers[i];
    if (!map_layer_is_mapped(l)) continue;
    const bool proved = l->result.outcome == CALM_OPTIMAL;
    if (!proved && l->result.bound <= 0) return false;
    const double least =
        proved ? l->result.value : fmin(l->result.bound, l->result.value);
    *out += least * (double)l->count;
  }
  return m->mapped_count > 0;
}

/* ---- The table ----------------------------------------------------------- */

enum { MOST_COLUMNS = 11 };

static uint32_t choose_columns(report_column *out, const calm_mapping *m,
                               const report_unit *unit) {
  const bool front = m->objective == MAPPER_PARETO;
  uint32_t count = 0;
  out[count++] = (report_column){"layer", COLUMN_NAME};
  out[count++] = (report_column){"times", COLUMN_NUMBER};
  out[count++] = (report_column){"shape", COLUMN_LATE};
  out[count++] = (report_column){"cycles", COLUMN_NUMBER};
  if (m->energy) {
    out[count++] = (report_column){unit->title, COLUMN_NUMBER};
    if (!front) out[count++] = (report_column){"J x cycles", COLUMN_SPARE};
  }
  out[count++] = (report_column){"utilized", COLUMN_NUMBER};
  if (front) out[count++] = (report_column){"front", COLUMN_NUMBER};
  out[count++] = (report_column){"proof", COLUMN_NUMBER};
  if (m->timing) out[count++] = (report_column){"s", COLUMN_NUMBER};
  return count;
}

/* Does what follows a part of a path begin with it, as "conv.0" with "conv"? */
static bool is_repeated(const char *part, size_t length) {
  const char *next = part + length + 1;
  return part[length] == '/' && !strncmp(part, next, length) &&
         next[length] == '.';
}

/* Paths such as /features/features.2/conv/conv.0/Conv say twice where they are:
   features.2/conv.0/Conv. */
static void add_name(report_table *t, const char *name) {
  char *brief = arena_calloc(&t->scratch, strlen(name) + 1, 1), *to = brief;
  if (!brief) {
    t->failed = true;
    return;
  }
  for (const char *part = name; *part;) {
    const size_t length = strcspn(part, "/"),
                 step = length + (part[length] != 0);
    const bool first = part == name && length == 0 && name[1];
    if (!first && !is_repeated(part, length)) {
      memcpy(to, part, step);
      to += step;
    }
    part += step;
  }
  report_table_name(t, brief);
}

static void add_shape(report_table *t, const accel_layer *layer) {
  text words;
  text_init(&words, t->scratch.context);
  report_map_shape(&words, layer);
  if (words.failed)
    t->failed = true;
  else
    report_table_name(t, words.data ? words.data : "");
  text_free(&words);
}

static void add_figures(report_table *t, const calm_mapping *m,
                        const map_layer *l, report_unit unit) {
  const cost_result *r = &l->result.cost;
  const bool front = m->objective == MAPPER_PARETO;
  if (!map_layer_is_mapped(l)) {
    for (int blanks = m->energy ? 4 - front : 2; blanks > 0; blanks--)
      report_table_cell(t, "%s", "");
    return;
  }
  report_table_number(t, r->cycles);
  if (m->energy) {
    report_table_cell(t, "%s", report_energy(r->energy_pj, unit).text);
    if (!front) report_table_cell(t, "%s", report_four(r->edp * 1e-12).text);
  }
  report_table_cell(t, "%s", report_share(r->utilization, 1).text);
}

/* "optimal", "12.5 %", or what else became of it. */
static void add_end(report_table *t, const calm_mapping *m,
                    const map_layer *l) {
  const double gap = report_map_gap(m, l);
  if (gap > 0)
    report_table_cell(t, "%s", report_share(gap, 1).text);
  else
    report_table_cell(t, "%s", report_map_status(l));
}

static double largest_energy(const calm_mapping *m) {
  double largest = 0;
  for (uint32_t i = 0; i < m->layer_count; i++) {
    const map_layer *l = &m->layers[i];
    if (map_layer_is_mapped(l) && l->result.cost.energy_pj > largest)
      largest = l->result.cost.energy_pj;
  }
  return largest;
}

static calm_status write_table(text *out, const calm_mapping *m, bool color) {
  const report_unit unit = report_energy_unit(largest_energy(m));
  report_column columns[MOST_COLUMNS];
  report_table t;
  report_table_init(&t, out->context, columns,
                    choose_columns(columns, m, &unit));
  for (uint32_t i = 0; i < m->layer_count; i++) {
    const map_layer *l = &m->layers[i];
    add_name(&t, l->name);
    report_table_number(&t, l->count);
    add_shape(&t, &l->layer);
    add_figures(&t, m, l, unit);
    if (m->objective == MAPPER_PARETO)
      report_table_number(&t, l->result.front_count);
    add_end(&t, m, l);
    if (m->timing) report_table_cell(&t, "%.3f", l->seconds);
  }
  return report_table_finish(&t, out, color);
}

/* ---- Reasons ------------------------------------------------------------- */

static calm_status write_reason(text *out, const char *name, uint32_t more,
                                const char *status, const char *reason) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s", name);
  if (more) text_format(&words, " and %" PRIu32 " more", more);
  text_format(&words, ": %s%s%s", status, *status ? ": " : "", reason);
  return report_hanging_text(out, &words);
}

static bool is_told_alike(const map_layer *a, const map_layer *b) {
  return a->reason && b->reason && !strcmp(a->reason, b->reason) &&
         !strcmp(report_map_status(a), report_map_status(b));
}

/* How many layers behind this one have its reason; CALM_NONE: one before it
   has, and it is told already. */
static uint32_t count_alike(const calm_mapping *m, uint32_t layer) {
  uint32_t more = 0;
  for (uint32_t i = 0; i < m->layer_count; i++) {
    if (i == layer || !is_told_alike(&m->layers[i], &m->layers[layer]))
      continue;
    if (i < layer) return CALM_NONE;
    more++;
  }
  return more;
}

static calm_status write_reasons(text *out, const calm_mapping *m) {
  bool begun = false;
  for (uint32_t i = 0; i < m->layer_count; i++) {
    const map_layer *l = &m->layers[i];
    const uint32_t more = l->reason ? count_alike(m, i) : CALM_NONE;
    if (more == CALM_NONE) continue;
    if (!begun) text_format(out, "\n");
    begun = true;
    TRY(write_reason(out, l->name, more, report_map_status(l), l->reason));
  }
  return CALM_OK;
}

static calm_status write_skipped(text *out, const calm_mapping *m,
                                 bool complete) {
  const uint32_t all = m->skipped_count;
  const uint32_t shown = complete || all <= FEW ? all : FEW;
  if (all == 0) return CALM_OK;
  text_format(out, "\n  %s operator%s with multiplications not mapped\n",
              report_number(all).text, all == 1 ? "" : "s");
  for (uint32_t i = 0; i < shown; i++)
    TRY(write_reason(out, m->skipped[i].name, 0, "", m->skipped[i].reason));
  if (shown < all)
    text_format(out, "  ... and %s more (-v shows them)\n",
                report_number(all - shown).text);
  return CALM_OK;
}

calm_status report_map_layers(text *out, const calm_mapping *m, bool complete,
                              bool color) {
  text_format(out, "\n");
  TRY(write_table(out, m, color));
  TRY(write_reasons(out, m));
  return write_skipped(out, m, complete);
}
