#include "report/report_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/report_name.h"

static const uint32_t LEFT_OUT = UINT32_MAX; /* as the width of a column */

enum { INDENT = 2, GAP = 2, LEAST_NAME = 10, MAX_COLUMNS = 24 };

void report_table_init(report_table *t, calm_context *context,
                       const report_column *columns, uint32_t column_count) {
  *t = (report_table){.columns = columns, .column_count = column_count};
  arena_init(&t->scratch, context);
}

static calm_status push(report_table *t, const char *cell) {
  if (!cell) return CALM_NO_MEMORY;
  VECTOR_PUSH(t->scratch.context, &t->cells, cell);
  return CALM_OK;
}

static void add(report_table *t, const char *cell) {
  if (push(t, cell) != CALM_OK) t->failed = true;
}

void report_table_cell(report_table *t, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *cell =
      length < 0 ? NULL : arena_calloc(&t->scratch, (size_t)length + 1, 1);
  if (cell) vsnprintf(cell, (size_t)length + 1, format, again);
  va_end(again);
  add(t, cell);
}

void report_table_number(report_table *t, uint64_t n) {
  report_table_cell(t, "%s", report_number(n).text);
}

void report_table_name(report_table *t, const char *name) {
  add(t, report_name_escaped(&t->scratch, name, ESCAPE_CONTROL));
}

static void widen(uint32_t *width, const char *cell) {
  const uint32_t columns = report_name_columns(cell);
  if (*width < columns) *width = columns;
}

/* The widest column of a kind that may be shortened, NULL if there is none. */
static uint32_t *find_widest(const report_table *t, uint32_t *widths,
                             report_kind kind) {
  uint32_t *widest = NULL;
  for (uint32_t c = 0; c < t->column_count; c++)
    if (t->columns[c].kind == kind && widths[c] > LEAST_NAME &&
        (!widest || widths[c] > *widest))
      widest = &widths[c];
  return widest;
}

/* Leave out what can be spared, then take from the widest column of names,
   until the line fits. */
static void narrow(const report_table *t, uint32_t *widths) {
  uint32_t total = INDENT + GAP * (t->column_count - 1);
  for (uint32_t c = 0; c < t->column_count; c++) total += widths[c];
  for (uint32_t c = 0; c < t->column_count && total > REPORT_COLUMNS; c++) {
    if (t->columns[c].kind != COLUMN_SPARE) continue;
    total -= widths[c] + GAP;
    widths[c] = LEFT_OUT;
  }
  while (total > REPORT_COLUMNS) {
    uint32_t *widest = find_widest(t, widths, COLUMN_NAME);
    if (!widest) widest = find_widest(t, widths, COLUMN_LATE);
    if (!widest) return;
    *widest -= 1;
    total -= 1;
  }
}

static void measure(const report_table *t, uint32_t *widths) {
  for (uint32_t c = 0; c < t->column_count; c++) {
    widths[c] = 0;
    if (t->columns[0].title) widen(&widths[c], t->columns[c].title);
  }
  for (uint32_t i = 0; i < t->cells.count; i++)
    widen(&widths[i % t->column_count], t->cells.data[i]);
  narrow(t, widths);
}

/* A line without spaces at its end: `owed` are written before the next cell. */
static void write_line(text *out, report_table *t, const char *const *cells,
                       const uint32_t *widths) {
  uint32_t owed = INDENT;
  for (uint32_t c = 0; c < t->column_count; c++) {
    const char *cell = cells[c];
    if (widths[c] == LEFT_OUT) continue;
    if (t->columns[c].kind == COLUMN_NAME || t->columns[c].kind == COLUMN_LATE)
      cell = report_name_shortened(&t->scratch, cell, widths[c]);
    if (!cell) {
      t->failed = true;
      return;
    }
    const uint32_t rest = widths[c] - report_name_columns(cell);
    const bool right = t->columns[c].kind == COLUMN_NUMBER ||
                       t->columns[c].kind == COLUMN_SPARE;
    owed += right ? rest : 0;
    if (*cell) {
      text_format(out, "%*s%s", (int)owed, "", cell);
      owed = 0;
    }
    owed += (right ? 0 : rest) + GAP;
  }
  text_add(out, "\n", 1);
}

static void write_titles(text *out, report_table *t, const uint32_t *widths,
                         bool color) {
  const char *titles[MAX_COLUMNS];
  for (uint32_t c = 0; c < t->column_count; c++)
    titles[c] = t->columns[c].title;
  const char *begin = report_tone_begin(TONE_FAINT, color);
  text_add(out, begin, strlen(begin));
  write_line(out, t, titles, widths);
  text_format(out, "%s", report_tone_end(color));
}

