/* Mapped layers filled by hand, and some that were mapped, in every format. */
#include "report_map_fixture.h"

#include <math.h>
#include <stdio.h>

#include "report/report_map.h"

static void assert_has(const char *out, const char *words) {
  if (strstr(out, words)) return;
  fputs(out, stderr); /* a message would be cut off */
  fail_msg("no '%s'", words);
}

static void assert_lacks(const char *out, const char *words) {
  if (!strstr(out, words)) return;
  fputs(out, stderr);
  fail_msg("'%s'", words);
}

static json_t *render_json(map_fixture *f) {
  char *out = render_map(f, CALM_FORMAT_JSON);
  json_t *root = parse_json(out);
  calm_text_free(f->eval.context, out);
  return root;
}

static double real_at(json_t *root, const char *path) {
  json_t *value = json_at(root, path);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static void assert_null_at(json_t *root, const char *path) {
  assert_true(json_is_null(json_at(root, path)));
}

/* ---- A layer ------------------------------------------------------------- */

static void the_gap_is_of_the_value(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, MAP_LAYERS);
  assert_true(report_map_gap(m, &f->layers[PROVED]) == 0);
  assert_true(report_map_gap(m, &f->layers[OPEN]) == 0.25);
  assert_true(report_map_gap(m, &f->layers[NONE]) < 0);
  assert_true(report_map_gap(m, &f->layers[FAILED]) < 0);
  f->layers[OPEN].result.bound = 0;
  assert_true(report_map_gap(m, &f->layers[OPEN]) < 0);
  m->objective = MAPPER_PARETO;
  assert_true(report_map_gap(m, &f->layers[PROVED]) < 0);
}

static void assert_shape(const accel_layer *layer, calm_context *context,
                         const char *expected) {
  text words;
  text_init(&words, context);
  report_map_shape(&words, layer);
  assert_string_equal(words.data, expected);
  text_free(&words);
}

static void shapes_are_told_in_short(void **state) {
  map_fixture *f = *state;
  static const struct {
    accel_convolution c;
    const char *shape;
  } rows[] = {{{3, 3, 56, 56, 64, 64, 1, 1, 2, 2, 1, 1}, "3x3 56x56 64->64 s2"},
              {{7, 5, 8, 6, 3, 64, 16, 1, 1, 1, 1, 1}, "7x5 8x6 3->64 n16"},
              {{3, 3, 8, 8, 1, 1, 1, 32, 1, 1, 1, 1}, "3x3 8x8 1->1 g32"},
              {{3, 3, 8, 8, 4, 4, 1, 1, 2, 1, 2, 2}, "3x3 8x8 4->4 s2x1 d2"},
              {{1, 1, 8, 8, 4, 4, 1, 1, 1, 1, 2, 2}, "1x1 8x8 4->4"}};
  accel_layer layer;
  arena a;
  arena_init(&a, f->eval.context);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(accel_layer_convolution(&layer, "x", &rows[i].c, &a),
                     CALM_OK);
    assert_shape(&layer, f->eval.context, rows[i].shape);
  }
  assert_int_equal(accel_layer_gemm(&layer, "x", 1, 1000, 2048, &a), CALM_OK);
  assert_shape(&layer, f->eval.context, "N1000 K2048");
  arena_free(&a);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_says_what_was_mapped_and_how(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS)->skipped_count = 1;
  json_t *root = render_json(f);
  assert_string_equal(string_at(root, "schema"), "calm/map/1");
  assert_string_equal(string_at(root, "arch"), "small");
  assert_string_equal(string_at(root, "source"), "some/net.onnx");
  assert_string_equal(string_at(root, "cost"), "exact");
  assert_string_equal(string_at(root, "fanout"), "level");
  assert_string_equal(string_at(root, "mapper"), "exact");
  assert_string_equal(string_at(root, "objective"), "edp");
  assert_string_equal(string_at(root, "skipped.0.name"), "matmul");
  assert_int_equal(integer_at(root, "total.layers"), 4);
  assert_int_equal(integer_at(root, "total.mapped"), 2);
  assert_int_equal(integer_at(root, "total.cycles"), 120);
  assert_int_equal(integer_at(root, "total.macs"), 36);
  assert_true(real_at(root, "total.energy_pj") == 18045);
  assert_true(real_at(root, "total.edp") == 18045.0 * 120);
  assert_true(real_at(root, "total.utilization") == 36.0 / (4 * 120));
  json_decref(root);
}

