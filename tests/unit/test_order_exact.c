#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>

#include "cases.h"
#include "order/order_exact.h"
#include "order_cg.h"
#include "order_random.h"
#include "scarce.h"

static order_options with_rules(uint32_t rules) {
  order_options options = order_options_default();
  options.blocks = rules & 1;
  options.commit = rules & 2;
  options.root_bound = rules & 4;
  options.reverse = rules & 8;
  options.windows = !(rules & 16);
  options.series = rules & 32;
  options.groups = !(rules & 64);
  return options;
}

/* ---- Against the referee ------------------------------------------------- */

static void check_optimal(const order_problem *p, uint64_t optimum,
                          const order_options *options, arena *a) {
  limits l;
  limits_init(&l, a->context);
  order_result r;
  assert_int_equal(order_exact(&r, p, options, a, &l), CALM_OK);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
  assert_int_equal(r.stopped, LIMITS_NONE);
  assert_int_equal(r.peak_bytes, optimum);
  assert_int_equal(r.bound_bytes, optimum);
  assert_int_equal(order_referee_peak(p, r.sequence), optimum);
}

/* Every thirty-second problem under all rule sets, the others under one each.
 */
static void check_problems(unsigned features, uint32_t count, uint64_t seed) {
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(seed);
  for (uint32_t i = 0; i < count; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const unsigned some = (features & ~((unsigned)random_next(&r) & 31)) |
                          (i % 4 ? 0 : ORDER_RANDOM_SERIES);
    assert_true(order_random_make(&p, &r, some, 2 + random_below(&r, 11), &a));
    const uint64_t optimum = order_referee_optimum(&p);
    for (uint32_t rules = 0; rules < 128; rules++) {
      const order_options options = with_rules(rules);
      if (i % 32 == 0 || rules == i % 128)
        check_optimal(&p, optimum, &options, &a);
    }
    arena_free(&a);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void brute_force_agrees(void **state) {
  (void)state;
  check_problems(31, 3500, 11);
}

static void brute_force_agrees_with_reuse_and_workspace(void **state) {
  (void)state;
  check_problems(ORDER_RANDOM_ALL, 3000, 12);
}

/* ---- Ceilings ------------------------------------------------------------ */

/* Below the ceiling the optimum; else no more than that there is nothing. */
static void check_ceiling(const order_problem *p, uint64_t optimum,
                          uint64_t ceiling, uint32_t rules, arena *a) {
  order_options options = with_rules(rules);
  options.ceiling_bytes = ceiling;
  limits l;
  limits_init(&l, a->context);
  order_result r;
  assert_int_equal(order_exact(&r, p, &options, a, &l), CALM_OK);
  assert_int_equal(order_referee_peak(p, r.sequence), r.peak_bytes);
  assert_int_equal(r.stopped, LIMITS_NONE);
  assert_true(r.bound_bytes <= optimum && optimum <= r.peak_bytes);
  const bool closed = r.bound_bytes == r.peak_bytes;
  assert_int_equal(r.outcome, closed ? CALM_OPTIMAL : CALM_FEASIBLE);
  assert_true(closed || (r.bound_bytes >= ceiling && optimum >= ceiling));
}

static void nothing_below_the_ceiling_is_enough(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(19);
  for (uint32_t i = 0; i < 1500; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t n = 4 + random_below(&r, 9);
    assert_true(order_random_make(&p, &r, ORDER_RANDOM_ALL, n, &a));
    const uint64_t optimum = order_referee_optimum(&p);
    const uint64_t ceiling = optimum + 1 + random_below(&r, 12);
    check_ceiling(&p, optimum, ceiling > 6 ? ceiling - 6 : 1, i % 32, &a);
    check_ceiling(&p, optimum, UINT64_MAX - i, i % 32, &a);
    arena_free(&a);
  }
  calm_context_free(context);
}

/* Sizes have a common divisor, the ceiling has not. */
static void ceilings_are_no_multiples(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  order_problem p;
  random_state r = random_from_seed(20);
  do assert_true(order_random_make(&p, &r, 0, 10, &a));
  while (order_referee_optimum(&p) < 4);
  for (uint32_t b = 0; b < p.buffer_count; b++) p.buffers[b].bytes = 10;
  const uint64_t optimum = order_referee_optimum(&p);
  for (uint64_t ceiling = optimum - 12; ceiling <= optimum + 12; ceiling++)
    for (uint32_t rules = 0; rules < 16; rules++)
      check_ceiling(&p, optimum, ceiling, rules, &a);
  arena_free(&a);
  calm_context_free(context);
}

/* ---- Limits -------------------------------------------------------------- */

/* Whatever stops it: a valid order, and a bound that is true. */
static void check_stopped(const order_problem *p, uint64_t optimum, limits *l,
                          arena *a) {
  const order_options options = with_rules(15);
  order_result r;
  assert_int_equal(order_exact(&r, p, &options, a, l), CALM_OK);
  assert_int_equal(order_referee_peak(p, r.sequence), r.peak_bytes);
  assert_true(r.bound_bytes <= optimum && optimum <= r.peak_bytes);
  const bool closed = r.bound_bytes == r.peak_bytes;
  assert_int_equal(r.outcome, closed ? CALM_OPTIMAL : CALM_FEASIBLE);
  assert_int_equal(r.stopped, closed ? LIMITS_NONE : l->reason);
  if (!closed) assert_int_not_equal(l->reason, LIMITS_NONE);
}

static void limits_leave_a_true_gap(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(13);
  for (uint32_t i = 0; i < 1000; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t n = 8 + random_below(&r, 6);
    assert_true(order_random_make(&p, &r, ORDER_RANDOM_ALL, n, &a));
    limits l;
    limits_init(&l, context);
    if (i % 2)
      l.max_ticks = random_below(&r, 400);
    else
      l.max_bytes = random_below(&r, 20000);
    check_stopped(&p, order_referee_optimum(&p), &l, &a);
    arena_free(&a);
  }
  calm_context_free(context);
}

static void interrupt_and_deadline_stop_at_once(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(14);
  for (uint32_t i = 0; i < 20; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    assert_true(order_random_make(&p, &r, ORDER_RANDOM_ALL, 13, &a));
    limits l;
    limits_init(&l, context);
    if (i % 2)
      calm_context_interrupt(context);
    else
      l.deadline = limits_clock() - 1;
    check_stopped(&p, order_referee_optimum(&p), &l, &a);
    calm_context_resume(context);
    arena_free(&a);
  }
  calm_context_free(context);
}

/* ---- Larger problems ----------------------------------------------------- */

static void add_pred(order_problem *p, uint32_t v) {
  p->preds[p->pred_begin[p->op_count]++] = v;
}

/* Layers of `width` operators, each reading one or two of the layer before;
   one buffer per operator, of 1 to `sizes` times `unit` bytes. */
static order_problem make_layers(uint32_t n, uint32_t width, uint32_t sizes,
                                 uint64_t unit, arena *a) {
  random_state r = random_from_seed(n + width);
  order_problem p = {.buffer_count = n};
  p.buffers = arena_calloc(a, n, sizeof *p.buffers);
  p.pred_begin = arena_calloc(a, n + 1, sizeof *p.pred_begin);
  p.preds = arena_calloc(a, 2 * n, sizeof *p.preds);
  p.touch_begin = arena_calloc(a, n + 1, sizeof *p.touch_begin);
  p.touch = arena_calloc(a, 3 * n, sizeof *p.touch);
  p.workspace = arena_calloc(a, n, sizeof *p.workspace);
  p.reuses = arena_calloc(a, 1, sizeof *p.reuses);
  for (p.op_count = 0; p.op_count < n;) {
    const uint32_t u = p.op_count++, layer = u / width * width;
    p.buffers[u].bytes = unit * (1 + random_below(&r, sizes));
    p.pred_begin[u + 1] = p.pred_begin[u];
    if (layer == 0) continue;
    const uint32_t same = u - width;
    const uint32_t other = layer - width + random_below(&r, width);
    if (other < same) add_pred(&p, other);
    add_pred(&p, same);
    if (other > same) add_pred(&p, other);
  }
  for (uint32_t b = 0, filled = 0; b < n; b++) {
    p.touch[filled++] = b;
    for (uint32_t u = b + 1; u < n; u++)
      for (uint32_t i = p.pred_begin[u]; i < p.pred_begin[u + 1]; i++)
        if (p.preds[i] == b) p.touch[filled++] = u;
    p.touch_begin[b + 1] = filled;
  }
  assert_int_equal(order_problem_finish(&p, a), CALM_OK);
  return p;
}

static order_result solve(const order_problem *p, uint32_t rules, uint64_t seed,
                          arena *a) {
  order_options options = with_rules(rules);
  options.seed = seed;
  limits l;
  limits_init(&l, a->context);
  order_result r;
  assert_int_equal(order_exact(&r, p, &options, a, &l), CALM_OK);
  uint64_t peak;
  assert_int_equal(order_replay(&peak, p, r.sequence, NULL, a->context),
                   CALM_OK);
  assert_int_equal(peak, r.peak_bytes);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
  assert_int_equal(r.bound_bytes, peak);
  return r;
}

/* No referee here, but rule sets that share no pruning must agree. */
static void many_operators_and_large_sizes(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  static const struct {
    uint32_t n, width, sizes;
    uint64_t unit;
  } shapes[] = {{65, 5, 9, 1},
                {129, 4, 64, 48},
                {400, 5, 1, UINT64_C(1) << 40},
                {1500, 4, 7, UINT64_C(12345678901)}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    arena a;
    arena_init(&a, context);
    const order_problem p = make_layers(shapes[i].n, shapes[i].width,
                                        shapes[i].sizes, shapes[i].unit, &a);
    const uint64_t peak = solve(&p, 15, 0, &a).peak_bytes;
    assert_int_equal(solve(&p, 1, 0, &a).peak_bytes, peak);
    assert_int_equal(solve(&p, 3, 1, &a).peak_bytes, peak);
    assert_int_equal(solve(&p, 14, 2, &a).peak_bytes, peak);
    arena_free(&a);
  }
  calm_context_free(context);
}

/* With one direction alone, and more states than a narrow pass can hold. */
static void one_direction_is_enough(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  const order_problem p = make_layers(60, 10, 9, 1, &a);
  assert_int_equal(solve(&p, 7, 0, &a).peak_bytes,
                   solve(&p, 15, 0, &a).peak_bytes);
  arena_free(&a);
  calm_context_free(context);
}

static void same_input_same_answer(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  const order_problem p = make_layers(160, 8, 20, 16, &a);
  const order_result one = solve(&p, 15, 7, &a), two = solve(&p, 15, 7, &a);
  assert_int_equal(one.states, two.states);
  assert_int_equal(one.ticks, two.ticks);
  assert_true(one.states > 100);
  assert_memory_equal(one.sequence, two.sequence, 160 * sizeof *one.sequence);
  arena_free(&a);
  calm_context_free(context);
}

static void stops_at_the_target(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  const order_problem p = make_layers(160, 8, 20, 16, &a);
  const order_result best = solve(&p, 15, 0, &a);
  order_options options = with_rules(15);
  options.target_bytes = best.peak_bytes + 100;
  limits l;
  limits_init(&l, context);
  order_result r;
  assert_int_equal(order_exact(&r, &p, &options, &a, &l), CALM_OK);
  assert_true(r.peak_bytes <= options.target_bytes);
  assert_true(r.bound_bytes <= best.peak_bytes);
  assert_true(r.ticks < best.ticks);
  assert_int_equal(l.reason, LIMITS_NONE);
  arena_free(&a);
  calm_context_free(context);
}

static void nothing_to_order(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  order_buffer constant = {64, true, true};
  uint32_t zeros[2] = {0};
  order_problem p = {.buffer_count = 1,
                     .buffers = &constant,
                     .touch_begin = zeros,
                     .touch = zeros,
                     .pred_begin = zeros,
                     .preds = zeros};
  assert_int_equal(order_problem_finish(&p, &a), CALM_OK);
  assert_int_equal(solve(&p, 15, 0, &a).peak_bytes, 64);
  arena_free(&a);
  calm_context_free(context);
}

/* ---- Out of memory ------------------------------------------------------- */

/* Solve the same problem with room for 0, 1, 2, ... allocations; how many
   failed before one succeeded. */
static uint32_t count_failures(uint64_t seed) {
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&allocator);
  arena input;
  arena_init(&input, context);
  random_state r = random_from_seed(seed);
  order_problem p;
  assert_true(order_random_make(&p, &r, ORDER_RANDOM_ALL, 13, &input));
  const order_options options = with_rules(15);
  calm_status status = CALM_NO_MEMORY;
  uint32_t failures = 0;
  for (; status != CALM_OK; failures++) {
    arena a;
    arena_init(&a, context);
    limits l;
    limits_init(&l, context);
    order_result result;
    const size_t held = calm_context_bytes(context);
    left = failures;
    status = order_exact(&result, &p, &options, &a, &l);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(context), held);
  }
  left = SCARCE_NEVER;
  arena_free(&input);
  calm_context_free(context);
  return failures - 1;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  uint32_t most = 0;
  for (uint64_t seed = 0; seed < 40; seed++) {
    const uint32_t failures = count_failures(seed);
    if (failures > most) most = failures;
  }
  assert_true(most > 30); /* some of them searched */
}

