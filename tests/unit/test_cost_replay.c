/*
 * The replay by hand: windows that slide on or do not, neighbours that serve,
 * imperfect loops, loops of millions of iterations, and what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/cost_replay.h"
#include "cost_fixture.h"
#include "cost_pieces.h"
#include "scarce.h"

enum { MOST_LOOPS = 64, MOST_LEVELS = 8 };
enum { WEIGHTS, INPUTS, OUTPUTS };

/* A nest as in cost_pieces.h, of a square convolution. */
typedef struct row {
  accel_level levels[MOST_LEVELS];
  accel_arch arch;
  accel_layer layer;
  accel_loop loops[MOST_LOOPS];
  accel_nest nest;
  cost_problem problem;
} row;

static void make_row(row *r, const char *line, uint64_t stride, arena *a) {
  *r = (row){.arch = {.levels = r->levels}, .nest = {.loops = r->loops}};
  const accel_convolution c = {3, 3, 8, 8, 8, 8, 1, 1, stride, stride, 1, 1};
  assert_int_equal(accel_layer_convolution(&r->layer, "row", &c, a), CALM_OK);
  r->arch.level_count = cost_read_loops(&r->nest, line, &r->layer);
  r->nest.level_count = r->arch.level_count;
  r->problem = (cost_problem){.arch = &r->arch, .layer = &r->layer};
}

/* Below each level there stand so many columns and rows. */
static void build_mesh(row *r, uint64_t x, uint64_t y) {
  uint64_t columns = 1, rows = 1;
  for (uint32_t i = r->arch.level_count; i-- > 0; columns *= x, rows *= y)
    r->levels[i] = (accel_level){
        .instances = columns * rows, .mesh_x = columns, .mesh_y = rows};
  r->arch.compute.instances = columns * rows;
  r->arch.compute.mesh_x = columns;
  r->arch.compute.mesh_y = rows;
}

static cost_question ask(const row *r, uint32_t tensor, uint32_t level,
                         cost_visits visits) {
  return (cost_question){&r->problem, &r->nest, tensor, level,
                         visits,      true,     NULL};
}

static calm_status replay(cost_stream *out, double *computes,
                          const cost_question *q, arena *a) {
  *out = (cost_stream){0};
  return cost_replay(out, computes, q, a);
}

/* ---- Windows ------------------------------------------------------------- */

typedef struct window {
  const char *line;
  uint64_t stride;
  double two, all; /* input fills of one PE */
} window;

/* What Timeloop printed for a machine of 64 PEs, by default and with every
   iteration simulated. */
static const window windows[] = {
    {"R3 | P8 K4 |", 1, 40, 40},    {"R3 | K4 P8 |", 1, 10, 10},
    {"R3 | K4x P8 |", 1, 10, 10},   {"R3 | | P8 K4", 1, 40, 40},
    {"R3 | P4 | P2 K4", 1, 48, 40}, {"R3 | P2 | P4 K4", 1, 40, 40},
    {"K4 | P8 R3 |", 1, 22, 24},    {"K4 | R3 P8 |", 1, 17, 24},
    {"K4 | R3 P8 |", 2, 24, 17},
};

static double fills(const cost_stream *s) {
  double sum = 0;
  for (uint32_t i = 0; i < s->group_count; i++)
    sum += s->groups[i].accesses * (double)s->groups[i].multicast;
  return sum / (double)s->fanout;
}

static void windows_slide(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
    for (int all = 0; all < 2; all++) {
      const window *w = &windows[i];
      row r;
      cost_stream s;
      make_row(&r, w->line, w->stride, &f->arena);
      build_mesh(&r, 8, 1);
      const cost_question q =
          ask(&r, INPUTS, 1, all ? COST_VISIT_ALL : COST_VISIT_TWO);
      assert_int_equal(replay(&s, NULL, &q, &f->arena), CALM_OK);
      if (fills(&s) != (all ? w->all : w->two))
        fail_msg("%s: %g", w->line, fills(&s));
    }
}

/* ---- Groups, neighbours, imperfect loops --------------------------------- */

typedef struct known {
  const char *line;
  uint32_t tensor, level;
  uint64_t columns, rows;
  cost_visits visits;
  bool links;
  cost_group groups[4]; /* to the first without accesses */
  double linked;
  double computes; /* 0: not looked at */
} known;

