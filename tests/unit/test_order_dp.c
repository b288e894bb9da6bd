#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>

#include "cases.h"
#include "order_check.h"
#include "order/order_dp.h"
#include "order_fixture.h"
#include "order_cg.h"
#include "scarce.h"

enum { COMBINATIONS = 4 }; /* cuts off, on; budget off, on */

static order_options dp_options(int combination) {
  order_options options = order_options_default();
  options.method = ORDER_DP;
  options.dp_cuts = combination & 1;
  options.dp_budget = combination & 2;
  return options;
}

static order_result solve(const order_problem *p, order_options options,
                          arena *a) {
  order_result r;
  limits l;
  limits_init(&l, context);
  assert_int_equal(order_solve(&r, p, &options, a, &l), CALM_OK);
  uint64_t peak;
  assert_int_equal(order_check(&peak, p, r.sequence, context), CALM_OK);
  assert_int_equal(peak, r.peak_bytes);
  assert_int_equal(r.ticks, l.ticks);
  return r;
}

static void assert_optimal(const order_result *r, uint64_t peak) {
  assert_int_equal(r->outcome, CALM_OPTIMAL);
  assert_int_equal(r->peak_bytes, peak);
  assert_int_equal(r->bound_bytes, peak);
  assert_int_equal(r->stopped, LIMITS_NONE);
}

/* ---- SwiftNet's cells, concat elided ------------------------------------- */

static const case_node cell_a[] = {
    NODE(25088, 0),          NODE(25088, 0),
    NODE(25088, 1),          NODE(25088, 0),
    NODE(25088, 1),          NODE(25088, 0, 1),
    NODE(25088, 4, 5),       NODE(25088, 1, 6),
    NODE(25088, 0, 3, 4, 5), NODE(25088, 5),
    NODE(25088, 9),          NODE(25088, 7),
    NODE(25088, 11),         NODE(50176, 5, 6),
    NODE(25088, 13),         NODE(50176, 0, 3),
    NODE(25088, 15),         NODE(25088, 2, 5, 7, 8),
    NODE(37632, 0),          NODE(37632, 10, 12, 14, 16, 17),
    NODE(37632, 18, 19)};

static const case_node cell_b[] = {
    NODE(9408, 0),     NODE(9408, 0),     NODE(9408, 0),
    NODE(9408, 0),     NODE(9408, 0),     NODE(15680, 0),
    NODE(9408, 1),     NODE(9408, 1),     NODE(9408, 6),
    NODE(9408, 1, 8),  NODE(18816, 1, 8), NODE(9408, 7),
    NODE(9408, 11, 2), NODE(9408, 2),     NODE(9408, 0, 1, 8, 3),
    NODE(9408, 14),    NODE(9408, 10),    NODE(15680, 4, 9, 12, 15, 13, 16),
    NODE(15680, 5, 17)};

static const case_node cell_c[] = {NODE(3920, 0),
                                   NODE(3136, 0),
                                   NODE(3724, 0),
                                   NODE(3136, 1),
                                   NODE(3136, 1),
                                   NODE(3136, 1),
                                   NODE(3136, 1),
                                   NODE(3136, 1),
                                   NODE(3136, 1),
                                   NODE(3136, 3),
                                   NODE(3136, 0, 9),
                                   NODE(6272, 1, 9),
                                   NODE(3136, 4),
                                   NODE(3136, 4),
                                   NODE(3136, 5),
                                   NODE(3136, 12),
                                   NODE(3136, 13),
                                   NODE(3136, 11),
                                   NODE(3136, 7),
                                   NODE(3136, 8),
                                   NODE(3724, 10, 14, 15, 6, 16, 17, 18, 19),
                                   NODE(3724, 2, 20)};

static const struct {
  const case_node *nodes;
  uint32_t count;
  uint64_t peak, downsets, orders;
} cells[] = {{cell_a, 21, 200704, 1345, UINT64_C(2522126120)},
             {cell_b, 19, 81536, 1259, UINT64_C(497556000)},
             {cell_c, 22, 32536, 8645, UINT64_C(1111523212800)}};

static void cell_problem(order_problem *p, int cell, arena *a) {
  builder = (problem_builder){.op_count = 0};
  const uint32_t input =
      build_buffer(&builder, cells[cell].nodes[0].bytes, true, false);
  const uint32_t last = build_nodes(&builder, cells[cell].nodes,
                                    cells[cell].count, input, CALM_NONE);
  builder.buffers[last].pinned_end = true;
  assert_int_equal(build_problem(p, &builder, a), CALM_OK);
}

