#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A finished text carries its block size in front, for calm_text_free. */
enum { HEADER_BYTES = _Alignof(max_align_t) };

void text_init(text *t, calm_context *context) {
  *t = (text){.context = context};
}

static void release(calm_context *context, char *data, size_t capacity) {
  if (data)
    context_reallocate(context, data - HEADER_BYTES, capacity + HEADER_BYTES,
                       0);
}

void text_free(text *t) {
  release(t->context, t->data, t->capacity);
  text_init(t, t->context);
}

/* Room for `more` bytes and the NUL. */
static bool reserve(text *t, size_t more) {
  if (t->failed || more >= SIZE_MAX / 4 - t->length) return false;
  size_t needed = t->length + more + 1;
  if (needed <= t->capacity) return true;
  size_t capacity = t->capacity ? t->capacity : 64;
  while (capacity < needed) capacity *= 2;
  char *old = t->data ? t->data - HEADER_BYTES : NULL;
  size_t old_bytes = t->data ? t->capacity + HEADER_BYTES : 0;
  char *data =
      context_reallocate(t->context, old, old_bytes, capacity + HEADER_BYTES);
  if (!data) return false;
  t->data = data + HEADER_BYTES;
  t->capacity = capacity;
  return true;
}

void text_add(text *t, const char *bytes, size_t length) {
  if (!reserve(t, length)) {
    t->failed = true;
    return;
  }
  memcpy(t->data + t->length, bytes, length);
  t->length += length;
  t->data[t->length] = '\0';
}

void text_format(text *t, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !reserve(t, (size_t)length)) {
    t->failed = true;
  } else {
    vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    t->length += (size_t)length;
  }
  va_end(again);
}

calm_status text_finish(text *t, char **out) {
  text_add(t, "", 0);
  if (t->failed) {
    text_free(t);
    return context_no_memory(t->context);
  }
  memcpy(t->data - HEADER_BYTES, &t->capacity, sizeof t->capacity);
  *out = t->data;
  text_init(t, t->context);
  return CALM_OK;
}

calm_status text_keep(text *t, const char **out, arena *a) {
  const char *words = t->length ? t->data : "";
  const char *copy = t->failed ? NULL : arena_string(a, words, t->length);
  text_free(t);
  if (!copy) return context_no_memory(t->context);
  *out = copy;
  return CALM_OK;
}

void calm_text_free(calm_context *context, char *text) {
  if (!text) return;
  size_t capacity;
  memcpy(&capacity, text - HEADER_BYTES, sizeof capacity);
  release(context, text, capacity);
}
