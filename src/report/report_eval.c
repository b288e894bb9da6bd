/* An evaluation of loop nests, in every format. */
#include "report/report_eval.h"

#include <inttypes.h>
#include <string.h>

#include "report/report_facts.h"

/* ---- What is evaluated --------------------------------------------------- */

/* "R3 S3 P56": dimensions of one iteration say nothing. */
static void add_dimensions(text *out, const accel_layer *layer) {
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const accel_dimension *dimension = &layer->dimensions[d];
    if (dimension->bound > 1)
      text_format(out, " %s%s%" PRIu64, dimension->name,
                  dimension->name[1] ? "=" : "", dimension->bound);
  }
}

calm_status report_eval_subject(text *out, const calm_evaluation *e) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s:", e->layer.name);
  add_dimensions(&words, &e->layer);
  text_format(&words, ", %s multiply-accumulates",
              report_number(e->layer.macs).text);
  TRY(report_hanging_text(out, &words));
  text_init(&words, out->context);
  text_format(&words, "on %s: %s multiplier%s; cost model %s", e->arch.name,
              report_number(e->arch.compute.instances).text,
              e->arch.compute.instances == 1 ? "" : "s",
              e->problem.options.model == COST_EXACT ? "exact" : "timeloop");
  return report_hanging_text(out, &words);
}

/* ---- Headline ------------------------------------------------------------ */

enum { FIGURE_COLUMN = 15 };

static uint64_t longest_cycles(const cost_result *r) {
  uint64_t longest = r->compute_cycles;
  for (uint32_t i = 0; i < r->level_count; i++)
    if (r->levels[i].cycles > longest) longest = r->levels[i].cycles;
  return longest;
}

/* Names come from files, so what holds one is escaped. */
static calm_status add_limit(text *out, const eval_view *v, uint32_t column) {
  const cost_result *r = &v->nest->result;
  text words;
  text_init(&words, out->context);
  if (r->limiting_level == CALM_NONE)
    text_format(&words, "; the multipliers limit");
  else
    text_format(&words, "; %s limits, the multipliers alone need %s",
                report_eval_level_name(v->evaluation, r->limiting_level),
                report_number(r->compute_cycles).text);
  return report_wrapped_text(out, &words, FIGURE_COLUMN, column);
}

static calm_status write_cycles(text *out, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  const uint64_t longest = longest_cycles(r);
  const report_digits cycles = report_number(r->cycles);
  text_format(out, "  cycles       %s%s%s",
              report_tone_begin(TONE_TITLE, v->color), cycles.text,
              report_tone_end(v->color));
  TRY(add_limit(out, v, FIGURE_COLUMN + (uint32_t)strlen(cycles.text)));
  if (r->cycles > longest)
    text_format(out, "%*s%s of them to fill and drain networks\n",
                FIGURE_COLUMN, "", report_number(r->cycles - longest).text);
  return CALM_OK;
}

/* "35 at least: 35 words over the busiest link below GB". */
static calm_status write_links(text *out, const eval_view *v) {
  const cost_links *links = &v->nest->links;
  text words;
  if (!v->nest->link_words) return CALM_OK;
  text_init(&words, out->context);
  if (links->level == CALM_NONE)
    text_format(&words, "no link of a mesh carries anything");
  else
    text_format(&words, "%s at least: %s word%s over the busiest link below %s",
                report_number(links->cycles).text,
                report_number(links->words).text, links->words == 1 ? "" : "s",
                report_eval_level_name(v->evaluation, links->level));
  text_format(out, "%*s", FIGURE_COLUMN, "");
  return report_wrapped_text(out, &words, FIGURE_COLUMN, FIGURE_COLUMN);
}

static void write_energy(text *out, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  if (!v->evaluation->energy) return;
  text_format(out, "  energy       %s%s %s%s",
              report_tone_begin(TONE_TITLE, v->color),
              report_energy(r->energy_pj, v->unit).text, v->unit.name,
              report_tone_end(v->color));
  text_format(out, "; %.4g pJ per multiply-accumulate\n",
              r->energy_pj / (double)r->computes);
  text_format(out, "  EDP          %s J x cycles\n",
              report_four(r->edp * 1e-12).text);
}

static void write_utilization(text *out, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  text_format(out, "  utilization  %s; ", report_share(r->utilization, 1).text);
  text_format(out, "%s", report_number(r->multipliers).text);
  const uint64_t all = v->evaluation->arch.compute.instances;
  text_format(out, " of %s multiplier%s in use\n", report_number(all).text,
              all == 1 ? " is" : "s are");
}

/* ---- One nest ------------------------------------------------------------ */

/* Line by line, as names in them come from files. */
static calm_status add_lines(text *out, const char *words, arena *scratch) {
  while (*words) {
    const size_t length = strcspn(words, "\n");
    const char *line = arena_string(scratch, words, length);
    if (line) line = report_name_escaped(scratch, line, ESCAPE_CONTROL);
    if (!line) return context_no_memory(scratch->context);
    text_format(out, "%s\n", line);
    words += length + (words[length] == '\n');
  }
  return CALM_OK;
}

