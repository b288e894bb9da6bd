/*
 * The staircase against a list of all points that were entered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "base/random.h"
#include "cost_fixture.h"
#include "mapper/mapper_front.h"

enum { POINTS = 60, GRID = 12 };

typedef struct list {
  mapper_floor points[POINTS];
  uint32_t count;
} list;

static bool list_covers(const list *l, const mapper_floor *p) {
  for (uint32_t i = 0; i < l->count; i++)
    if (l->points[i].energy_pj <= p->energy_pj &&
        l->points[i].cycles <= p->cycles)
      return true;
  return false;
}

static void check(const mapper_front *f, const list *l) {
  for (uint32_t e = 0; e <= GRID; e++)
    for (uint32_t c = 0; c <= GRID; c++) {
      const mapper_floor p = {1 + e, 1 + c};
      assert_int_equal(mapper_front_covers(f, &p), list_covers(l, &p));
      if (mapper_front_covers(f, &p))
        assert_true(mapper_front_gap(f, &p) == 1);
      else
        assert_true(mapper_front_gap(f, &p) > 1);
    }
  for (uint32_t i = 1; i < f->stairs.count; i++) {
    assert_true(f->stairs.data[i].cycles > f->stairs.data[i - 1].cycles);
    assert_true(f->stairs.data[i].energy_pj < f->stairs.data[i - 1].energy_pj);
  }
}

static void test_stairs(void **state) {
  fixture *x = *state;
  random_state r = random_from_seed(3);
  for (uint32_t round = 0; round < 50; round++) {
    mapper_front f;
    list l = {.count = 0};
    const accel_nest nest = {.loop_count = 0};
    mapper_front_init(&f, x->context);
    while (l.count < POINTS) {
      const mapper_floor p = {1 + random_below(&r, GRID),
                              1 + random_below(&r, GRID)};
      l.points[l.count++] = p;
      assert_int_equal(mapper_front_enter(&f, &nest, p.energy_pj, p.cycles),
                       CALM_OK);
      if (l.count % 7 == 1) check(&f, &l);
    }
    mapper_front_free(&f);
  }
}

/* Corners leave when they are covered, others' corners are not looked into. */
static void test_corners(void **state) {
  fixture *x = *state;
  mapper_front f;
  const accel_nest nest = {.loop_count = 0};
  const mapper_floor low = {10, 10}, high = {20, 5}, inside = {12, 9};
  mapper_front_init(&f, x->context);
  assert_int_equal(mapper_front_enter(&f, &nest, 14, 12), CALM_OK);
  assert_int_equal(mapper_front_open(&f, &low), CALM_OK);
  assert_int_equal(mapper_front_open(&f, &high), CALM_OK);
  assert_true(mapper_front_hides(&f, &inside));
  f.old_corners = 1;
  assert_true(mapper_front_hides(&f, &high));
  assert_int_equal(mapper_front_enter(&f, &nest, 10, 10), CALM_OK);
  mapper_front_close(&f);
  assert_int_equal(f.corners.count, 1);
  assert_int_equal(f.old_corners, 0);
  assert_int_equal(mapper_front_enter(&f, &nest, 20, 5), CALM_OK);
  mapper_front_close(&f);
  assert_int_equal(f.corners.count, 0);
  assert_false(mapper_front_hides(&f, &inside));
  mapper_front_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_stairs),
                                     COST_TEST(test_corners)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
