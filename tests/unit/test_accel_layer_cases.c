/*
 * The published tables of layers: each row is read with the products that its
 * sizes make up, or refused for the reason that is listed here.
 */
#include <jansson.h>

#include "accel_layer_fixture.h"
#include "cases.h"

/* What becomes of the rows of a table. */
typedef enum outcome {
  READ,           /* without a remark */
  NO_SHAPE,       /* read as cnn-layer */
  DILATION_ZERO,  /* taken as it stands */
  STRIDE_SPELLED, /* HStride for Hstride */
  SPARSE,         /* a density of 0.5 */
  STRIDE_ZERO,    /* of a dimension of many steps */
  NO_LAYER,       /* lists of file names, counts of layers, shapes */
  BROKEN,         /* no YAML in the original either */
  OUTCOMES
} outcome;

static const char *const outcomes[OUTCOMES] = {
    "read",   "no shape",    "dilation 0", "stride spelled otherwise",
    "sparse", "stride of 0", "no layer",   "broken"};

static json_t *load(const char *file) {
  char name[256], path[1024];
  json_error_t error;
  snprintf(name, sizeof name, "mapping/%s", file);
  if (!cases_path(path, sizeof path, name)) return NULL;
  json_t *table = json_load_file(path, 0, &error);
  assert_non_null(table);
  return table;
}

/* Product of the dimensions that a row has, whatever its shape. */
static uint64_t count_products(json_t *sizes) {
  static const char *const names[] = {"R", "S", "P", "Q", "C",
                                      "K", "M", "N", "G"};
  uint64_t product = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    json_t *size = json_object_get(sizes, names[i]);
    if (size) product *= (uint64_t)json_integer_value(size);
  }
  return product;
}

static outcome remark(const layer_fixture *f) {
  if (f->warnings == 0) return READ;
  if (strstr(f->warning, "no 'shape'")) return NO_SHAPE;
  if (strstr(f->warning, "dilation is 0")) return DILATION_ZERO;
  assert_non_null(strstr(f->warning, "Stride' is taken for"));
  return STRIDE_SPELLED;
}

static outcome reason(const layer_fixture *f) {
  const char *message = calm_context_message(f->context);
  if (strstr(message, "sparse tensors")) return SPARSE;
  if (strstr(message, "stride is 0, but")) return STRIDE_ZERO;
  if (strstr(message, "a file begins with keys") ||
      strstr(message, "no layer: ") || strstr(message, "a shape without"))
    return NO_LAYER;
  fail_msg("%s", message);
  return OUTCOMES;
}

/* One row as a file; `sizes` is what its products are counted from. */
static outcome read_text(const char *text, json_t *sizes) {
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  const calm_status status =
      layer_fixture_read(&f, text, ACCEL_DILATION_LITERAL);
  const outcome found = status == CALM_OK ? remark(&f) : reason(&f);
  if (status == CALM_OK && sizes)
    assert_int_equal(f.layer.macs, count_products(sizes));
  layer_fixture_close(&f);
  return found;
}

static void compare(const char *table, const uint32_t *found,
                    const uint32_t *expected) {
  for (uint32_t i = 0; i < OUTCOMES; i++)
    if (found[i] != expected[i])
      fail_msg("%s: %u rows instead of %u: %s", table, found[i], expected[i],
               outcomes[i]);
}

/* ---- CoSA and DOSA ------------------------------------------------------- */

/* JSON is YAML, too. */
static outcome read_json(json_t *value, json_t *sizes) {
  char *text = json_dumps(value, JSON_PRESERVE_ORDER);
  const outcome found = read_text(text, sizes);
  free(text);
  return found;
}

/* CoSA's rows are the keys of `problem`; others stand under `value`. */
static outcome read_row(json_t *row) {
  json_t *value = json_object_get(row, "value");
  if (json_is_string(value)) return BROKEN;
  if (value) {
    json_t *problem = json_object_get(value, "problem");
    json_t *instance = json_object_get(problem, "instance");
    return read_json(value, instance ? instance : problem);
  }
  json_t *problem = json_deep_copy(row);
  json_object_del(problem, "file");
  json_t *file = json_pack("{s:o}", "problem", problem);
  const outcome found = read_json(file, problem);
  json_decref(file);
  return found;
}

static void check_table(const char *file, outcome (*read)(json_t *row),
                        const uint32_t *expected) {
  uint32_t found[OUTCOMES] = {0};
  const char *network;
  json_t *rows, *row;
  size_t i;
  json_t *table = load(file);
  if (!table) {
    print_message("skipped: no %s\n", file);
    skip();
  }
  json_object_foreach(json_object_get(table, "networks"), network, rows) {
    json_array_foreach(rows, i, row) found[read(row)]++;
  }
  json_decref(table);
  compare(file, found, expected);
}

