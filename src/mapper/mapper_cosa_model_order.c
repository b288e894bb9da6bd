/*
 * The order of loops at the permutation level.  A loop there costs a tensor its
 * bits if it moves the tensor, which is a matter of the loop alone, or if it
 * does not but the tensor is not reused in it.  The latter is a product:
 *
 *   literal      of "the tensor is not reused at this rank" with the bits of
 *                what stands at it; the tensor is not from the innermost rank
 *                on that moves it (equation 9 of the paper)
 *   aggregated   of "an order is chosen in which it is not" with the bits of a
 *                dimension's factors
 *
 * Both have one optimum: moving all factors of a dimension next to the
 * innermost of them takes no tensor's reuse away, and some costs nothing else.
 */
#include <stdio.h>

#include "base/bits.h"
#include "mapper/mapper_cosa_model.h"

static bool is_balanced(const mapper_cosa_model *m) {
  return m->program->problem->objective == MAPPER_BALANCE;
}

static calm_status add_unnamed(mapper_cosa_model *m, const char *kind,
                               uint32_t count, mapper_mip_column column) {
  for (uint32_t i = 0; i < count; i++) {
    char number[32];
    snprintf(number, sizeof number, "%u", i);
    TRY(mapper_cosa_name(&column.name, m, kind, number, ""));
    TRY(mapper_mip_add_column(&m->mip, column));
  }
  return CALM_OK;
}

/* ---- Aggregated ---------------------------------------------------------- */

static const mapper_mip_column bits_column = {NULL, 0, HUGE_VAL, false};

static calm_status add_choices(mapper_cosa_model *m) {
  TRY(mapper_cosa_orders_find(&m->orders, m->program, m->arena));
  m->first_order = m->mip.columns.count;
  TRY(add_unnamed(m, "order", m->orders.count,
                  (mapper_mip_column){NULL, 0, 1, true}));
  m->first_repeat = m->mip.columns.count;
  return add_unnamed(m, "repeat",
                     m->program->tensor_count * m->program->dimension_count,
                     bits_column);
}

static bool is_loop_of(const mapper_cosa_model *m, uint32_t column,
                       uint32_t dimension) {
  const mapper_cosa_use u = mapper_cosa_use_of(m, column);
  return u.dimension == dimension &&
         mapper_cosa_is_ranked(m->program, u.level, u.kind);
}

static double sum_loops(mapper_cosa_model *m, uint32_t dimension, double sign) {
  double most = 0;
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (is_loop_of(m, c, dimension)) {
      const double bits = mapper_cosa_use_of(m, c).bits;
      m->sum.of[c] = sign * bits;
      most += bits * m->mip.columns.data[c].upper;
    }
  return most;
}

static void sum_reusing(mapper_cosa_model *m, uint32_t tensor,
                        uint32_t dimension, double weight) {
  for (uint32_t o = 0; o < m->orders.count; o++)
    if (m->orders.orders[o].reused[tensor] >> dimension & 1)
      m->sum.of[m->first_order + o] = weight;
}

/*
 * repeat >= bits - most * reused.  Where more traffic may be better, that is
 * for the balance, also repeat <= bits and repeat <= most * (1 - reused).
 */
static calm_status bind_choice(mapper_cosa_model *m, uint32_t tensor,
                               uint32_t dimension) {
  const uint32_t repeat =
      m->first_repeat + tensor * m->program->dimension_count + dimension;
  const bool related = m->program->moved[dimension] >> tensor & 1;
  const double most = sum_loops(m, dimension, -1);
  m->sum.of[repeat] = 1;
  if (related || most == 0) {
    mapper_mip_sum_clear(&m->sum, &m->mip);
    m->mip.columns.data[repeat].upper = 0;
    return CALM_OK;
  }
  sum_reusing(m, tensor, dimension, most);
  TRY(mapper_cosa_row(m, "repeat", 0, HUGE_VAL));
  if (!is_balanced(m)) return CALM_OK;
  m->sum.of[repeat] = 1;
  sum_loops(m, dimension, -1);
  TRY(mapper_cosa_row(m, "repeat", -HUGE_VAL, 0));
  m->sum.of[repeat] = 1;
  sum_reusing(m, tensor, dimension, most);
  return mapper_cosa_row(m, "repeat", -HUGE_VAL, most);
}

static double sum_group(mapper_cosa_model *m, uint32_t group) {
  double most = 0;
  for (uint32_t c = 0; c < m->columns.count; c++) {
    const mapper_cosa_use u = mapper_cosa_use_of(m, c);
    if (!mapper_cosa_is_ranked(m->program, u.level, u.kind) ||
        !(group >> u.dimension & 1))
      continue;
    m->sum.of[c] = 1;
    most += m->mip.columns.data[c].upper;
  }
  return most;
}

/* Orders that need a group to be absent; for the balance, others need it not
   to be. */
