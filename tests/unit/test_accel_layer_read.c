#include "accel_layer_fixture.h"

#include "scarce.h"

#define TENSORS                                   \
  "    data_spaces:\n"                            \
  "    - {name: A, projection: [[[M]], [[K]]]}\n" \
  "    - {name: Z, projection: [[[M]]], read_write: true}\n"
#define SHAPE "  shape:\n    dimensions: [M, K]\n" TENSORS

/* ---- What is read -------------------------------------------------------- */

static void flat_and_instance(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  layer_fixture_must_read(
      &f,
      "problem:\n  shape: cnn_layer\n  R: 3\n  S: 1\n  P: 8\n  Q: 1\n"
      "  C: 2\n  K: 4\n  N: 1\n  Wstride: 2\n");
  const accel_layer flat = f.layer;
  assert_int_equal(flat.macs, 3 * 8 * 2 * 4);
  assert_string_equal(flat.name, "some");
  assert_string_equal(flat.shape, "cnn_layer");
  assert_int_equal(layer_fixture_words(&f, "Inputs"), 2 * (7 * 2 + 2 + 1));
  layer_fixture_must_read(
      &f,
      "problem:\n  version: 0.3\n  name: mine\n  shape: cnn_layer\n"
      "  instance: {R: 3, S: 1, P: 8, Q: 1, C: 2, K: 4, N: 1, Wstride: 2,\n"
      "    H: 9, Wpad: 1, Hin: 3}\n");
  assert_true(accel_layer_equal(&flat, &f.layer));
  assert_string_equal(f.layer.name, "mine");
  assert_int_equal(f.warnings, 0);
  layer_fixture_must_read(&f,
                          "problem: {R: 3, S: 1, P: 8, Q: 1, C: 2, K: 4, "
                          "N: 1, Wstride: 2}\n");
  assert_int_equal(f.warnings, 1);
  assert_non_null(strstr(f.warning, "some.yaml:1: no 'shape'"));
  assert_int_equal(f.layer.macs, flat.macs);
  layer_fixture_close(&f);
}

/* The same convolution in every spelling of a projection. */
static void projections(void **state) {
  (void)state;
  static const char *const windows[] = {
      "[ [ [P, sw], [R] ] ]",
      "[ [ [P, sw], R ] ]",
      "[ [ [P, 2], [R] ] ]",
      "[ [ [R], [P, sw] ] ]",
      "\n      - - - R\n        - - P\n          - sw",
  };
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    char text[500];
    snprintf(
        text, sizeof text,
        "problem:\n  shape:\n    name: thing\n    dimensions: [P, R, T_1]\n"
        "    coefficients:\n    - {name: sw, default: 2}\n"
        "    data-spaces:\n    - name: I\n      projection: %s\n"
        "    - {name: W, projection: [R, T_1]}\n"
        "    - {name: X, projection: [[R], [T_1]]}\n"
        "    - {name: O, projection: [[P, sw]], read-write: True}\n"
        "    - {name: D, projection: [[P, P]], read-write: True}\n"
        "    - {name: One, projection: [[]]}\n"
        "    - {name: None, projection: []}\n"
        "  instance: {P: 5, R: 3, T-1: 4}\n",
        windows[i]);
    layer_fixture_must_read(&f, text);
    assert_string_equal(f.layer.shape, "thing");
    assert_int_equal(layer_fixture_words(&f, "I"), 4 * 2 + 2 + 1);
    assert_int_equal(layer_fixture_words(&f, "W"), 3 * 4);
    assert_int_equal(layer_fixture_words(&f, "X"), 3 * 4);
    assert_int_equal(layer_fixture_words(&f, "O"), 4 * 2 + 1);
    assert_int_equal(layer_fixture_words(&f, "D"), 4 * 2 + 1);
    assert_int_equal(layer_fixture_words(&f, "One"), 1);
    assert_int_equal(layer_fixture_words(&f, "None"), 1);
    assert_int_equal(f.layer.tensors[4].ranks[0].term_count, 1);
  }
  assert_int_equal(f.warnings, 0);
  layer_fixture_close(&f);
}

