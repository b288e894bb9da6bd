/* Arithmetic in values of files. */
#include "../scarce.h"
#include "accel/accel_expression.h"
#include "accel_yaml_fixture.h"

/* What `text` is, where own, inherited and variables are these. */
static const accel_yaml *evaluate(yaml_world *w, const char *text,
                                  const char *own, const char *variables) {
  accel_yaml *node;
  const accel_yaml *out;
  const accel_scope scope = {
      {read_yaml(w, own), NULL, read_yaml(w, variables)}};
  node = arena_calloc(&w->arena, 1, sizeof *node);
  node->text = text;
  node->place = (accel_place){"t.yaml", 7, 3};
  if (accel_expression_evaluate(&out, node, &scope, &w->arena))
    fail_msg("%s", calm_context_message(w->context));
  return out;
}

static void expect(const char *text, const char *value) {
  yaml_world w;
  world_open(&w);
  const accel_yaml *out = evaluate(
      &w, text, "width: 64\ndepth: width * 2\nname: 'glb'\nself: self\n",
      "KB: 8192\nROWS: 16\nCELLS: ROWS * width\nwidth: 3\nself: 5\nON: True\n"
      "OFF: 0\nWORD: \"65nm\"\nLIST: [1, 2]\nloop: pool\npool: loop\n");
  if (out->flaw) fail_msg("%s: %s", text, out->flaw);
  assert_string_equal(out->text, value);
  assert_int_equal(out->place.line, 7);
  world_close(&w);
}

static void expect_flaw(const char *text, bool unsupported, const char *part) {
  yaml_world w;
  double number;
  world_open(&w);
  const accel_yaml *out =
      evaluate(&w, text, "name: 'glb'\n",
               "LIST: [1, 2]\nloop: pool\npool: loop\nbig: 2 ** 62\n");
  if (!out->flaw) fail_msg("%s is %s", text, out->text);
  if (!strstr(out->flaw, part)) fail_msg("%s: '%s'", text, out->flaw);
  assert_string_equal(out->text, text); /* a text it stays */
  assert_int_equal(out->unsupported, unsupported);
  assert_int_equal(accel_yaml_real(&number, w.context, out, "x of Y"),
                   unsupported ? CALM_UNSUPPORTED : CALM_BAD_INPUT);
  expect_message(&w, "t.yaml:7:3: x of Y is '");
  expect_message(&w, part);
  world_close(&w);
}

static void what_needs_no_evaluation_stays(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_yaml *root = read_yaml(
      &w, "a: 64\nb: 1e-9\nc: '1 + 1'\nd: true\ne: [1 + 1]\nf:\ng: -3\n");
  const accel_scope scope = {{root}};
  for (uint32_t i = 0; i < root->count; i++) {
    const accel_yaml *out = NULL;
    assert_int_equal(
        accel_expression_evaluate(&out, root->items[i], &scope, &w.arena),
        CALM_OK);
    assert_ptr_equal(out, root->items[i]);
  }
  world_close(&w);
}

/* The results are those of Python 3. */
static void arithmetic_is_that_of_python(void **state) {
  (void)state;
  expect("1 + 2 * 3", "7");
  expect("(1 + 2) * 3", "9");
  expect("2 - 3 - 4", "-5");
  expect("7 / 2", "3.5");
  expect("8 / 2", "4");
  expect("7 // 2", "3");
  expect("-7 // 2", "-4");
  expect("-7 % 3", "2");
  expect("7 % -3", "-2");
  expect("-6 % 3", "0");
  expect("7.5 // 2", "3");
  expect("-7.5 % 2", "0.5");
  expect("5 // -1", "-5");
  expect("5 % -1", "0");
  expect("2 ** 10", "1024");
  expect("2 ** 3 ** 2", "512");
  expect("-2 ** 2", "-4");
  expect("2 ** -1", "0.5");
  expect("4 ** 0.5", "2");
  expect("0 ** 0", "1");
  expect("- - 3", "3");
  expect("+-+3 + 1", "-2");
  expect("2*3", "6");
  expect("0.1 + 0.2", "0.30000000000000004");
  expect("1e3 * 2", "2000");
  expect(".5 * 2", "1");
  expect("9223372036854775807 - 1", "9223372036854775806");
}

