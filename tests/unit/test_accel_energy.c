/* Energies: tables, the file's own figures, Timeloop's formulas, wires. */
#include "accel_arch_fixture.h"

/* Three levels, one clustered; figures worked out by hand from the points
   0.5 KB: 1 pJ, 100 KB: 6 pJ for 16 bits. */
static const char plain[] =
    "arch:\n"
    "  arithmetic: {name: MAC, instances: 16, word-bits: 8}\n"
    "  storage:\n"
    "  - {name: Regs, instances: 16, entries: 5, word-bits: 32, block-size: 2,"
    " cluster-size: 4}\n"
    "  - {name: Glb, instances: 1, entries: 51200, word-bits: 16}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, block-size:"
    " 64}\n";

static void formulas_are_those_of_pat(void **state) {
  (void)state;
  machine m;
  machine_read(&m, plain, NULL);
  const accel_level *l = m.arch.levels;
  const double kilobytes = 32.0 * 2 * 4 * 3 / 8192;
  assert_real(l[0].energy.read_pj,
              ((kilobytes - 0.5) * 5 / 99.5 + 1) * 32 * 2 * 4 / 16 / 4);
  assert_real(l[1].energy.read_pj, 6);
  assert_real(l[1].energy.write_pj, 6);
  assert_real(l[1].energy.update_pj, 6);
  assert_real(l[1].energy.leak_pj, 0);
  assert_real(l[2].energy.read_pj, 200.0 * 512 / 16);
  assert_real(m.arch.compute.energy_pj, 0.25);
  assert_true(l[0].energy.known && m.arch.compute.energy_known);
  machine_free(&m);
}

/* Full names, ranges, several arguments: the dearest. */
static const char listed[] =
    "ERT:\n"
    "  version: '0.4'\n"
    "  tables:\n"
    "  - name: top.PE[0..15].MAC[1..16]\n"
    "    actions:\n"
    "    - {name: mac_gated, energy: 9}\n"
    "    - {name: compute, energy: 0.5}\n"
    "  - name: top.PE[0..15].Regs\n"
    "    actions:\n"
    "    - {name: read, arguments: {a: 0}, energy: 1}\n"
    "    - {name: read, arguments: {a: 1}, energy: 1.5}\n"
    "    - {name: write, energy: 2}\n"
    "    - {name: leak, energy: 0.25}\n"
    "  - name: Glb[10..10]\n"
    "    actions:\n"
    "    - {name: read, energy: 3}\n"
    "    - {name: fill, energy: 4}\n"
    "    - {name: write, energy: 5}\n"
    "    - {name: update, energy: 6}\n"
    "  - name: top.DRAM\n"
    "    actions:\n"
    "    - {name: random_read, energy: 7}\n"
    "    - {name: read, energy: 70}\n"
    "    - {name: random_write, energy: 8}\n"
    "    - {name: update, energy: 80}\n";

static void expect_listed(const machine *m) {
  const accel_level *l = m->arch.levels;
  assert_real(m->arch.compute.energy_pj, 0.5);
  assert_real(l[0].energy.read_pj, 1.5);
  assert_real(l[0].energy.write_pj, 2);
  assert_real(l[0].energy.update_pj, 2);
  assert_real(l[0].energy.leak_pj, 0.25);
  assert_real(l[1].energy.write_pj, 4);
  assert_real(l[1].energy.update_pj, 6);
  assert_real(l[1].energy.leak_pj, 0);
  assert_real(l[2].energy.read_pj, 7);
  assert_real(l[2].energy.write_pj, 8);
  assert_real(l[2].energy.update_pj, 8);
}

static void tables_count_before_formulas(void **state) {
  (void)state;
  machine m;
  machine_read(&m, plain, listed);
  expect_listed(&m);
  machine_free(&m);
  char both[4096];
  snprintf(both, sizeof both, "%s%s", plain, listed);
  machine_read(&m, both, NULL);
  expect_listed(&m);
  machine_free(&m);
}

