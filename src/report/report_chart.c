/*
 * A chart as SVG, from the top:
 *
 *   title
 *   signs of the series
 *   title of the y axis
 *   the axes, with series and marks
 *   numbers or names of categories, level or, where they are long, slanted
 *   title of the x axis
 *
 * on a white sheet, so that it can be read whatever lies behind it.
 */
#include <math.h>
#include <string.h>

#include "report/report_chart_frame.h"

enum {
  MARGIN = 16,
  LEAST_WIDTH = 720,
  MOST_WIDTH = 1280,
  PLOT_HEIGHT = 300,
  TITLE_SIZE = 16,
  TITLE_LINE = 21,
  TEXT_SIZE = 12,
  LINE = 18,
  LEAST_BAR = 9, /* the sheet is widened for bars narrower than that */
  SIGN = 28,     /* of a series, with the gap behind it */
  MOST_NAME = 26 /* letters of a category's name */
};

/* How much wider titles are. */
static const double BOLD = 1.16;

/* Of names that are slanted: by 40 degrees. */
static const double slant_across = 0.766, slant_down = 0.643;

/* ---- What there is to show ----------------------------------------------- */

static chart_extent extent_of_y(const report_chart *c) {
  chart_extent e = {0};
  for (uint32_t i = 0; i < c->series_count; i++)
    for (uint32_t k = 0; k < c->series[i].count; k++)
      chart_extent_add(&e, c->log_y, c->series[i].y[k]);
  for (uint32_t i = 0; i < c->mark_count; i++)
    chart_extent_add(&e, c->log_y, c->marks[i].y);
  if (chart_has_base(c)) chart_extent_add(&e, c->log_y, c->base);
  return e;
}

static chart_extent extent_of_x(const report_chart *c) {
  chart_extent e = {0};
  for (uint32_t i = 0; i < c->series_count; i++) {
    const chart_series *s = &c->series[i];
    for (uint32_t k = 0; k < s->count; k++)
      chart_extent_add(&e, c->log_x, chart_series_x(s, k));
    if (s->kind == CHART_STEPS && !s->x)
      chart_extent_add(&e, c->log_x, s->count);
  }
  return e;
}

static uint32_t count_kind(const report_chart *c, chart_kind kind) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->series_count; i++)
    count += c->series[i].kind == kind;
  return count;
}

static uint32_t count_slots(const report_chart *c) {
  uint32_t slots = c->category_count;
  for (uint32_t i = 0; i < c->series_count; i++)
    if (c->series[i].count > slots && !c->series[i].x)
      slots = c->series[i].count;
  return slots ? slots : 1;
}

/* Lines begin at zero unless that would press them together. */
static bool begins_at_zero(const chart_frame *f, const chart_extent *e) {
  return (f->bars > 0 && !chart_has_base(f->chart)) ||
         (!f->chart->log_y && e->least >= 0 && e->least < e->most * 0.7);
}

/* Values that are written upwards take the length of a label. */
static void add_head_room(const chart_frame *f, chart_extent *y) {
  const double high = y->most;
  if (chart_series_values(f) != CHART_VALUES_UPRIGHT || !(high > 0)) return;
  chart_extent_add(
      y, false,
      f->chart->log_y ? high * pow(high / y->least, 0.1) : high * 1.1);
}

static void fit_axes(chart_frame *f) {
  const report_chart *c = f->chart;
  chart_extent x = extent_of_x(c), y = extent_of_y(c);
  add_head_room(f, &y);
  chart_axis_fit(&f->x, c->log_x, &x, false, !count_kind(c, CHART_POINTS));
  chart_axis_fit(&f->y, c->log_y, &y, begins_at_zero(f, &y), false);
}

/* ---- Names of categories ------------------------------------------------- */

typedef struct names {
  const char **text; /* shortened; one per slot */
  bool slanted;
  uint32_t stride; /* every so many is shown */
  double width;    /* of the longest */
} names;

static calm_status take_names(names *out, const chart_frame *f) {
  const report_chart *c = f->chart;
  ARENA_ARRAY(f->scratch, out->text, f->slots);
  for (uint32_t i = 0; i < f->slots; i++) {
    const bool named = c->categories && i < c->category_count;
    const chart_label number = chart_label_of(i);
    TRY(chart_text_shorten(&out->text[i],
                           named ? c->categories[i] : number.text, MOST_NAME,
                           f->scratch));
    if (!c->categories || named) continue;
    out->text[i] = "";
  }
  for (uint32_t i = 0; i < f->slots; i++)
    out->width = fmax(out->width, chart_text_width(out->text[i], 11));
  return CALM_OK;
}

