/* Architectures of version 0.4: which levels, in which order, of how many. */
#include "../scarce.h"
#include "accel/accel_arch.h"
#include "accel_yaml_fixture.h"

static calm_status read_arch(accel_arch *out, yaml_world *w, const char *text) {
  return accel_arch_read(out, read_yaml(w, text), NULL, false, &w->arena);
}

static accel_arch arch_of(yaml_world *w, const char *text) {
  accel_arch arch;
  if (read_arch(&arch, w, text))
    fail_msg("%s", calm_context_message(w->context));
  return arch;
}

#define TOP "architecture:\n  version: 0.4\n  nodes:\n"
#define DRAM                                              \
  "  - !Component {name: DRAM, class: DRAM, attributes: " \
  "{width: 64, datawidth: 8}}\n"
#define MAC "  - !Component {name: mac, class: intmac}\n"

static void expect_no_arch(const char *text, calm_status status,
                           const char *part) {
  yaml_world w;
  accel_arch arch;
  world_open(&w);
  assert_int_equal(read_arch(&arch, &w, text), status);
  expect_message(&w, part);
  expect_message(&w, "t.yaml:");
  world_close(&w);
}

/* "NAME instances meshX meshY", outermost first, the compute units last. */
static void expect_shape(const accel_arch *arch, const char *expected) {
  char line[2048];
  size_t length = 0;
  for (uint32_t i = arch->level_count; i-- > 0;) {
    const accel_level *l = &arch->levels[i];
    length +=
        (size_t)snprintf(line + length, sizeof line - length, "%s%s %ux%u, ",
                         l->virtual_level ? "~" : "", l->name,
                         (unsigned)l->mesh_x, (unsigned)l->mesh_y);
    assert_true(l->instances == l->mesh_x * l->mesh_y);
  }
  snprintf(line + length, sizeof line - length, "%s %ux%u", arch->compute.name,
           (unsigned)arch->compute.mesh_x, (unsigned)arch->compute.mesh_y);
  assert_string_equal(line, expected);
}

static const accel_level *level_of(const accel_arch *arch, const char *name) {
  const uint32_t i = accel_arch_find(arch, name);
  if (i == CALM_NONE) fail_msg("no level %s", name);
  return &arch->levels[i];
}

/* ---- Levels -------------------------------------------------------------- */

static void meshes_become_levels_that_hold_nothing(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch = arch_of(
      &w, TOP DRAM
      "  - !Container {name: col, spatial: {meshX: 14}}\n"
      "  - !Container {name: pe, spatial: {meshY: 12}}\n"
      "  - !Container {name: none, spatial: {meshX: 1, meshY: 1}}\n"
      "  - !Component {name: rf, class: storage, spatial: {meshX: 2, meshY: 3},"
      " attributes: {width: 8, depth: 4, datawidth: 8}}\n"
      "  - !Component {name: mac, class: intmac, spatial: {meshX: 5}}\n");
  expect_shape(&arch,
               "DRAM 1x1, ~inter_col_spatial 1x1, ~inter_pe_spatial 14x1, "
               "~inter_rf_spatial 14x12, rf 28x36, ~inter_mac_spatial 28x36, "
               "mac 140x36");
  assert_int_equal(level_of(&arch, "inter_pe_spatial")->word_bits, 1);
  assert_int_equal(level_of(&arch, "inter_pe_spatial")->entries, 1);
  assert_string_equal(level_of(&arch, "inter_pe_spatial")->class_name,
                      "dummy_storage");
  world_close(&w);
}

static void branches_are_one_chain(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch = arch_of(
      &w, TOP
      "  - !Component {name: A, class: storage}\n"
      "  - !Hierarchical\n"
      "    nodes:\n"
      "    - !Component {name: B, class: SRAM}\n"
      "    - !Parallel\n"
      "      nodes:\n"
      "      - !Component {name: C, class: regfile}\n"
      "      - !Hierarchical\n"
      "        nodes:\n"
      "        - !Container {name: x, spatial: {meshX: 2}}\n"
      "        - !Component {name: D, class: smartbuffer_RF}\n"
      "      - !Nothing\n"
      "    - !Pipelined {nodes: [!Component {name: E, class: storage}]}\n"
      "  - !Hierarchical {nodes: []}\n"
      "  - !Parallel\n"
      "  - !Component {name: off, class: storage, enabled: False}\n"
      "  - !Component {name: gone, class: nothing}\n" MAC);
  expect_shape(&arch,
               "A 1x1, B 1x1, C 1x1, ~inter_x_spatial 1x1, D 2x1, "
               "E 2x1, mac 2x1");
  world_close(&w);
}

