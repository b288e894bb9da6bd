/*
 * A reader and a writer for the CSV that packing tools exchange.  Rows become
 * bodies, rows of one group one body.
 */
#include "layout/layout_csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "layout/layout_csv_lines.h"

typedef enum column {
  ID,
  LOWER,
  UPPER,
  SIZE,
  OFFSET,
  ALIGNMENT,
  GROUP,
  COLUMN_COUNT
} column;

static const char *const column_names[COLUMN_COUNT] = {
    "id", "lower", "upper", "size", "offset", "alignment", "group"};

enum { REQUIRED = SIZE + 1 };

typedef struct row {
  const char *id;
  int64_t lower, upper;
  uint64_t size, offset, align;
  bool fixed;
  uint32_t body;
  uint32_t line, column; /* of the offset */
} row;

typedef VECTOR(row) row_vector;
typedef VECTOR(layout_body) body_vector;

typedef struct reader {
  calm_context *context;
  arena *arena;
  csv_lines lines;
  uint32_t columns;             /* in the header */
  uint32_t where[COLUMN_COUNT]; /* its index in a line, or CALM_NONE */
  row_vector rows;
  body_vector bodies;
  VECTOR(uint32_t) fixed_by; /* per body: the row that fixed it, or CALM_NONE */
  name_table ids, groups;
} reader;

#define FAIL(r, f, ...) CSV_FAIL(&(r)->lines, f, __VA_ARGS__)

/* ---- Header -------------------------------------------------------------- */

static bool field_is(const csv_field *f, const char *text) {
  return f->length == strlen(text) && !memcmp(f->bytes, text, f->length);
}

static calm_status read_column(reader *r, uint32_t index) {
  const csv_field *f = &r->lines.fields.data[index];
  for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
    if (!field_is(f, column_names[c])) continue;
    if (r->where[c] != CALM_NONE)
      return FAIL(r, f, "column '%s' occurs twice; expected once",
                  column_names[c]);
    r->where[c] = index;
    return CALM_OK;
  }
  context_log(r->context, CALM_LOG_WARNING,
              "%s:%" PRIu32 ":%" PRIu32 ": column '%.*s' is ignored",
              r->lines.path, f->line, f->column, CSV_SHOWN(f));
  return CALM_OK;
}

static calm_status read_header(reader *r) {
  TRY(csv_read_line(&r->lines));
  csv_field start = {NULL, 0, 1, 1};
  if (r->lines.fields.count) start = r->lines.fields.data[0];
  r->columns = r->lines.fields.count;
  for (uint32_t c = 0; c < COLUMN_COUNT; c++) r->where[c] = CALM_NONE;
  for (uint32_t i = 0; i < r->columns; i++) TRY(read_column(r, i));
  for (uint32_t c = 0; c < REQUIRED; c++)
    if (r->where[c] == CALM_NONE)
      return FAIL(r, &start,
                  "column '%s' is missing; expected a header with "
                  "id,lower,upper,size",
                  column_names[c]);
  return CALM_OK;
}

/* ---- Rows ---------------------------------------------------------------- */

/* The field of a column in the current line; NULL if it is empty or the file
   has no such column. */
static const csv_field *field_of(const reader *r, column c) {
  if (r->where[c] == CALM_NONE) return NULL;
  const csv_field *f = &r->lines.fields.data[r->where[c]];
  return f->length ? f : NULL;
}

static calm_status missing(const reader *r, column c) {
  return FAIL(r, &r->lines.fields.data[r->where[c]],
              "%s is empty; expected a value", column_names[c]);
}

static calm_status read_bytes(const reader *r, column c, uint64_t *out) {
  const csv_field *f = field_of(r, c);
  if (!f) return missing(r, c);
  if (!number_parse(out, f->bytes, f->length))
    return FAIL(r, f, "%s '%.*s' is not a whole number of bytes below 2^64",
                column_names[c], CSV_SHOWN(f));
  if (*out > NUMBER_MAX_BYTES)
    return FAIL(r, f, "%s %" PRIu64 " is too large; expected at most 2^62",
                column_names[c], *out);
  return CALM_OK;
}

static calm_status read_step(const reader *r, column c, int64_t *out) {
  const csv_field *f = field_of(r, c);
  uint64_t magnitude, most = INT64_MAX;
  if (!f) return missing(r, c);
  bool negative = f->bytes[0] == '-';
  if (negative) most++;
  if (!number_parse(&magnitude, f->bytes + negative, f->length - negative) ||
      magnitude > most)
    return FAIL(r, f, "%s '%.*s' is not a whole number of 64 bits",
                column_names[c], CSV_SHOWN(f));
  *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return CALM_OK;
}

static calm_status read_id(reader *r, row *out) {
  const csv_field *f = field_of(r, ID);
  if (!f) return missing(r, ID);
  out->id = arena_string(r->arena, f->bytes, f->length);
  if (!out->id) return context_no_memory(r->context);
  if (name_table_find(&r->ids, out->id) != CALM_NONE)
    return FAIL(r, f, "id '%.*s' occurs twice; ids must differ", CSV_SHOWN(f));
  return name_table_add(&r->ids, out->id, r->rows.count);
}

