/* Every architecture of the public cases: how many levels it has, or why it is
   not read.  Those whose authors published a table of energies are read with
   it. */
#include "accel/accel_energy.h"
#include "accel_arch_fixture.h"
#include "cases.h"

typedef struct expectation {
  const char *path; /* below mapping/ */
  uint32_t levels;  /* 0: refused */
  const char *note; /* words of the refusal, or the ERT to be read along */
} expectation;

#define ISPASS "ispass2020/"
#define DESIGN(name) "example_designs/" name "/arch.yaml"
#define DESIGN_ERT(name)  \
  "example_designs/" name \
  "/ref_outputs/default_problem/timeloop-mapper.ERT_summary.yaml"
#define ZIGZAG(name) \
  { "zigzag/hardware/" name ".yaml", 0, "hardware of ZigZag" }

static const expectation expectations[] = {
    {DESIGN("eyeriss_like"), 7, DESIGN_ERT("eyeriss_like")},
    {DESIGN("simba_like"), 9, DESIGN_ERT("simba_like")},
    {DESIGN("simple_weight_stationary"), 7,
     DESIGN_ERT("simple_weight_stationary")},
    {DESIGN("simple_output_stationary"), 7,
     DESIGN_ERT("simple_output_stationary")},
    {ISPASS "00-model-conv1d-1level/arch/1level.arch.yaml", 1,
     ISPASS "00-model-conv1d-1level/ref-output/timeloop-model.ERT.yaml"},
    {ISPASS "01-model-conv1d-2level/arch/2level.arch.yaml", 2,
     ISPASS "01-model-conv1d-2level/ref-output/ws/timeloop-model.ERT.yaml"},
    {ISPASS "02-model-conv1d+oc-2level/arch/2level.arch.yaml", 2,
     ISPASS
     "02-model-conv1d+oc-2level/ref-output/tiling/timeloop-model.ERT.yaml"},
    {ISPASS "05-mapper-conv1d+oc-3level/arch/3level.arch.yaml", 3,
     ISPASS
     "05-mapper-conv1d+oc-3level/ref-output/null/timeloop-mapper.ERT.yaml"},
    {ISPASS "06-mapper-convlayer-eyeriss/arch/eyeriss_like.yaml", 7,
     ISPASS "06-mapper-convlayer-eyeriss/ref-output/timeloop-mapper.ERT.yaml"},
    {ISPASS "timeloop+accelergy/arch/eyeriss_like-float32.yaml", 6,
     ISPASS
     "timeloop+accelergy/ref-output/fpmac/timeloop-mapper.ERT_summary.yaml"},
    {ISPASS "timeloop+accelergy/arch/eyeriss_like-int16.yaml", 6,
     ISPASS
     "timeloop+accelergy/ref-output/intmac/timeloop-mapper.ERT_summary.yaml"},
    {ISPASS "timeloop+accelergy/arch/arch.yaml", 0,
     "arch.yaml:3:20: a "
     "template (jinja)"},
    {"timeloop_python/tiled.arch.yaml", 0,
     ":21:14: width 64 of GlobalBuffer is no multiple of word_bits 8 x "
     "block_size 32"},
    {"timeloop_python/repeated_key_error.yaml", 0, "no compute units"},
    {"timeloop_python/arch_nest.yaml", 0, "unknown attribute 'from_A'"},
    {"timeloop_python/two_level.arch.yaml", 0,
     ":12:9: unknown attribute 'data_width' of Offchip; did you mean "
     "'datawidth'?"},
    {"timeloop_python/three_level.arch.yaml", 2, NULL},
    {"timeloop_python/four_level.arch.yaml", 5, NULL},
    {"cosa/arch/simba.yaml", 6, NULL},
    {"cosa/arch/simba_large.yaml", 6, NULL},
    {"goldens/arch/cosa_simba.yaml", 6, NULL},
    {"goldens/arch/cosa_simba_large.yaml", 6, NULL},
    {"goldens/arch/cosa_simba_bigsram.yaml", 6, NULL},
    {"goldens/arch/chiplet3.yaml", 3, NULL},
    {"goldens/arch/chiplet3_ert.yaml", 3, NULL},
    {"goldens/arch/gemm2.yaml", 2, NULL},
    {"goldens/arch/gemmini16.yaml", 4, NULL},
    {"goldens/arch/gemmini16_tree.yaml", 4, NULL},
    {"goldens/arch/eyeriss_like.yaml", 5, NULL},
    {"dosa/arch/arch.yaml", 4, NULL},
    {"dosa/arch/arch_cosa.yaml", 4, NULL},
    {"dosa/arch/nvdla_arch_small.yaml", 4, NULL},
    {"dosa/arch/nvdla_arch_large.yaml", 4, NULL},
    {"dosa/arch/nvdla_arch_large_16b.yaml", 4, NULL},
    {"dosa/arch/simba_arch.yaml", 6, NULL},
    {"dosa/arch/simba_arch_cosa.yaml", 6, NULL},
    {"dosa/arch/tpu_v1_arch.yaml", 5, NULL},
    {"timeloop_repo/chen-asplos2014.yaml", 5, NULL},
    {"timeloop_repo/eyeriss-256.yaml", 6, NULL},
    {"timeloop_repo/eyeriss-256-split-arg.yaml", 6, NULL},
    {"timeloop_repo/eyeriss-256-split-accelergy-arg.yaml", 6, NULL},
    {"timeloop_repo/sample.yaml", 4, NULL},
    {"timeloop_repo/sample-accelergy.yaml", 0,
     "word_bits 24 x block_size 1 x cluster_size 16"},
    {"timeloop_repo/gemm_ABZ.yaml", 0, "no architecture: looked for"},
    {"timeloop_repo/eyeriss-256.cfg", 0, ": a libconfig file"},
    {"timeloop_repo/simba-chip.cfg", 0, ": a libconfig file"},
    ZIGZAG("aimc"),
    ZIGZAG("ascend_like"),
    ZIGZAG("dimc"),
    ZIGZAG("edge_tpu_like"),
    ZIGZAG("eyeriss_like"),
    ZIGZAG("gemm_l1"),
    ZIGZAG("gemm_l1_l3"),
    ZIGZAG("generic_array_cacti"),
    ZIGZAG("meta_prototype"),
    ZIGZAG("tesla_npu_like"),
    {"zigzag/hardware/tpu_like.yaml", 0, "'ports' stands here twice"},
};

