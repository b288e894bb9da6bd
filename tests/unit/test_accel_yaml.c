/* YAML files as trees with places, and what is refused. */
#include <stdlib.h>

#include "../cases.h"
#include "../scarce.h"
#include "accel_yaml_fixture.h"

static void every_node_knows_its_place(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(&w, "a: 1\nlist:\n  - x\n  - {k: v}\n");
  assert_int_equal(root->kind, ACCEL_YAML_MAPPING);
  assert_int_equal(root->count, 2);
  const accel_yaml *list = accel_yaml_get(root, "list");
  assert_int_equal(list->kind, ACCEL_YAML_SEQUENCE);
  assert_int_equal(list->items[0]->place.line, 3);
  assert_int_equal(list->items[0]->place.column, 5);
  const accel_yaml *v = accel_yaml_get(list->items[1], "k");
  assert_string_equal(v->text, "v");
  assert_int_equal(v->place.line, 4);
  assert_int_equal(v->place.column, 9);
  assert_string_equal(v->place.file, "t.yaml");
  assert_int_equal(list->items[1]->key_places[0].column, 6);
  world_close(&w);
}

static void keys_compare_with_hyphens_and_underscores_alike(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(&w, "word-bits: 8\n");
  assert_non_null(accel_yaml_get(root, "word_bits"));
  assert_null(accel_yaml_get(root, "wordbits"));
  assert_null(accel_yaml_get(root, "word_bit"));
  assert_null(accel_yaml_get(root->items[0], "word_bits"));
  assert_null(accel_yaml_get(NULL, "word_bits"));
  world_close(&w);
  expect_refusal("a-b: 1\nc: 2\na_b: 3\n", CALM_BAD_INPUT,
                 "t.yaml:3:1: the key 'a_b' stands here twice; the other one "
                 "is in line 1");
}

static void tags_and_quotes_are_kept(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(&w,
                                     "a: !Component {name: x}\nb: 'y'\nc: z\n"
                                     "d: !Nothing\n");
  assert_string_equal(accel_yaml_get(root, "a")->tag, "!Component");
  assert_true(accel_yaml_get(root, "b")->quoted);
  assert_false(accel_yaml_get(root, "c")->quoted);
  assert_null(accel_yaml_get(root, "c")->tag);
  assert_string_equal(accel_yaml_get(root, "d")->tag, "!Nothing");
  assert_string_equal(accel_yaml_get(root, "d")->text, "");
  world_close(&w);
}

static void lines_end_as_on_any_system(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(&w,
                                     "\xEF\xBB\xBF"
                                     "a: 1\r\nb:\r\n  - 2\r\n");
  assert_string_equal(accel_yaml_get(root, "a")->text, "1");
  assert_string_equal(accel_yaml_get(root, "b")->items[0]->text, "2");
  assert_int_equal(read_yaml(&w, "# nothing\n")->count, 0);
  assert_int_equal(read_yaml(&w, "")->count, 0);
  assert_int_equal(read_yaml(&w, "---\na: 1\n...\n")->count, 1);
  world_close(&w);
}

/* ---- Merging ------------------------------------------------------------- */

static void expect_at(const accel_yaml *root, const char *path,
                      const char *text) {
  char key[64];
  const accel_yaml *node = root;
  for (const char *at = path; *at;) {
    const size_t length = strcspn(at, ".");
    snprintf(key, sizeof key, "%.*s", (int)length, at);
    node = accel_yaml_get(node, key);
    at += length + (at[length] == '.');
  }
  if (!text)
    assert_null(node);
  else if (!node)
    fail_msg("nothing at %s", path);
  else
    assert_string_equal(node->text, text);
}

static void shallow_merges_take_whole_values(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(&w,
                                     "x: &x {a: 1, m: {p: 1, q: 2}}\n"
                                     "y: &y {a: 2, b: 3}\n"
                                     "one: {<<: *x, m: {p: 9}}\n"
                                     "two: {<<: [*x, *y], c: 4}\n"
                                     "late:\n  a: 7\n  <<: *x\n");
  expect_at(root, "one.a", "1");
  expect_at(root, "one.m.p", "9");
  expect_at(root, "one.m.q", NULL);
  expect_at(root, "two.a", "1"); /* the first of a list wins */
  expect_at(root, "two.b", "3");
  expect_at(root, "two.c", "4");
  expect_at(root, "late.a", "7");
  expect_at(root, "late.m.q", "2");
  expect_at(root, "x.m.p", "1"); /* what is merged is not changed */
  world_close(&w);
}

