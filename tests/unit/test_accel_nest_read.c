#include "nest_fixture.h"

/* Directives that make up the layer, but for what a test puts before them. */
static const char BASE[] =
    "mapping:\n"
    "- {target: DRAM, type: temporal, factors: \"P2 K2\", permutation: KP}\n"
    "- {target: GlobalBuffer, type: temporal, factors: Q4}\n"
    "- {target: GlobalBuffer, type: spatial, factors: P4 C3,\n"
    "   permutation: PC, split: 1}\n"
    "- {target: PEBuffer, type: spatial, factors: K4}\n"
    "- {target: PEBuffer, type: temporal, factors: R3 S3 C2 K2}\n";

static const char BASE_LOOPS[] =
    "0x:K4 0t:R3 0t:S3 0t:C2 0t:K2 1x:P4 1y:C3 1t:Q4 2t:K2 2t:P2";

static void base(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(nest_read(f, BASE), CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest), BASE_LOOPS);
  assert_int_equal(f->nest.level_count, 3);
  for (int i = 0; i < LEVELS; i++) assert_int_equal(f->nest.kept[i], 7);
  assert_true(accel_nest_is_perfect(&f->nest));
  assert_string_equal(f->log, "");
}

/* One directive: its loops at level GlobalBuffer, or the message. */
static calm_status one(nest_fixture *f, const char *type, const char *rest) {
  char text[512];
  snprintf(text, sizeof text,
           "mapping:\n- {target: GlobalBuffer, type: %s, %s}\n", type, rest);
  return nest_read(f, text);
}

static void factors(void **state) {
  nest_fixture *f = *state;
  static const char *const spellings[] = {"factors: C3 K4",
                                          "factors: \"C 3, K 4\"",
                                          "factors: C=3 K==4",
                                          "factors: C3K4",
                                          "factors: \"C = 3 K4 # R2\"",
                                          "factors: \"R1 S1 P1 Q1 C3 K4 N1\"",
                                          "factors: [C=3, K=4]",
                                          "factors: [\"C=3 K4\"]",
                                          "factors: [C3, K4, N=1]",
                                          "factors: \"C=3,K=4\""};
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
    assert_int_equal(one(f, "temporal", spellings[i]), CALM_OK);
    assert_string_equal(nest_loops(f, &f->nest), "1t:C3 1t:K4");
  }
  assert_int_equal(one(f, "temporal", "factors: P0"), CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest), "1t:P8");
  assert_int_equal(one(f, "temporal", "factors: "), CALM_OK);
  assert_int_equal(f->nest.loop_count, 0);
}

static void factors_that_are_wrong(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *directive, *says;
  } rows[] = {
      {"factors: M4",
       "t.yaml:2:51: the layer has no dimension 'M'; it has R, "
       "S, P, Q, C, K, N"},
      {"factors: C3 Kernel4", "no dimension 'Kernel'"},
      {"factors: C", "a number is missing"},
      {"factors: 3", "a dimension is expected"},
      {"factors: C3 4", "a dimension is expected"},
      {"factors: C3.5", "'.' in the factors"},
      {"factors: C<=3", "a limit on C; a mapping has factors"},
      {"factors: C<3", "write '<=' or '>='"},
      {"factors: C3 K2 C3", "C has two factors"},
      {"factors: C99999999999999999999", "a factor above 2^53"},
      {"factors: C9007199254740993", "a factor above 2^53"},
      {"factors: {C: 3}", "not a mapping"},
      {"factors: [[C, 3]]", "a list"},
      {"factors: [C=3, 3, 3]", "a number without a dimension"},
      {"factors: \"P=6,7\"", "has 7 of 6 iterations"},
      {"factors: \"P=6,0\"", "has 0 of 6 iterations"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(one(f, "temporal", rows[i].directive), CALM_BAD_INPUT);
    NEST_SAYS(f, rows[i].says);
  }
}

