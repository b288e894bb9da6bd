/*
 * Any bytes are either refused with one line or read as a machine, with or
 * without energies; or as energies of a machine of ours.
 */
#include "accel_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_machine(text *t, const accel_yaml *root, arena *a) {
  static const bool energy[] = {false, true};
  accel_arch arch;
  bool known[2];
  for (int i = 0; i < 2; i++) {
    known[i] =
        succeeded(t, accel_arch_read(&arch, root, NULL, energy[i], a), a);
    if (known[i]) show_arch(t, &arch);
  }
  demand(known[0] || !known[1]);
  if (succeeded(t, accel_arch_read(&arch, own_yaml(own_arch, a), root, true, a),
                a))
    show_arch(t, &arch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return use_twice(read_machine, data, size);
}