static void functions_are_these(void **state) {
  (void)state;
  expect("min(3, 1, 2)", "1");
  expect("max(3, 4.5)", "4.5");
  expect("max(1, ceil(log2(192)))", "8");
  expect("ceil(7 / 2)", "4");
  expect("floor(-0.5)", "-1");
  expect("round(0.5) + round(1.5) + round(2.5)", "4");
  expect("round(-2.5)", "-2");
  expect("abs(-3) + abs(2.5)", "5.5");
  expect("sqrt(16) * log2(8)", "12");
  expect("min(3)", "3");
  expect("ceil(5)", "5");
}

static void choices_look_at_the_chosen_part_only(void **state) {
  (void)state;
  expect("1 if 2 > 1 else 2", "1");
  expect("1 if 2 < 1 else 2", "2");
  expect("1 if 0 else 2 if 0 else 3", "3");
  expect("(1 if 1 else 2) + 1", "2");
  expect("1 / 0 if 0 else 5", "5");
  expect("5 if 1 else nothing", "5");
  expect("1 if ON else 2", "1");
  expect("0.43 if OFF else 1", "1");
  expect("1 if 2 == 2.0 else 0", "1");
  expect("1 if 2 != 2 else 0", "0");
  expect("1 if 2 <= 2 else 0", "1");
  expect("1 if 1 >= 2 else 0", "0");
  expect("1 if name == WORD else 0", "0");
  expect("1 if name != WORD else 0", "1");
  expect("iffy if 0 else 1", "1");
}

static void names_are_the_nearest_of_the_place(void **state) {
  (void)state;
  expect("width", "64");
  expect("depth", "128");
  expect("16 * KB // width", "2048");
  expect("CELLS", "48"); /* a variable does not see attributes */
  expect("self", "5");   /* the outer one */
  expect("WORD", "65nm");
  expect("name", "glb");
}

static void what_has_no_value_says_why(void **state) {
  (void)state;
  expect_flaw("TECHNOLOGY", false, "no variable or attribute is named");
  expect_flaw("2 * ROWS", false, "is named 'ROWS'");
  expect_flaw("len('abcd')", true, "function 'len'");
  expect_flaw("eval(1)", true, "calm does not know the function 'eval'");
  expect_flaw("010 * 2", false, "'010 * 2' begins with 0");
  expect_flaw("1 / 0", false, "a division by zero");
  expect_flaw("1 // 0", false, "a division by zero");
  expect_flaw("1 % 0.0", false, "a division by zero");
  expect_flaw("0 ** -1", false, "a division by zero");
  expect_flaw("big * 2", false, "beyond 64 bits");
  expect_flaw("2 ** 64", false, "beyond 64 bits");
  expect_flaw("3 ** 9223372036854775807", false, "beyond 64 bits");
  expect_flaw("0 - big - big - big", false, "beyond 64 bits");
  expect_flaw("99999999999999999999 + 1", false, "beyond 64 bits");
  expect_flaw("10.0 ** 400", false, "not a finite number");
  expect_flaw("1e400 + 1", false, "not a finite number");
  expect_flaw("ceil(1e300)", false, "beyond 2^53");
  expect_flaw("sqrt(-1)", false, "negative");
  expect_flaw("log2(0)", false, "not positive");
  expect_flaw("ceil()", true, "0 arguments");
  expect_flaw("ceil(1, 2)", true, "2 arguments");
  expect_flaw("name + 1", false, "'glb' is not a number");
  expect_flaw("1 if name else 2", false, "'glb' is not a number");
  expect_flaw("LIST", true, "a list or a mapping");
  expect_flaw("LIST[0]", true, "look into 'LIST'");
  expect_flaw("glb.width * 2", true, "look into 'glb'");
  expect_flaw("loop", true, "stand for each other");
  expect_flaw("1 if 0 else loop + 1", true, "stand for each other");
}