static void built_in_shapes(void **state) {
  (void)state;
  static const struct {
    const char *text, *tensor;
    uint64_t macs, words;
  } rows[] = {
      {"problem: {shape: gemm_ABZ, M: 2, N: 3, K: 5}", "Z", 30, 6},
      {"problem: {shape: gemm-ABZ.yaml, M: 2, N: 3, K: 5}", "B", 30, 15},
      {"problem: {shape: gemm, M: 2, N: 3, K: 5}", "D", 30, 6},
      {"problem: {shape: grouped_cnn_layer, R: 3, S: 3, P: 4, Q: 4, C: 2, "
       "K: 3, G: 5, N: 1}",
       "Weights", 9 * 16 * 6 * 5, 9 * 6 * 5},
      {"problem: {shape: dw-cnn-layer, R: 3, S: 3, P: 4, Q: 4, C: 2, N: 1, "
       "Wstride: 2, Hstride: 2}",
       "Inputs", 9 * 16 * 2, 9 * 9 * 2},
      {"problem: {shape: 3d-CNN-Layer, R: 3, S: 3, T: 3, P: 4, Q: 4, F: 4, "
       "C: 2, K: 3, N: 1}",
       "Inputs", 27 * 64 * 6, 6 * 6 * 6 * 2},
  };
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    layer_fixture_must_read(&f, rows[i].text);
    assert_int_equal(f.layer.macs, rows[i].macs);
    assert_int_equal(layer_fixture_words(&f, rows[i].tensor), rows[i].words);
  }
  assert_int_equal(f.warnings, 0);
  layer_fixture_close(&f);
}

static void values_are_expressions(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  layer_fixture_must_read(
      &f,
      "variables: {version: 0.4, BITS: 4, batch: BITS + 1}\n"
      "problem: {shape: gemm_ABZ, M: BITS, N: batch * 2, K: M // 2}\n");
  assert_int_equal(layer_fixture_bound(&f, "M"), 4);
  assert_int_equal(layer_fixture_bound(&f, "N"), 10);
  assert_int_equal(layer_fixture_bound(&f, "K"), 2);
  layer_fixture_close(&f);
}

/* ---- Strides, dilations -------------------------------------------------- */

#define ONE "problem: {shape: cnn-layer, S: 1, Q: 1, C: 1, K: 1, N: 1, "

static void spellings_of_strides(void **state) {
  (void)state;
  static const char *const spelled[] = {"WStride", "wstride", "W_stride",
                                        "w-stride", "WSTRIDE"};
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  for (uint32_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
    char text[200];
    snprintf(text, sizeof text, ONE "R: 3, P: 4, %s: 5}", spelled[i]);
    layer_fixture_must_read(&f, text);
    assert_int_equal(layer_fixture_words(&f, "Inputs"), 3 * 5 + 2 + 1);
    assert_int_equal(f.warnings, i + 1);
    assert_non_null(strstr(f.warning, spelled[i]));
    assert_non_null(strstr(f.warning, "'Wstride'"));
  }
  layer_fixture_close(&f);
}

static void zeros(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  /* nothing is moved: no stride and no dilation is too small */
  layer_fixture_must_read(&f, ONE "R: 3, P: 4, Hstride: 0, Hdilation: 0}");
  assert_int_equal(f.warnings, 0);
  /* the filter stands still */
  layer_fixture_must_read(&f, ONE "R: 3, P: 4, Wdilation: 0}");
  assert_int_equal(f.warnings, 1);
  assert_non_null(strstr(f.warning, "Wdilation is 0"));
  assert_non_null(strstr(f.warning, "--dilation-zero one"));
  assert_int_equal(layer_fixture_words(&f, "Inputs"), 4);
  assert_int_equal(f.layer.tensors[1].dimensions & 1, 0);
  assert_int_equal(layer_fixture_words(&f, "Weights"), 3);
  assert_int_equal(layer_fixture_read(&f, ONE "R: 3, P: 4, Wdilation: 0}",
                                      ACCEL_DILATION_ONE),
                   CALM_OK);
  assert_int_equal(f.warnings, 1);
  assert_int_equal(layer_fixture_words(&f, "Inputs"), 6);
  assert_int_equal(
      layer_fixture_read(&f, ONE "R: 3, P: 4, Wstride: 0}", ACCEL_DILATION_ONE),
      CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f.context),
                      "dir/some.yaml:1:80: Wstride is 0, but P, which it "
                      "moves, has 4 steps; it may be 0 only where that is 1");
  layer_fixture_close(&f);
}