static void swiftnet_cells(void **state) {
  (void)state;
  for (int cell = 0; cell < 3; cell++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    cell_problem(&p, cell, &a);
    for (int combination = 0; combination < COMBINATIONS; combination++) {
      order_options options = dp_options(combination);
      options.count = true;
      const order_result r = solve(&p, options, &a);
      assert_optimal(&r, cells[cell].peak);
      assert_int_equal(r.downsets, cells[cell].downsets);
      assert_int_equal(r.orders, cells[cell].orders);
      if (!options.dp_budget) assert_int_equal(r.states, cells[cell].downsets);
      if (options.dp_budget) assert_true(r.states <= cells[cell].downsets);
      options.count = false;
      const order_result uncounted = solve(&p, options, &a);
      assert_int_equal(uncounted.states, r.states);
      assert_int_equal(uncounted.orders, 0);
    }
    arena_free(&a);
  }
}

/* The three in a row, each cell's input an operator: the paper's 62 nodes. */
static void swiftnet_whole(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 0};
  uint32_t last = CALM_NONE;
  for (int cell = 0; cell < 3; cell++) {
    const uint32_t pool = build_op(&builder);
    const uint32_t input =
        build_buffer(&builder, cells[cell].nodes[0].bytes, false, false);
    build_touch(&builder, input, pool);
    if (cell) {
      build_touch(&builder, last, pool);
      build_edge(&builder, pool - 1, pool);
    }
    last = build_nodes(&builder, cells[cell].nodes, cells[cell].count, input,
                       pool);
  }
  builder.buffers[last].pinned_end = true;
  assert_int_equal(builder.op_count, 62);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  for (int combination = 0; combination < COMBINATIONS; combination++) {
    order_options options = dp_options(combination);
    options.count = true;
    const order_result r = solve(&p, options, &a);
    assert_optimal(&r, 200704);
    /* each cell's sets, and at each of the three ends one set more */
    assert_int_equal(r.downsets, 1345 + 1259 + 8645 + 1);
    assert_int_equal(r.orders, UINT64_MAX); /* about 1.4e30 */
    /* the input and the addition of each cell stand alone */
    assert_int_equal(r.segments, options.dp_cuts ? 9 : 1);
    if (!options.dp_budget) assert_int_equal(r.states, r.downsets);
  }
  arena_free(&a);
}

/* ---- Random problems ----------------------------------------------------- */

static void random_problems(void **state) {
  (void)state;
  random_state random = random_from_seed(7);
  uint32_t cut = 0;
  for (int round = 0; round < 2500; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = random_below(&random, 12) + 1;
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    const order_answer best = solve_by_subsets(&p);
    for (int combination = 0; combination < COMBINATIONS; combination++) {
      order_options options = dp_options(combination);
      options.count = true;
      const order_result r = solve(&p, options, &a);
      assert_optimal(&r, best.peak);
      assert_int_equal(r.downsets, best.downsets);
      assert_int_equal(r.orders, best.orders);
      if (!options.dp_budget) assert_int_equal(r.states, r.downsets);
      if (r.segments > 1) cut++;
    }
    arena_free(&a);
  }
  assert_true(cut > 1000); /* the cuts were worth testing */
}

/* Beyond the reach of the referee: two methods that share no search agree. */
static void agrees_with_the_exact_search(void **state) {
  (void)state;
  random_state random = random_from_seed(12);
  for (int round = 0; round < 150; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = 13 + random_below(&random, 9);
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    const order_result exact = solve(&p, order_options_default(), &a);
    const order_result dp = solve(&p, dp_options(round % COMBINATIONS), &a);
    assert_optimal(&dp, exact.peak_bytes);
    assert_int_equal(exact.outcome, CALM_OPTIMAL);
    arena_free(&a);
  }
}

/* All permutations, judged by order_check: a referee that does not even know
   what a down-set is. */
