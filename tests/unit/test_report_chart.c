#include "report/report_chart.h"

#include <float.h>
#include <math.h>

#include "report_fixture.h"

/* ---- XML, as far as charts have it --------------------------------------- */

enum { DEEPEST = 16 };

typedef struct reader {
  const char *at;
  const char *open[DEEPEST]; /* names of elements */
  size_t lengths[DEEPEST];
  int depth;
} reader;

static size_t name_length(const char *s) {
  return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
}

/* &amp; and its like, of which there are five. */
static bool is_entity(const char *s) {
  static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  for (int i = 0; i < 4; i++)
    if (!strncmp(s, known[i], strlen(known[i]))) return true;
  return false;
}

/* Attributes up to the end of a tag; true if it has no content. */
static bool read_attributes(reader *r) {
  for (;;) {
    r->at += strspn(r->at, " \n");
    if (*r->at == '>') return r->at++, false;
    if (r->at[0] == '/' && r->at[1] == '>') return r->at += 2, true;
    const size_t length = name_length(r->at);
    assert_int_not_equal(length, 0);
    r->at += length;
    assert_memory_equal(r->at, "=\"", 2);
    r->at += 2;
    for (; *r->at != '"'; r->at++) {
      assert_true(*r->at && *r->at != '<');
      if (*r->at == '&') assert_true(is_entity(r->at));
    }
    r->at++;
    assert_non_null(strchr(" />\n", *r->at));
  }
}

static void read_tag(reader *r) {
  const bool closing = *++r->at == '/';
  r->at += closing;
  const char *name = r->at;
  const size_t length = name_length(name);
  assert_int_not_equal(length, 0);
  r->at += length;
  if (closing) {
    assert_true(r->depth > 0);
    r->depth--;
    assert_int_equal(r->lengths[r->depth], length);
    assert_memory_equal(r->open[r->depth], name, length);
    assert_int_equal(*r->at++, '>');
  } else if (!read_attributes(r)) {
    assert_true(r->depth < DEEPEST);
    r->open[r->depth] = name;
    r->lengths[r->depth++] = length;
  }
}

/* One element, with whatever is in it. */
static void assert_well_formed(const char *document) {
  reader r = {.at = document};
  do {
    if (*r.at == '<') {
      read_tag(&r);
      continue;
    }
    assert_true((unsigned char)*r.at >= 0x20 || *r.at == '\n');
    if (*r.at == '&') assert_true(is_entity(r.at));
    r.at++;
  } while (r.depth);
  assert_string_equal(r.at, "\n");
}

/* ---- Charts -------------------------------------------------------------- */

typedef struct desk {
  calm_context *context;
  char *svg;
} desk;

static void draw(desk *d, const report_chart *chart) {
  text t;
  d->context = calm_context_new(NULL);
  text_init(&t, d->context);
  assert_int_equal(report_chart_svg(&t, chart), CALM_OK);
  assert_int_equal(text_finish(&t, &d->svg), CALM_OK);
  assert_well_formed(d->svg);
  assert_null(strstr(d->svg, "nan"));
  assert_null(strstr(d->svg, "inf"));
}

static void clear(desk *d) {
  calm_text_free(d->context, d->svg);
  assert_int_equal(calm_context_bytes(d->context), 0);
  calm_context_free(d->context);
}

static uint32_t count(const char *text, const char *part) {
  uint32_t found = 0;
  for (; (text = strstr(text, part)); text++) found++;
  return found;
}

static const double some[] = {1, 20, 300};

static report_chart chart_of(const chart_series *series, uint32_t count) {
  return (report_chart){.title = "title",
                        .x_title = "x",
                        .y_title = "y",
                        .series = series,
                        .series_count = count};
}

static void an_empty_chart_says_so(void **state) {
  (void)state;
  desk d;
  static const double none[] = {NAN, NAN, NAN};
  report_chart c = chart_of(NULL, 0);
  draw(&d, &c);
  assert_non_null(strstr(d.svg, "no values"));
  clear(&d);
  for (int kind = CHART_BARS; kind <= CHART_POINTS; kind++) {
    const chart_series s[] = {{"s", (chart_kind)kind, NULL, none, 3},
                              {"t", (chart_kind)kind, NULL, NULL, 0}};
    c = chart_of(s, 2);
    draw(&d, &c);
    assert_non_null(strstr(d.svg, "no values"));
    clear(&d);
  }
}

