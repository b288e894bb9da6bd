/*
 * A page: style, scripts and data.  The data is JSON within a script element,
 * which nothing may end but its own end, so that "<" is written as \u003c; the
 * policy allows the page to ask for nothing, whatever a name in it may say.
 */
#include "report/report_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "report/report_name.h"

/* ---- Data ---------------------------------------------------------------- */

static json_t *list_documents(const report_document *documents, uint32_t count,
                              arena *scratch) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++)
    list = report_json_append(
        list, json_pack("{s:o, s:O, s:O}", "name",
                        report_json_name(scratch, documents[i].name), "data",
                        documents[i].data, "drawings", documents[i].drawings));
  return list;
}

static int add_part(const char *bytes, size_t length, void *payload) {
  text *out = payload;
  const char *rest = bytes, *end = bytes + length, *bad;
  while ((bad = memchr(rest, '<', (size_t)(end - rest)))) {
    text_add(out, rest, (size_t)(bad - rest));
    text_format(out, "\\u003c");
    rest = bad + 1;
  }
  text_add(out, rest, (size_t)(end - rest));
  return out->failed ? -1 : 0;
}

static calm_status add_data(text *out, const report_document *documents,
                            uint32_t count, const char *title) {
  arena scratch;
  arena_init(&scratch, out->context);
  json_t *data = json_pack(
      "{s:o, s:s, s:o}", "title", report_json_name(&scratch, title), "version",
      calm_version(), "documents", list_documents(documents, count, &scratch));
  const bool done =
      data && !json_dump_callback(data, add_part, out, JSON_COMPACT);
  json_decref(data);
  arena_free(&scratch);
  return done ? CALM_OK : context_no_memory(out->context);
}

/* ---- The page ------------------------------------------------------------ */

static bool is_script(const embedded_file *file) {
  const char *ending = strrchr(file->name, '.');
  return ending && !strcmp(ending, ".js");
}

/* In alphabetical order, the one that starts them all last. */
static void add_files(text *out, bool scripts) {
  static const char last[] = "page_main.js";
  const embedded_file *start = NULL;
  for (const embedded_file *f = embedded_page; f->name; f++) {
    if (!strcmp(f->name, last))
      start = f;
    else if (is_script(f) == scripts)
      text_add(out, f->bytes, f->length);
  }
  if (scripts && start) text_add(out, start->bytes, start->length);
}

static void add_escaped(text *out, const char *words) {
  for (; *words; words++) switch (*words) {
      case '<': text_format(out, "&lt;"); break;
      case '&': text_format(out, "&amp;"); break;
      default: text_add(out, words, 1);
    }
}

static calm_status add_head(text *out, const char *title) {
  arena scratch;
  arena_init(&scratch, out->context);
  const char *valid = report_name_escaped(&scratch, title, ESCAPE_INVALID);
  text_format(out,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
              "<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\""
              "default-src 'none'; style-src 'unsafe-inline'; "
              "script-src 'unsafe-inline'; img-src data:\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, "
              "initial-scale=1\">\n"
              "<meta name=\"generator\" content=\"calm %s\">\n<title>",
              calm_version());
  if (valid) add_escaped(out, valid);
  text_format(out, "</title>\n<style>\n");
  arena_free(&scratch);
  return valid ? CALM_OK : context_no_memory(out->context);
}

calm_status report_page_write(text *out, const report_document *documents,
                              uint32_t count, const char *title) {
  TRY(add_head(out, title));
  add_files(out, false);
  text_format(out,
              "</style>\n</head>\n<body>\n<noscript>This page draws its charts "
              "and tables with JavaScript, which is turned off here.  The data "
              "is in its source.</noscript>\n<main id=\"page\"></main>\n"
              "<script type=\"application/json\" id=\"calm-data\">");
  TRY(add_data(out, documents, count, title));
  text_format(out, "</script>\n<script>\n");
  add_files(out, true);
  text_format(out, "</script>\n</body>\n</html>\n");
  return CALM_OK;
}