/* Level if all have room, else slanted, else some of them. */
static void settle_names(names *n, const chart_frame *f, double width) {
  const double slot = width / f->slots;
  n->slanted = f->chart->categories && n->width > slot - 6;
  const double needed = n->slanted ? 13 : n->width + 8;
  n->stride = slot >= needed ? 1 : (uint32_t)ceil(needed / slot);
}

/* ---- The frame ----------------------------------------------------------- */

static double width_of_ticks(const chart_axis *axis) {
  double width = 0;
  for (uint32_t i = 0; i < axis->tick_count; i++)
    width = fmax(width, chart_text_width(axis->ticks[i].label.text, 11));
  return width;
}

static double wanted_width(const chart_frame *f) {
  const double bars = (double)f->slots * (f->bars * LEAST_BAR * 1.25);
  return fmin(fmax(bars + 100, LEAST_WIDTH), MOST_WIDTH);
}

/* Lines of signs at `x`; where the next one is to be, and in which line. */
static void next_sign(const chart_frame *f, uint32_t series, double *x,
                      uint32_t *line) {
  const double width =
      SIGN + chart_text_width(f->chart->series[series].name, TEXT_SIZE);
  if (*x > MARGIN && *x + width > f->width - MARGIN) {
    *x = MARGIN;
    *line += 1;
  }
}

static void pass_sign(const chart_frame *f, uint32_t series, double *x) {
  *x += SIGN + chart_text_width(f->chart->series[series].name, TEXT_SIZE) + 18;
}

static bool has_signs(const report_chart *c) { return c->series_count > 1; }

static uint32_t count_sign_lines(const chart_frame *f) {
  double x = MARGIN;
  uint32_t line = 1;
  if (!has_signs(f->chart)) return 0;
  for (uint32_t i = 0; i < f->chart->series_count; i++) {
    next_sign(f, i, &x, &line);
    pass_sign(f, i, &x);
  }
  return line;
}

/* How much of a title is in its first line, if it has two. */
static size_t split_title(const chart_frame *f) {
  const char *title = f->chart->title;
  const double most = f->width - 2 * MARGIN;
  size_t split = strlen(title);
  if (chart_text_width(title, TITLE_SIZE * BOLD) <= most) return split;
  double width = 0;
  for (size_t i = 0; title[i]; i++) {
    const char letter[2] = {title[i], '\0'};
    width += chart_text_width(letter, TITLE_SIZE * BOLD);
    if (width > most) break;
    if (title[i] == ' ') split = i;
  }
  return split;
}

static void settle(chart_frame *f, names *n) {
  const report_chart *c = f->chart;
  f->width = wanted_width(f);
  f->left = 4 * MARGIN; /* about */
  f->right = f->width - MARGIN;
  fit_axes(f);
  f->left = MARGIN + width_of_ticks(&f->y) + 8;
  if (f->slotted) settle_names(n, f, f->right - f->left);
  const double lean = n->slanted ? n->width * slant_across : 0;
  const double half_slot = (f->right - f->left) / f->slots / 2;
  if (lean + 4 > f->left + half_slot) f->left = lean + 4;
  const uint32_t title_lines = c->title[split_title(f)] ? 2 : 1;
  f->top = MARGIN + title_lines * TITLE_LINE + count_sign_lines(f) * LINE +
           LINE + 20;
  f->bottom = f->top + PLOT_HEIGHT;
  const double below = n->slanted ? n->width * slant_down + 16 : LINE + 4;
  const double title = c->x_title && *c->x_title ? LINE : 0;
  f->height = f->bottom + below + title + MARGIN - 4;
}

/* ---- What surrounds the series ------------------------------------------- */

static calm_status draw_head(const chart_frame *f) {
  const report_chart *c = f->chart;
  text_format(f->out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" "
              "height=\"%s\" viewBox=\"0 0 %s %s\" role=\"img\" "
              "aria-labelledby=\"title desc\">\n<title id=\"title\">",
              chart_px(f->width).text, chart_px(f->height).text,
              chart_px(f->width).text, chart_px(f->height).text);
  TRY(chart_text_add(f->out, c->title));
  text_format(f->out, "</title>\n<desc id=\"desc\">");
  TRY(chart_text_add(f->out, c->y_title));
  if (c->x_title) text_format(f->out, " over ");
  TRY(chart_text_add(f->out, c->x_title));
  for (uint32_t i = 0; i < c->series_count; i++) {
    text_format(f->out, i ? ", " : ": ");
    TRY(chart_text_add(f->out, c->series[i].name));
  }
  text_format(f->out,
              "</desc>\n<rect width=\"%s\" height=\"%s\" rx=\"6\" "
              "fill=\"#fff\"/>\n<g font-family=\"system-ui, -apple-system, "
              "'Segoe UI', Roboto, Helvetica, Arial, sans-serif\" "
              "font-size=\"12\" fill=\"#333\">\n",
              chart_px(f->width).text, chart_px(f->height).text);
  return CALM_OK;
}