static void nothing_is_written(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  layer_fixture_must_read(&f,
                          "problem:\n  shape:\n    dimensions: [M]\n"
                          "    data_spaces:\n"
                          "    - {name: A, projection: [M]}\n  M: 3\n");
  assert_int_equal(f.warnings, 1);
  assert_non_null(strstr(f.warning, "some.yaml:5: no data space"));
  assert_string_equal(f.layer.shape, "inline");
  layer_fixture_close(&f);
}

/* ---- What is refused ----------------------------------------------------- */

typedef struct refusal {
  const char *text, *message;
  calm_status status;
} refusal;

static void check_refusals(const refusal *rows, size_t count) {
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  for (size_t i = 0; i < count; i++) {
    const calm_status status =
        layer_fixture_read(&f, rows[i].text, ACCEL_DILATION_LITERAL);
    const char *message = calm_context_message(f.context);
    if (status == CALM_OK || !strstr(message, rows[i].message))
      fail_msg("%s\nsays '%s'\ninstead of '%s'", rows[i].text,
               status ? message : "nothing", rows[i].message);
    assert_int_equal(status, rows[i].status);
  }
  layer_fixture_close(&f);
}

static void sections_refused(void **state) {
  (void)state;
  static const refusal rows[] = {
      {"", "some.yaml:1:1: the file is empty", CALM_BAD_INPUT},
      {"arch: {}\nmapper: {}\n",
       "no layer: it stands under 'problem:', and "
       "the file has the sections arch, mapper",
       CALM_BAD_INPUT},
      {"shape: {dimensions: [M]}\n", "a shape without a layer", CALM_BAD_INPUT},
      {"problem: 3\n", "'problem' is a mapping", CALM_BAD_INPUT},
      {"problem: [{}]\n", "'problem' is a list", CALM_UNSUPPORTED},
      {"problem: {version: 0.5}\n", "1:20: version 0.5", CALM_UNSUPPORTED},
      {"problem: {shape: cnn-layer, instance: 3}\n", "'instance' is a mapping",
       CALM_BAD_INPUT},
      {"problem: {shape: depthwise}\n",
       "1:18: no built-in shape 'depthwise'; there are cnn-layer, gemm_ABZ",
       CALM_BAD_INPUT},
      {"problem: {shape: shapes/cnn-layer.yaml}\n", "No directory is searched",
       CALM_BAD_INPUT},
      {"problem: {shape: [M]}\n", "'shape' is a name or a mapping",
       CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, instance: {M: 3, N: 3, K: 3}}\n",
       "1:28: 'M' stands beside 'instance'", CALM_BAD_INPUT},
  };
  check_refusals(rows, sizeof rows / sizeof *rows);
}

