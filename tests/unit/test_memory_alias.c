/* Which tensors lie in others, and where. */
#include "memory/memory_alias.h"

#include "memory_graphs.h"

static memory_model tiling_model(fixture *f, const char *words) {
  memory_model model = model_of(f->context, words);
  bits_add(model.views, OP_slice);
  bits_add(model.views, OP_concat);
  return model;
}

static memory_alias *aliases_of(fixture *f) {
  memory_alias *out;
  const memory_model model = tiling_model(f, "tflm");
  assert_int_equal(memory_alias_find(&out, f->g, &model, &f->arena), CALM_OK);
  return out;
}

static void expect(const fixture *f, const memory_alias *aliases,
                   const char *name, const char *base, uint64_t place) {
  const memory_alias at = aliases[tensor_named(f->g, name)];
  assert_string_equal(f->g->tensors.data[at.base].name, base);
  assert_int_equal(at.place, place);
}

/* Two strips of 5 rows of 8 bytes, 6 and 5 of 10 rows are read. */
static const char strips[] =
    "tensor x i8[1,10,8,1] input\n"
    "tensor a i8[1,6,8,1]\n"
    "tensor b i8[1,6,8,1]\n"
    "tensor fa i8[1,5,8,1]\n"
    "tensor fb i8[1,5,8,1]\n"
    "tensor y i8[1,10,8,1]\n"
    "tensor r i8[1,80]\n"
    "tensor z i8[1,80] output\n"
    "op cut_a slice ( x ) -> ( a ) begin=0,0,0,0 size=1,6,8,1\n"
    "op f_a conv2d ( a ) -> ( fa )\n"
    "op cut_b slice ( x ) -> ( b ) begin=0,4,0,0 size=1,-1,8,1\n"
    "op f_b conv2d ( b ) -> ( fb )\n"
    "op join concat ( fa fb ) -> ( y ) axis=1\n"
    "op shape reshape ( y ) -> ( r )\n"
    "op end relu ( r ) -> ( z )\n";

static void test_strips(void **state) {
  fixture f;
  (void)state;
  fixture_open(&f, strips);
  const memory_alias *aliases = aliases_of(&f);
  expect(&f, aliases, "x", "x", 0);
  expect(&f, aliases, "a", "x", 0);
  expect(&f, aliases, "b", "x", 32);
  expect(&f, aliases, "fa", "y", 0);
  expect(&f, aliases, "fb", "y", 40);
  expect(&f, aliases, "y", "y", 0);
  expect(&f, aliases, "r", "y", 0);
  expect(&f, aliases, "z", "z", 0);
  fixture_close(&f);
}

static void test_without_views(void **state) {
  fixture f;
  memory_alias *aliases;
  (void)state;
  fixture_open(&f, strips);
  const memory_model model = model_of(f.context, "tflm");
  assert_false(memory_alias_asked(&model));
  assert_int_equal(memory_alias_find(&aliases, f.g, &model, &f.arena), CALM_OK);
  expect(&f, aliases, "b", "b", 0);
  expect(&f, aliases, "fb", "fb", 0);
  expect(&f, aliases, "r", "y", 0);
  fixture_close(&f);
}

/* The strip without its garbage goes into the concat, the one with it does
   not: its slice copies. */
static void test_garbage_rows(void **state) {
  fixture f;
  (void)state;
  fixture_open(&f,
               "tensor x i8[1,10,8,1] input\n"
               "tensor long i8[1,6,8,1]\n"
               "tensor a i8[1,5,8,1]\n"
               "tensor b i8[1,5,8,1]\n"
               "tensor y i8[1,10,8,1] output\n"
               "op f conv2d ( x ) -> ( long )\n"
               "op g conv2d ( x ) -> ( b )\n"
               "op cut slice ( long ) -> ( a ) begin=0,1,0,0 size=1,5,8,1\n"
               "op join concat ( b a ) -> ( y ) axis=1\n");
  const memory_alias *aliases = aliases_of(&f);
  expect(&f, aliases, "long", "long", 0);
  expect(&f, aliases, "a", "y", 40);
  expect(&f, aliases, "b", "y", 0);
  fixture_close(&f);
}

/* Concats in concats, and a slice of what lies in another. */
static void test_nested(void **state) {
  fixture f;
  (void)state;
  fixture_open(&f,
               "tensor x f32[1,4,2,1] input\n"
               "tensor a f32[1,4,2,1]\n"
               "tensor b f32[1,4,2,1]\n"
               "tensor c f32[1,4,2,1]\n"
               "tensor ab f32[1,8,2,1]\n"
               "tensor abc f32[1,12,2,1]\n"
               "tensor s f32[1,2,2,1]\n"
               "tensor z f32[1,2,2,1] output\n"
               "tensor w f32[1,12,2,1] output\n"
               "op fa conv2d ( x ) -> ( a )\n"
               "op fb conv2d ( x ) -> ( b )\n"
               "op fc conv2d ( x ) -> ( c )\n"
               "op in concat ( a b ) -> ( ab ) axis=1\n"
               "op out concat ( c ab ) -> ( abc ) axis=-3\n"
               "op cut slice ( b ) -> ( s ) begin=0,1,0,0 size=1,2,2,1\n"
               "op f relu ( s ) -> ( z )\n"
               "op g relu ( abc ) -> ( w )\n");
  const memory_alias *aliases = aliases_of(&f);
  expect(&f, aliases, "c", "abc", 0);
  expect(&f, aliases, "a", "abc", 32);
  expect(&f, aliases, "b", "abc", 64);
  expect(&f, aliases, "ab", "abc", 32);
  expect(&f, aliases, "s", "abc", 72);
  fixture_close(&f);
}

/* Whatever has bytes of its own, is cut in columns, is there twice, or goes
   elsewhere already. */
static void test_refused(void **state) {
  fixture f;
  (void)state;
  fixture_open(&f,
               "tensor x i8[1,4,4,2] input\n"
               "tensor k i8[1,1,4,2] const\n"
               "tensor a i8[1,4,4,2]\n"
               "tensor b i8[1,4,4,2] output\n"
               "tensor columns i8[1,4,2,2]\n"
               "tensor rows i8[1,2,4,2] output\n"
               "tensor y i8[1,17,4,2]\n"
               "tensor c i8[1,4,8,2] output\n"
               "tensor v i8[1,4,4,2] variable\n"
               "tensor u i8[1,8,4,2] output\n"
               "tensor z i8[1,17,4,2] output\n"
               "op f conv2d ( x ) -> ( a )\n"
               "op g conv2d ( x ) -> ( b )\n"
               "op cut slice ( x ) -> ( columns ) begin=0,0,1,0 size=1,4,2,2\n"
               "op top slice ( x ) -> ( rows ) begin=0,0,0,0 size=1,2,4,2\n"
               "op join concat ( x a a b k ) -> ( y ) axis=1\n"
               "op side concat ( a b ) -> ( c ) axis=2\n"
               "op late concat ( a v ) -> ( u ) axis=1\n"
               "op h relu ( y ) -> ( z )\n"
               "op i opaque ( columns ) -> ( )\n");
  const memory_alias *aliases = aliases_of(&f);
  static const char *const own[] = {"x", "b", "columns", "rows", "k", "v", "y"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    expect(&f, aliases, own[i], own[i], 0);
  expect(&f, aliases, "a", "y", 32);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strips),       cmocka_unit_test(test_without_views),
      cmocka_unit_test(test_garbage_rows), cmocka_unit_test(test_nested),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