static void permutations(void **state) {
  (void)state;
  random_state random = random_from_seed(8);
  for (int round = 0; round < 60; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t n = 2 + random_below(&random, 5);
    build_random(&builder, n, WITH_WORKSPACE | WITH_REUSE, &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    uint32_t sequence[7] = {0, 1, 2, 3, 4, 5, 6}, counter[7] = {0};
    uint64_t best = UINT64_MAX, orders = 0;
    for (uint32_t i = 0; i < n;) { /* Heap's algorithm */
      uint64_t peak;
      if (i == 0 && order_check(&peak, &p, sequence, context) == CALM_OK) {
        orders++;
        if (peak < best) best = peak;
      }
      if (++i == n) break;
      while (i < n && counter[i] == i) counter[i++] = 0;
      if (i == n) break;
      const uint32_t with = i % 2 ? counter[i] : 0, moved = sequence[with];
      sequence[with] = sequence[i];
      sequence[i] = moved;
      counter[i]++;
      i = 0;
    }
    order_options options = dp_options(3);
    options.count = true;
    const order_result r = solve(&p, options, &a);
    assert_optimal(&r, best);
    assert_int_equal(r.orders, orders);
    arena_free(&a);
  }
}

/* ---- Many operators ------------------------------------------------------ */

/* Parallel chains that meet in one operator.  Chain i swells to `height[i]` and
   leaves 1 byte; the largest hill goes first (Liu 1987). */
static void chain_problem(order_problem *p, uint32_t length,
                          const uint64_t *height, arena *a) {
  builder = (problem_builder){.op_count = 0};
  uint32_t last_op[3], last_buffer[3];
  for (int chain = 0; chain < 3; chain++)
    for (uint32_t i = 0; i < length; i++) {
      const uint32_t u = build_op(&builder);
      const uint64_t bytes = i + 1 == length ? 1 : height[chain];
      const uint32_t b = build_buffer(&builder, bytes, false, false);
      build_touch(&builder, b, u);
      if (i) {
        build_touch(&builder, last_buffer[chain], u);
        build_edge(&builder, u - 1, u);
      }
      last_op[chain] = u;
      last_buffer[chain] = b;
    }
  const uint32_t join = build_op(&builder);
  for (int chain = 0; chain < 3; chain++) {
    build_touch(&builder, last_buffer[chain], join);
    build_edge(&builder, last_op[chain], join);
  }
  build_touch(&builder, build_buffer(&builder, 1, false, true), join);
  assert_int_equal(build_problem(p, &builder, a), CALM_OK);
}

static void more_operators_than_a_word_has_bits(void **state) {
  (void)state;
  static const struct {
    uint32_t length;
    uint64_t height[3], peak;
  } cases[] = {{22, {10, 11, 9}, 22},  /* 67 operators */
               {22, {10, 10, 10}, 22}, /* 20 + 2 left by the others */
               {43, {5, 5, 9}, 18}};   /* 130 operators */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    chain_problem(&p, cases[i].length, cases[i].height, &a);
    assert_true(p.op_count > (i < 2 ? 64 : 128));
    for (int combination = 0; combination < COMBINATIONS; combination++) {
      order_options options = dp_options(combination);
      options.count = combination < 2;
      const order_result r = solve(&p, options, &a);
      assert_optimal(&r, cases[i].peak);
      const uint64_t side = cases[i].length + 1;
      if (options.count) assert_int_equal(r.downsets, side * side * side + 1);
      if (options.count) assert_int_equal(r.orders, UINT64_MAX);
    }
    arena_free(&a);
  }
}

/* 250 diamonds in a row: one cut after the other. */
static void a_long_network_of_small_parts(void **state) {
  (void)state;
  enum { DIAMONDS = 250 };
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 0};
  uint32_t buffer = build_buffer(&builder, 1, true, false), maker = CALM_NONE;
  static const case_node diamond[] = {NODE(1, 0), NODE(2, 0), NODE(3, 0),
                                      NODE(1, 1, 2)};
  for (int i = 0; i < DIAMONDS; i++) {
    buffer = build_nodes(&builder, diamond, 4, buffer, maker);
    maker = builder.op_count - 1;
  }
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  for (int combination = 0; combination < COMBINATIONS; combination++) {
    order_options options = dp_options(combination);
    options.count = true;
    const order_result r = solve(&p, options, &a);
    assert_optimal(&r, 6);
    assert_int_equal(r.segments, options.dp_cuts ? 2 * DIAMONDS : 1);
    assert_int_equal(r.downsets, 1 + 4 * DIAMONDS);
    assert_int_equal(r.orders, UINT64_MAX); /* 2^250 */
  }
  arena_free(&a);
}

/* ---- Real graphs --------------------------------------------------------- */

/* Where hashes collide, work grows with the square of the states. */
enum {
  MAX_TICKS = CALM_HOSTILE ? 20000 : 400000,
  LEAST_PROVED = CALM_HOSTILE ? 25 : 35
};

/* The optimum that the file states, or, when it takes too long, a gap around
   it. */
