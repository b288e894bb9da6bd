/*
 * A run for a terminal.  Titles of columns are broken into lines, so that a
 * column is as wide as its figures want it to be; a table that is still too
 * wide goes on below, beginning with its names again.
 */
#include <string.h>

#include "bench/bench_output.h"
#include "report/report_facts.h"
#include "report/report_table.h"

enum {
  INDENT = 2,
  GAP = 2,
  MOST_LINES = 3,  /* of a title */
  MOST_WORDS = 40, /* columns that words get before the table is divided */
  MOST_NAMES = 48  /* columns of names that are repeated where it is */
};

typedef struct sheet {
  const bench *bench;
  const bench_table *table;
  uint32_t columns[BENCH_MOST_COLUMNS]; /* those that are shown */
  uint32_t widths[BENCH_MOST_COLUMNS];
  uint32_t count;
} sheet;

/* ---- Titles in lines ----------------------------------------------------- */

/* The next line of a title in `width` columns, at least a word; moves *rest
   past it. */
static size_t take_line(const char **rest, uint32_t width) {
  const char *line = *rest;
  size_t length = strcspn(line, " ");
  while (line[length]) {
    const size_t word = strcspn(line + length + 1, " ");
    if (length + 1 + word > width) break;
    length += 1 + word;
  }
  *rest = line + length + (line[length] == ' ');
  return length;
}

static uint32_t count_lines(const char *title, uint32_t width) {
  uint32_t count = 0;
  for (; *title; count++) take_line(&title, width);
  return count;
}

static uint32_t longest_word(const char *title) {
  size_t longest = 0;
  while (*title) {
    const size_t length = strcspn(title, " ");
    if (length > longest) longest = length;
    title += length + (title[length] == ' ');
  }
  return (uint32_t)longest;
}

/* ---- Widths -------------------------------------------------------------- */

static const char *shown(report_digits *digits, const bench_column *column,
                         const bench_cell *cell) {
  if (cell->words) return cell->words;
  *digits = bench_shown(column->kind, cell->number);
  return digits->text;
}

static uint32_t width_of(const bench_table *t, uint32_t c, uint32_t lines) {
  const bench_column *column = &t->columns[c];
  uint32_t width = longest_word(column->title);
  report_digits digits;
  for (uint32_t row = 0; row < bench_row_count(t); row++) {
    const char *cell = shown(&digits, column, bench_cell_at(t, row, c));
    const uint32_t columns = report_name_columns(cell);
    if (columns > width) width = columns;
  }
  while (count_lines(column->title, width) > lines) width++;
  return column->kind == BENCH_WORDS && width > MOST_WORDS ? MOST_WORDS : width;
}

static uint32_t measure_lines(sheet *s, uint32_t lines) {
  const bench_table *t = s->table;
  uint32_t total = INDENT - GAP;
  s->count = 0;
  for (uint32_t c = 0; c < t->column_count; c++) {
    if (!bench_has_column(s->bench, &t->columns[c])) continue;
    s->columns[s->count] = c;
    s->widths[s->count] = width_of(t, c, lines);
    total += s->widths[s->count++] + GAP;
  }
  return total;
}

/* Titles have no more lines than the width of the terminal asks for. */
static void measure(sheet *s, const bench *b, const bench_table *t) {
  *s = (sheet){.bench = b, .table = t};
  for (uint32_t lines = 1; lines <= MOST_LINES; lines++)
    if (measure_lines(s, lines) <= REPORT_COLUMNS) return;
}

/* ---- A part of a table, as wide as the terminal -------------------------- */

typedef struct part {
  uint32_t columns[BENCH_MOST_COLUMNS]; /* of the sheet */
  uint32_t count, lines;
} part;

/* How many columns say what a row is of: words at the beginning. */
static uint32_t count_names(const sheet *s) {
  uint32_t count = 1, total = s->widths[0];
  while (count < s->count &&
         s->table->columns[s->columns[count]].kind == BENCH_WORDS) {
    total += GAP + s->widths[count];
    if (total > MOST_NAMES) break;
    count++;
  }
  return count;
}

/* The names, and as many columns as fit from `next` on, which it moves; one at
   least. */
