#include "report/report_tiling.h"

#include <string.h>

#include "report/report_name.h"
#include "report/report_table.h"

enum { MOST_POINTS = 12 /* of the front, in a short table */ };

/* ---- Words --------------------------------------------------------------- */

static uint64_t extra(const plan_tiling *t, uint64_t macs) {
  return macs > t->macs ? macs - t->macs : 0;
}

static const tile_state *chosen(const plan_tiling *t) {
  return &t->choice.front[t->choice.chosen];
}

/* "+0.8 %"; what is below the untiled graph was tiled by hand before. */
static void add_share(report_table *table, const plan_tiling *t,
                      uint64_t macs) {
  if (macs < t->macs)
    report_table_cell(table, "-%s",
                      report_percent(t->macs - macs, t->macs).text);
  else
    report_table_cell(table, "+%s",
                      report_percent(macs - t->macs, t->macs).text);
}

static void add_effort(text *words, const plan_tiling *t) {
  text_format(words, "; %s %s judged", report_number(t->choice.judged).text,
              t->choice.judged == 1 ? "tiling" : "tilings");
  if (t->choice.stopped)
    text_format(words, " (%s)", limits_reason_name(t->choice.stopped));
  if (t->choice.judged > 1)
    text_format(words, "; that no other is better is not proved");
}

static void add_chosen(text *words, const plan_tiling *t) {
  const uint32_t count = chosen(t)->count;
  const uint64_t more = extra(t, t->plan_macs);
  text_format(words, "%u %s in tiles, ", count,
              count == 1 ? "region" : "regions");
  if (more == 0)
    text_format(words, "no extra multiply-accumulates");
  else
    text_format(words, "%s extra multiply-accumulates, %s",
                report_number(more).text, report_percent(more, t->macs).text);
}

static calm_status add_paragraph(text *out, const plan_tiling *t) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s: ", t->mode);
  if (t->folded)
    text_format(&words, "%u %s that the model had in tiles %s undone; ",
                t->folded, t->folded == 1 ? "region" : "regions",
                t->folded == 1 ? "is" : "are");
  if (t->reason)
    text_format(&words, "no tiles: %s", t->reason);
  else
    add_chosen(&words, t);
  add_effort(&words, t);
  text_format(out, "  tiles   ");
  return report_wrapped_text(out, &words, 10, 10);
}

/* ---- Regions ------------------------------------------------------------- */

static void add_region(report_table *table, const plan_tiling *t,
                       const tile_region *r) {
  const graph *g = t->of;
  report_table_cell(table, "%u-%u", r->first, r->last);
  report_table_name(table, g->ops.data[g->order[r->first]].name);
  report_table_name(table, g->ops.data[g->order[r->last]].name);
  if (r->columns == 1)
    report_table_cell(table, "%u strips", r->rows);
  else
    report_table_cell(table, "%u x %u", r->rows, r->columns);
  report_table_cell(table, "%s", tile_mode_name(r->mode));
}

static calm_status write_regions(text *out, const plan_tiling *t, bool color) {
  static const report_column columns[] = {{"region", COLUMN_WORDS},
                                          {"from", COLUMN_NAME},
                                          {"to", COLUMN_NAME},
                                          {"tiles", COLUMN_WORDS},
                                          {"mode", COLUMN_WORDS}};
  report_table table;
  if (t->reason || chosen(t)->count == 0) return CALM_OK;
  report_table_init(&table, out->context, columns, 5);
  for (uint32_t i = 0; i < chosen(t)->count; i++)
    add_region(&table, t, &chosen(t)->regions[i]);
  TRY(report_table_finish(&table, out, color));
  text_format(out, "\n");
  return CALM_OK;
}

/* ---- The front ----------------------------------------------------------- */

/* Is a point the best for its multiply-accumulates?  The front is in the order
   of arenas. */
static bool is_cheaper(const plan_tiling *t, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (t->choice.front[k].score.macs <= t->choice.front[i].score.macs)
      return false;
  return true;
}

static uint32_t count_cheaper(const plan_tiling *t) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->choice.front_count; i++)
    count += is_cheaper(t, i);
  return count;
}

/* Is there any tail to be shown? */
static bool has_tail(const plan_tiling *t) {
  return t->choice.front[0].score.tail_bytes > 0;
}

static calm_status add_point(report_table *table, text *out,
                             const plan_tiling *t, uint32_t i) {
  const tile_state *state = &t->choice.front[i];
  text words;
  char *line;
  report_table_cell(table, "%s", i == t->choice.chosen ? "*" : "");
  report_table_number(table, state->score.head_bytes);
  if (has_tail(t))
    report_table_number(table,
                        state->score.head_bytes + state->score.tail_bytes);
  add_share(table, t, state->score.macs);
  report_table_number(table, state->score.op_count);
  text_init(&words, out->context);
  plan_tiling_words(&words, state);
  TRY(text_finish(&words, &line));
  report_table_name(table, line);
  calm_text_free(out->context, line);
  return CALM_OK;
}

