/*
 * Why no nest fits: capacities, fan-outs, multipliers and factors that block,
 * with the numbers that would do.
 */
#include "nest_fixture.h"

#include "mapper/mapper.h"

typedef struct reason_row {
  const char *rules;
  uint64_t pe_words; /* of PEBuffer */
  double pe_use;     /* the least share of them in use */
  const char *says;  /* NULL: there is a nest */
} reason_row;

#define RULES(...) "constraints:\n" __VA_ARGS__
#define LOOPS(level, type, factors) \
  "- {target: " level ", type: " type ", factors: [" factors "]}\n"
#define SPATIAL(level, factors) LOOPS(level, "spatial", factors)
#define TEMPORAL(level, factors) LOOPS(level, "temporal", factors)
#define TILES "PEBuffer keeps Weights, Inputs and Outputs: their smallest tiles"

static const reason_row rows[] = {
    /* No rules at all, as in an empty list. */
    {"constraints: []\n", 3, 0, NULL},
    {"constraints: []\n", 2, 0,
     TILES " have 1 + 1 + 1 = 3 words, capacity 2; it needs 3"},
    /* Capacities that rules ask too much of. */
    {RULES(TEMPORAL("PEBuffer", "R=3, S=3")), 19, 0, NULL},
    {RULES(TEMPORAL("PEBuffer", "R=3, S=3")), 4, 0,
     TILES " have 9 + 9 + 1 = 19 words, capacity 4; it needs 19; given R=3 "
           "(temporal loops of PEBuffer, rules.yaml:2:48) and S=3 (temporal "
           "loops of PEBuffer, rules.yaml:2:53)"},
    /* Too small in any case; but 3 words would not do. */
    {RULES(TEMPORAL("PEBuffer", "R=3, S=3")), 2, 0,
     TILES " have 9 + 9 + 1 = 19 words, capacity 2; it needs 19; given R=3 "
           "(temporal loops of PEBuffer, rules.yaml:2:48) and S=3 (temporal "
           "loops of PEBuffer, rules.yaml:2:53)"},
    {RULES(TEMPORAL("PEBuffer", "R=3, S=3") TEMPORAL("PEBuffer", "C>=2")), 19,
     0,
     TILES
     " have 18 + 18 + 1 = 37 words, capacity 19; it needs 37; given R=3 "
     "(temporal loops of PEBuffer, rules.yaml:2:48), S=3 (temporal loops "
     "of PEBuffer, rules.yaml:2:53) and C>=2 (temporal loops of PEBuffer, "
     "rules.yaml:3:48)"},
    /* What the levels outside leave to it. */
    {RULES(TEMPORAL("DRAM", "K=1") TEMPORAL("GlobalBuffer", "K=1")
               SPATIAL("GlobalBuffer", "K<=2")),
     8, 0,
     TILES " have 8 + 1 + 8 = 17 words, capacity 8; it needs 17; given K=1 "
           "(temporal loops of GlobalBuffer, rules.yaml:3:52), K<=2 (spatial "
           "loops of GlobalBuffer, rules.yaml:4:51) and K=1 (temporal loops of "
           "DRAM, rules.yaml:2:44)"},
    /* A level that must be used more than it can be. */
    {"constraints: []\n", 7000, 0.5,
     "PEBuffer must have 3500 of its 7000 words in use (least utilization "
     "0.5), and its fullest tiles have 1736; a least utilization of 0.248 "
     "would do"},
    /* Factors that divide no bound. */
    {RULES(TEMPORAL("PEBuffer", "K=5")), 512, 0,
     "K=5 (temporal loops of PEBuffer, rules.yaml:2:48): no factors of K keep "
     "this rule and make up its bound, 16"},
    {RULES(SPATIAL("GlobalBuffer", "C=2") TEMPORAL("DRAM", "C=2")), 512, 0,
     "C=2 (spatial loops of GlobalBuffer, rules.yaml:2:51) and C=2 (temporal "
     "loops of DRAM, rules.yaml:3:44): no factors of C keep these rules and "
     "make up its bound, 6"},
    /* A fan-out with enough places, but not in a row. */
    {RULES(TEMPORAL("PEBuffer", "K=1") TEMPORAL("GlobalBuffer", "K=1")
               TEMPORAL("DRAM", "K=1") SPATIAL("PEBuffer", "K=1")),
     512, 0,
     "GlobalBuffer has a fan-out of 4 x 4, on which 16 places do not come out; "
     "given K=1 (temporal loops of PEBuffer, rules.yaml:2:48), K=1 (spatial "
     "loops of PEBuffer, rules.yaml:5:47), K=1 (temporal loops of "
     "GlobalBuffer, rules.yaml:3:52) and K=1 (temporal loops of DRAM, "
     "rules.yaml:4:44)"},
    {RULES(TEMPORAL("PEBuffer", "K=1") TEMPORAL("GlobalBuffer", "K=1")
               TEMPORAL("DRAM", "K=1") SPATIAL("PEBuffer", "K=4")),
     512, 0, NULL},
    /* A share of the multipliers. */
    {RULES("- {target: PEBuffer, type: utilization, min: 1}\n"), 512, 0, NULL},
    {RULES("- {target: PEBuffer, type: utilization, min: 0.75}\n" SPATIAL(
         "GlobalBuffer", "R=1, S=1, C=1, K<=2, P=1, Q=1")),
     512, 0,
     "at least 48 of 64 multipliers (a share of 0.75, rules.yaml:2:46) must be "
     "in use, and at most 8 can be; a share of 0.125 would do; given a fan-out "
     "of 4 x 1 below PEBuffer, R=1 (spatial loops of GlobalBuffer, "
     "rules.yaml:3:51), S=1 (spatial loops of GlobalBuffer, rules.yaml:3:56), "
     "C=1 (spatial loops of GlobalBuffer, rules.yaml:3:61), K<=2 (spatial "
     "loops of GlobalBuffer, rules.yaml:3:66), P=1 (spatial loops of "
     "GlobalBuffer, rules.yaml:3:72) and Q=1 (spatial loops of GlobalBuffer, "
     "rules.yaml:3:77)"},
};

