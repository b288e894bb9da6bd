/* Tiles for programs: JSON, CSV, and the front as a picture. */
#include <inttypes.h>
#include <math.h>

#include "report/report_chart.h"
#include "report/report_tiling.h"

static json_int_t extra(const plan_tiling *t, uint64_t macs) {
  return (json_int_t)macs - (json_int_t)t->macs;
}

static const tile_state *chosen(const plan_tiling *t) {
  return &t->choice.front[t->choice.chosen];
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *list_regions(arena *scratch, const plan_tiling *t,
                            const tile_state *state) {
  const graph *g = t->of;
  json_t *list = json_array();
  for (uint32_t i = 0; i < state->count; i++) {
    const tile_region *r = &state->regions[i];
    list = report_json_append(
        list,
        json_pack(
            "{s:I, s:I, s:I, s:I, s:s, s:I, s:o, s:o}", "first",
            (json_int_t)r->first, "last", (json_int_t)r->last, "rows",
            (json_int_t)r->rows, "columns", (json_int_t)r->columns, "mode",
            tile_mode_name(r->mode), "operators",
            (json_int_t)r->last - r->first + 1, "first_op",
            report_json_name(scratch, g->ops.data[g->order[r->first]].name),
            "last_op",
            report_json_name(scratch, g->ops.data[g->order[r->last]].name)));
  }
  return list;
}

static json_t *words_of(arena *scratch, const tile_state *state) {
  text words;
  char *line;
  text_init(&words, scratch->context);
  plan_tiling_words(&words, state);
  if (text_finish(&words, &line) != CALM_OK) return NULL;
  json_t *value = report_json_name(scratch, line);
  calm_text_free(scratch->context, line);
  return value;
}

static json_t *list_front(arena *scratch, const plan_tiling *t) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < t->choice.front_count; i++) {
    const tile_state *state = &t->choice.front[i];
    const tile_score *s = &state->score;
    list = report_json_append(
        list,
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:b}", "arena_bytes",
                  report_json_number(plan_tiling_bytes(t, s)), "head_bytes",
                  report_json_number(s->head_bytes), "tail_bytes",
                  report_json_number(s->tail_bytes), "macs",
                  report_json_number(s->macs), "extra_macs", extra(t, s->macs),
                  "operators", (json_int_t)s->op_count, "tiles",
                  words_of(scratch, state), "chosen", i == t->choice.chosen));
  }
  return list;
}

static const char *status_of(const plan_tiling *t) {
  if (t->choice.stopped) return limits_reason_name(t->choice.stopped);
  return t->choice.judged > 1 ? "exhausted" : "given";
}

static json_t *write_tiling(arena *scratch, const plan_tiling *t) {
  static const tile_state none;
  const tile_state *state = t->reason ? &none : chosen(t);
  json_t *object = json_pack(
      "{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:o}", "mode", t->mode,
      "regions", list_regions(scratch, t, state), "tiles",
      words_of(scratch, state), "macs", report_json_number(t->macs),
      "extra_macs", extra(t, t->plan_macs), "folded", (json_int_t)t->folded,
      "judged", (json_int_t)t->choice.judged, "status", status_of(t), "reason",
      report_json_name(scratch, t->reason));
  object = report_json_member(object, "goal",
                              json_string(t->goal.head ? "head" : "arena"));
  return report_json_member(object, "front", list_front(scratch, t));
}

static json_t *write_step(const plan_tiling *t, const plan_step *s) {
  const bool tail = s->tail_bytes != UINT64_MAX;
  return json_pack(
      "{s:s, s:o, s:o, s:o, s:o, s:I, s:I}", "name", s->name, "head_bytes",
      report_json_number(s->head_bytes), "tail_bytes",
      report_json_optional(s->tail_bytes), "arena_bytes",
      report_json_number(s->head_bytes + (tail ? s->tail_bytes : 0)), "macs",
      report_json_number(s->macs), "extra_macs", extra(t, s->macs), "operators",
      (json_int_t)s->op_count);
}

json_t *report_json_tiling(arena *scratch, const calm_plan *plan) {
  const plan_tiling *t = &plan->tiling;
  json_t *object = json_object(), *steps = json_array();
  if (!t->mode) {
    json_decref(steps);
    return object;
  }
  for (uint32_t i = 0; i < t->step_count; i++)
    steps = report_json_append(steps, write_step(t, &t->steps[i]));
  object = report_json_member(object, "tiling", write_tiling(scratch, t));
  object = report_json_member(object, "steps", steps);
  if (!t->with_overlap.name) return object;
  return report_json_member(object, "with_overlap",
                            write_step(t, &t->with_overlap));
}

/* ---- Files --------------------------------------------------------------- */

static calm_status need_front(const calm_plan *plan) {
  if (plan->tiling.mode) return CALM_OK;
  return context_fail(plan->context, CALM_MISUSE,
                      "there is a front with --tile or --effort max only");
}

calm_status report_front_csv(text *out, const calm_plan *plan) {
  const plan_tiling *t = &plan->tiling;
  TRY(need_front(plan));
  text_format(out,
              "arena_bytes,head_bytes,tail_bytes,macs,extra_macs,operators,"
              "chosen,tiles\n");
  for (uint32_t i = 0; i < t->choice.front_count; i++) {
    const tile_state *state = &t->choice.front[i];
    const tile_score *s = &state->score;
    text_format(out,
                "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%lld,%" PRIu32
                ",%d,\"",
                plan_tiling_bytes(t, s), s->head_bytes, s->tail_bytes, s->macs,
                (long long)extra(t, s->macs), s->op_count,
                i == t->choice.chosen);
    plan_tiling_words(out, state);
    text_format(out, "\"\n");
  }
  return CALM_OK;
}

static double percent(const plan_tiling *t, const tile_score *s) {
  return t->macs ? 100 * ((double)s->macs / (double)t->macs - 1) : 0;
}

/* From the fewest multiply-accumulates on, so that x rises; a point that needs
   more of both than another is left out. */
static uint32_t collect(double *x, double *y, const plan_tiling *t) {
  uint32_t count = 0;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < t->choice.front_count; i++) {
    const tile_score *s = &t->choice.front[i].score;
    if (s->macs >= least) continue;
    least = s->macs;
    x[count] = percent(t, s);
    y[count++] = (double)plan_tiling_bytes(t, s);
  }
  for (uint32_t i = 0; i < count / 2; i++) {
    const double a = x[i], b = y[i];
    x[i] = x[count - 1 - i];
    y[i] = y[count - 1 - i];
    x[count - 1 - i] = a;
    y[count - 1 - i] = b;
  }
  return count;
}

calm_status report_front_svg(text *out, const calm_plan *plan, arena *scratch) {
  const plan_tiling *t = &plan->tiling;
  double *x, *y;
  TRY(need_front(plan));
  ARENA_ARRAY(scratch, x, t->choice.front_count);
  ARENA_ARRAY(scratch, y, t->choice.front_count);
  const uint32_t count = collect(x, y, t);
  const double px[] = {percent(t, &chosen(t)->score)};
  const double py[] = {(double)plan_tiling_bytes(t, &chosen(t)->score)};
  const chart_series series[] = {
      {"least for so many", CHART_STEPS, x, y, count},
      {"tilings", CHART_POINTS, x, y, count},
      {"chosen", CHART_POINTS, px, py, 1}};
  const report_chart chart = {
      .title = "What tiles cost and save",
      .x_title = "extra multiply-accumulates, %",
      .y_title = t->tail_counts ? "head and tail, bytes" : "head, bytes",
      .series = series,
      .series_count = 3};
  return report_chart_svg(out, &chart);
}
