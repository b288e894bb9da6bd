/* Architectures as a whole: kinds of files, trees, meshes, what is refused. */
#include "accel_arch_fixture.h"
#include "scarce.h"

static void a_flat_file_lists_levels_from_the_innermost(void **state) {
  (void)state;
  machine m;
  machine_read(&m,
               "arch:\n"
               "  arithmetic: {instances: 64, meshX: 16, word_bits: 8}\n"
               "  storage:\n"
               "  - {name: Regs, entries: 2, instances: 16, meshX: 16}\n"
               "  - {name: DRAM, technology: DRAM, instances: 1}\n",
               NULL);
  assert_string_equal(m.arch.name, "a.b");
  assert_int_equal(m.arch.level_count, 2);
  assert_string_equal(m.arch.levels[0].name, "Regs");
  assert_string_equal(m.arch.levels[0].class_name, "");
  assert_int_equal(m.arch.levels[0].place.line, 4);
  assert_string_equal(m.arch.levels[1].name, "DRAM");
  assert_string_equal(m.arch.compute.name, "__ARITH__");
  assert_int_equal(m.arch.compute.mesh_y, 4);
  assert_int_equal(accel_arch_find(&m.arch, "DRAM"), 1);
  assert_int_equal(accel_arch_find(&m.arch, "dram"), CALM_NONE);
  machine_free(&m);
}

static const char tree[] =
    "architecture:\n"
    "  version: 0.3\n"
    "  subtree:\n"
    "  - name: System\n"
    "    attributes: {technology: 40nm, datawidth: 8}\n"
    "    local:\n"
    "    - {name: DRAM, class: LPDDR_DRAM, attributes: {width: 64}}\n"
    "    - {name: Clock, class: oscillator, attributes: {anything: 1}}\n"
    "    subtree:\n"
    "    - name: PE[0..11]\n"
    "      local:\n"
    "      - {name: Mac, class: intmac, attributes: {meshX: 4, width: 8}}\n"
    "      - name: Shared[0..1]\n"
    "        class: smartbuffer_RF\n"
    "        attributes: {depth: 8, width: 32, datawidth: 16, meshX: 4}\n";

/* A tree goes from the outside in; the place of the multiplier in its list does
   not matter, and what is neither memory nor multiplier is neglected aloud. */
static void a_tree_multiplies_what_is_below(void **state) {
  (void)state;
  machine m;
  machine_init(&m);
  assert_int_equal(machine_try(&m, tree, NULL, true), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(m.context),
                         "4 x 3 instances of Mac cannot be shared out evenly "
                         "among 4 x 6 of Shared"));
  machine_free(&m);
  char text[1024];
  snprintf(text, sizeof text, "%s", tree);
  memcpy(strstr(text, "Shared[0..1]"), "Shared      ", 12);
  machine_read(&m, text, NULL);
  assert_int_equal(m.arch.level_count, 2);
  assert_string_equal(m.arch.levels[0].name, "Shared");
  assert_int_equal(m.arch.levels[0].instances, 12);
  assert_int_equal(m.arch.levels[0].mesh_y, 3);
  assert_int_equal(m.arch.levels[0].entries, 16);
  assert_true(m.arch.levels[1].dram);
  assert_int_equal(m.arch.levels[1].block_words, 4);
  assert_int_equal(m.arch.levels[1].word_bits, 16);
  assert_int_equal(m.arch.compute.instances, 12);
  const accel_fanout below = accel_arch_fanout(&m.arch, 1);
  assert_int_equal(below.x, 4);
  assert_int_equal(below.y, 3);
  assert_int_equal(accel_arch_fanout(&m.arch, 0).x, 1);
  assert_non_null(strstr(m.log, "dir/a.b.yaml:8: Clock of class oscillator"));
  assert_non_null(strstr(m.log, "'datawidth' of the container System"));
  assert_null(strstr(m.log, "technology"));
  machine_free(&m);
}