static void json_of_a_layer_has_nest_and_proof(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS);
  json_t *root = render_json(f), *l = json_at(root, "layers.0");
  assert_string_equal(string_at(l, "name"), "conv1");
  assert_int_equal(integer_at(l, "count"), 1);
  assert_int_equal(integer_at(l, "macs"), 12);
  assert_int_equal(integer_at(l, "dimensions.K"), 4);
  assert_string_equal(string_at(l, "status"), "optimal");
  assert_null_at(l, "error");
  assert_null_at(l, "reason");
  assert_true(real_at(l, "value") == 240600);
  assert_true(real_at(l, "bound") == 240600);
  assert_true(real_at(l, "gap") == 0);
  assert_int_equal(integer_at(l, "cycles"), 40);
  assert_true(real_at(l, "energy_pj") == 6015);
  assert_true(real_at(l, "edp") == 240600);
  assert_true(real_at(l, "utilization") == 0.15);
  assert_true(json_is_true(json_at(l, "certificate.proved")));
  assert_int_equal(integer_at(l, "certificate.states"), 1234);
  assert_int_equal(integer_at(l, "certificate.rounds"), 1);
  assert_true(real_at(l, "certificate.bound") == 240600);
  assert_string_equal(string_at(l, "levels.1.name"), "Buffer");
  assert_int_equal(json_array_size(json_at(l, "explanation.loads")), 6);
  assert_int_equal(integer_at(l, "explanation.capacities.0.capacity_words"),
                   100);
  assert_has(string_at(l, "mapping"), "mapping:\n");
  assert_null(json_object_get(l, "seconds"));
  assert_null(json_object_get(l, "cosa"));
  assert_true(real_at(root, "layers.1.gap") == 0.25);
  assert_true(json_is_false(json_at(root, "layers.1.certificate.proved")));
  assert_string_equal(string_at(root, "layers.1.name"), "odd\\xff layer");
  json_decref(root);
}

static void json_of_a_layer_without_a_nest_has_nulls(void **state) {
  static const char *const keys[] = {"value",       "bound",     "gap",
                                     "cycles",      "energy_pj", "edp",
                                     "utilization", "mapping",   "explanation"};
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS);
  json_t *root = render_json(f);
  for (uint32_t i = NONE; i <= FAILED; i++) {
    json_t *l = json_array_get(json_at(root, "layers"), i);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
      assert_null_at(l, keys[k]);
    assert_int_equal(json_array_size(json_at(l, "levels")), 0);
  }
  assert_string_equal(string_at(root, "layers.2.status"), "infeasible");
  assert_null_at(root, "layers.2.error");
  assert_true(json_is_true(json_at(root, "layers.2.certificate.proved")));
  assert_string_equal(string_at(root, "layers.3.status"), "failed");
  assert_string_equal(string_at(root, "layers.3.error"), "unsupported");
  assert_string_equal(string_at(root, "layers.3.reason"),
                      "several tensors are written");
  assert_null_at(root, "layers.3.certificate");
  json_decref(root);
}

static void json_without_energy_has_nulls(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, 1);
  m->energy = false;
  m->timing = true;
  json_t *root = render_json(f);
  assert_null_at(root, "layers.0.energy_pj");
  assert_null_at(root, "layers.0.edp");
  assert_null_at(root, "layers.0.explanation.loads.0.energy_pj");
  assert_null_at(root, "total.energy_pj");
  assert_null_at(root, "total.edp");
  assert_int_equal(integer_at(root, "layers.0.cycles"), 40);
  assert_true(real_at(root, "layers.0.seconds") == 0.25);
  json_decref(root);
}

