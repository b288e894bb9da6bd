/*
 * Random sets of rules on a machine so small that all of its mappings can be
 * tried, imperfect ones included: rules that some valid mapping observes are
 * never called contradictory.
 */
#include "nest_fixture.h"

#include "base/random.h"

enum { INNER, OUTER, TINY_LEVELS };
enum { MESH_X = 2, MESH_Y = 3, BLOCKS = 3, OBSERVED_TENSOR = 2 };

typedef struct tiny {
  calm_context *context;
  arena arena;
  accel_level levels[TINY_LEVELS];
  accel_arch arch;
  accel_layer layer;
  random_state random;
  int contradictions, not_found_out, observed;
} tiny;

static void open_tiny(tiny *t) {
  t->context = calm_context_new(NULL);
  arena_init(&t->arena, t->context);
  t->levels[INNER] = nest_level("Inner", MESH_X, MESH_Y, 100);
  t->levels[OUTER] = nest_level("Outer", 1, 1, ACCEL_UNLIMITED);
  t->arch = (accel_arch){.name = "tiny",
                         .compute = {.name = "MAC",
                                     .instances = (uint64_t)MESH_X * MESH_Y,
                                     .mesh_x = MESH_X,
                                     .mesh_y = MESH_Y},
                         .levels = t->levels,
                         .level_count = TINY_LEVELS};
  assert_int_equal(accel_layer_gemm(&t->layer, "tiny", 4, 6, 1, &t->arena),
                   CALM_OK);
}

/* ---- All mappings -------------------------------------------------------- */

/* One way to divide the loops of M and N: blocks are temporal inside, spatial,
   temporal outside; bit b of `swapped` puts N inside of M in block b. */
typedef struct division {
  uint64_t factor[2][BLOCKS], residual[2][BLOCKS];
  uint32_t swapped, split, kept;
} division;

static void add_loop(accel_nest *nest, const division *d, uint32_t block,
                     uint32_t dimension, uint32_t place) {
  const uint64_t factor = d->factor[dimension][block];
  if (factor == 1) return;
  accel_loop *l = &nest->loops[nest->loop_count++];
  l->bound = factor;
  l->residual = d->residual[dimension][block];
  l->dimension = dimension;
  l->level = block == 0 ? INNER : OUTER;
  l->kind = block != 1         ? ACCEL_TEMPORAL
            : place < d->split ? ACCEL_SPATIAL_X
                               : ACCEL_SPATIAL_Y;
}

static void make_nest(accel_nest *nest, const division *d) {
  nest->loop_count = 0;
  for (uint32_t block = 0; block < BLOCKS; block++)
    for (uint32_t place = 0; place < 2; place++)
      add_loop(nest, d, block, place ^ (d->swapped >> block & 1), place);
  for (uint32_t level = 0; level < TINY_LEVELS; level++)
    nest->kept[level] = 3 | (d->kept >> level & 1) << OBSERVED_TENSOR;
}

static bool fits_mesh(const accel_nest *nest) {
  uint64_t x = 1, y = 1;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    if (nest->loops[i].kind == ACCEL_SPATIAL_X) x *= nest->loops[i].bound;
    if (nest->loops[i].kind == ACCEL_SPATIAL_Y) y *= nest->loops[i].bound;
  }
  return x <= MESH_X && y <= MESH_Y;
}

static bool observes(tiny *t, const accel_constraints *rules,
                     const division *d) {
  accel_loop loops[2 * BLOCKS];
  uint32_t kept[TINY_LEVELS];
  accel_nest nest = {loops, 0, kept, TINY_LEVELS, NULL};
  char *line;
  make_nest(&nest, d);
  if (!fits_mesh(&nest)) return false;
  assert_int_equal(accel_constraints_check(&line, rules, &nest, &t->arch,
                                           &t->layer, t->context),
                   CALM_OK);
  const bool good = line == NULL;
  calm_text_free(t->context, line);
  return good;
}

