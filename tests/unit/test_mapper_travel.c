/*
 * Networks and leakage in the exact mapper, against brute force over all nests,
 * orders of spatial loops among them: meshes of columns and rows, hops, routers
 * and ingress below every level, levels that cannot add, tensors that pass
 * levels by.  Every objective is to be proved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost_fixture.h"
#include "cost_random.h"
#include "mapper/mapper_bound.h"
#include "mapper/mapper_routes.h"
#include "mapper_brute.h"

enum { MOST_NESTS = 20000, LEVELS = 4 };

/* ---- Machines ------------------------------------------------------------ */

static accel_convolution draw_layer(random_state *r) {
  static const uint64_t filters[] = {1, 2, 2, 3}, widths[] = {2, 4, 4, 6};
  accel_convolution k = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  k.r = filters[random_below(r, 4)];
  k.p = widths[random_below(r, 4)];
  k.k = 1 + random_below(r, 3);
  if (random_below(r, 2)) k.c = 2;
  if (random_below(r, 4) == 0) k.q = 2, k.s = 1 + random_below(r, 2);
  k.dilation_w = 1 + random_below(r, 2);
  k.stride_w = 1 + random_below(r, 2);
  return k;
}

static double price(random_state *r, uint32_t most) {
  return (double)(1 + random_below(r, 4 * most)) / 4;
}

static void draw_network(accel_level *l, random_state *r) {
  l->network.word_bits = 8;
  l->network.hop_given = true;
  if (random_below(r, 4)) l->network.hop_pj = price(r, 8);
  if (random_below(r, 2)) l->network.router_pj = price(r, 8);
  if (random_below(r, 3) == 0) l->network.ingress_pj = price(r, 4);
  if (random_below(r, 8) == 0) l->network.fill_cycles = random_below(r, 9);
  l->reduction_supported = random_below(r, 3) > 0;
}

static void draw_level(accel_level *l, random_state *r, uint32_t i,
                       bool outermost) {
  *l = (accel_level){.name = "L", .class_name = "", .word_bits = 8};
  l->capacity_words = outermost || random_below(r, 4) == 0
                          ? ACCEL_UNLIMITED
                          : 1 + random_below(r, UINT32_C(14) << i);
  l->entries = l->capacity_words;
  l->multiple_buffering = l->cluster = 1;
  l->block_words = random_below(r, 3) ? 1 : 4;
  const double each = 1 + (double)random_below(r, 8) * (1 + 2 * i);
  l->energy =
      (accel_energy){each, each * 0.75, each * 1.25, 0, -1, true, 0, 0, {0}};
  if (random_below(r, 4) == 0) l->energy.leak_pj = price(r, 2);
  if (random_below(r, 4) == 0) l->read_bandwidth = 1 + random_below(r, 4);
  if (random_below(r, 4) == 0) l->write_bandwidth = 1 + random_below(r, 4);
  draw_network(l, r);
}

static void draw_machine(cost_random_case *c, random_state *r, arena *a) {
  const accel_convolution k = draw_layer(r);
  const uint32_t levels = 2 + random_below(r, LEVELS - 1);
  uint32_t x = 1, y = 1;
  memset(c, 0, sizeof *c);
  assert_int_equal(accel_layer_convolution(&c->layer, "travel", &k, a),
                   CALM_OK);
  accel_level *l = arena_calloc(a, levels, sizeof *l);
  c->nest.kept = arena_calloc(a, levels, sizeof *c->nest.kept);
  c->nest.level_count = levels;
  c->arch = (accel_arch){.name = "travel", .levels = l, .level_count = levels};
  for (uint32_t i = levels; i-- > 0;) {
    draw_level(&l[i], r, i, i + 1 == levels);
    l[i].instances = (uint64_t)x * y;
    l[i].mesh_x = x, l[i].mesh_y = y;
    c->nest.kept[i] = i + 1 == levels ? 7 : random_below(r, 8);
    if (random_below(r, 3)) x *= 1 + random_below(r, 4);
    if (random_below(r, 3) == 0) y *= 1 + random_below(r, 4);
  }
  c->arch.compute = (accel_compute){.name = "MAC",
                                    .word_bits = 8,
                                    .instances = (uint64_t)x * y,
                                    .mesh_x = x,
                                    .mesh_y = y,
                                    .energy_pj = 1,
                                    .energy_known = true};
}