static void json_of_each_mapper_has_what_it_tells(void **state) {
  map_fixture *f = *state;
  fixture_cosa(f);
  json_t *root = render_json(f);
  assert_null_at(root, "layers.0.certificate");
  assert_null_at(root, "layers.0.bound");
  assert_null_at(root, "layers.0.gap");
  assert_true(real_at(root, "layers.0.cosa.traffic") == 20.25);
  assert_true(real_at(root, "layers.0.cosa.objective") == 119.9);
  assert_int_equal(integer_at(root, "layers.0.padded.K"), 6);
  assert_int_equal(integer_at(root, "layers.0.dimensions.K"), 4);
  json_decref(root);
  f->mapping.method = MAP_HYBRID;
  f->layers[0].result.samples = 3000;
  f->layers[0].result.valid = 501;
  root = render_json(f);
  assert_int_equal(integer_at(root, "layers.0.samples"), 3000);
  assert_int_equal(integer_at(root, "layers.0.valid"), 501);
  json_decref(root);
}

static void json_of_a_front_has_every_point(void **state) {
  map_fixture *f = *state;
  fixture_front(f, 30);
  json_t *root = render_json(f);
  json_t *front = json_at(root, "layers.0.front");
  assert_int_equal(json_array_size(front), 30);
  assert_int_equal(integer_at(front, "1.cycles"), 80);
  assert_true(real_at(front, "1.energy_pj") == 3750);
  assert_has(string_at(front, "29.mapping"), "mapping:\n");
  assert_null_at(root, "layers.0.value");
  json_decref(root);
}

/* ---- Tables -------------------------------------------------------------- */

static void one_layer_is_shown_as_its_nest(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, 1);
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out,
             "some/net.onnx\n"
             "  conv1: R3 K4, 12 multiply-accumulates\n"
             "  on small: 4 multipliers; cost model exact\n"
             "  mapper exact, objective edp\n"
             "  optimal: proved that no nest has a lower EDP than 2.406e-07 J "
             "x cycles (1,234 states, 1 threshold)\n\n"
             "  cycles       40; odd\\xff memory limits");
  assert_has(out, "Buffer: 3 of 100 words");
  assert_has(out, "  Buffer x 2      Weights");
  assert_has(out, "# the multipliers\n");
  assert_lacks(out, "at least:");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
  out = render_map(f, CALM_FORMAT_LONG);
  assert_has(out, "at least: of every nest");
  assert_has(out, "temporal reductions");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
}

static void an_explanation_is_told_where_it_is_wanted(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, 1)->explain = true;
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "at least: of every nest");
  assert_has(out, "  Buffer: 9 of 100 words, 3 of them Weights; ");
  assert_has(out, "  time: the shared bandwidth of odd\\xff memory limits: 1 ");
  assert_has(out, "  below inter_PE_spatial: 1 x 1 of 4 x 1 are in use\n");
  assert_lacks(out, "temporal reductions");
  calm_text_free(f->eval.context, out);
  fixture_mapping(f, MAP_LAYERS)->explain = true;
  out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "\nconv1\n\n  words over all instances");
  assert_has(out, "\nodd\\xff layer\n\n  words over all instances");
  assert_lacks(out, "\nstrange\n");
  assert_lacks(out, "tile");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
}

static void what_is_open_is_told(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, 1);
  f->layers[0].result.outcome = CALM_FEASIBLE;
  f->layers[0].result.bound = 180450;
  f->layers[0].reason = "stopped by the time limit";
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out,
             "  feasible: 2.406e-07 J x cycles, at least 1.805e-07 J x cycles "
             "is proved, gap 25.0 % (1,234 states,\n    1 threshold)\n"
             "  stopped by the time limit\n");
  calm_text_free(f->eval.context, out);
  f->layers[0].result.bound = 0;
  m->objective = MAPPER_DELAY;
  f->layers[0].result.value = 40;
  out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "  feasible: 40 cycles, no bound is known (");
  calm_text_free(f->eval.context, out);
}

