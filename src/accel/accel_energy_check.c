#include "accel/accel_energy.h"

uint32_t accel_energy_missing(const accel_level *level,
                              const accel_tensor *tensor) {
  const uint32_t needed =
      ACCEL_READ | ACCEL_WRITE | (tensor->read_write ? ACCEL_UPDATE : 0);
  return level->energy.unknown & needed;
}

/* By the bits of accel_action. */
static const char *const actions[] = {"no action",
                                      "'read'",
                                      "'write'",
                                      "'read' and 'write'",
                                      "'update'",
                                      "'read' and 'update'",
                                      "'write' and 'update'",
                                      "'read', 'write' and 'update'"};

static calm_status fail_size(calm_context *context, const accel_level *l,
                             const accel_tensor *t) {
  return accel_place_fail(
      context, CALM_BAD_INPUT, l->place,
      "the energy of %s cannot be told, and %s is kept there: give its size "
      "('entries', 'depth' or 'sizeKB'), 'vector-access-energy' or an ERT, or "
      "use --no-energy",
      l->name, t->name);
}

static calm_status fail_table(calm_context *context, const accel_level *l,
                              const accel_tensor *t) {
  const accel_place *tables = &l->energy.source;
  return accel_place_fail(
      context, CALM_BAD_INPUT, l->place,
      "no table for %s among the energies of %s:%u, and %s is kept there, "
      "which "
      "takes %s; add one, or its 'vector-access-energy', or leave all tables "
      "out for Timeloop's formulas, or use --no-energy",
      l->name, tables->file ? tables->file : "-", tables->line, t->name,
      actions[accel_energy_missing(l, t)]);
}

static calm_status fail_action(calm_context *context, const accel_level *l,
                               const accel_tensor *t) {
  const accel_place *table = &l->energy.source;
  return accel_place_fail(
      context, CALM_BAD_INPUT, l->place,
      "the table of %s has no energy of %s, and %s is kept there; add that in "
      "%s:%u, or give the level's 'vector-access-energy', or use --no-energy",
      l->name, actions[accel_energy_missing(l, t)], t->name,
      table->file ? table->file : "-", table->line);
}

static calm_status fail(calm_context *context, const accel_level *l,
                        const accel_tensor *t) {
  switch (l->energy.lack) {
    case ACCEL_LACKS_TABLE: return fail_table(context, l, t);
    case ACCEL_LACKS_ACTION: return fail_action(context, l, t);
    default: return fail_size(context, l, t);
  }
}

calm_status accel_energy_check(const accel_arch *arch, const accel_layer *layer,
                               const uint32_t *kept, calm_context *context) {
  for (uint32_t i = arch->level_count; i-- > 0;)
    for (uint32_t t = 0; t < layer->tensor_count; t++) {
      const accel_level *level = &arch->levels[i];
      const accel_tensor *tensor = &layer->tensors[t];
      if (kept[i] >> t & 1 && accel_energy_missing(level, tensor))
        return fail(context, level, tensor);
    }
  return CALM_OK;
}