static void cosa(void **state) {
  (void)state;
  static const uint32_t expected[OUTCOMES] = {
      [READ] = 397, [DILATION_ZERO] = 6, [NO_LAYER] = 13, [BROKEN] = 1};
  check_table("layers_cosa.json", read_row, expected);
}

static void dosa(void **state) {
  (void)state;
  static const uint32_t expected[OUTCOMES] = {
      [READ] = 452,      [NO_SHAPE] = 12, [DILATION_ZERO] = 6,
      [STRIDE_ZERO] = 4, [NO_LAYER] = 40, [BROKEN] = 2};
  check_table("layers_dosa.json", read_row, expected);
}

/* ---- Timeloop's exercises ------------------------------------------------ */

/* The shape that their template has; what a row leaves out is 1. */
static const char base[] =
    "{\"shape\": {\"name\": \"CNN_Layer\","
    "\"dimensions\": [\"C\", \"M\", \"R\", \"S\", \"N\", \"P\", \"Q\", \"G\"],"
    "\"coefficients\": [{\"name\": \"Wstride\", \"default\": 1},"
    "{\"name\": \"Hstride\", \"default\": 1},"
    "{\"name\": \"Wdilation\", \"default\": 1},"
    "{\"name\": \"Hdilation\", \"default\": 1}],"
    "\"data_spaces\": ["
    "{\"name\": \"Weights\", \"projection\":"
    "[[[\"C\"]], [[\"M\"]], [[\"R\"]], [[\"S\"]], [[\"G\"]]]},"
    "{\"name\": \"Inputs\", \"projection\": [[[\"N\"]], [[\"C\"]],"
    "[[\"R\", \"Wdilation\"], [\"P\", \"Wstride\"]],"
    "[[\"S\", \"Hdilation\"], [\"Q\", \"Hstride\"]], [[\"G\"]]]},"
    "{\"name\": \"Outputs\", \"projection\":"
    "[[[\"N\"]], [[\"M\"]], [[\"Q\"]], [[\"P\"]], [[\"G\"]]],"
    "\"read_write\": true}]}, \"instance\": {\"C\": 1, \"M\": 1, \"R\": 1,"
    "\"S\": 1, \"N\": 1, \"P\": 1, \"Q\": 1, \"G\": 1}}";

static outcome read_exercise(json_t *row) {
  char text[4096];
  json_error_t error;
  json_t *given = json_object_get(row, "instance");
  if (json_is_string(given)) {
    snprintf(text, sizeof text, "problem:\n  version: 0.4\n  instance:%s",
             json_string_value(given));
    return read_text(text, NULL);
  }
  json_t *problem = json_loads(base, 0, &error);
  json_t *instance = json_object_get(problem, "instance");
  json_object_update(instance, given);
  json_t *file = json_pack("{s:o}", "problem", problem);
  const outcome found = read_json(file, instance);
  json_decref(file);
  return found;
}

static void exercises(void **state) {
  (void)state;
  static const uint32_t expected[OUTCOMES] = {
      [READ] = 1343, [STRIDE_SPELLED] = 17, [SPARSE] = 3};
  check_table("layers_timeloop_exercises.json", read_exercise, expected);
}

/* ---- MAESTRO ------------------------------------------------------------- */

static uint64_t number(json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  return value ? (uint64_t)json_integer_value(value) : 1;
}

static uint64_t positions(uint64_t inputs, uint64_t taps, uint64_t stride) {
  return inputs < taps ? 0 : (inputs - taps) / stride + 1;
}

/* R and Y are vertical here, and X and Y sizes of the input, without padding.
   C counts all channels, K those of one group. */
static accel_convolution convolution_of(json_t *row) {
  json_t *dims = json_object_get(row, "dims");
  json_t *stride = json_object_get(row, "stride");
  const char *type = json_string_value(json_object_get(row, "type"));
  accel_convolution c = {.r = number(dims, "S"),
                         .s = number(dims, "R"),
                         .c = number(dims, "C"),
                         .k = number(dims, "K"),
                         .n = number(dims, "N"),
                         .groups = number(dims, "G"),
                         .stride_w = number(stride, "X"),
                         .stride_h = number(stride, "Y"),
                         .dilation_w = 1,
                         .dilation_h = 1};
  c.p = positions(number(dims, "X"), c.r, c.stride_w);
  c.q = positions(number(dims, "Y"), c.s, c.stride_h);
  if (!strcmp(type, "DSCONV")) c.groups = c.c;
  c.c /= c.groups;
  if (strcmp(type, "TRCONV")) return c;
  /* as wide a stride as the filter: each tap makes outputs of its own */
  c.k *= c.r * c.s;
  c.p = number(dims, "X");
  c.q = number(dims, "Y");
  c.r = c.s = 1;
  return c;
}