/* Version 0.2: names and actions are keys. */
static void older_tables_are_mappings(void **state) {
  (void)state;
  machine m;
  machine_read(
      &m, plain,
      "ERT:\n"
      "  version: 0.2\n"
      "  tables:\n"
      "    top.MAC: {mac_random: {energy: 0.5}, compute: {energy: 7}}\n"
      "    top.Regs: {read: [{energy: 1}, {arguments: {}, energy: 1.5}],"
      " write: {energy: 2}, leak: {energy: 0.25}}\n"
      "    top.Glb: {read: {energy: 3}, fill: {energy: 4},"
      " update: {energy: 6}}\n"
      "    top.DRAM: {random_read: {energy: 7}, random_write: {energy: 8}}\n");
  expect_listed(&m);
  machine_free(&m);
}

static const char summary[] =
    "ERT_summary:\n"
    "  table_summary:\n"
    "  - {name: t.MAC, actions: [{name: mult, energy: 1}]}\n"
    "  - {name: t.Regs, actions: [{name: read, energy: 1}, {name: write,"
    " energy: 2}], primitive_estimation(s): []}\n"
    "  - {name: t.Glb, actions: [{name: read, energy: 3}, {name: write,"
    " energy: 4}]}\n"
    "  - {name: t.DRAM, actions: [{name: read, energy: 5}, {name: write,"
    " energy: 6}]}\n";

static void summaries_are_read_too(void **state) {
  (void)state;
  machine m;
  machine_read(&m, plain, summary);
  assert_real(m.arch.compute.energy_pj, 1);
  assert_real(m.arch.levels[2].energy.update_pj, 6);
  assert_string_equal(m.log, "");
  machine_free(&m);
}

/* `vector-access-energy` counts before a table, the multiplier's `energy`
   after it: so does Timeloop. */
static void figures_of_the_file(void **state) {
  (void)state;
  const char text[] =
      "arch:\n"
      "  arithmetic: {name: MAC, instances: 1, energy: 3}\n"
      "  storage:\n"
      "  - {name: Glb, instances: 1, vector-access-energy: 2,"
      " addr-gen-energy: 1}\n";
  machine m;
  machine_read(&m, text, NULL);
  assert_real(m.arch.compute.energy_pj, 3);
  assert_real(m.arch.levels[0].energy.read_pj, 2);
  assert_real(m.arch.levels[0].energy.update_pj, 2);
  assert_real(m.arch.levels[0].energy.address_pj, 1);
  machine_free(&m);
  machine_read(&m, text,
               "ERT: {tables: [{name: MAC, actions: [{name: mac, energy: 4}]},"
               " {name: Glb, actions: [{name: read, energy: 9}]}]}");
  assert_real(m.arch.compute.energy_pj, 4);
  assert_real(m.arch.levels[0].energy.read_pj, 2);
  machine_free(&m);
  machine_read(&m, text, "ERT: {tables: []}");
  assert_real(m.arch.compute.energy_pj, 3);
  machine_free(&m);
}

static void missing_energies_are_errors_if_they_are_needed(void **state) {
  (void)state;
  char without[2048];
  snprintf(without, sizeof without, "%s", listed);
  char *glb = strstr(without, "name: Glb");
  memcpy(glb, "name: glb", 9);
  expect_refused_with(plain, without, CALM_BAD_INPUT,
                      "e.yaml:4:3: no table for Glb");
  machine m;
  machine_init(&m);
  assert_int_equal(machine_try(&m, plain, without, false), CALM_OK);
  assert_false(m.arch.levels[1].energy.known);
  assert_true(m.arch.levels[0].energy.known);
  machine_free(&m);
  expect_refused(
      "arch:\n"
      "  arithmetic: {instances: 1}\n"
      "  storage: [{name: Glb, instances: 1}]\n",
      CALM_BAD_INPUT, "a.b.yaml:3:13: the energy of Glb cannot be told");
}

