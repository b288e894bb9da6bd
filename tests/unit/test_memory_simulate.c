#include "base/file.h"
#include "memory/memory_check.h"
#include "memory_graphs.h"

static memory_profile simulate(const fixture *f, const char *model,
                               const op_id *sequence) {
  const memory_model m = model_of(f->context, model);
  memory_profile profile;
  if (memory_simulate(&profile, f->g, &m, NULL,
                      sequence ? sequence : f->g->order, (arena *)&f->arena))
    fail_msg("%s", calm_context_message(f->context));
  return profile;
}

/* "3..5" or "-" of one tensor. */
static const char *life_of(const fixture *f, const memory_profile *p,
                           const char *name) {
  static char text[32];
  const memory_life *life = &p->lives[tensor_named(f->g, name)];
  if (!life->counted) return "-";
  snprintf(text, sizeof text, "%" PRIu32 "..%" PRIu32, life->first, life->last);
  return text;
}

static const char diamond[] =
    "tensor unread 7 input\n"
    "tensor x 8 input\n"
    "tensor a 10\n"
    "tensor b 10\n"
    "tensor extra 100\n"
    "tensor c 10 output\n"
    "tensor d 1 output\n"
    "op pa conv2d ( x ) -> ( a extra )\n"
    "op pb conv2d ( x ) -> ( b )\n"
    "op pc add ( a b ) -> ( c )\n"
    "op pd conv2d ( b ) -> ( d )\n";

static void a_tensor_lives_from_first_to_last_use(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, diamond);
  const memory_profile p = simulate(&f, "plain", NULL);
  assert_string_equal(life_of(&f, &p, "unread"), "-");
  assert_string_equal(life_of(&f, &p, "x"), "0..1");
  assert_string_equal(life_of(&f, &p, "extra"), "0..0");
  assert_string_equal(life_of(&f, &p, "a"), "0..2");
  assert_string_equal(life_of(&f, &p, "b"), "1..3");
  assert_string_equal(life_of(&f, &p, "c"), "2..3");
  assert_string_equal(life_of(&f, &p, "d"), "3..3");
  const uint64_t expected[] = {118, 28, 30, 21};
  assert_memory_equal(p.step_bytes, expected, sizeof expected);
  assert_int_equal(p.peak_bytes, 118);
  assert_int_equal(p.peak_step, 0);
  fixture_close(&f);
}

static void another_order_is_another_life(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, diamond);
  const op_id sequence[] = {1, 3, 0, 2};
  const memory_profile p = simulate(&f, "plain inplace=add", sequence);
  assert_string_equal(life_of(&f, &p, "x"), "0..2");
  assert_string_equal(life_of(&f, &p, "b"), "0..3");
  const uint64_t expected[] = {18, 19, 129, 21};
  assert_memory_equal(p.step_bytes, expected, sizeof expected);
  assert_int_equal(p.peak_step, 2);
  fixture_close(&f);
}

static void columns_matter(void **state) {
  (void)state;
  static const struct {
    const char *model;
    uint64_t bytes[4];
    const char *x, *c;
  } cases[] = {
      {"plain inputs=whole-run", {118, 28, 38, 29}, "0..3", "2..3"},
      {"plain inputs=external", {110, 20, 30, 21}, "-", "2..3"},
      {"plain outputs=external", {118, 28, 20, 10}, "0..1", "-"},
      {"tflm-default", {144, 48, 48, 48}, "0..1", "2..3"},
      {"plain inplace=elementwise", {118, 28, 20, 21}, "0..1", "2..3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    fixture_open(&f, diamond);
    const memory_profile p = simulate(&f, cases[i].model, NULL);
    assert_memory_equal(p.step_bytes, cases[i].bytes, sizeof cases[i].bytes);
    assert_string_equal(life_of(&f, &p, "x"), cases[i].x);
    assert_string_equal(life_of(&f, &p, "c"), cases[i].c);
    fixture_close(&f);
  }
}

static void views_and_elided_concats_are_not_counted(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 6 input\ntensor a 1\ntensor b 2\ntensor va 1\n"
               "tensor ab 3\ntensor vab 3\ntensor y 10 output\n"
               "op pa conv2d ( x ) -> ( a )\n"
               "op v reshape ( a ) -> ( va )\n"
               "op pb conv2d ( x ) -> ( b )\n"
               "op j concat ( va b ) -> ( ab )\n"
               "op w reshape ( ab ) -> ( vab )\n"
               "op r conv2d ( vab ) -> ( y )\n");
  const memory_profile p = simulate(&f, "serenity", NULL);
  const uint64_t expected[] = {7, 7, 9, 3, 3, 13};
  assert_memory_equal(p.step_bytes, expected, sizeof expected);
  assert_string_equal(life_of(&f, &p, "a"), "0..5");
  assert_string_equal(life_of(&f, &p, "va"), "-");
  assert_string_equal(life_of(&f, &p, "ab"), "-");
  assert_int_equal(p.lives[tensor_named(f.g, "va")].storage,
                   tensor_named(f.g, "a"));
  assert_int_equal(p.lives[tensor_named(f.g, "y")].storage,
                   tensor_named(f.g, "y"));
  fixture_close(&f);
}