static void deep_merges_go_into_mappings(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root =
      read_yaml(&w,
                "x: &x {a: 1, m: {p: 1, q: {r: 2, s: 3}, l: [1, 2]}}\n"
                "one: {<<<: *x, m: {p: 9, q: {r: 8}, l: []}}\n"
                "both: {<<: {a: 5}, <<<: *x, m: {p: 9}}\n");
  expect_at(root, "one.a", "1");
  expect_at(root, "one.m.p", "9");
  expect_at(root, "one.m.q.r", "8");
  expect_at(root, "one.m.q.s", "3");
  assert_int_equal(
      accel_yaml_get(accel_yaml_get(accel_yaml_get(root, "one"), "m"), "l")
          ->count,
      0); /* a list is not merged */
  expect_at(root, "both.a", "5");
  expect_at(root, "both.m.q.s", "3");
  expect_at(root, "x.m.q.r", "2");
  world_close(&w);
}

static void only_mappings_can_be_merged(void **state) {
  (void)state;
  expect_refusal("a: {<<: 1}\n", CALM_BAD_INPUT, "t.yaml:1:9: only a mapping");
  expect_refusal("a: {<<: [{b: 1}, 2]}\n", CALM_BAD_INPUT, "t.yaml:1:18");
  expect_refusal("a: {<<: {b: 1}, <<: {c: 1}}\n", CALM_BAD_INPUT, "twice");
}

/* ---- Aliases ------------------------------------------------------------- */

static void aliases_share_their_node(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root =
      read_yaml(&w, "a: &n {k: 1}\nb: *n\nc: &n 5\nd: *n\n");
  assert_ptr_equal(accel_yaml_get(root, "a"), accel_yaml_get(root, "b"));
  expect_at(root, "d", "5"); /* the last of a name */
  world_close(&w);
  expect_refusal("a: *x\n", CALM_BAD_INPUT, "t.yaml:1:4: nothing above");
  expect_refusal("a: &x [1, *x]\n", CALM_BAD_INPUT, "inside of what it names");
  expect_refusal("a: &x {b: *x}\n", CALM_BAD_INPUT, "inside of what it names");
  expect_refusal("a: &x {<<: *x}\n", CALM_BAD_INPUT, "inside of what it names");
}

/* Each line doubles what the one before it stands for. */
static void expect_bomb_is_refused(const char *first, const char *line,
                                   const char *part) {
  char text[8192];
  size_t length = (size_t)snprintf(text, sizeof text, "%s", first);
  for (int i = 1; i < 60; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, line, i, i,
                               i - 1, i - 1);
  expect_refusal(text, CALM_UNSUPPORTED, part);
}

static void aliases_cannot_make_much_of_little(void **state) {
  (void)state;
  expect_bomb_is_refused("a0: &a0 [1]\n", "a%d: &a%d [*a%d, *a%d]\n",
                         "more than 1000000");
  expect_bomb_is_refused("a0: &a0 {x: 1}\n", "a%d: &a%d {x: *a%d, y: *a%d}\n",
                         "more than 1000000");
  expect_bomb_is_refused("a0: &a0 {k: 1}\n",
                         "a%d: &a%d {p: *a%d, <<: {q: *a%d}}\n",
                         "more than 1000000");
}

static void depth_is_limited_through_aliases_too(void **state) {
  (void)state;
  char text[4096];
  size_t length = (size_t)snprintf(text, sizeof text, "a0: &a0 [1]\n");
  for (int i = 1; i < 70; i++)
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "a%d: &a%d [*a%d]\n", i, i, i - 1);
  expect_refusal(text, CALM_UNSUPPORTED, "nested more than 64 deep");
  length = (size_t)snprintf(text, sizeof text, "a: ");
  memset(text + length, '[', 100);
  text[length + 100] = '\0';
  expect_refusal(text, CALM_UNSUPPORTED, "nested more than 64 deep");
}

static void keys_and_anchors_are_limited(void **state) {
  (void)state;
  static char text[1 << 16];
  size_t length = 0;
  for (int i = 0; i < 2049; i++)
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "k%d: 1\n", i);
  expect_refusal(text, CALM_UNSUPPORTED, "t.yaml:2049:1: a mapping of more");
  length = (size_t)snprintf(text, sizeof text, "a:\n");
  for (int i = 0; i < 1025; i++)
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "- &x%d 1\n", i);
  expect_refusal(text, CALM_UNSUPPORTED, "more than 1024 anchors");
}

