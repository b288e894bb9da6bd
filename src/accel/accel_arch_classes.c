/* Classes of components, told apart by parts of their names as Timeloop does:
   "my_SRAM_macro" is a memory. */
#include <string.h>

#include "accel/accel_arch_parts.h"

static bool contains_any(const char *text, const char *const *parts) {
  for (; *parts; parts++)
    if (strstr(text, *parts)) return true;
  return false;
}

bool accel_arch_is_memory(const char *class_name) {
  static const char *const parts[] = {"DRAM",        "SRAM",    "regfile",
                                      "smartbuffer", "storage", NULL};
  return contains_any(class_name, parts);
}

bool accel_arch_is_compute(const char *class_name) {
  static const char *const parts[] = {"mac", "compute", NULL};
  return contains_any(class_name, parts);
}

bool accel_arch_is_network(const char *class_name) {
  static const char *const parts[] = {"XY_NoC", "Legacy", "ReductionTree",
                                      "SimpleMulticast", NULL};
  return contains_any(class_name, parts);
}
