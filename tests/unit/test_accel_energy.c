/* Energies: tables, the file's own figures, Timeloop's formulas, wires. */
#include "accel/accel_energy.h"
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

/* A copy of a text in which a word stands for another of the same length. */
static char *replaced(const char *text, const char *old, const char *new) {
  static char copy[2048];
  snprintf(copy, sizeof copy, "%s", text);
  char *at = strstr(copy, old);
  assert_non_null(at);
  memcpy(at, new, strlen(new));
  return copy;
}

/* Entries that differ in what they are given are as Accelergy writes them. */
static void one_action_twice_is_told(void **state) {
  (void)state;
  machine m;
  machine_read(&m, plain, listed);
  assert_string_equal(m.log, "");
  machine_free(&m);
  machine_read(&m, plain, replaced(listed, "{name: fill, ", "{name: read, "));
  assert_real(m.arch.levels[1].energy.read_pj, 4);
  assert_non_null(strstr(m.log,
                         "e.yaml:17: 'read' of Glb stands in line 16 "
                         "too; the dearer one counts"));
  machine_free(&m);
  machine_read(&m, plain, replaced(listed, "{a: 1}", "{a: 0}"));
  assert_non_null(strstr(m.log, "e.yaml:11: 'read' of Regs stands in line 10"));
  machine_free(&m);
}

static void a_version_is_a_word(void **state) {
  (void)state;
  machine m;
  machine_init(&m);
  assert_int_equal(
      machine_try(&m, plain, replaced(listed, "'0.4'", "[0,4]"), true),
      CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(m.context),
                         "e.yaml:2:12: version is a list, not a word"));
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

/* What the keeping of tensors at the three levels comes to: bit 0 a tensor that
   is read, bit 1 one that is written; NULL if all energies are there. */
static const char *kept_at(machine *m, uint32_t inner, uint32_t middle,
                           uint32_t outer) {
  accel_tensor tensors[] = {{.name = "In"},
                            {.name = "Out", .read_write = true}};
  const accel_layer layer = {.tensors = tensors, .tensor_count = 2};
  const uint32_t kept[] = {inner, middle, outer};
  const calm_status status =
      accel_energy_check(&m->arch, &layer, kept, m->context);
  if (status == CALM_OK) return NULL;
  assert_int_equal(status, CALM_BAD_INPUT);
  return calm_context_message(m->context);
}

static void a_missing_table_matters_where_a_tensor_is_kept(void **state) {
  (void)state;
  machine m;
  machine_read(&m, plain, replaced(listed, "name: Glb", "name: glb"));
  const accel_energy *glb = &m.arch.levels[1].energy;
  assert_false(glb->known);
  assert_int_equal(glb->unknown, ACCEL_READ | ACCEL_WRITE | ACCEL_UPDATE);
  assert_true(glb->read_pj == 0 && glb->write_pj == 0 && glb->update_pj == 0);
  assert_true(m.arch.levels[0].energy.known && m.arch.levels[2].energy.known);
  assert_null(kept_at(&m, 3, 0, 3));
  assert_string_equal(
      kept_at(&m, 3, 1, 3),
      "dir/a.b.yaml:5:5: no table for Glb among the energies of e.yaml:4, and "
      "In is kept there, which takes 'read' and 'write'; add one, or its "
      "'vector-access-energy', or leave all tables out for Timeloop's "
      "formulas, "
      "or use --no-energy");
  assert_non_null(strstr(kept_at(&m, 0, 2, 0), "'read', 'write' and 'update'"));
  machine_free(&m);
}

