#include "accel_layer_fixture.h"

#include "base/random.h"

/* Write the layer, read that, compare; leaves the text in `buffer`. */
static void check_round_trip(layer_fixture *f, char *buffer, size_t size) {
  const accel_layer before = f->layer;
  char *text;
  assert_int_equal(accel_layer_write(&text, &before, f->context), CALM_OK);
  layer_fixture_must_read(f, text);
  if (!accel_layer_equal(&before, &f->layer)) fail_msg("%s", text);
  assert_int_equal(before.macs, f->layer.macs);
  if (buffer) snprintf(buffer, size, "%s", text);
  /* and what is written a second time is the same text */
  char *again;
  f->layer.name = before.name;
  assert_int_equal(accel_layer_write(&again, &f->layer, f->context), CALM_OK);
  assert_string_equal(text, again);
  calm_text_free(f->context, text);
  calm_text_free(f->context, again);
}

static void shapes_of_timeloop_are_named(void **state) {
  (void)state;
  layer_fixture f;
  char text[2000];
  layer_fixture_open(&f, NULL);
  layer_fixture_must_read(
      &f,
      "problem: {shape: CNN_Layer, R: 3, S: 1, P: 8, Q: 1, C: 2, K: 4, "
      "N: 1, Wstride: 2}");
  check_round_trip(&f, text, sizeof text);
  assert_string_equal(text,
                      "# some: 192 multiply-accumulates\n"
                      "problem:\n"
                      "  version: 0.4\n"
                      "  shape: CNN_Layer\n"
                      "  instance:\n"
                      "    R: 3\n"
                      "    S: 1\n"
                      "    P: 8\n"
                      "    Q: 1\n"
                      "    C: 2\n"
                      "    K: 4\n"
                      "    N: 1\n"
                      "    Wdilation: 1\n"
                      "    Wstride: 2\n"
                      "    Hdilation: 1\n"
                      "    Hstride: 1\n");
  layer_fixture_close(&f);
}

static void other_shapes_are_written_out(void **state) {
  (void)state;
  layer_fixture f;
  char text[2000];
  layer_fixture_open(&f, NULL);
  /* a name of Timeloop's over another shape */
  layer_fixture_must_read(
      &f,
      "problem:\n  shape:\n    name: gemm_ABZ\n"
      "    dimensions: [M, K]\n"
      "    coefficients: [{name: sw, default: 3}]\n"
      "    data_spaces:\n"
      "    - {name: A, projection: [M, [[K, sw], [M, 4]]]}\n"
      "    - {name: B, projection: [[K, K], []]}\n"
      "    - {name: Z, projection: [], read_write: true}\n"
      "  instance: {M: 2, K: 5}\n");
  check_round_trip(&f, text, sizeof text);
  assert_string_equal(text,
                      "# some: 10 multiply-accumulates\n"
                      "problem:\n"
                      "  version: 0.4\n"
                      "  shape:\n"
                      "    name: gemm_ABZ\n"
                      "    dimensions: [M, K]\n"
                      "    coefficients:\n"
                      "    - {name: sw, default: 1}\n"
                      "    - {name: step_4, default: 1}\n"
                      "    - {name: step_2, default: 1}\n"
                      "    data_spaces:\n"
                      "    - name: A\n"
                      "      projection:\n"
                      "      - [[M]]\n"
                      "      - [[K, sw], [M, step_4]]\n"
                      "    - name: B\n"
                      "      projection:\n"
                      "      - [[K, step_2]]\n"
                      "      - []\n"
                      "    - name: Z\n"
                      "      projection: []\n"
                      "      read_write: true\n"
                      "  instance:\n"
                      "    M: 2\n"
                      "    K: 5\n"
                      "    sw: 3\n"
                      "    step_4: 4\n"
                      "    step_2: 2\n");
  layer_fixture_close(&f);
}

