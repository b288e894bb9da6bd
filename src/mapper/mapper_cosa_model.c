#include "mapper/mapper_cosa_model.h"

#include <ctype.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/text.h"

/* ---- Names and rows ------------------------------------------------------ */

calm_status mapper_cosa_name(const char **out, const mapper_cosa_model *m,
                             const char *kind, const char *first,
                             const char *second) {
  text t;
  text_init(&t, m->mip.context);
  text_format(&t, "%s_%s%s%s", kind, first, *second ? "_" : "", second);
  for (size_t i = 0; i < t.length; i++)
    if (!isalnum((unsigned char)t.data[i])) t.data[i] = '_';
  return text_keep(&t, out, m->arena);
}

/* Numbers make names unique, whatever levels are called. */
calm_status mapper_cosa_row(mapper_cosa_model *m, const char *name,
                            double lower, double upper) {
  char number[32];
  const char *unique;
  snprintf(number, sizeof number, "r%u", m->mip.rows.count);
  TRY(mapper_cosa_name(&unique, m, number, name, ""));
  TRY(mapper_mip_add_row(&m->mip, unique, lower, &m->sum, upper));
  mapper_mip_sum_clear(&m->sum, &m->mip);
  return CALM_OK;
}

/* ---- Columns ------------------------------------------------------------- */

mapper_cosa_use mapper_cosa_use_of(const mapper_cosa_model *m,
                                   uint32_t column) {
  const mapper_cosa_column *c = &m->columns.data[column];
  const mapper_cosa_factor *f = &m->program->factors[c->factor];
  return (mapper_cosa_use){f->dimension, c->level, c->kind, f->bits, 1};
}

static calm_status add_column(mapper_cosa_model *m, mapper_cosa_column c) {
  static const char kinds[] = {'x', 'y', 't'};
  const mapper_cosa_program *p = m->program;
  const mapper_cosa_factor *f = &p->factors[c.factor];
  char prefix[32], suffix[64];
  const char *name;
  snprintf(prefix, sizeof prefix, "n%u_%c", m->columns.count, kinds[c.kind]);
  snprintf(suffix, sizeof suffix, "%s_%llu",
           p->layer->dimensions[f->dimension].name,
           (unsigned long long)f->prime);
  TRY(mapper_cosa_name(&name, m, prefix, p->arch->levels[c.level].name,
                       suffix));
  VECTOR_PUSH(m->mip.context, &m->columns, c);
  return mapper_mip_add_column(&m->mip,
                               (mapper_mip_column){name, 0, f->count, true});
}

/* Does the released form give ranks to what is spread below the permutation
   level, too? */
static bool has_rank(const mapper_cosa_model *m, uint32_t level,
                     accel_loop_kind kind) {
  const mapper_cosa_program *p = m->program;
  return p->options->literal && level == p->global &&
         (kind == ACCEL_TEMPORAL || p->options->form == MAPPER_COSA_RELEASED);
}

static calm_status add_columns(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t f = 0; f < p->factor_count; f++)
    for (uint32_t l = 0; l < p->level_count; l++)
      for (uint32_t k = ACCEL_SPATIAL_X; k <= ACCEL_TEMPORAL; k++) {
        mapper_cosa_column c = {f, l, (accel_loop_kind)k, CALM_NONE};
        if (!mapper_cosa_allows(p, p->factors[f].dimension, l, c.kind))
          continue;
        if (!has_rank(m, l, c.kind)) {
          TRY(add_column(m, c));
          continue;
        }
        for (c.rank = 0; c.rank < m->rank_count; c.rank++)
          TRY(add_column(m, c));
      }
  return CALM_OK;
}

static calm_status add_balance_column(mapper_cosa_model *m) {
  if (m->program->problem->objective != MAPPER_BALANCE) return CALM_OK;
  m->balance = m->mip.columns.count;
  return mapper_mip_add_column(
      &m->mip, (mapper_mip_column){"difference", 0, HUGE_VAL, false});
}

