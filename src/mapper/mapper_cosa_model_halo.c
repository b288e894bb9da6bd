/*
 * Halos, as the released form has them.  A window of p steps and r taps spans
 * about p steps and something; the form counts p, and for each prime factor of
 * r one bit if any step is inside of the buffer, and its own bits if none is.
 * Factors of r count wherever they stand up to the permutation level.  What is
 * beyond a bit each is a product with "is any inside", made linear:
 *
 *   inside = 1  if any factor of the steps is in the tile, else 0
 *   excess = (bits - primes of the taps) * (1 - inside)
 *
 * Both are held from below and above, as utilization is maximised.
 */
#include <stdio.h>

#include "mapper/mapper_cosa_model.h"

static calm_status add_halo(mapper_cosa_model *m, uint32_t window,
                            uint32_t level) {
  const mapper_cosa_program *p = m->program;
  const char *level_name = p->arch->levels[level].name;
  const char *inside, *excess;
  char prefix[32];
  const mapper_cosa_halo h = {window, level, m->mip.columns.count,
                              m->mip.columns.count + 1};
  snprintf(prefix, sizeof prefix, "h%u", window);
  TRY(mapper_cosa_name(&inside, m, prefix, level_name, "inside"));
  TRY(mapper_cosa_name(&excess, m, prefix, level_name, "excess"));
  VECTOR_PUSH(m->mip.context, &m->halos, h);
  TRY(mapper_mip_add_column(&m->mip, (mapper_mip_column){inside, 0, 1, true}));
  return mapper_mip_add_column(&m->mip,
                               (mapper_mip_column){excess, 0, HUGE_VAL, false});
}

calm_status mapper_cosa_add_halo_columns(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t w = 0; w < p->window_count; w++)
    for (uint32_t l = 0; l < p->level_count; l++)
      if (p->windows[w].taps & p->looped &&
          mapper_cosa_has_halo(p, l, p->windows[w].tensor))
        TRY(add_halo(m, w, l));
  return CALM_OK;
}

/* ---- Is any step inside? ------------------------------------------------- */

static bool is_step(const mapper_cosa_model *m, const mapper_cosa_halo *h,
                    uint32_t column) {
  const mapper_cosa_use u = mapper_cosa_use_of(m, column);
  return u.level <= h->level &&
         m->program->windows[h->window].steps >> u.dimension & 1;
}

static calm_status bind_inside(mapper_cosa_model *m,
                               const mapper_cosa_halo *h) {
  for (uint32_t c = 0; c < m->columns.count; c++) {
    if (!is_step(m, h, c)) continue;
    m->sum.of[h->inside] = m->mip.columns.data[c].upper;
    m->sum.of[c] = -1;
    TRY(mapper_cosa_row(m, "step", 0, HUGE_VAL));
  }
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (is_step(m, h, c)) m->sum.of[c] = 1;
  m->sum.of[h->inside] = -1;
  return mapper_cosa_row(m, "steps", 0, HUGE_VAL);
}

/* ---- What the taps have then --------------------------------------------- */

static bool is_tap(const mapper_cosa_model *m, const mapper_cosa_halo *h,
                   uint32_t column) {
  const mapper_cosa_use u = mapper_cosa_use_of(m, column);
  return u.level <= m->program->global &&
         m->program->windows[h->window].taps >> u.dimension & 1;
}

static double most_excess(const mapper_cosa_model *m,
                          const mapper_cosa_halo *h) {
  double most = 0;
  for (uint32_t f = 0; f < m->program->factor_count; f++) {
    const mapper_cosa_factor *factor = &m->program->factors[f];
    if (m->program->windows[h->window].taps >> factor->dimension & 1)
      most += factor->count * (factor->bits - 1);
  }
  return most;
}

static void sum_excess(mapper_cosa_model *m, const mapper_cosa_halo *h,
                       double sign) {
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (is_tap(m, h, c))
      m->sum.of[c] = sign * (mapper_cosa_use_of(m, c).bits - 1);
}

static calm_status bind_excess(mapper_cosa_model *m,
                               const mapper_cosa_halo *h) {
  const double most = most_excess(m, h);
  m->sum.of[h->excess] = 1;
  m->sum.of[h->inside] = most;
  sum_excess(m, h, -1);
  TRY(mapper_cosa_row(m, "excess", 0, HUGE_VAL));
  m->sum.of[h->excess] = 1;
  m->sum.of[h->inside] = most;
  TRY(mapper_cosa_row(m, "excess", -HUGE_VAL, most));
  m->sum.of[h->excess] = 1;
  sum_excess(m, h, -1);
  return mapper_cosa_row(m, "excess", -HUGE_VAL, 0);
}

calm_status mapper_cosa_add_halo_rows(mapper_cosa_model *m) {
  for (uint32_t h = 0; h < m->halos.count; h++) {
    TRY(bind_inside(m, &m->halos.data[h]));
    TRY(bind_excess(m, &m->halos.data[h]));
  }
  return CALM_OK;
}

void mapper_cosa_add_halo(mapper_mip_sum *sum, const mapper_cosa_model *m,
                          const mapper_cosa_halo *h, double weight) {
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (is_tap(m, h, c)) sum->of[c] += weight;
  sum->of[h->excess] += weight;
}
