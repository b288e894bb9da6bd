/* One pass over the text: a field is copied only where quotes have to be
   undone. */
#include "layout/layout_csv_lines.h"

#include <string.h>

csv_lines csv_lines_begin(arena *a, const char *path, const char *bytes,
                          size_t length) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  const bool marked = length >= 3 && !memcmp(bytes, byte_order_mark, 3);
  const char *begin = bytes + (marked ? 3 : 0);
  return (csv_lines){.context = a->context,
                     .arena = a,
                     .path = path,
                     .next = begin,
                     .end = bytes + length,
                     .line_begin = begin,
                     .line = 1};
}

void csv_lines_free(csv_lines *c) { VECTOR_FREE(c->context, &c->fields); }

static bool at_line_end(const csv_lines *c) {
  return c->next == c->end || *c->next == '\n' ||
         (*c->next == '\r' && (c->next + 1 == c->end || c->next[1] == '\n'));
}

static csv_field field_here(const csv_lines *c) {
  return (csv_field){c->next, 0, c->line,
                     (uint32_t)(c->next - c->line_begin) + 1};
}

static void skip_blanks(csv_lines *c) {
  while (c->next < c->end && (*c->next == ' ' || *c->next == '\t')) c->next++;
}

static void read_bare(csv_lines *c, csv_field *f) {
  while (!at_line_end(c) && *c->next != ',') c->next++;
  f->length = (size_t)(c->next - f->bytes);
  while (f->length &&
         (f->bytes[f->length - 1] == ' ' || f->bytes[f->length - 1] == '\t'))
    f->length--;
}

/* A quoted field may hold anything but a line end; "" stands for a quote. */
static calm_status read_quoted(csv_lines *c, csv_field *f) {
  size_t rest = (size_t)(c->end - c->next);
  const char *stop = memchr(c->next, '\n', rest);
  if (stop) rest = (size_t)(stop - c->next);
  char *text = arena_string(c->arena, c->next, rest);
  if (!text) return context_no_memory(c->context);
  f->bytes = text;
  for (c->next++;; c->next++) {
    if (at_line_end(c))
      return CSV_FAIL(c, f, "quote is not closed; expected '%s' in this line",
                      "\"");
    if (*c->next != '"') {
      text[f->length++] = *c->next;
    } else if (c->next + 1 < c->end && c->next[1] == '"') {
      text[f->length++] = *c->next++;
    } else {
      c->next++;
      return CALM_OK;
    }
  }
}

static calm_status read_field(csv_lines *c) {
  skip_blanks(c);
  csv_field f = field_here(c);
  if (c->next < c->end && *c->next == '"') {
    TRY(read_quoted(c, &f));
    skip_blanks(c);
    if (!at_line_end(c) && *c->next != ',')
      return CSV_FAIL(c, &f, "text after a quoted field; expected '%s'", ",");
  } else {
    read_bare(c, &f);
  }
  if (memchr(f.bytes, '\0', f.length))
    return CSV_FAIL(c, &f, "%s", "NUL byte; expected text");
  VECTOR_PUSH(c->context, &c->fields, f);
  return CALM_OK;
}

static void skip_line_end(csv_lines *c) {
  if (c->next < c->end && *c->next == '\r') c->next++;
  if (c->next < c->end && *c->next == '\n') c->next++;
  c->line++;
  c->line_begin = c->next;
}

static bool is_blank(const csv_lines *c) {
  return c->fields.count == 1 && c->fields.data[0].length == 0;
}

calm_status csv_read_line(csv_lines *c) {
  do {
    c->fields.count = 0;
    if (c->next == c->end) return CALM_OK;
    for (;;) {
      TRY(read_field(c));
      if (at_line_end(c)) break;
      c->next++; /* the comma */
    }
    skip_line_end(c);
  } while (is_blank(c));
  return CALM_OK;
}