static void missing_actions_matter_likewise(void **state) {
  (void)state;
  const struct {
    const char *actions; /* that the table of Glb has */
    uint32_t unknown;
    const char *in, *out; /* what a tensor that is read, or written, lacks */
  } cases[] = {
      {"{name: write, energy: 3}", ACCEL_READ, "'read'", "'read'"},
      {"{name: read, energy: 3}, {name: fill, energy: 3}", ACCEL_UPDATE, NULL,
       "'update'"},
      {"{name: update, energy: 3}", ACCEL_READ | ACCEL_WRITE,
       "'read' and 'write'", "'read' and 'write'"},
      {"{name: leak, energy: 3}", ACCEL_READ | ACCEL_WRITE | ACCEL_UPDATE,
       "'read' and 'write'", "'read', 'write' and 'update'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    machine m;
    char text[2048], words[256];
    snprintf(text, sizeof text, "%s  - {name: t.Glb, actions: [%s]}\n", summary,
             cases[i].actions);
    machine_read(&m, plain, text);
    assert_int_equal(m.arch.levels[1].energy.unknown, cases[i].unknown);
    assert_null(kept_at(&m, 3, 0, 3));
    for (uint32_t t = 0; t < 2; t++) {
      const char *lacks = t ? cases[i].out : cases[i].in;
      const char *message = kept_at(&m, 3, 1U << t, 3);
      snprintf(words, sizeof words,
               "dir/a.b.yaml:5:5: the table of Glb has no energy of %s, and %s "
               "is kept there; add that in e.yaml:7, or ",
               lacks ? lacks : "", t ? "Out" : "In");
      if (!lacks)
        assert_null(message);
      else if (!message || strncmp(message, words, strlen(words)) != 0)
        fail_msg("wanted %s...\ngot %s", words, message ? message : "nothing");
    }
    machine_free(&m);
  }
}

/* No table, and no size for a formula; the outermost is named. */
static void missing_sizes_matter_likewise(void **state) {
  (void)state;
  machine m;
  machine_read(&m,
               "arch:\n"
               "  arithmetic: {instances: 1}\n"
               "  storage:\n"
               "  - {name: Regs, instances: 1}\n"
               "  - {name: Glb, instances: 1}\n"
               "  - {name: Memory, instances: 1, entries: 4}\n",
               NULL);
  assert_false(m.arch.levels[1].energy.known);
  assert_null(kept_at(&m, 0, 0, 3));
  assert_non_null(strstr(kept_at(&m, 1, 0, 3), "yaml:4:5: the energy of Regs"));
  assert_non_null(strstr(kept_at(&m, 1, 2, 3),
                         "a.b.yaml:5:5: the energy of Glb cannot be told, and "
                         "Out is kept there: give its size"));
  machine_free(&m);
}

/* The multipliers always need theirs, if energy is wanted. */
static void the_energy_of_computes_is_always_needed(void **state) {
  (void)state;
  const char *without = replaced(listed, "].MAC[", "].mac[");
  expect_refused_with(plain, without, CALM_BAD_INPUT,
                      "e.yaml:4:3: no table for MAC (dir/a.b.yaml:2)");
  machine m;
  machine_init(&m);
  assert_int_equal(machine_try(&m, plain, without, false), CALM_OK);
  assert_false(m.arch.compute.energy_known);
  assert_true(m.arch.levels[0].energy.known);
  machine_free(&m);
}

/* Without energy, a table that is wrong says nothing. */
static void wrong_tables_are_not_looked_at_without_energy(void **state) {
  (void)state;
  machine m;
  const char *wrong = replaced(listed, "energy: 3", "energy: x");
  machine_init(&m);
  assert_int_equal(machine_try(&m, plain, wrong, false), CALM_OK);
  assert_int_equal(m.arch.levels[1].energy.unknown, 7);
  machine_free(&m);
  expect_refused_with(plain, wrong, CALM_BAD_INPUT, "energy is 'x'");
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
      {ONE("[{name: mac, energy: 1e308}]"),
       "energy is 1e308; more than 1e+100 is too large"},
      {ONE("[{name: mac, energy: 1}]},"
           "{name: wire, actions: [{name: transfer_random, energy: 1e39}]"),
       "the energy of wires is 1e+39; more than single precision holds"},
      {ONE("[{name: mac, energy: 1}]") "\nART: {tables: [{name: MAC, area: "
                                       "1e39}]}",
       "area is 1e+39; more than single precision holds"},
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
      cmocka_unit_test(one_action_twice_is_told),
      cmocka_unit_test(a_version_is_a_word),
      cmocka_unit_test(summaries_are_read_too),
      cmocka_unit_test(figures_of_the_file),
      cmocka_unit_test(a_missing_table_matters_where_a_tensor_is_kept),
      cmocka_unit_test(missing_actions_matter_likewise),
      cmocka_unit_test(missing_sizes_matter_likewise),
      cmocka_unit_test(the_energy_of_computes_is_always_needed),
      cmocka_unit_test(wrong_tables_are_not_looked_at_without_energy),
      cmocka_unit_test(wrong_tables_are_refused),
      cmocka_unit_test(the_last_of_two_tables_counts),
      cmocka_unit_test(hops_follow_from_wires),
      cmocka_unit_test(tables_of_wires_and_areas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
