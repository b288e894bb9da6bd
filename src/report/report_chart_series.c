/*
 * Series of a chart.  Each has a colour of its own (after Okabe and Ito, whose
 * colours the colour-blind tell apart), and besides a texture if it is of bars,
 * dashes and a shape of its points otherwise.
 */
#include <math.h>
#include <string.h>

#include "report/report_chart_frame.h"

enum {
  LOOKS = 8,
  MOST_SHAPED = 40,   /* points of a line that are marked */
  MOST_LABELLED = 36, /* bars that have their value written above them */
  LABEL_SIZE = 10
};

static const char *const colors[LOOKS] = {"#0072b2", "#e69f00", "#009e73",
                                          "#cc79a7", "#d55e00", "#56b4e9",
                                          "#555555", "#8c6d31"};
static const char *const dashes[LOOKS] = {"",     "7 3", "2 2", "9 3 2 3",
                                          "12 3", "4 2", "1 3", "9 2 2 2 2 2"};

/* White over the colour, in tiles of 6 pixels. */
static const char *const textures[LOOKS] = {"",
                                            "M-1 1L1 -1M-1 7L7 -1M5 7L7 5",
                                            "M1.5 3H4.5M3 1.5V4.5",
                                            "M-1 5L1 7M-1 -1L7 7M5 -1L7 1",
                                            "M0 3H6",
                                            "M3 0V6",
                                            "M0 3H6M3 0V6",
                                            "M-1 -1L7 7M-1 7L7 -1"};

/* Around the origin, some 8 pixels wide. */
static const char *const shapes[LOOKS] = {
    "M-3.6 0A3.6 3.6 0 1 0 3.6 0A3.6 3.6 0 1 0 -3.6 0Z",
    "M-3.3 -3.3H3.3V3.3H-3.3Z",
    "M0 -4.2L4 3H-4Z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0Z",
    "M0 4.2L4 -3H-4Z",
    "M-4.4 -1.4H-1.4V-4.4H1.4V-1.4H4.4V1.4H1.4V4.4H-1.4V1.4H-4.4Z",
    "M-4 -4L0 -1.6L4 -4L1.6 0L4 4L0 1.6L-4 4L-1.6 0Z",
    "M0 -4.4L4.2 -1.4L2.6 3.6H-2.6L-4.2 -1.4Z"};

/* Those with colours used before get the next texture. */
static uint32_t look_of(uint32_t series) {
  return (series + series / LOOKS) % LOOKS;
}

static const char *color_of(uint32_t series) { return colors[series % LOOKS]; }

static const chart_series *series_at(const chart_frame *f, uint32_t series) {
  return &f->chart->series[series];
}

double chart_series_x(const chart_series *s, uint32_t index) {
  return s->x ? s->x[index] : index;
}

bool chart_frame_shows(const chart_frame *f, const chart_series *s,
                       uint32_t index) {
  return chart_shows(!f->slotted && f->chart->log_x,
                     chart_series_x(s, index)) &&
         chart_shows(f->chart->log_y, s->y[index]);
}

double chart_frame_x(const chart_frame *f, double x) {
  const double share =
      f->slotted ? (x + 0.5) / f->slots : chart_axis_place(&f->x, x);
  return f->left + share * (f->right - f->left);
}

double chart_frame_y(const chart_frame *f, double y) {
  return f->bottom - chart_axis_place(&f->y, y) * (f->bottom - f->top);
}

bool chart_has_base(const report_chart *c) {
  return c->base != 0 && chart_shows(c->log_y, c->base);
}

double chart_frame_base(const chart_frame *f) {
  if (chart_has_base(f->chart)) return chart_frame_y(f, f->chart->base);
  return f->chart->log_y ? f->bottom : chart_frame_y(f, 0);
}

/* ---- Textures ------------------------------------------------------------ */

void chart_series_define(const chart_frame *f) {
  text_format(f->out, "<defs>\n");
  for (uint32_t i = 0; i < f->chart->series_count; i++) {
    const char *texture = textures[look_of(i)];
    if (series_at(f, i)->kind != CHART_BARS || !*texture) continue;
    text_format(f->out,
                "<pattern id=\"t%u\" width=\"6\" height=\"6\" "
                "patternUnits=\"userSpaceOnUse\"><path d=\"M0 0H6V6H0Z\" "
                "fill=\"%s\"/><path d=\"%s\" stroke=\"#fff\" "
                "stroke-width=\"1.3\" stroke-opacity=\".7\" fill=\"none\"/>"
                "</pattern>\n",
                i, color_of(i), texture);
  }
  text_format(f->out, "</defs>\n");
}

static void add_fill(const chart_frame *f, uint32_t series) {
  if (*textures[look_of(series)])
    text_format(f->out, " fill=\"url(#t%u)\"", series);
  else
    text_format(f->out, " fill=\"%s\"", color_of(series));
  text_format(f->out, " stroke=\"%s\" stroke-width=\".7\"", color_of(series));
}