static calm_status draw_title(const chart_frame *f) {
  static const char attributes[] =
      "font-size=\"16\" font-weight=\"600\" fill=\"#111\"";
  const char *title = f->chart->title;
  const size_t split = split_title(f);
  const char *first = arena_string(f->scratch, title, split);
  if (!first) return context_no_memory(f->scratch->context);
  TRY(chart_text_put(f->out, MARGIN, MARGIN + 15, attributes, first));
  if (!title[split]) return CALM_OK;
  return chart_text_put(f->out, MARGIN, MARGIN + 15 + TITLE_LINE, attributes,
                        title + split + 1);
}

static calm_status draw_signs(const chart_frame *f) {
  double x = MARGIN;
  uint32_t line = 0;
  const double first = f->top - 12 - LINE - count_sign_lines(f) * LINE + 4;
  if (!has_signs(f->chart)) return CALM_OK;
  for (uint32_t i = 0; i < f->chart->series_count; i++) {
    next_sign(f, i, &x, &line);
    chart_series_sign(f, i, x, first + line * LINE);
    TRY(chart_text_put(f->out, x + SIGN, first + line * LINE + 4, "",
                       f->chart->series[i].name));
    pass_sign(f, i, &x);
  }
  return CALM_OK;
}

static void draw_rule(const chart_frame *f, double x1, double y1, double x2,
                      double y2) {
  text_format(f->out, "<path d=\"M%s %sL%s %s\"/>\n", chart_px(x1).text,
              chart_px(y1).text, chart_px(x2).text, chart_px(y2).text);
}

static calm_status draw_y_axis(const chart_frame *f) {
  text_format(f->out, "<g stroke=\"#e2e2e2\" fill=\"none\">\n");
  for (uint32_t i = 0; i < f->y.tick_count; i++) {
    const double y = f->bottom - f->y.ticks[i].at * (f->bottom - f->top);
    draw_rule(f, f->left, y, f->right, y);
  }
  text_format(f->out,
              "</g>\n<g font-size=\"11\" fill=\"#555\" "
              "text-anchor=\"end\">\n");
  for (uint32_t i = 0; i < f->y.tick_count; i++) {
    const double y = f->bottom - f->y.ticks[i].at * (f->bottom - f->top);
    TRY(chart_text_put(f->out, f->left - 6, y + 4, "",
                       f->y.ticks[i].label.text));
  }
  text_format(f->out, "</g>\n");
  return chart_text_put(f->out, MARGIN, f->top - 12, "fill=\"#555\"",
                        f->chart->y_title);
}

static calm_status draw_name(const chart_frame *f, const names *n,
                             uint32_t slot) {
  const double x = chart_frame_x(f, slot);
  if (!n->slanted)
    return chart_text_put(f->out, x, f->bottom + 16, "text-anchor=\"middle\"",
                          n->text[slot]);
  text_format(f->out,
              "<text transform=\"translate(%s %s) rotate(-40)\" "
              "text-anchor=\"end\">",
              chart_px(x + 4).text, chart_px(f->bottom + 13).text);
  TRY(chart_text_add(f->out, n->text[slot]));
  text_format(f->out, "</text>\n");
  return CALM_OK;
}

static calm_status draw_x_ticks(const chart_frame *f) {
  for (uint32_t i = 0; i < f->x.tick_count; i++) {
    const double x = f->left + f->x.ticks[i].at * (f->right - f->left);
    text_format(f->out, "<path stroke=\"#888\" d=\"M%s %sv4\"/>\n",
                chart_px(x).text, chart_px(f->bottom).text);
    TRY(chart_text_put(f->out, x, f->bottom + 17, "text-anchor=\"middle\"",
                       f->x.ticks[i].label.text));
  }
  return CALM_OK;
}

