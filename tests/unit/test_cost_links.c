/*
 * Words per link: by hand, and against trees that are walked link by link on
 * random small nests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/cost_links.h"
#include "cost/cost_scratch.h"
#include "cost_row.h"
#include "cost_check.h"
#include "cost_fixture.h"
#include "cost_links_brute.h"
#include "cost_random.h"
#include "scarce.h"

/* ---- One nest ------------------------------------------------------------ */

typedef struct subject {
  cost_problem problem;
  cost_result result;
  uint64_t words[8]; /* per level */
} subject;

static void count(subject *s, const cost_pieces *c, cost_options options,
                  arena *a) {
  assert_int_equal(
      cost_problem_init(&s->problem, &c->arch, &c->layer, &options, a),
      CALM_OK);
  assert_int_equal(cost_result_init(&s->result, &s->problem, a), CALM_OK);
  assert_int_equal(cost_evaluate(&s->result, &s->problem, &c->nest), CALM_OK);
  assert_int_equal(s->result.verdict.fault, COST_VALID);
  assert_int_equal(
      cost_links_count(s->words, &s->problem, &c->nest, &s->result), CALM_OK);
}

/* ---- By hand ------------------------------------------------------------- */

typedef struct known {
  const char *loops;
  uint64_t words; /* over the most loaded link below the GB */
} known;

/*
 * The mesh has 4 x 4 places, two rows above the middle and two below.  Weights
 * are C x K x R, Inputs C x (P + R), Outputs K x P.
 */
static const known knowns[] = {
    /* No mesh. */
    {"PE R3 | GB P8 | DRAM", 0},
    /* Of 4 columns 3 are behind the first link along: 3 * 8 words of Weights a
       sum, and all 8 Inputs, down; 3 * 8 sums up. */
    {"PE | GB K4x C8 | DRAM", 3 * 8 + 8},
    /* The same in rows: 2 of the 4 are above the middle. */
    {"PE | GB K4y C8 | DRAM", 2 * 8 + 8},
    /* One sum for all columns, each with Weights and Inputs of its own. */
    {"PE | GB C4x K8 | DRAM", 3 * 8 + 3},
    /* Down: Weights of 3 columns, and the Inputs of all 4 rows. */
    {"PE | GB K4x P4y C5 | DRAM", (3 + 4) * 5},
    /* P and R in one rank: columns 1 to 3 want Inputs 1 to 5 of 6. */
    {"PE | GB P4x R3y | DRAM", 5 + 3},
    /* Weights of one column more, Inputs of both rows; so it is up the first
       column, as both rows lie above the middle. */
    {"PE | GB K2x P2y | DRAM", 3},
};

static void test_known(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof knowns / sizeof *knowns; i++) {
    row r;
    subject s;
    row_make(&r, &(row_layer){1, 1}, knowns[i].loops, &f->arena);
    count(&s, &r, (cost_options){.model = COST_EXACT}, &f->arena);
    if (s.words[ROW_GB] != knowns[i].words)
      print_error("%s: %u\n", knowns[i].loops, (unsigned)s.words[ROW_GB]);
    assert_int_equal(s.words[ROW_GB], knowns[i].words);
    assert_int_equal(s.words[ROW_DRAM], 0);
  }
}

/* ---- Cycles -------------------------------------------------------------- */

static void test_cycles(void **state) {
  (void)state;
  assert_int_equal(cost_links_cycles(0, 1), 0);
  assert_int_equal(cost_links_cycles(7, 1), 7);
  assert_int_equal(cost_links_cycles(7, 2), 4);
  assert_int_equal(cost_links_cycles(7, 0.5), 14);
  assert_int_equal(cost_links_cycles(7, 1e-300), ACCEL_MAX_COUNT);
}

/* A link that carries more never takes longer; what takes longest is bounded by
   the most words, and by the level that it names. */
static void check_bounds(const subject *s) {
  static const double rates[] = {0.25, 0.5, 1, 1.5, 2, 8, 1e9};
  const uint32_t levels = s->result.level_count;
  uint64_t before = UINT64_MAX, most = 0;
  for (uint32_t l = 0; l < levels; l++)
    if (s->words[l] > most) most = s->words[l];
  for (uint32_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    double same[8];
    for (uint32_t l = 0; l < levels; l++) same[l] = rates[i];
    const cost_links links = cost_links_bound(s->words, same, levels);
    assert_true(links.cycles <= before);
    assert_int_equal(links.cycles, cost_links_cycles(most, rates[i]));
    if (links.level != CALM_NONE)
      assert_int_equal(links.words, s->words[links.level]);
    before = links.cycles;
  }
}