static calm_status bind_group(mapper_cosa_model *m, uint32_t group) {
  const double most = sum_group(m, group);
  for (uint32_t o = 0; o < m->orders.count; o++)
    if (m->orders.orders[o].absent & group)
      m->sum.of[m->first_order + o] = most;
  TRY(mapper_cosa_row(m, "absent", -HUGE_VAL, most));
  if (!is_balanced(m)) return CALM_OK;
  sum_group(m, group);
  for (uint32_t o = 0; o < m->orders.count; o++)
    if (!(m->orders.orders[o].absent & group))
      m->sum.of[m->first_order + o] = -1;
  return mapper_cosa_row(m, "present", 0, HUGE_VAL);
}

static calm_status bind_choices(mapper_cosa_model *m) {
  for (uint32_t o = 0; o < m->orders.count; o++)
    m->sum.of[m->first_order + o] = 1;
  TRY(mapper_cosa_row(m, "order", 1, 1));
  for (uint32_t g = 0; g < m->orders.group_count; g++)
    TRY(bind_group(m, m->orders.groups[g]));
  for (uint32_t d = 0; d < m->program->dimension_count; d++)
    for (uint32_t t = 0; t < m->program->tensor_count; t++)
      TRY(bind_choice(m, t, d));
  return CALM_OK;
}

/* ---- Literal ------------------------------------------------------------- */

static calm_status refuse_literal(const mapper_cosa_model *m,
                                  const char *what) {
  return context_fail(m->mip.context, CALM_UNSUPPORTED,
                      "cosa: the literal model has no %s; the aggregated one "
                      "has",
                      what);
}

static calm_status add_ranks(mapper_cosa_model *m) {
  const mapper_cosa_program *p = m->program;
  const accel_constraints *c = p->problem->constraints;
  const accel_block_rules *b = c ? &c->levels[p->global].temporal : NULL;
  if (b && b->inner_count + b->outer_count > 0)
    return refuse_literal(m, "orders that constraints give");
  if (is_balanced(m)) return refuse_literal(m, "balance as its objective");
  m->first_ended = m->mip.columns.count;
  TRY(add_unnamed(m, "ended", p->tensor_count * m->rank_count,
                  (mapper_mip_column){NULL, 0, 1, false}));
  m->first_repeat = m->mip.columns.count;
  return add_unnamed(m, "repeat", p->tensor_count * m->rank_count, bits_column);
}

/* At most one factor at a rank. */
static calm_status bind_rank(mapper_cosa_model *m, uint32_t rank) {
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (m->columns.data[c].rank == rank) m->sum.of[c] = 1;
  return mapper_cosa_row(m, "rank", -HUGE_VAL, 1);
}

static bool moves(const mapper_cosa_model *m, uint32_t column,
                  uint32_t tensor) {
  const mapper_cosa_use u = mapper_cosa_use_of(m, column);
  return m->program->moved[u.dimension] >> tensor & 1;
}

static bool is_loop_at(const mapper_cosa_model *m, uint32_t column,
                       uint32_t rank) {
  const mapper_cosa_column *c = &m->columns.data[column];
  return c->rank == rank && c->kind == ACCEL_TEMPORAL;
}

static calm_status bind_ended(mapper_cosa_model *m, uint32_t tensor,
                              uint32_t rank) {
  const uint32_t ended = m->first_ended + tensor * m->rank_count + rank;
  m->sum.of[ended] = 1;
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (is_loop_at(m, c, rank) && moves(m, c, tensor)) m->sum.of[c] = -1;
  TRY(mapper_cosa_row(m, "moved", 0, HUGE_VAL));
  if (rank == 0) return CALM_OK;
  m->sum.of[ended] = 1;
  m->sum.of[ended - 1] = -1;
  return mapper_cosa_row(m, "ended", 0, HUGE_VAL);
}

/* repeat >= bits - most * (1 - ended) */
static calm_status bind_repeat(mapper_cosa_model *m, uint32_t tensor,
                               uint32_t rank) {
  const uint32_t at = tensor * m->rank_count + rank;
  double most = 0;
  for (uint32_t c = 0; c < m->columns.count; c++)
    if (is_loop_at(m, c, rank) && !moves(m, c, tensor)) {
      const double bits = mapper_cosa_use_of(m, c).bits;
      m->sum.of[c] = -bits;
      most = fmax(most, bits);
    }
  m->sum.of[m->first_repeat + at] = 1;
  m->sum.of[m->first_ended + at] = -most;
  return mapper_cosa_row(m, "repeat", -most, HUGE_VAL);
}

static calm_status bind_ranks(mapper_cosa_model *m) {
  for (uint32_t r = 0; r < m->rank_count; r++) {
    TRY(bind_rank(m, r));
    for (uint32_t t = 0; t < m->program->tensor_count; t++) {
      TRY(bind_ended(m, t, r));
      TRY(bind_repeat(m, t, r));
    }
  }
  return CALM_OK;
}

calm_status mapper_cosa_add_order_columns(mapper_cosa_model *m) {
  return m->program->options->literal ? add_ranks(m) : add_choices(m);
}

calm_status mapper_cosa_add_order_rows(mapper_cosa_model *m) {
  return m->program->options->literal ? bind_ranks(m) : bind_choices(m);
}
