/*
 * Why there is no solution.  Without constraints there always is one (all loops
 * over time at the outermost level), so they ask for too much: of a capacity,
 * of a fan-out, or of each other.  The program is solved once more with each of
 * the former to be exceeded, at a price, and what then is tells the least
 * change.
 */
#include "base/text.h"
#include "mapper/mapper_cosa_reason.h"
#include "mapper/mapper_highs.h"

/* Column number `columns + r` says by how many bits row r is exceeded. */
static calm_status add_columns(mapper_mip *out,
                               const mapper_cosa_model *model) {
  const mapper_mip *m = &model->mip;
  for (uint32_t c = 0; c < m->columns.count; c++)
    TRY(mapper_mip_add_column(out, m->columns.data[c]));
  for (uint32_t r = 0; r < m->rows.count; r++)
    TRY(mapper_mip_add_column(out, (mapper_mip_column){"excess", 0, 0, false}));
  for (uint32_t i = 0; i < model->limits.count; i++)
    out->columns.data[m->columns.count + model->limits.data[i].row].upper =
        HUGE_VAL;
  return CALM_OK;
}

static calm_status soften(mapper_mip *out, const mapper_cosa_model *model,
                          arena *a) {
  const mapper_mip *m = &model->mip;
  mapper_mip_sum sum;
  TRY(add_columns(out, model));
  TRY(mapper_mip_sum_init(&sum, out, a));
  TRY(mapper_mip_sum_init(&out->objective, out, a));
  for (uint32_t r = 0; r < m->rows.count; r++) {
    const mapper_mip_row *row = &m->rows.data[r];
    for (uint32_t i = row->first; i < mapper_mip_row_end(m, r); i++)
      sum.of[m->terms.data[i].column] = m->terms.data[i].value;
    sum.of[m->columns.count + r] = -1;
    out->objective.of[m->columns.count + r] = 1;
    TRY(mapper_mip_add_row(out, row->name, row->lower, &sum, row->upper));
    mapper_mip_sum_clear(&sum, out);
  }
  return CALM_OK;
}

/* ---- Words --------------------------------------------------------------- */

static void tell_limit(text *t, const mapper_cosa_model *m,
                       const mapper_cosa_limit *l, double bits) {
  const mapper_cosa_program *p = m->program;
  const char *level = p->arch->levels[l->level].name;
  const double times = exp2(bits), room = floor(exp2(l->bits) + 0.5);
  if (l->tensor == CALM_NONE)
    text_format(t, "%.4g times the %.0f %s of the fan-out below %s", times,
                room, l->kind == ACCEL_SPATIAL_X ? "columns" : "rows", level);
  else
    text_format(t, "%.4g times the %.0f words that %s may have of %s", times,
                room, p->layer->tensors[l->tensor].name, level);
}

static void tell(text *t, const mapper_cosa_model *m,
                 const mapper_highs_answer *answer) {
  uint32_t told = 0;
  if (answer->outcome != CALM_OPTIMAL) {
    text_format(t, answer->outcome == CALM_INFEASIBLE
                       ? "no factors of the layer observe all constraints"
                       : "the constraints leave no solution");
    return;
  }
  text_format(t, "the constraints need ");
  for (uint32_t i = 0; i < m->limits.count; i++) {
    const double bits =
        answer->values[m->mip.columns.count + m->limits.data[i].row];
    if (bits < 1e-6) continue;
    text_format(t, "%s", told++ ? ", and " : "");
    tell_limit(t, m, &m->limits.data[i], bits);
  }
}

calm_status mapper_cosa_tell_infeasible(const char **out,
                                        const mapper_cosa_model *m, limits *l,
                                        arena *a) {
  mapper_highs_answer answer;
  arena scratch;
  mapper_mip soft;
  text t;
  arena_init(&scratch, a->context);
  mapper_mip_init(&soft, a->context);
  text_init(&t, a->context);
  calm_status status = soften(&soft, m, &scratch);
  if (status == CALM_OK)
    status = mapper_highs_solve(&answer, &soft, l, &scratch);
  if (status == CALM_OK) {
    tell(&t, m, &answer);
    status = text_keep(&t, out, a);
  }
  text_free(&t);
  mapper_mip_free(&soft);
  arena_free(&scratch);
  return status;
}
