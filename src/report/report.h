/*
 * What the files of this room share: JSON objects that remember a failure, byte
 * counts with thousands separators, and the picture of an arena.  Results come
 * in as the structs of plan.h; texts go out through calm_*_render.
 */
#ifndef CALM_REPORT_REPORT_H
#define CALM_REPORT_REPORT_H

#include <jansson.h>

#include "base/text.h"
#include "plan.h"

/* JSON under construction; `failed` is set when jansson had no memory. */
typedef struct report_json {
  json_t *root;
  bool failed;
} report_json;

/* An object whose first field is its schema. */
void report_json_begin(report_json *j, const char *schema);

/* Fields of an object; `value` is consumed. */
void report_put(report_json *j, json_t *object, const char *key, json_t *value);
void report_put_bytes(report_json *j, json_t *object, const char *key,
                      uint64_t value);
void report_put_text(report_json *j, json_t *object, const char *key,
                     const char *value);
/* A new object or array inside another; NULL after a failure. */
json_t *report_put_object(report_json *j, json_t *object, const char *key);
json_t *report_put_array(report_json *j, json_t *object, const char *key);
json_t *report_append_object(report_json *j, json_t *array);

/* Write it to a text and let go of it. */
calm_status report_json_finish(report_json *j, char **out,
                               calm_context *context);

/* A name as valid UTF-8: other bytes become \xHH. */
void report_name(text *out, const char *name);

enum { REPORT_NUMBER = 32 };
/* "301,056" in a buffer of REPORT_NUMBER characters, which is returned. */
const char *report_number(char *buffer, uint64_t value);

/* "file.tflite" of "dir/file.tflite". */
const char *report_base_name(const char *path);

/* The arena over the steps of a plan, and a legend of its largest tensors. */
calm_status report_picture(text *out, const calm_plan *plan);

#endif
