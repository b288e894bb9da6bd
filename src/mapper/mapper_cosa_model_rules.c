/*
 * Constraints as rows.  A factor that is given is so many of each prime; one
 * that is limited, a limit on bits.  Where dimensions may stand on a mesh is a
 * matter of columns that are not there, and orders are chosen among those
 * allowed; splits, and orders elsewhere, are seen to when the nest is made, and
 * the nest is checked.
 */
#include "mapper/mapper_cosa_model.h"

static bool is_in_block(const mapper_cosa_model *m, uint32_t column,
                        uint32_t level, bool spatial) {
  const mapper_cosa_column *c = &m->columns.data[column];
  return c->level == level && (c->kind != ACCEL_TEMPORAL) == spatial;
}

static calm_status name_rule(const char **out, const mapper_cosa_model *m,
                             uint32_t level, bool spatial, uint32_t dimension) {
  const mapper_cosa_program *p = m->program;
  return mapper_cosa_name(out, m, spatial ? "spatial" : "temporal",
                          p->arch->levels[level].name,
                          p->layer->dimensions[dimension].name);
}

/* ---- A factor that is given ---------------------------------------------- */

static uint32_t exponent(uint64_t *rest, uint64_t prime) {
  uint32_t count = 0;
  for (; *rest > 0 && *rest % prime == 0; *rest /= prime) count++;
  return count;
}

/* In the literal model a prime comes several times. */
static bool is_seen(const mapper_cosa_program *p, uint32_t factor) {
  for (uint32_t f = 0; f < factor; f++)
    if (p->factors[f].dimension == p->factors[factor].dimension &&
        p->factors[f].prime == p->factors[factor].prime)
      return true;
  return false;
}

/* What is left of the value is no part of the bound: a row that cannot hold. */
static calm_status fix_factor(mapper_cosa_model *m, uint32_t level,
                              bool spatial, const accel_factor_rule *r) {
  const mapper_cosa_program *p = m->program;
  uint64_t rest = r->value;
  const char *name;
  TRY(name_rule(&name, m, level, spatial, r->dimension));
  for (uint32_t f = 0; f < p->factor_count; f++) {
    const mapper_cosa_factor *factor = &p->factors[f];
    if (factor->dimension != r->dimension || is_seen(p, f)) continue;
    const double count = exponent(&rest, factor->prime);
    for (uint32_t c = 0; c < m->columns.count; c++) {
      const mapper_cosa_factor *of = &p->factors[m->columns.data[c].factor];
      if (of->dimension == r->dimension && of->prime == factor->prime &&
          is_in_block(m, c, level, spatial))
        m->sum.of[c] = 1;
    }
    TRY(mapper_cosa_row(m, name, count, count));
  }
  return rest == 1 ? CALM_OK : mapper_cosa_row(m, name, 1, HUGE_VAL);
}

/* ---- A factor that is limited -------------------------------------------- */

static calm_status limit_factor(mapper_cosa_model *m, uint32_t level,
                                bool spatial, const accel_factor_rule *r) {
  const double bits = log2(fmax((double)r->value, 1));
  const char *name;
  TRY(name_rule(&name, m, level, spatial, r->dimension));
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_use u = mapper_cosa_use_of(m, c);
    if (u.dimension == r->dimension && is_in_block(m, c, level, spatial))
      m->sum.of[c] = u.bits;
  }
  return r->relation == ACCEL_AT_MOST
             ? mapper_cosa_row(m, name, -HUGE_VAL, bits + MAPPER_COSA_SLACK)
             : mapper_cosa_row(m, name, bits - MAPPER_COSA_SLACK, HUGE_VAL);
}

static calm_status add_block(mapper_cosa_model *m, uint32_t level, bool spatial,
                             const accel_block_rules *b) {
  for (uint32_t i = 0; i < b->factor_count; i++)
    TRY(b->factors[i].relation == ACCEL_EQUAL
            ? fix_factor(m, level, spatial, &b->factors[i])
            : limit_factor(m, level, spatial, &b->factors[i]));
  return CALM_OK;
}

static calm_status add_parallelism(mapper_cosa_model *m, double share) {
  const double least = share * (double)m->program->arch->compute.instances;
  if (least <= 1) return CALM_OK;
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (m->columns.data[c].kind != ACCEL_TEMPORAL)
      m->sum.of[c] = mapper_cosa_use_of(m, c).bits;
  return mapper_cosa_row(m, "parallelism", log2(least) - MAPPER_COSA_SLACK,
                         HUGE_VAL);
}

calm_status mapper_cosa_add_rules(mapper_cosa_model *m) {
  const accel_constraints *c = m->program->problem->constraints;
  if (!c) return CALM_OK;
  for (uint32_t l = 0; l < c->level_count; l++) {
    TRY(add_block(m, l, false, &c->levels[l].temporal));
    TRY(add_block(m, l, true, &c->levels[l].spatial));
  }
  return add_parallelism(m, c->min_parallelism);
}