/* ---- Attributes ---------------------------------------------------------- */

static void containers_hand_on_what_is_not_given(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch = arch_of(
      &w, TOP
      "  - !Component {name: A, class: storage}\n"
      "  - !Container {name: c, attributes: {datawidth: 8, read-bandwidth: 4, "
      "energy_per_hop: 0.5, MY_OWN: 7}}\n"
      "  - !Component {name: B, class: storage, attributes: {datawidth: 24}}\n"
      "  - !Container {name: d, spatial: {meshX: 2}, attributes: {"
      "read_bandwidth: 6}}\n"
      "  - !Component {name: C, class: storage, attributes: {depth: MY_OWN}}\n"
      "  - !Component {name: D, class: storage, attributes: {datawidth: "
      "}}\n" MAC);
  assert_int_equal(level_of(&arch, "A")->word_bits, 16);
  assert_true(level_of(&arch, "A")->read_bandwidth == 0);
  assert_int_equal(level_of(&arch, "B")->word_bits, 24);
  assert_true(level_of(&arch, "B")->read_bandwidth == 4);
  assert_int_equal(level_of(&arch, "C")->word_bits, 8);
  assert_int_equal(level_of(&arch, "C")->entries, 7);
  assert_true(level_of(&arch, "C")->read_bandwidth == 6);
  assert_int_equal(level_of(&arch, "D")->word_bits, 8);
  assert_int_equal(level_of(&arch, "inter_d_spatial")->word_bits, 1);
  assert_true(level_of(&arch, "inter_d_spatial")->network.hop_pj == 0.5);
  assert_true(level_of(&arch, "inter_d_spatial")->read_bandwidth == 0);
  assert_int_equal(arch.compute.word_bits, 8);
  assert_int_equal(w.warnings, 0);
  world_close(&w);
}

static void some_attributes_reach_no_memory(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch = arch_of(
      &w, TOP
      "  - !Container {name: c, attributes: {multiple_buffering: 2}}\n"
      "  - !Component {name: A, class: DRAM, attributes: {depth: 8}}\n" MAC);
  assert_int_equal(level_of(&arch, "A")->capacity_words, 8);
  assert_true(level_of(&arch, "A")->reduction_supported); /* also DRAM */
  assert_non_null(strstr(w.warning, "t.yaml:4: 'multiple_buffering' of a"));
  arch = arch_of(&w, TOP
                 "  - !Component {name: A, class: DRAM, attributes: "
                 "{reduction_supported: False}}\n" MAC);
  assert_false(level_of(&arch, "A")->reduction_supported);
  world_close(&w);
}

static void values_are_calculated(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch = arch_of(
      &w,
      "variables:\n  version: 0.4\n  KB: 8192\n  ROWS: 4\n  ON: 0\n"
      "  COLS: ROWS * 2\n  FUNCTION: 'lambda x: x'\n" TOP
      "  - !Container {name: c, attributes: {bits: 8}}\n"
      "  - !Component\n"
      "    name: A\n"
      "    class: storage\n"
      "    attributes:\n"
      "      datawidth: bits\n"
      "      width: datawidth * lanes\n"
      "      lanes: 4 if ROWS > 2 else 2\n"
      "      depth: 16 * KB // width\n"
      "      technology: TECHNOLOGY_THAT_NOBODY_NEEDS\n"
      "      read_bandwidth: width / 64\n"
      "  - !Component {name: B, class: storage, enabled: ON}\n"
      "  - !Component {name: mac, class: mac, spatial: {meshX: ROWS, meshY: "
      "COLS}}\n");
  const accel_level *a = level_of(&arch, "A");
  assert_int_equal(a->word_bits, 8);
  assert_int_equal(a->block_words, 4);
  assert_int_equal(a->entries, 4096 * 4);
  assert_true(a->read_bandwidth == 0.5);
  expect_shape(&arch, "A 1x1, ~inter_mac_spatial 1x1, mac 4x8");
  world_close(&w);
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, attributes: "
                 "{depth: ROWS * 2}}\n" MAC,
                 CALM_BAD_INPUT,
                 "depth of A is 'ROWS * 2', which is not a number: no variable "
                 "or attribute is named 'ROWS'");
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, attributes: "
                 "{depth: len(x)}}\n" MAC,
                 CALM_UNSUPPORTED, "function 'len'");
}

