#include "nest_fixture.h"

static accel_constraints rules;

static calm_status read_rules(nest_fixture *f, const char *text) {
  return accel_constraints_read(&rules, nest_yaml(f, text), &f->arch, &f->layer,
                                &f->arena);
}

/* A nest that observes much: PE R3 S3 C2, K4 on X below it; buffer P4 x C3 on
   the mesh, Q4; DRAM K4 P2. */
static const char NEST[] =
    "mapping:\n"
    "- {target: DRAM, type: temporal, factors: P2 K4, permutation: KP}\n"
    "- {target: GlobalBuffer, type: temporal, factors: Q4}\n"
    "- {target: GlobalBuffer, type: bypass, bypass: [Weights]}\n"
    "- {target: GlobalBuffer, type: spatial, factors: P4 C3,\n"
    "   permutation: PC, split: 1}\n"
    "- {target: PEBuffer, type: spatial, factors: K4}\n"
    "- {target: PEBuffer, type: temporal, factors: R3 S3 C2}\n";

static const char *check(nest_fixture *f) {
  static char kept[512];
  char *line;
  assert_int_equal(nest_read(f, NEST), CALM_OK);
  assert_int_equal(accel_constraints_check(&line, &rules, &f->nest, &f->arch,
                                           &f->layer, f->context),
                   CALM_OK);
  snprintf(kept, sizeof kept, "%s", line ? line : "");
  if (line) calm_text_free(f->context, line);
  return kept;
}

/* Each place where a list may stand has this one rule in it. */
static void sections(void **state) {
  nest_fixture *f = *state;
  static const char *const texts[] = {
      "architecture_constraints: {version: 0.3, targets: [RULE]}",
      "arch_constraints: [RULE]",
      "mapspace_constraints: [RULE]",
      "mapspace_constraints: {targets: [RULE]}",
      "mapspace: {constraints: [RULE]}",
      "mapspace: {template: ruby, targets: [RULE]}",
      "mapspace: {constraints: mine, constraints_mine: [RULE],\n"
      "  constraints_other: [{type: nonsense}]}",
      "constraints: [RULE]",
      "constraints: {version: 0.4, targets: [RULE]}",
      "constraints_II: {targets: [RULE]}",
      "arch: {constraints: [RULE], storage: []}",
      "architecture: {version: 0.3, constraints: {targets: [RULE]}}",
      "constraints: [{name: DRAM, constraints: [{type: temporal,\n"
      "  attributes: {factors: K=4}}]}]",
      "constraints: [{target: DRAM, constraints: [{type: temporal,\n"
      "  factors: K=4}]}]"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[512];
    const char *at = strstr(texts[i], "RULE");
    snprintf(text, sizeof text, "%.*s%s%s\n",
             (int)(at ? (size_t)(at - texts[i]) : strlen(texts[i])), texts[i],
             at ? "{target: DRAM, type: temporal, factors: K4}" : "",
             at ? at + 4 : "");
    assert_true(accel_constraints_present(nest_yaml(f, text)));
    assert_int_equal(read_rules(f, text), CALM_OK);
    assert_int_equal(rules.level_count, LEVELS);
    assert_int_equal(rules.levels[DRAM].temporal.factor_count, 1);
    const accel_factor_rule *r = rules.levels[DRAM].temporal.factors;
    assert_int_equal(r->dimension, K);
    assert_int_equal(r->relation, ACCEL_EQUAL);
    assert_int_equal(r->value, 4);
  }
  assert_false(accel_constraints_present(nest_yaml(f, "problem: {}")));
  assert_int_equal(read_rules(f, "mapspace: {template: uber}"), CALM_OK);
  assert_int_equal(read_rules(f, "mapspace_constraints: {targets: []}"),
                   CALM_OK);
  assert_int_equal(read_rules(f, "mapspace_constraints:"), CALM_OK);
}