/* ---- Comparison ---------------------------------------------------------- */

typedef struct tally {
  uint32_t tried, proved, infeasible, wrong;
} tally;

static bool agrees(const mapper_result *r, const mapper_brute *b,
                   mapper_objective o) {
  const double best = mapper_brute_best(b, o);
  if (!b->valid) return r->outcome == CALM_INFEASIBLE;
  return r->outcome == CALM_OPTIMAL && fabs(r->value - best) <= 1e-9 * best;
}

static void complain(const cost_random_case *c, const mapper_result *r,
                     const mapper_brute *b, mapper_objective o) {
  cost_random_print(c);
  for (uint32_t i = 0; i < c->arch.level_count; i++) {
    const accel_level *l = &c->arch.levels[i];
    print_message(
        "L%u hop %g router %g ingress %g leak %g energy %g "
        "bandwidth %g %g kept %u adds %d\n",
        i, l->network.hop_pj, l->network.router_pj, l->network.ingress_pj,
        l->energy.leak_pj, l->energy.read_pj, l->read_bandwidth,
        l->write_bandwidth, c->nest.kept[i], l->reduction_supported);
  }
  print_message(
      "objective %d: %s %.17g bound %.17g, brute force %.17g of "
      "%" PRIu64 " nests\n",
      o, calm_outcome_name(r->outcome), r->value, r->bound,
      mapper_brute_best(b, o), b->valid);
}

static void compare(fixture *f, const cost_random_case *c,
                    const mapper_rules *rules, tally *t) {
  mapper_problem p = {.arch = &c->arch,
                      .layer = &c->layer,
                      .must_keep = c->nest.kept,
                      .may_keep = c->nest.kept};
  mapper_brute b;
  assert_int_equal(mapper_brute_search(&b, &p, MOST_NESTS, &f->arena), CALM_OK);
  if (!b.complete) return;
  t->tried++;
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++) {
    mapper_result r;
    limits l;
    limits_init(&l, f->context);
    p.objective = o;
    assert_int_equal(mapper_exact(&r, &p, rules, &l, &f->arena), CALM_OK);
    t->proved += r.outcome == CALM_OPTIMAL;
    t->infeasible += r.outcome == CALM_INFEASIBLE;
    if (!agrees(&r, &b, o) && t->wrong++ < 3) complain(c, &r, &b, o);
  }
}

static void test_networks(void **state) {
  fixture *f = *state;
  const mapper_rules rules[] = {
      {0}, {.no_bound = true}, {.no_dominance = true}};
  random_state r = random_from_seed(1611);
  const char *env = getenv("MAPPER_CASES");
  const uint32_t cases = env ? (uint32_t)atoi(env) : COST_CASES / 20;
  tally t = {0};
  for (uint32_t i = 0; i < cases; i++) {
    cost_random_case c;
    draw_machine(&c, &r, &f->arena);
    compare(f, &c, &rules[i % 3], &t);
    arena_free(&f->arena);
  }
  print_message("%u machines; proved %u, infeasible %u, wrong %u\n", t.tried,
                t.proved, t.infeasible, t.wrong);
  assert_int_equal(t.wrong, 0);
}

/* ---- One nest ------------------------------------------------------------ */

/* Factors of each bound, at random, over columns, rows and time of all levels;
   loops in a random order of the dimensions, another one for each place. */