static calm_status draw_x_axis(const chart_frame *f, const names *n) {
  const bool signs = chart_has_base(f->chart) ||
                     (f->y.low < 0 && f->y.high > 0 && !f->chart->log_y);
  text_format(f->out, "<g stroke=\"#888\" fill=\"none\">\n");
  draw_rule(f, f->left, f->bottom, f->right, f->bottom);
  const double base = chart_frame_base(f);
  if (signs) draw_rule(f, f->left, base, f->right, base);
  text_format(f->out, "</g>\n<g font-size=\"11\" fill=\"#555\">\n");
  if (!f->slotted) TRY(draw_x_ticks(f));
  for (uint32_t i = 0; f->slotted && i < f->slots; i += n->stride)
    TRY(draw_name(f, n, i));
  text_format(f->out, "</g>\n");
  return chart_text_put(f->out, (f->left + f->right) / 2, f->height - MARGIN,
                        "fill=\"#555\" text-anchor=\"middle\"",
                        f->chart->x_title);
}

/* ---- Marks --------------------------------------------------------------- */

/* The highest mark below one that is drawn already. */
static const chart_mark *next_mark(const report_chart *c,
                                   const chart_mark *last) {
  const chart_mark *next = NULL;
  for (uint32_t i = 0; i < c->mark_count; i++) {
    const chart_mark *m = &c->marks[i];
    const bool below = !last || m->y < last->y || (m->y == last->y && m > last);
    if (chart_shows(c->log_y, m->y) && below && (!next || m->y > next->y))
      next = m;
  }
  return next;
}

/* From the top.  A label lies above its line, or below if that would lie on the
   line or the label before.  Below it is the same in white, so that it can be
   read on anything. */
static calm_status draw_marks(const chart_frame *f) {
  double taken = f->top - 20;
  for (const chart_mark *m = next_mark(f->chart, NULL); m;
       m = next_mark(f->chart, m)) {
    const double y = chart_frame_y(f, m->y);
    text_format(f->out,
                "<path stroke=\"#222\" stroke-width=\"1.2\" "
                "stroke-dasharray=\"5 4\" d=\"M%s %sH%s\"/>\n",
                chart_px(f->left).text, chart_px(y).text,
                chart_px(f->right).text);
    const double label = y - 5 >= taken + 13 ? y - 5 : fmax(y, taken) + 13;
    TRY(chart_text_put(f->out, f->right - 4, label,
                       "font-size=\"11\" text-anchor=\"end\" fill=\"#fff\" "
                       "stroke=\"#fff\" stroke-width=\"4\" "
                       "stroke-linejoin=\"round\" aria-hidden=\"true\"",
                       m->name));
    TRY(chart_text_put(f->out, f->right - 4, label,
                       "font-size=\"11\" text-anchor=\"end\" fill=\"#222\"",
                       m->name));
    taken = fmax(y, label);
  }
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static bool is_empty(const chart_frame *f) {
  for (uint32_t i = 0; i < f->chart->series_count; i++)
    for (uint32_t k = 0; k < f->chart->series[i].count; k++)
      if (chart_frame_shows(f, &f->chart->series[i], k)) return false;
  return true;
}

static calm_status draw_series(const chart_frame *f) {
  for (uint32_t i = 0; i < f->chart->series_count; i++)
    TRY(chart_series_draw(f, i));
  if (!is_empty(f)) return CALM_OK;
  return chart_text_put(f->out, (f->left + f->right) / 2,
                        (f->top + f->bottom) / 2,
                        "text-anchor=\"middle\" fill=\"#777\"", "no values");
}

static calm_status draw(chart_frame *f) {
  names n = {.stride = 1};
  f->bars = count_kind(f->chart, CHART_BARS);
  f->slotted = f->chart->categories || f->bars;
  f->slots = count_slots(f->chart);
  TRY(take_names(&n, f));
  settle(f, &n);
  TRY(draw_head(f));
  chart_series_define(f);
  TRY(draw_title(f));
  TRY(draw_signs(f));
  TRY(draw_y_axis(f));
  TRY(draw_x_axis(f, &n));
  TRY(draw_series(f));
  TRY(draw_marks(f));
  text_format(f->out, "</g>\n</svg>\n");
  return CALM_OK;
}

calm_status report_chart_svg(text *out, const report_chart *c) {
  arena scratch;
  arena_init(&scratch, out->context);
  report_chart titled = *c;
  if (!titled.title) titled.title = "";
  chart_frame f = {.chart = &titled, .out = out, .scratch = &scratch};
  const calm_status status = draw(&f);
  arena_free(&scratch);
  return status;
}