static void texts_that_are_wrong(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *text, *says;
    calm_status status;
  } rows[] = {
      {"mapspace: K4", "constraints are a list", CALM_BAD_INPUT},
      {"mapspace: {target: []}", "did you mean 'targets'?", CALM_BAD_INPUT},
      {"mapspace: {constraints: mine}", "no list 'constraints_mine'",
       CALM_BAD_INPUT},
      {"constraints: [K4]", "a constraint has keys", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM}]", "without 'type'", CALM_BAD_INPUT},
      {"constraints: [{type: spatial}]", "without 'target'", CALM_BAD_INPUT},
      {"constraints: [{target: DRM, type: spatial}]", "did you mean 'DRAM'?",
       CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, constraints: 3}]",
       "the constraints of a target are a list", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, type: max_overbooked_proportion,\n"
       "  proportion: 0.5}]",
       "type 'max_overbooked_proportion' are not supported", CALM_UNSUPPORTED},
      {"constraints: [{target: DRAM, type: temporal, factor: K4}]",
       "did you mean 'factors'?", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, type: temporal, factors: M4}]",
       "no dimension 'M'", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, type: temporal, factors: K<=0}]",
       "a limit of 0 on K", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, type: temporal, factors: \"P=6,2\"}]",
       "last pass", CALM_UNSUPPORTED},
      {"constraints: [{target: DRAM, type: temporal, factors: K1 K1 K1 K1 K1\n"
       "  K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1}]",
       "more than 21 factors, of 7 dimensions", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, type: dataspace, keep: [Weight]}]",
       "did you mean 'Weights'?", CALM_BAD_INPUT},
      {"constraints: [{target: PEBuffer, type: spatial,\n"
       "  no_link_transfer: [Weights]}]",
       "it belongs to the mapping", CALM_UNSUPPORTED},
      {"constraints: [{target: PEBuffer, type: spatial, maximize_dims: [K]}]",
       "'maximize_dims' is not supported", CALM_UNSUPPORTED},
      {"constraints: [{target: DRAM, type: utilization, min: 0.5}]",
       "a rule of the innermost level, PEBuffer", CALM_BAD_INPUT},
      {"constraints: [{target: PEBuffer, type: parallelism, min: 2}]",
       "between 0 and 1", CALM_BAD_INPUT},
      {"constraints: [{target: DRAM, type: temporal, default_max_factor: 0}]",
       "a limit of 0", CALM_BAD_INPUT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(read_rules(f, rows[i].text), rows[i].status);
    NEST_SAYS(f, rows[i].says);
  }
}

/* ---- One rule: is it observed? ------------------------------------------- */