static void without_a_nest_there_is_the_reason(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, MAP_LAYERS);
  m->network = false;
  m->layer_count = 1;
  m->layers = &f->layers[NONE];
  char *out = render_map(f, CALM_FORMAT_LONG);
  assert_has(out,
             "  infeasible: proved that there is none (0 states, 0 "
             "thresholds)\n  Buffer: 200 words do not fit into 100\n");
  assert_lacks(out, "cycles ");
  calm_text_free(f->eval.context, out);
  m->layers = &f->layers[FAILED];
  out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "  failed: several tensors are written\n");
  calm_text_free(f->eval.context, out);
}

static void a_network_is_a_table_with_totals(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS)->skipped_count = 8;
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out,
             "some/net.onnx\n"
             "  4 layers, 10 in the network\n"
             "  on small: 4 multipliers; cost model exact; mapper exact, "
             "objective edp\n\n"
             "  mapped       2 of 4 layers\n"
             "  proved       1 of 4 layers\n"
             "  cycles       120; 36 multiply-accumulates\n"
             "  utilization  7.5 %\n"
             "  energy       18.045 nJ; 501.2 pJ per multiply-accumulate\n"
             "  EDP          2.165e-06 J x cycles\n\n");
  assert_has(out,
             "  layer          times  shape  cycles  energy nJ  J x cycles  "
             "utilized       proof\n"
             "  conv1              1  R3 K4      40      6.015   2.406e-07  "
             "  15.0 %     optimal\n"
             "  odd\\xff layer      2  R3 K4      40      6.015   2.406e-07  "
             "  15.0 %      25.0 %\n"
             "  wide, \"big\"        3  R3 K4                                  "
             "         infeasible\n");
  assert_has(out,
             "\n  odd\\xff layer: feasible: stopped by the time limit\n"
             "  wide, \"big\": infeasible: Buffer: 200 words do not fit into "
             "100\n  strange: failed: several tensors are written\n\n"
             "  8 operators with multiplications not mapped\n");
  assert_has(out, "  ... and 2 more (-v shows them)\n");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
}

static void fronts_of_a_network_are_counted_and_not_totalled(void **state) {
  map_fixture *f = *state;
  fixture_front(f, 3);
  f->mapping.network = true;
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out,
             "  The totals, the table and the files of -o have the fastest "
             "nest of each layer");
  assert_has(out, "  energy nJ  utilized  front    proof\n");
  assert_has(out, "  15.0 %      3  optimal\n");
  calm_text_free(f->eval.context, out);
}

/* 2 x 30 + 40 of 120 cycles are proved. */
static void a_sum_has_a_bound(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, 2);
  double bound;
  assert_false(report_map_total_bound(&bound, m));
  m->objective = MAPPER_DELAY;
  for (uint32_t i = 0; i < 2; i++) f->layers[i].result.value = 40;
  f->layers[OPEN].result.bound = 30;
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out,
             "  gap          16.7 %: at least 100 cycles is proved of all that "
             "is mapped\n");
  calm_text_free(f->eval.context, out);
  json_t *root = render_json(f);
  assert_true(real_at(root, "total.bound") == 100);
  json_decref(root);
  f->layers[OPEN].result.bound = 0;
  root = render_json(f);
  assert_null_at(root, "total.bound");
  json_decref(root);
  f->layers[OPEN].result.outcome = CALM_OPTIMAL;
  out = render_map(f, CALM_FORMAT_TABLE);
  assert_lacks(out, "  gap  ");
  calm_text_free(f->eval.context, out);
}

static void one_reason_is_told_once(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS);
  for (uint32_t i = NONE; i <= FAILED; i++) {
    f->layers[i].error = CALM_UNSUPPORTED;
    f->layers[i].reason =
        i == NONE ? "the same" : strstr("not the same", "the");
  }
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "\n  wide, \"big\" and 1 more: failed: the same\n");
  assert_lacks(out, "strange: ");
  calm_text_free(f->eval.context, out);
}

