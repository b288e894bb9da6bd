/* Attributes of levels: names, defaults, what follows from what. */
#include "accel_arch_fixture.h"

static void what_is_left_out_is_timeloops_default(void **state) {
  (void)state;
  machine m;
  read_flat(&m, "entries: 100");
  const accel_level *l = &m.arch.levels[0], *dram = &m.arch.levels[1];
  assert_int_equal(l->word_bits, 16);
  assert_int_equal(l->block_words, 1);
  assert_int_equal(l->cluster, 1);
  assert_int_equal(l->entries, 100);
  assert_int_equal(l->capacity_words, 100);
  assert_real(l->multiple_buffering, 1);
  assert_real(l->min_utilization, 0);
  assert_int_equal(l->mesh_x, 4);
  assert_int_equal(l->mesh_y, 1);
  assert_real(l->read_bandwidth, 0);
  assert_real(l->shared_bandwidth, 0);
  assert_true(l->reduction_supported);
  assert_int_equal(l->network.word_bits, 16);
  assert_false(l->network.hop_given);
  assert_true(l->energy.address_pj < 0);
  assert_false(l->dram);
  assert_true(dram->dram);
  assert_false(dram->reduction_supported);
  assert_int_equal(dram->entries, ACCEL_UNLIMITED);
  assert_int_equal(dram->capacity_words, ACCEL_UNLIMITED);
  assert_string_equal(m.log, "");
  machine_free(&m);
}

static void spellings_are_alike(void **state) {
  (void)state;
  const char *const texts[] = {
      "word-bits: 8, block-size: 4, cluster_size: 2, entries: 64",
      "word_width: 8, n_words: 4, cluster-size: 2, depth: 16",
      "datawidth: 8, width: 64, cluster-size: 2, data_storage_depth: 16",
      "datawidth: 8, memory_width: 64, block_size: 4, memory-depth: 16",
      "word_bits: 8, data-storage-width: 64, n_words: 4, entries: 64.0",
      "word_bits: 8, n_words: 4, cluster_size: 2, width: 64, entries: '64'",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    machine m;
    read_flat(&m, texts[i]);
    const accel_level *l = &m.arch.levels[0];
    assert_int_equal(l->word_bits, 8);
    assert_int_equal(l->block_words, 4);
    assert_int_equal(l->cluster, 2);
    assert_int_equal(l->entries, 64);
    assert_string_equal(m.log, "");
    machine_free(&m);
  }
}

static void the_first_of_several_names_counts(void **state) {
  (void)state;
  machine m;
  read_flat(&m, "datawidth: 8, word-bits: 24, entries: 6, depth: 7");
  assert_int_equal(m.arch.levels[0].word_bits, 24);
  assert_int_equal(m.arch.levels[0].entries, 6);
  assert_non_null(strstr(m.log, "under two names, as 8 and 24; 24 counts"));
  assert_non_null(strstr(m.log, "depth x block is 7"));
  machine_free(&m);
  read_flat(&m, "datawidth: 8, word-bits: 8, entries: 6, depth: 6");
  assert_string_equal(m.log, "");
  machine_free(&m);
}

static void sizes_follow(void **state) {
  (void)state;
  machine m;
  read_flat(&m,
            "sizeKB: 64, word_bits: 24, multiple-buffering: 2.5, "
            "min-utilization: 0.5");
  assert_int_equal(m.arch.levels[0].entries, 64 * 8192 / 24);
  assert_int_equal(m.arch.levels[0].capacity_words, 64 * 8192 / 24 * 2 / 5);
  assert_real(m.arch.levels[0].multiple_buffering, 2.5);
  assert_real(m.arch.levels[0].min_utilization, 0.5);
  machine_free(&m);
  read_flat(&m, "depth: 1073741824, block-size: 4294967295");
  assert_int_equal(m.arch.levels[0].entries,
                   1073741824u * UINT64_C(4294967295));
  machine_free(&m);
  read_flat(&m, "entries: 0");
  assert_int_equal(m.arch.levels[0].capacity_words, 0);
  machine_free(&m);
}

static void bandwidths_and_networks_are_read(void **state) {
  (void)state;
  machine m;
  read_flat(&m,
            "entries: 4, bandwidth: 5, write_bandwidth: 4, "
            "shared-bandwidth: 7, per_dataspace_bandwidth_consumption_scale"
            ": {Inputs: 0.5, Weights: 2}");
  const accel_level *l = &m.arch.levels[0];
  assert_real(l->read_bandwidth, 2.5);
  assert_real(l->write_bandwidth, 4);
  assert_real(l->shared_bandwidth, 7);
  assert_int_equal(l->scale_count, 2);
  assert_string_equal(l->scales[1].tensor, "Weights");
  assert_real(l->scales[0].scale, 0.5);
  assert_non_null(strstr(m.log, "half for reads, half for writes"));
  machine_free(&m);
  read_flat(&m,
            "entries: 4, network-word-bits: 32, energy-per-hop: 0.5, "
            "router_energy: 2, energy-per-ingress: 3, network_type: '1:N', "
            "network_fill_latency: 5, network-drain-latency: 7, "
            "fill_latency: 9, reduction_supported: False");
  const accel_network *n = &m.arch.levels[0].network;
  assert_int_equal(n->word_bits, 32);
  assert_true(n->hop_given);
  assert_real(n->hop_pj, 0.5);
  assert_real(n->router_pj, 2);
  assert_real(n->ingress_pj, 3);
  assert_int_equal(n->fill_cycles, 5);
  assert_int_equal(n->drain_cycles, 7);
  assert_false(m.arch.levels[0].reduction_supported);
  machine_free(&m);
}

