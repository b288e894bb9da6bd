#include "memory/memory_explain.h"

#include "base/file.h"
#include "memory/memory_check.h"
#include "memory_graphs.h"

static memory_explanation explain(const fixture *f, const char *model) {
  const memory_model m = model_of(f->context, model);
  memory_explanation e;
  if (memory_explain(&e, f->g, &m, NULL, f->g->order, (arena *)&f->arena))
    fail_msg("%s", calm_context_message(f->context));
  return e;
}

static const char *names_of(const fixture *f, const tensor_id *tensors,
                            uint32_t count) {
  static char text[256];
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                               length ? " " : "",
                               f->g->tensors.data[tensors[i]].name);
  return text;
}

/* "TEXT floor=.. peak=.." per line. */
static const char *remedies_of(const memory_explanation *e) {
  static char text[2048];
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < e->remedy_count; i++)
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "%s floor=%" PRIu64 " peak=%" PRIu64 "\n",
                               e->remedies[i].text, e->remedies[i].floor_bytes,
                               e->remedies[i].peak_bytes);
  return text;
}

static const char small[] =
    "tensor x 30 input\ntensor a 10\ntensor b 20\ntensor ab 30\n"
    "tensor r 30\ntensor v 30\ntensor y 5 output\n"
    "op pa conv2d ( x ) -> ( a )\n"
    "op pb conv2d ( x ) -> ( b )\n"
    "op j concat ( a b ) -> ( ab )\n"
    "op relu relu ( ab ) -> ( r )\n"
    "op view reshape ( r ) -> ( v )\n"
    "op end conv2d ( v ) -> ( y )\n";

static void the_peak_and_the_floor(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, small);
  const memory_explanation e = explain(&f, "plain");
  assert_int_equal(e.peak_bytes, 60);
  assert_int_equal(e.step, 1);
  assert_int_equal(e.op, op_named(f.g, "pb"));
  assert_string_equal(names_of(&f, e.alive, e.alive_count), "x b a");
  assert_int_equal(e.floor_bytes, 60);
  assert_int_equal(e.floor_op, op_named(f.g, "j"));
  assert_string_equal(names_of(&f, e.floor_alive, e.floor_alive_count),
                      "ab b a");
  fixture_close(&f);
}

static void remedies_are_measured(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, small);
  memory_explanation e = explain(&f, "plain");
  assert_string_equal(remedies_of(&e), "");
  e = explain(&f, "plain inputs=whole-run views=identity inplace=elementwise");
  assert_string_equal(
      remedies_of(&e),
      "--inputs until-use: x goes after its last use floor=60 peak=60\n"
      "--inputs external: x lies outside the arena floor=60 peak=60\n");
  fixture_close(&f);
  fixture_open(&f,
               "tensor x 30 input\ntensor a 30\ntensor b 30\n"
               "tensor y 30\ntensor c 5 output\n"
               "op one relu ( x ) -> ( a )\n"
               "op two relu ( a ) -> ( b )\n"
               "op three add ( b a ) -> ( y )\n"
               "op end conv2d ( y ) -> ( c )\n");
  e = explain(&f, "plain");
  assert_string_equal(remedies_of(&e),
                      "--inplace elementwise: three and 2 more may write over "
                      "an input that dies there floor=60 peak=60\n");
  fixture_close(&f);
}

/* Neither option helps alone: each leaves an operator that needs two. */
static void remedies_may_help_only_together(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f,
               "tensor x 30 input\ntensor a 30\ntensor b 30 output\n"
               "op one relu ( x ) -> ( a )\n"
               "op two reshape ( a ) -> ( b )\n");
  const memory_explanation e = explain(&f, "plain");
  assert_string_equal(
      remedies_of(&e),
      "--views identity --inplace elementwise: together floor=30 peak=30\n");
  fixture_close(&f);
}

/* What the floor says must hold for every order, and a remedy must keep what it
   promises. */
