/*
 * An axis of a chart: from which value to which it goes, where ticks stand on
 * it, and what they are called.  Places are shares of its length, from 0 at
 * its beginning to 1.  Ticks are whole multiples of 1, 2 or 5 times a power of
 * ten, on a logarithmic axis powers of ten where it has several.
 */
#ifndef CALM_REPORT_REPORT_CHART_AXIS_H
#define CALM_REPORT_REPORT_CHART_AXIS_H

#include <stdbool.h>
#include <stdint.h>

enum { CHART_MOST_TICKS = 16 };

typedef struct chart_label {
  char text[32];
} chart_label;

typedef struct chart_tick {
  double at;
  chart_label label;
} chart_tick;

typedef struct chart_axis {
  bool log;
  double low, high; /* of the logarithms if it is logarithmic */
  chart_tick ticks[CHART_MOST_TICKS];
  uint32_t tick_count;
} chart_axis;

/* What an axis has to show. */
typedef struct chart_extent {
  bool any;
  double least, most;
} chart_extent;

/* Another value; what is not finite, or on a logarithmic axis not above 0, is
   left out. */
void chart_extent_add(chart_extent *e, bool log, double value);

/* Is a value one that an axis can show? */
bool chart_shows(bool log, double value);

/* An axis of `extent`, widened to whole ticks, if `tight` only where it has no
   length.  With `from_zero` a linear one has 0 in it, and a logarithmic one
   begins below the least value. */
void chart_axis_fit(chart_axis *out, bool log, const chart_extent *extent,
                    bool from_zero, bool tight);

double chart_axis_place(const chart_axis *axis, double value);

/* A value in few digits: "1,200", "0.25", "3×10⁷". */
chart_label chart_label_of(double value);

#endif
