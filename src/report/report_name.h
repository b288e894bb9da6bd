/*
 * Names and numbers as a report may show them.  Names come from files: they may
 * be long, hold control characters, or not be text at all.  What is not valid
 * UTF-8 is spelled \xHH, so that JSON stays valid and terminals stay calm.
 */
#ifndef CALM_REPORT_REPORT_NAME_H
#define CALM_REPORT_REPORT_NAME_H

#include "base/arena.h"

/* What else is spelled \xHH. */
typedef enum report_escape {
  ESCAPE_INVALID, /* only bytes that are not UTF-8: for JSON */
  ESCAPE_CONTROL  /* also control characters: for a terminal */
} report_escape;

/* A copy with the bytes in question spelled out; NULL without memory. */
char *report_name_escaped(arena *a, const char *name, report_escape what);

/* Columns that an escaped name takes: one per code point. */
uint32_t report_name_columns(const char *name);

/* An escaped name in at most `columns` (at least 5) columns, its middle
   replaced by "..." if need be; NULL without memory. */
const char *report_name_shortened(arena *a, const char *name, uint32_t columns);

/* A number to be shown; use as report_number(n).text. */
typedef struct report_digits {
  char text[32];
} report_digits;

/* 301056 as "301,056". */
report_digits report_number(uint64_t n);

/* part / whole as "14.3 %", one digit; "0.0 %" for nothing. */
report_digits report_percent(uint64_t part, uint64_t whole);

#endif
