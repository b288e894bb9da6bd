/* FlatBuffers that are written, read by the accessors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/flatbuffer_build.h"

typedef struct building {
  calm_context *context;
  flat_builder b;
  flat_file file;
} building;

static void begin(building *f, size_t limit) {
  f->context = calm_context_new(NULL);
  assert_int_equal(flat_build_init(&f->b, f->context, "built", limit, "TEST"),
                   CALM_OK);
}

static const flat_file *view(building *f) {
  f->file = (flat_file){f->context, "built", f->b.bytes.data, f->b.bytes.count};
  return &f->file;
}

static void end(building *f) {
  flat_build_free(&f->b);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

static void numbers_lie_where_they_may(void **state) {
  (void)state;
  building f;
  flat_draft draft = {0};
  begin(&f, 1 << 10);
  flat_draft_number(&draft, 0, 1, 7, 0);
  flat_draft_number(&draft, 1, 8, UINT64_C(1) << 40, 0);
  flat_draft_number(&draft, 2, 2, 300, 0);
  flat_draft_number(&draft, 3, 4, 5, 5); /* what an absent one means */
  flat_draft_number(&draft, 4, 4, UINT32_MAX, 0);
  assert_int_equal(flat_build_table(&f.b, 0, &draft), CALM_OK);
  const flat_file *file = view(&f);
  const flat_table root = flat_root(file);
  assert_int_equal(flat_u8(file, root, 0, 0), 7);
  assert_true(flat_u64(file, root, 1, 0) == UINT64_C(1) << 40);
  assert_int_equal(flat_place(file, root, 1) % 8, 0);
  assert_int_equal(flat_place(file, root, 2) % 2, 0);
  assert_int_equal(flat_place(file, root, 3), 0);
  assert_int_equal(flat_i32(file, root, 4, 0), -1);
  end(&f);
}

static void equal_field_lists_are_one(void **state) {
  (void)state;
  building f;
  flat_draft root = {0}, child = {0};
  size_t first;
  begin(&f, 1 << 10);
  flat_draft_object(&root, 3, true);
  flat_draft_number(&child, 0, 4, 1, 0);
  assert_int_equal(flat_build_table(&f.b, 0, &root), CALM_OK);
  assert_int_equal(flat_build_offsets(&first, &f.b, root.places[3], 2),
                   CALM_OK);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(flat_build_table(&f.b, first + 4 * (size_t)i, &child),
                     CALM_OK);
  const flat_file *file = view(&f);
  const flat_vector list = flat_vector_of(file, flat_root(file), 3, 4);
  assert_int_equal(list.count, 2);
  const flat_table a = flat_table_at(file, list, 0);
  const flat_table b = flat_table_at(file, list, 1);
  assert_int_not_equal(a, b);
  assert_int_equal(flat_vtable(file, a), flat_vtable(file, b));
  assert_int_not_equal(flat_vtable(file, a),
                       flat_vtable(file, flat_root(file)));
  end(&f);
}

static void vectors_are_aligned(void **state) {
  static const uint64_t wide[] = {1, 2};
  (void)state;
  building f;
  flat_draft root = {0};
  begin(&f, 1 << 10);
  for (unsigned slot = 0; slot < 4; slot++)
    flat_draft_object(&root, slot, true);
  assert_int_equal(flat_build_table(&f.b, 0, &root), CALM_OK);
  assert_int_equal(flat_build_text(&f.b, root.places[0], "abc", 3), CALM_OK);
  assert_int_equal(flat_build_numbers(&f.b, root.places[1], wide, 2, 8),
                   CALM_OK);
  assert_int_equal(flat_build_bytes(&f.b, root.places[2], "x", 1, 0), CALM_OK);
  assert_int_equal(flat_build_bytes(&f.b, root.places[3], "yz", 2, 28),
                   CALM_OK);
  const flat_file *file = view(&f);
  const flat_table table = flat_root(file);
  const flat_string text = flat_string_of(file, table, 0);
  assert_int_equal(text.length, 3);
  assert_string_equal(text.text, "abc"); /* a zero follows */
  assert_int_equal(flat_vector_of(file, table, 1, 8).position % 8, 0);
  assert_int_equal(flat_vector_of(file, table, 1, 8).count, 2);
  assert_int_equal(flat_vector_of(file, table, 2, 1).position % 16, 0);
  assert_int_equal(flat_vector_of(file, table, 3, 1).position % 16, 28 % 16);
  end(&f);
}

static void no_more_than_the_limit_is_written(void **state) {
  static const uint8_t bytes[64];
  (void)state;
  building f;
  flat_draft root = {0};
  begin(&f, 64);
  flat_draft_object(&root, 0, true);
  assert_int_equal(flat_build_table(&f.b, 0, &root), CALM_OK);
  assert_int_equal(flat_build_bytes(&f.b, root.places[0], bytes, 64, 0),
                   CALM_UNSUPPORTED);
  assert_non_null(strstr(calm_context_message(f.context), "overlap"));
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_lie_where_they_may),
      cmocka_unit_test(equal_field_lists_are_one),
      cmocka_unit_test(vectors_are_aligned),
      cmocka_unit_test(no_more_than_the_limit_is_written)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
