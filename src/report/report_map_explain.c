/* Why a nest costs what it costs, put together and told. */
#include "report/report_map_explain.h"

#include <math.h>
#include <string.h>

/* ---- Pace ---------------------------------------------------------------- */

/* What a word of a tensor takes of the bandwidth. */
static double scale_of(const accel_level *level, const char *tensor) {
  double scale = 1;
  for (uint32_t i = 0; i < level->scale_count; i++)
    if (!strcmp(level->scales[i].tensor, tensor))
      scale = level->scales[i].scale;
  return scale;
}

static void compare(map_pace *p, double *least, const char *bandwidth,
                    double available, double words) {
  if (available <= 0 || words <= 0 || available / words >= *least) return;
  *least = available / words;
  p->bandwidth = bandwidth;
  p->available = available;
}

/* Of a level that slows computing down: the bandwidth that does. */
static map_pace find_pace(const calm_evaluation *e, const cost_result *r) {
  map_pace p = {.level = r->limiting_level};
  double in = 0, out = 0, least = HUGE_VAL;
  if (p.level == CALM_NONE) return p;
  const accel_level *level = &e->arch.levels[p.level];
  for (uint32_t t = 0; t < r->tensor_count; t++) {
    const cost_tensor *c = report_eval_tensor(r, p.level, t);
    const double scale = scale_of(level, e->layer.tensors[t].name);
    out += (double)c->reads * scale;
    in += ((double)c->fills + (double)c->updates) * scale;
  }
  compare(&p, &least, "read", level->read_bandwidth, out);
  compare(&p, &least, "write", level->write_bandwidth, in);
  compare(&p, &least, "shared", level->shared_bandwidth, in + out);
  p.needed = p.available / r->levels[p.level].slowdown;
  return p;
}

/* ---- Fan-outs ------------------------------------------------------------ */

static map_fan fan_of(const calm_evaluation *e, const accel_nest *nest,
                      uint32_t level) {
  const accel_fanout built = accel_arch_fanout(&e->arch, level);
  map_fan f = {level, built.x, built.y, 1, 1};
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    if (l->level != level) continue;
    if (l->kind == ACCEL_SPATIAL_X) f.used_x *= l->bound;
    if (l->kind == ACCEL_SPATIAL_Y) f.used_y *= l->bound;
  }
  return f;
}

static calm_status find_fans(map_explanation *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  ARENA_ARRAY(scratch, out->fans, e->arch.level_count);
  for (uint32_t level = e->arch.level_count; level-- > 0;) {
    const map_fan f = fan_of(e, &n->nest, level);
    if (f.x * f.y > 1) out->fans[out->fan_count++] = f;
  }
  return CALM_OK;
}

calm_status report_map_explain(map_explanation *out, const calm_evaluation *e,
                               const eval_nest *n, arena *scratch) {
  *out = (map_explanation){.pace = find_pace(e, &n->result)};
  TRY(report_map_loads(out, e, n, scratch));
  TRY(report_map_rooms(out, e, n, scratch));
  return find_fans(out, e, n, scratch);
}

/* ---- In words ------------------------------------------------------------ */

static void add_load(report_table *t, const eval_view *v, const map_load *l,
                     bool first) {
  const calm_evaluation *e = v->evaluation;
  report_table_name(t, first ? report_eval_level_name(e, l->level) : "");
  report_table_name(t, e->layer.tensors[l->tensor].name);
  report_table_cell(t, "%s", report_real(l->least).text);
  report_table_cell(t, "%s", report_real(l->reads).text);
  report_table_cell(t, "%s", report_real(l->fills).text);
  report_table_cell(t, "%s", report_real(l->updates).text);
  report_table_cell(t, "%s", report_four(map_load_carried(l) / l->least).text);
  if (e->energy)
    report_table_cell(
        t, "%s", report_share(l->energy_pj, v->nest->result.energy_pj).text);
}

static calm_status write_loads(text *out, const eval_view *v,
                               const map_explanation *x) {
  static const report_column columns[] = {
      {"level", COLUMN_NAME},      {"tensor", COLUMN_NAME},
      {"at least", COLUMN_NUMBER}, {"reads", COLUMN_NUMBER},
      {"fills", COLUMN_NUMBER},    {"updates", COLUMN_NUMBER},
      {"times", COLUMN_NUMBER},    {"energy", COLUMN_NUMBER}};
  report_table t;
  text_format(out,
              "\n  words over all instances; at least: of every nest that "
              "keeps the same tensors there\n");
  report_table_init(&t, out->context, columns, v->evaluation->energy ? 8 : 7);
  for (uint32_t i = 0; i < x->load_count; i++)
    add_load(&t, v, &x->loads[i],
             i == 0 || x->loads[i].level != x->loads[i - 1].level);
  return report_table_finish(&t, out, v->color);
}

