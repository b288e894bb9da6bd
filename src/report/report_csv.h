/*
 * Fields of CSV (RFC 4180): quoted where they have to be.
 */
#ifndef CALM_REPORT_REPORT_CSV_H
#define CALM_REPORT_REPORT_CSV_H

#include "base/text.h"

void report_csv_field(text *out, const char *field);

/* A name out of a file: control characters are spelled out, so that a line is
   one line whatever is in it. */
calm_status report_csv_name(text *out, const char *name, arena *scratch);

#endif