static calm_status read_lifetime(reader *r, row *out) {
  TRY(read_step(r, LOWER, &out->lower));
  TRY(read_step(r, UPPER, &out->upper));
  if (out->upper < out->lower)
    return FAIL(r, field_of(r, UPPER),
                "upper %" PRId64 " is before lower %" PRId64
                "; expected at least lower",
                out->upper, out->lower);
  return CALM_OK;
}

static calm_status read_alignment(reader *r, row *out) {
  out->align = 1;
  if (!field_of(r, ALIGNMENT)) return CALM_OK;
  TRY(read_bytes(r, ALIGNMENT, &out->align));
  if (out->align == 0)
    return FAIL(r, field_of(r, ALIGNMENT),
                "alignment 0 means nothing; expected at least %d", 1);
  return CALM_OK;
}

static calm_status read_offset(reader *r, row *out) {
  const csv_field *f = field_of(r, OFFSET);
  uint64_t end;
  if (!f) return CALM_OK;
  out->fixed = true;
  out->line = f->line;
  out->column = f->column;
  TRY(read_bytes(r, OFFSET, &out->offset));
  if (!number_add(&end, out->offset, out->size))
    return FAIL(r, f,
                "offset %" PRIu64 " and size %" PRIu64
                " add up to more than 2^62",
                out->offset, out->size);
  return CALM_OK;
}

/* ---- Rows to bodies ------------------------------------------------------ */

static calm_status add_body(reader *r, uint32_t *out) {
  *out = r->bodies.count;
  VECTOR_PUSH(r->context, &r->bodies, (layout_body){.align = 1});
  VECTOR_PUSH(r->context, &r->fixed_by, CALM_NONE);
  return CALM_OK;
}

static calm_status find_body(reader *r, uint32_t *out) {
  const csv_field *f = field_of(r, GROUP);
  if (!f) return add_body(r, out);
  const char *name = arena_string(r->arena, f->bytes, f->length);
  if (!name) return context_no_memory(r->context);
  *out = name_table_find(&r->groups, name);
  if (*out != CALM_NONE) return CALM_OK;
  TRY(add_body(r, out));
  return name_table_add(&r->groups, name, *out);
}

/* An offset of a group is a multiple of every member's alignment. */
static calm_status join_alignment(reader *r, const row *new_row) {
  layout_body *body = &r->bodies.data[new_row->body];
  uint64_t common = number_gcd(body->align, new_row->align);
  if (!number_multiply(&body->align, body->align, new_row->align / common))
    return FAIL(r, field_of(r, ALIGNMENT),
                "the common multiple of the alignments of this group, with "
                "%" PRIu64 ", is beyond 2^62",
                new_row->align);
  return CALM_OK;
}

static calm_status join_offset(reader *r, const row *new_row) {
  layout_body *body = &r->bodies.data[new_row->body];
  if (!new_row->fixed) return CALM_OK;
  if (body->fixed && body->offset != new_row->offset)
    return FAIL(r, new_row,
                "offset %" PRIu64 " differs from %" PRIu64
                " of '%s' in the same group",
                new_row->offset, body->offset,
                r->rows.data[r->fixed_by.data[new_row->body]].id);
  if (!body->fixed) r->fixed_by.data[new_row->body] = r->rows.count;
  body->fixed = true;
  body->offset = new_row->offset;
  return CALM_OK;
}

static calm_status read_row(reader *r) {
  row new_row = {0};
  if (r->lines.fields.count != r->columns)
    return FAIL(r, &r->lines.fields.data[r->lines.fields.count - 1],
                "row has %" PRIu32 " fields; expected %" PRIu32
                " as in the header",
                r->lines.fields.count, r->columns);
  TRY(read_id(r, &new_row));
  TRY(read_lifetime(r, &new_row));
  TRY(read_bytes(r, SIZE, &new_row.size));
  TRY(read_alignment(r, &new_row));
  TRY(read_offset(r, &new_row));
  TRY(find_body(r, &new_row.body));
  TRY(join_alignment(r, &new_row));
  TRY(join_offset(r, &new_row));
  VECTOR_PUSH(r->context, &r->rows, new_row);
  return CALM_OK;
}

static calm_status check_fixed_alignment(const reader *r) {
  for (uint32_t b = 0; b < r->bodies.count; b++) {
    const layout_body *body = &r->bodies.data[b];
    if (body->fixed && body->offset % body->align)
      return FAIL(r, &r->rows.data[r->fixed_by.data[b]],
                  "offset %" PRIu64
                  " is not a multiple of the alignment %" PRIu64,
                  body->offset, body->align);
  }
  return CALM_OK;
}

/* ---- Result -------------------------------------------------------------- */

