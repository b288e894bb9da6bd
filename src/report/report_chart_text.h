/*
 * Text of a chart: how wide it is, about, and how it is written into XML.  NULL
 * is no text.
 */
#ifndef CALM_REPORT_REPORT_CHART_TEXT_H
#define CALM_REPORT_REPORT_CHART_TEXT_H

#include "base/text.h"

/* A length as SVG has it, with one digit: use as chart_px(x).text. */
typedef struct chart_length {
  char text[24];
} chart_length;
chart_length chart_px(double length);

/* About how many pixels a text takes in a font of `size` pixels. */
double chart_text_width(const char *words, double size);

/* Words as XML shows them: signs of its own, and bytes that it does not take,
   are spelled out. */
calm_status chart_text_add(text *out, const char *words);

/* A <text> element; `attributes` such as "text-anchor='end'". */
calm_status chart_text_put(text *out, double x, double y,
                           const char *attributes, const char *words);

/* `words` with the middle left out beyond `columns`; in the arena. */
calm_status chart_text_shorten(const char **out, const char *words,
                               uint32_t columns, arena *scratch);

#endif