static void wrong_tables_are_refused(void **state) {
  (void)state;
#define ONE(actions) "ERT: {tables: [{name: MAC, actions: " actions "}]}"
  const struct {
    const char *text, *words;
  } cases[] = {
      {"a: 1", "looked for a section 'ERT'"},
      {"ERT: {}", "no 'tables' in this section"},
      {"ERT: {tables: 4}", "no 'tables' in this section"},
      {"ERT_summary: {tables: []}", "no 'table_summary' in this section"},
      {"ERT: {tables: [{actions: []}]}", "without the 'name'"},
      {"ERT: {tables: [4]}", "without the 'name'"},
      {ONE("4"), "'actions' is a list"},
      {ONE("[4]"), "an action without a 'name'"},
      {ONE("[{name: mac}]"), "an entry without 'energy'"},
      {ONE("[{name: mac, energy: -1}]"), "cannot be negative"},
      {ONE("[{name: mac, energy: dear}]"), "energy is 'dear'"},
      {ONE("[{name: leak, energy: 1}]"), "MAC has no energy of 'compute'"},
      {"ERT: {tables: [{name: MAC}]}", "MAC has no energy of 'compute'"},
  };
  const char text[] =
      "arch:\n"
      "  arithmetic: {name: MAC, instances: 1}\n"
      "  storage: [{name: Glb, instances: 1, vector-access-energy: 2}]\n";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_refused_with(text, cases[i].text, CALM_BAD_INPUT, cases[i].words);
}

static void the_last_of_two_tables_counts(void **state) {
  (void)state;
  machine m;
  char text[2048];
  snprintf(text, sizeof text,
           "%s  - {name: x.MAC, actions: [{name: mac, energy: 11}]}\n",
           summary);
  machine_read(&m, plain, text);
  assert_real(m.arch.compute.energy_pj, 11);
  assert_non_null(strstr(m.log, "e.yaml:7: a second table for MAC"));
  machine_free(&m);
}

/* A hop costs bits x millimetres x pJ per bit and millimetre. */
static void hops_follow_from_wires(void **state) {
  (void)state;
#define WIRED(compute, level)                                               \
  "arch:\n"                                                                 \
  "  arithmetic: {instances: 4" compute                                     \
  "}\n"                                                                     \
  "  storage:\n"                                                            \
  "  - {name: A, instances: 2, entries: 4, word-bits: 8, wire-energy: 2}\n" \
  "  - {name: B, instances: 1, entries: 4, wire-energy: 2" level "}\n"
  machine m;
  machine_read(&m, WIRED("", ", tile-width: 500, network-word-bits: 4"), NULL);
  assert_real(m.arch.levels[0].network.hop_pj, 0);
  assert_real(m.arch.levels[1].network.hop_pj, 4 * 0.5 * 2);
  assert_false(m.arch.levels[1].network.hop_given);
  machine_free(&m);
  machine_read(&m, WIRED("", ", tile-width: 500, energy-per-hop: 7"), NULL);
  assert_real(m.arch.levels[1].network.hop_pj, 7);
  machine_free(&m);
  machine_read(&m, WIRED(", area: 250000", ""), NULL);
  assert_real(m.arch.levels[0].network.hop_pj, 8 * 0.5 * 2);
  assert_real(m.arch.levels[1].network.hop_pj, 16 * sqrt(500000) / 1000 * 2);
  machine_free(&m);
}

/* Tables of wires and of areas; single precision, as in Timeloop. */
static void tables_of_wires_and_areas(void **state) {
  (void)state;
  char text[4096];
  snprintf(text, sizeof text,
           "%s  - {name: top.wire, actions: [{name: transfer_random, energy:"
           " 0.1}]}\n"
           "ART:\n"
           "  tables:\n"
           "  - {name: top.MAC, area: 1000000}\n"
           "  - {name: top.Glb, area: 84000000}\n",
           summary);
  machine m;
  machine_read(&m, plain, text);
  const double wire = (double)0.1f;
  assert_real(m.arch.levels[0].network.wire_pj, wire);
  assert_real(m.arch.levels[0].network.hop_pj, 32 * 1 * wire);
  assert_real(m.arch.levels[1].network.hop_pj, 16 * 1 * wire);
  assert_real(m.arch.levels[2].network.hop_pj, 8 * 10 * wire);
  machine_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formulas_are_those_of_pat),
      cmocka_unit_test(tables_count_before_formulas),
      cmocka_unit_test(older_tables_are_mappings),
      cmocka_unit_test(summaries_are_read_too),
      cmocka_unit_test(figures_of_the_file),
      cmocka_unit_test(missing_energies_are_errors_if_they_are_needed),
      cmocka_unit_test(wrong_tables_are_refused),
      cmocka_unit_test(the_last_of_two_tables_counts),
      cmocka_unit_test(hops_follow_from_wires),
      cmocka_unit_test(tables_of_wires_and_areas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