static bool any_order_observes(tiny *t, const accel_constraints *rules,
                               division *d) {
  for (d->swapped = 0; d->swapped < 1 << BLOCKS; d->swapped++)
    for (d->split = 0; d->split <= 2; d->split++)
      for (d->kept = 1; d->kept < 1 << TINY_LEVELS; d->kept++)
        if (observes(t, rules, d)) return true;
  return false;
}

/* The next way in which three loops make up a bound: the two inner factors are
   any, what they leave is the outer one, and the last iteration of all, written
   in these as digits, tells where the last passes end.  False: there is none.
 */
static bool next_factors(division *d, uint32_t dimension, uint64_t bound) {
  uint64_t *f = d->factor[dimension], *residual = d->residual[dimension];
  if (++f[1] > bound) {
    f[0]++;
    f[1] = 1;
  }
  const uint64_t last = bound - 1;
  residual[0] = last % f[0] + 1;
  residual[1] = last / f[0] % f[1] + 1;
  residual[2] = f[2] = last / f[0] / f[1] + 1;
  return f[0] <= bound;
}

static void begin_factors(division *d, uint32_t dimension) {
  d->factor[dimension][0] = 1;
  d->factor[dimension][1] = 0;
}

static bool some_mapping_observes(tiny *t, const accel_constraints *rules) {
  division d = {0};
  begin_factors(&d, 0);
  while (next_factors(&d, 0, 4)) {
    begin_factors(&d, 1);
    while (next_factors(&d, 1, 6))
      if (any_order_observes(t, rules, &d)) return true;
  }
  return false;
}

/* ---- Random rules -------------------------------------------------------- */

static void random_loops_rule(tiny *t, char *out, size_t size, bool spatial) {
  static const char *const signs[] = {"=", "<=", ">="};
  static const char *const orders[] = {"M",   "N",   "MN", "NM",  "_M", "_N",
                                       "N_M", "M_N", "KM", "NKM", "_K"};
  random_state *r = &t->random;
  char more[64] = "";
  if (random_below(r, 3) == 0)
    snprintf(more, sizeof more, ", permutation: %s",
             orders[random_below(r, 11)]);
  if (spatial && random_below(r, 3) == 0)
    snprintf(more + strlen(more), sizeof more - strlen(more), ", split: %u",
             random_below(r, 4));
  snprintf(out, size, "- {target: %s, type: %s, factors: \"%c%s%u\"%s}\n",
           spatial || random_below(r, 2) ? "Outer" : "Inner",
           spatial ? "spatial" : "temporal", "MN"[random_below(r, 2)],
           signs[random_below(r, 3)], 1 + random_below(r, 3), more);
}

static void random_tensor_rule(tiny *t, char *out, size_t size) {
  random_state *r = &t->random;
  snprintf(out, size, "- {target: %s, type: dataspace, %s: [%s]}\n",
           random_below(r, 2) ? "Outer" : "Inner",
           random_below(r, 2) ? "keep" : "bypass",
           t->layer.tensors[OBSERVED_TENSOR].name);
}

static void random_rules(tiny *t, char *out, size_t size) {
  snprintf(out, size, "constraints:\n");
  for (uint32_t i = 2 + random_below(&t->random, 6); i-- > 0;) {
    const size_t used = strlen(out);
    const uint32_t kind = random_below(&t->random, 7);
    if (kind == 0)
      random_tensor_rule(t, out + used, size - used);
    else
      random_loops_rule(t, out + used, size - used, kind > 4);
  }
}

/* A contradiction is told from the rules themselves, before any are lost: so
   each directive alone is read, and all of them are checked. */
