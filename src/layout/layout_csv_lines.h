/*
 * CSV as lines of fields, each with the place it came from: quotes undone,
 * blanks around a field dropped, blank lines passed over, LF and CRLF alike.
 */
#ifndef CALM_LAYOUT_LAYOUT_CSV_LINES_H
#define CALM_LAYOUT_LAYOUT_CSV_LINES_H

#include <inttypes.h>

#include "base/arena.h"
#include "base/vector.h"

typedef struct csv_field {
  const char *bytes; /* without quotes and surrounding blanks */
  size_t length;
  uint32_t line, column; /* from 1 */
} csv_field;

typedef struct csv_lines {
  calm_context *context;
  arena *arena;
  const char *path;
  const char *next, *end, *line_begin;
  uint32_t line;
  VECTOR(csv_field) fields; /* of the current line */
} csv_lines;

/* A byte order mark is no text. */
csv_lines csv_lines_begin(arena *a, const char *path, const char *bytes,
                          size_t length);
void csv_lines_free(csv_lines *c);

/* Read the fields of the next line that is not blank; none at the end. */
calm_status csv_read_line(csv_lines *c);

/* Fail at a field, or at anything else that has a line and a column. */
#define CSV_FAIL(c, f, format, ...)                                         \
  context_fail((c)->context, CALM_BAD_INPUT,                                \
               "%s:%" PRIu32 ":%" PRIu32 ": " format, (c)->path, (f)->line, \
               (f)->column, __VA_ARGS__)

/* Fields in messages are cut to a readable length. */
#define CSV_SHOWN(f) (int)((f)->length < 40 ? (f)->length : 40), (f)->bytes

#endif