/* ---- What is no plain YAML ----------------------------------------------- */

static void templates_are_refused_by_name(void **state) {
  (void)state;
  expect_refusal("a: {{ size }}\n", CALM_UNSUPPORTED, "t.yaml:1:5: a template");
  expect_refusal("a: 1\n{% if x %}\nb: 2\n{% endif %}\n", CALM_UNSUPPORTED,
                 "t.yaml:2:1: a template");
  expect_refusal("a: 5{{ size }}\n", CALM_UNSUPPORTED, "a template");
  expect_refusal("a: 1\n{{ include_text('x') }}\nb: 1\n", CALM_UNSUPPORTED,
                 "t.yaml:2:");
  expect_refusal("!include ./a.yaml\n\nb: 1\n", CALM_UNSUPPORTED,
                 "t.yaml:1:1: an !include");
  expect_refusal("a: !include b.yaml\n", CALM_UNSUPPORTED, "an !include");
}

static void braces_in_quotes_and_comments_are_no_template(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(&w,
                                     "# {{ no }} {% no %}\n"
                                     "a: '{{ text }}' # {% %}\n"
                                     "b: \"{% it's %}\"\n"
                                     "c: {d: {e: 1}} # it's {{\n");
  expect_at(root, "a", "{{ text }}");
  expect_at(root, "b", "{% it's %}");
  expect_at(root, "c.d.e", "1");
  world_close(&w);
}

static void what_is_wrong_is_named_with_its_place(void **state) {
  (void)state;
  expect_refusal("a: [1, 2\n", CALM_BAD_INPUT, "t.yaml:2:1: ");
  expect_refusal("a: 1\n\tb: 2\n", CALM_BAD_INPUT,
                 "t.yaml:2:1: a tab; YAML indents with spaces");
  expect_refusal("a:\n\tb: 2\n", CALM_BAD_INPUT, "t.yaml:2:1: a tab");
  expect_refusal("a:\n  b: 2\n  \tc: 2\n", CALM_BAD_INPUT, "t.yaml:3:3: a tab");
  expect_refusal("a: |\n\tb\n", CALM_BAD_INPUT, "t.yaml:2:1: a tab");
  expect_refusal("a: [1,\n\t2: 3}\n", CALM_BAD_INPUT, "t.yaml:2:");
  expect_refusal("- 1\n", CALM_BAD_INPUT, "a file begins with keys");
  expect_refusal("word\n", CALM_BAD_INPUT, "a file begins with keys");
  expect_refusal("[a]: 1\n", CALM_BAD_INPUT, "a key must be a word");
  expect_refusal("{a: 1}: 1\n", CALM_BAD_INPUT, "a key must be a word");
  expect_refusal("a: 1\n---\nb: 1\n", CALM_UNSUPPORTED, "t.yaml:2:1: a second");
  expect_refusal("a: \"\\0\"\n", CALM_BAD_INPUT, "t.yaml:1:4: a NUL");
  expect_refusal("a: 1\nb: \x01\n", CALM_BAD_INPUT, "t.yaml:2:4: ");
  expect_refusal("a: 1\nb: \xff\n", CALM_BAD_INPUT, "t.yaml:2:4: ");
}

static void a_nul_among_the_bytes_is_refused(void **state) {
  (void)state;
  yaml_world w;
  accel_yaml *root = NULL;
  world_open(&w);
  assert_int_equal(accel_yaml_parse(&root, "t.yaml", "a: \0\n", 5, &w.arena),
                   CALM_BAD_INPUT);
  expect_message(&w, "t.yaml:1:4: ");
  assert_int_equal(accel_yaml_open(&root, "/nowhere/x.yaml", &w.arena),
                   CALM_IO);
  world_close(&w);
}

/* ---- Several files ------------------------------------------------------- */

static calm_status join_two(yaml_world *w, accel_yaml **out, const char *one,
                            const char *two) {
  accel_yaml *const roots[] = {read_yaml(w, one), read_yaml(w, two)};
  return accel_yaml_join(out, roots, 2, &w->arena);
}

