/* Names that a machine has and the layer has not. */
#include "nest_fixture.h"

static void scales_name_tensors_of_the_layer(void **state) {
  nest_fixture *f = *state;
  accel_scale scales[] = {
      {.tensor = "Outputs", .scale = 2, .place = {"a.yaml", 7, 3}},
      {.tensor = "Weight", .scale = 1, .place = {"a.yaml", 8, 3}}};
  f->levels[GB].scales = scales;
  f->levels[GB].scale_count = 1;
  assert_int_equal(accel_arch_check_tensors(&f->arch, &f->layer, f->context),
                   CALM_OK);
  f->levels[GB].scale_count = 2;
  assert_int_equal(accel_arch_check_tensors(&f->arch, &f->layer, f->context),
                   CALM_BAD_INPUT);
  NEST_SAYS(f,
            "a.yaml:8:3: the layer has no tensor 'Weight'; it has Weights, "
            "Inputs, Outputs; did you mean 'Weights'?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(scales_name_tensors_of_the_layer,
                                      nest_open, nest_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