/* ---- Bars ---------------------------------------------------------------- */

/* Which of the bars side by side those of a series are. */
static uint32_t bar_of(const chart_frame *f, uint32_t series) {
  uint32_t bar = 0;
  for (uint32_t i = 0; i < series; i++)
    bar += series_at(f, i)->kind == CHART_BARS;
  return bar;
}

static double bar_width(const chart_frame *f) {
  const double slot = (f->right - f->left) / f->slots;
  return fmin(slot * 0.8 / f->bars, 64);
}

/* The widest value; *bars is how many there are. */
static double widest_value(uint32_t *bars, const chart_frame *f) {
  double widest = 0;
  *bars = 0;
  for (uint32_t i = 0; i < f->chart->series_count; i++) {
    const chart_series *s = series_at(f, i);
    for (uint32_t k = 0; k < s->count; k++) {
      if (!chart_frame_shows(f, s, k)) continue;
      const chart_label label = chart_label_of(s->y[k]);
      widest = fmax(widest, chart_text_width(label.text, LABEL_SIZE));
      *bars += 1;
    }
  }
  return widest;
}

/* Lines and marks would run through them. */
chart_values chart_series_values(const chart_frame *f) {
  uint32_t bars;
  const double widest = widest_value(&bars, f), width = bar_width(f);
  if (f->bars != f->chart->series_count || bars > MOST_LABELLED)
    return CHART_VALUES_NONE;
  if (widest <= width + 2) return CHART_VALUES_LEVEL;
  return width >= LABEL_SIZE && f->chart->mark_count == 0 ? CHART_VALUES_UPRIGHT
                                                          : CHART_VALUES_NONE;
}

/* Above the end of a bar, or below that of one that points down. */
static calm_status put_value(const chart_frame *f, chart_values how, double x,
                             double value) {
  const double end = chart_frame_y(f, value);
  const chart_label label = chart_label_of(value);
  const bool down = end > chart_frame_base(f);
  if (how == CHART_VALUES_LEVEL)
    return chart_text_put(f->out, x, down ? end + 12 : end - 4,
                          "font-size=\"10\" text-anchor=\"middle\"",
                          label.text);
  text_format(f->out,
              "<text transform=\"translate(%s %s) rotate(-90)\" "
              "font-size=\"10\"%s>%s</text>\n",
              chart_px(x + 3.5).text, chart_px(down ? end + 4 : end - 4).text,
              down ? " text-anchor=\"end\"" : "", label.text);
  return CALM_OK;
}

/* The middle of a bar. */
static double bar_x(const chart_frame *f, uint32_t series, uint32_t i) {
  return chart_frame_x(f, chart_series_x(series_at(f, series), i)) +
         (bar_of(f, series) + 0.5 - f->bars / 2.0) * bar_width(f);
}

static void draw_bars(const chart_frame *f, uint32_t series) {
  const chart_series *s = series_at(f, series);
  const double width = bar_width(f), gap = width > 8 ? 2 : width > 4 ? 1 : 0;
  const double base = chart_frame_base(f);
  text_format(f->out, "<g");
  add_fill(f, series);
  text_format(f->out, ">\n");
  for (uint32_t i = 0; i < s->count; i++) {
    if (!chart_frame_shows(f, s, i)) continue;
    const double x = bar_x(f, series, i), half = (width - gap) / 2;
    text_format(f->out, "<path d=\"M%s %sV%sH%sV%sZ\"/>\n",
                chart_px(x - half).text, chart_px(base).text,
                chart_px(chart_frame_y(f, s->y[i])).text,
                chart_px(x + half).text, chart_px(base).text);
  }
  text_format(f->out, "</g>\n");
}

static calm_status put_values(const chart_frame *f, uint32_t series) {
  const chart_series *s = series_at(f, series);
  const chart_values how = chart_series_values(f);
  if (how == CHART_VALUES_NONE) return CALM_OK;
  for (uint32_t i = 0; i < s->count; i++)
    if (chart_frame_shows(f, s, i))
      TRY(put_value(f, how, bar_x(f, series, i), s->y[i]));
  return CALM_OK;
}

/* ---- Lines, steps, points ------------------------------------------------ */

static void add_shape(const chart_frame *f, uint32_t series, double x, double y,
                      double scale) {
  text_format(f->out, "<path transform=\"translate(%s %s)", chart_px(x).text,
              chart_px(y).text);
  if (scale < 1) text_format(f->out, " scale(.6)");
  text_format(f->out, "\" d=\"%s\"/>\n", shapes[look_of(series)]);
}

