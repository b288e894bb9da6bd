/* Sections whose names are nearly right. */
#include "accel/accel_sections.h"

#include "accel_yaml_fixture.h"

static calm_status check(yaml_world *w, const char *text) {
  return accel_sections_check(read_yaml(w, text), w->context);
}

static void known_and_foreign_sections_pass(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  assert_int_equal(
      check(&w,
            "architecture: 1\nproblem: 1\nmapping: 1\nERT: 1\nART: 1\n"
            "mapspace-constraints: 1\nconstraints_II: 1\nmapper: 1\nvariables: "
            "1\n"
            "compound_components: 1\ncomponents: 1\nglobals: 1\n"
            "specification: 1\nmy_defaults: 1\nrf: 1\nlayer: 1\n"
            "mapspace: 1\nlayout: 1\nclasses: 1\nx: 1\n"),
      CALM_OK);
  assert_int_equal(check(&w, "# nothing\n"), CALM_OK);
  world_close(&w);
}

static void a_slip_is_told_with_what_was_meant(void **state) {
  (void)state;
  static const char *const slips[][2] = {
      {"architecture_constrants", "architecture_constraints"},
      {"mapspace_contraints", "mapspace_constraints"},
      {"ERTs", "ERT"},
      {"ert", "ERT"},
      {"varables", "variables"},
      {"mappings", "mapping"}};
  yaml_world w;
  world_open(&w);
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
    char text[80], said[160];
    snprintf(text, sizeof text, "problem: 1\n%s: 1\n", slips[i][0]);
    snprintf(said, sizeof said,
             ":2:1: unknown section '%s'; did you mean '%s'?", slips[i][0],
             slips[i][1]);
    assert_int_equal(check(&w, text), CALM_BAD_INPUT);
    expect_message(&w, said);
  }
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_and_foreign_sections_pass),
      cmocka_unit_test(a_slip_is_told_with_what_was_meant)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
