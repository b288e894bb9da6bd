/* What a section adds to a run: tables cell by cell, notes, figures. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

/* ---- Words --------------------------------------------------------------- */

static char *put_together(bench *b, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *words =
      length < 0 ? NULL : arena_calloc(&b->arena, (size_t)length + 1, 1);
  if (words) vsnprintf(words, (size_t)length + 1, format, arguments);
  return words;
}

static const char *copy(bench *b, const char *words) {
  return arena_string(&b->arena, words, strlen(words));
}

/* One space between words, which a reader cannot tell from two. */
static void join_spaces(char *words) {
  char *to = words;
  for (const char *from = words; *from; from++)
    if (*from != ' ' || to == words || to[-1] != ' ') *to++ = *from;
  *to = '\0';
}

/* ---- Tables -------------------------------------------------------------- */

static calm_status make_table(bench_table **out, bench *b, const char *name,
                              const char *title) {
  bench_table *t;
  ARENA_ARRAY(&b->arena, t, 1);
  t->section = b->section;
  t->name = copy(b, name);
  t->title = copy(b, title);
  if (!t->name || !t->title) return context_no_memory(b->context);
  VECTOR_PUSH(b->context, &b->tables, t);
  *out = t;
  return CALM_OK;
}

bench_table *bench_table_begin(bench *b, const char *name, const char *title,
                               const bench_column *columns,
                               uint32_t column_count) {
  bench_table *t = NULL;
  if (make_table(&t, b, name, title) != CALM_OK) {
    b->failed = true;
    return NULL;
  }
  t->columns = columns;
  t->column_count = column_count;
  return t;
}

static calm_status push_cell(bench *b, bench_table *t, bench_cell cell) {
  VECTOR_PUSH(b->context, &t->cells, cell);
  return CALM_OK;
}

static void add_cell(bench *b, bench_table *t, bench_cell cell) {
  if (!t || push_cell(b, t, cell) != CALM_OK) b->failed = true;
}

void bench_words(bench *b, bench_table *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *words = put_together(b, format, arguments);
  va_end(arguments);
  if (!words) b->failed = true;
  add_cell(b, t, (bench_cell){words, NAN});
}

void bench_number(bench *b, bench_table *t, double n) {
  add_cell(b, t, (bench_cell){NULL, n});
}

void bench_nothing(bench *b, bench_table *t) {
  add_cell(b, t, (bench_cell){NULL, NAN});
}

static calm_status push_note(bench *b, bench_table *t, const char *note) {
  VECTOR_PUSH(b->context, &t->notes, note);
  return CALM_OK;
}

void bench_note(bench *b, bench_table *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *note = put_together(b, format, arguments);
  va_end(arguments);
  if (note) join_spaces(note);
  if (!t || !note || push_note(b, t, note) != CALM_OK) b->failed = true;
}

/* ---- Figures ------------------------------------------------------------- */

calm_status bench_draw(bench *b, const char *name, const report_chart *chart) {
  text svg;
  bench_figure f = {.section = b->section,
                    .name = copy(b, name),
                    .title = copy(b, chart->title ? chart->title : name)};
  if (!f.name || !f.title) return context_no_memory(b->context);
  text_init(&svg, b->context);
  const calm_status status = report_chart_svg(&svg, chart);
  if (status != CALM_OK) {
    text_free(&svg);
    return status;
  }
  TRY(text_keep(&svg, &f.svg, &b->arena));
  VECTOR_PUSH(b->context, &b->figures, f);
  return CALM_OK;
}

/* ---- What is not there --------------------------------------------------- */

enum { MOST_MISSING = 5 };

static calm_status add_missing(bench *b, const char *why) {
  text all;
  if (!why) return context_no_memory(b->context);
  if (b->missing && strstr(b->missing, why)) return CALM_OK;
  context_log(b->context, CALM_LOG_DETAIL, "left out: %s", why);
  if (b->missing_count++ > MOST_MISSING) return CALM_OK;
  text_init(&all, b->context);
  text_format(&all, "%s%s%s", b->missing ? b->missing : "",
              b->missing ? "; " : "",
              b->missing_count > MOST_MISSING ? "and more" : why);
  return text_keep(&all, &b->missing, &b->arena);
}

void bench_miss(bench *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *why = put_together(b, format, arguments);
  va_end(arguments);
  if (add_missing(b, why) != CALM_OK) b->failed = true;
}

/* ---- The story ----------------------------------------------------------- */

void bench_progress(bench *b, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  context_log(b->context, CALM_LOG_PROGRESS, "%s: %s", b->section->name, line);
}