/* A residual block: the sum takes the place of either branch. */
static void an_add_takes_the_place_of_a_branch(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor k 75\ntensor l 75\ntensor m 75\ntensor n 75\n"
               "tensor p 75\n"
               "op pk conv2d ( ) -> ( k )\n"
               "op pl conv2d ( k ) -> ( l )\n"
               "op pm conv2d ( k ) -> ( m )\n"
               "op pn conv2d ( m ) -> ( n )\n"
               "op pp add ( l n ) -> ( p )\n");
  const memory_profile p = simulate(&f, "plain inplace=add", NULL);
  assert_int_equal(p.step_bytes[4], 150);
  assert_int_equal(p.peak_bytes, 225);
  fixture_close(&f);
}

/* ---- The judge and the judged must agree --------------------------------- */

static void assert_agreement(const fixture *f, const memory_model *model,
                             const op_id *full, arena *a) {
  memory_problem p;
  memory_profile profile;
  uint32_t sequence[RANDOM_MAX_OPS], steps[RANDOM_MAX_OPS], count = 0;
  uint64_t bytes[RANDOM_MAX_OPS], peak;
  assert_int_equal(memory_problem_build(&p, f->g, model, random_body_arena, a),
                   CALM_OK);
  for (uint32_t step = 0; step < f->g->ops.count; step++)
    if (p.order_op_of[full[step]] != CALM_NONE) {
      steps[count] = step;
      sequence[count++] = p.order_op_of[full[step]];
    }
  assert_int_equal(order_replay(&peak, &p.order, sequence, bytes, f->context),
                   CALM_OK);
  assert_int_equal(
      memory_simulate(&profile, f->g, model, random_body_arena, full, a),
      CALM_OK);
  assert_int_equal(profile.peak_bytes, peak);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(profile.step_bytes[steps[i]], bytes[i]);
  if (profile.peak_bytes)
    assert_int_equal(profile.step_bytes[profile.peak_step], peak);
}

static void random_orders_cost_what_the_problem_says(void **state) {
  (void)state;
  random_state r = random_from_seed(3);
  for (int round = 0; round < 3000; round++) {
    fixture f;
    fixture_random(&f, &r);
    for (int model = 0; model < 3; model++) {
      const memory_model m = random_model(&r, f.context);
      assert_agreement(&f, &m, f.g->order, &f.arena);
      for (int i = 0; i < 3; i++) {
        op_id full[RANDOM_MAX_OPS];
        random_order(full, f.g, &r);
        assert_agreement(&f, &m, full, &f.arena);
      }
    }
    fixture_close(&f);
  }
}

/* What a life says and what a step says must be the same, where nothing runs
   in place and nothing needs workspace. */
static void lives_add_up_to_steps(void **state) {
  (void)state;
  random_state r = random_from_seed(4);
  for (int round = 0; round < 2000; round++) {
    fixture f;
    fixture_random_real(&f, &r);
    for (op_id op = 0; op < f.g->ops.count; op++)
      f.g->ops.data[op].workspace_bytes = 0;
    memory_model m = random_model(&r, f.context);
    memset(m.inplace, 0, sizeof m.inplace);
    op_id full[RANDOM_MAX_OPS];
    random_order(full, f.g, &r);
    memory_profile p;
    assert_int_equal(memory_simulate(&p, f.g, &m, NULL, full, &f.arena),
                     CALM_OK);
    for (uint32_t step = 0; step < f.g->ops.count; step++) {
      uint64_t bytes = 0;
      for (tensor_id t = 0; t < f.g->tensors.count; t++)
        if (p.lives[t].counted && p.lives[t].first <= step &&
            step <= p.lives[t].last)
          bytes += p.lives[t].bytes;
      assert_int_equal(bytes, p.step_bytes[step]);
    }
    fixture_close(&f);
  }
}

/* ---- Outside facts ------------------------------------------------------- */