/* Without a rate a level carries any number of words. */
static void test_rates(void **state) {
  (void)state;
  const uint64_t words[] = {40, 100, 7};
  const double rates[] = {1, 0, 0.125}, none[] = {0, 0, 0};
  const cost_links links = cost_links_bound(words, rates, 3);
  assert_int_equal(links.level, 2);
  assert_int_equal(links.words, 7);
  assert_int_equal(links.cycles, 56);
  assert_int_equal(cost_links_bound(words, none, 3).level, CALM_NONE);
}

/* ---- Random nests -------------------------------------------------------- */

/* Trees are as long as the hops of the cost model, where both put a place at
   the same column and row, and no level is passed by. */
static void check_hops(const subject *s, const cost_pieces *c, uint32_t level,
                       arena *a) {
  const cost_spread *spread = &s->problem.scratch->frame.spreads[level];
  const accel_fanout built = accel_arch_fanout(&c->arch, level);
  const uint32_t tensors = s->result.tensor_count;
  if (spread->x < (double)built.x && spread->y > 1) return;
  for (uint32_t t = 0; t < tensors; t++) {
    const cost_flow *flow = &s->result.flows[level * tensors + t];
    double hops = 0;
    for (uint32_t i = 0; i < flow->group_count; i++)
      hops += flow->groups[i].hops;
    if (flow->fanout == 0) continue;
    const double walked = cost_links_brute_hops(c, t, level, a);
    assert_true(fabs(hops - walked) <= 1e-9 * hops);
  }
}

/* How many of its meshes carry something over links. */
static uint32_t check_nest(const cost_pieces *c, cost_fanout_rule rule,
                           uint64_t seed, arena *a) {
  subject s;
  cost_result counted;
  uint32_t meshes = 0;
  count(&s, c, (cost_options){COST_EXACT, rule, true}, a);
  cost_referee(&counted, c, rule, a);
  for (uint32_t level = 0; level < c->arch.level_count; level++) {
    const double walked = cost_links_brute(c, &counted, level, a);
    if (fabs((double)s.words[level] - walked) > 0.5 + 1e-6) {
      print_error("seed %llu, level %u: %llu, walked %g\n",
                  (unsigned long long)seed, (unsigned)level,
                  (unsigned long long)s.words[level], walked);
      cost_random_print(c);
      fail();
    }
    check_hops(&s, c, level, a);
    meshes += s.words[level] > 0;
  }
  check_bounds(&s);
  return meshes;
}

static void test_random_nests(void **state) {
  const cost_random_options options = {
      .most_macs = 600, .most_words = 1000, .valid = true};
  fixture *f = *state;
  uint32_t meshes = 0;
  for (uint64_t seed = 0; seed < COST_CASES / 2; seed++) {
    random_state r = random_from_seed(seed);
    cost_random_case c;
    cost_random_make(&c, &r, &options, &f->arena);
    meshes += check_nest(&c, COST_FANOUT_LEVEL, seed, &f->arena);
    arena_free(&f->arena);
  }
  assert_true(meshes > COST_CASES / 4);
}

/* ---- Nothing to go by ---------------------------------------------------- */

/* An imperfect nest is not bounded, and neighbours that hand words on spare the
   links of the parent. */
static void test_not_counted(void **state) {
  fixture *f = *state;
  row r;
  subject s;
  row_make(&r, &(row_layer){1, 1}, "PE | GB P3/2x K4 | DRAM P2", &f->arena);
  count(&s, &r, (cost_options){.model = COST_EXACT}, &f->arena);
  assert_int_equal(s.words[ROW_GB], 0);
  row_make(&r, &(row_layer){1, 1}, "PE | GB P4x R3 | DRAM", &f->arena);
  count(&s, &r, (cost_options){.model = COST_EXACT}, &f->arena);
  assert_int_equal(s.words[ROW_GB], 3 * 3 + 3);
  count(&s, &r, (cost_options){.model = COST_TIMELOOP}, &f->arena);
  assert_int_equal(s.words[ROW_GB], 3);
}

/* With every allocation in turn failing: P and R are one window over the mesh,
   whose places are compared. */
static void test_no_memory(void **state) {
  fixture *f = *state;
  uint64_t left = SCARCE_NEVER;
  const calm_allocator scarce = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&scarce);
  arena a;
  row r;
  subject s;
  arena_init(&a, context);
  row_make(&r, &(row_layer){1, 1}, "PE | GB P4x R3y | DRAM", &f->arena);
  count(&s, &r, (cost_options){.model = COST_EXACT}, &a);
  const uint64_t bytes = calm_context_bytes(context);
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    left = granted;
    status = cost_links_count(s.words, &s.problem, &r.nest, &s.result);
    if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
    assert_int_equal(calm_context_bytes(context), bytes);
  }
  assert_int_equal(s.words[ROW_GB], 5 + 3);
  left = SCARCE_NEVER;
  arena_free(&a);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_known),       COST_TEST(test_cycles),
      COST_TEST(test_rates),       COST_TEST(test_random_nests),
      COST_TEST(test_not_counted), COST_TEST(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
