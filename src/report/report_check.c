/* The verdict on a plan. */
#include <string.h>

#include "report/report_arena.h"
#include "report/report_facts.h"
#include "report/report_mark.h"
#include "report/report_name.h"

/* ---- Table --------------------------------------------------------------- */

/* What is wrong, in words; its kind is for programs. */
static calm_status write_faults(text *out, const memory_fault *faults,
                                uint32_t count, const char *what,
                                report_tone tone, bool color) {
  enum { WIDTH = 11 };
  for (uint32_t i = 0; i < count; i++) {
    text_format(out, "  %s%-*s%s", report_tone_begin(tone, color), WIDTH - 2,
                what, report_tone_end(color));
    TRY(report_wrapped(out, faults[i].text, WIDTH, WIDTH));
  }
  return CALM_OK;
}

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

static void write_summary(text *out, const memory_verdict *verdict,
                          bool color) {
  const uint32_t faults = verdict->faults.count;
  const uint32_t warnings = verdict->warnings.count;
  text_format(out, "  %s%s%s: ",
              report_tone_begin(faults ? TONE_BAD : TONE_GOOD, color),
              faults ? "the plan does not hold" : "the plan holds",
              report_tone_end(color));
  text_format(out, "%s fault%s, ", report_number(faults).text, plural(faults));
  text_format(out, "%s warning%s\n", report_number(warnings).text,
              plural(warnings));
}

static calm_status write_arena(text *out, const calm_verdict *v) {
  text words;
  text_init(&words, out->context);
  if (v->tflm) {
    report_arena(&words, v->verdict.arena_bytes, &v->tail);
    text_format(&words, "; ");
    report_tail_build(&words, &v->tail);
  } else {
    text_format(&words, "%s bytes", report_number(v->verdict.arena_bytes).text);
  }
  text_format(out, "  arena   ");
  return report_wrapped_text(out, &words, 10, 10);
}

static calm_status write_mark(text *out, const calm_verdict *v) {
  const model_mark *mark = &v->model->offline.mark;
  text words;
  if (!v->mark_shown) return CALM_OK;
  text_init(&words, out->context);
  report_mark(&words, mark, v->mark_holds);
  text_format(out, "  mark    ");
  return report_wrapped_text(out, &words, 10, 10);
}

static calm_status write_table(text *out, const calm_verdict *v, bool color) {
  TRY(report_heading(out, v->model->path, color));
  if (!v->source) {
    text_format(out, "  carries no plan: nothing to check\n");
    return write_faults(out, v->verdict.warnings.data,
                        v->verdict.warnings.count, "warning", TONE_OPEN, color);
  }
  text_format(out, "  plan    ");
  TRY(report_heading(out, v->source, false));
  text_format(out, "  memory  %s\n", v->memory.name);
  TRY(write_mark(out, v));
  TRY(write_arena(out, v));
  TRY(write_faults(out, v->verdict.faults.data, v->verdict.faults.count,
                   "fault", TONE_BAD, color));
  TRY(write_faults(out, v->verdict.warnings.data, v->verdict.warnings.count,
                   "warning", TONE_OPEN, color));
  write_summary(out, &v->verdict, color);
  return CALM_OK;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *list_tensors(arena *scratch, const graph *g,
                            const memory_fault *fault) {
  json_t *list = json_array();
  const tensor_id tensors[] = {fault->a, fault->b};
  for (int i = 0; i < 2; i++)
    if (tensors[i] != CALM_NONE)
      list = report_json_append(
          list, report_json_name(scratch, g->tensors.data[tensors[i]].name));
  return list;
}

static json_t *list_faults(arena *scratch, const graph *g,
                           const memory_fault *faults, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++)
    list = report_json_append(
        list, json_pack("{s:s, s:o, s:o}", "kind", faults[i].kind, "tensors",
                        list_tensors(scratch, g, &faults[i]), "text",
                        report_json_name(scratch, faults[i].text)));
  return list;
}

static json_t *write_runtime(const calm_verdict *v) {
  if (!v->source || !v->tflm) return json_null();
  return report_json_arena(json_pack("{s:s}", "name", "tflm"),
                           v->verdict.arena_bytes, &v->tail);
}

static json_t *write_json(arena *scratch, const calm_verdict *v) {
  const graph *g = &v->model->graphs.data[0];
  const memory_verdict *verdict = &v->verdict;
  json_t *root =
      report_json_head(scratch, "calm/check/1", v->model, &v->memory);
  root =
      report_json_member(root, "source", report_json_name(scratch, v->source));
  root = report_json_member(root, "valid",
                            json_boolean(v->verdict.faults.count == 0));
  root = report_json_member(
      root, "arena_bytes",
      v->source ? report_json_number(verdict->arena_bytes) : json_null());
  root = report_json_member(
      root, "mark",
      v->mark_shown
          ? report_json_mark(scratch, &v->model->offline.mark, v->mark_holds)
          : json_null());
  root = report_json_member(root, "runtime", write_runtime(v));
  root = report_json_member(
      root, "faults",
      list_faults(scratch, g, verdict->faults.data, verdict->faults.count));
  return report_json_member(
      root, "warnings",
      list_faults(scratch, g, verdict->warnings.data, verdict->warnings.count));
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status render(text *out, const calm_verdict *v, calm_format format,
                          bool color) {
  if (format == CALM_FORMAT_CSV)
    return context_fail(v->context, CALM_MISUSE, "a verdict has no CSV form");
  if (format != CALM_FORMAT_JSON) return write_table(out, v, color);
  arena scratch;
  arena_init(&scratch, v->context);
  calm_status status = report_json_write(out, write_json(&scratch, v));
  arena_free(&scratch);
  return status;
}

calm_status calm_verdict_render(char **out, const calm_verdict *verdict,
                                calm_format format, bool color) {
  text t;
  text_init(&t, verdict->context);
  calm_status status = render(&t, verdict, format, color);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