static calm_status open_case(accel_yaml **out, machine *m, const char *name) {
  char relative[256], path[1024];
  snprintf(relative, sizeof relative, "mapping/%s", name);
  const char *found = cases_path(path, sizeof path, relative);
  if (!found) fail_msg("%s is missing", relative);
  return accel_yaml_open(out, found, &m->memory);
}

static calm_status read_case(machine *m, const expectation *e) {
  accel_yaml *root, *ert = NULL;
  calm_status status = open_case(&root, m, e->path);
  if (status == CALM_OK && e->levels && e->note)
    status = open_case(&ert, m, e->note);
  if (status != CALM_OK) return status;
  return accel_arch_read(&m->arch, root, ert, true, &m->memory);
}

/* A published table has all components; one machine has a level "for better
   mapping", which keeps nothing and has no table. */
static void expect_energies(const machine *m, const expectation *e) {
  for (uint32_t i = 0; i < m->arch.level_count; i++) {
    const accel_level *l = &m->arch.levels[i];
    const bool dummy = !strcmp(l->name, "DummyBuffer");
    if (l->energy.known == dummy)
      fail_msg("%s: is the energy of %s known?", e->path, l->name);
    if (dummy) assert_int_equal(l->energy.lack, ACCEL_LACKS_TABLE);
  }
}

static void expect_case(const expectation *e) {
  machine m;
  machine_init(&m);
  const calm_status status = read_case(&m, e);
  const char *message = calm_context_message(m.context);
  if (e->levels == 0) {
    if (status == CALM_OK || !strstr(message, e->note))
      fail_msg("%s: %s", e->path, status == CALM_OK ? "read" : message);
    assert_non_null(strstr(message, e->path));
  } else if (status != CALM_OK) {
    fail_msg("%s: %s", e->path, message);
  } else {
    assert_int_equal(m.arch.level_count, e->levels);
    if (e->note) expect_energies(&m, e);
  }
  machine_free(&m);
}

static void every_architecture_is_read_or_refused_for_its_reason(void **state) {
  (void)state;
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++)
    expect_case(&expectations[i]);
}

/* A table of the wrong machine does not pass for the right one. */
static void a_table_of_another_machine_does_not_serve(void **state) {
  (void)state;
  CASES_OR_SKIP();
  machine m;
  machine_init(&m);
  const expectation mixed = {DESIGN("simba_like"), 9,
                             DESIGN_ERT("eyeriss_like")};
  assert_int_equal(read_case(&m, &mixed), CALM_OK);
  accel_tensor tensor = {.name = "Weights"};
  const accel_layer layer = {.tensors = &tensor, .tensor_count = 1};
  const uint32_t kept[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  assert_int_equal(accel_energy_check(&m.arch, &layer, kept, m.context),
                   CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(m.context), "no table for "));
  machine_free(&m);
}

/* Figures of a published table, by hand. */
static void published_energies_arrive(void **state) {
  (void)state;
  CASES_OR_SKIP();
  machine m;
  machine_init(&m);
  assert_int_equal(read_case(&m, &expectations[5]), CALM_OK);
  assert_real(m.arch.levels[1].energy.read_pj, 43.353054);
  assert_real(m.arch.levels[1].energy.write_pj, 30.878292);
  assert_real(m.arch.levels[1].energy.leak_pj, 0.007972);
  assert_real(m.arch.levels[0].energy.update_pj, 0.42564);
  assert_real(m.arch.compute.energy_pj, 0.845);
  machine_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_architecture_is_read_or_refused_for_its_reason),
      cmocka_unit_test(a_table_of_another_machine_does_not_serve),
      cmocka_unit_test(published_energies_arrive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
