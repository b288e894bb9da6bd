#include "memory/memory_origin.h"
#include "memory_graphs.h"

/* The runs of a tensor as text: "begin:tensor+from ...". */
static const char *runs_of(const fixture *f, const char *name) {
  static char text[512];
  memory_origin *origins;
  arena a;
  size_t length = 0;
  arena_init(&a, f->context);
  assert_int_equal(memory_origin_trace(&origins, f->g, f->g->order, &a),
                   CALM_OK);
  const memory_origin *o = &origins[tensor_named(f->g, name)];
  for (uint32_t i = 0; i < o->count; i++)
    length += (size_t)snprintf(
        text + length, sizeof text - length, "%s%" PRIu64 ":%s+%" PRIu64,
        i ? " " : "", o->runs[i].begin,
        f->g->tensors.data[o->runs[i].tensor].name, o->runs[i].from);
  arena_free(&a);
  return text;
}

static const char picture[] =
    "tensor x i8[1,4,3,2] input\ntensor at i32[4] const\n"
    "tensor n i32[4] const\ntensor p i32[4,2] const\n"
    "tensor rows i8[1,2,3,2]\ntensor columns i8[1,4,2,2]\n"
    "tensor padded i8[1,3,5,2]\ntensor y i8[1,6,3,2] output\n"
    "tensor flat i8[36] output\ntensor c i8[1,4,2,2] output\n"
    "tensor q i8[1,3,5,2] output\n"
    "op rows slice ( x at n ) -> ( rows ) begin=0,1,0,0 size=1,2,3,2\n"
    "op columns slice ( x at n ) -> ( columns ) begin=0,0,1,0 size=1,4,2,2\n"
    "op pad pad ( rows p ) -> ( padded ) before=0,1,1,0 after=0,0,1,0\n"
    "op join concat ( rows x ) -> ( y ) axis=1\n"
    "op flat reshape ( y ) -> ( flat )\n"
    "op c relu ( columns ) -> ( c )\nop q relu ( padded ) -> ( q )\n";

static void copies_are_looked_through(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, picture);
  assert_string_equal(runs_of(&f, "rows"), "0:x+6");
  assert_string_equal(runs_of(&f, "columns"), "0:x+2 4:x+8 8:x+14 12:x+20");
  assert_string_equal(runs_of(&f, "padded"),
                      "0:padded+0 12:x+6 18:padded+18 22:x+12 28:padded+28");
  assert_string_equal(runs_of(&f, "y"), "0:x+6 12:x+0");
  assert_string_equal(runs_of(&f, "flat"), "0:x+6 12:x+0");
  assert_string_equal(runs_of(&f, "c"), "0:c+0");
  fixture_close(&f);
}

/* Without the attributes, or where they do not fit, a copy is a computation. */
static void what_the_graph_does_not_tell_is_its_own(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x i8[1,4,3,2] input\ntensor at i32[4] const\n"
               "tensor n i32[4] const\ntensor a i8[1,2,3,2] output\n"
               "tensor b i8[1,2,3,2] output\ntensor y i8[1,6,3,2] output\n"
               "tensor z f32[1,6,3,2] output\n"
               "op a slice ( x at n ) -> ( a )\n"
               "op b slice ( x at n ) -> ( b ) begin=0,3,0,0 size=1,2,3,2\n"
               "op y concat ( a x ) -> ( y ) axis=1 activation=relu\n"
               "op z concat ( a x ) -> ( z ) axis=1\n");
  assert_string_equal(runs_of(&f, "a"), "0:a+0");
  assert_string_equal(runs_of(&f, "b"), "0:b+0");
  assert_string_equal(runs_of(&f, "y"), "0:y+0");
  assert_string_equal(runs_of(&f, "z"), "0:z+0");
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_are_looked_through),
      cmocka_unit_test(what_the_graph_does_not_tell_is_its_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
