#include "report/report_mark.h"

#include <inttypes.h>
#include <string.h>

/* Kinds of views beyond those that any runtime has; an empty text: none. */
static const char *others(const model_mark *mark) {
  static const char usual[] = "identity";
  const size_t length = sizeof usual - 1;
  if (strncmp(mark->views, usual, length)) return mark->views;
  return mark->views[length] == ',' ? mark->views + length + 1 : "";
}

static void add_terms(text *out, const model_mark *mark) {
  const bool named = strcmp(mark->kernels, "auto") != 0;
  text_format(out, "the plan relies on ");
  if (named)
    text_format(out,
                "the kernels '%s' (edition %" PRIu64 " of their distances)",
                mark->kernels, mark->edition);
  if (*others(mark))
    text_format(out, "%sviews of %s", named ? " and on " : "", others(mark));
  else if (!named)
    text_format(out, "no kernels");
}

void report_mark(text *out, const model_mark *mark, bool holds) {
  if (mark->fault) {
    text_format(out, "cannot be read: %s", mark->fault);
    return;
  }
  add_terms(out, mark);
  if (!holds)
    text_format(out, ", but the mark is not about this file as it is");
}

json_t *report_json_mark(arena *scratch, const model_mark *mark, bool holds) {
  const bool readable = mark->present && !mark->fault;
  if (!mark->present) return json_null();
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:b, s:o}", "kernels",
      report_json_name(scratch, readable ? mark->kernels : NULL), "edition",
      readable ? report_json_number(mark->edition) : json_null(), "views",
      report_json_name(scratch, readable ? mark->views : NULL), "calm",
      report_json_name(scratch, readable ? mark->tool : NULL), "holds",
      (int)holds, "fault", report_json_name(scratch, mark->fault));
}