static void draw_points(const chart_frame *f, uint32_t series, double scale) {
  const chart_series *s = series_at(f, series);
  text_format(f->out, "<g fill=\"%s\" stroke=\"#fff\" stroke-width=\"%s\">\n",
              color_of(series), s->kind == CHART_POINTS ? "1.2" : ".5");
  for (uint32_t i = 0; i < s->count; i++)
    if (chart_frame_shows(f, s, i))
      add_shape(f, series, chart_frame_x(f, chart_series_x(s, i)),
                chart_frame_y(f, s->y[i]), scale);
  text_format(f->out, "</g>\n");
}

static void begin_path(const chart_frame *f, uint32_t series) {
  text_format(f->out,
              "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
              "stroke-linejoin=\"round\"",
              color_of(series));
  if (*dashes[look_of(series)])
    text_format(f->out, " stroke-dasharray=\"%s\"", dashes[look_of(series)]);
  text_format(f->out, " d=\"");
}

/* Points that fall on each other are one. */
static void draw_line(const chart_frame *f, uint32_t series) {
  const chart_series *s = series_at(f, series);
  chart_length old_x = {""}, old_y = {""};
  bool joined = false;
  begin_path(f, series);
  for (uint32_t i = 0; i < s->count; i++) {
    if (!chart_frame_shows(f, s, i)) {
      joined = false;
      continue;
    }
    const chart_length x = chart_px(chart_frame_x(f, chart_series_x(s, i)));
    const chart_length y = chart_px(chart_frame_y(f, s->y[i]));
    if (joined && !strcmp(x.text, old_x.text) && !strcmp(y.text, old_y.text))
      continue;
    text_format(f->out, "%s%s %s", joined ? "L" : "M", x.text, y.text);
    joined = true;
    old_x = x;
    old_y = y;
  }
  text_format(f->out, "\"/>\n");
  if (s->count <= MOST_SHAPED) draw_points(f, series, 1);
}

/* Where a step ends: at the next point, the last one at the end of its slot or
   of the axis. */
static double end_of_step(const chart_frame *f, const chart_series *s,
                          uint32_t i) {
  if (f->slotted) return chart_frame_x(f, chart_series_x(s, i) + 0.5);
  if (i + 1 < s->count &&
      chart_shows(f->chart->log_x, chart_series_x(s, i + 1)))
    return chart_frame_x(f, chart_series_x(s, i + 1));
  return s->x ? f->right : chart_frame_x(f, i + 1);
}

static void draw_steps(const chart_frame *f, uint32_t series) {
  const chart_series *s = series_at(f, series);
  chart_length old_x = {""}, old_y = {""};
  bool joined = false;
  begin_path(f, series);
  for (uint32_t i = 0; i < s->count; i++) {
    if (!chart_frame_shows(f, s, i)) {
      joined = false;
      continue;
    }
    const double begin =
        chart_frame_x(f, chart_series_x(s, i) - (f->slotted ? 0.5 : 0));
    const chart_length x = chart_px(end_of_step(f, s, i));
    const chart_length y = chart_px(chart_frame_y(f, s->y[i]));
    if (!joined)
      text_format(f->out, "M%s %s", chart_px(begin).text, y.text);
    else if (strcmp(y.text, old_y.text))
      text_format(f->out, "V%s", y.text);
    if (!joined || strcmp(x.text, old_x.text))
      text_format(f->out, "H%s", x.text);
    joined = true;
    old_x = x;
    old_y = y;
  }
  text_format(f->out, "\"/>\n");
}

/* ---- All kinds ----------------------------------------------------------- */

calm_status chart_series_draw(const chart_frame *f, uint32_t series) {
  switch (series_at(f, series)->kind) {
    case CHART_BARS: draw_bars(f, series); return put_values(f, series);
    case CHART_LINES: draw_line(f, series); break;
    case CHART_STEPS: draw_steps(f, series); break;
    case CHART_POINTS:
      draw_points(f, series,
                  series_at(f, series)->count > MOST_SHAPED ? 0.6 : 1);
      break;
  }
  return CALM_OK;
}

void chart_series_sign(const chart_frame *f, uint32_t series, double x,
                       double y) {
  const chart_kind kind = series_at(f, series)->kind;
  if (kind == CHART_BARS) {
    text_format(f->out, "<path d=\"M%s %sh12v12h-12z\"", chart_px(x + 4).text,
                chart_px(y - 6).text);
    add_fill(f, series);
    text_format(f->out, "/>\n");
    return;
  }
  if (kind != CHART_POINTS) {
    begin_path(f, series);
    text_format(f->out, "M%s %sh22\"/>\n", chart_px(x).text, chart_px(y).text);
  }
  if (kind == CHART_STEPS) return;
  text_format(f->out, "<g fill=\"%s\" stroke=\"#fff\" stroke-width=\".5\">\n",
              color_of(series));
  add_shape(f, series, x + 11, y, 1);
  text_format(f->out, "</g>\n");
}