static void broken_rules(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *directive, *says; /* "": observed */
  } rows[] = {
      {"DRAM, type: temporal, factors: K4 P=2 R1", ""},
      {"DRAM, type: temporal, factors: K<=4 P>=2", ""},
      {"DRAM, type: temporal, factors: K2",
       "t.yaml:1: the temporal factor of K at DRAM is 4, not 2"},
      {"DRAM, type: temporal, factors: K<=2", "is 4, not at most 2"},
      {"DRAM, type: temporal, factors: Q>=2", "is 1, not at least 2"},
      {"GlobalBuffer, type: spatial, factors: P2",
       "the spatial factor of P at GlobalBuffer is 4, not 2"},
      {"DRAM, type: temporal, factors: K64", ""}, /* above the bound */
      {"DRAM, type: temporal, permutation: KP", ""},
      {"DRAM, type: temporal, permutation: RSKQP", ""},
      {"DRAM, type: temporal, permutation: K", ""},
      {"DRAM, type: temporal, permutation: [R, K]", ""},
      {"DRAM, type: temporal, permutation: R", ""},
      {"DRAM, type: temporal, permutation: PK",
       "the loop over K at DRAM stands where P belongs"},
      {"DRAM, type: temporal, permutation: P", "stands where P belongs"},
      {"DRAM, type: temporal, permutation: _P", ""},
      {"DRAM, type: temporal, permutation: K_P", ""},
      {"DRAM, type: temporal, permutation: _KP", ""},
      {"DRAM, type: temporal, permutation: _PK", "stands where K belongs"},
      {"DRAM, type: temporal, permutation: _K",
       "the loop over P at DRAM stands where K belongs"},
      {"GlobalBuffer, type: spatial, permutation: PC, split: 1", ""},
      {"GlobalBuffer, type: spatial, permutation: P, split: 1", ""},
      {"GlobalBuffer, type: spatial, permutation: RPSC, split: 2", ""},
      {"GlobalBuffer, type: spatial, split: 3", ""},
      {"GlobalBuffer, type: spatial, permutation: PC, split: 2",
       "C at GlobalBuffer is along Y, not along X"},
      {"GlobalBuffer, type: spatial, split: 0",
       "P at GlobalBuffer is along X, not along Y"},
      {"GlobalBuffer, type: spatial, split: 99",
       "C at GlobalBuffer is along Y"},
      {"GlobalBuffer, type: spatial, permutation: RSQK, split: 4",
       "P at GlobalBuffer is along X"},
      {"GlobalBuffer, type: dataspace, bypass: [Weights]", ""},
      {"GlobalBuffer, type: dataspace, keep: [Inputs, Outputs]", ""},
      {"GlobalBuffer, type: dataspace, keep_only: [Inputs, Outputs]", ""},
      {"GlobalBuffer, type: dataspace, bypass_only: [Weights]", ""},
      {"GlobalBuffer, type: dataspace, keep_only: [Inputs]",
       "Outputs must not be kept at GlobalBuffer"},
      {"GlobalBuffer, type: dataspace, bypass_only: [Inputs]",
       "Weights must be kept at GlobalBuffer"},
      {"GlobalBuffer, type: bypass, keep: \"*\"", "Weights must be kept"},
      {"PEBuffer, type: utilization, min: 0.75", ""},
      {"PEBuffer, type: parallelism, min: 0.8",
       "48 of the 64 multipliers are in use, which is less than 0.8"},
      {"DRAM, type: temporal, factors_only: [K=4, P=2]", ""},
      {"DRAM, type: temporal, factors_only: [K=4]", "factor of P at DRAM is 2"},
      {"DRAM, type: temporal, no_iteration_over_dataspaces: [Weights]",
       "factor of K at DRAM is 4, not 1"},
      {"DRAM, type: temporal, must_iterate_over_dataspaces: [Outputs]", ""},
      {"DRAM, type: temporal, must_iterate_over_dataspaces: [Weights]",
       "factor of P at DRAM is 2, not 1"},
      {"DRAM, type: temporal, factors: K=4, default_max_factor: 2", ""},
      {"DRAM, type: temporal, default_max_factor: 2", "of K at DRAM is 4"},
      {"DRAM, type: temporal, factors: [R<=1], default_min_factor: 1", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "constraints: [{target: %s}]\n",
             rows[i].directive);
    if (read_rules(f, text) != CALM_OK)
      fail_msg("%s: %s", rows[i].directive, calm_context_message(f->context));
    const char *said = check(f);
    if (*rows[i].says ? !strstr(said, rows[i].says) : *said)
      fail_msg("%s: '%s'", rows[i].directive, said);
  }
}

/* Several sections hold, and the tighter limit counts. */
static void several_sections(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(
      read_rules(f,
                 "architecture_constraints: {targets: [\n"
                 " {target: DRAM, type: temporal, factors: K<=8,\n"
                 "  permutation: K},\n"
                 " {target: DRAM, type: dataspace, keep: [Inputs]}]}\n"
                 "mapspace_constraints: [\n"
                 " {target: DRAM, type: temporal, factors: K<=2 K>=2,\n"
                 "  permutation: KQ},\n"
                 " {target: DRAM, type: temporal, factors: K<=4},\n"
                 " {target: DRAM, type: dataspace, keep: [Weights]}]\n"),
      CALM_OK);
  const accel_level_rules *l = &rules.levels[DRAM];
  assert_int_equal(l->keep, 3);
  assert_int_equal(l->keep_places[1].line, 4);
  assert_int_equal(l->keep_places[0].line, 9);
  assert_int_equal(l->temporal.factor_count, 2);
  assert_int_equal(l->temporal.inner_count, 2);
  assert_string_equal(check(f),
                      "t.yaml:6: the temporal factor of K at DRAM is 4, not "
                      "at most 2");
}

/* ---- Contradictions ------------------------------------------------------ */

/* 3 times 6 make up 16 where the last pass of the inner one has 4 iterations.
   An outermost loop runs through what its last pass has. */
