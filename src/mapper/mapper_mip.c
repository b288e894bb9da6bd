#include "mapper/mapper_mip.h"

void mapper_mip_init(mapper_mip *out, calm_context *context) {
  *out = (mapper_mip){.context = context};
}

void mapper_mip_free(mapper_mip *m) {
  VECTOR_FREE(m->context, &m->columns);
  VECTOR_FREE(m->context, &m->rows);
  VECTOR_FREE(m->context, &m->terms);
}

calm_status mapper_mip_add_column(mapper_mip *m, mapper_mip_column column) {
  VECTOR_PUSH(m->context, &m->columns, column);
  return CALM_OK;
}

calm_status mapper_mip_sum_init(mapper_mip_sum *out, const mapper_mip *m,
                                arena *a) {
  mapper_mip_sum s = {.constant = 0};
  ARENA_ARRAY(a, s.of, m->columns.count);
  *out = s;
  return CALM_OK;
}

void mapper_mip_sum_clear(mapper_mip_sum *s, const mapper_mip *m) {
  s->constant = 0;
  for (uint32_t c = 0; c < m->columns.count; c++) s->of[c] = 0;
}

void mapper_mip_sum_add(mapper_mip_sum *out, const mapper_mip_sum *s,
                        double factor, const mapper_mip *m) {
  out->constant += factor * s->constant;
  for (uint32_t c = 0; c < m->columns.count; c++)
    out->of[c] += factor * s->of[c];
}

calm_status mapper_mip_add_row(mapper_mip *m, const char *name, double lower,
                               const mapper_mip_sum *s, double upper) {
  const mapper_mip_row row = {name, lower - s->constant, upper - s->constant,
                              m->terms.count};
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (s->of[c] != 0)
      VECTOR_PUSH(m->context, &m->terms, (mapper_mip_term){c, s->of[c]});
  VECTOR_PUSH(m->context, &m->rows, row);
  return CALM_OK;
}

uint32_t mapper_mip_row_end(const mapper_mip *m, uint32_t row) {
  return row + 1 < m->rows.count ? m->rows.data[row + 1].first : m->terms.count;
}