/* Titles of several lines are rows; yields the first cell behind them. */
static uint32_t write_title_rows(text *out, report_table *t,
                                 const uint32_t *widths, bool color) {
  uint32_t next = 0;
  const char *begin = report_tone_begin(TONE_FAINT, color);
  if (t->title_rows == 0) return 0;
  text_add(out, begin, strlen(begin));
  for (uint32_t row = 0; row < t->title_rows; row++, next += t->column_count)
    if (next < t->cells.count && !t->failed)
      write_line(out, t, t->cells.data + next, widths);
  text_format(out, "%s", report_tone_end(color));
  return next;
}

calm_status report_table_finish(report_table *t, text *out, bool color) {
  uint32_t widths[MAX_COLUMNS];
  measure(t, widths);
  if (t->columns[0].title && !t->failed) write_titles(out, t, widths, color);
  const uint32_t first = write_title_rows(out, t, widths, color);
  for (uint32_t i = first; i + t->column_count <= t->cells.count && !t->failed;
       i += t->column_count)
    write_line(out, t, t->cells.data + i, widths);
  calm_context *context = t->scratch.context;
  VECTOR_FREE(context, &t->cells);
  arena_free(&t->scratch);
  return t->failed ? context_no_memory(context) : CALM_OK;
}

/* A word, or an item with spaces in it, on this line or the next. */
static calm_status add_whole(report_paragraph *p, const char *word,
                             arena *scratch) {
  word = report_name_shortened(scratch, word, REPORT_COLUMNS - p->indent);
  if (!word) return context_no_memory(scratch->context);
  const uint32_t columns = report_name_columns(word);
  uint32_t gap = p->begun;
  if (gap && p->column + gap + columns > REPORT_COLUMNS) {
    text_format(p->out, "\n%*s", (int)p->indent, "");
    p->column = p->indent;
    gap = 0;
  }
  text_format(p->out, "%*s%s", (int)gap, "", word);
  p->column += gap + columns;
  p->begun = true;
  return CALM_OK;
}

static calm_status wrap(report_paragraph *p, const char *words,
                        arena *scratch) {
  const char *rest = report_name_escaped(scratch, words, ESCAPE_CONTROL);
  if (!rest) return context_no_memory(scratch->context);
  while (*rest) {
    const size_t length = strcspn(rest, " ");
    const char *word = arena_string(scratch, rest, length);
    if (!word) return context_no_memory(scratch->context);
    TRY(add_whole(p, word, scratch));
    rest += length + (rest[length] == ' ');
  }
  return CALM_OK;
}

static calm_status add_item(report_paragraph *p, const char *item,
                            arena *scratch) {
  const char *escaped = report_name_escaped(scratch, item, ESCAPE_CONTROL);
  if (!escaped) return context_no_memory(scratch->context);
  return add_whole(p, escaped, scratch);
}

calm_status report_paragraph_add(report_paragraph *p, text *item) {
  calm_context *context = p->out->context;
  arena scratch;
  arena_init(&scratch, context);
  const calm_status status = item->failed ? context_no_memory(context)
                                          : add_item(p, item->data, &scratch);
  arena_free(&scratch);
  text_free(item);
  return status;
}

calm_status report_wrapped(text *out, const char *words, uint32_t indent,
                           uint32_t column) {
  arena scratch;
  arena_init(&scratch, out->context);
  if (column == 0) text_format(out, "%*s", (int)indent, "");
  report_paragraph p = {out, indent, column ? column : indent, false};
  const calm_status status = wrap(&p, words, &scratch);
  if (status == CALM_OK) text_add(out, "\n", 1);
  arena_free(&scratch);
  return status;
}

calm_status report_wrapped_text(text *out, text *words, uint32_t indent,
                                uint32_t column) {
  calm_status status = words->failed
                           ? context_no_memory(out->context)
                           : report_wrapped(out, words->data, indent, column);
  text_free(words);
  return status;
}

calm_status report_hanging_text(text *out, text *words) {
  text_format(out, "  ");
  return report_wrapped_text(out, words, 4, 2);
}

const char *report_tone_begin(report_tone tone, bool color) {
  static const char *const codes[] = {"\033[1m", "\033[32m", "\033[33m",
                                      "\033[31m", "\033[2m"};
  return color ? codes[tone] : "";
}

const char *report_tone_end(bool color) { return color ? "\033[0m" : ""; }