static void imperfect_loops_observe(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *factors, *line;
  } rows[] = {
      {"K3", "t.yaml:1: the temporal factor of K at DRAM is 4, not 3"},
      {"K4", ""},
      {"K6", "t.yaml:1: the temporal factor of K at DRAM is 4, not 6"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[128], *line;
    snprintf(text, sizeof text,
             "constraints: [{target: DRAM, type: temporal, factors: %s}]",
             rows[i].factors);
    assert_int_equal(read_rules(f, text), CALM_OK);
    assert_int_equal(
        nest_read(f,
                  "mapping:\n"
                  "- {target: DRAM, type: temporal, factors: \"K=6,4\"}\n"
                  "- {target: PEBuffer, type: temporal, factors: K4}\n"),
        CALM_OK);
    assert_int_equal(accel_constraints_check(&line, &rules, &f->nest, &f->arch,
                                             &f->layer, f->context),
                     CALM_OK);
    assert_string_equal(line ? line : "", rows[i].line);
    if (line) calm_text_free(f->context, line);
  }
  assert_int_equal(
      read_rules(f,
                 "constraints: [{target: DRAM, type: temporal,\n"
                 "  factors: K3}, {target: PEBuffer, type: temporal,\n"
                 "  factors: K6}]"),
      CALM_OK);
  char *line;
  assert_int_equal(
      nest_read(f,
                "mapping:\n"
                "- {target: DRAM, type: temporal, factors: K3}\n"
                "- {target: PEBuffer, type: temporal, factors: \"K=6,4\"}\n"),
      CALM_OK);
  assert_int_equal(accel_constraints_check(&line, &rules, &f->nest, &f->arch,
                                           &f->layer, f->context),
                   CALM_OK);
  assert_null(line);
}

static void contradictions(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *list, *says;
  } rows[] = {
      {"- {target: DRAM, type: temporal, factors: K2}\n"
       "- {target: DRAM, type: temporal, factors: K4}\n",
       "t.yaml:3:43: K=4 contradicts K=2 in t.yaml:2 (temporal loops of "
       "DRAM)"},
      {"- {target: DRAM, type: temporal, factors: K4 K<=2}\n",
       "K<=2 contradicts K=4"},
      {"- {target: DRAM, type: temporal, factors: K<=2}\n"
       "- {target: DRAM, type: temporal, factors: K>=3}\n",
       "K>=3 contradicts K<=2"},
      {"- {target: DRAM, type: temporal, factors: K8}\n"
       "- {target: GlobalBuffer, type: temporal, factors: K>=4}\n",
       "t.yaml:2:43: the factors of K make up at least 29, and its bound is "
       "16: 8 at DRAM (temporal, t.yaml:2), 4 at GlobalBuffer (temporal, "
       "t.yaml:3)"},
      {"- {target: DRAM, type: temporal, factors: K6}\n"
       "- {target: GlobalBuffer, type: spatial, factors: K4}\n",
       "the factors of K make up at least 21, and its bound is 16: 6 at DRAM "
       "(temporal, t.yaml:2), 4 at GlobalBuffer (spatial, t.yaml:3)"},
      {"- {target: DRAM, type: temporal, factors: R1}\n"
       "- {target: GlobalBuffer, type: temporal, factors: R1}\n"
       "- {target: GlobalBuffer, type: spatial, factors: R1}\n"
       "- {target: PEBuffer, type: temporal, factors: R1}\n"
       "- {target: PEBuffer, type: spatial, factors: R1}\n",
       "the factors of R make up at most 1, and its bound is 3: 1 at DRAM "
       "(temporal, t.yaml:2), 1 at GlobalBuffer (temporal, t.yaml:3), 1 at "
       "GlobalBuffer (spatial, t.yaml:4), 1 at PEBuffer (temporal, t.yaml:5), "
       "1 at PEBuffer (spatial, t.yaml:6)"},
      {"- {target: GlobalBuffer, type: spatial, factors: K8 C3}\n",
       "the spatial factors of GlobalBuffer make up 24, and its fan-out is 16: "
       "C=3 (t.yaml:2), K=8 (t.yaml:2)"},
      {"- {target: GlobalBuffer, type: spatial, factors: K8,\n"
       "   permutation: KC, split: 1}\n",
       "make up 8, and its fan-out along X is 4: K=8"},
      {"- {target: GlobalBuffer, type: spatial, factors: K8, split: 0}\n",
       "its fan-out along Y is 4"},
      {"- {target: DRAM, type: spatial, factors: K2}\n",
       "the spatial factors of DRAM make up 2, and its fan-out is 1"},
      {"- {target: DRAM, type: temporal, permutation: KPC}\n"
       "- {target: DRAM, type: temporal, permutation: KC}\n",
       "t.yaml:3:47: this order contradicts that in t.yaml:2 (loops of DRAM): "
       "P and C cannot both be in place 2"},
      {"- {target: DRAM, type: temporal, permutation: KPC}\n"
       "- {target: DRAM, type: temporal, permutation: _RSQCKNP}\n",
       "the outer places of this order contradict the inner ones"},
      {"- {target: GlobalBuffer, type: spatial, split: 1}\n"
       "- {target: GlobalBuffer, type: spatial, split: 2}\n",
       "split 2 contradicts split 1 in t.yaml:2"},
      {"- {target: DRAM, type: dataspace, keep: [Inputs]}\n"
       "- {target: DRAM, type: bypass, bypass: [Inputs]}\n",
       "Inputs must be kept at DRAM (t.yaml:2) and bypassed (t.yaml:3)"},
      {"- {target: DRAM, type: bypass, bypass: [Inputs]}\n"
       "- {target: GlobalBuffer, type: bypass, bypass: [Inputs]}\n"
       "- {target: PEBuffer, type: bypass, bypass: [Inputs]}\n",
       "Inputs is bypassed at every level: DRAM (t.yaml:2), GlobalBuffer "
       "(t.yaml:3), PEBuffer (t.yaml:4)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[512];
    snprintf(text, sizeof text, "constraints:\n%s", rows[i].list);
    assert_int_equal(read_rules(f, text), CALM_BAD_INPUT);
    NEST_SAYS(f, rows[i].says);
  }
  /* Splits beyond the dimensions are all the same. */
  assert_int_equal(
      read_rules(f,
                 "constraints:\n"
                 "- {target: GlobalBuffer, type: spatial, split: 99}\n"
                 "- {target: GlobalBuffer, type: spatial, split: 7}\n"),
      CALM_OK);
}