static void imperfect(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(nest_read(f,
                             "mapping:\n"
                             "- {target: GlobalBuffer, type: temporal,\n"
                             "   factors: \"P=3,2 C=6,6\"}\n"
                             "- {target: DRAM, type: temporal,\n"
                             "   factors: [P=3, K=16,4]}\n"),
                   CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest), "1t:P3/2 1t:C6 2t:P3 2t:K16/4");
  assert_false(accel_nest_is_perfect(&f->nest));
  /* Beyond all numbers together, which is for who multiplies them to find. */
  assert_int_equal(nest_read(f,
                             "mapping:\n"
                             "- {target: GlobalBuffer, type: temporal,\n"
                             "   factors: R9007199254740992}\n"
                             "- {target: DRAM, type: temporal,\n"
                             "   factors: \"R=9007199254740992,3\"}\n"),
                   CALM_OK);
}

static void orders(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *order, *loops;
  } rows[] = {
      {"permutation: RSPQCKN", "1t:P2 1t:C3 1t:K4"},
      {"permutation: KCPRSQN", "1t:K4 1t:C3 1t:P2"},
      {"permutation: KP", "1t:K4 1t:P2 1t:C3"},
      {"permutation: K P", "1t:K4 1t:P2 1t:C3"},
      {"permutation: \"K,P\"", "1t:K4 1t:P2 1t:C3"},
      {"permutation: [K, P]", "1t:K4 1t:P2 1t:C3"},
      {"permutation: [KP]", "1t:K4 1t:P2 1t:C3"},
      {"permutation: []", "1t:P2 1t:C3 1t:K4"},
      {"split: 3", "1t:P2 1t:C3 1t:K4"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[128];
    snprintf(text, sizeof text, "factors: P2 C3 K4, %s", rows[i].order);
    assert_int_equal(one(f, "temporal", text), CALM_OK);
    assert_string_equal(nest_loops(f, &f->nest), rows[i].loops);
  }
  assert_non_null(strstr(f->log, "'split' means nothing"));
  assert_int_equal(one(f, "temporal", "permutation: KPM"), CALM_BAD_INPUT);
  NEST_SAYS(f, "t.yaml:2:57: the layer has no dimension 'M'");
  assert_int_equal(one(f, "temporal", "permutation: KPK"), CALM_BAD_INPUT);
  NEST_SAYS(f, "K is twice");
  assert_int_equal(one(f, "temporal", "permutation: K_P"), CALM_BAD_INPUT);
  NEST_SAYS(f, "belongs into constraints");
  assert_int_equal(one(f, "temporal", "permutation: K;P"), CALM_BAD_INPUT);
  NEST_SAYS(f, "';' in the order");
}

static void splits(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *rest, *loops;
  } rows[] = {
      {"permutation: KCP", "1x:K4 1x:C2"},
      {"permutation: KCP, split: 0", "1y:K4 1y:C2"},
      {"permutation: KCP, split: 1", "1x:K4 1y:C2"},
      {"permutation: KCP, split: 999", "1x:K4 1x:C2"},
      {"permutation: PKC, split: 2", "1x:K4 1y:C2"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[128];
    snprintf(text, sizeof text, "factors: C2 K4, %s", rows[i].rest);
    assert_int_equal(one(f, "spatial", text), CALM_OK);
    assert_string_equal(nest_loops(f, &f->nest), rows[i].loops);
  }
  assert_int_equal(one(f, "spatial", "split: -1"), CALM_BAD_INPUT);
  assert_string_equal(f->log, "");
  f->levels[PE].mesh_x = 1;
  assert_int_equal(one(f, "spatial", "factors: C2"), CALM_OK);
  assert_non_null(strstr(f->log, "'split: 0' puts them along Y"));
}