static void meshes_are_completed(void **state) {
  (void)state;
  const struct {
    const char *text;
    uint64_t x, y;
  } cases[] = {{"meshX: 4", 4, 1},
               {"meshY: 1", 4, 1},
               {"meshY: 1, meshX: 4", 4, 1},
               {"meshX: 4, meshY: 1", 4, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    machine m;
    char text[128];
    snprintf(text, sizeof text, "entries: 4, %s", cases[i].text);
    read_flat(&m, text);
    assert_int_equal(m.arch.levels[0].mesh_x, cases[i].x);
    assert_int_equal(m.arch.levels[0].mesh_y, cases[i].y);
    machine_free(&m);
  }
  machine m;
  machine_read(&m,
               "arch:\n"
               "  arithmetic: {meshX: 4, meshY: 6}\n"
               "  storage: [{name: A, entries: 1, meshY: 3, instances: 6}]\n",
               NULL);
  assert_int_equal(m.arch.compute.instances, 24);
  assert_int_equal(m.arch.levels[0].mesh_x, 2);
  assert_int_equal(accel_arch_fanout(&m.arch, 0).x, 2);
  assert_int_equal(accel_arch_fanout(&m.arch, 0).y, 2);
  machine_free(&m);
}

/* A value may be a variable of the file, or arithmetic. */
static void values_may_be_expressions(void **state) {
  (void)state;
  machine m;
  machine_read(&m,
               "variables: {BITS: 8, technology: 45nm}\n" FLAT(
                   "word_bits: BITS, width: word_bits * 4, depth: 2 * "
                   "word_bits, technology: 45nm, power_gated_at: Buffer"),
               NULL);
  assert_int_equal(m.arch.levels[0].word_bits, 8);
  assert_int_equal(m.arch.levels[0].block_words, 4);
  assert_int_equal(m.arch.levels[0].entries, 64);
  machine_free(&m);
  expect_flat_refused("word_bits: BITS", CALM_BAD_INPUT, "BITS");
}

/* Legal words of estimators and of Timeloop's front end change nothing. */
static void idle_keys_change_nothing(void **state) {
  (void)state;
  machine m;
  read_flat(&m,
            "entries: 4, num-ports: 2, n_rdwr_ports: 1, n_rd_wr_ports: 2, "
            "nports: 1, type: LPDDR4, update_fifo_depth: 2, n_banks: 4, "
            "global_cycle_seconds: 1e-9, cycle_time: 1, area_scale: 1, "
            "allow_overbooking: false, power_gated_at: Buffer, "
            "metadata_storage_depth: 0, decompression_supported: no, "
            "network_read: null");
  assert_string_equal(m.log, "");
  machine_free(&m);
}

static void wrong_attributes_are_refused(void **state) {
  (void)state;
  const struct {
    const char *text, *words;
  } cases[] = {
      {"data_width: 8, entries: 4",
       "4:34: unknown attribute 'data_width' of Buffer; did you mean "
       "'datawidth'?"},
      {"entrys: 4", "did you mean 'entries'?"},
      {"colour: 4", "unknown attribute 'colour' of Buffer; remove it"},
      {"entries: many", "entries of Buffer is 'many'"},
      {"entries: -4", "entries of Buffer is '-4'"},
      {"entries: 4.5", "entries of Buffer is '4.5'"},
      {"entries: [4]", "entries of Buffer is a list"},
      {"entries: 9223372036854775807", "more than 2^62 words"},
      {"depth: 4611686018427387904, block-size: 2", "more than 2^62 words"},
      {"sizeKB: 4611686018427387904", "more than 2^62 bits"},
      {"sizeKB: 4, entries: 4", "both 'sizeKB' and 'entries'"},
      {"sizeKB: 4, depth: 4", "both 'sizeKB' and 'depth'"},
      {"word_bits: 0", "word_bits of Buffer is 0; it must be 1 or more"},
      {"block_size: 0", "block_size of Buffer is 0"},
      {"cluster_size: 0", "cluster_size of Buffer is 0"},
      {"block_size: 4294967296", "1 or more, below 2^32"},
      {"meshX: 0", "meshX of Buffer is 0"},
      {"meshX: 3", "4 instances, which meshX 3 does not divide"},
      {"meshX: 4, meshY: 2", "meshX 4 meshY 2 does not divide"},
      {"width: 20, word_bits: 16",
       "width 20 of Buffer is no multiple of word_bits 16 x block_size 1"},
      {"width: 0", "width 0 of Buffer"},
      {"width: 32, block_size: 4",
       "no multiple of word_bits 16 x block_size "
       "4"},
      {"width: 24, word_bits: 24, cluster_size: 16",
       "word_bits 24 x block_size 1 x cluster_size 16"},
      {"width: 64, block_size: 2, cluster_size: 4",
       "is no multiple of word_bits 16 x block_size 2 x cluster_size 4"},
      {"width: 128, block_size: 2, cluster_size: 2",
       "is not word_bits 16 x block_size 2 x cluster_size 2"},
      {"technology: DRAM, cluster_size: 2", "DRAM cannot be clustered"},
      {"multiple_buffering: 0, entries: 4", "1 is single, 2 double"},
      {"min_utilization: 0.5", "needs a capacity"},
      {"min_utilization: 1.5, entries: 4", "more than the whole"},
      {"read_bandwidth: 0", "read_bandwidth of Buffer is 0"},
      {"bandwidth: -1", "bandwidth of Buffer is -1; it cannot be negative"},
      {"per_dataspace_bandwidth_consumption_scale: 4", "is not a mapping"},
      {"per_dataspace_bandwidth_consumption_scale: {A: -1}", "is negative"},
      {"network_type: 2:N", "Timeloop knows 1:1, 1:N and M:N"},
      {"reduction_supported: maybe", "not true or false"},
      {"vector-access-energy: -1", "cannot be negative"},
      {"vector-access-energy: 1e101",
       "vector-access-energy of Buffer is 1e101; more than 1e+100 is too"},
      {"energy: 4", "unknown attribute 'energy' of Buffer"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_flat_refused(cases[i].text, CALM_BAD_INPUT, cases[i].words);
}

static void foreign_constructs_are_named(void **state) {
  (void)state;
  const struct {
    const char *text, *words;
  } cases[] = {
      {"metadata_datawidth: 4", "does not cost sparse tensors"},
      {"decompression-supported: true", "does not cost sparse tensors"},
      {"network_read: Noc",
       "4:34: 'network_read' of Buffer: calm does not "
       "cost a user-defined network"},
      {"allow_overbooking: true", "does not cost overbooking"},
      {"power_gated_at: DRAM", "power gating"},
      {"network_type: 'M:N'", "distributed multicast"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_flat_refused(cases[i].text, CALM_UNSUPPORTED, cases[i].words);
}

static void compute_units_have_their_own_keys(void **state) {
  (void)state;
#define UNIT(attributes)                     \
  "arch:\n"                                  \
  "  arithmetic: {instances: 4, " attributes \
  "}\n"                                      \
  "  storage: [{name: A, entries: 1, instances: 1}]\n"
  machine m;
  machine_read(&m,
               UNIT("name: MACs, datawidth: 8, width: 99, multiplier_width: 8"),
               NULL);
  assert_string_equal(m.arch.compute.name, "MACs");
  assert_int_equal(m.arch.compute.word_bits, 8);
  machine_free(&m);
  expect_refused(UNIT("entries: 4"), CALM_BAD_INPUT,
                 "unknown attribute 'entries' of __ARITH__");
  expect_refused(UNIT("word_width: 8"), CALM_BAD_INPUT,
                 "unknown attribute 'word_width'");
  expect_refused(UNIT("word_bits: 0"), CALM_BAD_INPUT,
                 "word_bits of __ARITH__");
  expect_refused(UNIT("network_operand: N"), CALM_UNSUPPORTED, "user-defined");
}

/* A flat file's class is not looked at, as in Timeloop, unless it has
   `attributes`; an author who relies on it is told. */
static void a_class_in_a_flat_file(void **state) {
  (void)state;
  machine m;
  read_flat(&m, "class: DRAM, entries: 4");
  assert_false(m.arch.levels[0].dram);
  assert_non_null(strstr(m.log, "'technology: DRAM' makes it DRAM"));
  machine_free(&m);
  machine_read(&m,
               "arch:\n"
               "  arithmetic: {instances: 1}\n"
               "  storage: [{name: A, class: DRAM, attributes: {instances: "
               "1}}]\n",
               NULL);
  assert_true(m.arch.levels[0].dram);
  assert_string_equal(m.arch.levels[0].class_name, "DRAM");
  machine_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_left_out_is_timeloops_default),
      cmocka_unit_test(spellings_are_alike),
      cmocka_unit_test(the_first_of_several_names_counts),
      cmocka_unit_test(sizes_follow),
      cmocka_unit_test(bandwidths_and_networks_are_read),
      cmocka_unit_test(meshes_are_completed),
      cmocka_unit_test(values_may_be_expressions),
      cmocka_unit_test(idle_keys_change_nothing),
      cmocka_unit_test(wrong_attributes_are_refused),
      cmocka_unit_test(foreign_constructs_are_named),
      cmocka_unit_test(compute_units_have_their_own_keys),
      cmocka_unit_test(a_class_in_a_flat_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