static void odd_names(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  layer_fixture_must_read(
      &f,
      "problem:\n  name: \"two\\nlines \\x7b%\"\n  shape:\n"
      "    name: \"a \\\"b\\\" \\\\ \\x7b\\x7b }\\n\\N\\L\\xe9\\U0001f600\"\n"
      "    dimensions: [step_2, M]\n"
      "    coefficients: [{name: Step_2x, default: 5}]\n"
      "    data_spaces:\n"
      "    - {name: no, projection: [[step_2, 2], [M, Step_2x]]}\n"
      "    - {name: Z, projection: [M], read_write: true}\n"
      "  instance: {step_2: 2, M: 5}\n");
  check_round_trip(&f, NULL, 0);
  layer_fixture_must_read(
      &f,
      "problem: {name: w, shape: cnn-layer, R: 3, S: 1, P: 8, Q: 1, C: 2, "
      "K: 4, N: 1, Wdilation: 0, Hstride: 0}");
  check_round_trip(&f, NULL, 0);
  layer_fixture_close(&f);
}

static void random_layers(void **state) {
  (void)state;
  layer_fixture f;
  random_state r = random_from_seed(4);
  for (int i = 0; i < 300; i++) {
    uint64_t v[13];
    layer_fixture_open(&f, NULL);
    for (int k = 0; k < 13; k++) v[k] = 1 + random_below(&r, 9);
    if (random_below(&r, 2)) v[7] = 1;
    const accel_convolution c = {v[0], v[1], v[2], v[3], v[4],  v[5],
                                 v[6], v[7], v[8], v[9], v[10], v[11]};
    assert_int_equal(accel_layer_convolution(&f.layer, "r", &c, &f.arena),
                     CALM_OK);
    check_round_trip(&f, NULL, 0);
    assert_int_equal(
        accel_layer_gemm(&f.layer, "g", v[0], v[1], v[2], &f.arena), CALM_OK);
    check_round_trip(&f, NULL, 0);
    layer_fixture_close(&f);
  }
}

/* A term of a projection, in one of its spellings. */
static char *print_term(char *out, random_state *r) {
  const uint32_t d = random_below(r, 4), c = random_below(r, 3);
  switch (random_below(r, 4)) {
    case 0: return out + sprintf(out, "d%u", d);
    case 1: return out + sprintf(out, "[d%u]", d);
    case 2: return out + sprintf(out, "[d%u, c%u]", d, c);
    default: return out + sprintf(out, "[d%u, %u]", d, 1 + c);
  }
}

static char *print_tensor(char *out, random_state *r, uint32_t t) {
  out += sprintf(out, "    - {name: t%u, read_write: %s, projection: [", t,
                 random_below(r, 2) ? "true" : "false");
  const uint32_t ranks = random_below(r, 4);
  for (uint32_t i = 0; i < ranks; i++) {
    const uint32_t terms = random_below(r, 4);
    out += sprintf(out, "%s[", i ? ", " : "");
    for (uint32_t k = 0; k < terms; k++) {
      if (k > 0) out += sprintf(out, ", ");
      out = print_term(out, r);
    }
    out += sprintf(out, "]");
  }
  return out + sprintf(out, "]}\n");
}

static void random_shapes(void **state) {
  (void)state;
  random_state r = random_from_seed(5);
  for (int i = 0; i < 2000; i++) {
    char text[4096], *out = text;
    layer_fixture f;
    out += sprintf(out,
                   "problem:\n  shape:\n    dimensions: [d0, d1, d2, d3]\n"
                   "    coefficients:\n");
    for (uint32_t c = 0; c < 3; c++)
      out += sprintf(out, "    - {name: c%u, default: %u}\n", c,
                     1 + random_below(&r, 5));
    out += sprintf(out, "    data_spaces:\n");
    const uint32_t tensors = 1 + random_below(&r, 3);
    for (uint32_t t = 0; t < tensors; t++) out = print_tensor(out, &r, t);
    out += sprintf(out, "  instance: {c1: 7");
    for (uint32_t d = 0; d < 4; d++)
      out += sprintf(out, ", d%u: %u", d, 1 + random_below(&r, 9));
    sprintf(out, "}\n");
    layer_fixture_open(&f, NULL);
    layer_fixture_must_read(&f, text);
    check_round_trip(&f, NULL, 0);
    layer_fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_of_timeloop_are_named),
      cmocka_unit_test(other_shapes_are_written_out),
      cmocka_unit_test(odd_names), cmocka_unit_test(random_layers),
      cmocka_unit_test(random_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
