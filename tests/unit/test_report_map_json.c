/*
 * What the exact mapper finds, as JSON and CSV: the nests that stand there,
 * read back and costed anew, cost what is said of them, and the parts of the
 * figures make up the whole.
 */
#include <jansson.h>
#include <math.h>

#include "cost_case.h"
#include "map.h"

typedef struct mapped {
  cost_case c;
  map_layer layer;
  calm_mapping mapping;
} mapped;

static mapper_problem problem_of(mapped *m, mapper_objective objective) {
  return (mapper_problem){.arch = &m->c.arch,
                          .layer = &m->c.layer,
                          .must_keep = m->c.kept,
                          .may_keep = m->c.kept,
                          .objective = objective};
}

static void open_mapped(mapped *m, mapper_objective objective) {
  const mapper_rules rules = {0};
  limits l;
  memset(m, 0, sizeof *m);
  case_open(&m->c, 1);
  const mapper_problem p = problem_of(m, objective);
  limits_init(&l, m->c.context);
  m->layer = (map_layer){.name = "conv1d", .layer = m->c.layer, .count = 3};
  assert_int_equal(mapper_exact(&m->layer.result, &p, &rules, &l, &m->c.arena),
                   CALM_OK);
  assert_int_equal(m->layer.result.outcome, CALM_OPTIMAL);
  m->mapping = (calm_mapping){.context = m->c.context,
                              .arch = m->c.arch,
                              .source = "conv1d.yaml",
                              .energy = true,
                              .method = MAP_EXACT,
                              .objective = objective,
                              .layers = &m->layer,
                              .layer_count = 1,
                              .mapped_count = 1};
}

static json_t *json_of(mapped *m) {
  char *out;
  json_error_t error;
  if (calm_mapping_render(&out, &m->mapping, CALM_FORMAT_JSON, false))
    fail_msg("%s", calm_context_message(m->c.context));
  json_t *root = json_loads(out, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(root);
  calm_text_free(m->c.context, out);
  return root;
}

static double real_of(json_t *o, const char *key) {
  json_t *value = json_object_get(o, key);
  if (!json_is_number(value)) fail_msg("no %s", key);
  return json_number_value(value);
}

static json_t *layer_of(json_t *root) {
  return json_array_get(json_object_get(root, "layers"), 0);
}

/* Costs the nest that is written in a member "mapping". */
static const cost_result *cost_anew(mapped *m, json_t *o) {
  cost_case *c = &m->c;
  json_t *words = json_object_get(o, "mapping");
  assert_true(json_is_string(words));
  const accel_source source = {"mapping", json_string_value(words),
                               json_string_length(words)};
  assert_int_equal(
      accel_nest_parse(&c->nest, &source, &c->arch, &c->layer, &c->arena),
      CALM_OK);
  assert_int_equal(cost_problem_init(&c->problem, &c->arch, &c->layer,
                                     &c->options, &c->arena),
                   CALM_OK);
  assert_int_equal(cost_result_init(&c->result, &c->problem, &c->arena),
                   CALM_OK);
  assert_int_equal(cost_evaluate(&c->result, &c->problem, &c->nest), CALM_OK);
  assert_int_equal(c->result.verdict.fault, COST_VALID);
  return &c->result;
}

static void assert_costs(mapped *m, json_t *o) {
  const cost_result *r = cost_anew(m, o);
  assert_true(real_of(o, "cycles") == (double)r->cycles);
  assert_close(real_of(o, "energy_pj"), r->energy_pj);
  assert_close(real_of(o, "edp"), r->edp);
}

static void nests_cost_what_is_said(void **state) {
  static const char *const keys[] = {"energy_pj", "cycles", "edp", "energy_pj"};
  static mapped m;
  (void)state;
  for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_DELAY_ENERGY; o++) {
    open_mapped(&m, o);
    json_t *root = json_of(&m), *layer = layer_of(root);
    assert_costs(&m, layer);
    assert_close(real_of(layer, "value"), real_of(layer, keys[o]));
    assert_close(real_of(layer, "bound"), real_of(layer, keys[o]));
    json_decref(root);
    case_close(&m.c);
  }
}

static void levels_make_up_the_whole(void **state) {
  static mapped m;
  size_t i;
  json_t *level, *load;
  (void)state;
  open_mapped(&m, MAPPER_EDP);
  json_t *root = json_of(&m), *layer = layer_of(root);
  double energy =
      real_of(layer, "compute_energy_pj") + real_of(layer, "network_energy_pj");
  json_array_foreach(json_object_get(layer, "levels"), i, level) energy +=
      real_of(level, "energy_pj");
  assert_close(energy, real_of(layer, "energy_pj"));
  json_t *why = json_object_get(layer, "explanation");
  json_array_foreach(json_object_get(why, "loads"), i, load) {
    assert_close(real_of(load, "reads") + real_of(load, "fills") +
                     real_of(load, "updates"),
                 real_of(load, "words"));
    assert_true(real_of(load, "words") >= real_of(load, "compulsory_words"));
  }
  assert_int_equal(i, 9);
  json_decref(root);
  case_close(&m.c);
}

/* As many points as the mapper found, each with its nest. */
static void points_of_a_front_cost_what_is_said(void **state) {
  static mapped m;
  size_t i;
  json_t *point;
  double last = 0;
  (void)state;
  open_mapped(&m, MAPPER_PARETO);
  json_t *root = json_of(&m), *layer = layer_of(root);
  json_t *front = json_object_get(layer, "front");
  assert_true(json_array_size(front) > 0);
  assert_int_equal(json_array_size(front), m.layer.result.front_count);
  json_array_foreach(front, i, point) {
    assert_costs(&m, point);
    assert_true(real_of(point, "cycles") > last);
    last = real_of(point, "cycles");
  }
  assert_true(json_is_null(json_object_get(layer, "value")));
  json_decref(root);
  case_close(&m.c);
}

/* A field of the first layer, from 0. */
static double field_of(const char *csv, int number) {
  const char *at = strchr(csv, '\n') + 1;
  while (number-- > 0) at = strchr(at, ',') + 1;
  return strtod(at, NULL);
}

/* Digits are enough to get the very numbers back. */
static void csv_is_exact(void **state) {
  static mapped m;
  char *out;
  (void)state;
  open_mapped(&m, MAPPER_ENERGY);
  const cost_result *r = &m.layer.result.cost;
  assert_int_equal(
      calm_mapping_render(&out, &m.mapping, CALM_FORMAT_CSV, false), CALM_OK);
  assert_true(field_of(out, 1) == 3);
  assert_true(field_of(out, 3) == 96);
  assert_true(field_of(out, 4) == (double)r->cycles);
  assert_true(field_of(out, 5) == r->energy_pj);
  assert_true(field_of(out, 6) == r->edp);
  assert_true(field_of(out, 9) == m.layer.result.value);
  calm_text_free(m.c.context, out);
  case_close(&m.c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nests_cost_what_is_said),
      cmocka_unit_test(levels_make_up_the_whole),
      cmocka_unit_test(points_of_a_front_cost_what_is_said),
      cmocka_unit_test(csv_is_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
