#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/number.h"
#include "traffic_random.h"

static calm_context *context;

static int set_up(void **state) {
  (void)state;
  context = calm_context_new(NULL);
  return context == NULL;
}

static int tear_down(void **state) {
  (void)state;
  calm_context_free(context);
  return 0;
}

static traffic_result run(const traffic_case *c, const traffic_memory *memory,
                          arena *a) {
  traffic_result r;
  assert_int_equal(traffic_belady(&r, &c->problem, c->sequence, memory, a),
                   CALM_OK);
  return r;
}

/* No choice is better than the best, and for pages none reads less. */
static void against_all_choices(uint64_t seed, int rounds, bool pages) {
  random_state random = random_from_seed(seed);
  uint32_t compared = 0, optimal = 0, moving = 0;
  uint64_t spills = 0, least = 0;
  for (int round = 0; round < rounds; round++) {
    arena a;
    arena_init(&a, context);
    traffic_case c;
    static traffic_referee f;
    assert_true(traffic_random_make(&c, &random, pages ? 6 : 9, &a));
    const traffic_memory memory = {random_below(&random, 36),
                                   pages ? 1 + random_below(&random, 4) : 0};
    const bool complete = traffic_referee_run(&f, &c, &memory, 20000);
    const traffic_result r = run(&c, &memory, &a);
    if (complete) {
      assert_true(traffic_spills(&r.total) >= f.least_spills);
      assert_true(r.total.spill_read_bytes >= f.least_reads);
      if (pages) assert_int_equal(r.total.spill_read_bytes, f.least_reads);
      compared++;
      optimal += traffic_spills(&r.total) == f.least_spills;
      moving += f.least_spills > 0;
      spills += traffic_spills(&r.total);
      least += f.least_spills;
    }
    arena_free(&a);
  }
  print_message("%u compared, %u move bytes, %u are optimal, %llu of %llu\n",
                compared, moving, optimal, (unsigned long long)spills,
                (unsigned long long)least);
  assert_true(compared > (uint32_t)rounds / 2);
}

static void whole_buffers(void **state) {
  (void)state;
  against_all_choices(1, 3000, false);
}

static void pages_read_least(void **state) {
  (void)state;
  against_all_choices(2, 3000, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_buffers),
      cmocka_unit_test(pages_read_least),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
