/*
 * The frame of a chart while it is drawn: its axes, and where on the sheet they
 * lie.  report_chart.c settles it, and draws what surrounds the series;
 * report_chart_series.c draws those.
 */
#ifndef CALM_REPORT_REPORT_CHART_FRAME_H
#define CALM_REPORT_REPORT_CHART_FRAME_H

#include "report/report_chart.h"
#include "report/report_chart_axis.h"
#include "report/report_chart_text.h"

typedef struct chart_frame {
  const report_chart *chart;
  text *out;
  arena *scratch;
  chart_axis x, y;
  bool slotted;         /* x are categories, each as wide as the others */
  uint32_t slots;       /* how many */
  uint32_t bars;        /* in each, side by side */
  double width, height; /* of the sheet */
  double left, right, top, bottom; /* the axes, in pixels from its corner */
} chart_frame;

/* Point number `index` of a series. */
double chart_series_x(const chart_series *s, uint32_t index);

/* Where values lie on the sheet. */
double chart_frame_x(const chart_frame *f, double x);
double chart_frame_y(const chart_frame *f, double y);

/* Do bars begin at a value of the chart's own, and where on the sheet? */
bool chart_has_base(const report_chart *c);
double chart_frame_base(const chart_frame *f);

/* Can a point be shown? */
bool chart_frame_shows(const chart_frame *f, const chart_series *s,
                       uint32_t index);

/* Whether bars have their values above them: level, upwards, or, where there is
   no room, not at all. */
typedef enum chart_values {
  CHART_VALUES_NONE,
  CHART_VALUES_LEVEL,
  CHART_VALUES_UPRIGHT
} chart_values;
chart_values chart_series_values(const chart_frame *f);

/* What the series are filled with; once, before them. */
void chart_series_define(const chart_frame *f);

calm_status chart_series_draw(const chart_frame *f, uint32_t series);

/* Its sign in a legend, 22 pixels wide around `y`. */
void chart_series_sign(const chart_frame *f, uint32_t series, double x,
                       double y);

#endif