static void draw_nest(accel_nest *n, const cost_random_case *c,
                      random_state *r) {
  enum { PLACES = 3 * LEVELS };
  static const accel_loop_kind kinds[] = {ACCEL_SPATIAL_X, ACCEL_SPATIAL_Y,
                                          ACCEL_TEMPORAL};
  uint64_t factors[ACCEL_MAX_DIMENSIONS][PLACES];
  const uint32_t places = 3 * c->arch.level_count;
  const uint32_t dims = c->layer.dimension_count;
  for (uint32_t d = 0; d < dims; d++) {
    uint64_t rest = c->layer.dimensions[d].bound;
    for (uint32_t i = 0; i < places; i++) factors[d][i] = 1;
    for (uint64_t k = 2; rest > 1;)
      if (rest % k) {
        k++;
      } else {
        const uint32_t at = random_below(r, places);
        if (at % 3 < 2 && factors[d][at / 3 * 3 + 1 - at % 3] > 1) continue;
        factors[d][at] *= k, rest /= k;
      }
  }
  n->loop_count = 0;
  for (uint32_t i = 0; i < places; i++) {
    const uint32_t first = random_below(r, dims);
    for (uint32_t k = 0; k < dims; k++) {
      const uint32_t d = (first + k * (dims - 1)) % dims;
      if (factors[d][i] > 1)
        n->loops[n->loop_count++] =
            (accel_loop){factors[d][i], factors[d][i], d, i / 3, kinds[i % 3]};
    }
  }
}

static uint32_t axis_of(const mapper_space *s, uint32_t dimension) {
  for (uint32_t a = 0; a < s->axis_count; a++)
    if (s->axes[a].dimension == dimension) return a;
  return CALM_NONE;
}

static uint32_t digit_of(const mapper_axis *a, uint64_t factor) {
  uint32_t digit = 0;
  while (a->divisors[digit] != (double)factor) digit++;
  return digit;
}

/* The arrangement of these loops, if it is among those that are kept. */
static const mapper_arrangement *find_order(const mapper_routes *routes,
                                            const uint8_t *axes) {
  for (uint32_t i = 0; i < routes->count; i++)
    if (!memcmp(routes->arrangements[i].axes, axes,
                routes->arrangements[i].count))
      return &routes->arrangements[i];
  return NULL;
}

/* The spatial loops from `at`; false if their order is not kept. */
static bool spread_label(mapper_label *l, const mapper_space *s,
                         const accel_nest *n, uint32_t level, uint32_t *at) {
  uint32_t digits[MAPPER_MOST_AXES] = {0};
  uint8_t axes[MAPPER_MOST_AXES] = {0}, count = 0;
  for (; *at < n->loop_count && n->loops[*at].level == level &&
         n->loops[*at].kind != ACCEL_TEMPORAL;
       ++*at) {
    const uint32_t a = axis_of(s, n->loops[*at].dimension);
    digits[a] = digit_of(&s->axes[a], n->loops[*at].bound);
    axes[count++] = (uint8_t)a;
  }
  const mapper_fan *fan = &s->fans[level];
  uint32_t i = 0;
  while (i < fan->spread_count &&
         memcmp(fan->spreads[i].digits, digits, s->axis_count * sizeof *digits))
    i++;
  if (i == fan->spread_count) return false;
  mapper_spread spread = fan->spreads[i];
  if (fan->routed && spread.axes) {
    const mapper_routes *routes;
    assert_int_equal(mapper_routes_find(&routes, s, level, i), CALM_OK);
    spread.arranged = find_order(routes, axes);
    if (!spread.arranged) return false;
  }
  mapper_label_spread(l, s, level, &spread,
                      mapper_space_spread(s, l->node, &spread));
  return true;
}

static void step_label(mapper_label *l, const mapper_space *s,
                       const accel_nest *n, uint32_t level, uint32_t *at) {
  for (; *at < n->loop_count && n->loops[*at].level == level; ++*at) {
    const uint32_t a = axis_of(s, n->loops[*at].dimension);
    mapper_label_step(l, s, a, digit_of(&s->axes[a], n->loops[*at].bound),
                      false);
  }
}