static void paths_do_not_say_twice_where_they_are(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS);
  f->layers[0].name = "/features/features.0/conv/conv.0/conv.0.1/Conv";
  f->layers[1].name = "model/model_1/convolution";
  f->layers[2].name = "/";
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "\n  features.0/conv.0.1/Conv ");
  assert_has(out, "\n  model/model_1/convolution ");
  assert_has(out, "\n  /  ");
  calm_text_free(f->eval.context, out);
}

static void a_long_table_has_every_nest(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS)->skipped_count = 8;
  f->mapping.timing = true;
  char *out = render_map(f, CALM_FORMAT_LONG);
  assert_has(out, "\nconv1\n  conv1: R3 K4");
  assert_has(out, "\nodd\\xff layer\n  odd\\xff layer: R3 K4");
  assert_has(out, "  15.0 %     optimal  0.250\n");
  assert_has(out, "1 threshold); 0.250 s\n");
  assert_lacks(out, "-v shows");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
}

static void wide_tables_fit(void **state) {
  map_fixture *f = *state;
  const accel_convolution c = {11,   11, 1000, 1000, 16, 16,
                               1024, 32, 4,    3,    2,  1};
  accel_layer layer;
  arena a;
  arena_init(&a, f->eval.context);
  fixture_mapping(f, MAP_LAYERS)->timing = true;
  assert_int_equal(accel_layer_convolution(&layer, "x", &c, &a), CALM_OK);
  f->layers[0].layer = layer;
  f->layers[0].name = "model/block_17/expand_relu/FusedBatchNormV3;model/x/y/z";
  f->layers[0].result.cost.cycles = UINT64_C(1234567890);
  f->layers[0].result.cost.energy_pj = 9.9e11;
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
  arena_free(&a);
}

static void without_energy_there_is_no_column_of_it(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, MAP_LAYERS);
  m->energy = false;
  m->objective = MAPPER_DELAY;
  char *out = render_map(f, CALM_FORMAT_LONG);
  assert_lacks(out, "energy");
  assert_lacks(out, "pJ");
  assert_lacks(out, "EDP");
  calm_text_free(f->eval.context, out);
}

static void each_mapper_tells_what_it_did(void **state) {
  map_fixture *f = *state;
  fixture_cosa(f);
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out,
             "  conv1: R3 K6, 18 multiply-accumulates\n"
             "  on small: 4 multipliers; cost model exact\n"
             "  padded from 12 multiply-accumulates\n"
             "  mapper cosa, objective edp\n"
             "  feasible: its own objective is 119.9, at least 119.5; "
             "utilization 3.5, compute 10, traffic 20.25\n");
  calm_text_free(f->eval.context, out);
  f->mapping.method = MAP_RANDOM;
  f->layers[0].result.samples = 3000;
  f->layers[0].result.valid = 5;
  out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "  feasible: the best of 5 valid nests among 3,000 drawn\n");
  calm_text_free(f->eval.context, out);
}

/* ---- Fronts -------------------------------------------------------------- */

static void a_front_is_a_table_and_a_picture(void **state) {
  map_fixture *f = *state;
  fixture_front(f, 3);
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "  nests that nothing beats in both energy and cycles; ");
  assert_has(out, "the fastest is below, and goes to -o\n");
  assert_lacks(out, "E: least EDP");
  assert_true(longest_line(out) <= 100);
  calm_text_free(f->eval.context, out);
  out = render_map(f, CALM_FORMAT_LONG);
  assert_has(out,
             "  optimal: proved that nothing is better in both energy and "
             "cycles (1,234 states, 1 threshold)\n");
  assert_has(out,
             "  cycles  energy nJ  J x cycles  utilized\n"
             "      40      6.000   2.400e-07    15.0 %  <- least EDP\n"
             "      80      3.750   3.000e-07    15.0 %\n"
             "     120      3.333   4.000e-07    15.0 %\n\n"
             "  energy nJ; E: least EDP\n"
             "  6.000 |E\n"
             "        |\n");
  assert_has(out, "\n        |                                *\n");
  assert_has(out,
             "  3.333 |                                                       "
             "        *\n"
             "        +-------------------------------------------------------"
             "---------\n"
             "         40                                                     "
             "      120 cycles\n");
  calm_text_free(f->eval.context, out);
}

