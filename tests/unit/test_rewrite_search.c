/* The search among sets of sites against all sets, on random networks and for
   each way in which partial sums execute. */
#include "rewrite_random.h"

#include "memory/memory.h"
#include "rewrite/rewrite_search_sets.h"

enum { NETS = 240, MOST_SITES = 5 };

/* A judge that plans for the plain memory model, and asks for all it can. */
typedef struct plain {
  calm_context *context;
  const rewrite_sites *sites;
  uint32_t asked;
} plain;

static uint64_t solve(const graph *g, uint64_t ceiling, rewrite_peak *out,
                      arena *a) {
  memory_problem problem;
  order_result result;
  limits l;
  order_options o = order_options_default();
  o.ceiling_bytes = ceiling;
  limits_init(&l, a->context);
  assert_int_equal(
      memory_problem_build(&problem, g, memory_model_find("plain"), NULL, a),
      CALM_OK);
  assert_int_equal(order_solve(&result, &problem.order, &o, a, &l), CALM_OK);
  *out = (rewrite_peak){result.peak_bytes, result.bound_bytes};
  return result.peak_bytes;
}

static calm_status judge_peak(rewrite_peak *out, void *payload,
                              const bool *taken, uint64_t ceiling) {
  plain *p = payload;
  graph_edit edit;
  arena a;
  arena_init(&a, p->context);
  assert_int_equal(rewrite_apply(&edit, p->sites, taken, &a), CALM_OK);
  solve(&edit.after, ceiling, out, &a);
  graph_edit_free(&edit);
  arena_free(&a);
  p->asked++;
  return CALM_OK;
}

static uint64_t exact_peak(plain *p, const bool *taken) {
  rewrite_peak peak;
  judge_peak(&peak, p, taken, UINT64_MAX);
  assert_int_equal(peak.peak_bytes, peak.bound_bytes);
  return peak.peak_bytes;
}

static calm_status judge_score(rewrite_score *out, void *payload,
                               const bool *taken) {
  plain *p = payload;
  *out = (rewrite_score){.peak_bytes = exact_peak(p, taken)};
  out->arena_bytes = out->peak_bytes;
  for (uint32_t i = 0; i < p->sites->count; i++) out->op_count += taken[i];
  return CALM_OK;
}

/* ---- Nets ---------------------------------------------------------------- */

typedef struct instance {
  fixture f;
  graph g;
  rewrite_sites sites;
  uint32_t free[MOST_SITES], free_count; /* sites to choose among */
  bool *taken;
  plain judge;
} instance;

static bool list_free(instance *i) {
  for (uint32_t s = 0; s < i->sites.count; s++) {
    if (i->sites.sites[s].refusal || i->sites.sites[s].harmless) continue;
    if (i->free_count == MOST_SITES) return false;
    i->free[i->free_count++] = s;
  }
  return i->free_count > 0;
}

/* False: too many sites, or none. */
static bool open_net(instance *i, uint64_t seed, rewrite_partials partials) {
  random_state r = random_from_seed(seed);
  rewrite_options options = {
      .partials = partials, .abstract = true, .accumulator_factor = 1};
  *i = (instance){0};
  options.rules[REWRITE_channels] = options.rules[REWRITE_kernels] = true;
  fixture_open(&i->f, NULL);
  calm_context_set_log(i->f.context, NULL, NULL); /* progress */
  random_net(&i->g, &i->f.arena, &r,
             (net_options){.abstract = seed % 2, .ops = NET_OPS});
  assert_int_equal(rewrite_find_sites(&i->sites, &i->g, &options, &i->f.arena),
                   CALM_OK);
  i->taken = arena_calloc(&i->f.arena, i->sites.count, sizeof *i->taken);
  assert_non_null(i->taken);
  for (uint32_t s = 0; s < i->sites.count; s++)
    i->taken[s] = !i->sites.sites[s].refusal && i->sites.sites[s].harmless;
  i->judge = (plain){.context = i->f.context, .sites = &i->sites};
  return list_free(i);
}

static void close_net(instance *i) {
  graph_free(&i->g);
  fixture_close(&i->f);
}

static void take(instance *i, uint32_t number) {
  for (uint32_t k = 0; k < i->free_count; k++)
    i->taken[i->free[k]] = number >> k & 1;
}

static uint64_t least_of_all(instance *i) {
  uint64_t least = UINT64_MAX;
  for (uint32_t number = 0; number < UINT32_C(1) << i->free_count; number++) {
    take(i, number);
    const uint64_t peak = exact_peak(&i->judge, i->taken);
    if (peak < least) least = peak;
  }
  return least;
}

