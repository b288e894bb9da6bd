/*
 * A program that takes the extent of a window for a product of steps and taps
 * said that a tile fits which does not: ucb-bar/cosa, its rows on buffer sizes.
 * Windows of all strides and sizes in a buffer that is just too small or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "highs.h"
#include "mapper/mapper_cosa.h"

static const char machine[] =
    "arch:\n"
    "  arithmetic: {instances: 8, word-bits: 8}\n"
    "  storage:\n"
    "  - {name: Local, entries: %u, instances: 4, word-bits: 8}\n"
    "  - {name: Buffer, entries: 512, instances: 1, word-bits: 8}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8}\n";

static const uint32_t keeps[] = {2, 6, 7};

/* Is the nest one that runs?  How many factors were moved to make it one? */
static bool is_moved(uint32_t entries, const accel_convolution *c,
                     mapper_cosa_form form, calm_context *context) {
  const mapper_cosa_options o = {.form = form, .weights = {10, 1, 0.1}};
  char text[sizeof machine + 16];
  accel_yaml *root;
  accel_arch arch;
  accel_layer layer;
  mapper_result r;
  mapper_cosa_terms t;
  limits l;
  arena a;
  arena_init(&a, context);
  limits_init(&l, context);
  snprintf(text, sizeof text, machine, entries);
  assert_int_equal(accel_yaml_parse(&root, "a", text, strlen(text), &a), 0);
  assert_int_equal(accel_arch_read(&arch, root, NULL, true, &a), 0);
  assert_int_equal(accel_layer_convolution(&layer, "l", c, &a), 0);
  const mapper_problem p = {.arch = &arch,
                            .layer = &layer,
                            .must_keep = keeps,
                            .may_keep = keeps,
                            .objective = MAPPER_EDP};
  assert_int_equal(mapper_cosa(&r, &t, &p, &o, &l, &a), CALM_OK);
  assert_int_equal(r.outcome, CALM_FEASIBLE);
  assert_int_equal(r.cost.verdict.fault, COST_VALID);
  assert_true(r.cost.levels[0].used_words <= entries);
  const bool moved = strstr(r.reason, "moved outwards") != NULL;
  arena_free(&a);
  return moved;
}

static void windows(void **state) {
  calm_context *context = calm_context_new(NULL);
  uint32_t moved = 0;
  arena a;
  (void)state;
  arena_init(&a, context);
  const bool there = highs_is_there(context, &a);
  arena_free(&a);
  if (!there) {
    print_message("skipped: %s\n", calm_context_message(context));
    calm_context_free(context);
    skip();
  }
  for (uint64_t stride = 1; stride <= 3; stride++)
    for (uint64_t taps = 1; taps <= 5; taps += 2)
      for (uint32_t entries = 4; entries <= 36; entries += 8) {
        const accel_convolution c = {taps, taps, 8,      8,      4, 8,
                                     1,    1,    stride, stride, 1, 1};
        moved += is_moved(entries, &c, MAPPER_COSA_RELEASED, context);
        /* Its bounds are safe. */
        assert_false(is_moved(entries, &c, MAPPER_COSA_PAPER, context));
      }
  assert_true(moved > 0);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(windows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
