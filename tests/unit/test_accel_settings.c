/* Values that are set from outside, in each kind of architecture file. */
#include "accel/accel_settings.h"

#include "accel/accel_arch.h"
#include "accel_yaml_fixture.h"

static const char flat[] =
    "arch:\n"
    "  arithmetic: {name: MAC, instances: 4, word-bits: 8}\n"
    "  storage:\n"
    "  - {name: Buffer, entries: 64, instances: 1}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1}\n";

static const char tree[] =
    "architecture:\n"
    "  version: 0.3\n"
    "  subtree:\n"
    "  - name: system\n"
    "    local:\n"
    "    - {name: DRAM, class: DRAM, attributes: {width: 64}}\n"
    "    - {name: 'Buffer[0..3]', class: SRAM,\n"
    "       attributes: &same {entries: 64}}\n"
    "    - {name: 'Other[0..3]', class: SRAM, attributes: *same}\n"
    "    - {name: 'MAC[0..3]', class: intmac, attributes: {datawidth: 8}}\n";

static const char nodes[] =
    "variables: {size: 64}\n"
    "architecture:\n"
    "  version: 0.4\n"
    "  nodes:\n"
    "  - !Component {name: DRAM, class: DRAM, attributes: {width: 8,\n"
    "     datawidth: 8}}\n"
    "  - !Container {name: PE, spatial: {meshX: 4}}\n"
    "  - !Component {name: Buffer, class: SRAM, attributes: {depth: size,\n"
    "     width: 8, datawidth: 8}}\n"
    "  - !Component {name: MAC, class: intmac, attributes: {datawidth: 8}}\n";

static calm_status apply_to(yaml_world *w, accel_yaml *root, const char *first,
                            const char *second) {
  const option_item other = {second, NULL};
  const option_item one = {first, second ? &other : NULL};
  return accel_settings_apply(root, &one, &w->arena);
}

/* The machine of a file with one or two values set. */
static accel_arch machine_of(yaml_world *w, const char *file, const char *first,
                             const char *second) {
  accel_arch arch = {0};
  accel_yaml *root = read_yaml(w, file);
  if (apply_to(w, root, first, second) ||
      accel_arch_read(&arch, root, NULL, false, &w->arena))
    fail_msg("%s", calm_context_message(w->context));
  return arch;
}

static uint64_t entries_of(const accel_arch *arch, const char *level) {
  return arch->levels[accel_arch_find(arch, level)].entries;
}

static void attributes_are_set_in_every_kind_of_file(void **state) {
  (void)state;
  const char *const files[] = {flat, tree};
  for (size_t i = 0; i < 2; i++) {
    yaml_world w;
    world_open(&w);
    const accel_arch arch =
        machine_of(&w, files[i], "Buffer.entries=128", "DRAM.word-bits=16");
    assert_int_equal(entries_of(&arch, "Buffer"), 128);
    const uint32_t dram = accel_arch_find(&arch, "DRAM");
    assert_int_equal(arch.levels[dram].word_bits, 16);
    world_close(&w);
  }
}

static void what_an_alias_shares_stays_as_it_is(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_arch arch = machine_of(&w, tree, "Buffer.entries=128", NULL);
  assert_int_equal(entries_of(&arch, "Buffer"), 128);
  assert_int_equal(entries_of(&arch, "Other"), 64);
  world_close(&w);
}

static void variables_and_meshes_are_set(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_arch arch =
      machine_of(&w, nodes, "variables.size=256", "PE.meshX=8");
  assert_int_equal(entries_of(&arch, "Buffer"), 256);
  assert_int_equal(arch.compute.instances, 8);
  world_close(&w);
}

static void a_range_in_a_name_is_set(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_arch arch = machine_of(&w, tree, "MAC.instances=8", NULL);
  assert_int_equal(arch.compute.instances, 8);
  world_close(&w);
}

static void the_last_of_equal_ones_counts(void **state) {
  (void)state;
  yaml_world w;
  world_open(&w);
  const accel_arch arch =
      machine_of(&w, flat, "Buffer.entries=1", "Buffer.entries=2");
  assert_int_equal(entries_of(&arch, "Buffer"), 2);
  world_close(&w);
}

static void refuse(const char *setting, const char *part) {
  yaml_world w;
  world_open(&w);
  accel_arch arch;
  accel_yaml *root = read_yaml(&w, flat);
  calm_status status = apply_to(&w, root, setting, NULL);
  if (status == CALM_OK)
    status = accel_arch_read(&arch, root, NULL, false, &w.arena);
  assert_int_not_equal(status, CALM_OK);
  expect_message(&w, part);
  world_close(&w);
}

static void wrong_ones_are_refused_with_the_remedy(void **state) {
  (void)state;
  refuse("Bufer.entries=1", "did you mean 'Buffer'?");
  refuse("Nothing.entries=1", "(there are MAC, Buffer, DRAM)");
  refuse("Buffer.entrees=1", "did you mean 'entries'?");
  refuse("Buffer.entries=many", "--set");
  refuse("Buffer.entries=-1", "entries of Buffer");
  refuse("Buffer.entries", "is not NAME.KEY=VALUE");
  refuse("Buffer=1", "is not NAME.KEY=VALUE");
  refuse(".entries=1", "is not NAME.KEY=VALUE");
  refuse("Buffer.=1", "is not NAME.KEY=VALUE");
  refuse("Buffer.entries=", "is not NAME.KEY=VALUE");
  refuse("Buffer.entries=1\nb: 2", "is not NAME.KEY=VALUE");
  refuse("Buffer.entries=[1, 2]", "is not NAME.KEY=VALUE");
  refuse("", "is not NAME.KEY=VALUE");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attributes_are_set_in_every_kind_of_file),
      cmocka_unit_test(what_an_alias_shares_stays_as_it_is),
      cmocka_unit_test(variables_and_meshes_are_set),
      cmocka_unit_test(a_range_in_a_name_is_set),
      cmocka_unit_test(the_last_of_equal_ones_counts),
      cmocka_unit_test(wrong_ones_are_refused_with_the_remedy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