static const char *const public_graphs[] = {"swiftnet_vwwc19",
                                            "swiftnet_vwwc19_split_elided",
                                            "cell_amoebanet_normal",
                                            "cell_amoebanet_reduce",
                                            "cell_darts_v1_normal",
                                            "cell_darts_v1_reduce",
                                            "cell_darts_v2_normal",
                                            "cell_darts_v2_reduce",
                                            "cell_nasnet_normal",
                                            "cell_nasnet_reduce",
                                            "cell_pnas_normal",
                                            "cell_pnas_reduce",
                                            "glow_1615_concat_slice",
                                            "halide_8150_three_outputs",
                                            "liberis_lane_fig",
                                            "litert_complex_graph",
                                            "litert_larger_graph",
                                            "litert_optionals",
                                            "litert_simple_graph",
                                            "litert_with_intermediates",
                                            "litert_with_temporary",
                                            "nasbench101_inception_like",
                                            "nasbench101_residual_mix",
                                            "nasbench201_all_skip",
                                            "nasbench201_nats_sss",
                                            "nntrainer_1126",
                                            "olla_control_dep",
                                            "olla_diamond",
                                            "olla_multi_fanin_output",
                                            "olla_pathological_sched",
                                            "olla_simple",
                                            "olla_weights",
                                            "ort_26768_calibration_probes",
                                            "randwire_seungwon_ws-4-075-3",
                                            "randwire_seungwon_ws-4-075-4",
                                            "randwire_seungwon_ws-4-075-5",
                                            "stack3_darts_v1",
                                            "stack3_darts_v2",
                                            "stack3_nasnet",
                                            "xla_last_use_first",
                                            "xla_list_aliasing",
                                            "xla_tuples_accounted"};

/* Open a public graph; *expected is its "# expect peak-file" figure. */
static bool open_public(fixture *f, const char *name, uint64_t *expected) {
  char path[512], place[64];
  snprintf(place, sizeof place, "graphs/%s.cg", name);
  if (!cases_path(path, sizeof path, place)) return false;
  fixture_begin(f, NULL);
  file_map map;
  assert_int_equal(file_map_open(&map, f->context, path), CALM_OK);
  char *text = arena_string(&f->arena, (const char *)map.bytes, map.length);
  const char *line = strstr(text, "# expect peak-file ");
  assert_non_null(line);
  *expected = strtoull(line + strlen("# expect peak-file "), NULL, 10);
  if (graph_text_read(&f->graphs, &f->arena, path, text, strlen(text)))
    fail_msg("%s", calm_context_message(f->context));
  file_map_close(&map);
  f->g = f->graphs.data;
  return true;
}

static void public_graphs_peak_as_published(void **state) {
  (void)state;
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof public_graphs / sizeof *public_graphs; i++) {
    fixture f;
    uint64_t expected;
    if (!open_public(&f, public_graphs[i], &expected))
      fail_msg("no case graphs/%s.cg", public_graphs[i]);
    const memory_profile p = simulate(&f, "plain", NULL);
    if (p.peak_bytes != expected)
      fail_msg("%s: %" PRIu64 " instead of %" PRIu64, public_graphs[i],
               p.peak_bytes, expected);
    fixture_close(&f);
  }
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  static const char text[] =
      "calm-graph 1\ngraph g\n"
      "tensor x 6 input\ntensor a 1\ntensor b 2\ntensor ab 3\n"
      "tensor y 3 output\n"
      "op pa conv2d ( x ) -> ( a )\n"
      "op pb conv2d ( x ) -> ( b )\n"
      "op j concat ( a b ) -> ( ab )\n"
      "op r relu ( ab ) -> ( y )\n";
  for (uint64_t granted = 0;; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    fixture f;
    fixture_begin(&f, &allocator);
    assert_int_equal(
        graph_text_read(&f.graphs, &f.arena, "g", text, sizeof text - 1),
        CALM_OK);
    memory_model m = model_of(f.context, "serenity inplace=elementwise");
    arena a;
    arena_init(&a, f.context);
    left = granted;
    memory_profile p;
    const calm_status status =
        memory_simulate(&p, f.graphs.data, &m, NULL, f.graphs.data->order, &a);
    arena_free(&a);
    fixture_close(&f);
    if (status == CALM_OK) {
      assert_true(granted >= 4);
      break;
    }
    assert_int_equal(status, CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tensor_lives_from_first_to_last_use),
      cmocka_unit_test(another_order_is_another_life),
      cmocka_unit_test(columns_matter),
      cmocka_unit_test(views_and_elided_concats_are_not_counted),
      cmocka_unit_test(an_add_takes_the_place_of_a_branch),
      cmocka_unit_test(random_orders_cost_what_the_problem_says),
      cmocka_unit_test(lives_add_up_to_steps),
      cmocka_unit_test(public_graphs_peak_as_published),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
