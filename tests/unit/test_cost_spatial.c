/*
 * Which elements of a fan-out share words: by hand, and the closed form against
 * the enumeration that hops ask for, on random nests.
 */
#include "cost_case.h"

#include "cost_check.h"
#include "cost_fixture.h"
#include "cost_random.h"

typedef struct pattern {
  uint64_t multicast, scatter;
} pattern;

static void check_patterns(const cost_flow *f, const pattern *expected,
                           uint32_t count) {
  assert_int_equal(f->group_count, count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(f->groups[i].multicast, expected[i].multicast);
    assert_int_equal(f->groups[i].scatter, expected[i].scatter);
  }
}

/* P4 and R3 meet in a window: offsets 0 to 5, in 1 2 3 3 2 1 ways; weights take
   part in R only. */
static void windows_meet(void **state) {
  (void)state;
  static const pattern inputs[] = {{1, 2}, {2, 2}, {3, 2}};
  static const pattern weights[] = {{4, 3}}, outputs[] = {{3, 4}};
  cost_case c;
  case_open(&c, 1);
  for (int networks = 0; networks < 2; networks++) {
    c.options.networks = networks;
    case_run(&c, COST_EXACT, "| P4x R3x P2 K4 |");
    check_patterns(case_flow(&c, 1, INPUTS), inputs, 3);
    check_patterns(case_flow(&c, 1, WEIGHTS), weights, 1);
    check_patterns(case_flow(&c, 1, OUTPUTS), outputs, 1);
  }
  case_close(&c);
}

/* With stride 2 only every other R meets the next P. */
static void strided_windows_meet_less(void **state) {
  (void)state;
  static const pattern inputs[] = {{1, 6}, {2, 3}};
  cost_case c;
  case_open(&c, 2);
  for (int networks = 0; networks < 2; networks++) {
    c.options.networks = networks;
    case_run(&c, COST_EXACT, "| R3x P4x P2 K4 |");
    check_patterns(case_flow(&c, 1, INPUTS), inputs, 2);
  }
  case_close(&c);
}

static double hops(const cost_case *c, uint32_t tensor) {
  return case_flow(c, 1, tensor)->hops;
}

/*
 * Four rows of two columns on a mesh of 4 by 4: P runs along the row, K down.
 * Elements are numbered by the columns in use, so that the eight of them fill
 * two rows of the mesh: P0 K0, P1 K0, P0 K1, P1 K1 in the first row.  The
 * middle is at 1.5 rows.
 */
static void hops_by_hand(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[0].instances = c.arch.compute.instances = 16;
  c.levels[0].mesh_x = c.levels[0].mesh_y = 4;
  c.arch.compute.mesh_x = c.arch.compute.mesh_y = 4;
  c.options.networks = true;
  case_run(&c, COST_EXACT, "R3 | P2x K4y P4 |");
  assert_int_equal(c.result.verdict.fault, COST_VALID);
  /* One element each: columns 0 1 2 3 twice, and 1.5 or 0.5 up. */
  assert_close(hops(&c, OUTPUTS), 1.5 + 1);
  /* P0 wants columns 0 and 2 in rows 0 and 1, P1 columns 1 and 3. */
  assert_close(hops(&c, INPUTS), 2.5 + 1.5 + 1.5);
  /* K wants two columns next to each other. */
  assert_close(hops(&c, WEIGHTS), 2 + 1.5 + 0.5);
  case_close(&c);
}

/* ---- Random nests -------------------------------------------------------- */

static void compare_flows(const cost_result *a, const cost_result *b) {
  for (uint32_t i = 0; i < a->level_count * a->tensor_count; i++) {
    const cost_flow *f = &a->flows[i], *g = &b->flows[i];
    assert_true(cost_check_groups(f->groups, f->group_count, g->groups,
                                  g->group_count, false));
    assert_int_equal(f->spatial_reductions, g->spatial_reductions);
  }
}

static cost_result evaluate(const cost_random_case *c, bool networks,
                            arena *a) {
  const cost_options options = {COST_EXACT, COST_FANOUT_CUMULATIVE, networks};
  return cost_check_evaluate(c, options, a);
}

static bool is_irregular(const cost_result *r) {
  for (uint32_t i = 0; i < r->level_count * r->tensor_count; i++)
    if (r->flows[i].group_count > 1) return true;
  return false;
}

static void without_hops(cost_random_case *c) {
  for (uint32_t i = 0; i < c->arch.level_count; i++)
    c->arch.levels[i].network = (accel_network){0};
}

static void the_closed_form_agrees_with_enumeration(void **state) {
  fixture *f = *state;
  const cost_random_options options = {.most_macs = 1 << 20, .valid = true};
  random_state random = random_from_seed(7);
  uint32_t irregular = 0, valid = 0;
  for (uint32_t i = 0; i < 4000; i++) {
    cost_random_case c;
    cost_random_make(&c, &random, &options, &f->arena);
    without_hops(&c);
    const cost_result plain = evaluate(&c, false, &f->arena);
    const cost_result full = evaluate(&c, true, &f->arena);
    assert_int_equal(plain.verdict.fault, full.verdict.fault);
    if (plain.verdict.fault == COST_VALID) {
      compare_flows(&plain, &full);
      irregular += is_irregular(&plain), valid++;
    }
    arena_free(&f->arena);
  }
  print_message("%u valid nests, %u of them irregular\n", valid, irregular);
  assert_true(valid > 2000 && irregular > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_meet),
      cmocka_unit_test(strided_windows_meet_less),
      cmocka_unit_test(hops_by_hand),
      COST_TEST(the_closed_form_agrees_with_enumeration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