static void spatial_without_fanout(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(nest_read(f,
                             "mapping:\n- {target: DRAM, type: spatial, "
                             "factors: K2}\n"),
                   CALM_BAD_INPUT);
  NEST_SAYS(f, "DRAM, which has as many instances as GlobalBuffer");
  assert_int_equal(nest_read(f,
                             "mapping:\n- {target: DRAM, type: spatial, "
                             "factors: K1, no_link_transfer: [Inputs]}\n"),
                   CALM_OK);
  assert_int_equal(f->nest.unlinked[DRAM], 0);
}

static void tensors(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *type, *rest;
    uint32_t kept;
  } rows[] = {
      {"bypass", "bypass: [Weights]", 6},
      {"datatype", "keep: [Inputs], bypass: [Weights, Outputs]", 2},
      {"dataspace", "keep: [], bypass: \"*\"", 0},
      {"bypassing", "bypass: Outputs", 3},
      {"datatype", "keep: [Weights], bypass: [Weights]", 6},
      {"datatype", "keep: [Weights]", 7},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(one(f, rows[i].type, rows[i].rest), CALM_OK);
    assert_int_equal(f->nest.kept[GB], rows[i].kept);
    assert_int_equal(f->nest.kept[PE], 7);
    const bool both = i == 4;
    assert_int_equal(both, strstr(f->log, "both kept and bypassed") != NULL);
  }
  assert_int_equal(one(f, "bypass", "bypass: [Weight]"), CALM_BAD_INPUT);
  NEST_SAYS(f,
            "no tensor 'Weight'; it has Weights, Inputs, Outputs; did "
            "you mean 'Weights'?");
  assert_int_equal(one(f, "bypass", "bypass: [[Weights]]"), CALM_BAD_INPUT);
}

static void targets(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(nest_read(f,
                             "mapping:\n- {target: 1, type: temporal, "
                             "factors: K2}\n"
                             "- {name: PEBuffer, type: temporal, factors: "
                             "K2}\n"),
                   CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest), "0t:K2 1t:K2");
  static const struct {
    const char *target, *says;
  } rows[] = {
      {"GlobalBufer", "did you mean 'GlobalBuffer'?"},
      {"Foo", "no level 'Foo'; it has DRAM, GlobalBuffer, PEBuffer"},
      {"MAC", "'MAC' is the multipliers"},
      {"3", "no level '3'"},
      {"\"1\"", "no level '1'"},
      {"[DRAM]", "target is a list"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "mapping:\n- {target: %s, type: temporal}\n",
             rows[i].target);
    assert_int_equal(nest_read(f, text), CALM_BAD_INPUT);
    NEST_SAYS(f, rows[i].says);
  }
}

static void directives_that_are_wrong(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *text, *says;
    calm_status status;
  } rows[] = {
      {"problem: {}", "no section 'mapping' in this file; it has problem",
       CALM_BAD_INPUT},
      {"{version: 0.3, mapspace: {}}", "it has version, mapspace (constraints",
       CALM_BAD_INPUT},
      {"mapping: {type: fused, nodes: []}", "fused mapping", CALM_UNSUPPORTED},
      {"mapping: K4", "a list of directives", CALM_BAD_INPUT},
      {"mapping: [K4]", "a directive has keys", CALM_BAD_INPUT},
      {"mapping: [{target: DRAM}]", "without 'type'", CALM_BAD_INPUT},
      {"mapping: [{type: temporal}]", "without 'target'", CALM_BAD_INPUT},
      {"mapping: [{target: DRAM, type: temporary}]", "did you mean 'temporal'?",
       CALM_BAD_INPUT},
      {"mapping: [{target: DRAM, type: skew}]", "type 'skew'",
       CALM_UNSUPPORTED},
      {"mapping: [{target: DRAM, type: utilization}]",
       "'utilization' is a constraint", CALM_BAD_INPUT},
      {"mapping: [{target: DRAM, type: temporal, factor: K4}]",
       "t.yaml:1:42: 'factor' is no key of a directive; did you mean 'factors'",
       CALM_BAD_INPUT},
      {"mapping: [{target: DRAM, type: temporal, no_reuse: [Weights]}]",
       "t.yaml:1:42: 'no_reuse' is not supported", CALM_UNSUPPORTED},
      {"mapping: [{target: DRAM, type: temporal, rmw-first-update: [Outputs]}]",
       "'rmw-first-update' is not supported", CALM_UNSUPPORTED},
      {"mapping: [{target: DRAM, type: temporal, factors_only: [K4]}]",
       "it is a constraint", CALM_UNSUPPORTED},
      {"mapping:\n- {target: DRAM, type: temporal}\n"
       "- {target: DRAM, type: datatype}\n- {target: DRAM, type: temporal}\n",
       "t.yaml:4:3: the temporal loops of DRAM are in line 2 already",
       CALM_BAD_INPUT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(nest_read(f, rows[i].text), rows[i].status);
    NEST_SAYS(f, rows[i].says);
  }
  assert_int_equal(nest_read(f,
                             "mapping: {version: 0.4, targets: [{target: "
                             "DRAM, type: temporal, no_reuse: []}]}"),
                   CALM_OK);
}

