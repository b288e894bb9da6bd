/* Files replaced as a whole, from pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"

typedef struct place {
  calm_context *context;
  char directory[64], path[96];
} place;

static place begin(void) {
  place p = {calm_context_new(NULL), "/tmp/calm-test-XXXXXX", ""};
  assert_non_null(mkdtemp(p.directory));
  snprintf(p.path, sizeof p.path, "%s/target", p.directory);
  return p;
}

static void end(place *p) {
  unlink(p->path);
  assert_int_equal(rmdir(p->directory), 0); /* nothing else is left in it */
  assert_int_equal(calm_context_bytes(p->context), 0);
  calm_context_free(p->context);
}

static void expect_content(const place *p, const char *path,
                           const char *content) {
  file_map map;
  assert_int_equal(file_map_open(&map, p->context, path), CALM_OK);
  assert_int_equal(map.length, strlen(content));
  assert_memory_equal(map.bytes, content, map.length);
  file_map_close(&map);
}

static const file_pieces *pieces_of(const char *first, const char *second) {
  static file_piece list[3];
  static file_pieces pieces;
  list[0] = (file_piece){(const uint8_t *)first, strlen(first), false};
  list[1] = (file_piece){(const uint8_t *)"", 0, false};
  list[2] = (file_piece){(const uint8_t *)second, strlen(second), false};
  pieces = (file_pieces){list, 3, 3};
  return &pieces;
}

static void a_draft_replaces_when_it_is_committed(void **state) {
  (void)state;
  place p = begin();
  file_draft draft;
  assert_int_equal(file_write(p.context, p.path, "old", 3), CALM_OK);
  assert_int_equal(chmod(p.path, 0640), 0);
  assert_int_equal(
      file_draft_write(&draft, p.context, p.path, pieces_of("one ", "two")),
      CALM_OK);
  expect_content(&p, p.path, "old");
  expect_content(&p, draft.temporary, "one two");
  assert_int_equal(file_draft_commit(&draft), CALM_OK);
  expect_content(&p, p.path, "one two");
  struct stat info;
  assert_int_equal(stat(p.path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
  end(&p);
}

static void a_dropped_draft_leaves_nothing(void **state) {
  (void)state;
  place p = begin();
  file_draft draft;
  assert_int_equal(
      file_draft_write(&draft, p.context, p.path, pieces_of("a", "b")),
      CALM_OK);
  file_draft_drop(&draft);
  assert_int_not_equal(access(p.path, F_OK), 0);
  end(&p);
}

static void a_link_stays_a_link(void **state) {
  (void)state;
  place p = begin();
  char link[112];
  file_draft draft;
  struct stat info;
  snprintf(link, sizeof link, "%s.link", p.path);
  assert_int_equal(file_write(p.context, p.path, "old", 3), CALM_OK);
  assert_int_equal(symlink(p.path, link), 0);
  assert_int_equal(
      file_draft_write(&draft, p.context, link, pieces_of("n", "ew")), CALM_OK);
  assert_int_equal(file_draft_commit(&draft), CALM_OK);
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  expect_content(&p, p.path, "new");
  unlink(link);
  end(&p);
}

static void a_device_takes_what_the_draft_holds(void **state) {
  (void)state;
  place p = begin();
  file_draft draft;
  assert_int_equal(
      file_draft_write(&draft, p.context, "/dev/null", pieces_of("a", "b")),
      CALM_OK);
  expect_content(&p, draft.temporary, "ab");
  assert_int_equal(file_draft_commit(&draft), CALM_OK);
  struct stat info;
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
  end(&p);
}

static void a_directory_that_is_not_there_is_said(void **state) {
  (void)state;
  place p = begin();
  char path[128];
  file_draft draft;
  snprintf(path, sizeof path, "%s/none/target", p.directory);
  assert_int_equal(
      file_draft_write(&draft, p.context, path, pieces_of("a", "b")), CALM_IO);
  assert_non_null(strstr(calm_context_message(p.context), "cannot write"));
  end(&p);
}

/* Pages that were let go come back from the file. */
static void a_map_is_copied_and_stays_readable(void **state) {
  (void)state;
  enum { LENGTH = 9000001 };
  place p = begin();
  char copy[112];
  file_map map, again;
  file_draft draft;
  uint8_t *bytes = malloc(LENGTH);
  assert_non_null(bytes);
  for (size_t i = 0; i < LENGTH; i++) bytes[i] = (uint8_t)(i * i >> 7);
  snprintf(copy, sizeof copy, "%s.copy", p.path);
  assert_int_equal(file_write(p.context, p.path, bytes, LENGTH), CALM_OK);
  assert_int_equal(file_map_open(&map, p.context, p.path), CALM_OK);
  file_piece list[] = {{map.bytes, 5, true}, {map.bytes + 5, LENGTH - 5, true}};
  const file_pieces pieces = {list, 2, 2};
  assert_int_equal(file_draft_write(&draft, p.context, copy, &pieces), CALM_OK);
  assert_int_equal(file_draft_commit(&draft), CALM_OK);
  assert_int_equal(file_map_open(&again, p.context, copy), CALM_OK);
  assert_int_equal(again.length, LENGTH);
  assert_memory_equal(map.bytes, bytes, LENGTH);
  assert_memory_equal(again.bytes, bytes, LENGTH);
  file_map_close(&map);
  file_map_close(&again);
  unlink(copy);
  free(bytes);
  end(&p);
}

static void a_written_copy_of_a_map_leaves_the_file(void **state) {
  (void)state;
  place p = begin();
  file_map map;
  assert_int_equal(file_write(p.context, p.path, "old", 3), CALM_OK);
  assert_int_equal(file_map_open(&map, p.context, p.path), CALM_OK);
  assert_int_equal(file_map_detach(&map, p.context, p.path), CALM_OK);
  ((uint8_t *)(uintptr_t)map.bytes)[0] = 'c';
  assert_memory_equal(map.bytes, "cld", 3);
  expect_content(&p, p.path, "old");
  file_map_close(&map);
  end(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_draft_replaces_when_it_is_committed),
      cmocka_unit_test(a_dropped_draft_leaves_nothing),
      cmocka_unit_test(a_link_stays_a_link),
      cmocka_unit_test(a_device_takes_what_the_draft_holds),
      cmocka_unit_test(a_directory_that_is_not_there_is_said),
      cmocka_unit_test(a_map_is_copied_and_stays_readable),
      cmocka_unit_test(a_written_copy_of_a_map_leaves_the_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