static bool agrees_with_file(const char *path, bool *finished) {
  arena a;
  arena_init(&a, context);
  order_problem p;
  uint64_t best = 0;
  bool agrees = true;
  const bool usable = order_cg_read(&p, &best, path, &a) && best;
  for (int combination = 0; usable && combination < COMBINATIONS;
       combination++) {
    const order_options options = dp_options(combination);
    order_result r;
    limits l;
    limits_init(&l, context);
    l.max_ticks = MAX_TICKS;
    assert_int_equal(order_solve(&r, &p, &options, &a, &l), CALM_OK);
    agrees = agrees && r.bound_bytes <= best && best <= r.peak_bytes;
    *finished = r.outcome == CALM_OPTIMAL;
  }
  arena_free(&a);
  return agrees;
}

static void published_optima(void **state) {
  (void)state;
  CASES_OR_SKIP();
  char folder[1024], path[2048];
  assert_non_null(cases_path(folder, sizeof folder, "graphs"));
  DIR *d = opendir(folder);
  assert_non_null(d);
  uint32_t proved = 0, open = 0;
  for (struct dirent *e; (e = readdir(d));) {
    const char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".cg")) continue;
    bool finished = false;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (!agrees_with_file(path, &finished)) fail_msg("%s", path);
    if (finished) proved++;
    if (!finished) open++;
  }
  closedir(d);
  print_message("%u graphs proved, %u not tried or not finished\n", proved,
                open);
  assert_true(proved >= LEAST_PROVED);
}

/* ---- Limits -------------------------------------------------------------- */

static void check_stopped(const order_problem *p, const order_options *options,
                          limits *l, uint64_t best) {
  arena a;
  arena_init(&a, context);
  order_result r;
  uint64_t peak;
  assert_int_equal(order_solve(&r, p, options, &a, l), CALM_OK);
  assert_int_equal(order_check(&peak, p, r.sequence, context), CALM_OK);
  assert_int_equal(peak, r.peak_bytes);
  assert_true(r.bound_bytes <= best && best <= r.peak_bytes);
  assert_int_equal(r.outcome == CALM_OPTIMAL, r.bound_bytes == r.peak_bytes);
  if (r.outcome != CALM_OPTIMAL) assert_int_equal(r.stopped, l->reason);
  arena_free(&a);
}

static void limits_leave_an_order_and_a_bound(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  cell_problem(&p, 2, &a);
  for (int combination = 0; combination < COMBINATIONS; combination++) {
    order_options options = dp_options(combination);
    options.count = true;
    for (uint64_t most = 0; most < 30000; most = most * 5 / 4 + 1) {
      limits l;
      limits_init(&l, context);
      l.max_ticks = most;
      check_stopped(&p, &options, &l, 32536);
      limits_init(&l, context);
      l.max_bytes = most * 10;
      check_stopped(&p, &options, &l, 32536);
    }
    limits l;
    limits_init(&l, context);
    calm_context_interrupt(context);
    check_stopped(&p, &options, &l, 32536);
    assert_int_equal(l.reason, LIMITS_INTERRUPT);
    calm_context_resume(context);
  }
  arena_free(&a);
}

/* ---- Memory that runs out ------------------------------------------------ */

/* Whichever allocation fails: an error, nothing leaked, no result. */
static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int method = ORDER_FILE; method <= ORDER_DP; method++) {
    uint64_t left, allowed = 0;
    calm_status status = CALM_NO_MEMORY;
    for (; status != CALM_OK; allowed++) {
      assert_true(allowed < 3000);
      left = SCARCE_NEVER;
      const calm_allocator allocator = {scarce_reallocate, &left};
      calm_context *own = calm_context_new(&allocator), *shared = context;
      assert_non_null(own);
      context = own;
      arena a;
      arena_init(&a, own);
      order_problem p;
      random_state random = random_from_seed(11);
      build_random(&builder, 9, WITH_WORKSPACE | WITH_CUTS, &random);
      assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
      limits l;
      limits_init(&l, own);
      order_options options = dp_options(3);
      options.method = (order_method)method;
      options.count = true;
      order_result r;
      uint64_t peak;
      left = allowed;
      status = order_solve(&r, &p, &options, &a, &l);
      if (status == CALM_OK) status = order_check(&peak, &p, r.sequence, own);
      if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
      arena_free(&a);
      assert_int_equal(calm_context_bytes(own), 0);
      calm_context_free(own);
      context = shared;
    }
    assert_true(allowed > 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(swiftnet_cells),
      cmocka_unit_test(swiftnet_whole),
      cmocka_unit_test(random_problems),
      cmocka_unit_test(agrees_with_the_exact_search),
      cmocka_unit_test(permutations),
      cmocka_unit_test(more_operators_than_a_word_has_bits),
      cmocka_unit_test(a_long_network_of_small_parts),
      cmocka_unit_test(published_optima),
      cmocka_unit_test(limits_leave_an_order_and_a_bound),
      cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