static void instances_refused(void **state) {
  (void)state;
  static const refusal rows[] = {
      {"problem: {shape: gemm_ABZ, M: 3, N: 3}\n",
       "no bound for dimension K of the shape gemm_ABZ", CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: 0, K: 3}\n",
       "1:37: dimension N is 0", CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: -1, K: 3}\n", "N is '-1'",
       CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: BATCH, K: 3}\n", "BATCH",
       CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: K, K: N}\n", "stand for each other",
       CALM_UNSUPPORTED},
      {"problem: {shape: gemm_ABZ, M: 3, N: 1.5, K: 3}\n", "N is '1.5'",
       CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: [1], K: 3}\n", "N is a list",
       CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, P: 3}\n",
       "1:46: the shape gemm_ABZ has no 'P'; its dimensions are M, N, K",
       CALM_BAD_INPUT},
      {ONE "R: 3, P: 3, Wstrid: 2}\n",
       "the shape cnn-layer has no 'Wstrid'; did you mean 'Wstride'?",
       CALM_BAD_INPUT},
      {ONE "R: 3, P: 3, padding: 2}\n", "the shape cnn-layer has no 'padding'",
       CALM_BAD_INPUT},
      {ONE "R: 3, P: 3, Wstride: 2, WStride: 3}\n",
       "'Wstride' is given already, in line 1", CALM_BAD_INPUT},
      {ONE "R: 3, P: 3, Wstride: two}\n", "Wstride is 'two'", CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 4294967296, N: 4294967296, K: 3}\n",
       "1:10: the dimensions of layer 'some' make up more than 2^53",
       CALM_BAD_INPUT},
      {ONE "R: 3, P: 3, Wstride: 9007199254740992}\n",
       "Inputs of layer 'some' spans more than 2^53 words", CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, densities: {A: 0.5}}\n",
       "1:61: sparse tensors", CALM_UNSUPPORTED},
      {"problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, densities: {A: "
       "{distribution: fixed_structured, density: 0.5}}}\n",
       "sparse tensors", CALM_UNSUPPORTED},
      {"problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, commonDensity: 0.1}\n",
       "sparse tensors", CALM_UNSUPPORTED},
      {"problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, densities: {C: 1.0}}\n",
       "no data space 'C'", CALM_BAD_INPUT},
      {"problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, densities: 1}\n",
       "'densities' is a mapping", CALM_BAD_INPUT},
  };
  check_refusals(rows, sizeof rows / sizeof *rows);
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  layer_fixture_must_read(
      &f,
      "problem: {shape: gemm_ABZ, M: 3, N: 3, K: 3, densities: {A: 1.0, "
      "B: {distribution: fixed_structured, density: 1}}}\n");
  layer_fixture_close(&f);
}

#define DATA(rest)                                                     \
  "problem:\n  shape:\n    dimensions: [M, Row]\n"                     \
  "    coefficients: [{name: stride, default: 1}]\n    data_spaces:\n" \
  "    - {name: A, read_write: true, projection: " rest

static void shapes_refused(void **state) {
  (void)state;
  static const refusal rows[] = {
      {"problem:\n  shape: {name: cnn-layer}\n",
       "this shape has no 'dimensions'", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M]}\n",
       "this shape has no 'data_spaces'", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: M}\n",
       "'dimensions' of a shape is a list", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: []}\n", "at least one dimension",
       CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M, M]}\n",
       "2:27: 'M' is the name of a dimension already", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M N]}\n", "a dimension is 'M N'",
       CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M], data_spaces: []}\n",
       "at least one data space", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M], flatten: []}\n",
       "2:28: flattened dimensions", CALM_UNSUPPORTED},
      {"problem:\n  shape: {dimensions: [M], read-write: true}\n",
       "belongs to one of data_spaces", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M], dataspaces: []}\n",
       "a shape has no key 'dataspaces'; did you mean 'data_spaces'?",
       CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M], coefficients: [{default: 1}]}\n",
       "this coefficient has no 'name'", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M], coefficients: [s]}\n",
       "a coefficient is a mapping", CALM_BAD_INPUT},
      {"problem:\n  shape: {dimensions: [M], coefficients: [{name: M}]}\n",
       "'M' is the name of a dimension already", CALM_BAD_INPUT},
      {DATA("[[[Rov]]]}\n"),
       "6:50: the shape has no dimension 'Rov'; did you mean 'Row'",
       CALM_BAD_INPUT},
      {DATA("[[[M, strid]]]}\n"),
       "no coefficient 'strid'; did you mean 'stride'?", CALM_BAD_INPUT},
      {DATA("[[[M, Row]]]}\n"), "pair of brackets of its own", CALM_BAD_INPUT},
      {DATA("[[[stride, M]]]}\n"), "'stride' is a coefficient; in a projection",
       CALM_BAD_INPUT},
      {DATA("[[[M, stride, Row]]]}\n"), "a product is", CALM_BAD_INPUT},
      {DATA("[[[M, 0]]]}\n"), "a factor of 0", CALM_BAD_INPUT},
      {DATA("[[[M, 010]]]}\n"), "write 10 or 8", CALM_BAD_INPUT},
      {DATA("[M*stride + Row]}\n"), "a sum of products is written",
       CALM_BAD_INPUT},
      {DATA("M Row}\n"), "'projection' of a data space is a list",
       CALM_BAD_INPUT},
      {DATA("[{M: 1}]}\n"), "a coordinate of a tensor is a list",
       CALM_BAD_INPUT},
      {DATA("[M]}\n    - {name: A, projection: [M]}\n"),
       "7:14: there is a data space 'A' already", CALM_BAD_INPUT},
      {DATA("[M]}\n    - {projection: [M]}\n"), "this data space has no 'name'",
       CALM_BAD_INPUT},
      {DATA("[M], density: 0.3}\n"), "a density of 0.3", CALM_UNSUPPORTED},
      {DATA("[M], write: true}\n"), "a data space has no key 'write'",
       CALM_BAD_INPUT},
      {DATA("[M]}\n    - {name: B, read_write: maybe, projection: [M]}\n"),
       "read_write is 'maybe'", CALM_BAD_INPUT},
  };
  check_refusals(rows, sizeof rows / sizeof *rows);
}

