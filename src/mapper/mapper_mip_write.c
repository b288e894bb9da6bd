/*
 * A program as an MPS file: the sections ROWS, COLUMNS, RHS, RANGES and BOUNDS,
 * names and numbers apart by spaces.  A row between two limits is one that is
 * at least the lower, with a range.  The constant of the objective stands as
 * its right-hand side with the other sign, as is the custom.
 */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "mapper/mapper_mip.h"

static const char objective_name[] = "OBJECTIVE";

static char type_of(const mapper_mip_row *row) {
  if (row->lower == row->upper) return 'E';
  return row->lower == -HUGE_VAL ? 'L' : 'G';
}

static void write_rows(text *t, const mapper_mip *m) {
  text_format(t, "ROWS\n N %s\n", objective_name);
  for (uint32_t r = 0; r < m->rows.count; r++)
    text_format(t, " %c %s\n", type_of(&m->rows.data[r]), m->rows.data[r].name);
}

/* ---- Columns ------------------------------------------------------------- */

/* The terms of all rows, sorted by column. */
typedef struct by_column {
  uint32_t *first; /* per column, and the end of the last */
  uint32_t *rows;
  double *values;
} by_column;

static calm_status sort_terms(by_column *out, const mapper_mip *m, arena *a) {
  uint32_t *next;
  ARENA_ARRAY(a, out->first, m->columns.count + 1);
  ARENA_ARRAY(a, next, m->columns.count + 1);
  ARENA_ARRAY(a, out->rows, m->terms.count);
  ARENA_ARRAY(a, out->values, m->terms.count);
  for (uint32_t i = 0; i < m->terms.count; i++)
    out->first[m->terms.data[i].column + 1]++;
  for (uint32_t c = 0; c < m->columns.count; c++)
    next[c + 1] = out->first[c + 1] += out->first[c];
  for (uint32_t r = 0; r < m->rows.count; r++)
    for (uint32_t i = m->rows.data[r].first; i < mapper_mip_row_end(m, r);
         i++) {
      const mapper_mip_term *term = &m->terms.data[i];
      const uint32_t at = next[term->column]++;
      out->rows[at] = r;
      out->values[at] = term->value;
    }
  return CALM_OK;
}

static void write_column(text *t, const mapper_mip *m, const by_column *by,
                         uint32_t c) {
  const char *name = m->columns.data[c].name;
  if (m->objective.of[c] != 0 || by->first[c] == by->first[c + 1])
    text_format(t, " %s %s %.17g\n", name, objective_name, m->objective.of[c]);
  for (uint32_t i = by->first[c]; i < by->first[c + 1]; i++)
    text_format(t, " %s %s %.17g\n", name, m->rows.data[by->rows[i]].name,
                by->values[i]);
}

/* Integer columns stand between two markers. */
static void write_columns(text *t, const mapper_mip *m, const by_column *by) {
  bool integer = false;
  uint32_t markers = 0;
  text_format(t, "COLUMNS\n");
  for (uint32_t c = 0; c <= m->columns.count; c++) {
    const bool now = c < m->columns.count && m->columns.data[c].integer;
    if (now != integer)
      text_format(t, " MARKER%u 'MARKER' '%s'\n", markers++,
                  now ? "INTORG" : "INTEND");
    integer = now;
    if (c < m->columns.count) write_column(t, m, by, c);
  }
}

/* ---- Limits -------------------------------------------------------------- */

static void write_sides(text *t, const mapper_mip *m) {
  text_format(t, "RHS\n");
  if (m->objective.constant != 0)
    text_format(t, " RHS %s %.17g\n", objective_name, -m->objective.constant);
  for (uint32_t r = 0; r < m->rows.count; r++) {
    const mapper_mip_row *row = &m->rows.data[r];
    const double side = type_of(row) == 'L' ? row->upper : row->lower;
    if (side != 0) text_format(t, " RHS %s %.17g\n", row->name, side);
  }
  text_format(t, "RANGES\n");
  for (uint32_t r = 0; r < m->rows.count; r++) {
    const mapper_mip_row *row = &m->rows.data[r];
    if (type_of(row) == 'G' && row->upper < HUGE_VAL)
      text_format(t, " RANGE %s %.17g\n", row->name, row->upper - row->lower);
  }
}

/* An upper bound that is not there has to be said of integers: some readers
   take 1. */
static void write_bounds(text *t, const mapper_mip *m) {
  text_format(t, "BOUNDS\n");
  for (uint32_t i = 0; i < m->columns.count; i++) {
    const mapper_mip_column *c = &m->columns.data[i];
    if (c->lower == -HUGE_VAL)
      text_format(t, " MI BOUND %s\n", c->name);
    else
      text_format(t, " LO BOUND %s %.17g\n", c->name, c->lower);
    if (c->upper < HUGE_VAL)
      text_format(t, " UP BOUND %s %.17g\n", c->name, c->upper);
    else if (c->integer)
      text_format(t, " PL BOUND %s\n", c->name);
  }
}

static calm_status write_text(const text *t, const char *path) {
  return file_write(t->context, path, t->data, t->length);
}

calm_status mapper_mip_write(const mapper_mip *m, const char *path) {
  arena scratch;
  by_column by;
  text t;
  arena_init(&scratch, m->context);
  text_init(&t, m->context);
  calm_status status = sort_terms(&by, m, &scratch);
  if (status == CALM_OK) {
    text_format(&t, "NAME calm\n");
    write_rows(&t, m);
    write_columns(&t, m, &by);
    write_sides(&t, m);
    write_bounds(&t, m);
    text_format(&t, "ENDATA\n");
    status = t.failed ? context_no_memory(m->context) : write_text(&t, path);
  }
  text_free(&t);
  arena_free(&scratch);
  return status;
}
