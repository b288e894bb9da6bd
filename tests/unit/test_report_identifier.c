/* Names as C identifiers and in comments. */
#include "report/report_identifier.h"

#include "report_fixture.h"

typedef struct bench {
  uint64_t allocations_left;
  calm_context *context;
  arena arena;
} bench;

static int open_bench(void **state) {
  static bench b;
  const calm_allocator scarce = {scarce_reallocate, &b.allocations_left};
  b.allocations_left = SCARCE_NEVER;
  b.context = calm_context_new(&scarce);
  arena_init(&b.arena, b.context);
  *state = &b;
  return 0;
}

static int close_bench(void **state) {
  bench *b = *state;
  arena_free(&b->arena);
  assert_int_equal(calm_context_bytes(b->context), 0);
  calm_context_free(b->context);
  return 0;
}

static void odd_characters_become_one_underscore(void **state) {
  bench *b = *state;
  const struct {
    const char *name, *upper, *lower;
  } cases[] = {{"conv", "CONV", "conv"},
               {"a/b:0", "A_B_0", "a_b_0"},
               {"__a..b__", "A_B", "a_b"},
               {"3rd", "3RD", "3rd"}, /* stands behind a prefix */
               {"na\xc3\xafve", "NA_VE", "na_ve"},
               {"\xff", "UNNAMED", "unnamed"},
               {"", "UNNAMED", "unnamed"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_string_equal(
        report_identifier(&b->arena, cases[i].name, IDENTIFIER_UPPER),
        cases[i].upper);
    assert_string_equal(
        report_identifier(&b->arena, cases[i].name, IDENTIFIER_LOWER),
        cases[i].lower);
  }
}

static void long_names_are_cut(void **state) {
  bench *b = *state;
  char name[200];
  memset(name, 'x', sizeof name);
  name[62] = '/'; /* no underscore is left at the end */
  name[199] = '\0';
  const char *out = report_identifier(&b->arena, name, IDENTIFIER_UPPER);
  assert_int_equal(strlen(out), 62);
  assert_int_equal(out[61], 'X');
  name[61] = '/';
  name[62] = 'x';
  out = report_identifier(&b->arena, name, IDENTIFIER_UPPER);
  assert_int_equal(strlen(out), 63);
  assert_int_equal(out[61], '_');
}

static void a_file_gives_its_stem(void **state) {
  bench *b = *state;
  const struct {
    const char *path, *upper;
  } cases[] = {{"dir.d/my-net.v2.tflite", "MY_NET_V2"},
               {"net", "NET"},
               {"/a/.hidden", "HIDDEN"},
               {"a/", "A"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(
        report_identifier_of_file(&b->arena, cases[i].path, IDENTIFIER_UPPER),
        cases[i].upper);
}

static const char *tell(identifiers *set, const char *word) {
  const char *out;
  assert_int_equal(identifiers_tell(&out, set, word), CALM_OK);
  return out;
}

/* Also where the number that is due was somebody's own name. */
static void equal_identifiers_are_numbered(void **state) {
  bench *b = *state;
  identifiers set;
  identifiers_init(&set, &b->arena);
  assert_string_equal(tell(&set, "A"), "A");
  assert_string_equal(tell(&set, "A_3"), "A_3");
  assert_string_equal(tell(&set, "A"), "A_2");
  assert_string_equal(tell(&set, "A"), "A_4");
  assert_string_equal(tell(&set, "A_2"), "A_2_2");
  assert_string_equal(tell(&set, "A"), "A_5");
  identifiers_free(&set);
}

static void comments_neither_end_nor_begin_comments(void **state) {
  bench *b = *state;
  const struct {
    const char *name, *comment;
  } cases[] = {{"a", "a"},
               {"*/", "*\\x2f"},
               {"/*", "/\\x2a"},
               {"**/ /*/", "**\\x2f /\\x2a\\x2f"},
               {"two\nlines\t", "two\\x0alines\\x09"},
               {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
               {"back\\slash", "back\\slash"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    text t;
    char *out;
    text_init(&t, b->context);
    report_comment(&t, cases[i].name);
    assert_int_equal(text_finish(&t, &out), CALM_OK);
    assert_string_equal(out, cases[i].comment);
    calm_text_free(b->context, out);
  }
}

int main(void) {
#define BENCH_TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
  const struct CMUnitTest tests[] = {
      BENCH_TEST(odd_characters_become_one_underscore),
      BENCH_TEST(long_names_are_cut),
      BENCH_TEST(a_file_gives_its_stem),
      BENCH_TEST(equal_identifiers_are_numbered),
      BENCH_TEST(comments_neither_end_nor_begin_comments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
