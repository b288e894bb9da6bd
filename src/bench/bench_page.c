/* A run as a page of Markdown, whose figures lie beside it. */
#include <string.h>

#include "bench/bench_output.h"

/* Words as they are: nothing in them is a sign of Markdown. */
static void add_words(text *out, const char *words) {
  for (; *words; words++) {
    if (strchr("\\`*_<>[]|#", *words)) text_add(out, "\\", 1);
    text_add(out, *words == '\n' ? " " : words, 1);
  }
}

static bool is_number(const bench_column *column) {
  return column->kind != BENCH_WORDS;
}

static void add_cell(text *out, const bench_column *column,
                     const bench_cell *cell) {
  text_format(out, " ");
  if (cell->words)
    add_words(out, cell->words);
  else
    text_format(out, "%s", bench_shown(column->kind, cell->number).text);
  text_format(out, " |");
}

static void add_titles(text *out, const bench *b, const bench_table *t) {
  text_format(out, "|");
  for (uint32_t c = 0; c < t->column_count; c++) {
    if (!bench_has_column(b, &t->columns[c])) continue;
    text_format(out, " ");
    add_words(out, t->columns[c].title);
    text_format(out, " |");
  }
  text_format(out, "\n|");
  for (uint32_t c = 0; c < t->column_count; c++)
    if (bench_has_column(b, &t->columns[c]))
      text_format(out, is_number(&t->columns[c]) ? "---:|" : "---|");
  text_format(out, "\n");
}

static void add_table(text *out, const bench *b, const bench_table *t) {
  text_format(out, "\n**");
  add_words(out, t->title);
  text_format(out, "** ([%s.csv](%s.csv))\n\n", t->name, t->name);
  add_titles(out, b, t);
  for (uint32_t row = 0; row < bench_row_count(t); row++) {
    text_format(out, "|");
    for (uint32_t c = 0; c < t->column_count; c++)
      if (bench_has_column(b, &t->columns[c]))
        add_cell(out, &t->columns[c], bench_cell_at(t, row, c));
    text_format(out, "\n");
  }
  for (uint32_t i = 0; i < t->notes.count; i++)
    text_format(out, "\n%s\n", t->notes.data[i]);
}

static void add_section(text *out, const bench *b, const bench_section *s) {
  text_format(out, "\n## ");
  add_words(out, s->title);
  text_format(out, "\n");
  for (uint32_t i = 0; i < b->figures.count; i++) {
    const bench_figure *f = &b->figures.data[i];
    if (f->section != s) continue;
    text_format(out, "\n![");
    add_words(out, f->title);
    text_format(out, "](%s.svg)\n", f->name);
  }
  for (uint32_t i = 0; i < b->tables.count; i++)
    if (b->tables.data[i]->section == s) add_table(out, b, b->tables.data[i]);
}

static bool has_kilobytes(const bench *b) {
  for (uint32_t i = 0; i < b->tables.count; i++)
    for (uint32_t c = 0; c < b->tables.data[i]->column_count; c++)
      if (b->tables.data[i]->columns[c].kind == BENCH_KB) return true;
  return false;
}

calm_status bench_write_page(text *out, const calm_benchmark *m) {
  text_format(out, "# ");
  add_words(out, m->paper->title);
  text_format(
      out, "\n\nMade by `calm bench %s`. %sThe CSV files have %sall digits.\n",
      m->paper->name, has_kilobytes(&m->run) ? "KB are 1000 bytes. " : "",
      has_kilobytes(&m->run) ? "bytes, and " : "");
  if (m->run.missing) text_format(out, "\nLeft out: %s.\n", m->run.missing);
  for (const bench_section *s = m->paper->sections; s->name; s++)
    if (bench_has_section(&m->run, s)) add_section(out, &m->run, s);
  if (m->paper->check)
    text_format(out, "\n## Checking\n\n%s\n", m->paper->check);
  return CALM_OK;
}
