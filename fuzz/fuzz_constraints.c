/*
 * Any bytes are either refused with one line or read as constraints on the
 * machine that they describe themselves, or on one of ours.  A nest either
 * observes them or breaks one that can be named.
 */
#include "accel_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_nest(text *t, const accel_constraints *c,
                       const accel_arch *arch, const accel_layer *layer,
                       arena *a) {
  accel_nest nest;
  char *broken = NULL;
  const char mapping[] =
      "mapping:\n- {target: DRAM, type: temporal, factors: P8 N5}\n";
  if (!succeeded(
          t, accel_nest_read(&nest, own_yaml(mapping, a), arch, layer, a), a))
    return;
  demand(accel_constraints_check(&broken, c, &nest, arch, layer, a->context) ==
         CALM_OK);
  demand(!broken || (*broken != '\0' && !strchr(broken, '\n')));
  text_format(t, "%s\n", broken ? broken : "observed");
  calm_text_free(a->context, broken);
}

static void read_on(text *t, const accel_yaml *root, const char *arch_text,
                    const char *layer_text, arena *a) {
  accel_arch arch, theirs;
  accel_layer layer;
  accel_constraints c;
  own_case(&arch, &layer, arch_text, layer_text, a);
  if (succeeded(t, accel_arch_read(&theirs, root, NULL, false, a), a))
    arch = theirs;
  if (!succeeded(t, accel_constraints_read(&c, root, &arch, &layer, a), a))
    return;
  demand(c.level_count == arch.level_count);
  show_constraints(t, &c);
  check_nest(t, &c, &arch, &layer, a);
}

static void read_constraints(text *t, const accel_yaml *root, arena *a) {
  read_on(t, root, own_arch, own_layer, a);
  read_on(t, root, own_chain, own_product, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return use_twice(read_constraints, data, size);
}
