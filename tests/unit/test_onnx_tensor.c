/* Weights: data inside and outside of the file, small contents. */
#include "onnx_builder.h"

#include "model/onnx_parts.h"

/* A reader of one tensor. */
typedef struct bench {
  calm_context *context;
  calm_model model;
  onnx_reader r;
  onnx_tensor tensor;
  const char *name;
  calm_status status;
} bench;

static void read_tensor(bench *b, const message *m) {
  b->context = calm_context_new(NULL);
  model_init(&b->model, b->context, "built");
  b->model.map = (file_map){m->bytes, m->length};
  onnx_reader_init(&b->r, &b->model);
  b->status =
      onnx_read_tensor(&b->tensor, &b->name, &b->r, (proto_span){0, m->length});
}

static void end(bench *b, message *m) {
  onnx_reader_free(&b->r);
  model_clear(&b->model);
  assert_int_equal(calm_context_bytes(b->context), 0);
  calm_context_free(b->context);
  free(m->bytes);
}

static void small_contents_are_read(void **state) {
  (void)state;
  bench b;
  message m = integers("shape", "1,-1,300");
  read_tensor(&b, &m);
  assert_int_equal(b.status, CALM_OK);
  assert_string_equal(b.name, "shape");
  assert_int_equal(b.tensor.contents.count, 3);
  assert_int_equal(b.tensor.contents.integers[1], -1);
  assert_int_equal(b.tensor.contents.integers[2], 300);
  end(&b, &m);
  m = weight("raw", INT64, "2");
  put_bytes(&m, 9, "\x05\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  read_tensor(&b, &m);
  assert_int_equal(b.tensor.contents.integers[0], 5);
  assert_int_equal(b.tensor.contents.integers[1], -1);
  assert_int_equal(b.tensor.length, 16);
  end(&b, &m);
  m = weight("bytes", INT8, "2");
  put_bytes(&m, 9, "\x7f\x80", 2);
  read_tensor(&b, &m);
  assert_int_equal(b.tensor.contents.integers[0], 127);
  assert_int_equal(b.tensor.contents.integers[1], -128);
  end(&b, &m);
  m = weight("scale", FLOAT, "");
  put_bytes(&m, 4, "\0\0\0\x40", 4);
  read_tensor(&b, &m);
  assert_int_equal(b.tensor.rank, 0);
  assert_true(b.tensor.contents.reals[0] == 2.0);
  end(&b, &m);
}

static void others_stay_where_they_are(void **state) {
  (void)state;
  bench b;
  message m = weight("large", FLOAT, "65");
  uint8_t data[260] = {1};
  put_bytes(&m, 9, data, sizeof data);
  read_tensor(&b, &m);
  assert_null(b.tensor.contents.reals);
  assert_ptr_equal(b.tensor.bytes, m.bytes + m.length - sizeof data);
  end(&b, &m);
  m = weight("stripped", INT64, "3");
  read_tensor(&b, &m);
  assert_int_equal(b.status, CALM_OK);
  assert_null(b.tensor.contents.integers);
  end(&b, &m);
  m = weight("odd", 99, "3");
  read_tensor(&b, &m);
  assert_int_equal(b.status, CALM_OK);
  end(&b, &m);
  m = weight("negative", FLOAT, "3,-1");
  read_tensor(&b, &m);
  assert_int_equal(b.status, CALM_BAD_INPUT);
  end(&b, &m);
}

static void add_entry(message *tensor, const char *key, const char *value) {
  message entry = {0};
  put_text(&entry, 1, key);
  put_text(&entry, 2, value);
  put_message(tensor, 13, entry);
}

static void external_data_stay_outside(void **state) {
  (void)state;
  bench b;
  message m = weight("w", INT64, "2");
  add_entry(&m, "location", "weights/a..b.bin");
  add_entry(&m, "offset", "4096");
  add_entry(&m, "length", "16");
  put_number(&m, 14, 1);
  read_tensor(&b, &m);
  assert_int_equal(b.status, CALM_OK);
  assert_true(b.tensor.external);
  assert_int_equal(b.tensor.length, 16);
  assert_null(b.tensor.bytes);
  assert_null(b.tensor.contents.integers);
  assert_string_equal(b.model.external, "weights/a..b.bin");
  end(&b, &m);
}

static void external_paths_do_not_leave_the_folder(void **state) {
  (void)state;
  static const char *const paths[] = {
      "/etc/passwd", "../secret", "a/../../secret", "a/..", "..", "",
      "a\\..\\b",    "\\\\host",  "C:data"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    bench b;
    message m = weight("w", FLOAT, "2");
    add_entry(&m, "location", paths[i]);
    put_number(&m, 14, 1);
    read_tensor(&b, &m);
    assert_int_equal(b.status, CALM_BAD_INPUT);
    assert_non_null(strstr(calm_context_message(b.context),
                           "inside the folder of the model"));
    end(&b, &m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_contents_are_read),
      cmocka_unit_test(others_stay_where_they_are),
      cmocka_unit_test(external_data_stay_outside),
      cmocka_unit_test(external_paths_do_not_leave_the_folder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