/* `count` names with a comma between them. */
static void list_names(char *out, const char *format, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    out += sprintf(out, format, i ? "," : "", i);
}

static void too_many(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  char names[8000], text[9000];
  list_names(names, "%sd%u", ACCEL_MAX_DIMENSIONS + 1);
  snprintf(text, sizeof text, "problem:\n  shape: {dimensions: [%s]}\n", names);
  assert_int_equal(layer_fixture_read(&f, text, ACCEL_DILATION_LITERAL),
                   CALM_UNSUPPORTED);
  assert_non_null(
      strstr(calm_context_message(f.context), "33 dimensions; calm can"));
  list_names(names, "%s{name: t%u, projection: []}", ACCEL_MAX_TENSORS + 1);
  snprintf(text, sizeof text,
           "problem:\n  shape: {dimensions: [M], data_spaces: [%s]}\n", names);
  assert_int_equal(layer_fixture_read(&f, text, ACCEL_DILATION_LITERAL),
                   CALM_UNSUPPORTED);
  list_names(names, "%s{name: c%u, default: 1}", 65);
  snprintf(text, sizeof text,
           "problem:\n  shape: {dimensions: [M], coefficients: [%s]}\n", names);
  assert_int_equal(layer_fixture_read(&f, text, ACCEL_DILATION_LITERAL),
                   CALM_UNSUPPORTED);
  layer_fixture_close(&f);
}

static void without_memory(void **state) {
  (void)state;
  for (uint64_t grants = 0;; grants++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    layer_fixture f;
    char *text = NULL;
    layer_fixture_open(&f, &allocator);
    left = grants;
    calm_status status =
        layer_fixture_read(&f, "problem:\n" SHAPE "  instance: {M: 3, K: 4}\n",
                           ACCEL_DILATION_LITERAL);
    if (status == CALM_OK)
      status = accel_layer_write(&text, &f.layer, f.context);
    left = SCARCE_NEVER;
    calm_text_free(f.context, text);
    layer_fixture_close(&f);
    if (status == CALM_OK) return;
    assert_int_equal(status, CALM_NO_MEMORY);
    assert_true(grants < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(flat_and_instance),
                                     cmocka_unit_test(projections),
                                     cmocka_unit_test(built_in_shapes),
                                     cmocka_unit_test(values_are_expressions),
                                     cmocka_unit_test(spellings_of_strides),
                                     cmocka_unit_test(zeros),
                                     cmocka_unit_test(nothing_is_written),
                                     cmocka_unit_test(sections_refused),
                                     cmocka_unit_test(instances_refused),
                                     cmocka_unit_test(shapes_refused),
                                     cmocka_unit_test(too_many),
                                     cmocka_unit_test(without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