static void files_are_joined_section_by_section(void **state) {
  (void)state;
  yaml_world w;
  accel_yaml *all;
  world_open(&w);
  assert_int_equal(join_two(&w, &all, "a: {version: 1, x: 1}\n",
                            "b: 2\na: {version: 1, y: 2}\n"),
                   CALM_OK);
  expect_at(all, "a.x", "1");
  expect_at(all, "a.y", "2");
  expect_at(all, "b", "2");
  assert_int_equal(join_two(&w, &all, "a: {x: 1}\n", "\na: {x: 2}\n"),
                   CALM_BAD_INPUT);
  expect_message(&w, "t.yaml:2:5: t.yaml:1 has 'x' already");
  assert_int_equal(join_two(&w, &all, "a: [1]\n", "a: [2]\n"), CALM_BAD_INPUT);
  expect_message(&w, "has this section already");
  world_close(&w);
}

static void nothing_is_lost_without_memory(void **state) {
  (void)state;
  static const char text[] =
      "x: &x {a: 1, m: {p: [1, 2, 3], q: 2}}\n"
      "one: !Tag {<<<: *x, m: {p: 9}, b: 'c'}\n"
      "two: [{<<: [*x]}, *x, {k: {k: {k: 1}}}]\n";
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    accel_yaml *root = NULL, *both = NULL;
    arena a;
    arena_init(&a, context);
    left = granted;
    status = accel_yaml_parse(&root, "t", text, strlen(text), &a);
    if (status == CALM_OK) {
      accel_yaml *const roots[] = {root, root->items[1]};
      status = accel_yaml_join(&both, roots, 2, &a);
    }
    if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    assert_true(granted < 10000);
  }
}

/* ---- Published files ----------------------------------------------------- */

static void published_files_are_read(void **state) {
  (void)state;
  static const char *const files[] = {
      "mapping/example_designs/eyeriss_like/arch.yaml",
      "mapping/example_designs/_components/smartbuffer_RF.yaml",
      "mapping/example_designs/simba_like/arch.yaml",
      "mapping/timeloop_python/arch_nest.yaml",
      "mapping/cosa/arch/simba.yaml",
      "mapping/dosa/mapspace/mapspace_real_gemmini.yaml"};
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[512];
    yaml_world w;
    accel_yaml *root;
    world_open(&w);
    assert_non_null(cases_path(path, sizeof path, files[i]));
    if (accel_yaml_open(&root, path, &w.arena))
      fail_msg("%s", calm_context_message(w.context));
    assert_true(root->count > 0);
    world_close(&w);
  }
}

/* It goes with arch_nest.yaml, which has its keys already. */
static void a_repeated_section_is_refused(void **state) {
  (void)state;
  char path[512];
  yaml_world w;
  accel_yaml *roots[2], *all;
  CASES_OR_SKIP();
  world_open(&w);
  for (int i = 0; i < 2; i++) {
    assert_non_null(cases_path(path, sizeof path,
                               i ? "mapping/timeloop_python/repeated_key_error"
                                   ".yaml"
                                 : "mapping/timeloop_python/arch_nest.yaml"));
    assert_int_equal(accel_yaml_open(&roots[i], path, &w.arena), CALM_OK);
  }
  assert_int_equal(accel_yaml_join(&all, roots, 2, &w.arena), CALM_BAD_INPUT);
  expect_message(&w, "has 'technology' already");
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_node_knows_its_place),
      cmocka_unit_test(keys_compare_with_hyphens_and_underscores_alike),
      cmocka_unit_test(tags_and_quotes_are_kept),
      cmocka_unit_test(lines_end_as_on_any_system),
      cmocka_unit_test(shallow_merges_take_whole_values),
      cmocka_unit_test(deep_merges_go_into_mappings),
      cmocka_unit_test(only_mappings_can_be_merged),
      cmocka_unit_test(aliases_share_their_node),
      cmocka_unit_test(aliases_cannot_make_much_of_little),
      cmocka_unit_test(depth_is_limited_through_aliases_too),
      cmocka_unit_test(keys_and_anchors_are_limited),
      cmocka_unit_test(templates_are_refused_by_name),
      cmocka_unit_test(braces_in_quotes_and_comments_are_no_template),
      cmocka_unit_test(what_is_wrong_is_named_with_its_place),
      cmocka_unit_test(a_nul_among_the_bytes_is_refused),
      cmocka_unit_test(files_are_joined_section_by_section),
      cmocka_unit_test(nothing_is_lost_without_memory),
      cmocka_unit_test(published_files_are_read),
      cmocka_unit_test(a_repeated_section_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
