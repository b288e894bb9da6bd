/*
 * A mapping says once for each dimension whether it lies along the columns or
 * the rows of a mesh.  So where a fan-out has both, a column of 0 or 1 decides
 * for each dimension.
 */
#include "mapper/mapper_cosa_model.h"

static double most_on(const mapper_cosa_model *m, uint32_t level,
                      uint32_t dimension, accel_loop_kind kind) {
  double most = 0;
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_use u = mapper_cosa_use_of(m, c);
    if (u.level == level && u.dimension == dimension && u.kind == kind)
      most += m->mip.columns.data[c].upper;
  }
  return most;
}

static bool has_both(const mapper_cosa_model *m, uint32_t level,
                     uint32_t dimension) {
  return most_on(m, level, dimension, ACCEL_SPATIAL_X) > 0 &&
         most_on(m, level, dimension, ACCEL_SPATIAL_Y) > 0;
}

calm_status mapper_cosa_add_mesh_columns(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  m->first_side = m->mip.columns.count;
  for (uint32_t l = 0; l < p->level_count; l++)
    for (uint32_t d = 0; d < p->dimension_count; d++) {
      mapper_mip_column side = {NULL, 0, 1, true};
      if (!has_both(m, l, d)) continue;
      TRY(mapper_cosa_name(&side.name, m, "rows", p->arch->levels[l].name,
                           p->layer->dimensions[d].name));
      TRY(mapper_mip_add_column(&m->mip, side));
    }
  return CALM_OK;
}

/* Columns: count <= most * (1 - side); rows: count <= most * side. */
static calm_status bind_side(mapper_cosa_model *m, uint32_t level,
                             uint32_t dimension, uint32_t side) {
  for (uint32_t k = ACCEL_SPATIAL_X; k <= ACCEL_SPATIAL_Y; k++) {
    const bool rows = k == ACCEL_SPATIAL_Y;
    const double most = most_on(m, level, dimension, (accel_loop_kind)k);
    for (uint32_t c = 0; c < m->columns.count; c++) {
      const mapper_cosa_use u = mapper_cosa_use_of(m, c);
      if (u.level == level && u.dimension == dimension && u.kind == k)
        m->sum.of[c] = 1;
    }
    m->sum.of[side] = rows ? -most : most;
    TRY(mapper_cosa_row(m, "side", -HUGE_VAL, rows ? 0 : most));
  }
  return CALM_OK;
}

calm_status mapper_cosa_add_mesh_rows(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  uint32_t side = m->first_side;
  for (uint32_t l = 0; l < p->level_count; l++)
    for (uint32_t d = 0; d < p->dimension_count; d++)
      if (has_both(m, l, d)) TRY(bind_side(m, l, d, side++));
  return CALM_OK;
}