calm_status report_eval_nest(text *out, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  char *words;
  TRY(accel_nest_text(&words, &n->nest, &e->arch, &e->layer, e->context));
  calm_status status = add_lines(out, words, scratch);
  calm_text_free(e->context, words);
  return status;
}

static calm_status write_reason(text *out, const eval_nest *n, bool color) {
  text words;
  text_init(&words, out->context);
  text_format(&words, "%s: %s",
              eval_nest_limited(n) ? "not counted" : "not valid", n->reason);
  text_format(out, "%s", report_tone_begin(TONE_BAD, color));
  TRY(report_hanging_text(out, &words));
  text_format(out, "%s", report_tone_end(color));
  return CALM_OK;
}

calm_status report_eval_headline(text *out, const eval_view *v) {
  TRY(write_cycles(out, v));
  TRY(write_links(out, v));
  write_energy(out, v);
  write_utilization(out, v);
  return CALM_OK;
}

calm_status report_eval_figures(text *out, const eval_view *v) {
  TRY(report_eval_table(out, v));
  TRY(report_eval_bars(out, v));
  TRY(report_eval_networks(out, v));
  if (!v->complete) return CALM_OK;
  TRY(report_eval_groups(out, v));
  TRY(report_eval_capacity(out, v));
  return report_eval_details(out, v);
}

calm_status report_eval_look(eval_view *v, const calm_evaluation *e,
                             const eval_nest *n, arena *scratch) {
  v->evaluation = e;
  v->nest = n;
  v->unit = report_energy_unit(n->result.energy_pj);
  return report_eval_levels(&v->levels, e, n, scratch);
}

static calm_status write_one(text *out, const calm_evaluation *e, bool complete,
                             bool color, arena *scratch) {
  const eval_nest *n = &e->nests[0];
  eval_view v = {.complete = complete, .color = color};
  TRY(report_eval_look(&v, e, n, scratch));
  TRY(report_heading(out, n->path, color));
  TRY(report_eval_subject(out, e));
  text_format(out, "\n");
  TRY(n->reason ? write_reason(out, n, color) : report_eval_headline(out, &v));
  text_format(out, "\n");
  TRY(report_eval_nest(out, e, n, scratch));
  return n->reason ? CALM_OK : report_eval_figures(out, &v);
}

/* ---- Two nests ----------------------------------------------------------- */

static calm_status write_two(text *out, const calm_evaluation *e, bool complete,
                             bool color, arena *scratch) {
  TRY(report_heading(out, e->nests[0].path, color));
  TRY(report_heading(out, e->nests[1].path, color));
  TRY(report_eval_subject(out, e));
  if (calm_evaluation_valid(e))
    return report_eval_difference(out, e, complete, color, scratch);
  text_format(out, "\n");
  for (uint32_t i = 0; i < e->nest_count; i++) {
    if (e->nests[i].reason) {
      text_format(out, "  %s\n", i ? "second:" : "first:");
      TRY(write_reason(out, &e->nests[i], color));
    }
  }
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

/* A mapping is a file of its own. */
static calm_status write_nest(text *out, const calm_evaluation *e,
                              calm_format format, arena *scratch) {
  char *words;
  const accel_nest *n = &e->nests[0].nest;
  if (e->nest_count > 1)
    return context_fail(e->context, CALM_MISUSE,
                        "a mapping is written of one nest, not of two");
  if (format == CALM_FORMAT_NEST)
    return report_eval_nest(out, e, &e->nests[0], scratch);
  TRY(accel_nest_write(&words, n, &e->arch, &e->layer, e->context));
  text_add(out, words, strlen(words));
  calm_text_free(out->context, words);
  return CALM_OK;
}

static calm_status write_table(text *out, const calm_evaluation *e,
                               bool complete, bool color, arena *scratch) {
  return e->nest_count > 1 ? write_two(out, e, complete, color, scratch)
                           : write_one(out, e, complete, color, scratch);
}

static calm_status render(text *out, const calm_evaluation *e,
                          calm_format format, bool color, arena *scratch) {
  switch (format) {
    case CALM_FORMAT_JSON:
      return report_json_write(out, report_eval_json(scratch, e));
    case CALM_FORMAT_MAPPING:
    case CALM_FORMAT_NEST: return write_nest(out, e, format, scratch);
    case CALM_FORMAT_TABLE:
    case CALM_FORMAT_LONG:
      return write_table(out, e, format == CALM_FORMAT_LONG, color, scratch);
    default: break;
  }
  return context_fail(e->context, CALM_MISUSE,
                      "an evaluation cannot be shown in this format");
}

calm_status calm_evaluation_render(char **out, const calm_evaluation *e,
                                   calm_format format, bool color) {
  text t;
  arena scratch;
  text_init(&t, e->context);
  arena_init(&scratch, e->context);
  calm_status status = render(&t, e, format, color, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
