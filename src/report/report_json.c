#include "report/report_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/report_name.h"

json_t *report_json_name(arena *scratch, const char *name) {
  if (!name) return json_null();
  const char *valid = report_name_escaped(scratch, name, ESCAPE_INVALID);
  return valid ? json_string(valid) : NULL;
}

json_t *report_json_number(uint64_t n) {
  char digits[24];
  if (n <= INT64_MAX) return json_integer((json_int_t)n);
  snprintf(digits, sizeof digits, "%" PRIu64, n);
  return json_string(digits);
}

json_t *report_json_optional(uint64_t n) {
  return n == UINT64_MAX ? json_null() : report_json_number(n);
}

/* Up to which doubles hold every whole number. */
static const double most_exact = (double)(UINT64_C(1) << 53);

json_t *report_json_count(double n) {
  if (n == floor(n) && fabs(n) <= most_exact)
    return json_integer((json_int_t)n);
  return report_json_real(n);
}

json_t *report_json_real(double n) {
  return isfinite(n) ? json_real(n) : json_null();
}

json_t *report_json_choice(const char *option, uint32_t choice) {
  size_t length;
  const char *name = options_choice_name(&length, option, choice);
  return json_stringn(name, length);
}

/* What jansson could not put in, it has already released. */
static json_t *keep_if(bool done, json_t *whole) {
  if (done) return whole;
  json_decref(whole);
  return NULL;
}

json_t *report_json_append(json_t *list, json_t *item) {
  return keep_if(json_array_append_new(list, item) == 0, list);
}

json_t *report_json_member(json_t *object, const char *key, json_t *value) {
  return keep_if(json_object_set_new(object, key, value) == 0, object);
}

json_t *report_json_merge(json_t *object, json_t *more) {
  const bool done =
      object && more && json_object_update_missing(object, more) == 0;
  json_decref(more);
  return keep_if(done, object);
}

static int add_to_text(const char *bytes, size_t length, void *payload) {
  text *out = payload;
  text_add(out, bytes, length);
  return out->failed ? -1 : 0;
}

calm_status report_json_write(text *out, json_t *root) {
  if (!root) return context_no_memory(out->context);
  const int failed = json_dump_callback(root, add_to_text, out, JSON_INDENT(2));
  json_decref(root);
  text_add(out, "\n", 1);
  return failed ? context_no_memory(out->context) : CALM_OK;
}
