/* What is compiled in is what lies in bench/cases. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_fixture.h"

static void assert_embedded(const char *name) {
  char path[512];
  const bench_case *c = bench_case_find(name);
  assert_non_null(c);
  snprintf(path, sizeof path, CALM_SOURCE_DIR "/bench/cases/%s", name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *bytes = malloc(c->length + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, c->length + 1, file), c->length);
  assert_memory_equal(bytes, c->bytes, c->length);
  assert_int_equal(c->bytes[c->length], '\0');
  free(bytes);
  fclose(file);
}

static void each_case_is_embedded(void **state) {
  (void)state;
  DIR *folder = opendir(CALM_SOURCE_DIR "/bench/cases");
  if (!folder) skip();
  size_t count = 0;
  for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
    if (e->d_name[0] == '.') continue;
    assert_embedded(e->d_name);
    count++;
  }
  closedir(folder);
  for (const bench_case *c = embedded_cases; c->name; c++) count--;
  assert_int_equal(count, 0);
  assert_null(bench_case_find("nothing.cg"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_case_is_embedded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