static void links(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(one(f, "spatial", "factors: K4, no_link_transfer: [Inputs]"),
                   CALM_OK);
  assert_int_equal(f->nest.unlinked[GB], 2);
  assert_int_equal(f->nest.unlinked[PE], 0);
}

/* A mesh of its own, as version 0.4 has it, and rules at the nodes. */
static void nodes(void **state) {
  nest_fixture *f = *state;
  static const char text[] =
      "mapping:\n"
      "- {target: PE, type: spatial, factors: P2 K4,\n"
      "   permutation: PK}\n"
      "- {target: PEBuffer, type: dataspace,\n"
      "   keep: [Inputs]}\n";
  f->levels[GB].name = "inter_PE_spatial";
  f->levels[GB].virtual_level = true;
  f->levels[GB].constraints =
      nest_yaml(f, "{spatial: {split: 1}, dataspace: {keep: [Weights]}}");
  f->levels[PE].constraints = nest_yaml(f, "dataspace: {bypass: [Inputs]}");
  static const char *keeps[] = {"Weights", "Inputs"};
  static const char *bypasses[] = {"Outputs"};
  f->levels[PE].branch =
      (accel_branch){{"a.yaml", 1, 1}, keeps, bypasses, 2, 1};
  assert_int_equal(nest_read(f, text), CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest), "1x:P2 1y:K4");
  assert_int_equal(f->nest.kept[GB], 0);
  assert_int_equal(f->nest.kept[PE], 3);
  f->levels[PE].branch.keep_count = 1;
  assert_int_equal(nest_read(f, text), CALM_BAD_INPUT);
  NEST_SAYS(f, "a.yaml:1:1: no branch of this !Parallel keeps Inputs");
}

/* Names longer than a letter, and names with digits. */
static void long_names(void **state) {
  nest_fixture *f = *state;
  static const char *const names[] = {"Row", "D", "D1", "P", "C_in", "K2", "N"};
  for (int d = 0; d < DIMENSIONS; d++) f->layer.dimensions[d].name = names[d];
  assert_int_equal(one(f, "temporal",
                       "factors: Row3 D15 C_in=2 K2=4 K23 D12=1, "
                       "permutation: [C_in, Row]"),
                   CALM_BAD_INPUT);
  NEST_SAYS(f, "no dimension 'D12'");
  assert_int_equal(one(f, "temporal",
                       "factors: Row3 D15 C_in=2 K2=4 D 7, "
                       "permutation: \"C_in, Row, D1\""),
                   CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest),
                      "1t:C_in2 1t:Row3 1t:D15 1t:D7 1t:K24");
  assert_int_equal(one(f, "temporal", "permutation: [C_im]"), CALM_BAD_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(base, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(factors, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(factors_that_are_wrong, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(imperfect, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(orders, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(splits, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(spatial_without_fanout, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(tensors, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(targets, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(directives_that_are_wrong, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(links, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(nodes, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(long_names, nest_open, nest_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