static void few_points_are_not_drawn(void **state) {
  map_fixture *f = *state;
  fixture_front(f, 2);
  char *out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "<- least EDP\n");
  assert_lacks(out, "E: least EDP");
  calm_text_free(f->eval.context, out);
  fixture_front(f, 1);
  out = render_map(f, CALM_FORMAT_TABLE);
  assert_has(out, "<- least EDP\n");
  calm_text_free(f->eval.context, out);
}

static uint32_t count_of(const char *out, const char *words) {
  uint32_t count = 0;
  while ((out = strstr(out, words))) count++, out++;
  return count;
}

/* Both ends and the least EDP are among those that are shown. */
static void of_many_points_some_are_shown(void **state) {
  map_fixture *f = *state;
  for (uint32_t best = 0; best < MOST_POINTS; best++) {
    fixture_front(f, MOST_POINTS);
    f->front[best].cost.edp = 1;
    char *out = render_map(f, CALM_FORMAT_TABLE);
    assert_has(out, "  some of 40 (-v shows all)\n");
    assert_int_equal(count_of(out, "<- least EDP"), 1);
    assert_has(out, "\n      40      6.000 ");
    assert_has(out, "\n   1,600      3.002 ");
    calm_text_free(f->eval.context, out);
  }
  char *out = render_map(f, CALM_FORMAT_LONG);
  assert_lacks(out, "some of");
  calm_text_free(f->eval.context, out);
}

/* ---- CSV and nests ------------------------------------------------------- */

static void csv_has_a_line_per_layer(void **state) {
  map_fixture *f = *state;
  fixture_mapping(f, MAP_LAYERS);
  f->layers[3].name = "two\nlines";
  char *out = render_map(f, CALM_FORMAT_CSV);
  assert_string_equal(
      out,
      "layer,count,status,macs,cycles,energy_pj,edp,utilization,"
      "limiting_level,value,bound,gap,reason\n"
      "conv1,1,optimal,12,40,6015,240600,0.14999999999999999,odd\\xff "
      "memory,240600,240600,0,\n"
      "odd\\xff "
      "layer,2,feasible,12,40,6015,240600,0.14999999999999999,odd\\xff "
      "memory,240600,180450,0.25,stopped by the time limit\n"
      "\"wide, \"\"big\"\"\",3,infeasible,12,,,,,,,,,Buffer: 200 words do not "
      "fit into 100\n"
      "two\\x0alines,4,failed,12,,,,,,,,,several tensors are written\n");
  calm_text_free(f->eval.context, out);
  f->mapping.energy = false;
  f->mapping.timing = true;
  f->mapping.layer_count = 1;
  out = render_map(f, CALM_FORMAT_CSV);
  assert_has(out, ",gap,seconds,reason\nconv1,1,optimal,12,40,,,0.1");
  assert_has(out, ",0,0.25,\n");
  calm_text_free(f->eval.context, out);
}

static void csv_of_a_front_has_a_line_per_nest(void **state) {
  map_fixture *f = *state;
  fixture_front(f, 3);
  f->front[2].cost.limiting_level = CALM_NONE;
  char *out = render_map(f, CALM_FORMAT_CSV);
  assert_has(out, "\nconv1,1,optimal,12,40,6000,");
  assert_has(out, "\nconv1,1,optimal,12,80,3750,300000,");
  assert_has(out, "\nconv1,1,optimal,12,120,3333.3");
  assert_has(out, ",MAC,,,,\n");
  calm_text_free(f->eval.context, out);
}

