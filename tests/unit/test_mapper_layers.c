/*
 * The exact mapper on layers that are out of the ordinary, on CoSA's Simba: a
 * proof, and never worse than what sampling finds.  With MAPPER_TIMES in the
 * environment, each search is printed.
 */
#include "published_fixture.h"

#include <time.h>

#include "mapper/mapper_sample.h"

enum { W = 1, I = 2, O = 4 };

/* Of cosa/mapspace/mapspace.yaml, innermost first; of a matrix product, A is
   the input and B the weights. */
static const uint32_t convolution_keeps[] = {W, O, W, I, I | O, W | I | O};
static const uint32_t product_keeps[] = {I, O, I, W, W | O, W | I | O};

/* R S P Q C K N, groups, strides, dilations. */
typedef struct odd_layer {
  const char *name;
  accel_convolution shape;
} odd_layer;

static const odd_layer layers[] = {
    {"all ones", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"one channel at a time", {3, 3, 14, 14, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"depthwise, as groups", {3, 3, 14, 14, 1, 1, 1, 96, 1, 1, 1, 1}},
    {"depthwise, stride 2", {3, 3, 28, 28, 1, 1, 1, 64, 2, 2, 1, 1}},
    {"grouped", {3, 3, 14, 14, 4, 8, 1, 32, 1, 1, 1, 1}},
    {"1x1 at 7x7", {1, 1, 7, 7, 512, 2048, 1, 1, 1, 1, 1, 1}},
    {"batch 16", {3, 3, 28, 28, 64, 64, 16, 1, 1, 1, 1, 1}},
    {"batch 16, 1x1", {1, 1, 14, 14, 256, 1024, 16, 1, 1, 1, 1, 1}},
    {"large primes", {5, 5, 341, 79, 1, 32, 1, 1, 2, 2, 1, 1}},
    {"larger primes", {10, 5, 151, 40, 1, 32, 1, 1, 2, 1, 1, 1}},
    {"stride 8", {8, 8, 28, 28, 3, 64, 1, 1, 8, 8, 1, 1}},
    {"stride beyond the filter", {3, 3, 28, 28, 16, 64, 1, 1, 8, 8, 1, 1}},
    {"dilation 2", {3, 3, 28, 28, 64, 64, 1, 1, 1, 1, 2, 2}},
    {"dilation 0", {3, 3, 28, 28, 64, 64, 1, 1, 1, 1, 0, 0}},
    {"fully connected", {1, 1, 1, 1, 2048, 1000, 1, 1, 1, 1, 1, 1}},
};

static void check_ok(const bench *b, calm_status status, const char *what) {
  if (status != CALM_OK)
    fail_msg("%s: %s", what, calm_context_message(b->context));
}

static void open_simba(bench *b) {
  check_ok(b,
           accel_arch_read(&b->arch, open_case(b, "cosa/arch/simba.yaml"), NULL,
                           true, &b->arena),
           "simba");
}

/* Sampling has found nothing better. */
static void check_samples(bench *b, const mapper_problem *p,
                          const mapper_result *best) {
  const mapper_sampling sampling = {
      .seed = 1, .valid = 100, .victory = 50, .samples = 2000};
  mapper_result r;
  limits l;
  limits_init(&l, b->context);
  check_ok(b, mapper_random(&r, p, &sampling, &l, &b->arena), p->layer->name);
  if (r.outcome == CALM_FEASIBLE)
    assert_true(r.value >= best->value * (1 - 1e-9));
  check_ok(b, mapper_hybrid(&r, p, &sampling, &l, &b->arena), p->layer->name);
  if (r.outcome == CALM_FEASIBLE)
    assert_true(r.value >= best->value * (1 - 1e-9));
}

static void check_objective(bench *b, const accel_layer *layer,
                            const uint32_t *keeps, mapper_objective o) {
  const mapper_rules all = {0};
  const mapper_problem p = {.arch = &b->arch,
                            .layer = layer,
                            .must_keep = keeps,
                            .may_keep = keeps,
                            .objective = o};
  mapper_result r;
  limits l;
  limits_init(&l, b->context);
  const clock_t start = clock();
  check_ok(b, mapper_exact(&r, &p, &all, &l, &b->arena), layer->name);
  if (getenv("MAPPER_TIMES"))
    print_message("%s, %d: %s %.12g bound %.12g, %.1f ms, %llu states\n",
                  layer->name, o, calm_outcome_name(r.outcome), r.value,
                  r.bound, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC,
                  (unsigned long long)r.states);
  if (!getenv("MAPPER_TIMES")) assert_int_equal(r.outcome, CALM_OPTIMAL);
  assert_true(r.cost.verdict.fault == COST_VALID);
  check_samples(b, &p, &r);
}

static void check_layer(bench *b, const accel_layer *layer,
                        const uint32_t *keeps) {
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++)
    check_objective(b, layer, keeps, o);
}

static void test_convolutions(void **state) {
  bench *b = *state;
  CASES_OR_SKIP();
  open_simba(b);
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    accel_layer layer;
    check_ok(b,
             accel_layer_convolution(&layer, layers[i].name, &layers[i].shape,
                                     &b->arena),
             layers[i].name);
    check_layer(b, &layer, convolution_keeps);
  }
}

static void test_products(void **state) {
  bench *b = *state;
  accel_layer layer;
  CASES_OR_SKIP();
  open_simba(b);
  check_ok(
      b, accel_layer_gemm(&layer, "1 x 1000 x 2048", 1, 1000, 2048, &b->arena),
      "product");
  check_layer(b, &layer, product_keeps);
  check_ok(b, accel_layer_gemm(&layer, "prime", 31, 37, 41, &b->arena),
           "product");
  check_layer(b, &layer, product_keeps);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_convolutions, open_bench,
                                      close_bench),
      cmocka_unit_test_setup_teardown(test_products, open_bench, close_bench)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
