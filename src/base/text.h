/*
 * A text under construction.  Failure to grow is remembered and reported once,
 * by text_finish, so that writers read as a list of what they write.
 */
#ifndef CALM_BASE_TEXT_H
#define CALM_BASE_TEXT_H

#include "base/arena.h"

typedef struct text {
  calm_context *context;
  char *data; /* NUL-terminated once anything was added */
  size_t length, capacity;
  bool failed;
} text;

void text_init(text *t, calm_context *context);
void text_free(text *t);
void text_add(text *t, const char *bytes, size_t length);
void text_format(text *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* Hand the text to the caller, who frees it with calm_text_free. */
calm_status text_finish(text *t, char **out);

/* Hand it to an arena instead; the text is empty then, also on failure. */
calm_status text_keep(text *t, const char **out, arena *a);

#endif