static void set_rules(nest_fixture *f, accel_constraints *out,
                      const char *text) {
  accel_yaml *root;
  assert_int_equal(
      accel_yaml_parse(&root, "rules.yaml", text, strlen(text), &f->arena),
      CALM_OK);
  if (accel_constraints_read(out, root, &f->arch, &f->layer, &f->arena))
    fail_msg("%s\n%s", text, calm_context_message(f->context));
}

static void map(nest_fixture *f, mapper_result *out,
                const accel_constraints *rules) {
  static const uint32_t all[LEVELS] = {7, 7, 7};
  const mapper_rules pruning = {0};
  limits l;
  const mapper_problem p = {.arch = &f->arch,
                            .layer = &f->layer,
                            .constraints = rules,
                            .must_keep = all,
                            .may_keep = all,
                            .objective = MAPPER_DELAY};
  limits_init(&l, f->context);
  calm_context_set_log(f->context, NULL, NULL); /* it tells of each round */
  if (mapper_exact(out, &p, &pruning, &l, &f->arena))
    fail_msg("%s", calm_context_message(f->context));
}

static void test_reasons(void **state) {
  nest_fixture *f = *state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    accel_constraints rules;
    mapper_result r;
    set_rules(f, &rules, rows[i].rules);
    f->levels[PE].capacity_words = rows[i].pe_words;
    f->levels[PE].min_utilization = rows[i].pe_use;
    map(f, &r, &rules);
    assert_int_equal(r.outcome, rows[i].says ? CALM_INFEASIBLE : CALM_OPTIMAL);
    /* A remedy may follow: test_mapper_remedy.c. */
    if (rows[i].says)
      assert_memory_equal(r.reason, rows[i].says, strlen(rows[i].says));
  }
}

/* Constraints that leave one nest yield that nest, its orders included
   (NVlabs/timeloop issue 255). */
static void test_pinned(void **state) {
  nest_fixture *f = *state;
  accel_constraints rules;
  mapper_result r;
  set_rules(f, &rules,
            RULES("- {target: PEBuffer, type: temporal, "
                  "factors: [R=3, S=1, P=2, Q=1, C=2, K=1, N=1], "
                  "permutation: [P, C, R]}\n"
                  "- {target: PEBuffer, type: spatial, split: 7, "
                  "factors: [R=1, S=1, P=1, Q=1, C=3, K=1, N=1]}\n"
                  "- {target: GlobalBuffer, type: spatial, split: 1, "
                  "factors: [R=1, S=3, P=1, Q=1, C=1, K=4, N=1], "
                  "permutation: [K]}\n"
                  "- {target: GlobalBuffer, type: temporal, "
                  "factors: [R=1, S=1, P=1, Q=2, C=1, K=4, N=1], "
                  "permutation: [Q, K]}\n"
                  "- {target: DRAM, type: temporal, "
                  "factors: [R=1, S=1, P=4, Q=2, C=1, K=1, N=1], "
                  "permutation: [_, Q]}\n"));
  f->levels[PE].capacity_words = 512;
  map(f, &r, &rules);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
  assert_string_equal(nest_loops(f, &r.nest),
                      "0x:C3 0t:P2 0t:C2 0t:R3 1x:K4 1y:S3 1t:Q2 1t:K4 2t:P4 "
                      "2t:Q2");
}

/* 1 for R and S at every level of a 3x3 layer: said when the rules are read
   (NVlabs/timeloop issue 187). */
static void test_ones(void **state) {
  nest_fixture *f = *state;
  const char *text = RULES(
      TEMPORAL("PEBuffer", "R=1, S=1") TEMPORAL("GlobalBuffer", "R=1, S=1")
          TEMPORAL("DRAM", "R=1, S=1") SPATIAL("PEBuffer", "R=1, S=1")
              SPATIAL("GlobalBuffer", "R=1, S=1"));
  accel_constraints rules;
  assert_int_equal(accel_constraints_read(&rules, nest_yaml(f, text), &f->arch,
                                          &f->layer, &f->arena),
                   CALM_BAD_INPUT);
  NEST_SAYS(f,
            "the factors of R make up at most 1, and its bound is 3: 1 at "
            "DRAM (temporal, t.yaml:4), 1 at GlobalBuffer");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_reasons, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(test_pinned, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(test_ones, nest_open, nest_close)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
