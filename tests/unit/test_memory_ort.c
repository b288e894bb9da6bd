/* The orders of ONNX Runtime, against orders that its profiler noted
   (tests/figures/ort_orders.csv), and against its meter on public models
   (tests/figures/ort_peaks.csv). */
#include "memory/memory_ort.h"

#include "memory/memory_check.h"
#include "memory_graphs.h"
#include "model/model.h"

static void open_nodes(ort_nodes *out, fixture *f, const char *body) {
  fixture_open(f, body);
  assert_int_equal(ort_nodes_init(out, f->g, &f->arena), CALM_OK);
}

static void assert_order(const fixture *f, const op_id *order,
                         const char *expected) {
  char words[256] = "";
  for (uint32_t i = 0; i < f->g->ops.count; i++)
    snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
             i ? " " : "", f->g->ops.data[order[i]].name);
  assert_string_equal(words, expected);
}

/* Two branches: the one that is listed last runs first. */
static const char branches[] =
    "tensor x 1 input\ntensor va1 1\ntensor va2 1\ntensor vb1 1\n"
    "tensor vb2 1\ntensor y 1 output\n"
    "op a1 conv2d ( x ) -> ( va1 )\nop a2 conv2d ( va1 ) -> ( va2 )\n"
    "op b1 conv2d ( x ) -> ( vb1 )\nop b2 conv2d ( vb1 ) -> ( vb2 )\n"
    "op j concat ( va2 vb2 ) -> ( y )\n";

static void the_branch_listed_last_runs_first(void **state) {
  (void)state;
  fixture f;
  ort_nodes n;
  op_id order[8];
  const op_id interleaved[] = {2, 0, 3, 1, 4};
  open_nodes(&n, &f, branches);
  ort_default_order(order, &n, f.g->order);
  assert_order(&f, order, "b1 b2 a1 a2 j");
  ort_default_order(order, &n, interleaved);
  assert_order(&f, order, "a1 a2 b1 b2 j");
  ort_priority_order(order, &n, interleaved);
  assert_order(&f, order, "b1 a1 b2 a2 j");
  fixture_close(&f);
}

static void shapes_run_as_soon_as_they_can(void **state) {
  (void)state;
  fixture f;
  ort_nodes n;
  op_id order[8];
  open_nodes(&n, &f,
             "tensor x 1 input\ntensor a 1\ntensor b 1\ntensor s 1\n"
             "tensor y 1 output\n"
             "op pa conv2d ( x ) -> ( a )\nop pb conv2d ( a ) -> ( b )\n"
             "op ps shape ( a ) -> ( s )\nop py conv2d ( b s ) -> ( y )\n");
  ort_priority_order(order, &n, f.g->order);
  assert_order(&f, order, "pa ps pb py");
  ort_default_order(order, &n, f.g->order);
  assert_order(&f, order, "pa ps pb py");
  fixture_close(&f);
}

/* An order that asks for nothing but edges of control is not seen. */
static void control_edges_do_not_count(void **state) {
  (void)state;
  fixture f;
  ort_nodes n;
  op_id order[8];
  open_nodes(&n, &f,
             "tensor x 1 input\ntensor a 1 output\ntensor b 1 output\n"
             "op pa conv2d ( x ) -> ( a )\n"
             "op pb conv2d ( x ) -> ( b ) after ( pa )\n");
  ort_default_order(order, &n, f.g->order);
  assert_order(&f, order, "pb pa");
  fixture_close(&f);
}

static void only_small_weights_that_are_read_count(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 1 input\ntensor small 127 const\n"
               "tensor large 128 const\ntensor idle 9 const\n"
               "tensor y 1 output\n"
               "op p conv2d ( x small large small ) -> ( y )\n");
  assert_int_equal(ort_small_weights(f.g), 127);
  fixture_close(&f);
}

/* ---- The runtime's own orders -------------------------------------------- */

/* "- 0 0+1": the nodes that each node reads, as a graph. */
static void open_row(fixture *f, const char *row) {
  char body[4096] = "tensor x 4 input\n", words[1024], *rest, *word;
  uint32_t count = 0;
  for (const char *c = row; *c; c++) count += *c == ' ';
  for (uint32_t i = 0; i <= count; i++)
    snprintf(body + strlen(body), sizeof body - strlen(body), "tensor v%u 4\n",
             i);
  snprintf(words, sizeof words, "%s", row);
  count = 0;
  for (word = strtok_r(words, " ", &rest); word;
       word = strtok_r(NULL, " ", &rest)) {
    char *inner;
    snprintf(body + strlen(body), sizeof body - strlen(body), "op n%u add (",
             count);
    for (char *p = strtok_r(word, "+", &inner); p;
         p = strtok_r(NULL, "+", &inner))
      snprintf(body + strlen(body), sizeof body - strlen(body), " %s%s",
               *p == '-' ? "x" : "v", *p == '-' ? "" : p);
    snprintf(body + strlen(body), sizeof body - strlen(body), " ) -> ( v%u )\n",
             count++);
  }
  fixture_open(f, body);
}

