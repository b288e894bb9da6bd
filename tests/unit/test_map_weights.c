/* CoSA's weights as a file: of one machine, and of no other. */
#include "map_fixture.h"

#include "map_parts.h"

static const mapper_cosa_weights given = {1.5, 0.1, 12345.678901234567};

typedef struct weights_run {
  calm_mapping mapping;
  map_run run;
  const char *parts[2];
  calm_map_files files;
} weights_run;

static void begin(weights_run *w, map_fixture *f) {
  *w = (weights_run){.parts = {f->arch, f->first}};
  w->files = (calm_map_files){.arch = w->parts, .arch_count = 1};
  w->mapping.context = f->context;
  w->mapping.arch.name = "odd \xff name";
  arena_init(&w->mapping.arena, f->context);
  map_set(f, "cosa-weights", f->other);
  w->run = (map_run){
      .mapping = &w->mapping, .files = &w->files, .options = f->options};
}

static void write_weights(weights_run *w, map_fixture *f) {
  char *text;
  assert_int_equal(map_weights_write(&text, &given, &w->run), CALM_OK);
  map_write_file(f->other, f, "other.yaml", text);
  calm_text_free(f->context, text);
}

static void what_is_written_is_read(void **state) {
  weights_run w;
  mapper_cosa_weights read;
  begin(&w, *state);
  write_weights(&w, *state);
  assert_int_equal(map_weights_read(&read, &w.run), CALM_OK);
  assert_memory_equal(&read, &given, sizeof read);
  arena_free(&w.mapping.arena);
}

static void refuses(weights_run *w, map_fixture *f, const char *word) {
  mapper_cosa_weights read = {0};
  assert_int_equal(map_weights_read(&read, &w->run), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f->context), word));
  assert_non_null(strstr(calm_context_message(f->context), "other.yaml: "));
  assert_true(read.compute == 0);
}

static void another_machine_needs_its_own(void **state) {
  map_fixture *f = *state;
  weights_run w;
  begin(&w, f);
  write_weights(&w, f);
  w.files.arch_count = 2;
  refuses(&w, f, "another architecture");
  w.files.arch_count = 1;
  map_write_file(f->arch, f, "arch.yaml", map_second);
  refuses(&w, f, "another architecture");
  arena_free(&w.mapping.arena);
}

static void other_files_are_no_weights(void **state) {
  map_fixture *f = *state;
  weights_run w;
  begin(&w, f);
  refuses(&w, f, "no weights"); /* an empty file */
  map_write_file(f->other, f, "other.yaml", "[1, 2]");
  refuses(&w, f, "no weights");
  write_weights(&w, f);
  char words[1024] = "";
  FILE *file = fopen(f->other, "r");
  assert_non_null(file);
  assert_true(fread(words, 1, sizeof words - 1, file) > 0);
  fclose(file);
  char *number = strstr(words, "1.5");
  assert_non_null(number);
  memcpy(number, "-15", 3);
  map_write_file(f->other, f, "other.yaml", words);
  refuses(&w, f, "not negative");
  arena_free(&w.mapping.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {MAP_TEST(what_is_written_is_read),
                                     MAP_TEST(another_machine_needs_its_own),
                                     MAP_TEST(other_files_are_no_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
