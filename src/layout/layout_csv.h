/*
 * Layout problems as CSV, in the columns of MiniMalloc: id, lower, upper, size,
 * and optionally offset (fixed), alignment and group (equal group, equal
 * offset), found by their header.  LF and CRLF are accepted.
 */
#ifndef CALM_LAYOUT_LAYOUT_CSV_H
#define CALM_LAYOUT_LAYOUT_CSV_H

#include "base/text.h"
#include "layout/layout.h"

typedef struct layout_csv {
  layout_problem problem;
  uint32_t row_count;
  const char **ids; /* per row, as written */
  int64_t *lower, *upper;
  uint64_t *size;
  uint32_t *body_of; /* row -> body */
} layout_csv;

/* Parse.  Messages read "PATH:LINE:COLUMN: what". */
calm_status layout_csv_read(layout_csv *out, arena *a, const char *path,
                            const char *bytes, size_t length);

/* The header "id,lower,upper,size,offset", one row.  Line ends in an id are
   written \n and \r, for a row is a line. */
void layout_csv_write_header(text *out);
void layout_csv_write_row(text *out, const char *id, int64_t lower,
                          int64_t upper, uint64_t size, uint64_t offset);

/* All rows of a file that was read, with their offsets (per body), and with the
   column "group" if there are any. */
void layout_csv_write(text *out, const layout_csv *csv,
                      const uint64_t *offsets);

#endif