static void default_orders_are_those_of_the_profiler(void **state) {
  (void)state;
  char line[1024], words[512];
  uint32_t rows = 0;
  FILE *csv = fopen(CALM_SOURCE_DIR "/tests/figures/ort_orders.csv", "r");
  assert_non_null(csv);
  assert_non_null(fgets(line, sizeof line, csv));
  for (; fgets(line, sizeof line, csv); rows++) {
    fixture f;
    ort_nodes n;
    op_id order[16];
    char *expected = strchr(line, ',');
    assert_non_null(expected);
    *expected++ = '\0';
    expected[strcspn(expected, "\n")] = '\0';
    open_row(&f, line);
    assert_int_equal(ort_nodes_init(&n, f.g, &f.arena), CALM_OK);
    ort_default_order(order, &n, f.g->order);
    words[0] = '\0';
    for (uint32_t i = 0; i < f.g->ops.count; i++)
      snprintf(words + strlen(words), sizeof words - strlen(words), "%s%u",
               i ? " " : "", order[i]);
    assert_string_equal(words, expected);
    fixture_close(&f);
  }
  fclose(csv);
  assert_int_equal(rows, 100);
}

/* ---- The runtime's own meter --------------------------------------------- */

static uint64_t simulated_peak(calm_model *model, const op_id *order) {
  const memory_model m = *memory_model_find("ort");
  memory_profile profile;
  assert_int_equal(memory_simulate(&profile, &model->graphs.data[0], &m, NULL,
                                   order, &model->arena),
                   CALM_OK);
  return profile.peak_bytes;
}

static void compare_model(const char *path, uint64_t by_default,
                          uint64_t by_priority) {
  calm_model model;
  calm_context *context = calm_context_new(NULL);
  ort_nodes n;
  op_id *order;
  model_init(&model, context, path);
  calm_status status = file_map_open(&model.map, context, path);
  if (!status) status = model_read(&model);
  if (status) fail_msg("%s", calm_context_message(context));
  file_map_close(&model.map);
  const graph *g = &model.graphs.data[0];
  assert_int_equal(ort_nodes_init(&n, g, &model.arena), CALM_OK);
  order = arena_calloc(&model.arena, g->ops.count, sizeof *order);
  assert_non_null(order);
  ort_default_order(order, &n, g->order);
  assert_int_equal(simulated_peak(&model, order), by_default);
  ort_priority_order(order, &n, g->order);
  assert_int_equal(simulated_peak(&model, order), by_priority);
  model_clear(&model);
  calm_context_free(context);
}

static void public_models_as_metered(void **state) {
  (void)state;
  char line[256], name[64], file[128], path[1024];
  uint64_t by_default, by_priority, small;
  uint32_t models = 0;
  CASES_OR_SKIP();
  FILE *csv = fopen(CALM_SOURCE_DIR "/tests/figures/ort_peaks.csv", "r");
  assert_non_null(csv);
  assert_non_null(fgets(line, sizeof line, csv));
  while (fgets(line, sizeof line, csv)) {
    assert_int_equal(sscanf(line, "%63[^,],%" SCNu64 ",%" SCNu64 ",%" SCNu64,
                            name, &by_default, &by_priority, &small),
                     4);
    snprintf(file, sizeof file, "models/onnx_%s.onnx", name);
    if (!cases_path(path, sizeof path, file)) continue;
    compare_model(path, by_default - small, by_priority - small);
    models++;
  }
  fclose(csv);
  print_message("%" PRIu32 " models\n", models);
  assert_true(models >= 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_branch_listed_last_runs_first),
      cmocka_unit_test(shapes_run_as_soon_as_they_can),
      cmocka_unit_test(control_edges_do_not_count),
      cmocka_unit_test(only_small_weights_that_are_read_count),
      cmocka_unit_test(default_orders_are_those_of_the_profiler),
      cmocka_unit_test(public_models_as_metered)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
