/* calm sweep SWEEP.yaml [--export KIND] */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "opt.h"
#include "output.h"
#include "story.h"

enum { PATH_BYTES = 4096 };

/* ---- The database -------------------------------------------------------- */

/* SWEEP.yaml has SWEEP.db beside it. */
static int name_database(char *out, const request *r) {
  const char *path = r->operands[0], *dot = strrchr(path, '.');
  const bool ending = dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
  const size_t length = ending ? (size_t)(dot - path) : strlen(path);
  const int written =
      r->database ? snprintf(out, PATH_BYTES, "%s", r->database)
                  : snprintf(out, PATH_BYTES, "%.*s.db", (int)length, path);
  if (written >= 0 && written < PATH_BYTES)
    return output_check_own(r, out, "the database");
  story_tell("%s: the name is too long", path);
  return EXIT_USAGE;
}

/* ---- What comes out ------------------------------------------------------ */

static bool is_export(const request *r, const char *kind) {
  return r->export_kind && !strcmp(r->export_kind, kind);
}

static int check_words(const request *r) {
  if (r->export_kind && r->json)
    story_tell("--json is --export json: give one of them");
  else if (r->output && !r->export_kind)
    story_tell("-o %s: --export csv, json or html says what to write",
               r->output);
  else
    return EXIT_DONE;
  return EXIT_USAGE;
}

static calm_status render(char **out, const request *r, calm_sweep *sweep) {
  if (is_export(r, "csv"))
    return calm_sweep_render(out, sweep, CALM_FORMAT_CSV, false);
  if (!r->json && !r->export_kind)
    return calm_sweep_render(out, sweep, CALM_FORMAT_TABLE, opt_wants_color(r));
  const calm_status status =
      calm_sweep_render(out, sweep, CALM_FORMAT_JSON, false);
  if (status || !is_export(r, "html")) return status;
  return output_make_page(out, r, r->operands[0]);
}

static int put(const request *r, const char *words) {
  if (!r->output) return output_text(words);
  story_hold_interrupt();
  const calm_status status = calm_text_write(r->context, r->output, words);
  story_let_interrupt();
  return status ? story_failure(r, status) : EXIT_DONE;
}

static int show(const request *r, calm_sweep *sweep) {
  char *words;
  const calm_status status = render(&words, r, sweep);
  if (status) return story_failure(r, status);
  const int code = put(r, words);
  calm_text_free(r->context, words);
  return code;
}

static int judge(const request *r, const calm_sweep *sweep) {
  const calm_sweep_counts counts = calm_sweep_counts_of(sweep);
  if (counts.left && story_interrupted()) {
    story_tell(
        "%s: interrupted; %u points are left, and the same command "
        "goes on with them",
        r->operands[0], counts.left);
    return EXIT_INTERRUPTED;
  }
  if (!counts.failed) return EXIT_DONE;
  story_tell("%s: %u of %u points failed", r->operands[0], counts.failed,
             counts.points);
  return EXIT_GOAL_MISSED;
}

/* ---- The command --------------------------------------------------------- */

static int run(const request *r, calm_sweep *sweep) {
  calm_status status = CALM_OK;
  if (r->retry) status = calm_sweep_retry(sweep);
  if (status == CALM_OK) status = calm_sweep_run(sweep);
  if (status) return story_failure(r, status);
  const int code = show(r, sweep);
  return code ? code : judge(r, sweep);
}

int cmd_sweep(request *r) {
  char database[PATH_BYTES];
  calm_sweep *sweep;
  int code = check_words(r);
  if (!code) code = name_database(database, r);
  if (code) return code;
  const calm_status status =
      calm_sweep_open(&sweep, r->context, r->operands[0], database, r->options);
  if (status) return story_failure(r, status);
  code = run(r, sweep);
  calm_sweep_free(sweep);
  return code;
}
