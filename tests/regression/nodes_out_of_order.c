/*
 * Nodes that stand before those that feed them broke the reader, were run as
 * they stand, or were written that way: ZhangGe6/onnx-modifier #61, onnx/onnx
 * #3533, microsoft/onnxruntime-genai #707, Xilinx/finn #61,
 * onnx/tensorflow-onnx #716 (in the body of a Loop).
 */
#include "unit/onnx_builder.h"

#include "base/random.h"

enum { NODES = 9 };

/* Node i adds value i and one of those before it, chosen by `seed`; the nodes
   stand in the order of `place`. */
static message network(uint64_t seed, const int place[NODES]) {
  message g = {0};
  int other[NODES];
  random_state r = random_from_seed(seed);
  for (int i = 0; i < NODES; i++)
    other[i] = (int)random_below(&r, (uint32_t)i + 1);
  put_text(&g, 2, "net");
  for (int i = 0; i < NODES; i++) {
    char inputs[32], output[16], name[16];
    const int n = place[i];
    snprintf(inputs, sizeof inputs, "v%d v%d", n, other[n]);
    snprintf(output, sizeof output, "v%d", n + 1);
    snprintf(name, sizeof name, "n%d", n);
    add_named(&g, name, "Add", inputs, output);
  }
  return g;
}

static message closed(message g, const char *output) {
  add_input(&g, "v0", FLOAT, "16");
  add_output(&g, output, FLOAT, "16");
  return g;
}

static void shuffle(int place[NODES], random_state *r) {
  for (int i = 0; i < NODES; i++) place[i] = i;
  for (int i = NODES - 1; i > 0; i--) {
    const uint32_t j = random_below(r, (uint32_t)i + 1);
    const int other = place[j];
    place[j] = place[i];
    place[i] = other;
  }
}

/* The graph `index` runs its operators so that each stands behind its sources;
   the bytes written in that order say so without a warning. */
static void check(message m, uint32_t index, bool sorted) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *g = &r->model.graphs.data[index];
  assert_int_equal(g->file_order_valid, sorted);
  assert_int_equal(strstr(r->warnings, "must run first") == NULL, sorted);
  for (uint32_t i = 0; i < NODES; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%u", i);
    assert_string_equal(g->ops.data[g->order[i]].name, name);
  }
  const op_id *sequences[] = {r->model.graphs.data[0].order, g->order};
  model_patch patch = {sequences, NULL, MODEL_PLAN_KEEP, NULL};
  file_pieces pieces = {0};
  message written = {0};
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(model_pieces(&pieces, &r->model, &patch, &a), CALM_OK);
  for (uint32_t i = 0; i < pieces.count; i++)
    put(&written, pieces.data[i].bytes, pieces.data[i].length);
  VECTOR_FREE(r->context, &pieces);
  arena_free(&a);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
  r = reading_of_model(&written);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->warning_count, 0);
  assert_true(r->model.graphs.data[index].file_order_valid);
  assert_int_equal(reading_end(r), 0);
  free(written.bytes);
}

static bool is_sorted(const int place[NODES]) {
  for (int i = 0; i < NODES; i++)
    if (place[i] != i) return false;
  return true;
}

static void in_the_entry(void **state) {
  (void)state;
  random_state r = random_from_seed(1);
  for (uint64_t seed = 0; seed < 100; seed++) {
    int place[NODES];
    shuffle(place, &r);
    if (seed == 0)
      for (int i = 0; i < NODES; i++) place[i] = i;
    char output[16];
    snprintf(output, sizeof output, "v%d", NODES);
    check(plain_model(closed(network(seed, place), output)), 0,
          is_sorted(place));
  }
}

static void in_a_body(void **state) {
  (void)state;
  random_state r = random_from_seed(2);
  for (uint64_t seed = 0; seed < 50; seed++) {
    int place[NODES];
    char output[16];
    message g = {0}, n = node("Loop", "count - x", "y"), body = {0};
    shuffle(place, &r);
    snprintf(output, sizeof output, "v%d", NODES);
    body = network(seed, place);
    add_input(&body, "i", INT64, "");
    add_input(&body, "more", BOOL, "");
    add_input(&body, "v0", FLOAT, "16");
    add_output(&body, "more", BOOL, "");
    add_output(&body, output, FLOAT, "16");
    put_text(&g, 2, "main");
    add_input(&g, "x", FLOAT, "16");
    add_input(&g, "count", INT64, "");
    put_message(&n, 5, graph_attribute_of("body", body));
    put_message(&g, 1, n);
    add_output(&g, "y", FLOAT, "16");
    check(plain_model(g), 1, is_sorted(place));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_entry),
                                     cmocka_unit_test(in_a_body)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
