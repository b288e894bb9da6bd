#include "report/report_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_tail(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/*
 * Bytes of the UTF-8 sequence at `s`, 0 if it is not one.  The first tail byte
 * decides about overlong forms (e0, f0), surrogates (ed) and code points beyond
 * the last plane (f4).
 */
static size_t sequence_length(const unsigned char *s) {
  if (s[0] < 0x80) return 1;
  if (s[0] < 0xc2 || s[0] > 0xf4 || !is_tail(s[1])) return 0;
  if (s[0] < 0xe0) return 2;
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
      (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) ||
      !is_tail(s[2]))
    return 0;
  if (s[0] < 0xf0) return 3;
  return is_tail(s[3]) ? 4 : 0;
}

/* C0, DEL and C1, the last as two bytes. */
static bool is_control(const unsigned char *s) {
  return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

char *report_name_escaped(arena *a, const char *name, report_escape what) {
  const unsigned char *s = (const unsigned char *)name;
  char *out = arena_calloc(a, strlen(name) + 1, 4);
  char *to = out;
  while (out && *s) {
    size_t length = sequence_length(s);
    bool plain = length && !(what == ESCAPE_CONTROL && is_control(s));
    if (length == 0) length = 1;
    for (; length; length--, s++)
      if (plain)
        *to++ = (char)*s;
      else
        to += sprintf(to, "\\x%02x", *s);
  }
  return out;
}

uint32_t report_name_columns(const char *name) {
  uint32_t columns = 0;
  for (; *name; name++) columns += !is_tail((unsigned char)*name);
  return columns;
}

/* Past the first `columns` code points. */
static const char *skip_columns(const char *name, uint32_t columns) {
  for (; *name; name++)
    if (!is_tail((unsigned char)*name) && columns-- == 0) break;
  return name;
}

const char *report_name_shortened(arena *a, const char *name,
                                  uint32_t columns) {
  static const char gap[] = "...";
  const uint32_t all = report_name_columns(name);
  if (all <= columns) return name;
  const uint32_t kept = columns - (uint32_t)strlen(gap);
  const size_t head = (size_t)(skip_columns(name, kept / 2) - name);
  const char *tail = skip_columns(name, all - (kept - kept / 2));
  char *out = arena_calloc(a, head + sizeof gap + strlen(tail), 1);
  if (!out) return NULL;
  memcpy(out, name, head);
  memcpy(out + head, gap, strlen(gap));
  strcpy(out + head + strlen(gap), tail);
  return out;
}

report_digits report_number(uint64_t n) {
  char plain[24];
  report_digits out;
  const int length = snprintf(plain, sizeof plain, "%" PRIu64, n);
  char *to = out.text;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) *to++ = ',';
    *to++ = plain[i];
  }
  *to = '\0';
  return out;
}

report_digits report_percent(uint64_t part, uint64_t whole) {
  report_digits out;
  const double share =
      whole ? 100.0 * (double)part / (double)whole : (part ? 100.0 : 0.0);
  snprintf(out.text, sizeof out.text, "%.1f %%", share);
  return out;
}
