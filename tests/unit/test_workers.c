/* Work in several threads: the same results and failures as in one, and a
   caller that sees none of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../scarce.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/workers.h"

enum { ITEMS = 60, NONE_FAILS = ITEMS };

static const uint32_t counts[] = {1, 2, 3, 8};
enum { COUNTS = sizeof counts / sizeof *counts };

/* An allocator that must not be called from two threads. */
typedef struct careful {
  pthread_t thread;
  uint64_t left, strangers;
} careful;

static void *reallocate_carefully(void *payload, void *old, size_t old_size,
                                  size_t new_size) {
  careful *c = payload;
  if (!pthread_equal(c->thread, pthread_self())) c->strangers++;
  return scarce_reallocate(&c->left, old, old_size, new_size);
}

typedef struct task {
  calm_context *home;
  workers *crew;
  uint32_t first_failure, every; /* these items fail */
  uint64_t sums[ITEMS];
  uint32_t done[ITEMS];
} task;

static calm_status sum_up(uint64_t *out, uint32_t item, arena *a) {
  for (uint32_t i = 0; i <= item; i++) {
    uint64_t *numbers;
    ARENA_ARRAY(a, numbers, 100 * (i + 1));
    for (uint32_t k = 0; k < 100 * (i + 1); k++) numbers[k] = k;
    *out += numbers[100 * i + 7];
  }
  return CALM_OK;
}

static calm_status do_item(void *payload, uint32_t item, uint32_t worker) {
  task *t = payload;
  calm_context *own = workers_context(t->crew, worker);
  arena a;
  t->done[item]++;
  t->sums[item] = 0;
  if (item >= t->first_failure && (item - t->first_failure) % t->every == 0)
    return context_fail(own, CALM_BAD_INPUT, "item %u is bad", item);
  arena_init(&a, own);
  const calm_status status = sum_up(&t->sums[item], item, &a);
  arena_free(&a);
  return status;
}

static calm_status run(task *t, uint32_t count) {
  calm_status status = workers_make(&t->crew, t->home, count);
  if (status != CALM_OK) return status;
  status = workers_run(t->crew, ITEMS, do_item, t);
  workers_free(t->crew);
  return status;
}

static uint64_t expected_sum(uint32_t item) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i <= item; i++) sum += 100 * i + 7;
  return sum;
}

static void each_item_is_done_once(void **state) {
  (void)state;
  for (uint32_t c = 0; c < COUNTS; c++) {
    careful own = {pthread_self(), SCARCE_NEVER, 0};
    const calm_allocator allocator = {reallocate_carefully, &own};
    task t = {.home = calm_context_new(&allocator),
              .first_failure = NONE_FAILS,
              .every = 1};
    assert_int_equal(run(&t, counts[c]), CALM_OK);
    for (uint32_t i = 0; i < ITEMS; i++) {
      assert_int_equal(t.done[i], 1);
      assert_int_equal(t.sums[i], expected_sum(i));
    }
    assert_int_equal(own.strangers, 0);
    assert_int_equal(calm_context_bytes(t.home), 0);
    calm_context_free(t.home);
  }
}

static void the_first_failure_counts(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 20; round++)
    for (uint32_t c = 0; c < COUNTS; c++) {
      task t = {.home = calm_context_new(NULL),
                .first_failure = 3 + round,
                .every = 1 + round % 3};
      char wanted[32];
      assert_int_equal(run(&t, counts[c]), CALM_BAD_INPUT);
      snprintf(wanted, sizeof wanted, "item %u is bad", 3 + round);
      assert_string_equal(calm_context_message(t.home), wanted);
      for (uint32_t i = 0; i <= t.first_failure; i++)
        assert_int_equal(t.done[i], 1);
      assert_int_equal(calm_context_bytes(t.home), 0);
      calm_context_free(t.home);
    }
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  uint64_t granted = 1;
  calm_status status = CALM_NO_MEMORY;
  for (; status != CALM_OK; granted += 1 + granted / 8) {
    careful own = {pthread_self(), granted, 0};
    const calm_allocator allocator = {reallocate_carefully, &own};
    task t = {.home = calm_context_new(&allocator),
              .first_failure = NONE_FAILS,
              .every = 1};
    assert_non_null(t.home);
    status = run(&t, 3);
    if (status != CALM_OK) {
      assert_int_equal(status, CALM_NO_MEMORY);
      assert_string_equal(calm_context_message(t.home), "out of memory");
    }
    assert_int_equal(own.strangers, 0);
    assert_int_equal(calm_context_bytes(t.home), 0);
    calm_context_free(t.home);
  }
}

/* Only ends if the flag of the caller's context reaches every worker. */
static calm_status wait_for_interrupt(void *payload, uint32_t item,
                                      uint32_t worker) {
  task *t = payload;
  limits l;
  limits_init(&l, workers_context(t->crew, worker));
  if (item == 0) calm_context_interrupt(t->home);
  while (!limits_spend(&l, 1)) sched_yield();
  t->done[item] = l.reason == LIMITS_INTERRUPT;
  return CALM_OK;
}

static void an_interrupt_reaches_all(void **state) {
  (void)state;
  for (uint32_t c = 0; c < COUNTS; c++) {
    task t = {.home = calm_context_new(NULL)};
    assert_int_equal(workers_make(&t.crew, t.home, counts[c]), CALM_OK);
    assert_int_equal(workers_run(t.crew, ITEMS, wait_for_interrupt, &t),
                     CALM_OK);
    workers_free(t.crew);
    for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(t.done[i], 1);
    calm_context_free(t.home);
  }
}

static void a_crew_can_be_used_again(void **state) {
  (void)state;
  task t = {
      .home = calm_context_new(NULL), .first_failure = NONE_FAILS, .every = 1};
  assert_int_equal(workers_make(&t.crew, t.home, 0), CALM_OK);
  assert_int_equal(workers_count(t.crew), 1);
  workers_free(t.crew);
  assert_int_equal(workers_make(&t.crew, t.home, 4), CALM_OK);
  assert_int_equal(workers_run(t.crew, 0, do_item, &t), CALM_OK);
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(workers_run(t.crew, ITEMS, do_item, &t), CALM_OK);
  for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(t.done[i], 5);
  workers_free(t.crew);
  workers_free(NULL);
  assert_int_equal(calm_context_bytes(t.home), 0);
  calm_context_free(t.home);
}

static void what_callers_say_is_bounded(void **state) {
  (void)state;
  assert_true(workers_meant(0) >= 1);
  assert_int_equal(workers_meant(1), 1);
  assert_int_equal(workers_meant(7), 7);
  assert_true(workers_meant(UINT64_MAX) <= 256);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_item_is_done_once),
      cmocka_unit_test(the_first_failure_counts),
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(an_interrupt_reaches_all),
      cmocka_unit_test(a_crew_can_be_used_again),
      cmocka_unit_test(what_callers_say_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
