/* Stand-in until the reader of version 0.4 is merged. */
#include "accel/accel_arch_parts.h"

calm_status accel_arch_read_nodes(accel_arch_draft *d, const accel_yaml *root,
                                  const accel_yaml *section) {
  (void)root;
  return accel_place_fail(d->context, CALM_UNSUPPORTED, section->place,
                          "version 0.4");
}