/* ---- Rows ---------------------------------------------------------------- */

/* Each prime factor stands somewhere. */
static calm_status add_assignments(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t f = 0; f < p->factor_count; f++) {
    for (uint32_t c = 0; c < m->columns.count; c++)
      if (m->columns.data[c].factor == f) m->sum.of[c] = 1;
    TRY(mapper_cosa_row(m, "all", p->factors[f].count, p->factors[f].count));
  }
  return CALM_OK;
}

static calm_status add_limit(mapper_cosa_model *m, const char *name,
                             mapper_cosa_limit l) {
  l.row = m->mip.rows.count;
  VECTOR_PUSH(m->mip.context, &m->limits, l);
  return mapper_cosa_row(m, name, -HUGE_VAL, l.bits + MAPPER_COSA_SLACK);
}

static calm_status add_fanout(mapper_cosa_model *m, uint32_t level,
                              accel_loop_kind kind) {
  const accel_fanout fan = accel_arch_fanout(m->program->arch, level);
  const uint64_t size = kind == ACCEL_SPATIAL_X ? fan.x : fan.y;
  const char *name;
  if (size < 2) return CALM_OK;
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (m->columns.data[c].level == level && m->columns.data[c].kind == kind)
      m->sum.of[c] = mapper_cosa_use_of(m, c).bits;
  TRY(mapper_cosa_name(&name, m, "fanout", m->program->arch->levels[level].name,
                       kind == ACCEL_SPATIAL_X ? "x" : "y"));
  return add_limit(
      m, name,
      (mapper_cosa_limit){0, level, CALM_NONE, kind, log2((double)size)});
}

static calm_status add_capacity(mapper_cosa_model *m, uint32_t level,
                                uint32_t tensor) {
  const mapper_cosa_program *p = m->program;
  const uint32_t at = mapper_cosa_at(p, level, tensor);
  const char *name;
  if (p->room[at] == HUGE_VAL) return CALM_OK;
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_use u = mapper_cosa_use_of(m, c);
    if (u.level <= level) m->sum.of[c] = mapper_cosa_inside(p, tensor, &u);
  }
  for (uint32_t h = 0; h < m->halos.count; h++)
    if (m->halos.data[h].level == level &&
        p->windows[m->halos.data[h].window].tensor == tensor)
      mapper_cosa_add_halo(&m->sum, m, &m->halos.data[h], 1);
  m->sum.constant += p->taken[at];
  TRY(mapper_cosa_name(&name, m, "capacity", p->arch->levels[level].name,
                       p->layer->tensors[tensor].name));
  return add_limit(
      m, name,
      (mapper_cosa_limit){0, level, tensor, ACCEL_TEMPORAL, p->room[at]});
}

static calm_status add_bar(mapper_cosa_model *m, uint32_t level,
                           uint32_t tensor) {
  const uint32_t barred =
      m->program->barred[mapper_cosa_at(m->program, level, tensor)];
  if (!barred) return CALM_OK;
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_use u = mapper_cosa_use_of(m, c);
    if (u.level <= level && barred >> u.dimension & 1) m->sum.of[c] = 1;
  }
  return mapper_cosa_row(m, "stride", -HUGE_VAL, 0);
}

static calm_status add_limits(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t l = 0; l < p->level_count; l++) {
    TRY(add_fanout(m, l, ACCEL_SPATIAL_X));
    TRY(add_fanout(m, l, ACCEL_SPATIAL_Y));
    for (uint32_t t = 0; t < p->tensor_count; t++) {
      TRY(add_capacity(m, l, t));
      TRY(add_bar(m, l, t));
    }
  }
  return CALM_OK;
}

/* ---- Objectives ---------------------------------------------------------- */

static void sum_halos(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t h = 0; h < m->halos.count; h++) {
    const mapper_cosa_halo *halo = &m->halos.data[h];
    const uint32_t t = p->windows[halo->window].tensor;
    mapper_cosa_add_halo(&m->utilization, m, halo,
                         p->weights[mapper_cosa_at(p, halo->level, t)]);
  }
}