static void misspelt_attributes_are_told(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  arch_of(&w, TOP
          "  - !Container {name: c, attributes: {data_width: 8}}\n" DRAM MAC);
  assert_non_null(strstr(w.warning, "did you mean 'datawidth'?"));
  world_close(&w);
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, attributes: "
                 "{data_width: 8}}\n" MAC,
                 CALM_BAD_INPUT, "did you mean 'datawidth'?");
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, attributes: "
                 "{depht: , depth: 64}}\n" MAC,
                 CALM_BAD_INPUT, "did you mean 'depth'?");
  expect_no_arch(TOP DRAM
                 "  - !Component {name: M, class: intmac, attributes: "
                 "{datawidht: ~}}\n",
                 CALM_BAD_INPUT, "did you mean 'datawidth'?");
}

/* ---- Constraints --------------------------------------------------------- */

static void constraints_stay_as_written(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch =
      arch_of(&w, TOP
              "  - !Component {name: A, class: storage, constraints: {}}\n"
              "  - !Container {name: c, spatial: {meshX: 2}, constraints: "
              "{spatial: {factors: [C=2]}, temporal: {factors: [C=1]}}}\n"
              "  - !Component {name: B, class: storage, spatial: {meshX: 2}, "
              "constraints: {spatial: {split: 1}, dataspace: {keep: [I]}}}\n"
              "  - !Component {name: C, class: storage, constraints: "
              "{spatial: {split: 1}}}\n" MAC);
  assert_null(level_of(&arch, "A")->constraints);
  const accel_yaml *of_c = level_of(&arch, "inter_c_spatial")->constraints;
  assert_int_equal(of_c->count, 1);
  assert_non_null(accel_yaml_get(accel_yaml_get(of_c, "spatial"), "factors"));
  assert_non_null(strstr(w.warning, "'temporal' constraints"));
  const accel_yaml *mesh_b = level_of(&arch, "inter_B_spatial")->constraints;
  assert_int_equal(mesh_b->count, 1);
  assert_non_null(accel_yaml_get(accel_yaml_get(mesh_b, "spatial"), "split"));
  const accel_yaml *of_b = level_of(&arch, "B")->constraints;
  assert_int_equal(of_b->count, 1);
  assert_non_null(accel_yaml_get(of_b, "dataspace"));
  assert_non_null(accel_yaml_get(level_of(&arch, "C")->constraints, "spatial"));
  world_close(&w);
}

static void expect_branch(const accel_arch *arch, const char *name,
                          const char *expected) {
  const accel_branch *b = &level_of(arch, name)->branch;
  char line[256];
  size_t length = 0;
  line[0] = '\0';
  for (uint32_t i = 0; i < b->keep_count; i++)
    length += (size_t)snprintf(line + length, sizeof line - length, "+%s ",
                               b->keeps[i]);
  for (uint32_t i = 0; i < b->bypass_count; i++)
    length += (size_t)snprintf(line + length, sizeof line - length, "-%s ",
                               b->bypasses[i]);
  assert_string_equal(line, expected);
}

#define KEEP(what) "constraints: {dataspace: {keep: [" what "]}}"

