#include "report/report_chart_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_name.h"

chart_length chart_px(double length) {
  chart_length out;
  const long tenths = lround(length * 10);
  const char *sign = tenths < 0 ? "-" : "";
  const unsigned long all = (unsigned long)labs(tenths);
  if (all % 10)
    snprintf(out.text, sizeof out.text, "%s%lu.%lu", sign, all / 10, all % 10);
  else
    snprintf(out.text, sizeof out.text, "%s%lu", sign, all / 10);
  return out;
}

/* Of one character, as a share of the size of the font; that of common fonts
   without serifs, on the wide side. */
static double width_of(char c) {
  if ((c & 0xc0) == 0x80) return 0; /* within a code point */
  if (strchr("iljtf.,:;'|!()[] -", c)) return 0.34;
  if (strchr("mwMW@%", c)) return 0.9;
  return c >= 'A' && c <= 'Z' ? 0.68 : 0.58;
}

double chart_text_width(const char *words, double size) {
  double width = 0;
  for (; words && *words; words++) width += width_of(*words);
  return width * size;
}

/* U+FFFE and U+FFFF are well-formed, but no characters of XML. */
static bool is_no_character(const char *s) {
  return !strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3);
}

static void add_escaped(text *out, const char *s) {
  while (*s) {
    if (is_no_character(s)) {
      text_add(out, "?", 1);
      s += 3;
      continue;
    }
    switch (*s) {
      case '&': text_add(out, "&amp;", 5); break;
      case '<': text_add(out, "&lt;", 4); break;
      case '>': text_add(out, "&gt;", 4); break;
      case '"': text_add(out, "&quot;", 6); break;
      default: text_add(out, s, 1);
    }
    s++;
  }
}

calm_status chart_text_add(text *out, const char *words) {
  arena scratch;
  if (!words) return CALM_OK;
  arena_init(&scratch, out->context);
  const char *valid = report_name_escaped(&scratch, words, ESCAPE_CONTROL);
  if (valid) add_escaped(out, valid);
  arena_free(&scratch);
  return valid ? CALM_OK : context_no_memory(out->context);
}

calm_status chart_text_put(text *out, double x, double y,
                           const char *attributes, const char *words) {
  text_format(out, "<text x=\"%s\" y=\"%s\"%s%s>", chart_px(x).text,
              chart_px(y).text, *attributes ? " " : "", attributes);
  TRY(chart_text_add(out, words));
  text_format(out, "</text>\n");
  return CALM_OK;
}

calm_status chart_text_shorten(const char **out, const char *words,
                               uint32_t columns, arena *scratch) {
  const char *valid =
      report_name_escaped(scratch, words ? words : "", ESCAPE_CONTROL);
  if (valid) valid = report_name_shortened(scratch, valid, columns);
  if (!valid) return context_no_memory(scratch->context);
  *out = valid;
  return CALM_OK;
}
