/* Graphs that would take very long if anything were more than near-linear. */
#include <stdio.h>

#include "base/text.h"
#include "unit/rewrite_peaks.h"

/* All names are in one chain of a hostile table. */
enum { MANY = CALM_HOSTILE ? 300 : 20000, MOST_PARTS = 1024 };

typedef struct drawing {
  rewrite_fixture x;
  calm_context *context;
  text lines;
} drawing;

static void begin(drawing *d) {
  d->context = calm_context_new(NULL);
  text_init(&d->lines, d->context);
}

/* Find all sites and take them; as operators that a runtime has, too. */
static void finish(drawing *d) {
  char *lines;
  graph_edit chained;
  assert_int_equal(text_finish(&d->lines, &lines), CALM_OK);
  rewrite_open_lines(&d->x, lines);
  rewrite_do_all(&d->x);
  if (rewrite_chain(&chained, &d->x.edit, d->x.edit.after.order, false,
                    &d->x.a) ||
      rewrite_check(&chained, d->x.context))
    fail_msg("%s", calm_context_message(d->x.context));
  graph_edit_free(&chained);
  calm_text_free(d->context, lines);
}

static void end(drawing *d) {
  rewrite_close(&d->x);
  assert_int_equal(calm_context_bytes(d->context), 0);
  calm_context_free(d->context);
}

static uint32_t count_refused(const drawing *d, const char *why) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->x.sites.count; i++) {
    const char *refusal = d->x.sites.sites[i].refusal;
    count += refusal && !strcmp(refusal, why);
  }
  return count;
}

/* ---- Concats of concats -------------------------------------------------- */

/* Thirty concats of the one before and itself, each with a reader of its own.
   Up to the tenth they are parts; but then those of eleven and more are known
   as so many of these. */
static void draw_doubling(drawing *d, const char *reader, bool mixes) {
  enum { LEVELS = 30 };
  uint64_t bytes = 8;
  begin(d);
  text_format(&d->lines,
              "tensor x 8 input\ntensor t0 8\n"
              "op o0 relu ( x ) -> ( t0 )\n");
  for (int i = 1; i <= LEVELS; i++) {
    bytes *= 2;
    text_format(&d->lines, "tensor t%d %llu\ntensor r%d %llu output\n", i,
                (unsigned long long)bytes, i,
                mixes ? 8ULL : (unsigned long long)bytes);
    text_format(&d->lines, "op o%d concat ( t%d t%d ) -> ( t%d )\n", i, i - 1,
                i - 1, i);
    text_format(&d->lines, "op k%d %s ( t%d ) -> ( r%d )\n", i, reader, i, i);
  }
  finish(d);
}

static void test_doubling(void **state) {
  (void)state;
  drawing d;
  draw_doubling(&d, "conv2d", true);
  assert_null(rewrite_site_named(&d.x, "o10>k10")->refusal);
  assert_string_equal(rewrite_site_named(&d.x, "o10>o11")->refusal,
                      "it would become more than 1024 operators");
  assert_null(rewrite_site_named(&d.x, "o12>k12")->refusal);
  assert_string_equal(rewrite_site_named(&d.x, "o25>k25")->refusal,
                      "too many operators have been made already");
  end(&d);
  draw_doubling(&d, "relu", false);
  assert_true(count_refused(&d, "too many operators have been made already"));
  end(&d);
}

/* Each concat has one operand more than the one before. */
static void test_nested(void **state) {
  (void)state;
  drawing d;
  begin(&d);
  text_format(&d.lines,
              "tensor x 8 input\ntensor t0 8\n"
              "op o0 relu ( x ) -> ( t0 )\n");
  for (int i = 1; i <= MANY; i++) {
    text_format(&d.lines, "tensor a%d 8\nop e%d relu ( x ) -> ( a%d )\n", i, i,
                i);
    text_format(&d.lines, "tensor t%d %d\n", i, 8 * (i + 1));
    text_format(&d.lines, "op o%d concat ( t%d a%d ) -> ( t%d )\n", i, i - 1, i,
                i);
  }
  text_format(&d.lines, "tensor y 8 output\nop last conv2d ( t%d ) -> ( y )\n",
              MANY);
  finish(&d);
  assert_int_equal(d.x.sites.count, MANY);
  end(&d);
}

/* ---- Many operands ------------------------------------------------------- */

static void draw_operands(drawing *d, int count) {
  begin(d);
  text_format(&d->lines, "tensor x 8 input\n");
  for (int i = 0; i < count; i++)
    text_format(&d->lines, "tensor a%d 8\nop e%d relu ( x ) -> ( a%d )\n", i, i,
                i);
}

static void draw_reader(drawing *d, const char *kind, int count) {
  text_format(&d->lines, "op wide %s (", kind);
  for (int i = 0; i < count; i++) text_format(&d->lines, " a%d", i);
  text_format(&d->lines, " ) -> ( w )\n");
}

static void test_wide_concats(void **state) {
  (void)state;
  static const int counts[] = {MOST_PARTS, MOST_PARTS + 1, 20000};
  drawing d;
  for (int k = 0; k < (CALM_HOSTILE ? 2 : 3); k++) {
    draw_operands(&d, counts[k]);
    text_format(&d.lines, "tensor w %d\ntensor y 8 output\n", 8 * counts[k]);
    draw_reader(&d, "concat", counts[k]);
    text_format(&d.lines, "op conv conv2d ( w ) -> ( y )\n");
    finish(&d);
    assert_int_equal(
        count_refused(&d, "it would become more than 1024 operators"),
        counts[k] > MOST_PARTS);
    end(&d);
  }
}

static void test_wide_sums(void **state) {
  (void)state;
  drawing d;
  draw_operands(&d, MANY);
  text_format(&d.lines, "tensor w 8 output\n");
  draw_reader(&d, "add_n", MANY);
  finish(&d);
  assert_null(rewrite_site_named(&d.x, "wide")->refusal);
  assert_int_equal(d.x.edit.after.ops.count, 2 * MANY + 1);
  end(&d);
}

/* ---- Long chains --------------------------------------------------------- */

static void draw_chain(drawing *d, const char *kind, const char *other) {
  begin(d);
  text_format(&d->lines,
              "tensor x 8 input\ntensor c 8 const\ntensor t0 8\n"
              "op o0 relu ( x ) -> ( t0 )\n");
  for (int i = 1; i <= MANY; i++) {
    text_format(&d->lines, "tensor t%d 8%s\n", i, i == MANY ? " output" : "");
    text_format(&d->lines, "op o%d %s ( t%d %s ) -> ( t%d )\n", i, kind, i - 1,
                other, i);
  }
  finish(d);
}

static void test_chains(void **state) {
  (void)state;
  drawing d;
  draw_chain(&d, "add", "x");
  assert_int_equal(d.x.edit.after.ops.count, MANY + 3);
  end(&d);
  draw_chain(&d, "mul", "c");
  assert_int_equal(d.x.edit.after.ops.count, 2);
  end(&d);
  draw_chain(&d, "identity", "");
  assert_int_equal(d.x.edit.after.ops.count, 2);
  end(&d);
  draw_chain(&d, "relu", "");
  assert_int_equal(d.x.edit.after.ops.count, MANY + 1);
  end(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_doubling), cmocka_unit_test(test_nested),
      cmocka_unit_test(test_wide_concats), cmocka_unit_test(test_wide_sums),
      cmocka_unit_test(test_chains)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
