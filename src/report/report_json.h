/*
 * JSON values, on top of jansson: a NULL value means "out of memory" and is
 * passed on by everything that takes values, so that it is reported once, where
 * the text is written.  Every function that takes a value owns it.
 */
#ifndef CALM_REPORT_REPORT_JSON_H
#define CALM_REPORT_REPORT_JSON_H

#include <jansson.h>

#include "base/options.h"
#include "base/text.h"

/* A string; what is not UTF-8 becomes \xHH.  NULL becomes null. */
json_t *report_json_name(arena *scratch, const char *name);

/* A number; beyond 2^63 - 1, which JSON readers cannot hold, its digits as a
   string. */
json_t *report_json_number(uint64_t n);

/* Likewise, but null for UINT64_MAX, which stands for "none". */
json_t *report_json_optional(uint64_t n);

/* What is counted in doubles: whole if it is, null if it is not finite. */
json_t *report_json_count(double n);

/* A quantity; null if it is not finite. */
json_t *report_json_real(double n);

/* The name of the chosen one among the values of an option. */
json_t *report_json_choice(const char *option, uint32_t choice);

/* `list` with an item appended. */
json_t *report_json_append(json_t *list, json_t *item);

/* `object` with one more member. */
json_t *report_json_member(json_t *object, const char *key, json_t *value);

/* `object` with the members of `more`. */
json_t *report_json_merge(json_t *object, json_t *more);

/* Append the text of `root`, indented, with a newline at its end. */
calm_status report_json_write(text *out, json_t *root);

#endif