static void maestro(void **state) {
  (void)state;
  uint32_t read = 0, grouped = 0;
  const char *network;
  json_t *rows, *row;
  size_t i;
  json_t *table = load("layers_maestro.json");
  if (!table) {
    print_message("skipped: no layers_maestro.json\n");
    skip();
  }
  json_object_foreach(json_object_get(table, "networks"), network, rows) {
    json_array_foreach(rows, i, row) {
      layer_fixture f;
      const accel_convolution c = convolution_of(row);
      layer_fixture_open(&f, NULL);
      const calm_status status = accel_layer_convolution(
          &f.layer, json_string_value(json_object_get(row, "name")), &c,
          &f.arena);
      assert_int_equal(status, CALM_OK);
      assert_int_equal(f.layer.macs,
                       c.r * c.s * c.p * c.q * c.c * c.k * c.n * c.groups);
      read++;
      grouped += !strcmp(f.layer.shape, "grouped-cnn-layer");
      layer_fixture_close(&f);
    }
  }
  json_decref(table);
  assert_int_equal(read, 675);
  assert_int_equal(grouped, 70);
}

/* ---- Known sums ---------------------------------------------------------- */

/* Products of the layers that a network's list names. */
static uint64_t sum_listed(json_t *rows) {
  uint64_t sum = 0;
  json_t *row, *list = NULL, *name;
  size_t i, j;
  json_array_foreach(rows, i, row) {
    if (!strcmp(json_string_value(json_object_get(row, "file")), "layers.yaml"))
      list = json_object_get(row, "value");
  }
  json_array_foreach(list, j, name) {
    json_array_foreach(rows, i, row) {
      const char *file = json_string_value(json_object_get(row, "file"));
      const size_t length = strlen(json_string_value(name));
      if (!strncmp(file, json_string_value(name), length) &&
          !strcmp(file + length, ".yaml"))
        sum += count_products(row);
    }
  }
  return sum;
}

/* Products of whole networks, as they are known from elsewhere. */
static void known_sums(void **state) {
  (void)state;
  static const struct {
    const char *network;
    uint64_t macs;
  } known[] = {{"alexnet_graph", 714188480},
               {"vgg16_graph", 15470264320},
               {"resnet50_graph", 4089184256},
               {"resnet18_batch16_graph", UINT64_C(16) * 1814073344},
               {"resnext50_32x4d_graph", 4230479872},
               {"densenet161_graph", 7727907072}};
  json_t *table = load("layers_cosa.json");
  if (!table) {
    print_message("skipped: no layers_cosa.json\n");
    skip();
  }
  json_t *networks = json_object_get(table, "networks");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_int_equal(sum_listed(json_object_get(networks, known[i].network)),
                     known[i].macs);
  json_decref(table);
}

/* ---- Files --------------------------------------------------------------- */

/* Problem files of others, with the products that they are known to have. */
static void files(void **state) {
  (void)state;
  static const struct {
    const char *file, *shape;
    uint64_t macs;
  } rows[] = {
      {"ispass2020/00-model-conv1d-1level/prob/conv1d.prob.yaml", "Conv1D", 48},
      {"ispass2020/02-model-conv1d+oc-2level/prob/conv1d+oc.prob.yaml",
       "Conv1D_OC", 1536},
      {"ispass2020/06-mapper-convlayer-eyeriss/prob/VGG02_layer5.yaml",
       "CNN_Layer", 924844032},
      {"example_designs/_include/default_problem.yaml", "conv2D", 10838016},
      {"timeloop_python/mm.workload.yaml", "inline", 64},
      {"timeloop_python/arch_nest.yaml", "inline", 6},
      {"timeloop_repo/sample.yaml", "cnn_layer", 3317760},
      {"timeloop_repo/eyeriss-256.yaml", "cnn-layer", 1849688064},
      {"timeloop_repo/chen-asplos2014.yaml", "cnn-layer", 37748736},
  };
  uint32_t absent = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char name[256], path[1024];
    accel_yaml *root;
    layer_fixture f;
    snprintf(name, sizeof name, "mapping/%s", rows[i].file);
    if (!cases_path(path, sizeof path, name)) {
      absent++;
      continue;
    }
    layer_fixture_open(&f, NULL);
    assert_int_equal(accel_yaml_open(&root, path, &f.arena), CALM_OK);
    if (accel_layer_read(&f.layer, root, ACCEL_DILATION_LITERAL, &f.arena))
      fail_msg("%s", calm_context_message(f.context));
    assert_string_equal(f.layer.shape, rows[i].shape);
    assert_int_equal(f.layer.macs, rows[i].macs);
    layer_fixture_close(&f);
  }
  if (!absent) return;
  print_message("skipped: %u problem files absent\n", absent);
  skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cosa),       cmocka_unit_test(dosa),
      cmocka_unit_test(exercises),  cmocka_unit_test(maestro),
      cmocka_unit_test(known_sums), cmocka_unit_test(files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
