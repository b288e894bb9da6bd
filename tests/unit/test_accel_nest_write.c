#include "nest_fixture.h"

#include "base/random.h"

static const char SAMPLE[] =
    "mapping:\n"
    "- {target: DRAM, type: temporal, factors: P2 K2, permutation: KP}\n"
    "- {target: GlobalBuffer, type: temporal, factors: \"Q4 C=3,2\"}\n"
    "- {target: GlobalBuffer, type: datatype, bypass: [Weights]}\n"
    "- {target: GlobalBuffer, type: spatial, factors: P4 C2,\n"
    "   permutation: PC, split: 1, no_link_transfer: [Inputs]}\n"
    "- {target: PEBuffer, type: spatial, factors: \"K=4,3\"}\n"
    "- {target: PEBuffer, type: temporal, factors: R3 S3 K2}\n";

static void as_timeloop_reads_it(void **state) {
  nest_fixture *f = *state;
  char *out;
  assert_int_equal(nest_read(f, SAMPLE), CALM_OK);
  assert_int_equal(
      accel_nest_write(&out, &f->nest, &f->arch, &f->layer, f->context),
      CALM_OK);
  assert_string_equal(out,
                      "mapping:\n"
                      "- target: DRAM\n"
                      "  type: datatype\n"
                      "  keep: [Weights, Inputs, Outputs]\n"
                      "  bypass: []\n"
                      "- target: DRAM\n"
                      "  type: temporal\n"
                      "  factors: R1 S1 P2 Q1 C1 K2 N1\n"
                      "  permutation: KPRSQCN\n"
                      "- target: GlobalBuffer\n"
                      "  type: datatype\n"
                      "  keep: [Inputs, Outputs]\n"
                      "  bypass: [Weights]\n"
                      "- target: GlobalBuffer\n"
                      "  type: temporal\n"
                      "  factors: R1 S1 P1 Q4 C3,2 K1 N1\n"
                      "  permutation: QCRSPKN\n"
                      "- target: GlobalBuffer\n"
                      "  type: spatial\n"
                      "  factors: R1 S1 P4 Q1 C2 K1 N1\n"
                      "  permutation: PCRSQKN\n"
                      "  split: 1\n"
                      "  no_link_transfer: [Inputs]\n"
                      "- target: PEBuffer\n"
                      "  type: datatype\n"
                      "  keep: [Weights, Inputs, Outputs]\n"
                      "  bypass: []\n"
                      "- target: PEBuffer\n"
                      "  type: temporal\n"
                      "  factors: R3 S3 P1 Q1 C1 K2 N1\n"
                      "  permutation: RSKPQCN\n"
                      "- target: PEBuffer\n"
                      "  type: spatial\n"
                      "  factors: R1 S1 P1 Q1 C1 K4,3 N1\n"
                      "  permutation: KRSPQCN\n"
                      "  split: 1\n");
  calm_text_free(f->context, out);
}

static void assert_same(const accel_nest *a, const accel_nest *b) {
  assert_int_equal(a->loop_count, b->loop_count);
  for (uint32_t i = 0; i < a->loop_count; i++) {
    assert_int_equal(a->loops[i].bound, b->loops[i].bound);
    assert_int_equal(a->loops[i].residual, b->loops[i].residual);
    assert_int_equal(a->loops[i].dimension, b->loops[i].dimension);
    assert_int_equal(a->loops[i].level, b->loops[i].level);
    assert_int_equal(a->loops[i].kind, b->loops[i].kind);
  }
  assert_int_equal(a->level_count, b->level_count);
  for (uint32_t i = 0; i < a->level_count; i++)
    assert_int_equal(a->kept[i], b->kept[i]);
}

static void assert_round_trip(nest_fixture *f, const accel_nest *nest) {
  char *out;
  assert_int_equal(
      accel_nest_write(&out, nest, &f->arch, &f->layer, f->context), CALM_OK);
  assert_int_equal(nest_read(f, out), CALM_OK);
  assert_same(nest, &f->nest);
  calm_text_free(f->context, out);
}

/* A random subset of the dimensions as loops of a block. */
static void add_random(accel_nest *nest, random_state *r, uint32_t level,
                       bool spatial) {
  uint32_t order[DIMENSIONS], on_x = DIMENSIONS;
  for (uint32_t d = 0; d < DIMENSIONS; d++) order[d] = d;
  for (uint32_t d = DIMENSIONS; d-- > 1;) {
    const uint32_t other = random_below(r, d + 1), o = order[d];
    order[d] = order[other];
    order[other] = o;
  }
  if (spatial) on_x = random_below(r, DIMENSIONS + 1);
  for (uint32_t i = 0; i < DIMENSIONS; i++) {
    if (random_below(r, 3) == 0) continue;
    accel_loop *l = &nest->loops[nest->loop_count++];
    l->bound = 2 + random_below(r, 5);
    l->residual =
        random_below(r, 2) ? l->bound : 1 + random_below(r, (uint32_t)l->bound);
    l->dimension = order[i];
    l->level = level;
    l->kind = !spatial   ? ACCEL_TEMPORAL
              : i < on_x ? ACCEL_SPATIAL_X
                         : ACCEL_SPATIAL_Y;
  }
}