static void a_nest_is_a_file_of_its_own(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = fixture_mapping(f, 1);
  char *out = render_map(f, CALM_FORMAT_MAPPING);
  assert_has(out, "mapping:\n");
  calm_text_free(f->eval.context, out);
  out = render_map(f, CALM_FORMAT_NEST);
  assert_int_equal(strncmp(out, "odd\\xff memory: ", 16), 0);
  calm_text_free(f->eval.context, out);
  m->layers = &f->layers[NONE];
  assert_int_equal(calm_mapping_render(&out, m, CALM_FORMAT_NEST, false),
                   CALM_MISUSE);
  m = fixture_mapping(f, MAP_LAYERS);
  assert_int_equal(calm_mapping_render(&out, m, CALM_FORMAT_MAPPING, false),
                   CALM_MISUSE);
  assert_int_equal(calm_mapping_render(&out, m, CALM_FORMAT_TRACE, false),
                   CALM_MISUSE);
}

/* ---- All ----------------------------------------------------------------- */

static void fill(map_fixture *f, uint32_t which) {
  if (which == 0) fixture_mapping(f, MAP_LAYERS)->skipped_count = 8;
  if (which == 1) fixture_mapping(f, 1);
  if (which == 2) fixture_front(f, 30);
  if (which == 3) fixture_cosa(f);
}

/* With every allocation in turn failing. */
static void no_memory_is_told(void **state) {
  static const calm_format formats[] = {CALM_FORMAT_TABLE, CALM_FORMAT_LONG,
                                        CALM_FORMAT_CSV, CALM_FORMAT_JSON};
  map_fixture *f = *state;
  for (uint32_t i = 0; i < 16; i++) {
    fill(f, i / 4);
    for (uint64_t granted = 0;; granted++) {
      char *out;
      f->eval.allocations_left = granted;
      const calm_status status =
          calm_mapping_render(&out, &f->mapping, formats[i % 4], true);
      f->eval.allocations_left = SCARCE_NEVER;
      if (status == CALM_OK) {
        calm_text_free(f->eval.context, out);
        break;
      }
      assert_int_equal(status, CALM_NO_MEMORY);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAP_TEST(the_gap_is_of_the_value),
      MAP_TEST(shapes_are_told_in_short),
      MAP_TEST(json_says_what_was_mapped_and_how),
      MAP_TEST(json_of_a_layer_has_nest_and_proof),
      MAP_TEST(json_of_a_layer_without_a_nest_has_nulls),
      MAP_TEST(json_without_energy_has_nulls),
      MAP_TEST(json_of_each_mapper_has_what_it_tells),
      MAP_TEST(json_of_a_front_has_every_point),
      MAP_TEST(one_layer_is_shown_as_its_nest),
      MAP_TEST(an_explanation_is_told_where_it_is_wanted),
      MAP_TEST(what_is_open_is_told),
      MAP_TEST(without_a_nest_there_is_the_reason),
      MAP_TEST(a_network_is_a_table_with_totals),
      MAP_TEST(a_long_table_has_every_nest),
      MAP_TEST(wide_tables_fit),
      MAP_TEST(without_energy_there_is_no_column_of_it),
      MAP_TEST(each_mapper_tells_what_it_did),
      MAP_TEST(a_front_is_a_table_and_a_picture),
      MAP_TEST(few_points_are_not_drawn),
      MAP_TEST(of_many_points_some_are_shown),
      MAP_TEST(csv_has_a_line_per_layer),
      MAP_TEST(csv_of_a_front_has_a_line_per_nest),
      MAP_TEST(fronts_of_a_network_are_counted_and_not_totalled),
      MAP_TEST(a_sum_has_a_bound),
      MAP_TEST(one_reason_is_told_once),
      MAP_TEST(paths_do_not_say_twice_where_they_are),
      MAP_TEST(a_nest_is_a_file_of_its_own),
      MAP_TEST(no_memory_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