/* clang-format off */
static const known streams[] = {
    /* Multipliers pass on what stays the same over K2; the buffer is read
       once for each P. */
    {"K4x K2 P4 |", INPUTS, 0, 4, 1, COST_VISIT_TWO, true,
     {{4, 1, 4, 12}}, 16, 8},
    {"K4x K2 P4 |", INPUTS, 0, 4, 1, COST_VISIT_TWO, false,
     {{4, 1, 8, 24}}, 0, 8},
    /* A window over four columns moves by one: three have it next door. */
    {"| P4x R6 |", INPUTS, 1, 4, 1, COST_VISIT_ALL, true,
     {{1, 1, 5, 15}, {1, 4, 4, 6}}, 15, 0},
    {"| P4x R6 |", INPUTS, 1, 4, 1, COST_VISIT_ALL, false,
     {{1, 4, 24, 36}}, 0, 0},
    /* The same in four rows of two columns. */
    {"| P4y P2x R6 |", INPUTS, 1, 2, 4, COST_VISIT_TWO, true,
     {{1, 4, 20, 40}, {1, 8, 8, 12}}, 20, 0},
    /* Six columns, P + R is 0 1 1 2 2 3. */
    {"| P2x R3x |", INPUTS, 1, 6, 1, COST_VISIT_ALL, true,
     {{1, 2, 2, 5}, {2, 2, 2, 6}}, 0, 0},
    /* Steps of P in passes of 3 3 3 2, each K2 times. */
    {"R3 | P3/2 K2 | P4", INPUTS, 1, 1, 1, COST_VISIT_TWO, false,
     {{1, 1, 38, 0}}, 0, 0},
    {"R3 | P3/2 K2 | P4", INPUTS, 1, 1, 1, COST_VISIT_ALL, false,
     {{1, 1, 32, 0}}, 0, 0},
    /* The same side by side: the last pass reaches two of three. */
    {"R3 | P3/2x K2 | P4", INPUTS, 1, 3, 1, COST_VISIT_ALL, false,
     {{1, 2, 6, 3}, {1, 3, 27, 27}}, 0, 0},
    {"| P3/2x R4 | P4", INPUTS, 1, 3, 1, COST_VISIT_TWO, true,
     {{1, 1, 12, 21}, {1, 2, 2, 1}, {1, 3, 9, 9}}, 21, 0},
    {"| P3/2x R4 | P4", INPUTS, 1, 3, 1, COST_VISIT_ALL, true,
     {{1, 1, 9, 16}, {1, 2, 2, 1}, {1, 3, 9, 9}}, 16, 0},
    {"P3/2 K2 | P4", OUTPUTS, 0, 1, 1, COST_VISIT_TWO, true,
     {{1, 1, 22, 0}}, 0, 22},
    {"P3/2x K2 | P4", INPUTS, 0, 3, 1, COST_VISIT_ALL, true,
     {{1, 2, 4, 2}, {1, 3, 18, 18}}, 0, 22 / 3.},
};
/* clang-format on */

static void check_stream(const known *k, const cost_stream *s) {
  uint32_t count = 0;
  while (count < 4 && k->groups[count].accesses > 0) count++;
  assert_int_equal(s->group_count, count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(s->groups[i].multicast, k->groups[i].multicast);
    assert_int_equal(s->groups[i].scatter, k->groups[i].scatter);
    assert_true(s->groups[i].accesses == k->groups[i].accesses);
    assert_true(s->groups[i].hops == k->groups[i].hops);
  }
  assert_true(s->links == k->linked);
  assert_int_equal(s->excess.fault, COST_VALID);
}

static void streams_are_known(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
    const known *k = &streams[i];
    row r;
    cost_stream s;
    double computes;
    make_row(&r, k->line, 1, &f->arena);
    build_mesh(&r, k->columns, k->rows);
    cost_question q = ask(&r, k->tensor, k->level, k->visits);
    q.links = k->links;
    assert_int_equal(replay(&s, &computes, &q, &f->arena), CALM_OK);
    check_stream(k, &s);
    if (k->computes > 0) assert_true(computes == k->computes);
  }
}

/* Room that the caller has is used, and more is found where it is short. */
static void groups_find_room(void **state) {
  fixture *f = *state;
  row r;
  make_row(&r, "| P3/2x R4 | P4", 1, &f->arena);
  build_mesh(&r, 3, 1);
  for (uint32_t room = 0; room < 5; room++) {
    cost_group own[5];
    cost_stream s = {.groups = own, .group_capacity = room};
    const cost_question q = ask(&r, INPUTS, 1, COST_VISIT_ALL);
    assert_int_equal(cost_replay(&s, NULL, &q, &f->arena), CALM_OK);
    assert_int_equal(s.group_count, 3);
    assert_true(s.group_capacity >= 3);
    assert_int_equal(s.groups == own, room >= 3);
    assert_int_equal(s.fanout, 3);
  }
}