static void random_nests(void **state) {
  nest_fixture *f = *state;
  random_state r = random_from_seed(1);
  accel_loop loops[LEVELS * DIMENSIONS * 2];
  uint32_t kept[LEVELS];
  for (int round = 0; round < 500; round++) {
    accel_nest nest = {.loops = loops, .kept = kept, .level_count = LEVELS};
    for (uint32_t level = 0; level < LEVELS; level++) {
      kept[level] = random_below(&r, 8);
      if (level != DRAM) add_random(&nest, &r, level, true);
      add_random(&nest, &r, level, false);
    }
    assert_round_trip(f, &nest);
  }
}

/* Names that YAML or Timeloop's grammar would stumble over. */
static void odd_names(void **state) {
  nest_fixture *f = *state;
  static const char *const names[] = {"Row", "D", "D1", "P", "C_in", "K2", "N"};
  for (int d = 0; d < DIMENSIONS; d++) f->layer.dimensions[d].name = names[d];
  f->layer.tensors[0].name = "a \"b\"\\c";
  f->layer.tensors[1].name = "no";
  f->levels[GB].name = "shared: buffer";
  f->levels[PE].name = "0";
  random_nests(state);
}

static void loops_that_cannot_be_said(void **state) {
  nest_fixture *f = *state;
  char *out = NULL;
  accel_loop loops[] = {{2, 2, K, GB, ACCEL_SPATIAL_X},
                        {2, 2, K, GB, ACCEL_SPATIAL_Y}};
  uint32_t kept[LEVELS] = {7, 7, 7};
  const accel_nest nest = {loops, 2, kept, LEVELS, NULL};
  assert_int_equal(
      accel_nest_write(&out, &nest, &f->arch, &f->layer, f->context),
      CALM_UNSUPPORTED);
  NEST_SAYS(f, "K has two spatial loops at GlobalBuffer");
  assert_null(out);
}

/* C is 4 and K is 15, not what full passes alone would make up; within the
   GlobalBuffer K has full passes of 8. */
static void for_people(void **state) {
  nest_fixture *f = *state;
  char *out;
  assert_int_equal(nest_read(f, SAMPLE), CALM_OK);
  f->nest.kept[PE] = 0;
  assert_int_equal(
      accel_nest_text(&out, &f->nest, &f->arch, &f->layer, f->context),
      CALM_OK);
  assert_string_equal(out,
                      "DRAM: Weights 540, Inputs 240, Outputs 480\n"
                      "  for P in 2\n"
                      "    for K in 2\n"
                      "GlobalBuffer: 272 of 8,192 words: Inputs 144, "
                      "Outputs 128\n"
                      "      for C in 3 (last pass 2)\n"
                      "        for Q in 4\n"
                      "          parallel C in 2 (Y)\n"
                      "            parallel P in 4 (X)\n"
                      "PEBuffer: 0 of 512 words: nothing kept\n"
                      "              for K in 2\n"
                      "                for S in 3\n"
                      "                  for R in 3\n"
                      "                    parallel K in 4 (X, last pass 3)\n"
                      "MAC: 32 of 64 in use\n");
  calm_text_free(f->context, out);
}

static void no_line_is_too_long(void **state) {
  nest_fixture *f = *state;
  static char names[3][400];
  char *out;
  for (size_t i = 0; i < 3; i++) memset(names[i], "abc"[i], 120 + 130 * i);
  assert_int_equal(nest_read(f, SAMPLE), CALM_OK);
  for (int i = 0; i < 3; i++) f->layer.tensors[i].name = names[i];
  f->levels[GB].name = f->layer.dimensions[K].name = names[2];
  assert_int_equal(
      accel_nest_text(&out, &f->nest, &f->arch, &f->layer, f->context),
      CALM_OK);
  for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
    assert_true(strlen(line) <= 100);
  calm_text_free(f->context, out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(as_timeloop_reads_it, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(random_nests, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(odd_names, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(loops_that_cannot_be_said, nest_open,
                                      nest_close),
      cmocka_unit_test_setup_teardown(for_people, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(no_line_is_too_long, nest_open,
                                      nest_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