/* Of many points some, evenly apart; the chosen one is among them, and the
   graph without tiles. */
static bool is_shown(const plan_tiling *t, uint32_t i, uint32_t rank,
                     uint32_t all, bool complete) {
  if (complete || i == t->choice.chosen || t->choice.front[i].count == 0)
    return true;
  if (!is_cheaper(t, i)) return false;
  if (all <= MOST_POINTS || rank == 0 || rank == all - 1) return true;
  return rank * MOST_POINTS / all != (rank - 1) * MOST_POINTS / all;
}

static const report_column with_tail[] = {
    {"", COLUMN_WORDS},           {"head bytes", COLUMN_NUMBER},
    {"with tail", COLUMN_NUMBER}, {"extra MACs", COLUMN_NUMBER},
    {"operators", COLUMN_NUMBER}, {"tiles", COLUMN_NAME}};
static const report_column without_tail[] = {{"", COLUMN_WORDS},
                                             {"bytes", COLUMN_NUMBER},
                                             {"extra MACs", COLUMN_NUMBER},
                                             {"operators", COLUMN_NUMBER},
                                             {"tiles", COLUMN_NAME}};

static calm_status write_front(text *out, const plan_tiling *t, bool complete,
                               bool color) {
  const uint32_t all = count_cheaper(t);
  report_table table;
  uint32_t rank = 0, shown = 0;
  if (t->choice.front_count < 2) return CALM_OK;
  report_table_init(&table, out->context,
                    has_tail(t) ? with_tail : without_tail,
                    has_tail(t) ? 6 : 5);
  for (uint32_t i = 0; i < t->choice.front_count; i++) {
    const bool show = is_shown(t, i, rank, all, complete);
    rank += is_cheaper(t, i);
    if (!show) continue;
    TRY(add_point(&table, out, t, i));
    shown++;
  }
  TRY(report_table_finish(&table, out, color));
  if (shown < t->choice.front_count)
    text_format(out, "  %u of %u tilings that no other beats; -v lists all\n",
                shown, t->choice.front_count);
  text_format(out, "\n");
  return CALM_OK;
}

/* ---- Steps --------------------------------------------------------------- */

static void add_tail(report_table *table, const plan_step *s) {
  const bool known = s->tail_bytes != UINT64_MAX;
  report_table_cell(table, "%s",
                    known ? report_number(s->tail_bytes).text : "");
  report_table_cell(
      table, "%s",
      known ? report_number(s->head_bytes + s->tail_bytes).text : "");
}

static void add_step(report_table *table, const plan_tiling *t,
                     const plan_step *s, bool tail) {
  report_table_cell(table, "%s", s->name);
  report_table_number(table, s->head_bytes);
  if (tail) add_tail(table, s);
  add_share(table, t, s->macs);
  report_table_number(table, s->op_count);
}

static const report_column step_columns[] = {
    {"after", COLUMN_WORDS},       {"head bytes", COLUMN_NUMBER},
    {"tail bytes", COLUMN_NUMBER}, {"in all", COLUMN_NUMBER},
    {"extra MACs", COLUMN_NUMBER}, {"operators", COLUMN_NUMBER}};
static const report_column arena_columns[] = {{"after", COLUMN_WORDS},
                                              {"bytes", COLUMN_NUMBER},
                                              {"extra MACs", COLUMN_NUMBER},
                                              {"operators", COLUMN_NUMBER}};

static calm_status write_steps(text *out, const plan_tiling *t, bool color) {
  const bool tail = t->steps[0].tail_bytes != UINT64_MAX;
  report_table table;
  report_table_init(&table, out->context, tail ? step_columns : arena_columns,
                    tail ? 6 : 4);
  for (uint32_t i = 0; i < t->step_count; i++)
    add_step(&table, t, &t->steps[i], tail);
  TRY(report_table_finish(&table, out, color));
  if (t->with_overlap.name)
    text_format(out,
                "  with --overlap on and --kernels reference the same tiles "
                "would need a head of %s bytes\n",
                report_number(t->with_overlap.head_bytes).text);
  text_format(out, "\n");
  return CALM_OK;
}

calm_status report_tiling(text *out, const calm_plan *plan, bool complete,
                          bool color) {
  const plan_tiling *t = &plan->tiling;
  if (!t->mode) return CALM_OK;
  TRY(write_steps(out, t, color));
  TRY(add_paragraph(out, t));
  text_format(out, "\n");
  TRY(write_regions(out, t, color));
  return write_front(out, t, complete, color);
}