static void take_part(part *p, const sheet *s, uint32_t *next) {
  const uint32_t names = count_names(s);
  uint32_t total = INDENT - GAP;
  *p = (part){0};
  while (p->count < names) {
    total += GAP + s->widths[p->count];
    p->columns[p->count] = p->count;
    p->count++;
  }
  if (*next < names) *next = names;
  while (
      *next < s->count &&
      (total + GAP + s->widths[*next] <= REPORT_COLUMNS || p->count == names)) {
    total += GAP + s->widths[*next];
    p->columns[p->count++] = (*next)++;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    const uint32_t c = p->columns[i];
    const char *title = s->table->columns[s->columns[c]].title;
    const uint32_t lines = count_lines(title, s->widths[c]);
    if (lines > p->lines) p->lines = lines;
  }
}

/* Line number `line` of `lines`; short titles stand at the bottom. */
static void add_title(report_table *out, const char *title, uint32_t width,
                      uint32_t line, uint32_t lines) {
  const uint32_t own = count_lines(title, width), above = lines - own;
  size_t length = 0;
  const char *rest = title, *begin = title;
  for (uint32_t i = above; i <= line; i++) {
    begin = rest;
    length = take_line(&rest, width);
  }
  report_table_cell(out, "%.*s", line < above ? 0 : (int)length, begin);
}

static void add_titles(report_table *out, const sheet *s, const part *p) {
  for (uint32_t line = 0; line < p->lines; line++)
    for (uint32_t i = 0; i < p->count; i++) {
      const uint32_t c = p->columns[i];
      add_title(out, s->table->columns[s->columns[c]].title, s->widths[c], line,
                p->lines);
    }
}

static void add_rows(report_table *out, const sheet *s, const part *p) {
  report_digits digits;
  for (uint32_t row = 0; row < bench_row_count(s->table); row++)
    for (uint32_t i = 0; i < p->count; i++) {
      const uint32_t c = s->columns[p->columns[i]];
      report_table_name(out, shown(&digits, &s->table->columns[c],
                                   bench_cell_at(s->table, row, c)));
    }
}

static calm_status write_part(text *out, const sheet *s, const part *p,
                              bool color) {
  report_column columns[BENCH_MOST_COLUMNS];
  report_table table;
  for (uint32_t i = 0; i < p->count; i++) {
    const uint32_t c = s->columns[p->columns[i]];
    columns[i] = (report_column){NULL, s->table->columns[c].kind == BENCH_WORDS
                                           ? COLUMN_NAME
                                           : COLUMN_NUMBER};
  }
  report_table_init(&table, out->context, columns, p->count);
  table.title_rows = p->lines;
  add_titles(&table, s, p);
  add_rows(&table, s, p);
  return report_table_finish(&table, out, color);
}

static calm_status write_table(text *out, const bench *b, const bench_table *t,
                               bool color) {
  sheet s;
  part p;
  uint32_t next = 0;
  text_format(out, "\n");
  TRY(report_wrapped(out, t->title, INDENT, 0));
  measure(&s, b, t);
  do {
    text_format(out, "\n");
    take_part(&p, &s, &next);
    TRY(write_part(out, &s, &p, color));
  } while (next < s.count);
  for (uint32_t i = 0; i < t->notes.count; i++) {
    text_format(out, "\n");
    TRY(report_wrapped(out, t->notes.data[i], INDENT, 0));
  }
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status write_section(text *out, const bench *b,
                                 const bench_section *s, bool color) {
  text_format(out, "\n%s%s%s: %s\n", report_tone_begin(TONE_TITLE, color),
              s->name, report_tone_end(color), s->title);
  for (uint32_t i = 0; i < b->tables.count; i++)
    if (b->tables.data[i]->section == s)
      TRY(write_table(out, b, b->tables.data[i], color));
  return CALM_OK;
}

calm_status bench_write_terminal(text *out, const calm_benchmark *m,
                                 bool color) {
  TRY(report_heading(out, m->paper->title, color));
  for (const bench_section *s = m->paper->sections; s->name; s++)
    if (bench_has_section(&m->run, s))
      TRY(write_section(out, &m->run, s, color));
  return CALM_OK;
}