static void wrong_trees_are_refused(void **state) {
  (void)state;
#define TREE(components)                                                 \
  "architecture: {version: 0.2, subtree: [{name: s, local: [" components \
  "]}]"                                                                  \
  "}"
  const struct {
    const char *text;
    calm_status status;
    const char *words;
  } cases[] = {
      {TREE("{name: M, class: intmac}"), CALM_BAD_INPUT, "no level of memory"},
      {TREE("{name: M, class: DRAM}"), CALM_BAD_INPUT, "no compute unit"},
      {TREE("{name: M, class: DRAM}, {name: M, class: SRAM}, "
            "{name: C, class: mac}"),
       CALM_BAD_INPUT, "two levels are named M"},
      {TREE("{name: A, class: mac}, {name: B, class: fpmac}"), CALM_UNSUPPORTED,
       "B is a second compute unit beside A"},
      {TREE("{name: N, class: XY_NoC}"), CALM_UNSUPPORTED,
       "a.b.yaml:1:58: N of class XY_NoC is a user-defined network"},
      {TREE("{name: 'M[16]', class: DRAM}"), CALM_BAD_INPUT, "NAME[0..15]"},
      {TREE("{name: 'M[3..1]', class: DRAM}"), CALM_BAD_INPUT, "NAME[0..15]"},
      {TREE("{name: '[0..1]', class: DRAM}"), CALM_BAD_INPUT, "an empty name"},
      {TREE("{name: 'M[0..99999999999999999999]', class: DRAM}"),
       CALM_BAD_INPUT, "NAME[0..15]"},
      {TREE("{name: M}"), CALM_BAD_INPUT, "a component has no 'class'"},
      {"architecture: {subtree: [{name: s, attributes: 7}]}", CALM_BAD_INPUT,
       "the attributes of s are no mapping"},
      {"architecture: {attributes: [7], subtree: [{name: s}]}", CALM_BAD_INPUT,
       "the attributes of the architecture are no mapping"},
      {TREE("{name: M, class: DRAM, attributes: 4}"), CALM_BAD_INPUT,
       "the attributes of M are no mapping"},
      {TREE("{name: M, class: DRAM, attributes: []}"), CALM_BAD_INPUT,
       "the attributes of M are no mapping"},
      {TREE("{name: M, class: DRAM, attributes: }"), CALM_BAD_INPUT,
       "no compute unit"},
      {TREE("{name: M, class: DRAM, enabled: false}"), CALM_UNSUPPORTED,
       "a disabled component"},
      {"architecture: {local: []}", CALM_UNSUPPORTED, "Accelergy flattens"},
      {TREE("{name: M, class: DRAM, depth: 4}"), CALM_BAD_INPUT,
       "'depth' belongs below 'attributes:'"},
      {TREE("{name: M, class: DRAM, atributes: {}}"), CALM_BAD_INPUT,
       "did you mean 'attributes'?"},
      {TREE("{name: M, class: DRAM, sparse_optimizations: {}}"),
       CALM_UNSUPPORTED, "dense tensors only"},
      {"architecture: {subtree: [{name: a}, {name: b}]}", CALM_UNSUPPORTED,
       "a second subtree"},
      {"architecture: {subtree: []}", CALM_BAD_INPUT, "a list of one tree"},
      {"architecture: {subtree: [{name: a, subtree: 4}]}", CALM_BAD_INPUT,
       "a list of one tree"},
      {"architecture: {version: 0.7, subtree: []}", CALM_UNSUPPORTED,
       "version '0.7'"},
      {"architecture: {version: 0.2}", CALM_BAD_INPUT, "'subtree' (0.2, 0.3)"},
      {"architecture: {subtree: [{name: 'a[0..4611686018427387900]', subtree: "
       "[{name: 'b[0..7]'}]}]}",
       CALM_BAD_INPUT, "more than 2^62 of b"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_refused(cases[i].text, cases[i].status, cases[i].words);
}

static void wrong_files_are_refused(void **state) {
  (void)state;
  expect_refused("", CALM_BAD_INPUT, "found nothing");
  expect_refused("problem: {}\nmapping: []\n", CALM_BAD_INPUT,
                 "found problem, mapping");
  expect_refused("memories: {}\noperational_array: {}\n", CALM_UNSUPPORTED,
                 "ZigZag");
  expect_refused("arch: {}\narchitecture: {}\n", CALM_BAD_INPUT,
                 "two architectures");
  expect_refused("arch: 4\n", CALM_BAD_INPUT, "is a mapping");
  expect_refused("arch: {storage: []}\n", CALM_BAD_INPUT, "the former");
  expect_refused("arch: {arithmetic: {}}\n", CALM_BAD_INPUT, "the latter");
  expect_refused("arch: {aritmetic: {}, storage: []}\n", CALM_BAD_INPUT,
                 "has 'arithmetic'");
  expect_refused("arch: {arithmetic: {}, storage: []}\n", CALM_BAD_INPUT,
                 "'instances' of __ARITH__ is missing");
  expect_refused(
      "arch: {arithmetic: {instances: 1}, storage: [{entries: 4}]}\n",
      CALM_BAD_INPUT, "has no 'name'");
  expect_refused(
      "arch: {arithmetic: {instances: 1}, storage: [{name: B, entries: 4}]}\n",
      CALM_BAD_INPUT, "'instances' of B is missing");
  expect_refused("sparse_optimizations: {targets: []}\n" FLAT("entries: 4"),
                 CALM_UNSUPPORTED, "a.b.yaml:1:23: sparse_optimizations");
  expect_refused("layout: [1]\n" FLAT("entries: 4"), CALM_UNSUPPORTED,
                 "layout of data");
}

/* Other sections are other readers' matter. */
static void other_sections_are_left_alone(void **state) {
  (void)state;
  machine m;
  machine_read(&m, "problem: {}\nmapper: 3\n" FLAT("entries: 4"), NULL);
  machine_free(&m);
}

static void levels_must_be_shared_out_evenly(void **state) {
  (void)state;
  expect_flat_refused("entries: 4, meshX: 2", CALM_BAD_INPUT,
                      "12 x 1 instances of __ARITH__ cannot be shared out "
                      "evenly among 2 x 2 of Buffer");
  expect_refused(FLAT("entries: 4") "  - {name: Far, entries: 1, instances: 3}",
                 CALM_BAD_INPUT,
                 "1 x 1 instances of DRAM cannot be shared out evenly among 3 "
                 "x 1 of Far");
}

/* No allocation that fails leaves anything behind. */
static void memory_runs_out_cleanly(void **state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, "%s", tree);
  memcpy(strstr(text, "Shared[0..1]"), "Shared      ", 12);
  for (uint64_t grants = 0;; grants++) {
    uint64_t left = grants;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    if (!context) continue;
    arena a;
    arena_init(&a, context);
    accel_yaml *root;
    accel_arch arch;
    calm_status status =
        accel_yaml_parse(&root, "a.yaml", text, strlen(text), &a);
    if (status == CALM_OK)
      status = accel_arch_read(&arch, root, NULL, true, &a);
    arena_free(&a);
    calm_context_free(context);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flat_file_lists_levels_from_the_innermost),
      cmocka_unit_test(a_tree_multiplies_what_is_below),
      cmocka_unit_test(wrong_trees_are_refused),
      cmocka_unit_test(wrong_files_are_refused),
      cmocka_unit_test(other_sections_are_left_alone),
      cmocka_unit_test(levels_must_be_shared_out_evenly),
      cmocka_unit_test(memory_runs_out_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