/* How much more a nest may cost than its label says. */
static double slack_of(const mapper_space *s, const mapper_label *l) {
  double slack = l->loose + 2 * s->most_leaking;
  for (uint32_t j = 0; j < s->account_count; j++)
    if (s->accounts[j].energy)
      slack += s->accounts[j].slack[s->level_count - 1];
  return slack;
}

/* All bounds on the way are no more than what the nest costs, and the last one
   is that but for what is rounded. */
static bool walk_nest(const mapper_space *s, const accel_nest *n,
                      const cost_result *r, mapper_label *l) {
  const double most = r->energy_pj * (1 + 1e-9);
  const double least = r->energy_pj * (1 - 1e-9);
  double bound = 0;
  uint32_t at = 0;
  mapper_label_begin(l, s);
  for (uint32_t level = 0; level < s->level_count; level++) {
    if (!spread_label(l, s, n, level, &at)) return true;
    bound = fmax(bound, mapper_bound_label(s, l, level).energy_pj);
    step_label(l, s, n, level, &at);
    bound = fmax(bound, mapper_bound_label(s, l, level).energy_pj);
    mapper_label_level(l, s, level);
  }
  mapper_label_finish(l, s);
  const double last = mapper_bound_label(s, l, s->level_count - 1).energy_pj;
  if (last <= most && bound <= most && last + slack_of(s, l) >= least)
    return true;
  print_message("%.17g then %.17g for %.17g, loose %g\n", bound, last,
                r->energy_pj, l->loose);
  return false;
}

static void check_nests(fixture *f, const cost_random_case *c, random_state *r,
                        uint32_t *checked, uint32_t *wrong) {
  const mapper_problem p = {.arch = &c->arch,
                            .layer = &c->layer,
                            .must_keep = c->nest.kept,
                            .may_keep = c->nest.kept};
  const cost_options options = {.model = COST_EXACT};
  accel_loop loops[64];
  accel_nest n = {
      .loops = loops, .kept = c->nest.kept, .level_count = c->arch.level_count};
  cost_problem cost;
  cost_result result;
  mapper_space s;
  limits unlimited;
  assert_int_equal(
      cost_problem_init(&cost, &c->arch, &c->layer, &options, &f->arena),
      CALM_OK);
  assert_int_equal(cost_result_init(&result, &cost, &f->arena), CALM_OK);
  limits_init(&unlimited, f->context);
  assert_int_equal(mapper_space_init(&s, &p, true, true, &unlimited, &f->arena),
                   CALM_OK);
  mapper_label *l = arena_calloc(&f->arena, 1, mapper_label_bytes(&s));
  for (uint32_t i = 0; i < 40; i++) {
    draw_nest(&n, c, r);
    assert_int_equal(cost_evaluate(&result, &cost, &n), CALM_OK);
    if (result.verdict.fault != COST_VALID) continue;
    ++*checked;
    if (!walk_nest(&s, &n, &result, l) && ++*wrong < 3) {
      cost_random_case with = *c;
      with.nest = n;
      cost_random_print(&with);
    }
  }
}

static void test_labels(void **state) {
  fixture *f = *state;
  random_state r = random_from_seed(1611);
  const char *env = getenv("MAPPER_CASES");
  const uint32_t cases = env ? (uint32_t)atoi(env) : COST_CASES / 20;
  uint32_t checked = 0, wrong = 0;
  for (uint32_t i = 0; i < cases; i++) {
    cost_random_case c;
    draw_machine(&c, &r, &f->arena);
    check_nests(f, &c, &r, &checked, &wrong);
    arena_free(&f->arena);
  }
  print_message("%u nests, wrong %u\n", checked, wrong);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {COST_TEST(test_labels),
                                     COST_TEST(test_networks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