static void each_tensor_has_its_branch(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  accel_arch arch = arch_of(
      &w, TOP DRAM
      "  - !Parallel\n"
      "    nodes:\n"
      "    - !Component {name: X, class: storage, constraints: {dataspace: "
      "{keep_only: [A]}}}\n"
      "    - !Hierarchical\n"
      "      nodes:\n"
      "      - !Component {name: Y, class: storage}\n"
      "      - !Parallel\n"
      "        nodes:\n"
      "        - !Component {name: U, class: storage, " KEEP("B") "}\n"
      "        - !Component {name: V, class: storage, " KEEP("C") "}\n"
      "    - !Nothing {" KEEP("D") "}\n" MAC);
  assert_null(level_of(&arch, "DRAM")->branch.place.file);
  expect_branch(&arch, "DRAM", "");
  expect_branch(&arch, "X", "+A -C -B -D ");
  expect_branch(&arch, "Y", "+C +B -A -D ");
  expect_branch(&arch, "U", "+B -A -D -C ");
  expect_branch(&arch, "V", "+C -A -D -B ");
  assert_int_equal(level_of(&arch, "X")->branch.place.line, 5);
  assert_int_equal(level_of(&arch, "V")->branch.place.line, 11);
  world_close(&w);
}

#define TWO(one, two)                                   \
  TOP "  - !Parallel\n"                                 \
      "    nodes:\n"                                    \
      "    - !Component {name: X, class: storage, " one \
      "}\n"                                             \
      "    - !Component {name: Y, class: storage, " two "}\n" MAC

static void a_tensor_has_one_branch_only(void **state) {
  (void)state;
  expect_no_arch(TWO(KEEP("A, B"), KEEP("B")), CALM_BAD_INPUT,
                 "'B' is kept here and in the branch of line 6");
  expect_no_arch(TWO(KEEP("'*'"), KEEP("B")), CALM_BAD_INPUT, "'B' is kept");
  expect_no_arch(TWO(KEEP("A"), "constraints: {dataspace: {keep: A}}"),
                 CALM_BAD_INPUT, "a list of tensors");
  expect_no_arch(TWO(KEEP("A"), "constraints: {dataspace: {bypass_only: [A]}}"),
                 CALM_UNSUPPORTED, "'bypass_only'");
}

/* ---- Refusals ------------------------------------------------------------ */

static void wrong_files_are_refused_with_their_line(void **state) {
  (void)state;
  expect_no_arch(TOP "  - {name: A}\n", CALM_BAD_INPUT, "t.yaml:4:5: a node");
  expect_no_arch(TOP "  - !Components {name: A}\n", CALM_BAD_INPUT,
                 "did you mean '!Component'?");
  expect_no_arch(TOP "  - !Memory {name: A}\n", CALM_UNSUPPORTED, "'!Memory'");
  expect_no_arch(TOP "  - !Component A\n", CALM_BAD_INPUT, "a mapping");
  expect_no_arch(TOP "  - !Component {class: storage}\n", CALM_BAD_INPUT,
                 "a Component without a name");
  expect_no_arch(TOP "  - !Component {name: A}\n", CALM_BAD_INPUT,
                 "'A' has no class");
  expect_no_arch(TOP "  - !Component {name: A, class: box}\n", CALM_BAD_INPUT,
                 "class 'box' is neither a memory");
  expect_no_arch(TOP "  - !Component {name: A, class: storage, attribute: 1}\n",
                 CALM_BAD_INPUT, "did you mean 'attributes'?");
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, spatial: "
                 "{meshZ: 2}}\n",
                 CALM_BAD_INPUT, "'meshZ'");
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, spatial: "
                 "{meshX: 0}}\n",
                 CALM_BAD_INPUT, "meshX must be at least 1");
  expect_no_arch(TOP
                 "  - !Container {name: A, spatial: {meshX: 65536}}\n"
                 "  - !Container {name: B, spatial: {meshY: 65536}}\n",
                 CALM_BAD_INPUT, "t.yaml:5:5: more than 2^32 instances");
  expect_no_arch(TOP DRAM DRAM MAC, CALM_BAD_INPUT,
                 "'DRAM' is the name of the node in line 4 already");
  expect_no_arch(TOP DRAM MAC "  - !Component {name: A, class: storage}\n",
                 CALM_BAD_INPUT, "'A' stands below the compute units");
  expect_no_arch(TOP DRAM MAC "  - !Component {name: m2, class: mac}\n",
                 CALM_UNSUPPORTED, "'m2' after 'mac'");
  expect_no_arch(TOP DRAM, CALM_BAD_INPUT, "no compute units");
  expect_no_arch(TOP MAC, CALM_BAD_INPUT, "no level of memory");
  expect_no_arch("architecture: {version: 0.4, nodes: {a: 1}}\n",
                 CALM_BAD_INPUT, "'nodes' must be a list");
  expect_no_arch("architecture: {version: 0.3, nodes: []}\n", CALM_UNSUPPORTED,
                 "'nodes' in version 0.3");
  expect_no_arch("architecture: {nodes: [], subtree: []}\n", CALM_BAD_INPUT,
                 "'subtree'");
}