static void one_point_has_axes(void **state) {
  (void)state;
  for (int kind = CHART_BARS; kind <= CHART_POINTS; kind++)
    for (int log = 0; log < 4; log++) {
      desk d;
      const double x = 7;
      const chart_series s = {"s", (chart_kind)kind, &x, some + 1, 1};
      report_chart c = chart_of(&s, 1);
      c.log_x = log & 1;
      c.log_y = log & 2;
      draw(&d, &c);
      assert_null(strstr(d.svg, "no values"));
      clear(&d);
    }
}

static void what_cannot_be_shown_is_left_out(void **state) {
  (void)state;
  desk d;
  const double y[] = {10, 0, -5, NAN, HUGE_VAL, 1000};
  const chart_series s = {"s", CHART_BARS, NULL, y, 6};
  report_chart c = chart_of(&s, 1);
  c.log_y = true;
  draw(&d, &c);
  assert_int_equal(count(d.svg, "V"), 4); /* two bars */
  clear(&d);
  const chart_series line = {"s", CHART_LINES, NULL, y, 6};
  c = chart_of(&line, 1);
  draw(&d, &c);
  assert_int_equal(count(d.svg, "translate("), 4);
  clear(&d);
}

static void huge_and_tiny_values_have_axes(void **state) {
  static const double values[][2] = {{DBL_MAX, -DBL_MAX},
                                     {DBL_MAX, DBL_MIN},
                                     {1e300, 1e-300},
                                     {5e-324, 1e-323},
                                     {0, 0},
                                     {1, 1 + DBL_EPSILON},
                                     {-1e15, -1e15},
                                     {0, 1e-320}};
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    for (int log = 0; log < 2; log++)
      for (int kind = CHART_BARS; kind <= CHART_POINTS; kind++) {
        desk d;
        const chart_series s = {"s", (chart_kind)kind, values[i], values[i], 2};
        report_chart c = chart_of(&s, 1);
        c.log_x = c.log_y = log;
        draw(&d, &c);
        clear(&d);
      }
}

#define LONG_NAME "a name that is much too long to be shown whole below an axis"

static void words_are_escaped(void **state) {
  (void)state;
  desk d;
  const char *const categories[] = {"a<b>&\"c\"", "\x01\xff", "\xef\xbf\xbf",
                                    LONG_NAME};
  const double y[] = {1, 2, 3, 4};
  const chart_series s[] = {{"<s>", CHART_BARS, NULL, y, 4},
                            {"&t", CHART_LINES, NULL, y, 4}};
  const chart_mark mark = {"\"mark\"", 2.5};
  report_chart c = {.title = "1 < 2 & 3 > 2",
                    .x_title = "<x>",
                    .y_title = "\"y\"",
                    .categories = categories,
                    .category_count = 4,
                    .series = s,
                    .series_count = 2,
                    .marks = &mark,
                    .mark_count = 1};
  draw(&d, &c);
  assert_non_null(
      strstr(d.svg, "<title id=\"title\">1 &lt; 2 &amp; 3 &gt; 2<"));
  assert_non_null(strstr(d.svg, "a&lt;b&gt;&amp;&quot;c&quot;"));
  assert_non_null(strstr(d.svg, "\\x01\\xff"));
  assert_null(strstr(d.svg, "much too long to be"));
  assert_non_null(strstr(d.svg, "a name that"));
  clear(&d);
}

