/* Regions as the command line spells them. */
#include "graph_fixture.h"
#include "tile/tile.h"

static void expect_round_trip(const char *list) {
  fixture f;
  tile_region *regions;
  uint32_t count;
  text t;
  char *out;
  fixture_open(&f, NULL);
  if (tile_parse(&regions, &count, list, &f.arena))
    fail_msg("%s", calm_context_message(f.context));
  text_init(&t, f.context);
  for (uint32_t i = 0; i < count; i++) {
    if (i) text_add(&t, ",", 1);
    tile_print(&t, &regions[i]);
  }
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  assert_string_equal(out, list);
  calm_text_free(f.context, out);
  fixture_close(&f);
}

static void lists_are_read_and_written(void **state) {
  (void)state;
  expect_round_trip("0-3:4:pad");
  expect_round_trip("0-7:4x4:pad,8-8:12:cache");
  expect_round_trip("10-10:1x2:pad,0-3:5:same");
}

static void expect_misuse(const char *list, uint32_t character,
                          const char *what) {
  fixture f;
  tile_region *regions;
  uint32_t count;
  char begin[128];
  fixture_open(&f, NULL);
  assert_int_equal(tile_parse(&regions, &count, list, &f.arena), CALM_MISUSE);
  snprintf(begin, sizeof begin, "'%s', character %u: %s;", list, character,
           what);
  const char *message = calm_context_message(f.context);
  if (strncmp(message, begin, strlen(begin)))
    fail_msg("'%s' does not begin with '%s'", message, begin);
  fixture_close(&f);
}

static void a_misspelt_list_says_where(void **state) {
  (void)state;
  expect_misuse("", 1, "a number is missing");
  expect_misuse("0-3:4:pad,", 11, "a number is missing");
  expect_misuse("0", 2, "a '-' is missing");
  expect_misuse("3-1:4:pad", 1, "the last operator comes before the first");
  expect_misuse("0-3", 4, "a ':' is missing");
  expect_misuse("0-3:1:pad", 5, "there must be two tiles at least");
  expect_misuse("0-3:0x4:pad", 5, "there must be two tiles at least");
  expect_misuse("0-3:4", 6, "a ':' is missing");
  expect_misuse("0-3:4:halo", 7, "the mode is pad, same or cache");
  expect_misuse("0-3:4:pad 5", 7, "the mode is pad, same or cache");
  expect_misuse("0-99999999999999999999:4:pad", 3, "this number is too large");
  expect_misuse("0-3:4294967297:pad", 5, "this number is too large");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_read_and_written),
      cmocka_unit_test(a_misspelt_list_says_where),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
