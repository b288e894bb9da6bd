#include "mapper/mapper_cosa_nest.h"

/* ---- Tilings ------------------------------------------------------------- */

calm_status mapper_cosa_tiling_init(mapper_cosa_tiling *out,
                                    const mapper_cosa_program *p, arena *a) {
  const uint32_t count = p->level_count * 3 * p->dimension_count;
  mapper_cosa_tiling t;
  ARENA_ARRAY(a, t.factors, count);
  for (uint32_t i = 0; i < count; i++) t.factors[i] = 1;
  mapper_cosa_usual_order(t.order, p);
  *out = t;
  return CALM_OK;
}

/* The listed dimensions first, then what is left as it stood. */
static void put_first(uint32_t *order, uint32_t count, const uint32_t *list,
                      uint32_t listed) {
  uint32_t old[ACCEL_MAX_DIMENSIONS], set = 0, at = 0;
  for (uint32_t i = 0; i < count; i++) old[i] = order[i];
  for (uint32_t i = 0; i < listed; i++) {
    if (set >> list[i] & 1) continue;
    set |= UINT32_C(1) << list[i];
    order[at++] = list[i];
  }
  for (uint32_t i = 0; i < count; i++)
    if (!(set >> old[i] & 1)) order[at++] = old[i];
}

static void read_choice(mapper_cosa_tiling *out, const mapper_cosa_model *m,
                        const double *values) {
  for (uint32_t o = 0; o < m->orders.count; o++)
    if (values[m->first_order + o] > 0.5)
      put_first(out->order, m->program->dimension_count,
                m->orders.orders[o].dimensions, m->orders.orders[o].count);
}

/* Dimensions by the innermost rank that has one of their factors. */
static void read_ranks(mapper_cosa_tiling *out, const mapper_cosa_model *m,
                       const double *values) {
  uint32_t list[MAPPER_COSA_MOST_FACTORS], count = 0;
  for (uint32_t r = 0; r < m->rank_count; r++)
    for (uint32_t c = 0; c < m->columns.count; c++)
      if (m->columns.data[c].rank == r && values[c] > 0.5 &&
          m->columns.data[c].kind == ACCEL_TEMPORAL)
        list[count++] = mapper_cosa_use_of(m, c).dimension;
  put_first(out->order, m->program->dimension_count, list, count);
}

void mapper_cosa_tiling_read(mapper_cosa_tiling *out,
                             const mapper_cosa_model *m, const double *values) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_column *column = &m->columns.data[c];
    const mapper_cosa_factor *f = &p->factors[column->factor];
    uint64_t *factor = mapper_cosa_factor_at(out, p, column->level,
                                             column->kind, f->dimension);
    for (double left = values[c]; left > 0.5; left--) *factor *= f->prime;
  }
  if (p->options->literal)
    read_ranks(out, m, values);
  else
    read_choice(out, m, values);
}

void mapper_cosa_tiling_of(mapper_cosa_tiling *out,
                           const mapper_cosa_program *p, const accel_nest *n) {
  uint32_t list[MAPPER_COSA_MOST_FACTORS], count = 0;
  for (uint32_t i = 0; i < p->level_count * 3 * p->dimension_count; i++)
    out->factors[i] = 1;
  for (uint32_t i = 0; i < n->loop_count; i++) {
    const accel_loop *l = &n->loops[i];
    *mapper_cosa_factor_at(out, p, l->level, l->kind, l->dimension) *= l->bound;
    if (mapper_cosa_is_ranked(p, l->level, l->kind) && l->bound > 1)
      list[count++] = l->dimension;
  }
  mapper_cosa_usual_order(out->order, p);
  put_first(out->order, p->dimension_count, list, count);
}

/* ---- Nests --------------------------------------------------------------- */

calm_status mapper_cosa_nest_init(accel_nest *out, const mapper_cosa_program *p,
                                  arena *a) {
  accel_nest n = {.level_count = p->level_count};
  ARENA_ARRAY(a, n.loops, p->level_count * 3 * p->dimension_count);
  ARENA_ARRAY(a, n.kept, p->level_count);
  for (uint32_t l = 0; l < p->level_count; l++) n.kept[l] = p->kept[l];
  *out = n;
  return CALM_OK;
}

static const accel_block_rules *rules_of(const mapper_cosa_program *p,
                                         uint32_t level, accel_loop_kind kind) {
  const accel_constraints *c = p->problem->constraints;
  if (!c) return NULL;
  return kind == ACCEL_TEMPORAL ? &c->levels[level].temporal
                                : &c->levels[level].spatial;
}

static void build_block(accel_nest *out, const mapper_cosa_program *p,
                        const mapper_cosa_tiling *t, uint32_t level,
                        accel_loop_kind kind) {
  uint32_t order[ACCEL_MAX_DIMENSIONS], usual[ACCEL_MAX_DIMENSIONS];
  mapper_cosa_usual_order(usual, p);
  mapper_cosa_block_order(
      order, p, rules_of(p, level, kind),
      mapper_cosa_is_ranked(p, level, kind) ? t->order : usual);
  for (uint32_t i = 0; i < p->dimension_count; i++) {
    const uint64_t bound = *mapper_cosa_factor_at(t, p, level, kind, order[i]);
    if (bound > 1)
      out->loops[out->loop_count++] =
          (accel_loop){bound, bound, order[i], level, kind};
  }
}

void mapper_cosa_nest_build(accel_nest *out, const mapper_cosa_program *p,
                            const mapper_cosa_tiling *t) {
  out->loop_count = 0;
  for (uint32_t l = 0; l < p->level_count; l++)
    for (uint32_t k = ACCEL_SPATIAL_X; k <= ACCEL_TEMPORAL; k++)
      build_block(out, p, t, l, (accel_loop_kind)k);
}