static void bars_begin_where_they_are_told(void **state) {
  (void)state;
  desk d;
  const double y[] = {0.5, 1, 4};
  const chart_series s = {"s", CHART_BARS, NULL, y, 3};
  report_chart c = chart_of(&s, 1);
  c.log_y = true;
  draw(&d, &c);
  assert_int_equal(count(d.svg, "V"), 6);
  clear(&d);
  c.base = 1;
  draw(&d, &c);
  double at[3][2];
  const char *bar = strstr(d.svg, "<g fill=\"#0072b2\"");
  for (int i = 0; i < 3; i++) {
    assert_non_null(bar);
    bar = strstr(bar + 1, "<path d=\"M");
    assert_non_null(bar);
    assert_int_equal(
        sscanf(bar, "<path d=\"M%*f %lfV%lf", &at[i][0], &at[i][1]), 2);
  }
  assert_true(at[0][1] > at[0][0]); /* down */
  assert_true(at[1][1] == at[1][0]);
  assert_true(at[2][1] < at[2][0]);
  clear(&d);
}

static void words_may_be_absent(void **state) {
  (void)state;
  desk d;
  const chart_series s[] = {{NULL, CHART_BARS, NULL, some, 3},
                            {NULL, CHART_LINES, NULL, some, 3}};
  const char *const categories[] = {NULL, NULL, NULL};
  const chart_mark mark = {NULL, 2.5};
  report_chart c = {.categories = categories,
                    .category_count = 3,
                    .series = s,
                    .series_count = 2,
                    .marks = &mark,
                    .mark_count = 1};
  draw(&d, &c);
  clear(&d);
}

static void series_differ_by_more_than_colour(void **state) {
  (void)state;
  desk d;
  chart_series s[10];
  for (int i = 0; i < 10; i++)
    s[i] = (chart_series){"s", CHART_BARS, NULL, some, 3};
  report_chart c = chart_of(s, 10);
  draw(&d, &c);
  assert_int_equal(count(d.svg, "<pattern "), 9); /* the first one is plain */
  clear(&d);
  for (int i = 0; i < 10; i++) s[i].kind = CHART_STEPS;
  draw(&d, &c);
  /* each as a line and as a sign */
  assert_int_equal(count(d.svg, "stroke-dasharray"), 2 * 9);
  clear(&d);
}

static void steps_hold_until_the_next(void **state) {
  (void)state;
  desk d;
  const double x[] = {0, 1, 3}, y[] = {2, 4, 4};
  const chart_series s = {"s", CHART_STEPS, x, y, 3};
  report_chart c = chart_of(&s, 1);
  draw(&d, &c);
  const char *path = strstr(d.svg, "stroke-linejoin=\"round\" d=\"M");
  assert_non_null(path);
  /* over, up, over to where the axis ends; the third is where the second is */
  assert_int_equal(count(path, "V"), 1);
  clear(&d);
}

static void the_same_chart_is_the_same_bytes(void **state) {
  (void)state;
  desk a, b;
  const chart_series s = {"s", CHART_LINES, NULL, some, 3};
  report_chart c = chart_of(&s, 1);
  draw(&a, &c);
  draw(&b, &c);
  assert_string_equal(a.svg, b.svg);
  clear(&a);
  clear(&b);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  const chart_series s[] = {{"s", CHART_BARS, NULL, some, 3},
                            {"t", CHART_LINES, NULL, some, 3}};
  report_chart c = chart_of(s, 2);
  for (uint64_t granted = 1;; granted++) {
    uint64_t left = granted;
    text t;
    char *svg = NULL;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    text_init(&t, context);
    calm_status status = report_chart_svg(&t, &c);
    if (status == CALM_OK)
      status = text_finish(&t, &svg);
    else
      text_free(&t);
    calm_text_free(context, svg);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_chart_says_so),
      cmocka_unit_test(one_point_has_axes),
      cmocka_unit_test(what_cannot_be_shown_is_left_out),
      cmocka_unit_test(huge_and_tiny_values_have_axes),
      cmocka_unit_test(words_are_escaped),
      cmocka_unit_test(bars_begin_where_they_are_told),
      cmocka_unit_test(words_may_be_absent),
      cmocka_unit_test(series_differ_by_more_than_colour),
      cmocka_unit_test(steps_hold_until_the_next),
      cmocka_unit_test(the_same_chart_is_the_same_bytes),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