static void constructs_that_calm_does_not_read_are_named(void **state) {
  (void)state;
  expect_no_arch(TOP "  - !Component {name: N, class: SimpleMulticast}\n",
                 CALM_UNSUPPORTED, "networks of class 'SimpleMulticast'");
  expect_no_arch(TOP "  - !Container {name: c, networks: [1]}\n",
                 CALM_UNSUPPORTED, "calm does not read 'networks'");
  expect_no_arch(TOP
                 "  - !Component {name: A, class: storage, "
                 "sparse_optimizations: {action_optimization: [1]}}\n",
                 CALM_UNSUPPORTED, "'sparse_optimizations'");
  expect_no_arch(TOP "  - !Component {name: 'PE[0..3]', class: storage}\n",
                 CALM_UNSUPPORTED, "not in brackets");
  expect_no_arch(TOP "  - !Parallel {nodes: [!Container {name: c}]}\n",
                 CALM_UNSUPPORTED, "a !Container directly in a !Parallel");
  expect_no_arch(TOP
                 "  - !Parallel {nodes: [!Component {name: c, class: "
                 "storage, spatial: {meshX: 2}}]}\n",
                 CALM_UNSUPPORTED, "directly in a !Parallel");
}

static void empty_constructs_and_ignored_keys_are_nothing(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  arch_of(&w, TOP
          "  - !Container {name: c, networks: []}\n"
          "  - !Component {name: A, class: storage, "
          "sparse_optimizations: {}, my_ignored_notes: [x], "
          "attributes: }\n" MAC);
  world_close(&w);
}

static void repeated_branches_end(void **state) {
  (void)state;
  char text[8192];
  size_t length = (size_t)snprintf(text, sizeof text, "x0: &x0 !Nothing\n");
  for (int i = 1; i < 14; i++)
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "x%d: &x%d !Parallel {nodes: [*x%d, *x%d]}\n", i,
                               i, i - 1, i - 1);
  snprintf(text + length, sizeof text - length, TOP "  - *x13\n" MAC);
  expect_no_arch(text, CALM_UNSUPPORTED, "more than 4096 nodes");
}

static void nothing_is_lost_without_memory(void **state) {
  (void)state;
  static const char text[] =
      "variables: {N: 2}\n" TOP DRAM
      "  - !Container {name: c, spatial: {meshX: N}, attributes: {datawidth: "
      "4 * N}, constraints: {spatial: {split: 1}}}\n"
      "  - !Parallel\n"
      "    nodes:\n"
      "    - !Component {name: X, class: storage, " KEEP("A") "}\n"
      "    - !Component {name: Y, class: storage, " KEEP("B, C") "}\n" MAC;
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    accel_yaml *root;
    accel_arch arch;
    arena a;
    arena_init(&a, context);
    assert_int_equal(accel_yaml_parse(&root, "t", text, strlen(text), &a),
                     CALM_OK);
    left = granted;
    status = accel_arch_read(&arch, root, NULL, false, &a);
    if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    assert_true(granted < 10000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_become_levels_that_hold_nothing),
      cmocka_unit_test(branches_are_one_chain),
      cmocka_unit_test(containers_hand_on_what_is_not_given),
      cmocka_unit_test(some_attributes_reach_no_memory),
      cmocka_unit_test(values_are_calculated),
      cmocka_unit_test(misspelt_attributes_are_told),
      cmocka_unit_test(constraints_stay_as_written),
      cmocka_unit_test(each_tensor_has_its_branch),
      cmocka_unit_test(a_tensor_has_one_branch_only),
      cmocka_unit_test(wrong_files_are_refused_with_their_line),
      cmocka_unit_test(constructs_that_calm_does_not_read_are_named),
      cmocka_unit_test(empty_constructs_and_ignored_keys_are_nothing),
      cmocka_unit_test(repeated_branches_end),
      cmocka_unit_test(nothing_is_lost_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