/* "K 4 to 8" */
static void add_growth(text *out, const calm_evaluation *e, const map_room *r) {
  text_format(out, "%s %s", e->layer.dimensions[r->dimension].name,
              report_number(r->from).text);
  text_format(out, " to %s", report_number(r->to).text);
}

static void add_next(text *out, const calm_evaluation *e, const map_room *r) {
  if (r->next == 0) {
    text_format(out, "; no loop is left outside that would fill it");
    return;
  }
  text_format(out, map_room_is_full(r) ? "; full: the next larger tile ("
                                       : "; not full: the next larger tile (");
  add_growth(out, e, r);
  text_format(out, ") has %s", report_number(r->next).text);
  if (map_room_is_full(r))
    text_format(out, ", which are %s too many",
                report_number(r->next - r->capacity).text);
}

static calm_status write_room(text *out, const calm_evaluation *e,
                              const map_room *r) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s: %s", report_eval_level_name(e, r->level),
              report_number(r->used).text);
  text_format(&words, " of %s words", report_number(r->capacity).text);
  if (r->largest_words < r->used)
    text_format(&words, ", %s of them %s", report_number(r->largest_words).text,
                e->layer.tensors[r->largest].name);
  else if (r->largest != CALM_NONE)
    text_format(&words, ", all %s", e->layer.tensors[r->largest].name);
  add_next(&words, e, r);
  return report_hanging_text(out, &words);
}

static calm_status write_rooms(text *out, const eval_view *v,
                               const map_explanation *x) {
  if (x->room_count) text_format(out, "\n  capacity, of each instance\n");
  for (uint32_t i = 0; i < x->room_count; i++)
    TRY(write_room(out, v->evaluation, &x->rooms[i]));
  return CALM_OK;
}

static void add_multipliers(text *out, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  const uint64_t all = v->evaluation->arch.compute.instances;
  text_format(out, "the multipliers limit: %s of",
              report_number(r->multipliers).text);
  text_format(out, " %s need", report_number(all).text);
  text_format(out, " %s cycles", report_number(r->compute_cycles).text);
  if (r->multipliers < all) text_format(out, "; the others idle");
}

/* Then the bandwidth is all that could help. */
static bool carries_least(const map_explanation *x, uint32_t level) {
  for (uint32_t i = 0; i < x->load_count; i++)
    if (x->loads[i].level == level &&
        map_load_carried(&x->loads[i]) > x->loads[i].least)
      return false;
  return true;
}

static void add_bandwidth(text *out, const eval_view *v,
                          const map_explanation *x) {
  const map_pace *p = &x->pace;
  const cost_result *r = &v->nest->result;
  const uint64_t cycles = r->levels[p->level].cycles;
  text_format(out, "the %s bandwidth of %s limits: ", p->bandwidth,
              report_eval_level_name(v->evaluation, p->level));
  text_format(out, "%.4g words a cycle in each instance, ", p->available);
  text_format(out, "where %.4g would keep the multipliers busy; ", p->needed);
  text_format(out, "%s cycles", report_number(cycles).text);
  text_format(out, " instead of %s", report_number(r->compute_cycles).text);
  if (carries_least(x, p->level))
    text_format(out,
                "; no nest that keeps the same tensors there moves fewer "
                "words");
}

static calm_status write_pace(text *out, const eval_view *v,
                              const map_explanation *x) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "time: ");
  if (x->pace.bandwidth)
    add_bandwidth(&words, v, x);
  else
    add_multipliers(&words, v);
  text_format(out, "\n");
  return report_hanging_text(out, &words);
}

static bool is_unused(const map_fan *f) {
  return f->used_x * f->used_y < f->x * f->y;
}

static calm_status write_fan(text *out, const calm_evaluation *e,
                             const map_fan *f) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "below %s: ", report_eval_level_name(e, f->level));
  text_format(&words, "%s", report_number(f->used_x).text);
  text_format(&words, " x %s of", report_number(f->used_y).text);
  text_format(&words, " %s", report_number(f->x).text);
  text_format(&words, " x %s are in use", report_number(f->y).text);
  return report_hanging_text(out, &words);
}

static calm_status write_fans(text *out, const calm_evaluation *e,
                              const map_explanation *x) {
  uint32_t unused = 0;
  for (uint32_t i = 0; i < x->fan_count; i++) {
    if (!is_unused(&x->fans[i])) continue;
    TRY(write_fan(out, e, &x->fans[i]));
    unused++;
  }
  if (x->fan_count && !unused)
    text_format(out, "  every fan-out is in use, all of it\n");
  return CALM_OK;
}

calm_status report_map_explain_words(text *out, const eval_view *v,
                                     arena *scratch) {
  map_explanation x;
  TRY(report_map_explain(&x, v->evaluation, v->nest, scratch));
  TRY(write_loads(out, v, &x));
  TRY(write_rooms(out, v, &x));
  TRY(write_pace(out, v, &x));
  return write_fans(out, v->evaluation, &x);
}