/* The nodes of version 0.4, with a mesh of its own. */
static void nodes(void **state) {
  nest_fixture *f = *state;
  f->levels[GB].name = "inter_PE_spatial";
  f->levels[GB].virtual_level = true;
  f->levels[GB].place = (accel_place){"a.yaml", 7, 1};
  f->levels[GB].constraints =
      nest_yaml(f,
                "spatial: {factors: [R=1, S=1], permutation: [C, P],\n"
                "  split: 1}");
  f->levels[DRAM].constraints = nest_yaml(f,
                                          "temporal: {permutation: [R, S, P]}\n"
                                          "dataspace: {keep: [Weights]}\n");
  assert_int_equal(
      accel_constraints_read(&rules, NULL, &f->arch, &f->layer, &f->arena),
      CALM_OK);
  assert_int_equal(rules.levels[GB].bypass, 7);
  assert_int_equal(rules.levels[GB].temporal.factor_count, DIMENSIONS);
  assert_int_equal(rules.levels[GB].spatial.factor_count, 2);
  assert_int_equal(rules.levels[GB].spatial.split, 1);
  /* R, S and N, which can have no loop there, come before C and P. */
  assert_int_equal(rules.levels[GB].spatial.inner_count, 5);
  assert_int_equal(
      accel_constraints_axis(&rules.levels[GB].spatial, C, DIMENSIONS),
      ACCEL_AXIS_Y);
  assert_int_equal(rules.levels[DRAM].temporal.inner_count, 3);
  assert_int_equal(rules.levels[DRAM].keep, 1);
  /* A file may speak of the node, and mean its mesh. */
  assert_int_equal(
      read_rules(f, "constraints: [{target: PE, type: spatial, factors: C4}]"),
      CALM_OK); /* of 6, in an imperfect mapping */
  assert_int_equal(
      read_rules(f, "constraints: [{target: PE, type: spatial, factors: R3}]"),
      CALM_BAD_INPUT);
  NEST_SAYS(f,
            "R=3 contradicts R=1 in t.yaml:1 (spatial loops of "
            "inter_PE_spatial)");
  f->levels[DRAM].constraints = nest_yaml(f, "tempral: {factors: [C=1]}");
  assert_int_equal(
      accel_constraints_read(&rules, NULL, &f->arch, &f->layer, &f->arena),
      CALM_BAD_INPUT);
  NEST_SAYS(f, "'tempral' is no kind of constraints");
}