static bool all_observe(tiny *t, accel_constraints *each, uint32_t count) {
  accel_loop loops[2 * BLOCKS];
  uint32_t kept[TINY_LEVELS];
  accel_nest nest = {loops, 0, kept, TINY_LEVELS, NULL};
  division d = {0};
  begin_factors(&d, 0);
  while (next_factors(&d, 0, 4)) {
    begin_factors(&d, 1);
    while (next_factors(&d, 1, 6))
      for (d.swapped = 0; d.swapped < 1 << BLOCKS; d.swapped++)
        for (d.split = 0; d.split <= 2; d.split++)
          for (d.kept = 1; d.kept < 1 << TINY_LEVELS; d.kept++) {
            uint32_t i = 0;
            make_nest(&nest, &d);
            while (i < count && observes(t, &each[i], &d)) i++;
            if (i == count) return true;
          }
  }
  return false;
}

/* The same rules one at a time; false if one is impossible by itself. */
static bool read_each(tiny *t, accel_constraints *each, uint32_t *count,
                      char *text, arena *a) {
  *count = 0;
  for (char *line = strtok(strchr(text, '\n') + 1, "\n"); line;
       line = strtok(NULL, "\n")) {
    char one[256];
    accel_yaml *root;
    snprintf(one, sizeof one, "constraints:\n%s\n", line);
    assert_int_equal(accel_yaml_parse(&root, "r", one, strlen(one), a),
                     CALM_OK);
    if (accel_constraints_read(&each[(*count)++], root, &t->arch, &t->layer, a))
      return false;
  }
  return true;
}

/* Rules that were merged hold where each of them does. */
static void one_round(tiny *t) {
  char text[2048];
  accel_constraints rules, each[8];
  accel_yaml *root;
  uint32_t count;
  arena a;
  arena_init(&a, t->context);
  random_rules(t, text, sizeof text);
  assert_int_equal(accel_yaml_parse(&root, "r", text, strlen(text), &a),
                   CALM_OK);
  if (accel_constraints_read(&rules, root, &t->arch, &t->layer, &a)) {
    t->contradictions++;
  } else {
    const bool some = some_mapping_observes(t, &rules);
    assert_true(read_each(t, each, &count, text, &a));
    assert_int_equal(some, all_observe(t, each, count));
    *(some ? &t->observed : &t->not_found_out) += 1;
  }
  arena_free(&a);
}

/* Orders and splits contradict each other as they are written, although loops
   of one iteration could take the places in question. */
static bool is_about_places(const char *said) {
  return strstr(said, "contradicts split") || strstr(said, "this order");
}

static void contradictory_round(tiny *t) {
  char text[2048];
  accel_constraints rules, each[8];
  accel_yaml *root;
  uint32_t count;
  arena a;
  arena_init(&a, t->context);
  random_rules(t, text, sizeof text);
  assert_int_equal(accel_yaml_parse(&root, "r", text, strlen(text), &a),
                   CALM_OK);
  if (accel_constraints_read(&rules, root, &t->arch, &t->layer, &a)) {
    char said[512], copy[2048];
    snprintf(said, sizeof said, "%s", calm_context_message(t->context));
    snprintf(copy, sizeof copy, "%s", text);
    if (!is_about_places(said) && read_each(t, each, &count, copy, &a) &&
        all_observe(t, each, count))
      fail_msg("%s%s", text, said);
    t->contradictions++;
  }
  arena_free(&a);
}

static void sound(void **state) {
  tiny t = {.random = random_from_seed(3)};
  (void)state;
  open_tiny(&t);
  for (int i = 0; i < 300; i++) contradictory_round(&t);
  print_message("%d contradictions, each without a mapping\n",
                t.contradictions);
  assert_true(t.contradictions > 50);
  arena_free(&t.arena);
  calm_context_free(t.context);
}

/* Most sets without a mapping are found out; those that are not take a search
   of the mappings, as orders and splits meet factors there. */
static void nearly_complete(void **state) {
  tiny t = {.random = random_from_seed(4)};
  (void)state;
  open_tiny(&t);
  for (int i = 0; i < 300; i++) one_round(&t);
  print_message("%d observed, %d contradictory, %d not found out\n", t.observed,
                t.contradictions, t.not_found_out);
  assert_true(t.not_found_out * 3 < t.contradictions);
  arena_free(&t.arena);
  calm_context_free(t.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound),
      cmocka_unit_test(nearly_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
