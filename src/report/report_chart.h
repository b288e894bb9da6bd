/*
 * Charts as SVG, for figures beside text: bars in groups, lines, steps and
 * points over linear or logarithmic axes, with horizontal lines to compare
 * with.  The same chart gives the same bytes.  Colours are told apart by the
 * colour-blind, and bars and lines also by their texture; text is text.
 */
#ifndef CALM_REPORT_REPORT_CHART_H
#define CALM_REPORT_REPORT_CHART_H

#include "base/text.h"

typedef enum chart_kind {
  CHART_BARS,  /* one per category, side by side with those of other series */
  CHART_LINES, /* from point to point */
  CHART_STEPS, /* each value holds until the next x */
  CHART_POINTS
} chart_kind;

typedef struct chart_series {
  const char *name;
  chart_kind kind;
  const double *x; /* rising; NULL: 0, 1, 2, ..., the categories */
  const double *y; /* NAN: there is none */
  uint32_t count;
} chart_series;

static inline chart_series chart_bars(const char *name, const double *y,
                                      uint32_t count) {
  return (chart_series){name, CHART_BARS, NULL, y, count};
}

/* A line across the chart: a figure of somebody else, a limit. */
typedef struct chart_mark {
  const char *name;
  double y;
} chart_mark;

typedef struct report_chart {
  const char *title, *x_title, *y_title; /* titles of axes with their units;
                                            NULL: there is none */
  const char *const *categories;         /* below the x axis; NULL: numbers */
  uint32_t category_count;
  const chart_series *series;
  uint32_t series_count;
  const chart_mark *marks;
  uint32_t mark_count;
  bool log_x, log_y; /* values are above 0; others are left out */
  double base; /* where bars begin; 0: at zero, or at the bottom if log_y */
} report_chart;

/* Append a complete SVG document. */
calm_status report_chart_svg(text *out, const report_chart *c);

#endif
