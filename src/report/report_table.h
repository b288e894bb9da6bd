/*
 * Tables for people: aligned columns, at most 100 wide.  Cells are added row by
 * row; what does not fit is taken from the columns of names, whose middles are
 * shortened.  Failure to grow is remembered and reported once, by
 * report_table_finish, so that writers read as a list of what they write.
 */
#ifndef CALM_REPORT_REPORT_TABLE_H
#define CALM_REPORT_REPORT_TABLE_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vector.h"

enum { REPORT_COLUMNS = 100 };

typedef enum report_kind {
  COLUMN_WORDS,  /* to the left */
  COLUMN_NUMBER, /* to the right */
  COLUMN_NAME,   /* to the left, shortened where the table is too wide */
  COLUMN_LATE,   /* likewise, but only once no name can be any shorter */
  COLUMN_SPARE   /* a number that is left out where the table is too wide */
} report_kind;

typedef struct report_column {
  const char *title; /* NULL in the first one: no line of titles */
  report_kind kind;
} report_column;

typedef struct report_table {
  arena scratch;
  const report_column *columns;
  uint32_t column_count;
  VECTOR(const char *) cells; /* row after row */
  uint32_t title_rows;        /* the first ones, where columns have no title */
  bool failed;
} report_table;

void report_table_init(report_table *t, calm_context *context,
                       const report_column *columns, uint32_t column_count);

/* The next cell. */
void report_table_cell(report_table *t, const char *format, ...)
    PRINTF_LIKE(2, 3);
void report_table_number(report_table *t, uint64_t n); /* 301,056 */
void report_table_name(report_table *t, const char *name);

/* Append the table to `out`, each line two columns in, and free it. */
calm_status report_table_finish(report_table *t, text *out, bool color);

/* A paragraph whose lines begin at column `indent`, the first one where the
   line already stands if that is not its beginning; words that are longer than
   a line are shortened. */
calm_status report_wrapped(text *out, const char *words, uint32_t indent,
                           uint32_t column);

/* The same of words that were put together for it; frees them. */
calm_status report_wrapped_text(text *out, text *words, uint32_t indent,
                                uint32_t column);

/* Likewise; the first line begins at column 2, the others at 4. */
calm_status report_hanging_text(text *out, text *words);

/* A paragraph of items that are not divided although there are spaces in them,
   such as "W Weights,".  `column` is where the line stands. */
typedef struct report_paragraph {
  text *out;
  uint32_t indent, column;
  bool begun; /* it has an item */
} report_paragraph;

/* The next item; frees it. */
calm_status report_paragraph_add(report_paragraph *p, text *item);

/* How a piece of text is meant; shown only in colour. */
typedef enum report_tone {
  TONE_TITLE,
  TONE_GOOD,
  TONE_OPEN,
  TONE_BAD,
  TONE_FAINT
} report_tone;

/* The escape sequence that begins a tone, and the one that ends it; empty
   without colour. */
const char *report_tone_begin(report_tone tone, bool color);
const char *report_tone_end(bool color);

#endif
