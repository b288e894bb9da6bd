/*
 * A context and an arena for tests of the cost room, and how many random cases
 * they try: fewer where sanitizers make everything slow.
 */
#ifndef CALM_TESTS_COST_FIXTURE_H
#define CALM_TESTS_COST_FIXTURE_H

#include "base/arena.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COST_SLOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || CALM_HOSTILE
#define COST_SLOW 1
#endif

#ifdef COST_SLOW
enum { COST_CASES = 600 };
#else
enum { COST_CASES = 6000 };
#endif

typedef struct fixture {
  calm_context *context;
  arena arena;
} fixture;

static inline int open_fixture(void **state) {
  static fixture f;
  f.context = calm_context_new(NULL);
  assert_non_null(f.context);
  arena_init(&f.arena, f.context);
  *state = &f;
  return 0;
}

static inline int close_fixture(void **state) {
  fixture *f = *state;
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  return 0;
}

#define COST_TEST(test) \
  cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

#endif
