/* Fields of messages, and bytes that are none. */
#include "onnx_builder.h"

#include "model/protobuf.h"

static proto_file file_of(calm_context *context, const message *m) {
  return (proto_file){context, "built", m->bytes, m->length};
}

static proto_cursor whole(const proto_file *file) {
  return proto_open(file, (proto_span){0, file->length});
}

static void fields_come_as_written(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  message m = {0};
  put_number(&m, 1, -1);
  put_text(&m, 2, "two");
  put_varint(&m, 3 << 3 | 5);
  put(&m, "\x78\x56\x34\x12", 4);
  put_varint(&m, 4 << 3 | 1);
  put(&m, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
  put_number(&m, 536870911, 300);
  proto_file file = file_of(context, &m);
  proto_cursor c = whole(&file);
  proto_field f;
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_int_equal(f.key, PROTO_KEY(1, PROTO_VARINT));
  assert_true(f.value == UINT64_MAX);
  assert_int_equal(f.all.end - f.all.begin, 11);
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_int_equal(f.key, PROTO_KEY(2, PROTO_BYTES));
  assert_memory_equal(m.bytes + f.span.begin, "two", 3);
  assert_int_equal(f.span.end - f.span.begin, 3);
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_int_equal(f.value, 0x12345678);
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_true(f.value == UINT64_C(0x0102030405060708));
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_int_equal(f.key >> 3, 536870911);
  assert_int_equal(f.value, 300);
  assert_false(proto_more(&c));
  free(m.bytes);
  calm_context_free(context);
}

static void groups_are_skipped_as_a_whole(void **state) {
  (void)state;
  static const char bytes[] =
      "\x0b"         /* group 1 */
      "\x13"         /* group 2 in it */
      "\x1a\x02\x0c" /* a string with bytes that look like ends */
      "\x0c"
      "\x14"  /* end of 2 */
      "\x08"  /* a number */
      "\x2a"  /* 42 */
      "\x0c"  /* end of 1 */
      "\x10"  /* field 2 */
      "\x07"; /* 7 */
  calm_context *context = calm_context_new(NULL);
  proto_file file = {context, "built", (const uint8_t *)bytes,
                     sizeof bytes - 1};
  proto_cursor c = whole(&file);
  proto_field f;
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_int_equal(f.key, PROTO_KEY(1, PROTO_GROUP));
  assert_int_equal(f.all.end, 10);
  assert_int_equal(proto_next(&f, &c), CALM_OK);
  assert_int_equal(f.value, 7);
  calm_context_free(context);
}

static void bytes_that_are_no_field_are_refused(void **state) {
  (void)state;
  char deep[PROTO_MAX_GROUPS + 2];
  memset(deep, 0x0b, sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  const struct {
    const char *bytes;
    size_t length;
    const char *words;
  } cases[] = {
      {"\x00", 1, "byte 0: no protobuf field begins here"},
      {"\x08", 1, "byte 1: the message ends inside a number"},
      {"\x08\x80", 2, "ends inside a number"},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "64 bits"},
      {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "64 bits"},
      {"\x12\x05hell", 6, "byte 0: a field of 5 bytes"},
      {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "a field of"},
      {"\x0d\x00\x00\x00", 4, "a field of 4 bytes"},
      {"\x0b\x08\x01", 3, "this group does not end"},
      {"\x0b\x14", 2, "byte 1: the end of a group that is not open"},
      {"\x0c", 1, "wire type 4"},
      {"\x0f", 1, "wire type 7"},
      {"\xf8\xff\xff\xff\x1f", 5, "no protobuf field"},
      {deep, PROTO_MAX_GROUPS + 1, "groups inside each other"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    calm_context *context = calm_context_new(NULL);
    proto_file file = {context, "built", (const uint8_t *)cases[i].bytes,
                       cases[i].length};
    proto_cursor c = whole(&file);
    proto_field f;
    assert_int_equal(proto_next(&f, &c), CALM_BAD_INPUT);
    if (!strstr(calm_context_message(context), cases[i].words))
      fail_msg("%s", calm_context_message(context));
    calm_context_free(context);
  }
}

static void numbers_are_gathered_packed_or_not(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  message m = {0}, packed = {0};
  arena a;
  uint64_t *numbers;
  uint32_t count;
  arena_init(&a, context);
  put_number(&m, 1, 5);
  put_number(&m, 2, 99);
  put_varint(&packed, 300);
  put_varint(&packed, 6);
  put_message(&m, 1, packed);
  put_number(&m, 1, -7);
  put_bytes(&m, 3, "\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  put_bytes(&m, 4, "\x01\x02\x03", 3);
  proto_file file = file_of(context, &m);
  proto_span all = {0, m.length};
  assert_int_equal(
      proto_numbers(&numbers, &count, &a, &file, all, 1, PROTO_VARINT),
      CALM_OK);
  assert_int_equal(count, 4);
  assert_int_equal(numbers[0], 5);
  assert_int_equal(numbers[1], 300);
  assert_int_equal(numbers[2], 6);
  assert_true((int64_t)numbers[3] == -7);
  assert_int_equal(
      proto_numbers(&numbers, &count, &a, &file, all, 3, PROTO_FIXED32),
      CALM_OK);
  assert_int_equal(count, 2);
  assert_int_equal(numbers[1], 0x40000000);
  assert_int_equal(
      proto_numbers(&numbers, &count, &a, &file, all, 9, PROTO_VARINT),
      CALM_OK);
  assert_int_equal(count, 0);
  assert_non_null(numbers);
  assert_int_equal(
      proto_numbers(&numbers, &count, &a, &file, all, 4, PROTO_FIXED32),
      CALM_BAD_INPUT);
  arena_free(&a);
  free(m.bytes);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_come_as_written),
      cmocka_unit_test(groups_are_skipped_as_a_whole),
      cmocka_unit_test(bytes_that_are_no_field_are_refused),
      cmocka_unit_test(numbers_are_gathered_packed_or_not)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