static void sum_repeats(mapper_cosa_model *m) {
  const uint32_t per_tensor = m->program->options->literal
                                  ? m->rank_count
                                  : m->program->dimension_count;
  const uint32_t count = m->program->tensor_count * per_tensor;
  for (uint32_t i = 0; i < count; i++) m->traffic.of[m->first_repeat + i] = 1;
}

static calm_status sum_terms(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  TRY(mapper_mip_sum_init(&m->utilization, &m->mip, m->arena));
  TRY(mapper_mip_sum_init(&m->compute, &m->mip, m->arena));
  TRY(mapper_mip_sum_init(&m->traffic, &m->mip, m->arena));
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_use u = mapper_cosa_use_of(m, c);
    m->utilization.of[c] = mapper_cosa_utility(p, &u);
    m->compute.of[c] = u.kind == ACCEL_TEMPORAL ? u.bits : 0;
    m->traffic.of[c] = mapper_cosa_traffic(p, &u);
  }
  sum_halos(m);
  sum_repeats(m);
  return CALM_OK;
}

/* difference >= |w_T traffic - w_C compute| */
static calm_status set_balance(mapper_cosa_model *m) {
  const mapper_cosa_weights *w = &m->program->options->weights;
  for (int sign = -1; sign <= 1; sign += 2) {
    mapper_mip_sum_add(&m->sum, &m->traffic, sign * w->traffic, &m->mip);
    mapper_mip_sum_add(&m->sum, &m->compute, -sign * w->compute, &m->mip);
    m->sum.of[m->balance] = 1;
    TRY(mapper_cosa_row(m, "balance", 0, HUGE_VAL));
  }
  m->mip.objective.of[m->balance] = 1;
  return CALM_OK;
}

static calm_status set_objective(mapper_cosa_model *m) {
  const mapper_cosa_weights *w = &m->program->options->weights;
  mapper_mip_sum *o = &m->mip.objective;
  TRY(mapper_mip_sum_init(o, &m->mip, m->arena));
  if (m->program->problem->objective == MAPPER_BALANCE) return set_balance(m);
  mapper_mip_sum_add(o, &m->traffic, w->traffic, &m->mip);
  if (m->program->problem->objective == MAPPER_ENERGY) return CALM_OK;
  mapper_mip_sum_add(o, &m->compute, w->compute, &m->mip);
  mapper_mip_sum_add(o, &m->utilization, -w->utilization, &m->mip);
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status build(mapper_cosa_model *m) {
  TRY(add_columns(m));
  TRY(mapper_cosa_add_order_columns(m));
  TRY(mapper_cosa_add_halo_columns(m));
  TRY(mapper_cosa_add_mesh_columns(m));
  TRY(add_balance_column(m));
  TRY(mapper_mip_sum_init(&m->sum, &m->mip, m->arena));
  TRY(add_assignments(m));
  TRY(add_limits(m));
  TRY(mapper_cosa_add_mesh_rows(m));
  TRY(mapper_cosa_add_halo_rows(m));
  TRY(mapper_cosa_add_order_rows(m));
  TRY(mapper_cosa_add_rules(m));
  TRY(sum_terms(m));
  return set_objective(m);
}

calm_status mapper_cosa_model_build(mapper_cosa_model *out,
                                    const mapper_cosa_program *p, arena *a) {
  *out = (mapper_cosa_model){
      .program = p, .arena = a, .rank_count = p->factor_count};
  mapper_mip_init(&out->mip, a->context);
  return build(out);
}

void mapper_cosa_model_free(mapper_cosa_model *m) {
  VECTOR_FREE(m->mip.context, &m->columns);
  VECTOR_FREE(m->mip.context, &m->halos);
  VECTOR_FREE(m->mip.context, &m->limits);
  mapper_mip_free(&m->mip);
}