/* Where the split of a mesh lies: ones are counted, wherever it is said that
   they are ones, but for those that the order names. */
static void ones_take_places_at_a_mesh(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *directive;
    accel_axis c, k;
  } rows[] = {
      {"permutation: [C, K], split: 1", ACCEL_AXIS_Y, ACCEL_AXIS_Y},
      {"permutation: [C, K], split: 2", ACCEL_AXIS_X, ACCEL_AXIS_Y},
      {"permutation: [N, C, K], split: 1", ACCEL_AXIS_Y, ACCEL_AXIS_Y},
      {"permutation: [C, K, N], split: 1", ACCEL_AXIS_X, ACCEL_AXIS_Y},
      {"permutation: [C, K], factors: [R=1, S=1, P<=1], split: 3", ACCEL_AXIS_Y,
       ACCEL_AXIS_Y},
      {"permutation: [C, K], factors: [R=1, S=1], split: 4", ACCEL_AXIS_X,
       ACCEL_AXIS_Y},
      {"permutation: [C, K], factors_only: [C<=4, K<=4], split: 6",
       ACCEL_AXIS_X, ACCEL_AXIS_Y},
      {"permutation: [C, K], no_iteration_over_dataspaces: [Outputs],\n"
       "  split: 4",
       ACCEL_AXIS_X, ACCEL_AXIS_Y},
      {"permutation: [C, K]", ACCEL_AXIS_FREE, ACCEL_AXIS_FREE},
      {"split: 1", ACCEL_AXIS_Y, ACCEL_AXIS_Y},
  };
  f->levels[GB].virtual_level = true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "constraints: [{target: GlobalBuffer, type: spatial, %s}]",
             rows[i].directive);
    if (read_rules(f, text)) fail_msg("%s", calm_context_message(f->context));
    const accel_block_rules *b = &rules.levels[GB].spatial;
    if (accel_constraints_axis(b, C, DIMENSIONS) != rows[i].c ||
        accel_constraints_axis(b, K, DIMENSIONS) != rows[i].k)
      fail_msg("%s", rows[i].directive);
  }
  /* Not of earlier versions. */
  f->levels[GB].virtual_level = false;
  assert_int_equal(read_rules(f,
                              "constraints: [{target: GlobalBuffer,\n"
                              "  type: spatial, permutation: [C, K],\n"
                              "  split: 1}]"),
                   CALM_OK);
  assert_int_equal(
      accel_constraints_axis(&rules.levels[GB].spatial, C, DIMENSIONS),
      ACCEL_AXIS_X);
}

/* Rules of one file beside those of another. */
static void several_files(void **state) {
  nest_fixture *f = *state;
  const accel_yaml *roots[] = {
      nest_yaml(f,
                "constraints: [{target: DRAM, type: temporal, factors: K8}]"),
      nest_yaml(f,
                "constraints: [{target: PEBuffer, type: temporal,\n"
                "  factors: K4}]"),
      nest_yaml(f, "mapspace: [{target: DRAM, type: temporal, factors: P4}]")};
  const accel_rule_files all = {roots, 2}, good = {roots + 1, 2};
  assert_int_equal(accel_constraints_read_files(&rules, &all, &f->arch,
                                                &f->layer, &f->arena),
                   CALM_BAD_INPUT);
  NEST_SAYS(f, "the factors of K make up at least 29, and its bound is 16");
  assert_int_equal(accel_constraints_read_files(&rules, &good, &f->arch,
                                                &f->layer, &f->arena),
                   CALM_OK);
  assert_int_equal(rules.levels[DRAM].temporal.factor_count, 1);
  assert_int_equal(rules.levels[PE].temporal.factor_count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sections, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(texts_that_are_wrong, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(broken_rules, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(several_sections, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(imperfect_loops_observe, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(contradictions, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(nodes, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(ones_take_places_at_a_mesh, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(several_files, nest_open, nest_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
