#include "nest_fixture.h"

static calm_status parse(nest_fixture *f, const char *text) {
  const accel_source source = {"m.txt", text, strlen(text)};
  return accel_nest_parse(&f->nest, &source, &f->arch, &f->layer, &f->arena);
}

static void as_printed(void **state) {
  nest_fixture *f = *state;
  static const char text[] =
      "DRAM [ Weights:864 (864) Inputs:360 (360) Outputs:512 (512) ] \n"
      "--------------------------------------------------------------\n"
      "| for P in [0:2)\n"
      "|   for K in [0:4)\r\n"
      "\n"
      "GlobalBuffer [ Inputs:360 Outputs:128 ] \n"
      "-----------------------------------------\n"
      "|     for N in [0:1)\n"
      "|     for Q in [0:4,3)\n"
      "|       for C in [0:3) (Spatial-Y)\n"
      "|         for K in [0:2) (Spatial-X)\n"
      "|           for P in [0:2) (Spatial-X)\n"
      "\n"
      "PEBuffer [ ] \n"
      "-----------\n"
      "|             for S in [0:3)\n"
      "|               << Compute >>\n";
  if (parse(f, text)) fail_msg("%s", calm_context_message(f->context));
  assert_string_equal(nest_loops(f, &f->nest),
                      "0t:S3 1x:P2 1x:K2 1y:C3 1t:Q4/3 2t:K4 2t:P2");
  assert_int_equal(f->nest.kept[DRAM], 7);
  assert_int_equal(f->nest.kept[GB], 6);
  assert_int_equal(f->nest.kept[PE], 0);
}

static void a_mark_of_the_encoding_is_no_name(void **state) {
  nest_fixture *f = *state;
  static const char text[] =
      "\xEF\xBB\xBF"
      "DRAM [ Weights ]\n| for K in [0:4)\nGlobalBuffer [ ]\n"
      "PEBuffer [ ]\n";
  if (parse(f, text)) fail_msg("%s", calm_context_message(f->context));
  assert_string_equal(nest_loops(f, &f->nest), "2t:K4");
}

static void yaml_too(void **state) {
  nest_fixture *f = *state;
  assert_int_equal(parse(f,
                         "mapping:\n- {target: DRAM, type: temporal, "
                         "factors: K4}\n"),
                   CALM_OK);
  assert_string_equal(nest_loops(f, &f->nest), "2t:K4");
  assert_int_equal(parse(f, ""), CALM_BAD_INPUT);
  NEST_SAYS(f, "m.txt:1:1: no section 'mapping'");
}

#define HEAD "DRAM [ Weights ]\nGlobalBuffer [ ]\nPEBuffer [ Inputs ]\n"

static void wrong(void **state) {
  nest_fixture *f = *state;
  static const struct {
    const char *text, *says;
  } rows[] = {
      {"| for K in [0:4)\n", "m.txt:1:3: a loop before the first level"},
      {"Foo [ ]\n| for K in [0:4)\n", "no level 'Foo'"},
      {"GlobalBuffer [ ]\n| for K in [0:4)\n", "does not follow here"},
      {"DRAM [ ]\nPEBuffer [ ]\n|\n", "m.txt:2:1: 'PEBuffer' does not follow"},
      {"DRAM [ ]\n| for K in [0:4)\n", "before the innermost level, PEBuffer"},
      {"DRAM [ Weight ]\n| for K in [0:4)\n",
       "m.txt:1:8: the layer has no tensor 'Weight'; it has Weights, Inputs, "
       "Outputs; did you mean 'Weights'?"},
      {"DRAM [ Weights\n| for K in [0:4)\n", "m.txt:1:15: ']' is missing"},
      {"DRAN [ ]\n|\n",
       "m.txt:1:1: the architecture has no level 'DRAN'; it has DRAM, "
       "GlobalBuffer, PEBuffer; did you mean 'DRAM'?"},
      {"DRAM Weights\n| for K in [0:4)\n", "'[' is missing"},
      {"DRAM [ ] x\n| for K in [0:4)\n", "'x' does not belong here"},
      {HEAD "| for K in [1:4)\n", "'[0:' is missing"},
      {HEAD "| for K in [0:4]\n", "m.txt:4:16: ')' is missing"},
      {HEAD "| for K in [0:)\n", "m.txt:4:15: a number is missing"},
      {HEAD "| for K in [0:99999999999999999999)\n", "too large"},
      {HEAD "| for K in [0:4,5)\n", "the last pass has 5 of 4"},
      {HEAD "| for K in [0:0)\n", "m.txt:4:15: a loop of no iterations"},
      {HEAD "| for M in [0:4)\n", "no dimension 'M'"},
      {HEAD "| par K in [0:4)\n", "'for' is missing"},
      {HEAD "| for K in [0:4) (Spatial-Z)\n", "'(Spatial-Z)' does not belong"},
      {HEAD "| for K in [0:4)\n| for K in [0:2)\n",
       "K has two temporal loops at PEBuffer"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(parse(f, rows[i].text), CALM_BAD_INPUT);
    NEST_SAYS(f, rows[i].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(as_printed, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(a_mark_of_the_encoding_is_no_name,
                                      nest_open, nest_close),
      cmocka_unit_test_setup_teardown(yaml_too, nest_open, nest_close),
      cmocka_unit_test_setup_teardown(wrong, nest_open, nest_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
