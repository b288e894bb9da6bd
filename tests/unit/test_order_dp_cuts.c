#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order/order_dp.h"
#include "order_fixture.h"

/* sizes[k]: how many down-sets have k operators. */
static void count_by_size(uint32_t *sizes, const order_problem *p) {
  for (uint32_t set = 0; set < UINT32_C(1) << p->op_count; set++) {
    uint32_t size = 0;
    bool closed = true;
    for (uint32_t u = 0; u < p->op_count; u++) {
      if (!(set >> u & 1)) continue;
      size++;
      if (order_referee_preds(p, u) & ~set) closed = false;
    }
    if (closed) sizes[size]++;
  }
}

/* Every order passes a down-set of k operators iff it is the only one. */
static void all_cuts_and_no_others(void **state) {
  (void)state;
  random_state random = random_from_seed(13);
  for (int round = 0; round < 1000; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    uint32_t *cuts, count, sizes[12] = {0}, found = 0;
    build_random(&builder, 1 + random_below(&random, 10), WITH_CUTS, &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    assert_int_equal(order_dp_find_cuts(&cuts, &count, &p, &a), CALM_OK);
    count_by_size(sizes, &p);
    for (uint32_t k = 0; k <= p.op_count; k++)
      if (sizes[k] == 1) assert_int_equal(cuts[found++], k);
    assert_int_equal(found, count + 1);
    arena_free(&a);
  }
}

/* Step by step a part costs what the whole costs there, in any order. */
static void a_part_costs_what_the_whole_costs(void **state) {
  (void)state;
  random_state random = random_from_seed(14);
  for (int round = 0; round < 1000; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p, part;
    order_dp_parts parts;
    uint32_t *cuts, count, sequence[30], inner[30];
    uint64_t peak, whole[30], steps[30];
    build_random(&builder, 1 + random_below(&random, 30),
                 WITH_CUTS | WITH_REUSE | WITH_WORKSPACE, &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    random_order(sequence, &p, &random);
    assert_int_equal(order_replay(&peak, &p, sequence, whole, context),
                     CALM_OK);
    assert_int_equal(order_dp_find_cuts(&cuts, &count, &p, &a), CALM_OK);
    assert_int_equal(order_dp_parts_begin(&parts, &p, &a), CALM_OK);
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t first = cuts[i], n = cuts[i + 1] - first;
      assert_int_equal(order_dp_parts_next(&part, &parts, cuts[i + 1], &a),
                       CALM_OK);
      assert_int_equal(part.op_count, n);
      for (uint32_t k = 0; k < n; k++) inner[k] = sequence[first + k] - first;
      assert_int_equal(order_replay(&peak, &part, inner, steps, context),
                       CALM_OK);
      assert_memory_equal(steps, whole + first, n * sizeof *steps);
    }
    arena_free(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_cuts_and_no_others),
      cmocka_unit_test(a_part_costs_what_the_whole_costs)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
