/* Published architectures of version 0.4, against what Timeloop printed of
 * them.
 */
#include "../cases.h"
#include "accel/accel_arch.h"
#include "accel_yaml_fixture.h"

static void expect_same_word(const char *file, const char *name,
                             const char *stats, const char *label,
                             const char *expected) {
  const char *at = strstr(stats, label);
  char word[64];
  assert_non_null(at);
  at = strchr(at, ':');
  assert_int_equal(sscanf(at + 1, "%63s", word), 1);
  if (strcmp(word, expected))
    fail_msg("%s: %s: %s %s, not %s", file, name, label, word, expected);
}

/* What Timeloop printed of a level that it had from its front end. */
static void compare_level(const char *file, const accel_level *l,
                          const char *stats) {
  char heading[128], number[32];
  snprintf(heading, sizeof heading, "=== %s ===", l->name);
  const char *part = strstr(stats, heading);
  if (!part) fail_msg("%s: no level %s", file, l->name);
  if (l->entries != ACCEL_UNLIMITED) {
    snprintf(number, sizeof number, "%u", (unsigned)l->entries);
    expect_same_word(file, l->name, part, " Size  ", number);
  }
  snprintf(number, sizeof number, "%u", l->word_bits);
  expect_same_word(file, l->name, part, " Word bits ", number);
  snprintf(number, sizeof number, "%u", l->block_words);
  expect_same_word(file, l->name, part, " Block size ", number);
  snprintf(number, sizeof number, "%u", l->cluster);
  expect_same_word(file, l->name, part, " Cluster size ", number);
  snprintf(number, sizeof number, "%u", (unsigned)l->instances);
  expect_same_word(file, l->name, part, " Instances ", number);
  snprintf(number, sizeof number, "%.2f", l->read_bandwidth);
  expect_same_word(file, l->name, part, " Read bandwidth ",
                   l->read_bandwidth > 0 ? number : "-");
}

static char *slurp(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = malloc(1 << 20);
  assert_non_null(text);
  text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void compare_stats(const char *design, const accel_arch *arch) {
  char name[256], path[512], number[32];
  snprintf(name, sizeof name,
           "mapping/example_designs/%s/ref_outputs/default_problem/"
           "timeloop-mapper.stats.txt",
           design);
  assert_non_null(cases_path(path, sizeof path, name));
  char *stats = slurp(path);
  for (uint32_t i = 0; i < arch->level_count; i++)
    if (!arch->levels[i].virtual_level)
      compare_level(design, &arch->levels[i], stats);
  snprintf(number, sizeof number, "%u", (unsigned)arch->compute.instances);
  expect_same_word(design, "mac", stats, " Instances ", number);
  snprintf(number, sizeof number, "%u", arch->compute.word_bits);
  expect_same_word(design, "mac", stats, " Word bits ", number);
  free(stats);
}

/* The mapping that Timeloop wrote names each level, innermost first. */
static void compare_order(yaml_world *w, const char *design,
                          const accel_arch *arch) {
  char name[256], path[512];
  accel_yaml *root;
  uint32_t level = 0;
  snprintf(name, sizeof name,
           "mapping/example_designs/%s/ref_outputs/default_problem/"
           "timeloop-mapper.map.yaml",
           design);
  assert_non_null(cases_path(path, sizeof path, name));
  assert_int_equal(accel_yaml_open(&root, path, &w->arena), CALM_OK);
  const accel_yaml *mapping = accel_yaml_get(root, "mapping");
  for (uint32_t i = 0; i < mapping->count; i++) {
    const accel_yaml *item = mapping->items[i];
    if (strcmp(accel_yaml_get(item, "type")->text, "datatype")) continue;
    assert_true(level < arch->level_count);
    assert_string_equal(accel_yaml_get(item, "target")->text,
                        arch->levels[level].name);
    assert_int_equal(arch->levels[level].virtual_level,
                     accel_yaml_get(item, "keep")->count == 0);
    level++;
  }
  assert_int_equal(level, arch->level_count);
}

static void published_designs_are_those_that_timeloop_saw(void **state) {
  (void)state;
  static const char *const designs[] = {"eyeriss_like", "simba_like",
                                        "simple_output_stationary",
                                        "simple_weight_stationary"};
  CASES_OR_SKIP();
  for (size_t i = 0; i < 4; i++) {
    char name[256], path[512];
    yaml_world w;
    accel_yaml *root;
    accel_arch arch;
    world_open(&w);
    snprintf(name, sizeof name, "mapping/example_designs/%s/arch.yaml",
             designs[i]);
    assert_non_null(cases_path(path, sizeof path, name));
    assert_int_equal(accel_yaml_open(&root, path, &w.arena), CALM_OK);
    if (accel_arch_read(&arch, root, NULL, false, &w.arena))
      fail_msg("%s", calm_context_message(w.context));
    compare_order(&w, designs[i], &arch);
    compare_stats(designs[i], &arch);
    world_close(&w);
  }
}

static void published_tests_load_or_name_the_reason(void **state) {
  (void)state;
  static const struct {
    const char *file, *expected;
  } rows[] = {
      {"four_level.arch", NULL},
      {"three_level.arch", NULL},
      {"tiled.arch", "width 64 of GlobalBuffer is no multiple of word_bits 8"},
      {"arch_nest", ":94:18: unknown attribute 'from_A' of merge_A"},
      {"repeated_key_error", "no compute units"},
      {"two_level.arch", "did you mean 'datawidth'?"}};
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char name[256], path[512];
    yaml_world w;
    accel_yaml *root;
    accel_arch arch;
    world_open(&w);
    snprintf(name, sizeof name, "mapping/timeloop_python/%s.yaml",
             rows[i].file);
    assert_non_null(cases_path(path, sizeof path, name));
    assert_int_equal(accel_yaml_open(&root, path, &w.arena), CALM_OK);
    const calm_status status =
        accel_arch_read(&arch, root, NULL, false, &w.arena);
    if (rows[i].expected)
      expect_message(&w, rows[i].expected);
    else if (status)
      fail_msg("%s", calm_context_message(w.context));
    assert_int_equal(status != CALM_OK, rows[i].expected != NULL);
    world_close(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_designs_are_those_that_timeloop_saw),
      cmocka_unit_test(published_tests_load_or_name_the_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