/* Pieces sorted by body: count, sum up, put in place. */
static calm_status fill_pieces(layout_problem *p, const reader *r, arena *a) {
  uint32_t *next;
  ARENA_ARRAY(a, next, (size_t)p->body_count + 1);
  ARENA_ARRAY(a, p->pieces, p->piece_count);
  for (uint32_t i = 0; i < r->rows.count; i++) next[r->rows.data[i].body + 1]++;
  for (uint32_t b = 0; b < p->body_count; b++) next[b + 1] += next[b];
  for (uint32_t i = 0; i < r->rows.count; i++) {
    const row *w = &r->rows.data[i];
    p->pieces[next[w->body]++] =
        (layout_piece){w->body, w->lower, w->upper, 0, w->size};
  }
  return layout_problem_finish(p, a);
}

static calm_status fill_rows(layout_csv *csv, const reader *r, arena *a) {
  ARENA_ARRAY(a, csv->ids, r->rows.count);
  ARENA_ARRAY(a, csv->lower, r->rows.count);
  ARENA_ARRAY(a, csv->upper, r->rows.count);
  ARENA_ARRAY(a, csv->size, r->rows.count);
  ARENA_ARRAY(a, csv->body_of, r->rows.count);
  ARENA_ARRAY(a, csv->problem.names, r->bodies.count);
  csv->row_count = r->rows.count;
  for (uint32_t i = 0; i < r->rows.count; i++) {
    const row *w = &r->rows.data[i];
    csv->ids[i] = w->id;
    csv->lower[i] = w->lower;
    csv->upper[i] = w->upper;
    csv->size[i] = w->size;
    csv->body_of[i] = w->body;
    if (!csv->problem.names[w->body]) csv->problem.names[w->body] = w->id;
  }
  return CALM_OK;
}

static calm_status fill(layout_csv *csv, const reader *r, arena *a) {
  layout_problem *p = &csv->problem;
  *csv = (layout_csv){0};
  p->body_count = r->bodies.count;
  p->piece_count = r->rows.count;
  ARENA_ARRAY(a, p->bodies, p->body_count);
  for (uint32_t b = 0; b < p->body_count; b++) p->bodies[b] = r->bodies.data[b];
  TRY(fill_rows(csv, r, a));
  return fill_pieces(p, r, a);
}

static calm_status read_all(layout_csv *csv, reader *r) {
  TRY(read_header(r));
  for (;;) {
    TRY(csv_read_line(&r->lines));
    if (r->lines.fields.count == 0) break;
    TRY(read_row(r));
  }
  TRY(check_fixed_alignment(r));
  return fill(csv, r, r->arena);
}

calm_status layout_csv_read(layout_csv *out, arena *a, const char *path,
                            const char *bytes, size_t length) {
  layout_csv csv;
  reader r = {.context = a->context,
              .arena = a,
              .lines = csv_lines_begin(a, path, bytes, length)};
  name_table_init(&r.ids, a->context);
  name_table_init(&r.groups, a->context);
  calm_status status = read_all(&csv, &r);
  if (status == CALM_OK) *out = csv;
  csv_lines_free(&r.lines);
  VECTOR_FREE(a->context, &r.rows);
  VECTOR_FREE(a->context, &r.bodies);
  VECTOR_FREE(a->context, &r.fixed_by);
  name_table_free(&r.ids);
  name_table_free(&r.groups);
  return status;
}

/* ---- Writing ------------------------------------------------------------- */

void layout_csv_write_header(text *out) {
  text_format(out, "id,lower,upper,size,offset\n");
}

static bool needs_quotes(const char *id) {
  size_t length = strlen(id);
  return strpbrk(id, ",\"") || length == 0 || strchr(" \t", id[0]) ||
         strchr(" \t", id[length - 1]);
}

static void write_letter(text *out, char letter) {
  switch (letter) {
    case '"': text_add(out, "\"\"", 2); return;
    case '\n': text_add(out, "\\n", 2); return;
    case '\r': text_add(out, "\\r", 2); return;
    default: text_add(out, &letter, 1);
  }
}

static void write_id(text *out, const char *id) {
  const size_t quotes = needs_quotes(id);
  text_add(out, "\"", quotes);
  for (; *id; id++) write_letter(out, *id);
  text_add(out, "\"", quotes);
}

static void write_fields(text *out, const char *id, int64_t lower,
                         int64_t upper, uint64_t size, uint64_t offset) {
  write_id(out, id);
  text_format(out, ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64, lower,
              upper, size, offset);
}

void layout_csv_write_row(text *out, const char *id, int64_t lower,
                          int64_t upper, uint64_t size, uint64_t offset) {
  write_fields(out, id, lower, upper, size, offset);
  text_add(out, "\n", 1);
}

/* Rows of one body may overlap: without their group the file would contradict
   itself.  Groups are numbered. */
void layout_csv_write(text *out, const layout_csv *csv,
                      const uint64_t *offsets) {
  const bool grouped = csv->row_count > csv->problem.body_count;
  text_format(out, "id,lower,upper,size,offset%s\n", grouped ? ",group" : "");
  for (uint32_t i = 0; i < csv->row_count; i++) {
    const uint32_t body = csv->body_of[i];
    write_fields(out, csv->ids[i], csv->lower[i], csv->upper[i], csv->size[i],
                 offsets[body]);
    if (grouped) text_format(out, ",%" PRIu32, body);
    text_add(out, "\n", 1);
  }
}