/* ---- Real graphs --------------------------------------------------------- */

/* Cells of more than 80 operators take longer than a test should. */
static bool is_too_large(const char *name) {
  return strstr(name, "100_") || strstr(name, "120_");
}

static void check_file(const char *path, calm_context *context,
                       uint32_t *checked) {
  arena a;
  arena_init(&a, context);
  order_problem p;
  uint64_t best;
  if (order_cg_read(&p, &best, path, &a) && best) {
    const order_result r = solve(&p, 15, 0, &a);
    if (r.peak_bytes != best) fail_msg("%s", path);
    ++*checked;
  }
  arena_free(&a);
}

static uint32_t check_folder(const char *name) {
  char folder[1024], path[2048];
  if (!cases_path(folder, sizeof folder, name)) return 0;
  DIR *d = opendir(folder);
  assert_non_null(d);
  calm_context *context = calm_context_new(NULL);
  uint32_t checked = 0;
  for (struct dirent *e; (e = readdir(d));) {
    const char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".cg") || is_too_large(e->d_name)) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    check_file(path, context, &checked);
  }
  closedir(d);
  calm_context_free(context);
  return checked;
}

static void published_optima(void **state) {
  (void)state;
  CASES_OR_SKIP();
  const uint32_t graphs = check_folder("graphs");
  const uint32_t cells = check_folder("graphs-ws");
  print_message("%u graphs and %u random cells agree\n", graphs, cells);
  assert_true(graphs >= 40 && cells >= 14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brute_force_agrees),
      cmocka_unit_test(brute_force_agrees_with_reuse_and_workspace),
      cmocka_unit_test(nothing_below_the_ceiling_is_enough),
      cmocka_unit_test(ceilings_are_no_multiples),
      cmocka_unit_test(limits_leave_a_true_gap),
      cmocka_unit_test(interrupt_and_deadline_stop_at_once),
      cmocka_unit_test(many_operators_and_large_sizes),
      cmocka_unit_test(one_direction_is_enough),
      cmocka_unit_test(same_input_same_answer),
      cmocka_unit_test(stops_at_the_target),
      cmocka_unit_test(nothing_to_order),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(published_optima)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
