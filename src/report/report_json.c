#include <stdlib.h>
#include <string.h>

#include "report/report.h"

void report_json_begin(report_json *j, const char *schema) {
  j->root = json_object();
  j->failed = !j->root;
  report_put_text(j, j->root, "schema", schema);
}

/* jansson refuses NULL objects and values, so one test covers every failure. */
void report_put(report_json *j, json_t *object, const char *key,
                json_t *value) {
  if (json_object_set_new(object, key, value)) j->failed = true;
}

/* JSON integers are signed; a count beyond them is written as a text. */
void report_put_bytes(report_json *j, json_t *object, const char *key,
                      uint64_t value) {
  char digits[REPORT_NUMBER];
  if (value <= INT64_MAX) {
    report_put(j, object, key, json_integer((json_int_t)value));
    return;
  }
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
  report_put(j, object, key, json_string(digits));
}

/* Length of the UTF-8 sequence at s, 0 if there is none. */
static size_t sequence_length(const char *s) {
  json_t *probe;
  for (size_t length = 1; length <= 4 && s[length - 1]; length++) {
    probe = json_stringn(s, length);
    if (!probe) continue;
    json_decref(probe);
    return length;
  }
  return 0;
}

void report_name(text *out, const char *name) {
  while (*name) {
    const size_t length = sequence_length(name);
    if (length)
      text_add(out, name, length);
    else
      text_format(out, "\\x%02X", (unsigned)(unsigned char)*name);
    name += length ? length : 1;
  }
}

void report_put_text(report_json *j, json_t *object, const char *key,
                     const char *value) {
  json_t *plain = json_string(value);
  if (plain) {
    report_put(j, object, key, plain);
    return;
  }
  /* Not UTF-8: at most four characters for each byte. */
  char *escaped = malloc(strlen(value) * 4 + 1), *to = escaped;
  if (!escaped) {
    j->failed = true;
    return;
  }
  for (; *value;) {
    const size_t length = sequence_length(value);
    if (length)
      memcpy(to, value, length);
    else
      snprintf(to, 5, "\\x%02X", (unsigned)(unsigned char)*value);
    to += length ? length : 4;
    value += length ? length : 1;
  }
  *to = '\0';
  report_put(j, object, key, json_string(escaped));
  free(escaped);
}

json_t *report_put_object(report_json *j, json_t *object, const char *key) {
  json_t *value = json_object();
  report_put(j, object, key, value);
  return json_object_get(object, key);
}

json_t *report_put_array(report_json *j, json_t *object, const char *key) {
  report_put(j, object, key, json_array());
  return json_object_get(object, key);
}

json_t *report_append_object(report_json *j, json_t *array) {
  if (json_array_append_new(array, json_object())) {
    j->failed = true;
    return NULL;
  }
  return json_array_get(array, json_array_size(array) - 1);
}

calm_status report_json_finish(report_json *j, char **out,
                               calm_context *context) {
  char *dumped = j->failed ? NULL : json_dumps(j->root, JSON_INDENT(1));
  json_decref(j->root);
  if (!dumped) return context_no_memory(context);
  text t;
  text_init(&t, context);
  text_format(&t, "%s\n", dumped);
  free(dumped);
  return text_finish(&t, out);
}