static void random_floors_hold(void **state) {
  (void)state;
  random_state r = random_from_seed(9);
  uint32_t remedies = 0;
  for (int round = 0; round < 1500; round++) {
    fixture f;
    fixture_random(&f, &r);
    const memory_model m = random_model(&r, f.context);
    op_id full[RANDOM_MAX_OPS];
    memory_explanation e;
    random_order(full, f.g, &r);
    assert_int_equal(
        memory_explain(&e, f.g, &m, random_body_arena, full, &f.arena),
        CALM_OK);
    assert_true(e.floor_bytes <= e.peak_bytes);
    for (int i = 0; i < 5; i++) {
      memory_profile p;
      random_order(full, f.g, &r);
      assert_int_equal(
          memory_simulate(&p, f.g, &m, random_body_arena, full, &f.arena),
          CALM_OK);
      assert_true(e.floor_bytes <= p.peak_bytes);
    }
    for (uint32_t i = 0; i < e.remedy_count; i++) {
      assert_true(e.remedies[i].floor_bytes < e.floor_bytes ||
                  e.remedies[i].peak_bytes < e.peak_bytes);
      assert_non_null(e.remedies[i].text);
    }
    remedies += e.remedy_count;
    fixture_close(&f);
  }
  assert_true(remedies > 1000);
}

static void a_graph_without_operators(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "tensor x 8 input output\n");
  const memory_explanation e = explain(&f, "plain");
  assert_int_equal(e.op, CALM_NONE);
  assert_int_equal(e.floor_op, CALM_NONE);
  assert_int_equal(e.peak_bytes, 0);
  assert_int_equal(e.alive_count, 0);
  assert_int_equal(e.remedy_count, 0);
  fixture_close(&f);
}

static bool open_swiftnet(fixture *f) {
  char path[512];
  if (!cases_path(path, sizeof path, "graphs/swiftnet_vwwc19.cg")) return false;
  fixture_begin(f, NULL);
  file_map map;
  assert_int_equal(file_map_open(&map, f->context, path), CALM_OK);
  if (graph_text_read(&f->graphs, &f->arena, path, (const char *)map.bytes,
                      map.length))
    fail_msg("%s", calm_context_message(f->context));
  file_map_close(&map);
  f->g = f->graphs.data;
  return true;
}

/* No order is below 301,056 because of the split; views are the remedy. */
static void swiftnet_is_held_up_by_its_split(void **state) {
  (void)state;
  CASES_OR_SKIP();
  fixture f;
  assert_true(open_swiftnet(&f));
  const memory_explanation e = explain(&f, "plain");
  assert_int_equal(e.peak_bytes, 351232);
  assert_int_equal(e.floor_bytes, 301056);
  assert_int_equal(e.floor_op, op_named(f.g, "0_SPLIT"));
  assert_string_equal(names_of(&f, e.floor_alive, e.floor_alive_count),
                      "t10 t18");
  assert_true(e.remedy_count > 0);
  assert_string_equal(e.remedies[0].text,
                      "--views identity: 0_SPLIT costs nothing");
  assert_int_equal(e.remedies[0].floor_bytes, 250880);
  fixture_close(&f);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, small);
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  for (uint64_t granted = 0;; granted++) {
    left = SCARCE_NEVER;
    fixture other;
    fixture_begin(&other, &allocator);
    left = granted;
    memory_explanation e;
    const calm_status status = memory_explain(
        &e, f.g, memory_model_find("plain"), NULL, f.g->order, &other.arena);
    fixture_close(&other);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_peak_and_the_floor),
      cmocka_unit_test(remedies_are_measured),
      cmocka_unit_test(remedies_may_help_only_together),
      cmocka_unit_test(random_floors_hold),
      cmocka_unit_test(a_graph_without_operators),
      cmocka_unit_test(swiftnet_is_held_up_by_its_split),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