/* ---- Large nests --------------------------------------------------------- */

/* A window of 3 over a million steps, a thousand channels and two rows, four
   million times over: a sweep loads 3 words and then one each step. */
static void long_loops_repeat(void **state) {
  fixture *f = *state;
  row r;
  cost_stream s;
  make_row(&r, "R3 | P1000003 C1009 Q2 | K40037", 1, &f->arena);
  build_mesh(&r, 1, 1);
  for (int all = 0; all < 2; all++) {
    const cost_question q =
        ask(&r, INPUTS, 1, all ? COST_VISIT_ALL : COST_VISIT_TWO);
    assert_int_equal(replay(&s, NULL, &q, &f->arena), CALM_OK);
    assert_true(fills(&s) == (3. + 1000002.) * 1009 * 2 * 40037);
  }
}

static void too_much_is_refused(void **state) {
  fixture *f = *state;
  static const struct {
    const char *line;
    cost_fault fault;
    double needed, available;
  } rows[] = {
      {"K4096x P4096y |", COST_LIMIT_ELEMENTS, 1 << 24, 1 << 22},
      {"P4000000000 P4000000000 |", /* a dimension's bounds */
       COST_TOO_LARGE, INFINITY, (double)ACCEL_MAX_COUNT},
      {"P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 "
       "P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 "
       "P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 "
       "P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 P2/1 |",
       COST_TOO_LARGE, INFINITY, (double)ACCEL_MAX_COUNT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    row r;
    cost_stream s;
    make_row(&r, rows[i].line, 1, &f->arena);
    build_mesh(&r, 1, 1);
    const cost_question q = ask(&r, OUTPUTS, 0, COST_VISIT_ALL);
    assert_int_equal(replay(&s, NULL, &q, &f->arena), CALM_OK);
    assert_int_equal(s.excess.fault, rows[i].fault);
    assert_true(s.excess.needed == rows[i].needed);
    assert_true(s.excess.available == rows[i].available);
    assert_int_equal(s.group_count, 0);
  }
}

/* What one replay takes is not there for the next one; one that stops takes
   what is left. */
static void steps_are_taken_from_one_budget(void **state) {
  fixture *f = *state;
  row r;
  cost_stream s;
  make_row(&r, "R3 | P8 C3 K5", 1, &f->arena);
  build_mesh(&r, 1, 1);
  cost_question q = ask(&r, INPUTS, 1, COST_VISIT_ALL);
  uint64_t steps = COST_REPLAY_STEPS;
  q.steps = &steps;
  assert_int_equal(replay(&s, NULL, &q, &f->arena), CALM_OK);
  const uint64_t taken = COST_REPLAY_STEPS - steps;
  assert_in_range(taken, 300, 10000);
  steps = 2 * taken + 1;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(replay(&s, NULL, &q, &f->arena), CALM_OK);
    assert_int_equal(s.excess.fault, COST_VALID);
  }
  assert_int_equal(steps, 1);
  assert_int_equal(replay(&s, NULL, &q, &f->arena), CALM_OK);
  assert_int_equal(s.excess.fault, COST_LIMIT_STEPS);
  assert_true(s.excess.available == COST_REPLAY_STEPS);
  assert_int_equal(steps, 0);
}

/* ---- Without memory ------------------------------------------------------ */

static void memory_runs_out(void **state) {
  fixture *f = *state;
  row r;
  make_row(&r, "R3 | P3/2x P2/1 C3 K5/2 | P4 Q3/2", 1, &f->arena);
  build_mesh(&r, 3, 1);
  const cost_question q = ask(&r, INPUTS, 1, COST_VISIT_TWO);
  uint64_t left = SCARCE_NEVER;
  const calm_allocator scarce = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&scarce);
  arena a;
  arena_init(&a, context);
  const size_t before = calm_context_bytes(context);
  calm_status status = CALM_NO_MEMORY;
  uint64_t granted = 0;
  for (; status != CALM_OK; granted++) {
    cost_stream s;
    left = granted;
    status = replay(&s, NULL, &q, &a);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), before);
  }
  assert_true(granted > 5);
  left = SCARCE_NEVER;
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(windows_slide),
      COST_TEST(streams_are_known),
      COST_TEST(groups_find_room),
      COST_TEST(long_loops_repeat),
      COST_TEST(too_much_is_refused),
      COST_TEST(memory_runs_out),
      COST_TEST(steps_are_taken_from_one_budget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
