/* A run as JSON: calm/bench/1 of docs/json.md. */
#include "bench/bench_output.h"
#include "report/report_json.h"

static const char *const kinds[] = {"words", "count",  "bytes",  "ratio",
                                    "share", "number", "seconds"};

static json_t *column_of(arena *scratch, const bench_column *column) {
  json_t *object = json_object();
  object = report_json_member(object, "name",
                              report_json_name(scratch, column->name));
  object = report_json_member(object, "title",
                              report_json_name(scratch, column->title));
  return report_json_member(object, "kind", json_string(kinds[column->kind]));
}

static json_t *columns_of(arena *scratch, const bench *b,
                          const bench_table *t) {
  json_t *list = json_array();
  for (uint32_t c = 0; c < t->column_count; c++)
    if (bench_has_column(b, &t->columns[c]))
      list = report_json_append(list, column_of(scratch, &t->columns[c]));
  return list;
}

static json_t *value_of(arena *scratch, const bench_cell *cell) {
  return cell->words ? report_json_name(scratch, cell->words)
                     : report_json_count(cell->number);
}

static json_t *row_of(arena *scratch, const bench *b, const bench_table *t,
                      uint32_t row) {
  json_t *object = json_object();
  for (uint32_t c = 0; c < t->column_count; c++)
    if (bench_has_column(b, &t->columns[c]))
      object = report_json_member(object, t->columns[c].name,
                                  value_of(scratch, bench_cell_at(t, row, c)));
  return object;
}

static json_t *rows_of(arena *scratch, const bench *b, const bench_table *t) {
  json_t *list = json_array();
  for (uint32_t row = 0; row < bench_row_count(t); row++)
    list = report_json_append(list, row_of(scratch, b, t, row));
  return list;
}

static json_t *notes_of(arena *scratch, const bench_table *t) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < t->notes.count; i++)
    list =
        report_json_append(list, report_json_name(scratch, t->notes.data[i]));
  return list;
}

static json_t *table_of(arena *scratch, const bench *b, const bench_table *t) {
  json_t *object = json_object();
  object =
      report_json_member(object, "name", report_json_name(scratch, t->name));
  object =
      report_json_member(object, "title", report_json_name(scratch, t->title));
  object = report_json_member(object, "columns", columns_of(scratch, b, t));
  object = report_json_member(object, "rows", rows_of(scratch, b, t));
  return report_json_member(object, "notes", notes_of(scratch, t));
}

static json_t *figure_of(arena *scratch, const bench_figure *f) {
  json_t *object = json_object();
  object =
      report_json_member(object, "name", report_json_name(scratch, f->name));
  return report_json_member(object, "title",
                            report_json_name(scratch, f->title));
}

static json_t *section_of(arena *scratch, const bench *b,
                          const bench_section *s) {
  json_t *object = json_object(), *tables = json_array(),
         *figures = json_array();
  for (uint32_t i = 0; i < b->tables.count; i++)
    if (b->tables.data[i]->section == s)
      tables =
          report_json_append(tables, table_of(scratch, b, b->tables.data[i]));
  for (uint32_t i = 0; i < b->figures.count; i++)
    if (b->figures.data[i].section == s)
      figures =
          report_json_append(figures, figure_of(scratch, &b->figures.data[i]));
  object =
      report_json_member(object, "name", report_json_name(scratch, s->name));
  object =
      report_json_member(object, "title", report_json_name(scratch, s->title));
  object = report_json_member(object, "tables", tables);
  return report_json_member(object, "figures", figures);
}

static json_t *sections_of(arena *scratch, const calm_benchmark *m) {
  json_t *list = json_array();
  for (const bench_section *s = m->paper->sections; s->name; s++)
    if (bench_has_section(&m->run, s))
      list = report_json_append(list, section_of(scratch, &m->run, s));
  return list;
}

calm_status bench_write_json(text *out, const calm_benchmark *m) {
  arena scratch;
  arena_init(&scratch, m->context);
  json_t *root = json_object();
  root = report_json_member(root, "schema", json_string("calm/bench/1"));
  root = report_json_member(root, "paper", json_string(m->paper->name));
  root = report_json_member(root, "title", json_string(m->paper->title));
  root = report_json_member(root, "missing",
                            report_json_name(&scratch, m->run.missing));
  root = report_json_member(root, "sections", sections_of(&scratch, m));
  const calm_status status = report_json_write(out, root);
  arena_free(&scratch);
  return status;
}