static void what_is_no_expression_stays_a_text(void **state) {
  (void)state;
  expect_flaw("45nm", false, "'nm' cannot stand here");
  expect_flaw("LPDDR4-3200", false, "named 'LPDDR4'");
  expect_flaw("../cells/a.cell", false, "cannot stand here");
  expect_flaw("2 * (3 + 1", false, "')' is missing");
  expect_flaw("2 *", false, "missing at its end");
  expect_flaw("1 if 2", false, "'else' is missing");
  expect_flaw("max(1, 2", false, "')' is missing");
  expect_flaw("max(1 2)", false, "')' is missing");
  expect_flaw("1 2", false, "cannot stand here");
  expect_flaw("1 < 2 < 3", false, "cannot stand here");
  expect_flaw("0x10 + 1", false, "not a decimal number");
  expect_flaw("1_000 + 1", false, "not a decimal number");
  expect_flaw("a = 1", false, "cannot stand here");
  expect_flaw("1 + é", false, "cannot stand here");
}

static void depth_length_and_work_are_limited(void **state) {
  (void)state;
  char text[4096];
  memset(text, '(', 200);
  memcpy(text + 200, "1", 2);
  expect_flaw(text, true, "nested too deep");
  for (int i = 0; i < 100; i++) memcpy(text + 3 * i, "2**", 4);
  memcpy(text + 300, "1", 2);
  expect_flaw(text, true, "nested too deep");
  memset(text, '1', 1100);
  memcpy(text + 1100, "+1", 3);
  expect_flaw(text, true, "longer than 1024 characters");
  memset(text, '-', 1000);
  memcpy(text + 1000, "1", 2);
  yaml_world w;
  world_open(&w);
  assert_string_equal(evaluate(&w, text, "", "")->text, "1");
  /* Each name stands for twice the one before. */
  size_t length = 0;
  for (int i = 40; i > 0; i--)
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "n%d: n%d + n%d\n", i, i - 1, i - 1);
  snprintf(text + length, sizeof text - length, "n0: 1\n");
  const accel_yaml *out = evaluate(&w, "n40", text, "");
  assert_non_null(out->flaw);
  assert_true(out->unsupported);
  assert_string_equal(evaluate(&w, "n8", text, "")->text, "256");
  world_close(&w);
}

static calm_status evaluate_with(const char *text, uint64_t granted) {
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&allocator);
  const accel_yaml node = {.text = text};
  const accel_scope scope = {{NULL}};
  const accel_yaml *out;
  arena a;
  arena_init(&a, context);
  left = granted;
  const calm_status status = accel_expression_evaluate(&out, &node, &scope, &a);
  arena_free(&a);
  calm_context_free(context);
  return status;
}

static void it_fails_only_without_memory(void **state) {
  (void)state;
  static const char *const texts[] = {"1 + 2", "a + b", "max(a, 3)", "1 / 0",
                                      "1 if a else f(x)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    uint64_t granted = 0;
    assert_int_equal(evaluate_with(texts[i], granted), CALM_NO_MEMORY);
    while (evaluate_with(texts[i], ++granted) != CALM_OK) {
      assert_int_equal(evaluate_with(texts[i], granted), CALM_NO_MEMORY);
      assert_true(granted < 100);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_needs_no_evaluation_stays),
      cmocka_unit_test(arithmetic_is_that_of_python),
      cmocka_unit_test(functions_are_these),
      cmocka_unit_test(choices_look_at_the_chosen_part_only),
      cmocka_unit_test(names_are_the_nearest_of_the_place),
      cmocka_unit_test(what_has_no_value_says_why),
      cmocka_unit_test(what_is_no_expression_stays_a_text),
      cmocka_unit_test(depth_length_and_work_are_limited),
      cmocka_unit_test(it_fails_only_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