/* ---- Tests --------------------------------------------------------------- */

/* What comes out is the least of all, and said to be proved. */
static void check_search(instance *i, uint64_t least) {
  rewrite_choice choice;
  limits l;
  const rewrite_judge judge = {
      .payload = &i->judge, .peak = judge_peak, .score = judge_score};
  limits_init(&l, i->f.context);
  assert_int_equal(rewrite_search(&choice, &i->sites, &judge, &l, &i->f.arena),
                   CALM_OK);
  assert_true(choice.proved);
  assert_non_null(choice.proof);
  assert_int_equal(choice.score.peak_bytes, least);
  assert_int_equal(exact_peak(&i->judge, choice.taken), least);
  take(i, 0);
  assert_true(choice.score.peak_bytes <= exact_peak(&i->judge, i->taken));
}

/* Walks alone, without a look at all sets. */
static bool walks_find(instance *i, uint64_t least) {
  rewrite_searcher s;
  uint64_t *set;
  limits l;
  const rewrite_judge judge = {
      .payload = &i->judge, .peak = judge_peak, .score = judge_score};
  limits_init(&l, i->f.context);
  assert_int_equal(search_init(&s, &i->sites, &judge, &l, &i->f.arena),
                   CALM_OK);
  assert_int_equal(search_list_moves(&s), CALM_OK);
  assert_int_equal(search_empty_set(&set, &s), CALM_OK);
  assert_int_equal(search_walk(&s, set, true), CALM_OK);
  for (uint32_t k = 0; k < i->free_count; k++) bits_add(set, i->free[k]);
  assert_int_equal(search_walk(&s, set, true), CALM_OK);
  const bool found = s.sets.data[s.best].peak.peak_bytes == least;
  search_free(&s);
  return found;
}

static void search_nets(rewrite_partials partials) {
  uint32_t searched = 0, walked = 0;
  for (uint64_t seed = 1; seed <= NETS; seed++) {
    instance i;
    if (open_net(&i, seed, partials)) {
      const uint64_t least = least_of_all(&i);
      check_search(&i, least);
      walked += walks_find(&i, least);
      searched++;
    }
    close_net(&i);
  }
  print_message("  %u nets; walks alone find the least peak of %u\n", searched,
                walked);
  assert_true(searched > NETS / 3);
  assert_true(walked * 100 >= searched * 99);
}

static void test_accumulate(void **state) {
  (void)state;
  search_nets(PARTIALS_ACCUMULATE);
}

static void test_add_inplace(void **state) {
  (void)state;
  search_nets(PARTIALS_ADD_INPLACE);
}

static void test_add_copy(void **state) {
  (void)state;
  search_nets(PARTIALS_ADD_COPY);
}

/* With kernels that accumulate nothing beats all closed groups. */
static void test_closed_groups(void **state) {
  (void)state;
  uint32_t closed = 0;
  for (uint64_t seed = 1; seed <= NETS; seed++) {
    instance i;
    bool all = open_net(&i, seed, PARTIALS_ACCUMULATE);
    for (uint32_t k = 0; k < i.free_count; k++) {
      const uint32_t group = i.sites.sites[i.free[k]].group;
      all = all && group != CALM_NONE && i.sites.closed[group];
    }
    if (all) {
      const uint64_t least = least_of_all(&i);
      take(&i, UINT32_MAX);
      assert_int_equal(exact_peak(&i.judge, i.taken), least);
      closed++;
    }
    close_net(&i);
  }
  print_message("  %u nets with closed groups only\n", closed);
  assert_true(closed > NETS / 40);
}

/* Without any effort there is still an answer, no worse than none. */
static void test_no_effort(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= NETS / 10; seed++) {
    instance i;
    if (open_net(&i, seed, PARTIALS_ADD_COPY)) {
      rewrite_choice choice;
      limits l;
      const rewrite_judge judge = {
          .payload = &i.judge, .peak = judge_peak, .score = judge_score};
      limits_init(&l, i.f.context);
      l.max_ticks = 0;
      assert_int_equal(
          rewrite_search(&choice, &i.sites, &judge, &l, &i.f.arena), CALM_OK);
      take(&i, 0);
      assert_true(choice.score.peak_bytes <= exact_peak(&i.judge, i.taken));
    }
    close_net(&i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accumulate), cmocka_unit_test(test_add_inplace),
      cmocka_unit_test(test_add_copy),   cmocka_unit_test(test_closed_groups),
      cmocka_unit_test(test_no_effort),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
